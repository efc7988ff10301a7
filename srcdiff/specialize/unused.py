"""Functions that are made and that nobody uses any more."""

from __future__ import annotations

from dataclasses import replace

from srcdiff import ir
from srcdiff.frontend.lowering import Closure
from srcdiff.specialize.nested.calls import is_transform, makes_matrix


def without_unused(function: ir.Function) -> ir.Function:
    """The function without the functions that it makes and nobody uses."""
    made = {
        s.target.id
        for s in ir.walk(function.body)
        if isinstance(s, ir.Assign) and (isinstance(s.rhs, Closure) or _makes_derivative(s))
    }
    while made:
        used = ir.used(function.body)
        aliases = {
            s.target.id
            for s in ir.walk(function.body)
            if isinstance(s, ir.Assign)
            and isinstance(s.rhs, (ir.Name, ir.Tup))
            and not made.isdisjoint(ir.names(s.rhs))
        }
        gone = (made | aliases) - used
        if not gone:
            break
        made |= aliases
        function = replace(function, body=_without(function.body, gone))
        made -= gone
    return function


def _without(block: ir.Block, gone: set[str]) -> ir.Block:
    """A block without what binds some names to functions."""
    kept = (s for s in block if not _only_names_function(s, gone))
    return tuple(
        ir.map_blocks(s, lambda b: _without(b, gone)) for s in kept
    )


def _only_names_function(stmt: ir.Stmt, gone: set[str]) -> bool:
    if not isinstance(stmt, ir.Assign) or stmt.target.id not in gone:
        return False
    return isinstance(stmt.rhs, (Closure, ir.Name, ir.Tup)) or _makes_derivative(stmt)


def _makes_derivative(stmt: ir.Stmt) -> bool:
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    return isinstance(rhs, ir.Call) and (is_transform(rhs.fn) or makes_matrix(rhs.fn))
