"""The order of statements: bindings move to where they are needed.

`reorder` moves and renames within straight lines, so that copies and second bindings go.
`d_c = d_y; d_y = d_y * x; d_b = d_b + d_c` becomes `d_b = d_b + d_y; d_y = d_y * x`: the new
value is bound after the last use of the old one.  `d_x = a; d_x = d_x + b` becomes
`_t = a; d_x = _t + b`, which reads as one expression.  `x += v; x += v` becomes `x += 2.0 * v`.

`in_order` puts zeros that are bound one after the other in the order of the inputs that they are
for.

`sink` binds temporaries right before what uses them, so that they print as parts of it.  It takes a
finished function and the kinds of its names.  A temporary that is bound once and used once, in the
same block, moves down to its use over statements that cannot change its value: they bind nothing
that it reads, do nothing but what is known, and write into no memory that it looks at.  The
position `t + 1` of a loop, bound for several uses, is computed at each of them.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Union

from srcdiff import ir
from srcdiff.analysis.effects import Scan, held, is_slot_effect, slots
from srcdiff.analysis.subscripts import counts
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import frozen, replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.optimize.displays import makes_zeros
from srcdiff.optimize.memory import Memory, Sharers, hands_out, is_view
from srcdiff.optimize.rewrite import in_ours, mark_in
from srcdiff.primitives.effects import only_computes, returns_view
from srcdiff.primitives.ops import Op, calling, is_op

WINDOW = 40


def reorder(function: ir.Function, kinds: dict[str, ir.Kind]) -> ir.Function:
    """The function with the bindings of its generated part in a better order."""
    return in_ours(function, _Order(function, kinds).block)


class _Order:
    """The walk over the blocks of the generated part."""

    def __init__(self, function: ir.Function, kinds: dict[str, ir.Kind]) -> None:
        self.function = function
        self.kinds = kinds
        self.count = ir.use_counts(function)
        self.bound = ir.binding_counts(function)
        self.fresh = ir.Fresh(set(kinds))

    @cached_property
    def memory(self) -> Memory:
        """Which names may share memory."""
        return Memory.of(self.function, self.kinds)

    def block(self, block: ir.Block) -> ir.Block:
        """A block and the blocks inside it."""
        inner = [s if type(s) in ir.PLAIN else ir.map_blocks(s, self.block) for s in block]
        return tuple(self.chained(self.delayed(self.doubled(inner))))

    # --- adding twice ---

    def doubled(self, block: list[ir.Stmt]) -> list[ir.Stmt]:
        """Two equal additions in a row as one of twice the value."""
        out: list[ir.Stmt] = []
        for stmt in block:
            if out and type(stmt) is ir.AugAssign and stmt == out[-1] and self.is_sum(stmt):
                twice = self.fresh()
                self.kinds[twice.id] = self.kinds[stmt.value.id]  # type: ignore[union-attr]
                self.count[twice.id], self.bound[twice.id] = 1, 1
                call = ir.Call(operator.mul, (ir.Const(2.0), stmt.value))
                out[-1:] = [ir.Assign(twice, call, stmt.loc), replace(stmt, value=twice)]
            else:
                out.append(stmt)
        return out

    def is_sum(self, stmt: ir.AugAssign) -> bool:
        """Whether a store adds floats that it does not itself change."""
        value = stmt.value
        if stmt.op not in ("+", "-") or type(value) is not ir.Name:
            return False
        kind = self.kinds.get(value.id)
        if kind is None or not ir.is_float(kind):
            return False
        if not self.memory.has_memory(value.id):
            return value != stmt.base
        return self.memory.find(value.id) != self.memory.find(stmt.base.id)

    # --- binding later ---

    def delayed(self, block: list[ir.Stmt]) -> list[ir.Stmt]:
        """New values bound after the last use of a copy of the old one."""
        k = 0
        while k < len(block):
            move = self.move(block, k)
            if move is not None:
                start, end = move
                block.insert(end, block.pop(start))
            k += 1
        return block

    def move(self, block: list[ir.Stmt], k: int) -> tuple[int, int] | None:
        """From where to where a binding moves so that the copy at `k` need not be one."""
        copy = block[k]
        if type(copy) is not ir.Assign or type(copy.rhs) is not ir.Name:
            return None
        name, old = copy.target.id, copy.rhs.id
        near = range(k + 1, min(len(block), k + WINDOW))
        start = next((j for j in near if old in ir.writes(block[j])), 0)
        if not start or self.bound[name] != 1:
            return None
        near = range(k + 1, min(len(block), start + WINDOW))
        readers = [j for j in near if name in ir.used_in(block[j])]
        uses = ir.use_counts(tuple(block[j] for j in readers))[name]
        if uses != self.count[name] or not readers or readers[-1] <= start:
            return None
        stmt, passed = block[start], block[start + 1 : readers[-1] + 1]
        if type(stmt) is not ir.Assign or type(stmt.rhs) is not ir.Call:
            return None
        may_pass = only_computes(stmt.rhs) and self.memory.is_apart(stmt, passed)
        return (start, readers[-1]) if may_pass else None

    # --- one expression ---

    def chained(self, block: list[ir.Stmt]) -> list[ir.Stmt]:
        """First bindings that only serve a second one get a temporary's name."""
        waiting: dict[str, int] = {}
        for k, stmt in enumerate(block):
            if type(stmt) is not ir.Assign or type(stmt.rhs) is not ir.Call:
                waiting = {}
                continue
            target = stmt.target.id
            start = waiting.get(target)
            if start is not None and ir.occurrences(stmt.rhs).count(target) == 1:
                self.rename(block, start, k)
            if not ir.is_temporary(target):
                waiting = {target: k}
            elif self.count[target] != 1 or target in waiting or self.bound[target] != 1:
                waiting = {}
            else:
                names = ir.occurrences(stmt.rhs)
                waiting = {n: j for n, j in waiting.items() if n not in names}
        return block

    def rename(self, block: list[ir.Stmt], start: int, end: int) -> None:
        """Give the first of two bindings a name of its own."""
        first, second = block[start], block[end]
        assert type(first) is ir.Assign and type(second) is ir.Assign
        name, old = self.fresh(), first.target
        self.count[name.id], self.bound[name.id] = 1, 1
        if old.id in self.kinds:
            self.kinds[name.id] = self.kinds[old.id]
        block[start] = replace(first, target=name)
        rhs = ir.map_rhs(lambda n: name if n == old else n, second.rhs)
        block[end] = replace(second, rhs=rhs)


