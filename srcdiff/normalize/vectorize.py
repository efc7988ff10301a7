"""Loops whose iterations do not depend on one another, as statements of whole arrays.

Takes a function and the kinds of its names; gives it with `B[i, :] += A[i, :k] @ B[:k, :]` for `for
j in range(n): B[i, j] += A[i, :k] @ B[:k, j]`.  What an iteration has a part of gets an axis more,
which stays where it lies in memory: the second one of `B` here.  The invariant: every element is
computed from the same ones, to the order of sums; what fails in an iteration may fail before it.

A loop through a range with steps of one is taken if its body only binds and stores, and if

- memory that is written is looked at by one name, and at one place along one axis, `j + c`, so that
  no iteration sees what another one has written, or where none of them writes (`A[i, :i]`);
- kinds show that `j + c` lies inside of the axis, or what it meets has the length of the range: a
  slice is cut off where an index fails, and two lengths that are not 1 must be the same then; what
  meets nothing is taken at an array of places, which fails as an index does, in an outer loop;
- no name that it binds is read before that, or behind the loop; a sum of numbers is a sum;
- each operation has a form with the axis, and the result has the dtype that it has for one;
- no more axes come about than the arrays have that it goes through: `A[i] @ x` becomes `A @ x`, but
  what needs an array of all products stays a loop.

A list that a loop fills, and of which nothing but its sum or an array is made, is an array at once.
Numbers that are read become parts of arrays: these are copied where the memory is written before
their last use.  What may be empty stands behind a test, unless all that it reads is there anyway.
"""

from __future__ import annotations

import operator
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import zip_longest

import numpy as np

from srcdiff import ir
from srcdiff.analysis.links import Groups
from srcdiff.analysis.points_to import PointsTo
from srcdiff.analysis.subscripts import counts, range_bounds
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import frozen, replace
from srcdiff.kinds.calls import atom_kind, call_kind, kind_of_call
from srcdiff.kinds.indexing import is_within, item_kind, least_value, size_dim
from srcdiff.normalize.axis_forms import AxisForms, Found, index_of, is_kept
from srcdiff.primitives.effects import makes_new, only_computes, returns_view, written_into
from srcdiff.primitives.operation import Bare, Meaning, op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array

FEW = 4  # numbers take NumPy less time one by one


