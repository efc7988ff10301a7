"""The error for a call of which nothing is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from srcdiff import ir
from srcdiff.errors import InternalError, UnsupportedError
from srcdiff.frontend.bind import many, no_keywords
from srcdiff.ir.kinds import Kind, is_active_kind
from srcdiff.primitives.registry import find, lookup
from srcdiff.runtime import records
from srcdiff.specialize.inline import function_of, is_user_function

Kinds = Mapping[str, Kind]


def carries(name: str, kinds: Kinds) -> bool:
    """Whether a value may carry a derivative, as far as is known."""
    return name not in kinds or is_active_kind(kinds[name])


def _is_declined(call: ir.Call | None) -> bool:
    """Whether a reason is declared why a function has no derivative: it may take functions."""
    rule = None if call is None else lookup(call.fn)
    return rule is not None and bool(rule.reason)


def declined(function: ir.Function) -> dict[str, ir.Assign]:
    """The calls that have no derivative, for a declared reason, by the names of their results."""
    made = (s for s in ir.walk(function.body) if isinstance(s, ir.Assign))
    return {s.target.id: s for s in made if _is_declined(ir.call_of(s))}


def refuse_receiver(name: str, function: ir.Function, kinds: Kinds) -> None:
    """Refuse the call that gets a function made here, and that has no derivative for a reason."""
    for stmt in declined(function).values():
        if name in ir.names(stmt.rhs):
            _refuse_declined(stmt, kinds)


def _refuse_declined(stmt: ir.Assign, kinds: Kinds) -> None:
    """The error for a call that has no derivative: it says what to write instead."""
    assert isinstance(stmt.rhs, ir.Call)
    find(stmt.rhs, kinds, stmt.loc)


def _check_written_out(call: ir.Call, name: str, loc: ir.Loc) -> None:
    """Refuse arguments with stars of which it is not known what they stand for."""
    if any(isinstance(a, ir.Star) for a in call.args):
        raise many(name, loc)
    if any(k is None for k, _ in call.kwargs):
        raise no_keywords(name, loc)


def refuse_strange(call: ir.Call, loc: ir.Loc, function: ir.Function, kinds: Kinds) -> NoReturn:
    """The error for a call of which nothing is known."""
    fn = call.fn
    if isinstance(fn, ir.Name):
        if fn.id in (made := declined(function)):
            _refuse_declined(made[fn.id], kinds)
        _check_written_out(call, str(call.text or fn.id), loc)
        raise UnsupportedError(
            f"the function called here, {ir.said(call.text or fn.id)}, is known only when the "
            "program runs",
            loc,
            remedy="Call functions by their names, with `if` to choose between them; or pass the "
            "function as an argument of its own.",
        )
    if fn is list:
        raise UnsupportedError(
            "what is iterated here is known only when the program runs",
            loc,
            remedy="Give an example of the arguments, or loop by index: `for i in range(len(x))`.",
        )
    if isinstance(fn, type):
        if records.is_record(fn):
            _check_written_out(call, fn.__qualname__, loc)
        raise UnsupportedError(
            f"`{fn.__qualname__}` makes an object that holds values with a derivative, which is "
            "not supported",
            loc,
            remedy="Use a tuple or a dict in its place.",
        )
    if is_user_function(fn):
        function_of(fn)  # says why it could not be inlined
    find(call, kinds, loc)
    raise InternalError("a call with a rule counts as one of which nothing is known", call)
