"""Indices that are values: `xs[s]` of a list where `s` is a slice, and `x.flat[k]` of an array.

Takes a function and the kinds of its names.  A slice in the index of a list or tuple is written
out: `xs[s.start:s.stop:s.step]`.  One of an array is a view, by whatever name the slice goes; one
of a list is a list of its own, which the passes that follow know by its colons.

What `x.flat` is called becomes a second name of `x`: `x.flat[k]` is
`x[np.unravel_index(k, x.shape)]`, read and written.  Where something else is done with it, it
stays, and is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TypeGuard

import numpy as np

from srcdiff import ir
from srcdiff.analysis.links import Groups
from srcdiff.analysis.points_to import PointsTo
from srcdiff.ir.builder import Builder, Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.normalize.iteration import loops_over, up_to_last
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array

_PARTS = ("start", "stop", "step")


def written_slices(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function with the slices of its lists and tuples written out."""
    if not any(_index(s, kinds) for s in ir.walk(function)):
        return function
    fresh = ir.Fresh(ir.all_names(function))

    def one(stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        index = _index(stmt, kinds)
        if index is None:
            return stmt
        lines = Builder(fresh, stmt.loc)
        written = _written(index, ir.sure(atom_kind(index, kinds)), lines)
        return (*lines.out, _with_index(stmt, written))

    return ir.replaced_in(function, one)


def _index(stmt: ir.Stmt, kinds: ir.Kinds) -> ir.Atom | None:
    """The index of a list or tuple that a statement reads or changes, if it is such a slice."""
    call = ir.call_of(stmt)
    if isinstance(stmt, ir.Store):
        base, index = stmt.base, stmt.index
    elif is_op(call, Op.GETITEM, Op.DELITEM):
        base, index = call.args  # type: ignore[assignment]
    else:
        return None
    if not isinstance(index, (ir.Name, ir.Ref)):
        return None
    listed = isinstance(ir.sure(atom_kind(base, kinds)), (ir.List, ir.Tuple))
    return index if listed and isinstance(ir.sure(atom_kind(index, kinds)), ir.SliceKind) else None


def _written(index: ir.Atom, kind: ir.Kind, lines: Builder) -> ir.Slice:
    """The slice with its parts; a step that is surely None is left out."""
    value = index.value if isinstance(index, ir.Ref) else None
    if isinstance(value, slice):
        return ir.Slice(*(ir.Const(getattr(value, part)) for part in _PARTS))
    plain = isinstance(kind, ir.SliceKind) and isinstance(kind.step, ir.NoneKind)
    lower, upper = (lines.call(ir.Attr(part), index) for part in _PARTS[:2])
    return ir.Slice(lower, upper, ir.NONE if plain else lines.call(ir.Attr("step"), index))


def _with_index(stmt: ir.Stmt, index: ir.Slice) -> ir.Stmt:
    """A statement with another index."""
    call = ir.call_of(stmt)
    if call is None:
        return ir.rebuilt(stmt, index=index)
    return ir.rebuilt(stmt, rhs=replace(call, args=(call.args[0], index)))


# --- `x.flat` of an array, by indices of the array itself ----------------------------------------


_USED_UP = (Op.LIST, Op.TUPLE, Op.SUM, Op.MIN, Op.MAX, Op.SORTED, Op.ARRAY)
"""What copies all numbers at once."""


def without_flat(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function with indices of arrays in the place of `x.flat`."""
    made = [s for s in ir.walk(function) if _is_flat(s, kinds)]
    flats = {s.target.id: ir.reads(s)[0] for s in made if _stays(s, function)}
    for stmt in ir.walk(function):
        for name in [] if _is_flat(stmt, kinds) else flats.keys() & ir.itself_mentions(stmt):
            if not _fits(stmt, name):
                del flats[name]
    for name in _overlapping(function, kinds, flats):
        del flats[name]
    return _Flat(function, kinds, flats).function(function) if flats else function


def _is_flat(stmt: ir.Stmt, kinds: ir.Kinds) -> TypeGuard[ir.Assign]:
    """Whether a statement gives a name to `x.flat` of an array."""
    call = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if not is_op(call, Op.FLAT) or not isinstance(call.args[0], ir.Name):
        return False
    return is_array(atom_kind(call.args[0], kinds))


def _stays(stmt: ir.Assign, function: ir.Function) -> bool:
    """Whether `x` is the same as long as `x.flat` is used, whose numbers are taken in turn once."""
    name = stmt.target.id
    rest = up_to_last(name, function)
    if rest is None:
        return False
    calls = ((ir.call_of(s), loops) for s, loops in ir.walk_in_loops(rest) if name in ir.reads(s))
    taken = sum(1 + len(loops) for c, loops in calls if is_op(c, *_USED_UP))
    if taken + loops_over(name, rest) > 1:
        return False
    return {*ir.reads(stmt)}.isdisjoint(ir.bound(rest))


def _fits(stmt: ir.Stmt, name: str) -> bool:
    """Whether a statement does with `x.flat` what an index can do."""
    if isinstance(stmt, ir.Store):
        return stmt.base.id == name and name not in (*ir.names(stmt.index), *ir.names(stmt.value))
    call = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if not isinstance(call, ir.Call) or call.kwargs or not call.args:
        return False
    first, *rest = call.args
    alone = first == ir.Name(name) and not any(name in ir.names(a) for a in rest)
    return alone and (is_op(call, Op.GETITEM, Op.LEN) or (is_op(call, *_USED_UP) and not rest))


def _overlapping(function: ir.Function, kinds: ir.Kinds, flats: Mapping[str, str]) -> set[str]:
    """The names of `x.flat` through which something is stored that may be a part of `x`.

    NumPy reads it while it writes, item by item, so the result is that of no store by an index.
    """
    stores = [s for s in ir.walk(function) if isinstance(s, ir.Store) and s.base.id in flats]
    group = PointsTo.of(function, kinds).near if stores else Groups()
    found = set()
    for stmt in stores:
        base = flats[stmt.base.id]
        beside = (*ir.names(stmt.index), *ir.names(stmt.value))
        arrays = (n for n in beside if not ir.is_scalar(kinds.get(n, ir.UNKNOWN)))
        if any(group.share(n, base) for n in arrays):
            found.add(stmt.base.id)
    return found


class _Flat(Rewriter):
    """The walk over the blocks; `flats` are the arrays by the names that `x.flat` has."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds, flats: Mapping[str, str]) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.kinds, self.flats = kinds, flats

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """What stands for one statement."""
        stmt = self.inside(stmt)
        call = ir.call_of(stmt)
        if isinstance(stmt, ir.Store) and stmt.base.id in self.flats:
            return self.stored(stmt)
        if _is_flat(stmt, self.kinds) and stmt.target.id in self.flats:
            return replace(stmt, rhs=ir.Name(self.flats[stmt.target.id]))
        if call is not None and not self.flats.keys().isdisjoint(ir.names(call)):
            return ir.rebuilt(stmt, rhs=self.read(call))
        return stmt

    def stored(self, stmt: ir.Store) -> ir.Store:
        """A store by an index of the array itself."""
        if stmt.index is None:
            return stmt
        index, value = self.index(stmt.base, stmt.index), stmt.value
        if isinstance(stmt, ir.SetItem) and not self.is_one(stmt.index) and not self.is_one(value):
            value = self.repeated(stmt.base, stmt.index, value)
        return replace(stmt, index=index, value=value)

    def repeated(self, base: ir.Name, place: ir.Atom, value: ir.Atom) -> ir.Atom:
        """As many numbers of a value in turn, again and again, as there are places."""
        places = self.item(self.call(np.arange, self.attribute(base, "size")), place)
        numbers = self.call(np.arange, self.call(np.size, places))
        turns = self.call(operator.mod, numbers, self.call(np.size, value))
        return self.call(np.take, value, turns)

    def is_one(self, atom: ir.Atom) -> bool:
        """Whether an atom is certainly one number."""
        return ir.is_scalar(atom_kind(atom, self.kinds))

    def is_vector(self, base: ir.Name) -> bool:
        """Whether the array has one axis, so that an index of it is one of `x.flat`."""
        return ir.rank_of(self.kinds[self.flats[base.id]]) == 1

    def read(self, call: ir.Call) -> ir.Call:
        """What is read of `x.flat`: an item, several, the length, all."""
        base, *rest = call.args
        assert isinstance(base, ir.Name)
        if is_op(call, Op.LEN):
            return ir.Call(ir.Attr("size"), (base,))
        if not is_op(call, Op.GETITEM):
            return replace(call, args=(self.method("flatten", base),))
        if not self.is_vector(base):
            index = self.index(base, rest[0], call.role is ir.Role.LOOP)
            return ir.Call(operator.getitem, (base, index))
        if self.is_one(rest[0]):
            return call
        return ir.Call(np.copy, (self.item(base, rest[0]),))  # no view of `x`

    def index(self, base: ir.Name, place: ir.Atom, counter: bool = False) -> ir.Atom:
        """The index of the array for a place in `x.flat`; `counter`: it is not negative."""
        if self.is_vector(base):
            return place
        first = isinstance(place, ir.Const) and isinstance(place.value, int) and place.value >= 0
        if not first and not counter:
            size = self.attribute(base, "size")
            places = self.call(range if self.is_one(place) else np.arange, size)
            place = self.item(places, place)
        return self.call(np.unravel_index, place, self.attribute(base, "shape"))
