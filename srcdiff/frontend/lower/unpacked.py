"""The parts of `a, *rest, z = xs`: the rest, the marks of the items, the check of the length."""

from __future__ import annotations

import operator

from srcdiff.frontend.lower.builder import Builder, Node
from srcdiff.ir import NONE, Atom, Call, Const, Loc, Name, Slice, Verbatim

SEQUENCES = ("Tuple", "List")


def has_places(target: Node) -> bool:
    """Whether a target has items of containers, or attributes, among its parts."""
    if type(target).__name__ in SEQUENCES:
        return any(map(has_places, target.elts))
    if type(target).__name__ == "Starred":
        return has_places(target.value)
    return type(target).__name__ != "Name"


def length_check(base: Name, before: int, after: int | None, unused: str, loc: Loc) -> Verbatim:
    """`_, *_ = xs`: as many items as names or, with a number of names after it, `*_` at least."""
    names = [unused] * before
    names += [] if after is None else [f"*{unused}", *[unused] * after]
    targets = ", ".join(names) + ("," if len(names) == 1 else "")
    return Verbatim(f"{targets} = {base.id}", (base,), loc=loc)


def starred_text(before: int, after: int) -> str:
    """The mark of an item of an unpacking with so many names before and after `*rest`."""
    return f"item of {before} * {after}"


def rest_of(b: Builder, base: Atom, ends: tuple[int, int], loc: Loc) -> Call:
    """`*rest` of an unpacking: a list of the items between."""
    upper = Const(-ends[1]) if ends[1] else NONE
    lower = Const(ends[0]) if ends[0] else NONE
    text = starred_text(*ends)
    index = Slice(lower, upper, NONE)
    between = b.temp(Call(operator.getitem, (base, index), text=text), loc)
    return Call(list, (between,), text="list")
