"""Stores that overwrite nothing that an adjoint still needs: nothing is saved for them.

Takes a `Pair` tree; returns the stores `A[e] = v` of which it is proved that no element that they
write was read before, for an adjoint, in the same memory.  The proof compares affine subscripts
(`t`, `i - 1`), sums of a variable and a literal that the ranges of loops bound, along the loops
that a read and a store share: either every later store is at a larger (or, in a falling loop,
smaller) subscript, or the store precedes the read in every iteration.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
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
)
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.ir.kinds import UNKNOWN, broadcasts_to_itself, is_scalar
from srcdiff.kinds.calls import kind_of_call
from srcdiff.primitives.effects import returns_view
from srcdiff.primitives.ops import Op, is_op


@state
class Known:
    """What names are bound to, and the ranges of the targets of loops."""

    facts: Facts
    definitions: dict[str, list[ir.Rhs]] = field(default_factory=dict)
    ranges: dict[str, tuple[ir.Atom, ir.Atom, int]] = field(default_factory=dict)
    targets: set[str] = field(default_factory=set)  # of all loops


def bound(atom: ir.Atom, var: str | None, known: Known, side: int, depth: int = 0) -> int | None:
    """A bound of `atom - var` (of `atom` itself for None): upper for side 1, lower for -1."""
    if depth > 8:
        return None
    if isinstance(atom, ir.Slice):
        return _bound_of_slice(atom, var, known, side, depth)
    if isinstance(atom, ir.Const):
        number = type(atom.value) is int and var is None
        return atom.value if number else None
    if not isinstance(atom, ir.Name):
        return None
    if atom.id == var:
        return 0
    if var in known.ranges and var not in known.definitions:
        # j <= i + c in a loop `for j in range(i + c + 1)` says i - j >= -c.
        other = _bound_of_target(var, atom.id, known, -side, depth)
        if other is not None:
            return -other
    if atom.id in known.ranges and atom.id not in known.definitions:
        return _bound_of_target(atom.id, var, known, side, depth)
    # The target of a loop that is bound elsewhere too has no range, and no definition.
    defined = [] if atom.id in known.targets else known.definitions.get(atom.id, [])
    return _bound_of_sum(defined[0], var, known, side, depth) if len(defined) == 1 else None


def _bound_of_slice(
    item: ir.Slice, var: str | None, known: Known, side: int, depth: int
) -> int | None:
    """A bound of the positions in `a:b`, if b cannot be negative."""
    top = bound(item.upper, None, known, -1, depth + 1)
    if top is None or top < 0:
        return None
    if side == 1:
        found = bound(item.upper, var, known, 1, depth + 1)
        return None if found is None else found - 1
    lower = ir.Const(0) if item.lower == ir.NONE else item.lower
    return bound(lower, var, known, -1, depth + 1)


def _bound_of_target(
    name: str, var: str | None, known: Known, side: int, depth: int
) -> int | None:
    """A bound of a loop's target by the loop's range."""
    start, stop, step = known.ranges[name]
    if (side == 1) == (step == 1):
        found = bound(stop, var, known, side, depth + 1)
        return None if found is None else found - step
    return bound(start, var, known, side, depth + 1)


def _bound_of_sum(
    rhs: ir.Rhs, var: str | None, known: Known, side: int, depth: int
) -> int | None:
    """A bound of `a + c`, `c + a` or `a - c` with a literal c."""
    if isinstance(rhs, (ir.Name, ir.Const)):
        return bound(rhs, var, known, side, depth + 1)
    if not is_op(rhs, Op.ADD, Op.SUB):
        return None
    a, b = rhs.args
    if is_op(rhs, Op.ADD) and isinstance(a, ir.Const):
        a, b = b, a
    if not isinstance(b, ir.Const) or type(b.value) is not int:
        return None
    found = bound(a, var, known, side, depth + 1)
    if found is None:
        return None
    return found + b.value if is_op(rhs, Op.ADD) else found - b.value


# --- stores that overwrite nothing that an adjoint still needs: nothing is saved for them --------


Path = tuple[int, ...]


Loops = tuple[tuple[Path, "ir.For | ir.While"], ...]
Unequal = frozenset[frozenset[ir.Atom]]


@frozen
class Where:
    """A place: its path, the loops around it, and names that are unequal there."""

    path: Path = ()
    loops: Loops = ()
    unequal: Unequal = frozenset()

    @property
    def fields(self) -> tuple[Path, Loops, Unequal]:
        """All of it."""
        return self.path, self.loops, self.unequal


@frozen
class Access:
    """A read or a store: the owner, the subscript (None: anything), its place and its loops."""

    owner: str
    index: ir.Atom | None
    path: Path
    loops: Loops
    unequal: Unequal
    stmt: ir.Stmt


@state
class _Facts(Known):
    """What the proof looks things up in."""

    accesses: list[Access] = field(default_factory=list)
    stores: list[Access] = field(default_factory=list)
    moved: set[str] = field(default_factory=set)  # classes of lists whose items change places


def stable(block: ir.Block, adjoint_names: frozenset[str], facts: Facts) -> Stable:
    """The stores of which it is proved that they overwrite nothing that is needed."""
    known = _Facts(facts)
    needed = _needed_names(block, adjoint_names, facts)
    _collect(block, Where(), known, needed, adjoint_names)
    safe = frozenset(id(s.stmt) for s in known.stores if _is_safe(s, known))
    return Stable(safe, frozenset(_readable(known, needed, safe)), needed)


def _readable(known: _Facts, needed: frozenset[str], safe: frozenset[int]) -> Iterator[int]:
    """The stores whose value can be read back: one more read that no store may overwrite."""
    for store in known.stores:
        if _keeps_value(store, needed, known.facts):
            known.accesses.append(replace(store, path=(*store.path, 0)))
            rep = known.facts.aliases.classes[store.owner]
            mates = [s for s in known.stores if known.facts.aliases.classes[s.owner] == rep]
            if all(id(s.stmt) in safe and _is_safe(s, known) for s in mates):
                yield id(store.stmt)
            else:
                known.accesses.pop()


def _keeps_value(store: Access, needed: frozenset[str], facts: Facts) -> bool:
    """Whether a store puts a needed value, unchanged in shape and dtype, into its array."""
    stmt = store.stmt
    if not isinstance(stmt, ir.SetItem) or stmt.op is not None or stmt.index is None:
        return False
    if not isinstance(stmt.value, ir.Name) or stmt.value.id not in needed:
        return False
    place = kind_of_call(ir.Call(operator.getitem, (stmt.base, stmt.index)), facts.kinds)
    value = facts.kinds.get(stmt.value.id)
    if value is None or getattr(place, "dtype", None) != getattr(value, "dtype", ""):
        return False
    return broadcasts_to_itself(value, place)


def _needed_names(
    block: ir.Block, adjoint_names: frozenset[str], facts: Facts
) -> frozenset[str]:
    """The primal names that some adjoint reads."""
    found: set[str] = set()
    for stmt in ir.walk(block):
        if isinstance(stmt, ir.Pair):
            reads = primal_reads(stmt.adjoint, adjoint_names, facts)
            found.update(n for n in reads if isinstance(n, str))
    return frozenset(found)


def _collect(
    block: ir.Block,
    where: Where,
    known: _Facts,
    needed: frozenset[str],
    adjoint_names: frozenset[str],
) -> None:
    """Every needed read and every store, with definitions and loop ranges."""
    for k, stmt in enumerate(block):
        here = replace(where, path=(*where.path, k))
        if isinstance(stmt, ir.Pair):
            _collect_pair(stmt, here, known, needed, adjoint_names)
            continue
        _note_bindings(stmt, known)
        if isinstance(stmt, (ir.For, ir.While)):
            here = replace(here, loops=(*where.loops, (here.path, stmt)))
            _note_range(stmt, known)
        for j, part in enumerate(ir.blocks(stmt)):
            inner = replace(here, path=(*here.path, j))
            if isinstance(stmt, ir.If):
                inner = replace(inner, unequal=where.unequal | _unequal(stmt, j, known))
            _collect(part, inner, known, needed, adjoint_names)


def _unequal(stmt: ir.If, branch: int, known: _Facts) -> frozenset[frozenset[ir.Atom]]:
    """The two operands that are unequal in a branch, by the test."""
    defined = known.definitions.get(stmt.test.id, []) if isinstance(stmt.test, ir.Name) else []
    test = defined[0] if len(defined) == 1 else None
    if is_op(test, (Op.NE, Op.EQ)[branch]):
        return frozenset({frozenset(test.args)})
    return frozenset()


def _note_range(stmt: ir.For | ir.While, known: _Facts) -> None:
    """The bounds of a loop's target, if its step is one or minus one."""
    if not isinstance(stmt, ir.For):
        return
    again = stmt.target.id in known.targets
    known.targets.add(stmt.target.id)
    if again:  # two loops with one target: neither range holds
        known.ranges.pop(stmt.target.id, None)
    elif is_op(stmt.iter, Op.RANGE):
        args = stmt.iter.args
        start: ir.Atom = ir.Const(0) if len(args) == 1 else args[0]
        step = args[2] if len(args) == 3 else ir.Const(1)
        if isinstance(step, ir.Const) and step.value in (1, -1):
            known.ranges[stmt.target.id] = (start, args[min(1, len(args) - 1)], step.value)


