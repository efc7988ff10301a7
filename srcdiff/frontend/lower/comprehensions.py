"""Comprehensions and generator arguments: loops that append."""

from __future__ import annotations

import operator
from collections.abc import Callable

from srcdiff.frontend.closures.settled import settled
from srcdiff.frontend.lower import loops
from srcdiff.frontend.lower.builder import Builder, Meaning, Node, Table
from srcdiff.frontend.lower.items import loop_items
from srcdiff.frontend.lower.scope import scan_nodes
from srcdiff.ir import (
    Assign,
    Call,
    Const,
    Effect,
    If,
    Method,
    Name,
    Rhs,
    SetItem,
    make_dict,
    make_list,
)


def list_comprehension(b: Builder, node: Node) -> Rhs:
    """`[e for x in xs if c]`."""
    loc = b.loc(node)
    result = b.temp(Call(make_list), loc)

    def append() -> None:
        b.emit(Effect(Call(Method("append"), (result, b.atom(node.elt))), loc))

    _over(b, node, append, None)
    return result


def dict_comprehension(b: Builder, node: Node) -> Rhs:
    """`{k: e for x in xs if c}`."""
    loc = b.loc(node)
    result = b.temp(Call(make_dict), loc)

    def put() -> None:
        key, value = b.operands((node.key, node.value))
        b.emit(SetItem(result, key, value, None, loc))

    _over(b, node, put, None)
    return result


def search(b: Builder, node: Node, wanted: bool) -> Rhs:
    """`any(...)` (`wanted` true) or `all(...)` of a generator: a loop that stops early."""
    loc = b.loc(node)
    found = b.temp(Const(False), loc, "_stop")

    def test() -> None:
        value = b.atom(node.elt)
        hit = (Assign(found, Const(True), loc),)
        b.emit(If(value, hit, (), loc) if wanted else If(value, (), hit, loc))

    _over(b, node, test, found)
    return found if wanted else Call(operator.not_, (found,))


def _over(b: Builder, node: Node, body: Callable[[], None], stop: Name | None) -> None:
    """The loops of a comprehension around a body, in a scope of their own."""
    saved = b.scope
    start = len(b.out)
    try:
        _generator(b, node, 0, body, stop)
        own = {v.id for n, v in b.scope.items() if v is not saved.get(n) and isinstance(v, Name)}
    finally:
        b.scope = saved
    b.out[start:] = settled(tuple(b.out[start:]), frozenset(own), b.fresh)


def _generator(
    b: Builder, node: Node, i: int, body: Callable[[], None], stop: Name | None
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

    loops.loop_over(b, part.target, items, inside, stop, b.loc(node))


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
    b.emit(If(test, block, (), b.loc(tests[0])))


def generator(b: Builder, node: Node) -> Rhs:
    """A generator expression: a list, where the call that it is in uses it up at once."""
    if id(node) not in b.eager:
        b.refuse(
            node, "a generator expression is not supported here",
            "Make a list: put it into square brackets.",
        )  # fmt: skip
    return list_comprehension(b, node)


TABLE: Table = {
    "ListComp": list_comprehension,
    "DictComp": dict_comprehension,
    "GeneratorExp": generator,
}
