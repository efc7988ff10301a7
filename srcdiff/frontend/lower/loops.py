"""Loops: what is iterated becomes a count and an item at each index."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from srcdiff.frontend.lower import jumps
from srcdiff.frontend.lower.builder import Builder, LoopFrame, Node, Table
from srcdiff.frontend.lower.items import (
    Element,
    Enumerated,
    Items,
    Range,
    Reverse,
    element_rhs,
    header,
    loop_items,
)
from srcdiff.frontend.lower.scope import children, scan_nodes
from srcdiff.frontend.lower.targets import refuse_target, store
from srcdiff.ir import NOWHERE, Assign, Atom, Block, Call, Const, For, Loc, Name, While

_GROWS = frozenset(
    ("append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort")
)  # fmt: skip


def for_(b: Builder, node: Node) -> Name | None:
    """A `for` statement without its `else`; gives the flag that its `break` sets."""
    loc = b.loc(node)
    # A nested function that is called in the body may bind some by `nonlocal`.
    own = {*scan_nodes([node.target, *node.body]).bound, *b.rebinding}
    bound = frozenset(map(b.ir_name, own))
    _refuse_growth(b, node)
    items = loop_items(b, node.target, node.iter, bound)
    frame = _enter(b, node)
    loop_over(b, node.target, items, lambda: _body(b, node.body, frame), frame.stop, loc)
    return frame.stop if frame.own else None


def while_(b: Builder, node: Node) -> Name | None:
    """A `while` statement without its `else`; gives the flag that its `break` sets."""
    loc = b.loc(node)
    frame = _enter(b, node)
    tests: list[Atom] = []
    cond = b.collect(lambda: tests.append(b.atom(node.test)))
    body = b.collect(lambda: _body(b, node.body, frame))
    b.emit(While(cond, tests[0], body, frame.stop, loc))
    return frame.stop if frame.own else None


def _enter(b: Builder, node: Node) -> LoopFrame:
    """The flags of a loop; that of its own `break` is cleared before it."""
    kinds = jumps.all_escapes(b, node.body)
    if "break" in kinds:
        stop = b.temp(Const(False), b.loc(node), "_stop")
        return LoopFrame(stop, own=True)
    return LoopFrame(jumps.return_flag(b) if "return" in kinds else None)


def _body(b: Builder, nodes: Sequence[Node], frame: LoopFrame) -> None:
    """The body of a loop."""
    b.frame.loops.append(frame)
    block = jumps.block(b, nodes, tail=True)
    b.frame.loops.pop()
    if frame.skip is not None:
        b.emit(Assign(frame.skip, Const(False), NOWHERE))
    b.out.extend(block)


def loop_over(
    b: Builder, target: Node, items: Items, body: Callable[[], None], stop: Name | None, loc: Loc
) -> None:
    """A loop that binds `target` to each of the items."""
    counter, bind = _counter(b, target, items, loc)
    rhs = header(b, items, loc)

    def all_of_it() -> None:
        bind()
        body()

    block: Block = b.collect(all_of_it)
    b.emit(For(counter, rhs, block, stop, loc))


def loop_through(
    b: Builder, items: Items, body: Callable[[Element], None], loc: Loc, start: int = 0
) -> None:
    """A loop over items that no target is bound to; with a `start`, of items with an index."""
    counted = items.inner if isinstance(items, Reverse) else items
    k = b.fresh("_k")
    if start:
        rhs = Call(range, (Const(start), items.length(b, loc)), text="range")
    else:
        rhs = header(b, items, loc)
    block = b.collect(lambda: body(k if isinstance(counted, Range) else counted.at(b, k, loc)))
    b.emit(For(k, rhs, block, None, loc))


def _counter(
    b: Builder, target: Node, items: Items, loc: Loc
) -> tuple[Name, Callable[[], None]]:
    """The loop variable of the IR, and what binds the target in the body."""
    counted = items.inner if isinstance(items, Reverse) else items
    if isinstance(counted, Range):
        if type(target).__name__ == "Name":
            return b.target(target.id), lambda: None
        k = b.fresh("_k")
        return k, lambda: bind(b, target, k, loc)
    if isinstance(items, Enumerated) and items.start is None and _has_counter(target):
        counter = b.target(target.elts[0].id)
        return counter, lambda: bind(b, target.elts[1], items.inner.at(b, counter, loc), loc)
    k = b.fresh("_k")
    if isinstance(items, Reverse):
        return k, lambda: bind(b, target, items.inner.at(b, k, loc), loc)
    return k, lambda: bind(b, target, items.at(b, k, loc), loc)


def _has_counter(target: Node) -> bool:
    """Whether a target is `i, something`."""
    return (
        type(target).__name__ in ("Tuple", "List")
        and len(target.elts) == 2
        and type(target.elts[0]).__name__ == "Name"
        and type(target.elts[1]).__name__ != "Starred"
        and target.elts[0].id not in scan_nodes([target.elts[1]]).bound
    )


def bind(b: Builder, target: Node, element: Element, loc: Loc) -> None:
    """Bind a loop target to an item."""
    kind = type(target).__name__
    if isinstance(element, tuple) and kind in ("Tuple", "List"):
        starred = any(type(e).__name__ == "Starred" for e in target.elts)
        if not starred and len(target.elts) == len(element):
            for part, value in zip(target.elts, element, strict=False):
                bind(b, part, value, loc)
            return
    if kind == "Attribute":
        refuse_target(b, target)
    store(b, target, element_rhs(b, element, target), loc)


def _refuse_growth(b: Builder, node: Node) -> None:
    """Refuse a loop over a list that its body changes in length."""
    if type(node.iter).__name__ != "Name":
        return
    todo = list(node.body)
    while todo:
        found = todo.pop()
        if _grows(getattr(found, "func", None), node.iter.id):
            b.refuse(
                found, f"`{node.iter.id}` is changed while a loop runs over it",
                "Loop over a copy, or by index.",
            )  # fmt: skip
        todo.extend(children(found))


def _grows(func: Node, name: str) -> bool:
    """Whether a callee is `name.append` or the like."""
    return getattr(func, "attr", None) in _GROWS and getattr(func.value, "id", None) == name


TABLE: Table = {"For": for_, "While": while_}
__all__ = ["TABLE", "bind", "loop_items", "loop_over", "loop_through"]
