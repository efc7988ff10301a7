"""Control flow as a person writes it: what lowering has taken apart is put together again.

Loops over indices are printed back as loops over items: `for x in xs`, `zip`, `enumerate`, `items`.
The loop becomes `for each in zip(xs, ys)`, followed by one statement for every item of `each`;
these are printed as the target of the loop.

Flags are printed back as `break`, `continue` and early `return`.  Lowering turns jumps into flags
and branches.  Here every place that sets such a flag is followed to where control goes next: past
the statements that the flag guards and out of the loops that it stops.  A flag all of whose places
are jumps disappears; any other one stays a variable.  A loop that is left under a condition is left
in its last statement, where that is the same.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from typing import Union

from srcdiff.analysis.effects import Scan
from srcdiff.codegen.idioms import visible
from srcdiff.ir import (
    Assign,
    Atom,
    Block,
    Call,
    Const,
    Effect,
    For,
    Fresh,
    Function,
    If,
    Loc,
    Method,
    Name,
    Ref,
    Return,
    Rhs,
    Stmt,
    Unpacks,
    While,
    blocks,
    bound,
    itself_mentions,
    map_blocks,
    occurrences,
    replaced,
    replaced_in,
    walk,
    writes,
)
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.ir.nodes import Jump, LoopElse
from srcdiff.primitives.ops import Op, is_op


def with_late_breaks(function: Function) -> Function:
    """A function in which `if c: stop = True` stands at the end of a loop body, if it can.

    There it is printed as `break`; what the passes save stands after it otherwise.
    """
    if not any(_can_be_late(s) for s in walk(function.body)):
        return function
    return replaced_in(function, _statement)


def _statement(stmt: Stmt) -> Stmt:
    if isinstance(stmt, (For, While)) and _can_be_late(stmt):
        return replace(stmt, body=_late(stmt.body, str(stmt.stop and stmt.stop.id)))
    return stmt


def _can_be_late(stmt: Stmt) -> bool:
    """Whether a loop body sets the flag that stops the loop before its last statement."""
    if not isinstance(stmt, (For, While)) or stmt.stop is None:
        return False
    return _late(stmt.body, stmt.stop.id) is not stmt.body


def _late(body: Block, flag: str) -> Block:
    """A body whose last setting of the flag comes last; the same body if it cannot."""
    places = [i for i, s in enumerate(body) if _sets(s, flag)]
    if not places or places[-1] == len(body) - 1:
        return body
    place = places[-1]
    stmt, rest = body[place], body[place + 1 :]
    test = stmt.test if isinstance(stmt, If) else None
    within = list(walk(rest))
    touched = {n for s in within for n in itself_mentions(s)}
    rebound = isinstance(test, Name) and any(test.id in writes(s) for s in within)
    return body if flag in touched or rebound else (*body[:place], *rest, stmt)


def _sets(stmt: Stmt, flag: str) -> bool:
    """Whether a statement is `if test: flag = True` and no more."""
    if not isinstance(stmt, If) or stmt.orelse or len(stmt.body) != 1:
        return False
    inner = stmt.body[0]
    return isinstance(inner, Assign) and inner.target.id == flag and inner.rhs == Const(True)


# --- loops over indices as loops over items ------------------------------------------------------


def with_sequences(scan: Scan) -> Scan:
    """A function whose loops over the indices of sequences run over their items."""
    if not any(_counts_up(s) for s in scan.stmts):
        return scan
    found = Scan(replace(scan.function, body=_Rewriter(scan).block(scan.function.body)))
    dead = _dead_lengths(found)
    if not dead:
        return found
    return Scan(replace(found.function, body=_without(found.function.body, dead)))


def _dead_lengths(scan: Scan) -> set[str]:
    """The temporaries for lengths that nothing reads any more."""
    dead: set[str] = set()
    uses = scan.uses.copy()
    for stmt in reversed(scan.stmts):
        name = _length_name(stmt)
        if name is not None and not uses[name] and name not in scan.held:
            dead.add(name)
            uses.subtract(scan.reads(stmt))
    return dead


def _length_name(stmt: Stmt) -> str | None:
    """The temporary of `_n = len(xs)` or `_n = min(_n, _m)`."""
    if not isinstance(stmt, Assign) or not isinstance(stmt.rhs, Call):
        return None
    known = is_op(stmt.rhs, Op.LEN) or is_op(stmt.rhs, Op.MIN)
    return stmt.target.id if known and stmt.target.id.startswith("_") else None


def _without(block: Block, dead: set[str]) -> Block:
    """A block without the assignments of some lengths."""
    return replaced(block, lambda s: () if _length_name(s) in dead else s)


def _counts_up(stmt: Stmt) -> bool:
    """Whether a statement is a loop over `range(n)` with `n` a temporary."""
    return isinstance(stmt, For) and _count_name(stmt) is not None


def _count_name(loop: For) -> str | None:
    it = loop.iter
    if not is_op(it, Op.RANGE) or len(it.args) != 1:
        return None
    return it.args[0].id if isinstance(it.args[0], Name) else None


class _Rewriter:
    """Knows, at every place, which names hold the lengths of which sequences."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self.fresh = Fresh(set(scan.names))
        self.own: Counter[str] = Counter()  # reads of a loop variable inside its loops
        for stmt in scan.stmts:
            if isinstance(stmt, For) and stmt.target.id.startswith("_"):
                self.own[stmt.target.id] += scan.reads_in(stmt.body, stmt.target.id)

    def block(self, block: Block) -> Block:
        """A block with its loops rewritten."""
        lengths: dict[str, Rhs] = {}
        out: list[Stmt] = []
        for stmt in block:
            inner = map_blocks(stmt, self.block)
            if isinstance(inner, For):
                inner = self._loop(inner, lengths)
            out.append(inner)
            self._learn(stmt, lengths)
        return tuple(out)

    def _learn(self, stmt: Stmt, lengths: dict[str, Rhs]) -> None:
        """Notes a length; forgets those of sequences that a statement may change."""
        if lengths:
            changed = set(bound((stmt,))).union(*(_resized(s) for s in walk((stmt,))))
            for name in [n for n, rhs in lengths.items() if changed & {n, *occurrences(rhs)}]:
                del lengths[name]
        if isinstance(stmt, Assign) and isinstance(stmt.rhs, Call) and not stmt.rhs.kwargs:
            if is_op(stmt.rhs, Op.LEN) or is_op(stmt.rhs, Op.MIN):
                lengths[stmt.target.id] = stmt.rhs

    # --- one loop ------------------------------------------------------------------------------

    def _loop(self, loop: For, lengths: Mapping[str, Rhs]) -> For:
        """A loop over items, if the loop reads the items first and nothing else by its counter."""
        bases = _bases(_count_name(loop), lengths)
        items = loop.body[: len(bases)]
        if not bases or not self._takes_items(loop, bases, items):
            return loop
        counter = loop.target.id
        targets = [s.target for s in items if isinstance(s, Assign)]
        rest = loop.body[len(bases) :]
        used = self.scan.reads_in(rest, counter)
        if not counter.startswith("_"):
            by_loop = _is_enumerated(loop, items)
            return self._enumerated(loop, bases, targets, rest) if by_loop else loop
        if self.own[counter] != self.scan.uses[counter]:
            return loop
        if used:
            return self._enumerated(loop, bases, targets, rest)
        if len(bases) == 1:
            return replace(loop, target=targets[0], iter=bases[0], body=rest)
        each, unpacking = self._unpacking(targets, loop.loc)
        return replace(loop, target=each, iter=Call(zip, bases), body=(*unpacking, *rest))

    def _takes_items(self, loop: For, bases: tuple[Name | Ref, ...], items: Block) -> bool:
        """Whether the body begins with the items, and changes none of the sequences."""
        found = [_item(s, loop.target) for s in items]
        changed = set(bound(loop.body)).union(*(_resized(s) for s in walk(loop.body)))
        kept = not any(isinstance(b, Name) and b.id in changed for b in bases)
        targets = {s.target.id for s in items if isinstance(s, Assign)}
        return kept and found == list(bases) and len(targets | {loop.target.id}) == len(bases) + 1

    def _enumerated(
        self, loop: For, bases: tuple[Name | Ref, ...], targets: list[Name], rest: Block
    ) -> For:
        """`for i, x in enumerate(xs)`."""
        if len(bases) > 1:
            return loop
        each, unpacking = self._unpacking([loop.target, targets[0]], loop.loc)
        it = Call(enumerate, (bases[0],))
        return replace(loop, target=each, iter=it, body=(*unpacking, *rest))

    def _unpacking(self, targets: list[Name], loc: Loc) -> tuple[Name, Block]:
        """A name for an item that is a tuple, and the statements that take it apart."""
        each, role = self.fresh("_each"), Unpacks(len(targets))
        taken = (Call(operator.getitem, (each, Const(k)), role=role) for k in range(len(targets)))
        return each, tuple(Assign(t, rhs, loc) for t, rhs in zip(targets, taken))


