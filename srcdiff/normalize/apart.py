"""Tuples that are only taken apart are not made: `t = (a, b); x = t[0]` becomes `x = a`.

Helpers return several values, and inlining them leaves tuples of which nobody sees more than the
items.  Takes a function and returns it without such tuples.  The invariant: between the place where
a tuple was made and the places where it was read, none of its items is bound again.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from srcdiff import ir

_ALL_ITEMS = re.compile(r"item of (\d+)(?: \* (\d+))?\Z")

Tuples = Mapping[str, ir.Tup]


def apart(function: ir.Function) -> ir.Function:
    """The function without tuples that are only taken apart."""
    if not any(map(_made, ir.walk(function.body))):
        return function
    while True:
        made = _candidates(function.body)
        while made:
            lost: set[str] = set()
            body = _block(function.body, made, {}, lost)
            if not lost:
                break
            made = {n: t for n, t in made.items() if n not in lost}
        if not made:
            return function
        function = replace(function, body=body)


@dataclass(frozen=True)
class _Read:
    """An assignment of an item at a fixed place; `of` is the spelling of an unpacking."""

    stmt: ir.Assign
    base: str
    index: int
    of: str

    def is_inside(self, made: ir.Tup) -> bool:
        """Whether a tuple has the item, and as many items as an unpacking has names."""
        count = len(made.items)
        marked = _ALL_ITEMS.match(self.of)
        least = int(marked[1]) + int(marked[2] or 0) if marked else 0
        exact = marked is not None and marked[2] is None
        fits = count == least if exact else count >= least
        return fits and -count <= self.index < count


def _candidates(body: ir.Block) -> Tuples:
    """The tuples that are made once, and of which nothing but items are read."""
    made: dict[str, ir.Tup] = {}
    items: list[_Read] = []
    other: set[str] = set()
    for stmt in ir.walk(body):
        read, tuple_ = _item(stmt), _made(stmt)
        if read is not None:
            items.append(read)
            other.update(ir.writes(stmt))
        elif tuple_ is not None and tuple_[0] not in made:
            made[tuple_[0]] = tuple_[1]
            other.update(ir.reads(stmt))
        else:
            other |= ir.itself_mentions(stmt)
    other.update(r.base for r in items if r.base in made and not r.is_inside(made[r.base]))
    return {n: t for n, t in made.items() if n not in other}


def _made(stmt: ir.Stmt) -> tuple[str, ir.Tup] | None:
    """The name and the tuple, if a statement makes one of so many items."""
    if not isinstance(stmt, ir.Assign) or not isinstance(stmt.rhs, ir.Tup):
        return None
    known = not any(isinstance(i, (ir.Star, ir.Slice)) for i in stmt.rhs.items)
    return (stmt.target.id, stmt.rhs) if known else None


def _item(stmt: ir.Stmt) -> _Read | None:
    """The item that a statement reads, if it does no more than that."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if not isinstance(stmt, ir.Assign) or not isinstance(rhs, ir.Call):
        return None
    if rhs.fn is not operator.getitem:
        return None
    base, index = rhs.args
    if not isinstance(base, ir.Name) or not isinstance(index, ir.Const):
        return None
    return _Read(stmt, base.id, index.value, rhs.text or "") if type(index.value) is int else None


def _block(block: ir.Block, made: Tuples, known: Tuples, lost: set[str]) -> ir.Block:
    """A block with items for subscripts; tuples whose items may have changed are `lost`."""
    out: list[ir.Stmt] = []
    for stmt in block:
        read, tuple_ = _item(stmt), _made(stmt)
        if tuple_ is not None and tuple_[0] in made:
            known = {**known, tuple_[0]: tuple_[1]}
            continue
        if read is not None and read.base in known:
            stmt = replace(read.stmt, rhs=known[read.base].items[read.index])
        elif read is not None and read.base in made:
            lost.add(read.base)
        changed = _changed(stmt)
        known = {n: t for n, t in known.items() if not changed & set(ir.names(t))}
        inside = functools.partial(_block, made=made, known=known, lost=lost)
        out.append(ir.map_blocks(stmt, inside))
    return tuple(out)


def _changed(stmt: ir.Stmt) -> set[str]:
    """The names that a statement may bind, also those of numbers that it adds to."""
    inner = [stmt, *(s for b in ir.blocks(stmt) for s in ir.walk(b))]
    plain = (s for s in inner if isinstance(s, ir.SetItem) and s.index is None)
    return {n for s in inner for n in ir.writes(s)} | {s.base.id for s in plain}
