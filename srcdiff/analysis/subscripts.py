"""Which elements of an array are touched where: whether one touch meets another one later.

Takes a block; gives, for two accesses `A[e]` and `A[f]` in it, whether some element that the first
one touches may be touched by the second one afterwards.  The proof compares affine subscripts (`t`,
`i - 1`), sums of a variable and a literal that the ranges of loops and the tests of branches bound,
along the loops that both share: every later access is at a larger (or, in a falling loop, smaller)
subscript, or it precedes the first one in every iteration.  A subscript that may be negative is
compared with nothing: it counts from the other end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from srcdiff import ir
from srcdiff.ir.frozen import frozen, replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.indexing import least_value
from srcdiff.primitives.operation import Operation, op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array

Path = tuple[int, ...]
Loops = tuple[tuple[Path, ir.For | ir.While], ...]  # with where they stand, outer ones first


@frozen
class Comparison:
    """That is known: `less + gap <= more`."""

    less: ir.Atom
    more: ir.Atom
    gap: int


@frozen
class Where:
    """A place: its path, the loops around it, and what the tests of the branches around it say."""

    path: Path = ()
    loops: Loops = ()
    tests: tuple[Comparison, ...] = ()

    def is_behind(self, path: Path) -> bool:
        """Whether what stands at a path has run before this place, in the same iterations."""
        block = path[:-1]
        return self.path[: len(block)] == block and self.path[len(block) :] > path[len(block) :]


@frozen
class Access:
    """A read or a store: the owner, the subscript (None: anything), and the place."""

    owner: str
    index: ir.Atom | None
    where: Where
    stmt: ir.Stmt


class Subscripts:
    """What names are bound to and what bounds them, at every place of a block that is walked."""

    def __init__(self, kinds: ir.Kinds) -> None:
        self.kinds = kinds
        self.definitions: dict[str, list[ir.Rhs]] = {}
        self.defined: dict[str, Where] = {}  # where a name is bound
        self.targets: set[str] = set()  # of all loops
        self.steady: dict[int, bool] = {}  # by loop: whether nothing in it binds its target

    # --- the walk ---

    def collect(self, block: ir.Block, where: Where) -> None:
        """What is in a block at a place."""
        for k, stmt in enumerate(block):
            here = Where((*where.path, k), where.loops, where.tests)
            if self.visit(stmt, here):
                continue
            if type(stmt) is ir.For:
                self.targets.add(stmt.target.id)
            if isinstance(stmt, (ir.For, ir.While)):
                here = replace(here, loops=(*where.loops, (here.path, stmt)))
            for j, part in enumerate(ir.blocks(stmt)):
                inner = replace(here, path=(*here.path, j))
                if type(stmt) is ir.If:
                    inner = replace(inner, tests=(*where.tests, *self.tested(stmt, j, here)))
                self.collect(part, inner)

    def visit(self, stmt: ir.Stmt, where: Where) -> bool:
        """Notes what a statement itself says; gives whether nothing else is in it."""
        self.bindings(stmt, where)
        return False

    def bindings(self, stmt: ir.Stmt, where: Where) -> None:
        """What a statement binds its names to: an expression, or any of several (`a, b = b, a`)."""
        if type(stmt) is ir.Assign:
            self.definitions.setdefault(stmt.target.id, []).append(stmt.rhs)
            self.defined[stmt.target.id] = where
        elif not isinstance(stmt, (ir.If, ir.For, ir.While)):
            updated = isinstance(stmt, ir.Store) and is_array(self.kinds.get(stmt.base.id))
            for name in () if updated else ir.rebound((stmt,)):
                self.definitions.setdefault(name, []).extend((ir.NONE, ir.NONE))

    def tested(self, stmt: ir.If, branch: int, where: Where) -> tuple[Comparison, ...]:
        """What the test of a branch says of two numbers that it does not bind."""
        call = self.definition(stmt.test.id, where) if type(stmt.test) is ir.Name else None
        said = next((o for o in _OTHERWISE if is_op(call, o)), None)
        if said is None or type(call) is not ir.Call:
            return ()
        inside = ir.rebound(ir.blocks(stmt)[branch])
        whole = all(ir.is_integer(atom_kind(a, self.kinds)) for a in call.args)
        if not whole or inside & {*ir.names(call)}:
            return ()
        said = said if branch == 0 else _OTHERWISE[said]
        if said is Op.NE:
            return ()
        swapped, gap = _SAID[said]
        less, more = call.args[::-1] if swapped else call.args
        test = Comparison(less, more, gap)
        return (test, Comparison(more, less, gap)) if said is Op.EQ else (test,)

    # --- what is known of a name ---

    def definition(self, name: str, where: Where) -> ir.Rhs | None:
        """What a name is bound to wherever it is bound, and has been bound to at a place."""
        found = self.definitions.get(name, ())
        if name in self.targets or len(found) != 1:
            return None
        return found[0] if where.is_behind(self.defined[name].path) else None

    def is_steady(self, loop: ir.For) -> bool:
        """Whether the target of a loop has one value in each iteration."""
        found = self.steady.get(id(loop))
        if found is None:
            found = self.steady[id(loop)] = loop.target.id not in ir.rebound(loop.body)
        return found

    def loop_of(self, name: str, where: Where) -> ir.For | None:
        """The loop around a place that has a name as its target, the same all the time."""
        for _, loop in reversed(where.loops):
            if type(loop) is ir.For and loop.target.id == name:
                return loop if self.is_steady(loop) else None
        return None

    def is_settled(self, name: str, where: Where) -> bool:
        """Whether a name has, at a place, the value that it has until the iterations end."""
        if name in self.targets:
            return self.loop_of(name, where) is not None
        return not self.definitions.get(name) or self.definition(name, where) is not None

    # --- the proof ---

    def is_after(self, first: Access, then: Access) -> bool:
        """Whether no element is touched by the first access and afterwards by the other one."""
        if not self.is_apart_later(first, then):
            return False
        if then.where.path < first.where.path:
            return True
        variables = self.variables(_shared(first.where, then.where))
        return self.is_one_array(first, then) and self.are_apart(first, then, variables)

    def is_apart_later(self, first: Access, then: Access) -> bool:
        """Whether later iterations of the other access touch nothing that the first one does."""
        shared = _shared(first.where, then.where)
        for k, (path, loop) in enumerate(shared):
            if self.is_new_in(path, first, then):
                continue
            if not self.is_one_array(first, then) or not (
                self.is_elsewhere_later(first, then, loop)
                or self.are_apart(first, then, self.variables(shared[:k]))
            ):
                return False
        return True

    def is_one_array(self, first: Access, then: Access) -> bool:
        """Whether both accesses are of what one name stands for all the time."""
        return first.owner == then.owner and len(self.definitions.get(first.owner, ())) <= 1

    def is_new_in(self, loop: Path, first: Access, then: Access) -> bool:
        """Whether both accesses in a loop are of an array that each iteration makes anew."""
        return False

    def is_elsewhere_later(self, first: Access, then: Access, loop: ir.For | ir.While) -> bool:
        """Whether the other access in a later iteration of the loop is at another place."""
        if type(loop) is not ir.For or not counts(loop) or not self.is_steady(loop):
            return False
        var, pairs = loop.target.id, self.axes(first, then)
        step = _step(loop)
        if step is None:  # in every iteration it has another value
            return any(e.atom == f.atom == loop.target for e, f in pairs)
        if step > 0:
            return any(e.is_less(f, var, 1) for e, f in pairs)
        return any(f.is_less(e, var, 1) for e, f in pairs)

    def variables(self, loops: Loops) -> list[str]:
        """The targets of loops that have one value in each iteration."""
        return [s.target.id for _, s in loops if type(s) is ir.For and self.is_steady(s)]

    def are_apart(self, first: Access, then: Access, variables: Sequence[str]) -> bool:
        """Whether one subscript is always less than the other, for equal values of variables."""
        return any(
            e.is_less(f, var) or f.is_less(e, var)
            for e, f in self.axes(first, then)
            for var in (*variables, None)
        )

    def axes(self, first: Access, then: Access) -> Iterator[tuple[_Subscript, _Subscript]]:
        """The subscripts of both on every axis, where neither can be negative."""
        if first.index is None or then.index is None:
            return
        one, two = (by_axis(a.index, self.kinds) for a in (first, then) if a.index is not None)
        for e, f in zip(one, two):
            if _is_plain(e) and _is_plain(f):
                found = _Subscript(self, e, first.where), _Subscript(self, f, then.where)
                lows = [s.bound(None, -1) for s in found]
                if all(low is not None and low >= 0 for low in lows):
                    yield found


@frozen
class _Subscript:
    """A number, or the numbers of a slice, at a place."""

    places: Subscripts
    atom: ir.Atom
    where: Where
    depth: int = 0
    earlier: bool = False  # it was computed there: what the place itself is at may be behind

    def is_less(self, other: _Subscript, var: str | None, more: int = 0) -> bool:
        """Whether it is less than `other + more` for equal values of `var`."""
        high, low = self.bound(var, 1), other.bound(var, -1)
        return high is not None and low is not None and high < low + more

    def at(self, atom: ir.Atom) -> _Subscript:
        """Another number at this place."""
        return replace(self, atom=atom, depth=self.depth + 1)

    def before(self, atom: ir.Atom, loops: Loops, path: Path) -> _Subscript:
        """A number that was computed with at a path inside loops, in the same iterations."""
        where = replace(self.where, loops=loops, path=path)
        return replace(self.at(atom), where=where, earlier=True)

    def bound(self, var: str | None, side: int) -> int | None:
        """A bound of it less `var` (of itself for None): upper for side 1, lower for -1."""
        if self.depth > 8:
            return None
        if type(self.atom) is ir.Slice:
            return self.of_slice(self.atom, var, side)
        if type(self.atom) is ir.Const:
            number = type(self.atom.value) is int and var is None
            return self.atom.value if number else None
        if type(self.atom) is not ir.Name:
            return None
        if self.earlier and not self.places.is_settled(self.atom.id, self.where):
            return None
        if self.atom.id == var:
            return 0
        found = [b for b in self.of_name(self.atom, var, side) if b is not None]
        return (min if side == 1 else max)(found, default=None)

    def of_name(self, name: ir.Name, var: str | None, side: int) -> Iterator[int | None]:
        """What ranges, tests and definitions say of a variable."""
        places, where = self.places, self.where
        if var is not None:
            # j <= i + c in a loop `for j in range(i + c + 1)` says i - j >= -c.
            other = self.of_target(var, name.id, -side)
            yield None if other is None else -other
        for test in where.tests if self.depth < 3 else ():
            if (test.less, test.more)[side == -1] == name:
                other = self.at(test.more if side == 1 else test.less).bound(var, side)
                yield None if other is None else other - side * test.gap
        yield self.of_target(name.id, var, side)
        defined = places.definition(name.id, where)
        if defined is not None:
            yield self.of_sum(defined, places.defined[name.id], var, side)

    def of_slice(self, item: ir.Slice, var: str | None, side: int) -> int | None:
        """A bound of the positions in `a:b`, if b cannot be negative, or in `a:`."""
        if side == -1:
            low = self.at(ir.Const(0) if item.lower == ir.NONE else item.lower).bound(var, -1)
            return low if self.is_from_start(item) else None
        found = None if item.upper == ir.NONE else self.at(item.upper).bound(var, 1)
        return None if found is None or not self.is_from_start(item) else found - 1

    def is_from_start(self, item: ir.Slice) -> bool:
        """Whether a slice does not count its end from the end of the axis."""
        top = 0 if item.upper == ir.NONE else self.at(item.upper).bound(None, -1)
        return top is not None and top >= 0

    def of_target(self, name: str, var: str | None, side: int) -> int | None:
        """A bound of the target of a loop around by the loop's range."""
        loop = self.places.loop_of(name, self.where)
        step = None if loop is None else _step(loop)
        if loop is None or step is None:
            return None
        start, stop, _ = range_bounds(loop.iter)
        k = next(k for k, (_, s) in enumerate(self.where.loops) if s is loop)
        outside = self.where.loops[:k], self.where.loops[k][0]
        if (side == 1) == (step > 0):
            found = self.before(stop, *outside).bound(var, side)
            return None if found is None else found - side
        return self.before(start, *outside).bound(var, side)

    def of_sum(self, rhs: ir.Rhs, where: Where, var: str | None, side: int) -> int | None:
        """A bound of `a + c`, `c + a` or `a - c` with a literal c, computed at a place."""
        if isinstance(rhs, (ir.Name, ir.Const)):
            return self.before(rhs, where.loops, where.path).bound(var, side)
        if not is_op(rhs, Op.ADD, Op.SUB):
            return None
        a, b = rhs.args
        if is_op(rhs, Op.ADD) and type(a) is ir.Const:
            a, b = b, a
        if type(b) is not ir.Const or type(b.value) is not int:
            return None
        found = self.before(a, where.loops, where.path).bound(var, side)
        if found is None:
            return None
        return found + b.value if is_op(rhs, Op.ADD) else found - b.value


