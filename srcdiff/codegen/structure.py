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
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Union

from srcdiff import ir
from srcdiff.analysis.effects import Scan, stmt_reads
from srcdiff.codegen.idioms import visible
from srcdiff.ir.frozen import frozen, replace
from srcdiff.ir.nodes import Jump, LoopElse
from srcdiff.primitives.effects import mutated_args
from srcdiff.primitives.ops import Op, is_op

_TRUE, _FALSE = ir.Const(True), ir.Const(False)


def with_late_breaks(function: ir.Function) -> ir.Function:
    """A function in which `if c: stop = True` stands at the end of a loop body, if it can.

    There it is printed as `break`; what the passes save stands after it otherwise.
    """
    return ir.replaced_in(function, _late)


def _late(loop: ir.Stmt) -> ir.Stmt:
    """A loop in whose body the last setting of its flag comes last, if it can."""
    if not isinstance(loop, (ir.For, ir.While)) or loop.stop is None:
        return loop
    body, setting = loop.body, (ir.Assign(loop.stop, _TRUE),)
    ifs = ((k, s) for k, s in enumerate(body) if type(s) is ir.If)
    tests = {k: s.test for k, s in ifs if (s.body, s.orelse) == (setting, ())}
    place = max(tests, default=-1)
    rest = body[place + 1 :]
    if place < 0 or ir.mention_counts(rest)[loop.stop.id]:
        return loop
    rebound = not ir.bound(rest).isdisjoint(ir.names(tests[place]))
    return loop if rebound else ir.rebuilt(loop, body=(*body[:place], *rest, body[place]))


# --- loops over indices as loops over items ------------------------------------------------------


def with_sequences(scan: Scan) -> Scan:
    """A function whose loops over the indices of sequences run over their items."""
    if not any(type(s) is ir.For and _count_name(s) is not None for s in scan.stmts):
        return scan
    found = Scan(replace(scan.function, body=_Rewriter(scan).block(scan.function.body)))
    dead = _dead_lengths(found)
    if not dead:
        return found
    return Scan(ir.replaced_in(found.function, lambda s: () if _length_name(s) in dead else s))


def _dead_lengths(scan: Scan) -> set[str]:
    """The temporaries for lengths that nothing reads any more."""
    dead: set[str] = set()
    uses = scan.uses.copy()
    for stmt in reversed(scan.stmts):
        name = _length_name(stmt)
        if name is not None and not uses[name] and name not in scan.held:
            dead.add(name)
            uses.subtract(stmt_reads(stmt))
    return dead


def _length_name(stmt: ir.Stmt) -> str | None:
    """The temporary of `_n = len(xs)` or `_n = min(_n, _m)`."""
    if type(stmt) is not ir.Assign or not is_op(stmt.rhs, Op.LEN, Op.MIN):
        return None
    return stmt.target.id if ir.is_temporary(stmt.target.id) else None


def _count_name(loop: ir.For) -> str | None:
    """The name of how often a loop over `range(n)` runs."""
    it = loop.iter
    if not is_op(it, Op.RANGE) or len(it.args) != 1:
        return None
    return it.args[0].id if type(it.args[0]) is ir.Name else None