def _is_enumerated(loop: For, items: Block) -> bool:
    """Whether the items were bound by the loop itself, not by statements of its body."""
    return bool(loop.loc.line) and all(s.loc == loop.loc for s in items)


def _bases(count: str | None, lengths: Mapping[str, Rhs]) -> tuple[Name | Ref, ...]:
    """The sequences whose length, or least length, a name holds."""
    rhs = lengths.get(count) if count is not None else None
    if not isinstance(rhs, Call):
        return ()
    if is_op(rhs, Op.LEN):
        base = rhs.args[0] if len(rhs.args) == 1 else None
        return (base,) if isinstance(base, (Name, Ref)) else ()
    parts = [_bases(a.id, lengths) if isinstance(a, Name) else () for a in rhs.args]
    return tuple(p[0] for p in parts) if all(len(p) == 1 for p in parts) else ()


def _item(stmt: Stmt, counter: Name) -> Atom | None:
    """The base of `x = base[counter]`."""
    if not isinstance(stmt, Assign) or not isinstance(stmt.rhs, Call):
        return None
    call = stmt.rhs
    if not is_op(call, Op.GETITEM) or call.args[1] != counter:
        return None
    return call.args[0]


def _resized(stmt: Stmt) -> tuple[str, ...]:
    """The names of containers that a statement may make longer or shorter."""
    call = stmt.rhs if isinstance(stmt, (Effect, Assign)) else None
    if isinstance(call, Call) and isinstance(call.fn, Method) and isinstance(call.args[0], Name):
        return (call.args[0].id,) if isinstance(stmt, Effect) or call.fn.name == "pop" else ()
    return ()


