"""What is said of callees is true: nobody is harmless by default, and memory is as it is said.

Every public callee of NumPy, SciPy and of what touches the world in the standard library is looked
up; every sample call of a rule is made, and what it changed and shares is compared with the record.
"""

import contextlib
import functools
import importlib
import types

import numpy as np
import pytest

import srcdiff
from srcdiff import ir
from srcdiff.ir import Attr, Method
from srcdiff.ir.kinds import Array
from srcdiff.kinds.lattice import kind_of
from srcdiff.kinds.probing import apply
from srcdiff.primitives import operation
from srcdiff.primitives.arguments import as_atom
from srcdiff.primitives.effects import is_pure, mutated_args, returns_view
from srcdiff.primitives.operation import UNKNOWN, Effect, Result, Which, op_of
from srcdiff.runtime import arrays, trees
from tests.rules.samples import collected

# --- nobody is harmless by default ----------------------------------------------------------------

WORLD = (
    "os", "os.path", "shutil", "pathlib", "subprocess", "io", "socket", "tempfile", "pickle",
    "json", "time", "threading", "sys", "random", "multiprocessing", "signal", "gc", "warnings",
    "logging", "locale", "importlib", "atexit", "urllib.request", "asyncio", "ctypes", "mmap",
    "csv", "zipfile", "builtins", "numpy.random", "scipy.io", "scipy.stats", "numpy.lib.format",
)  # fmt: skip
"""Modules whose functions touch the world, draw at random, or call what they are given."""

HARMLESS = {
    "builtins": """
        abs all any ascii bin bool bytes callable chr complex dict divmod enumerate float format
        frozenset getattr hasattr hash hex id int isinstance issubclass len list max memoryview min
        oct ord pow range repr reversed round set slice sorted str sum tuple type zip
    """,
}

HARMFUL = {
    "files": """
        numpy.DataSource numpy.fromfile numpy.fromregex numpy.genfromtxt numpy.load numpy.loadtxt
        numpy.memmap numpy.save numpy.savetxt numpy.savez numpy.savez_compressed numpy.get_include
        numpy.rec.fromfile numpy.ctypeslib.load_library numpy.ma.fromflex scipy.sparse.save_npz
        scipy.sparse.load_npz
    """,
    "state": """
        numpy.errstate numpy.get_printoptions numpy.getbufsize numpy.geterr numpy.geterrcall
        numpy.printoptions numpy.set_printoptions numpy.setbufsize numpy.seterr numpy.seterrcall
        numpy.set_string_function numpy.polynomial.set_default_printstyle scipy.special.seterr
        scipy.special.errstate scipy.fft.set_backend scipy.fft.set_global_backend
        scipy.fft.register_backend scipy.fft.set_workers scipy.sparse.linalg.use_solver
    """,
    "printing": "numpy.info numpy.show_config numpy.show_runtime numpy.test numpy.linalg.test "
                "scipy.optimize.show_options",
    "calls": """
        numpy.apply_along_axis numpy.apply_over_axes numpy.fromfunction numpy.fromiter
        numpy.frompyfunc numpy.piecewise numpy.vectorize scipy.linalg.funm
        scipy.ndimage.generic_filter scipy.ndimage.geometric_transform scipy.optimize.fixed_point
    """,
    "writing": "numpy.copyto numpy.fill_diagonal numpy.place numpy.put numpy.put_along_axis "
               "numpy.putmask numpy.ma.put numpy.ma.putmask numpy.ma.set_fill_value",
    "memory": """
        numpy.asmatrix numpy.bmat numpy.from_dlpack numpy.frombuffer numpy.matrix numpy.ndarray
        numpy.nditer numpy.flatiter numpy.recarray numpy.lib.stride_tricks.as_strided
        numpy.ctypeslib.as_array
    """,
    "random": "scipy.sparse.rand scipy.sparse.random scipy.linalg.clarkson_woodruff_transform",
}  # fmt: skip
"""What is not harmless, by the reason why."""


def _callees(name):
    """The public callees of a module."""
    with contextlib.suppress(ImportError):
        module = importlib.import_module(name)
        for key in sorted(vars(module)):
            value = vars(module)[key]
            if not key.startswith("_") and callable(value):
                yield key, value


@pytest.mark.parametrize("module", WORLD)
def test_what_touches_the_world_is_never_run_nor_dropped(module):
    harmless = HARMLESS.get(module, "").split()
    found = [n for n, v in _callees(module) if n not in harmless and op_of(v).is_pure]
    homes = {n: op_of(dict(_callees(module))[n]).name.rpartition(".")[0] for n in found}
    assert not [n for n in found if homes[n] not in ("math", "operator", "builtins")]


def test_builtins_that_are_run():
    runs = {n for n, v in _callees("builtins") if op_of(v).probed}
    expected = "abs all any bool complex divmod float int pow round sum"
    assert runs == set(expected.split())


