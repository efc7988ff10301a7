"""What has an effect is not done while compiling, and is done once by what is compiled."""

import collections
import functools
import importlib
import logging
import os
import pkgutil
import random
import threading
import time
import types

import numpy as np
import pytest

import srcdiff
from srcdiff.primitives.effects import is_pure
from srcdiff.primitives.operation import op_of

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
@pytest.mark.parametrize("derive", [srcdiff.source, srcdiff.aot.stages])
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


WAYS = [
    lambda f: srcdiff.grad(f)(X),
    lambda f: srcdiff.value_and_grad(f)(X),
    lambda f: srcdiff.jvp(f, (X,), (X,)),
    lambda f: srcdiff.hvp(f, (X,), X),
    lambda f: srcdiff.grad(lambda v: np.sum(srcdiff.grad(f)(v)))(X),
    lambda f: srcdiff.vjp(f, X)[1](),
]


@pytest.mark.parametrize("derive", WAYS)
def test_effects_happen_once(derive, tmp_path, capsys):
    FILES["f"] = str(tmp_path / "f.npz")
    derive(saves)
    assert capsys.readouterr().out == "called\n"
    assert os.path.exists(FILES["f"])


LOG = logging.getLogger("of a derivative")
ADAPTED = logging.LoggerAdapter(LOG, {})
TOLD, LAST, SEEN = [], collections.deque(maxlen=2), set()
BY_NAME = collections.defaultdict(list)


class Told(logging.Handler):
    """A handler that keeps what it is told."""

    def emit(self, record):
        """Keep a message."""
        TOLD.append(record.getMessage())


LOG.addHandler(Told())
LOG.setLevel(logging.INFO)


def logs(x):
    y = x * x
    LOG.info("y=%s", y)
    return np.sum(y * x)


def logs_if_asked(x):
    y = np.sum(x**3)
    if LOG.isEnabledFor(logging.INFO):
        ADAPTED.warning("y=%s", y)
    return y


def gets_logger(x):
    log = logging.getLogger("of a derivative")
    for k in range(3):
        log.info("%d: %s", k, x[k])
    return np.sum(x**3)


def logs_in_helper(x):
    def cubed(v):
        LOG.info("v=%s", v)
        return v**3

    return np.sum(cubed(x))


def logs_before_a_store(x):
    y = x * x
    LOG.info("y=%s", y)
    z = np.sum(y * x)
    y[0] = 0.0
    LOG.info("y=%s", y)
    return z


def appends(x):
    y = x * x
    TOLD.append(y)
    return np.sum(y * x)


def appends_parts(x):
    y = x**3
    TOLD.append((y[1:], {"sum": np.sum(y)}))
    return np.sum(y)


def appends_a_copy(x):
    y = x * x
    TOLD.append(y.copy())
    z = np.sum(y * x)
    y[0] = 0.0
    return z


def appends_in_a_loop(x):
    total = 0.0
    for k in range(3):
        total = total + x[k] ** 3
        TOLD.append(total)
    return total


def appends_by_name(x):
    y = x * x
    BY_NAME["y"].append(y)
    TOLD.append(y)
    return np.sum(y * x)


def adds_to_others(x):
    y = np.sum(x**3)
    LAST.append(y)
    SEEN.add(float(y))
    TOLD.append(y)
    return y


TELLING = [logs, logs_if_asked, gets_logger, logs_in_helper, logs_before_a_store, appends,
           appends_parts, appends_a_copy, appends_in_a_loop, appends_by_name,
           adds_to_others]  # fmt: skip


def _told(run):
    """What a call tells, and what it gives."""
    for held in (TOLD, LAST, SEEN, BY_NAME):
        held.clear()
    result = run()
    return repr((TOLD, LAST, SEEN, dict(BY_NAME))), result


@pytest.mark.parametrize("derive", WAYS)
@pytest.mark.parametrize("f", TELLING)
def test_what_is_told_is_told_once_and_as_it_was(f, derive):
    expected, value = _told(lambda: f(X))
    found, result = _told(lambda: derive(f))
    assert found == expected and TOLD and value == np.sum(X**3)
    _, plain = _told(lambda: derive(lambda x: np.sum(x**3)))
    for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in (result, plain))):
        np.testing.assert_allclose(a, b, rtol=1e-14)


def test_what_is_told_stays_as_it_is():
    workspace = srcdiff.grad(lambda x: appends(np.tile(x, 5000)), workspace=True)
    TOLD.clear()
    for scale in (1.0, 2.0, 3.0):
        workspace(scale * X)
    for scale, kept in zip((1.0, 2.0, 3.0), TOLD, strict=True):
        np.testing.assert_array_equal(kept, np.tile(scale * X, 5000) ** 2)


COUNTS, LATEST, CALLS = {"calls": 0}, {}, collections.Counter()


def counts_in_a_loop(x):
    total = 0.0
    for k in range(3):
        CALLS["steps"] += 1
        LATEST["total"] = total
        total = total + x[k] ** 3
    TOLD.append(total)
    return total


def keeps_the_latest(x):
    y = x * x
    LATEST["y"] = y
    LATEST["norm", 2] = np.sum(y)
    TOLD.append(y)
    return np.sum(y * x)


@pytest.mark.parametrize("derive", WAYS)
@pytest.mark.parametrize("f", [counts_in_a_loop, keeps_the_latest])
def test_what_is_counted_is_counted_once(f, derive):
    CALLS.clear()
    LATEST.clear()
    expected, _ = _told(lambda: f(X))
    last, calls = repr(LATEST), dict(CALLS)
    CALLS.clear()
    LATEST.clear()
    found, _ = _told(lambda: derive(f))
    assert found == expected and repr(LATEST) == last and dict(CALLS) == calls


