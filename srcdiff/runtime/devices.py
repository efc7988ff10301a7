"""CuPy beside NumPy: which values are its arrays, and which of its objects stand for NumPy's.

The compiler knows NumPy alone.  What comes from CuPy is read as NumPy's object of the same name
(`canonical`), and a derivative for CuPy arrays is spelled, and looked up, as CuPy's at the end.
What differs before that is how numbers come out: a function of CuPy returns an array without axes
where one of NumPy returns a number.  The target of a function says for which it is generated.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from inspect import getattr_static
from typing import Any

import numpy as np

PAIRS = (
    ("numpy", "cupy"),
    ("numpy.linalg", "cupy.linalg"),
    ("numpy.fft", "cupy.fft"),
    ("numpy.random", "cupy.random"),
    ("numpy.lib.stride_tricks", "cupy.lib.stride_tricks"),
    ("scipy", "cupyx.scipy"),
    *((f"scipy.{n}", f"cupyx.scipy.{n}") for n in ("special", "linalg", "fft", "ndimage")),
    ("scipy.signal", "cupyx.scipy.signal"),
)
"""The modules of NumPy and SciPy, and those of CuPy with functions of the same names."""


class OnHost:
    """A function of NumPy, or NumPy itself, that computes on the host beside CuPy."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.__name__ = getattr(function, "__name__", "function")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What NumPy's function gives."""
        return self.function(*args, **kwargs)


# --- values ------------------------------------------------------------------------------------


def is_device_array(value: Any) -> bool:
    """Whether a value is an array of CuPy."""
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(value, cupy.ndarray)


def is_any_array(value: Any) -> bool:
    """Whether a value is an array of NumPy or of CuPy."""
    return isinstance(value, np.ndarray) or is_device_array(value)


# --- objects of CuPy that stand for NumPy's ----------------------------------------------------

_twins: dict[int, Any] = {}
"""What the compiler calls by a helper's name, by the id of the helper's twin for CuPy."""

TWIN_OF = "__srcdiff_twin_of__"
"""Where a function that stands for one of the user's, with CuPy for NumPy, says for which."""

_tables: dict[tuple[int, int], dict[int, tuple[Any, Any]]] = {}


def canonical(value: Any) -> Any:
    """What an object means: NumPy's or SciPy's for CuPy's of the same name, Python's for Numba's.

    Anything else is itself.
    """
    value = _behind_numba(value)
    cupy = sys.modules.get("cupy")
    if cupy is None:
        return value
    if isinstance(value, types.FunctionType) and TWIN_OF in value.__dict__:
        return value.__dict__[TWIN_OF]() or value
    found = _table(cupy).get(id(value))
    return value if found is None or found[0] is not value else found[1]


def is_of_numba(value: Any) -> bool:
    """Whether an object is one of Numba's."""
    return str(getattr(type(value), "__module__", "")).partition(".")[0] == "numba"


def _behind_numba(value: Any) -> Any:
    """The Python function that `numba.njit` or `jit` compiles, `range` for `numba.prange`."""
    if is_of_numba(value):
        found = getattr_static(value, "py_func", None)
        return found if isinstance(found, types.FunctionType) else value
    prange = getattr(sys.modules.get("numba"), "prange", None)
    return range if prange is not None and value is prange else value


def known_as(twin: Any, original: Any) -> None:
    """Let an object stand for another one, as CuPy's do for NumPy's."""
    _twins[id(twin)] = (twin, original)


def _table(cupy: Any) -> dict[int, tuple[Any, Any]]:
    """CuPy's objects (by id) with NumPy's, of all modules that are imported."""
    loaded = [p for p in PAIRS if p[1] in sys.modules]
    key = id(cupy), len(loaded) + 1000 * len(_twins)
    table = _tables.get(key)
    if table is None:
        table = dict(_twins)
        for name, theirs in loaded:
            with contextlib.suppress(ImportError):  # SciPy is not needed for CuPy
                _pair(importlib.import_module(name), sys.modules[theirs], table)
        _tables.clear()
        _tables[key] = table
    return table


def _pair(ours: Any, theirs: Any, table: dict[int, tuple[Any, Any]]) -> None:
    """Enter the functions, classes and modules of two modules that have a name in common."""
    table.setdefault(id(theirs), (theirs, ours))
    for name, value in vars(theirs).items():
        other = getattr(ours, name, None)
        named = callable(value) or isinstance(value, types.ModuleType) or name in ("r_", "c_")
        if name.startswith("_") or other is None or other is value or not named:
            continue
        if isinstance(value, types.ModuleType) == isinstance(other, types.ModuleType):
            table.setdefault(id(value), (value, other))
