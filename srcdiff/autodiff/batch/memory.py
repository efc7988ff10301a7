"""Batches of vectors with the batch axis last in memory, where parts of them are written into.

Takes a function with batch axes and what is known of its names; returns it with `order="F"` on the
vectors that it makes, or as it is.  Invariant: strides differ and nothing else.  `d[:, 1:-1] += t`
is a loop for each item of the batch where rows lie together, and one loop in all where columns do.
Where both meet, every operation costs more than that saves: so all batches have to be vectors or
numbers that arithmetic, copies and slices make out of each other.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from srcdiff import ir
from srcdiff.autodiff.batch.context import ALL, Context
from srcdiff.ir.kinds import Array
from srcdiff.kinds.elementwise import is_elementwise
from srcdiff.runtime import batched

_ORDER = ("order", ir.Const("F"))
_MAKES = (np.zeros, batched.cotangents)
_KEEPS = (np.copy, np.array, np.zeros_like, batched.unbroadcast_each)


def columns_together(function: ir.Function, b: Context) -> ir.Function:
    """The function with its vectors column by column in memory, if it gains by that."""
    statements = list(ir.walk(function.body))
    if not _writes_parts(function.body, b) or not all(_is_plain(s, b) for s in statements):
        return function
    return replace(function, body=_map_assigns(function.body, lambda s: _ordered(s, b)))


def _writes_parts(body: ir.Block, b: Context) -> bool:
    """Whether a loop writes into parts of vectors."""
    loops = (s for s in ir.walk(body) if isinstance(s, (ir.For, ir.While)))
    inner = (s for loop in loops for s in ir.walk(loop.body) if isinstance(s, ir.SetItem))
    return any(b.has(s.base) and _is_part(s.index) for s in inner)


def _is_part(index: ir.Atom | None) -> bool:
    """Whether an index takes some of the numbers of every item."""
    behind = index.items[1:] if isinstance(index, ir.Tup) else ()
    return any(isinstance(i, ir.Slice) and i != ALL for i in behind)


def _is_plain(stmt: ir.Stmt, b: Context) -> bool:
    """Whether a statement leaves batches of vectors and numbers in the order that they have."""
    if isinstance(stmt, ir.Assign):
        if not (b.has(stmt.rhs) or stmt.target.id in b.names):
            return True
        return _is_vector(stmt.target, b) and _keeps_order(stmt.rhs, b)
    if isinstance(stmt, ir.SetItem):
        return not b.has(stmt.base) or stmt.index is None or _is_simple(stmt.index, b)
    if isinstance(stmt, ir.Permute):
        return all(_is_vector(n, b) or not b.has(n) for n in (*stmt.targets, *stmt.sources))
    if isinstance(stmt, (ir.If, ir.For, ir.While, ir.Return, ir.Comment)):
        return True
    return not b.names.intersection((*ir.reads(stmt), *ir.writes(stmt)))


def _is_vector(name: ir.Name, b: Context) -> bool:
    """Whether a name has the axis, and is a vector or number for each item."""
    known = b.is_number(name) or isinstance(b.kind(name), Array)
    return name.id in b.names and known and b.rank(name) in (0, 1)


def _keeps_order(rhs: ir.Rhs, b: Context) -> bool:
    """Whether a value has the order of the batches that it is made of."""
    if not isinstance(rhs, ir.Call):
        return isinstance(rhs, ir.Name)
    if isinstance(rhs.fn, (ir.Method, ir.Attr, ir.Name, ir.Derived)):
        return False
    if rhs.fn is operator.getitem:
        return _is_simple(rhs.args[1], b)
    return rhs.fn in (*_MAKES, *_KEEPS) or is_elementwise(rhs.fn)


def _is_simple(index: ir.Atom, b: Context) -> bool:
    """Whether an index has numbers and slices behind the batch axis."""
    if not isinstance(index, ir.Tup) or not index.items or index.items[0] != ALL:
        return False
    return all(isinstance(i, ir.Slice) or b.is_number(i) for i in index.items[1:])


def _ordered(stmt: ir.Assign, b: Context) -> ir.Assign:
    """An assignment of a batch of vectors that is made, column by column."""
    call = ir.call_of(stmt)
    makes = call is not None and stmt.target.id in b.names and call.fn in _MAKES
    if call is None or not makes or b.rank(stmt.target) != 1:
        return stmt
    return replace(stmt, rhs=replace(call, kwargs=(*call.kwargs, _ORDER)))


def _map_assigns(body: ir.Block, change: Callable[[ir.Assign], ir.Assign]) -> ir.Block:
    """A block with every assignment changed, in nested blocks too."""
    return tuple(
        change(s)
        if isinstance(s, ir.Assign)
        else ir.map_blocks(s, lambda inner: _map_assigns(inner, change))
        for s in body
    )
