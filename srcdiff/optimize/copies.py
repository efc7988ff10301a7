"""Copies of memory that nobody looks at any more: the memory itself is taken instead."""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import cached_property

from srcdiff import ir
from srcdiff.analysis.activity import reachable
from srcdiff.ir.frozen import replace
from srcdiff.optimize.memory import Sharers, gives_view
from srcdiff.optimize.rewrite import in_ours, mark_in
from srcdiff.optimize.shapes import copied
from srcdiff.primitives.effects import only_computes, returns_view
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
    return without(function, {id(s) for s, n in copies if may_take(taker, s, n)})


def without(function: ir.Function, gone: Set[int]) -> ir.Function:
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
