"""The modules of the stand-in: the functions that CuPy has, computed by NumPy and SciPy."""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from srcdiff.backends.cupy.calls import KNOWN

from . import strictness
from .arrays import COUNTS, TransferError, _index, _methods, computed, ndarray, plain, wrapped
from .kernels import ElementwiseKernel

__all__ = ["Device", "TransferError"]

RECORD = Path(__file__).parent / "cupy14.txt"


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


# These answer what is known without looking at the values.
_ANSWERS = words(
    """shape ndim size iscomplexobj isrealobj isscalar result_type can_cast promote_types finfo
        iinfo may_share_memory shares_memory broadcast_shapes issubdtype min_scalar_type
        dtype get_printoptions printoptions"""
)
_JOINED = words("concatenate concat stack column_stack")
"""Functions of a tuple of arrays, and of arrays alone."""

_METHODS = {
    "reduce": words("add multiply"),
    "accumulate": words("add multiply"),
    "reduceat": words("add"),
    "at": words("add subtract maximum minimum bitwise_and bitwise_or bitwise_xor"),
}
"""The ufuncs that have a method, as CuPy's page of ufuncs lists them."""

_WHOLE = words("int32 int64 uint32 uint64")
_ATOMIC = {
    "add": _WHOLE | words("float16 float32 float64"),
    "subtract": words("int32 uint32"),
    **dict.fromkeys(("maximum", "minimum"), _WHOLE - {"int64"} | words("float32 float64")),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), _WHOLE),
}
"""The dtypes in which a ufunc has `at` with positions."""

_OPEN = words("toeplitz block_diag hadamard hilbert helmert dft")
"""Functions of `cupyx.scipy` whose first operand need not be an array."""


def recorded() -> dict[str, dict[str, str]]:
    """Module -> name -> parameters, as they were written down from CuPy."""
    found: dict[str, dict[str, str]] = {}
    for line in RECORD.read_text().splitlines():
        if line.startswith("["):
            here = found[line.strip("[]")] = {}
        elif line and line[0] != "#":
            name, _, what = line.partition(" ")
            here[name] = what
    for module in ("linalg", "signal"):
        found[f"cupyx.scipy.{module}"] = dict.fromkeys(KNOWN[f"scipy.{module}"], "(...)")
    return found


class Device:
    """The modules `cupy` and `cupyx` of the stand-in, and what was done on it."""

    def __init__(self) -> None:
        names = recorded()
        _methods(names.pop("cupy.ndarray"))
        self.modules = {n: types.ModuleType(n) for n in ("cupyx", "cupyx.scipy", "cupy.lib")}
        for name in names:
            ours = name.replace("cupyx.", "").replace("cupy", "numpy")
            module = types.ModuleType(name)
            self.modules[name] = module
            with contextlib.suppress(ImportError):
                _fill(module, importlib.import_module(ours), names[name])
        for name, module in self.modules.items():
            parent, _, last = name.rpartition(".")
            if parent:
                setattr(self.modules[parent], last, module)
        self.cupy = self.modules["cupy"]
        self.cupy.ndarray = ndarray  # type: ignore[attr-defined]
        self.cupy.ElementwiseKernel = ElementwiseKernel  # type: ignore[attr-defined]
        self.cupy.asnumpy = lambda a: a.get()  # type: ignore[attr-defined]
        self.cupy.get_array_module = lambda *args: self.cupy  # type: ignore[attr-defined]

    transfers = property(lambda self: COUNTS.transfers)
    allocations = property(lambda self: COUNTS.allocations)
    launches = property(lambda self: COUNTS.launches)

    @contextlib.contextmanager
    def installed(self) -> Iterator[Device]:
        """The modules can be imported inside."""
        before = {n: sys.modules.get(n) for n in self.modules}
        sys.modules.update(self.modules)
        try:
            yield self
        finally:
            for name, module in before.items():
                sys.modules.pop(name)
                if module is not None:
                    sys.modules[name] = module

    @contextlib.contextmanager
    def without_transfers(self) -> Iterator[None]:
        """Whatever goes to the host inside is an error."""
        COUNTS.forbidden = True
        try:
            yield
        finally:
            COUNTS.forbidden = False

    def array(self, value: Any) -> Any:
        """A copy of an array of NumPy."""
        return wrapped(np.array(value))


def _fill(module: types.ModuleType, ours: types.ModuleType, names: dict[str, str]) -> None:
    """Give a module the functions that it has in CuPy."""
    for name, what in names.items():
        value = getattr(ours, name, RECORD)
        if value is RECORD:
            continue  # an older NumPy or SciPy
        if isinstance(value, type) or not callable(value):
            made: Any = Joiner(value) if name in ("r_", "c_") else value
        elif what == "ufunc" or isinstance(value, np.ufunc):
            made = Ufunc(value)
        elif name == "default_rng":
            made = Generator
        else:
            made = _function(value, name, module.__name__, what)
        setattr(module, name, made)


class Generator:
    """A generator of random numbers, which draws on the device: into arrays of it too."""

    def __init__(self, seed: Any = None) -> None:
        self.value = np.random.default_rng(seed)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.value, name)
        return lambda *args, **kwargs: computed(method, args, kwargs)