def vectorized(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function with statements of whole arrays for innermost loops that can be such."""
    return _Loops(function, kinds).function(function)


def is_plain(stmt: ir.Stmt) -> bool:
    """Whether a statement is a loop with steps of one that only binds, stores and appends."""
    if type(stmt) is not ir.For or stmt.stop is not None or not counts(stmt):
        return False
    plain = all(
        type(s) is ir.Assign or isinstance(s, ir.Store) or is_op(ir.call_of(s), Op.APPEND)
        for s in stmt.body
    )
    return plain and range_bounds(stmt.iter)[2] == ir.Const(1)


class _Loops(Rewriter):
    """Goes over the loops of a function."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.whole, self.kinds = function, kinds
        self.bound = ir.binding_counts(function, function.params)
        self.readers = ir.reader_counts(function)
        self.loops = 0  # around the present statement
        self.met: list[tuple[ir.Atom, ir.Atom]] = []  # the elements that this block had before
        self.met_names = set[str]()  # what is mentioned there, or was
        self.made = frozenset[str]()  # the arrays, lists and zeros that it has just made
        self.here = frozenset[str]()  # the lists that it has filled
        self.mentioned = set[str]()  # the names that it has mentioned
        self.same: dict[str, str] = {}  # names that are left out, and those in their place
        self.arrays: dict[str, tuple[int, bool]] = {}  # lists that are: their axes, if they are new

    @cached_property
    def lists(self) -> Mapping[str, int]:
        """Lists of which nothing but their length, a reduction, or an array is made: how often.

        Items of those are such lists too, but of what is added up: lists would be joined.
        """
        asked = [c for c in ir.calls(self.whole) if _asks_list(c)]
        read = Counter(n for c in asked for n in ir.names(c.args[0]))
        fills = [[getattr(a, "id", "") for a in c.args]
                 for c in ir.calls(self.whole) if is_op(c, Op.APPEND)]  # fmt: skip
        mentions = ir.mention_counts(self.whole)
        summed = {n for c in asked if is_op(c, Op.SUM) for n in ir.names(c.args[0])}
        found: dict[str, int] = {}
        for name, _ in reversed(fills):
            read[name] += sum(to in found.keys() - summed for to, item in fills if item == name)
            # It is mentioned where it is made, and where it is filled.
            if self.bound[name] == 1 and mentions[name] == read[name] + 2:
                found[name] = read[name]
        return found

    @cached_property
    def groups(self) -> Groups:
        """The names that may share memory."""
        return PointsTo.of(self.whole, self.kinds).near

    def is_of_list(self, stmt: ir.Assign) -> bool:
        """Whether a statement makes an array of a list."""
        made = is_op(stmt.rhs, Op.ARRAY, Op.ASARRAY) and self.bound[stmt.target.id] == 1
        return made and not self.lists.keys().isdisjoint(ir.names(stmt.rhs))

    @cached_property
    def written(self) -> frozenset[str]:
        """The groups of memory that the function writes into somewhere; arrays of lists are new."""
        names = {n for s in ir.walk(self.whole.body) for n in written_into(s, self.kinds)}
        made = (s.target.id for s in ir.assignments(self.whole) if self.is_of_list(s))
        return frozenset(map(self.groups.of, names.difference(made, self.lists)))

    @cached_property
    def least(self) -> dict[str, tuple[ir.Atom, ...]]:
        """The integers of which others are the least."""
        found = ((s.target.id, s.rhs) for s in ir.assignments(self.whole))
        return {n: c.args for n, c in found if is_op(c, Op.MIN) and self.bound[n] == 1}

    def block(self, block: ir.Block) -> ir.Block:
        """A block anew."""
        around = self.met, self.made, self.here, self.mentioned
        self.met, self.made, self.here, self.mentioned = [], frozenset(), frozenset(), set()
        done = super().block(block)
        self.met, self.made, self.here, self.mentioned = around
        return done

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """A statement, or what stands for a loop."""
        new, gone = self.of_array(stmt), set(ir.bound_in(stmt))
        new = new if type(new) is tuple else self.plain(new)  # type: ignore[arg-type]
        mentioned = ir.mentions(stmt)
        self.made -= mentioned
        self.mentioned |= mentioned
        if _makes(ir.call_of(stmt)) or (type(stmt) is ir.Assign and _is_zero(stmt.rhs)):
            self.made |= gone
        self.note(_subscript(stmt), gone)
        return new

    def note(self, met: tuple[ir.Atom, ir.Atom] | None, gone: set[str]) -> None:
        """An element was there, and names are bound anew."""
        if met is not None:
            self.met.append(met)
            self.met_names.update(ir.names(met[0]), ir.names(met[1]))
        if not gone.isdisjoint(self.met_names):
            self.met = [m for m in self.met if gone.isdisjoint((*ir.names(m[0]), *ir.names(m[1])))]

    def function(self, function: ir.Function) -> ir.Function:
        """A function anew, in which an array and what was a list have one name."""
        done = super().function(function)
        if not self.arrays:
            return done
        lists = ir.replaced_in(done, lambda s: () if self.is_empty_list(s) else s)
        return ir.rebuilt(lists, body=ir.rename(lists.body, self.same))

    def is_empty_list(self, stmt: ir.Stmt) -> bool:
        """Whether a statement makes a list that is an array now."""
        made = type(stmt) is ir.Assign and is_op(stmt.rhs, Op.MAKE_LIST)
        return made and not self.arrays.keys().isdisjoint(ir.writes(stmt))

    def of_array(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """A statement that asks a list which is an array now."""
        call = ir.call_of(stmt)
        name = getattr(call.args[0], "id", "") if call is not None and call.args else ""
        if type(stmt) is not ir.Assign or call is None or name not in self.arrays:
            return stmt
        rank, new = self.arrays[name]
        if is_op(call, Op.LEN) or _reduces(call):
            return stmt
        if is_op(call, Op.SUM):
            along = (("axis", ir.Const(0)),) if rank > 1 else ()
            return replace(stmt, rhs=ir.Call(np.sum, call.args, along))
        target = stmt.target.id
        once = name in self.here and self.lists[name] == self.bound[target] == 1
        if new and once and target not in self.mentioned:
            self.same |= {target: name} if ir.is_temporary(target) else {name: target}
            return ()
        return replace(stmt, rhs=ir.Call(np.copy, call.args))

    def plain(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """The same, before it is noted which elements it had."""
        if type(stmt) is not ir.For or not is_plain(stmt) or not self.is_closed(stmt):
            self.loops += isinstance(stmt, (ir.For, ir.While))
            new = self.inside(stmt)
            self.loops -= isinstance(stmt, (ir.For, ir.While))
            return new
        found = _Iterations(self, stmt)
        done = found.statements()
        if done is None and found.is_unsure and not self.loops and not self.whole.target.native:
            found = _Iterations(self, stmt, may_be_short=False)
            done = found.statements()
        if done is None:
            return self.inside(stmt)
        self.arrays |= found.filled
        self.here |= found.filled.keys()
        return done

    def is_closed(self, loop: ir.For) -> bool:
        """Whether nobody else binds or reads what a loop binds; sums left out."""
        bound = [s.target.id for s in loop.body
                 if type(s) is ir.Assign and _added(s, loop.body) is None]  # fmt: skip
        inside, mine = ir.reader_counts(loop.body), (loop.target.id, *bound)
        return all(self.bound[n] == 1 and self.readers[n] == inside[n] for n in mine)


def _asks_list(call: ir.Call) -> bool:
    """Whether a call takes a list for an array, or asks how long it is."""
    plain = is_op(call, *_OF_LISTS) and len(call.args) == 1 and not call.kwargs
    return plain or (_reduces(call) and bool(call.args))


def _reduces(call: ir.Call) -> bool:
    """Whether a call of a function of NumPy reduces an array."""
    operation = op_of(call.fn)
    axes = operation.axes
    total = axes is not None and axes.meaning is Meaning.ALONG and axes.bare is Bare.TOTAL
    return total and operation.name.startswith("numpy.")


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


# --- one loop ------------------------------------------------------------------------------------


@frozen
class _Part:
    """The part of an array that all iterations touch together.

    `axis` is that of the array along which they differ, `offset` what is added to the counter;
    `behind` says how many axes of the part of one iteration lie behind it.  `is_short`: it may end
    before the range does, but does not have the length 1 then.
    """

    base: str
    items: tuple[ir.Atom, ...]
    axis: int
    offset: int
    behind: int
    is_short: bool = False

    @property
    def where(self) -> tuple[str, int, int]:
        """What two parts have in common of which an iteration touches the same elements."""
        return self.base, self.axis, self.offset


class _Iterations(AxisForms):
    """The statements for all iterations of a loop."""

    def __init__(self, around: _Loops, stmt: ir.For, *, may_be_short: bool = True) -> None:
        super().__init__(around.fresh, around.kinds)
        self.header, self.body, self.may_be_short = stmt, stmt.body, may_be_short
        self.met, self.made, self.lists = around.met, around.made, around.lists
        self.filled: dict[str, tuple[int, bool]] = {}  # lists that are arrays, as in `_Loops`
        self.groups, self.target, self.around = around.groups, around.whole.target, around
        self.start, self.stop, _ = range_bounds(stmt.iter)
        self.stops = self.stop, *around.least.get(getattr(self.stop, "id", ""), ())
        self.numbers: dict[str, ir.Name] = {}  # arrays of counters
        self.counters = {stmt.target.id: 0, **dict(self.shifted(stmt.target))}
        self.written = self.groups_written(self.body)
        self.apart = set[str]()  # names of what lies where no iteration writes
        self.short = set[str]()  # names of what may end before the range does
        self.is_unsure = False  # whether a place is met of which nobody knows that it is there
        self.same: dict[str, str] = {}  # names of arrays that are whole ones
        found = ((id(s), self.part(*both)) for s in self.body if (both := _subscript(s)))
        self.parts = {key: part for key, part in found if part is not None}
        self.touched: dict[str, list[_Part]] = {}
        for part in self.parts.values():
            if self.groups.of(part.base) in self.written:
                self.touched.setdefault(self.groups.of(part.base), []).append(part)
        chosen = (both for s in self.body if (both := _subscript(s)) and self.varies(both[1]))
        self.limit = max((self.rank(base) or 0 for base, _ in chosen), default=1)
        wide = (p for p in self.parts.values() if sum(map(is_kept, p.items)) > 1)
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
        self.out = [*self.used(ir.rename(tuple(self.out), self.same))]
        if self.is_filled() or self.is_there():
            return tuple(map(self.begun, self.out))
        if self.filled:
            return None  # without an iteration it is a list
        test, loc = self.fresh(), self.header.loc
        call = ir.Call(operator.lt, (self.start, self.stop))
        return ir.Assign(test, call, loc), ir.If(test, tuple(self.out), (), loc)

    def begun(self, stmt: ir.Stmt) -> ir.Stmt:
        """`s = v` for `s += v`, where `s` is zero before."""
        found = _added(stmt, (stmt,))
        if found is None or found[0] not in self.made or not ir.is_scalar(self.kinds[found[0]]):
            return stmt
        taken = is_op(ir.call_of(stmt), Op.SUB) or getattr(stmt, "op", "+") == "-"
        return stmt if taken else ir.Assign(ir.Name(found[0]), found[1], stmt.loc)

    def used(self, block: ir.Block) -> ir.Block:
        """The statements without products of which a sum has become a product."""
        mine = self.behind.keys() | (self.all.keys() - self.around.kinds.keys())
        read, kept = set[str](), list[ir.Stmt]()
        for stmt in reversed(block):
            bound = stmt.target.id if type(stmt) is ir.Assign else ""
            if bound in read or bound not in mine:
                kept.append(stmt)
                read.update(ir.reads(stmt))
        return tuple(reversed(kept))

    def pays(self) -> bool:
        """Whether there are enough iterations; loops over numbers are compiled as they are."""
        first, stop = self.ends
        count = stop - first if first is not None is not stop else sys.maxsize
        if any(self.rank(ir.Name(n)) for n in self.behind):
            return count > 1
        return count >= FEW and not self.target.native

    def is_filled(self) -> bool:
        """Whether there certainly is an iteration."""
        first, least = self.ends[0], least_value(atom_kind(self.stop, self.kinds))
        return first is not None is not least and first < least

    def is_there(self) -> bool:
        """Whether all that is read is there, and nothing can fail, where there is no iteration."""
        ends = [least_value(atom_kind(a, self.kinds)) for a in self.stops[1:] or self.stops]
        cut = [p.offset for p in self.parts.values() if {*p.items} != {ir.ALL}]
        if cut and any(end is None or end + min(cut) < 0 for end in ends):
            return False  # such a slice would count from the end
        return all(map(self.is_safe, self.body))

    def is_safe(self, stmt: ir.Stmt) -> bool:
        """Whether a statement succeeds where there is no iteration."""
        both, call, added = _subscript(stmt), ir.call_of(stmt), _added(stmt, self.body)
        if both is not None:
            return self.is_inside(*both) and (type(stmt) is ir.Assign or self.takes(stmt))
        if added is not None and self.rank(added[1]):  # which may give more elements to a sum
            return ir.same_shape(self.kinds[added[0]], atom_kind(added[1], self.kinds))
        if call is None:
            return True
        axes = op_of(call.fn).axes
        plain = self.varies(call) and axes is not None and axes.meaning in _PLAIN
        return (plain or is_op(call, *_SAFE)) and self.meet(call)

    def takes(self, stmt: ir.Stmt) -> bool:
        """Whether what is stored certainly has the shape of the part, or is a number."""
        if not isinstance(stmt, ir.Store) or not self.rank(stmt.value):
            return True
        whole, value = (atom_kind(a, self.kinds) for a in (stmt.base, stmt.value))
        at = stmt.index
        region = whole if at is None else item_kind(whole, atom_kind(at, self.kinds))
        return ir.same_shape(region, value)

    def meet(self, call: ir.Call) -> bool:
        """Whether the operands of a call certainly have lengths that fit."""
        shapes = [d for a in call.args if (d := ir.dims_of(atom_kind(a, self.kinds)))]
        if op_of(call.fn).means(Meaning.PRODUCT) and len(shapes) == 2:
            return ir.same_dim(shapes[0][-1], shapes[1][-2:][0])
        axes = zip_longest(*map(reversed, shapes), fillvalue=1)
        met = ([d for d in axis if d != 1] for axis in axes)
        return all(ir.same_dim(d, found[0]) for found in met for d in found[1:])

    def is_inside(self, base: ir.Atom, index: ir.Atom) -> bool:
        """Whether the integers of an index, those that vary left out, are certainly inside."""
        dims, axes = ir.dims_of(atom_kind(base, self.kinds)), self.by_axis(base, index)
        if dims is None or len(axes) != len(dims):
            return False
        met = [self.by_axis(*both) for both in self.met if both[0] == base]
        return all(
            type(item) is ir.Slice or self.varies(item) or item in (m[k] for m in met)
            or _is_inside(atom_kind(item, self.kinds), dim)
            for k, (item, dim) in enumerate(zip(axes, dims, strict=True))
        )  # fmt: skip

    def by_axis(self, base: ir.Atom, index: ir.Atom) -> list[ir.Atom]:
        """What stands in an index for each axis of an array; nothing where that is not known."""
        return [i for i in self.items(base, index) or () if i != ir.NONE]

    @cached_property
    def ends(self) -> tuple[int | None, int | None]:
        """The ends of the range, where they are known."""
        first, stop = (atom_kind(a, self.kinds) for a in (self.start, self.stop))
        return getattr(first, "value", None), getattr(stop, "value", None)

    # --- memory ---

    def groups_written(self, stmts: Iterable[ir.Stmt]) -> set[str]:
        """The groups of memory that some statements write into."""
        return {self.groups.of(n) for s in stmts for n in written_into(s, self.kinds)}

    def memory(self, atom: ir.Atom) -> set[str]:
        """The groups of memory in which the numbers of all iterations lie."""
        found = set[str]()
        for name in ir.names(atom):
            own = self.same.get(name, name)
            call = self.written_as(ir.Name(own))
            part = call if is_op(call, Op.GETITEM) else None
            found |= {self.groups.of(name), self.groups.of(own)}
            found |= set() if part is None else self.memory(part.args[0])
        return found

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
        span, is_short = (None, False) if dims is None else self.span(offset, dims[axis])
        if span is None:
            return None
        whole = (*items[:k], span, *items[k + 1 :])
        return _Part(base.id, whole, axis, offset, sum(map(is_kept, items[k + 1 :])), is_short)

    def span(self, offset: int, dim: ir.Dim) -> tuple[ir.Slice | None, bool]:
        """The places of the counter with a number added, if they may end before the range does.

        None where some may be outside and nobody would see that.
        """
        least = least_value(atom_kind(self.start, self.kinds))
        length, *more = (size_dim(atom_kind(a, self.kinds)) for a in self.stops)
        if least is None or least + offset < 0:
            self.is_unsure = True
            return None, False
        is_short = not any(is_within(n, offset, dim) for n in (length, *more))
        self.is_unsure |= is_short
        lower = self.moved(self.start, offset)
        upper = self.end(offset, dim)
        span = ir.Slice(ir.NONE if lower == ir.Const(0) else lower, upper, ir.NONE)
        found = not is_short or (self.may_be_short and ir.is_big(self.length_of(span, dim)))
        return span if found else None, is_short

    def end(self, offset: int, dim: ir.Dim) -> ir.Atom:
        """The end of the range with a number added, as one writes it for an axis."""
        stop = size_dim(atom_kind(self.stop, self.kinds))
        end = stop.moved(offset) if type(stop) is ir.Sym else offset + (self.ends[1] or 0)
        if ir.same_dim(end, dim):
            return ir.NONE
        away = _distance(end, dim)
        return self.moved(self.stop, offset) if away is None else ir.Const(-away)

    def length_of(self, span: ir.Slice, dim: ir.Dim) -> ir.Dim:
        """How long a slice of an axis is."""
        kind = item_kind(ir.Array("float64", (dim,)), atom_kind(span, self.all))
        return (ir.dims_of(kind) or (None,))[0]

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
            return self.stored(k, stmt)
        if type(stmt) is ir.Effect:
            return self.appended(stmt)
        assert type(stmt) is ir.Assign
        if stmt.target.id in self.counters:
            return True
        rhs, part = self.value(k, stmt), self.parts.get(id(stmt))
        if part is not None and {*part.items} == {ir.ALL} and is_op(rhs, Op.GETITEM):
            self.same[stmt.target.id] = part.base
        elif rhs is not None:
            self.out.append(replace(stmt, rhs=rhs))
        return rhs is not None

    def appended(self, stmt: ir.Effect) -> bool:
        """What is appended to a list that has just been made, which is an array of it then."""
        call = ir.call_of(stmt)
        assert call is not None
        name, *rest = (getattr(a, "id", "") for a in call.args)
        alone = name in self.lists and ir.mention_counts(self.body)[name] == 1
        if not alone or name not in self.made or rest[0] not in self.behind:
            return False
        if rest[0] in self.short:
            return False
        value, rank = ir.Name(rest[0]), self.rank(ir.Name(rest[0])) or 0
        # Of arrays an empty list does not know how many axes they have.
        if self.place(value) != rank or (rank and not self.is_filled()):
            return False
        short = ir.dtype_of(self.kinds[value.id]) in _SHORT
        new, changes = self.is_new(value), self.changes(value)
        if short or (rank and changes and not new):
            return False
        self.filled[name] = rank + 1, new or changes
        if new:
            self.same[value.id] = name
        else:
            kept = ir.Call(np.copy, (value,)) if changes else value
            self.out.append(ir.Assign(ir.Name(name), kept, stmt.loc))
        return True

    def changes(self, value: ir.Name) -> bool:
        """Whether the memory of something may be written into, in the loop or elsewhere."""
        return not self.around.written.isdisjoint(self.memory(value))

    def total(self, stmt: ir.Stmt, name: str, value: ir.Atom) -> bool:
        """The sum of what all iterations add to something, or take away from it."""
        own, *_ = (*ir.names(value), "")
        if own not in self.behind or own in self.short or not self.is_alone(name):
            return False
        mine, kind, rank = self.kinds[name], self.kinds[own], self.rank(value)
        if mine == _ANY_NUMBER:  # it is `s = 0` at first
            mine = ir.Scalar("float64")
        if rank is None or not ir.is_float(mine) or ir.dtype_of(mine) != ir.dtype_of(kind):
            return False
        self.out += ir.substituted((stmt,), {own: self.summed(ir.Name(own))})
        return True

    def summed(self, value: ir.Name) -> ir.Name:
        """The sum of what all iterations have; one of products is a product."""
        factors = self.factors(value)
        if factors is not None:
            return self.apply(operator.matmul, *factors)
        rank = self.rank(value) or 0
        along = (("axis", ir.Const(rank - self.place(value))),) if rank else ()
        return self.temp(ir.Call(np.sum, (value,), along))

    def factors(self, value: ir.Name) -> tuple[ir.Atom, ir.Atom] | None:
        """Numbers and numbers, or numbers and lines, whose products have been made for a sum."""
        x, y = self.product_of(value) or (value, value)
        if x == y or not self.varies(x) or not self.varies(y):
            return None
        ranks = [ir.rank_of(atom_kind(a, self.all)) for a in (x, y)]
        if ranks == [1, 1] and self.rank(value) == 0:
            return x, y
        if self.rank(value) != 1 or 2 not in ranks:
            return None
        numbers, lines = (x, y) if ranks[1] == 2 else (y, x)
        if not self.place(value):
            return (lines, numbers) if 1 in ranks else None
        for column, rows in ((x, y), (y, x)):
            call = self.written_as(column)
            if is_op(call, Op.GETITEM) and call.args[1] == ir.Tup((ir.ALL, ir.NONE)):
                return call.args[0], rows
        return None

    def written_as(self, atom: ir.Atom) -> ir.Rhs | None:
        """What has been written for a name."""
        return next((s.rhs for s in self.out if type(s) is ir.Assign and s.target == atom), None)

    def product_of(self, value: ir.Atom) -> tuple[ir.Atom, ir.Atom] | None:
        """The factors of a product element by element, where these are what they were."""
        call = self.written_as(value)
        if not is_op(call, Op.MUL):
            return None
        x, y = call.args
        made = [getattr(s, "rhs", None) is call for s in self.out].index(True)
        changed = self.groups_written(self.out[made:])
        return (x, y) if changed.isdisjoint(self.memory(x) | self.memory(y)) else None

    def reduced(self, call: ir.Call) -> Found:
        """A reduction; the sum of the products with a vector is a product with that."""
        x = call.args[0]
        both = self.product_of(x) if is_op(call, Op.NP_SUM) and not call.kwargs else None
        if both is None or self.rank(x) != 1 or len(call.args) > 1:
            return super().reduced(call)
        for vector, lines in (both, both[::-1]):
            length, *rest = (ir.dims_of(atom_kind(a, self.kinds)) or (None,) for a in both)
            alike = len(length) == 1 and all(len(r) == 1 and ir.same_dim(*length, *r) for r in rest)
            if alike and self.varies(lines) and not self.varies(vector):
                args = (lines, vector) if self.place(lines) else (vector, lines)
                return ir.Call(operator.matmul, args), 0
        return super().reduced(call)

    def added(self, stmt: ir.AugAssign, region: ir.Kind) -> bool:
        """The sum of what all iterations add to one element, or part, of an array."""
        value, kind = stmt.value, atom_kind(stmt.value, self.kinds)
        alike = ir.rank_of(region) == self.rank(value) and ir.dtype_of(region) == ir.dtype_of(kind)
        once = ir.mention_counts(self.body)[stmt.base.id] == 1 and self.is_alone(stmt.base.id)
        if stmt.op not in ("+", "-") or not (once and alike and ir.is_float(kind)):
            return False
        if type(value) is not ir.Name or value.id not in self.behind or value.id in self.short:
            return False
        self.out.append(replace(stmt, value=self.summed(value)))
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
            found = self.form(self.with_numbers(rhs)) if type(rhs) is ir.Call else None
        if found is None or not self.fits(stmt.target, *found):
            return None
        if self.is_short(rhs) if part is None else part.is_short:
            self.short.add(stmt.target.id)
        return ir.Call(np.copy, (self.temp(found[0]),)) if self.is_late(k, stmt) else found[0]

    def is_short(self, node: ir.Rhs) -> bool:
        """Whether all that varies in something may end before the range does."""
        return all(n in self.short or not self.varies(ir.Name(n)) for n in ir.names(node))

    def with_numbers(self, call: ir.Call) -> ir.Call:
        """A call with arrays of its counters in their place; not of one that says a place alone."""
        names = [n for n in ir.names(call) if n in self.counters]
        alone = is_op(call, Op.GETITEM) and len(ir.occurrences(call.args[1])) < 2
        place = alone and self.may_be_short
        mine = {} if place else {n: self.number(n) for n in names}
        new = ir.map_rhs(lambda n: mine.get(n.id, n), call) if mine else call
        assert type(new) is ir.Call
        return new

    def in_all(self, atom: ir.Atom) -> ir.Atom:
        """The numbers that a counter is; anything else itself."""
        counter = type(atom) is ir.Name and atom.id in self.counters
        return self.number(atom.id) if counter else atom  # type: ignore[union-attr]

    def number(self, counter: str) -> ir.Name:
        """The array of the numbers that a counter is."""
        if counter not in self.numbers:
            ends = [self.moved(a, self.counters[counter]) for a in (self.start, self.stop)]
            made = self.apply(np.arange, *ends[ends[0] == ir.Const(0) :])
            self.kinds[made.id] = ir.Scalar("int64", True)
            self.numbers[counter], self.behind[made.id] = made, 0
        return self.numbers[counter]

    def item_of(self, call: ir.Call) -> Found:
        """A part of what has the axis, or elements of another array at places that are others."""
        base, index = call.args
        items = self.items(base, index) or ()
        if self.varies(base) or not self.varies(*items):
            return super().item_of(call)
        at = [k for k, i in enumerate(items) if type(i) is not ir.Slice]
        if any(self.varies(i) for k, i in enumerate(items) if k not in at):
            return None
        # Side by side they are one axis there; else it is put first.
        if len(at) != at[-1] + 1 - at[0] or not all(self.is_place(items[k]) for k in at):
            return None
        return call, len(items) - at[-1] - 1

    def is_place(self, item: ir.Atom) -> bool:
        """Whether something is an integer in each iteration, of an array or of all of them."""
        kind = atom_kind(item, self.kinds)
        computed = self.varies(item) and item not in self.numbers.values()
        if self.may_be_short and computed and getattr(kind, "python", None) is not False:
            self.is_unsure = True
            return False
        return type(kind) is ir.Scalar and str(kind.dtype).startswith("int")

    def taken(self, part: _Part) -> Found:
        """The part of an array that is the same one for every iteration but for the counter."""
        base = ir.Name(part.base)
        if self.varies(base, *part.items):
            return None
        return ir.Call(operator.getitem, (base, index_of(part.items))), part.behind

    def is_late(self, k: int, stmt: ir.Assign) -> bool:
        """Whether a number is read of memory that is written before the last use of it."""
        if not is_op(stmt.rhs, Op.GETITEM) or self.rank(stmt.target) != 0:
            return False
        if type(stmt.rhs.args[0]) is not ir.Name:
            return False  # it is from outside
        base, rest = stmt.rhs.args[0].id, self.body[k + 1 :]
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
        if type(one) is ir.Scalar and one.python is not False:
            # Numbers of Python fail where those of NumPy are infinite, and integers have no end.
            if not (_is_plain_arithmetic(call) if ir.is_float(one) else self.is_exact(call)):
                return False
        same = ir.dtype_of(one) is not None and ir.dtype_of(one) == ir.dtype_of(many)
        if not same or not is_array(many) or not ir.rank_of(many) == rank + 1 <= self.limit:
            return False
        if not is_op(call, Op.GETITEM) and returns_view(call, self.all):
            return False
        self.all[target.id], self.behind[target.id] = many, behind
        return True

    def is_exact(self, call: ir.Call) -> bool:
        """Whether arrays compute the same integers as Python, which has no largest ones."""
        divisor = least_value(atom_kind(call.args[-1], self.all))
        if is_op(call, Op.MOD, Op.FLOORDIV):
            return divisor is not None and divisor > 0
        return is_op(call, Op.ADD, Op.SUB)

    def stored(self, k: int, stmt: ir.Store) -> bool:
        """A store into a part of an array, or into what has the axis."""
        base, part, index = stmt.base, self.parts.get(id(stmt)), stmt.index
        if type(stmt) is ir.AugAssign and index is not None and not self.varies(base, index):
            return self.added(stmt, item_kind(self.kinds[base.id], atom_kind(index, self.kinds)))
        place: tuple[ir.Atom | None, int] | None = None
        if part is not None and self.taken(part) is not None:
            if part.is_short and self.is_short(stmt.value):
                return False
            place = index_of(part.items), part.behind
        elif base.id in self.behind:
            place = self.within(base, index) if index else (None, self.place(base))
        if place is None:
            return type(stmt) is ir.AugAssign and index is not None and self.scattered(stmt)
        if not self.may_store(stmt):
            return False
        value, index = self.fitted(self.in_all(stmt.value), place[1]), place[0]
        if type(stmt) is ir.AugAssign and index == ir.Const(...):
            index = None
        if type(value) is ir.Name and self.is_made_of(k, stmt, value):
            self.same[value.id] = base.id
        elif value is not None:
            self.out.append(replace(stmt, index=index, value=value))
        return value is not None

    def scattered(self, stmt: ir.AugAssign) -> bool:
        """What is added to elements of an array, or taken away, at places that are others."""
        base, value, index = stmt.base, stmt.value, stmt.index
        assert index is not None
        place = self.with_numbers(ir.Call(operator.getitem, (base, index)))
        found, index = self.item_of(place), place.args[1]
        once = ir.mention_counts(self.body)[base.id] == 1 and self.is_alone(base.id)
        if found is None or stmt.op not in ("+", "-") or not once or not self.may_store(stmt):
            return False
        if self.is_short(index) and self.is_short(value):
            return False
        fitted = self.fitted(self.in_all(value), found[1])
        fn, text = _AT[stmt.op]
        if fitted is not None:
            call = ir.Call(fn, (base, index, fitted), text=text)
            self.out.append(ir.Effect(call, stmt.loc))
        return fitted is not None

    def is_made_of(self, k: int, stmt: ir.Store, value: ir.Name) -> bool:
        """Whether a store gives every element of an array that has just been made a new one.

        It is that array then: nothing may be written into it behind the store.
        """
        part, name = self.parts.get(id(stmt)), stmt.base.id
        if part is None or {*part.items} != {ir.ALL} or type(stmt) is not ir.SetItem:
            return False
        once = ir.mention_counts(self.body)[name] == 1 and name in self.made
        whole, kind = self.kinds[name], atom_kind(value, self.all)
        alike = ir.same_shape(whole, kind) and ir.dtype_of(whole) == ir.dtype_of(kind)
        kept = self.groups.of(value.id) not in self.groups_written(self.body[k + 1 :])
        return once and alike and kept and self.is_new(value)

    def is_new(self, value: ir.Name) -> bool:
        """Whether something is an array that has just been made, and has no other name."""
        call = self.written_as(value)
        made = type(call) is ir.Call and makes_new(call.fn) and value.id not in self.same
        return made and not returns_view(call, self.all)  # type: ignore[arg-type]

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


def _is_plain_arithmetic(call: ir.Call) -> bool:
    """Whether arrays compute what numbers of Python do, which fail nowhere."""
    divisor = call.args[-1] if is_op(call, Op.DIV, Op.POW) else ir.NONE
    value = divisor.value if type(divisor) is ir.Const else None
    if is_op(call, Op.POW):
        return type(value) is int and 0 < value < 5
    return is_op(call, Op.ADD, Op.SUB, Op.MUL, Op.NEG) or (is_op(call, Op.DIV) and bool(value))


def _makes(call: ir.Call | None) -> bool:
    """Whether a call makes an array, or a list without items."""
    return is_op(call, *_MADE) and not (is_op(call, Op.MAKE_LIST) and call.args)


_ANY_NUMBER = ir.Scalar(None, None)
_AT = {"+": (np.add.at, "np.add.at"), "-": (np.subtract.at, "np.subtract.at")}
_SHORT = ("int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64")
"""Integers that `np.sum` adds up as longer ones."""

_OF_LISTS = (Op.ARRAY, Op.ASARRAY, Op.STACK, Op.SUM, Op.LEN)
_MADE = (Op.MAKE_LIST, Op.ZEROS, Op.ZEROS_LIKE, Op.EMPTY, Op.EMPTY_LIKE)
_SAFE = (Op.ADD, Op.SUB, Op.MUL, Op.NEG, Op.NP_SUM)
_PLAIN = (Meaning.ELEMENTS, Meaning.COMPARED, Meaning.LIKE, Meaning.PRODUCT)
"""What fails for no elements at all only where it fails for any number of them."""


def _is_zero(rhs: ir.Rhs) -> bool:
    """Whether something is the number 0."""
    return type(rhs) is ir.Const and str(rhs.value) in ("0", "0.0")


def _is_inside(kind: ir.Kind, dim: ir.Dim) -> bool:
    """Whether an integer is certainly the place of an element."""
    least, size = least_value(kind), size_dim(kind)
    return least is not None and least >= 0 and is_within(size, 1, dim)


def _distance(end: ir.Dim, dim: ir.Dim) -> int | None:
    """How far an end lies before that of an axis, None where the axis may be shorter than that."""
    if type(end) is not ir.Sym or type(dim) is not ir.Sym or end.name != dim.name:
        return None
    away = dim.offset - end.offset
    return away if 0 < away <= dim.least + dim.offset else None


def _computes(rhs: ir.Rhs) -> bool:
    """Whether something is a name, or a call that does nothing but give its result."""
    return type(rhs) is ir.Name or (type(rhs) is ir.Call and only_computes(rhs))


def _subscript(stmt: ir.Stmt) -> tuple[ir.Atom, ir.Atom] | None:
    """What a statement reads a part of, or stores into, with the index."""
    if isinstance(stmt, ir.Store):
        return None if stmt.index is None else (stmt.base, stmt.index)
    call = ir.call_of(stmt)
    return (call.args[0], call.args[1]) if is_op(call, Op.GETITEM) else None
