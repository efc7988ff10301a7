"""Loops over planes of arrays as loops over elements that have them inside.

Takes a loop whose array statements work element by element on planes `x[..., k]`, whose elements
lie far apart; gives `for i: for j: for k` as a function, in which what was a plane is a number, and
the loop itself with what it asks alone: shapes, integers, and names.  The invariant: each element
is computed from the same elements as before, by the same operations, in the order of before.  So
what is written is read and written at one place along the axes that go outside; what is only added
to at several may add up in another order, unless no two iterations may meet (`loose`).
"""

from __future__ import annotations

import operator
from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.analysis.effects import slot_of
from srcdiff.analysis.links import Groups
from srcdiff.analysis.liveness import first_uses
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import frozen, replace
from srcdiff.kernels.elements import Dims, Map, dims_in, dtype_of, element_of, rounds_once
from srcdiff.kernels.groups import aligned
from srcdiff.kernels.loop_nests import COMPILED, ZERO, shown
from srcdiff.kernels.places import Place, Views
from srcdiff.primitives.ops import Op, is_op, op_named
from srcdiff.runtime.loops import check_shapes

_NEW_LIST = ir.Call(ir.make_list)
_LIKE = {Op.ZEROS_LIKE: 0.0, Op.ONES_LIKE: 1.0, Op.FULL_LIKE: None}
_SHAPED = {Op.ZEROS: 0.0, Op.ONES: 1.0, Op.FULL: None}
_COPIES = (Op.COPY, Op.COPY_METHOD)


@frozen
class Known:
    """A function, and what is known of it.

    `shapes` are the names of the shapes of arrays, `lists` those that are only appended to and
    popped from; `counts` says how often a name is bound.  `loose`: no two iterations may add to one
    element; `ordered`: new arrays are laid out as NumPy lays them.
    """

    function: ir.Function
    kinds: ir.Kinds
    views: Views
    shapes: Mapping[str, ir.Name]
    lists: frozenset[str]
    counts: Mapping[str, int]
    shared: Groups
    loose: bool
    ordered: bool


