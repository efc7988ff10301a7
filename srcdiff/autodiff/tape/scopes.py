"""The values that a loop's body (or a branch in it) computes for itself and its adjoints need."""

from __future__ import annotations

from dataclasses import dataclass

from srcdiff import ir
from srcdiff.autodiff.tape.needs import Item, contents_of, exposed
from srcdiff.autodiff.tape.undo import Slots, saved_value


@dataclass(frozen=True)
class Scope:
    """A block of pairs, its own names that are needed at its end, and all that is needed there.

    `local` are the contents that nothing outside of a run of the block has.
    """

    block: ir.Block
    own: frozenset[str]
    needed: frozenset[Item]
    local: frozenset[Item]


@dataclass(frozen=True)
class Kept:
    """Statements at the start and end of the forward block and at the start of the backward one."""

    first: ir.Block
    save: ir.Block
    load: ir.Block
    needed: frozenset[Item]


def keep_locals(scope: Scope, slots: Slots) -> Kept:
    """Save every own value that is needed at the end of its block."""
    _, sure = exposed(scope.block)
    places = _places(scope.block)
    first: list[ir.Stmt] = []
    save: list[ir.Stmt] = []
    load: list[ir.Stmt] = []
    for name in sorted(scope.own):
        loc = places.get(name, ir.NOWHERE)
        if name not in sure:
            first.append(ir.Assign(ir.Name(name), ir.NONE, loc))
        # Into contents of its own nothing writes behind the block: they need no copy.
        local = contents_of(name, slots.facts) <= scope.local
        copied, value = ((), ir.Name(name)) if local else saved_value(name, loc, slots.facts)
        push, pop = slots.new(name, value, loc)
        save += (*copied, *push)
        load.append(ir.Assign(ir.Name(name), pop, loc))
    return Kept(tuple(first), tuple(save), tuple(load), scope.needed - scope.own)


def _places(block: ir.Block) -> dict[str, ir.Loc]:
    """Where each name is bound first."""
    found: dict[str, ir.Loc] = {}
    for stmt in ir.walk(block):
        for name in ir.writes(stmt):
            found.setdefault(name, stmt.loc)
    return found
