"""Loops whose iterations do not depend on one another, as statements of whole arrays.

Takes a function and the kinds of its names; gives it with `B[i, :] += A[i, :k] @ B[:k, :]` for `for
j in range(n): B[i, j] += A[i, :k] @ B[:k, j]`.  What an iteration has a part of gets an axis more,
which stays where it lies in memory: the second one of `B` here.  The invariant: every element is
computed from the same ones, to the order of sums; what fails in an iteration may fail before it.

A loop through a range with steps of one is taken if its body only binds and stores, and if

- memory that is written is looked at by one name, and at one place along one axis, `j + c`, so that
  no iteration sees what another one has written, or where none of them writes (`A[i, :i]`);
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
from collections.abc import Iterator
from functools import cached_property
from typing import Union

import numpy as np

from srcdiff import ir
from srcdiff.analysis.links import Groups
from srcdiff.analysis.points_to import PointsTo
from srcdiff.analysis.subscripts import counts, range_bounds
from srcdiff.ir.builder import Builder, Rewriter
from srcdiff.ir.frozen import frozen, replace
from srcdiff.kinds.calls import atom_kind, call_kind, kind_of_call, rhs_kind
from srcdiff.kinds.indexing import is_within, item_kind, least_value, size_dim
from srcdiff.primitives.arguments import argument
from srcdiff.primitives.effects import only_computes, returns_view, written_into
from srcdiff.primitives.operation import Bare, Meaning, op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array

ALL = ir.Slice(ir.NONE, ir.NONE, ir.NONE)


def vectorized(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function with statements of whole arrays for innermost loops that can be such."""
    return _Loops(function, kinds).function(function)


def is_plain(stmt: ir.Stmt) -> bool:
    """Whether a statement is a loop with steps of one that only binds and stores."""
    if type(stmt) is not ir.For or stmt.stop is not None or not counts(stmt):
        return False
    plain = all(type(s) is ir.Assign or isinstance(s, ir.Store) for s in stmt.body)
    return plain and range_bounds(stmt.iter)[2] == ir.Const(1)


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
        if type(stmt) is not ir.For or not is_plain(stmt) or not self.is_closed(stmt):
            return self.inside(stmt)
        done = _Iterations(self, stmt).statements()
        return stmt if done is None else done

    def is_closed(self, loop: ir.For) -> bool:
        """Whether nobody else binds or reads what a loop binds; sums left out."""
        bound = [s.target.id for s in loop.body
                 if type(s) is ir.Assign and _added(s, loop.body) is None]  # fmt: skip
        inside, mine = ir.reader_counts(loop.body), (loop.target.id, *bound)
        return all(self.bound[n] == 1 and self.readers[n] == inside[n] for n in mine)


def _added(stmt: ir.Stmt, body: ir.Block) -> tuple[str, ir.Atom] | None:
    """To what name, which nothing else in a body mentions, a statement adds what; None of others.

    It may be taken away as well.
    """
    if type(stmt) is ir.AugAssign and stmt.index is None and stmt.op in ("+", "-"):
        name, value = stmt.base, stmt.value
    elif type(stmt) is ir.Assign and is_op(stmt.rhs, Op.ADD, Op.SUB):
        name, (first, value) = stmt.target, stmt.rhs.args
        if value == name and is_op(stmt.rhs, Op.ADD):
            first, value = value, first
        if first != name:
            return None
    else:
        return None
    alone = ir.mention_counts(body)[name.id] == 1 and value != name
    return (name.id, value) if alone else None


# --- operations with an axis more ----------------------------------------------------------------


Found = Union[tuple[ir.Call, int], None]
"""A call for all iterations, and how many axes of one lie behind theirs; None: there is none."""