# --- flags printed back as `break`, `continue` and early `return` --------------------------------


_TRUE, _FALSE, _NONE = Const(True), Const(False), Const(None)
Loop = Union[For, While]


@frozen
class _After:
    """What runs next: the rest of a block, then what runs after it."""

    block: Block
    index: int
    then: _Next


@frozen
class _LoopEnd:
    """The end of an iteration; after the loop comes `then`."""

    loop: Loop
    then: _Next


_Next = Union[_After, _LoopEnd, None]


def with_jumps(scan: Scan, inline: Set[str]) -> tuple[Block, frozenset[str]]:
    """The body of a function with `Jump` and `LoopElse` in place of flags, and what these replace.

    `inline` are the names nested into expressions.
    """
    jumps = _Jumps(scan, inline)
    if not jumps.flags and jumps.result is None:
        return scan.function.body, frozenset()
    result = () if jumps.result is None else (jumps.result,)
    return jumps.rebuilt(), frozenset((*jumps.flags, *result))


class _Jumps:
    """The flags and the result variable of a function, as far as they can disappear."""

    def __init__(self, scan: Scan, inline: Set[str]) -> None:
        self.body = scan.function.body
        self.inline = inline
        last = self.body[-1] if self.body else None
        self.value: Atom | None = last.value if isinstance(last, Return) else None
        self.defs = scan.defs
        sets = _set_to(scan)
        self.reads = _flag_counts(scan)
        self.flags = {n for n in sets if _is_flag(n, self.reads, sets)}
        self.homes: dict[str, tuple[str, int]] = {}
        self.broken: set[str] = set()  # the flags that some `break` sets
        self.result = self._result_name()
        self._settle()

    def _result_name(self) -> str | None:
        """The temporary that every return assigns."""
        value = self.value
        if not isinstance(value, Name) or not value.id.startswith("_"):
            return None
        several = self.defs[value.id] > 1
        return value.id if several and self.reads.other[value.id] == 1 else None

    def _settle(self) -> None:
        """Drops flags until every place that sets one of the others is a jump."""
        while self.flags or self.result is not None:
            self.homes = dict(_homes(self.body, self))
            self.broken.clear()
            lost = set(self._failures(self.body, None))
            if not lost:
                return
            self.flags -= lost
            if self.result in lost:
                self.result = None

    def _failures(self, block: Block, after: _Next) -> Iterator[str]:
        """The flags, and the result, set in places that are no jumps."""
        start = self._trailing(block, after)
        for index, stmt in enumerate(block):
            if index < start or not isinstance(stmt, Assign):
                if isinstance(stmt, Assign) and (self._sets_result(stmt) or self._sets_flag(stmt)):
                    yield stmt.target.id
            for inner, following in _inner(stmt, _After(block, index + 1, after)):
                yield from self._failures(inner, following)
        if start < len(block) and not isinstance(block[start], Return):
            yield from self._refused(block, start, after)

    def _refused(self, block: Block, start: int, after: _Next) -> Iterator[str]:
        """What keeps a place from being a jump."""
        known = self._known(block, start)
        kind = self._kind(block, start, after)
        first = block[start]
        if kind != "return" and isinstance(first, Assign) and first.target.id == self.result:
            yield first.target.id
        if kind is None:
            yield from known
        elif kind != "return":
            self.broken.update(known if kind == "break" else ())
            loop = _loop_of(after)
            yield from (f for f in known if self.homes.get(f) != (kind, id(loop)))

    def _trailing(self, block: Block, after: _Next) -> int:
        """Where the last assignments of a block begin that set flags or the result."""
        end = len(block)
        if after is None and end and isinstance(block[-1], Return):
            end -= 1
        start = end
        while start and self._sets_flag(block[start - 1]):
            start -= 1
        if start and self.result is not None and self._sets_result(block[start - 1]):
            start -= 1
        return start if start < end else len(block)

    def _sets_flag(self, stmt: Stmt) -> bool:
        return isinstance(stmt, Assign) and stmt.rhs == _TRUE and stmt.target.id in self.flags

    def _sets_result(self, stmt: Stmt) -> bool:
        return isinstance(stmt, Assign) and stmt.target.id == self.result

    def _known(self, block: Block, start: int) -> set[str]:
        """The flags that the end of a block sets."""
        return {s.target.id for s in block[start:] if isinstance(s, Assign) and self._sets_flag(s)}

    def _kind(self, block: Block, start: int, after: _Next) -> str | None:
        """The jump that the end of a block is."""
        known = self._known(block, start)
        lands, crossed = _landing(after, known)
        returns_value = self._sets_result(block[start]) or self.value == _NONE
        if lands is None and returns_value and (self.result is not None or self.value == _NONE):
            return "return"
        if crossed:
            return "break"
        return "continue" if isinstance(lands, _LoopEnd) and known else None

    # --- rebuilding ----------------------------------------------------------------------------

    def rebuilt(self) -> Block:
        """The body with jumps."""
        body = self._rebuilt(self.body, None)
        if self.result is not None and isinstance(body[-1], Return):
            return body[:-1]
        return body

    def _rebuilt(self, block: Block, after: _Next) -> Block:
        out: list[Stmt] = []
        self._rebuild(block, after, out)
        return tuple(out)

    def _rebuild(self, block: Block, after: _Next, out: list[Stmt]) -> None:
        """Appends the statements of a block, its last assignments as a jump."""
        start = self._trailing(block, after)
        for index, stmt in enumerate(block[:start]):
            self._statement(stmt, _After(block, index + 1, after), out)
        if start < len(block):
            out += self._jump(block, start, after)
            out += [s for s in block[start:] if isinstance(s, Return)]

    def _jump(self, block: Block, start: int, after: _Next) -> list[Stmt]:
        """The jump at the end of a block."""
        first, last = block[start], block[-1]
        kind = self._kind(block, start, after)
        assert kind is not None
        value = None
        if isinstance(first, Assign) and first.target.id == self.result:
            value = first.rhs
        return [Jump(kind, value, first.loc if value is not None else last.loc)]  # type: ignore[list-item]

    def _statement(self, stmt: Stmt, after: _Next, out: list[Stmt]) -> None:
        """One statement; those guarded by a flag that is gone stand without it."""
        if isinstance(stmt, Assign) and stmt.target.id in self.flags:
            return
        flag = _guard(stmt)
        if flag is None or flag not in self.flags or not isinstance(stmt, If):
            thens = iter([then for _, then in _inner(stmt, after)])
            out.append(map_blocks(stmt, lambda inner: self._rebuilt(inner, next(thens))))
            return
        previous = out[-1] if out else None
        if _is_stopped(previous, flag) and flag in self.broken:
            assert isinstance(previous, (For, While))
            rest = self._rebuilt(stmt.orelse, after)
            out[-1] = LoopElse(previous, rest, previous.loc)  # type: ignore[call-overload]
        else:
            self._rebuild(stmt.orelse, after, out)


