"""What is known of memory and of values at a point of a function.

`Memory` says which names may share memory, which memory is written into, and which leaves the
function; `Sharers` which names may hold the memory of a name at a point: where nobody else does, it
is its own.

`Available` is what names are known to equal.  A fact `name = rhs` holds until the name, or a name
in `rhs`, is bound again, or memory that the right-hand side looks at is written into.  A clock
counts what happens: of every name and every class of memory it is known when that was last, and of
a fact since when it holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Set
from functools import cached_property

from srcdiff import ir
from srcdiff.analysis.links import shares
from srcdiff.analysis.liveness import liveness
from srcdiff.analysis.manager import Analysis
from srcdiff.analysis.points_to import PointsTo
from srcdiff.ir.disjoint import Disjoint
from srcdiff.ir.frozen import frozen, remember
from srcdiff.primitives.effects import (
    computes,
    is_pure,
    makes_new,
    mutated_args,
    only_writes,
    returns_view,
    written_into,
)
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op, which_op
from srcdiff.primitives.views import is_array

Changes = tuple[ir.Stmt, Collection[str], Collection[str]]  # what it binds, and classes it writes
Known = tuple[
    ir.Kinds, list[tuple[str, str]], tuple[str, ...]
]  # pairs that share, and what it writes


class Memory(Analysis):
    """Classes of names that may share memory; flow-insensitive.  `leaving` are handed out."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds, leaving: Iterable[str] = ()) -> None:
        super().__init__(function, kinds)
        self.device = function.target.on_device
        self.sets = Disjoint[str]()
        written: list[str] = []
        _, put = PointsTo.of(function, kinds).outside
        leaving = [*leaving, *put]
        for stmt in ir.walk(function):
            found = stmt._memory  # as `_known` does
            _, shared, into = found if found and found[0] is kinds else self._known(stmt)
            for name, source in shared:
                one, two = self.find(name), self.find(source)
                if one != two:
                    self.sets.join(min(one, two), max(one, two))
            if into:
                written += into
        returns = (s for s in function.body if isinstance(s, ir.Return))
        leaving += [n for s in returns for n in ir.occurrences(s.value) if self.has_memory(n)]
        self.mutated = frozenset(map(self.find, written))
        self.escaping = frozenset(map(self.find, leaving))
        self.put = frozenset(map(self.find, put))  # into what is from outside
        self._changes: dict[int, Changes] = {}
        self._is_mutated: dict[str, bool] = {}

    def find(self, name: str) -> str:
        """The name that stands for a class."""
        return self.sets.find(name)

    def has_memory(self, name: str) -> bool:
        """Whether a name may stand for something that can be written into."""
        kind = self.kinds.get(name)
        return kind is None or ir.is_mutable(kind)

    def is_array(self, name: str) -> bool:
        """Whether a name certainly stands for an array."""
        return is_array(self.kinds.get(name))

    def is_mutated(self, name: str) -> bool:
        """Whether something writes into the memory behind a name, anywhere in the function."""
        found = self._is_mutated.get(name)
        if found is None:
            found = self.has_memory(name) and self.find(name) in self.mutated
            self._is_mutated[name] = found
        return found

    def may_share(self, target: str, source: str) -> bool:
        """Whether `target` may be the very memory of `source` instead of equal new memory."""
        if not self.has_memory(source):
            return True
        return not self.is_mutated(source) and self.is_only_read(target)

    def is_only_read(self, target: str) -> bool:
        """Whether nothing writes into the memory behind a name, which stays in the function."""
        return not self.is_mutated(target) and self.find(target) not in self.escaping

    def written_by(self, stmt: ir.Stmt) -> tuple[str, ...]:
        """The classes that a statement itself writes into."""
        _, _, written = self._known(stmt)
        return tuple(dict.fromkeys(map(self.find, written))) if written else ()

    def hands_on(self, stmt: ir.Stmt, name: str) -> bool:
        """Whether something shares the memory of a name from a statement on, or may keep it."""
        _, shared, written = self._known(stmt)
        if name in written or any(name in pair for pair in shared):
            return True
        return name in ir.reads_of(stmt) and (type(stmt) is ir.Return or hands_out(stmt))

    def changes(self, stmt: ir.Stmt) -> Changes:
        """What a statement may bind and write into, the statements inside it as well."""
        if type(stmt) in ir.PLAIN:
            return stmt, _bound_by(stmt), self.written_by(stmt)
        found = self._changes.get(id(stmt))
        if found is None:
            inside = [self.changes(s) for block in ir.blocks(stmt) for s in block]
            bound = {*ir.writes(stmt), *(n for _, names, _ in inside for n in names)}
            written = {c for _, _, classes in inside for c in classes}
            found = self._changes[id(stmt)] = stmt, bound, written  # no other one gets its `id`
        return found

    def keeps(self, stmts: Sequence[ir.Stmt], names: Collection[str]) -> bool:
        """Whether statements leave what names stand for as it is."""
        classes = {self.find(n) for n in names if self.has_memory(n)}
        changes = [self.changes(s) for s in stmts]
        unbound = all(set(names).isdisjoint(bound) for _, bound, _ in changes)
        return unbound and all(classes.isdisjoint(written) for _, _, written in changes)

    def is_apart(self, stmt: ir.Stmt, others: Sequence[ir.Stmt]) -> bool:
        """Whether others neither mention what a statement binds nor change what it reads."""
        unmet = all(ir.mentions(s).isdisjoint(ir.writes(stmt)) for s in others)
        return unmet and self.keeps(others, ir.reads(stmt))

    def note(self, stmt: ir.Stmt) -> None:
        """A statement that a walk adds: the new name that it binds shares what others share."""
        for name, source in self._known(stmt)[1]:
            assert self.find(name) in (name, self.find(source)), "it joins what was apart"
            self.sets.join(source, name)

    def _known(self, stmt: ir.Stmt) -> Known:
        """What a statement shares and writes into, for the kinds."""
        found: Known | None = stmt._memory
        if found is None or found[0] is not self.kinds:
            now: Known = self.kinds, [], ()
            if type(stmt) is not ir.Assign or not (self._computes(stmt) or self._is_apart(stmt)):
                now = self.kinds, self._shared(stmt), written_into(stmt, self.kinds)
            found = remember(stmt, "_memory", now)
        return found

    def _shared(self, stmt: ir.Stmt) -> list[tuple[str, str]]:
        """Pairs of names that may share memory after a statement."""
        pairs = shares(stmt, self.kinds, self.device, _may_hold)
        found = [(target, source) for target, source, _ in pairs]
        rhs = stmt.rhs if type(stmt) is ir.Assign else None
        if is_op(rhs, Op.LIKE_TREE):  # `finish` returns it as it is where its kind is right
            found += [(ir.writes(stmt)[0], n) for n in ir.occurrences(rhs.args[0])]
        return [p for p in dict.fromkeys(found) if p[0] != p[1] and all(map(self.has_memory, p))]

    def _computes(self, stmt: ir.Assign) -> bool:
        """Whether a statement computes something new of numbers and arrays."""
        return type(stmt.rhs) is ir.Call and computes(stmt.rhs, self.kinds)

    def _is_apart(self, stmt: ir.Assign) -> bool:
        """Whether a statement lets nothing share memory: it gives a number and writes nowhere."""
        if self.has_memory(stmt.target.id):
            return False
        return type(stmt.rhs) is not ir.Call or not mutated_args(stmt.rhs)