class _Axis(Builder):
    """Forms of calls for all iterations, by what operations do with axes.

    `behind` has the names with an axis more, and how many axes of one iteration lie behind that;
    `kinds` are those of an iteration, `all` those of all of them.  `counters` are numbers that are
    others in each iteration, `limit` is how many axes an array may have, and `is_last` says where
    an axis is put that may lie anywhere.
    """

    limit = 0
    is_last = True

    def __init__(self, fresh: ir.Fresh, kinds: ir.Kinds) -> None:
        super().__init__(fresh)
        self.kinds, self.all = kinds, dict(kinds)
        self.behind: dict[str, int] = {}
        self.counters: dict[str, int] = {}

    def temp(self, rhs: ir.Rhs, base: str = "_t") -> ir.Name:
        """A new name for a value, of which the kind is noted."""
        name = super().temp(rhs, base)
        self.all[name.id] = rhs_kind(rhs, self.all, False)
        return name

    def rank(self, atom: ir.Atom) -> int | None:
        """How many axes something has in one iteration."""
        return ir.rank_of(atom_kind(atom, self.kinds))

    def varies(self, *nodes: ir.Rhs | None) -> bool:
        """Whether something is not the same for all iterations."""
        names = (n for node in nodes for n in ir.names(node))
        return any(n in self.behind or n in self.counters for n in names)

    def place(self, atom: ir.Atom) -> int:
        """How many axes of one iteration lie behind the axis of something."""
        (name,) = ir.names(atom)
        return self.behind[name]

    def form(self, call: ir.Call) -> Found:
        """What a call is for all iterations."""
        axes = op_of(call.fn).axes
        if any(n in self.counters for n in ir.names(call)):
            return None
        if is_op(call, Op.GETITEM):
            return self.item_of(call)
        if axes is None or self.varies(*(v for _, v in call.kwargs)):
            return None
        if axes.meaning is Meaning.ALONG and axes.bare is Bare.TOTAL:
            return self.reduced(call)
        if call.kwargs:
            return None
        if axes.meaning in (Meaning.ELEMENTS, Meaning.COMPARED):
            return self.elements(call)
        if axes.meaning is Meaning.LIKE and len(call.args) == 1:
            return call, self.place(call.args[0])
        return self.product(call) if axes.meaning is Meaning.PRODUCT else None

    def elements(self, call: ir.Call) -> Found:
        """Operands that broadcast against each other."""
        fixed = [self.place(a) for a in call.args if self.varies(a) and self.rank(a)]
        free = 0 if self.is_last else max(self.rank(a) or 0 for a in call.args)
        behind = max(fixed, default=free)
        if is_op(call, Op.MUL) and {*map(self.rank, call.args)} == {0, 1} and not fixed:
            return self.outer(*call.args, behind=behind)
        args = tuple(a for a in (self.fitted(a, behind) for a in call.args) if a is not None)
        return (replace(call, args=args), behind) if len(args) == len(call.args) else None

    def outer(self, x: ir.Atom, y: ir.Atom, *, behind: int) -> Found:
        """Products of a vector with the numbers of all iterations."""
        vector, number = (x, y) if self.varies(y) else (y, x)
        return ir.Call(np.outer, (number, vector) if behind else (vector, number)), behind

    def fitted(self, atom: ir.Atom, behind: int) -> ir.Atom | None:
        """An operand whose axes meet those of what has so many behind the axis of iterations."""
        rank = self.rank(atom)
        if type(atom) not in (ir.Name, ir.Const, ir.Ref) or rank is None:
            return None
        if not self.varies(atom):
            added = ir.Tup((*(ALL,) * (rank - behind), ir.NONE))
            return self.item(atom, added) if rank > behind else atom
        own = self.place(atom)
        if own == behind:
            return atom
        first = own == rank and own < behind
        return self.item(atom, ir.Tup((ALL, *(ir.NONE,) * (behind - own)))) if first else None

    def reduced(self, call: ir.Call) -> Found:
        """A reduction along axes of one iteration."""
        x, keeps = call.args[0], dict(call.kwargs).get("keepdims", ir.Const(False))
        plain = {k for k, _ in call.kwargs} <= {"axis", "keepdims"} and len(call.args) < 3
        if not plain or not self.varies(x) or keeps not in (ir.Const(True), ir.Const(False)):
            return None
        places = self.axes_of(x, argument(call, "axis") or ir.NONE)
        if not places:
            return None
        along = ir.Const(places[0]) if len(places) == 1 else ir.Tup(tuple(map(ir.Const, places)))
        kwargs = tuple((k, v) for k, v in call.kwargs if k == "keepdims")
        before = (self.rank(x) or 0) - self.place(x)
        gone = 0 if keeps == ir.Const(True) else sum(k > before for k in places)
        new = replace(call, args=(x,), kwargs=(("axis", along), *kwargs))
        return new, self.place(x) - gone

    def axes_of(self, x: ir.Atom, axis: ir.Atom) -> list[int]:
        """The axes that are meant of something for one iteration; none where they are not known."""
        rank, items = self.rank(x) or 0, axis.items if type(axis) is ir.Tup else (axis,)
        found = [a.value for a in items if type(a) is ir.Const and type(a.value) is int]
        if axis == ir.NONE:
            found = [*range(rank)]
        elif len(found) < len(items) or not all(-rank <= k < rank for k in found):
            return []
        before = rank - self.place(x)
        return [k % rank + (k % rank >= before) for k in found]

    def product(self, call: ir.Call) -> Found:
        """A product of vectors and matrices."""
        x, y = call.args
        one, two = self.rank(x), self.rank(y)
        if one not in (1, 2) or two not in (1, 2):
            return None
        if self.varies(x) and self.varies(y):
            return self.product_of_both(x, y)
        return (self.from_left if self.varies(x) else self.from_right)(x, y, one, two)

    def product_of_both(self, x: ir.Atom, y: ir.Atom) -> Found:
        """Products of pairs: of vectors the sums of what their elements give."""
        own = self.place(x)
        one, two = (ir.dims_of(atom_kind(a, self.kinds)) or () for a in (x, y))
        if own != self.place(y) or len(one) != len(two):
            return None
        if len(one) == 2:
            return (ir.Call(operator.matmul, (x, y)), 2) if own == 2 else None
        if not ir.same_dim(*one, *two) or self.limit < 2:  # others might be spread to one length
            return None
        along = (("axis", ir.Const(own)),)
        return ir.Call(np.sum, (self.apply(operator.mul, x, y),), along), 0

    def from_left(self, x: ir.Atom, y: ir.Atom, one: int, two: int) -> Found:
        """A product of which the first factor has the axis."""
        own = self.place(x)
        if own:
            return ir.Call(operator.matmul, (x, y)), own + two - 2
        if one == 2:
            return None
        return ir.Call(operator.matmul, (y if two == 1 else self.attribute(y, "T"), x)), 0

    def from_right(self, x: ir.Atom, y: ir.Atom, one: int, two: int) -> Found:
        """A product of which the second factor has the axis."""
        own = self.place(y)
        if two == 2:
            return (ir.Call(operator.matmul, (x, y)), one) if own == 2 else None
        if own == 0:
            return ir.Call(operator.matmul, (x, y)), 0
        return ir.Call(operator.matmul, (y, x if one == 1 else self.attribute(x, "T"))), one - 1

    # --- parts ---

    def item_of(self, call: ir.Call) -> Found:
        """A part of what has the axis."""
        base, index = call.args
        if type(base) is not ir.Name or base.id not in self.behind:
            return None
        found = self.within(base, index)
        return None if found is None else (ir.Call(call.fn, (base, found[0])), found[1])

    def within(self, base: ir.Name, index: ir.Atom) -> tuple[ir.Tup, int] | None:
        """An index of what has the axis, and how many axes lie behind that in the result."""
        items = self.items(base, index)
        if items is None or self.varies(*items):
            return None
        before, k = (self.rank(base) or 0) - self.behind[base.id], 0
        while before:
            before -= items[k] != ir.NONE
            k += 1
        return ir.Tup((*items[:k], ALL, *items[k:])), sum(map(_is_kept, items[k:]))

    def items(self, base: ir.Atom, index: ir.Atom) -> tuple[ir.Atom, ...] | None:
        """What stands in an index for each axis of an array, and for new ones; None of others."""
        items, rank = index.items if type(index) is ir.Tup else (index,), self.rank(base)
        if not is_array(atom_kind(base, self.kinds)) or not all(map(self.is_basic, items)):
            return None
        rest = (rank or 0) - sum(i not in (ir.NONE, ir.Const(...)) for i in items)
        if rest < 0 or items.count(ir.Const(...)) > 1:
            return None
        at = items.index(ir.Const(...)) if ir.Const(...) in items else len(items)
        return (*items[:at], *(ALL,) * rest, *items[at + 1 :])

    def is_basic(self, item: ir.Atom) -> bool:
        """Whether something in an index is an integer, a slice, `None` or `...`."""
        kind = atom_kind(item, self.kinds)
        if type(item) is ir.Name:  # of a slice or of None it does not say which
            return ir.is_scalar(kind) and ir.is_basic(kind)
        if type(item) is ir.Const and type(item.value) is bool:
            return False
        return type(item) in (ir.Const, ir.Slice) and ir.is_basic(kind)


