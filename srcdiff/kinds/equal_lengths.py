"""Lengths that are equal because an operation that always runs would have failed otherwise.

`x @ w` at the top of a function says that the rows of `w` are as many as the columns of `x`; so
does `h - y` for two lengths that are not 1.  What does not always run (in a branch or a loop) says
nothing.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from srcdiff.ir.kinds import BIG, Array, Dict, Dim, Kind, List, Scalar, Sym, Tuple, dims_of, is_big
from srcdiff.kinds.elementwise import is_elementwise, with_arrays


class Equal:
    """Sets of equal lengths, each with the name that was seen first; only whole lengths."""

    def __init__(self) -> None:
        self.first: dict[str, int | Sym] = {}

    def learn(self, fn: Any, operands: tuple[Kind, ...]) -> None:
        """An operation on these operands has succeeded."""
        if fn in (operator.matmul, np.matmul, np.dot) and len(operands) == 2:
            x, y = map(dims_of, operands)
            if x and y and 1 <= len(x) <= 2 and 1 <= len(y) <= 2:
                self._union(x[-1], y[0])
        elif fn in (sum, np.choose):
            held = [k for o in operands if isinstance(o, (List, Tuple)) for k in o.items or ()]
            self._learn_broadcast([d for d in map(dims_of, held) if d])
        elif not isinstance(fn, str) and is_elementwise(fn):
            self._learn_broadcast([d for d in map(dims_of, with_arrays(fn, operands)) if d])

    def _learn_broadcast(self, shapes: list[tuple[Dim, ...]]) -> None:
        """Lengths that are not 1 are equal where they meet."""
        for axis in range(1, 1 + max(map(len, shapes), default=0)):
            met = [s[-axis] for s in shapes if len(s) >= axis and is_big(s[-axis])]
            for other in met[1:]:
                self._union(met[0], other)

    def _union(self, a: Dim, b: Dim) -> None:
        """Two lengths are equal."""
        if not _is_whole(a) or not _is_whole(b):
            return
        one, two = self._find(a), self._find(b)
        if _name(one) == _name(two) or (isinstance(one, int) and isinstance(two, int)):
            return
        if isinstance(one, int) or (isinstance(two, Sym) and is_big(one) >= is_big(two)):
            one, two = two, one
        if isinstance(one, Sym):
            self.first[one.name] = two

    def _find(self, dim: Any) -> int | Sym:
        """What stands for a length."""
        while isinstance(dim, Sym) and dim.name in self.first:
            dim = self.first[dim.name]
        found: int | Sym = dim
        return found

    def kind(self, kind: Kind) -> Kind:
        """A kind with equal lengths under one name."""
        if not self.first:
            return kind
        if isinstance(kind, Array) and kind.dims is not None:
            return Array(kind.dtype, tuple(map(self._dim, kind.dims)), kind.maybe_scalar)
        if isinstance(kind, Scalar) and kind.size_of is not None:
            return Scalar(kind.dtype, kind.python, kind.value, self._dim(kind.size_of))
        if isinstance(kind, Tuple) and kind.items is not None:
            return Tuple(tuple(map(self.kind, kind.items)))
        if isinstance(kind, List):
            items = None if kind.items is None else tuple(map(self.kind, kind.items))
            return List(None if kind.item is None else self.kind(kind.item), items, kind.site)
        if isinstance(kind, Dict):
            pairs = tuple((k, self.kind(v)) for k, v in kind.items)
            item = None if kind.item is None else self.kind(kind.item)
            return Dict(pairs, item, kind.site, kind.cls)
        return kind

    def _dim(self, dim: Dim) -> Dim:
        """A length under its first name; shorter ones move along."""
        if not isinstance(dim, Sym) or dim.name not in self.first:
            return dim
        new = self._find(Sym(dim.name, 0, dim.big))
        if isinstance(new, int):
            return max(0, new + dim.offset)
        return new if dim.offset == 0 else new.moved(dim.offset)


def _name(length: int | Sym) -> int | str:
    """What tells lengths apart, whatever else is known of each."""
    return length.name if isinstance(length, Sym) else length


def _is_whole(dim: Dim) -> bool:
    """Whether a length is an integer, or one of an argument or variable and not cut off."""
    if isinstance(dim, Sym):
        return dim != BIG and dim.offset == 0 and "@" not in dim.name
    return dim is not None
