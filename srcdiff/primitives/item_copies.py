"""Which items are certainly in memory of their own, and no views of what they are taken from."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from srcdiff import ir
from srcdiff.ir.kinds import Array, Kind, Scalar, indexes_as_array, rank_of, sure
from srcdiff.runtime.devices import is_device_array, on_device

Kinds = Mapping[str, Kind]


def copies_items(call: ir.Call, kinds: Kinds | None) -> bool:
    """Whether `x[i]` certainly makes new memory: a number, or an index with an array in it."""
    base, index = call.args[0], call.args[1]
    if not is_array_or_number(base, kinds):
        return False
    items = index.items if isinstance(index, ir.Tup) else (index,)
    return any(_is_array_index(i, kinds) for i in items) or _picks_one(base, items, kinds)


def _is_array_index(atom: ir.Atom, kinds: Kinds | None) -> bool:
    """Whether an index item is certainly an array, be it without axes, or a list."""
    if isinstance(atom, ir.Ref):  # of the module
        return isinstance(atom.value, (np.ndarray, list)) or is_device_array(atom.value)
    kind = kinds.get(atom.id) if kinds is not None and isinstance(atom, ir.Name) else None
    return kind is not None and indexes_as_array(kind)


def _picks_one(base: ir.Atom, items: tuple[ir.Atom, ...], kinds: Kinds | None) -> bool:
    """Whether an index certainly selects one number; on a device it would be a view."""
    kind = kinds.get(base.id) if kinds is not None and isinstance(base, ir.Name) else None
    rank = None if kind is None else rank_of(kind)
    return not on_device() and rank == len(items) and all(_is_integer(i, kinds) for i in items)


def _is_integer(atom: ir.Atom, kinds: Kinds | None) -> bool:
    """Whether an index item is certainly one integer."""
    if isinstance(atom, ir.Const):
        return isinstance(atom.value, int) and not isinstance(atom.value, bool)
    kind = kinds.get(atom.id) if kinds is not None and isinstance(atom, ir.Name) else None
    return isinstance(kind, Scalar) and kind.dtype is not None and "int" in kind.dtype


def is_array_or_number(atom: ir.Atom, kinds: Kinds | None) -> bool:
    """Whether an atom is certainly an array or a number, not a container; it may be None."""
    kind = kinds.get(atom.id) if kinds is not None and isinstance(atom, ir.Name) else None
    return kind is not None and isinstance(sure(kind), (Array, Scalar))
