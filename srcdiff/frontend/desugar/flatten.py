"""Statements that are others in disguise: `with np.errstate(...)`, `match`, `try`.

Takes the tree of a function and returns it with `errors = np.seterr(...)` before the body of such a
`with` and `np.seterr(**errors)` behind it, and with `match` as `if` and `elif`.  `with
srcdiff.no_grad():` becomes `if srcdiff.no_grad():` (see `normalize.no_grad`).  What cannot be
written so stays, and is refused where it is lowered.

`try: ... except LinAlgError: ...` becomes a question before each call that may raise it: `if
succeeds(np.linalg.cholesky, K):` around the call and all that follows it in the body, with the
handler behind `else`.  Calls of linear algebra run twice so, and nothing else does.  It stays where
a call might raise the error out of sight (one of another function), where it stands in a condition
of its own, or where the handler looks at the error.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcdiff.frontend.scopes import (
    COMPREHENSIONS,
    assigned,
    at,
    children,
    meaning,
    read,
    scan_function,
)
from srcdiff.frontend.source.parse import Namespace, Source
from srcdiff.ir.frozen import frozen, replace
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


@frozen
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
    later = _ReplaceNode(call, read(result, call)).visit(copy.copy(first))
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


class _ReplaceNode(gast.NodeTransformer):  # type: ignore[misc]
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


# --- statements that are others in disguise: `with np.errstate(...)`, `match`, `try` -------------


_BLOCKS = ("body", "orelse")
_DISGUISED = ("With", "Match", "Try")
_JUMPS = ("Return", "Break", "Continue")


def flattened(source: Source) -> Source:
    """A function without such statements."""
    tree = source.tree
    loops = _may_checkpoint(source.function.__code__, source.namespace)
    if not loops and not any(type(n).__name__ in _DISGUISED for n in _statements(tree)):
        return source
    scan = scan_function(tree)
    work = _Flatten(source, set(scan.bound), set(scan.identifiers))
    tree = work.inside(tree)
    cells = {**source.namespace.cells, **{n: types.CellType(v) for n, v in work.made.items()}}
    return replace(source, tree=tree, namespace=replace(source.namespace, cells=cells))


def _may_checkpoint(code: types.CodeType, space: Namespace) -> bool:
    """Whether a function may read `checkpointed`, by any name or as an attribute."""
    names = {*code.co_names, *code.co_freevars}
    held = (one.get(n) for n in names for one in (space.globals, space.bound))
    if "checkpointed" in names or any(op_named(v) is Op.CHECKPOINTED for v in held):
        return True
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return any(_may_checkpoint(c, space) for c in inner)


def _statements(node: Node) -> list[Node]:
    """A node with everything inside of it."""
    found, todo = [], [node]
    while todo:
        found.append(todo.pop())
        todo.extend(children(found[-1]))
    return found


class _Flatten:
    """The walk over blocks of statements."""

    def __init__(self, source: Source, local: set[str], taken: set[str]) -> None:
        self.source = source
        self.local = local
        self.taken = taken
        self.made: dict[str, Any] = {}  # what new names mean
        self.function = source.tree  # that which the walk is in

    def inside(self, node: Node) -> Node:
        """A statement with its blocks flattened."""
        if type(node).__name__ == "FunctionDef" and node is not self.function:
            return self.nested(node)
        new = copy.copy(node)
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(new, name, [s for stmt in block for s in self.stmt(stmt)])
        return new

    def nested(self, node: Node) -> Node:
        """A function in this one, with names of its own."""
        saved = self.function, self.local
        self.function, self.local = node, self.local | {*scan_function(node).bound}
        new = self.inside(node)
        self.function, self.local = saved
        return new

    def stmt(self, node: Node) -> list[Node]:
        """What stands for one statement."""
        kind = type(node).__name__
        if kind == "With":
            if len(node.items) > 1:
                return self.stmt(_one_by_one(node))
            if self.is_mode(node.items[0]):
                test = node.items[0].context_expr
                return [at(gast.If(test, self.inside(node).body, []), node)]
            call = self.error_state(node)
            found = None if call is None else self.with_errors(self.inside(node).body, call)
            return [node] if found is None else found
        if kind == "Match":
            return self.matched(node)
        if kind == "Try":
            found = self.attempted(node)
            return [node] if found is None else found
        if kind == "For" and op_named(self.known(node.iter)) is Op.CHECKPOINTED:
            return self.steps(node)
        return [self.inside(node)] if isinstance(getattr(node, "body", None), list) else [node]

    def name(self, base: str) -> str:
        """A name that the function does not use."""
        number, name = 0, base
        while name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name

    # --- srcdiff.no_grad ---

    def is_mode(self, item: Node) -> bool:
        """Whether `with` gets a call of `no_grad` or its like."""
        found = self.known(item.context_expr)
        return not item.optional_vars and op_named(found) in MODES

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

        others = copy.copy(self.function)
        others.body = [*_without(others.body, node), *node.orelse]
        scan = scan_function(others)
        counter = reads_counter(others.body, getattr(node.target, "id", ""))
        later = bound_later(others, node)
        anew = frozenset(assigned_anew(self.function.body, node, later))
        bound, local = frozenset(scan.bound) - later, frozenset(self.local)
        loop = Loop(node, self.source, local, scan.identifiers, bound, anew, counter)
        found, made = written_as_call(loop, self.name)
        self.made.update(made)
        return [self.inside(s) for s in found]

    # --- try ---

    def attempted(self, node: Node) -> list[Node] | None:
        """`try` with questions in its place."""
        flat = copy.copy(node)
        for part in ("body", "orelse"):
            setattr(flat, part, [s for stmt in getattr(node, part) for s in self.stmt(stmt)])
        flat.handlers = [self.inside(h) for h in node.handlers]
        return guarded(flat, Names(self.meaning, self.name, self.helper))

    def helper(self) -> str:
        """The name of `succeeds` in this function."""
        made = {id(value): name for name, value in self.made.items()}
        name = made.get(id(succeeds)) or self.name("succeeds")
        self.made[name] = succeeds
        return name

    # --- np.errstate ---

    def error_state(self, node: Node) -> Node | None:
        """The call in `with np.errstate(...):`, None for any other context."""
        item = node.items[0]
        call = item.context_expr
        if len(node.items) != 1 or item.optional_vars is not None:
            return None
        func: Node = getattr(call, "func", None)
        base: Node = getattr(func, "value", None)
        plain = type(call).__name__ == "Call" and type(base).__name__ == "Name"
        if not plain or call.args or func.attr != "errstate":
            return None
        return call if self.meaning(base) is np else None

    def with_errors(self, body: list[Node], call: Node) -> list[Node] | None:
        """The body of a `with` between two settings; None where something jumps out of it."""
        last = body[-1] if type(body[-1]).__name__ == "Return" else None
        rest = body[:-1] if last is not None else body
        if any(type(n).__name__ in _JUMPS for s in rest for n in _own(s)):
            return None
        errors = self.name("errors")
        start = assigned(errors, _seterr(call, call.keywords))
        keywords = [gast.keyword(None, read(errors, call))]
        end = gast.copy_location(gast.Expr(_seterr(call, keywords)), call)
        if last is None or last.value is None:
            return [start, *rest, end, *([] if last is None else [last])]
        result = self.name("result")
        returned = copy.copy(last)
        returned.value = read(result, last)
        return [start, *rest, assigned(result, last.value), end, returned]

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
                test = _both(test, _ReplaceNames(names).visit(copy.deepcopy(case.guard)))
            body = [*(assigned(n, v) for n, v in names.items()), *body]
            orelse = body if test is None else [at(gast.If(test, body, orelse), case.pattern)]
        return [*first, *orelse]


def _without(nodes: list[Node], node: Node) -> list[Node]:
    """Statements without one of them, wherever it stands."""
    found = []
    for old in nodes:
        if old is not node:
            new = copy.copy(old)
            for name in _BLOCKS:
                if isinstance(getattr(new, name, None), list):
                    setattr(new, name, _without(getattr(new, name), node))
            found.append(new)
    return found


def _one_by_one(node: Node) -> Node:
    """`with a, b:` as `with a:` around `with b:`."""
    inner = copy.copy(node)
    outer = copy.copy(node)
    inner.items, outer.items = node.items[1:], node.items[:1]
    outer.body = [inner]
    return outer


def _own(node: Node) -> list[Node]:
    """A statement with what is inside of it, nested functions excepted."""
    if type(node).__name__ in ("FunctionDef", "Lambda"):
        return []
    return [node, *(n for c in children(node) for n in _own(c))]


def _seterr(call: Node, keywords: list[Node]) -> Node:
    """`np.seterr(...)` in the place of `np.errstate(...)`."""
    func = at(gast.Attribute(call.func.value, "seterr", gast.Load()), call)
    return at(gast.Call(func, [], keywords), call)


class _ReplaceNames(gast.NodeTransformer):  # type: ignore[misc]
    """Names by what they stand for."""

    def __init__(self, names: dict[str, Node]) -> None:
        self.names = names

    def visit_Name(self, node: Node) -> Node:  # noqa: N802
        """A name that a pattern binds."""
        return self.names.get(node.id, node)


Test = tuple["Node | None", dict[str, Node]]


def _both(one: Node | None, two: Node | None) -> Node | None:
    """`one and two`; None is always true."""
    if one is None or two is None:
        return two if one is None else one
    return at(gast.BoolOp(gast.And(), [one, two]), one)


def _tested(pattern: Node, subject: Node) -> Test | None:
    """When a pattern matches (None: always), and what it binds; None where that is not known."""
    test = _PATTERNS.get(type(pattern).__name__)
    return None if test is None else test(pattern, subject)


def _compared(pattern: Node, subject: Node, op: Node, value: Node) -> Test:
    return at(gast.Compare(subject, [op], [value]), pattern), {}


def _value(pattern: Node, subject: Node) -> Test | None:
    return _compared(pattern, subject, gast.Eq(), pattern.value)


def _singleton(pattern: Node, subject: Node) -> Test | None:
    value = at(gast.Constant(pattern.value, None), pattern)
    return _compared(pattern, subject, gast.Is(), value)


def _any_of(pattern: Node, subject: Node) -> Test | None:
    """`1 | 2`, of patterns that bind nothing."""
    found = [_tested(p, subject) for p in pattern.patterns]
    tests = [f[0] for f in found if f is not None and not f[1]]
    if len(tests) != len(found):
        return None
    if any(t is None for t in tests):
        return None, {}
    return at(gast.BoolOp(gast.Or(), tests), pattern), {}


def _as(pattern: Node, subject: Node) -> Test | None:
    """`_`, `name`, `pattern as name`."""
    inner: Test | None = (None, {})
    if pattern.pattern is not None:
        inner = _tested(pattern.pattern, subject)
    if inner is None or pattern.name is None:
        return inner
    return inner[0], {**inner[1], pattern.name: subject}


_PATTERNS: dict[str, Callable[[Node, Node], Test | None]] = {
    "MatchValue": _value,
    "MatchSingleton": _singleton,
    "MatchOr": _any_of,
    "MatchAs": _as,
}
