"""Stores that look at the memory that they write into, beside the value that is stored.

`i[i] = v` changes its own index, and the way back needs the one that it had: the index is copied
before the store.  The invariant: no array in the index of a store shares memory with its base.
Functions that write in place, and of which NumPy decides in which order they read and write, are
refused where they read what they write.  Ufuncs, their methods and most functions with `out` read
all that they need of what they write before they write it.  So do stores, but for one: NumPy goes
along a single axis item by item, in the order that is right where the items of both lie equally far
apart.  `A[:, 0] = A[1]` may store what has just been stored, and is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property

import numpy as np

from srcdiff import ir
from srcdiff.analysis.links import Groups, is_marked
from srcdiff.analysis.points_to import PointsTo
from srcdiff.errors import refused
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import frozen, replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.indexing import item_kind
from srcdiff.primitives.arguments import argument, outs, spelling
from srcdiff.primitives.effects import mutated_args
from srcdiff.primitives.operation import Effect, Writing, op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array

INDEX_IS_READ_LATE = np.lib.NumpyVersion(np.__version__) < "2.3.0"
"""Whether NumPy reads an index of integers while it writes into the memory of that."""


def without_overlaps(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function with copies of the indices that share memory with what is stored into.

    Raises:
        UnsupportedError: a function that writes in place may read what it writes.
    """
    return _Overlaps(function, kinds).function(function)


