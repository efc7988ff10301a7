"""The values that a loop's body (or a branch in it) computes for itself and its adjoints need."""

from __future__ import annotations

import operator
from dataclasses import dataclass

from srcdiff import ir
from srcdiff.facts import Facts
from srcdiff.tape.needs import (
    Contents,
    Item,
    contents_of,
    definition_of,
    exposed,
    is_cheap,
    written_contents,
)
from srcdiff.tape.stable import Stable
from srcdiff.tape.undo import Slots


@dataclass(frozen=True)
class Scope:
    """A block of pairs, its own names that are needed at its end, and all that is needed there."""

    block: ir.Block
    own: frozenset[str]
    needed: frozenset[Item]
    facts: Facts
    stable: Stable


@dataclass(frozen=True)
class Kept:
    """Statements at the start and end of the forward block and at the start of the backward one."""

    first: ir.Block
    save: ir.Block
    load: ir.Block
    needed: frozenset[Item]


def keep_locals(scope: Scope, slots: Slots) -> Kept:
    """Save or compute again every own value that is needed."""
    needed = set(scope.needed)
    todo = _latest_first(scope.own, scope.block)
    own = ir.bound(scope.block)
    again: list[ir.Assign] = []
    saved: list[str] = []
    seen: set[str] = set()
    while todo:
        name = todo.pop(0)
        if name in seen:
            continue
        seen.add(name)
        found = _recomputable(name, scope)
        if found is None:
            saved.append(name)
            continue
        again.append(found)
        reads = set(ir.names(found.rhs))
        needed |= reads | {c for r in reads for c in contents_of(r, scope.facts)}
        todo = _latest_first({*todo, *(r for r in reads if r in own and r in _locals(scope))}, scope.block)
    return _kept(scope, slots, sorted(saved), again, frozenset(needed) - seen)


def _locals(scope: Scope) -> frozenset[str]:
    up, _ = exposed(scope.block)
    return ir.bound(scope.block) - up


def _kept(
    scope: Scope, slots: Slots, saved: list[str], again: list[ir.Assign], needed: frozenset[Item]
) -> Kept:
    """The statements for saved names and for those computed again."""
    _, sure = exposed(scope.block)
    first: list[ir.Stmt] = []
    save: list[ir.Stmt] = []
    load: list[ir.Stmt] = []
    for name in saved:
        loc = _loc_of(name, scope.block)
        if name not in sure:
            first.append(ir.Assign(ir.Name(name), ir.NONE, loc))
        push, pop = slots.new(name, ir.Name(name), loc)
        save += push
        load.append(ir.Assign(ir.Name(name), pop, loc))
    load += _in_order(again)
    return Kept(tuple(first), tuple(save), tuple(load), needed)


def _in_order(again: list[ir.Assign]) -> list[ir.Stmt]:
    """Statements such that each stands behind those that it reads."""
    by_name = {s.target.id: s for s in reversed(again)}
    out: list[ir.Stmt] = []
    done: set[str] = set()

    def place(name: str) -> None:
        if name in by_name and name not in done:
            done.add(name)
            for read in ir.names(by_name[name].rhs):
                place(read)
            out.append(by_name[name])

    for name in by_name:
        place(name)
    return out


def _loc_of(name: str, block: ir.Block) -> ir.Loc:
    for stmt in ir.walk(block):
        if name in ir.writes(stmt):
            return stmt.loc
    return ir.NOWHERE


def _latest_first(names: set[str] | frozenset[str], block: ir.Block) -> list[str]:
    """Names by the place of their definition, the last one first."""
    place: dict[str, int] = {}
    for k, stmt in enumerate(ir.walk(block)):
        for name in ir.writes(stmt):
            place.setdefault(name, k)
    return sorted(names, key=lambda n: (-place.get(n, 0), n))


def _recomputable(name: str, scope: Scope) -> ir.Assign | None:
    """A statement that gives a name its value again at the end of the block, if there is one."""
    stored = _stored_value(name, scope)
    if stored is not None:
        return stored
    found = definition_of(name, scope.block)
    if found is None:
        return None
    place, stmt = found
    if not is_cheap(stmt.rhs, scope.facts, name) or name in ir.names(stmt.rhs):
        return None
    rest = scope.block[place + 1 :]
    later = ir.bound(rest)
    reads = ir.names(stmt.rhs)
    contents: set[Item] = {c for r in reads for c in contents_of(r, scope.facts)}
    overwritten: set[Item] = set()
    for s in ir.walk(rest):
        if id(s) not in scope.stable.safe:
            overwritten |= written_contents(s, scope.facts)
    if any(r in later for r in reads) or contents & overwritten:
        return None
    return stmt


def _stored_value(name: str, scope: Scope) -> ir.Assign | None:
    """The place in an array where a value was stored and still is, as a read."""
    if definition_of(name, scope.block) is None:
        return None
    for k, pair in enumerate(scope.block):
        stmt = pair.primal if isinstance(pair, ir.Pair) else None
        if isinstance(stmt, ir.SetItem) and stmt.value == ir.Name(name) and id(stmt) in scope.stable.kept:
            later = ir.bound(scope.block[k + 1 :])
            if later & {stmt.base.id, *ir.names(stmt.index)}:
                return None
            assert stmt.index is not None
            return ir.Assign(stmt.value, ir.Call(operator.getitem, (stmt.base, stmt.index)), stmt.loc)
    return None
