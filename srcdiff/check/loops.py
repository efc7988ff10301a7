"""Loops that count, or take items, otherwise than Python does.

A loop here takes as many items as there were at its beginning, Python as many as there are: lists
that become longer or shorter, or are replaced, while a loop over them runs are refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from srcdiff import ir
from srcdiff.analysis.links import is_copy
from srcdiff.analysis.liveness import live_before
from srcdiff.analysis.points_to import PointsTo, Slots
from srcdiff.errors import refused
from srcdiff.ir.frozen import state
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.ops import Op, is_op

_CHANGES_LENGTH = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "popitem"})


def check_loops(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse loops whose body changes how many items there are in what they run over.

    Also those whose count would be computed in a small or unsigned dtype of NumPy.
    """
    loops = [s for s in ir.walk(function) if isinstance(s, ir.For)]
    if loops:
        _check_counts(function, kinds)
    if not any(map(_looped_over, loops)):
        return
    slots = PointsTo.of(function, kinds).slots
    inside = ((b, s) for b in ir.walk_blocks(function.body) for s in b if isinstance(s, ir.For))
    for block, loop in inside:
        for base in sorted(_looped_over(loop)):
            for stmt in _Changes(base, slots, kinds).of(block, loop):
                raise refused("loops.resized", stmt.loc, name=ir.said(base))


def _check_counts(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse bounds of loops that are no numbers as Python counts: `uint8(0) - 1` is 255."""
    for stmt, call in ir.callers(function):
        if call.role is ir.Role.COUNT:
            dtypes = [getattr(atom_kind(a, kinds), "dtype", None) for a in call.args]
            narrow = next((d for d in dtypes if d in _NARROW), None)
            if narrow is not None:
                raise refused("loops.count", stmt.loc, dtype=narrow)


_NARROW = ("uint8", "uint16", "uint32", "uint64", "int8", "int16")


def _looped_over(loop: ir.For) -> set[str]:
    """The variables from before a loop of which it takes an item in every step."""
    calls = map(ir.call_of, loop.body)
    bases = (c.args[0] for c in calls if is_op(c, Op.GETITEM) and c.role is ir.Role.LOOP)
    names = {b.id for b in bases if isinstance(b, ir.Name)}
    return names & live_before(loop.body, frozenset())


@state
class _Changes:
    """The statements of a loop that may change the length of one list.

    `young` are the names of lists made after the list was bound: they are other lists.
    """

    base: str
    slots: Slots
    kinds: ir.Kinds

    def of(self, block: ir.Block, loop: ir.For) -> Iterator[ir.Stmt]:
        """The changes in a loop of a block."""
        young: frozenset[str] = frozenset()
        unread = young  # those that nobody has looked at: what is bound now is another list too
        for stmt in block:
            if stmt is loop:
                yield from self.inside(loop.body, young - ir.bound(loop.body))
                return
            unread = self.after(stmt, unread - ir.used((stmt,))) - {self.base}
            anew = self.base in ir.bound_in(stmt)
            young = unread if anew else self.after(stmt, young)

    def after(self, stmt: ir.Stmt, young: frozenset[str]) -> frozenset[str]:
        """The names of lists made meanwhile after one more statement."""
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        named = isinstance(rhs, ir.Name) and rhs.id in young
        new = named or is_copy(stmt) or is_op(rhs, Op.MAKE_LIST)
        return (young - ir.bound((stmt,))).union(ir.writes(stmt) if new else ())

    def inside(self, block: ir.Block, young: frozenset[str]) -> Iterator[ir.Stmt]:
        """The changes in a block, where some lists were made meanwhile."""
        for stmt in block:
            if self.changes(stmt, young):
                yield stmt
            known = young if isinstance(stmt, ir.If) else young - ir.bound((stmt,))
            for inner in ir.blocks(stmt):
                yield from self.inside(inner, known)
            young = self.after(stmt, young)

    def changes(self, stmt: ir.Stmt, young: frozenset[str]) -> bool:
        """Whether a statement changes how many items the list has, or binds its variable anew."""
        if self.base in ir.writes(stmt):
            return True
        if isinstance(stmt, ir.Store):
            part = isinstance(stmt.index, ir.Slice)
            is_list = isinstance(self.kinds.get(stmt.base.id), ir.List)
            return part and is_list and self.may_be(stmt.base.id, young)
        call = ir.call_of(stmt)
        method = ir.callee_of(stmt)
        if call is None or not isinstance(method, ir.Method) or method.name not in _CHANGES_LENGTH:
            return False
        return any(self.may_be(n, young) for n in ir.names(call.args[0]))

    def may_be(self, name: str, young: frozenset[str]) -> bool:
        """Whether a name may stand for the list."""
        return name not in young and self.slots.node(name) == self.slots.node(self.base)
