"""Loops: what is iterated becomes a count and an item at each index.

Comprehensions and generator arguments are loops that append, `functools.reduce` is the loop that it
computes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from srcdiff import ir
from srcdiff.frontend.local_functions import settled
from srcdiff.frontend.lower import iterables, jumps
from srcdiff.frontend.lower.builder import Builder, LoopFrame, Meaning, Node, Table
from srcdiff.frontend.lower.iterables import (
    Element,
    Enumerated,
    Items,
    Mapped,
    Range,
    Reverse,
    Sequence,
    Zipped,
    element_rhs,
    header,
    loop_items,
)
from srcdiff.frontend.lower.targets import refuse_target, store
from srcdiff.frontend.scopes import has_star, scan_nodes
from srcdiff.ir.frozen import replace


def for_(b: Builder, node: Node) -> ir.Name | None:
    """A `for` statement without its `else`; gives the flag that its `break` sets."""
    loc = b.loc(node)
    # A nested function that is called in the body may bind some by `nonlocal`.
    own = {*scan_nodes([node.target, *node.body]).bound, *b.rebinding}
    bound = frozenset(map(b.ir_name, own))
    items = loop_items(b, node.target, node.iter, bound)
    frame = _enter(b, node)
    loop_over(b, node.target, items, lambda: _body(b, node.body, frame), frame.stop, loc)
    return frame.stop if frame.own else None


def while_(b: Builder, node: Node) -> ir.Name | None:
    """A `while` statement without its `else`; gives the flag that its `break` sets."""
    loc = b.loc(node)
    frame = _enter(b, node)
    cond, test = b.collected(lambda: b.atom(node.test))
    body = b.collect(lambda: _body(b, node.body, frame))
    b.emit(ir.While(cond, test, body, frame.stop, loc))
    return frame.stop if frame.own else None


def _enter(b: Builder, node: Node) -> LoopFrame:
    """The flags of a loop; that of its own `break` is cleared before it."""
    kinds = jumps.all_escapes(b, node.body)
    if "break" in kinds:
        stop = b.temp(ir.Const(False), b.loc(node), "_stop")
        return LoopFrame(stop, own=True)
    return LoopFrame(jumps.return_flag(b) if "return" in kinds else None)


def _body(b: Builder, nodes: list[Node], frame: LoopFrame) -> None:
    """The body of a loop."""
    b.frame.loops.append(frame)
    block = jumps.block(b, nodes, tail=True)
    b.frame.loops.pop()
    if frame.skip is not None:
        b.emit(ir.Assign(frame.skip, ir.Const(False), ir.NOWHERE))
    b.out.extend(block)


def loop_over(
    b: Builder,
    target: Node,
    items: Items,
    body: Callable[[], None],
    stop: ir.Name | None,
    loc: ir.Loc,
) -> None:
    """A loop that binds `target` to each of the items."""
    counter = _counter(b, target, items)

    def bound(element: Element) -> None:
        if counter is None:
            bind(b, target, element, loc)
        elif isinstance(items, Enumerated):
            bind(b, target.elts[1], element[1], loc)
        body()

    loop_through(b, items, bound, loc, counter, stop)


def loop_through(
    b: Builder,
    items: Items,
    body: Callable[[Element], None],
    loc: ir.Loc,
    counter: ir.Name | None = None,
    stop: ir.Name | None = None,
    start: int = 0,
) -> None:
    """A loop over items, which `counter` counts; with a `start`, of items with an index."""
    counted = items.inner if isinstance(items, Reverse) else items
    k = counter or b.fresh("_k")
    if start:
        rhs = ir.Call(range, (ir.Const(start), items.length(b, loc)), text="range")
    else:
        rhs = header(b, items, loc)
    block = b.collect(lambda: body(k if isinstance(counted, Range) else counted.at(b, k, loc)))
    b.emit(ir.For(k, rhs, block, stop, loc))


def _counter(b: Builder, target: Node, items: Items) -> ir.Name | None:
    """The variable of the source that counts the items, if one does."""
    counted = items.inner if isinstance(items, Reverse) else items
    if isinstance(counted, Range) and type(target).__name__ == "Name":
        return b.target(target.id)
    if isinstance(items, Enumerated) and items.start is None and _has_counter(target):
        return b.target(target.elts[0].id)
    return None


def _has_counter(target: Node) -> bool:
    """Whether a target is `i, something`."""
    return (
        type(target).__name__ in ("Tuple", "List")
        and len(target.elts) == 2
        and type(target.elts[0]).__name__ == "Name"
        and type(target.elts[1]).__name__ != "Starred"
        and target.elts[0].id not in scan_nodes([target.elts[1]]).bound
    )


def bind(b: Builder, target: Node, element: Element, loc: ir.Loc) -> None:
    """Bind a loop target to an item."""
    kind = type(target).__name__
    if isinstance(element, tuple) and kind in ("Tuple", "List"):
        if not has_star(target.elts) and len(target.elts) == len(element):
            for part, value in zip(target.elts, element, strict=False):
                bind(b, part, value, loc)
            return
    if kind == "Attribute":
        refuse_target(b, target)
    store(b, target, element_rhs(b, element, target), loc)


TABLE: Table = {"For": for_, "While": while_}


# --- comprehensions and generator arguments: loops that append -----------------------------------


def list_comprehension(b: Builder, node: Node) -> ir.Rhs:
    """`[e for x in xs if c]`."""
    loc = b.loc(node)
    result = b.temp(ir.Call(ir.make_list), loc)

    def append() -> None:
        b.emit(ir.Effect(ir.Call(ir.Method("append"), (result, b.atom(node.elt))), loc))

    _over(b, node, append, None)
    return result


def dict_comprehension(b: Builder, node: Node) -> ir.Rhs:
    """`{k: e for x in xs if c}`."""
    loc = b.loc(node)
    result = b.temp(ir.Call(ir.make_dict), loc)

    def put() -> None:
        key, value = b.operands((node.key, node.value))
        b.emit(ir.SetItem(result, key, value, loc=loc))

    _over(b, node, put, None)
    return result


def search(b: Builder, node: Node, wanted: bool) -> ir.Rhs:
    """`any(...)` (`wanted` true) or `all(...)` of a generator: a loop that stops early."""
    loc = b.loc(node)
    found = b.temp(ir.Const(False), loc, "_stop")

    def test() -> None:
        value = b.atom(node.elt)
        hit = (ir.Assign(found, ir.Const(True), loc),)
        b.emit(ir.If(value, hit, (), loc) if wanted else ir.If(value, (), hit, loc))

    _over(b, node, test, found)
    return found if wanted else ir.Call(operator.not_, (found,))


def first(b: Builder, node: Node, default: ir.Atom | None) -> ir.Rhs:
    """`next(generator, default)`: the first item, by a loop that stops there."""
    loc = b.loc(node)
    result = b.fresh("_t") if default is None else b.temp(default, loc)
    found = b.temp(ir.Const(False), loc, "_stop")

    def take() -> None:
        b.emit(ir.Assign(result, b.rhs(node.elt), loc))
        b.emit(ir.Assign(found, ir.Const(True), loc))

    _over(b, node, take, found)
    if default is None:
        b.emit(ir.If(found, (), (ir.Verbatim("raise StopIteration", raises=True, loc=loc),), loc))
    return result


def _over(b: Builder, node: Node, body: Callable[[], None], stop: ir.Name | None) -> None:
    """The loops of a comprehension around a body, in a scope of their own."""
    saved = b.scope
    start = len(b.out)
    try:
        _generator(b, node, 0, body, stop)
        own = {v.id for n, v in b.scope.items() if v is not saved.get(n) and isinstance(v, ir.Name)}
    finally:
        b.scope = saved
    b.out[start:] = settled(tuple(b.out[start:]), frozenset(own), b.fresh)


def _generator(
    b: Builder, node: Node, i: int, body: Callable[[], None], stop: ir.Name | None
) -> None:
    """The loops of a comprehension from the i-th on."""
    if i == len(node.generators):
        body()
        return
    part = node.generators[i]
    assert not part.is_async, "only a coroutine can have one, and that is refused as a whole"
    items = loop_items(b, part.target, part.iter, b.rebound([node]))
    if i == 0:  # only the first iterable is evaluated outside
        b.scope = _inner_scope(b, node)

    def inside() -> None:
        _filtered(b, list(part.ifs), lambda: _generator(b, node, i + 1, body, stop))

    loop_over(b, part.target, items, inside, stop, b.loc(node))


def _inner_scope(b: Builder, node: Node) -> dict[str, Meaning]:
    """The scope of a comprehension: its loop variables have names of their own."""
    variables = scan_nodes([g.target for g in node.generators]).bound
    return {**b.scope, **{name: b.fresh(name) for name in variables}}


def _filtered(b: Builder, tests: list[Node], body: Callable[[], None]) -> None:
    """A body under the `if`s of a comprehension."""
    if not tests:
        body()
        return
    test = b.atom(tests[0])
    block = b.collect(lambda: _filtered(b, tests[1:], body))
    b.emit(ir.If(test, block, (), b.loc(tests[0])))


def generator(b: Builder, node: Node) -> ir.Rhs:
    """A generator expression: a list, where the call that it is in uses it up at once."""
    if id(node) not in b.eager:
        b.refuse(
            node, "a generator expression is not supported here",
            "Make a list: put it into square brackets.",
        )  # fmt: skip
    return list_comprehension(b, node)


COMPREHENSION_TABLE: Table = {
    "ListComp": list_comprehension,
    "DictComp": dict_comprehension,
    "GeneratorExp": generator,
}


# --- `functools.reduce` and `itertools.accumulate` as the loops that they are --------------------


def folded(
    b: Builder,
    node: Node,
    function: Node | None,
    items: Node,
    start: Node | None,
    kept: bool = False,
) -> ir.Rhs:
    """`reduce(function, items, start)`; with `kept` a list of all values, as of `accumulate`."""
    loc, names = b.loc(node), [b.variable("_total" if kept else "result"), b.variable("item")]
    total, item = map(ir.Name, names)
    if function is None:
        step = b.quoted("x + y", node, x=total.id, y=item.id)
    else:
        step = iterables.call_of(b, function, names, node)
    over = iterables.items_of(b, items, frozenset(), nested=start is None)
    if start is None:
        over = _indexed(b, over, loc)
        b.emit(ir.Assign(total, element_rhs(b, over.at(b, ir.Const(0), loc), node), loc))
    else:
        b.emit(ir.Assign(total, b.rhs(start), loc))
    values = b.temp(ir.Call(ir.make_list, (total,)), loc) if kept else total

    def body(element: Element) -> None:
        if isinstance(element, ir.Name):  # of a range
            b.scope[item.id] = element
        else:
            b.emit(ir.Assign(item, element_rhs(b, element, step), loc))
        b.emit(ir.Assign(total, b.rhs(step), loc))
        if kept:
            b.emit(ir.Effect(ir.Call(ir.Method("append"), (values, total)), loc))

    loop_through(b, over, body, loc, start=int(start is None))
    return values


def _indexed(b: Builder, over: Items, loc: ir.Loc) -> Items:
    """The same items, where taking one that there is not is an error, in ranges as well."""
    if isinstance(over, Range):
        return Sequence(b.temp(ir.Call(range, over.args, text="range"), loc))
    if isinstance(over, Reverse):
        whole = _indexed(b, over.inner, loc)
        assert isinstance(whole, Sequence)
        backwards = ir.Slice(ir.NONE, ir.NONE, ir.Const(-1))
        return Sequence(b.temp(ir.Call(operator.getitem, (whole.base, backwards)), loc))
    if isinstance(over, Zipped):
        return replace(over, parts=tuple(_indexed(b, p, loc) for p in over.parts))
    if isinstance(over, (Enumerated, Mapped)):
        return replace(over, inner=_indexed(b, over.inner, loc))  # type: ignore[arg-type]
    return over


def listed(b: Builder, items: Items, value: Callable[[Element], ir.Rhs], node: Node) -> ir.Name:
    """A list of what is computed of each item."""
    loc = b.loc(node)
    result = b.temp(ir.Call(ir.make_list), loc)

    def append(element: Element) -> None:
        given = b.as_atom(value(element), node)
        b.emit(ir.Effect(ir.Call(ir.Method("append"), (result, given)), loc))

    loop_through(b, items, append, loc)
    return result
