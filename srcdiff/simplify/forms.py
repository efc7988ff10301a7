"""Cotangents that are checked against an argument, where nothing else needs the output.

The output is asked for its shape and dtype.  Where a parameter that never changes has the same, and
the output is needed for nothing else, what computes it is left out: the adjoint of a linear
function runs without the function.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from srcdiff import ir
from srcdiff.analyses.kind_types import Array, Kind, same_shape
from srcdiff.simplify.dead import remove_dead
from srcdiff.simplify.shapes import same_dtype
from srcdiff.trees import cotangent

Kinds = Mapping[str, Kind]


def without_outputs(function: ir.Function, kinds: Kinds) -> ir.Function:
    """The function without what computes an output whose form a parameter has too."""
    steady = [p.name for p in function.params if p.name not in ir.bound(function.body)]
    body = tuple(_asking(s, steady, kinds) for s in function.body)
    if body == function.body:
        return function
    new = remove_dead(replace(function, body=body), kinds)
    return new if _size(new) + 1 < _size(function) else function  # one is not worth a change


def _asking(stmt: ir.Stmt, steady: list[str], kinds: Kinds) -> ir.Stmt:
    """A statement that takes a cotangent, with parameters in the place of outputs."""
    call = ir.call_of(stmt)
    if call is None or call.fn is not cotangent or not isinstance(stmt, (ir.Assign, ir.Effect)):
        return stmt
    output = ir.map_atom(lambda name: _of_same_form(name, steady, kinds), call.args[1])
    args = (call.args[0], output, *call.args[2:])
    return replace(stmt, rhs=replace(call, args=args))


def _of_same_form(name: ir.Name, steady: list[str], kinds: Kinds) -> ir.Atom:
    """A parameter of the same shape and dtype, or else the name itself."""
    kind = kinds.get(name.id)
    if not isinstance(kind, Array) or kind.maybe_scalar or name.id in steady:
        return name
    for other in steady:
        like = kinds.get(other)
        if isinstance(like, Array) and not like.maybe_scalar:
            if same_shape(kind, like) and same_dtype(kind, like):
                return ir.Name(other)
    return name


def _size(function: ir.Function) -> int:
    """How many statements a function has."""
    return sum(1 for _ in ir.walk(function.body))
