"""The adjoint statements between `reverse` and `tape`, as a block that runs after the primal."""

from __future__ import annotations

from srcdiff import ir


def adjoints(block: ir.Block) -> ir.Block:
    """The adjoint statements of pairs, in the order in which they run."""
    out: list[ir.Stmt] = []
    for stmt in reversed(block):
        if isinstance(stmt, ir.Pair):
            out += stmt.adjoint
            stmt = stmt.primal if stmt.primal is not None else ir.Comment("")
        if isinstance(stmt, ir.If):
            out += [ir.If(stmt.test, adjoints(stmt.body), adjoints(stmt.orelse))]
        elif isinstance(stmt, ir.For):
            out += [ir.For(stmt.target, stmt.iter, adjoints(stmt.body))]
        elif isinstance(stmt, ir.While):
            out += [ir.While((), stmt.test, adjoints(stmt.body))]
    return tuple(out)