_SAID = {
    Op.LT: (False, 1), Op.LE: (False, 0), Op.GT: (True, 1), Op.GE: (True, 0),
    Op.EQ: (False, 0),
}  # fmt: skip
"""Of a comparison: whether the greater one stands first, and by how much it is greater."""
_OTHERWISE = {
    Op.LT: Op.GE, Op.LE: Op.GT, Op.GT: Op.LE, Op.GE: Op.LT, Op.EQ: Op.NE, Op.NE: Op.EQ
}  # fmt: skip


def _shared(one: Where, two: Where) -> Loops:
    """The loops around both places."""
    pairs = zip(one.loops, two.loops)
    return tuple(mine for mine, other in pairs if mine[0] == other[0])


def by_axis(index: ir.Atom, kinds: ir.Kinds) -> Iterator[ir.Atom]:
    """What stands in a subscript for each axis, up to where that is not known.

    New axes stand for none, an array of truths for as many as it has.
    """
    for item in index.items if type(index) is ir.Tup else (index,):
        kind = atom_kind(item, kinds)
        if type(kind) is not ir.SliceKind and not str(ir.dtype_of(kind)).startswith("int"):
            if item == ir.NONE:
                continue
            return
        yield item


def range_bounds(call: ir.Rhs) -> tuple[ir.Atom, ir.Atom, ir.Atom]:
    """Start, stop and step of a range."""
    assert type(call) is ir.Call
    args = call.args
    start: ir.Atom = args[0] if len(args) > 1 else ir.Const(0)
    return start, args[min(1, len(args) - 1)], args[2] if len(args) > 2 else ir.Const(1)


