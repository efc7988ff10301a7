"""`functools.reduce` as the loop that it is."""

from __future__ import annotations

import functools
import operator
from dataclasses import replace

from srcdiff.frontend.lower import functional, items, loops
from srcdiff.frontend.lower.builder import Builder, Node
from srcdiff.ir import NONE, Assign, Call, Const, Loc, Name, Rhs, Slice


def reduced(b: Builder, node: Node) -> Rhs:
    """`functools.reduce(f, xs)` or `reduce(f, xs, start)`."""
    loc = b.loc(node)
    acc, item = functional.variable(b, "result"), functional.variable(b, "item")
    step = functional.call_of(b, node.args[0], [acc, item], node)

    def body(element: items.Element) -> None:
        if isinstance(element, Name):  # of a range
            b.scope[item] = element
        else:
            b.emit(Assign(Name(item), items.element_rhs(b, element, step), loc))
        b.emit(Assign(Name(acc), b.rhs(step), loc))

    if len(node.args) == 3:
        over = items.items_of(b, node.args[1], frozenset())
        b.emit(Assign(Name(acc), b.atom(node.args[2]), loc))
        loops.loop_through(b, over, body, loc)
    else:
        over = _indexed(b, node.args[1], loc)
        first = items.element_rhs(b, over.at(b, Const(0), loc), node)
        b.emit(Assign(Name(acc), first, loc))
        loops.loop_through(b, over, body, loc, start=1)
    return Name(acc)


def _indexed(b: Builder, node: Node, loc: Loc) -> items.Items:
    """Items that can be taken from the second on, and of which the first may be missing."""
    over = items.items_of(b, node, frozenset(), nested=True)
    if not isinstance(over, items.Reverse):
        return _failing(b, over, loc)
    inner = _failing(b, over.inner, loc)
    assert isinstance(inner, items.Sequence)
    backwards = Slice(NONE, NONE, Const(-1))
    turned = Call(operator.getitem, (inner.base, backwards))
    return items.Sequence(b.temp(turned, loc))


def _failing(b: Builder, over: items.Items, loc: Loc) -> items.Items:
    """The same items, where taking one that there is not is an error, in ranges as well."""
    if isinstance(over, items.Range):
        return items.Sequence(b.temp(Call(range, over.args, text="range"), loc))
    if isinstance(over, items.Zipped):
        return replace(over, parts=tuple(_failing(b, p, loc) for p in over.parts))
    if isinstance(over, items.Enumerated):
        return replace(over, inner=_failing(b, over.inner, loc))
    if isinstance(over, items.Mapped):
        parts = tuple(_failing(b, p, loc) for p in over.parts.parts)
        return replace(over, parts=items.Zipped(parts))
    return over


def is_reduce(fn: object, node: Node) -> bool:
    """Whether a call is a `reduce` that can be written out."""
    plain = not node.keywords and not any(type(a).__name__ == "Starred" for a in node.args)
    return fn is functools.reduce and plain and len(node.args) in (2, 3)


__all__ = ["is_reduce", "reduced"]
