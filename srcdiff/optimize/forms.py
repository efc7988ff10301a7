"""Cotangents that are checked against an argument, where nothing else needs the output.

The output is asked for its shape and dtype.  Where a parameter that never changes has the same, and
the output is needed for nothing else, what computes it is left out: the adjoint of a linear
function runs without the function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from srcdiff import ir
from srcdiff.ir.kinds import Array, Kind, same_shape
from srcdiff.optimize.dead_code import remove_dead
from srcdiff.optimize.shapes import COPIES, asks_form, same_dtype
from srcdiff.runtime.trees import cotangent

Kinds = Mapping[str, Kind]


def without_outputs(function: ir.Function, kinds: Kinds) -> ir.Function:
    """The function without what computes an output whose form a parameter has too."""
    steady = [p.name for p in function.params if p.name not in ir.bound(function.body)]
    function = _without_forms(function, steady, kinds)
    body = tuple(_asking(s, steady, kinds) for s in function.body)
    if body == function.body:
        return function
    new = _without_forms(remove_dead(replace(function, body=body), kinds), steady, kinds)
    return new if _size(new) + 1 < _size(function) else function  # one is not worth a change


def _without_forms(function: ir.Function, steady: list[str], kinds: Kinds) -> ir.Function:
    """The function without copies of parameters that are asked for their shapes alone."""
    copies = {n: p for n, p in _copies(function.body, kinds) if p in steady}
    bound = Counter(n for s in ir.walk(function.body) for n in ir.writes(s)) if copies else {}
    for stmt in ir.walk(function.body) if copies else ():
        for name in set(ir.reads(stmt)) - {_asked(stmt)}:
            copies.pop(name, None)
    copies = {n: p for n, p in copies.items() if bound[n] == 1}
    if not copies:
        return function
    kept = tuple(
        s for s in function.body if not (isinstance(s, ir.Assign) and s.target.id in copies)
    )
    return replace(function, body=ir.rename(kept, copies))


def _copies(body: ir.Block, kinds: Kinds) -> Iterator[tuple[str, str]]:
    """The arrays that are bound to a copy of another, and that one."""
    for stmt in body:
        if isinstance(stmt, ir.Assign):
            name, source = stmt.target.id, _copied(stmt)
            if source and all(isinstance(kinds.get(n), Array) for n in (name, source)):
                yield name, source


def _copied(stmt: ir.Assign) -> str:
    """The name that a statement makes a copy of, "" if it makes none."""
    call = ir.call_of(stmt)
    if call is None or call.fn not in COPIES or len(call.args) != 1:
        return ""
    return call.args[0].id if isinstance(call.args[0], ir.Name) else ""


def _asked(stmt: ir.Stmt) -> str:
    """The name that a statement asks for its shape, and looks at nowhere else."""
    call = ir.call_of(stmt)
    place = None if call is None else asks_form(call)
    if call is None or place is None or len(call.args) <= place:
        return ""
    name = call.args[place]
    alone = isinstance(name, ir.Name) and ir.occurrences(call).count(name.id) == 1
    return name.id if alone and isinstance(name, ir.Name) else ""


def _asking(stmt: ir.Stmt, steady: list[str], kinds: Kinds) -> ir.Stmt:
    """A statement that takes a cotangent, with parameters in the place of outputs."""
    call = ir.call_of(stmt)
    if call is None or call.fn is not cotangent or not isinstance(stmt, (ir.Assign, ir.Effect)):
        return stmt
    others = [n for n in steady if n not in ir.names(call.args[0])]
    output = ir.map_atom(lambda name: _of_same_form(name, others, kinds), call.args[1])
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
