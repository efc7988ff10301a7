"""Jacobians in differentiated functions: written out, a column for every element of the input.

`srcdiff.jacobian(f)(x)` stays a call where nothing in it depends on an input.  Where something
does, it becomes the call of a Python function that stacks the tangents of `f` along unit vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.closures.lifted import lifted_closure
from srcdiff.frontend.lowering import Closure, Lifted
from srcdiff.frontend.onecall import place_of
from srcdiff.specialize.known import derivative
from srcdiff.specialize.met import varied
from srcdiff.specialize.nested.calls import is_transform, makes_matrix


def with_columns(function: ir.Function, inputs: Iterable[str]) -> ir.Function:
    """The function with the Jacobians that depend on an input as calls of Python functions."""
    own: dict[str, Any] = {}
    for statement in ir.walk(function.body):
        found = _made(statement, own)
        if found is not None and isinstance(statement, ir.Assign):
            own[statement.target.id] = found
    made = {n: v for n, v in own.items() if is_jacobian(v)}
    if not made and not any(_calls_jacobian(s) for s in ir.walk(function.body)):
        return function
    changing = varied(function, inputs)

    def stmt(s: ir.Stmt) -> ir.Stmt:
        call = ir.call_of(s)
        meets = call is not None and (changing & {*ir.names(call)} or _is_of_text(call))
        if isinstance(s, ir.Assign) and call is not None and meets:
            return replace(s, rhs=_written(call, made, s.loc))
        return ir.map_blocks(s, lambda b: tuple(map(stmt, b)))

    body = tuple(map(stmt, function.body))
    return replace(function, body=ir.without(body, made.keys() - ir.used(body)))


def _made(stmt: ir.Stmt, own: Mapping[str, Any]) -> Any:
    """The function that a statement makes, if that is known, None for anything else.

    That is one which captures nothing, a derivative or a Jacobian; `own` are those made before.
    """
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if isinstance(rhs, Closure):
        return lifted_closure(rhs) if rhs.function is not None and rhs.variables == {} else None
    if not isinstance(rhs, ir.Call) or not (makes_matrix(rhs.fn) or is_transform(rhs.fn)):
        return None
    refs = {n: ir.Ref(n, value) for n, value in own.items()}
    found = derivative(rhs, refs)
    return found.value if isinstance(found, ir.Ref) else None


def is_jacobian(fn: Any) -> bool:
    """Whether a callee is what `srcdiff.jacobian` or `srcdiff.hessian` makes."""
    return hasattr(type(fn), "by_columns")


def written_columns(made: Any, loc: ir.Loc | None = None) -> Any:
    """The Python function that computes what `srcdiff.jacobian` made computes.

    Raises:
        UnsupportedError: it is for other inputs or outputs than one array or number.
    """
    found = made.by_columns()
    if found is None:
        name = type(made).__name__.lower()
        raise UnsupportedError(
            f"this `srcdiff.{name}` is not differentiated",
            place_of(made.primal) if loc is None else loc,
            remedy="Let it be by one array or number, without `outputs` and `sparsity`, of a "
            "function whose parameters have no defaults or stars.",
        )
    return found


def _calls_jacobian(stmt: ir.Stmt) -> bool:
    call = ir.call_of(stmt)
    return call is not None and is_jacobian(call.fn)


def _is_of_text(call: ir.Call) -> bool:
    """Whether a call is of the Jacobian of a function made here, which is only compiled."""
    return is_jacobian(call.fn) and isinstance(call.fn.primal, Lifted)  # type: ignore[union-attr]


def _written(call: ir.Call, made: Mapping[str, Any], loc: ir.Loc) -> ir.Call:
    """A call of a Jacobian as that of the function that computes the same."""
    if _is_of_text(call):
        return replace(call, fn=written_columns(call.fn, loc), text=None)
    fn: Any = made.get(call.fn.id) if isinstance(call.fn, ir.Name) else call.fn
    found = fn.by_columns() if is_jacobian(fn) else None
    return call if found is None else replace(call, fn=found, text=None)
