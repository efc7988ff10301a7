"""Variables outside of a function that hold containers of objects, as parameters of it for a while.

What their methods do is found out from the kinds of parameters.  `lent` gives such variables to a
lowered function as parameters; `returned` takes them back from a finished one, which reads the
variables as the user's function does.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.free import Freed
from srcdiff.ir.kinds import Kind, inside
from srcdiff.kinds.of_values import kind_of
from srcdiff.specialize.objects.places import has_objects

Kinds = Mapping[str, Kind]
Variables = Mapping[str, ir.Ref]


def lent(function: ir.Function, kinds: Kinds) -> tuple[ir.Function, Kinds, Variables]:
    """A lowered function with such variables as parameters, their kinds, and what they hold."""
    mine = ir.all_names(function) | {p.name for p in function.params}
    found = {
        r.text: r
        for s in ir.walk(function.body)
        for r in _outside(s)
        if r.text.isidentifier() and r.text not in mine and _holds_objects(r.value)
    }
    if not found:
        return function, kinds, {}
    params = list(function.params)
    last = [params.pop()] if params and params[-1].style == "**" else []
    more = [ir.Param(n, style="kw") for n in found]
    body = Freed(frozenset(found)).block(_by_name(function.body, found))
    known = {name: kind_of(ref.value, name) for name, ref in found.items()}
    return replace(function, params=(*params, *more, *last), body=body), {**kinds, **known}, found


def returned(function: ir.Function, variables: Variables) -> ir.Function:
    """A finished function that reads the variables where they are."""
    if not variables:
        return function
    params = tuple(p for p in function.params if p.name not in variables)
    return replace(function, params=params, body=_substituted(function.body, variables))


def check_kept(written: tuple[str, ...], variables: Variables, loc: ir.Loc) -> None:
    """Refuse what changes the objects.

    Raises:
        UnsupportedError: an attribute of one is assigned.
    """
    for name in variables:
        if any(w == name or w.startswith((f"{name}[", f"{name}.")) for w in written):
            raise UnsupportedError(
                f"an object in {ir.said(name)}, which is not local to the function, is changed",
                loc,
                remedy="Pass it as an argument.",
            )


def _outside(stmt: ir.Stmt) -> Iterator[ir.Ref]:
    """What a statement mentions of the variables around a function, callees among them."""
    for operand in ir.operands(stmt):
        yield from ir.refs(operand)
    call = ir.call_of(stmt)
    if call is not None and call.text:
        name = call.text.split(".")[0]
        owner = getattr(call.fn, "__self__", call.fn)
        yield ir.Ref(name, owner)


def _holds_objects(value: Any) -> bool:
    """Whether a list, tuple or dict holds objects, or an object holds such a container."""
    if isinstance(value, (types.ModuleType, type)) or not hasattr(type(value), "__dict__"):
        return isinstance(value, (list, tuple, dict)) and has_objects(kind_of(value, "x"))
    return any(map(has_objects, inside(kind_of(value, "x"))))


def _by_name(block: ir.Block, variables: Variables) -> ir.Block:
    """A block whose calls of the objects and of their methods go by the names of the variables."""
    return tuple(_called(stmt, variables) for stmt in block)


def _called(stmt: ir.Stmt, variables: Variables) -> ir.Stmt:
    call = ir.call_of(stmt)
    if call is not None and call.text and isinstance(stmt, (ir.Assign, ir.Effect)):
        name, _, method = call.text.partition(".")
        ref = variables.get(name)
        if ref is not None and call.fn is ref.value:
            return replace(stmt, rhs=replace(call, fn=ir.Name(name)))
        if ref is not None and getattr(call.fn, "__self__", None) is ref.value:
            args = (ir.Name(name), *call.args)
            return replace(stmt, rhs=replace(call, fn=ir.Method(method), args=args))
    return ir.map_blocks(stmt, lambda b: _by_name(b, variables))


def _substituted(block: ir.Block, variables: Variables) -> ir.Block:
    """A block that reads the variables, which are no names of it any more."""

    def read(n: ir.Name) -> ir.Atom:
        return variables.get(n.id, n)

    def many(inner: ir.Block) -> ir.Block:
        return tuple(ir.map_stmt(s, read, lambda n: n, many) for s in inner)

    return many(block)
