"""Loops whose iterations do not depend on one another, as statements of whole arrays.

Takes a function and the kinds of its names; gives it with `B[i, :] += A[i, :k] @ B[:k, :]` for `for
j in range(n): B[i, j] += A[i, :k] @ B[:k, j]`.  What an iteration has a part of gets an axis more,
which stays where it lies in memory: the second one of `B` here.  The invariant: every element is
computed from the same ones, to the order of sums; what fails in an iteration may fail before it.

A loop through a range with steps of one is taken if its body only binds and stores, and if

- memory that is written is looked at by one name, and at one place along one axis, `j + c`, so that
  no iteration sees what another one has written;
- kinds show that `j + c` lies inside of the axis (a slice would be cut off where an index fails);
- no name that it binds is read before that, or behind the loop; a sum of numbers is a sum;
- each operation has a form with the axis, and the result has the dtype that it has for one;
- no more axes come about than the arrays have that it goes through: `A[i] @ x` becomes `A @ x`, but
  what needs an array of all products stays a loop.

Numbers that are read become parts of arrays: these are copied where the memory is written before
their last use.  What may be empty stands behind a test, as what it reads need not be there then.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from srcdiff import ir
from srcdiff.analysis.links import Groups
from srcdiff.analysis.points_to import PointsTo
from srcdiff.analysis.subscripts import counts, range_bounds
from srcdiff.ir.builder import Builder, Rewriter
from srcdiff.ir.frozen import frozen, replace
from srcdiff.kinds.calls import atom_kind, call_kind, kind_of_call, rhs_kind
from srcdiff.kinds.indexing import is_within, item_kind, least_value, size_dim
from srcdiff.kinds.interpreter import Typed
from srcdiff.primitives.arguments import argument
from srcdiff.primitives.effects import only_computes, returns_view, written_into
from srcdiff.primitives.operation import Bare, Meaning, op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array

ALL = ir.Slice(ir.NONE, ir.NONE, ir.NONE)


def vectorized(typed: Typed) -> Typed:
    """The function with statements of whole arrays, inner loops before those around them."""
    while any(map(_is_plain, ir.walk(typed.function))):
        new = typed.by(_without_loops, typed.kinds)
        if new.function == typed.function:
            break
        typed = new
    return typed


def _is_plain(stmt: ir.Stmt) -> bool:
    """Whether a statement is a loop with steps of one that only binds and stores."""
    if type(stmt) is not ir.For or stmt.stop is not None or not counts(stmt):
        return False
    plain = all(type(s) is ir.Assign or isinstance(s, ir.Store) for s in stmt.body)
    return plain and range_bounds(stmt.iter)[2] == ir.Const(1)


def _without_loops(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function without the innermost loops that can be statements of whole arrays."""
    return _Loops(function, kinds).function(function)


