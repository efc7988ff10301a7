"""Refuse changes that no statement shows: by a method, or a lambda, that is handed on as a value.

`add = xs.append; add(v)` changes `xs`, which the call does not name; so does `each(lambda v:
xs.append(v))` where `each` stays a call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from srcdiff import ir
from srcdiff.check.looped import check_loops
from srcdiff.check.written import check_kept, check_views, check_written
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.lowering import Closure
from srcdiff.ir.kinds import (
    Array,
    Dict,
    Kind,
    List,
    Scalar,
    Unknown,
    contents,
    is_active_kind,
    sure,
)
from srcdiff.normalize.summaries.assumed import is_user_call
from srcdiff.primitives.effects import MUTATORS
from srcdiff.specialize.inline import is_user_function

Kinds = Mapping[str, Kind]

_CHANGES = MUTATORS | {"__setitem__", "__delitem__", "__iadd__"}


def check_changes(function: ir.Function, kinds: Kinds) -> None:
    """Refuse values that are methods, or lambdas, that change what may have a derivative.

    And loops over lists that become longer or shorter meanwhile, and calls that may be given `out`
    among `*args`.
    """
    check_loops(function, kinds)
    check_written(function, kinds)
    check_views(function, kinds)
    check_kept(function, kinds)
    made: dict[str, str] = {}  # lambdas, and what they change
    for stmt in ir.walk(function.body):
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if isinstance(rhs, ir.Call) and isinstance(rhs.fn, ir.Attr) and rhs.fn.name in _CHANGES:
            _check_method(rhs, rhs.fn.name, kinds, stmt.loc)
        if isinstance(stmt, ir.Assign) and isinstance(rhs, Closure):
            made.update((stmt.target.id, n) for n in _changed(rhs) if _matters(kinds.get(n)))
        call = ir.call_of(stmt)
        if made and call is not None and (is_user_call(call) or is_user_function(call.fn)):
            for name in made.keys() & set(ir.names(call)):
                raise UnsupportedError(
                    f"a function made here changes {ir.said(made[name])} where it is called, "
                    "which is not here",
                    stmt.loc,
                    remedy="Pass what it changes as an argument, or return the new value.",
                )


def _check_method(call: ir.Call, name: str, kinds: Kinds, loc: ir.Loc) -> None:
    """Refuse a method that changes its object, as a value."""
    for base in ir.names(call):
        if _matters(kinds.get(base)):
            raise UnsupportedError(
                f"the method `{name}` of {ir.said(base)}, which changes it, is used as a value",
                loc,
                remedy=f"Call it in its place: `{base}.{name}(...)`.",
            )


def _matters(kind: Kind | None) -> bool:
    """Whether a value may be a container or an array that something with a derivative goes into."""
    kind = None if kind is None else sure(kind)
    if isinstance(kind, Dict) and kind.cls is not None:
        return False
    if isinstance(kind, (List, Dict)):
        return not contents(kind) or is_active_kind(kind)
    return kind is None or isinstance(kind, (Array, Scalar, Unknown)) and is_active_kind(kind)


def _changed(closure: Closure) -> Iterator[str]:
    """The variables around a lambda that it changes when it is called."""
    function, variables = closure.function, closure.variables
    if function is None or variables is None:
        return
    for stmt in ir.walk(function.body):
        call = ir.call_of(stmt)
        changes = call is not None and isinstance(call.fn, ir.Method) and call.fn.name in MUTATORS
        base = call.args[0] if changes and call is not None else None
        if isinstance(stmt, ir.SetItem):
            base = stmt.base
        outer = variables.get(base.id) if isinstance(base, ir.Name) else None
        if isinstance(outer, ir.Name):
            yield outer.id
