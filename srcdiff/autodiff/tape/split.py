"""The walk that splits a `Pair` tree, carrying the set of what later adjoints need.

Takes a `Pair` tree; returns the statements of the forward part and of the backward part, each in
run order.  A loop is run backwards by its trip count and the values of its target, which
`countable` makes sure of and `trip_of` gives.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.analysis.links import stored_names
from srcdiff.analysis.points_to import PointsTo
from srcdiff.analysis.subscripts import range_bounds
from srcdiff.autodiff.tape.needs import (
    Contents,
    Item,
    Stable,
    exposed,
    halves,
    primal_reads,
    written_contents,
)
from srcdiff.autodiff.tape.rematerialize import parts_of_others, recompute
from srcdiff.autodiff.tape.restore import Slots, first_keys, keep_locals, undo, undo_name
from srcdiff.errors import InternalError, refused
from srcdiff.ir.builder import Builder, Rewriter
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.effects import written_into
from srcdiff.primitives.ops import Op, is_op


def countable(function: ir.Function, facts: Facts) -> ir.Block:
    """A Pair tree in which every loop can be run backwards and every test stays as it was.

    A loop that may be left early counts its iterations: the first statement of its body adds one to
    a counter.  Bounds that the body changes, and tests that the branches change, are copied before.
    Of lists and arrays that are tests (`if stack:`) and written into, only the answer is kept.
    """
    written = _written_tests(function.body, facts.kinds)
    return _Countable(facts.fresh, written).block(function.body)


def _written_tests(body: ir.Block, kinds: ir.Kinds) -> frozenset[str]:
    """The names of tests that are lists or arrays which the function may write into."""
    stored = frozenset[str]().union(*stored_names(ir.primal_only(body), kinds))
    tests = {s.test.id for s in ir.walk(body) if type(s) is ir.If and type(s.test) is ir.Name}
    # What is known to have memory may have it under another name too.
    plain = {n for n in tests if isinstance(kinds.get(n, ir.UNKNOWN), (ir.Scalar, ir.Unknown))}
    return frozenset((tests & stored) | (tests - plain if stored else set()))


class _Countable(Rewriter):
    """The pass over a Pair tree; `written`: tests of which only the answer is kept."""

    def __init__(self, fresh: ir.Fresh, written: frozenset[str]) -> None:
        super().__init__(fresh)
        self.written = written

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """A statement; what it needs is written before it."""
        if type(stmt) is ir.Pair:
            return stmt
        new = self.inside(stmt)
        changed = ir.bound_in(new)
        if type(new) is ir.If:
            test = new.test
            if type(test) is ir.Name and test.id in self.written:
                return replace(new, test=self.kept(ir.Call(bool, (test,), text="bool")))
            return replace(new, test=self.steady(test, changed))
        if type(new) is ir.For and type(new.iter) is ir.Call:
            args = tuple(self.steady(a, changed) for a in new.iter.args)
            new = replace(new, iter=replace(new.iter, args=args))
        counts = type(new) is ir.While or (type(new) is ir.For and new.stop is not None)
        return self.counting(new) if counts else new  # type: ignore[arg-type]

    def write(self, target: ir.Name, value: ir.Rhs) -> ir.Pair:
        """A statement that has no adjoint."""
        return ir.Pair(ir.Assign(target, value, self.loc), (), self.loc)

    def kept(self, value: ir.Rhs) -> ir.Name:
        """A value in a name of its own."""
        copy = self.fresh("_kept")
        self.out.append(self.write(copy, value))
        return copy

    def steady(self, atom: ir.Atom, changed: Collection[str]) -> ir.Atom:
        """An atom, copied to a name of its own if one of its names changes."""
        return atom if set(ir.names(atom)).isdisjoint(changed) else self.kept(atom)

    def counting(self, stmt: ir.For | ir.While) -> ir.Stmt:
        """A loop that counts its iterations."""
        steps = self.fresh("steps")
        self.out.append(self.write(steps, ir.Const(0)))
        step = self.write(steps, ir.Call(operator.add, (steps, ir.Const(1))))
        return replace(stmt, body=(step, *stmt.body))


def _counter(stmt: ir.For | ir.While) -> ir.Name:
    """The counter of a loop made by `_counting`."""
    first = stmt.body[0]
    assert type(first) is ir.Pair and type(first.primal) is ir.Assign
    return first.primal.target


def trip_of(stmt: ir.For | ir.While, facts: Facts) -> tuple[ir.Block, ir.For, frozenset[str]]:
    """What stands before the backward loop of a loop, that loop, and the names that both read.

    The range from a to b is run from its last item, at a step before b, to the step before a.
    """
    counter = _counter(stmt) if type(stmt) is ir.While or stmt.stop is not None else None
    if type(stmt) is ir.While:
        assert counter is not None
        header = ir.For(facts.fresh("_k"), ir.Call(range, (counter,)), (), None, stmt.loc)
        return (), header, frozenset({counter.id})
    if not is_op(stmt.iter, Op.RANGE) or stmt.iter.kwargs:
        raise InternalError("a loop runs over something else than a range", stmt)
    ints, given = _Ints(facts.fresh, stmt.loc), range_bounds(stmt.iter)
    used = given if counter is None else (given[0], counter, given[2])
    start, stop, step = (ints.plain(bound, facts) for bound in given)
    if step in (ir.Const(1), ir.Const(-1)):
        sign = 1 if step == ir.Const(1) else -1
        last = ints.sum(stop if counter is None else ints.sum(start, counter, sign), step, -1)
    else:
        count = counter or ints.length(start, stop, step)
        last = ints.sum(start, ints.product(ints.sum(count, ir.Const(1), -1), step))
    args = (last, ints.sum(start, step, -1), ints.product(step, ir.Const(-1)))
    shown = args if args[2] != ir.Const(1) else args[args[0] == ir.Const(0) : 2]
    header = ir.For(stmt.target, ir.Call(range, shown), (), None, stmt.loc)
    return tuple(ints.out), header, frozenset(n for atom in used for n in ir.names(atom))


class _Ints(Builder):
    """Builds integer expressions, folding constants."""

    def plain(self, atom: ir.Atom, facts: Facts) -> ir.Atom:
        """A number of Python: one below zero is no unsigned number of NumPy."""
        kind = atom_kind(atom, facts.kinds)
        known = ir.dtype_of(kind) in ("int64", "bool")
        plain = known or (kind == ir.UNKNOWN and not facts.sampled)
        return atom if plain else self.apply(int, atom)

    def length(self, start: ir.Atom, stop: ir.Atom, step: ir.Atom) -> ir.Atom:
        """The number of items of a range."""
        known = [a.value for a in (start, stop, step) if type(a) is ir.Const]
        if len(known) == 3:
            return ir.Const(len(range(*known)))
        return self.apply(len, self.apply(range, start, stop, step))

    def sum(self, a: ir.Atom, b: ir.Atom, sign: int = 1) -> ir.Atom:
        """`a + b`, or `a - b` for the sign -1."""
        if type(a) is ir.Const and type(b) is ir.Const:
            return ir.Const(a.value + sign * b.value)
        if type(b) is ir.Const and b.value < 0:
            return self.sum(a, ir.Const(-b.value), -sign)
        if b == ir.Const(0):
            return a
        if a == ir.Const(0) and sign == 1:
            return b
        return self.apply(operator.add if sign == 1 else operator.sub, a, b)

    def product(self, a: ir.Atom, b: ir.Atom) -> ir.Atom:
        """`a * b`."""
        if type(a) is ir.Const and type(b) is ir.Const:
            return ir.Const(a.value * b.value)
        return a if b == ir.Const(1) else self.apply(operator.mul, a, b)


# --- the walk that splits a `Pair` tree, carrying the set of what later adjoints need ------------


Needed = frozenset[Item]


@frozen
class Parts:
    """Forward statements and backward statements in run order; `needed` is what backward reads.

    `tapes` are the lists that values are saved in.
    """

    forward: ir.Block
    backward: ir.Block
    needed: Needed
    tapes: frozenset[str]


def split(function: ir.Function, facts: Facts) -> Parts:
    """The forward and the backward part of a paired function."""
    body = countable(function, facts)
    adjoint_names = facts.value_adjoints
    steady = Stable()
    if facts.aliases.classes:
        from srcdiff.autodiff.tape.dependence import stable

        steady = stable(body, adjoint_names, facts)
    body, provided = recompute(body, facts, steady)
    parts = parts_of_others(body, provided, facts)
    walker = _Split(facts, adjoint_names | provided, parts, ir.mention_counts(body), steady)
    slots = Slots(facts, keys=first_keys(body, facts.kinds))
    needed: set[Item] = set()
    forward, backward = walker.block(body, needed, slots)
    forward = (*_bound_first(forward, slots, function), *forward)
    _check_undone(ir.rebuilt(function, body=forward), backward, facts)
    return Parts(forward, backward, frozenset(needed), frozenset(slots.tapes))


def _bound_first(forward: ir.Block, slots: Slots, function: ir.Function) -> ir.Block:
    """None for the variables that are saved, perhaps, before they have a value."""
    up, _ = exposed(forward)
    early = (up & slots.saved) - {p.name for p in function.params}
    return tuple(ir.Assign(ir.Name(n), ir.NONE, function.loc) for n in sorted(early))


def _check_undone(forward: ir.Function, backward: ir.Block, facts: Facts) -> None:
    """Refuse stores that are undone into what something outside of the function holds by then."""
    classes = facts.aliases.classes
    outside = PointsTo.of(forward, facts.kinds).outside
    held = {classes[n] for names in outside for n in names & {*classes}}
    for stmt in ir.walk(backward) if held else ():
        for name in (n for n in written_into(stmt, facts.kinds) if classes.get(n) in held):
            raise refused("memory.held_outside", stmt.loc, name=ir.said(name))


_Made = tuple[ir.Block, ir.Block]
"""Statements of the forward part, and of the backward part in run order."""


@state
class _Split:
    """The forward walk; `needed` by the backward part becomes what is so after a statement."""

    facts: Facts
    adjoint_names: frozenset[str]
    parts: frozenset[str]
    uses: Mapping[str, int]
    stable: Stable

    def __post_init__(self) -> None:
        self.classes: dict[str, set[str]] = {}
        for name, rep in self.facts.aliases.classes.items():
            self.classes.setdefault(rep, set()).add(name)

    def block(self, block: ir.Block, needed: set[Item], slots: Slots) -> _Made:
        """A block; backward statements come out last statement first."""
        forward: list[ir.Stmt] = []
        backward: list[ir.Block] = []
        for stmt in block:
            front, back = self.stmt(stmt, needed, slots)
            forward += front
            backward.append(back)
        return tuple(forward), tuple(s for b in reversed(backward) for s in b)

    def stmt(self, stmt: ir.Stmt, needed: set[Item], slots: Slots) -> _Made:
        """One statement of the Pair tree."""
        if type(stmt) is ir.Pair:
            return self.pair(stmt, needed, slots)
        if type(stmt) is ir.If:
            return self.branch(stmt, needed, slots)
        if isinstance(stmt, (ir.For, ir.While)):
            return self.loop(stmt, needed, slots)
        return (stmt,), ()

    def reads(self, block: ir.Block, pair: ir.Pair) -> Needed:
        """What some of a pair's adjoint statements read of the primal."""
        if not block:
            return frozenset()
        local = ir.bound(pair.adjoint)
        return primal_reads(block, self.adjoint_names, self.facts, local, self.parts)

    def pair(self, pair: ir.Pair, needed: set[Item], slots: Slots) -> _Made:
        """A statement: what it overwrites and is needed is saved before, and put back."""
        first, second = halves(pair.adjoint)
        primal = pair.primal
        needed |= self.reads(second, pair)
        forward: ir.Block = ()
        if primal is not None:
            safe = id(primal) in self.stable.safe
            written = frozenset() if safe else written_contents(primal, self.facts)
            done = undo(primal, needed & written.union(ir.writes(primal)), slots)
            # After the statement: the values that it bound are needed only by its own adjoint.
            needed.difference_update(ir.writes(primal))
            needed |= done.needed - self.made_again(primal)
            forward, second = (*done.out, primal), (*done.back.out, *second)
        needed |= self.reads(first, pair)
        return forward, (*first, *second)

    def made_again(self, stmt: ir.Stmt) -> frozenset[str]:
        """The view that a statement stores into, where it is made again before that is undone."""
        mine = stmt.base.id if isinstance(stmt, ir.Store) else ""
        again = mine in self.facts.aliases.views and mine in self.adjoint_names
        return frozenset({mine} if again else ())

    def branch(self, stmt: ir.If, needed: set[Item], slots: Slots) -> _Made:
        """Both branches; the test is needed if either has something to do on the way down."""
        one, two = set(needed), set(needed)
        body, down = self.scope(stmt.body, one, slots)
        orelse, other = self.scope(stmt.orelse, two, slots)
        needed.clear()
        needed |= one | two
        forward = replace(stmt, body=body, orelse=orelse)
        if not down and not other:
            return (forward,), ()
        needed |= {*ir.names(stmt.test)} - self.adjoint_names
        return (forward,), (ir.If(stmt.test, down, other, stmt.loc),)

    def scope(self, block: ir.Block, needed: set[Item], slots: Slots) -> _Made:
        """A branch; inside a loop, what it computes for itself alone is kept per run of it."""
        before = frozenset(needed)
        made = self.block(block, needed, slots)
        if not slots.loops:
            return made
        inside = ir.mention_counts(block)
        up, _ = exposed(block)
        mine = {n for n in ir.bound(block) if inside.get(n, 0) == self.uses.get(n, 0)}
        return self.kept(block, made, frozenset(mine - before - up), needed, slots)

    def kept(
        self, block: ir.Block, made: _Made, own: frozenset[str], needed: set[Item], slots: Slots
    ) -> _Made:
        """A part whose needed local values are saved at its end and loaded at its start."""
        local = self.local_contents(own)
        first, save, load = keep_locals(block, own & needed, local, slots)
        needed -= own
        return (*first, *made[0], *save), (*load, *made[1])

    def loop(self, stmt: ir.For | ir.While, needed: set[Item], slots: Slots) -> _Made:
        """A loop to a fixpoint of what is needed at the start of its body.

        A target that had a value before the loop which is needed gets that back.
        """
        old = stmt.target.id if type(stmt) is ir.For and stmt.target.id in needed else None
        own = self.own_names(stmt)
        local = self.local_contents(own)
        fresh = self.facts.fresh.state()
        while True:
            inner, now = slots.enter(), set(needed)
            body, down = self.loop_body(stmt, own, now, inner)
            if now - local <= needed:
                break
            needed |= now - local
            self.facts.fresh.reset(fresh)
        # Those of the last iteration can be overwritten after the loop.
        needed |= now & self.outliving(local, stmt.body)
        forward: ir.Block = (self.forward_loop(stmt, body),)
        if down:
            before, header, read = trip_of(stmt, self.facts)
            down = (*before, replace(header, body=down))
            needed |= read - self.adjoint_names
            if slots.loops:
                slots.lists += inner.lists
            else:
                forward = (*(replace(made, loc=stmt.loc) for made in inner.lists), *forward)
        if old is not None:
            done = undo_name(old, stmt.loc, slots)
            needed |= done.needed
            forward, down = (*done.out, *forward), (*down, *done.back.out)
        return forward, down

    def forward_loop(self, stmt: ir.For | ir.While, body: ir.Block) -> ir.Stmt:
        """The loop of the forward part."""
        if type(stmt) is ir.For:
            return replace(stmt, body=body)
        # What has an adjoint was taken into the body.
        lost = any(type(s) is ir.Pair and s.adjoint for s in ir.walk(stmt.cond))
        assert not lost, "the condition of a loop has an adjoint"
        return replace(stmt, cond=ir.primal_only(stmt.cond), body=body)

    def loop_body(
        self, stmt: ir.For | ir.While, own: frozenset[str], needed: set[Item], slots: Slots
    ) -> _Made:
        """The body of a loop, with its local values kept per iteration."""
        made = self.block(stmt.body, needed, slots)
        needed.difference_update(ir.bound(stmt.cond) if type(stmt) is ir.While else ())
        made = self.kept(stmt.body, made, own, needed, slots)
        needed.difference_update(_target(stmt))
        return made

    def own_names(self, stmt: ir.For | ir.While) -> frozenset[str]:
        """The names of which no iteration sees the value that another one, or nobody, gave it."""
        up, sure = exposed(stmt.body, self.facts.shadows)
        inside = ir.mention_counts(stmt.body)
        bound = ir.bound(stmt.body) - up - _target(stmt)
        return frozenset(n for n in bound if n in sure or inside.get(n, 0) == self.uses.get(n, 0))

    def local_contents(self, own: frozenset[str]) -> Needed:
        """Contents of arrays that every iteration makes anew: a later one cannot overwrite them."""
        return frozenset(Contents(rep) for rep, names in self.classes.items() if names <= own)

    def outliving(self, contents: Needed, body: ir.Block) -> Needed:
        """Those contents that something outside of a loop's body mentions too."""
        if not contents:
            return contents
        inside = ir.mention_counts(body)
        return frozenset(
            c
            for c in contents
            if isinstance(c, Contents)
            and any(inside.get(n, 0) != self.uses.get(n, 0) for n in self.classes[c.name])
        )


def _target(stmt: ir.For | ir.While) -> frozenset[str]:
    """The target of a `for`."""
    return frozenset({stmt.target.id}) if type(stmt) is ir.For else frozenset()
