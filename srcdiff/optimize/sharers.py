"""Which names may hold the memory of a name at a point: where nobody does, it is its own."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Set
from functools import cached_property

import numpy as np

from srcdiff import ir
from srcdiff.analysis.liveness import liveness
from srcdiff.ir.kinds import Kind
from srcdiff.optimize.memory import Memory, Remembered
from srcdiff.primitives.effects import (
    IN_PLACE_FUNCTIONS,
    MUTATORS,
    VIEW_ALL_FUNCTIONS,
    VIEW_FUNCTIONS,
    is_pure,
    is_ufunc_at,
    makes_new,
    returns_view,
)

_VIEWS = (
    operator.getitem, np.reshape, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims,
)  # fmt: skip


def gives_view(fn: ir.Callee) -> bool:
    """Whether a callee gives views that can be written into as what they are views of."""
    return fn.name == "T" if isinstance(fn, ir.Attr) else fn in _VIEWS


class Sharers(Remembered):
    """The names that may share memory anywhere in a function, and those that others may keep."""

    def __init__(self, function: ir.Function, kinds: Mapping[str, Kind]) -> None:
        super().__init__(function, kinds)
        self.memory = Memory.of(function, kinds)
        params = {p.name for p in function.params}
        names = ir.bound(function.body) | ir.used(function.body) | params
        self.groups: dict[str, set[str]] = {}
        for name in names:
            self.groups.setdefault(self.memory.find(name), set()).add(name)
        kept = (n for s in ir.walk(function.body) for n in _handed_out(s))
        self.kept = frozenset(map(self.memory.find, (*params, *kept))) | self.memory.put

    def group(self, name: str) -> set[str]:
        """The names that may share memory with a name, and itself."""
        return self.groups[self.memory.find(name)]

    def is_alone(self, name: str, live: Set[str]) -> bool:
        """Whether no other live name, and nobody outside, may hold the memory of a name."""
        return not self.is_kept(name) and live.isdisjoint(self.group(name) - {name})

    def is_kept(self, name: str) -> bool:
        """Whether somebody outside may hold the memory of a name."""
        return self.memory.find(name) in self.kept


def _handed_out(stmt: ir.Stmt) -> Iterable[str]:
    """The names that a statement gives to something that may keep them."""
    if isinstance(stmt, ir.Verbatim):
        return ir.reads(stmt)
    rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
    if isinstance(rhs, ir.Opaque):
        return ir.names(rhs)
    return ir.names(rhs) if isinstance(rhs, ir.Call) and not is_known(rhs.fn) else ()


def is_known(fn: ir.Callee) -> bool:
    """Whether all that a callee does with its arguments is known."""
    if isinstance(fn, ir.Method):
        return fn.name in MUTATORS or is_pure(fn)
    return is_pure(fn) or is_ufunc_at(fn) or fn in IN_PLACE_FUNCTIONS


class OwnMemory(Remembered):
    """Which arrays nobody else has, and can be written into, at which statements of a function."""

    def __init__(self, function: ir.Function, kinds: Mapping[str, Kind]) -> None:
        super().__init__(function, kinds)
        self.sharers = Sharers.of(function, kinds)
        self.live = liveness(function)
        self.body = function.body

    @cached_property
    def odd(self) -> set[str]:
        """The names that may stand for what is no array that can be written into."""
        return {n for s in ir.walk(self.body) for n in oddly_bound(s, self.kinds)}

    def is_own(self, name: str, stmt: ir.Stmt) -> bool:
        """Whether no name that is read behind a statement has the memory of a name before it."""
        return self.is_last(name, stmt) and self.odd.isdisjoint(self.sharers.group(name))

    def is_last(self, name: str, stmt: ir.Stmt) -> bool:
        """Whether nobody else looks behind a statement at what a name stands for before it."""
        holders = self.sharers.group(name).difference(ir.writes(stmt))
        return not self.sharers.is_kept(name) and self.live[id(stmt)].isdisjoint(holders)


def oddly_bound(stmt: ir.Stmt, kinds: Mapping[str, Kind]) -> tuple[str, ...]:
    """The names that a statement binds to what may be no array that can be written into."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if isinstance(rhs, ir.Name):
        return ()
    if not isinstance(rhs, ir.Call):
        return ir.writes(stmt)
    if gives_view(rhs.fn):  # a part of what is from outside stays what it is
        return ir.writes(stmt) if isinstance(rhs.args[0], ir.Ref) else ()
    new = rhs.fn not in VIEW_FUNCTIONS and rhs.fn not in VIEW_ALL_FUNCTIONS
    new = new and makes_new(rhs.fn) and not returns_view(rhs, kinds)
    return () if new else ir.writes(stmt)
