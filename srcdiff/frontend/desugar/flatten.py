"""Statements that are others in disguise: `with np.errstate(...)`, `match`, `try`.

Takes the tree of a function and returns it with `errors = np.seterr(...)` before the body of such a
`with` and `np.seterr(**errors)` behind it, and with `match` as `if` and `elif`.  `with no_grad():`
becomes `if no_grad():` (see `normalize.no_grad`).  What cannot be written so stays, and is refused
where it is lowered.

`try: ... except LinAlgError: ...` becomes a question before each call that may raise it: `if
succeeds(np.linalg.cholesky, K):` around the call and all that follows it in the body, with the
handler behind `else`.  Calls of linear algebra run twice so, and nothing else does.  It stays where
a call might raise the error out of sight (one of another function), where it stands in a condition
of its own, or where the handler looks at the error.
"""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Set
from typing import Any

import gast
import numpy as np

from srcdiff import ir
from srcdiff.frontend.scopes import (
    COMPREHENSIONS,
    assigned,
    at,
    children,
    expression,
    has_star,
    inside,
    meaning,
    outside_names,
    read,
    replaced,
    scan_function,
    statements,
)
from srcdiff.frontend.source.code_objects import nodes_of
from srcdiff.frontend.source.parse import Namespace, Source
from srcdiff.ir.frozen import replace
from srcdiff.primitives.ops import MODES, Op, op_named
from srcdiff.runtime.contexts import succeeds

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


class _UnclearError(Exception):
    """The statement cannot be written so."""


def guarded(node: Node, work: _Flatten) -> list[Node] | None:
    """`try` with questions in its place."""
    if len(node.handlers) != 1 or node.finalbody:
        return None
    flat, handler = work.inside(node), work.inside(node.handlers[0])
    error = None if handler.type is None else work.meaning(handler.type)
    if error is not np.linalg.LinAlgError or handler.name is not None:
        return None
    try:
        return _block(flat.body, handler.body, flat.orelse, work)
    except _UnclearError:
        return None


def _block(body: list[Node], handler: list[Node], orelse: list[Node], work: _Flatten) -> list[Node]:
    """Statements with a question before each call that may raise the error."""
    if not body:
        return orelse
    first, *rest = body
    call = _first_risky(first, work, apart=type(first).__name__ not in _SIMPLE, whole=True)
    if call is None:
        return [first, *_block(rest, handler, orelse, work)]
    before, plain = _with_plain_arguments(call, work)
    result = work.name("result")
    later = replaced(first, lambda node: read(result, call) if node is call else None)
    inner = [assigned(result, plain), *_block([later, *rest], handler, orelse, work)]
    args = [plain.func, *plain.args]
    test = at(gast.Call(read(work.helper, call), args, plain.keywords), call)
    return [*before, at(gast.If(test, inner, copy.deepcopy(handler)), first)]


def _first_risky(node: Node, work: _Flatten, apart: bool, whole: bool = False) -> Node | None:
    """The first call that runs which may raise the error.

    `apart`: it need not run at all; `whole`: it is a statement, or all that one does.
    """
    kind = type(node).__name__
    apart = apart or kind in _APART
    for child in children(node):
        found = _first_risky(child, work, apart, whole and kind == "Expr")
        if found is not None:
            return found
    if kind == "Raise":
        raise _UnclearError
    if kind != "Call" or _is_harmless(node, work) or (whole and _grows(node)):
        return None
    named = all(k.arg is not None and not k.arg.startswith("overwrite") for k in node.keywords)
    module = str(getattr(work.meaning(node.func), "__module__", None) or "")
    if apart or has_star(node.args) or not named or not module.startswith(_RAISE):
        raise _UnclearError
    return node


def _grows(call: Node) -> bool:
    """Whether a call is `xs.append(v)`: what it stores comes after all that may fail."""
    return type(call.func).__name__ == "Attribute" and call.func.attr in _GROW


def _is_harmless(call: Node, work: _Flatten) -> bool:
    """Whether a call cannot raise the error: of NumPy outside of linear algebra, of an array."""
    found = work.meaning(call.func)
    if found is None:
        return type(call.func).__name__ == "Attribute" and call.func.attr in _METHODS
    if isinstance(found, np.ufunc):
        return True
    if getattr(found, "__name__", None) in _NEVER:
        return True
    module = str(getattr(found, "__module__", None) or type(found).__module__)
    return module.split(".")[0] in _HARMLESS and not module.startswith(_RAISE)