def _collect_pair(
    pair: ir.Pair,
    where: Where,
    known: _Facts,
    needed: frozenset[str],
    adjoint_names: frozenset[str],
) -> None:
    """The definition, the read and the store of one statement."""
    stmt = pair.primal
    facts = known.facts
    if stmt is not None:
        _note_bindings(stmt, known)
        known.moved |= _moved_by(stmt, facts)
    if isinstance(stmt, ir.Assign):
        _collect_read(stmt, where, known, needed)
    if isinstance(stmt, ir.SetItem) and contents_of(stmt.base.id, facts):
        known.stores.append(Access(stmt.base.id, stmt.index, *where.fields, stmt))
        # What puts the old elements back looks at an array of indices once more.
        indices = (n for n in ir.names(stmt.index) if contents_of(n, facts))
        known.accesses += (Access(n, None, *where.fields, stmt) for n in indices)
    mine = stmt if stmt is not None else pair
    for name in primal_reads(pair.adjoint, adjoint_names, facts):
        if isinstance(name, str) and contents_of(name, facts) and not _is_piece(name, facts):
            known.accesses.append(Access(name, None, *where.fields, mine))


def _moved_by(stmt: ir.Stmt, facts: Facts) -> set[str]:
    """The class of a list whose items a statement gives other places, which are taken back.

    What is read at one place before is overwritten at another one afterwards.
    """
    call = ir.call_of(stmt)
    if call is None or not isinstance(call.fn, ir.Method):
        return set()
    moves = call.fn.name in ("insert", "reverse") or (call.fn.name == "pop" and len(call.args) > 1)
    names = ir.names(call.args[0]) if moves else ()
    return {facts.aliases.classes[n] for n in names if n in facts.aliases.classes}


