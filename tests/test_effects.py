"""What has an effect is not done while compiling, and is done once by what is compiled."""

import functools
import importlib
import os
import pkgutil
import random
import threading
import time
import types

import numpy as np
import pytest

import srcdiff
from srcdiff.analyses.effects import is_pure
from srcdiff.analyses.purity import may_be_run

X = np.array([1.0, 2.0, 3.0])
FILES = {}


def helper(v):
    print("called")
    return v


def note(v):
    """A function of the user's that says that it is NumPy's."""
    print("called")
    return v


disguised = functools.wraps(np.dot)(lambda a, b: note(a) * b)
counted = np.frompyfunc(note, 1, 1)
mapped = np.vectorize(note)


class Counting:
    """An object that is called."""

    __module__ = "numpy"

    def __call__(self, v):
        return note(v)


counting = Counting()


# ruff: noqa: F841


def saves_archive(x):
    r = np.savez_compressed(FILES["a"], np.ones(3))
    return x * x


def maps_file(x):
    m = np.memmap(FILES["b"], dtype=float, mode="w+", shape=(3,))
    return x * x


def opens_map(x):
    m = np.lib.format.open_memmap(FILES["c"], mode="w+", dtype=float, shape=(3,))
    return x * x


def saves_text(x):
    np.savetxt(FILES["d"], np.ones(3))
    return x * x


def writes_raw(x):
    y = np.ones(3)
    y.tofile(FILES["e"])
    return x * x


def sets_state(x):
    old = np.seterr(all="raise")
    np.set_printoptions(precision=3)
    size = np.setbufsize(16384)
    np.polynomial.set_default_printstyle("ascii")
    return x * x


def seeds(x):
    np.random.seed(3)
    random.seed(3)
    r = np.random.rand(3)
    return x * x


def sleeps(x):
    r = time.sleep(1000.0)
    return x * x


def removes(x):
    os.remove(FILES["kept"])
    return x * x


def prints(x):
    print("compiled")
    return x * x


def starts(x):
    t = threading.Thread(target=note, args=(1,))
    t.start()
    return x * x


def disguises(x):
    r = disguised(2.0, 3.0)
    return x * x


def calls_ufunc(x):
    r = counted(2.0)
    return x * x


def calls_vectorized(x):
    r = mapped(2.0)
    return x * x


def calls_object(x):
    r = counting(2.0)
    return x * x


def raises(x):
    if x.size > 100:
        raise ValueError(note(1))
    return x * x


def calls_helper(x):
    r = helper(2.0)
    return helper(x) * x


PROGRAMS = [
    (saves_archive, "savez_compressed("), (maps_file, "memmap("), (opens_map, "open_memmap("),
    (saves_text, "savetxt("), (writes_raw, ".tofile("), (sets_state, "np.seterr("),
    (sets_state, "set_default_printstyle("), (sets_state, "setbufsize("),
    (seeds, "np.random.seed("), (sleeps, "time.sleep("), (removes, "os.remove("),
    (prints, "print("), (starts, "threading.Thread("), (disguises, "disguised("),
    (calls_ufunc, "counted("), (calls_vectorized, "print("), (calls_object, "counting("),
    (calls_helper, "print("),
]  # fmt: skip


def _state(folder):
    """All that a program of this file could change."""
    files = {p.name: p.read_bytes() for p in sorted(folder.iterdir())}
    options = np.geterr(), np.get_printoptions()["precision"], np.getbufsize()
    drawn = np.random.get_state()[1].tobytes(), random.getstate()
    return files, options, drawn, threading.active_count()


@pytest.mark.parametrize("f, call", PROGRAMS)
@pytest.mark.parametrize("derive", [srcdiff.source, srcdiff.stages])
def test_compiling_does_nothing_and_drops_nothing(f, call, derive, tmp_path, monkeypatch, capsys):
    for name in ("a", "b", "c", "d", "e", "kept"):
        FILES[name] = str(tmp_path / name)
        (tmp_path / name).write_bytes(b"as it was")
    before = _state(tmp_path)
    text = str(derive(f, example=(X,)))
    assert _state(tmp_path) == before
    assert not capsys.readouterr().out
    if derive is srcdiff.source:
        assert text.count(call) == (2 if f is calls_helper else 1), text


