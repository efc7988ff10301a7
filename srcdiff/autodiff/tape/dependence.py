"""Stores that overwrite nothing that an adjoint still needs: nothing is saved for them.

Takes a `Pair` tree; returns the stores `A[e] = v` of which it is proved that no element that they
write was read before, for an adjoint, in the same memory.  The proof compares affine subscripts
(`t`, `i - 1`), sums of a variable and a literal that the ranges of loops and the tests of branches
bound, along the loops that a read and a store share: either every later store is at a larger (or,
in a falling loop, smaller) subscript, or the store precedes the read in every iteration.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.tape.needs import (
    Contents,
    Stable,
    contents_of,
    contents_read,
    halves,
    is_cheap,
    primal_reads,
    range_bounds,
)
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.kinds.calls import atom_kind, kind_of_call
from srcdiff.primitives.effects import returns_view
from srcdiff.primitives.ops import Op, is_op

Path = tuple[int, ...]


@frozen
class Comparison:
    """That is known: `less + gap <= more`; of a `gap` None that the two are unequal."""

    less: ir.Atom
    more: ir.Atom
    gap: int | None


@frozen
class Where:
    """A place: its path, the loops around it, and what the tests of the branches around it say."""

    path: Path = ()
    loops: tuple[tuple[Path, ir.For | ir.While], ...] = ()
    tests: tuple[Comparison, ...] = ()

    @property
    def unequal(self) -> frozenset[frozenset[ir.Atom]]:
        """Names that are unequal here."""
        return frozenset(frozenset((t.less, t.more)) for t in self.tests if t.gap != 0)

    def is_behind(self, path: Path) -> bool:
        """Whether what stands at a path has run before this place, in the same iterations."""
        block = path[:-1]
        return self.path[: len(block)] == block and self.path[len(block) :] > path[len(block) :]


@frozen
class Access:
    """A read or a store: the owner, the subscript (None: anything), and the place."""

    owner: str
    index: ir.Atom | None
    where: Where
    stmt: ir.Stmt


def stable(block: ir.Block, adjoint_names: frozenset[str], facts: Facts) -> Stable:
    """The stores of which it is proved that they overwrite nothing that is needed."""
    proof = _Proof(facts)
    for stmt in ir.walk(block):
        if type(stmt) is ir.Pair:
            found = primal_reads(stmt.adjoint, adjoint_names, facts)
            proof.reads[id(stmt)] = {n for n in found if isinstance(n, str)}
    proof.needed = set[str]().union(*proof.reads.values())
    proof.collect(block, Where())
    safe = frozenset(id(s.stmt) for s in proof.stores if proof.is_safe(s))
    return Stable(safe, frozenset(proof.readable(safe)), frozenset(proof.needed))


@state
class _Proof:
    """What names are bound to, the ranges of the targets of loops, and all reads and stores."""

    facts: Facts
    reads: dict[int, set[str]] = field(default_factory=dict)  # by each adjoint, of primal names
    needed: set[str] = field(default_factory=set)  # all of them
    definitions: dict[str, list[ir.Rhs]] = field(default_factory=dict)
    defined: dict[str, Path] = field(default_factory=dict)  # where a name is bound
    ranges: dict[str, tuple[ir.Atom, ir.Atom, int]] = field(default_factory=dict)
    targets: set[str] = field(default_factory=set)  # of all loops
    accesses: list[Access] = field(default_factory=list)
    stores: list[Access] = field(default_factory=list)
    moved: set[str] = field(default_factory=set)  # classes of lists whose items change places

    # --- every needed read and every store, with definitions and ranges of loops ---

    def collect(self, block: ir.Block, where: Where) -> None:
        """What is in a block at a place."""
        for k, stmt in enumerate(block):
            here = Where((*where.path, k), where.loops, where.tests)
            if type(stmt) is ir.Pair:
                self.pair(stmt, here)
                continue
            self.bindings(stmt, here)
            if isinstance(stmt, (ir.For, ir.While)):
                here = replace(here, loops=(*where.loops, (here.path, stmt)))
            if type(stmt) is ir.For:
                self.loop(stmt)
            for j, part in enumerate(ir.blocks(stmt)):
                inner = replace(here, path=(*here.path, j))
                if type(stmt) is ir.If:
                    inner = replace(inner, tests=(*where.tests, *self.tested(stmt, j, here)))
                self.collect(part, inner)

    def tested(self, stmt: ir.If, branch: int, where: Where) -> tuple[Comparison, ...]:
        """What the test of a branch says of two numbers that it does not bind."""
        call = self.definition(stmt.test.id, where) if type(stmt.test) is ir.Name else None
        said = next((o for o in _SAID if is_op(call, o)), None)
        if said is None or type(call) is not ir.Call:
            return ()
        inside = ir.bound(ir.blocks(stmt)[branch])
        if not all(self.is_integer(a) for a in call.args) or inside & {*ir.names(call)}:
            return ()
        said = said if branch == 0 else _OTHERWISE[said]
        swapped, gap = _SAID[said]
        less, more = call.args[::-1] if swapped else call.args
        test = Comparison(less, more, gap)
        return (test, Comparison(more, less, gap)) if said is Op.EQ else (test,)

    def is_integer(self, atom: ir.Atom) -> bool:
        """Whether an atom is an integer for certain."""
        kind = atom_kind(atom, self.facts.kinds)
        return type(kind) is ir.Scalar and kind.dtype == "int64"

    def definition(self, name: str, where: Where) -> ir.Rhs | None:
        """What a name is bound to wherever it is bound, and has been bound to at a place."""
        found = self.definitions.get(name, ())
        if len(found) != 1 or not where.is_behind(self.defined[name]):
            return None
        return found[0]

    def loop(self, stmt: ir.For) -> None:
        """The bounds of a loop's target, if its step is one or minus one."""
        again = stmt.target.id in self.targets
        self.targets.add(stmt.target.id)
        if again:  # two loops with one target: neither range holds
            self.ranges.pop(stmt.target.id, None)
        elif is_op(stmt.iter, Op.RANGE):
            start, stop, step = range_bounds(stmt.iter)
            if type(step) is ir.Const and step.value in (1, -1):
                self.ranges[stmt.target.id] = start, stop, step.value

    def bindings(self, stmt: ir.Stmt, where: Where) -> None:
        """What a statement binds its names to: an expression, or any of several (`a, b = b, a`)."""
        if type(stmt) is ir.Assign:
            self.definitions.setdefault(stmt.target.id, []).append(stmt.rhs)
            self.defined[stmt.target.id] = where.path
        elif not isinstance(stmt, (ir.If, ir.For, ir.While)):
            for name in ir.writes(stmt):
                self.definitions.setdefault(name, []).extend((ir.NONE, ir.NONE))

    def pair(self, pair: ir.Pair, where: Where) -> None:
        """The definition, the read and the store of one statement."""
        stmt, facts = pair.primal, self.facts
        if stmt is not None:
            self.bindings(stmt, where)
            self.moved |= _moved_by(stmt, facts)
        if type(stmt) is ir.Assign:
            self.read(stmt, where)
        if isinstance(stmt, ir.Store) and contents_of(stmt.base.id, facts):
            self.stores.append(Access(stmt.base.id, stmt.index, where, stmt))
            # What puts the old elements back looks at an array of indices once more.
            self.look_at(ir.names(stmt.index), where, stmt)
        after = replace(where, path=(*where.path, 0))
        for half, place in zip(halves(pair.adjoint), (after, where)):
            self.adjoint(half, pair, place)

    def adjoint(self, block: ir.Block, pair: ir.Pair, where: Where) -> None:
        """What adjoint statements read: parts of arrays, or all of them."""
        parts = {id(s): s.rhs for s in block if type(s) is ir.Assign and is_op(s.rhs, Op.GETITEM)}
        others = ir.used(tuple(s for s in block if id(s) not in parts))
        stmt = pair if pair.primal is None else pair.primal
        for call in parts.values():
            base, index = call.args
            others = others.union(ir.names(index))
            if type(base) is ir.Name and base.id in self.reads[id(pair)]:
                if contents_of(base.id, self.facts):
                    self.accesses.append(Access(base.id, index, where, stmt))
        mine = self.reads[id(pair)].intersection(others)
        self.look_at((n for n in mine if not _is_piece(n, self.facts)), where, stmt)

    def look_at(self, names: Iterable[str], where: Where, stmt: ir.Stmt) -> None:
        """Reads of all of some arrays that somebody writes into."""
        mine = (n for n in names if contents_of(n, self.facts))
        self.accesses += (Access(n, None, where, stmt) for n in mine)

    def read(self, stmt: ir.Assign, where: Where) -> None:
        """A read `v = A[i]`, or `v = len(A)`, whose value an adjoint needs."""
        rhs, facts = stmt.rhs, self.facts
        if type(rhs) is not ir.Call or stmt.target.id not in self.needed:
            return
        if is_op(rhs, Op.GETITEM):
            base, index = rhs.args
            if type(base) is ir.Name and base.id in facts.aliases.classes:
                self.accesses.append(Access(base.id, index, where, stmt))
        elif is_cheap(rhs, facts, stmt.target.id) and not _is_view(stmt, rhs, facts):
            self.look_at(contents_read(rhs, facts), where, stmt)

    # --- the proof ---

    def is_safe(self, store: Access) -> bool:
        """Whether a store writes over nothing that was read for an adjoint."""
        rep = self.facts.aliases.classes[store.owner]
        if self.facts.aliases.is_unclear(store.owner) or rep in self.moved:
            return False
        same = Contents(rep)
        mates = [a for a in self.accesses if same in contents_of(a.owner, self.facts)]
        return all(self.is_after(a, store) for a in mates)

    def readable(self, safe: frozenset[int]) -> Iterator[int]:
        """The stores whose value can be read back: one more read that no store may overwrite."""
        classes = self.facts.aliases.classes
        for store in self.stores:
            if self.keeps_value(store):
                where = replace(store.where, path=(*store.where.path, 0))
                self.accesses.append(replace(store, where=where))
                mates = [s for s in self.stores if classes[s.owner] == classes[store.owner]]
                if all(id(s.stmt) in safe and self.is_safe(s) for s in mates):
                    yield id(store.stmt)
                else:
                    self.accesses.pop()

    def keeps_value(self, store: Access) -> bool:
        """Whether a store puts a needed value, unchanged in shape and dtype, into its array."""
        stmt, kinds = store.stmt, self.facts.kinds
        if not isinstance(stmt, ir.SetItem):
            return False
        if type(stmt.value) is not ir.Name or stmt.value.id not in self.needed:
            return False
        item = ir.Call(operator.getitem, (stmt.base, stmt.index))
        place = kind_of_call(item, kinds, self.facts.target.on_device)
        value = kinds.get(stmt.value.id)
        if value is None or getattr(place, "dtype", None) != getattr(value, "dtype", ""):
            return False
        return ir.broadcasts_to_itself(value, place)

    def is_after(self, read: Access, store: Access) -> bool:
        """Whether no element is read and afterwards overwritten by the store."""
        pairs = zip(read.where.loops, store.where.loops)
        shared = [loop for (path, loop), (other, _) in pairs if path == other]
        single = len(self.definitions.get(read.owner, ())) <= 1  # one array all the time
        comparable = single and read.owner == store.owner
        variables = [s.target.id if type(s) is ir.For else None for s in shared]
        for k, loop in enumerate(shared):
            outer = variables[:k]
            if not comparable or not (
                self.is_elsewhere_later(read, store, loop) or self.are_apart(read, store, outer)
            ):
                return False
        if store.where.path < read.where.path:
            return True
        return comparable and self.are_never_same(read, store, variables)

    def is_elsewhere_later(self, read: Access, store: Access, loop: ir.For | ir.While) -> bool:
        """Whether a store in a later iteration of the loop is at another place than the read."""
        if type(loop) is not ir.For or loop.target.id not in self.ranges:
            return False
        var = loop.target.id
        pairs = self.axes(read, store)
        if self.ranges[var][2] == 1:
            return any(e.is_less(f, var, 1) for e, f in pairs)
        return any(f.is_less(e, var, 1) for e, f in pairs)

    def are_never_same(self, read: Access, store: Access, variables: Sequence[str | None]) -> bool:
        """Whether read and store are at different places in one iteration of the loops around."""
        unequal = read.where.unequal & store.where.unequal
        pairs = (frozenset((e.atom, f.atom)) for e, f in self.axes(read, store))
        return not unequal.isdisjoint(pairs) or self.are_apart(read, store, variables)

    def are_apart(self, read: Access, store: Access, variables: Sequence[str | None]) -> bool:
        """Whether one subscript is always less than the other, for equal values of variables."""
        return any(
            e.is_less(f, var) or f.is_less(e, var)
            for e, f in self.axes(read, store)
            for var in (*variables, None)
        )

    def axes(self, read: Access, store: Access) -> Iterator[tuple[_Subscript, _Subscript]]:
        """The subscripts of both on every axis, where neither can be negative."""
        if read.index is None or store.index is None:
            return
        one = read.index.items if type(read.index) is ir.Tup else (read.index,)
        two = store.index.items if type(store.index) is ir.Tup else (store.index,)
        if any(i in (ir.Const(...), ir.NONE) for i in (*one, *two)):
            return
        for e, f in zip(one, two):
            if _is_plain(e) and _is_plain(f):
                found = _Subscript(self, e, read.where), _Subscript(self, f, store.where)
                lows = [s.bound(None, -1) for s in found]
                if all(low is not None and low >= 0 for low in lows):
                    yield found


