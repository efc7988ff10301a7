"""Functions whose result shares memory with what they are given, and of which that is all we know.

`memoryview(y)`, `np.ndarray(shape, buffer=y)`, masked arrays: no rule says where in `y` they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcdiff import ir

_WINDOWS = np.lib.stride_tricks.sliding_window_view
_FUNCTIONS = frozenset(
    {
        memoryview, np.ndarray, np.matrix, np.asmatrix, np.recarray, np.frombuffer, np.from_dlpack,
        np.nditer, np.lib.stride_tricks.as_strided, _WINDOWS,
    }
)  # fmt: skip
_MODULES = ("numpy.ma", "numpy.rec", "numpy.core.records", "numpy.ctypeslib")
METHODS = frozenset({"getfield", "__array__"})
ATTRIBUTES = frozenset({"data", "flat", "base"})
RAW = frozenset({"ctypes", "__array_interface__", "__array_struct__"})
"""Attributes that give the address of an array's memory."""


def shares_memory(fn: Any) -> bool:
    """Whether what a function returns may be a view of any of its arguments."""
    if getattr(type(fn), "__hash__", None) is None:
        return False
    module = getattr(fn, "__module__", None)
    known = isinstance(module, str) and module.startswith(_MODULES)
    return known or fn in _FUNCTIONS


def is_foreign(call: ir.Call) -> bool:
    """Whether what a call returns may be a view that no rule describes, if there is no rule."""
    fn = call.fn
    if isinstance(fn, ir.Attr):
        return fn.name in ATTRIBUTES
    if isinstance(fn, ir.Method):
        return fn.name in METHODS
    return shares_memory(fn) and (fn is not np.ndarray or bool(buffer_of(call)))


def buffer_of(call: ir.Call) -> tuple[ir.Atom, ...]:
    """The memory that `np.ndarray(shape, dtype, buffer)` is given, if it is given any."""
    return (*call.args[2:3], *(v for k, v in call.kwargs if k == "buffer"))
