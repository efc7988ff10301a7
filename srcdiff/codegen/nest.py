"""Which temporaries are nested back into the expression that uses them.

A temporary that is assigned once and used once moves to its use when nothing between the two may
rebind or change what its expression reads.  An expression with effects only moves over statements
that move with it, so that effects keep their order.  `Movement` holds the expressions on their way
to the statement that uses them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from srcdiff import ir
from srcdiff.analysis.effects import (
    Scan,
    fixed_names,
    is_length,
    is_slot_effect,
    may_move,
    reads_memory,
    resizes,
    slot_of,
    slots,
)
from srcdiff.codegen.idioms import (
    Join,
    filled,
    find_collection,
    find_join,
    items_of,
    loop_target,
    name_width,
    rhs_width,
    unpacked,
)
from srcdiff.ir.frozen import frozen, state
from srcdiff.primitives.ops import Op, is_op

NEVER = sys.maxsize
"""An index behind those of all statements."""


@frozen
class Moved:
    """An expression that waits for its use, assigned at the statement `index`.

    It may consist of what several statements computed: `effects` is the first of them that has an
    effect, `memory` the first that reads what a store can change, `reads` the first that reads
    each name; `NEVER` if none does.
    """

    name: str
    index: int
    effects: int
    memory: int
    reads: Mapping[str, int]
    width: int


@state
class Effects:
    """What running some statements does to what waits around them."""

    binds: set[str] = field(default_factory=set)
    stores: bool = False

    def add(self, other: Effects) -> None:
        self.binds |= other.binds
        self.stores |= other.stores


class Movement:
    """The expressions of one block that wait for their use, and what has happened since."""

    def __init__(self, inline: set[str]) -> None:
        self.inline = inline  # the names that move, for the whole function
        self.waiting: dict[str, Moved] = {}
        self.bound_at: dict[str, int] = {}
        self.stored_at = self.emitted_at = -1

    def happen(self, index: int, effects: Effects) -> None:
        """Notes that a statement stays where it is, and its effects."""
        self.emitted_at = index
        for name in effects.binds:
            self.bound_at[name] = index
        if effects.stores:
            self.stored_at = index

    def consume(self, reads: Sequence[str], room: int, accepts_effects: bool) -> list[Moved]:
        """The waiting expressions that move into a statement, of those that it reads.

        `room` is how many columns they may take together.
        """
        if not self.waiting:
            return []
        while True:
            parts = [self.waiting[n] for n in reads if n in self.waiting]
            bad = self._obstacle(parts, accepts_effects) or _too_wide(parts, room)
            if bad is None:
                break
            self.stay(bad)
        for part in parts:
            del self.waiting[part.name]
            self.inline.add(part.name)
        return parts

    def stay(self, moved: Moved) -> None:
        """An expression stays a statement where it was."""
        del self.waiting[moved.name]
        self.inline.discard(moved.name)
        self.emitted_at = max(self.emitted_at, moved.index)
        if moved.effects < NEVER:
            self.stored_at = max(self.stored_at, moved.index)

    def _obstacle(self, parts: list[Moved], accepts_effects: bool) -> Moved | None:
        """The first part that may not move to the statement."""
        for part in parts:
            if self._is_stale(part) or not self._keeps_order(part, parts, accepts_effects):
                return part
        for i, part in enumerate(parts):
            for later in parts[i + 1 :]:
                if _conflict(part, later):
                    return later
        return None

    def _is_stale(self, part: Moved) -> bool:
        """Whether something after a part's beginning changed what it reads."""
        rebound = (self.bound_at.get(n, -1) > index for n, index in part.reads.items())
        return self.stored_at > part.memory or any(rebound)

    def _keeps_order(self, part: Moved, parts: list[Moved], accepts_effects: bool) -> bool:
        """Whether effects keep their order among all that moves and all that stays."""
        names = {p.name for p in parts}
        others = [w for n, w in self.waiting.items() if n not in names]
        if part.effects == NEVER:
            return not any(w.effects < NEVER and w.index > part.memory for w in others)
        if not accepts_effects or self.emitted_at > part.effects:
            return False
        return not any(w.index > part.effects for w in others)


