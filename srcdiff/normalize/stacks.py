"""The lists that a derivative saves tuples in, as one list for each of the items.

`unzipped` takes a function and returns it with `x_saved.append(x); y_saved.append(y)` for
`saved.append((x, y))`, and with `x = x_saved.pop(); y = y_saved.pop()` for `x, y = saved.pop()`, so
that each item has a kind and an adjoint of its own where a derivative (`codegen/tapes.py`) is
differentiated.  What the user calls otherwise stays as it is written: both compute the same.  The
invariant: nothing has the list, or one of its tuples, as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from srcdiff import ir
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.normalize.displays import item_read
from srcdiff.primitives.ops import Op, is_op

_TAPE = re.compile(r"saved(_\d+)*\Z")


def unzipped(function: ir.Function) -> ir.Function:
    """The function with a list for each item of the tuples that a list is filled with."""
    if not any(map(_pushed, ir.walk(function))):
        return function
    stacks = _Stacks(function)
    found = stacks.found()
    return _Unzip(function, found, stacks.tuples).function(function) if found else function


def _pushed(stmt: ir.Stmt) -> ir.Tup | None:
    """The tuple that a statement puts into a list."""
    call = stmt.rhs if type(stmt) is ir.Effect else None
    pushes = is_op(call, Op.APPEND) and len(call.args) == 2
    value = call.args[1] if pushes and type(call) is ir.Call else None
    if type(value) is not ir.Tup or value.listed or not value.items:
        return None
    known = not any(isinstance(item, (ir.Star, ir.Slice)) for item in value.items)
    return value if known else None


def _popped(stmt: ir.Stmt) -> str | None:
    """The list whose last item a statement binds."""
    call = stmt.rhs if type(stmt) is ir.Assign else None
    alone = is_op(call, Op.POP) and len(call.args) == 1 and not call.kwargs
    base = call.args[0] if alone and type(call) is ir.Call else None
    return base.id if type(base) is ir.Name else None


class _Stacks:
    """What the statements of a function do with its lists."""

    def __init__(self, function: ir.Function) -> None:
        self.items: dict[str, list[ir.Tup]] = {}  # of the lists that are filled with tuples
        self.tuples: dict[str, str] = {}  # by the name of a tuple, the list that it comes from
        self.reads: dict[str, list[int]] = {}  # the items that are read of what has a name
        self.empty: set[str] = set()
        self.counted: set[str] = set()  # of which the length is asked
        self.other: set[str] = set()
        self.count = ir.binding_counts(function, function.params)
        for stmt in ir.walk(function):
            self.note(stmt)

    def note(self, stmt: ir.Stmt) -> None:
        """A statement."""
        pushed, popped, read = _pushed(stmt), _popped(stmt), item_read(stmt)
        mentioned = ir.itself_mentions(stmt)
        if pushed is not None:
            (base,) = ir.call_of(stmt).args[:1]  # type: ignore[union-attr]
            mentioned = frozenset(ir.names(pushed))
            if type(base) is ir.Name:
                self.items.setdefault(base.id, []).append(pushed)
        elif popped is not None:
            (target,) = ir.writes(stmt)
            self.tuples[target], mentioned = popped, frozenset()
        elif read is not None:
            self.reads.setdefault(read.base, []).append(read.index)
            mentioned = frozenset(ir.writes(stmt))
        elif type(stmt) is ir.Assign and stmt.rhs == ir.Call(ir.make_list):
            self.empty.add(stmt.target.id)
            mentioned = frozenset()
        elif type(stmt) is ir.Assign and is_op(stmt.rhs, Op.LEN):
            mentioned = frozenset(ir.writes(stmt))
            self.counted.update(ir.names(stmt.rhs))
        self.other |= mentioned

    def found(self) -> dict[str, tuple[ir.Tup, ...]]:
        """The tuples that each list is filled with which nothing has as a whole."""
        named = ((n, t) for n, t in self.items.items() if _TAPE.match(n))
        return {n: tuple(t) for n, t in named if self.is_stack(n, t)}

    def is_stack(self, name: str, pushed: list[ir.Tup]) -> bool:
        """Whether a list starts empty, and holds tuples of one length that are taken apart."""
        sizes = {len(t.items) for t in pushed}
        if len(sizes) > 1 or name not in self.empty or not self.is_once(name) or name in self.reads:
            return False
        taken = [n for n, base in self.tuples.items() if base == name]
        plain = all(self.is_once(n) and n not in self.counted for n in taken)
        return plain and all(-1 < k < min(sizes) for n in taken for k in self.reads.get(n, ()))

    def is_once(self, name: str) -> bool:
        """Whether a name has one value, which nothing reads but what is noted."""
        return self.count[name] == 1 and name not in self.other


class _Unzip(Rewriter):
    """Writes each statement for each of the lists."""

    def __init__(
        self,
        function: ir.Function,
        found: Mapping[str, tuple[ir.Tup, ...]],
        tuples: Mapping[str, str],
    ) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.lists = {n: self.named(pushed[0]) for n, pushed in found.items()}
        # A turn of a loop may read what the one before has taken: the names are known at once.
        self.items = {
            each: [self.fresh() for _ in self.lists[base]]
            for each, base in tuples.items()
            if base in self.lists
        }

    def named(self, like: ir.Tup) -> list[ir.Name]:
        """The names of the lists, after what they are filled with first."""
        said = (i.id if type(i) is ir.Name else "_t" for i in like.items)
        return [self.fresh(f"{n.lstrip('_')}_saved") for n in said]

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """A statement."""
        pushed, popped, read = _pushed(stmt), _popped(stmt), item_read(stmt)
        if type(stmt) is ir.Effect and pushed is not None and type(stmt.rhs) is ir.Call:
            for one, item in zip(self.lists.get(_base(stmt), ()), pushed.items):
                self.out.append(replace(stmt, rhs=replace(stmt.rhs, args=(one, item))))
            return () if _base(stmt) in self.lists else stmt
        if type(stmt) is ir.Assign and popped in self.lists:
            items = zip(self.items[stmt.target.id], self.lists[popped])
            return tuple(
                ir.Assign(item, ir.Call(ir.Method("pop"), (one,)), stmt.loc) for item, one in items
            )
        if read is not None and read.base in self.items:
            return replace(read.stmt, rhs=self.items[read.base][read.index])
        if type(stmt) is ir.Assign and stmt.target.id in self.lists:
            return tuple(replace(stmt, target=one) for one in self.lists[stmt.target.id])
        if type(stmt) is ir.Assign and is_op(stmt.rhs, Op.LEN):
            return ir.map_stmt(stmt, self.first, lambda n: n, self.block)
        return self.inside(stmt)

    def first(self, name: ir.Name) -> ir.Name:
        """The first of the lists for one, which is as long."""
        return self.lists.get(name.id, [name])[0]


def _base(stmt: ir.Stmt) -> str:
    """The name of the list that a statement fills."""
    call = ir.call_of(stmt)
    base = call.args[0] if call is not None else None
    return base.id if type(base) is ir.Name else ""
