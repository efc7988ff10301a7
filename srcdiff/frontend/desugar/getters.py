"""`itemgetter(1)`, `attrgetter("y")` and `methodcaller("sum")` as the lambdas that do the same.

Takes the tree of a function and returns it with `lambda item: item[1]` for a call that makes such a
getter of constants, and for a name from outside that stands for one.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter, methodcaller
from typing import Any

import gast

from srcdiff.frontend.lower.meanings import found, meaning, outside_names
from srcdiff.frontend.lower.nodes import at, instead, read
from srcdiff.frontend.lower.scope import bound_names
from srcdiff.frontend.source.parse import Source

Node = Any
_MAKERS = (itemgetter, attrgetter, methodcaller)
_CONSTANTS = (int, str, float, type(None))
_UNKNOWN = object()


def plain_getters(source: Source) -> Source:
    """A function with lambdas in the place of getters."""
    if not any(_is_meant(source, n) for n in outside_names(source.function.__code__)):
        return source
    tree = copy.deepcopy(source.tree)
    return replace(source, tree=_Plain(source, bound_names(tree)).visit(tree))


def _is_meant(source: Source, name: str) -> bool:
    """Whether a name, or an attribute by that name, is a getter or makes one."""
    value = found(source, name)
    made = type(value) in _MAKERS or any(value is m for m in _MAKERS)
    return made or name in ("itemgetter", "attrgetter", "methodcaller")


class _Plain(gast.NodeTransformer):  # type: ignore[misc]
    """Writes the lambdas."""

    def __init__(self, source: Source, bound: set[str]) -> None:
        self.source = source
        self.bound = bound

    def meaning(self, node: Node) -> Any:
        """What a dotted name from outside means, else None."""
        return meaning(self.source, self.bound, node)

    def visit_Call(self, node: Node) -> Node:  # noqa: N802
        """`itemgetter(1)`."""
        self.generic_visit(node)
        maker = self.meaning(node.func)
        plain = bool(node.args) and not node.keywords
        if not plain or not any(maker is m for m in _MAKERS):
            return node
        args = [_constant(a) for a in node.args]
        return node if _UNKNOWN in args else _lambda(maker, args, node)

    def visit_Name(self, node: Node) -> Node:  # noqa: N802
        """A name from outside."""
        value = self.meaning(node)
        if type(value) not in _MAKERS:
            return node
        maker, args = value.__reduce__()
        plain = maker in _MAKERS and all(isinstance(a, _CONSTANTS) for a in args)
        return _lambda(maker, args, node) if plain else node


def _constant(node: Node) -> Any:
    """The value of a literal, perhaps with a sign."""
    if type(node).__name__ == "Constant":
        return node.value
    negative = type(node).__name__ == "UnaryOp" and type(node.op).__name__ == "USub"
    value = _constant(node.operand) if negative else None
    return -value if isinstance(value, (int, float)) else _UNKNOWN


def _lambda(maker: Any, args: Sequence[Any], node: Node) -> Node:
    """The lambda of a getter."""
    item = at(gast.Name("item", gast.Param(), None, None), node)
    items = [_got(maker, a, args, node) for a in (args[:1] if maker is methodcaller else args)]
    body = items[0] if len(items) == 1 else at(gast.Tuple(items, gast.Load()), node)
    arguments = gast.arguments([item], [], None, [], [], None, [])
    return instead(gast.Lambda(arguments, body), node)


def _got(maker: Any, what: Any, args: Sequence[Any], node: Node) -> Node:
    """What one item, attribute or method of `item` is."""
    item = read("item", node)
    if maker is itemgetter:
        return at(gast.Subscript(item, at(gast.Constant(what, None), node), gast.Load()), node)
    for name in what.split("."):
        item = at(gast.Attribute(item, name, gast.Load()), node)
    if maker is attrgetter:
        return item
    rest = [at(gast.Constant(a, None), node) for a in args[1:]]
    return at(gast.Call(item, rest, []), node)
