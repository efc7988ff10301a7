"""The forms of calls with a batch axis.

A form takes the `Context` and a call some operand of which has a batch axis, at the place 0; it
gives the call for the whole batch, or None where the call has to be made for each item.
Elementwise operations, products, copies and helpers have forms; reductions and what moves elements,
whose axes count from behind the batch axis; and subscripts: `d[i]` becomes `d[:, i]`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Union

import numpy as np

from srcdiff import ir
from srcdiff.autodiff.batch.batched_names import is_question
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import replace, state
from srcdiff.ir.kinds import (
    Array,
    Kind,
    List,
    NoneKind,
    Scalar,
    Text,
    Tuple,
    indexes_as_array,
    inside,
    is_basic,
    is_container,
    rank_of,
    sure,
)
from srcdiff.kinds.calls import atom_kind, call_kind
from srcdiff.kinds.elementwise import is_elementwise
from srcdiff.runtime import arrays, batched, linalg, trees

ALL = ir.Slice(ir.NONE, ir.NONE, ir.NONE)
"""The index of the batch axis: `:`."""


class NoBatchError(Exception):
    """A statement cannot be written for a batch; with the reason."""

    def __init__(self, reason: str, loc: ir.Loc) -> None:
        super().__init__(reason)
        self.reason, self.loc = reason, loc


@state
class Context(Builder):
    """What is known of the names, the size of the batch, and the statements made so far."""

    kinds: dict[str, Kind]  # of a single item
    names: frozenset[str]  # those with a batch axis
    written: frozenset[str]  # those whose memory is written into
    numbers: frozenset[str]  # those that are bound to a literal somewhere
    size: ir.Name
    fresh: ir.Fresh
    renamed: frozenset[str] = frozenset()  # those that stand for what another name stands for
    shadows: frozenset[str] = frozenset()  # those that may share memory with a shadow
    owned: bool = True  # what is added to in place shares no memory that matters
    loc: ir.Loc = ir.NOWHERE
    out: list[ir.Stmt] = field(default_factory=list)
    transposed: dict[str, ir.Name] = field(default_factory=dict)  # of which matrix, here

    def named(self, name: ir.Name, kind: Kind) -> ir.Name:
        """A new name of something with the axis, of a kind for a single item."""
        self.kinds[name.id] = kind
        self.names |= {name.id}
        return name

    def has(self, node: ir.Rhs | None) -> bool:
        """Whether an atom or call reads a name with a batch axis."""
        return any(n in self.names for n in ir.names(node))

    def kind(self, atom: ir.Atom) -> Kind:
        """The kind of an atom for a single item."""
        return atom_kind(atom, self.kinds)

    def rank(self, atom: ir.Atom) -> int | None:
        """The number of axes of an atom for a single item, None if unknown."""
        if isinstance(atom, ir.Const) and isinstance(atom.value, (int, float, complex)):
            return 0
        return rank_of(self.kind(atom))

    def is_number(self, atom: ir.Atom) -> bool:
        """Whether an atom is certainly a number for a single item."""
        return isinstance(self.kind(atom), Scalar)

    def is_array(self, atom: ir.Atom) -> bool:
        """Whether an atom is certainly an array for a single item, or a number of NumPy's."""
        return isinstance(self.kind(atom), Array)

    def is_container(self, atom: ir.Atom) -> bool:
        """Whether an atom certainly is a tuple, list, dict or None."""
        kind = self.kind(atom)
        return is_container(kind) or isinstance(sure(kind), NoneKind)

    def one(self, atom: ir.Atom) -> ir.Atom:
        """A value for a single item: the first one of a batch."""
        return self.item(atom, ir.Const(0)) if self.has(atom) else atom

    def turned(self, matrix: ir.Atom) -> ir.Name:
        """A matrix transposed."""
        found = self.transposed.get(matrix.id) if isinstance(matrix, ir.Name) else None
        return self.attribute(matrix, "T") if found is None else found

    def widened(self, atom: ir.Atom, count: int) -> ir.Atom:
        """A batch with `count` axes more behind the batch axis."""
        return self.item(atom, ir.Tup((ALL, *(ir.NONE,) * count))) if count > 0 else atom

    def completed(self, atom: ir.Atom) -> ir.Atom:
        """An atom that has the axis in all its parts."""
        if isinstance(atom, ir.Tup):
            return ir.Tup(tuple(map(self.completed, atom.items)))
        if self.has(atom) or atom == ir.NONE:
            return atom
        if isinstance(atom, ir.Name) and atom.id in self.written and self.is_array(atom):
            reason = "an array that is written into becomes part of what has the axis"
            raise NoBatchError(reason, self.loc)
        return self.apply(batched.repeated, atom, self.size)

    def aligned(self, atoms: Sequence[ir.Atom]) -> tuple[ir.Atom, ...]:
        """Operands that broadcast against each other behind the batch axis."""
        return tuple(
            self.beside(a, [b for b in atoms if b != a]) if self.has(a) else a for a in atoms
        )

    def beside(self, atom: ir.Atom, others: Sequence[ir.Atom]) -> ir.Atom:
        """A batch with axes behind the first, so that it broadcasts against other operands."""
        rank, ranks = self.rank(atom), [self.rank(o) for o in others]
        if not any(ranks) and None not in ranks:
            return atom
        if rank is None or None in ranks:
            larger = [o for o, r in zip(others, ranks) if r != 0]
            return self.apply(batched.beside, atom, *map(self.one, larger))
        return self.widened(atom, max(r for r in ranks if r is not None) - rank)


