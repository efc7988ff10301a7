"""Plainer loops and whole numbers in a finished derivative.

`fold` takes a function and the kinds of its names, and returns it with `n - 1 - 1` as `n - 2`.

`upwards` lets loops of the backward part that only repeat their body count upwards.
`t = n - 1; for i in range(t, -1, -1): ...` becomes `for _ in range(n): ...` where nothing reads
`i`: the same number of rounds, counted as the forward part counts them.

`items_in_reverse` makes loops backwards over written-out items loops over these items, the last one
first.  `t = (-1, 0, 1); for k in range(len(t) - 1, -1, -1): x = t[k]; ...` becomes
`for x in (1, 0, -1): ...`, in the form in which such a loop is read: by positions, the item taken
first.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import partial

from srcdiff import ir
from srcdiff.analysis.liveness import live_after
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.optimize.dead_code import remove_dead
from srcdiff.primitives.ops import Op, is_op

_Sums = Mapping[str, tuple[ir.Name, int]]
"""Temporaries that are `x + 1` as long as `x` stays: `x` and the number."""


def fold(function: ir.Function, kinds: Mapping[str, ir.Kind]) -> ir.Function:
    """The function with sums of a whole number and literals as one sum."""
    return ir.rebuilt(function, body=_folded(function.body, kinds, {}))


def _folded(block: ir.Block, kinds: Mapping[str, ir.Kind], sums: _Sums) -> ir.Block:
    """A block that begins with some sums known."""
    out: list[ir.Stmt] = []
    for stmt in block:
        parts = None
        if type(stmt) is ir.Assign:
            parts = sum_of(stmt.rhs, kinds)
            if parts is not None and ir.is_temporary(parts[0].id) and parts[0].id in sums:
                base, number = sums[parts[0].id]
                parts = base, number + parts[1]
                stmt = replace(stmt, rhs=_sum(*parts))
            sums = _without(sums, stmt)
            if parts is not None and parts[0] != stmt.target:
                sums = {**sums, stmt.target.id: parts}
        elif type(stmt) not in ir.PLAIN:
            sums = _without(sums, stmt)
            stmt = ir.map_blocks(stmt, partial(_folded, kinds=kinds, sums=sums))
        out.append(stmt)
    return tuple(out)


def _without(sums: _Sums, stmt: ir.Stmt) -> _Sums:
    """The sums that a statement leaves as they are."""
    bound = ir.bound_in(stmt) if sums else ()
    if not bound:
        return sums
    return {t: s for t, s in sums.items() if t not in bound and s[0].id not in bound}


def sum_of(rhs: ir.Rhs, kinds: Mapping[str, ir.Kind]) -> tuple[ir.Name, int] | None:
    """`(x, c)` for `x + c` and `x - c` with a whole number x and a literal c."""
    if not is_op(rhs, Op.ADD, Op.SUB) or len(rhs.args) != 2:
        return None
    base, number = rhs.args
    if type(base) is not ir.Name or type(number) is not ir.Const:
        return None
    kind = kinds.get(base.id)
    if not ir.is_integer(kind) or not kind.python or type(number.value) is not int:
        return None
    return base, number.value if is_op(rhs, Op.ADD) else -number.value


def _sum(base: ir.Name, number: int) -> ir.Rhs:
    """`base + number` in its plain form."""
    fn = operator.add if number > 0 else operator.sub
    return ir.Call(fn, (base, ir.Const(abs(number)))) if number else base


# --- loops of the backward part that only repeat their body count upwards ------------------------


_BACK = (ir.Const(-1),)


def upwards(function: ir.Function, kinds: dict[str, ir.Kind]) -> ir.Function:
    """The function with these loops counting upwards; `kinds` gets those of new temporaries."""
    new = _Upwards(function, kinds).function(function)
    return function if new is function else remove_dead(fold(new, kinds), kinds)


class _Upwards(Rewriter):
    """The pass, with the function as it was, in which a variable may be read after its loop."""

    def __init__(self, function: ir.Function, kinds: dict[str, ir.Kind]) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.whole, self.kinds = function, kinds

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement, behind what a loop in its new form needs."""
        new = self.inside(stmt)
        down = new.iter if type(new) is ir.For else None
        # What a user writes has a text.
        ours = is_op(down, Op.RANGE) and down.text is None and down.args[2:] == _BACK
        if type(new) is not ir.For or not ours or self.is_read(new.target.id, stmt):
            return new
        stop, start = self.above(down.args[1]), self.above(down.args[0])  # type: ignore[union-attr]
        ends = (start,) if stop == ir.Const(0) else (stop, start)
        return replace(new, target=self.fresh("_k"), iter=ir.Call(range, ends))

    def is_read(self, counter: str, loop: ir.Stmt) -> bool:
        """Whether anything reads the variable of a loop."""
        inside = any(counter in ir.used(body) for body in ir.blocks(loop))
        return inside or counter in live_after(self.whole, loop)

    def above(self, end: ir.Atom) -> ir.Atom:
        """The number above an end."""
        if type(end) is ir.Const:
            return ir.Const(end.value + 1)
        assert type(end) is ir.Name
        above = self.temp(ir.Call(operator.add, (end, ir.Const(1))))
        if end.id in self.kinds:
            self.kinds[above.id] = self.kinds[end.id]
        return above


