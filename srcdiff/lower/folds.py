"""`functools.reduce` as the loop that it is."""

from __future__ import annotations

import functools

from srcdiff.ir import Assign, Atom, Call, Const, For, Loc, Name, Rhs
from srcdiff.lower import functional, items
from srcdiff.lower.builder import Builder, Node


def reduced(b: Builder, node: Node) -> Rhs:
    """`functools.reduce(f, xs)` or `reduce(f, xs, start)`."""
    loc = b.loc(node)
    acc, item = functional.variable(b, "result"), functional.variable(b, "item")
    step = functional.call_of(b, node.args[0], [acc, item], node)
    over = items.items_of(b, node.args[1], frozenset())
    count: Atom
    if len(node.args) == 3:
        b.emit(Assign(Name(acc), b.atom(node.args[2]), loc))
        rhs = items.header(b, over, loc)
    else:
        over = _indexed(b, over, node)
        count = over.length(b, loc)
        b.emit(Assign(Name(acc), items.element_rhs(b, over.at(b, Const(0), loc), node), loc))
        rhs = Call(range, (Const(1), count), text="range")
    _loop(b, over, rhs, item, acc, step, loc)
    return Name(acc)


def _indexed(b: Builder, over: items.Items, node: Node) -> items.Items:
    """Items that can be taken from the second on."""
    if isinstance(over, items.Reverse):
        b.refuse(
            node, "`reduce` of a reversed sequence without a start is not supported",
            "Give the start, or reverse it by a slice: `xs[::-1]`.",
        )  # fmt: skip
    return over


def _loop(
    b: Builder, over: items.Items, rhs: Call, item: str, acc: str, step: Node, loc: Loc
) -> None:
    """The loop of a `reduce`."""
    k = b.fresh("_k")
    inner = over.inner if isinstance(over, items.Reverse) else over

    def body() -> None:
        taken = inner.at(b, k, loc)
        b.emit(Assign(Name(item), items.element_rhs(b, taken, step), loc))
        b.emit(Assign(Name(acc), b.rhs(step), loc))

    b.emit(For(k, rhs, b.collect(body), None, loc))


def is_reduce(fn: object, node: Node) -> bool:
    """Whether a call is a `reduce` that can be written out."""
    plain = not node.keywords and not any(type(a).__name__ == "Starred" for a in node.args)
    return fn is functools.reduce and plain and len(node.args) in (2, 3)


__all__ = ["is_reduce", "reduced"]
