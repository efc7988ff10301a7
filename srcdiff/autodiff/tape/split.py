"""The walk that splits a `Pair` tree, carrying the set of what later adjoints need.

Takes a `Pair` tree; returns the statements of the forward part and of the backward part, each in
run order.  A loop is run backwards by its trip count and the values of its target, which
`countable` makes sure of and `trip_of` gives.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.analysis.links import kept_outside, stored_names
from srcdiff.autodiff.tape.needs import (
    Contents,
    Item,
    Stable,
    exposed,
    halves,
    primal_reads,
    range_bounds,
    written_contents,
)
from srcdiff.autodiff.tape.rematerialize import parts_of_others, recompute
from srcdiff.autodiff.tape.restore import Slots, first_keys, keep_locals, undo, undo_name
from srcdiff.errors import InternalError, UnsupportedError
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.effects import written_into
from srcdiff.primitives.ops import Op, is_op


@frozen
class Trip:
    """How a loop runs backwards: `before`, then the loop `header`."""

    header: ir.For
    before: ir.Block = ()
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


def _written_tests(body: ir.Block, kinds: ir.Kinds) -> frozenset[str]:
    """The names of tests that are lists or arrays which the function may write into."""
    stored = frozenset[str]().union(*stored_names(ir.primal_only(body), kinds))
    tests = {s.test.id for s in ir.walk(body) if isinstance(s, ir.If) and type(s.test) is ir.Name}
    # What is known to have memory may have it under another name too.
    held = {
        n
        for n in tests
        if stored and not isinstance(kinds.get(n, ir.UNKNOWN), (ir.Scalar, ir.Unknown))
    }
    return frozenset((tests & stored) | held)


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
    """The backward loop of a loop.

    The range from a to b is run from its last item, at a step before b, to the step before a.
    """
    if isinstance(stmt, ir.While):
        steps = _counter(stmt)
        header = ir.For(facts.fresh("_k"), ir.Call(range, (steps,)), (), None, stmt.loc)
        return Trip(header, needed=frozenset({steps.id}))
    ints = _Ints(facts.fresh, stmt.loc)
    counter = None if stmt.stop is None else _counter(stmt)
    if not is_op(stmt.iter, Op.RANGE) or stmt.iter.kwargs:
        raise InternalError("a loop runs over something else than a range", stmt)
    given = range_bounds(stmt.iter)
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
    return Trip(header, tuple(ints.out), frozenset(n for atom in used for n in ir.names(atom)))


class _Ints(Builder):
    """Builds integer expressions, folding constants."""

    def plain(self, atom: ir.Atom, facts: Facts) -> ir.Atom:
        """A number of Python: one below zero is no unsigned number of NumPy."""
        kind = atom_kind(atom, facts.kinds)
        known = getattr(kind, "dtype", None) in ("int64", "bool")
        return (
            atom if known or (kind == ir.UNKNOWN and not facts.sampled) else self.apply(int, atom)
        )

    def length(self, start: ir.Atom, stop: ir.Atom, step: ir.Atom) -> ir.Atom:
        """The number of items of a range."""
        known = [a.value for a in (start, stop, step) if isinstance(a, ir.Const)]
        if len(known) == 3:
            return ir.Const(len(range(*known)))
        return self.apply(len, self.apply(range, start, stop, step))

    def sum(self, a: ir.Atom, b: ir.Atom, sign: int = 1) -> ir.Atom:
        """`a + b`, or `a - b` for the sign -1."""
        if isinstance(a, ir.Const) and isinstance(b, ir.Const):
            return ir.Const(a.value + sign * b.value)
        if isinstance(b, ir.Const) and b.value < 0:
            return self.sum(a, ir.Const(-b.value), -sign)
        if b == ir.Const(0):
            return a
        if a == ir.Const(0) and sign == 1:
            return b
        return self.apply(operator.add if sign == 1 else operator.sub, a, b)

    def product(self, a: ir.Atom, b: ir.Atom) -> ir.Atom:
        """`a * b`."""
        if isinstance(a, ir.Const) and isinstance(b, ir.Const):
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
    tapes: frozenset[str] = frozenset()


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
    made = walker.block(body, frozenset(), slots)
    forward = (*_bound_first(made.forward, slots, function), *made.forward)
    _check_undone(replace(function, body=forward), made.backward, facts)
    return replace(made, forward=forward, tapes=frozenset(slots.tapes))


def _bound_first(forward: ir.Block, slots: Slots, function: ir.Function) -> ir.Block:
    """None for the variables that are saved, perhaps, before they have a value."""
    up, _ = exposed(forward)
    early = (up & slots.saved) - {p.name for p in function.params}
    return tuple(ir.Assign(ir.Name(n), ir.NONE, function.loc) for n in sorted(early))


def _check_undone(forward: ir.Function, backward: ir.Block, facts: Facts) -> None:
    """Refuse stores that are undone into what something outside of the function holds by then."""
    classes = facts.aliases.classes
    held = {classes[n] for names in kept_outside(forward, facts.kinds) for n in names & {*classes}}
    for stmt in ir.walk(backward) if held else ():
        for name in (n for n in written_into(stmt, facts.kinds) if classes.get(n) in held):
            raise UnsupportedError(
                f"a store into {ir.said(name)}, which something outside of the function holds, "
                "would have to be undone for the derivative",
                stmt.loc,
                remedy="Let what is outside hold a copy: `.copy()`.",
            )


@state
class _Split:
    """The forward walk."""

    facts: Facts
    adjoint_names: frozenset[str]
    parts: frozenset[str]
    uses: Mapping[str, int]
    stable: Stable

    def __post_init__(self) -> None:
        self.classes: dict[str, set[str]] = {}
        for name, rep in self.facts.aliases.classes.items():
            self.classes.setdefault(rep, set()).add(name)

    def block(self, block: ir.Block, needed: Needed, slots: Slots) -> Parts:
        """A block; backward statements come out last statement first."""
        forward: list[ir.Stmt] = []
        backward: list[ir.Block] = []
        now = set(needed)
        for stmt in block:
            if isinstance(stmt, ir.Pair):
                front, back = self.pair(stmt, now, slots)
            else:
                part = self.stmt(stmt, frozenset(now), slots)
                front, back, now = part.forward, part.backward, set(part.needed)
            forward += front
            backward.append(back)
        down = tuple(s for b in reversed(backward) for s in b)
        return Parts(tuple(forward), down, frozenset(now))

    def stmt(self, stmt: ir.Stmt, needed: Needed, slots: Slots) -> Parts:
        """One statement of the Pair tree that has blocks, or none that matters."""
        if isinstance(stmt, ir.If):
            return self.branch(stmt, needed, slots)
        if isinstance(stmt, (ir.For, ir.While)):
            return self.loop(stmt, needed, slots)
        return Parts((stmt,), (), needed)

    def reads(self, block: ir.Block, pair: ir.Pair) -> Needed:
        """What some of a pair's adjoint statements read of the primal."""
        if not block:
            return frozenset()
        local = ir.bound(pair.adjoint)
        return primal_reads(block, self.adjoint_names, self.facts, local, self.parts)

    def pair(self, pair: ir.Pair, needed: set[Item], slots: Slots) -> tuple[ir.Block, ir.Block]:
        """A statement: what it overwrites and is needed is saved before, and put back.

        `needed` becomes what is needed after the statement.
        """
        first, second = halves(pair.adjoint)
        primal = pair.primal
        bound = () if primal is None else ir.writes(primal)
        needed |= self.reads(second, pair)
        written = (
            frozenset() if id(primal) in self.stable.safe else written_contents(primal, self.facts)
        )
        lost = needed & (frozenset(bound) | written)
        done = undo(primal, lost, slots) if primal is not None and lost else None
        # After the statement: the values that it bound are needed only by its own adjoint.
        needed.difference_update(bound)
        if done is not None:
            needed |= done.needed
        needed |= self.reads(first, pair)
        forward: ir.Block = () if primal is None else (primal,)
        if done is None:
            return forward, (*first, *second)
        return (*done.save, *forward), (*first, *done.restore, *second)

    def branch(self, stmt: ir.If, needed: Needed, slots: Slots) -> Parts:
        """Both branches; the test is needed if either has something to do on the way down."""
        one = self.scope(stmt.body, needed, slots)
        two = self.scope(stmt.orelse, needed, slots)
        forward = replace(stmt, body=one.forward, orelse=two.forward)
        after = one.needed | two.needed
        if not one.backward and not two.backward:
            return Parts((forward,), (), after)
        backward = ir.If(stmt.test, one.backward, two.backward, stmt.loc)
        tests = frozenset(ir.names(stmt.test)) - self.adjoint_names
        return Parts((forward,), (backward,), after | tests)

    def scope(self, block: ir.Block, needed: Needed, slots: Slots) -> Parts:
        """A branch; inside a loop, what it computes for itself alone is kept per run of it."""
        part = self.block(block, needed, slots)
        if not slots.loops:
            return part
        inside = ir.mention_counts(block)
        up, _ = exposed(block)
        mine = [n for n in ir.bound(block) if inside.get(n, 0) == self.uses.get(n, 0)]
        return self.kept(block, part, frozenset(mine) - needed - up, slots)

    def kept(self, block: ir.Block, part: Parts, own: frozenset[str], slots: Slots) -> Parts:
        """A part whose needed local values are saved at its end and loaded at its start."""
        local = self.local_contents(own)
        first, save, load = keep_locals(block, own & part.needed, local, slots)
        forward = (*first, *part.forward, *save)
        return Parts(forward, (*load, *part.backward), part.needed - own)

    def loop(self, stmt: ir.For | ir.While, needed: Needed, slots: Slots) -> Parts:
        """A loop to a fixpoint of what is needed at the start of its body."""
        entry = needed
        own = self.own_names(stmt)
        local = self.local_contents(own)
        fresh = self.facts.fresh.state()
        while True:
            inner = slots.enter()
            body = self.loop_body(stmt, own, needed, inner)
            if body.needed - local <= needed:
                break
            needed |= body.needed - local
            self.facts.fresh.reset(fresh)
        # Those of the last iteration can be overwritten after the loop.
        needed |= body.needed & self.outliving(local, stmt.body)
        if not body.backward:
            parts = Parts((self.forward_loop(stmt, body.forward),), (), needed)
            return _with_old_target(parts, stmt, entry, slots)
        trip = trip_of(stmt, self.facts)
        backward: ir.Block = (*trip.before, replace(trip.header, body=body.backward))
        forward: ir.Block = (self.forward_loop(stmt, body.forward),)
        if slots.loops:
            slots.lists += inner.lists
        else:
            forward = (*(replace(made, loc=stmt.loc) for made in inner.lists), *forward)
        parts = Parts(forward, backward, needed | (trip.needed - self.adjoint_names))
        return _with_old_target(parts, stmt, entry, slots)

    def forward_loop(self, stmt: ir.For | ir.While, body: ir.Block) -> ir.Stmt:
        """The loop of the forward part."""
        if isinstance(stmt, ir.For):
            return replace(stmt, body=body)
        # What has an adjoint was taken into the body.
        lost = any(isinstance(s, ir.Pair) and s.adjoint for s in ir.walk(stmt.cond))
        assert not lost, "the condition of a loop has an adjoint"
        return replace(stmt, cond=ir.primal_only(stmt.cond), body=body)

    def loop_body(
        self, stmt: ir.For | ir.While, own: frozenset[str], needed: Needed, slots: Slots
    ) -> Parts:
        """The body of a loop, with its local values kept per iteration."""
        part = self.block(stmt.body, needed, slots)
        if isinstance(stmt, ir.While):
            part = replace(part, needed=part.needed - ir.bound(stmt.cond))
        kept = self.kept(stmt.body, part, own, slots)
        return replace(kept, needed=kept.needed - _target(stmt))

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
    return frozenset({stmt.target.id}) if isinstance(stmt, ir.For) else frozenset()


def _with_old_target(parts: Parts, stmt: ir.For | ir.While, needed: Needed, slots: Slots) -> Parts:
    """A loop whose target, if it had a value before the loop that is needed, gets that back."""
    if isinstance(stmt, ir.While) or stmt.target.id not in needed:
        return parts
    done = undo_name(stmt.target.id, stmt.loc, slots)
    return Parts(
        (*done.save, *parts.forward), (*parts.backward, *done.restore), parts.needed | done.needed
    )