@frozen
class _Subscript:
    """A number, or the numbers of a slice, at a place."""

    proof: _Proof
    atom: ir.Atom
    where: Where
    depth: int = 0

    def is_less(self, other: _Subscript, var: str | None, more: int = 0) -> bool:
        """Whether it is less than `other + more` for equal values of `var`."""
        high, low = self.bound(var, 1), other.bound(var, -1)
        return high is not None and low is not None and high < low + more

    def at(self, atom: ir.Atom) -> _Subscript:
        """Another number at this place."""
        return _Subscript(self.proof, atom, self.where, self.depth + 1)

    def bound(self, var: str | None, side: int) -> int | None:
        """A bound of it less `var` (of itself for None): upper for side 1, lower for -1."""
        if self.depth > 8:
            return None
        if type(self.atom) is ir.Slice:
            return self.of_slice(self.atom, var, side)
        if type(self.atom) is ir.Const:
            number = type(self.atom.value) is int and var is None
            return self.atom.value if number else None
        if type(self.atom) is not ir.Name:
            return None
        if self.atom.id == var:
            return 0
        found = [b for b in self.of_name(self.atom, var, side) if b is not None]
        return (min if side == 1 else max)(found, default=None)

    def of_name(self, name: ir.Name, var: str | None, side: int) -> Iterator[int | None]:
        """What ranges, tests and definitions say of a variable."""
        proof = self.proof
        if var in proof.ranges and var not in proof.definitions:
            # j <= i + c in a loop `for j in range(i + c + 1)` says i - j >= -c.
            other = self.of_target(var, name.id, -side)
            yield None if other is None else -other
        for test in self.where.tests if self.depth < 3 else ():
            if test.gap is not None and (test.less, test.more)[side == -1] == name:
                other = self.at(test.more if side == 1 else test.less).bound(var, side)
                yield None if other is None else other - side * test.gap
        if name.id in proof.ranges and name.id not in proof.definitions:
            yield self.of_target(name.id, var, side)
        elif name.id not in proof.targets:  # one that is bound elsewhere too has no definition
            defined = proof.definition(name.id, self.where)
            yield None if defined is None else self.of_sum(defined, var, side)

    def of_slice(self, item: ir.Slice, var: str | None, side: int) -> int | None:
        """A bound of the positions in `a:b`, if b cannot be negative."""
        top = self.at(item.upper).bound(None, -1)
        if top is None or top < 0:
            return None
        if side == 1:
            found = self.at(item.upper).bound(var, 1)
            return None if found is None else found - 1
        return self.at(ir.Const(0) if item.lower == ir.NONE else item.lower).bound(var, -1)

    def of_target(self, name: str, var: str | None, side: int) -> int | None:
        """A bound of a loop's target by the loop's range."""
        start, stop, step = self.proof.ranges[name]
        if (side == 1) == (step == 1):
            found = self.at(stop).bound(var, side)
            return None if found is None else found - step
        return self.at(start).bound(var, side)

    def of_sum(self, rhs: ir.Rhs, var: str | None, side: int) -> int | None:
        """A bound of `a + c`, `c + a` or `a - c` with a literal c."""
        if isinstance(rhs, (ir.Name, ir.Const)):
            return self.at(rhs).bound(var, side)
        if not is_op(rhs, Op.ADD, Op.SUB):
            return None
        a, b = rhs.args
        if is_op(rhs, Op.ADD) and type(a) is ir.Const:
            a, b = b, a
        if type(b) is not ir.Const or type(b.value) is not int:
            return None
        found = self.at(a).bound(var, side)
        if found is None:
            return None
        return found + b.value if is_op(rhs, Op.ADD) else found - b.value


