"""What the names of a function that come from outside stand for."""

from __future__ import annotations

import types
from collections.abc import Set
from typing import Any

from srcdiff.frontend.source.parse import EmptyCellError, Source

Node = Any


def outside_names(code: types.CodeType) -> set[str]:
    """The names from outside in a function and those inside it, attributes included."""
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return {*code.co_names, *code.co_freevars}.union(*map(outside_names, inner))


def found(source: Source, name: str) -> Any:
    """The object of a name from outside, None if there is none."""
    try:
        return source.namespace.resolve(name)
    except (NameError, EmptyCellError):
        return None


def meaning(source: Source, bound: Set[str], node: Node) -> Any:
    """The object of a dotted name that a function does not bind, else None.

    An attribute is looked up in modules and classes alone: others run code.
    """
    if type(node).__name__ == "Attribute":
        base = meaning(source, bound, node.value)
        plain = isinstance(base, (types.ModuleType, type))
        return getattr(base, node.attr, None) if plain else None
    if type(node).__name__ != "Name" or node.id in bound:
        return None
    return found(source, node.id)