def _may_hold(name: str, kinds: ir.Kinds) -> bool:
    """Whether a name may hold others: the kinds of generated names are not all known."""
    return not is_array(kinds.get(name))


def _bound_by(stmt: ir.Stmt) -> tuple[str, ...]:
    """The names that a statement binds; a number is bound anew where it is updated as a whole."""
    if type(stmt) is ir.AugAssign and stmt.index is None:
        return (stmt.base.id,)
    return ir.writes(stmt)


# --- which names may hold the memory of a name at a point: where nobody does, it is its own ------


def gives_view(call: ir.Call) -> bool:
    """Whether a call gives views that can be written into as what they are views of."""
    return is_op(call, Op.GETITEM) or op_of(call.fn).is_whole_view


class Sharers(Analysis):
    """The names that may share memory anywhere in a function, and those that others may keep."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(function, kinds)
        self.memory = Memory.of(function, kinds)
        params = {p.name for p in function.params}
        names = ir.bound(function) | ir.used(function.body) | params
        self.groups: dict[str, set[str]] = {}
        for name in names:
            self.groups.setdefault(self.memory.find(name), set()).add(name)
        kept = (n for s in ir.walk(function) for n in _handed_out(s))
        self.kept = frozenset(map(self.memory.find, (*params, *kept))) | self.memory.put

    def group(self, name: str) -> set[str]:
        """The names that may share memory with a name, and itself."""
        return self.groups[self.memory.find(name)]

    def is_alone(self, name: str, live: Set[str]) -> bool:
        """Whether no other live name, and nobody outside, may hold the memory of a name."""
        return not self.is_kept(name) and live.isdisjoint(self.group(name) - {name})

    def is_kept(self, name: str) -> bool:
        """Whether somebody outside may hold the memory of a name."""
        return self.memory.find(name) in self.kept

    @cached_property
    def odd(self) -> set[str]:
        """The names that may stand for what is no array that can be written into."""
        return {n for s in ir.walk(self.function) for n in oddly_bound(s, self.kinds)}

    def is_own(self, name: str, stmt: ir.Stmt) -> bool:
        """Whether no name that is read behind a statement has the memory of a name before it."""
        return self.is_last(name, stmt) and self.odd.isdisjoint(self.group(name))

    def is_last(self, name: str, stmt: ir.Stmt) -> bool:
        """Whether nobody else looks behind a statement at what a name stands for before it."""
        holders = self.group(name).difference(ir.writes(stmt))
        return not self.is_kept(name) and liveness(self.function)[id(stmt)].isdisjoint(holders)


def _handed_out(stmt: ir.Stmt) -> tuple[str, ...]:
    """The names that a statement gives to something that may keep them."""
    found = stmt._handed_out
    if found is None:
        found = remember(stmt, "_handed_out", ir.reads(stmt) if hands_out(stmt) else ())
    return found


def hands_out(stmt: ir.Stmt) -> bool:
    """Whether a statement gives what it reads to something that may keep it."""
    rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
    if isinstance(rhs, ir.Call):
        return not is_known(rhs.fn)
    return isinstance(stmt, ir.Verbatim) or isinstance(rhs, ir.Opaque)


def is_known(fn: ir.Callee) -> bool:
    """Whether all that a callee does with its arguments is known."""
    return is_pure(fn) or only_writes(fn)


def oddly_bound(stmt: ir.Stmt, kinds: ir.Kinds) -> tuple[str, ...]:
    """The names that a statement binds to what may be no array that can be written into."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if isinstance(rhs, ir.Name):
        return ()
    if not isinstance(rhs, ir.Call):
        return ir.writes(stmt)
    if gives_view(rhs):  # a part of what is from outside stays what it is
        return ir.writes(stmt) if rhs.args and isinstance(rhs.args[0], ir.Ref) else ()
    new = isinstance(rhs.fn, ir.Method) or not op_of(rhs.fn).gives_array
    new = new and makes_new(rhs.fn) and not returns_view(rhs, kinds)
    return () if new else ir.writes(stmt)