def counts(loop: ir.For) -> bool:
    """Whether a loop goes through a range."""
    return is_op(loop.iter, Op.RANGE)


# --- arrays of places -----------------------------------------------------------------------------


def distinct_places(function: ir.Function, kinds: ir.Kinds) -> frozenset[str]:
    """The names of arrays of different integers from 0 on, which nobody writes into.

    They are bound once, and nothing is done with them but select elements, ask, and compute.  None
    where loops go over elements: these add at places one by one, whichever they are.
    """
    made = set[str]()
    if function.target.fused or function.target.kernels:
        return frozenset()
    for s in ir.assignments(function):
        if _counts_up(s.rhs) or _moves_up(s.rhs, made, kinds):
            made.add(s.target.id)
    if not made:
        return frozenset()
    bound = ir.binding_counts(function, function.params)
    passed_on = frozenset[str]().union(*map(_passed_on, ir.walk(function)))
    return frozenset(n for n in made - passed_on if bound[n] == 1)


def _counts_up(rhs: ir.Rhs) -> bool:
    """Whether something is `np.arange(n)`, or `np.arange(a, n)` with a number from 0 on."""
    if not is_op(rhs, Op.ARANGE) or rhs.kwargs or len(rhs.args) > 2:
        return False
    first = rhs.args[0] if len(rhs.args) == 2 else ir.Const(0)
    return type(first) is ir.Const and type(first.value) is int and first.value >= 0


