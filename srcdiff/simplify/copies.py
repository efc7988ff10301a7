"""Copies of memory that nobody looks at any more: the memory itself is taken instead."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from srcdiff import ir
from srcdiff.analyses.effects import (
    VIEW_ALL_FUNCTIONS,
    VIEW_FUNCTIONS,
    makes_new,
    returns_view,
)
from srcdiff.analyses.kind_types import Array, Kind
from srcdiff.analyses.liveness import Names, liveness
from srcdiff.simplify.rewrite import MARK
from srcdiff.simplify.sharers import Sharers

_VIEWS = (
    operator.getitem, np.reshape, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims,
    ir.Attr("T"),
)  # fmt: skip
"""What gives views that can be written into as what they are views of."""


def without_copies(function: ir.Function, kinds: Mapping[str, Kind]) -> ir.Function:
    """The function whose generated part takes the memory of arrays that are not needed again."""
    start = [k for k, s in enumerate(function.body) if s == ir.Comment(MARK)]
    cut = start[0] if start else 0
    copies = {id(s) for s in ir.walk(function.body[cut:]) if _copied(s, kinds) is not None}
    if not copies:
        return function
    taker = _Taker(function, kinds)
    taken = {k for k in copies if taker.may_take(k)}
    body = (*function.body[:cut], *_without(function.body[cut:], taken))
    return replace(function, body=body) if taken else function


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
        self.sharers = Sharers(function, kinds)
        self.live = liveness(function)
        self.statements = {id(s): s for s in ir.walk(function.body)}
        self.odd = {n for s in self.statements.values() for n in self.oddly_bound(s)}

    def oddly_bound(self, stmt: ir.Stmt) -> tuple[str, ...]:
        """The names that a statement binds to what may be no array that can be written into."""
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if isinstance(rhs, ir.Name):
            return ()
        if not isinstance(rhs, ir.Call):
            return ir.writes(stmt)
        if rhs.fn in _VIEWS:
            return ()
        new = rhs.fn not in VIEW_FUNCTIONS and rhs.fn not in VIEW_ALL_FUNCTIONS
        new = new and makes_new(rhs.fn) and not returns_view(rhs, self.kinds)
        return () if new else ir.writes(stmt)

    def may_take(self, key: int) -> bool:
        """Whether nobody needs the memory after it is copied, and it can be written into."""
        stmt = self.statements[key]
        source = _copied(stmt, self.kinds)
        assert isinstance(stmt, ir.Assign) and source is not None
        after: Names = self.live[key] - {stmt.target.id}
        if source.id in after or not self.sharers.is_alone(source.id, after):
            return False
        if not self.odd.isdisjoint(self.sharers.group(source.id)):
            return False
        # What is handed out holds no more memory than its own.
        return source == stmt.target or self.owns(source.id) or not self.leaves(stmt.target.id)

    def owns(self, name: str) -> bool:
        """Whether a name is never a part of something else."""
        return not any(
            isinstance(s, ir.Assign) and s.target.id == name
            and isinstance(s.rhs, ir.Call) and s.rhs.fn in _VIEWS
            and returns_view(s.rhs, self.kinds)
            for s in self.statements.values()
        )  # fmt: skip

    def leaves(self, name: str, seen: frozenset[str] = frozenset()) -> bool:
        """Whether the memory of a name, or a copy of it that may take it, may be returned."""
        group = self.sharers.group(name)
        for stmt in self.statements.values():
            if isinstance(stmt, ir.Return) and not group.isdisjoint(ir.reads(stmt)):
                return True
            source = _copied(stmt, self.kinds)
            if source is None or source.id not in group or name in seen:
                continue
            if any(self.leaves(n, seen | {name}) for n in ir.writes(stmt)):
                return True
        return False


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