def _with_plain_arguments(call: Node, work: _Flatten) -> tuple[list[Node], Node]:
    """The call with names and literals for arguments, and what binds them."""
    before: list[Node] = []

    def plain(value: Node) -> Node:
        if type(value).__name__ in ("Name", "Constant"):
            return value
        name = work.name("given")
        before.append(assigned(name, value))
        return read(name, value)

    new = copy.copy(call)
    new.args = [plain(a) for a in call.args]
    new.keywords = [at(gast.keyword(k.arg, plain(k.value)), call) for k in call.keywords]
    return before, new


# --- statements that are others in disguise: `with np.errstate(...)`, `match`, `try` -------------


_BLOCKS = ("body", "orelse")
_DISGUISED = frozenset(("With", "Match", "Try"))
_JUMPS = ("Return", "Break", "Continue")


def flattened(source: Source) -> Source:
    """A function without such statements."""
    tree = source.tree
    loops = _may_checkpoint(source.function.__code__, source.namespace)
    if not loops and _DISGUISED.isdisjoint([type(n).__name__ for n in nodes_of(tree)]):
        return source
    work = _Flatten(source, ir.Fresh(scan_function(tree).identifiers))
    tree = work.inside(tree)
    cells = {**source.namespace.cells, **{n: types.CellType(v) for n, v in work.made.items()}}
    return replace(source, tree=tree, namespace=replace(source.namespace, cells=cells))


def _may_checkpoint(code: types.CodeType, space: Namespace) -> bool:
    """Whether a function may read `checkpointed`, by any name or as an attribute."""
    names = outside_names(code)
    held = (one.get(n) for n in names for one in (space.globals, space.bound))
    return "checkpointed" in names or any(op_named(v) is Op.CHECKPOINTED for v in held)


