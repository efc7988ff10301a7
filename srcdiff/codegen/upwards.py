"""Loops of the backward part that only repeat their body count upwards.

`t = n - 1; for i in range(t, -1, -1): ...` becomes `for _ in range(n): ...` where nothing reads
`i`: the same number of rounds, counted as the forward part counts them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace

from srcdiff import ir
from srcdiff.analysis.liveness import live_after
from srcdiff.codegen.tidy import sum_of, sum_with
from srcdiff.ir.kinds import Kind
from srcdiff.optimize.dead_code import remove_dead
from srcdiff.optimize.rewrite import is_temporary

_BACK = (ir.Const(-1),)
_Sums = Mapping[str, tuple[ir.Name, int]]  # bounds that are `x + 1` as long as `x` stays


def upwards(function: ir.Function, kinds: dict[str, Kind]) -> ir.Function:
    """The function with these loops counting upwards; `kinds` gets those of new temporaries."""
    down = [s for s in ir.walk(function.body) if isinstance(s, ir.For) and _range_down(s)]
    if not down:
        return function
    body = _Upwards(function, kinds, down).block(function.body, {})
    return function if body == function.body else remove_dead(replace(function, body=body), kinds)


def _range_down(stmt: ir.For) -> ir.Call | None:
    """The range of a loop that the compiler has turned round: what a user writes has a text."""
    call = stmt.iter
    ours = isinstance(call, ir.Call) and call.fn is range and call.text is None
    return call if isinstance(call, ir.Call) and ours and call.args[2:] == _BACK else None


class _Upwards:
    """The walk through the blocks, with what the bounds of the loops are sums of."""

    def __init__(self, function: ir.Function, kinds: dict[str, Kind], down: list[ir.For]) -> None:
        self.function = function
        self.kinds = kinds
        self.bounds = {n for s in down for n in ir.names(s.iter)}
        self.fresh = ir.Fresh(ir.all_names(function))

    def block(self, block: ir.Block, sums: _Sums) -> ir.Block:
        """A block in which `sums` are known at first."""
        out: list[ir.Stmt] = []
        for stmt in block:
            out += self.stmt(stmt, sums)
            sums = self.after(stmt, sums)
        return tuple(out)

    def after(self, stmt: ir.Stmt, sums: _Sums) -> _Sums:
        """The sums that are known after a statement."""
        sums = _without(sums, stmt)
        if not isinstance(stmt, ir.Assign) or stmt.target.id not in self.bounds:
            return sums
        found = sum_of(stmt.rhs, self.kinds) if is_temporary(stmt.target.id) else None
        return sums if found is None else {**sums, stmt.target.id: found}

    def stmt(self, stmt: ir.Stmt, sums: _Sums) -> Iterator[ir.Stmt]:
        """A statement, behind what a loop in its new form needs."""
        inside = _without(sums, stmt) if ir.blocks(stmt) else sums
        new = ir.map_blocks(stmt, lambda b: self.block(b, inside))
        if isinstance(stmt, ir.For) and isinstance(new, ir.For):
            down = _range_down(stmt)
            if down is not None and not self.is_read(stmt):
                new = yield from self.loop(new, down, sums)
        yield new

    def loop(self, stmt: ir.For, down: ir.Call, sums: _Sums) -> Generator[ir.Stmt, None, ir.For]:
        """A loop whose variable nobody reads; yields what it needs before."""
        made: list[ir.Stmt] = []
        args = [self.above(a, sums, stmt.loc, made) for a in (down.args[1], down.args[0])]
        call = replace(down, args=tuple(args[args[0] == ir.Const(0) :]))
        yield from made
        return replace(stmt, target=self.fresh("_k"), iter=call)

    def is_read(self, stmt: ir.For) -> bool:
        """Whether anything reads the variable of a loop."""
        inside = stmt.target.id in ir.used(stmt.body)
        return inside or stmt.target.id in live_after(self.function, stmt)

    def above(self, atom: ir.Atom, sums: _Sums, loc: ir.Loc, out: list[ir.Stmt]) -> ir.Atom:
        """The number above a bound; `out` gets the statement that computes it, if there is one."""
        if isinstance(atom, ir.Const):
            return ir.Const(atom.value + 1)
        assert isinstance(atom, ir.Name)
        base, number = sums.get(atom.id, (atom, 0))
        rhs = sum_with(base, number + 1)
        if isinstance(rhs, ir.Name):
            return rhs
        name = self.fresh()
        if atom.id in self.kinds:
            self.kinds[name.id] = self.kinds[atom.id]
        out.append(ir.Assign(name, rhs, loc))
        return name


def _without(sums: _Sums, stmt: ir.Stmt) -> _Sums:
    """The sums that a statement leaves as they are."""
    if not sums:
        return sums
    bound = ir.bound((stmt,))
    return {t: s for t, s in sums.items() if t not in bound and s[0].id not in bound}
