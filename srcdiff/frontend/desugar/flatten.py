"""Statements that are others in disguise: `with np.errstate(...)`, `match`, `try`.

Takes the tree of a function and returns it with `errors = np.seterr(...)` before the body of such a
`with` and `np.seterr(**errors)` behind it, and with `match` as `if` and `elif`.  `with no_grad():`
becomes `if no_grad():` (see `normalize.no_grad`).  What cannot be written so stays, and is refused
where it is lowered.

`try: ... except LinAlgError: ...` becomes a question before each call that may raise it: `if
succeeds(np.linalg.cholesky, K):` around the call and all that follows it in the body, with the
handler behind `else`.  Calls of linear algebra run twice so, and nothing else does.  It stays where
a call might raise the error out of sight (one of another function), where it stands in a condition
of its own, or where the handler looks at the error.  A `try` whose handlers raise, and do nothing
else, is its body: what fails there fails with the error itself.

`for i in srcdiff.checkpointed(range(n), slots=k)` becomes `held = Slots(range(n), k); a, b =
run_steps(step, held, 2, a, b, x)`, where `step`, a function made of the body, takes and returns the
variables that the body changes, and takes those that it reads.  `continue` is a return of the step.
Where `break` or `return` would leave the loop, the step raises an exception of its own and counts
as not begun: behind the call stands a plain loop over the steps from that one on, with the original
body.  So what ends the loop is differentiated in the function itself, and a step that is run
backwards never raises.
"""

from __future__ import annotations

import copy
import functools
import types
import zlib
from collections.abc import Mapping, Set
from typing import Any

import gast
import numpy as np

from srcdiff import ir, texts
from srcdiff.errors import UnsupportedError
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
    parameters,
    read,
    replaced,
    replaced_all,
    scan_function,
    scan_nodes,
    statements,
)
from srcdiff.frontend.source.locate import nodes_of
from srcdiff.frontend.source.parse import Namespace, Source
from srcdiff.ir.frozen import frozen, replace
from srcdiff.primitives.ops import MODES, Op, op_named
from srcdiff.runtime.checkpoint import Slots, has_run, remaining, run_steps
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
    """`try` with questions in its place, or with nothing where an error stays one."""
    if _stays_error(node, work):
        return [*work.inside(node).body, *work.inside(node).orelse]
    if len(node.handlers) != 1 or node.finalbody or _hides_errors(node.body, work):
        return None
    flat, handler = work.inside(node), work.inside(node.handlers[0])
    error = None if handler.type is None else work.meaning(handler.type)
    if error is not np.linalg.LinAlgError or handler.name is not None:
        return None
    try:
        return _block(flat.body, handler.body, flat.orelse, work)
    except _UnclearError:
        return None


def _stays_error(node: Node, work: _Flatten) -> bool:
    """Whether all that a `try` does with errors is to raise them, or others in their place."""
    return not node.finalbody and all(_raises(h.body, work) for h in node.handlers)


def _raises(body: list[Node], work: _Flatten) -> bool:
    """Whether a handler writes a message and raises."""
    *before, last = body
    calls = (n for s in before for n in inside([s]) if type(n).__name__ == "Call")
    plain = all(type(s).__name__ == "Assign" for s in before) and all(
        _is_harmless(c, work) or type(getattr(c.func, "value", None)).__name__ == "Constant"
        for c in calls
    )
    return type(last).__name__ == "Raise" and plain


def _hides_errors(body: list[Node], work: _Flatten) -> bool:
    """Whether something in a body makes another error of one, which handlers around it look for."""
    return any(type(n).__name__ == "Try" and _stays_error(n, work) for n in inside(body))


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
        others = replaced(self.function, lambda n: node.orelse if n is node else None)
        scan = scan_function(others)
        counter = reads_counter(others.body, getattr(node.target, "id", ""))
        bound = frozenset(scan.bound) - bound_later(others, node)
        loop = Loop(node, self.source, frozenset(self.local), scan.identifiers, bound, counter)
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


# --- loops over `checkpointed` -------------------------------------------------------------------


_STOPS = ("Break", "Return")