_SAID = {
    Op.LT: (False, 1), Op.LE: (False, 0), Op.GT: (True, 1), Op.GE: (True, 0),
    Op.EQ: (False, 0), Op.NE: (False, None),
}  # fmt: skip
"""Of a comparison: whether the greater one stands first, and by how much it is greater."""
_OTHERWISE = {
    Op.LT: Op.GE, Op.LE: Op.GT, Op.GT: Op.LE, Op.GE: Op.LT, Op.EQ: Op.NE, Op.NE: Op.EQ
}  # fmt: skip


def _moved_by(stmt: ir.Stmt, facts: Facts) -> set[str]:
    """The class of a list whose items a statement gives other places, which are taken back.

    What is read at one place before is overwritten at another one afterwards.
    """
    call = ir.call_of(stmt)
    if not is_op(call, Op.INSERT, Op.REVERSE, Op.POP) or (
        is_op(call, Op.POP) and not call.args[1:]
    ):
        return set()
    classes = facts.aliases.classes
    return {classes[n] for n in ir.names(call.args[0]) if n in classes}


def _is_view(stmt: ir.Assign, call: ir.Call, facts: Facts) -> bool:
    """Whether a call gives an array that shares memory: what is read of it is looked at there."""
    kind = facts.kinds.get(stmt.target.id, ir.UNKNOWN)
    return not ir.is_scalar(kind) and bool(returns_view(call, facts.kinds))


def _is_piece(name: str, facts: Facts) -> bool:
    """Whether a name is a part of an array, read where it is made by a subscript."""
    view = facts.aliases.views.get(name)
    return view is not None and is_op(view.rhs, Op.GETITEM)


def _is_plain(item: ir.Atom) -> bool:
    """Whether a subscript is a number or `a:b`, whose bounds can be compared."""
    if type(item) is ir.Slice:
        return item.step == ir.NONE and item.upper != ir.NONE
    return isinstance(item, (ir.Name, ir.Const))
