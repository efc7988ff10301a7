"""Which variables of a function that has been written out a closure made in it sees for ever.

Where a function is written out in a loop, its variables are new ones each time, though their names
are the same.  So a closure that outlives the call must keep the values.  It may where the variable
is not bound again after the closure is made; such a variable is *held*.  For any other the closure
also reads a mark that is bound where the variables begin: a mark that is bound once says that the
variables are there once, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from srcdiff.ir import (
    NONE,
    NOWHERE,
    Assign,
    Block,
    For,
    Fresh,
    Stmt,
    While,
    blocks,
    map_blocks,
    walk,
    writes,
)

MARK = "~"


def definitions(block: Block, params: Iterable[str] = ()) -> dict[str, int]:
    """How often each name is bound; in a loop that is more than once."""
    count = dict.fromkeys(params, 1)

    def each(inner: Block, weight: int) -> None:
        for stmt in inner:
            for name in writes(stmt):
                count[name] = count.get(name, 0) + weight
            more = 2 if isinstance(stmt, (For, While)) else weight
            for part in blocks(stmt):
                each(part, more)

    each(block, 1)
    return count


def settled(block: Block, own: frozenset[str], fresh: Fresh, params: Iterable[str] = ()) -> Block:
    """A block of a call, whose variables are `own`, with the closures in it told what they hold."""
    made = [s for s in walk(block) if _captures(s, own)]
    if not made:
        return block
    params = tuple(params)
    lasting = _lasting(block, own, params)
    mark = fresh("_mark")
    marked = False

    def stmt(s: Stmt) -> Stmt:
        nonlocal marked
        if _captures(s, own):
            assert isinstance(s, Assign)
            rhs: Any = s.rhs
            now = lasting[id(s)]
            held = {n for n, v in zip(rhs.captured, rhs.reads) if v.id in now}
            late = [n for n, v in zip(rhs.captured, rhs.reads) if v.id in own - now]
            if late:
                marked = True
                names = tuple(f"{MARK}{n}" for n in late)
                reads = (*rhs.reads, *[mark] * len(late))
                rhs = replace(rhs, reads=reads, captured=(*rhs.captured, *names))
            return replace(s, rhs=replace(rhs, held=rhs.held | held))
        return map_blocks(s, lambda b: tuple(map(stmt, b)))

    # A statement is the same object in `walk` and here: what is looked up is not rebuilt before.
    found = tuple(map(stmt, block))
    return (Assign(mark, NONE, NOWHERE), *found) if marked else found


def _captures(stmt: Stmt, own: frozenset[str]) -> bool:
    """Whether a statement makes a closure that reads some variables."""
    rhs: Any = stmt.rhs if isinstance(stmt, Assign) else None
    if not hasattr(rhs, "held"):
        return False
    return any(n.id in own for n in rhs.reads)


def _lasting(
    block: Block, own: frozenset[str], params: tuple[str, ...]
) -> dict[int, frozenset[str]]:
    """For every closure the variables that are bound before it, and never again."""
    closures: list[tuple[int, Stmt, tuple[int, ...]]] = []
    bound: list[tuple[int, str, tuple[int, ...]]] = [(0, p, ()) for p in params]
    for place, (stmt, loops) in enumerate(_placed(block, ()), 1):
        bound += [(place, name, loops) for name in writes(stmt) if name in own]
        if _captures(stmt, own):
            closures.append((place, stmt, loops))
    found: dict[int, frozenset[str]] = {}
    for place, stmt, loops in closures:
        again = {n for at, n, theirs in bound if at > place or set(theirs) & set(loops)}
        before = {n for at, n, _ in bound if at < place}
        found[id(stmt)] = frozenset(before - again)
    return found


def _placed(block: Block, loops: tuple[int, ...]) -> Iterator[tuple[Stmt, tuple[int, ...]]]:
    """Every statement with the loops around it, in source order."""
    for stmt in block:
        inside = (*loops, id(stmt)) if isinstance(stmt, (For, While)) else loops
        yield stmt, inside
        for part in blocks(stmt):
            yield from _placed(part, inside)


__all__ = ["MARK", "definitions", "settled"]