def check_outs(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse calls that may read what they have written into `out`, or write nothing into it.

    Raises:
        UnsupportedError: the memory of an operand may be that of `out`.
    """
    calls = [(c, s.loc) for s in ir.walk(function) if (c := _doubtful(s))]
    if not calls:
        return
    group = PointsTo.of(function, kinds).near
    for call, loc in calls:
        if op_of(call.fn).writing is Writing.UNSURE:
            raise refused("memory.out_version", loc, callee=spelling(call))
        check_order(call, kinds, group, loc, _STORE)


_STORE = "Leave `out` away, and store the result: `x[...] = y`."


def _doubtful(stmt: ir.Stmt) -> ir.Call | None:
    """A call with `out` that may read its operands when a part of it is written, or ignore it."""
    call = ir.call_of(stmt)
    early = call is not None and op_of(call.fn).writing is not Writing.AT_ONCE
    return call if call is not None and early and outs(call) else None


def check_order(call: ir.Call, kinds: ir.Kinds, group: Groups, loc: ir.Loc, remedy: str) -> None:
    """Refuse a call that may read what it writes; `group`: the names that may share memory."""
    written = Counter(n for a in mutated_args(call, kinds) for n in ir.names(a))
    classes = set(map(group.of, written))
    atoms = (*call.args, *(v for _, v in call.kwargs))
    for name in Counter(n for a in atoms for n in ir.names(a)) - written:
        has_memory = not isinstance(kinds.get(name), (ir.Scalar, ir.Text))
        if has_memory and group.of(name) in classes:
            what = "an operand" if ir.is_temporary(name) else ir.said(name)
            raise refused("memory.order", loc, what=what, callee=spelling(call), remedy=remedy)


def _writes_in_parts(call: ir.Call) -> bool:
    """Whether a call may write into an argument when it has not read all of the others."""
    op = op_of(call.fn)
    return op.effect is Effect.WRITES and op.writing is Writing.IN_PARTS


class _Overlaps(Rewriter):
    """The walk over one function."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.whole, self.kinds = function, kinds

    @cached_property
    def group(self) -> Groups:
        """The names that may share memory."""
        return PointsTo.of(self.whole, self.kinds).near

    @cached_property
    def steps(self) -> _Steps:
        """How the items of an array lie in the one of which it is a view."""
        return _Steps(self.whole, self.kinds, self.group)

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement, and the copies that it needs."""
        if isinstance(stmt, ir.Store) and stmt.index is not None:
            if type(stmt) is ir.SetItem:
                self.check_line(stmt.base, stmt.index, stmt.value, stmt.loc)
            return self.stored(stmt, stmt.index)
        call = ir.call_of(stmt)
        if call is not None and op_of(call.fn).writing is Writing.AS_STORED:
            into, value = argument(call, "dst"), argument(call, "src")
            self.check_line(into, ir.Const(...), value, stmt.loc)
        if call is not None and _writes_in_parts(call):
            check_order(call, self.kinds, self.group, stmt.loc, "Give it a copy.")
        return self.inside(stmt)

    def stored(self, stmt: ir.Store, index: ir.Atom) -> ir.Store:
        """A store behind the copies of the arrays in its index that its base may share."""
        near = [n for n in ir.names(index) if self.share(n, stmt.base.id)]
        if not near:
            return stmt
        if INDEX_IS_READ_LATE and not all(self.is_mask(n) for n in near):
            raise refused("memory.index_order", stmt.loc, name=ir.said(stmt.base.id))
        copies = {n: self.call(np.copy, ir.Name(n)) for n in near}
        return replace(stmt, index=ir.map_atom(lambda n: copies.get(n.id, n), index))

    def check_line(
        self, base: ir.Atom | None, index: ir.Atom, value: ir.Atom | None, loc: ir.Loc
    ) -> None:
        """Refuse to store a line of an array into another one of it that lies otherwise."""
        if type(base) is not ir.Name or type(value) is not ir.Name:
            return
        kind = self.kinds.get(base.id)
        if not is_array(kind) or not self.share(value.id, base.id):
            return
        place = item_kind(kind, atom_kind(index, self.kinds))
        if ir.rank_of(place) not in (1, None) or ir.rank_of(self.kinds[value.id]) == 0:
            return
        if not self.steps.are_like(base.id, index, value.id):
            what = "what is stored here" if ir.is_temporary(value.id) else ir.said(value.id)
            raise refused("memory.line_order", loc, what=what, base=ir.said(base.id))

    def is_mask(self, name: str) -> bool:
        """Whether a name certainly stands for an array of bools, which NumPy reads at once."""
        return getattr(self.kinds.get(name), "dtype", None) == "bool"

    def share(self, one: str, two: str) -> bool:
        """Whether a name stands for an array that may share memory with another name."""
        same = one == two or self.group.share(one, two)
        return same and is_array(self.kinds.get(one))


@frozen
class _Axis:
    """An axis of a part of an array: that of the owner, the step along it, and where it begins."""

    number: int
    step: int = 1
    start: object = 0  # None: who knows


@frozen
class _Part:
    """What an array is of its owner: its axes, and the places along all others."""

    owner: str
    axes: tuple[_Axis, ...]
    fixed: Mapping[int, object] = field(default_factory=dict)

    def taken(self, items: tuple[ir.Atom, ...], said: Callable[[ir.Atom], object]) -> _Part | None:
        """The part of it that an index of some items takes."""
        rest, axes, fixed = list(self.axes), list[_Axis](), dict(self.fixed)
        for k, item in enumerate(items):
            if item == ir.Const(...):
                axes += [rest.pop(0) for _ in range(len(rest) - len(items[k + 1 :]))]
            elif type(item) is ir.Slice and type(item.step) is ir.Const and rest:
                axes.append(_sliced(rest.pop(0), item, item.step.value, said))
            elif type(item) is not ir.Slice and item != ir.NONE and rest:
                axis = rest.pop(0)
                fixed[axis.number] = said(item) if axis == _Axis(axis.number) else None
            else:
                return None
        return _Part(self.owner, (*axes, *rest), fixed)

    def is_like(self, line: _Part) -> bool:
        """Whether a line may be stored into this one: NumPy reads nothing that it has written.

        The items lie equally far apart, or the lines cross where both have the same item.
        """
        if not self.axes or not line.axes:
            return True  # a number
        one, two = self.axes[-1], line.axes[-1]
        if self.owner != line.owner or (one.number, one.step) == (two.number, two.step):
            return True
        places = self.fixed.get(two.number), line.fixed.get(one.number)
        plain = one.step == two.step == 1 and None not in (one.start, two.start, *places)
        return plain and one.start == two.start and places[0] == places[1]


def _sliced(
    axis: _Axis, part: ir.Slice, step: int | None, said: Callable[[ir.Atom], object]
) -> _Axis:
    """An axis of which a slice takes a part."""
    first = 0 if part.lower == ir.NONE else said(part.lower)
    if step is not None and step < 0:
        first = None
    start = first if axis == _Axis(axis.number) else axis.start if first == 0 else None
    return _Axis(axis.number, axis.step * abs(step or 1), start)


_ONE = frozenset((ir.NONE, ir.Const(1), ir.Const(-1)))


class _Steps:
    """How arrays lie in those of which they are views, where that is known."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds, group: Groups) -> None:
        self.kinds, self.group, self.binders = kinds, group, ir.binders(function)
        self.made = {k.target for k in PointsTo.of(function, kinds).links}

    def are_like(self, base: str, index: ir.Atom, value: str) -> bool:
        """Whether NumPy may store a value into a part of an array, if they share memory."""
        into, of = self.part(base, index, base), self.whole(value, base)
        if of is None or of.owner != base:
            into, of = self.part(base, index), self.whole(value)
        known = into is not None and of is not None
        return into.is_like(of) if known else self.is_plain(base)  # type: ignore[union-attr, arg-type]

    def is_plain(self, name: str) -> bool:
        """Whether all that may share memory with an array has one axis, and no steps."""
        near = self.group.with_all(name)
        arrays = [k for n in near if not ir.is_container(k := self.kinds.get(n, ir.UNKNOWN))]
        made = [ir.call_of(s) for n in near for s in self.binders.get(n, ())]
        items = [call.args[1] for call in made if is_op(call, Op.GETITEM)]
        steps = [i.step for i in items if type(i) is ir.Slice]
        return all(ir.rank_of(k) == 1 for k in arrays) and _ONE.issuperset(steps)

    def bound(self, name: str) -> ir.Rhs | None:
        """What the only statement that binds a name gives it."""
        bound = self.binders.get(name, ())
        return bound[0].rhs if len(bound) == 1 and type(bound[0]) is ir.Assign else None

    def whole(self, name: str, owner: str = "") -> _Part | None:
        """What an array is of its owner: of memory of its own, or of what is called `owner`."""
        rank, rhs = ir.rank_of(self.kinds.get(name, ir.UNKNOWN)), self.bound(name)
        if name == owner or name not in self.made and not is_marked(rhs):
            return None if rank is None else _Part(name, tuple(map(_Axis, range(rank))))
        if owner and not ir.is_temporary(name) and len(self.binders.get(owner, ())) > 1:
            return None  # the owner may be another array by now
        if is_marked(rhs):
            return self.whole(ir.names(rhs.args[0])[0], owner)
        if type(rhs) is ir.Name:
            return self.whole(rhs.id, owner)
        if not is_op(rhs, Op.GETITEM) or type(rhs.args[0]) is not ir.Name:
            return None
        return self.part(rhs.args[0].id, rhs.args[1], owner, ir.is_temporary(name))

    def part(
        self, name: str, index: ir.Atom, owner: str = "", now: bool = True
    ) -> _Part | None:
        """What a part of an array is of the owner of that; `now`: as names stand at the store."""
        found = self.whole(name, owner) if is_array(self.kinds.get(name)) else None
        items = index.items if type(index) is ir.Tup else (index,)
        return found and found.taken(items, self.said if now else _if_constant)

    def said(self, atom: ir.Atom) -> object:
        """What a place is, the same for two that are written alike."""
        rhs = self.bound(atom.id) if type(atom) is ir.Name and ir.is_temporary(atom.id) else None
        if type(rhs) is ir.Call and is_op(rhs, Op.ADD, Op.SUB):
            return rhs.fn, *map(self.said, rhs.args)
        return atom.value if type(atom) is ir.Const else atom


def _if_constant(atom: ir.Atom) -> object:
    """What a place is that was taken before the store: a name may stand for another one now."""
    return atom.value if type(atom) is ir.Const else None