Form = Callable[[Context, ir.Call], Union[ir.Rhs, None]]
"""What a call is with a batch axis; None where it has to be made for each item."""


# --- subscripts behind the batch axis: `d[i]` becomes `d[:, i]` ----------------------------------


def index_behind(b: Context, index: ir.Atom) -> ir.Atom | None:
    """The index of an array for one of the batch; None where NumPy would put axes elsewhere.

    Where arrays (and integers beside them) in an index are apart from each other, what they
    select comes first in the result, before the batch.
    """
    kind = b.kind(index)
    if isinstance(kind, Text):  # a field of records, which has the axes of the array
        return index
    if isinstance(index, ir.Name) and not isinstance(kind, (Scalar, Array)):
        return b.apply(batched.behind, index) if is_basic(kind) else None
    items = index.items if isinstance(index, ir.Tup) else (index,)
    kinds = [b.kind(i) for i in items]
    if len(items) > 1 and any(map(indexes_as_array, kinds)):
        if not all(is_basic(k) or indexes_as_array(k) for k in kinds):
            return None
        places = [k for k, one in enumerate(kinds) if _is_advanced(one)]
        if places[-1] - places[0] >= len(places):
            return None
    elif len(items) > 1 and not all(map(is_basic, kinds)):
        return None
    return ir.Tup((ALL, *items))


def _is_advanced(kind: Kind) -> bool:
    """Whether an item counts as an array among others that are."""
    return indexes_as_array(kind) or isinstance(kind, Scalar)