# --- zeros that are bound one after the other, in the order of the inputs that they are for ------


def in_order(function: ir.Function, names: Iterable[str]) -> ir.Function:
    """The function with zeros that are bound one after the other in the order of `names`."""
    rank = {n: k for k, n in enumerate(names)}
    return ir.rebuilt(function, body=_in_order(function.body, rank))


def _in_order(block: ir.Block, rank: Mapping[str, int]) -> ir.Block:
    """A block, and those inside it, in that order; zeros that need others stay where they are."""

    def inside(inner: ir.Block) -> ir.Block:
        return _in_order(inner, rank)

    inner = [s if type(s) in ir.PLAIN else ir.map_blocks(s, inside) for s in block]
    out: list[ir.Stmt] = []
    for ranked, run in groupby(inner, lambda s: _is_zero(s) and ir.writes(s)[0] in rank):
        some = list(run)
        if ranked and not {n for s in some for n in ir.writes(s)} & ir.used(tuple(some)):
            some.sort(key=lambda s: rank[ir.writes(s)[0]])
        out += some
    return tuple(out)


def _is_zero(stmt: ir.Stmt) -> bool:
    """Whether a statement makes zeros that nobody else has, of something other than its target."""
    rhs = stmt.rhs if type(stmt) is ir.Assign else None
    if type(rhs) is ir.Call:
        return makes_zeros(rhs) and not {*ir.names(rhs)}.intersection(ir.writes(stmt))
    return type(rhs) is ir.Const and rhs.value == 0


# --- bindings of temporaries right before what uses them, so that they print as parts of it ------


FAR = 400  # how many statements a binding moves over at most: looking further takes too long
NEAR = 40

