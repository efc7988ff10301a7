"""Whether the rows of a loop nest may be computed by several threads, each some of them.

Takes the function of a nest; gives what each of them is given of its arguments, and how their
results are put together (`ir.Rows`), or None.  The invariant: every element is computed from the
same elements, and written by one thread alone; sums are those of the sums of the parts.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.frozen import state
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime.loops import add


def rows_of(nest: ir.Function) -> ir.Rows | None:
    """How the outermost loop of a nest is shared out, if it may be."""
    loops = [s for s in nest.body if type(s) is ir.For]
    if len(loops) != 1 or type(nest.body[-1]) is not ir.Return or nest.body[-2] is not loops[0]:
        return None
    return _Nest(nest, loops[0]).rows()


@state
class _Spot:
    """A parameter, or a row of it, addressed by `rows`, by those `from` a start on, or `whole`."""

    param: str
    way: str


class _Nest:
    """A nest with one outermost loop."""

    def __init__(self, nest: ir.Function, loop: ir.For) -> None:
        self.nest, self.loop = nest, loop
        self.counter = loop.target.id
        self.params = [p.name for p in nest.params]
        self.spots = {p: _Spot(p, "whole") for p in self.params}
        self.ways: dict[str, set[str]] = {p: set() for p in self.params}
        self.behind: set[str] = set()  # counters of rows behind a start
        inside = list(ir.walk(loop.body))
        items = [s.rhs.args[0] for s in inside if type(s) is ir.Assign and is_op(s.rhs, Op.GETITEM)]
        self.bases = {s.base.id for s in inside if isinstance(s, ir.Store)}
        self.bases.update(b.id for b in items if type(b) is ir.Name)
        made = (s for s in nest.body if type(s) is ir.Assign)
        self.own = {s.target.id for s in made if is_op(s.rhs, Op.EMPTY)}  # of each thread

    def rows(self) -> ir.Rows | None:
        """How it is shared out."""
        found = all(map(self.takes, ir.walk(self.loop.body)))
        totals = [self.total(n) for n in self.returned()]
        length = self.length()
        if not found or length is None or None in totals:
            return None
        ways = [self.way(p) for p in self.params]
        if "" in ways or (self.way(length) != "rows" and length not in self.numbers()):
            return None
        if length in self.numbers():
            ways[self.params.index(length)] = "length"
        return ir.Rows(tuple(ways), tuple(totals), type(self.result()) is ir.Tup)

    # --- what the loop does -----------------------------------------------------------------------

    def takes(self, stmt: ir.Stmt) -> bool:
        """Take note of what a statement addresses; whether the counter is used for that alone."""
        if isinstance(stmt, ir.Store):
            free = self.is_free(ir.names(stmt.value))
            return free and self.addresses(stmt.base, stmt.index, stmt)
        if type(stmt) is ir.If:
            return self.is_free(ir.names(stmt.test))
        if type(stmt) is not ir.Assign:
            return type(stmt) in (ir.For, ir.Backward)
        call = stmt.rhs
        if is_op(call, Op.GETITEM):
            return self.reads(stmt.target.id, *call.args)
        if is_op(call, Op.ADD) and call.args[0] == ir.Name(self.counter):
            start = call.args[1]
            self.behind.add(stmt.target.id)
            return type(start) is ir.Name or type(start) is ir.Const and start.value >= 0
        return self.is_free(ir.names(call))

    def reads(self, target: str, base: ir.Atom, index: ir.Atom) -> bool:
        """Take note of an element that is read, or of a row that has a name."""
        if type(base) is not ir.Name:
            return False
        if base.id not in self.spots:
            return base.id in self.own and self.is_free(ir.names(index))
        way = self.by(base.id, index)
        self.spots[target] = _Spot(self.spots[base.id].param, way)
        if way == "whole" and target in self.bases:
            return self.is_free(ir.names(index))
        return self.addresses(base, index, None)

    def is_free(self, names: Any) -> bool:
        """Whether the counter of the rows is not among some names."""
        return self.behind.isdisjoint(names) and self.counter not in names

    def by(self, base: str, index: ir.Atom | None) -> str:
        """How an index addresses an array, or a row of it."""
        before = self.spots[base].way
        if before != "whole":
            return before
        first = index.items[0] if type(index) is ir.Tup else index
        name = first.id if type(first) is ir.Name else ""
        return "rows" if name == self.counter else "from" if name in self.behind else "whole"

    def addresses(self, base: ir.Name, index: ir.Atom | None, store: ir.Store | None) -> bool:
        """Take note of how a parameter is addressed; whether each row is by itself."""
        spot = self.spots.get(base.id)
        if spot is None:
            return base.id in self.own and self.is_free(ir.names(index))
        way = self.by(base.id, index)
        items = index.items if type(index) is ir.Tup else (index,)
        rest = items if way == "whole" or spot.way != "whole" else items[1:]
        if not self.is_free([n for i in rest for n in ir.names(i)]):
            return False
        if way == "whole" and store is not None:
            way = "totals" if type(store) is ir.AugAssign and store.op == "+" else ""
        self.ways[spot.param].add(way)
        return True

    def way(self, param: str) -> str:
        """How a parameter is given to a part, as `ir.Rows` says it; empty if it may not be."""
        ways = self.ways[param]
        if not ways:
            return "whole"
        if ways <= {"rows", "from"}:
            return "from" if "from" in ways else "rows"
        return next(iter(ways)) if len(ways) == 1 else ""

    # --- lengths and results ----------------------------------------------------------------------

    def numbers(self) -> list[str]:
        """The parameters that nothing is addressed in."""
        return [p for p in self.params if not self.ways[p]]

    def length(self) -> str | None:
        """The parameter that tells how many rows there are: its first length, or itself."""
        header = self.loop.iter
        name = header.args[0] if type(header) is ir.Call else None
        if type(name) is not ir.Name:
            return None
        if name.id in self.params:
            return name.id
        made = {s.target.id: s.rhs for s in self.nest.body if type(s) is ir.Assign}
        item = made.get(name.id)
        shape = made.get(item.args[0].id) if is_op(item, Op.GETITEM) else None  # type: ignore[union-attr]
        first = is_op(item, Op.GETITEM) and item.args[1] == ir.Const(0)
        of = shape.args[0] if first and is_op(shape, Op.SHAPE) else None
        return of.id if type(of) is ir.Name else None

    def result(self) -> ir.Atom:
        """What is returned."""
        last = self.nest.body[-1]
        assert type(last) is ir.Return
        return last.value

    def returned(self) -> Iterator[ir.Atom]:
        """The results one by one."""
        result = self.result()
        if result != ir.NONE:
            yield from result.items if type(result) is ir.Tup else (result,)

    def total(self, atom: ir.Atom) -> Any:
        """What puts two totals together; None of what is no total of all rows."""
        name = atom.id if type(atom) is ir.Name else None
        bound = [s for s in ir.walk(self.loop.body) if name in ir.writes(s)]
        reads = sum(name in ir.reads(s) for s in ir.walk(self.loop.body))
        if len(bound) != 1 or reads != 1 or type(bound[0]) is not ir.Assign:
            return None
        call = bound[0].rhs
        if type(call) is not ir.Call or not call.args or call.args[0] != atom:
            return None
        known = {add: operator.add, np.maximum: np.maximum, np.minimum: np.minimum}
        return known.get(call.fn)
