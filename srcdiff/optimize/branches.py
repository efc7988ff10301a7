"""What both branches of an `if` do stands before it, once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from srcdiff import ir
from srcdiff.analysis.liveness import mentioned
from srcdiff.optimize.memory import Memory
from srcdiff.runtime.trees import zero_tree


def common(stmt: ir.If, memory: Memory) -> tuple[ir.Block, ir.If]:
    """The statements that both branches start with, or may start with, and the `if` without."""
    before: list[ir.Stmt] = []
    body: list[ir.Stmt] = []
    orelse = list(stmt.orelse)
    for one in stmt.body:
        place = _place(one, stmt.test, body, orelse, memory)
        if place is None:
            body.append(one)
        else:
            before.append(one)
            del orelse[place]
    if not before:
        return (), stmt
    return tuple(before), ir.rebuilt(stmt, body=tuple(body), orelse=tuple(orelse))


def _place(
    stmt: ir.Stmt, test: ir.Atom, body: list[ir.Stmt], orelse: list[ir.Stmt], memory: Memory
) -> int | None:
    """Where the other branch has a statement as well that may run before all of both."""
    if not body and orelse and orelse[0] == stmt:
        return 0 if _leaves(stmt, test, memory) else None
    if not isinstance(stmt, ir.Assign) or not _makes_zeros(stmt) or stmt not in orelse:
        return None
    if not _leaves(stmt, test, memory):
        return None
    place = orelse.index(stmt)
    return place if _is_apart(stmt, (*body, *orelse[:place]), memory) else None


def _leaves(stmt: ir.Stmt, test: ir.Atom, memory: Memory) -> bool:
    """Whether a test is the same after a statement."""
    if not isinstance(stmt, (ir.Assign, ir.SetItem)):
        return False
    bound = stmt.target if isinstance(stmt, ir.Assign) else stmt.base
    asked = ir.names(test)
    written = memory.written_by(stmt)
    return bound.id not in asked and not any(memory.find(n) in written for n in asked)


def _makes_zeros(stmt: ir.Assign) -> bool:
    """Whether a statement makes new memory, and looks at nothing but its form for that."""
    if isinstance(stmt.rhs, ir.Call):
        return stmt.rhs.fn in (np.zeros_like, zero_tree)
    return isinstance(stmt.rhs, ir.Const)


def _is_apart(stmt: ir.Assign, others: Iterable[ir.Stmt], memory: Memory) -> bool:
    """Whether a statement may run before others: they do not meet what it reads or makes."""
    read = set(ir.reads(stmt))
    form = {memory.find(n) for n in read}
    for other in others:
        names = mentioned(other)
        if stmt.target.id in names or not read.isdisjoint(ir.bound((other,))):
            return False
        if any(not form.isdisjoint(memory.written_by(s)) for s in ir.walk((other,))):
            return False
    return True