_Places = frozenset[Union[str, tuple[str]]]  # names, and the class of some memory in a tuple
_OUTSIDE: _Places = frozenset({("",)})  # memory that somebody outside may know


def sink(function: ir.Function, kinds: dict[str, ir.Kind]) -> ir.Function:
    """The function with its temporaries bound right before their uses.

    `kinds` gets those of new temporaries.
    """
    sums = [call.args[1] for _, call in calling(function, Op.ADD, Op.SUB)]
    if any(type(number) is ir.Const and type(number.value) is int for number in sums):
        function = _Positions(function, kinds).function(function)
    return ir.rebuilt(function, body=_Sinking(function, kinds).block(function.body))


def _spelled(stmt: ir.Stmt) -> Sequence[str]:
    """The names that a statement itself reads where an expression can stand instead, in order."""
    kept = held(stmt)
    return [n for n in ir.reads_of(stmt) if n not in kept]


# --- positions ------------------------------------------------------------------------------------


class _Positions(Rewriter):
    """Computes `t + 1` at each of its uses; `t` is the variable of a loop around (in `steady`)."""

    def __init__(self, function: ir.Function, kinds: dict[str, ir.Kind]) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.kinds = kinds
        self.scan = Scan(function)
        self.known: dict[str, ir.Rhs] = {}
        self.steady: frozenset[str] = frozenset()

    def block(self, block: ir.Block) -> ir.Block:
        """A block without the positions that it computes for itself alone."""
        for k, stmt in enumerate(block):
            if type(stmt) is ir.Assign and self.is_position(stmt):
                spelled = sum(_spelled(s).count(stmt.target.id) for s in ir.walk(block[k + 1 :]))
                if spelled == self.scan.uses[stmt.target.id]:
                    self.known[stmt.target.id] = stmt.rhs
        return super().block(block)

    def is_position(self, stmt: ir.Assign) -> bool:
        """Whether a temporary is the sum of a loop variable and a literal."""
        name, rhs = stmt.target.id, stmt.rhs
        if not is_op(rhs, Op.ADD, Op.SUB) or not ir.is_unnamed(name) or self.scan.defs[name] != 1:
            return False
        variable, number = rhs.args
        whole = type(number) is ir.Const and type(number.value) is int
        return whole and type(variable) is ir.Name and variable.id in self.steady

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """A statement behind the positions that it reads."""
        if type(stmt) is ir.Assign and stmt.target.id in self.known:
            return ()
        around = self.steady
        if type(stmt) is ir.For and counts(stmt) and stmt.target.id not in ir.rebound(stmt.body):
            self.steady |= {stmt.target.id}
        new = ir.map_stmt(stmt, self.read, lambda n: n, self.inner)
        self.steady = around
        return new

    def read(self, name: ir.Name) -> ir.Name:
        """What stands for a name, computed before the statement if it is a position."""
        if name.id not in self.known:
            return name
        new = self.temp(self.known[name.id])
        if name.id in self.kinds:
            self.kinds[new.id] = self.kinds[name.id]
        return new


# --- bindings that move down ----------------------------------------------------------------------


@frozen
class _Group:
    """An expression on its way down: statements of which each serves only the next ones.

    `at` is the place of the last of them; `looks` is what they depend on.
    """

    at: int
    stmts: ir.Block
    looks: _Places