class _Loops(Rewriter):
    """Goes over the loops of a function."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.whole, self.kinds = function, kinds
        self.bound = ir.binding_counts(function, function.params)
        self.readers = ir.reader_counts(function)

    @cached_property
    def groups(self) -> Groups:
        """The names that may share memory."""
        return PointsTo.of(self.whole, self.kinds).near

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """A statement, or what stands for a loop."""
        if type(stmt) is not ir.For or not _is_plain(stmt) or not self.is_closed(stmt):
            return self.inside(stmt)
        done = _Iterations(self, stmt).statements()
        return stmt if done is None else done

    def is_closed(self, loop: ir.For) -> bool:
        """Whether nobody reads what a loop binds, but itself behind that; sums left out."""
        mine = {loop.target.id: None}
        mine |= {s.target.id: None for s in loop.body
                 if type(s) is ir.Assign and _summand(s, loop) is None}  # fmt: skip
        inside, unbound = ir.reader_counts(loop.body), {*mine} - {loop.target.id}
        for stmt in loop.body:
            if not unbound.isdisjoint(ir.itself_reads(stmt)):
                return False
            unbound.difference_update(ir.writes(stmt))
        return all(self.bound[n] == 1 and self.readers[n] == inside[n] for n in mine)


def _summand(stmt: ir.Stmt, loop: ir.For) -> ir.Atom | None:
    """What a statement adds to a name that nothing else in a loop mentions; None of others."""
    if type(stmt) is ir.AugAssign and stmt.index is None and stmt.op == "+":
        name, value = stmt.base, stmt.value
    elif type(stmt) is ir.Assign and is_op(stmt.rhs, Op.ADD) and stmt.target in stmt.rhs.args:
        name, value = stmt.target, stmt.rhs.args[stmt.rhs.args[0] == stmt.target]
    else:
        return None
    return value if ir.mention_counts(loop.body)[name.id] == 1 and value != name else None


# --- one loop ------------------------------------------------------------------------------------


@frozen
class _Part:
    """The part of an array that all iterations touch together.

    `axis` is that of the array along which they differ, `offset` what is added to the counter;
    `behind` says how many axes of the part of one iteration lie behind it.
    """

    index: ir.Tup
    axis: int
    offset: int
    behind: int


class _Iterations(Builder):
    """The statements for all iterations of a loop.

    `behind` has the names with an axis more, and how many axes of one iteration lie behind that;
    `kinds` are those of an iteration, `all` those of all of them.
    """

    def __init__(self, around: _Loops, loop: ir.For) -> None:
        super().__init__(around.fresh, loop.loc)
        self.loop, self.groups, self.target = loop, around.groups, around.whole.target
        self.start, self.stop, _ = range_bounds(loop.iter)
        self.kinds, self.all = around.kinds, dict(around.kinds)
        self.behind: dict[str, int] = {}
        self.counters = {loop.target.id: 0}
        self.counters |= dict(self.shifted())
        written = (n for s in loop.body for n in written_into(s, self.kinds))
        self.written = {self.groups.of(n) for n in written}
        self.touched: dict[str, tuple[str, int, int]] = {}  # by what is written: where it is

    def temp(self, rhs: ir.Rhs, base: str = "_t") -> ir.Name:
        """A new name for a value, of which the kind is noted."""
        name = super().temp(rhs, base)
        self.all[name.id] = rhs_kind(rhs, self.all, False)
        return name

    def shifted(self) -> Iterator[tuple[str, int]]:
        """The names of the counter with a number added, with that."""
        for stmt in self.loop.body:
            call = ir.call_of(stmt)
            if type(stmt) is ir.Assign and is_op(call, Op.ADD, Op.SUB):
                a, b = call.args[:: -1 if is_op(call, Op.ADD) and call.args[1] == self.loop.target else 1]
                if a == self.loop.target and type(b) is ir.Const and type(b.value) is int:
                    yield stmt.target.id, b.value if is_op(call, Op.ADD) else -b.value

    def statements(self) -> ir.Block | None:
        """What stands for the loop; None where it stays."""
        if not all(self.take(k, stmt) for k, stmt in enumerate(self.loop.body)):
            return None
        if not self.pays():
            return None
        if self.is_filled():
            return tuple(self.out)
        test = self.fresh()
        call = ir.Call(operator.lt, (self.start, self.stop))
        return ir.Assign(test, call, self.loop.loc), ir.If(test, tuple(self.out), (), self.loop.loc)

    def pays(self) -> bool:
        """Whether iterations have arrays; loops over numbers are compiled as they are."""
        return not self.target.native or any(self.rank(ir.Name(n)) for n in self.behind)

    def is_filled(self) -> bool:
        """Whether there certainly is an iteration."""
        first, last = (least_value(atom_kind(a, self.kinds)) for a in (self.start, self.stop))
        known = getattr(atom_kind(self.start, self.kinds), "value", None) is not None
        return known and first is not None and last is not None and first < last

    # --- what is known ---

    def rank(self, atom: ir.Atom) -> int | None:
        """How many axes something has in one iteration."""
        return ir.rank_of(atom_kind(atom, self.kinds))

    def varies(self, *nodes: ir.Rhs | None) -> bool:
        """Whether something is not the same for all iterations."""
        names = (n for node in nodes for n in ir.names(node))
        return any(n in self.behind or n in self.counters for n in names)

    @cached_property
    def parts(self) -> dict[int, _Part | None]:
        """By statement, the part of an array that it reads or stores into with the counter."""
        return {id(s): self.part(base, index) for s in self.loop.body
                for base, index in _subscripts(s) if self.counters.keys() & {*ir.names(index)}}  # fmt: skip

    @cached_property
    def is_last(self) -> bool:
        """Whether the axis lies behind those of the parts that have any."""
        found = (p for p in self.parts.values() if p is not None)
        return all(p.behind == 0 for p in found if sum(map(_is_kept, p.index.items)) > 1)

    @cached_property
    def limit(self) -> int:
        """How many axes the arrays have, at most, that the loop goes through."""
        bases = (base for s in self.loop.body for base, _ in _subscripts(s) if id(s) in self.parts)
        return max((self.rank(b) or 0 for b in bases), default=0)

    def reads(self, node: ir.Rhs) -> bool:
        """Whether what is read is the same before all iterations, or has the axis."""
        if type(node) is ir.Call and op_of(node.fn).is_asked:
            return True
        names = (n for n in ir.names(node) if n not in self.behind)
        return all(self.groups.of(n) not in self.written for n in names)

    def touches(self, base: ir.Name, part: _Part) -> bool:
        """Whether memory that is written is touched there alone, and in no other way."""
        group, mine = self.groups.of(base.id), (base.id, part.axis, part.offset)
        return group not in self.written or self.touched.setdefault(group, mine) == mine

    # --- parts of arrays ---

    def part(self, base: ir.Atom, index: ir.Atom) -> _Part | None:
        """The part of an array for all values of the counter, which stands at one place."""
        items = self.items(base, index)
        at = [k for k, i in enumerate(items or ()) if type(i) is ir.Name and i.id in self.counters]
        others = () if items is None else (*items[: at[0]], *items[at[0] + 1 :]) if at else items
        if items is None or len(at) != 1 or self.varies(base, *others):
            return None
        (k,), dims = at, ir.dims_of(atom_kind(base, self.kinds))
        name, axis = items[k], sum(i != ir.NONE for i in items[:k])
        assert type(name) is ir.Name and dims is not None
        span = self.span(self.counters[name.id], dims[axis])
        if span is None:
            return None
        behind = sum(map(_is_kept, items[k + 1 :]))
        index = ir.Tup((*items[:k], span, *items[k + 1 :]))
        return _Part(index, axis, self.counters[name.id], behind)

    def items(self, base: ir.Atom, index: ir.Atom) -> tuple[ir.Atom, ...] | None:
        """What stands in an index for each axis of an array, and for new ones; None of others."""
        kind, items = atom_kind(base, self.kinds), index.items if type(index) is ir.Tup else (index,)
        if not is_array(kind) or kind.dims is None or not all(map(self.is_basic, items)):
            return None
        rest = len(kind.dims) - sum(i not in (ir.NONE, ir.Const(...)) for i in items)
        if rest < 0 or items.count(ir.Const(...)) > 1:
            return None
        at = items.index(ir.Const(...)) if ir.Const(...) in items else len(items)
        return (*items[:at], *(ALL,) * rest, *items[at + 1 :])

    def is_basic(self, item: ir.Atom) -> bool:
        """Whether something in an index is an integer, a slice, `None` or `...`."""
        whole = type(item) is not ir.Const or type(item.value) is not bool
        return whole and type(item) in (ir.Name, ir.Const, ir.Slice) and ir.is_basic(atom_kind(item, self.kinds))

    def span(self, offset: int, dim: ir.Dim) -> ir.Slice | None:
        """The places of the counter with a number added; None where some may be outside."""
        first, stop = (atom_kind(a, self.kinds) for a in (self.start, self.stop))
        low, length = least_value(first), size_dim(stop)
        if low is None or low + offset < 0 or not is_within(length, offset, dim):
            return None
        lower = self.moved(self.start, offset)
        moved = length.moved(offset) if type(length) is ir.Sym else length
        is_end = ir.same_dim(moved + offset if type(moved) is int else moved, dim)
        upper = ir.NONE if is_end else self.moved(self.stop, offset)
        return ir.Slice(ir.NONE if lower == ir.Const(0) else lower, upper, ir.NONE)

    def moved(self, bound: ir.Atom, offset: int) -> ir.Atom:
        """A bound with a number added."""
        if type(bound) is ir.Const:
            return ir.Const(bound.value + offset)
        if not offset:
            return bound
        return self.apply(operator.add if offset > 0 else operator.sub, bound, ir.Const(abs(offset)))

    def within(self, base: ir.Name, index: ir.Atom) -> tuple[ir.Tup, int] | None:
        """An index of what has the axis, and how many axes lie behind that in the result."""
        items, rank = self.items(base, index), self.rank(base)
        if items is None or rank is None or self.varies(*items):
            return None
        before, k = rank - self.behind[base.id], 0
        while before:
            before -= items[k] != ir.NONE
            k += 1
        return ir.Tup((*items[:k], ALL, *items[k:])), sum(map(_is_kept, items[k:]))

    # --- statements ---

    def take(self, k: int, stmt: ir.Stmt) -> bool:
        """Write what a statement is for all iterations; gives whether it is anything."""
        self.loc = stmt.loc
        value = _summand(stmt, self.loop)
        if value is not None:
            return self.total(stmt, value)
        if isinstance(stmt, ir.Store):
            return self.store(stmt)
        assert type(stmt) is ir.Assign
        if stmt.target.id in self.counters:
            return True
        rhs = self.value(k, stmt)
        self.out += () if rhs is None else (replace(stmt, rhs=rhs),)
        return rhs is not None

    def total(self, stmt: ir.Stmt, value: ir.Atom) -> bool:
        """A sum of numbers that all iterations add to one."""
        name = ir.writes(stmt)[0]
        mine, kind = self.kinds[name], atom_kind(value, self.kinds)
        known = type(mine) is type(kind) is ir.Scalar and mine.dtype == kind.dtype  # type: ignore[union-attr]
        if not known or not self.varies(value) or self.rank(value) != 0 or not ir.is_float(mine):
            return False
        if any(n in self.counters for n in ir.names(value)):
            return False
        whole = ir.Call(operator.add, (ir.Name(name), self.apply(np.sum, value)))
        self.out.append(ir.Assign(ir.Name(name), whole, stmt.loc))
        return True

    def value(self, k: int, stmt: ir.Assign) -> ir.Rhs | None:
        """What a name is bound to; None where there is no form with the axis."""
        call, part = ir.call_of(stmt), self.parts.get(id(stmt))
        if call is None:
            plain = type(stmt.rhs) is not ir.Opaque and not self.varies(stmt.rhs)
            return stmt.rhs if plain and self.reads(stmt.rhs) else None
        if not only_computes(call):
            return None
        if part is not None:
            base = call.args[0]
            assert type(base) is ir.Name
            found = self.touches(base, part) and (ir.Call(call.fn, (base, part.index)), part.behind)
        elif not self.reads(call):
            return None
        elif not self.varies(call):
            return call
        else:
            found = self.form(call)
        if not found or not self.fits(stmt.target, *found):
            return None
        return self.own(found[0]) if self.is_late(k, stmt) else found[0]

    def own(self, call: ir.Call) -> ir.Call:
        """A copy of a part of an array."""
        return ir.Call(np.copy, (self.temp(call),))

    def is_late(self, k: int, stmt: ir.Assign) -> bool:
        """Whether a number is read of memory that is written before it is used for the last time."""
        if not is_op(stmt.rhs, Op.GETITEM) or self.rank(stmt.target) != 0:
            return False
        (base,), rest = ir.names(stmt.rhs.args[0]), self.loop.body[k + 1 :]
        group = self.groups.of(base)
        writes = [j for j, s in enumerate(rest) if group in map(self.groups.of, written_into(s))]
        used = [j for j, s in enumerate(rest) if stmt.target.id in ir.reads(s)]
        return bool(writes) and max(used, default=0) > writes[0]

    def fits(self, target: ir.Name, call: ir.Call, behind: int) -> bool:
        """Whether a form gives what one iteration has with an axis more; it is noted then."""
        one, many = self.kinds[target.id], kind_of_call(call, self.all, False)
        number = type(one) is ir.Scalar and one.python is False
        rank = self.rank(target)
        if not number and not (is_array(one) and rank) or not is_array(many):
            return False
        same = one.dtype is not None and one.dtype == many.dtype  # type: ignore[union-attr]
        is_part = is_op(call, Op.GETITEM)
        if not same or rank is None or ir.rank_of(many) != rank + 1 or rank + 1 > self.limit:
            return False
        if not is_part and returns_view(call, self.all):
            return False
        self.all[target.id], self.behind[target.id] = many, behind
        return True

    def store(self, stmt: ir.Store) -> bool:
        """A store into a part of an array, or into what has the axis."""
        base, index, part = stmt.base, stmt.index, self.parts.get(id(stmt))
        if part is not None:
            place = (part.index, part.behind) if self.touches(base, part) else None
        elif base.id not in self.behind:
            return False
        elif index is None:
            place = None, self.behind[base.id]
        else:
            place = self.within(base, index)
        region = self.region(base, index)
        rank = ir.rank_of(region)
        if place is None or rank is None or not self.may_store(stmt, region):
            return False
        value = self.fitted(stmt.value, place[1])
        if value is None:
            return False
        self.out.append(replace(stmt, index=place[0], value=value))  # type: ignore[arg-type]
        return True

    def region(self, base: ir.Name, index: ir.Atom | None) -> ir.Kind:
        """What an iteration stores into."""
        whole = self.kinds[base.id]
        return whole if index is None else item_kind(whole, atom_kind(index, self.kinds))

    def may_store(self, stmt: ir.Store, region: ir.Kind) -> bool:
        """Whether an array takes what an iteration stores as its elements do."""
        value, rank = atom_kind(stmt.value, self.kinds), ir.rank_of(region)
        own, given = ir.dtype_of(region), ir.dtype_of(value)
        wide = self.rank(stmt.value)
        if None in (own, given, rank, wide) or wide > rank or not self.reads(stmt.value):  # type: ignore[operator]
            return False
        if type(stmt) is not ir.AugAssign:
            return ir.is_real(value) or not ir.is_real(region)
        fn = ir.OPERATORS[stmt.op]
        made = ir.dtype_of(call_kind(fn, (region, value), (), False))
        return op_of(fn).is_elementwise and made == own and (rank != 0 or stmt.index is not None)

    # --- operations ---

    def form(self, call: ir.Call) -> tuple[ir.Call, int] | None:
        """What a call is for all iterations, by what its operation does with axes."""
        if any(n in self.counters for n in ir.names(call)):
            return None
        axes = op_of(call.fn).axes
        if is_op(call, Op.GETITEM):
            return self.item_of(call)
        if axes is None or any(self.varies(v) for _, v in call.kwargs):
            return None
        if axes.meaning in (Meaning.ELEMENTS, Meaning.COMPARED) and not call.kwargs:
            return self.elements(call)
        if axes.meaning is Meaning.ALONG and axes.bare is Bare.TOTAL:
            return self.reduced(call)
        if axes.meaning is Meaning.LIKE and len(call.args) == 1 and not call.kwargs:
            return call, self.behind[ir.names(call)[0]]
        return self.product(call) if axes.meaning is Meaning.PRODUCT and not call.kwargs else None

    def item_of(self, call: ir.Call) -> tuple[ir.Call, int] | None:
        """A part of what has the axis."""
        base, index = call.args
        if type(base) is not ir.Name or base.id not in self.behind:
            return None
        found = self.within(base, index)
        return None if found is None else (ir.Call(call.fn, (base, found[0])), found[1])

    def elements(self, call: ir.Call) -> tuple[ir.Call, int] | None:
        """Operands that broadcast against each other."""
        mine = [a for a in call.args if self.varies(a) and self.rank(a)]
        others = [self.rank(a) or 0 for a in call.args]
        free = 0 if self.is_last else max(others)
        behind = max((self.behind[n] for a in mine for n in ir.names(a)), default=free)
        args = [self.fitted(a, behind) for a in call.args]
        known = [a for a in args if a is not None]
        return (replace(call, args=tuple(known)), behind) if len(known) == len(args) else None

    def fitted(self, atom: ir.Atom, behind: int) -> ir.Atom | None:
        """An operand whose axes meet those of what has so many behind the axis of iterations."""
        rank = self.rank(atom)
        if type(atom) not in (ir.Name, ir.Const, ir.Ref) or rank is None:
            return None
        if not self.varies(atom):
            new = (*(ALL,) * (rank - behind), ir.NONE)
            return self.item(atom, ir.Tup(new)) if rank > behind else atom
        own = self.behind.get(ir.names(atom)[0])
        if own is None or own == behind:
            return atom if own == behind else None
        if own != rank or own > behind:
            return None
        return self.item(atom, ir.Tup((ALL, *(ir.NONE,) * (behind - own))))

    def reduced(self, call: ir.Call) -> tuple[ir.Call, int] | None:
        """A reduction along the axes of one iteration."""
        x, axis, keeps = call.args[0], argument(call, "axis") or ir.NONE, dict(call.kwargs).get("keepdims")
        rank, plain = self.rank(x), {k for k, _ in call.kwargs} <= {"axis", "keepdims"}
        if not rank or not plain or len(call.args) > 2 or self.varies(*call.args[1:]):
            return None
        given = axis.items if type(axis) is ir.Tup else (axis,)
        places = [a.value for a in given if type(a) is ir.Const and type(a.value) is int]
        if axis == ir.NONE:
            places = [*range(rank)]
        elif len(places) < len(given) or not all(-rank <= k < rank for k in places):
            return None
        behind = self.behind[ir.names(x)[0]]
        before = rank - behind
        moved = [k % rank + (k % rank >= before) for k in places]
        along = ir.Const(moved[0]) if len(moved) == 1 else ir.Tup(tuple(map(ir.Const, moved)))
        kept = keeps is not None and keeps != ir.Const(False)
        if kept and keeps != ir.Const(True):
            return None
        how = (("axis", along), *((("keepdims", ir.Const(True)),) if kept else ()))
        gone = 0 if kept else sum(k > before for k in moved)
        return replace(call, args=(x,), kwargs=how), behind - gone

    def product(self, call: ir.Call) -> tuple[ir.Call, int] | None:
        """A product of vectors and matrices."""
        x, y = call.args
        one, two = self.rank(x), self.rank(y)
        if one not in (1, 2) or two not in (1, 2):
            return None
        if self.varies(x) and self.varies(y):
            return self.product_of_both(x, y)
        found = self.from_left if self.varies(x) else self.from_right
        return found(x, y, one, two)

    def product_of_both(self, x: ir.Atom, y: ir.Atom) -> tuple[ir.Call, int] | None:
        """Products of pairs: of vectors the sums of what their elements give."""
        own, other = (self.behind[n] for a in (x, y) for n in ir.names(a))
        one, two = (ir.dims_of(atom_kind(a, self.kinds)) or () for a in (x, y))
        if own == other == len(one) == len(two) == 2:
            return ir.Call(operator.matmul, (x, y)), 2
        same = len(one) == len(two) == 1 and ir.same_dim(*one, *two)
        if not same or own != other or self.limit < 2:  # others would be spread to one length
            return None
        along = (("axis", ir.Const(own)),)
        return ir.Call(np.sum, (self.apply(operator.mul, x, y),), along), 0

    def from_left(self, x: ir.Atom, y: ir.Atom, one: int, two: int) -> tuple[ir.Call, int] | None:
        """A product of which the first factor has the axis."""
        own = self.behind[ir.names(x)[0]]
        if own:
            return ir.Call(operator.matmul, (x, y)), own + two - 2
        if one == 2:
            return None
        return ir.Call(operator.matmul, (y if two == 1 else self.attribute(y, "T"), x)), 0

    def from_right(self, x: ir.Atom, y: ir.Atom, one: int, two: int) -> tuple[ir.Call, int] | None:
        """A product of which the second factor has the axis."""
        own = self.behind[ir.names(y)[0]]
        if two == 2:
            return (ir.Call(operator.matmul, (x, y)), one) if own == 2 else None
        if own == 0:
            return ir.Call(operator.matmul, (x, y)), 0
        return ir.Call(operator.matmul, (y, x if one == 1 else self.attribute(x, "T"))), one - 1


def _is_kept(item: ir.Atom) -> bool:
    """Whether an item of an index gives an axis."""
    return item == ir.NONE or type(item) is ir.Slice


def _subscripts(stmt: ir.Stmt) -> Sequence[tuple[ir.Atom, ir.Atom]]:
    """What a statement reads a part of, or stores into, with the index."""
    if isinstance(stmt, ir.Store):
        return () if stmt.index is None else ((stmt.base, stmt.index),)
    call = ir.call_of(stmt)
    return ((call.args[0], call.args[1]),) if is_op(call, Op.GETITEM) else ()
