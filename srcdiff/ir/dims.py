"""Lengths of axes, as far as they are known before the program runs.

A dimension is an `int` (known), a `Sym` (the same unknown length wherever the same name
and offset occur) or None.  `Sym(name, offset)` is `max(0, length(name) + offset)`: the slice
`x[1:]` of an empty array is empty, it is not of length -1.

"Big" means "known not to be 1", zero included.  Which dimensions of an argument are 0 or 1 is part
of the dispatch key, so it is known for arguments.  So is which are 4 or more (`least`), hence
`x[1:-1]` of those is big too.  It decides what broadcasting can do: in an elementwise operation
that succeeds, an axis of the result has the length of every operand whose length there is not 1.
If that length is n > 1 or 0, the other operands have n or 1 (0 against 1 gives 0; 0 against n > 1
fails), so two big operands are equal, and a big operand has the length of the result.  A dimension
that is not known to be big may be 1 and be stretched; then equality needs the same `Sym` or the
same integer.

Two dims that compare equal with `==` need not be equal lengths (`BIG` is some length that is
not 1): ask `same_dim`, `same_shape` and `broadcasts_to_itself`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Sym:
    """A length known by name only; `big`: it is not 1; `least`: `name` is at least this long."""

    name: str
    offset: int = 0
    big: bool = False
    least: int = 0

    def moved(self, count: int) -> Sym:
        """The length with `count` added."""
        offset = self.offset + count
        return Sym(self.name, offset, self.least + offset > 1, self.least)


Dim = Union[int, Sym, None]

BIG = Sym("?", 0, True)
"""Some length that is not 1; never provably equal to another."""


def is_big(dim: Dim) -> bool:
    """Whether a length is known not to be 1."""
    return dim.big if isinstance(dim, Sym) else dim is not None and dim != 1


def is_filled(dim: Dim) -> bool:
    """Whether a length is known not to be 0."""
    return dim.least + dim.offset > 0 if isinstance(dim, Sym) else bool(dim)


def same_dim(a: Dim, b: Dim) -> bool:
    """Whether two lengths are provably equal."""
    if isinstance(a, Sym) and isinstance(b, Sym):
        return a.name == b.name != BIG.name and a.offset == b.offset
    return a is not None and not isinstance(a, Sym) and a == b


def join_dim(a: Dim, b: Dim) -> Dim:
    """A length that describes either of two."""
    if same_dim(a, b):
        return b if isinstance(a, Sym) and a.big else a
    return BIG if is_big(a) and is_big(b) else None


def broadcast_dim(dims: Iterable[Dim]) -> Dim:
    """The length of one axis after broadcasting that succeeds."""
    rest = [d for d in dims if d != 1]
    if not rest:
        return 1
    known = [d for d in rest if is_big(d)]
    for d in known:
        if d != BIG:
            return d
    if known:
        return BIG
    return rest[0] if all(same_dim(d, rest[0]) for d in rest[1:]) else None


def broadcast_dims(shapes: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
    """The dims of the result of an elementwise operation that succeeds."""
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    return tuple(broadcast_dim(axis) for axis in zip(*padded))
