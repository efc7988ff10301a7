"""Calls of functions that only the running program knows: `y, pull = call_vjp(f, (0,), x)`.

`at_run_time` marks them where a derivative may pass through; what they write into cannot be known,
so that `call_vjp` refuses functions that write into their arguments.  `run_time_adjoint` makes the
pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from srcdiff import ir
from srcdiff.analysis.activity import edges_of, reachable
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.calls import gradients_taken, paired_parts
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.flow import flows
from srcdiff.frontend.lowering import Closure
from srcdiff.ir.kinds import UNKNOWN, Callable, Kind, Object, Unknown
from srcdiff.normalize.summaries.induction import AT_RUN_TIME
from srcdiff.runtime import trees
from srcdiff.specialize.unknown_calls import carries, declined

Kinds = Mapping[str, Kind]


@dataclass(frozen=True)
class Nothing:
    """What is known of such a function."""

    result: Kind = UNKNOWN


def at_run_time(function: ir.Function, kinds: Kinds, inputs: Iterable[str]) -> ir.Function:
    """The function with calls marked whose callee is found when they run.

    A callee that depends on an input might hold values with a derivative that nobody sees, and so
    might one that the function itself makes: their calls stay as they are, and are refused.  So
    are those of what `np.vectorize` makes, which has no derivative for a declared reason.
    """
    calls = [s for s in ir.walk(function.body) if _is_candidate(s, kinds)]
    made = (s.rhs for s in ir.walk(function.body) if isinstance(s, ir.Assign))
    if not calls or any(isinstance(m, Closure) for m in made):
        return function
    varied = reachable(inputs, edges_of(function, kinds, flows))
    unfit = {*varied, *declined(function)}

    def stmt(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Assign) and _is_candidate(s, kinds):
            call = s.rhs
            assert isinstance(call, ir.Call) and isinstance(call.fn, ir.Name)
            active = {n for n in ir.names(ir.Tup(call.args)) if n in varied and carries(n, kinds)}
            if active and call.fn.id not in unfit:
                fn = ir.Derived(call.fn.id, AT_RUN_TIME, Nothing())
                return replace(s, rhs=replace(call, fn=fn, args=(call.fn, *call.args)))
        return ir.map_blocks(s, lambda b: tuple(map(stmt, b)))

    return replace(function, body=tuple(map(stmt, function.body)))


def _is_candidate(stmt: ir.Stmt, kinds: Kinds) -> bool:
    """Whether a statement keeps the result of a plain call of something that may be a function."""
    call = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if not isinstance(call, ir.Call) or not isinstance(call.fn, ir.Name) or call.kwargs:
        return False
    plain = all(isinstance(a, (ir.Name, ir.Const, ir.Ref)) for a in call.args)
    kind = kinds.get(call.fn.id, UNKNOWN)
    return plain and isinstance(kind, (Unknown, Object, Callable))


def is_at_run_time(rhs: ir.Rhs) -> bool:
    """Whether a right-hand side is a marked call."""
    fn = rhs.fn if isinstance(rhs, ir.Call) else None
    return isinstance(fn, ir.Derived) and fn.part == AT_RUN_TIME


def run_time_adjoint(stmt: ir.Assign, facts: Facts) -> ir.Block:
    """A marked call as pairs: it runs with a pullback, which is the adjoint."""
    call, loc = stmt.rhs, stmt.loc
    assert isinstance(call, ir.Call)
    fn, args = call.args[0], call.args[1:]
    at = [k for k, a in enumerate(args) if isinstance(a, ir.Name) and a.id in facts.active]
    both, pull, grads = facts.fresh("_both"), facts.fresh("pull"), facts.fresh("_grads")
    places = ir.Tup(tuple(map(ir.Const, at)))
    strong = (("strong_zeros", ir.Const(True)),) if facts.strong else ()
    forward = ir.Call(trees.call_vjp, (fn, places, *args), strong, text="call_vjp")
    d_target = facts.adjoint(stmt.target.id)
    back = ir.Call(trees.pull_back, (pull, d_target), text="pull_back")
    taken = gradients_taken(grads, [args[k] for k in at], facts, loc)
    adjoint = (ir.Assign(grads, back, loc), ir.Reset(d_target, loc), *taken)
    return paired_parts(stmt, forward, both, pull, adjoint)


def check_used(function: ir.Function, active: frozenset[str]) -> None:
    """Refuse marked calls that no derivative passes through: what they write is not known."""
    for stmt in ir.walk(function.body):
        if isinstance(stmt, ir.Assign) and is_at_run_time(stmt.rhs):
            if stmt.target.id not in active:
                call = stmt.rhs
                assert isinstance(call, ir.Call) and isinstance(call.fn, ir.Derived)
                raise UnsupportedError(
                    f"the function called here, {ir.said(call.text or call.fn.name)}, is known "
                    "only when the program runs, and gets values with a derivative",
                    stmt.loc,
                    remedy="Pass it srcdiff.stop_gradient of them, or pass the function as an "
                    "argument of its own.",
                )


def check_first_order(function: ir.Function) -> None:
    """Refuse the derivative of a text that calls functions found when it runs."""
    for stmt in ir.walk(function.body):
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if isinstance(rhs, ir.Call) and rhs.fn in (trees.call_vjp, trees.pull_back):
            raise UnsupportedError(
                "a function that is known only when the program runs has first derivatives only",
                stmt.loc,
                remedy="Call functions by their names, with `if` to choose between them.",
            )
