"""Stores that look at the memory that they write into, beside the value that is stored.

`i[i] = v` changes its own index, and the way back needs the one that it had: the index is copied
before the store.  The invariant: no array in the index of a store shares memory with its base.
Functions that write in place, and of which NumPy decides in which order they read and write, are
refused where they read what they write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from srcdiff import ir
from srcdiff.analyses.effects import mutated_args
from srcdiff.analyses.kind_types import Kind
from srcdiff.analyses.links import near
from srcdiff.analyses.views import is_array
from srcdiff.errors import UnsupportedError

_IN_ANY_ORDER = (np.fill_diagonal, np.place, np.put, np.putmask)


def without_overlaps(function: ir.Function, kinds: Mapping[str, Kind]) -> ir.Function:
    """The function with copies of the indices that share memory with what is stored into.

    Raises:
        UnsupportedError: a function that writes in place may read what it writes.
    """
    if not any(map(_looks_at_arrays, ir.walk(function.body))):
        return function
    found = _Overlaps(function, kinds)
    return replace(function, body=found.block(function.body))


def _looks_at_arrays(stmt: ir.Stmt) -> bool:
    """Whether a statement may write into memory that it looks at."""
    if isinstance(stmt, ir.SetItem):
        return stmt.index is not None and bool(ir.names(stmt.index))
    call = ir.call_of(stmt)
    return call is not None and call.fn in _IN_ANY_ORDER


class _Overlaps:
    """The walk, with the names that may share memory."""

    def __init__(self, function: ir.Function, kinds: Mapping[str, Kind]) -> None:
        self.kinds = kinds
        self.group = near(function, kinds)
        self.fresh = ir.Fresh(ir.all_names(function))

    def block(self, block: ir.Block) -> ir.Block:
        """A block, each store behind the copies of its indices."""
        return tuple(new for stmt in block for new in self.stmt(stmt))

    def stmt(self, stmt: ir.Stmt) -> ir.Block:
        """A statement, and the copies that it needs."""
        if isinstance(stmt, ir.SetItem) and stmt.index is not None:
            return self.store(stmt, stmt.index)
        call = ir.call_of(stmt)
        if call is not None and call.fn in _IN_ANY_ORDER:
            self.check(call, stmt.loc)
        return (ir.map_blocks(stmt, self.block),)

    def store(self, stmt: ir.SetItem, index: ir.Atom) -> ir.Block:
        """A store behind the copies of the arrays in its index that its base may share."""
        near = {n: self.fresh() for n in ir.names(index) if self.share(n, stmt.base.id)}
        if not near:
            return (stmt,)
        copies = (ir.Assign(c, ir.Call(np.copy, (ir.Name(n),)), stmt.loc) for n, c in near.items())
        return (*copies, replace(stmt, index=ir.map_atom(lambda n: near.get(n.id, n), index)))

    def share(self, one: str, two: str) -> bool:
        """Whether a name stands for an array that may share memory with another name."""
        same = one == two or self.group.get(one, one) == self.group.get(two, two)
        return same and is_array(self.kinds.get(one))

    def check(self, call: ir.Call, loc: ir.Loc) -> None:
        """Refuse a call that may read what it writes."""
        written = {n for a in mutated_args(call, self.kinds) for n in ir.names(a)}
        for name in ir.names(call):
            if name not in written and any(self.share(name, w) for w in written):
                raise UnsupportedError(
                    f"{ir.said(name)} may share memory with what `{call.text or 'this call'}` "
                    "writes into, and the result depends on the order of reading and writing",
                    loc,
                    remedy="Give it a copy.",
                )
