"""Subscripts behind the batch axis: `d[i]` becomes `d[:, i]`."""

from __future__ import annotations

import operator

import numpy as np

from srcdiff import ir
from srcdiff.autodiff.batch.context import ALL, Context, NoBatchError
from srcdiff.ir.kinds import Array, Kind, Scalar, Text, indexes_as_array, is_basic, rank_of
from srcdiff.kinds.atoms import atom_kind
from srcdiff.kinds.calls import call_kind
from srcdiff.runtime import batched


def index_behind(b: Context, index: ir.Atom) -> ir.Atom | None:
    """The index of an array for one of the batch; None where NumPy would put axes elsewhere.

    Where arrays (and integers beside them) in an index are apart from each other, what they
    select comes first in the result, before the batch.
    """
    kind = b.kind(index)
    if isinstance(kind, Text):  # a field of records, which has the axes of the array
        return index
    if isinstance(index, ir.Name) and not isinstance(kind, (Scalar, Array)):
        return b.call(batched.behind, index) if is_basic(kind) else None
    items = index.items if isinstance(index, ir.Tup) else (index,)
    kinds = [b.kind(i) for i in items]
    if len(items) > 1 and any(map(indexes_as_array, kinds)):
        if not all(is_basic(k) or indexes_as_array(k) for k in kinds):
            return None
        places = [k for k, one in enumerate(kinds) if _is_advanced(one)]
        if places[-1] - places[0] >= len(places):
            return None
    elif len(items) > 1 and not all(map(is_basic, kinds)):
        return None
    return ir.Tup((ALL, *items))


def _is_advanced(kind: Kind) -> bool:
    """Whether an item counts as an array among others that are."""
    return indexes_as_array(kind) or isinstance(kind, Scalar)


def getitem(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`d[i]` of an array for a single item, or of a container."""
    base, index = call.args
    if b.has(index) or not b.has(base):
        return None
    if b.is_container(base):
        return call
    if not b.is_array(base):
        return ir.Call(call.fn, (base, index), call.kwargs) if index == ir.Tup(()) else None
    behind = index_behind(b, index)
    if behind is None:
        return None
    item = ir.Call(operator.getitem, (base, behind))
    kind = region(b, base, index)
    assert isinstance(base, ir.Name)
    if base.id not in b.written or rank_of(kind) is not None and isinstance(kind, Array):
        return item
    number = isinstance(kind, Scalar)
    return ir.Call(np.copy if number else batched.own_numbers, (b.emit(item),))


def region(b: Context, base: ir.Atom, index: ir.Atom) -> Kind:
    """The kind of `base[index]` for a single item."""
    return call_kind(operator.getitem, (b.kind(base), atom_kind(index, b.kinds)))


def stored(b: Context, base: ir.Name, index: ir.Atom, value: ir.Atom) -> ir.Atom:
    """A value as it is stored into a region of an array for each item of the batch."""
    if not b.has(value):
        return value
    if isinstance(value, ir.Tup):
        value = _row(b, value)
    rank, given = rank_of(region(b, base, index)), b.rank(value)
    if rank is None or given is None:
        return b.call(batched.beside, value, b.item(b.item(base, ir.Const(0)), index))
    return b.widened(value, rank - given)


def _row(b: Context, items: ir.Tup) -> ir.Name:
    """Numbers that are stored together.

    Raises:
        NoBatchError: some are no numbers.
    """
    if not all(map(b.is_number, items.items)):
        raise NoBatchError("arrays are stored together", b.loc)
    full = (i if b.has(i) else b.call(batched.repeated, i, b.size) for i in items.items)
    row = b.emit(ir.Call(np.stack, (ir.Tup(tuple(full)),), (("axis", ir.Const(1)),)))
    return b.named(row, Array(None, (len(items.items),)))
