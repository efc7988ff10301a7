"""Calls of other transforms than `grad`: `srcdiff.jvp(f, (x,), (v,))`, `srcdiff.jacobian(f)(x)`.

A call of a transform with the arguments of its function becomes, in a differentiated function, that
of the derivative, or of a Python function around it.  What is called later (a pullback) computes
with what its function reads now.

`srcdiff.jacobian(f)(x)` stays a call where nothing in it depends on an input.  Where something
does, it is written out, a column for every element of the input: it becomes the call of a Python
function that stacks the tangents of `f` along unit vectors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from srcdiff import ir
from srcdiff.analysis.links import classes_of, links_of, stored_names
from srcdiff.errors import refused
from srcdiff.frontend.closures import Closure, Lifted, lifted_closure, passing
from srcdiff.frontend.local_functions import MARK
from srcdiff.frontend.signatures import place_of
from srcdiff.ir.frozen import replace
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import trees
from srcdiff.runtime.service import is_jacobian
from srcdiff.specialize.nested.derivatives import makes_derivative
from srcdiff.specialize.static_values import Derived, Known, Made, derivative

_PACKAGE = str(Path(__file__).parents[2])


def direct(call: ir.Call, known: Mapping[str, Known]) -> ir.Call:
    """A call of such a transform as a call of what computes it; `known` are functions by name."""
    fn: Any = call.fn
    if hasattr(fn, "__srcdiff_written__"):
        written: ir.Call | None = fn.__srcdiff_written__(call)
        if written is None:
            return call
        return direct(written, known) if is_direct(written.fn) else written
    first = call.args[0] if call.args else ir.NONE
    found = known.get(first.id) if isinstance(first, ir.Name) else first
    if isinstance(found, ir.Ref):
        made: ir.Call | None = fn.__srcdiff_direct__(found.value, call)
        return call if made is None else made
    if not isinstance(found, (Made, Derived)) or found.closure.variables is None:
        return call
    if found.closure.function is None:
        return call
    value = found.derivative if isinstance(found, Derived) else lifted_closure(found.closure)
    made = fn.__srcdiff_direct__(value, call)
    return call if made is None else passing(found.closure, made.fn, made)


def is_direct(fn: Any) -> bool:
    """Whether a callee is such a transform."""
    return hasattr(fn, "__srcdiff_direct__") or hasattr(fn, "__srcdiff_written__")


def curried(rhs: ir.Rhs) -> ir.Rhs:
    """`srcdiff.vjp(f, inputs="x")`, the options without arguments, as a partial object."""
    fn: Any = rhs.fn if isinstance(rhs, ir.Call) else None
    asked = fn.__srcdiff_curried__(rhs) if hasattr(fn, "__srcdiff_curried__") else None
    if not isinstance(rhs, ir.Call) or asked is None:
        return rhs
    made = ir.Ref(fn.__name__, asked)
    return ir.Call(functools.partial, (made, *rhs.args), text="functools.partial")


# --- what a function reads now -------------------------------------------------------------------


def keeps_first(fn: Any) -> bool:
    """Whether a callee is to get its first argument, a function, with what that reads now."""
    return bool(getattr(fn, "__srcdiff_keeps_first__", False))


def with_first_kept(
    call: ir.Call, known: dict[str, Known], fresh: Callable[[str], ir.Name], loc: ir.Loc
) -> tuple[list[ir.Stmt], ir.Call]:
    """The call whose first argument is a function of what it reads now, and what goes before."""
    before: list[ir.Stmt] = []

    def now(name: ir.Name) -> ir.Name:
        found = known.get(name.id)
        new = fresh(name.id)
        if isinstance(found, (Made, Derived)) and found.closure.variables is not None:
            closure = held(found.closure)
            known[new.id] = replace(found, closure=closure)
            before.append(ir.Assign(new, closure if isinstance(found, Made) else name, loc))
            return new
        before.append(ir.Assign(new, ir.Call(trees.as_now, (name,)), loc))
        return new

    def held(closure: Closure) -> Closure:
        pairs = zip(closure.captured, closure.reads)
        reads = tuple(v if n.startswith(MARK) else now(v) for n, v in pairs)
        names = frozenset(closure.captured)
        return replace(closure, reads=reads, held=names, whole=False)

    first = call.args[0]
    if not isinstance(first, ir.Name) or not isinstance(known.get(first.id), (Made, Derived)):
        return before, call
    return before, replace(call, args=(now(first), *call.args[1:]))


def with_copies_of_now(function: ir.Function, params: Mapping[str, ir.Kind]) -> ir.Function:
    """The function with copies of what was to be as it is now and is written into later."""
    if not any(is_op(call, Op.AS_NOW) for call in ir.calls(function)):
        return function
    kinds = infer(function, params)
    links = links_of(_each(function, lambda name: name).body, kinds, function.target.on_device)
    stored, resized = stored_names(function.body, kinds)
    written = classes_of(links, stored | resized)

    def copy(name: ir.Atom) -> ir.Rhs:
        kind = kinds.get(name.id, ir.UNKNOWN) if isinstance(name, ir.Name) else None
        if kind is None or not ir.is_mutable(kind) or written.keys().isdisjoint(ir.names(name)):
            return name
        plain = isinstance(kind, ir.Array) and not kind.maybe_scalar
        return ir.Call(ir.Method("copy") if plain else trees.kept, (name,))

    return _each(function, copy)


def _each(function: ir.Function, change: Callable[[ir.Atom], ir.Rhs]) -> ir.Function:
    """The function with something else for what is to be as it is now."""

    def one(stmt: ir.Assign) -> ir.Rhs:
        return change(stmt.rhs.args[0]) if is_op(stmt.rhs, Op.AS_NOW) else stmt.rhs

    return ir.with_values(function, one)


# --- functions that are written for a call -------------------------------------------------------


def at_call(function: ir.Function, fn: Any, loc: ir.Loc) -> ir.Function:
    """A function of ours, or written for one call, as if it stood at the place of the call."""
    ours = hasattr(fn, "__srcdiff_keeps_first__") or function.loc.file.startswith(_PACKAGE)
    return ir.rebuilt(function, body=_at(function.body, loc)) if ours else function


def _at(block: ir.Block, loc: ir.Loc) -> ir.Block:
    def stmt(s: ir.Stmt) -> ir.Stmt:
        rhs = s.rhs if isinstance(s, ir.Assign) else None
        if isinstance(s, ir.Assign) and isinstance(rhs, Closure) and rhs.function is not None:
            inner = replace(rhs.function, body=_at(rhs.function.body, loc), loc=loc)
            s = replace(s, rhs=replace(rhs, function=inner, loc=loc))
        return replace(s, loc=loc)

    return ir.replaced(block, stmt)


# --- columns -------------------------------------------------------------------------------------


def with_columns(function: ir.Function, inputs: Iterable[str]) -> ir.Function:
    """The function with the Jacobians that depend on an input as calls of Python functions."""
    own: dict[str, Any] = {}
    for stmt in ir.assignments(function):
        found = _made(stmt.rhs, own)
        if found is not None:
            own[stmt.target.id] = found
    made = {n: v for n, v in own.items() if is_jacobian(v)}
    if not made and not any(is_jacobian(call.fn) for call in ir.calls(function)):
        return function
    from srcdiff.specialize.early_activity import varied

    changing = varied(function, inputs)

    def one(stmt: ir.Assign) -> ir.Rhs:
        call = stmt.rhs
        if not isinstance(call, ir.Call):
            return call
        meets = not changing.isdisjoint(ir.names(call)) or _is_of_text(call)
        return _written(call, made, stmt.loc) if meets else call

    body = ir.with_values(function, one).body
    return ir.rebuilt(function, body=ir.without(body, made.keys() - ir.used(body)))


def _made(rhs: ir.Rhs, own: Mapping[str, Any]) -> Any:
    """The function that an expression makes, if that is known, None for anything else.

    That is one which captures nothing, a derivative or a Jacobian; `own` are those made before.
    """
    if isinstance(rhs, Closure):
        return lifted_closure(rhs) if rhs.function is not None and rhs.variables == {} else None
    refs = {n: ir.Ref(n, value) for n, value in own.items()}
    found = derivative(rhs, refs) if makes_derivative(rhs) else None
    return found.value if isinstance(found, ir.Ref) else None


def written_columns(made: Any, loc: ir.Loc | None = None) -> Any:
    """The Python function that computes what `srcdiff.jacobian` made computes.

    Raises:
        UnsupportedError: it is for other inputs or outputs than one array or number.
    """
    found = made.by_columns()
    if found is None:
        name = type(made).__name__.lower()
        raise refused("inputs.transform", place_of(made.primal) if loc is None else loc, name=name)
    return found


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