@pytest.mark.parametrize("reason", HARMFUL)
def test_what_is_not_harmless_is_never_run_nor_dropped(reason):
    for name in HARMFUL[reason].split():
        module, _, key = name.rpartition(".")
        fn = dict(_callees(module)).get(key)
        if fn is not None:
            found = op_of(fn)
            assert not found.is_pure and not found.probed, name
            assert (found.writes is Which.FIRST) == (reason == "writing") or "ma." in name, name


def test_whatever_is_public_is_listed_or_unknown():
    listed = {w for words in HARMFUL.values() for w in words.split()}
    told = []
    for module in ("numpy", "numpy.linalg", "numpy.fft", "numpy.lib.scimath"):
        known = {*operation._RUN.get(module, []), *operation._QUIET.get(module, [])}
        for name, fn in _callees(module):
            if op_of(fn).is_pure:
                assert name in known or op_of(fn).name.startswith(("builtins", "math", "numpy"))
            elif f"{module}.{name}" not in listed and not isinstance(fn, type):
                told.append(f"{module}.{name}")
    print("unknown, and so never run:", *told)
    assert len(told) < 40


def test_what_is_new_is_unknown(monkeypatch):
    made = types.FunctionType((lambda x: x).__code__, {"__name__": "numpy.new"}, "brand_new")
    made.__module__ = "numpy"
    monkeypatch.setattr(np, "brand_new", made, raising=False)
    assert op_of(made).effect is Effect.ANY and not op_of(made).probed


class Lying:
    """An object that says that it is NumPy's."""

    __module__ = "numpy"

    def __call__(self, x):
        """Something."""


def _writes(a, b):
    a[...] = b


LIARS = [
    functools.wraps(np.dot)(_writes), functools.lru_cache(_writes), functools.partial(_writes),
    Lying(), Lying, _writes, np.frompyfunc(_writes, 2, 1), np.vectorize(_writes), types, object(),
    functools.wraps(np.copyto)(_writes),
]  # fmt: skip


@pytest.mark.parametrize("fn", LIARS, ids=lambda fn: type(fn).__name__)
def test_who_says_to_be_of_numpy_is_not_believed(fn):
    assert not is_pure(fn) and not op_of(fn).probed
    call = ir.Call(fn, (ir.Name("a"), ir.Name("b")))
    if not isinstance(fn, (np.ufunc, np.vectorize)):  # these call with numbers
        assert op_of(fn) is UNKNOWN
        assert mutated_args(call) == call.args == returns_view(call)


def test_methods_of_objects_that_nobody_knows_are_not_judged_by_name():
    assert is_pure(Method("replace")) and not is_pure(Method("replace", foreign=True))
    assert not is_pure(Method("to_be_added_to_arrays"))


# --- memory is as it is said ----------------------------------------------------------------------


def _leaves(x):
    """The arrays in a value."""
    if isinstance(x, np.ndarray):
        yield x
    elif isinstance(x, (list, tuple)):
        for item in x:
            yield from _leaves(item)
    elif isinstance(x, dict):
        yield from _leaves(list(x.values()))


def _same(a, b):
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")


def _atom(name, value):
    """An argument of a call: an array by a name, else what it is."""
    return ir.Name(name) if [*_leaves(value)] or isinstance(value, list) else as_atom(value)


class Made:
    """A sample call that was made: what it wrote into and what its result shares, by name."""

    def __init__(self, fn, args, kwargs):
        given = {**{f"a{k}": v for k, v in enumerate(args)}, **kwargs}
        atoms = tuple(_atom(f"a{k}", v) for k, v in enumerate(args))
        self.call = ir.Call(fn, atoms, tuple((k, _atom(k, v)) for k, v in kwargs.items()))
        self.kinds = {name: kind_of(value, name) for name, value in given.items()}
        before = {name: [a.copy() for a in _leaves(v)] for name, v in given.items()}
        with np.errstate(all="ignore"):
            result = apply(fn, list(args), dict(kwargs))
        self.written = {
            n for n, v in given.items() if not all(map(_same, before[n], _leaves(v)))
        }
        parts = [*_leaves(result)]
        self.shared = {
            n for n, v in given.items()
            if any(np.shares_memory(a, p) for a in _leaves(v) for p in parts)
        }  # fmt: skip

    def wrong(self):
        """What was seen and is not in the record."""
        kinds = self.kinds
        writes = {n for a in mutated_args(self.call, kinds) for n in ir.names(a)}
        shares = {n for a in returns_view(self.call, kinds) for n in ir.names(a)}
        more = {"writes": self.written - writes, "shares": self.shared - shares}
        return [(self.call, what, sorted(names)) for what, names in more.items() if names]


@functools.cache
def _samples():
    """The sample calls of all rules."""
    return [s for s in collected() if _is_called(s.function)]


def _is_called(fn):
    """Whether a rule is of a callee, and no helper of a helper."""
    if isinstance(fn, (Method, Attr)):
        return True
    return callable(fn) and op_of(fn) is not UNKNOWN and not fn.__name__.startswith("_")


def test_samples_do_what_is_said():
    count, wrong = 0, []
    for sample in _samples():
        args, kwargs = sample.arguments()
        if any(isinstance(a, types.FunctionType) for a in args):
            continue  # what is integrated or solved
        wrong += Made(sample.function, args, kwargs).wrong()
        count += 1
    assert not wrong and count > 1000