class Joiner:
    """`r_` and `c_`."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getitem__(self, key: Any) -> Any:
        return wrapped(self.value[plain(key)])


class Ufunc:
    """An elementwise function: takes arrays and numbers, no lists."""

    __module__ = "cupy"

    def __init__(self, function: Any) -> None:
        self.function, self.__name__ = function, function.__name__
        self.nin, self.nout = getattr(function, "nin", 1), getattr(function, "nout", 1)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(a, (list, tuple)) for a in args):
            raise TypeError("Unsupported type <class 'list'>")
        if self.__name__ in strictness.REAL and any(np.iscomplexobj(plain(a)) for a in args):
            raise TypeError(f"Wrong type of arguments for cupyx_scipy_special_{self.__name__}")
        return computed(self.function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name not in ("at", "outer", "reduce", "accumulate", "reduceat"):
            raise AttributeError(name)
        if self.__name__ not in _METHODS.get(name, (self.__name__,)):
            raise NotImplementedError(f"`{self.__name__}.{name}` is not supported yet")
        method = getattr(self.function, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            if name == "at":
                _check_scattered(self.__name__, *args[:2])
                if self.__name__ in ("maximum", "minimum"):
                    return self._rounded_at(*args)
                return computed(method, args, kwargs)
            return computed(method, tuple(map(_index, args)), kwargs)

        return call

    def _rounded_at(self, a: Any, indices: Any, b: Any) -> None:
        """`maximum.at` or `minimum.at`, which compare as float32 where several meet."""
        single = a.held.astype(np.float32) if _by_position(indices) else a.held
        self.function.at(single, plain(_index(indices)), plain(b))
        met = np.zeros(a.shape, bool)
        met[plain(indices)] = True
        a.held[met] = single[met]


def _by_position(indices: Any) -> bool:
    """Whether an index has arrays or lists of positions, for which CuPy has kernels of its own."""
    items = [plain(i) for i in (indices if isinstance(indices, tuple) else (indices,))]
    several = [np.asarray(i) for i in items if isinstance(i, (list, np.ndarray))]
    return bool(several) and not (len(several) == 1 and several[0].dtype == bool)


def _check_scattered(name: str, a: Any, indices: Any) -> None:
    """Raise where CuPy has no atomic operation for a dtype."""
    known = _ATOMIC[name]
    if _by_position(indices) and a.dtype.name not in known:
        raise TypeError(f"cupy.{name}.at only supports {', '.join(sorted(known))} as data type")


def _function(value: Any, name: str, module: str, what: str) -> Callable[..., Any]:
    """A function of NumPy with the parameters and the strictness of CuPy's."""
    parameters = what.strip("()").split(", ")
    known = {p.strip("=*!") for p in parameters}
    open_ = "..." in what or "**" in what
    positional = sum(not p.startswith("*") for p in parameters)
    wanted = [p.strip("=!") for p in parameters if p.startswith("!")]
    places = [k for k, p in enumerate(parameters) if p.startswith("!")]
    if what == "(...)" and name not in _OPEN:
        places = [0]

    def function(*args: Any, **kwargs: Any) -> Any:
        extra = set(kwargs) - known
        if extra and not open_:
            raise TypeError(f"{name}() got an unexpected keyword argument {min(extra)!r}")
        if len(args) > positional and "*" not in what and not open_:
            raise TypeError(f"{name}() takes {positional} positional arguments")
        if name == "size":
            _check_array(name, args[0])
        if name in _ANSWERS:
            return value(*map(_loose, args), **{k: _loose(v) for k, v in kwargs.items()})
        for operand in (*(args[k] for k in places if k < len(args)),
                        *(kwargs[p] for p in wanted if p in kwargs)):  # fmt: skip
            _check_array(name, operand)
        if name in _JOINED and args:
            for operand in args[0]:
                _check_array(name, operand)
        strictness.refuse(module, name, args, kwargs)
        if name == "broadcast_arrays":  # numbers stay numbers
            whole = computed(value, args, kwargs)
            return tuple(w if isinstance(a, ndarray) else a for a, w in zip(args, whole))
        if name in ("array", "asarray", "asanyarray", "ascontiguousarray"):
            return _array(value, args, kwargs)
        if name.startswith("empty"):  # nothing fills them
            COUNTS.launches -= 1
        return _turned(name, computed(value, args, kwargs))

    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    return function


def _turned(name: str, result: Any) -> Any:
    """Eigenvectors and singular vectors of other signs than NumPy's, as they may have on a GPU."""
    if name not in ("eigh", "svd") or not isinstance(result, tuple):
        return result
    vectors = result[-1].held
    n = result[-1 - (name == "eigh")].shape[-1 - (name == "svd")]
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    if name == "eigh":
        return type(result)(result[0], wrapped(vectors * signs))
    u = result[0].held * np.resize(signs, result[0].shape[-1])
    return type(result)(wrapped(u), result[1], wrapped(vectors * signs[:, None]))


def _check_array(name: str, value: Any) -> None:
    """Raise for an operand that only NumPy would make an array of."""
    if not isinstance(value, ndarray):
        raise TypeError(f"{name}: expected cupy.ndarray, given {type(value).__name__}")


def _array(value: Any, args: Any, kwargs: Any) -> Any:
    """An array of what may be on the host; lists are of arrays, or of numbers."""
    first, *rest = args
    if isinstance(first, (list, tuple)):
        kinds = {isinstance(v, ndarray) for v in _flat(first)}
        if len(kinds) > 1:
            raise TypeError("Implicit conversion to a NumPy array is not allowed.")
    if not isinstance(first, ndarray):
        first = value(_loose(first), *rest, **kwargs)
        return wrapped(np.array(first))
    made = computed(value, (first, *rest), kwargs)
    return first if made.held is first.held else made


def _flat(items: Any) -> Iterator[Any]:
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from _flat(item)
        else:
            yield item


def _loose(value: Any) -> Any:
    """An operand that may be an array of NumPy."""
    return value if isinstance(value, np.ndarray) else plain(value)