@frozen
class Loop:
    """A loop over `checkpointed`, in a function with some local names."""

    node: Node
    source: Source
    local: frozenset[str]
    outside: frozenset[str]  # what the function binds or reads outside of the loop
    bound: frozenset[str]  # what has a value before it
    counter_after: bool  # whether its counter is read there

    def refuse(self, node: Node, what: str, remedy: str) -> UnsupportedError:
        """The refusal of something in the loop."""
        loc = self.source.loc(node)
        reason = f"{what} in a loop over `checkpointed`"
        return UnsupportedError(reason, loc, remedy, self.source.line(loc.line))

    def check(self) -> None:
        """Refuse what a body that becomes a function cannot do."""
        if type(self.node.target).__name__ != "Name":
            raise self.refuse(self.node, "several targets", "Its items are numbers: use one name.")
        for node in inside(self.node.body):
            kind = type(node).__name__
            if kind == "Expr" and type(node.value).__name__ == "Call":
                raise self.refuse(
                    node, "a call for its effect is not supported",
                    "Assign new values to variables, or store into arrays.",
                )  # fmt: skip
            stores = kind == "Attribute" and type(node.ctx).__name__ == "Store"
            if stores or kind in ("Global", "Nonlocal", "Delete"):
                raise self.refuse(node, "this statement is not supported", "Use local variables.")

    def names(self) -> tuple[list[str], list[str]]:
        """The variables that the body changes, and those that it only reads."""
        scan = scan_nodes(self.node.body)
        changed = {*scan.bound, *_stored(self.node.body)} - {self.node.target.id}
        reads = {*scan.loaded, *scan.called} & self.local
        carried = sorted(n for n in changed if n in self.outside)
        rest = sorted(reads - changed - {self.node.target.id})
        for name in carried:
            if name not in self.bound:
                raise self.refuse(
                    self.node, f"`{name}` has no value before it is assigned",
                    "Assign it before the loop.",
                )  # fmt: skip
        return carried, rest

    def step(self, carried: list[str], rest: list[str], stop: str) -> tuple[Any, bool]:
        """The body as a Python function, and whether it may stop the loop."""
        name = f"{self.source.name}_step"
        values = "".join(f"{n}, " for n in carried)
        params = ", ".join([self.node.target.id, *carried, *rest])
        ends = {"Continue": f"return ({values})", **dict.fromkeys(_STOPS, f"raise {stop}")}
        stmts, jumps = _as_step(self.node.body, ends)
        if _never_ends(stmts) and "Continue" not in jumps:
            raise self.refuse(
                self.node, "no step comes to its end", "Nothing is repeated: write no loop."
            )
        body = "\n".join(str(gast.unparse(s)).strip("\n") for s in stmts)
        lines = [*body.split("\n"), f"return ({values})"]
        text = f"def {name}({params}):\n" + "".join(f"    {line}\n" for line in lines)
        file = f"<{name} {zlib.crc32(text.encode()):08x}>"
        texts.show(file, text)
        space = self.source.namespace
        cells = {n: space.resolve(n) for n in space.cells}
        namespace = {**space.globals, **cells, **space.bound}
        exec(compile(text, file, "exec"), namespace)
        step = namespace[name]
        step.__srcdiff_loop__ = self.source.loc(self.node)
        stops = not jumps.isdisjoint(_STOPS)
        if stops:
            step.__srcdiff_stop__ = namespace[stop] = type(stop, (Exception,), {})
        return step, stops


def _as_step(nodes: list[Node], ends: Mapping[str, str]) -> tuple[list[Node], set[str]]:
    """The body of a loop with what `ends` a step for the jumps out of it, and which there are."""
    found: set[str] = set()

    def inside_of(nodes: list[Node], inner: bool) -> list[Node]:
        def one(node: Node) -> Any:
            kind = type(node).__name__
            if kind in ("For", "While"):
                new = copy.copy(node)
                new.body, new.orelse = inside_of(node.body, True), inside_of(node.orelse, inner)
                return new
            if kind == "Return" or (kind in ("Break", "Continue") and not inner):
                found.add(kind)
                return statements(ends[kind], node)
            return node if kind in ("FunctionDef", "Lambda", "ClassDef") else None

        return replaced_all(nodes, one)

    return inside_of(nodes, False), found


def _never_ends(nodes: list[Node]) -> bool:
    """Whether statements always raise, but for those that return."""
    return any(
        type(n).__name__ == "Raise"
        or (type(n).__name__ == "If" and _never_ends(n.body) and _never_ends(n.orelse))
        for n in nodes
    )


def reads_counter(nodes: list[Node], name: str) -> bool:
    """Whether statements read the counter of a loop, other loops over that name excepted."""
    for node in nodes:
        kind = type(node).__name__
        if kind == "Name" and node.id == name and type(node.ctx).__name__ == "Load":
            return True
        own = kind == "For" and getattr(node.target, "id", None) == name
        if reads_counter([node.iter, *node.orelse] if own else list(children(node)), name):
            return True
    return False


def bound_later(function: Node, loop: Node) -> set[str]:
    """The variables of a function that are assigned behind a loop alone."""
    places: dict[str, set[bool]] = {n: {False} for n in parameters(function.args)}
    for node in inside(function.body):
        if type(node).__name__ == "Name" and type(node.ctx).__name__ == "Store":
            behind = (node.lineno, node.col_offset) > (loop.lineno, loop.col_offset)
            places.setdefault(node.id, set()).add(behind)
    return {name for name, found in places.items() if False not in found}


def _stored(nodes: list[Node]) -> set[str]:
    """The variables that some statements store into."""
    found = set()
    for node in inside(nodes):
        if type(node).__name__ == "Subscript" and type(node.ctx).__name__ == "Store":
            while type(node).__name__ in ("Subscript", "Attribute"):
                node = node.value
            found |= {node.id} if type(node).__name__ == "Name" else set()
    return found


def written_as_call(loop: Loop, name: Any) -> tuple[list[Node], dict[str, Any]]:
    """The statements that stand for a loop, and the objects that their new names mean."""
    loop.check()
    node = loop.node
    carried, rest = loop.names()
    if not carried:
        raise loop.refuse(node, "nothing is computed", "Assign variables before the loop.")
    made: dict[str, Any] = {name("Slots"): Slots, name("run_steps"): run_steps}
    slots, run = made
    step, held = name(f"{loop.source.name}_step"), name("held")
    made[step], stops = loop.step(carried, rest, name("Stop"))
    values = ", ".join([step, held, str(len(carried)), *carried, *rest])
    text = f"{held} = {slots}()\n{''.join(f'{n}, ' for n in carried)} = {run}({values})\n"
    if stops or loop.counter_after:
        left, passed, *bounds = map(name, ("remaining", "has_run", "first", "last", "by"))
        made[left] = remaining
        text += f"{', '.join(bounds)} = {left}({held})\n"
    if loop.counter_after:
        made[passed] = has_run
        text += f"if {passed}({held}): {node.target.id} = {bounds[0]} - {bounds[2]}\n"
    if stops:
        text += f"for {node.target.id} in range({', '.join(bounds)}): pass\n"
    found = statements(text, node.iter)
    found[0].value.args, found[0].value.keywords = node.iter.args, node.iter.keywords
    if not stops:
        return [*found, *node.orelse], made
    found[-1].body, found[-1].orelse = node.body, node.orelse
    gast.copy_location(found[-1], node)
    return found, made