def counts_twice(x):
    COUNTS["calls"] += 1
    COUNTS["calls"] += 1
    return np.sum(x**3)


def test_stores_into_containers_outside_are_printed_as_they_are():
    text = srcdiff.source(counts_twice, example=(X,))
    assert text.count('    COUNTS["calls"] += 1\n') == 2
    COUNTS["calls"] = 0
    for derive in WAYS:
        derive(counts_twice)
    assert COUNTS["calls"] == 2 * len(WAYS)


REGISTRY = {"latest": LATEST}


class Holding:
    """An object with a dict."""

    def __init__(self, held):
        self.held = held


HOLDING = Holding(LATEST)


def reads_by_another_name(x):
    LATEST["y"] = x * x
    return np.sum(REGISTRY["latest"]["y"] * x)


def reads_by_an_object(x):
    LATEST["y"] = x * x
    return np.sum(HOLDING.held["y"] * x)


def reads_the_counter(x):
    LATEST["y"] += x
    return np.sum(LATEST["y"] * x)


def _again(x, n):
    if n == 0:
        return x
    LATEST["y"] = x * x
    return _again(1.0 * x, n - 1)


def reads_what_a_recursive_function_puts(x):
    z = _again(x, 2)
    return np.sum(z * LATEST["y"])


@pytest.mark.parametrize(
    "f",
    [reads_by_another_name, reads_by_an_object, reads_the_counter,
     reads_what_a_recursive_function_puts],
)  # fmt: skip
def test_what_is_put_into_a_container_is_not_read(f):
    LATEST["y"] = np.ones(3)
    for derive in WAYS:
        with pytest.raises(srcdiff.UnsupportedError, match="not local to the function and is read"):
            derive(f)


def puts_and_reads_its_argument(x, d):
    LATEST["y"] = x * x
    return np.sum(x * d["y"])


def test_an_argument_is_no_container_that_values_are_put_into():
    LATEST["y"], other = np.ones(3), {"y": np.ones(3)}
    g = srcdiff.grad(puts_and_reads_its_argument)
    np.testing.assert_array_equal(g(X, other), np.ones(3))
    for derive in (g, lambda *args: srcdiff.vjp(puts_and_reads_its_argument, *args)):
        with pytest.raises(srcdiff.UnsupportedError, match=r"in its argument `d` as well"):
            derive(X, LATEST)


HISTORY = {"sums": []}


def _keeps_history():
    mine = []

    def f(x):
        y = np.sum(x**3)
        TOLD.append(float(y))
        HISTORY["sums"].append(y)
        mine.append(y)
        return y

    return f


def _as_long_as(history):
    def f(x):
        history.append(np.sum(x))
        return np.sum(x) * reads(history)

    def reads(values):
        return float(len(values))

    return f


def test_what_is_told_is_no_reason_to_compile_again():
    f = _keeps_history()
    g = srcdiff.grad(f)
    g(X)
    compiled = g.specialised(X)
    for _ in range(3):
        g(X)
    assert g.specialised(X) is compiled and len(HISTORY["sums"]) == 4
    with pytest.raises(srcdiff.UnsupportedError, match="not local to the function and is read"):
        srcdiff.grad(_as_long_as([]))(X)


def stores_into_what_was_told(x):
    y = x * x
    TOLD.append(y)
    z = np.sum(y * x)
    y[0] = 0.0
    return z


BUFFER = np.zeros(3)


def stores_outside_twice(x):
    b = BUFFER
    b[:] = x * x
    z = np.sum(b * x)
    b[:] = 7.0
    return z


@pytest.mark.parametrize("f", [stores_into_what_was_told, stores_outside_twice])
def test_what_is_held_outside_is_not_put_back(f):
    for derive in (lambda: srcdiff.grad(f)(X), lambda: srcdiff.vjp(f, X)):
        with pytest.raises(srcdiff.UnsupportedError, match=r"outside of the function holds") as e:
            derive()
        assert ".copy()" in str(e.value)
    expected, _ = _told(lambda: f(X))
    found, (_, tangent) = _told(lambda: srcdiff.jvp(f, (X,), (X,)))  # nothing is undone here
    assert found == expected and BUFFER[0] in (0.0, 7.0)
    np.testing.assert_allclose(tangent, 3.0 * np.sum(X**3), rtol=1e-14)


def reads_what_was_told(x):
    TOLD.append(x * x)
    return np.sum(TOLD[-1] * x)


def reads_the_last(x):
    LAST.append(x * x)
    return np.sum(LAST[0] * x)


@pytest.mark.parametrize("f", [reads_what_was_told, reads_the_last])
def test_what_is_told_is_not_read(f):
    for derive in WAYS:
        with pytest.raises(srcdiff.UnsupportedError, match="not local to the function and is read"):
            derive(f)


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
    found = [n for n, f in callees if n.rsplit(".", 1)[1].startswith(ACTS) and op_of(f).probed]
    random_or_files = [
        n for n, f in callees
        if n.startswith(("numpy.random", "scipy.io", "numpy.testing", "numpy.lib.format"))
        and not isinstance(f, (type, types.ModuleType)) and is_pure(f)
    ]  # fmt: skip
    assert callees and not found and not random_or_files


def test_the_list_goes_by_identity():
    for fn in (disguised, counted, mapped, counting, note, Counting):
        assert not op_of(fn).probed and not is_pure(fn)
    for fn in (np.dot, np.sin, np.add.reduce, sum, np.float64):
        assert op_of(fn).probed and is_pure(fn)
