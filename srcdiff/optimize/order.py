"""Reorder and rename within straight lines, so that copies and second bindings go.

`d_c = d_y; d_y = d_y * x; d_b = d_b + d_c` becomes `d_b = d_b + d_y; d_y = d_y * x`: the new
value is bound after the last use of the old one.  `d_x = a; d_x = d_x + b` becomes
`_t = a; d_x = _t + b`, which reads as one expression.  `x += v; x += v` becomes `x += 2.0 * v`.
"""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import replace
from functools import cached_property

from srcdiff import ir
from srcdiff.analysis.liveness import mentioned, names_in, uses
from srcdiff.ir.kinds import Kind, is_float
from srcdiff.optimize.memory import Memory
from srcdiff.optimize.rewrite import is_temporary, mark_in
from srcdiff.primitives.effects import is_pure, mutated_args

WINDOW = 40


def reorder(function: ir.Function, kinds: dict[str, Kind]) -> ir.Function:
    """The function with the bindings of its generated part in a better order."""
    return ir.rebuilt(function, body=_Order(function, kinds).body(function.body))


class _Order:
    """The walk over the blocks of the generated part."""

    def __init__(self, function: ir.Function, kinds: dict[str, Kind]) -> None:
        self.function = function
        self.kinds = kinds
        self.count = Counter(uses(function.body))
        self.bound = Counter(n for s in ir.walk(function.body) for n in ir.writes(s))
        self.fresh = ir.Fresh(set(kinds))

    @cached_property
    def memory(self) -> Memory:
        """Which names may share memory."""
        return Memory.of(self.function, self.kinds)

    def body(self, body: ir.Block) -> ir.Block:
        """The body, in which only what follows the mark is ours."""
        mark = mark_in(body)
        return self.block(body) if mark is None else (*body[:mark], *self.block(body[mark:]))

    def block(self, block: ir.Block) -> ir.Block:
        """A block and the blocks inside it."""
        inner = [self.inside(s) for s in block]
        return tuple(self.chained(self.delayed(self.doubled(inner))))

    def inside(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement with its inner blocks in order."""
        if isinstance(stmt, ir.If):
            return ir.rebuilt(stmt, body=self.block(stmt.body), orelse=self.block(stmt.orelse))
        if isinstance(stmt, ir.For):
            return ir.rebuilt(stmt, body=self.block(stmt.body))
        if isinstance(stmt, ir.While):
            return ir.rebuilt(stmt, cond=self.block(stmt.cond), body=self.block(stmt.body))
        return stmt

    # --- adding twice ---

    def doubled(self, block: list[ir.Stmt]) -> list[ir.Stmt]:
        """Two equal additions in a row as one of twice the value."""
        out: list[ir.Stmt] = []
        for stmt in block:
            if out and isinstance(stmt, ir.SetItem) and stmt == out[-1] and self.is_sum(stmt):
                twice = self.fresh()
                self.kinds[twice.id] = self.kinds[stmt.value.id]  # type: ignore[union-attr]
                self.count[twice.id], self.bound[twice.id] = 1, 1
                call = ir.Call(operator.mul, (ir.Const(2.0), stmt.value))
                out[-1:] = [ir.Assign(twice, call, stmt.loc), replace(stmt, value=twice)]
            else:
                out.append(stmt)
        return out

    def is_sum(self, stmt: ir.SetItem) -> bool:
        """Whether a store adds floats that it does not itself change."""
        value = stmt.value
        if stmt.op not in ("+", "-") or not isinstance(value, ir.Name):
            return False
        kind = self.kinds.get(value.id)
        if kind is None or not is_float(kind):
            return False
        if not self.memory.has_memory(value.id):
            return value != stmt.base
        return self.memory.find(value.id) != self.memory.find(stmt.base.id)

    # --- binding later ---

    def delayed(self, block: list[ir.Stmt]) -> list[ir.Stmt]:
        """New values bound after the last use of a copy of the old one."""
        k = 0
        while k < len(block):
            move = self.move(block, k)
            if move is not None:
                start, end = move
                block.insert(end, block.pop(start))
            k += 1
        return block

    def move(self, block: list[ir.Stmt], k: int) -> tuple[int, int] | None:
        """From where to where a binding moves so that the copy at `k` need not be one."""
        copy = block[k]
        if not isinstance(copy, ir.Assign) or not isinstance(copy.rhs, ir.Name):
            return None
        name, old = copy.target.id, copy.rhs.id
        if self.bound[name] != 1:
            return None
        start = next(
            (j for j in range(k + 1, min(len(block), k + WINDOW)) if old in ir.writes(block[j])),
            None,
        )
        if start is None:
            return None
        readers = [
            j for j in range(k + 1, min(len(block), start + WINDOW)) if name in uses((block[j],))
        ]
        if sum(Counter(uses((block[j],)))[name] for j in readers) != self.count[name]:
            return None
        if not readers or readers[-1] <= start:
            return None
        passed = block[start + 1 : readers[-1] + 1]
        return (start, readers[-1]) if self.may_pass(block[start], passed) else None

    def may_pass(self, stmt: ir.Stmt, others: list[ir.Stmt]) -> bool:
        """Whether a pure assignment may run after the others instead of before them."""
        if not isinstance(stmt, ir.Assign) or not isinstance(stmt.rhs, ir.Call):
            return False
        if not is_pure(stmt.rhs.fn) or mutated_args(stmt.rhs):
            return False
        if any(stmt.target.id in mentioned(s) for s in others):
            return False
        # An operator in place on a number binds it anew.
        stores = (s for s in ir.walk(tuple(others)) if isinstance(s, ir.SetItem))
        anew = {s.base.id for s in stores if s.index is None}
        if set(ir.names(stmt.rhs)) & (anew | ir.bound(tuple(others))):
            return False
        looked = {self.memory.find(n) for n in ir.names(stmt.rhs) if self.memory.has_memory(n)}
        return not any(looked & set(self.memory.written_by(s)) for s in ir.walk(tuple(others)))

    # --- one expression ---

    def chained(self, block: list[ir.Stmt]) -> list[ir.Stmt]:
        """First bindings that only serve a second one get a temporary's name."""
        waiting: dict[str, int] = {}
        for k, stmt in enumerate(block):
            if not isinstance(stmt, ir.Assign) or not isinstance(stmt.rhs, ir.Call):
                waiting = {}
                continue
            target = stmt.target.id
            start = waiting.get(target)
            if start is not None and _reads_once(stmt.rhs, target):
                self.rename(block, start, k)
            if not is_temporary(target):
                waiting = {target: k}
            elif self.count[target] != 1 or target in waiting or self.bound[target] != 1:
                waiting = {}
            else:
                names = names_in(stmt.rhs)
                waiting = {n: j for n, j in waiting.items() if n not in names}
        return block

    def rename(self, block: list[ir.Stmt], start: int, end: int) -> None:
        """Give the first of two bindings a name of its own."""
        first, second = block[start], block[end]
        assert isinstance(first, ir.Assign) and isinstance(second, ir.Assign)
        name = self.fresh()
        self.count[name.id], self.bound[name.id] = 1, 1
        old = first.target
        if old.id in self.kinds:
            self.kinds[name.id] = self.kinds[old.id]

        def read(n: ir.Name) -> ir.Atom:
            return name if n == old else n

        block[start] = replace(first, target=name)
        block[end] = replace(second, rhs=ir.map_rhs(read, second.rhs))


def _reads_once(rhs: ir.Rhs, name: str) -> bool:
    """Whether a right-hand side reads a name exactly once."""
    return names_in(rhs).count(name) == 1
