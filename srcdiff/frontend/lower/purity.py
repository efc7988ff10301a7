"""What must have no effect: expressions that are kept as text.

What they call must have no effect that anybody could miss.  An item of an f-string or of a set, and
what `assert` asks, is computed by a statement before where that is not known of it.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import gast
import numpy as np

from srcdiff.frontend.lower.builder import Builder, LocalFunction, Node
from srcdiff.frontend.scopes import at, scan_nodes
from srcdiff.ir import Name
from srcdiff.primitives.effects import is_pure
from srcdiff.primitives.operation import MUTATORS, PURE_METHODS

_CHANGES = MUTATORS | {"__setitem__", "__delitem__", "__iadd__", "__imul__", "__ior__"}
_DRAWS = frozenset(n for c in (np.random.Generator, np.random.RandomState) for n in dir(c))


def changes_nothing(fn: FunctionType, depth: int = 3) -> bool:
    """Whether the code of a function outside stores nothing but local variables, as it seems.

    No operator in it is in place: what that changes might have come from outside.
    """
    code = fn.__code__
    names = {*code.co_names}
    if names & _CHANGES or names & (_DRAWS - PURE_METHODS - MUTATORS) or "out" in code.co_consts:
        return False
    import dis

    found = list(dis.get_instructions(code))
    if any(i.opname.startswith(_STORES) or _is_in_place(i) for i in found):
        return False
    used = (fn.__globals__.get(n) for n in names)
    inner = (f for f in used if isinstance(f, FunctionType) and f is not fn)
    return depth > 0 and all(changes_nothing(f, depth - 1) for f in inner)


_STORES = (
    "STORE_SUBSCR", "STORE_ATTR", "STORE_GLOBAL", "STORE_DEREF", "STORE_SLICE", "DELETE_SUBSCR",
    "INPLACE_",
)  # fmt: skip


def _is_in_place(op: Any) -> bool:
    """Whether an instruction is an operator in place, as Python 3.11 and later have it."""
    return bool(op.opname == "BINARY_OP" and op.argrepr.endswith("="))


def check_text(b: Builder, node: Node) -> None:
    """Refuse effects in an expression that is kept as text.

    Raises:
        UnsupportedError: something is called of which it is not known that it changes nothing.
    """
    if not is_quiet(b, node):
        b.refuse(
            node,
            "a call that may change something stands in an expression that is kept as it is",
            "Assign what it gives to a name on a line of its own before.",
        )


def is_quiet(b: Builder, node: Node) -> bool:
    """Whether an expression only computes something."""
    free = {*scan_nodes([node]).free}
    calls = (n for n in gast.walk(node) if type(n).__name__ == "Call")
    if type(node).__name__ == "Lambda":
        return not any(_hands_on(b, c, free) for c in calls)
    return all(_changes_nothing(b, c, free) for c in calls)


def _hands_on(b: Builder, call: Node, free: set[str]) -> bool:
    """Whether a lambda gives a variable from around it to a function that may change it.

    What it changes itself, and what it is given, is seen where it is used.
    """
    known = b.static(call.func) if getattr(call.func, "id", None) in free else None
    if known is None or not isinstance(known.value, FunctionType):
        return False
    given = scan_nodes([*call.args, *(k.value for k in call.keywords)]).free
    held = any(isinstance(b.scope.get(n), Name) for n in given if n in free)
    return held and not _changes_nothing(b, call, free)


def _changes_nothing(b: Builder, call: Node, free: set[str]) -> bool:
    """Whether a call certainly changes nothing."""
    if any(k.arg in ("out", None) for k in call.keywords):
        return False
    root = call.func
    while type(root).__name__ == "Attribute":
        root = root.value
    outside = type(root).__name__ == "Name" and root.id in free
    known = b.static(call.func) if outside else None
    if known is not None:
        plain = isinstance(known.value, FunctionType) and not is_pure(known.value)
        return changes_nothing(known.value) if plain else is_pure(known.value)
    return getattr(call.func, "attr", "") in PURE_METHODS


def held(b: Builder, node: Node) -> Node:
    """An expression, or the name that takes its value before."""
    if is_quiet(b, node) and not _calls_inner(b, node):
        return node
    return b.taken(node)


def _calls_inner(b: Builder, node: Node) -> bool:
    """Whether an expression names a nested function, which its text could not."""
    return any(isinstance(b.scope.get(n), LocalFunction) for n in scan_nodes([node]).free)


def with_held_items(b: Builder, node: Node) -> Node:
    """An f-string or a set whose items have no effects."""
    name = "values" if type(node).__name__ == "JoinedStr" else "elts"
    items = getattr(node, name)
    new = [_item(b, item) for item in items]
    if all(one is other for one, other in zip(new, items, strict=True)):
        return node
    return b.new(at(type(node)(new), node))


def _item(b: Builder, node: Node) -> Node:
    """One item of a set, or one part of an f-string."""
    if type(node).__name__ == "Constant":
        return node
    if type(node).__name__ != "FormattedValue":
        return held(b, node)
    value = held(b, node.value)
    if value is node.value:
        return node
    return at(gast.FormattedValue(value, node.conversion, node.format_spec), node)
