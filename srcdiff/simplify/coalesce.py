"""`_t = e` with `y = _t` as its only use becomes `y = e`."""

from __future__ import annotations

from dataclasses import replace

from srcdiff import ir
from srcdiff.analyses.liveness import mentioned, uses
from srcdiff.simplify.rewrite import is_temporary


def coalesce(function: ir.Function) -> ir.Function:
    """The function with temporaries bound to the name that they are copied to."""
    reads: dict[str, int] = {}
    for name in uses(function.body):
        reads[name] = reads.get(name, 0) + 1
    bound: dict[str, int] = {}
    for stmt in ir.walk(function.body):
        for name in ir.writes(stmt):
            bound[name] = bound.get(name, 0) + 1
    single = frozenset(
        n for n, count in bound.items() if is_temporary(n) and count == 1 and reads.get(n) == 1
    )
    return replace(function, body=_block(function.body, single))


def _block(block: ir.Block, single: frozenset[str]) -> ir.Block:
    """A block and the blocks inside it."""
    out: list[ir.Stmt] = []
    made: dict[str, int] = {}
    touched: dict[str, int] = {}
    for stmt in block:
        place = len(out)
        if isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Name) and stmt.rhs.id in made:
            start = made[stmt.rhs.id]
            if touched.get(stmt.target.id, -1) <= start:
                first = out[start]
                assert isinstance(first, ir.Assign)
                out[start] = replace(first, target=stmt.target)
                touched[stmt.target.id] = start
                continue
        if isinstance(stmt, ir.Assign) and stmt.target.id in single:
            made[stmt.target.id] = place
        for name in mentioned(stmt):
            touched[name] = place
        out.append(_inside(stmt, single))
    return tuple(out)


def _inside(stmt: ir.Stmt, single: frozenset[str]) -> ir.Stmt:
    """A statement with its inner blocks coalesced."""
    if isinstance(stmt, ir.If):
        return replace(stmt, body=_block(stmt.body, single), orelse=_block(stmt.orelse, single))
    if isinstance(stmt, ir.For):
        return replace(stmt, body=_block(stmt.body, single))
    if isinstance(stmt, ir.While):
        return replace(stmt, cond=_block(stmt.cond, single), body=_block(stmt.body, single))
    return stmt
