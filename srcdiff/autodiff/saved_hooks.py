"""Calls of `packed` and `unpacked` around what is saved, for `saved_hooks`.

Takes the forward and the backward part of a derivative; returns them with every array that crosses
from one to the other packed: what is pushed on lists, and the residuals.  What is not: adjoints
that are made in the forward part, and memory that the backward part writes into.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import replace
from srcdiff.primitives.effects import written_into
from srcdiff.primitives.ops import Op, calling, is_op
from srcdiff.runtime.contexts import packed, unpacked
from srcdiff.specialize.objects.scalar_replacement import unpack_count

_COPIES = (Op.COPY, Op.KEPT)


def with_hooks(
    one: ir.Function, two: ir.Function, used: frozenset[int], tapes: frozenset[str], facts: Facts
) -> tuple[ir.Function, ir.Function, Facts]:
    """The two parts with packed values: pushes on `tapes`, and the residuals that are `used`."""
    pushed, names = dict(_pushed(one.body, tapes)), [s.target.id for s in _unpacking(two)]
    packable = _packable((*pushed.values(), *names), one, two, facts)
    places = {k for k in used if names[k] not in tapes and names[k] in packable}
    slots = frozenset(s for s, v in pushed.items() if v in packable)
    one, two = _packed(one, places, slots, facts.fresh), _unpacked(two, places, slots, facts.fresh)
    held = {k: s.target.id for k, s in enumerate(_unpacking(two)) if k in places}
    kinds = {
        n: ir.Tuple((facts.kinds[names[k]],)) for k, n in held.items() if names[k] in facts.kinds
    }
    return one, two, replace(facts, kinds={**facts.kinds, **kinds})


def used_residuals(two: ir.Function) -> frozenset[int]:
    """The places of the residuals that a finished backward part needs."""
    needed, own = ir.used(two.body), ir.Name(two.params[0].name)
    taken = [(s, c.args[1]) for s, c in calling(two, Op.GETITEM) if c.args[0] == own]
    used = [place for s, place in taken if needed.intersection(ir.writes(s))]
    return frozenset(place.value for place in used if isinstance(place, ir.Const))


def _pushed(block: ir.Block, tapes: frozenset[str]) -> Iterator[tuple[str, str]]:
    """(list, variable) of every push on a tape."""
    for stmt in ir.walk(block):
        call = _call_on(stmt, Op.APPEND, tapes)
        if call is not None and isinstance(call.args[1], ir.Name):
            yield call.args[0].id, call.args[1].id  # type: ignore[union-attr]


def _call_on(stmt: ir.Stmt, method: Op, lists: frozenset[str]) -> ir.Call | None:
    """The call of a method of one of some lists."""
    call = ir.call_of(stmt)
    return call if is_op(call, method) and lists.intersection(ir.names(call.args[0])) else None


def _unpacking(two: ir.Function) -> list[ir.Assign]:
    """The statements that unpack the residuals."""
    return [s for s in two.body[: unpack_count(two)] if isinstance(s, ir.Assign)]


def _packable(
    names: Iterable[str], one: ir.Function, two: ir.Function, facts: Facts
) -> frozenset[str]:
    """Those of some variables that may be replaced by other arrays of the same numbers.

    Nobody writes into them on the way down.
    """
    assigned = (s for s in ir.walk(one.body) if isinstance(s, ir.Assign))
    copies = {s.target.id for s in assigned if is_op(s.rhs, *_COPIES)}
    classes, adjoints = facts.aliases.classes, {*facts.adjoints.values()}
    written = {n for s in ir.walk(two.body) for n in written_into(s, facts.kinds)}
    written |= {classes[n] for n in written if n in classes}

    def is_packable(name: str) -> bool:
        kind = facts.kinds.get(name)
        if kind is None:
            return name in copies
        return not ir.is_scalar(kind) and written.isdisjoint((name, classes.get(name, name)))

    return frozenset(n for n in names if n not in adjoints and is_packable(n))


def _packed(
    one: ir.Function, places: set[int], slots: frozenset[str], fresh: ir.Fresh
) -> ir.Function:
    """The forward part, which packs what it pushes on `slots`, and the residuals at some places."""

    def held(b: Builder, value: ir.Atom) -> ir.Name:
        return b.temp(ir.Call(packed, (value,)), "_held")

    def pushed(stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        call, b = _call_on(stmt, Op.APPEND, slots), Builder(fresh, stmt.loc)
        if call is None or not isinstance(stmt, ir.Effect):
            return stmt
        b.effect("append", call.args[0], held(b, call.args[1]))
        return tuple(b.out)

    *body, last = ir.replaced(one.body, pushed)
    assert isinstance(last, ir.Return) and isinstance(last.value, ir.Tup)
    value, kept = last.value.items
    assert isinstance(kept, ir.Tup)
    b = Builder(fresh, last.loc)
    items = (held(b, item) if k in places else item for k, item in enumerate(kept.items))
    both = ir.Tup((value, ir.Tup(tuple(items))))
    return replace(one, body=(*body, *b.out, replace(last, value=both)))


def _unpacked(
    two: ir.Function, places: set[int], slots: frozenset[str], fresh: ir.Fresh
) -> ir.Function:
    """The backward part, which unpacks a residual before the first statement that uses it."""

    def load(stmt: ir.Assign) -> tuple[ir.Assign, ir.Assign]:
        held = fresh("_held")
        loaded = ir.Assign(stmt.target, ir.Call(unpacked, (held,)), stmt.loc)
        return replace(stmt, target=held), loaded

    def popped(stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        mine = isinstance(stmt, ir.Assign) and _call_on(stmt, Op.POP, slots)
        return load(stmt) if mine else stmt  # type: ignore[arg-type]

    first = _unpacking(two)
    rest = ir.replaced(two.body[unpack_count(two) :], popped)
    for k in sorted(places, reverse=True):
        name = first[k].target.id
        first[k], loaded = load(first[k])
        at = next((j for j, s in enumerate(rest) if name in ir.mentions(s)), len(rest))
        rest = (*rest[:at], loaded, *rest[at:])
    return replace(two, body=(*first, *rest))