def _is_kept(item: ir.Atom) -> bool:
    """Whether an item of an index gives an axis."""
    return item == ir.NONE or type(item) is ir.Slice


# --- one loop ------------------------------------------------------------------------------------


@frozen
class _Part:
    """The part of an array that all iterations touch together.

    `axis` is that of the array along which they differ, `offset` what is added to the counter;
    `behind` says how many axes of the part of one iteration lie behind it.
    """

    base: str
    index: ir.Tup
    axis: int
    offset: int
    behind: int

    @property
    def where(self) -> tuple[str, int, int]:
        """What two parts have in common of which an iteration touches the same elements."""
        return self.base, self.axis, self.offset


class _Iterations(_Axis):
    """The statements for all iterations of a loop."""

    def __init__(self, around: _Loops, stmt: ir.For) -> None:
        super().__init__(around.fresh, around.kinds)
        self.header, self.body = stmt, stmt.body
        self.groups, self.target = around.groups, around.whole.target
        self.start, self.stop, _ = range_bounds(stmt.iter)
        self.counters = {stmt.target.id: 0, **dict(self.shifted(stmt.target))}
        written = (n for s in self.body for n in written_into(s, self.kinds))
        self.written = {self.groups.of(n) for n in written}
        self.apart = set[str]()  # names of what lies where no iteration writes
        found = ((id(s), self.part(*both)) for s in self.body if (both := _subscript(s)))
        self.parts = {key: part for key, part in found if part is not None}
        self.touched: dict[str, list[_Part]] = {}
        for part in self.parts.values():
            if self.groups.of(part.base) in self.written:
                self.touched.setdefault(self.groups.of(part.base), []).append(part)
        ranks = (self.rank(ir.Name(p.base)) or 0 for p in self.parts.values())
        self.limit = max(ranks, default=0)
        wide = (p for p in self.parts.values() if sum(map(_is_kept, p.index.items)) > 1)
        self.is_last = all(p.behind == 0 for p in wide)

    def shifted(self, counter: ir.Name) -> Iterator[tuple[str, int]]:
        """The names of the counter with a number added, with that."""
        for stmt in self.body:
            call = ir.call_of(stmt)
            if type(stmt) is not ir.Assign or not is_op(call, Op.ADD, Op.SUB):
                continue
            first, more = call.args
            if more == counter and is_op(call, Op.ADD):
                first, more = more, first
            if first == counter and type(more) is ir.Const and type(more.value) is int:
                yield stmt.target.id, more.value if is_op(call, Op.ADD) else -more.value

    def statements(self) -> ir.Block | None:
        """What stands for the loop; None where it stays."""
        settled = all(len({p.where for p in found}) == 1 for found in self.touched.values())
        if not settled or not all(self.take(k, stmt) for k, stmt in enumerate(self.body)):
            return None
        if not self.pays():
            return None
        if self.is_filled():
            return tuple(self.out)
        test, loc = self.fresh(), self.header.loc
        call = ir.Call(operator.lt, (self.start, self.stop))
        return ir.Assign(test, call, loc), ir.If(test, tuple(self.out), (), loc)

    def pays(self) -> bool:
        """Whether iterations have arrays; loops over numbers are compiled as they are."""
        first, stop = self.ends
        once = first is not None is not stop and stop - first < 2
        arrays = not self.target.native or any(self.rank(ir.Name(n)) for n in self.behind)
        return arrays and not once

    def is_filled(self) -> bool:
        """Whether there certainly is an iteration."""
        first, least = self.ends[0], least_value(atom_kind(self.stop, self.kinds))
        return first is not None is not least and first < least

    @cached_property
    def ends(self) -> tuple[int | None, int | None]:
        """The ends of the range, where they are known."""
        first, stop = (atom_kind(a, self.kinds) for a in (self.start, self.stop))
        return getattr(first, "value", None), getattr(stop, "value", None)

    # --- memory ---

    def reads(self, node: ir.Rhs) -> bool:
        """Whether no iteration reads what another one writes: all has the axis, or lies apart."""
        if type(node) is ir.Call and op_of(node.fn).is_asked:
            return True
        if self.is_elsewhere(node):
            return True
        names = (n for n in ir.names(node) if n not in self.behind and n not in self.apart)
        return all(self.groups.of(n) not in self.written for n in names)

    def is_elsewhere(self, node: ir.Rhs) -> bool:
        """Whether what is read is a part of an array into which no iteration writes."""
        base, index = node.args[:2] if is_op(node, Op.GETITEM) else (ir.NONE, ir.NONE)
        if type(base) is not ir.Name:
            return False
        items = self.items(base, index)
        parts = self.touched.get(self.groups.of(base.id), ())
        if items is None or not parts or parts[0].base != base.id or self.varies(*items):
            return False
        return self.is_outside([i for i in items if i != ir.NONE][parts[0].axis], parts[0].offset)

    def is_outside(self, item: ir.Atom, offset: int) -> bool:
        """Whether an item of an index is certainly none of the counter with a number added."""
        if type(item) is ir.Slice:
            plain = item.step in (ir.NONE, ir.Const(1))
            return plain and (
                self.is_most(item.upper, self.start, -offset)
                or self.is_most(self.stop, item.lower, offset)
            )
        return self.is_most(item, self.start, 1 - offset) or self.is_most(self.stop, item, offset)

    def is_most(self, small: ir.Atom, large: ir.Atom, more: int) -> bool:
        """Whether an integer and a number are together at most another one; neither is negative."""
        one, two = (atom_kind(a, self.kinds) for a in (small, large))
        least = [n for n in map(least_value, (one, two)) if n is not None and n >= 0]
        return len(least) == 2 and is_within(size_dim(one), more, size_dim(two))

    # --- parts of arrays ---

    def part(self, base: ir.Atom, index: ir.Atom) -> _Part | None:
        """The part of an array for all values of the counter, which stands at one place."""
        items = self.items(base, index) or ()
        at = [k for k, i in enumerate(items) if type(i) is ir.Name and i.id in self.counters]
        if len(at) != 1 or type(base) is not ir.Name:
            return None
        (k,), dims = at, ir.dims_of(atom_kind(base, self.kinds))
        (name,), axis = ir.names(items[k]), sum(i != ir.NONE for i in items[:k])
        offset = self.counters[name]
        span = None if dims is None else self.span(offset, dims[axis])
        if span is None:
            return None
        index = ir.Tup((*items[:k], span, *items[k + 1 :]))
        return _Part(base.id, index, axis, offset, sum(map(_is_kept, items[k + 1 :])))

    def span(self, offset: int, dim: ir.Dim) -> ir.Slice | None:
        """The places of the counter with a number added; None where some may be outside."""
        first, stop = (atom_kind(a, self.kinds) for a in (self.start, self.stop))
        least, length = least_value(first), size_dim(stop)
        if least is None or least + offset < 0 or not is_within(length, offset, dim):
            return None
        end = length.moved(offset) if type(length) is ir.Sym else offset + (self.ends[1] or 0)
        lower = self.moved(self.start, offset)
        upper = ir.NONE if ir.same_dim(end, dim) else self.moved(self.stop, offset)
        return ir.Slice(ir.NONE if lower == ir.Const(0) else lower, upper, ir.NONE)

    def moved(self, bound: ir.Atom, offset: int) -> ir.Atom:
        """A bound with a number added."""
        if type(bound) is ir.Const:
            return ir.Const(bound.value + offset)
        fn = operator.add if offset > 0 else operator.sub
        return self.apply(fn, bound, ir.Const(abs(offset))) if offset else bound

    # --- statements ---

    def take(self, k: int, stmt: ir.Stmt) -> bool:
        """Write what a statement is for all iterations; gives whether it is anything."""
        self.loc = stmt.loc
        added = _added(stmt, self.body)
        if added is not None:
            return self.total(stmt, *added)
        if isinstance(stmt, ir.Store):
            return self.stored(stmt)
        assert type(stmt) is ir.Assign
        if stmt.target.id in self.counters:
            return True
        rhs = self.value(k, stmt)
        self.out += () if rhs is None else (replace(stmt, rhs=rhs),)
        return rhs is not None

    def total(self, stmt: ir.Stmt, name: str, value: ir.Atom) -> bool:
        """The sum of what all iterations add to something, or take away from it."""
        own, *_ = (*ir.names(value), "")
        if own not in self.behind or not self.is_alone(name):
            return False
        mine, kind, rank = self.kinds[name], self.kinds[own], self.rank(value)
        if rank is None or not ir.is_float(mine) or ir.dtype_of(mine) != ir.dtype_of(kind):
            return False
        along = (("axis", ir.Const(rank - self.behind[own])),) if rank else ()
        whole = self.temp(ir.Call(np.sum, (value,), along))
        self.out += ir.substituted((stmt,), {own: whole})
        return True

    def is_alone(self, name: str) -> bool:
        """Whether no other name of the loop may share memory with what is written into."""
        others = ir.mention_counts(self.body).keys() - {name}
        shared = any(self.groups.share(name, n) for n in others)
        return not shared or self.groups.of(name) not in self.written

    def value(self, k: int, stmt: ir.Assign) -> ir.Rhs | None:
        """What a name is bound to; None where there is no form with the axis."""
        rhs, part = stmt.rhs, self.parts.get(id(stmt))
        if part is not None:
            found = self.taken(part)
        elif not self.reads(rhs) or not (type(rhs) is ir.Const or _computes(rhs)):
            return None
        elif not self.varies(rhs):
            self.apart |= {stmt.target.id} if self.is_elsewhere(rhs) else set()
            return rhs
        else:
            found = self.form(rhs) if type(rhs) is ir.Call else None
        if found is None or not self.fits(stmt.target, *found):
            return None
        if self.is_late(k, stmt):
            return ir.Call(np.copy, (self.temp(found[0]),))
        return ir.Name(part.base) if part is not None and self.is_all(part) else found[0]

    def is_all(self, part: _Part) -> bool:
        """Whether a part is all of an array into which nobody writes."""
        return {*part.index.items} == {ALL} and self.groups.of(part.base) not in self.written

    def taken(self, part: _Part) -> Found:
        """The part of an array that is the same one for every iteration but for the counter."""
        base = ir.Name(part.base)
        if self.varies(base, part.index):
            return None
        return ir.Call(operator.getitem, (base, part.index)), part.behind

    def is_late(self, k: int, stmt: ir.Assign) -> bool:
        """Whether a number is read of memory that is written before the last use of it."""
        if not is_op(stmt.rhs, Op.GETITEM) or self.rank(stmt.target) != 0:
            return False
        (base,), rest = ir.names(stmt.rhs.args[0]), self.body[k + 1 :]
        group = self.groups.of(base)
        writes = [j for j, s in enumerate(rest) if group in map(self.groups.of, written_into(s))]
        used = [j for j, s in enumerate(rest) if stmt.target.id in ir.reads(s)]
        return bool(writes) and max(used, default=0) > writes[0]

    def fits(self, target: ir.Name, call: ir.Call, behind: int) -> bool:
        """Whether a form gives what one iteration has with an axis more; it is noted then."""
        one, many = self.kinds[target.id], kind_of_call(call, self.all, False)
        rank = self.rank(target)
        if rank is None or not (ir.is_scalar(one) or (rank and is_array(one))):
            return False
        same = ir.dtype_of(one) is not None and ir.dtype_of(one) == ir.dtype_of(many)
        if not same or not is_array(many) or not ir.rank_of(many) == rank + 1 <= self.limit:
            return False
        if not is_op(call, Op.GETITEM) and returns_view(call, self.all):
            return False
        self.all[target.id], self.behind[target.id] = many, behind
        return True

    def stored(self, stmt: ir.Store) -> bool:
        """A store into a part of an array, or into what has the axis."""
        base, part = stmt.base, self.parts.get(id(stmt))
        place: tuple[ir.Atom | None, int] | None = None
        if part is not None and self.taken(part) is not None:
            place = part.index, part.behind
        elif base.id in self.behind:
            place = self.within(base, stmt.index) if stmt.index else (None, self.place(base))
        if place is None or not self.may_store(stmt):
            return False
        value = self.fitted(stmt.value, place[1])
        if value is not None:
            self.out.append(replace(stmt, index=place[0], value=value))
        return value is not None

    def may_store(self, stmt: ir.Store) -> bool:
        """Whether an array takes what iterations store as its elements do one by one."""
        whole, value = self.kinds[stmt.base.id], atom_kind(stmt.value, self.kinds)
        at = stmt.index
        region = whole if at is None else item_kind(whole, atom_kind(at, self.kinds))
        if None in (ir.rank_of(region), ir.dtype_of(value)) or not self.reads(stmt.value):
            return False
        if type(stmt) is not ir.AugAssign:
            return True
        fn = ir.OPERATORS[stmt.op]
        made = ir.dtype_of(call_kind(fn, (region, value), (), False))
        same = op_of(fn).is_elementwise and made == ir.dtype_of(region)
        return same and (at is not None or ir.rank_of(region) != 0)


def _computes(rhs: ir.Rhs) -> bool:
    """Whether something is a name, or a call that does nothing but give its result."""
    return type(rhs) is ir.Name or (type(rhs) is ir.Call and only_computes(rhs))


def _subscript(stmt: ir.Stmt) -> tuple[ir.Atom, ir.Atom] | None:
    """What a statement reads a part of, or stores into, with the index."""
    if isinstance(stmt, ir.Store):
        return None if stmt.index is None else (stmt.base, stmt.index)
    call = ir.call_of(stmt)
    return (call.args[0], call.args[1]) if is_op(call, Op.GETITEM) else None