A, B = np.arange(1.0, 10.0).reshape(3, 3), np.arange(9.0, 0.0, -1.0).reshape(3, 3)
SHAPES = [
    (A,), (A, B), (A, 1), (A, 0), (A, (9,)), (A, 0, 1), (A, 1, 0), (A, [0, 1], 1.0), (A, float),
    (A, A > 2.0, 7.0), (A, np.array([[0, 1, 2]]), 5.0, 0), (A, 5.0), (A, A > 4.0, [1.0]),
    (A, (3, 3)), (A[0],), (A[0], A[1]), (A[0], 3), (A[0], 1), (A[0], (3, 3)), ([A, B],),
    (A + 1j,), (0.5 * A, 2), (A.astype(int),), ("i,i", A[0], A[1]), ("ij->ji", A),
    (A, None, None, "r"),
]  # fmt: skip


def _tried(fn):
    """The calls of a function that can be made with plain arrays."""
    for args in SHAPES:
        own = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
        own = [[np.array(x) for x in a] if isinstance(a, list) and a is args[0] else a for a in own]
        with contextlib.suppress(Exception):
            yield Made(fn, own, {})


NAMESPACES = (
    "numpy", "numpy.linalg", "numpy.fft", "numpy.lib.scimath", "numpy.lib.stride_tricks",
    "numpy.char", "numpy.polynomial.polynomial", "numpy.polynomial.polyutils", "scipy.special",
    "scipy.linalg", "scipy.fft", "scipy.signal", "scipy.signal.windows", "scipy.interpolate",
    "scipy.sparse", "scipy.spatial.distance", "scipy.constants", "operator",
)  # fmt: skip
OF_NUMBERS = ("scipy.constants", "scipy.signal.windows", "numpy.char")
"""Modules whose functions take no arrays of numbers."""
COPIES = {"array", "astype", "meshgrid"}
"""What shares memory only where it is told not to copy."""
NOT_TRIED = {"fromstring", "einsum_path", "busday_offset", "mintypecode"}


@pytest.mark.parametrize("module", NAMESPACES)
@pytest.mark.filterwarnings("ignore")
def test_functions_do_what_is_said(module):
    pytest.importorskip(module)
    seen, wrong = 0, []
    for name, fn in _callees(module):
        known = op_of(fn)
        if known.effect in (Effect.NONE, Effect.WRITES) and name not in NOT_TRIED:
            made = [*_tried(fn)]
            wrong += [w for m in made for w in m.wrong()]
            seen += len(made)
            if known.result is Result.SURE_VIEW:
                arrays = [m for m in made if isinstance(m.kinds["a0"], Array)]
                assert arrays and all("a0" in m.shared for m in arrays), name
            shares = known.gives_array and name not in COPIES and made
            assert not shares or any(m.shared for m in made), f"{name} shares nothing"
            assert known.writes is not Which.FIRST or any(m.written for m in made), name
    assert not wrong and (seen or module in OF_NUMBERS)


@pytest.mark.parametrize("name", sorted(operation.PURE_METHODS | operation.MUTATORS))
@pytest.mark.filterwarnings("ignore")
def test_methods_of_arrays_do_what_is_said(name):
    wrong = []
    for args in SHAPES:
        own = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
        fn = Method(name) if callable(getattr(np.ndarray, name, None)) else Attr(name)
        if isinstance(own[0], np.ndarray):
            with contextlib.suppress(AttributeError, TypeError, ValueError, IndexError):
                wrong += Made(fn, own if isinstance(fn, Method) else own[:1], {}).wrong()
    assert not wrong


ASKING = {
    np.shape: (A,), np.size: (A,), np.ndim: (A,), len: (A,), np.zeros_like: (A,),
    arrays.unbroadcast: (A, A[0]), arrays.spread: (2.0, A), trees.cotangent: (A, B),
}  # fmt: skip


def test_what_looks_at_shapes_alone_sees_no_number():
    declared = {n for _, names, more in operation._MEMORY if "asks" in more for n in names.split()}
    assert declared == {fn.__name__ for fn in ASKING}
    for fn, args in ASKING.items():
        place = op_of(fn).asks
        other = [a * 2.0 + 1.0 if k == place else a for k, a in enumerate(args)]
        np.testing.assert_array_equal(fn(*args), fn(*other))


def conjugated_into(x):
    """A method that writes into what it is given."""
    y = np.zeros(3)
    x.conj(y)
    return np.sum(y * x)


def test_what_methods_write_into_carries_the_derivative():
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(srcdiff.grad(conjugated_into)(x), 2.0 * x)


def rounded(x):
    """Whole numbers, rounded, which NumPy may give back as they are."""
    i = np.arange(3)
    j = np.round(i)
    j[0] = 2
    return np.sum(x[i] * x)


def test_whole_numbers_that_are_rounded_may_be_the_array_itself():
    with pytest.raises(srcdiff.UnsupportedError, match="`j` may be a view of `i`"):
        srcdiff.grad(rounded)(np.ones(3))
