"""Copies of memory that nobody looks at any more: the memory itself is taken instead.

So it is with elements of adjoints that a loop clears although nobody looks at them again.  The
adjoint of `v[i] = ..` reads the adjoint of the element and clears it: `d = d_v[i]; d_v[i] = 0.0`.
Where loops over ranges come to each element once, touch no other one in that step, and nobody looks
at the array after them, the clearing is left out; a copy of the element made for its sake is the
element itself then.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence, Set
from functools import cached_property

from srcdiff import ir
from srcdiff.analysis.activity import reachable
from srcdiff.analysis.liveness import liveness
from srcdiff.ir.frozen import replace
from srcdiff.optimize.memory import Sharers, gives_view
from srcdiff.optimize.rewrite import in_ours, mark_in
from srcdiff.optimize.shapes import copied
from srcdiff.primitives.effects import asked, only_computes, returns_view
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, calling, is_op
from srcdiff.primitives.views import is_array


def without_copies(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function whose generated part takes the memory of arrays that are not needed again."""
    return _taking(function, kinds, mark_in(function.body) or 0, _Taker.may_take)


def returned_at_once(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function without copies, at its end, of arrays that nobody else has."""
    start = max(_tail(function.body), mark_in(function.body) or 0)
    return _taking(function, kinds, start, _Taker.may_be_returned)


def _tail(body: ir.Block) -> int:
    """Where the statements start that only put together what is returned."""
    start = len(body)
    while start and isinstance(body[start - 1], (ir.Assign, ir.Return)):
        start -= 1
    return start


def _taking(
    function: ir.Function,
    kinds: ir.Kinds,
    start: int,
    may_take: Callable[[_Taker, ir.Stmt, str], bool],
) -> ir.Function:
    """The function with the arrays themselves for the copies behind `start` that allow it."""
    found = [(s, _copied(s, kinds)) for s, _ in calling(function.body[start:], *_COPIES)]
    copies = [(s, source.id) for s, source in found if source is not None]
    if not copies:
        return function
    taker = _Taker(function, kinds)
    return _without(function, {id(s) for s, n in copies if may_take(taker, s, n)})


def _without(function: ir.Function, gone: Set[int]) -> ir.Function:
    """The function without these stores, and with what is copied in the place of these copies."""

    def left(stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        if id(stmt) not in gone:
            return stmt
        call = ir.call_of(stmt)
        if not isinstance(stmt, ir.Assign) or call is None or call.args[0] == stmt.target:
            return ()
        return replace(stmt, rhs=call.args[0])

    return ir.replaced_in(function, left) if gone else function


def read_at_once(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function without copies that are computed with while their source is the same."""
    return in_ours(function, _ReadAtOnce(function, kinds).block)


class _ReadAtOnce:
    """The walk that leaves out copies of which all that happens is that something is computed."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        self.function, self.kinds = function, kinds
        self.once = frozenset(n for n, k in ir.use_counts(function).items() if k == 1)

    def block(self, block: ir.Block) -> ir.Block:
        """A block without them."""
        out = [s if type(s) in ir.PLAIN else ir.map_blocks(s, self.block) for s in block]
        k = 0
        while k < len(out):
            source = _copied(out[k], self.kinds)
            end = 0 if source is None else self.end(out, k, source)
            if source is None or not end:
                k += 1
                continue
            (name,) = ir.writes(out[k])
            out[k:end] = ir.rename(tuple(out[k + 1 : end]), {name: source.id})
        return tuple(out)

    def end(self, block: list[ir.Stmt], k: int, source: ir.Name) -> int:
        """Behind which place something new has been computed with a copy, or with a view of it.

        It is 0 if that is not all that happens, or if the source may be another one by then.
        """
        (name,) = ir.writes(block[k])
        for place in range(k + 1, len(block)):
            stmt = block[place]
            if name not in self.once:
                return 0
            if self.computes(stmt, ir.Name(name), source):
                return place + 1
            if not isinstance(stmt, ir.Assign) or not only_computes(stmt.rhs):
                return 0
            if name in ir.reads(stmt):
                if not is_op(stmt.rhs, Op.UNBROADCAST) or stmt.rhs.args[0] != ir.Name(name):
                    return 0
                name = stmt.target.id
            if stmt.target == source:
                return 0
        return 0

    def computes(self, stmt: ir.Stmt, copy: ir.Name, source: ir.Name) -> bool:
        """Whether a statement makes something new of the elements of a copy."""
        if isinstance(stmt, ir.Store):  # it combines them with other memory
            base = stmt.base.id
            known = isinstance(stmt, ir.AugAssign) and stmt.value == copy
            known = known and isinstance(self.kinds.get(base), (ir.Array, ir.List))
            return known and source.id not in Sharers.of(self.function, self.kinds).group(base)
        call = ir.call_of(stmt)
        if call is None or call.kwargs or copy not in call.args:
            return False
        callee = op_of(call.fn)
        return callee.is_elementwise and not callee.gives_array


_COPIES = (Op.COPY, Op.ARRAY)
"""What makes copies that lie in memory as what they are copies of."""


def _copied(stmt: ir.Stmt, kinds: ir.Kinds) -> ir.Name | None:
    """The array that a statement copies."""
    source = copied(ir.call_of(stmt), *_COPIES)
    kind = None if source is None else kinds.get(source.id)
    return source if is_array(kind) and kind.dims else None


class _Taker:
    """Finds out which copies may take the memory of what they copy."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        self.kinds = kinds
        self.sharers = Sharers.of(function, kinds)
        self.statements = ir.walk(function)
        self.bound = ir.binding_counts(function)
        copied = [(s, _copied(s, kinds)) for s, _ in calling(function, *_COPIES)]
        self.copied = [(source.id, s) for s, source in copied if source is not None]
        returns = [s for s in self.statements if type(s) is ir.Return]
        self.returned = {n for s in returns for n in ir.reads(s)}

    def may_take(self, stmt: ir.Stmt, source: str) -> bool:
        """Whether nobody needs the memory after it is copied, and it can be written into."""
        (target,) = ir.writes(stmt)
        if not self.sharers.is_own(source, stmt):
            return False
        if source == target:
            return True
        # A second name for what is bound several times is hard to follow, for a reader too; what
        # is handed out holds no more memory than its own.
        once = self.bound[source] == 1
        return once and (source not in self.views or not self.leaves(target))

    def may_be_returned(self, stmt: ir.Stmt, source: str) -> bool:
        """Whether a copy at the end is of an array that is no part of another, and only its."""
        if not self.sharers.is_last(source, stmt) or not self.only_returned(*ir.writes(stmt)):
            return False
        return self.givers(source).isdisjoint(self.sharers.odd | self.views)

    def only_returned(self, name: str) -> bool:
        """Whether a name is read by a return alone: what an object holds is hard to follow."""
        reads = (s for s in self.statements if name in ir.reads(s))
        return all(isinstance(s, ir.Return) for s in reads)

    def givers(self, name: str) -> frozenset[str]:
        """The names from which a name may have what it stands for, and itself."""
        given = [s for s in self.statements if isinstance(s, (ir.Assign, ir.Permute))]
        names = [(s, o.id) for s in given for o in ir.operands(s) if isinstance(o, ir.Name)]
        return reachable((name,), [(n, o, s) for s, o in names for n in ir.writes(s)])

    @cached_property
    def views(self) -> set[str]:
        """The names that may be bound to parts of others."""
        calls = [(s, c) for s in self.statements if (c := ir.call_of(s)) is not None]
        made = [s for s, c in calls if gives_view(c) and returns_view(c, self.kinds)]
        return {n for s in made for n in ir.writes(s)}

    def leaves(self, name: str, seen: frozenset[str] = frozenset()) -> bool:
        """Whether the memory of a name, or a copy of it that may take it, may be returned."""
        group = self.sharers.group(name)
        if not group.isdisjoint(self.returned):
            return True
        taken = [s for n, s in self.copied if n in group and name not in seen]
        return any(self.leaves(n, seen | {name}) for s in taken for n in ir.writes(s))


# --- elements of adjoints that a loop clears although nobody looks at them again -----------------


def without_clearing(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function whose generated part clears no element for nothing."""
    ours = function.body[mark_in(function.body) or 0 :]
    around = {id(s): loops for s, loops in ir.walk_in_loops(ours) if loops and _clears(s)}
    if not around:
        return function
    finder, gone = _Finder(function, kinds), set[int]()
    for block in ir.walk_blocks(ours):
        for k, stmt in enumerate(block):
            if id(stmt) in around:
                gone |= finder.needless(block, k, around[id(stmt)])
    return _without(function, gone)


def _clears(stmt: ir.Stmt) -> bool:
    """Whether a statement clears elements of an array."""
    value = stmt.value if isinstance(stmt, ir.SetItem) else None
    return isinstance(value, ir.Const) and value.value == 0.0


class _Finder:
    """What is known of a function that clears elements."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        self.kinds = kinds
        self.sharers = Sharers.of(function, kinds)
        self.live = liveness(function)  # behind each statement
        statements = ir.walk(function)
        self.number = {id(s): k for k, s in enumerate(statements)}  # in the order of the source
        self.mentioning: dict[str, list[ir.Stmt]] = {}
        for stmt in statements:
            for name in ir.itself_mentions(stmt):
                self.mentioning.setdefault(name, []).append(stmt)

    def needless(
        self, block: ir.Block, k: int, loops: Sequence[ir.For | ir.While]
    ) -> frozenset[int]:
        """The statements that are left out: the store at `k`, and a copy made because of it."""
        stmt = block[k]
        assert isinstance(stmt, ir.SetItem)
        name = stmt.base.id
        if not isinstance(self.kinds.get(name), ir.Array) or self.sharers.is_kept(name):
            return frozenset()
        items = stmt.index.items if isinstance(stmt.index, ir.Tup) else (stmt.index,)
        here = range(self.number[id(block[0])], self.number[id(stmt)] + 1)
        for n, loop in enumerate(loops):
            if not self.visits_once(loops[n:], items) or name in self.live[id(loop)]:
                continue
            if self.all_here(loop, here, name, stmt.index) and self.is_alone(name, here):
                return frozenset({id(stmt), *self.copy_of(block[:k], stmt)})
        return frozenset()

    def visits_once(
        self, loops: Sequence[ir.For | ir.While], items: Sequence[ir.Atom]
    ) -> bool:
        """Whether loops come to a place only once: each counts in an item of the index."""
        if not all(isinstance(i, (ir.Name, ir.Const, ir.Slice)) for i in items):
            return False
        around = [s for s in loops if isinstance(s, ir.For)]
        targets = {s.target.id for s in around}
        fixed = {n for i in items for n in ir.names(i)} == targets
        named = fixed and all(ir.Name(n) in items for n in targets)
        return named and len(around) == len(loops) and all(map(counts, around))

    def all_here(self, loop: ir.For | ir.While, here: range, name: str, index: ir.Atom) -> bool:
        """Whether a loop touches an array only in these places, and only at this index."""
        first = self.number[id(loop)] + 1
        inside = range(first, first + sum(len(ir.walk(b)) for b in ir.blocks(loop)))
        touching = ((self.number[id(s)], s) for s in self.mentioning.get(name, ()))
        return all(k in here and _is_at(s, name, index) for k, s in touching if k in inside)

    def is_alone(self, name: str, here: range) -> bool:
        """Whether what shares memory with a name is read nowhere but in these places."""
        others = self.sharers.group(name) - {name}
        return all(self.number[id(s)] in here for o in others for s in self.mentioning.get(o, ()))

    def copy_of(self, before: ir.Block, stmt: ir.SetItem) -> Iterator[int]:
        """The copy of the element, if it stands right before the statement that clears it."""
        *_, read, copy = (None, None, *before)
        if not isinstance(copy, ir.Assign) or not isinstance(read, ir.Assign):
            return
        element = ir.Call(operator.getitem, (stmt.base, stmt.index))
        if read.rhs == element and copied(copy.rhs, Op.COPY) == read.target:
            memory = self.sharers.memory
            if memory.find(copy.target.id) not in memory.escaping:
                yield id(copy)


def counts(loop: ir.For) -> bool:
    """Whether a loop goes through a range, and nothing else binds its variable."""
    return is_op(loop.iter, Op.RANGE) and loop.target.id not in ir.bound(loop.body)


def _is_at(stmt: ir.Stmt, name: str, index: ir.Atom) -> bool:
    """Whether a statement reads or writes an array at this index, or asks for its shape."""
    if isinstance(stmt, ir.Store):
        others = (*ir.names(stmt.value), *(ir.names(stmt.index) if stmt.index else ()))
        return stmt.base.id == name and stmt.index == index and name not in others
    call = ir.call_of(stmt)
    if not isinstance(stmt, ir.Assign) or call is None or stmt.target.id == name:
        return False
    if is_op(call, Op.GETITEM) and call.args[0] == ir.Name(name):
        return call.args[1] == index
    return name in asked(call)
