"""Inputs that reach no output, and options that do not reach what is called."""

from __future__ import annotations

from collections.abc import Iterator, Set

from srcdiff import ir
from srcdiff.analysis.activity import Edges, edges, reachable
from srcdiff.analysis.facts import Facts
from srcdiff.errors import UnusedInputError, refused
from srcdiff.frontend.lowering import flows
from srcdiff.frontend.request import Request
from srcdiff.primitives.arguments import spelling
from srcdiff.primitives.operation import Meaning, op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.specialize.inline import is_user_function


def check_used(function: ir.Function, kinds: ir.Kinds, facts: Facts, request: Request) -> None:
    """Refuse an input that no output depends on, with what becomes of it."""
    for item in () if request.allow_unused else request.inputs:
        if (facts.active - facts.unused).isdisjoint(item.params):
            found = edges(function.body, kinds, facts.aliases, flows)
            fate = _fate(frozenset(item.params), function, found)
            fields = {"function": function.name, "param": item.param, "fate": fate}
            raise refused("inputs.unused", function.loc, UnusedInputError, **fields)


_ASKED = (Op.NOT, Op.IS, Op.IS_NOT, Op.BOOL)


_MOST = 3


def _fate(params: frozenset[str], function: ir.Function, found: Edges) -> str:
    """What becomes of an input: `only compared (line 12)`."""
    ends = list(dict.fromkeys(_ends(function.body, reachable(params, found), found)))
    if not ends:
        used = params & ir.used(function.body)
        return "only used for what nobody uses" if used else "not used"
    told = [f"{what} (line {line})" if line else what for what, line in ends[:_MOST]]
    return f"only {' and '.join(told)}{', among others' * (len(ends) > _MOST)}"


def _ends(block: ir.Block, there: frozenset[str], found: Edges) -> Iterator[tuple[str, int]]:
    """(what is done with a value, the line) where no derivative flows on from it."""
    flowing = {(source, id(stmt)) for source, _, stmt in found}
    for stmt in ir.walk(block):
        own = {n for a in ir.operands(stmt) for n in ir.names(a)} & there
        own -= {stmt.base.id} if isinstance(stmt, ir.Store) else set()
        if any((n, id(stmt)) not in flowing for n in own):
            what = _done(stmt, own)
            if what:
                yield what, stmt.loc.line


def _done(stmt: ir.Stmt, own: set[str]) -> str:
    """What a statement does with values whose derivatives end there."""
    if isinstance(stmt, ir.Return):
        return "returned where it is no selected output"
    if isinstance(stmt, ir.Store):
        kept = own & set(ir.names(stmt.value))
        return "stored in what has no derivative" if kept else "used as an index"
    call = ir.call_of(stmt)
    if call is None:
        return "compared" if isinstance(stmt, (ir.If, ir.While)) else ""
    if op_of(call.fn).means(Meaning.COMPARED) or is_op(call, *_ASKED):
        return "compared"
    if is_op(call, Op.STOP_GRADIENT):
        return "held constant"
    if isinstance(call.fn, ir.Attr):
        return f"asked for its `{call.fn.name}`"
    return f"passed to {spelling(call)}"


# --- calls of functions whose derivative `strong_zeros=True` does not reach ----------------------


def check_strong(
    function: ir.Function, active: Set[str], kinds: ir.Kinds, request: Request
) -> None:
    """With `strong_zeros`, refuse calls that differentiate the function that they are given.

    That derivative is generated when they run, as it is without `strong_zeros`.
    """
    if not request.strong_zeros:
        return
    for stmt, call in ir.callers(function):
        known = isinstance(call.fn, ir.Derived) or is_op(call, Op.HOOK)
        if not known and not active.isdisjoint(ir.writes(stmt)) and _is_given_one(call, kinds):
            raise refused("inputs.strong_zeros", stmt.loc, callee=ir.said(call.text or ""))


def _is_given_one(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether a function is among the arguments of a call."""
    given = (*call.args, *(a for _, a in call.kwargs))
    made = any(isinstance(a, ir.Ref) and is_user_function(a.value) for a in given)
    names = (a.id for a in given if isinstance(a, ir.Name))
    return made or any(isinstance(kinds.get(n), ir.Callable) for n in names)
