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
from srcdiff.kernels.elements import dims_in
from srcdiff.primitives.ops import Op, is_op

Frame = tuple[int | None, ...]
"""The axis of the index space for each axis of an array; None: its length is 1."""


@frozen
class Place:
    """An array, or the part of it that an index of integers and slices chooses."""

    root: str
    index: ir.Atom | None = None


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


Views = Mapping[str, Place]
"""The names that stand for a part of an array, until one of the two is bound anew."""


def view_in(stmt: ir.Stmt, kinds: ir.Kinds, counts: Mapping[str, int]) -> Place | None:
    """The place that a statement gives a name to, where that is a part by integers and slices."""
    if type(stmt) is not ir.Assign or not is_op(stmt.rhs, Op.GETITEM):
        return None
    base, index = stmt.rhs.args
    if type(base) is not ir.Name or not dims_in(kinds, base.id):
        return None
    if not dims_in(kinds, stmt.target.id) or not _is_basic(index, kinds):
        return None
    steady = all(counts.get(n, 0) == 1 for n in (stmt.target.id, base.id, *ir.names(index)))
    return Place(base.id, index) if steady else None


def _is_basic(index: ir.Atom, kinds: ir.Kinds) -> bool:
    """Whether an index is one of integers and slices."""
    items = index.items if type(index) is ir.Tup else (index,)
    return all(type(i) is ir.Slice or _is_integer(i, kinds) for i in items)


def _is_integer(atom: ir.Atom, kinds: ir.Kinds) -> bool:
    """Whether an atom is an integer for certain."""
    if type(atom) is ir.Const:
        return type(atom.value) is int
    kind = kinds.get(atom.id) if type(atom) is ir.Name else None
    return type(kind) is ir.Scalar and kind.dtype == "int64"


def access(place: Place, frame: Frame, kinds: ir.Kinds) -> Access:
    """How loops address a place: in its array, if its rows lie apart in that."""
    found = None
    if place.index is not None and _is_basic(place.index, kinds):
        found = _in_array(place.index, frame, ir.rank_of(kinds[place.root]) or 0)
    if found is None:
        return Access(place, frame, place, frame, tuple(ir.Const(0) for _ in frame))
    return Access(place, frame, Place(place.root), *found)


_ALL = ir.Slice(ir.NONE, ir.NONE, ir.NONE)


def _in_array(
    index: ir.Atom, frame: Frame, rank: int
) -> tuple[Frame, tuple[ir.Atom, ...]] | None:
    """The frame and the starts in the array itself; None where the part is addressed as it is.

    The index is one of integers and slices.  A part of which the first axis alone is cut is one of
    whole rows, and a start has to be known not to be negative.
    """
    items = index.items if type(index) is ir.Tup else (index,)
    items = (*items, *(_ALL for _ in range(rank - len(items))))
    slices = [k for k, item in enumerate(items) if type(item) is ir.Slice]
    if all(items[k] == _ALL for k in slices[1:]) or not all(_is_steady(i) for i in items):
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