def _note_bindings(stmt: ir.Stmt, known: _Facts) -> None:
    """What a statement binds its names to: an expression, or any of several (`a, b = b, a`)."""
    if isinstance(stmt, ir.Assign):
        known.definitions.setdefault(stmt.target.id, []).append(stmt.rhs)
    elif not isinstance(stmt, (ir.If, ir.For, ir.While)):
        for name in ir.writes(stmt):
            known.definitions.setdefault(name, []).extend((ir.NONE, ir.NONE))


def _collect_read(stmt: ir.Assign, where: Where, known: _Facts, needed: frozenset[str]) -> None:
    """A read `v = A[i]`, or `v = len(A)`, whose value an adjoint needs."""
    rhs, facts = stmt.rhs, known.facts
    if not isinstance(rhs, ir.Call) or stmt.target.id not in needed:
        return
    if is_op(rhs, Op.GETITEM):
        base, index = rhs.args
        if isinstance(base, ir.Name) and base.id in facts.aliases.classes:
            known.accesses.append(Access(base.id, index, *where.fields, stmt))
    elif is_cheap(rhs, facts, stmt.target.id) and not _is_view(stmt, rhs, facts):
        read = (n for n in contents_read(rhs, facts) if contents_of(n, facts))
        known.accesses += (Access(n, None, *where.fields, stmt) for n in read)


def _is_view(stmt: ir.Assign, call: ir.Call, facts: Facts) -> bool:
    """Whether a call gives an array that shares memory: what is read of it is looked at there."""
    kind = facts.kinds.get(stmt.target.id, UNKNOWN)
    return not is_scalar(kind) and bool(returns_view(call, facts.kinds))