def test_what_raises_is_not_run(capsys):
    assert "raise ValueError" in srcdiff.source(raises, example=(X,))
    assert not capsys.readouterr().out


def saves(x):
    r = np.savez_compressed(FILES["f"], np.ones(3))
    m = counting(1.0)
    return np.sum(x**3)


@pytest.mark.parametrize(
    "derive",
    [
        lambda f: srcdiff.grad(f)(X),
        lambda f: srcdiff.value_and_grad(f)(X),
        lambda f: srcdiff.jvp(f, (X,), (X,)),
        lambda f: srcdiff.hvp(f, (X,), X),
        lambda f: srcdiff.grad(lambda v: np.sum(srcdiff.grad(f)(v)))(X),
        lambda f: srcdiff.vjp(f, X)[1](),
    ],
)
def test_effects_happen_once(derive, tmp_path, capsys):
    FILES["f"] = str(tmp_path / "f.npz")
    derive(saves)
    assert capsys.readouterr().out == "called\n"
    assert os.path.exists(FILES["f"])


SAFE = ("linalg", "fft", "special", "signal", "ndimage", "interpolate", "spatial", "ma", "char",
        "polynomial", "sparse", "optimize", "integrate", "constants", "strings", "rec", "lib",
        "stats", "io", "ctypeslib", "testing", "random", "cluster")  # fmt: skip
ACTS = ("save", "load", "write", "read", "open", "memmap", "fromfile", "fromregex", "genfromtxt",
        "seterr", "setbufsize", "set_", "seed", "shuffle", "test", "print", "fromflex", "tofile",
        "generic_", "frompyfunc", "vectorize", "piecewise", "apply_", "frombuffer", "as_strided",
        "put", "place", "copyto", "fill_diagonal")  # fmt: skip


def _callees(root):
    """The public callables of a package: they are only looked at."""
    package = importlib.import_module(root)
    names = [root]
    for info in pkgutil.iter_modules(getattr(package, "__path__", [])):
        if info.name in SAFE:
            names.append(f"{root}.{info.name}")
    for name in names:
        for key, value in vars(importlib.import_module(name)).items():
            if callable(value) and not key.startswith("_"):
                yield f"{name}.{key}", value


@pytest.mark.parametrize("root", ["os", "shutil", "pathlib", "subprocess", "logging", "time"])
def test_nothing_of_the_system_is_run(root):
    shared = {"builtins", "operator", "_operator"}
    own = [(n, f) for n, f in _callees(root) if getattr(f, "__module__", "") not in shared]
    found = [n for n, f in own if is_pure(f)]
    assert len(own) > 5 and not found


@pytest.mark.parametrize("root", ["numpy", "scipy", "numpy.lib.format", "numpy.lib.npyio"])
def test_nothing_that_acts_is_run(root):
    if root == "scipy":
        pytest.importorskip("scipy")
    callees = list(_callees(root))
    found = [n for n, f in callees if n.rsplit(".", 1)[1].startswith(ACTS) and may_be_run(f)]
    random_or_files = [
        n for n, f in callees
        if n.startswith(("numpy.random", "scipy.io", "numpy.testing", "numpy.lib.format"))
        and not isinstance(f, (type, types.ModuleType)) and is_pure(f)
    ]  # fmt: skip
    assert callees and not found and not random_or_files


def test_the_list_goes_by_identity():
    for fn in (disguised, counted, mapped, counting, note, Counting):
        assert not may_be_run(fn) and not is_pure(fn)
    for fn in (np.dot, np.sin, np.add.reduce, sum, np.float64):
        assert may_be_run(fn) and is_pure(fn)
