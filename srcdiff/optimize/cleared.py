"""Elements of adjoints that a loop clears although nobody looks at them again.

The adjoint of `v[i] = ..` reads the adjoint of the element and clears it: `d = d_v[i]; d_v[i] =
0.0`.  Where loops over ranges come to each element once, touch no other one in that step, and
nobody looks at the array after them, the clearing is left out; a copy of the element made for its
sake is the element itself then.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from srcdiff import ir
from srcdiff.analysis.liveness import Live, liveness
from srcdiff.ir.kinds import Array, Kind
from srcdiff.optimize.rewrite import mark_in
from srcdiff.optimize.shapes import asks_form
from srcdiff.optimize.sharers import Sharers

Place = tuple[ir.Block, int, tuple[ir.For | ir.While, ...]]  # a statement, and the loops around it


def without_clearing(function: ir.Function, kinds: Mapping[str, Kind]) -> ir.Function:
    """The function whose generated part clears no element for nothing."""
    cut = mark_in(function.body) or 0
    finder = _Finder(function, kinds)
    gone: set[int] = set()
    for place in _places(function.body[cut:], ()):
        gone |= finder.needless(*place)
    if not gone:
        return function
    return replace(function, body=(*function.body[:cut], *_without(function.body[cut:], gone)))


def _places(block: ir.Block, loops: tuple[ir.For | ir.While, ...]) -> Iterator[Place]:
    """The stores of zeros inside of loops."""
    for k, stmt in enumerate(block):
        if loops and _clears(stmt):
            yield block, k, loops
        inside = (*loops, stmt) if isinstance(stmt, (ir.For, ir.While)) else loops
        for inner in ir.blocks(stmt):
            yield from _places(inner, inside)


def _clears(stmt: ir.Stmt) -> bool:
    """Whether a statement clears elements of an array."""
    if not isinstance(stmt, ir.SetItem) or stmt.op is not None or stmt.index is None:
        return False
    return isinstance(stmt.value, ir.Const) and stmt.value.value == 0.0


class _Finder:
    """What is known of the function, found out when there is something to clear."""

    def __init__(self, function: ir.Function, kinds: Mapping[str, Kind]) -> None:
        self.function, self.kinds = function, kinds

    @cached_property
    def sharers(self) -> Sharers:
        """Which names may share memory."""
        return Sharers.of(self.function, self.kinds)

    @cached_property
    def statements(self) -> tuple[ir.Stmt, ...]:
        """All statements."""
        return tuple(ir.walk(self.function.body))

    @cached_property
    def number(self) -> Mapping[int, int]:
        """The places of the statements in the order of the source."""
        return {id(s): k for k, s in enumerate(self.statements)}

    @cached_property
    def mentioning(self) -> Mapping[str, Sequence[ir.Stmt]]:
        """The statements that themselves mention each name."""
        found: dict[str, list[ir.Stmt]] = {}
        for stmt in self.statements:
            for name in ir.itself_mentions(stmt):
                found.setdefault(name, []).append(stmt)
        return found

    @cached_property
    def live(self) -> Mapping[int, Live]:
        """The names that are read behind each statement."""
        return liveness(self.function)

    def needless(
        self, block: ir.Block, k: int, loops: Sequence[ir.For | ir.While]
    ) -> frozenset[int]:
        """The statements that are left out: the store at `k`, and a copy made because of it."""
        stmt = block[k]
        assert isinstance(stmt, ir.SetItem) and stmt.index is not None
        name = stmt.base.id
        if not isinstance(self.kinds.get(name), Array) or self.sharers.is_kept(name):
            return frozenset()
        items = stmt.index.items if isinstance(stmt.index, ir.Tup) else (stmt.index,)
        here = range(self.number[id(block[0])], self.number[id(stmt)] + 1)
        for n, loop in enumerate(loops):
            if not _visits_once(loops[n:], items) or name in self.live[id(loop)]:
                continue
            if self.all_here(loop, here, name, stmt.index) and self.is_alone(name, here):
                return frozenset({id(stmt), *self.copy_of(block[:k], stmt)})
        return frozenset()

    def all_here(
        self, loop: ir.For | ir.While, here: range, name: str, index: ir.Atom
    ) -> bool:
        """Whether a loop touches an array only in these places, and only at this index."""
        first = self.number[id(loop)] + 1
        inside = range(first, first + sum(len(ir.walk(b)) for b in ir.blocks(loop)))
        touching = ((self.number[id(s)], s) for s in self.mentioning.get(name, ()))
        return all(k in here and _is_at(s, name, index) for k, s in touching if k in inside)

    def is_alone(self, name: str, here: range) -> bool:
        """Whether what shares memory with a name is read nowhere but in these places."""
        others = self.sharers.group(name) - {name}
        return all(self.number[id(s)] in here for o in others for s in self.mentioning.get(o, ()))

    def copy_of(self, before: ir.Block, stmt: ir.SetItem) -> Iterator[int]:
        """The copy of the element, if it stands right before the statement that clears it."""
        copy = before[-1] if before else None
        read = before[-2] if len(before) > 1 else None
        if not isinstance(copy, ir.Assign) or not isinstance(read, ir.Assign):
            return
        element = ir.Call(operator.getitem, (stmt.base, stmt.index or ir.NONE))
        made = isinstance(copy.rhs, ir.Call) and copy.rhs.fn is np.copy
        if made and read.rhs == element and copy.rhs.args == (read.target,):  # type: ignore[union-attr]
            memory = self.sharers.memory
            if memory.find(copy.target.id) not in memory.escaping:
                yield id(copy)


def _visits_once(loops: Sequence[ir.For | ir.While], items: Sequence[ir.Atom]) -> bool:
    """Whether loops come to a place only once: each counts in an item of the index."""
    if not all(isinstance(i, (ir.Name, ir.Const, ir.Slice)) for i in items):
        return False
    counters = [s.target.id for s in loops if isinstance(s, ir.For) and _counts(s)]
    fixed = {n for i in items for n in ir.names(i)} <= set(counters)
    return len(counters) == len(loops) and fixed and all(ir.Name(n) in items for n in counters)


def _counts(loop: ir.For) -> bool:
    """Whether a loop goes through a range, and nothing else binds its variable."""
    plain = isinstance(loop.iter, ir.Call) and loop.iter.fn is range
    return plain and loop.target.id not in ir.bound(loop.body)


def _is_at(stmt: ir.Stmt, name: str, index: ir.Atom) -> bool:
    """Whether a statement reads or writes an array at this index, or asks for its shape."""
    if isinstance(stmt, ir.SetItem):
        others = (*ir.names(stmt.value), *(ir.names(stmt.index) if stmt.index else ()))
        return stmt.base.id == name and stmt.index == index and name not in others
    call = ir.call_of(stmt)
    if not isinstance(stmt, ir.Assign) or call is None or stmt.target.id == name:
        return False
    if call.fn is operator.getitem and call.args[0] == ir.Name(name):
        return call.args[1] == index
    return asks_form(call) is not None


def _without(block: ir.Block, gone: set[int]) -> ir.Block:
    """A block without these stores, and with names for these copies."""
    out: list[ir.Stmt] = []
    for stmt in block:
        if id(stmt) not in gone:
            out.append(ir.map_blocks(stmt, partial(_without, gone=gone)))
        elif isinstance(stmt, ir.Assign):
            assert isinstance(stmt.rhs, ir.Call)
            out.append(ir.rebuilt(stmt, rhs=stmt.rhs.args[0]))
    return tuple(out)

