"""Stores that look at the memory that they write into, beside the value that is stored.

`i[i] = v` changes its own index, and the way back needs the one that it had: the index is copied
before the store.  The invariant: no array in the index of a store shares memory with its base.
Functions that write in place, and of which NumPy decides in which order they read and write, are
refused where they read what they write.  Ufuncs, their methods and most functions with `out` read
all that they need of what they write before they write it.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property

import numpy as np

from srcdiff import ir
from srcdiff.analysis.links import Groups
from srcdiff.analysis.points_to import PointsTo
from srcdiff.errors import refused
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.primitives.arguments import outs, spelling
from srcdiff.primitives.effects import mutated_args
from srcdiff.primitives.operation import Effect, Writing, op_of
from srcdiff.primitives.views import is_array

INDEX_IS_READ_LATE = np.lib.NumpyVersion(np.__version__) < "2.3.0"
"""Whether NumPy reads an index of integers while it writes into the memory of that."""


def without_overlaps(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function with copies of the indices that share memory with what is stored into.

    Raises:
        UnsupportedError: a function that writes in place may read what it writes.
    """
    return _Overlaps(function, kinds).function(function)


def check_outs(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse calls that may read what they have written into `out`, or write nothing into it.

    Raises:
        UnsupportedError: the memory of an operand may be that of `out`.
    """
    calls = [(c, s.loc) for s in ir.walk(function) if (c := _doubtful(s))]
    if not calls:
        return
    group = PointsTo.of(function, kinds).near
    for call, loc in calls:
        if op_of(call.fn).writing is Writing.UNSURE:
            raise refused("memory.out_version", loc, callee=spelling(call))
        check_order(call, kinds, group, loc, _STORE)


_STORE = "Leave `out` away, and store the result: `x[...] = y`."


def _doubtful(stmt: ir.Stmt) -> ir.Call | None:
    """A call with `out` that may read its operands when a part of it is written, or ignore it."""
    call = ir.call_of(stmt)
    early = call is not None and op_of(call.fn).writing is not Writing.AT_ONCE
    return call if call is not None and early and outs(call) else None


def check_order(call: ir.Call, kinds: ir.Kinds, group: Groups, loc: ir.Loc, remedy: str) -> None:
    """Refuse a call that may read what it writes; `group`: the names that may share memory."""
    written = Counter(n for a in mutated_args(call, kinds) for n in ir.names(a))
    classes = set(map(group.of, written))
    atoms = (*call.args, *(v for _, v in call.kwargs))
    for name in Counter(n for a in atoms for n in ir.names(a)) - written:
        has_memory = not isinstance(kinds.get(name), (ir.Scalar, ir.Text))
        if has_memory and group.of(name) in classes:
            what = "an operand" if ir.is_temporary(name) else ir.said(name)
            raise refused("memory.order", loc, what=what, callee=spelling(call), remedy=remedy)


def _writes_in_parts(call: ir.Call) -> bool:
    """Whether a call may write into an argument when it has not read all of the others."""
    op = op_of(call.fn)
    return op.effect is Effect.WRITES and op.writing is Writing.IN_PARTS


class _Overlaps(Rewriter):
    """The walk over one function."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.whole, self.kinds = function, kinds

    @cached_property
    def group(self) -> Groups:
        """The names that may share memory."""
        return PointsTo.of(self.whole, self.kinds).near

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement, and the copies that it needs."""
        if isinstance(stmt, ir.Store) and stmt.index is not None:
            return self.stored(stmt, stmt.index)
        call = ir.call_of(stmt)
        if call is not None and _writes_in_parts(call):
            check_order(call, self.kinds, self.group, stmt.loc, "Give it a copy.")
        return self.inside(stmt)

    def stored(self, stmt: ir.Store, index: ir.Atom) -> ir.Store:
        """A store behind the copies of the arrays in its index that its base may share."""
        near = [n for n in ir.names(index) if self.share(n, stmt.base.id)]
        if not near:
            return stmt
        if INDEX_IS_READ_LATE and not all(self.is_mask(n) for n in near):
            raise refused("memory.index_order", stmt.loc, name=ir.said(stmt.base.id))
        copies = {n: self.call(np.copy, ir.Name(n)) for n in near}
        return replace(stmt, index=ir.map_atom(lambda n: copies.get(n.id, n), index))

    def is_mask(self, name: str) -> bool:
        """Whether a name certainly stands for an array of bools, which NumPy reads at once."""
        return getattr(self.kinds.get(name), "dtype", None) == "bool"

    def share(self, one: str, two: str) -> bool:
        """Whether a name stands for an array that may share memory with another name."""
        same = one == two or self.group.share(one, two)
        return same and is_array(self.kinds.get(one))