def _moves_up(rhs: ir.Rhs, made: set[str], kinds: ir.Kinds) -> bool:
    """Whether something is one of some arrays, and an integer from 0 on."""
    if not is_op(rhs, Op.ADD) or made.isdisjoint(ir.names(rhs)):
        return False
    least = [least_value(atom_kind(a, kinds)) for a in rhs.args if not made & {*ir.names(a)}]
    return len(least) == 1 and least[0] is not None and least[0] >= 0


def _passed_on(stmt: ir.Stmt) -> frozenset[str]:
    """The names that a statement may do something else with than select elements or compute."""
    call = ir.call_of(stmt)
    if isinstance(stmt, ir.Store):
        return frozenset((stmt.base.id, *ir.names(stmt.value)))
    found = frozenset(ir.itself_reads(stmt))
    if call is None:
        return found
    if is_op(call, Op.GETITEM):
        return frozenset(ir.names(call.args[0]))
    if is_op(call, Op.ADD_AT_UFUNC, Op.SUBTRACT_AT_UFUNC):
        return found.difference(ir.names(call.args[1])).union(ir.names(call.args[0]))
    operation = op_of(call.fn)
    return frozenset() if operation.is_asked or _makes_elements(call, operation) else found


def _makes_elements(call: ir.Call, operation: Operation) -> bool:
    """Whether a call computes new elements from elements."""
    return operation.is_elementwise and not call.kwargs


def _step(loop: ir.For) -> int | None:
    """The step of a loop through a range, where it is a number."""
    step = range_bounds(loop.iter)[2] if counts(loop) else ir.NONE
    value = step.value if type(step) is ir.Const else None
    return value if type(value) is int and value else None


def _is_plain(item: ir.Atom) -> bool:
    """Whether a subscript is a number, `a:b` or `a:`, whose bounds can be compared."""
    if type(item) is ir.Slice:
        return item.step == ir.NONE
    return isinstance(item, (ir.Name, ir.Const))
