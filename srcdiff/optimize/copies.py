"""Copies of memory that nobody looks at any more: the memory itself is taken instead.

So it is with elements of adjoints that a loop clears although nobody looks at them again.  The
adjoint of `v[i] = ..` reads the adjoint of the element and clears it: `d = d_v[i]; d_v[i] = 0.0`.
Where loops over ranges come to each element once, touch no other one in that step, and nobody looks
at the array after them, the clearing is left out; a copy of the element made for its sake is the
element itself then.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property

from srcdiff import ir
from srcdiff.analysis.activity import reachable
from srcdiff.analysis.liveness import liveness
from srcdiff.ir.frozen import replace
from srcdiff.optimize.memory import Sharers, gives_view, oddly_bound
from srcdiff.optimize.rewrite import in_ours, mark_in
from srcdiff.optimize.shapes import copied
from srcdiff.primitives.effects import asked, only_computes, returns_view
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op


def without_copies(function: ir.Function, kinds: Mapping[str, ir.Kind]) -> ir.Function:
    """The function whose generated part takes the memory of arrays that are not needed again."""
    cut = mark_in(function.body) or 0
    copies = _copies(function, cut, kinds)
    if not copies:
        return function
    taker = _Taker(function, kinds)
    return _without(function, {id(s) for s in copies if taker.may_take(s)})


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


def read_at_once(function: ir.Function, kinds: Mapping[str, ir.Kind]) -> ir.Function:
    """The function without copies that are computed with while their source is the same."""
    return in_ours(function, _ReadAtOnce(function, kinds).block)


class _ReadAtOnce:
    """The walk that leaves out copies of which all that happens is that something is computed."""

    def __init__(self, function: ir.Function, kinds: Mapping[str, ir.Kind]) -> None:
        self.function, self.kinds = function, kinds
        self.once = frozenset(n for n, k in ir.use_counts(function.body).items() if k == 1)

    def block(self, block: ir.Block) -> ir.Block:
        """A block without them."""
        out = [ir.map_blocks(s, self.block) for s in block]
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
            if not isinstance(stmt, ir.Assign) or not _only_binds(stmt.rhs):
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
        if isinstance(stmt, ir.SetItem):  # it combines them with other memory
            base = stmt.base.id
            known = stmt.op is not None and stmt.value == copy
            known = known and isinstance(self.kinds.get(base), (ir.Array, ir.List))
            return known and source.id not in Sharers.of(self.function, self.kinds).group(base)
        call = ir.call_of(stmt)
        return call is not None and copy in call.args and _computes(call)


def _only_binds(rhs: ir.Rhs) -> bool:
    """Whether evaluating a right-hand side writes into nothing."""
    return not isinstance(rhs, ir.Opaque) and only_computes(rhs)


def _computes(call: ir.Call) -> bool:
    """Whether a call makes a new array from the elements of its arguments."""
    callee = op_of(call.fn)
    return not call.kwargs and callee.is_elementwise and not callee.gives_array


def returned_at_once(function: ir.Function, kinds: Mapping[str, ir.Kind]) -> ir.Function:
    """The function without copies, at its end, of arrays that nobody else has."""
    start = max(_tail(function.body), mark_in(function.body) or 0)
    if not any(_copied(s, kinds) for s in function.body[start:]):
        return function
    taker = _Taker(function, kinds)
    return _without(function, {id(s) for s in function.body[start:] if taker.may_be_returned(s)})


def _tail(body: ir.Block) -> int:
    """Where the statements start that only put together what is returned."""
    start = len(body)
    while start and isinstance(body[start - 1], (ir.Assign, ir.Return)):
        start -= 1
    return start


def _copies(function: ir.Function, cut: int, kinds: Mapping[str, ir.Kind]) -> list[ir.Stmt]:
    """The copies behind `cut` of what may be an array of its own."""
    copied = [(s, _copied(s, kinds)) for s in ir.walk(function.body[cut:])]
    found = [(s, source.id) for s, source in copied if source is not None]
    if not found:
        return []
    names = {n for _, n in found}
    makers = [s for s in ir.walk(function.body) if not names.isdisjoint(ir.writes(s))]
    odd = {n for s in makers for n in oddly_bound(s, kinds)}
    odd.update(p.name for p in function.params)
    return [s for s, n in found if n not in odd]


def _copied(stmt: ir.Stmt, kinds: Mapping[str, ir.Kind]) -> ir.Name | None:
    """The array that a statement copies."""
    source = copied(ir.call_of(stmt), Op.COPY, Op.ARRAY)  # which lie in memory as it does
    kind = None if source is None else kinds.get(source.id)
    return source if isinstance(kind, ir.Array) and not kind.maybe_scalar and kind.dims else None


class _Taker:
    """Finds out which copies may take the memory of what they copy."""

    def __init__(self, function: ir.Function, kinds: Mapping[str, ir.Kind]) -> None:
        self.kinds = kinds
        self.sharers = Sharers.of(function, kinds)
        self.statements = ir.walk(function.body)
        self.bound = ir.binding_counts(function.body)
        copied = [(s, _copied(s, kinds)) for s in self.statements]
        self.copied = [(source.id, s) for s, source in copied if source is not None]
        returns = [s for s in self.statements if type(s) is ir.Return]
        self.returned = {n for s in returns for n in ir.reads(s)}

    def may_take(self, stmt: ir.Stmt) -> bool:
        """Whether nobody needs the memory after it is copied, and it can be written into."""
        source = _copied(stmt, self.kinds)
        assert isinstance(stmt, ir.Assign) and source is not None
        if not self.sharers.is_own(source.id, stmt):
            return False
        if source == stmt.target:
            return True
        # A second name for what is bound several times is hard to follow, for a reader too; what
        # is handed out holds no more memory than its own.
        once = self.bound[source.id] == 1
        return once and (self.owns(source.id) or not self.leaves(stmt.target.id))

    def may_be_returned(self, stmt: ir.Stmt) -> bool:
        """Whether a copy at the end is of an array that is no part of another, and only its."""
        source = _copied(stmt, self.kinds)
        if source is None or not self.sharers.is_last(source.id, stmt):
            return False
        if not self.only_returned(*ir.writes(stmt)):
            return False
        return all(n not in self.sharers.odd and self.owns(n) for n in self.givers(source.id))

    def only_returned(self, name: str) -> bool:
        """Whether a name is read by a return alone: what an object holds is hard to follow."""
        reads = (s for s in self.statements if name in ir.reads(s))
        return all(isinstance(s, ir.Return) for s in reads)

    def givers(self, name: str) -> frozenset[str]:
        """The names from which a name may have what it stands for, and itself."""
        given = [s for s in self.statements if isinstance(s, (ir.Assign, ir.Permute))]
        names = [(s, o.id) for s in given for o in ir.operands(s) if isinstance(o, ir.Name)]
        return reachable((name,), [(n, o, s) for s, o in names for n in ir.writes(s)])

    def owns(self, name: str) -> bool:
        """Whether a name is never a part of something else."""
        return name not in self.views

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


Place = tuple[ir.Block, int, tuple[ir.For | ir.While, ...]]  # a statement, and the loops around it


def without_clearing(function: ir.Function, kinds: Mapping[str, ir.Kind]) -> ir.Function:
    """The function whose generated part clears no element for nothing."""
    cut = mark_in(function.body) or 0
    places = list(_places(function.body[cut:], ()))
    if not places:
        return function
    finder = _Finder(function, kinds)
    return _without(function, {k for place in places for k in finder.needless(*place)})


def _places(block: ir.Block, loops: tuple[ir.For | ir.While, ...]) -> Iterator[Place]:
    """The stores of zeros inside of loops."""
    for k, stmt in enumerate(block):
        if loops and _clears(stmt):
            yield block, k, loops
        inside = (*loops, stmt) if isinstance(stmt, (ir.For, ir.While)) else loops
        for inner in ir.blocks(stmt):
            yield from _places(inner, inside)


def _clears(stmt: ir.Stmt) -> bool:
    """Whether a statement clears elements of an array."""
    if not isinstance(stmt, ir.SetItem) or stmt.op is not None or stmt.index is None:
        return False
    return isinstance(stmt.value, ir.Const) and stmt.value.value == 0.0


class _Finder:
    """What is known of a function that clears elements."""

    def __init__(self, function: ir.Function, kinds: Mapping[str, ir.Kind]) -> None:
        self.kinds = kinds
        self.sharers = Sharers.of(function, kinds)
        self.live = liveness(function)  # behind each statement
        statements = ir.walk(function.body)
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
        assert isinstance(stmt, ir.SetItem) and stmt.index is not None
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
        counters = [s.target.id for s in loops if isinstance(s, ir.For) and counts(s)]
        fixed = {n for i in items for n in ir.names(i)} <= set(counters)
        return len(counters) == len(loops) and fixed and all(ir.Name(n) in items for n in counters)

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
        copy = before[-1] if before else None
        read = before[-2] if len(before) > 1 else None
        if not isinstance(copy, ir.Assign) or not isinstance(read, ir.Assign):
            return
        element = ir.Call(operator.getitem, (stmt.base, stmt.index or ir.NONE))
        made = is_op(copy.rhs, Op.COPY)
        if made and read.rhs == element and copy.rhs.args == (read.target,):  # type: ignore[union-attr]
            memory = self.sharers.memory
            if memory.find(copy.target.id) not in memory.escaping:
                yield id(copy)


def counts(loop: ir.For) -> bool:
    """Whether a loop goes through a range, and nothing else binds its variable."""
    return is_op(loop.iter, Op.RANGE) and loop.target.id not in ir.bound(loop.body)


def _is_at(stmt: ir.Stmt, name: str, index: ir.Atom) -> bool:
    """Whether a statement reads or writes an array at this index, or asks for its shape."""
    if isinstance(stmt, ir.SetItem):
        others = (*ir.names(stmt.value), *(ir.names(stmt.index) if stmt.index else ()))
        return stmt.base.id == name and stmt.index == index and name not in others
    call = ir.call_of(stmt)
    if not isinstance(stmt, ir.Assign) or call is None or stmt.target.id == name:
        return False
    if is_op(call, Op.GETITEM) and call.args[0] == ir.Name(name):
        return call.args[1] == index
    return name in asked(call)