def _is_stopped(stmt: Stmt | None, flag: str) -> bool:
    """Whether a statement is a loop that the flag stops."""
    return isinstance(stmt, (For, While)) and stmt.stop == Name(flag)


# --- flags -------------------------------------------------------------------------------------


@state
class _Reads:
    """How often names are read: as the test of a guard, to stop a loop, or otherwise."""

    guard: Counter[str]
    stop: Counter[str]
    other: Counter[str]


def _set_to(scan: Scan) -> dict[str, list[Rhs]]:
    """What temporaries are set to that only ever take a truth value."""
    sets: dict[str, list[Rhs]] = {}
    for stmt in scan.stmts:
        if type(stmt) is Assign and type(stmt.rhs) is Const and stmt.target.id[0] == "_":
            sets.setdefault(stmt.target.id, []).append(stmt.rhs)
    return {
        name: values for name, values in sets.items()
        if len(values) == scan.defs[name] and all(v in (_TRUE, _FALSE) for v in values)
    }  # fmt: skip


def _flag_counts(scan: Scan) -> _Reads:
    """The reads of every name."""
    reads = _Reads(Counter(), Counter(), scan.uses.copy())
    for stmt in scan.stmts:
        flag = _guard(stmt)
        if flag is not None:
            reads.guard[flag] += 1
            reads.other[flag] -= 1
        if isinstance(stmt, (For, While)) and stmt.stop is not None:
            reads.stop[stmt.stop.id] += 1
    return reads


