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
from collections.abc import Generator, Iterator, Mapping

from srcdiff import ir
from srcdiff.analysis.liveness import live_after
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.ir.kinds import Kind, Scalar
from srcdiff.optimize.dead_code import remove_dead
from srcdiff.optimize.rewrite import is_unnamed
from srcdiff.primitives.ops import Op, is_op


def fold(function: ir.Function, kinds: Mapping[str, Kind]) -> ir.Function:
    """The function with sums of a whole number and literals as one sum."""
    return replace(function, body=_folded(function.body, kinds))


def _folded(block: ir.Block, kinds: Mapping[str, Kind]) -> ir.Block:
    """A block, with what its temporaries are sums of, as long as that does not change."""
    sums: dict[str, tuple[ir.Name, int]] = {}
    out: list[ir.Stmt] = []
    for stmt in block:
        if isinstance(stmt, ir.Assign):
            stmt = _folded_assign(stmt, sums, kinds)
        else:
            stmt = ir.map_blocks(stmt, lambda b: _folded(b, kinds))
        changed = ir.bound((stmt,)) if sums else ()
        sums = {t: p for t, p in sums.items() if t not in changed and p[0].id not in changed}
        parts = sum_of(stmt.rhs, kinds) if isinstance(stmt, ir.Assign) else None
        if parts is not None and isinstance(stmt, ir.Assign) and parts[0] != stmt.target:
            sums[stmt.target.id] = parts
        out.append(stmt)
    return tuple(out)


def _folded_assign(
    stmt: ir.Assign, sums: Mapping[str, tuple[ir.Name, int]], kinds: Mapping[str, Kind]
) -> ir.Assign:
    """`t = u + 1`, where `u` is itself a sum."""
    parts = sum_of(stmt.rhs, kinds)
    if parts is None or not parts[0].id.startswith("_") or parts[0].id not in sums:
        return stmt
    base, number = sums[parts[0].id]
    return replace(stmt, rhs=sum_with(base, number + parts[1]))


def sum_of(rhs: ir.Rhs, kinds: Mapping[str, Kind]) -> tuple[ir.Name, int] | None:
    """`(x, c)` for `x + c` and `x - c` with a whole number x and a literal c."""
    if not is_op(rhs, Op.ADD, Op.SUB) or len(rhs.args) != 2:
        return None
    base, number = rhs.args
    if not isinstance(base, ir.Name) or not isinstance(number, ir.Const):
        return None
    kind = kinds.get(base.id)
    whole = isinstance(kind, Scalar) and kind.dtype == "int64" and bool(kind.python)
    if not whole or type(number.value) is not int:
        return None
    return base, number.value if is_op(rhs, Op.ADD) else -number.value


def sum_with(base: ir.Atom, number: int) -> ir.Rhs:
    """`base + number` in its plain form."""
    if number == 0:
        return base
    fn = operator.add if number > 0 else operator.sub
    return ir.Call(fn, (base, ir.Const(abs(number))))


# --- loops of the backward part that only repeat their body count upwards ------------------------


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
    ours = is_op(call, Op.RANGE) and call.text is None
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
        found = sum_of(stmt.rhs, self.kinds) if is_unnamed(stmt.target.id) else None
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


# --- loops backwards over written-out items as loops over these items, the last one first --------


_DOWN = (ir.Const(-1), ir.Const(-1))


def items_in_reverse(function: ir.Function) -> ir.Function:
    """The function with its loops backwards over literals as loops over the reversed literals."""
    if not any(_goes_down(s) for s in ir.walk(function.body)):
        return function
    new = _Reversed(function).function(function)
    return function if new is function else remove_dead(new)


def _goes_down(stmt: ir.Stmt) -> bool:
    """Whether a loop counts down to zero from a variable."""
    call = stmt.iter if isinstance(stmt, ir.For) else None
    return is_op(call, Op.RANGE) and call.args[1:] == _DOWN


class _Reversed(Rewriter):
    """The pass, with what each name is bound to if it is bound once."""

    def __init__(self, function: ir.Function) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        count = ir.binding_counts(function.body)
        self.defined = {
            s.target.id: s.rhs
            for s in ir.walk(function.body)
            if isinstance(s, ir.Assign) and count[s.target.id] == 1
        }
        self.reads = ir.use_counts(function.body)

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement, and what a loop in its new form runs over."""
        stmt = self.inside(stmt)
        items = self.items(stmt)
        place = None if items is None else self.taken(stmt, items[0])
        if not isinstance(stmt, ir.For) or items is None or place is None:
            return stmt
        base = self.temp(ir.Tup(items[1].items[::-1]))
        count = self.call(len, base, base="_n")
        take = stmt.body[place]
        assert isinstance(take, ir.Assign)
        first = replace(take, rhs=ir.Call(operator.getitem, (base, stmt.target), role=ir.Role.LOOP))
        body = (first, *stmt.body[:place], *stmt.body[place + 1 :])
        return replace(stmt, iter=ir.Call(range, (count,), text="range"), body=body)

    def items(self, stmt: ir.Stmt) -> tuple[ir.Name, ir.Tup] | None:
        """The name of the literal that a loop counts down along, and the literal."""
        down = stmt.iter if isinstance(stmt, ir.For) and _goes_down(stmt) else None
        last = self.args_of(down.args[0], Op.SUB) if isinstance(down, ir.Call) else None
        length = None if last is None or last[1] != ir.Const(1) else self.args_of(last[0], Op.LEN)
        base = None if length is None else length[0]
        made = self.defined.get(base.id) if isinstance(base, ir.Name) else None
        if not isinstance(base, ir.Name) or not isinstance(made, ir.Tup):
            return None
        return (base, made) if all(isinstance(i, ir.Const) for i in made.items) else None

    def args_of(self, atom: ir.Atom, op: Op) -> tuple[ir.Atom, ...] | None:
        """The arguments of the operation that a name is bound to."""
        rhs = self.defined.get(atom.id) if isinstance(atom, ir.Name) else None
        return rhs.args if is_op(rhs, op) else None

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
