"""Copies of memory that nobody looks at any more: the memory itself is taken instead."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from srcdiff import ir
from srcdiff.analysis.liveness import uses
from srcdiff.ir.kinds import Array, Kind, List
from srcdiff.optimize.rewrite import mark_in
from srcdiff.optimize.sharers import OwnMemory, Sharers, gives_view, oddly_bound
from srcdiff.primitives.effects import is_pure, mutated_args, returns_view
from srcdiff.runtime.arrays import unbroadcast


def without_copies(function: ir.Function, kinds: Mapping[str, Kind]) -> ir.Function:
    """The function whose generated part takes the memory of arrays that are not needed again."""
    cut = mark_in(function.body) or 0
    copies = _copies(function, cut, kinds)
    if not copies:
        return function
    taker = _Taker(function, kinds)
    taken = {k for k in copies if taker.may_take(k)}
    body = (*function.body[:cut], *_without(function.body[cut:], taken))
    return replace(function, body=body) if taken else function


def read_at_once(function: ir.Function, kinds: Mapping[str, Kind]) -> ir.Function:
    """The function without copies that are computed with while their source is the same."""
    cut = mark_in(function.body) or 0
    if not any(_copied(s, kinds) for s in ir.walk(function.body[cut:])):
        return function
    walk = _ReadAtOnce(function, kinds)
    return replace(function, body=(*function.body[:cut], *walk.block(function.body[cut:])))


@dataclass(frozen=True)
class _Copy:
    """A copy, what it is made of, its place in the block, and that of what may view it."""

    name: str
    source: str
    place: int
    reader: int | None = None


class _ReadAtOnce:
    """The walk that leaves out copies of which all that happens is that something is computed."""

    def __init__(self, function: ir.Function, kinds: Mapping[str, Kind]) -> None:
        self.function, self.kinds = function, kinds
        self.once = frozenset(n for n, k in Counter(uses(function.body)).items() if k == 1)

    @cached_property
    def sharers(self) -> Sharers:
        """Which names may share memory."""
        return Sharers.of(self.function, self.kinds)

    def block(self, block: ir.Block) -> ir.Block:
        """A block without them."""
        out: list[ir.Stmt | None] = []
        copies: dict[str, _Copy] = {}  # by the name that stands for it, or for a view of it
        for stmt in block:
            new = ir.map_blocks(stmt, self.block)
            out.append(new)
            for name in self.computed_with(new, copies):
                copy = copies.pop(name)
                out[copy.place] = None
                place = len(out) - 1 if copy.reader is None else copy.reader
                reader = out[place]
                assert reader is not None
                out[place] = ir.rename((reader,), {copy.name: copy.source})[0]
            if not isinstance(new, ir.Assign) or not _only_binds(new.rhs):
                copies = {}
                continue
            copies = {n: c for n, c in copies.items() if c.source != new.target.id}
            if new.target.id in self.once:
                self.note(new, len(out) - 1, copies)
        return tuple(s for s in out if s is not None)

    def note(self, stmt: ir.Assign, place: int, copies: dict[str, _Copy]) -> None:
        """A copy that is read once, or what may be a view of one and is read once itself."""
        source = _copied(stmt, self.kinds)
        call = ir.call_of(stmt)
        if source is not None:
            copies[stmt.target.id] = _Copy(stmt.target.id, source.id, place)
        elif call is not None and call.fn is unbroadcast and isinstance(call.args[0], ir.Name):
            copy = copies.pop(call.args[0].id, None)
            if copy is not None and copy.reader is None:
                copies[stmt.target.id] = replace(copy, reader=place)

    def computed_with(self, stmt: ir.Stmt, copies: Mapping[str, _Copy]) -> list[str]:
        """The copies that a statement reads to make something new of their elements."""
        if not copies:
            return []
        if isinstance(stmt, ir.SetItem):
            return self.added(stmt, copies)
        call = ir.call_of(stmt)
        if call is None or not _computes(call):
            return []
        return [a.id for a in call.args if isinstance(a, ir.Name) and a.id in copies]

    def added(self, stmt: ir.SetItem, copies: Mapping[str, _Copy]) -> list[str]:
        """The copy that an operator in place combines with other memory."""
        value, base = stmt.value, stmt.base.id
        if stmt.op is None or not isinstance(value, ir.Name) or value.id not in copies:
            return []
        alone = copies[value.id].source not in self.sharers.group(base)
        return [value.id] if alone and isinstance(self.kinds.get(base), (Array, List)) else []


def _only_binds(rhs: ir.Rhs) -> bool:
    """Whether evaluating a right-hand side writes into nothing."""
    if isinstance(rhs, ir.Call):
        return is_pure(rhs.fn) and not mutated_args(rhs)
    return not isinstance(rhs, ir.Opaque)


def _computes(call: ir.Call) -> bool:
    """Whether a call makes a new array from the elements of its arguments."""
    return not call.kwargs and (isinstance(call.fn, np.ufunc) or call.fn in _ARITHMETIC)


_ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv, operator.neg)


def returned_at_once(function: ir.Function, kinds: Mapping[str, Kind]) -> ir.Function:
    """The function without copies, at its end, of arrays that nobody else has."""
    start = max(_tail(function.body), mark_in(function.body) or 0)
    if not any(_copied(s, kinds) for s in function.body[start:]):
        return function
    taker = _Taker(function, kinds)
    taken = {id(s) for s in function.body[start:] if taker.may_be_returned(s)}
    return replace(function, body=_without(function.body, taken)) if taken else function


def _tail(body: ir.Block) -> int:
    """Where the statements start that only put together what is returned."""
    start = len(body)
    while start and isinstance(body[start - 1], (ir.Assign, ir.Return)):
        start -= 1
    return start


def _copies(function: ir.Function, cut: int, kinds: Mapping[str, Kind]) -> set[int]:
    """The copies behind `cut` of what may be an array of its own."""
    copied = [(s, _copied(s, kinds)) for s in ir.walk(function.body[cut:])]
    found = [(s, source.id) for s, source in copied if source is not None]
    if not found:
        return set()
    names = {n for _, n in found}
    makers = [s for s in ir.walk(function.body) if not names.isdisjoint(ir.writes(s))]
    odd = {n for s in makers for n in oddly_bound(s, kinds)}
    odd.update(p.name for p in function.params)
    return {id(s) for s, n in found if n not in odd}


def _copied(stmt: ir.Stmt, kinds: Mapping[str, Kind]) -> ir.Name | None:
    """The array that a statement copies."""
    call = ir.call_of(stmt)
    if call is None or (call.fn is not np.copy and call.fn is not np.array):
        return None
    source = call.args[0]
    if len(call.args) > 1 or call.kwargs or not isinstance(source, ir.Name):
        return None
    kind = kinds.get(source.id)
    return source if isinstance(kind, Array) and not kind.maybe_scalar and kind.dims else None


class _Taker:
    """Finds out which copies may take the memory of what they copy."""

    def __init__(self, function: ir.Function, kinds: Mapping[str, Kind]) -> None:
        self.kinds = kinds
        self.own = OwnMemory.of(function, kinds)
        self.statements = {id(s): s for s in ir.walk(function.body)}
        self.bound = Counter(n for s in self.statements.values() for n in ir.writes(s))
        copied = [(s, _copied(s, kinds)) for s in self.statements.values()]
        self.copied = [(source.id, s) for s, source in copied if source is not None]
        returns = [s for s in self.statements.values() if type(s) is ir.Return]
        self.returned = {n for s in returns for n in ir.reads(s)}

    def may_take(self, key: int) -> bool:
        """Whether nobody needs the memory after it is copied, and it can be written into."""
        stmt = self.statements[key]
        source = _copied(stmt, self.kinds)
        assert isinstance(stmt, ir.Assign) and source is not None
        if not self.own.is_own(source.id, stmt):
            return False
        if source == stmt.target:
            return True
        # A second name for what is bound several times is hard to follow, for a reader too; what
        # is handed out holds no more memory than its own.
        once = self.bound[source.id] == 1
        return once and (self.owns(source.id) or not self.leaves(stmt.target.id))

    def may_be_returned(self, stmt: ir.Stmt) -> bool:
        """Whether a copy at the end is of an array that is no part of another, and only its."""
        source = _copied(stmt, self.kinds)
        if source is None or not self.own.is_last(source.id, stmt):
            return False
        if not self.only_returned(*ir.writes(stmt)):
            return False
        return all(n not in self.own.odd and self.owns(n) for n in self.givers(source.id))

    def only_returned(self, name: str) -> bool:
        """Whether a name is read by a return alone: what an object holds is hard to follow."""
        reads = (s for s in self.statements.values() if name in ir.reads(s))
        return all(isinstance(s, ir.Return) for s in reads)

    def givers(self, name: str) -> set[str]:
        """The names from which a name may have what it stands for, and itself."""
        found = {name}
        given = [s for s in self.statements.values() if isinstance(s, (ir.Assign, ir.Permute))]
        pairs = [(n, o.id) for s in given for n in ir.writes(s) for o in _names_given(s)]
        while more := {o for n, o in pairs if n in found} - found:
            found |= more
        return found

    def owns(self, name: str) -> bool:
        """Whether a name is never a part of something else."""
        return name not in self.views

    @cached_property
    def views(self) -> set[str]:
        """The names that may be bound to parts of others."""
        calls = [(s, c) for s in self.statements.values() if (c := ir.call_of(s)) is not None]
        made = [s for s, c in calls if gives_view(c.fn) and returns_view(c, self.kinds)]
        return {n for s in made for n in ir.writes(s)}

    def leaves(self, name: str, seen: frozenset[str] = frozenset()) -> bool:
        """Whether the memory of a name, or a copy of it that may take it, may be returned."""
        group = self.own.sharers.group(name)
        if not group.isdisjoint(self.returned):
            return True
        taken = [s for n, s in self.copied if n in group and name not in seen]
        return any(self.leaves(n, seen | {name}) for s in taken for n in ir.writes(s))


def _names_given(stmt: ir.Assign | ir.Permute) -> tuple[ir.Name, ...]:
    """The names whose values other names get."""
    if isinstance(stmt, ir.Permute):
        return stmt.sources
    return (stmt.rhs,) if isinstance(stmt.rhs, ir.Name) else ()


def _without(block: ir.Block, taken: set[int]) -> ir.Block:
    """A block that takes memory instead of these copies."""
    out: list[ir.Stmt] = []
    for stmt in block:
        if id(stmt) not in taken:
            out.append(ir.map_blocks(stmt, partial(_without, taken=taken)))
            continue
        assert isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Call)
        source = stmt.rhs.args[0]
        if source != stmt.target:
            out.append(replace(stmt, rhs=source))
    return tuple(out)
