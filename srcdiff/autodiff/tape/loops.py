"""Running a loop backwards: its trip count and the values of its target."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.analysis.links import stored_names
from srcdiff.autodiff.tape.needs import Item
from srcdiff.errors import InternalError
from srcdiff.ir.kinds import UNKNOWN, Kind, Scalar, Unknown

Kinds = Mapping[str, Kind]


@dataclass(frozen=True)
class Trip:
    """How a loop runs backwards: `before`, then the loop `header`; its body starts with `first`."""

    header: ir.For
    before: ir.Block = ()
    first: ir.Block = ()
    needed: frozenset[Item] = frozenset()


def countable(function: ir.Function, facts: Facts) -> ir.Block:
    """A Pair tree in which every loop can be run backwards and every test stays as it was.

    A loop that may be left early counts its iterations: the first statement of its body adds one to
    a counter.  Bounds that the body changes, and tests that the branches change, are copied before.
    Of lists and arrays that are tests (`if stack:`) and written into, only the answer is kept.
    """
    return _block(function.body, facts.fresh, _written_tests(function.body, facts.kinds))


def _block(block: ir.Block, fresh: ir.Fresh, written: frozenset[str]) -> ir.Block:
    return tuple(s for stmt in block for s in _countable(stmt, fresh, written))


def _countable(stmt: ir.Stmt, fresh: ir.Fresh, written: frozenset[str]) -> ir.Block:
    if isinstance(stmt, ir.If):
        body, orelse = _block(stmt.body, fresh, written), _block(stmt.orelse, fresh, written)
        copies: ir.Block = ()
        test = stmt.test
        if isinstance(test, ir.Name) and test.id in written:
            copies, test = _kept(ir.Call(bool, (test,), text="bool"), fresh, stmt.loc)
        else:
            copies, test = _copied(test, ir.bound(body) | ir.bound(orelse), fresh, stmt.loc)
        return (*copies, replace(stmt, test=test, body=body, orelse=orelse))
    if isinstance(stmt, ir.For):
        return _countable_for(stmt, fresh, written)
    if isinstance(stmt, ir.While):
        return _counting(stmt, _block(stmt.body, fresh, written), fresh)
    return (stmt,)


def _written_tests(body: ir.Block, kinds: Kinds) -> frozenset[str]:
    """The names of tests that are lists or arrays which the function may write into."""
    stored = frozenset[str]().union(*stored_names(tuple(_primals(body)), kinds))
    tests = {s.test.id for s in ir.walk(body) if isinstance(s, ir.If) and type(s.test) is ir.Name}
    # What is known to have memory may have it under another name too.
    held = {n for n in tests if stored and not isinstance(kinds.get(n, UNKNOWN), (Scalar, Unknown))}
    return frozenset((tests & stored) | held)


def _primals(block: ir.Block) -> Iterator[ir.Stmt]:
    """The statements of the function itself in a Pair tree, but for its control flow."""
    for stmt in block:
        if isinstance(stmt, ir.Pair):
            yield from () if stmt.primal is None else (stmt.primal,)
        for inner in () if isinstance(stmt, ir.Pair) else ir.blocks(stmt):
            yield from _primals(inner)


def _countable_for(stmt: ir.For, fresh: ir.Fresh, written: frozenset[str]) -> ir.Block:
    """A `for` with bounds that its body does not change, counted if it can be left early."""
    body = _block(stmt.body, fresh, written)
    copies: list[ir.Stmt] = []
    changed = ir.bound(body) | {stmt.target.id}
    if isinstance(stmt.iter, ir.Call):
        args = []
        for arg in stmt.iter.args:
            more, steady = _copied(arg, changed, fresh, stmt.loc)
            copies += more
            args.append(steady)
        stmt = replace(stmt, iter=replace(stmt.iter, args=tuple(args)))
    if stmt.stop is None:
        return (*copies, replace(stmt, body=body))
    return (*copies, *_counting(stmt, body, fresh))


def _copied(
    atom: ir.Atom, changed: frozenset[str], fresh: ir.Fresh, loc: ir.Loc
) -> tuple[ir.Block, ir.Atom]:
    """An atom, copied to a name of its own if one of its names changes."""
    if not changed & set(ir.names(atom)):
        return (), atom
    return _kept(atom, fresh, loc)


def _kept(value: ir.Rhs, fresh: ir.Fresh, loc: ir.Loc) -> tuple[ir.Block, ir.Name]:
    """A value in a name of its own."""
    copy = fresh("_kept")
    return (ir.Pair(ir.Assign(copy, value, loc), (), loc),), copy


def _counting(stmt: ir.For | ir.While, body: ir.Block, fresh: ir.Fresh) -> ir.Block:
    """A loop that counts its iterations."""
    steps = fresh("steps")
    start = ir.Assign(steps, ir.Const(0), stmt.loc)
    step = ir.Assign(steps, ir.Call(operator.add, (steps, ir.Const(1))), stmt.loc)
    counted = (ir.Pair(step, (), stmt.loc), *body)
    return ir.Pair(start, (), stmt.loc), replace(stmt, body=counted)


def _counter(stmt: ir.For | ir.While) -> ir.Name:
    """The counter of a loop made by `_counting`."""
    first = stmt.body[0]
    assert isinstance(first, ir.Pair) and isinstance(first.primal, ir.Assign)
    return first.primal.target


def trip_of(stmt: ir.For | ir.While, facts: Facts) -> Trip:
    """The backward loop of a loop."""
    if isinstance(stmt, ir.While):
        steps = _counter(stmt)
        header = ir.For(facts.fresh("_k"), ir.Call(range, (steps,)), (), None, stmt.loc)
        return Trip(header, needed=frozenset({steps.id}))
    bounds = _range_bounds(stmt)
    if stmt.stop is not None:
        return _counted_range(stmt, bounds, facts)
    return _ranged(stmt, bounds, facts)


def _range_bounds(stmt: ir.For) -> tuple[ir.Atom, ir.Atom, ir.Atom]:
    """Start, stop and step of the range that a loop runs over."""
    it = stmt.iter
    if isinstance(it, ir.Call) and it.fn is range and not it.kwargs:
        if len(it.args) == 1:
            return ir.Const(0), it.args[0], ir.Const(1)
        if len(it.args) == 2:
            return it.args[0], it.args[1], ir.Const(1)
        return it.args[0], it.args[1], it.args[2]
    raise InternalError("a loop runs over something else than a range", stmt)


class _Ints:
    """Builds integer expressions, folding constants."""

    def __init__(self, facts: Facts, loc: ir.Loc) -> None:
        self.facts = facts
        self.loc = loc
        self.out: list[ir.Stmt] = []

    def op(self, fn: object, a: ir.Atom, b: ir.Atom) -> ir.Atom:
        """`fn(a, b)`."""
        if isinstance(a, ir.Const) and isinstance(b, ir.Const):
            return ir.Const(fn(a.value, b.value))  # type: ignore[operator]
        if isinstance(b, ir.Const) and b.value == 0 and fn in (operator.add, operator.sub):
            return a
        if isinstance(b, ir.Const) and b.value == 1 and fn is operator.mul:
            return a
        if isinstance(a, ir.Const) and a.value == 0 and fn is operator.add:
            return b
        name = self.facts.fresh()
        self.out.append(ir.Assign(name, ir.Call(fn, (a, b)), self.loc))  # type: ignore[arg-type]
        return name


def _ranged(stmt: ir.For, bounds: tuple[ir.Atom, ir.Atom, ir.Atom], facts: Facts) -> Trip:
    """`for i in range(a, b, s)` backwards."""
    start, stop, step = bounds
    ints = _Ints(facts, stmt.loc)
    needed = frozenset(n for b in bounds for n in ir.names(b))
    if isinstance(step, ir.Const) and step.value == 1:
        return Trip(_down(stmt, ints, stop, start), tuple(ints.out), (), needed)
    one = ir.Const(1)
    if isinstance(step, ir.Const) and step.value == -1:
        args = (ints.op(operator.add, stop, one), ints.op(operator.add, start, one))
        args = args[args[0] == ir.Const(0) :]  # type: ignore[assignment]
    else:
        args = _any_step(bounds, ints)  # type: ignore[assignment]
    header = ir.For(stmt.target, ir.Call(range, args), (), None, stmt.loc)
    return Trip(header, tuple(ints.out), (), needed)


def _any_step(
    bounds: tuple[ir.Atom, ir.Atom, ir.Atom], ints: _Ints
) -> tuple[ir.Atom, ir.Atom, ir.Atom]:
    """The reversed range of a range with any step."""
    known = [b.value for b in bounds if isinstance(b, ir.Const) and type(b.value) is int]
    if len(known) == len(bounds):
        down = range(known[0], known[1], known[2])[::-1]
        return ir.Const(down.start), ir.Const(down.stop), ir.Const(down.step)
    start, _, step = bounds
    whole, length = ints.facts.fresh(), ints.facts.fresh()
    ints.out.append(ir.Assign(whole, ir.Call(range, bounds), ints.loc))
    ints.out.append(ir.Assign(length, ir.Call(len, (whole,)), ints.loc))
    steps = ints.op(operator.sub, length, ir.Const(1))
    last = ints.op(operator.add, start, ints.op(operator.mul, steps, step))
    back = ints.op(operator.mul, step, ir.Const(-1))
    return last, ints.op(operator.sub, start, step), back


def _counted_range(stmt: ir.For, bounds: tuple[ir.Atom, ir.Atom, ir.Atom], facts: Facts) -> Trip:
    """A `for` that may be left early: the target follows from the count."""
    start, _, step = bounds
    steps = _counter(stmt)
    needed = frozenset((steps.id, *ir.names(start), *ir.names(step)))
    ints = _Ints(facts, stmt.loc)
    if isinstance(step, ir.Const) and step.value == 1:
        header = _down(stmt, ints, ints.op(operator.add, start, steps), start)
        return Trip(header, tuple(ints.out), (), needed)
    inner = _Ints(facts, stmt.loc)
    counter = facts.fresh("_k")
    value = inner.op(operator.add, start, inner.op(operator.mul, counter, step))
    first = (*inner.out, ir.Assign(stmt.target, value, stmt.loc))
    minus = ir.Const(-1)
    last = ints.op(operator.sub, steps, ir.Const(1))
    header = ir.For(counter, ir.Call(range, (last, minus, minus)), (), None, stmt.loc)
    return Trip(header, tuple(ints.out), first, needed)


def _down(stmt: ir.For, ints: _Ints, end: ir.Atom, start: ir.Atom) -> ir.For:
    """`for i in range(end - 1, start - 1, -1)`."""
    one = ir.Const(1)
    args = (ints.op(operator.sub, end, one), ints.op(operator.sub, start, one), ir.Const(-1))
    return ir.For(stmt.target, ir.Call(range, args), (), None, stmt.loc)
