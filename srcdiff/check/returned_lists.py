"""Calls that may return a list or dict that they are given, or something that holds it.

What a call is given is kept as it is then, so what it returns would not show what is changed later,
nor the other way round.  The invariant: of a container that a call may return nothing is changed
once it has been called, by any name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.ir.kinds import UNKNOWN, Kind
from srcdiff.normalize.summaries.resized import Names, is_value, marked_arguments
from srcdiff.primitives.effects import mutated_args

Kinds = Mapping[str, Kind]
_Place = tuple[ir.Stmt, tuple[int, ...]]  # a statement, and the loops around it


def check_returned(function: ir.Function, kinds: Kinds) -> None:
    """Refuse changes of containers that calls, which are marked, may have returned.

    Raises:
        UnsupportedError: there is one.
    """
    places = list(_places(function.body, ()))
    changed = [(k, loops, _changed(s, kinds)) for k, (s, loops) in enumerate(places)]
    names = Names(function, kinds)
    for k, (stmt, loops) in enumerate(places):
        target = stmt.target.id if isinstance(stmt, ir.Assign) else None
        if target is None or is_value(kinds.get(target, UNKNOWN)):
            continue
        for param in _returned(stmt, kinds):
            later = (ns for j, around, ns in changed if j > k or loops[:1] == around[:1] != ())
            if any(names.may_be_one(target, n) for ns in later for n in ns):
                raise _refusal(stmt, param)


def _places(block: ir.Block, loops: tuple[int, ...]) -> Iterator[_Place]:
    """The statements in the order of the text."""
    for stmt in block:
        yield stmt, loops
        inside = (*loops, id(stmt)) if isinstance(stmt, (ir.For, ir.While)) else loops
        for inner in ir.blocks(stmt):
            yield from _places(inner, inside)


def _changed(stmt: ir.Stmt, kinds: Kinds) -> list[str]:
    """The lists and dicts that a statement changes."""
    call = ir.call_of(stmt)
    found = [stmt.base.id] if isinstance(stmt, ir.SetItem) else []
    if call is not None:
        found += [n for a in mutated_args(call, kinds) for n in ir.names(a)]
        for key, param, atom in marked_arguments(call):
            found += ir.names(atom) if param in key.written else ()
    return [n for n in found if not is_value(kinds.get(n, UNKNOWN))]


def _returned(stmt: ir.Stmt, kinds: Kinds) -> list[str]:
    """The parameters that get containers which the result of a call may be, or hold."""
    call = ir.call_of(stmt)
    if call is None:
        return []
    found: list[str] = []
    for key, param, atom in marked_arguments(call):
        # A list that the call itself changes has no other name in it, and is not its result.
        apart = param in key.items or param in key.resized
        value = all(is_value(kinds.get(n, UNKNOWN)) for n in ir.names(atom))
        if param in key.returned and not apart and not value:
            found.append(param)
    return found


def _refusal(stmt: ir.Stmt, param: str) -> UnsupportedError:
    call = ir.call_of(stmt)
    assert call is not None and isinstance(call.fn, ir.Derived)
    return UnsupportedError(
        f"the recursive function `{call.fn.name}` may return its argument `{param}`, or something "
        "that holds it, and the container is changed afterwards",
        stmt.loc,
        remedy="Return a copy of it, or change it before the call.",
    )