class _Sinking:
    """The walk over the blocks."""

    def __init__(self, function: ir.Function, kinds: Mapping[str, ir.Kind]) -> None:
        self.function = function
        self.kinds = kinds
        self.scan = Scan(function)
        self.slots = slots(self.scan)
        self.ours = mark_in(function.body) is None

    @cached_property
    def sharers(self) -> Sharers:
        """Which names may share memory."""
        return Sharers.of(self.function, self.kinds)

    @cached_property
    def outside(self) -> frozenset[str]:
        """The classes of memory that somebody outside may know: two of them may be the same."""
        met = (n for s in self.scan.stmts if _meets_outside(s) for n in ir.itself_mentions(s))
        return self.sharers.kept.union(map(self.sharers.memory.find, met))

    def block(self, block: ir.Block) -> ir.Block:
        """A block: what waits in it goes before its use, or stays where it was."""
        rest = list(block)
        places: list[ir.Block] = []
        waiting: dict[str, _Group] = {}
        moved: set[int] = set()
        while len(places) < len(rest):
            k = len(places)
            stays = self.staying(rest[k], k, waiting)
            later = 0 if id(rest[k]) in moved else self.later(rest, k, stays)
            if later:
                moved.add(id(rest[k]))
                rest.insert(later, rest.pop(k))
                continue
            for name in stays:
                group = waiting.pop(name)
                places[group.at] = group.stmts
            last = rest[k - 1] if places and places[-1] else None
            places.append(self.placed(rest[k], last, k, waiting))
        for group in waiting.values():
            places[group.at] = group.stmts
        return tuple([s for place in places for s in place])

    def placed(
        self, stmt: ir.Stmt, last: ir.Stmt | None, at: int, waiting: dict[str, _Group]
    ) -> ir.Block:
        """A statement behind what has waited for it; nothing if it waits from now on itself."""
        self.ours = self.ours or type(stmt) is ir.Backward
        used = []
        if waiting:
            used = [waiting.pop(n) for n in dict.fromkeys(_spelled(stmt)) if n in waiting]
            used.sort(key=attrgetter("at"))
        if type(stmt) is ir.Assign and self.is_movable(stmt) and not self.ends(last, stmt):
            waiting[stmt.target.id] = self.group(at, stmt, used)
            return ()
        return (*[s for g in used for s in g.stmts], ir.map_blocks(stmt, self.block))

    def is_movable(self, stmt: ir.Assign) -> bool:
        """Whether a statement binds a temporary of one use to what can be computed later."""
        name, rhs = stmt.target.id, stmt.rhs
        if not ir.is_unnamed(name) or self.scan.uses[name] != 1 or self.scan.defs[name] != 1:
            return False
        if type(rhs) is not ir.Call or (is_op(rhs, Op.GETITEM) and rhs.role is not None):
            return False  # an item that a loop or an unpacking takes stays where it is taken
        return only_computes(rhs)

    def ends(self, last: ir.Stmt | None, stmt: ir.Assign) -> bool:
        """Whether an expression begins with the statement before it, which stays: `xs.pop()[0]`."""
        if type(last) is not ir.Assign or self.scan.uses[last.target.id] != 1:
            return False
        return ir.is_unnamed(last.target.id) and last.target.id in ir.occurrences(stmt.rhs)

    def group(self, at: int, stmt: ir.Assign, used: list[_Group]) -> _Group:
        """A statement with those that moved to it."""
        stmts = (*[s for g in used for s in g.stmts], stmt)
        return _Group(at, stmts, self.looks(stmt.rhs).union(*[g.looks for g in used]))

    def looks(self, rhs: ir.Rhs) -> _Places:
        """The names on which a value depends, and the memory on whose contents it does."""
        names = frozenset(ir.occurrences(rhs))
        memory = () if self.is_part(rhs) else self.memory(names)
        return names.union(memory, _OUTSIDE if _finds(rhs) else ())

    def memory(self, names: Iterable[str]) -> _Places:
        """The memory of some names."""
        memory = self.sharers.memory
        return self.places({memory.find(n) for n in names if memory.has_memory(n)})

    def places(self, classes: Set[str]) -> _Places:
        """Classes of memory, of which those that somebody outside may know count as one."""
        inside = frozenset([(c,) for c in classes - self.outside])
        return inside if len(inside) == len(classes) else inside | _OUTSIDE

    def is_part(self, rhs: ir.Rhs) -> bool:
        """Whether a value is a view of an array: it shows what is written into that anyway."""
        if type(rhs) is not ir.Call or not is_view(rhs) or type(rhs.args[0]) is not ir.Name:
            return False
        memory, index = self.sharers.memory, ir.occurrences(rhs)[1:]
        return memory.is_array(rhs.args[0].id) and not any(map(memory.has_memory, index))

    # --- statements in between ---

    def staying(self, stmt: ir.Stmt, k: int, waiting: Mapping[str, _Group]) -> list[str]:
        """What can move neither over a statement nor into it."""
        if not waiting:
            return []
        taken = _spelled(stmt)
        over = {n: g for n, g in waiting.items() if n not in taken}
        if type(stmt) is ir.Assign and self.is_movable(stmt):
            return [n for n, g in over.items() if stmt.target.id in g.looks]
        effects = self.effects(stmt)
        if effects is None:
            return list(over)
        used = frozenset(ir.used_in(stmt))
        return [
            n for n, g in over.items()
            if n in used or g.at < k - FAR or not g.looks.isdisjoint(effects)
        ]  # fmt: skip

    def effects(self, stmt: ir.Stmt) -> _Places | None:
        """What a statement binds, stores into or writes into; None if nobody knows all it does."""
        bound, written = set(ir.bound_in(stmt)), set[str]()
        for inner in ir.walk((stmt,)):
            if isinstance(inner, ir.Store):
                bound.add(inner.base.id)
            elif is_slot_effect(inner, self.slots):
                continue  # what is in the list stays as it is, and nobody looks at the list
            elif not _does_what_is_known(inner):
                return None
            written.update(self.sharers.memory.written_by(inner))
        return self.places(written).union(bound)

    # --- statements that move down instead ---

    def later(self, block: list[ir.Stmt], k: int, stays: list[str]) -> int:
        """Where an update of an adjoint goes so that one that needs the old value can move; or 0.

        `d_t = d_y * y; d_y *= a; d_x += d_t` becomes `d_x += d_y * y; d_y *= a`.
        """
        stmt = block[k]
        if not stays or not self.ours or not self.is_update(stmt):
            return 0
        for name in stays:
            end = self.end(block, k, name)
            if end and all(self.may_swap(stmt, other) for other in block[k + 1 : end + 1]):
                return end
        return 0

    def is_update(self, stmt: ir.Stmt) -> bool:
        """Whether a statement does nothing but give an adjoint a value, or a part of it."""
        if isinstance(stmt, ir.Store):
            return ir.is_adjoint(stmt.base.id)
        if type(stmt) is not ir.Assign or type(stmt.rhs) is not ir.Call:
            return False
        return only_computes(stmt.rhs) and ir.is_adjoint(stmt.target.id)

    def end(self, block: list[ir.Stmt], k: int, name: str) -> int:
        """The statement that what waits in `name` would at last become a part of; 0 if far."""
        for j in range(k + 1, min(len(block), k + NEAR)):
            stmt = block[j]
            if name in _spelled(stmt):
                if type(stmt) is not ir.Assign or not self.is_movable(stmt):
                    return j
                name = stmt.target.id
        return 0

    def may_swap(self, stmt: ir.Stmt, other: ir.Stmt) -> bool:
        """Whether two statements do the same in either order."""
        one, two = self.effects(stmt), self.effects(other)
        if one is None or two is None or not one.isdisjoint(two):
            return False
        return self.all_looks(stmt).isdisjoint(two) and self.all_looks(other).isdisjoint(one)

    def all_looks(self, stmt: ir.Stmt) -> _Places:
        """The names that a statement reads, and their memory."""
        reads = ir.used((stmt,))
        found = any(_finds(o) for s in ir.walk((stmt,)) for o in ir.operands(s))
        return reads.union(self.memory(reads), _OUTSIDE if found else ())


def _does_what_is_known(stmt: ir.Stmt) -> bool:
    """Whether nothing comes of a statement itself but what it binds and writes into."""
    pure = isinstance(stmt, (ir.Assign, ir.Effect)) and only_computes(stmt.rhs)
    return pure or not hands_out(stmt)


def _meets_outside(stmt: ir.Stmt) -> bool:
    """Whether a statement gives something to, or takes it from, what somebody outside may know."""
    call = ir.call_of(stmt) if type(stmt) is ir.Assign else None
    taken = ir.operands(stmt) if call is None else returns_view(call)
    return hands_out(stmt) or any(map(_finds, taken))


def _finds(rhs: ir.Rhs) -> bool:
    """Whether an object from outside that may be written into stands in an expression."""
    found = ir.refs(rhs)
    return bool(found) and any(ir.is_mutable(atom_kind(a, {})) for a in found)
