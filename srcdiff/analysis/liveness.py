"""Which names may still be read: after every statement of a function.

A name is live after a statement if some path from there reads it before binding it again.  Lists
and arrays are named by what they are bound to: a store or a method reads the name and binds none.

A set of live names for each statement would take time and memory that grow with the square of the
length of a function.  So a block keeps where each name is read and bound in it, and a question is
answered by the first of these places behind the statement, or by what is live after the block.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from functools import partial
from typing import TypeVar

from srcdiff import ir

T = TypeVar("T")
IsLive = Callable[[str], bool]


class Live(Set[str]):
    """The names that are live after a statement: each is looked up when it is asked for."""

    __slots__ = ("_places",)

    def __init__(self, places: list[_Place]) -> None:
        self._places = places  # several if the statement stands in several blocks

    def __contains__(self, name: object) -> bool:
        return any(block.is_live(k, str(name)) for block, k in self._places)

    def __iter__(self) -> Iterator[str]:
        universe = frozenset().union(*(block.universe for block, _ in self._places))
        return (n for n in universe if n in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @classmethod
    def _from_iterable(cls, names: Iterator[T]) -> frozenset[T]:  # type: ignore[override]
        return frozenset(names)


def liveness(function: ir.Function) -> Mapping[int, Live]:
    """The names live after each statement, by the `id` of the statement (joined where shared)."""
    found: dict[int, Live] | None = function.__dict__.get("_liveness")
    if found is None:
        # Remembered beside the fields: a frozen function keeps its statements.
        found = function.__dict__["_liveness"] = {}
        whole = _Block(function.body, found, ir.used(function.body))
        whole.after = lambda name: False
    return found


def live_after(function: ir.Function, stmt: ir.Stmt) -> Live:
    """The names that are live after a statement of a function (the object itself)."""
    return liveness(function)[id(stmt)]


def live_before(block: ir.Block, live_out: Set[str]) -> Live:
    """The names that are live before a block if `live_out` are live after it."""
    whole = _Block(block, {}, ir.used(block).union(live_out))
    whole.after = live_out.__contains__
    return Live([(whole, -1)])


class _Block:
    """Where the names of a block are read and bound.

    Live before it are the names in `first` that are read first, and of those that are live after
    it (`after`) all that are not in `first`.
    """

    after: IsLive

    def __init__(self, block: ir.Block, found: dict[int, Live], universe: frozenset[str]) -> None:
        self.universe = universe
        self.places: dict[str, list[int]] = {}  # 2 k where statement k binds a name, 2 k + 1 where
        self.first: dict[str, bool] = {}  # it reads it; whether the first of these is a read
        for k, stmt in enumerate(block):
            found.setdefault(id(stmt), Live([]))._places.append((self, k))
            inner = partial(_Block, found=found, universe=universe)
            plain = type(stmt) in ir.PLAIN
            read, bound = _plain(stmt) if plain else _whole(stmt, partial(self.is_live, k), inner)
            for name in read:
                self.places.setdefault(name, []).append(2 * k + 1)
                self.first.setdefault(name, True)
            for name in bound:
                if name not in read:
                    self.places.setdefault(name, []).append(2 * k)
                    self.first.setdefault(name, False)

    def is_live(self, k: int, name: str) -> bool:
        """Whether a name is live after the statement at a position."""
        places = self.places.get(name, ())
        at = bisect_left(places, 2 * k + 2)
        return places[at] % 2 == 1 if at < len(places) else self.after(name)

    @property
    def read(self) -> set[str]:
        """The names that are live before the block whatever comes after it."""
        return {n for n, is_read in self.first.items() if is_read}

    @property
    def bound(self) -> set[str]:
        """The names that are not live before the block whatever comes after it."""
        return {n for n, is_read in self.first.items() if not is_read}


_Place = tuple[_Block, int]
_Effect = tuple[Collection[str], Collection[str]]  # the names that are read first, bound first
_Inner = Callable[[ir.Block], _Block]


def _plain(stmt: ir.Stmt) -> _Effect:
    """What a statement without blocks reads and binds first."""
    if type(stmt) is ir.Assign:
        return ir.occurrences(stmt.rhs), (stmt.target.id,)
    if isinstance(stmt, (ir.Accum, ir.Demand)):
        # They add to what the target holds, so they read it.
        return {*ir.reads(stmt), stmt.target.id}, ()
    return set(reads_of(stmt)), ir.writes(stmt)


def _whole(stmt: ir.Stmt, live: IsLive, inner: _Inner) -> _Effect:
    """What a statement with blocks reads and binds first; `live`: what is live after it."""
    if isinstance(stmt, ir.If):
        return _if(stmt, live, inner)
    if isinstance(stmt, ir.For):
        return _for(stmt, live, inner)
    if isinstance(stmt, ir.While):
        return _while(stmt, live, inner)
    assert isinstance(stmt, ir.Pair)
    whole = inner((*(() if stmt.primal is None else (stmt.primal,)), *stmt.adjoint))
    whole.after = live
    return whole.read, whole.bound


def _if(stmt: ir.If, live: IsLive, inner: _Inner) -> _Effect:
    """A branch: what both of its blocks bind is bound."""
    one, other = inner(stmt.body), inner(stmt.orelse)
    one.after = other.after = live
    return one.read | other.read | {*ir.names(stmt.test)}, one.bound & other.bound


def _for(stmt: ir.For, live: IsLive, inner: _Inner) -> _Effect:
    """A `for`, which may run not at all and so binds nothing for sure."""
    body, target, stop = inner(stmt.body), stmt.target.id, _stop(stmt)

    def again(name: str) -> bool:
        """Whether the next iteration reads a name."""
        found = body.first.get(name)
        return name != target and (name in stop if found is None else found)

    body.after = lambda name: name in stop or again(name) or live(name)
    read = {n for n in (*body.read, *stop) if again(n)}
    return read | {*ir.names(stmt.iter)}, ()


def _while(stmt: ir.While, live: IsLive, inner: _Inner) -> _Effect:
    """A `while`, whose condition runs at least once; the flag is read after each iteration."""
    cond, body = inner(stmt.cond), inner(stmt.body)
    stop, test = _stop(stmt), frozenset(ir.names(stmt.test))

    def tested(name: str) -> bool:
        """Whether a name is read behind the condition, by the loop."""
        if name in test:
            return True
        found = body.first.get(name)
        return (name in stop or cond.first.get(name) is True) if found is None else found

    def again(name: str) -> bool:
        """Whether a name is read from the head of the loop on, by the loop."""
        found = cond.first.get(name)
        return tested(name) if found is None else found

    cond.after = lambda name: tested(name) or live(name)
    body.after = lambda name: name in stop or again(name) or live(name)
    inside = {*cond.read, *body.read, *stop, *test}
    return {n for n in inside if again(n)}, cond.bound


def _stop(stmt: ir.For | ir.While) -> frozenset[str]:
    """The flag that is read after each iteration."""
    return frozenset() if stmt.stop is None else frozenset((stmt.stop.id,))


def names_in(rhs: ir.Rhs) -> tuple[str, ...]:
    """The names that an atom or right-hand side reads, as often as they occur (fast)."""
    return ir.occurrences(rhs)


def reads_of(stmt: ir.Stmt) -> tuple[str, ...]:
    """The names that a statement itself reads, as often as they occur (fast)."""
    if type(stmt) is ir.Assign:
        return ir.occurrences(stmt.rhs)
    return tuple([n for operand in ir.operands(stmt) for n in ir.occurrences(operand)])


def uses(block: ir.Block) -> list[str]:
    """Every read of a name in a block, as often as it occurs, tests and stop flags included."""
    found: list[str] = []
    for stmt in ir.walk(block):
        found += reads_of(stmt)
        if type(stmt) in ir.PLAIN:
            continue
        if isinstance(stmt, ir.While):
            found += ir.names(stmt.test)
        if isinstance(stmt, (ir.For, ir.While)) and stmt.stop is not None:
            found.append(stmt.stop.id)
    return found


def mentioned(stmt: ir.Stmt) -> set[str]:
    """Every name that a statement reads or binds, inner blocks included."""
    if type(stmt) in ir.PLAIN:
        return {*reads_of(stmt), *ir.writes(stmt)}
    found = set(uses((stmt,)))
    for inner in ir.walk((stmt,)):
        found.update(ir.writes(inner))
    return found
