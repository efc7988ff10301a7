"""Which names may still be read after a statement, and which may have no value where they are.

A name is live after a statement if some path from there reads it before binding it again.  Lists
and arrays are named by what they are bound to: a store or a method reads the name and binds none.

A set of live names for each statement would take time and memory that grow with the square of the
length of a function.  So a block keeps where each name is read and bound in it, and a question is
answered by the first of these places behind the statement, or by what is live after the block.

For names without a value the paths through a function are followed together: a state is what is
bound on a path, and the numbers that tests by name are known to be there, so that a branch that
binds a name and a later one by the same test that reads it are seen to go together.

`Order` says where the statements of a function stand, and what that says of names.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from functools import partial
from typing import NamedTuple, TypeVar

from srcdiff import ir
from srcdiff.primitives.ops import Op, is_op

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


def first_uses(block: ir.Block) -> tuple[set[str], set[str]]:
    """The names that a block may read before it binds them, and those that it binds first."""
    whole = _Block(block, {}, frozenset())
    return whole.read, whole.bound


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
        inner = partial(_Block, found=found, universe=universe)
        for k, stmt in enumerate(block):
            here = (self, k)
            if id(stmt) in found:
                found[id(stmt)]._places.append(here)
            else:
                found[id(stmt)] = Live([here])
            plain = type(stmt) in ir.PLAIN
            read, bound = _plain(stmt) if plain else _whole(stmt, partial(self.is_live, k), inner)
            for name in read:
                self._place(name, 2 * k + 1)
            for name in bound:
                if name not in read:
                    self._place(name, 2 * k)

    def _place(self, name: str, place: int) -> None:
        if name in self.places:
            self.places[name].append(place)
        else:
            self.places[name], self.first[name] = [place], place % 2 == 1

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
    return set(ir.itself_reads(stmt)), ir.writes(stmt)


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
    first = body.first  # `body` would make a cycle with its `after`

    def again(name: str) -> bool:
        """Whether the next iteration reads a name."""
        found = first.get(name)
        return name != target and (name in stop if found is None else found)

    body.after = lambda name: name in stop or again(name) or live(name)
    read = {n for n in (*body.read, *stop) if again(n)}
    return read | {*ir.names(stmt.iter)}, ()


def _while(stmt: ir.While, live: IsLive, inner: _Inner) -> _Effect:
    """A `while`, whose condition runs at least once; the flag is read after each iteration."""
    cond, body = inner(stmt.cond), inner(stmt.body)
    stop, test = _stop(stmt), frozenset(ir.names(stmt.test))
    first, asked = body.first, cond.first  # the blocks would make cycles with their `after`

    def tested(name: str) -> bool:
        """Whether a name is read behind the condition, by the loop."""
        if name in test:
            return True
        found = first.get(name)
        return (name in stop or asked.get(name) is True) if found is None else found

    def again(name: str) -> bool:
        """Whether a name is read from the head of the loop on, by the loop."""
        found = asked.get(name)
        return tested(name) if found is None else found

    cond.after = lambda name: tested(name) or live(name)
    body.after = lambda name: name in stop or again(name) or live(name)
    inside = {*cond.read, *body.read, *stop, *test}
    return {n for n in inside if again(n)}, cond.bound


def _stop(stmt: ir.For | ir.While) -> frozenset[str]:
    """The flag that is read after each iteration."""
    return frozenset() if stmt.stop is None else frozenset((stmt.stop.id,))


# --- which names may have no value where a function reads them -----------------------------------


_MOST = 16
"""Of more paths than these what they have in common is kept."""


class _Path(NamedTuple):
    bound: frozenset[str]
    known: frozenset[tuple[str, bool]] = frozenset()

    def bind(self, names: Iterable[str]) -> _Path:
        """The path behind what binds some names."""
        names = frozenset(names)
        return _Path(self.bound | names, frozenset(k for k in self.known if k[0] not in names))

    def knowing(self, name: str, value: bool) -> _Path:
        """The path on which a test is known."""
        return _Path(self.bound, self.known | {(name, value)})

    def behind(self, stmt: ir.Stmt) -> _Path:
        """The path behind a statement without blocks."""
        path = self.bind(ir.writes(stmt))
        value = self.value(stmt.rhs) if isinstance(stmt, ir.Assign) else None
        return path if value is None else path.knowing(ir.writes(stmt)[0], value)

    def covers(self, other: _Path) -> bool:
        """Whether another path is one of those that this one stands for."""
        return self.bound <= other.bound and self.known <= other.known

    def value(self, atom: ir.Rhs) -> bool | None:
        """What is known of a test."""
        if is_op(atom, Op.NOT):
            found = self.value(atom.args[0])
            return None if found is None else not found
        if isinstance(atom, ir.Const):
            return bool(atom.value)
        known = dict(self.known)
        return known.get(atom.id) if isinstance(atom, ir.Name) else None


_Paths = frozenset[_Path]


def maybe_unbound(function: ir.Function) -> Mapping[int, frozenset[str]]:
    """The names that a statement, by its `id`, reads and that may have no value there."""
    found = _Reads(ir.bound(function))
    found.block(function.body, frozenset({_Path(frozenset(p.name for p in function.params))}))
    return found.unbound


class _Reads:
    """The walk: `unbound` takes what it finds; a name counts as bound behind its first reading."""

    def __init__(self, own: frozenset[str]) -> None:
        self.own = own
        self.unbound: dict[int, frozenset[str]] = {}

    def block(self, block: ir.Block, paths: _Paths) -> _Paths:
        """The paths behind a block."""
        for stmt in block:
            paths = self.stmt(stmt, self.read(stmt, ir.reads(stmt), paths))
        return paths

    def read(self, stmt: ir.Stmt, names: Iterable[str], paths: _Paths) -> _Paths:
        """The paths on which some names have been read."""
        read = self.own.intersection(names)
        missing = frozenset(n for n in read for p in paths if n not in p.bound)
        if missing:
            self.unbound[id(stmt)] = self.unbound.get(id(stmt), frozenset()) | missing
        return frozenset(_Path(p.bound | missing, p.known) for p in paths)

    def stmt(self, stmt: ir.Stmt, paths: _Paths) -> _Paths:
        """The paths behind a statement whose operands have been read."""
        if isinstance(stmt, ir.If):
            return self.branches(stmt, paths)
        if isinstance(stmt, (ir.For, ir.While)):
            return self.loop(stmt, paths)
        if isinstance(stmt, ir.Verbatim) and stmt.raises:
            return frozenset()
        return _fewer(frozenset(p.behind(stmt) for p in paths))

    def branches(self, stmt: ir.If, paths: _Paths) -> _Paths:
        """The paths behind a condition."""
        ways: list[_Paths] = []
        for truth, block in ((True, stmt.body), (False, stmt.orelse)):
            here = (p for p in paths if p.value(stmt.test) is not (not truth))
            if isinstance(stmt.test, ir.Name):
                here = (p.knowing(stmt.test.id, truth) for p in here)
            ways.append(self.block(block, frozenset(here)))
        return _fewer(ways[0] | ways[1])

    def loop(self, stmt: ir.For | ir.While, paths: _Paths) -> _Paths:
        """The paths behind a loop, after no turn or any number of them."""
        if isinstance(stmt, ir.While):
            paths = self.cond(stmt, paths)
        left = frozenset() if _runs(stmt) else paths
        while True:
            new = paths
            if isinstance(stmt, ir.For):
                new = frozenset(p.bind((stmt.target.id,)) for p in new)
            new = self.block(stmt.body, new)
            if isinstance(stmt, ir.While):
                new = self.cond(stmt, new)
            left = _fewer(left | new)
            if all(any(p.covers(n) for p in paths) for n in new):
                return left
            paths = _fewer(paths | new)

    def cond(self, stmt: ir.While, paths: _Paths) -> _Paths:
        """The paths on which the condition of a loop has been asked."""
        return self.read(stmt, ir.names(stmt.test), self.block(stmt.cond, paths))


def _fewer(paths: _Paths) -> _Paths:
    """Some paths without those that others cover, or of many what they have in common."""
    paths = frozenset(p for p in paths if not any(q.covers(p) for q in paths if q != p))
    if len(paths) <= _MOST:
        return paths
    bound = frozenset.intersection(*(p.bound for p in paths))
    return frozenset({_Path(bound, frozenset.intersection(*(p.known for p in paths)))})


def _runs(stmt: ir.For | ir.While) -> bool:
    """Whether the body of a loop certainly runs."""
    call = stmt.iter if isinstance(stmt, ir.For) else None
    if not is_op(call, Op.RANGE):
        return False
    values = [a.value for a in call.args if isinstance(a, ir.Const)]
    return len(values) == len(call.args) and len(range(*values)) > 0


# --- where the statements of a function stand, and what that says of names -----------------------


class Order:
    """Where the statements of a function stand: their number, and the loops around them."""

    def __init__(self, function: ir.Function) -> None:
        self.number: dict[int, int] = {}
        self.loops: dict[int, tuple[int, ...]] = {}
        self.blocks: dict[int, tuple[int, ...]] = {}
        self.defined: dict[str, list[ir.Stmt]] = {}
        self.read: dict[str, list[ir.Stmt]] = {}
        self.given = {p.name for p in function.params}
        self._visit(function.body, (), ())
        self.once = {
            n: s[0] for n, s in self.defined.items() if len(s) == 1 and n not in self.given
        }

    def _visit(self, block: ir.Block, loops: tuple[int, ...], blocks: tuple[int, ...]) -> None:
        own = (*blocks, id(block))
        for stmt in block:
            self.blocks[id(stmt)] = own
            for name in ir.reads(stmt):
                self.read.setdefault(name, []).append(stmt)
            self.number[id(stmt)] = len(self.number)
            self.loops[id(stmt)] = loops
            for name in ir.writes(stmt):
                self.defined.setdefault(name, []).append(stmt)
            inner = (*loops, id(stmt)) if isinstance(stmt, (ir.For, ir.While)) else loops
            for part in ir.blocks(stmt):
                self._visit(part, inner, own)

    def may_follow(self, later: ir.Stmt, earlier: ir.Stmt, root: str) -> bool:
        """Whether one statement may run after another on the same object `root`."""
        if self.number[id(later)] > self.number[id(earlier)]:
            return True
        shared = set(self.loops[id(later)]) & set(self.loops[id(earlier)])
        made = self.defined.get(root, [])
        fresh = len(made) == 1 and shared <= set(self.loops[id(made[0])])
        return bool(shared) and not fresh

    def holds(self, name: str, root: str) -> bool:
        """Whether `name`, bound to `root` or a part of it, means that as long as it is read.

        An object that a loop makes in every step is another one in the next: there the name must
        be read in the block that binds it, and below that.
        """
        if root in self.given:
            return root not in self.defined
        if name not in self.once or root not in self.once:
            return False
        made, bound = self.once[root], self.once[name]
        if self.number[id(made)] > self.number[id(bound)]:
            return False
        block, at = self.blocks[id(bound)][-1], self.number[id(bound)]
        return not self.loops[id(made)] or all(
            block in self.blocks[id(s)] and self.number[id(s)] > at for s in self.read.get(name, ())
        )

    def starts(self, store: ir.Stmt, root: str, name: str) -> bool:
        """Whether a store belongs to how `root` is made, before `name` is bound."""
        made, bound = self.once[root], self.once[name]
        before = self.number[id(store)] < self.number[id(bound)]
        return before and self.loops[id(store)] == self.loops[id(made)]