@frozen
class Spot:
    """Elements of an array: the axis of the loops that each of its axes is, or None, and where.

    `starts`: where the index begins along an axis, or what it is.
    """

    root: str
    axes: tuple[int | None, ...]
    starts: tuple[ir.Atom, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it is one element in all iterations of the loop."""
        return None not in self.axes and set(self.starts) == {ZERO}

    @property
    def outside(self) -> tuple[Any, ...]:
        """Where it is along the axes of the loops."""
        found = enumerate(zip(self.axes, self.starts))
        return tuple((k, axis, start) for k, (axis, start) in found if axis is not None)


def turned_loops(of: Known, fresh: ir.Fresh) -> dict[int, Turned | None]:
    """The loops of a function that are to have others outside, by identity.

    What one of them saves another one takes back, so that neither has a list of planes: None of
    what makes it.
    """
    found: dict[int, Turned | None] = {}
    for block in ir.walk_blocks(of.function.body):
        loops = [s for s in block if type(s) is ir.For and _is_asked(s)]
        tried_lists: dict[str, ir.Name] = {}
        tried = [Turned(of, s, block, ir.Fresh(fresh.taken), tried_lists) for s in loops]
        fit = [t for t in tried if t.fits()]
        lists = {s.target.id: s for s in block if type(s) is ir.Assign and s.rhs == _NEW_LIST}
        while alone := [t for t in fit if not t.has_tapes(fit, lists)]:
            fit = [t for t in fit if t not in alone]
        partly: dict[str, ir.Name] = {}
        for loop in (t.loop for t in fit):
            found[id(loop)] = turned = Turned(of, loop, block, fresh, partly)
            turned.fits()
            found.update((id(lists[n]), None) for n in turned.pushes() - partly.keys())
    return found


def _is_asked(loop: ir.For) -> bool:
    """Whether a loop takes planes of arrays: the last item of an index is an integer of its own."""
    own = ir.bound((loop,))
    indices = [s.index for s in ir.walk(loop.body) if isinstance(s, ir.Store)]
    calls = (ir.call_of(s) for s in ir.walk(loop.body))
    indices += [c.args[1] for c in calls if c is not None and is_op(c, Op.GETITEM)]
    parts = [i.items for i in indices if type(i) is ir.Tup and any(_is_piece(k) for k in i.items)]
    return bool(parts) and all(not own.isdisjoint(ir.names(p[-1])) for p in parts)


def _is_piece(item: ir.Atom) -> bool:
    return type(item) is ir.Slice


class Turned:
    """A loop that is to have others outside: `inner` is what it does, `outer` what it asks.

    Planes that it binds are numbers inside: those of `first` hold something before, `last` has
    arrays for those that something else reads.  So are those that it is given (`held`), whether it
    writes into them or not.  Lists in which names are saved that may have no value yet stay, to say
    so: `partly` has the arrays of numbers beside them.
    """

    def __init__(
        self, of: Known, loop: ir.For, block: ir.Block, fresh: ir.Fresh, partly: dict[str, ir.Name]
    ) -> None:
        self.of, self.loop, self.around, self.partly = of, loop, block, partly
        self.whole, self.kinds, self.share = of.function, of.kinds, of.shared.share
        self.fresh = ir.Fresh()
        self.outer, self.inner = Builder(fresh, loop.loc), Builder(self.fresh, loop.loc)
        self.bound = ir.bound((loop,))
        self.exposed = (first_uses(loop.body)[0] & self.bound) - {loop.target.id}
        mine, every = ir.mention_counts((loop,)), ir.mention_counts(self.whole)
        self.kept = {n for n in self.bound if every[n] > mine[n]}
        self.stored = {s.base.id for s in ir.walk(self.whole.body) if isinstance(s, ir.Store)}
        self.source: Spot | None = None
        self.loops: list[ir.Name] = []
        self.lengths: list[ir.Name] = []
        self.header: tuple[ir.Atom, ...] = ()
        self.results: dict[str, ir.Name] = {}
        self.names: dict[str, ir.Name] = {}
        self.arrays: dict[str, ir.Name] = {}
        self.numbers: dict[str, ir.Name] = {}
        self.first: dict[str, ir.Name] = {}
        self.last: dict[str, ir.Name] = {}
        self.held: dict[str, bool] = {}
        self.hollow: set[str] = set()
        self.counts: dict[str, ir.Name] = {}
        self.tops: dict[str, ir.Name] = {}
        self.known: dict[Spot, ir.Atom] = {}
        self.asked: dict[Any, ir.Atom] = {}
        self.checked: set[Any] = set()
        self.uses: list[tuple[Spot, str]] = []
        self.aliased: list[tuple[str, ir.Stmt]] = []
        self.sizes: dict[Any, Any] = {}
        self.sized: set[Any] = set()

    # --- whether it may be ------------------------------------------------------------------------

    def fits(self) -> bool:
        """Whether the loop may stand inside of others."""
        header = self.loop.iter
        if self.loop.stop is not None or not is_op(header, Op.RANGE) or not self.has_space():
            return False
        assert type(header) is ir.Call
        if not all(map(self.is_whole_number, header.args)) or not self.bound.isdisjoint(
            ir.names(header)
        ):
            return False
        self.header = tuple(self.read_number(a) or a for a in header.args)
        self.named(self.loop.target.id)
        if not self.block(self.loop.body):
            return False
        self.first.update({n: self.fresh(f"{shown(n)}_given") for n in self.held})
        self.results = {n: self.fresh(f"{shown(n)}_last") for n in self.last if n in self.kept}
        laid = self.of.ordered and self.results and len(self.loops) > 1
        return not laid and self.keeps_order() and self.is_one_space()

    def has_tapes(self, others: Sequence[Turned], lists: Container[str]) -> bool:
        """Whether what it saves is taken back by another such loop, and the other way round."""
        mine = self.pushes() | self.pops()
        pairs = [[n for t in others for n in names(t)] for names in (Turned.pushes, Turned.pops)]
        elsewhere = ir.mention_counts(self.whole)
        for t in others:
            elsewhere.subtract({n: c for n, c in ir.mention_counts((t.loop,)).items() if n in mine})
        made = all(elsewhere[n] == 1 and n in lists for n in mine)
        return made and all(names.count(n) == 1 for names in pairs for n in mine)

    def pushes(self) -> set[str]:
        """The lists that it saves values in."""
        return set(self.counts)

    def pops(self) -> set[str]:
        """The lists that it takes values back from."""
        return set(self.tops) - set(self.counts)

    def has_space(self) -> bool:
        """Whether a part of an array tells the lengths of the loops outside."""
        for place in (p for stmt in ir.walk(self.loop.body) for p in self.places_in(stmt)):
            spot = self.spot_of(place)
            if spot is not None and place.root not in self.bound and self.is_uncut(place):
                rank = len(spot.axes) - spot.axes.count(None)
                self.loops = [self.fresh("ijluvw"[min(k, 5)]) for k in range(rank)]
                self.lengths = [self.outer.fresh() for _ in self.loops]
                self.source = spot
                return bool(rank)
        return False

    def places_in(self, stmt: ir.Stmt) -> list[Place]:
        """The parts of arrays that a statement takes or writes."""
        if isinstance(stmt, ir.Store):
            return [Place(stmt.base.id, stmt.index)]
        view = self.of.views.get(stmt.target.id) if type(stmt) is ir.Assign else None
        return [] if view is None or view.new or view.gone else [view.place]

    def is_uncut(self, place: Place) -> bool:
        """Whether a part is all along each axis of which it is not at one place."""
        whole = ir.Slice(ir.NONE, ir.NONE, ir.NONE)
        return all(i == whole for i in self.items(place) if type(i) is ir.Slice)

    def items(self, place: Place) -> tuple[ir.Atom, ...]:
        """The index of a part, one item for each axis of the array."""
        whole = ir.Slice(ir.NONE, ir.NONE, ir.NONE)
        index = place.index
        items = index.items if type(index) is ir.Tup else () if index is None else (index,)
        rank = ir.rank_of(self.kinds.get(place.root, ir.UNKNOWN)) or 0
        return (*items, *(whole for _ in range(rank - len(items))))

    def spot_of(self, place: Place) -> Spot | None:
        """Where the elements of a part lie; None where that is not known."""
        axes: list[int | None] = []
        starts: list[ir.Atom] = []
        items, dims = self.items(place), dims_in(self.kinds, place.root)
        if not dims or len(items) != len(dims) or ir.dtype_of(self.kinds[place.root]) != "float64":
            return None
        for item in items:
            if type(item) is not ir.Slice:
                if not self.is_whole_number(item):
                    return None
                axes.append(None)
                starts.append(item)
                continue
            start = ZERO if item.lower == ir.NONE else item.lower
            known = type(start) is ir.Const and type(start.value) is int and start.value >= 0
            if not known or item.step not in (ir.NONE, ir.Const(1)):
                return None
            axes.append(len(axes) - axes.count(None))
            starts.append(start)
        return Spot(place.root, tuple(axes), tuple(starts))

    def is_whole_number(self, atom: ir.Atom) -> bool:
        """Whether an atom is an integer."""
        return dtype_of(atom, self.kinds) == "int64" and (
            type(atom) is ir.Const or (type(atom) is ir.Name and dims_in(self.kinds, atom.id) == ())
        )

    def keeps_order(self) -> bool:
        """Whether what is written is met at one place along the axes that go outside."""
        written = {s.root for s, how in self.uses if how != "reads"}
        for root in written:
            places = {s.outside for s, _ in self.uses if s.root == root}
            adds = all(how == "adds" for s, how in self.uses if s.root == root)
            if len(places) > 1 and (self.of.loose or not adds):
                return False
            others = {s.root for s, _ in self.uses} | set(self.first)
            if any(o != root and self.share(o, root) for o in others):
                return False
        return not any(self.is_written_after(root, stmt) for root, stmt in self.aliased)

    def is_written_after(self, root: str, stmt: ir.Stmt) -> bool:
        """Whether something is stored into an array behind a statement of the loop."""
        stmts = ir.walk(self.loop.body)
        at = next(k for k, s in enumerate(stmts) if s is stmt)
        bases = {s.base.id for s in stmts[at:] if isinstance(s, ir.Store)}
        return any(n == root or self.share(n, root) for n in bases)

    def is_alone(self, name: str) -> bool:
        """Whether no other name may have the memory of a plane that is written into."""
        if name not in self.stored:
            return True
        others = (n for n in ir.all_names(self.whole) if n != name)
        return not any(self.share(name, n) for n in others)

    # --- lengths that are the same ----------------------------------------------------------------

    def size(self, key: Any) -> Any:
        """What stands for all that has the lengths of something."""
        while key in self.sizes:
            key = self.sizes[key]
        return key

    def same_size(self, *keys: Any) -> None:
        """Some things have the same lengths, or NumPy raises an error."""
        self.sized.update(keys)
        first, *others = map(self.size, keys)
        for other in others:
            if other != first:
                self.sizes[other] = first
                first = self.size(first)

    def size_key(self, name: str) -> Any:
        """What tells the lengths of an array."""
        view = self.of.views.get(name)
        return name if view is None else self.place_key(view.place)

    def place_key(self, place: Place) -> Any:
        """What tells the lengths of a part."""
        pieces = tuple(i if type(i) is ir.Slice else None for i in self.items(place))
        return place.root if place.index is None else (place.root, pieces)

    def is_one_space(self) -> bool:
        """Whether all that is computed has the lengths of the loops."""
        return len({self.size(k) for k in self.sized}) == 1

    # --- statements -------------------------------------------------------------------------------

    def block(self, block: ir.Block) -> bool:
        """The statements of a block, as far as they fit."""
        for stmt in block:
            self.inner.loc = self.outer.loc = stmt.loc
            if not self.stmt(stmt):
                return False
        self.flush()
        return True

    def flush(self) -> None:
        """The check of the shapes that have been asked for."""
        shapes = [self.outer.attribute(a, "shape") if type(a) is ir.Name else a
                  for a in self.asked.values()]  # fmt: skip
        if shapes:
            call = ir.Call(check_shapes, (self.shape(), *shapes), text="check_shapes")
            self.outer.out.append(ir.Effect(call, self.outer.loc))
        self.checked |= self.asked.keys()
        self.asked = {}

    def ask(self, shaped: ir.Atom, index: ir.Atom | None = None) -> None:
        """Ask for the shape of an array or of a part of it, or for one that is written."""
        view = self.of.views.get(shaped.id) if type(shaped) is ir.Name else None
        key = (shaped, index) if view is None else (ir.Name(view.place.root), view.place.index)
        if key not in self.checked and key not in self.asked:
            self.asked[key] = shaped if index is None else self.outer.item(shaped, index)

    def stmt(self, stmt: ir.Stmt) -> bool:
        """A statement; whether it fits."""
        if type(stmt) is ir.If:
            return self.branch(stmt)
        slot = slot_of(ir.call_of(stmt))
        if slot is not None:
            return slot in self.of.lists and self.tape(stmt, slot)
        if isinstance(stmt, ir.Store):
            return self.store(stmt)
        if type(stmt) is not ir.Assign:
            return False
        name = stmt.target.id
        if name in self.of.views:
            self.outer.again(stmt)
            return True
        if dims_in(self.kinds, name) == ():
            return self.number(stmt)
        if is_op(stmt.rhs, Op.SHAPE):
            self.outer.again(stmt)
            return self.bound.isdisjoint(ir.names(stmt.rhs))
        return self.plane_of(stmt)

    def branch(self, stmt: ir.If) -> bool:
        """A branch that a number decides."""
        test = self.read_number(stmt.test)
        if test is None:
            return False
        self.flush()
        before, checked, ways = self.known, self.checked, []
        for block in (stmt.body, stmt.orelse):
            self.known, self.checked = dict(before), set(checked)
            outer, (inner, fits) = self.outer.collect(
                lambda b=block: self.inner.collect(lambda: self.block(b))  # type: ignore[misc]
            )
            if not fits:
                return False
            ways.append((outer, inner, self.known))
        (outer, inner, one), (no, other, two) = ways
        self.known, self.checked = {k: v for k, v in one.items() if two.get(k) == v}, checked
        if outer or no:
            self.outer.out.append(replace(stmt, body=outer, orelse=no))
        self.inner.out.append(ir.If(test, inner, other, stmt.loc))
        return True

    def number(self, stmt: ir.Assign) -> bool:
        """A number that is the same for all elements, and cheap to compute for each."""
        made = None if stmt.target.id in self.exposed else self.number_of(stmt.rhs)
        if made is None:
            return False
        self.outer.again(stmt)
        self.rebind(stmt.target.id, made)
        return True

    def number_of(self, rhs: ir.Rhs) -> ir.Rhs | None:
        """How a number is computed inside; None of what costs more there, or is not known."""
        if type(rhs) is not ir.Call:
            return self.read_number(rhs)  # type: ignore[arg-type]
        base = rhs.args[0] if is_op(rhs, Op.GETITEM) else None
        shaped = self.of.shapes.get(base.id) if type(base) is ir.Name else None
        if shaped is not None and shaped.id not in self.bound and type(rhs.args[1]) is ir.Const:
            told = self.inner.attribute(self.array(shaped.id), "shape")
            return ir.Call(operator.getitem, (told, rhs.args[1]))
        args = [self.read_number(a) for a in rhs.args]
        if None in args or not self.is_cheap(rhs):
            return None
        return replace(rhs, args=tuple(args))  # type: ignore[arg-type]

    def is_cheap(self, call: ir.Call) -> bool:
        """Whether a call of numbers costs little and gives one."""
        numbers = all(type(a) is not ir.Name or dims_in(self.kinds, a.id) == () for a in call.args)
        if is_op(call, Op.DIV) or call.kwargs:  # numbers of Python raise errors
            return False
        return numbers and rounds_once(call.fn, call.args, self.kinds)

    def plane_of(self, stmt: ir.Assign) -> bool:
        """A plane that is computed, copied, or filled."""
        name, call = stmt.target.id, ir.call_of(stmt)
        dims = dims_in(self.kinds, name)
        if not self.is_plane(name) or dims is None:
            return False
        if type(stmt.rhs) is ir.Name:
            return self.alias(stmt, stmt.rhs.id, dims)
        fill = None if call is None else self.fill(call)
        if fill is not None:
            return self.filled(name, *fill)
        if call is not None and is_op(call, *_COPIES) and len(call.args) == 1 and not call.kwargs:
            element = Map(stmt, None, call.args, dims, name)
        else:
            element = element_of(stmt, self.kinds, self.of.shapes)  # type: ignore[assignment]
        if type(element) is not Map or element.like is not None:
            return False
        values = self.values(element, name)
        return values is not None and self.bind(name, self.computed(element, values))

    def filled(self, name: str, value: ir.Atom, shaped: ir.Atom) -> bool:
        """A plane of one number, with the shape of something."""
        found = self.read_number(value)
        if found is None:
            return False
        if type(shaped) is ir.Name and dims_in(self.kinds, shaped.id):
            self.same_size(name, self.size_key(shaped.id))
            if shaped.id in self.hollow or self.may_be_missing(shaped.id):
                return self.bind_perhaps(name, found, shaped)
        if type(shaped) is not ir.Name or shaped.id not in self.bound:
            self.ask(shaped)
        elif dims_in(self.kinds, shaped.id):
            self.read_plane(shaped.id)
        return self.bind(name, found)

    def fill(self, call: ir.Call) -> tuple[ir.Atom, ir.Atom] | None:
        """The number that an array is filled with, and what has its shape, or is it."""
        for ops in (_LIKE, _SHAPED):
            for op, value in ops.items():
                if is_op(call, op) and not call.kwargs and len(call.args) == 1 + (value is None):
                    return call.args[1] if value is None else ir.Const(value), call.args[0]
        return None

    def alias(self, stmt: ir.Assign, other: str, dims: Dims) -> bool:
        """Another name for a plane, of which nothing is written while it has it."""
        name, view = stmt.target.id, self.of.views.get(other)
        if name in self.exposed | self.kept | self.stored or other in self.stored & self.bound:
            return False
        root = other if view is None else view.place.root
        self.aliased += () if root in self.bound else ((root, stmt),)
        values = self.values(Map(stmt, None, (ir.Name(other),), dims, name), name)
        return values is not None and self.bind(name, values[0])

    def store(self, stmt: ir.Store) -> bool:
        """A store into a plane, or into a part of an array."""
        element = element_of(stmt, self.kinds, self.of.shapes)
        base = stmt.base.id
        if type(element) is not Map or (base in self.bound and not self.is_plane(base)):
            return False
        if base in self.bound:
            values = self.values(element, base) if stmt.index is None else None
            if values is None or not self.is_alone(base):
                return False
            if element.compute is not None:
                values = [self.read_plane(base), *values]
            self.rebind(base, self.computed(element, values))
            return True
        place = Place(base, stmt.index)
        spot, key = self.spot_of(place), self.place_key(place)
        values = self.values(element, key)
        if spot is None or values is None or not self.is_spread(spot) or base in self.of.views:
            return False
        self.ask(stmt.base, stmt.index)
        adds = type(stmt) is ir.AugAssign and stmt.op in ("+", "-")
        if element.compute is not None:
            values = [self.load(spot, "adds" if adds else "writes"), *values]
        self.uses.append((spot, "adds" if adds else "writes"))
        made = self.computed(element, values)
        if spot.is_whole:
            self.rebind(base, made)
            self.held[base] = True
            return True
        value = self.inner.temp(made) if type(made) is ir.Call else made
        self.inner.store(self.array(base), self.index(spot), value)  # type: ignore[arg-type]
        self.known = {k: v for k, v in self.known.items() if not self.may_share(k.root, base)}
        if dtype_of(stmt.value, self.kinds) == "float64":  # which the array holds as it is
            self.known[spot] = value  # type: ignore[assignment]
        return True

    def may_share(self, one: str, two: str) -> bool:
        """Whether two arrays may share memory."""
        return one == two or self.share(one, two)

    def tape(self, stmt: ir.Stmt, slot: str) -> bool:
        """A plane that is saved, or taken back."""
        call = ir.call_of(stmt)
        assert call is not None
        top = self.tops.setdefault(slot, self.fresh(f"{shown(slot)}_count"))
        if is_op(call, Op.APPEND):
            value = call.args[1]
            view = self.of.views.get(value.id) if type(value) is ir.Name else None
            if type(value) is not ir.Name or view is not None or not self.is_saved(value.id):
                return False
            if value.id in self.exposed and not self.begins(value.id):
                return False
            count = self.counts.setdefault(slot, self.outer.fresh(f"{slot}_count"))
            missing = self.may_be_missing(value.id)
            if missing and not self.is_placed(value.id):
                return False
            if missing:
                self.partly.setdefault(slot, self.outer.fresh(slot))
            if slot in self.partly:
                self.outer.again(stmt)
            found = self.read_plane(value.id, ask=not missing)
            self.same_size(slot, value.id)
            self.inner.store(self.array(slot), self.element(top), found)
            self.inner.assign(top, ir.Call(operator.add, (top, ir.Const(1))))
            self.outer.assign(count, ir.Call(operator.add, (count, ir.Const(1))))
            return True
        if type(stmt) is not ir.Assign or len(call.args) != 1 or not self.is_plane(stmt.target.id):
            return False
        self.inner.assign(top, ir.Call(operator.sub, (top, ir.Const(1))))
        self.same_size(slot, stmt.target.id)
        name, value = stmt.target, self.inner.item(self.array(slot), self.element(top))
        if slot not in self.partly:
            return self.bind(name.id, value)
        return self.bind_perhaps(name.id, value, self.outer.temp(call))

    def is_placed(self, name: str) -> bool:
        """Whether an array stands for a name that has no value yet."""
        calls = (ir.call_of(s) for s in ir.walk(self.whole.body) if name in ir.writes(s))
        return any(c is not None and c.role is ir.Role.UNBOUND for c in calls)

    def may_be_missing(self, name: str) -> bool:
        """Whether a name may have no value yet, which may be saved."""
        others = (s for s in ir.walk(self.whole.body) if name in ir.writes(s))
        return name in self.exposed and (name not in self.first or any(map(_is_empty, others)))

    def is_saved(self, name: str) -> bool:
        """Whether a plane is as it was when it is taken back."""
        return name in self.bound and self.is_plane(name) and name not in self.stored

    # --- planes, which are numbers inside ---------------------------------------------------------

    def is_plane(self, name: str) -> bool:
        """Whether a name that the loop binds stands for planes alone."""
        dims = dims_in(self.kinds, name)
        whole = dims is not None and len(dims) == len(self.loops) and all(map(ir.is_big, dims))
        dtypes = ("float64",) if name in self.exposed | self.kept else ("float64", "bool")
        return whole and name in self.bound and ir.dtype_of(self.kinds[name]) in dtypes

    def bind(self, name: str, value: ir.Rhs) -> bool:
        """A plane becomes another one."""
        if name in self.exposed and not self.begins(name):
            return False
        self.rebind(name, value)
        if name in self.exposed | self.kept:
            if (ir.Name(name), None) in self.asked:
                self.flush()
            self.checked.add((ir.Name(name), None))
            last = self.last.setdefault(name, self.outer.fresh("_out"))
            self.outer.assign(ir.Name(name), last)
        return True

    def bind_perhaps(self, name: str, value: ir.Rhs, other: ir.Name) -> bool:
        """A plane becomes another one if an array, which it is else, has the shape of planes."""
        self.kept.add(name)
        self.hollow.add(name)
        if not self.bind(name, value):
            return False
        bound = self.outer.out.pop()
        self.outer.assign(ir.Name(name), other)
        same = self.outer.apply(operator.eq, self.outer.attribute(other, "shape"), self.shape())
        self.outer.out.append(ir.If(same, (bound,), (), self.outer.loc))
        self.checked.discard((ir.Name(name), None))
        return True

    def rebind(self, name: str, value: ir.Rhs) -> None:
        """A number becomes another one."""
        own = self.named(name)
        self.known = {k: v for k, v in self.known.items() if v != own}
        self.inner.assign(own, value)

    def begins(self, name: str) -> bool:
        """Whether it is known what a plane holds before the loop: an array, or nothing yet."""
        given = name in {p.name for p in self.whole.params}
        made = [s for s in ir.walk(self.whole.body) if name in ir.writes(s)]
        mine = {id(s) for s in ir.walk(self.loop.body)}
        others = [s for s in made if id(s) not in mine]
        empty = [s for s in others if _is_empty(s)]
        if others == empty and not given:
            return True
        if any(type(s) is ir.Assign and s.rhs == ir.NONE for s in others):
            return False
        before = self.around[: self.around.index(self.loop)]
        if not given and not any(name in ir.bound((s,)) for s in before if not _is_empty(s)):
            return self.around is self.whole.body
        if not self.is_alone(name) or (given and name in self.stored):
            return False
        self.first.setdefault(name, self.fresh(f"{shown(name)}_first"))
        return True

    def read_plane(self, name: str, ask: bool = True) -> ir.Atom:
        """The number of a plane; whether there is one is asked where it may be of before."""
        if ask and name in self.exposed | self.kept:
            self.ask(ir.Name(name))
        return self.named(name)

    def named(self, name: str) -> ir.Name:
        """What a name is called inside."""
        if name not in self.names:
            self.names[name] = self.fresh(shown(name) if not ir.is_unnamed(name) else "_t")
        return self.names[name]

    # --- elements ---------------------------------------------------------------------------------

    def values(self, element: Map, key: Any) -> list[Any] | None:
        """What a statement reads, as numbers; None where an operand does not fit."""
        frame = tuple(range(len(self.loops)))
        if len(element.dims) != len(frame):
            return None
        operands = element.operands
        if element.compute is not None and not rounds_once(element.compute, operands, self.kinds):
            return None
        found: list[Any] = []
        for atom in operands:
            own = dims_in(self.kinds, atom.id) if type(atom) is ir.Name else ()
            if own == ():
                found.append(self.read_number(atom))
                continue
            assert type(atom) is ir.Name
            if own is None or aligned(own, element.dims, frame, element.fits) != frame:
                return None
            self.same_size(key, self.size_key(atom.id))
            found.append(self.read(atom.id))
        return None if None in found else found

    def read(self, name: str) -> ir.Atom | None:
        """An element of an array."""
        view = self.of.views.get(name)
        if view is None and name in self.bound:
            return self.read_plane(name) if self.is_plane(name) else None
        if view is not None and (view.new or view.gone or view.place.root in self.bound):
            return None
        spot = self.spot_of(Place(name) if view is None else view.place)
        if spot is None or not self.is_spread(spot):
            return None
        self.ask(ir.Name(name))
        return self.load(spot, "reads")

    def is_spread(self, spot: Spot) -> bool:
        """Whether elements go along all axes of the loops, and their integers are known inside."""
        free = [s for a, s in zip(spot.axes, spot.starts) if a is None]
        known = all(self.read_number(s) is not None for s in free)
        known = known and all(self.of.counts.get(n) == 1 for s in free for n in ir.names(s))
        apart = spot.axes[-1] is None or None not in spot.axes
        axes = [a for a in spot.axes if a is not None]
        return known and apart and axes == list(range(len(self.loops)))

    def load(self, spot: Spot, how: str) -> ir.Atom:
        """The number at a place of an array."""
        self.uses.append((spot, how))
        if spot.is_whole:
            self.held.setdefault(spot.root, False)
            return self.named(spot.root)
        if spot not in self.known:
            self.known[spot] = self.inner.item(self.array(spot.root), self.index(spot))
        return self.known[spot]

    def computed(self, element: Map, values: Sequence[ir.Atom]) -> ir.Rhs:
        """An element by the function of a statement."""
        if element.compute is None:
            return values[0]
        if op_named(element.compute) is Op.WHERE:
            target = self.fresh("_t")
            yes, no = (ir.Assign(target, v, self.inner.loc) for v in values[1:])
            self.inner.out.append(ir.If(values[0], (yes,), (no,), self.inner.loc))
            return target
        return ir.Call(element.compute, tuple(values))

    def read_number(self, atom: ir.Atom) -> ir.Atom | None:
        """A number that is the same for all elements; None of one that is not known inside."""
        if type(atom) is not ir.Name:
            return atom if isinstance(atom, (ir.Const, ir.Ref)) else None
        if dims_in(self.kinds, atom.id) != ():
            return None
        if atom.id in self.bound:
            return self.names.get(atom.id)
        if atom.id not in self.numbers:
            self.numbers[atom.id] = self.names[atom.id] = self.fresh(shown(atom.id))
        return self.numbers[atom.id]

    def array(self, root: str) -> ir.Name:
        """The parameter for an array."""
        return self.arrays.setdefault(root, self.named(root))

    def index(self, spot: Spot) -> ir.Atom:
        """The index of an element."""
        items: list[ir.Atom] = []
        for axis, start in zip(spot.axes, spot.starts):
            if axis is None:
                items.append(self.read_number(start) or start)
            elif start == ZERO:
                items.append(self.loops[axis])
            else:
                items.append(self.inner.apply(operator.add, self.loops[axis], start))
        return items[0] if len(items) == 1 else ir.Tup(tuple(items))

    def element(self, *last: ir.Atom) -> ir.Atom:
        """The index of what an array has for the element, behind that at `last`."""
        items = (*self.loops, *last)
        return items[0] if len(items) == 1 else ir.Tup(items)

    # --- the loops, and their call ----------------------------------------------------------------

    def shape(self, *more: ir.Atom) -> ir.Tup:
        """The lengths of the loops outside."""
        return ir.Tup((*self.lengths, *more))

    def function(self) -> ir.Function:
        """The loops as a function of `params`; its name is still to be given."""
        top, start, end = (Builder(self.fresh, self.loop.loc) for _ in range(3))
        names = [self.fresh("nmpqrs"[min(k, 5)]) for k in range(len(self.loops))]
        assert self.source is not None
        self.tell_lengths(top, names, self.array(self.source.root))
        self.begin(top, start, end, ir.Tup(tuple(names)))
        for name, array in self.results.items():
            end.store(array, self.element(), self.names[name])
        header = ir.Call(range, self.header, text="range")
        own, loc = self.names[self.loop.target.id], self.loop.loc
        inner = ir.For(own, header, tuple(self.inner.out), None, loc)
        body: ir.Block = (*start.out, inner, *end.out)
        for axis, length in zip(self.loops[::-1], names[::-1]):
            body = (ir.For(axis, ir.Call(range, (length,), text="range"), body, None, loc),)
        params = tuple(ir.Param(p.id) for p in self.params)
        body = (*top.out, *body, ir.Return(ir.NONE))
        return ir.Function("loop", params, body, target=COMPILED)

    def tell_lengths(self, b: Builder, names: Sequence[ir.Name], source: ir.Name) -> None:
        """The lengths of the loops outside, of an array that has them."""
        assert self.source is not None
        at = [k for k, axis in enumerate(self.source.axes) if axis is not None]
        for name, axis in zip(names, at):
            told = b.attribute(source, "shape")
            b.assign(name, ir.Call(operator.getitem, (told, ir.Const(axis))))

    def begin(self, top: Builder, start: Builder, end: Builder, lengths: ir.Tup) -> None:
        """What planes hold before the loop and behind it, and how much is saved: nothing, or all.

        An array of another shape is one that nothing reads.
        """
        names = sorted(self.exposed | self.last.keys() | self.held.keys())
        for name in (n for n in names if n in self.names):
            own, array = self.names[name], self.first.get(name)
            start.assign(own, ir.Const(0.0))
            if array is not None:
                same = top.apply(operator.eq, top.attribute(array, "shape"), lengths)
                load = ir.Assign(own, ir.Call(operator.getitem, (array, self.element())), start.loc)
                start.out.append(ir.If(same, (load,), (), start.loc))
                if self.held.get(name):
                    keep = ir.SetItem(array, self.element(), own, loc=end.loc)
                    end.out.append(ir.If(same, (keep,), (), end.loc))
        for slot, count in self.tops.items():
            if slot in self.counts:
                start.assign(count, ZERO)
            else:
                told = start.attribute(self.array(slot), "shape")
                last = ir.Const(len(self.loops))
                start.assign(count, ir.Call(operator.getitem, (told, last)))

    @property
    def params(self) -> list[ir.Name]:
        """The parameters of the loops: arrays, planes before and behind, and numbers."""
        arrays = [*self.arrays.values(), *self.first.values(), *self.results.values()]
        return [*arrays, *self.numbers.values()]

    def write(self, out: list[ir.Stmt]) -> ir.Subroutine:
        """Write what asks, and the call of the loops."""
        function, b = self.function(), Builder(self.outer.fresh, self.loop.loc)
        assert self.source is not None
        self.tell_lengths(b, self.lengths, ir.Name(self.source.root))
        names = map(ir.Name, self.first)
        before = [n if n.id in self.held else b.temp(n, n.id) for n in names]
        for last in self.last.values():
            b.assign(last, ir.Call(np.empty, (self.shape(),)))
        for count in self.counts.values():
            b.assign(count, ZERO)
        b.out.append(replace(self.loop, body=tuple(self.outer.out)))
        for slot in self.tops:
            array = self.partly.get(slot, ir.Name(slot))
            if slot in self.counts:
                b.assign(array, ir.Call(np.empty, (self.shape(self.counts[slot]),)))
            else:
                told = b.attribute(array, "shape")
                own = self.shape(b.item(told, ir.Const(len(self.loops))))
                call = ir.Call(check_shapes, (own, told), text="check_shapes")
                b.out.append(ir.Effect(call, b.loc))
        nest = ir.Subroutine(function)
        arrays = [self.partly.get(n, ir.Name(n)) for n in self.arrays]
        args = [*arrays, *before, *(self.last[n] for n in self.results)]
        numbers = map(ir.Name, self.numbers)
        b.out.append(ir.Effect(ir.Call(nest, (*args, *numbers), text=nest.__name__), b.loc))
        out += b.out
        return nest


def _is_empty(stmt: ir.Stmt) -> bool:
    """Whether a statement says that a name has no value yet."""
    call = ir.call_of(stmt)
    return (call is not None and call.role is ir.Role.UNBOUND) or (
        type(stmt) is ir.Assign and stmt.rhs == ir.NONE
    )