class _Flatten:
    """The walk over blocks of statements."""

    def __init__(self, source: Source, fresh: ir.Fresh) -> None:
        self.source = source
        self.fresh = fresh
        self.made: dict[str, Any] = {}  # what new names mean
        self.function = source.tree  # that which the walk is in
        self.local: Set[str] = frozenset()  # the names of it and of those around it

    def inside(self, node: Node) -> Node:
        """A statement or a function with its blocks flattened."""
        saved, new = (self.function, self.local), copy.copy(node)
        if type(node).__name__ == "FunctionDef":
            self.function, self.local = node, self.local | {*scan_function(node).bound}
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(new, name, [s for stmt in block for s in self.stmt(stmt)])
        self.function, self.local = saved
        return new

    def stmt(self, node: Node) -> list[Node]:
        """What stands for one statement."""
        kind = type(node).__name__
        if kind == "With" and len(node.items) > 1:  # one inside of another
            inner = at(gast.With(node.items[1:], node.body, None), node)
            node = at(gast.With(node.items[:1], [inner], None), node)
        if kind == "With":
            return self.in_context(node, *node.items) or [node]
        if kind == "Match":
            return self.matched(node)
        if kind == "Try":
            return guarded(node, self) or [node]
        if kind == "For" and op_named(self.known(node.iter)) is Op.CHECKPOINTED:
            return self.steps(node)
        return [self.inside(node)] if isinstance(getattr(node, "body", None), list) else [node]

    def name(self, base: str) -> str:
        """A name that the function does not use."""
        return self.fresh(base).id

    def known(self, call: Node) -> Any:
        """The object that an expression calls, if it is found outside of the function."""
        return self.meaning(getattr(call, "func", None))

    def meaning(self, root: Node) -> Any:
        """The object that a name or attribute stands for, if it is found outside."""
        return meaning(self.source, self.local, root)

    # --- srcdiff.checkpointed ---

    def steps(self, node: Node) -> list[Node]:
        """A loop whose states are kept in slots."""
        from srcdiff.frontend.desugar.checkpoint_loops import (
            Loop,
            assigned_anew,
            bound_later,
            reads_counter,
            written_as_call,
        )

        others = replaced(self.function, lambda n: node.orelse if n is node else None)
        scan = scan_function(others)
        counter = reads_counter(others.body, getattr(node.target, "id", ""))
        later = bound_later(others, node)
        anew = frozenset(assigned_anew(self.function.body, node, later))
        bound, local = frozenset(scan.bound) - later, frozenset(self.local)
        loop = Loop(node, self.source, local, scan.identifiers, bound, anew, counter)
        found, made = written_as_call(loop, self.name)
        self.made.update(made)
        return [self.inside(s) for s in found]

    @functools.cached_property
    def helper(self) -> str:
        """The name of `succeeds` in this function."""
        name = self.name("succeeds")
        self.made[name] = succeeds
        return name

    # --- srcdiff.autograd.no_grad, np.errstate ---

    def in_context(self, node: Node, item: Node) -> list[Node] | None:
        """The body of a `with` in one of these contexts, None for any other."""
        call, context = item.context_expr, self.known(item.context_expr)
        if item.optional_vars is not None:
            return None
        if op_named(context) in MODES:
            return [at(gast.If(call, self.inside(node).body, []), node)]
        dotted = context is np.errstate and type(call.func).__name__ == "Attribute"
        return self.with_errors(self.inside(node).body, call) if dotted and not call.args else None

    def with_errors(self, body: list[Node], call: Node) -> list[Node] | None:
        """The body of a `with` between two settings; None where something jumps out of it."""
        last = body[-1] if type(body[-1]).__name__ == "Return" else None
        rest = body[:-1] if last is not None else body
        if any(type(n).__name__ in _JUMPS for n in inside(rest)):
            return None
        text = "errors = np.seterr()\nnp.seterr(**errors)"
        start, end = statements(text, call, errors=self.name("errors"), np=call.func.value)
        start.value.keywords = call.keywords
        if last is None or last.value is None:
            return [start, *rest, end, *([] if last is None else [last])]
        names = {"result": self.name("result"), "value": last.value}
        first, last = statements("result = value\nreturn result", last, **names)
        return [start, *rest, first, end, last]

    # --- match ---

    def matched(self, node: Node) -> list[Node]:
        """`match` as `if` and `elif`; itself where a pattern is of another sort."""
        subject, first = node.subject, []
        if type(subject).__name__ != "Name":
            name = self.name("subject")
            first = [assigned(name, subject)]
            subject = read(name, subject)
        orelse: list[Node] = []
        for case in reversed(node.cases):
            body = [s for stmt in case.body for s in self.stmt(stmt)]
            found = _tested(case.pattern, subject)
            if found is None:
                return [node]
            test, names = found
            if case.guard is not None:
                guard = _with_names(case.guard, names)
                test = guard if test is None else at(gast.BoolOp(gast.And(), [test, guard]), test)
            body = [*(assigned(n, v) for n, v in names.items()), *body]
            orelse = body if test is None else [at(gast.If(test, body, orelse), case.pattern)]
        return [*first, *orelse]


def _with_names(guard: Node, names: dict[str, Node]) -> Node:
    """A condition that reads what the names of a pattern stand for."""
    return replaced(guard, lambda n: names.get(n.id) if type(n).__name__ == "Name" else None)


Test = tuple["Node | None", dict[str, Node]]


def _tested(pattern: Node, subject: Node) -> Test | None:
    """When a pattern matches (None: always), and what it binds; None where that is not known."""
    kind = type(pattern).__name__
    if kind == "MatchValue":
        return expression("x == y", pattern, x=subject, y=pattern.value), {}
    if kind == "MatchSingleton":
        return expression(f"x is {pattern.value}", pattern, x=subject), {}
    if kind == "MatchOr":
        found = [_tested(p, subject) for p in pattern.patterns]
        if any(f is None or f[1] for f in found):  # of patterns that bind nothing
            return None
        tests = [f[0] for f in found if f is not None]
        return None if None in tests else at(gast.BoolOp(gast.Or(), tests), pattern), {}
    if kind == "MatchAs":  # `_`, `name`, `pattern as name`
        inner = (None, {}) if pattern.pattern is None else _tested(pattern.pattern, subject)
        if inner is None or pattern.name is None:
            return inner
        return inner[0], {**inner[1], pattern.name: subject}
    return None