# --- loops backwards over written-out items as loops over these items, the last one first --------


_DOWN = (ir.Const(-1), ir.Const(-1))


def items_in_reverse(function: ir.Function) -> ir.Function:
    """The function with its loops backwards over literals as loops over the reversed literals."""
    if not any(_goes_down(s) for s in ir.walk(function)):
        return function
    new = _Reversed(function).function(function)
    return function if new is function else remove_dead(new)


def _goes_down(stmt: ir.Stmt) -> bool:
    """Whether a loop counts down to zero from a variable."""
    call = stmt.iter if type(stmt) is ir.For else None
    return is_op(call, Op.RANGE) and call.args[1:] == _DOWN


class _Reversed(Rewriter):
    """The pass, with what each name is bound to if it is bound once."""

    def __init__(self, function: ir.Function) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        count = ir.binding_counts(function)
        self.defined = {
            s.target.id: s.rhs
            for s in ir.walk(function)
            if type(s) is ir.Assign and count[s.target.id] == 1
        }
        self.reads = ir.use_counts(function)

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement, and what a loop in its new form runs over."""
        stmt = self.inside(stmt)
        items = self.items(stmt)
        place = None if items is None else self.taken(stmt, items[0])
        if type(stmt) is not ir.For or items is None or place is None:
            return stmt
        base = self.temp(ir.Tup(items[1].items[::-1]))
        count = self.call(len, base, base="_n")
        take = stmt.body[place]
        assert type(take) is ir.Assign
        first = replace(take, rhs=ir.Call(operator.getitem, (base, stmt.target), role=ir.Role.LOOP))
        body = (first, *stmt.body[:place], *stmt.body[place + 1 :])
        return replace(stmt, iter=ir.Call(range, (count,), text="range"), body=body)

    def items(self, stmt: ir.Stmt) -> tuple[ir.Name, ir.Tup] | None:
        """The name of the literal that a loop counts down along, and the literal."""
        down = stmt.iter if type(stmt) is ir.For and _goes_down(stmt) else None
        last = self.args_of(down.args[0], Op.SUB) if type(down) is ir.Call else None
        length = None if last is None or last[1] != ir.Const(1) else self.args_of(last[0], Op.LEN)
        base = None if length is None else length[0]
        made = self.defined.get(base.id) if type(base) is ir.Name else None
        if type(base) is not ir.Name or type(made) is not ir.Tup:
            return None
        return (base, made) if all(type(i) is ir.Const for i in made.items) else None

    def args_of(self, atom: ir.Atom, op: Op) -> tuple[ir.Atom, ...] | None:
        """The arguments of the operation that a name is bound to."""
        rhs = self.defined.get(atom.id) if type(atom) is ir.Name else None
        return rhs.args if is_op(rhs, op) else None

    def taken(self, stmt: ir.Stmt, base: ir.Name) -> int | None:
        """Where the body takes its item, if it looks at its position for nothing else."""
        if type(stmt) is not ir.For or self.reads[stmt.target.id] != 1:
            return None
        take = ir.Call(operator.getitem, (base, stmt.target))
        for place, inner in enumerate(stmt.body):
            if type(inner) is ir.Assign and inner.rhs == take:
                before = ir.used(stmt.body[:place]) | ir.bound(stmt.body[:place])
                rebound = inner.target.id in ir.bound(stmt.body[place + 1 :])
                return None if rebound or inner.target.id in before else place
        return None
