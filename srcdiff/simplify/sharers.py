"""Which names may hold the memory of a name at a point: where nobody does, it is its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from srcdiff import ir
from srcdiff.analyses.effects import IN_PLACE_FUNCTIONS, MUTATORS, is_pure, is_ufunc_at
from srcdiff.analyses.kind_types import Kind
from srcdiff.simplify.memory import Memory


class Sharers:
    """The names that may share memory anywhere in a function, and those that others may keep."""

    def __init__(self, function: ir.Function, kinds: Mapping[str, Kind]) -> None:
        self.memory = Memory(function, kinds)
        params = {p.name for p in function.params}
        names = ir.bound(function.body) | ir.used(function.body) | params
        self.groups: dict[str, set[str]] = {}
        for name in names:
            self.groups.setdefault(self.memory.find(name), set()).add(name)
        kept = (n for s in ir.walk(function.body) for n in _handed_out(s))
        self.kept = frozenset(map(self.memory.find, (*params, *kept)))

    def group(self, name: str) -> set[str]:
        """The names that may share memory with a name, and itself."""
        return self.groups[self.memory.find(name)]

    def is_alone(self, name: str, live: Set[str]) -> bool:
        """Whether no other live name, and nobody outside, may hold the memory of a name."""
        root = self.memory.find(name)
        return root not in self.kept and live.isdisjoint(self.group(name) - {name})


def _handed_out(stmt: ir.Stmt) -> Iterable[str]:
    """The names that a statement gives to something that may keep them."""
    if isinstance(stmt, ir.Verbatim):
        return ir.reads(stmt)
    rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
    if isinstance(rhs, ir.Opaque):
        return ir.names(rhs)
    return ir.names(rhs) if isinstance(rhs, ir.Call) and not _is_known(rhs.fn) else ()


def _is_known(fn: ir.Callee) -> bool:
    """Whether all that a callee does with its arguments is known."""
    if isinstance(fn, ir.Method):
        return fn.name in MUTATORS or is_pure(fn)
    return is_pure(fn) or is_ufunc_at(fn) or fn in IN_PLACE_FUNCTIONS