def _guard(stmt: Stmt) -> str | None:
    """The flag of `if flag: pass; else: ...`."""
    if isinstance(stmt, If) and isinstance(stmt.test, Name) and not stmt.body:
        return stmt.test.id
    return None


def _is_flag(name: str, reads: _Reads, sets: dict[str, list[Rhs]]) -> bool:
    """Whether a temporary is cleared once, and only read as a flag."""
    return sum(v == _FALSE for v in sets[name]) == 1 and not reads.other[name]


def _homes(block: Block, facts: _Jumps) -> Iterator[tuple[str, tuple[str, int]]]:
    """The loop that each flag belongs to, and whether it means `break` or `continue` there."""
    for index, stmt in enumerate(block):
        if isinstance(stmt, (For, While)):
            flag = stmt.stop
            if flag is not None and _stops_here(block, index, flag.id, facts):
                yield flag.id, ("break", id(stmt))
            yield from ((n, ("continue", id(stmt))) for n in _skips(stmt.body, facts.reads))
        for part in blocks(stmt):
            yield from _homes(part, facts)


def _skips(body: Block, reads: _Reads) -> Iterator[str]:
    """The flags that are cleared in a loop body and read only in it."""
    for stmt in body:
        if isinstance(stmt, Assign) and stmt.rhs == _FALSE:
            name = stmt.target.id
            if _mentions(body, name) == reads.guard[name] + reads.stop[name]:
                yield name


