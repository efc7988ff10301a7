"""`hasattr(np, "trapezoid")` as what it is here: the branch that names what is not there goes.

Takes the tree of a function and returns it with `True` or `False` for questions whether a module
has an attribute, and with the branch that is taken for conditions that ask nothing else.  The
invariant: a module is asked by a name that the function does not bind, and by no other expression.
"""

from __future__ import annotations

import builtins
import copy
import types
from collections.abc import Set
from dataclasses import replace
from typing import Any

import gast

from srcdiff.frontend.lower.meanings import meaning, outside_names
from srcdiff.frontend.lower.nodes import at, instead
from srcdiff.frontend.lower.scope import bound_names
from srcdiff.frontend.source.parse import Source

Node = Any


def present_attributes(source: Source) -> Source:
    """A function without questions whether a module has an attribute."""
    if "hasattr" not in outside_names(source.function.__code__):
        return source
    tree = copy.deepcopy(source.tree)
    return replace(source, tree=_Settled(source, bound_names(tree)).visit(tree))


class _Settled(gast.NodeTransformer):  # type: ignore[misc]
    """Writes what is known for the questions."""

    def __init__(self, source: Source, bound: Set[str]) -> None:
        self.source = source
        self.bound = bound

    def meaning(self, node: Node) -> Any:
        """What a dotted name means, None if it is no such name."""
        return meaning(self.source, self.bound, node)

    def visit_Call(self, node: Node) -> Node:  # noqa: N802
        """`hasattr(module, "name")`."""
        self.generic_visit(node)
        if len(node.args) != 2 or node.keywords or self.meaning(node.func) is not builtins.hasattr:
            return node
        module, name = self.meaning(node.args[0]), getattr(node.args[1], "value", None)
        if not isinstance(module, types.ModuleType) or not isinstance(name, str):
            return node
        return instead(gast.Constant(hasattr(module, name), None), node)

    def visit_UnaryOp(self, node: Node) -> Node:  # noqa: N802
        """`not hasattr(module, "name")`."""
        self.generic_visit(node)
        known = _known(node.operand) if type(node.op).__name__ == "Not" else None
        return node if known is None else instead(gast.Constant(not known, None), node)

    def visit_If(self, node: Node) -> Any:  # noqa: N802
        """The branch that is taken."""
        asked = not _is_constant(node.test)
        node.test = self.visit(node.test)
        known = _known(node.test) if asked else None
        if known is None:
            return self.generic_visit(node)
        found = [self.visit(s) for s in (node.body if known else node.orelse)]
        flat = [s for one in found for s in (one if isinstance(one, list) else [one])]
        return flat or at(gast.Pass(), node)

    def visit_IfExp(self, node: Node) -> Node:  # noqa: N802
        """The value that is taken."""
        asked = not _is_constant(node.test)
        node.test = self.visit(node.test)
        known = _known(node.test) if asked else None
        if known is None:
            return self.generic_visit(node)
        taken = self.visit(node.body if known else node.orelse)
        return instead(taken, taken)


def _is_constant(node: Node) -> bool:
    """Whether a condition is a literal in the text: it stays as it was written."""
    return type(node).__name__ == "Constant"


def _known(node: Node) -> bool | None:
    """The truth of a condition that is known."""
    value = node.value if _is_constant(node) else None
    return value if isinstance(value, bool) else None