def _too_wide(parts: list[Moved], room: int) -> Moved | None:
    """The longest part, if all of them take more columns than there are."""
    if not parts or sum(p.width - name_width(p.name) for p in parts) <= room:
        return None
    return max(parts, key=lambda p: (p.width, -p.index))


def _conflict(first: Moved, second: Moved) -> bool:
    """Whether evaluating `first` before `second` changes the order of an effect and a read."""
    if first.effects < NEVER and first.index > min(second.memory, second.effects):
        return True
    return first.memory < NEVER and first.index > second.effects


# --- which temporaries are nested back into the expression that uses them ------------------------


FORWARD_WIDTH, BACKWARD_WIDTH = 400, 94


@frozen
class Plan:
    """What is nested: names that disappear, those of tuples that are unpacked at once among them.

    `targets` are the targets of loops that take their item apart, and how many statements of the
    body do so.
    """

    inline: frozenset[str] = frozenset()
    targets: Mapping[str, tuple[Any, int]] = field(default_factory=dict)

    def renamed(self, new: Mapping[str, str]) -> Plan:
        """The plan once names that it does not make disappear are replaced."""
        found = {n: (_renamed(target, new), k) for n, (target, k) in self.targets.items()}
        return Plan(self.inline, found)


def _renamed(target: Any, new: Mapping[str, str]) -> Any:
    """The target of a loop with names replaced."""
    if isinstance(target, tuple):
        return tuple(_renamed(part, new) for part in target)
    return new.get(target, target)