def _stops_here(block: Block, index: int, flag: str, facts: _Jumps) -> bool:
    """Whether a flag is cleared before the loop, and read only in it or in its `else`."""
    loop, reads = block[index], facts.reads
    before = [s for s in block[:index] if isinstance(s, Assign) and s.target.id == flag]
    after = 1 if _followed_by_guard(block[index + 1 :], flag, facts.flags) else 0
    if after and isinstance(loop, While) and visible(loop.cond, facts.inline):
        return False  # it becomes a `while True`, which never comes to an `else`
    inside = _mentions((loop,), flag)
    return len(before) == 1 and inside + after == reads.guard[flag] + reads.stop[flag]


def _followed_by_guard(rest: Block, flag: str, flags: set[str]) -> bool:
    """Whether the next statement is guarded by the flag, once guards of `flags` are gone."""
    if not rest:
        return False
    found = _guard(rest[0])
    if found == flag:
        return True
    inside = rest[0].orelse if isinstance(rest[0], If) and found in flags else ()
    return _followed_by_guard(inside, flag, flags)


def _mentions(block: Block, flag: str) -> int:
    """How often a block reads a flag."""
    count = 0
    for stmt in walk(block):
        count += _guard(stmt) == flag
        count += isinstance(stmt, (For, While)) and stmt.stop == Name(flag)
    return count


# --- where control goes ------------------------------------------------------------------------


def _inner(stmt: Stmt, after: _Next) -> list[tuple[Block, _Next]]:
    """The blocks inside a statement, each with what runs after it."""
    if isinstance(stmt, (For, While)):
        end = _LoopEnd(stmt, after)
        body: list[tuple[Block, _Next]] = [(stmt.body, end)]
        return body if isinstance(stmt, For) else [(stmt.cond, _After(stmt.body, 0, end)), *body]
    return [(inner, after) for inner in blocks(stmt)]


def _landing(after: _Next, known: set[str]) -> tuple[_Next, list[Loop]]:
    """Where control goes with some flags set: None for the end of the function.

    Also the loops that it leaves on the way.
    """
    crossed: list[Loop] = []
    while after is not None:
        if isinstance(after, _LoopEnd):
            if after.loop.stop is None or after.loop.stop.id not in known:
                return after, crossed
            crossed.append(after.loop)
            after = after.then
        elif after.index == len(after.block):
            after = after.then
        elif _guard(after.block[after.index]) in known:
            after = _After(after.block, after.index + 1, after.then)
        elif isinstance(after.block[after.index], Return):
            return None, crossed
        else:
            return after, crossed
    return None, crossed


def _loop_of(after: _Next) -> Loop | None:
    """The innermost loop around a place."""
    while isinstance(after, _After):
        after = after.then
    return None if after is None else after.loop