# --- what names are known to equal at a point of a walk through a function -----------------------


def is_view(rhs: ir.Rhs) -> bool:
    """Whether a right-hand side is surely a view, if it is an array: `x.T`, `x[1:, 2]`."""
    op = which_op(rhs) if type(rhs) is ir.Call else None
    if op is not Op.GETITEM or type(rhs) is not ir.Call:
        return op is Op.T
    index = rhs.args[1]
    items = index.items if isinstance(index, ir.Tup) else (index,)
    return all(isinstance(i, (ir.Slice, ir.Const)) for i in items) and any(
        isinstance(i, ir.Slice) for i in items
    )


@frozen(eq=False, slots=True)
class Fact:
    """A right-hand side that a name equals, since when, and the block in which it was bound."""

    rhs: ir.Rhs
    since: int
    block: int


class Available:
    """The facts that hold at the present point."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.facts: dict[str, Fact] = {}
        self.copies: set[str] = set()  # the names whose facts are that they are copies
        self.values: dict[ir.Rhs, str] = {}
        # By names that another one had the value of first; and what is computed from such, by them.
        self.firsts: dict[str, str] = {}
        self.seconds = self.firsts.keys()
        self.numbers: dict[str, Fact] = {}
        self.now = self.changed = 0  # and when memory was written into at last
        self.bound: dict[str, int] = {}  # when each name was bound
        self.written: dict[str, int] = {}  # when each class of memory was written into

    def bind(self, name: str) -> None:
        """A name takes a new value."""
        self.now = self.bound[name] = self.now + 1

    def forget(self, block: ir.Block) -> None:
        """Whatever a block may bind or write has happened, or is about to."""
        self.now += 1
        for stmt in block:
            _, bound, written = self.memory.changes(stmt)
            self.bound.update(dict.fromkeys(bound, self.now))
            if written:
                self.changed = self.now
                self.written.update(dict.fromkeys(written, self.now))

    def change(self, stmt: ir.Stmt) -> None:
        """The memory that a statement itself writes into; a number is bound anew instead."""
        written = self.memory.written_by(stmt)
        if written:
            self.now = self.changed = self.now + 1
            self.written.update(dict.fromkeys(written, self.now))
        if type(stmt) is ir.AugAssign and stmt.index is None:
            self.bind(stmt.base.id)

    def learn(self, name: str, rhs: ir.Rhs, block: int) -> None:
        """From here on `name` equals `rhs`."""
        if isinstance(rhs, ir.Opaque) or name in ir.occurrences(rhs):
            return
        self.facts[name] = Fact(rhs, self.now, block)
        if name in self.firsts:
            del self.firsts[name]
        if name in self.numbers:
            del self.numbers[name]
        if type(rhs) is ir.Call:
            self._number(name, rhs, block)
            self.copies.discard(name)
        elif type(rhs) in _COPIED:
            self.copies.add(name)
        else:
            self.copies.discard(name)

    def value(self, atom: ir.Atom) -> ir.Rhs | None:
        """What a name is known to equal."""
        if type(atom) is not ir.Name:
            return None
        fact = self.facts.get(atom.id)
        return fact.rhs if fact is not None and self._holds(atom.id, fact) else None

    def copied(self, name: ir.Name) -> ir.Atom:
        """What a name is a copy of; itself if it is none."""
        fact = self.facts[name.id] if name.id in self.copies else None
        if fact is None or isinstance(fact.rhs, (ir.Call, ir.Opaque)):
            return name
        return fact.rhs if self._holds(name.id, fact) else name

    def _number(self, name: str, rhs: ir.Rhs, block: int) -> None:
        """From here on a name has the value of a call, which another one may have had before."""
        value = self._by_firsts(rhs) if self.firsts else rhs
        if value is not rhs:
            self.numbers[name] = Fact(value, self.now, block)
        first = self._valued(value, block) if value in self.values else None
        if first is not None and first != name:
            self.firsts[name] = self.firsts.get(first, first)
        self.values[value] = name

    def _by_firsts(self, rhs: ir.Rhs) -> ir.Rhs:
        """A right-hand side by the names that had the values of its operands first."""
        if self.seconds.isdisjoint(ir.occurrences(rhs)):
            return rhs
        return ir.map_rhs(self._first, rhs)

    def _first(self, name: ir.Name) -> ir.Name:
        """The name that had a value first, while both have it."""
        first = self.firsts.get(name.id)
        if first is None:
            return name
        both = {n: self.numbers.get(n, self.facts[n]) for n in (name.id, first)}
        same = both[name.id].rhs == both[first].rhs
        same = same and all(self._holds(n, fact, True) for n, fact in both.items())
        return ir.Name(first) if same else name

    def same_value(self, rhs: ir.Rhs, block: int) -> str | None:
        """A name, bound in this block, that equals a right-hand side."""
        return self._valued(self._by_firsts(rhs) if self.firsts else rhs, block)

    def _valued(self, value: ir.Rhs, block: int) -> str | None:
        """The last name that had a value in this block, and has it still."""
        name = self.values.get(value)
        if name is None:
            return None
        number = self.numbers.get(name)
        fact = self.facts.get(name) if number is None else number
        if fact is None or fact.block != block or fact.rhs != value:
            return None
        return name if self._holds(name, fact, number is not None) else None

    def _holds(self, name: str, fact: Fact, apart: bool = False) -> bool:
        """Whether a name still equals what it did: nothing that has part in that was changed.

        `apart`: what it is said to be computed from may be an equal value in other memory.
        """
        bound, since = self.bound, fact.since
        if since == self.now:
            return True
        reads = ir.occurrences(fact.rhs)
        for n in (name, *reads):
            if bound.get(n, 0) > since:
                return False
        if self.changed <= since or not self._is_written((name, *reads), since):
            return True
        # A copy is the same object: what is written into one is written into the other.
        # So is a view: its elements change, it stays the view that it is.
        return not apart and (type(fact.rhs) is ir.Name or is_view(fact.rhs))

    def _is_written(self, names: Iterable[str], since: int) -> bool:
        """Whether something was written since some time into what one of some names stands for."""
        memory = self.memory
        for name in names:
            if memory.is_mutated(name) and self.written.get(memory.find(name), 0) > since:
                return True
        return False


_COPIED = frozenset((ir.Name, ir.Const, ir.Ref))