def getitem(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`d[i]` of an array for a single item, or of a container."""
    base, index = call.args
    if b.has(index) or not b.has(base):
        return None
    if b.is_container(base):
        return call
    if not b.is_array(base):
        return ir.Call(call.fn, (base, index), call.kwargs) if index == ir.Tup(()) else None
    behind = index_behind(b, index)
    if behind is None:
        return None
    item = ir.Call(operator.getitem, (base, behind))
    kind = region(b, base, index)
    assert isinstance(base, ir.Name)
    if base.id not in b.written or rank_of(kind) is not None and isinstance(kind, Array):
        return item
    number = isinstance(kind, Scalar)
    return ir.Call(np.copy if number else batched.own_numbers, (b.temp(item),))


def region(b: Context, base: ir.Atom, index: ir.Atom) -> Kind:
    """The kind of `base[index]` for a single item."""
    return call_kind(operator.getitem, (b.kind(base), atom_kind(index, b.kinds)))


def stored(b: Context, base: ir.Name, index: ir.Atom, value: ir.Atom) -> ir.Atom:
    """A value as it is stored into a region of an array for each item of the batch."""
    if not b.has(value):
        return value
    if isinstance(value, ir.Tup):
        value = _stacked(b, value)
    rank, given = rank_of(region(b, base, index)), b.rank(value)
    if rank is None or given is None:
        return b.apply(batched.beside, value, b.item(b.item(base, ir.Const(0)), index))
    return b.widened(value, rank - given)


def _stacked(b: Context, items: ir.Tup) -> ir.Name:
    """Numbers that are stored together.

    Raises:
        NoBatchError: some are no numbers.
    """
    if not all(map(b.is_number, items.items)):
        raise NoBatchError("arrays are stored together", b.loc)
    full = (i if b.has(i) else b.apply(batched.repeated, i, b.size) for i in items.items)
    row = b.temp(ir.Call(np.stack, (ir.Tup(tuple(full)),), (("axis", ir.Const(1)),)))
    return b.named(row, Array(None, (len(items.items),)))


# --- the forms of reductions and of what moves elements: axes count from behind the batch axis ---


def shifted(b: Context, axis: ir.Atom) -> ir.Atom | None:
    """An axis, or several, behind the batch axis; None where it is not known."""
    if isinstance(axis, ir.Tup):
        items = [shifted(b, i) for i in axis.items]
        return None if None in items else ir.Tup(tuple(i for i in items if i is not None))
    if not isinstance(axis, ir.Const) or type(axis.value) is not int:
        return None
    return ir.Const(axis.value + 1 if axis.value >= 0 else axis.value)


def all_axes(rank: int) -> ir.Atom:
    """All axes but that of the batch."""
    axes = tuple(ir.Const(k + 1) for k in range(rank))
    return axes[0] if rank == 1 else ir.Tup(axes)


def argument(call: ir.Call, place: int, name: str, default: ir.Atom) -> ir.Atom:
    """An argument, by position or by keyword."""
    if place < len(call.args):
        return call.args[place]
    return dict(call.kwargs).get(name, default)


def without(call: ir.Call, place: int, name: str, **new: ir.Atom) -> ir.Call:
    """A call without an argument, and what is behind it by position; others by keyword."""
    kwargs = tuple((k, v) for k, v in call.kwargs if k != name)
    return replace(call, args=call.args[:place], kwargs=(*new.items(), *kwargs))


def _plain(b: Context, call: ir.Call, most: int, *names: str) -> bool:
    """Whether only the first operand has the axis, and no argument is given but those known."""
    rest = (*call.args[1:], *(v for _, v in call.kwargs))
    known = len(call.args) <= most and {k for k, _ in call.kwargs} <= set(names)
    plain = known and not any(map(b.has, rest)) and not any(isinstance(a, ir.Star) for a in rest)
    return plain and not b.is_container(call.args[0]) and b.has(call.args[0])


def _reduction(b: Context, call: ir.Call) -> ir.Rhs | None:
    """A sum over some axes, or all."""
    if not _plain(b, call, 2, "axis", "keepdims"):
        return None
    d, axis = call.args[0], argument(call, 1, "axis", ir.NONE)
    if axis != ir.NONE:
        new = shifted(b, axis)
        return None if new is None else without(call, 1, "axis", axis=new)
    rank = b.rank(d)
    if rank is not None and rank > 0:
        return without(call, 1, "axis", axis=all_axes(rank))
    if dict(call.kwargs).get("keepdims", ir.Const(False)) != ir.Const(False):
        return None
    if rank == 0:
        return ir.Call(np.copy, (d,))
    flat = b.apply(np.reshape, d, ir.Tup((b.size, ir.Const(-1))))
    return ir.Call(call.fn, (flat,), (("axis", ir.Const(1)),))


def _along(place: int, default: int | None = None, *names: str) -> Form:
    """What works along an axis, the argument at a place; without a default: all of them."""

    def form(b: Context, call: ir.Call) -> ir.Rhs | None:
        if not _plain(b, call, place + 1, "axis", *names):
            return None
        axis = argument(call, place, "axis", ir.Const(default))
        if axis == ir.NONE:
            rank = b.rank(call.args[0])
            # Which axes `np.squeeze` leaves out, the rank does not say.
            flattens = call.fn is not np.flip and (rank != 1 or call.fn is np.squeeze)
            new = None if not rank or flattens else all_axes(rank)
        else:
            new = shifted(b, axis)
        return None if new is None else without(call, place, "axis", axis=new)

    return form


def _two_axes(b: Context, call: ir.Call) -> ir.Rhs | None:
    """What moves or exchanges axes."""
    if not _plain(b, call, 3) or len(call.args) != 3:
        return None
    axes = [shifted(b, a) for a in call.args[1:]]
    return None if None in axes else replace(call, args=(call.args[0], *axes))  # type: ignore[arg-type]


def _transpose(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`d.T` and `np.transpose`."""
    if not _plain(b, call, 2, "axes"):
        return None
    d, axes = call.args[0], argument(call, 1, "axes", ir.NONE)
    rank = b.rank(d)
    if axes == ir.NONE:
        if rank is None:
            return None
        if rank < 2:
            return d
        if rank == 2:
            return ir.Call(ir.Attr("mT"), (d,))
        order: tuple[ir.Atom, ...] = tuple(ir.Const(k) for k in range(rank, 0, -1))
    else:
        new = shifted(b, axes)
        if not isinstance(new, ir.Tup):
            return None
        order = new.items
    return ir.Call(np.transpose, (d, ir.Tup((ir.Const(0), *order))))


def shape_behind(b: Context, shape: ir.Atom) -> ir.Tup | None:
    """A shape behind the size of the batch; None where it is not known to be a tuple or number."""
    if isinstance(shape, ir.Tup):
        return ir.Tup((b.size, *shape.items))
    kind = b.kind(shape)
    if isinstance(kind, Scalar):
        return ir.Tup((b.size, shape))
    return ir.Tup((b.size, ir.Star(shape))) if isinstance(kind, Tuple) else None


def _reshape(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.reshape` and `d.reshape`."""
    items = call.args[1:]
    ordered = call.fn is np.reshape and len(items) > 1
    if not _plain(b, call, len(call.args)) or not items or ordered:
        return None
    shape = shape_behind(b, items[0] if len(items) == 1 else ir.Tup(items))
    return None if shape is None else ir.Call(np.reshape, (call.args[0], shape))


def _ravel(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.ravel` and `d.ravel()`, which is a view where that of a single item is one."""
    if not _plain(b, call, 1):
        return None
    return ir.Call(np.reshape, (call.args[0], ir.Tup((b.size, ir.Const(-1)))))


def _broadcast_to(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.broadcast_to`, with axes in between where ranks differ."""
    if not _plain(b, call, 2) or len(call.args) != 2:
        return None
    d, shape = call.args
    rank, kind = b.rank(d), b.kind(shape)
    behind = shape_behind(b, shape)
    known = isinstance(kind, Tuple) and kind.items is not None
    if rank is None or behind is None or not known:
        return ir.Call(batched.broadcast_each, (d, shape))
    assert isinstance(kind, Tuple) and kind.items is not None
    return ir.Call(np.broadcast_to, (b.widened(d, len(kind.items) - rank), behind))


def _joined(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.concatenate` and `np.stack` of things all of which have the axis."""
    axis = shifted(b, argument(call, 1, "axis", ir.Const(0)))
    items = call.args[0]
    if axis is None or len(call.args) > 2 or {k for k, _ in call.kwargs} - {"axis"}:
        return None
    kind = b.kind(items)
    if isinstance(items, ir.Name) and isinstance(kind, (List, Tuple)):
        plain = all(isinstance(k, (Array, Scalar)) for k in inside(kind))
        return ir.Call(call.fn, (items,), (("axis", axis),)) if plain else None
    if not isinstance(items, ir.Tup) or any(isinstance(i, ir.Star) for i in items.items):
        return None
    if any(b.has(i) and not b.is_array(i) and not b.is_number(i) for i in items.items):
        return None
    parts = tuple(_part(b, i) for i in items.items)
    return ir.Call(call.fn, (ir.Tup(parts),), (("axis", axis),))


def _part(b: Context, part: ir.Atom) -> ir.Atom:
    """What is joined with others that have the axis."""
    if b.has(part):
        return part
    array = part if b.is_array(part) else b.apply(np.asarray, part)
    return b.apply(batched.repeated, array, b.size)


def _triangle(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.triu` and `np.tril` of matrices, or stacks of them."""
    rank = b.rank(call.args[0])
    return call if rank is not None and rank > 1 and _plain(b, call, 2, "k") else None


def _diagonal(b: Context, call: ir.Call) -> ir.Rhs | None:
    """The diagonal of a matrix."""
    if b.rank(call.args[0]) != 2 or not _plain(b, call, 2, "offset"):
        return None
    offset = argument(call, 1, "offset", ir.Const(0))
    return ir.Call(np.diagonal, (call.args[0], offset, ir.Const(1), ir.Const(2)))


def _move(count: int) -> Form:
    """`shift` and `undiff`, whose axis comes last, after `count` other operands."""

    def form(b: Context, call: ir.Call) -> ir.Rhs | None:
        d, *rest, axis = call.args
        plain = replace(call, args=(d, rest[-1], axis))  # of `x` in `undiff` the shape matters
        if not _plain(b, plain, 3) or len(call.args) != count + 1:
            return None
        moved = shifted(b, axis)
        return None if moved is None else replace(call, args=(d, *rest, moved))

    return form


_FFT = tuple(getattr(np.fft, n) for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))

SHAPES: Mapping[Any, Form] = {
    **dict.fromkeys((np.sum, np.mean, ir.Method("sum"), ir.Method("mean")), _reduction),
    **dict.fromkeys((np.cumsum, np.cumprod, np.flip), _along(1)),
    **dict.fromkeys((np.expand_dims, np.squeeze), _along(1)),
    **dict.fromkeys(_FFT, _along(2, -1, "n", "norm")),
    np.roll: _along(2),
    **dict.fromkeys((np.moveaxis, np.swapaxes, ir.Method("swapaxes")), _two_axes),
    **dict.fromkeys((np.transpose, ir.Attr("T")), _transpose),
    ir.Attr("mT"): lambda b, call: call if b.is_array(call.args[0]) else None,
    **dict.fromkeys((np.reshape, ir.Method("reshape")), _reshape),
    **dict.fromkeys((np.ravel, ir.Method("ravel")), _ravel),
    np.broadcast_to: _broadcast_to,
    **dict.fromkeys((np.concatenate, np.stack), _joined),
    **dict.fromkeys((np.triu, np.tril), _triangle),
    np.diagonal: _diagonal,
    arrays.shift: _move(2),
    arrays.undiff: _move(3),
}


# --- the forms of calls with a batch axis: elementwise operations, products, copies, helpers -----


def form_of(call: ir.Call) -> Form | None:
    """The form of a call, None if it has none."""
    if is_question(call):
        return _question
    if isinstance(call.fn, (ir.Name, ir.Derived)):
        return None
    if isinstance(call.fn, (ir.Method, ir.Attr)):
        return FORMS.get(call.fn)
    if is_elementwise(call.fn) or call.fn is trees.where_nonzero:
        return _elementwise
    return FORMS.get(call.fn) if type(call.fn).__hash__ is not None else None


def _question(b: Context, call: ir.Call) -> ir.Rhs | None:
    """What is asked of a value is asked of that for one item."""
    if call.fn is np.may_share_memory or (call.fn is len and b.is_container(call.args[0])):
        return call
    return replace(call, args=tuple(map(b.one, call.args)))


def _elementwise(b: Context, call: ir.Call) -> ir.Rhs | None:
    """Operands with axes behind the batch axis, where they need them."""
    if call.kwargs or any(map(b.is_container, call.args)):
        return None
    return replace(call, args=b.aligned(call.args))


def same(b: Context, call: ir.Call) -> ir.Rhs | None:
    """What does the same with a batch axis."""
    rest = (*call.args[1:], *(v for _, v in call.kwargs))
    return None if any(map(b.has, rest)) or b.is_container(call.args[0]) else call


def _same_container(b: Context, call: ir.Call) -> ir.Rhs | None:
    """What does the same to a container of batches."""
    return call


def _matrices(b: Context, call: ir.Call) -> ir.Rhs | None:
    """What takes stacks of matrices and vectors: operands of the ranks that they are made for."""
    ranks = [b.rank(a) for a in call.args if not isinstance(a, ir.Const)]
    return None if call.kwargs or not set(ranks) <= {1, 2} else call


def _helper(fn: Any) -> Form:
    """A helper that has a counterpart for batches of its first operand."""

    def form(b: Context, call: ir.Call) -> ir.Rhs | None:
        d, *rest = call.args
        if not b.has(d) or b.is_container(d):
            return None
        kwargs = tuple((k, b.one(v)) for k, v in call.kwargs)
        return ir.Call(fn, (d, *map(b.one, rest)), kwargs)

    return form


def _with_size(fn: Any) -> Form:
    """A helper on structures that is told the size of the batch."""

    def form(b: Context, call: ir.Call) -> ir.Rhs | None:
        return ir.Call(fn, (*call.args, b.size), call.kwargs)

    return form


def _add_tree(b: Context, call: ir.Call) -> ir.Rhs | None:
    """The sum of two adjoints, both with the axis."""
    args = (a if b.has(a) else b.apply(batched.repeated, a, b.size) for a in call.args)
    return ir.Call(batched.add_each, tuple(args))


def _as_number(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`float(d)` of a batch of numbers is an array of its own."""
    if len(call.args) != 1 or not b.is_number(call.args[0]):
        return None
    return ir.Call(np.array, call.args)


# --- products ------------------------------------------------------------------------------------


def _matmul(b: Context, call: ir.Call) -> ir.Rhs | None:
    """A product in which one factor has a batch axis: vectors are rows of a matrix."""
    x, y = call.args[:2]
    left, right = b.rank(x), b.rank(y)
    if call.kwargs or left is None or right is None or not left or not right:
        return None
    if max(left, right) > 2 or (b.has(x) and b.has(y)):
        return None
    fn = operator.matmul
    if b.has(y) and right == 1:
        return ir.Call(fn, (y, x if left == 1 else b.turned(x)))
    return ir.Call(fn, (x, y))


def _dot(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.dot`, which is `@` for vectors and matrices."""
    return _matmul(b, ir.Call(operator.matmul, call.args, call.kwargs))


def _outer(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.outer` of vectors."""
    x, y = call.args
    if call.kwargs or b.rank(x) != 1 or b.rank(y) != 1:
        return None
    return ir.Call(operator.mul, (_column(b, x), _row(b, y)))


def _column(b: Context, x: ir.Atom) -> ir.Atom:
    return b.item(x, ir.Tup((ALL, ALL, ir.NONE) if b.has(x) else (ALL, ir.NONE)))


def _row(b: Context, y: ir.Atom) -> ir.Atom:
    return b.widened(y, 1) if b.has(y) else y


def _einsum(b: Context, call: ir.Call) -> ir.Rhs | None:
    """Subscripts with a letter more for the batch."""
    text = call.args[0].value if isinstance(call.args[0], ir.Const) else None
    if not isinstance(text, str) or "->" not in text or "." in text or call.kwargs:
        return None
    letter = next((c for c in "bzyxwvutsrq" if c not in text), None)
    inputs, _, output = text.replace(" ", "").partition("->")
    parts = inputs.split(",")
    if letter is None or len(parts) != len(call.args) - 1:
        return None
    new = (letter + p if b.has(a) else p for p, a in zip(parts, call.args[1:]))
    subscripts = ir.Const(f"{','.join(new)}->{letter}{output}")
    return replace(call, args=(subscripts, *call.args[1:]))


def _solve(b: Context, call: ir.Call) -> ir.Rhs | None:
    """The solution of linear equations for right-hand sides that are vectors or matrices."""
    a, y = call.args
    if call.kwargs or b.has(a) or b.rank(a) != 2 or b.rank(y) not in (1, 2):
        return None
    if b.rank(y) == 2:
        return call
    columns = b.attribute(y, "T")
    return ir.Call(ir.Attr("T"), (b.apply(np.linalg.solve, a, columns),))


def _array(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.array(d)` of an array or number, or of a list of such of one shape."""
    d, kind = call.args[0], b.kind(call.args[0])
    if isinstance(kind, (List, Tuple)) and len(call.args) == 1 and not call.kwargs:
        return ir.Call(batched.array_each, (b.completed(d),))
    return same(b, call) if isinstance(kind, (Array, Scalar)) else None


_MATRICES = (
    linalg.eigh_back, linalg.eig_back, linalg.svd_back, linalg.cholesky_back,
    linalg.eigvalsh_back, linalg.eigvalsh_back_along, linalg.values_along,
    linalg.vectors_along, linalg.svdvals_back, linalg.svdvals_back_along,
    linalg.svdvals_back_part, linalg.svdvals_back_turn, linalg.singular_along,
    linalg.from_triangle, linalg.to_triangle,
)  # fmt: skip

FORMS: Mapping[Any, Form] = {
    **SHAPES,
    **dict.fromkeys((operator.matmul, np.matmul), _matmul),
    **dict.fromkeys(_MATRICES, _matrices),
    **dict.fromkeys((float, complex, np.float64, np.complex128), _as_number),
    **dict.fromkeys((np.copy, np.zeros_like, np.ones_like, np.empty_like, np.conj), same),
    **dict.fromkeys((ir.Method("copy"), ir.Method("astype"), ir.Method("conj")), same),
    **dict.fromkeys((ir.Attr("real"), ir.Attr("imag")), same),
    **dict.fromkeys((trees.zero_tree, trees.copy_tree, trees.zeros_like), _same_container),
    **dict.fromkeys((ir.make_list, ir.make_dict), _same_container),
    operator.getitem: getitem,
    **dict.fromkeys((np.array, np.asarray, np.ascontiguousarray), _array),
    np.dot: _dot,
    np.outer: _outer,
    np.einsum: _einsum,
    np.linalg.solve: _solve,
    arrays.unbroadcast: _helper(batched.unbroadcast_each),
    arrays.spread: _helper(batched.spread_each),
    arrays.keep_axes: _helper(batched.keep_axes_each),
    arrays.scatter: _helper(batched.scatter_each),
    arrays.real_like: same,
    arrays.uncut: same,
    trees.add_tree: _add_tree,
    trees.like_tree: _with_size(batched.like_each),
    trees.cotangent: _with_size(batched.cotangents),
}
