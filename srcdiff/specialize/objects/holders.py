"""Objects that are stored into must have one name: what may hold one when a store runs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from srcdiff import ir
from srcdiff.analysis.liveness import live_after
from srcdiff.analysis.order import Order
from srcdiff.errors import UnsupportedError
from srcdiff.runtime import trees

Place = tuple[str, tuple[Any, ...]]
Find = Callable[[ir.Atom], "Place | None"]


@dataclass(frozen=True)
class Holder:
    """A statement after which something else holds an object: another variable, or a container."""

    stmt: ir.Stmt
    held: Place
    target: Place | None


def check_stores(
    function: ir.Function, order: Order, place: Find, aliases: Mapping[str, Place]
) -> None:
    """Refuse stores into objects that something else may hold at that time."""
    stored = list(_stores(function.body, place))
    if not stored:
        return
    holders = list(_holders(function.body, place, aliases))
    for stmt, into in stored:
        places = _origins(into, holders)
        inside = {name for name, _ in places}
        for holder in holders:
            for where in places:
                if _concerns(holder, where, inside) and order.may_follow(
                    stmt, holder.stmt, where[0]
                ):
                    if not _moved(function, holder, aliases, where):
                        raise _refusal(stmt, holder.stmt, into)


def _origins(into: Place, holders: list[Holder]) -> list[Place]:
    """The place of an object, and the places that it came from, by whatever variables."""
    found: dict[Place, frozenset[str]] = {into: frozenset()}
    todo = [into]
    while todo:
        name, path = place = todo.pop()
        passed = found[place] | {name}
        for holder in holders:
            held, above = holder.held
            origin = (held, (*above, *path))
            if holder.target == (name, ()) and held not in passed and origin not in found:
                found[origin] = passed
                todo.append(origin)
    return list(found)


def _concerns(holder: Holder, into: Place, inside: set[str]) -> bool:
    """Whether somebody else holds the object at `into` from then on.

    Where it only goes on to a variable `inside`, what counts is what becomes of it there.
    """
    target = holder.target
    if target is not None and _is_inside(into, target):
        return True
    goes_on = target is not None and not target[1] and target[0] in inside
    return _is_inside(into, holder.held) and not (goes_on and target != (into[0], ()))


PASSIVE: frozenset[Any] = frozenset(
    {
        print, isinstance, hasattr, id, str, repr, format, callable, len, trees.like_object,
        operator.eq, operator.ne, operator.is_, operator.is_not,
    }
)
"""What only looks at objects, to print or to describe them."""


def is_text(rhs: ir.Rhs | None) -> bool:
    """Whether an expression only makes text of what it reads."""
    return isinstance(rhs, ir.Opaque) and rhs.harmless


def _stores(block: ir.Block, place: Find) -> Iterator[tuple[ir.Stmt, Place]]:
    """Every store into an attribute and the object that it goes into."""
    for stmt in ir.walk(block):
        call = stmt.rhs if isinstance(stmt, ir.Effect) else None
        if isinstance(call, ir.Call) and call.fn is ir.set_attr:
            found = place(call.args[0])
            if found is not None:
                yield stmt, found


def _holders(
    block: ir.Block, place: Find, aliases: Mapping[str, Place]
) -> Iterator[Holder]:
    """Every statement after which an object has one holder more."""
    for stmt in ir.walk(block):
        rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
        if isinstance(stmt, ir.Assign) and stmt.target.id in aliases:
            continue
        if isinstance(rhs, ir.Call):
            yield from _by_call(stmt, rhs, place)
        elif isinstance(stmt, ir.Assign) and not is_text(rhs):
            yield from (
                Holder(stmt, p, place(stmt.target)) for n in ir.names(rhs) if (p := _at(place, n))
            )
        elif isinstance(stmt, ir.SetItem):
            yield from (Holder(stmt, p, None) for n in ir.names(stmt.value) if (p := _at(place, n)))


def _at(place: Find, name: str) -> Place | None:
    return place(ir.Name(name))


def _by_call(stmt: ir.Stmt, call: ir.Call, place: Find) -> Iterator[Holder]:
    """The objects that a call hands on."""
    if isinstance(call.fn, ir.Attr):
        base = place(call.args[0])
        target = place(stmt.target) if isinstance(stmt, ir.Assign) else None
        if base is not None and target is not None:
            yield Holder(stmt, (base[0], (*base[1], call.fn.name)), target)
        return
    if any(call.fn is f for f in PASSIVE):
        return
    if call.fn is ir.set_attr:
        base, held = place(call.args[0]), place(call.args[2])
        if base is not None and held is not None:
            key = call.args[1]
            assert isinstance(key, ir.Const)
            yield Holder(stmt, held, (base[0], (*base[1], key.value)))
        return
    for name in ir.names(call):
        found = _at(place, name)
        if found is not None:
            yield Holder(stmt, found, None)


def _is_inside(one: Place, other: Place) -> bool:
    """Whether one object is the other, or a part of it."""
    return one[0] == other[0] and one[1][: len(other[1])] == other[1]


def _moved(
    function: ir.Function, holder: Holder, aliases: Mapping[str, Place], into: Place
) -> bool:
    """Whether an object goes from one variable to another, and the old one is done with."""
    if holder.target is None or holder.held[1] or into[0] == holder.held[0]:
        return False
    live = live_after(function, holder.stmt)
    names = {holder.held[0], *(n for n, p in aliases.items() if p[0] == holder.held[0])}
    params = {p.name for p in function.params}
    return not names & live and holder.held[0] not in params


class HeldElsewhereError(Exception):
    """A store into the object at a place, which something else holds; `error` says so."""

    def __init__(self, into: Place, error: UnsupportedError) -> None:
        super().__init__(into, error)
        self.into = into
        self.error = error


def _refusal(stmt: ir.Stmt, since: ir.Stmt, into: Place) -> HeldElsewhereError:
    call, line = ir.call_of(since), since.loc.line
    held = "has another name, or is in a container"
    if call is not None and call.fn is vars:
        held = "`vars` looks at"
    error = UnsupportedError(
        f"an attribute is assigned of an object that {held}, at that time"
        + (f" (since line {line})" if line else ""),
        stmt.loc,
        remedy="Make a new object with the new value, or copy it first with copy.copy.",
    )
    return HeldElsewhereError(into, error)