class _Rewriter:
    """Knows, at every place, which names hold the lengths of which sequences."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self.fresh = ir.Fresh(set(scan.names))
        self.own: Counter[str] = Counter()  # reads of a loop variable inside its loops
        for stmt in scan.stmts:
            if type(stmt) is ir.For and ir.is_temporary(stmt.target.id):
                self.own[stmt.target.id] += scan.reads_in(stmt.body, stmt.target.id)

    def block(self, block: ir.Block) -> ir.Block:
        """A block with its loops rewritten."""
        lengths: dict[str, ir.Call] = {}
        out: list[ir.Stmt] = []
        for stmt in block:
            inner = ir.map_blocks(stmt, self.block)
            if type(inner) is ir.For:
                inner = self._loop(inner, lengths)
            out.append(inner)
            self._learn(stmt, lengths)
        return tuple(out)

    def _learn(self, stmt: ir.Stmt, lengths: dict[str, ir.Call]) -> None:
        """Notes a length; forgets those of sequences that a statement may change."""
        if lengths:
            changed = _changed((stmt,))
            for name in [n for n, rhs in lengths.items() if changed & {n, *ir.occurrences(rhs)}]:
                del lengths[name]
        if type(stmt) is ir.Assign and is_op(stmt.rhs, Op.LEN, Op.MIN) and not stmt.rhs.kwargs:
            lengths[stmt.target.id] = stmt.rhs

    # --- one loop ------------------------------------------------------------------------------

    def _loop(self, loop: ir.For, lengths: Mapping[str, ir.Call]) -> ir.For:
        """A loop over items, if the loop reads the items first and nothing else by its counter."""
        bases, counter = _bases(_count_name(loop), lengths), loop.target.id
        items, rest = loop.body[: len(bases)], loop.body[len(bases) :]
        if not bases or not _takes_items(loop, bases, items):
            return loop
        targets = [s.target for s in items if type(s) is ir.Assign]
        hidden = ir.is_temporary(counter)
        counted = not hidden or self.scan.reads_in(rest, counter) > 0
        unread = self.own[counter] == self.scan.uses[counter]  # after the loop
        # The loop itself has bound its items, not statements of its body.
        enumerated = bool(loop.loc.line) and all(s.loc == loop.loc for s in items)
        if not (unread if hidden else enumerated):
            return loop
        if counted and len(bases) == 1:
            return self._over(loop, ir.Call(enumerate, bases), [loop.target, *targets], rest)
        if len(bases) == 1:
            return replace(loop, target=targets[0], iter=bases[0], body=rest)
        return loop if counted else self._over(loop, ir.Call(zip, bases), targets, rest)

    def _over(self, loop: ir.For, it: ir.Call, targets: list[ir.Name], rest: ir.Block) -> ir.For:
        """A loop over tuples of items, which its body takes apart first."""
        each, role, take = self.fresh("_each"), ir.Unpacks(len(targets)), operator.getitem
        items = (ir.Call(take, (each, ir.Const(k)), role=role) for k in range(len(targets)))
        taken = (ir.Assign(t, item, loop.loc) for t, item in zip(targets, items))
        return replace(loop, target=each, iter=it, body=(*taken, *rest))


def _takes_items(loop: ir.For, bases: tuple[ir.Name | ir.Ref, ...], items: ir.Block) -> bool:
    """Whether the body begins with the items, and changes none of the sequences."""
    found = [_item(s, loop.target) for s in items]
    changed = _changed(loop.body)
    kept = not any(type(b) is ir.Name and b.id in changed for b in bases)
    targets = {s.target.id for s in items if type(s) is ir.Assign}
    return kept and found == list(bases) and len(targets | {loop.target.id}) == len(bases) + 1


def _bases(count: str | None, lengths: Mapping[str, ir.Call]) -> tuple[ir.Name | ir.Ref, ...]:
    """The sequences whose length, or least length, a name holds."""
    call = lengths.get(count or "")
    if call is None:
        return ()
    if is_op(call, Op.LEN):
        base = call.args[0] if len(call.args) == 1 else None
        return (base,) if isinstance(base, (ir.Name, ir.Ref)) else ()
    parts = [_bases(a.id, lengths) if type(a) is ir.Name else () for a in call.args]
    return tuple(p[0] for p in parts) if all(len(p) == 1 for p in parts) else ()


def _item(stmt: ir.Stmt, counter: ir.Name) -> ir.Atom | None:
    """The base of `x = base[counter]`."""
    call = stmt.rhs if type(stmt) is ir.Assign else None
    return call.args[0] if is_op(call, Op.GETITEM) and call.args[1] == counter else None


def _changed(block: ir.Block) -> set[str]:
    """The names that a block binds, and those of containers that it may make longer or shorter."""
    calls = (c for s in ir.walk(block) if (c := ir.call_of(s)) is not None)
    return {n for c in calls for a in mutated_args(c) for n in ir.names(a)} | ir.bound(block)


# --- flags printed back as `break`, `continue` and early `return` --------------------------------


Loop = Union[ir.For, ir.While]


@frozen
class _After:
    """What runs next: the rest of a block, then what runs after it."""

    block: ir.Block
    index: int
    then: _Next


@frozen
class _LoopEnd:
    """The end of an iteration; after the loop comes `then`."""

    loop: Loop
    then: _Next


_Next = Union[_After, _LoopEnd, None]


def with_jumps(scan: Scan, inline: Set[str]) -> tuple[ir.Block, frozenset[str]]:
    """The body of a function with `Jump` and `LoopElse` in place of flags, and what these replace.

    `inline` are the names nested into expressions.
    """
    jumps = _Jumps(scan, inline)
    gone = frozenset(n for n in (*jumps.flags, jumps.result) if n is not None)
    return (jumps.rebuilt() if gone else scan.function.body), gone


class _Jumps:
    """The flags and the result variable of a function, as far as they can disappear."""

    def __init__(self, scan: Scan, inline: Set[str]) -> None:
        self.body = scan.function.body
        self.inline = inline
        last = self.body[-1] if self.body else None
        self.value: ir.Atom | None = last.value if type(last) is ir.Return else None
        self.asked = _asked(scan.stmts)
        other = scan.uses.copy()  # reads other than by a guard
        other.subtract(flag for s in scan.stmts if (flag := _guard(s)) is not None)
        self.flags = _flags(scan, other)
        self.homes: dict[str, tuple[str, int]] = {}
        self.broken: set[str] = set()  # the flags that some `break` sets
        self.result: str | None = None  # the temporary that every return assigns
        if type(self.value) is ir.Name and ir.is_temporary(self.value.id):
            several = scan.defs[self.value.id] > 1 and other[self.value.id] == 1
            self.result = self.value.id if several else None
        self._settle()

    def _settle(self) -> None:
        """Drops flags until every place that sets one of the others is a jump."""
        while self.flags or self.result is not None:
            self.homes = dict(_homes(self))
            self.broken.clear()
            lost = set(self._failures(self.body, None))
            if not lost:
                return
            self.flags -= lost
            if self.result in lost:
                self.result = None

    def _failures(self, block: ir.Block, after: _Next) -> Iterator[str]:
        """The flags, and the result, set in places that are no jumps."""
        start = self._trailing(block, after)
        for index, stmt in enumerate(block):
            name = self._set(stmt) if index < start else None
            if name is not None:
                yield name
            for inner, following in _inner(stmt, _After(block, index + 1, after)):
                yield from self._failures(inner, following)
        if start < len(block):
            yield from self._refused(block, start, after)

    def _refused(self, block: ir.Block, start: int, after: _Next) -> Iterator[str]:
        """What keeps a place from being a jump."""
        known = self._known(block, start)
        kind = self._kind(block, start, after)
        if kind == "return":
            return
        if self.result is not None and self._set(block[start]) == self.result:
            yield self.result
        if kind is None:
            yield from known
        else:
            self.broken.update(known if kind == "break" else ())
            while isinstance(after, _After):
                after = after.then
            loop = None if after is None else after.loop  # the innermost one around the place
            yield from (f for f in known if self.homes.get(f) != (kind, id(loop)))

    def _trailing(self, block: ir.Block, after: _Next) -> int:
        """Where the last assignments of a block begin that set the result, then flags."""
        end = len(block)
        if after is None and end and type(block[-1]) is ir.Return:
            end -= 1
        start = end
        while start and (name := self._set(block[start - 1])) is not None:
            start -= 1
            if name == self.result:
                break
        return start if start < end else len(block)

    def _set(self, stmt: ir.Stmt) -> str | None:
        """The flag that a statement sets, or the result."""
        if type(stmt) is not ir.Assign:
            return None
        name = stmt.target.id
        return name if name == self.result or stmt.rhs == _TRUE and name in self.flags else None

    def _known(self, block: ir.Block, start: int) -> set[str]:
        """The flags that the end of a block sets."""
        return {n for s in block[start:] if (n := self._set(s)) is not None} - {self.result}

    def _kind(self, block: ir.Block, start: int, after: _Next) -> str | None:
        """The jump that the end of a block is."""
        known = self._known(block, start)
        lands, crossed = _landing(after, known)
        if lands is None and (self.value == ir.NONE or self._set(block[start]) == self.result):
            return "return"
        if crossed:
            return "break"
        return "continue" if isinstance(lands, _LoopEnd) and known else None

    # --- rebuilding ----------------------------------------------------------------------------

    def rebuilt(self) -> ir.Block:
        """The body with jumps."""
        body = self._rebuilt(self.body, None)
        if self.result is not None and type(body[-1]) is ir.Return:
            return body[:-1]
        return body

    def _rebuilt(self, block: ir.Block, after: _Next) -> ir.Block:
        """A block with its last assignments as a jump."""
        out: list[ir.Stmt] = []
        self._rebuild(block, after, out)
        return tuple(out)

    def _rebuild(self, block: ir.Block, after: _Next, out: list[ir.Stmt]) -> None:
        start = self._trailing(block, after)
        for index, stmt in enumerate(block[:start]):
            self._statement(stmt, _After(block, index + 1, after), out)
        if start < len(block):
            kind, first, value = self._kind(block, start, after), block[start], None
            assert kind is not None
            if type(first) is ir.Assign and first.target.id == self.result:
                value = first.rhs
            loc = block[-1].loc if value is None else first.loc
            out.append(Jump(kind, value, loc))  # type: ignore[arg-type]
            out += [s for s in block[start:] if type(s) is ir.Return]

    def _statement(self, stmt: ir.Stmt, after: _Next, out: list[ir.Stmt]) -> None:
        """One statement; those guarded by a flag that is gone stand without it."""
        if type(stmt) is ir.Assign and stmt.target.id in self.flags:
            return
        flag = _guard(stmt)
        if flag is None or flag not in self.flags or type(stmt) is not ir.If:
            thens = iter([then for _, then in _inner(stmt, after)])
            out.append(ir.map_blocks(stmt, lambda inner: self._rebuilt(inner, next(thens))))
            return
        loop = out[-1] if out else None
        stopped = isinstance(loop, (ir.For, ir.While)) and loop.stop == ir.Name(flag)
        if stopped and flag in self.broken:
            rest = self._rebuilt(stmt.orelse, after)
            out[-1] = LoopElse(loop, rest, loop.loc)  # type: ignore[arg-type, call-overload, union-attr]
        else:
            self._rebuild(stmt.orelse, after, out)


# --- flags -------------------------------------------------------------------------------------


def _flags(scan: Scan, other: Counter[str]) -> set[str]:
    """The temporaries that are cleared once, set otherwise, and only read as flags."""
    sets: dict[str, list[ir.Rhs]] = {}
    for stmt in scan.stmts:
        if type(stmt) is ir.Assign and type(stmt.rhs) is ir.Const:
            sets.setdefault(stmt.target.id, []).append(stmt.rhs)
    return {
        name for name, values in sets.items()
        if ir.is_temporary(name) and len(values) == scan.defs[name] and not other[name]
        and values.count(_FALSE) == 1 and values.count(_TRUE) == len(values) - 1
    }  # fmt: skip


def _asked(stmts: Sequence[ir.Stmt]) -> Counter[str]:
    """How often each name is asked for as a flag: by a guard, or to stop a loop."""
    stops = (s.stop.id for s in stmts if isinstance(s, (ir.For, ir.While)) and s.stop is not None)
    guards = [_guard(s) for s in stmts if type(s) is ir.If]
    return Counter([*stops, *(flag for flag in guards if flag is not None)])


def _guard(stmt: ir.Stmt) -> str | None:
    """The flag of `if flag: pass; else: ...`."""
    if type(stmt) is ir.If and type(stmt.test) is ir.Name and not stmt.body:
        return stmt.test.id
    return None


def _homes(facts: _Jumps) -> Iterator[tuple[str, tuple[str, int]]]:
    """The loop that each flag belongs to, and whether it means `break` or `continue` there."""
    blocks = ir.walk_blocks(facts.body)
    for block, index, stmt in ((b, k, s) for b in blocks for k, s in enumerate(b)):
        if isinstance(stmt, (ir.For, ir.While)):
            flag = stmt.stop
            if flag is not None and _stops_here(block, index, flag.id, facts):
                yield flag.id, ("break", id(stmt))
            yield from ((n, ("continue", id(stmt))) for n in _skips(stmt.body, facts.asked))


def _skips(body: ir.Block, asked: Counter[str]) -> list[str]:
    """The flags that are cleared in a loop body and read only in it."""
    cleared = [s.target.id for s in body if type(s) is ir.Assign and s.rhs == _FALSE]
    inside = _asked(ir.walk(body)) if cleared else asked
    return [n for n in cleared if inside[n] == asked[n]]


def _stops_here(block: ir.Block, index: int, flag: str, facts: _Jumps) -> bool:
    """Whether a flag is cleared before the loop, and read only in it or in its `else`."""
    loop = block[index]
    before = [s for s in block[:index] if type(s) is ir.Assign and s.target.id == flag]
    after = 1 if _followed_by_guard(block[index + 1 :], flag, facts.flags) else 0
    if after and type(loop) is ir.While and visible(loop.cond, facts.inline):
        return False  # it becomes a `while True`, which never comes to an `else`
    inside = _asked(ir.walk((loop,)))[flag]
    return len(before) == 1 and inside + after == facts.asked[flag]


def _followed_by_guard(rest: ir.Block, flag: str, flags: set[str]) -> bool:
    """Whether the next statement is guarded by the flag, once guards of `flags` are gone."""
    if not rest:
        return False
    found = _guard(rest[0])
    if found == flag:
        return True
    inside = rest[0].orelse if type(rest[0]) is ir.If and found in flags else ()
    return _followed_by_guard(inside, flag, flags)


# --- where control goes ------------------------------------------------------------------------


def _inner(stmt: ir.Stmt, after: _Next) -> list[tuple[ir.Block, _Next]]:
    """The blocks inside a statement, each with what runs after it."""
    if isinstance(stmt, (ir.For, ir.While)):
        end = _LoopEnd(stmt, after)
        body: list[tuple[ir.Block, _Next]] = [(stmt.body, end)]
        return body if type(stmt) is ir.For else [(stmt.cond, _After(stmt.body, 0, end)), *body]
    return [(inner, after) for inner in ir.blocks(stmt)]


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
        elif type(after.block[after.index]) is ir.Return:
            return None, crossed
        else:
            return after, crossed
    return None, crossed
