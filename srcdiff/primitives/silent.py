"""Calls that are made for their effect alone: they write into an operand, and return None."""

from __future__ import annotations

import operator
from collections.abc import Mapping

import numpy as np

from srcdiff import ir
from srcdiff.ir.kinds import Array, Kind, is_container
from srcdiff.primitives.effects import is_ufunc_at

_METHODS = frozenset({
    "append", "extend", "insert", "remove", "clear", "reverse", "sort", "update", "fill",
    "partition", "put", "itemset", "setfield", "setflags",
})  # fmt: skip
_FUNCTIONS = frozenset({
    np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal,
    operator.setitem, operator.delitem,
})  # fmt: skip


def returns_nothing(rhs: ir.Rhs, kinds: Mapping[str, Kind]) -> bool:
    """Whether a right-hand side is a call that returns None."""
    if not isinstance(rhs, ir.Call) or not rhs.args:
        return False
    if isinstance(rhs.fn, ir.Method):
        base = rhs.args[0]
        kind = kinds.get(base.id) if isinstance(base, ir.Name) else None
        known = kind is not None and (isinstance(kind, Array) or is_container(kind))
        return known and rhs.fn.name in _METHODS
    if isinstance(rhs.fn, (ir.Name, ir.Attr, ir.Derived)):
        return False
    return is_ufunc_at(rhs.fn) or rhs.fn in _FUNCTIONS
