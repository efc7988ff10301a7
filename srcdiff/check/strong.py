"""Calls of functions whose derivative `strong_zeros=True` does not reach."""

from __future__ import annotations

from collections.abc import Mapping, Set

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.lowering import Lifted
from srcdiff.frontend.request import Request
from srcdiff.ir.kinds import Callable, Kind
from srcdiff.runtime import trees
from srcdiff.specialize.inline import is_user_function

Kinds = Mapping[str, Kind]


def check_strong(function: ir.Function, active: Set[str], kinds: Kinds, request: Request) -> None:
    """With `strong_zeros`, refuse calls that differentiate the function that they are given.

    That derivative is generated when they run, as it is without `strong_zeros`.
    """
    if not request.strong_zeros:
        return
    for stmt in ir.walk(function.body):
        call = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if not isinstance(call, ir.Call) or isinstance(call.fn, ir.Derived):
            continue
        assert isinstance(stmt, ir.Assign)
        if call.fn is not trees.hook and stmt.target.id in active and _is_given_one(call, kinds):
            raise UnsupportedError(
                f"strong_zeros=True does not reach the function that {ir.said(call.text or '')} is "
                "given, which is differentiated when it runs",
                stmt.loc,
                remedy="Call the function itself, use a plain loop, or leave out strong_zeros.",
            )


def _is_given_one(call: ir.Call, kinds: Kinds) -> bool:
    """Whether a function is among the arguments of a call."""
    given = (*call.args, *(a for _, a in call.kwargs))
    values = [a.value for a in given if isinstance(a, ir.Ref)]
    names = [a.id for a in given if isinstance(a, ir.Name)]
    made = any(is_user_function(v) or isinstance(v, Lifted) for v in values)
    return made or any(isinstance(kinds.get(n), Callable) for n in names)
