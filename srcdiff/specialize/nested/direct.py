"""Calls of transforms with the arguments of their function: `srcdiff.jvp(f, (x,), (v,))`.

In a differentiated function such a call becomes that of the derivative, or of a Python function
around it.  What is called later (a pullback) computes with what its function reads now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from srcdiff import ir
from srcdiff.analysis.links import classes_of, links_of, stored_names
from srcdiff.frontend.closures.lifted import lifted_closure, passing
from srcdiff.frontend.closures.settled import MARK, definitions
from srcdiff.frontend.lowering import Closure
from srcdiff.ir.kinds import UNKNOWN, Array, Kind, is_mutable
from srcdiff.kinds.interpreter import infer
from srcdiff.runtime import trees
from srcdiff.specialize.known import Derived, Known, Made

_PACKAGE = str(Path(__file__).parents[2])


def direct(call: ir.Call, known: Mapping[str, Known]) -> ir.Call:
    """A call of such a transform as a call of what computes it; `known` are functions by name."""
    fn: Any = call.fn
    if hasattr(fn, "__srcdiff_written__"):
        written: ir.Call | None = fn.__srcdiff_written__(call)
        return call if written is None else written
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


def with_copies_of_now(function: ir.Function, params: Mapping[str, Kind]) -> ir.Function:
    """The function with copies of what was to be as it is now and is written into later."""
    if not any(_is_now(s) for s in ir.walk(function.body)):
        return function
    kinds = infer(function, params)
    links = list(links_of(_each(function, lambda name: name).body, kinds, False))
    stored, resized = stored_names(function.body, kinds)
    written = classes_of(links, stored | resized)

    def copy(name: ir.Atom) -> ir.Rhs:
        kind = kinds.get(name.id, UNKNOWN) if isinstance(name, ir.Name) else None
        if kind is None or not is_mutable(kind) or written.keys().isdisjoint(ir.names(name)):
            return name
        plain = isinstance(kind, Array) and not kind.maybe_scalar
        return ir.Call(ir.Method("copy") if plain else trees.kept, (name,))

    return _each(_without_aliases(function, copy), copy)


def _without_aliases(
    function: ir.Function, change: Callable[[ir.Atom], ir.Rhs]
) -> ir.Function:
    """The function without names for what stays as it is, where both names are bound once."""
    count = definitions(function.body, (p.name for p in function.params))
    same: dict[str, str] = {}
    for stmt in ir.walk(function.body):
        if isinstance(stmt, ir.Assign) and _is_now(stmt):
            assert isinstance(stmt.rhs, ir.Call)
            rhs = change(stmt.rhs.args[0])
            if isinstance(rhs, ir.Name) and count[stmt.target.id] == count.get(rhs.id) == 1:
                same[stmt.target.id] = same.get(rhs.id, rhs.id)
    body = ir.rename(ir.without(function.body, same.keys()), same)
    return replace(function, body=body)


def _is_now(stmt: ir.Stmt) -> bool:
    call = ir.call_of(stmt)
    return call is not None and call.fn is trees.as_now


def _each(function: ir.Function, change: Callable[[ir.Atom], ir.Rhs]) -> ir.Function:
    """The function with something else for what is to be as it is now."""

    def stmt(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Assign) and _is_now(s):
            assert isinstance(s.rhs, ir.Call)
            return replace(s, rhs=change(s.rhs.args[0]))
        return ir.map_blocks(s, lambda b: tuple(map(stmt, b)))

    return replace(function, body=tuple(map(stmt, function.body)))


# --- functions that are written for a call -------------------------------------------------------


def at_call(function: ir.Function, fn: Any, loc: ir.Loc) -> ir.Function:
    """A function of ours, or written for one call, as if it stood at the place of the call."""
    ours = is_written(fn) or function.loc.file.startswith(_PACKAGE)
    return replace(function, body=_at(function.body, loc)) if ours else function


def is_written(fn: Any) -> bool:
    """Whether a callee was written for calls of a transform."""
    return hasattr(fn, "__srcdiff_keeps_first__")


def _at(block: ir.Block, loc: ir.Loc) -> ir.Block:
    def stmt(s: ir.Stmt) -> ir.Stmt:
        rhs = s.rhs if isinstance(s, ir.Assign) else None
        if isinstance(s, ir.Assign) and isinstance(rhs, Closure) and rhs.function is not None:
            inner = replace(rhs.function, body=_at(rhs.function.body, loc), loc=loc)
            s = replace(s, rhs=replace(rhs, function=inner, loc=loc))
        return replace(ir.map_blocks(s, lambda b: _at(b, loc)), loc=loc)

    return tuple(map(stmt, block))
