"""Which array statements may be one loop nest.

Takes the statements of a block one by one (`Group.add`); says whether each may run in the same
loops as those before it.  The invariant: in every iteration each statement reads what it would have
read if the statements had run one after the other.  So what is written in the loops is read there
at the same elements alone, and a sum over all iterations is read behind the loops.

`segments_of` numbers the inner loops: what goes over a row is in the loop of its number, what is
one value a row stands before it.  What a step reads is complete where it stands, and what is
written anew is so behind all that read what was there.  Two parts of one array are added to in
segments of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import chain

from srcdiff import ir
from srcdiff.analysis.links import Groups
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.kernels.elements import Dims, Element, Map, Reduce, dims_in
from srcdiff.kernels.places import CHOSEN, Access, Frame, Place, Views, access


@frozen
class Operand:
    """What a step reads: an atom that is the same in all iterations, or elements at a place."""

    atom: ir.Atom
    place: Place | None = None
    access: Access | None = None


@frozen
class Step:
    """An element in a loop nest: what it reads, and at which place it leaves its result.

    `frame` is that of the result; of a reduction `over` are the axes of the index space that go.
    `base` is what arrays of integers choose elements of, which stand last among the operands.
    """

    element: Element
    operands: tuple[Operand, ...]
    place: Place
    frame: Frame
    access: Access | None = None
    over: tuple[int, ...] = ()
    base: Access | None = None


@state
class Value:
    """What is known of a result in the group: its frame, and whether it is there in the loops."""

    frame: Frame
    sealed: bool = False


@state
class Group:
    """Steps that run in one loop nest over the index space `dims`.

    Rows: the first `split` axes are looped over outside; what goes over the others is one row.
    `split` None: nothing asks for rows.  The places `added` are parts of arrays to which elements
    are added, and no more: several parts of one array, row by row, one after the other.  The first
    `loose` axes are gone through in any order, by several at a time: no two rows of these meet.
    """

    kinds: ir.Kinds
    shared: Groups
    views: Views
    fills: Mapping[str, Map]  # the arrays that hold one number, by name
    loose: int
    dims: Dims = ()
    split: int | None = None
    steps: list[Step] = field(default_factory=list)
    values: dict[Place, Value] = field(default_factory=dict)
    loads: dict[Place, Access] = field(default_factory=dict)
    bound: set[str] = field(default_factory=set)
    likes: dict[ir.Name, Frame] = field(default_factory=dict)
    added: set[Place] = field(default_factory=set)
    mark: tuple[ir.Stmt, ir.Backward] | None = None  # the step before which it turns

    @property
    def rank(self) -> int:
        """The number of axes of the index space."""
        return len(self.dims)

    def place_of(self, name: str) -> Place:
        """The place that a name stands for."""
        view = self.views.get(name)
        return Place(name) if view is None else view.place

    def has_other_axes(self, name: str) -> bool:
        """Whether a name has other axes than the place that it stands for."""
        view = self.views.get(name)
        return view is not None and bool(view.new or view.gone)

    # --- adding a statement -----------------------------------------------------------------------

    def copied(self) -> Group:
        """Another group with the same steps."""
        return Group(
            self.kinds, self.shared, self.views, self.fills, self.loose, self.dims, self.split,
            list(self.steps), dict(self.values), dict(self.loads), set(self.bound),
            dict(self.likes), set(self.added), self.mark,
        )  # fmt: skip

    def add(self, element: Element) -> bool:
        """Put a statement into the group, if it may run in the same loops; else it is spoilt."""
        step = self._step(element)
        if step is None:
            return False
        self.steps.append(step)
        for operand in step.operands:
            if operand.access is not None:
                self.loads.setdefault(operand.access.place, operand.access)
        over = step.over
        sealed = bool(over) and not self._is_row_of(over)
        self.values[step.place] = Value(step.frame, sealed)
        if isinstance(element, Map) and element.like is not None:
            if self.place_of(element.like.id) not in self.values:
                self.likes[element.like] = step.frame
        if isinstance(element, Reduce) or element.target is not None:
            self.bound.add(step.place.root)
        return True

    def _is_row_of(self, over: tuple[int, ...]) -> bool:
        """Whether what is reduced over some axes is one value a row."""
        return self.split is not None and over == tuple(range(self.split, self.rank))

    def _step(self, element: Element) -> Step | None:
        if isinstance(element, Reduce):
            return None if self._adds_at() else self._reduction(element)
        if self.steps and element.adds_at != self._adds_at():
            return None  # what is computed beside it would be computed one by one
        if not self.dims:
            self.dims = element.dims
        frame = self._frame(element) if element.dims else self._number(element)
        if frame is None:
            return None
        if element.indices:
            return self._indexed(element, frame)
        operands = [self._operand(a, element, frame) for a in element.operands]
        if None in operands:
            return None
        own = None
        if element.target is None:
            stored = self._stored(element)
            if stored is None or not self._may_write(stored, frame, element, operands):
                return None
            place = stored
            if place.root not in self.bound:
                own = self.loads.get(place) or access(place, frame, self.kinds)
            if element.compute is not None:
                given = None if place in self.values else own
                operands.insert(0, Operand(ir.Name(element.base), place, given))
        else:
            place = Place(element.target)
            if self._is_seen_otherwise(place, True):
                return None
        if element.like is not None and not self._has_shape(element):
            return None
        return Step(element, tuple(o for o in operands if o is not None), place, frame, own)

    def _adds_at(self) -> bool:
        """Whether the steps add to elements that arrays of integers choose."""
        first = self.steps[0].element if self.steps else None
        return isinstance(first, Map) and first.adds_at

    def _indexed(self, element: Map, frame: Frame) -> Step | None:
        """A step that takes elements, or adds to them, which arrays of integers choose.

        The integers are there before the loops, so that they can be checked.
        """
        places = dims_in(self.kinds, element.indices[0].id) or ()
        own = (CHOSEN,) * len(element.indices) + frame[len(places) :]
        base = Place(element.base, None, own)
        part = replace(element, dims=element.dims[: len(places)])
        chosen = [self._operand(i, part, frame[: len(places)]) for i in element.indices]
        operands = [*(self._operand(v, element, frame) for v in element.operands), *chosen]
        if any(o is None or o.access is None for o in chosen) or None in operands:
            return None
        read = [o.place.root for o in operands if o is not None and o.place is not None]
        alone = not any(self._may_share(root, element.base) for root in read)
        place = base if element.target is None else Place(element.target)
        if not alone or element.base in self.views or self._is_seen_otherwise(place, True):
            return None
        if element.target is not None:
            if self._is_seen_otherwise(base, False):
                return None
            self.loads[base] = Access(base, own, base, own, ())
        return Step(
            element, tuple(o for o in operands if o is not None), place, frame,
            base=Access(base, own, base, own, ()),
        )  # fmt: skip

    def _stored(self, element: Map) -> Place | None:
        """The place that a statement writes into, unless its array is made in the group."""
        if self.has_other_axes(element.base):
            return None
        if element.index is None:
            return self.place_of(element.base)
        if element.base in self.views or element.base in self.bound:
            return None
        return Place(element.base, element.index)

    def _may_write(
        self, place: Place, frame: Frame, element: Map, operands: Sequence[Operand | None]
    ) -> bool:
        """Whether loops may write into a place: nobody sees it otherwise in the group."""
        read = [o.place for o in operands if o is not None and o.place is not None]
        if any(p != place and self._may_share(p.root, place.root) for p in read):
            return False
        adds = type(element.stmt) is ir.AugAssign and element.stmt.op in ("+", "-")
        known = place in self.values or place in self.loads
        if not adds or place in read or (known and place not in self.added):
            self.added.discard(place)
        elif self._may_be_added_to(place):
            self.added.add(place)
        if frame != tuple(range(self.rank)) or self._is_seen_otherwise(place, True):
            return False
        value = self.values.get(place)
        same = value is None or (not value.sealed and value.frame == frame)
        return same and self._runs(place, frame)

    def _may_be_added_to(self, place: Place) -> bool:
        """Whether elements may be added to a place beside others of the same array."""
        others = [p for p in self.added if p != place and p.root == place.root]
        if others and self.split is None and self.rank > 1:
            self.split = self.rank - 1
        apart = all(_leads(p, self.loose) == _leads(place, self.loose) for p in others)
        return not others or (apart and (self.rank == 1 or bool(self.split)))

    def _runs(self, place: Place, frame: Frame) -> bool:
        """Whether the axes of a place are those of a frame wherever it is loaded in the group.

        A vector of a square may be one value a column here, and one value a row there.
        """
        load = self.loads.get(place)
        return load is None or load.own == frame

    def _has_shape(self, element: Map) -> bool:
        """Whether the array whose shape a result has is there before the loops, or in them."""
        assert element.like is not None
        own = dims_in(self.kinds, element.like.id)
        names = (a.id for a in element.operands if type(a) is ir.Name)
        scalars = all(dims_in(self.kinds, n) == () for n in names)
        alike = own is not None and len(own) == len(element.dims)
        return scalars and alike and (len(element.dims) == self.rank or self._has_frame(element))

    def _has_frame(self, element: Map) -> bool:
        """Whether the array whose shape a result has is one value a row."""
        assert element.like is not None
        value = self.values.get(self.place_of(element.like.id))
        return value is not None and value.frame == tuple(range(self.split or 0))

    # --- operands ---------------------------------------------------------------------------------

    def _operand(
        self, atom: ir.Atom, element: Element, frame: Frame, dims: Dims | None = None
    ) -> Operand | None:
        """What a statement reads of an operand, with a frame for `dims`; None: it may not."""
        if type(atom) is not ir.Name:
            return Operand(atom)
        own = dims_in(self.kinds, atom.id)
        if own is None:
            return None
        place = self.place_of(atom.id)
        if own == () and place not in self.values:
            return Operand(atom)
        mine = self._seen(atom.id, element, frame, dims)
        if mine is None or self._is_seen_otherwise(place, False):
            return None
        fill = self.fills.get(atom.id)
        if fill is not None and fill.like is not None and self._has_others(element, atom):
            self.likes[fill.like] = mine
            return self._operand(fill.operands[0], element, frame)
        self.added.discard(place)
        value = self.values.get(place)
        if value is None:
            if not self._runs(place, mine):
                place = Place(place.root, place.index, mine)
            found = self.loads.setdefault(place, access(place, mine, self.kinds))
            return Operand(atom, place, found)
        if value.sealed and not self._unsealed(place):
            return None
        return Operand(atom, place) if self.values[place].frame == mine else None

    def _seen(
        self, name: str, element: Element, frame: Frame, dims: Dims | None = None
    ) -> Frame | None:
        """The frame of the place that a name stands for, an operand of what has some lengths."""
        own, view = dims_in(self.kinds, name), self.views.get(name)
        if isinstance(element, Map):
            dims = element.dims
        fits = isinstance(element, Map) and element.fits
        mine = None if own is None or dims is None else aligned(own, dims, frame, fits)
        return mine if view is None or mine is None else view.frame(mine)

    def _has_others(self, element: Element, atom: ir.Name) -> bool:
        """Whether something else than an operand of a statement has the lengths of its result."""
        whole = tuple(range(self.rank))
        if not isinstance(element, Map):
            return False
        if len(element.dims) == self.rank and any(a.own == whole for a in self.loads.values()):
            return True
        others = [a.id for a in element.operands if type(a) is ir.Name and a != atom]
        dims = [dims_in(self.kinds, n) or () for n in others if n not in self.fills]
        return any(len(d) == len(element.dims) and 1 not in d for d in dims)

    def _unsealed(self, place: Place) -> bool:
        """Whether what has been reduced over all axes may be one value of one row."""
        last = next(s for s in reversed(self.steps) if s.place == place)
        return self.split is None and last.over == tuple(range(self.rank)) and self._is_one_row()

    def _is_one_row(self) -> bool:
        """Whether the whole index space is one row, from now on at least."""
        if self.split is None:
            self.split = 0
            for step in self.steps:
                if self._is_row_of(step.over):
                    self.values[step.place] = Value(step.frame)
        return self.split == 0

    def _is_seen_otherwise(self, place: Place, writes: bool) -> bool:
        """Whether the group writes the memory of a place at other elements, or reads it there."""
        others = [p for p in self.values if p != place]
        if writes:
            others += [p for p in self.loads if p != place]
        if writes and place in self.added:
            others = [p for p in others if p not in self.added or p.root != place.root]
        return any(self._may_share(p.root, place.root) for p in others)

    def _may_share(self, one: str, two: str) -> bool:
        return one == two or self.shared.share(one, two)

    # --- the index space --------------------------------------------------------------------------

    def _frame(self, element: Map) -> Frame | None:
        """The frame of a result in the index space; None of what has another one."""
        whole = tuple(range(self.rank))
        if not self.steps:  # the index space is its own
            return whole
        if len(element.dims) == self.rank:
            if all(map(ir.same_dim, element.dims, self.dims)) or self._is_linked(element):
                return whole
            ones = [k for k, d in enumerate(element.dims) if d == 1 and self.dims[k] != 1]
            frame: Frame = tuple(None if k in ones else k for k in whole)
            rows = bool(ones) and ones == list(range(ones[0], self.rank))
            return frame if rows and self._has_rows(ones[0], element, frame) else None
        if self.split is not None and len(element.dims) == self.split > 0:
            rows_of: Frame = tuple(range(self.split))
            return rows_of if self._has_rows(self.split, element, rows_of) else None
        return None

    def _number(self, element: Map) -> Frame | None:
        """The frame of a number that is computed of what has been reduced over all axes."""
        read = [self.place_of(a.id) for a in element.operands if type(a) is ir.Name]
        mine = [p for p in read if p in self.values]
        if not mine or any(self.values[p].frame for p in mine):
            return None
        unsealed = all(not self.values[p].sealed or self._unsealed(p) for p in mine)
        return () if unsealed and self.split == 0 else None

    def _has_rows(self, split: int, element: Map, frame: Frame) -> bool:
        """Whether a result is one value a row, of operands that are rows of the group."""
        if element.target is None or self.split not in (None, split):
            return False
        read = [a.id for a in (*element.operands, element.like) if type(a) is ir.Name]
        values = ((n, self.values.get(self.place_of(n))) for n in read)
        if not any(v and v.frame == self._seen(n, element, frame) for n, v in values):
            return False
        self.split = split
        return True

    def _is_linked(self, element: Map) -> bool:
        """Whether a result has the lengths of an operand that goes through the index space."""
        whole: Frame = tuple(range(self.rank))
        for atom in (*element.operands, element.like):
            if type(atom) is not ir.Name:
                continue
            place, own = self.place_of(atom.id), dims_in(self.kinds, atom.id)
            value, load = self.values.get(place), self.loads.get(place)
            through = value.frame == whole if value else load is not None and load.own == whole
            if through and own and aligned(own, element.dims, whole, element.fits) == whole:
                return True
        return False

    # --- reductions -------------------------------------------------------------------------------

    def _reduction(self, element: Reduce) -> Step | None:
        dims = dims_in(self.kinds, element.operand.id)
        if not dims or self.has_other_axes(element.operand.id):
            return None
        if self._is_of_rows(element):
            return self._total_of_rows(element)
        if not self.dims:
            self.dims = dims
        whole: Frame = tuple(range(self.rank))
        same = len(dims) == self.rank and all(map(ir.same_dim, dims, self.dims))
        if not same and not self._goes_through(element.operand):
            return None
        operand = self._operand(element.operand, element, whole, dims)
        value = None if operand is None else self.values.get(operand.place)  # type: ignore[arg-type]
        if operand is None or (value is not None and value.frame != whole):
            return None
        over, all_axes = element.axes, len(element.axes) == self.rank
        kept = tuple(k for k in whole if k not in over)
        trailing = over == tuple(range(self.rank - len(over), self.rank))
        if all_axes:
            frame: Frame = (None,) * self.rank if element.keeps else ()
            if element.keeps and not self._is_one_row():
                return None
        else:
            frame = tuple(None if k in over else k for k in whole) if element.keeps else kept
        if trailing and not all_axes:
            if self.split not in (None, self.rank - len(over)):
                return None
            self.split = self.rank - len(over)
        elif not all_axes and element.extreme is not None:
            return None
        place = Place(element.target)
        if self._is_seen_otherwise(place, True):
            return None
        return Step(element, (operand,), place, frame, None, over)

    def _is_of_rows(self, element: Reduce) -> bool:
        """Whether one value a row is reduced over all rows."""
        value = self.values.get(self.place_of(element.operand.id))
        rows = value is not None and value.frame == tuple(range(self.split or 0))
        return rows and bool(self.split) and not element.is_partial and not element.keeps

    def _total_of_rows(self, element: Reduce) -> Step | None:
        place = Place(element.target)
        if self._is_seen_otherwise(place, True):
            return None
        operand = Operand(element.operand, self.place_of(element.operand.id))
        return Step(element, (operand,), place, (), None, element.axes)

    def _goes_through(self, name: ir.Name) -> bool:
        """Whether an array goes through the whole index space, as the group knows."""
        place, whole = self.place_of(name.id), tuple(range(self.rank))
        if place in self.values:
            return self.values[place].frame == whole
        return place in self.loads and self.loads[place].own == whole


def _leads(place: Place, count: int) -> tuple[ir.Atom, ...]:
    """What an index says of the first axes of a part."""
    items = place.index.items if type(place.index) is ir.Tup else (place.index or ir.NONE,)
    slices = [k for k, item in enumerate(items) if type(item) is ir.Slice]
    ends = [0, *(k + 1 for k in slices)]
    return items[: ends[count]] if count < len(ends) else items


def aligned(own: Dims, dims: Dims, frame: Frame, fits: bool = False) -> Frame | None:
    """The frame of an operand of a result with some lengths; None where it is not known.

    `fits`: lengths that are not known to be 1 are those of the result.
    """
    if len(own) > len(dims):
        return None
    found: list[int | None] = []
    for mine, length, axis in zip(own, dims[len(dims) - len(own) :], frame[len(dims) - len(own) :]):
        if mine == 1 and length != 1:
            found.append(None)
        elif fits or ir.is_big(mine) or ir.same_dim(mine, length):
            found.append(axis)
        else:
            return None
    return tuple(found)


def needed_outside(
    group: Group, uses: Mapping[str, int], counts: Mapping[str, int], arrays: Mapping[str, str]
) -> set[str]:
    """The names bound in a group that something outside of it reads.

    `arrays`: those that other names are read for.
    """
    inside: dict[str, int] = {}
    for step in group.steps:
        for read in dict.fromkeys(ir.reads(step.element.stmt)):
            name = arrays.get(read, read)
            inside[name] = inside.get(name, 0) + 1
    return {
        n for n in group.bound if uses.get(n, 0) > inside.get(n, 0) or counts.get(n, 0) > 1
    }


def orders_of(group: Group) -> dict[Place, tuple[Place, ...]] | None:
    """The arrays whose order in memory NumPy gives each new array; none: that of C.

    C's is that of what is spread along all its axes, and of all that is made with such.  None: it
    is not known; an operand has an order of some of the axes, or an array has not all of them.
    """
    whole = tuple(range(group.rank))
    found: dict[Place, tuple[Place, ...]] = {}
    for step in group.steps:
        if step.frame != whole:
            return None
        read = {o.place: o.access for o in step.operands if o.place is not None}
        owns = {p: whole if a is None else a.own for p, a in read.items() if p not in found}
        if any(len(own) - own.count(None) > 1 for own in owns.values() if own != whole):
            return None
        made = [found[p] for p in read if p in found]
        given = [p for p, own in owns.items() if own == whole]
        if isinstance(step.element, Map) and step.element.target is not None:
            plain = () in made or group.rank < 2
            order = () if plain else tuple(dict.fromkeys([*given, *chain(*made)]))
            if found.setdefault(step.place, order) != order:
                return None
    return found


def used_steps(group: Group, needed: set[str]) -> list[Step]:
    """The steps of a group whose results something reads."""
    read: set[Place] = set()
    found = []
    for step in reversed(group.steps):
        stores = isinstance(step.element, Map) and step.element.target is None
        if stores or step.place.root in needed or step.place in read:
            found.append(step)
            read.update(o.place for o in step.operands if o.place is not None)
    return found[::-1]


# --- in which inner loop of a nest each step stands -----------------------------------------------


@state
class Segments:
    """The segment of every step (`of`), and the places whose elements another one reads."""

    of: list[int]
    crossing: set[Place]

    @property
    def count(self) -> int:
        """How many inner loops there are, one at least."""
        return 1 + max(self.of, default=0)


def segments_of(group: Group) -> Segments:
    """The segments of the steps of a group."""
    found = Segments([], set())
    ready: dict[Place, int] = {}  # the first segment in which the value is complete
    made: dict[Place, int] = {}  # the segment in which elements were computed
    used: dict[Place, int] = {}  # the last segment that reads or writes
    free: dict[Place, int] = {}  # the first segment behind all inner loops that do so
    added: dict[Place, int] = {}  # the segment in which elements are added to a part of an array
    for step in group.steps:
        before = is_once_a_row(group, step)  # the inner loop
        read = [o.place for o in step.operands if o.place is not None]
        behind = (free if before else used).get(step.place, 0)
        at = max([behind, *(ready.get(place, 0) for place in read)])
        if step.place in group.added:
            others = [k for p, k in added.items() if p != step.place and p.root == step.place.root]
            if at > added.get(step.place, -1):
                at = max([at, *(k + 1 for k in others)])
            added[step.place] = max(at, added.get(step.place, 0))
        found.of.append(at)
        for place in (*read, step.place):
            used[place] = max(used.get(place, 0), at)
            free[place] = max(free.get(place, 0), at if before else at + 1)
        for place in read:
            if made.get(place, at) != at and not is_row(group, place_frame(group, place)):
                found.crossing.add(place)
        made[step.place] = at
        ready[step.place] = at + 1 if step.over else at
    return found


def place_frame(group: Group, place: Place) -> tuple[int | None, ...]:
    """The frame of what is at a place in the group, or of how it is loaded."""
    value = group.values.get(place)
    return value.frame if value is not None else group.loads[place].own


def is_once_a_row(group: Group, step: Step) -> bool:
    """Whether a step stands outside of the inner loops."""
    if not step.over:
        return is_row(group, step.frame)
    places = (o.place for o in step.operands if o.place is not None)
    return all(is_row(group, place_frame(group, p)) for p in places)


def is_row(group: Group, frame: tuple[int | None, ...]) -> bool:
    """Whether a value with a frame is the same for all elements of a row."""
    split = group.rank if group.split is None else group.split
    inner = [k for k in frame if k is not None and k >= split]
    return not inner and group.split is not None
