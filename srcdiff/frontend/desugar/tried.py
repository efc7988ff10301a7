"""`try: ... except LinAlgError: ...` as a question before each call that may raise it.

Takes the statement; returns `if succeeds(np.linalg.cholesky, K):` around the call and all that
follows it in the body, with the handler behind `else`.  Calls of linear algebra run twice so, and
nothing else does.  None where a call might raise the error out of sight (one of another function),
where it stands in a condition of its own, or where the handler looks at the error.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from srcdiff.frontend.lower.nodes import assigned, at, read
from srcdiff.frontend.lower.scope import COMPREHENSIONS, children

Node = Any
_SIMPLE = ("Assign", "AnnAssign", "AugAssign", "Return", "Expr")
_APART = COMPREHENSIONS | {"IfExp", "BoolOp", "Lambda", "NamedExpr", "FunctionDef"}
_METHODS = (frozenset(dir(np.ndarray)) | {"items", "keys", "values", "get"}) - {
    "fill", "itemset", "partition", "put", "resize", "setfield", "sort",
}  # fmt: skip
_GROW = ("append", "extend")
_RAISE = ("numpy.linalg", "scipy.linalg")
_HARMLESS = ("numpy", "math", "builtins")
_NEVER = ("cho_solve", "lu_solve", "block_diag", "multi_dot")  # of linear algebra, that raise it


@dataclass(frozen=True)
class Names:
    """What expressions of the function mean, and new names."""

    meaning: Callable[[Node], Any]  # of an expression, None if it is not found outside
    fresh: Callable[[str], str]
    helper: Callable[[], str]  # the name of `succeeds`


class _UnclearError(Exception):
    """The statement cannot be written so."""


def guarded(node: Node, names: Names) -> list[Node] | None:
    """What stands for the statement."""
    if len(node.handlers) != 1 or node.finalbody:
        return None
    (handler,) = node.handlers
    error = None if handler.type is None else names.meaning(handler.type)
    if error is not np.linalg.LinAlgError or handler.name is not None:
        return None
    try:
        return _block(node.body, handler.body, node.orelse, names)
    except _UnclearError:
        return None


def _block(
    body: list[Node], handler: list[Node], orelse: list[Node], names: Names
) -> list[Node]:
    """Statements with a question before each call that may raise the error."""
    if not body:
        return orelse
    first, *rest = body
    call = _first_risky(first, names, apart=type(first).__name__ not in _SIMPLE, whole=True)
    if call is None:
        return [first, *_block(rest, handler, orelse, names)]
    before, plain = _with_plain_arguments(call, names)
    result = names.fresh("result")
    later = _Replaced(call, read(result, call)).visit(copy.copy(first))
    inner = [assigned(result, plain), *_block([later, *rest], handler, orelse, names)]
    args = [plain.func, *plain.args]
    test = at(gast.Call(read(names.helper(), call), args, plain.keywords), call)
    return [*before, at(gast.If(test, inner, copy.deepcopy(handler)), first)]


def _first_risky(node: Node, names: Names, apart: bool, whole: bool = False) -> Node | None:
    """The first call that runs which may raise the error.

    `apart`: it need not run at all; `whole`: it is a statement, or all that one does.
    """
    kind = type(node).__name__
    apart = apart or kind in _APART
    for child in children(node):
        found = _first_risky(child, names, apart, whole and kind == "Expr")
        if found is not None:
            return found
    if kind == "Raise":
        raise _UnclearError
    if kind != "Call" or _is_harmless(node, names) or (whole and _grows(node)):
        return None
    starred = any(type(a).__name__ == "Starred" for a in node.args)
    named = all(k.arg is not None and not k.arg.startswith("overwrite") for k in node.keywords)
    module = str(getattr(names.meaning(node.func), "__module__", None) or "")
    if apart or starred or not named or not module.startswith(_RAISE):
        raise _UnclearError
    return node


def _grows(call: Node) -> bool:
    """Whether a call is `xs.append(v)`: what it stores comes after all that may fail."""
    return type(call.func).__name__ == "Attribute" and call.func.attr in _GROW


def _is_harmless(call: Node, names: Names) -> bool:
    """Whether a call cannot raise the error: of NumPy outside of linear algebra, of an array."""
    found = names.meaning(call.func)
    if found is None:
        return type(call.func).__name__ == "Attribute" and call.func.attr in _METHODS
    if isinstance(found, np.ufunc):
        return True
    if getattr(found, "__name__", None) in _NEVER:
        return True
    module = str(getattr(found, "__module__", None) or type(found).__module__)
    return module.split(".")[0] in _HARMLESS and not module.startswith(_RAISE)


def _with_plain_arguments(call: Node, names: Names) -> tuple[list[Node], Node]:
    """The call with names and literals for arguments, and what binds them."""
    before: list[Node] = []

    def plain(value: Node) -> Node:
        if type(value).__name__ in ("Name", "Constant"):
            return value
        name = names.fresh("given")
        before.append(assigned(name, value))
        return read(name, value)

    new = copy.copy(call)
    new.args = [plain(a) for a in call.args]
    new.keywords = [at(gast.keyword(k.arg, plain(k.value)), call) for k in call.keywords]
    return before, new


class _Replaced(gast.NodeTransformer):  # type: ignore[misc]
    """One node by another."""

    def __init__(self, old: Node, new: Node) -> None:
        self.old, self.new = old, new

    def visit(self, node: Node) -> Node:
        """The new node for the old one; what changes is copied."""
        if node is self.old:
            return self.new
        new = copy.copy(node)
        for name, value in gast.iter_fields(node):
            if isinstance(value, list):  # which the walk writes into
                setattr(new, name, list(value))
        return self.generic_visit(new)