class Planner:
    """The facts about a whole function, and the decisions made so far; `plan` says what to nest."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self.uses, self.defs, self.held = scan.uses, scan.defs, scan.held
        self.fixed = fixed_names(scan)
        self.slots = slots(scan)
        self.resizes = resizes(scan, self.slots)
        self.filled = filled(scan)
        self.inline: set[str] = set()
        self.targets: dict[str, tuple[Any, int]] = {}
        self.width = FORWARD_WIDTH
        self.block(scan.function.body, 1)
        self.plan = Plan(frozenset(self.inline), self.targets)

    def block(
        self, block: ir.Block, depth: int, test: ir.Atom | None = None, start: int = 0
    ) -> Effects:
        """Decides for a block from `start` on; `test` is read after it."""
        return _BlockPlanner(self, block, depth, test).run(start)

    def loop_body(self, loop: ir.For, depth: int) -> Effects:
        """Decides for the body of a loop, after what is printed as its target."""
        item = loop.target.id
        if ir.is_unnamed(item) and self.defs[item] == 1 and item not in self.held:
            target, start = loop_target(loop.body, item, self.uses)
            if start:
                self.targets[item] = target, start
                found = self.block(loop.body, depth, None, start)
                found.binds |= ir.bound(loop.body[:start])
                return found
        return self.block(loop.body, depth)

    def is_single(self, name: str) -> bool:
        """Whether a temporary is assigned once and used once, not to be filled."""
        if self.uses[name] != 1 or self.defs[name] != 1 or not ir.is_unnamed(name):
            return False
        return name not in self.filled and name not in self.held


class _BlockPlanner:
    """Walks the statements of one block in order."""

    def __init__(self, owner: Planner, block: ir.Block, depth: int, test: ir.Atom | None) -> None:
        self.owner = owner
        self.body = block
        self.test = test
        self.depth = depth
        self.moves = Movement(owner.inline)
        self.total = Effects()
        self.joins: dict[int, Join] = {}
        self.inner: dict[int, Effects] = {}

    def run(self, skip: int) -> Effects:
        """Decides for every statement but the first ones; returns the effects of them all."""
        for index, stmt in enumerate(self.body):
            if skip:
                skip -= 1
            else:
                skip = self._step(index, stmt)
        if self.test is not None:
            self._consume(len(self.body), ir.occurrences(self.test), 0)
        self.owner.inline -= set(self.moves.waiting)
        return self.total

    def _inside(self, index: int) -> Effects:
        """Decides for the blocks inside a statement, once."""
        if index in self.inner:
            return self.inner[index]
        stmt, found = self.body[index], Effects()
        if type(stmt) is ir.Backward:
            self.owner.width = BACKWARD_WIDTH
        if type(stmt) is ir.For:
            found = self.owner.loop_body(stmt, self.depth + 1)
        else:
            for inner in ir.blocks(stmt):
                test = stmt.test if type(stmt) is ir.While and inner is stmt.cond else None
                found.add(self.owner.block(inner, self.depth + 1, test))
        self.inner[index] = found
        return found

    # --- one statement -------------------------------------------------------------------------

    def _step(self, index: int, stmt: ir.Stmt) -> int:
        """Decides for one statement; returns how many following ones belong to it."""
        count = self._group(index, stmt)
        if count:
            return count
        if type(stmt) is ir.Assign and ir.is_unnamed(stmt.target.id):
            group = unpacked(self.body, index, self.owner.uses, self.owner.defs)
            if group and stmt.target.id not in self.owner.held:
                self.owner.inline.add(stmt.target.id)  # it stands with the reads of its items
                self._emit(index, stmt, Effects(set(group)))
                return len(group)
            if self.owner.is_single(stmt.target.id) or self._begins_join(index, stmt):
                self._wait(index, stmt.target.id, stmt.rhs)
                return 0
        inner = self._inside(index)
        if type(stmt) is ir.For and self._collects(index, stmt, inner):
            return 0
        if type(stmt) is ir.If:
            join = self.joins.get(index) or self._found_join(index)
            if join is not None and (join.first is None or join.name in self.moves.waiting):
                self._join(index, stmt, join, inner)
                return 0
        self._emit(index, stmt, inner)
        return 0

    def _group(self, index: int, stmt: ir.Stmt) -> int:
        """`a, b = t`, item by item."""
        found = items_of(self.body, index)
        if found is None:
            return 0
        self._emit(index, stmt, Effects(set(found[1])))
        return len(found[1]) - 1

    def _begins_join(self, index: int, stmt: ir.Assign) -> bool:
        """Whether the next statement goes on with an `and` or `or` of this one."""
        following = self.body[index + 1] if index + 1 < len(self.body) else None
        if type(following) is not ir.If or following.test != stmt.target:
            return False
        self._inside(index + 1)
        join = self._found_join(index + 1)
        if join is None or join.first is not stmt:
            return False
        self.joins[index + 1] = join
        return True

    def _found_join(self, index: int) -> Join | None:
        """The expression that the conditional at a place is, if it is one."""
        return find_join(self.body, index, self.owner.inline, self.owner.scan)

    def _wait(self, index: int, name: str, rhs: ir.Rhs) -> None:
        """An expression that may move to its use."""
        pure = may_move(rhs)
        reads, width = _ordered(rhs), rhs_width(rhs)
        parts = self._consume(index, reads, width + name_width(name) + 3)
        memory = reads_memory(rhs, self.owner.fixed) or (self.owner.resizes and is_length(rhs))
        self._begin(name, index, (not pure, memory), reads, width, parts)
        slot = slot_of(rhs)
        if slot in self.owner.slots:
            self.total.binds.add(str(slot))
        elif not pure:
            self.total.stores = True

    def _join(self, index: int, stmt: ir.If, join: Join, inner: Effects) -> None:
        """`a and b`, `x if c else y`: a conditional that is an expression."""
        parts = self._consume(index, ir.occurrences(stmt.test), join.width)
        if join.first is not None and join.name not in self.owner.inline:
            self._emit(index, stmt, inner)
            return
        reads = [*join.reads, *ir.occurrences(stmt.test)]
        self._begin(join.name, index, (join.impure, True), reads, join.width, parts)
        self.total.add(inner)

    def _collects(self, index: int, stmt: ir.For, inner: Effects) -> bool:
        """`[e for x in xs]`: a loop that is an expression."""
        owner = self.owner
        found = find_collection(self.body, index, stmt, owner.inline, owner.scan, owner.targets)
        if found is None:
            return False
        parts = self._consume(index, ir.occurrences(stmt.iter), found.width)
        self._begin(found.name, index, (found.impure, True), found.reads, found.width, parts)
        self.total.binds |= inner.binds
        self.total.stores |= found.impure
        return True

    def _emit(self, index: int, stmt: ir.Stmt, inner: Effects) -> None:
        """A statement that stays one."""
        reads = _reads_in_order(stmt)
        rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
        acts = isinstance(stmt, (ir.Effect, ir.Unpack, ir.Verbatim))
        pure = not acts and (rhs is None or may_move(rhs))
        quiet = is_slot_effect(stmt, self.owner.slots)
        # `x[i] += f()` reads `x[i]` before it calls; `x += f()` only looks up `x`.
        accepts_effects = not (type(stmt) is ir.AugAssign and stmt.index is not None)
        self._consume(index, reads, _statement_width(stmt), accepts_effects)
        inner.binds.update(ir.writes(stmt))
        if quiet and isinstance(stmt, (ir.Assign, ir.Effect)):
            inner.binds.add(str(slot_of(stmt.rhs)))
        elif rhs is None and isinstance(stmt, ir.Store):
            inner.stores = True
            inner.binds.add(stmt.base.id)
        elif not pure:
            inner.stores = True
        self.total.add(inner)
        self.moves.happen(index, inner)

    def _begin(
        self,
        name: str,
        index: int,
        does: tuple[bool, bool],
        reads: Iterable[str],
        width: int,
        parts: list[Moved],
    ) -> None:
        """An expression waits from now on, with those that moved into it.

        `does` is whether it has effects, and reads memory.
        """
        effects, memory = (index if d else NEVER for d in does)
        first = dict.fromkeys(reads, index)
        for part in parts:
            for n, k in part.reads.items():
                first[n] = min(k, first.get(n, k))
            effects, memory = min(effects, part.effects), min(memory, part.memory)
            width += part.width - name_width(part.name)
        self.moves.waiting[name] = Moved(name, index, effects, memory, first, width)

    def _consume(
        self, index: int, reads: Sequence[str], width: int, accepts_effects: bool = True
    ) -> list[Moved]:
        """The expressions that move into a statement that takes `width` columns without them."""
        room = self.owner.width - 4 * self.depth - width
        last = self.body[index] if index < len(self.body) else None
        if type(last) is ir.Return and type(last.value) is ir.Tup:
            room = FORWARD_WIDTH  # a long `return` has a line for every item
        return self.moves.consume(reads, room, accepts_effects)


def _ordered(rhs: ir.Rhs) -> Sequence[str]:
    """The names that a right-hand side reads, in the order in which Python evaluates its text."""
    if is_op(rhs, Op.CONTAINS):
        return [n for a in reversed(rhs.args) for n in ir.occurrences(a)]
    return ir.occurrences(rhs)


def _reads_in_order(stmt: ir.Stmt) -> Sequence[str]:
    """The names that a statement reads, in the order in which Python evaluates its text."""
    if type(stmt) is ir.SetItem:
        return [n for a in (stmt.value, stmt.base, stmt.index) for n in ir.occurrences(a)]
    return [n for o in ir.operands(stmt) for n in _ordered(o)]


def _statement_width(stmt: ir.Stmt) -> int:
    """About how many columns a statement takes without what moves into it."""
    if type(stmt) is ir.Return:
        return rhs_width(stmt.value) + 7
    if isinstance(stmt, (ir.If, ir.For)):
        return 12
    own = sum(rhs_width(o) for o in ir.operands(stmt))
    return own + sum(name_width(w) + 3 for w in ir.writes(stmt))
