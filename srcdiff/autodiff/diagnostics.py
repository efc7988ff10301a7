"""What tells the user where a derivative is nan.

`checked` takes a function whose statements are paired with their adjoints, and the facts about it;
it returns it with a check for nan or infinity behind every statement that changes an adjoint, and
with a note of the first forward value that is bad, which a check that fails reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.ir.frozen import frozen, replace
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import trees
from srcdiff.texts import line_of

Counters = tuple[ir.Name, ...]


def checked(function: ir.Function, facts: Facts, what: str) -> ir.Function:
    """A paired function with its adjoints checked for `what`: "nan", "inf" or "nan or inf"."""
    primal = {d: p for p, d in facts.adjoints.items()}
    checks = _Checks(ir.Const(what), facts.fresh("seen"), primal, facts.active)
    made = ir.Call(trees.nothing_seen, text="nothing_seen")
    start = ir.Pair(ir.Assign(checks.seen, made, function.loc), (), function.loc)
    return ir.rebuilt(function, body=(start, *checks.block(function.body, ())))


@frozen
class _Checks:
    """What the checks have in common."""

    what: ir.Const
    seen: ir.Name
    primal: Mapping[str, str]
    active: frozenset[str]

    def block(self, block: ir.Block, counters: Counters) -> ir.Block:
        """A block with its adjoints checked."""
        out: list[ir.Stmt] = []
        for stmt in block:
            if isinstance(stmt, ir.Pair):
                out.append(replace(stmt, adjoint=self.block(stmt.adjoint, counters)))
                out += self.noted(stmt, counters)
                continue
            inner = (*counters, stmt.target) if isinstance(stmt, ir.For) else counters
            out.append(ir.map_blocks(stmt, partial(self.block, counters=inner)))
            changed = _changed(stmt)
            if changed in self.primal and not self.is_passing(stmt):
                value = self.primal[changed], ir.Name(changed)
                out.append(self.call(trees.check_adjoint, *value, stmt, counters))
        return tuple(out)

    def is_passing(self, stmt: ir.Stmt) -> bool:
        """Whether a value is only handed to a part of an expression: a variable comes next."""
        copy = isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Name)
        return copy and ir.is_temporary(self.primal[_changed(stmt)])

    def noted(self, pair: ir.Pair, counters: Counters) -> ir.Block:
        """The note of a forward value that carries a derivative."""
        primal = pair.primal
        if not isinstance(primal, (ir.Assign, ir.Store)):
            return ()
        name = primal.target if isinstance(primal, ir.Assign) else primal.base
        if name.id not in self.active:
            return ()
        note = self.call(trees.note_value, name.id, name, primal, counters)
        return (ir.Pair(note, (), pair.loc),)

    def call(
        self, fn: Any, primal: str, value: ir.Name, stmt: ir.Stmt, counters: Counters
    ) -> ir.Effect:
        """`check_adjoint(seen, d_h, "nan", "`h`", "model.py:3:9: h = np.sqrt(x)", i=i)`."""
        loc: ir.Loc = stmt.loc
        name = "an intermediate result" if ir.is_temporary(primal) else f"`{primal}`"
        line = line_of(loc.file, loc.line).strip()
        place = f"{loc.file}:{loc.line}:{loc.col}: {line}"
        args = (self.seen, value, self.what, ir.Const(name), ir.Const(place))
        named = tuple((c.id, c) for c in counters if not ir.is_temporary(c.id))
        return ir.Effect(ir.Call(fn, args, named), loc)


def _changed(stmt: ir.Stmt) -> str:
    """The name that a statement gives a new value, other than zero."""
    if isinstance(stmt, ir.Store):
        return stmt.base.id
    if not isinstance(stmt, ir.Assign) or isinstance(stmt.rhs, ir.Const):
        return ""
    new = is_op(stmt.rhs, Op.ZEROS_LIKE, Op.TREE_ZEROS_LIKE, Op.ZERO_TREE, Op.ZEROS_OF)
    return "" if new else stmt.target.id
