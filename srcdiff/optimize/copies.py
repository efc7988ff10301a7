"""Copies of memory that nobody looks at any more: the memory itself is taken instead.

So it is with elements of adjoints that a loop clears although nobody looks at them again.  The
adjoint of `v[i] = ..` reads the adjoint of the element and clears it: `d = d_v[i]; d_v[i] = 0.0`.
Where loops over ranges come to each element once, touch no other one in that step, and nobody looks
at the array after them, the clearing is left out; a copy of the element made for its sake is the
element itself then.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial

from srcdiff import ir
from srcdiff.analysis.liveness import Live, liveness
from srcdiff.ir.frozen import frozen, replace
from srcdiff.ir.kinds import Array, Kind, List
from srcdiff.optimize.memory import OwnMemory, Sharers, gives_view, oddly_bound
from srcdiff.optimize.rewrite import mark_in
from srcdiff.primitives.effects import asks_form, only_computes, returns_view
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op


def without_copies(function: ir.Function, kinds: Mapping[str, Kind]) -> ir.Function:
    """The function whose generated part takes the memory of arrays that are not needed again."""
    cut = mark_in(function.body) or 0
    copies = _copies(function, cut, kinds)
    if not copies:
        return function
    taker = _Taker(function, kinds)
    taken = {k for k in copies if taker.may_take(k)}
    take = partial(_taking, taken=taken)
    body = (*function.body[:cut], *ir.replaced(function.body[cut:], take))
    return replace(function, body=body) if taken else function


def read_at_once(function: ir.Function, kinds: Mapping[str, Kind]) -> ir.Function:
    """The function without copies that are computed with while their source is the same."""
    cut = mark_in(function.body) or 0
    if not any(_copied(s, kinds) for s in ir.walk(function.body[cut:])):
        return function
    walk = _ReadAtOnce(function, kinds)
    return replace(function, body=(*function.body[:cut], *walk.block(function.body[cut:])))


@frozen
class _Copy:
    """A copy, what it is made of, its place in the block, and that of what may view it."""

    name: str
    source: str
    place: int
    reader: int | None = None


class _ReadAtOnce:
    """The walk that leaves out copies of which all that happens is that something is computed."""

    def __init__(self, function: ir.Function, kinds: Mapping[str, Kind]) -> None:
        self.function, self.kinds = function, kinds
        self.once = frozenset(n for n, k in ir.use_counts(function.body).items() if k == 1)

    @cached_property
    def sharers(self) -> Sharers:
        """Which names may share memory."""
        return Sharers.of(self.function, self.kinds)

    def block(self, block: ir.Block) -> ir.Block:
        """A block without them."""
        out: list[ir.Stmt | None] = []
        copies: dict[str, _Copy] = {}  # by the name that stands for it, or for a view of it
        for stmt in block:
            new = ir.map_blocks(stmt, self.block)
            out.append(new)
            for name in self.computed_with(new, copies):
                copy = copies.pop(name)
                out[copy.place] = None
                place = len(out) - 1 if copy.reader is None else copy.reader
                reader = out[place]
                assert reader is not None
                out[place] = ir.rename((reader,), {copy.name: copy.source})[0]
            if not isinstance(new, ir.Assign) or not _only_binds(new.rhs):
                copies = {}
                continue
            copies = {n: c for n, c in copies.items() if c.source != new.target.id}
            if new.target.id in self.once:
                self.note(new, len(out) - 1, copies)
        return tuple(s for s in out if s is not None)

    def note(self, stmt: ir.Assign, place: int, copies: dict[str, _Copy]) -> None:
        """A copy that is read once, or what may be a view of one and is read once itself."""
        source = _copied(stmt, self.kinds)
        call = ir.call_of(stmt)
        if source is not None:
            copies[stmt.target.id] = _Copy(stmt.target.id, source.id, place)
        elif is_op(call, Op.UNBROADCAST) and isinstance(call.args[0], ir.Name):
            copy = copies.pop(call.args[0].id, None)
            if copy is not None and copy.reader is None:
                copies[stmt.target.id] = replace(copy, reader=place)

    def computed_with(self, stmt: ir.Stmt, copies: Mapping[str, _Copy]) -> list[str]:
        """The copies that a statement reads to make something new of their elements."""
        if not copies:
            return []
        if isinstance(stmt, ir.SetItem):
            return self.added(stmt, copies)
        call = ir.call_of(stmt)
        if call is None or not _computes(call):
            return []
        return [a.id for a in call.args if isinstance(a, ir.Name) and a.id in copies]

    def added(self, stmt: ir.SetItem, copies: Mapping[str, _Copy]) -> list[str]:
        """The copy that an operator in place combines with other memory."""
        value, base = stmt.value, stmt.base.id
        if stmt.op is None or not isinstance(value, ir.Name) or value.id not in copies:
            return []
        alone = copies[value.id].source not in self.sharers.group(base)
        return [value.id] if alone and isinstance(self.kinds.get(base), (Array, List)) else []


def _only_binds(rhs: ir.Rhs) -> bool:
    """Whether evaluating a right-hand side writes into nothing."""
    return not isinstance(rhs, ir.Opaque) and only_computes(rhs)


def _computes(call: ir.Call) -> bool:
    """Whether a call makes a new array from the elements of its arguments."""
    callee = op_of(call.fn)
    return not call.kwargs and callee.is_elementwise and not callee.gives_array


def returned_at_once(function: ir.Function, kinds: Mapping[str, Kind]) -> ir.Function:
    """The function without copies, at its end, of arrays that nobody else has."""
    start = max(_tail(function.body), mark_in(function.body) or 0)
    if not any(_copied(s, kinds) for s in function.body[start:]):
        return function
    taker = _Taker(function, kinds)
    taken = {id(s) for s in function.body[start:] if taker.may_be_returned(s)}
    return ir.replaced_in(function, partial(_taking, taken=taken)) if taken else function


def _tail(body: ir.Block) -> int:
    """Where the statements start that only put together what is returned."""
    start = len(body)
    while start and isinstance(body[start - 1], (ir.Assign, ir.Return)):
        start -= 1
    return start


def _copies(function: ir.Function, cut: int, kinds: Mapping[str, Kind]) -> set[int]:
    """The copies behind `cut` of what may be an array of its own."""
    copied = [(s, _copied(s, kinds)) for s in ir.walk(function.body[cut:])]
    found = [(s, source.id) for s, source in copied if source is not None]
    if not found:
        return set()
    names = {n for _, n in found}
    makers = [s for s in ir.walk(function.body) if not names.isdisjoint(ir.writes(s))]
    odd = {n for s in makers for n in oddly_bound(s, kinds)}
    odd.update(p.name for p in function.params)
    return {id(s) for s, n in found if n not in odd}


def _copied(stmt: ir.Stmt, kinds: Mapping[str, Kind]) -> ir.Name | None:
    """The array that a statement copies."""
    call = ir.call_of(stmt)
    if call is None or (not is_op(call, Op.COPY) and not is_op(call, Op.ARRAY)):
        return None
    source = call.args[0]
    if len(call.args) > 1 or call.kwargs or not isinstance(source, ir.Name):
        return None
    kind = kinds.get(source.id)
    return source if isinstance(kind, Array) and not kind.maybe_scalar and kind.dims else None


class _Taker:
    """Finds out which copies may take the memory of what they copy."""

    def __init__(self, function: ir.Function, kinds: Mapping[str, Kind]) -> None:
        self.kinds = kinds
        self.own = OwnMemory.of(function, kinds)
        self.statements = {id(s): s for s in ir.walk(function.body)}
        self.bound = ir.binding_counts(function.body)
        copied = [(s, _copied(s, kinds)) for s in self.statements.values()]
        self.copied = [(source.id, s) for s, source in copied if source is not None]
        returns = [s for s in self.statements.values() if type(s) is ir.Return]
        self.returned = {n for s in returns for n in ir.reads(s)}

    def may_take(self, key: int) -> bool:
        """Whether nobody needs the memory after it is copied, and it can be written into."""
        stmt = self.statements[key]
        source = _copied(stmt, self.kinds)
        assert isinstance(stmt, ir.Assign) and source is not None
        if not self.own.is_own(source.id, stmt):
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
        if source is None or not self.own.is_last(source.id, stmt):
            return False
        if not self.only_returned(*ir.writes(stmt)):
            return False
        return all(n not in self.own.odd and self.owns(n) for n in self.givers(source.id))

    def only_returned(self, name: str) -> bool:
        """Whether a name is read by a return alone: what an object holds is hard to follow."""
        reads = (s for s in self.statements.values() if name in ir.reads(s))
        return all(isinstance(s, ir.Return) for s in reads)

    def givers(self, name: str) -> set[str]:
        """The names from which a name may have what it stands for, and itself."""
        found = {name}
        given = [s for s in self.statements.values() if isinstance(s, (ir.Assign, ir.Permute))]
        pairs = [(n, o.id) for s in given for n in ir.writes(s) for o in _names_given(s)]
        while more := {o for n, o in pairs if n in found} - found:
            found |= more
        return found

    def owns(self, name: str) -> bool:
        """Whether a name is never a part of something else."""
        return name not in self.views

    @cached_property
    def views(self) -> set[str]:
        """The names that may be bound to parts of others."""
        calls = [(s, c) for s in self.statements.values() if (c := ir.call_of(s)) is not None]
        made = [s for s, c in calls if gives_view(c.fn) and returns_view(c, self.kinds)]
        return {n for s in made for n in ir.writes(s)}

    def leaves(self, name: str, seen: frozenset[str] = frozenset()) -> bool:
        """Whether the memory of a name, or a copy of it that may take it, may be returned."""
        group = self.own.sharers.group(name)
        if not group.isdisjoint(self.returned):
            return True
        taken = [s for n, s in self.copied if n in group and name not in seen]
        return any(self.leaves(n, seen | {name}) for s in taken for n in ir.writes(s))


def _names_given(stmt: ir.Assign | ir.Permute) -> tuple[ir.Name, ...]:
    """The names whose values other names get."""
    if isinstance(stmt, ir.Permute):
        return stmt.sources
    return (stmt.rhs,) if isinstance(stmt.rhs, ir.Name) else ()


def _taking(stmt: ir.Stmt, taken: set[int]) -> ir.Stmt | ir.Block:
    """A statement that takes memory instead of these copies."""
    if id(stmt) not in taken:
        return stmt
    assert isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Call)
    source = stmt.rhs.args[0]
    return () if source == stmt.target else replace(stmt, rhs=source)


# --- elements of adjoints that a loop clears although nobody looks at them again -----------------


Place = tuple[ir.Block, int, tuple[ir.For | ir.While, ...]]  # a statement, and the loops around it


def without_clearing(function: ir.Function, kinds: Mapping[str, Kind]) -> ir.Function:
    """The function whose generated part clears no element for nothing."""
    cut = mark_in(function.body) or 0
    finder = _Finder(function, kinds)
    gone: set[int] = set()
    for place in _places(function.body[cut:], ()):
        gone |= finder.needless(*place)
    if not gone:
        return function
    rest = ir.replaced(function.body[cut:], partial(_uncleared, gone=gone))
    return replace(function, body=(*function.body[:cut], *rest))


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
    """What is known of the function, found out when there is something to clear."""

    def __init__(self, function: ir.Function, kinds: Mapping[str, Kind]) -> None:
        self.function, self.kinds = function, kinds

    @cached_property
    def sharers(self) -> Sharers:
        """Which names may share memory."""
        return Sharers.of(self.function, self.kinds)

    @cached_property
    def statements(self) -> tuple[ir.Stmt, ...]:
        """All statements."""
        return tuple(ir.walk(self.function.body))

    @cached_property
    def number(self) -> Mapping[int, int]:
        """The places of the statements in the order of the source."""
        return {id(s): k for k, s in enumerate(self.statements)}

    @cached_property
    def mentioning(self) -> Mapping[str, Sequence[ir.Stmt]]:
        """The statements that themselves mention each name."""
        found: dict[str, list[ir.Stmt]] = {}
        for stmt in self.statements:
            for name in ir.itself_mentions(stmt):
                found.setdefault(name, []).append(stmt)
        return found

    @cached_property
    def counters(self) -> Mapping[int, str]:
        """What the loops count that go through a range, if nothing else binds it."""
        loops = (s for s in self.statements if isinstance(s, ir.For))
        return {id(s): s.target.id for s in loops if _counts(s)}

    @cached_property
    def live(self) -> Mapping[int, Live]:
        """The names that are read behind each statement."""
        return liveness(self.function)

    def needless(
        self, block: ir.Block, k: int, loops: Sequence[ir.For | ir.While]
    ) -> frozenset[int]:
        """The statements that are left out: the store at `k`, and a copy made because of it."""
        stmt = block[k]
        assert isinstance(stmt, ir.SetItem) and stmt.index is not None
        name = stmt.base.id
        if not isinstance(self.kinds.get(name), Array) or self.sharers.is_kept(name):
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
        counters = [self.counters[id(s)] for s in loops if id(s) in self.counters]
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


def _counts(loop: ir.For) -> bool:
    """Whether a loop goes through a range, and nothing else binds its variable."""
    plain = is_op(loop.iter, Op.RANGE)
    return plain and loop.target.id not in ir.bound(loop.body)


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
    return asks_form(call) is not None


def _uncleared(stmt: ir.Stmt, gone: set[int]) -> ir.Stmt | ir.Block:
    """A statement without these stores, and with names for these copies."""
    if id(stmt) not in gone:
        return stmt
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    return ir.rebuilt(stmt, rhs=rhs.args[0]) if isinstance(rhs, ir.Call) else ()