def _is_piece(name: str, facts: Facts) -> bool:
    """Whether a name is a part of an array, read where it is made by a subscript."""
    view = facts.aliases.views.get(name)
    rhs = None if view is None else view.rhs
    return is_op(rhs, Op.GETITEM)


def _is_safe(store: Access, known: _Facts) -> bool:
    """Whether a store writes over nothing that was read for an adjoint."""
    rep = known.facts.aliases.classes[store.owner]
    if known.facts.aliases.is_unclear(store.owner) or rep in known.moved:
        return False
    same = Contents(rep)
    mates = [a for a in known.accesses if same in contents_of(a.owner, known.facts)]
    return all(_after(a, store, known) for a in mates)


def _after(read: Access, store: Access, known: _Facts) -> bool:
    """Whether no element is read and afterwards overwritten by the store."""
    shared = [b for a, b in zip(read.loops, store.loops) if a[0] == b[0]]
    comparable = read.owner == store.owner and _single_owner(read.owner, known)
    for k, (_, loop) in enumerate(shared):
        outer = [s.target.id for _, s in shared[:k] if isinstance(s, ir.For)]
        if not comparable or not (
            _later_is_elsewhere(read, store, loop, known) or _apart(read, store, outer, known)
        ):
            return False
    if store.path < read.path:
        return True
    return comparable and _never_same(read, store, known)


def _single_owner(name: str, known: _Facts) -> bool:
    """Whether a name stands for one array all the time."""
    return len(known.definitions.get(name, [])) <= 1


def _later_is_elsewhere(
    read: Access, store: Access, loop: ir.For | ir.While, known: _Facts
) -> bool:
    """Whether a store in a later iteration of the loop is at another place than the read."""
    if not isinstance(loop, ir.For) or loop.target.id not in known.ranges:
        return False
    var = loop.target.id
    rising = known.ranges[var][2] == 1
    for e, f in _axes(read.index, store.index, known):
        if rising:
            low, high = bound(f, var, known, -1), bound(e, var, known, 1)
            if low is not None and high is not None and low >= high:
                return True
        else:
            low, high = bound(e, var, known, -1), bound(f, var, known, 1)
            if low is not None and high is not None and high <= low:
                return True
    return False


def _never_same(read: Access, store: Access, known: _Facts) -> bool:
    """Whether read and store are at different places in one iteration of the loops they share."""
    shared = [a[1] for a, b in zip(read.loops, store.loops) if a[0] == b[0]]
    variables: list[str | None] = [s.target.id for s in shared if isinstance(s, ir.For)]
    for e, f in _axes(read.index, store.index, known):
        if frozenset((e, f)) in read.unequal & store.unequal:
            return True
    return _apart(read, store, variables, known)


def _apart(
    read: Access, store: Access, variables: Sequence[str | None], known: _Facts
) -> bool:
    """Whether one subscript is always less than the other, for equal values of the variables."""
    for e, f in _axes(read.index, store.index, known):
        for var in (*variables, None):
            if _less(e, f, var, known) or _less(f, e, var, known):
                return True
    return False


def _less(a: ir.Atom, b: ir.Atom, var: str | None, known: _Facts) -> bool:
    """Whether `a < b` for equal values of `var`."""
    high, low = bound(a, var, known, 1), bound(b, var, known, -1)
    return high is not None and low is not None and high < low


def _axes(
    read: ir.Atom | None, store: ir.Atom | None, known: _Facts
) -> Iterator[tuple[ir.Atom, ir.Atom]]:
    """The subscripts of both on every axis, where neither can be negative."""
    if read is None or store is None:
        return
    one = read.items if isinstance(read, ir.Tup) else (read,)
    two = store.items if isinstance(store, ir.Tup) else (store,)
    if any(i in (ir.Const(...), ir.NONE) for i in (*one, *two)):
        return
    for e, f in zip(one, two):
        if _is_plain(e) and _is_plain(f):
            lows = bound(e, None, known, -1), bound(f, None, known, -1)
            if all(low is not None and low >= 0 for low in lows):
                yield e, f


def _is_plain(item: ir.Atom) -> bool:
    """Whether a subscript is a number or `a:b`, whose bounds can be compared."""
    if isinstance(item, ir.Slice):
        return item.step == ir.NONE and item.upper != ir.NONE
    return isinstance(item, (ir.Name, ir.Const))
