"""Where the elements lie that a statement reads and writes: arrays, and parts of arrays.

Takes the names of arrays; gives the place of each (`Place`: an array and the index of a part of
it), and how loops over an index space address its elements (`Access`).  The invariant: one place is
one memory for as long as its array is not bound anew; two places of arrays that may share memory
are the same elements only if they are equal.
"""

from __future__ import annotations

from collections.abc import Mapping

from srcdiff import ir
from srcdiff.ir.frozen import frozen
from srcdiff.kernels.elements import Dims, dims_in
from srcdiff.primitives.ops import Op, is_op

Frame = tuple[int | None, ...]
"""The axis of the index space for each axis of an array; None: its length is 1."""
CHOSEN = -1
"""The axis of an array along which arrays of integers choose elements."""


@frozen
class Place:
    """An array, or the part of it that an index of integers and slices chooses.

    `frame` tells apart what is read along several axes of an index space.
    """

    root: str
    index: ir.Atom | None = None
    frame: Frame | None = None


@frozen
class Access:
    """How loops address the elements of a place: from `starts` on along the axes of an array.

    `array` is what the loops are given: the place, or the array that it is a part of.  Its axis `k`
    runs with the axis `frame[k]` of the index space, or stays at its start.  `own` is the frame of
    the place.
    """

    place: Place
    own: Frame
    array: Place
    frame: Frame
    starts: tuple[ir.Atom, ...]


@frozen
class View:
    """A place, of which a name stands for all, with other axes of length 1.

    `new`: those of the name that the place does not have; `gone`: those of the place alone.
    """

    place: Place
    new: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()

    def frame(self, own: Frame) -> Frame:
        """The frame of the place, of that of the name."""
        axes = (axis for k, axis in enumerate(own) if k not in self.new)
        kept = len(own) - len(self.new) + len(self.gone)
        return tuple(None if k in self.gone else next(axes) for k in range(kept))

    @property
    def whole(self) -> str | None:
        """The array of which all is there, None where it is a part."""
        return self.place.root if self.place.index is None else None


Views = Mapping[str, View]
"""The names that stand for a part of an array, until one of the two is bound anew."""


def views_in(function: ir.Function, kinds: ir.Kinds, counts: Mapping[str, int]) -> Views:
    """The names of a function that stand for parts of arrays that are no parts themselves."""
    found: dict[str, View] = {}
    for stmt in ir.assignments(function.body):
        view = _view(stmt, kinds, counts)
        if view is not None and view.place.root not in found:
            found[stmt.target.id] = view
    return found


def _view(stmt: ir.Assign, kinds: ir.Kinds, counts: Mapping[str, int]) -> View | None:
    """What a statement gives a name to, where that is a part by integers and slices."""
    if not is_op(stmt.rhs, Op.GETITEM):
        return None
    base, index = stmt.rhs.args
    if type(base) is not ir.Name or not dims_in(kinds, base.id):
        return None
    if not dims_in(kinds, stmt.target.id) or not _is_basic(index, kinds):
        return None
    steady = all(counts.get(n, 0) == 1 for n in (stmt.target.id, base.id, *ir.names(index)))
    return _seen(base.id, index, dims_in(kinds, base.id) or ()) if steady else None


def _seen(root: str, index: ir.Atom, dims: Dims) -> View:
    """What an index chooses: all of an array, but for axes of length 1, or a part of it."""
    items = index.items if type(index) is ir.Tup else (index,)
    axes = [item for item in items if not _is_one(item)]
    new = tuple(k for k, item in enumerate(axes) if item == ir.NONE)
    own = tuple(item for item in items if item != ir.NONE)
    gone = tuple(k for k, (i, d) in enumerate(zip(own, dims)) if d == 1 and i == ir.Const(0))
    if (new or gone) and all(i == ir.ALL or k in gone for k, i in enumerate(own)):
        return View(Place(root), new, gone)
    if not new:
        return View(Place(root, index))
    return View(Place(root, own[0] if len(own) == 1 else ir.Tup(own)), new)


def _is_one(item: ir.Atom) -> bool:
    """Whether an item of an index takes an axis away."""
    return type(item) is not ir.Slice and item != ir.NONE


def _is_basic(index: ir.Atom, kinds: ir.Kinds, new: bool = True) -> bool:
    """Whether an index is one of integers and slices, and of `new` axes if these may be."""
    items = index.items if type(index) is ir.Tup else (index,)
    others = (i for i in items if type(i) is not ir.Slice)
    return all(new and i == ir.NONE or _is_integer(i, kinds) for i in others)


def _is_integer(atom: ir.Atom, kinds: ir.Kinds) -> bool:
    """Whether an atom is an integer for certain."""
    if type(atom) is ir.Const:
        return type(atom.value) is int
    kind = kinds.get(atom.id) if type(atom) is ir.Name else None
    return ir.is_integer(kind)


def access(place: Place, frame: Frame, kinds: ir.Kinds) -> Access:
    """How loops address a place: in its array, if its rows lie apart in that."""
    found = None
    if place.index is not None and _is_basic(place.index, kinds, new=False):
        found = _in_array(place.index, frame, ir.rank_of(kinds[place.root]) or 0)
    if found is None:
        return Access(place, frame, place, frame, tuple(ir.Const(0) for _ in frame))
    return Access(place, frame, Place(place.root), *found)


def _in_array(
    index: ir.Atom, frame: Frame, rank: int
) -> tuple[Frame, tuple[ir.Atom, ...]] | None:
    """The frame and the starts in the array itself; None where the part is addressed as it is.

    The index is one of integers and slices.  A part of which the first axis alone is cut is one of
    whole rows, and a start has to be known not to be negative.
    """
    items = index.items if type(index) is ir.Tup else (index,)
    items = (*items, *(ir.ALL for _ in range(rank - len(items))))
    slices = [k for k, item in enumerate(items) if type(item) is ir.Slice]
    whole = all(item == ir.ALL for item in items[slices[0] + 1 :])
    if whole or not all(_is_steady(i) for i in items):
        return None
    axes = iter(frame)
    found = [(next(axes) if k in slices else None) for k in range(rank)]
    return tuple(found), tuple(_start(item) for item in items)


def _is_steady(item: ir.Atom) -> bool:
    """Whether an item of an index is an integer, or a slice from a known place on, step by step."""
    if type(item) is not ir.Slice:
        return True
    start = _start(item)
    known = type(start) is ir.Const and type(start.value) is int and start.value >= 0
    return known and item.step in (ir.NONE, ir.Const(1))


def _start(item: ir.Atom) -> ir.Atom:
    """Where an item of an index begins."""
    if type(item) is not ir.Slice:
        return item
    return ir.Const(0) if item.lower == ir.NONE else item.lower
