"""Writes a function anew: a pass that needs new statements, or what stands before, is one of these.

Where a statement itself decides what stands for it, `ir.replaced` is enough.
"""

from __future__ import annotations

from srcdiff import ir
from srcdiff.ir.builder import Builder


class Rewriter(Builder):
    """Goes over the statements in source order; what is written meanwhile stands before each.

    A subclass says in `stmt` what stands for a statement.  What does not change stays the same
    object.
    """

    def function(self, function: ir.Function) -> ir.Function:
        """A function anew."""
        return ir.rebuilt(function, body=self.block(function.body))

    def block(self, block: ir.Block) -> ir.Block:
        """A block anew."""
        around, self.out = self.out, []
        for stmt in block:
            self.loc = stmt.loc
            new = self.stmt(stmt)
            if type(new) is tuple:
                self.out += new
            else:
                self.out.append(new)  # type: ignore[arg-type]
        done, self.out = tuple(self.out), around
        return done

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """What stands for a statement: another one, or several or none in a tuple."""
        return self.inside(stmt)

    def inside(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement with its inner blocks written anew."""
        if type(stmt) in ir.PLAIN:
            return stmt
        new = ir.map_blocks(stmt, self.inner)
        self.loc = stmt.loc
        return new

    def inner(self, block: ir.Block) -> ir.Block:
        """A block inside a statement, written anew."""
        return self.block(block)
