"""`super()` in a method: the object, and the class behind which its members are looked up."""

from __future__ import annotations

import builtins

import gast

from srcdiff.frontend.lower.builder import Builder, Node


def behind(b: Builder, node: Node) -> tuple[Node, type] | None:
    """What `super()` or `super(C, self)` stands for, None for any other expression."""
    if type(node).__name__ != "Call" or node.keywords or type(node.func).__name__ != "Name":
        return None
    known = b.static(node.func)
    if known is None or known.value is not builtins.super:
        return None
    if len(node.args) == 2:
        cls = b.static(node.args[0])
        return (node.args[1], cls.value) if cls and isinstance(cls.value, type) else None
    first = _first_parameter(b)
    if node.args or first is None or "__class__" not in b.source.namespace.cells:
        return None
    return gast.copy_location(first, node), b.source.namespace.resolve("__class__")


def _first_parameter(b: Builder) -> Node | None:
    """The object of the method that is being lowered."""
    bound = list(b.source.bound)
    args = b.source.tree.args
    params = [p.id for p in (*args.posonlyargs, *args.args)]
    names = bound or params[:1]
    return gast.Name(names[0], gast.Load(), None, None) if names else None
