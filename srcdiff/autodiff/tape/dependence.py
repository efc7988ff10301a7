"""Stores that overwrite nothing that an adjoint still needs: nothing is saved for them.

Takes a `Pair` tree; returns the stores `A[e] = v` of which it is proved that no element that they
write was read before, for an adjoint, in the same memory.  The proof compares affine subscripts
(`t`, `i - 1`), sums of a variable and a literal that the ranges of loops bound, along the loops
that a read and a store share: either every later store is at a larger (or, in a falling loop,
smaller) subscript, or the store precedes the read in every iteration.
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
    is_cheap,
    primal_reads,
    range_bounds,
)
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.kinds.calls import kind_of_call
from srcdiff.primitives.effects import returns_view
from srcdiff.primitives.ops import Op, is_op

Path = tuple[int, ...]
Unequal = frozenset[frozenset[ir.Atom]]


@frozen
class Where:
    """A place: its path, the loops around it, and names that are unequal there."""

    path: Path = ()
    loops: tuple[tuple[Path, ir.For | ir.While], ...] = ()
    unequal: Unequal = frozenset()


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
    ranges: dict[str, tuple[ir.Atom, ir.Atom, int]] = field(default_factory=dict)
    targets: set[str] = field(default_factory=set)  # of all loops
    accesses: list[Access] = field(default_factory=list)
    stores: list[Access] = field(default_factory=list)
    moved: set[str] = field(default_factory=set)  # classes of lists whose items change places

    # --- every needed read and every store, with definitions and ranges of loops ---

    def collect(self, block: ir.Block, where: Where) -> None:
        """What is in a block at a place."""
        for k, stmt in enumerate(block):
            here = Where((*where.path, k), where.loops, where.unequal)
            if type(stmt) is ir.Pair:
                self.pair(stmt, here)
                continue
            self.bindings(stmt)
            if isinstance(stmt, (ir.For, ir.While)):
                here = replace(here, loops=(*where.loops, (here.path, stmt)))
            if type(stmt) is ir.For:
                self.loop(stmt)
            for j, part in enumerate(ir.blocks(stmt)):
                inner = replace(here, path=(*here.path, j))
                if type(stmt) is ir.If:
                    inner = replace(inner, unequal=where.unequal | self.unequal(stmt, j))
                self.collect(part, inner)

    def unequal(self, stmt: ir.If, branch: int) -> Unequal:
        """The two operands that are unequal in a branch, by the test."""
        test = self.definition(stmt.test.id) if type(stmt.test) is ir.Name else None
        if is_op(test, (Op.NE, Op.EQ)[branch]):
            return frozenset({frozenset(test.args)})
        return frozenset()

    def definition(self, name: str) -> ir.Rhs | None:
        """What a name is always bound to."""
        found = self.definitions.get(name, ())
        return found[0] if len(found) == 1 else None

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

    def bindings(self, stmt: ir.Stmt) -> None:
        """What a statement binds its names to: an expression, or any of several (`a, b = b, a`)."""
        if type(stmt) is ir.Assign:
            self.definitions.setdefault(stmt.target.id, []).append(stmt.rhs)
        elif not isinstance(stmt, (ir.If, ir.For, ir.While)):
            for name in ir.writes(stmt):
                self.definitions.setdefault(name, []).extend((ir.NONE, ir.NONE))

    def pair(self, pair: ir.Pair, where: Where) -> None:
        """The definition, the read and the store of one statement."""
        stmt, facts = pair.primal, self.facts
        if stmt is not None:
            self.bindings(stmt)
            self.moved |= _moved_by(stmt, facts)
        if type(stmt) is ir.Assign:
            self.read(stmt, where)
        if type(stmt) is ir.SetItem and contents_of(stmt.base.id, facts):
            self.stores.append(Access(stmt.base.id, stmt.index, where, stmt))
            # What puts the old elements back looks at an array of indices once more.
            self.look_at(ir.names(stmt.index), where, stmt)
        whole = (n for n in self.reads[id(pair)] if not _is_piece(n, facts))
        self.look_at(whole, where, stmt if stmt is not None else pair)

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
        if type(stmt) is not ir.SetItem or stmt.op is not None or stmt.index is None:
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
            return any(self.is_less(e, f, var, 1) for e, f in pairs)
        return any(self.is_less(f, e, var, 1) for e, f in pairs)

    def are_never_same(self, read: Access, store: Access, variables: Sequence[str | None]) -> bool:
        """Whether read and store are at different places in one iteration of the loops around."""
        unequal = read.where.unequal & store.where.unequal
        different = any(frozenset(pair) in unequal for pair in self.axes(read, store))
        return different or self.are_apart(read, store, variables)

    def are_apart(self, read: Access, store: Access, variables: Sequence[str | None]) -> bool:
        """Whether one subscript is always less than the other, for equal values of variables."""
        return any(
            self.is_less(e, f, var) or self.is_less(f, e, var)
            for e, f in self.axes(read, store)
            for var in (*variables, None)
        )

    def is_less(self, a: ir.Atom, b: ir.Atom, var: str | None, more: int = 0) -> bool:
        """Whether `a < b + more` for equal values of `var`."""
        high, low = self.bound(a, var, 1), self.bound(b, var, -1)
        return high is not None and low is not None and high < low + more

    def axes(self, read: Access, store: Access) -> Iterator[tuple[ir.Atom, ir.Atom]]:
        """The subscripts of both on every axis, where neither can be negative."""
        if read.index is None or store.index is None:
            return
        one = read.index.items if type(read.index) is ir.Tup else (read.index,)
        two = store.index.items if type(store.index) is ir.Tup else (store.index,)
        if any(i in (ir.Const(...), ir.NONE) for i in (*one, *two)):
            return
        for e, f in zip(one, two):
            if _is_plain(e) and _is_plain(f):
                lows = self.bound(e, None, -1), self.bound(f, None, -1)
                if all(low is not None and low >= 0 for low in lows):
                    yield e, f

    # --- bounds of subscripts ---

    def bound(self, atom: ir.Atom, var: str | None, side: int, depth: int = 0) -> int | None:
        """A bound of `atom - var` (of `atom` itself for None): upper for side 1, lower for -1."""
        if depth > 8:
            return None
        if type(atom) is ir.Slice:
            return self.of_slice(atom, var, side, depth + 1)
        if type(atom) is ir.Const:
            number = type(atom.value) is int and var is None
            return atom.value if number else None
        if type(atom) is not ir.Name:
            return None
        if atom.id == var:
            return 0
        if var in self.ranges and var not in self.definitions:
            # j <= i + c in a loop `for j in range(i + c + 1)` says i - j >= -c.
            other = self.of_target(var, atom.id, -side, depth + 1)
            if other is not None:
                return -other
        if atom.id in self.ranges and atom.id not in self.definitions:
            return self.of_target(atom.id, var, side, depth + 1)
        # The target of a loop that is bound elsewhere too has no range, and no definition.
        defined = None if atom.id in self.targets else self.definition(atom.id)
        return None if defined is None else self.of_sum(defined, var, side, depth + 1)

    def of_slice(self, item: ir.Slice, var: str | None, side: int, depth: int) -> int | None:
        """A bound of the positions in `a:b`, if b cannot be negative."""
        top = self.bound(item.upper, None, -1, depth)
        if top is None or top < 0:
            return None
        if side == 1:
            found = self.bound(item.upper, var, 1, depth)
            return None if found is None else found - 1
        return self.bound(ir.Const(0) if item.lower == ir.NONE else item.lower, var, -1, depth)

    def of_target(self, name: str, var: str | None, side: int, depth: int) -> int | None:
        """A bound of a loop's target by the loop's range."""
        start, stop, step = self.ranges[name]
        if (side == 1) == (step == 1):
            found = self.bound(stop, var, side, depth)
            return None if found is None else found - step
        return self.bound(start, var, side, depth)

    def of_sum(self, rhs: ir.Rhs, var: str | None, side: int, depth: int) -> int | None:
        """A bound of `a + c`, `c + a` or `a - c` with a literal c."""
        if isinstance(rhs, (ir.Name, ir.Const)):
            return self.bound(rhs, var, side, depth)
        if not is_op(rhs, Op.ADD, Op.SUB):
            return None
        a, b = rhs.args
        if is_op(rhs, Op.ADD) and type(a) is ir.Const:
            a, b = b, a
        if type(b) is not ir.Const or type(b.value) is not int:
            return None
        found = self.bound(a, var, side, depth)
        if found is None:
            return None
        return found + b.value if is_op(rhs, Op.ADD) else found - b.value


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
