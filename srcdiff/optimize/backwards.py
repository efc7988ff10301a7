"""Loops backwards over written-out items as loops over these items, the last one first.

`t = (-1, 0, 1); for k in range(len(t) - 1, -1, -1): x = t[k]; ...` becomes
`for x in (1, 0, -1): ...`, in the form in which such a loop is read: by positions, the item taken
first.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from srcdiff import ir
from srcdiff.analysis.liveness import uses
from srcdiff.optimize.dead_code import remove_dead

_DOWN = (ir.Const(-1), ir.Const(-1))


def items_in_reverse(function: ir.Function) -> ir.Function:
    """The function with its loops backwards over literals as loops over the reversed literals."""
    if not any(_goes_down(s) for s in ir.walk(function.body)):
        return function
    body = _Reversed(function).block(function.body)
    return function if body == function.body else remove_dead(replace(function, body=body))


def _goes_down(stmt: ir.Stmt) -> bool:
    """Whether a loop counts down to zero from a variable."""
    call = stmt.iter if isinstance(stmt, ir.For) else None
    return isinstance(call, ir.Call) and call.fn is range and call.args[1:] == _DOWN


class _Reversed:
    """The pass, with what each name is bound to if it is bound once."""

    def __init__(self, function: ir.Function) -> None:
        self.fresh = ir.Fresh(ir.all_names(function))
        count = Counter(n for s in ir.walk(function.body) for n in ir.writes(s))
        self.defined = {
            s.target.id: s.rhs
            for s in ir.walk(function.body)
            if isinstance(s, ir.Assign) and count[s.target.id] == 1
        }
        self.reads = Counter(uses(function.body))

    def block(self, block: ir.Block) -> ir.Block:
        """A block with its loops in this form."""
        return tuple(s for stmt in block for s in self.stmt(stmt))

    def stmt(self, stmt: ir.Stmt) -> Iterator[ir.Stmt]:
        """A statement, and what a loop in its new form runs over."""
        stmt = ir.map_blocks(stmt, self.block)
        items = self.items(stmt)
        place = None if items is None else self.taken(stmt, items[0])
        if not isinstance(stmt, ir.For) or items is None or place is None:
            yield stmt
            return
        base, count = self.fresh("_t"), self.fresh("_n")
        take = stmt.body[place]
        assert isinstance(take, ir.Assign)
        first = replace(take, rhs=ir.Call(operator.getitem, (base, stmt.target), text=ir.LOOP))
        yield ir.Assign(base, ir.Tup(items[1].items[::-1]), stmt.loc)
        yield ir.Assign(count, ir.Call(len, (base,), text="len"), stmt.loc)
        body = (first, *stmt.body[:place], *stmt.body[place + 1 :])
        yield replace(stmt, iter=ir.Call(range, (count,), text="range"), body=body)

    def items(self, stmt: ir.Stmt) -> tuple[ir.Name, ir.Tup] | None:
        """The name of the literal that a loop counts down along, and the literal."""
        down = stmt.iter if isinstance(stmt, ir.For) and _goes_down(stmt) else None
        last = self.call(down.args[0], operator.sub) if isinstance(down, ir.Call) else None
        length = None if last is None or last[1] != ir.Const(1) else self.call(last[0], len)
        base = None if length is None else length[0]
        made = self.defined.get(base.id) if isinstance(base, ir.Name) else None
        if not isinstance(base, ir.Name) or not isinstance(made, ir.Tup):
            return None
        return (base, made) if all(isinstance(i, ir.Const) for i in made.items) else None

    def call(self, atom: ir.Atom, fn: object) -> tuple[ir.Atom, ...] | None:
        """The arguments of the call of a function that a name is bound to."""
        rhs = self.defined.get(atom.id) if isinstance(atom, ir.Name) else None
        return rhs.args if isinstance(rhs, ir.Call) and rhs.fn is fn else None

    def taken(self, stmt: ir.Stmt, base: ir.Name) -> int | None:
        """Where the body takes its item, if it looks at its position for nothing else."""
        if not isinstance(stmt, ir.For) or self.reads[stmt.target.id] != 1:
            return None
        take = ir.Call(operator.getitem, (base, stmt.target))
        for place, inner in enumerate(stmt.body):
            if isinstance(inner, ir.Assign) and inner.rhs == take:
                before = ir.used(stmt.body[:place]) | ir.bound(stmt.body[:place])
                rebound = inner.target.id in ir.bound(stmt.body[place + 1 :])
                return None if rebound or inner.target.id in before else place
        return None
