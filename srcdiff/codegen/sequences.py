"""Loops over indices printed back as loops over items: `for x in xs`, `zip`, `enumerate`, `items`.

The loop becomes `for each in zip(xs, ys)`, followed by one statement for every item of `each`;
these are printed as the target of the loop.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from srcdiff.analysis.uses import Scan
from srcdiff.ir import (
    Assign,
    Atom,
    Block,
    Call,
    Const,
    Effect,
    For,
    Fresh,
    Loc,
    Method,
    Name,
    Ref,
    Rhs,
    Stmt,
    bound,
    map_blocks,
    occurrences,
    walk,
)


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
    known = stmt.rhs.fn is len or stmt.rhs.fn is min
    return stmt.target.id if known and stmt.target.id.startswith("_") else None


def _without(block: Block, dead: set[str]) -> Block:
    """A block without the assignments of some lengths."""
    kept = (s for s in block if _length_name(s) not in dead)
    return tuple(map_blocks(s, lambda b: _without(b, dead)) for s in kept)


def _counts_up(stmt: Stmt) -> bool:
    """Whether a statement is a loop over `range(n)` with `n` a temporary."""
    return isinstance(stmt, For) and _count_name(stmt) is not None


def _count_name(loop: For) -> str | None:
    it = loop.iter
    if not isinstance(it, Call) or it.fn is not range or len(it.args) != 1:
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
            if stmt.rhs.fn is len or stmt.rhs.fn is min:
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
        each, text = self.fresh("_each"), f"item of {len(targets)}"
        taken = (Call(operator.getitem, (each, Const(k)), text=text) for k in range(len(targets)))
        return each, tuple(Assign(t, rhs, loc) for t, rhs in zip(targets, taken))


def _is_enumerated(loop: For, items: Block) -> bool:
    """Whether the items were bound by the loop itself, not by statements of its body."""
    return bool(loop.loc.line) and all(s.loc == loop.loc for s in items)


def _bases(count: str | None, lengths: Mapping[str, Rhs]) -> tuple[Name | Ref, ...]:
    """The sequences whose length, or least length, a name holds."""
    rhs = lengths.get(count) if count is not None else None
    if not isinstance(rhs, Call):
        return ()
    if rhs.fn is len:
        base = rhs.args[0] if len(rhs.args) == 1 else None
        return (base,) if isinstance(base, (Name, Ref)) else ()
    parts = [_bases(a.id, lengths) if isinstance(a, Name) else () for a in rhs.args]
    return tuple(p[0] for p in parts) if all(len(p) == 1 for p in parts) else ()


def _item(stmt: Stmt, counter: Name) -> Atom | None:
    """The base of `x = base[counter]`."""
    if not isinstance(stmt, Assign) or not isinstance(stmt.rhs, Call):
        return None
    call = stmt.rhs
    if call.fn is not operator.getitem or call.args[1] != counter:
        return None
    return call.args[0]


def _resized(stmt: Stmt) -> tuple[str, ...]:
    """The names of containers that a statement may make longer or shorter."""
    call = stmt.rhs if isinstance(stmt, (Effect, Assign)) else None
    if isinstance(call, Call) and isinstance(call.fn, Method) and isinstance(call.args[0], Name):
        return (call.args[0].id,) if isinstance(stmt, Effect) or call.fn.name == "pop" else ()
    return ()
