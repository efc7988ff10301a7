"""Nodes of a syntax tree that are made in the place of others, with their locations."""

from __future__ import annotations

from typing import Any

import gast

Node = Any


def at(new: Node, node: Node) -> Node:
    """A new node at the place of another."""
    return gast.copy_location(new, node)


def instead(new: Node, node: Node) -> Node:
    """A new node at the place of another, whose text is not that of the source."""
    new.in_place_of = type(node).__name__
    return at(new, node)


def read(name: str, node: Node) -> Node:
    """A name that is read."""
    return at(gast.Name(name, gast.Load(), None, None), node)


def assigned(name: str, value: Node) -> Node:
    """`name = value`."""
    target = at(gast.Name(name, gast.Store(), None, None), value)
    return at(gast.Assign([target], value, None), value)
