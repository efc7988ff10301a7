"""Lengths of arrays: what unknown ones are called, what calls give, and which are equal.

A length that nothing is known of is named after what has it: `h.0`, the first axis of `h`.

Of what a call gives, a probe finds the lengths that are those of an operand.  Those of what is
joined or repeated are sums and products; where data say how long a result is, what the probe found
is forgotten.

Lengths are equal because an operation that always runs would have failed otherwise.  `x @ w` at the
top of a function says that the rows of `w` are as many as the columns of `x`; so does `h - y` for
two lengths that are not 1.  What does not always run (in a branch or a loop) says nothing.
"""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.frozen import replace
from srcdiff.kinds.elementwise import with_arrays
from srcdiff.kinds.indexing import dims_sum, product, size_dim
from srcdiff.kinds.lattice import Args, Keywords, argument
from srcdiff.primitives.operation import Meaning, op_of
from srcdiff.primitives.ops import Op, op_named


class Labels:
    """What the lengths are called that statements make; in a loop of `depth` 1 `h.0@1`."""

    def __init__(self, params: Iterable[str]) -> None:
        self.depth = 0
        self.numbers: dict[tuple[str, int], int] = {}
        self.counts = dict.fromkeys(params, 1)

    def label(self, name: str, stmt: ir.Stmt) -> str:
        """What lengths made by a statement are called: `h`, or `h~1` where it is bound again."""
        key = (name, id(stmt))
        if key not in self.numbers:
            self.numbers[key] = self.counts.get(name, 0)
            self.counts[name] = self.numbers[key] + 1
        number = self.numbers[key]
        return f"{name}~{number}" if number else name

    def named(self, kind: ir.Kind, label: str) -> ir.Kind:
        """A kind whose unknown lengths are named after what has it."""
        if type(kind) is ir.Array and kind.dims is not None:
            dims = tuple(self._length(d, f"{label}.{k}") for k, d in enumerate(kind.dims))
            return kind if dims == kind.dims else ir.Array(kind.dtype, dims, kind.maybe_scalar)
        if type(kind) is ir.Tuple and kind.items is not None:
            return ir.Tuple(tuple(self.named(k, f"{label}[{i}]") for i, k in enumerate(kind.items)))
        if isinstance(kind, ir.Maybe):
            return ir.maybe(self.named(kind.kind, label))
        if type(kind) is ir.Scalar and kind.dtype == "int64" and kind.value is None:
            return ir.Scalar(kind.dtype, kind.python, None, self._length(kind.size_of, label))
        return kind

    def counter(self, items: ir.Range, label: str) -> ir.Kind:
        """The kind of an item of a range."""
        kind = self.named(ir.Scalar("int64"), label)
        first, below = items.first, items.stop
        if first is None or first < 0 or below is None or below == ir.BIG:
            return kind
        assert type(kind) is ir.Scalar and isinstance(kind.size_of, ir.Sym)
        size = ir.Sym(kind.size_of.name, 0, first > 1, first, (below,))
        return replace(kind, size_of=size)

    def _length(self, dim: ir.Dim, label: str) -> ir.Dim:
        if dim is not None and dim != ir.BIG:
            return dim
        name = f"{label}@{min(self.depth, 9)}" if self.depth else label
        return ir.Sym(name, 0, dim == ir.BIG)


# --- lengths of what a call gives ----------------------------------------------------------------


Lengths = dict[int, ir.Dim]


def with_lengths(fn: Any, args: Args, kwargs: Keywords, kind: ir.Kind) -> ir.Kind:
    """The kind of a call's result, of which a probe found the kind, with the lengths it has."""
    find = _LENGTHS.get(fn)
    if find in (_said_by_data, _repeated) or _shape_from_array(fn, args):
        kind = without_dims(kind)
    if find is None or type(kind) is not ir.Array or kind.dims is None or kind.maybe_scalar:
        return kind
    rank = len(kind.dims)
    known = {axis % rank: dim for axis, dim in find(args, kwargs, rank).items() if axis < rank}
    dims = (known.get(k) if dim is None else dim for k, dim in enumerate(kind.dims))
    return replace(kind, dims=tuple(dims))


def _option(args: Args, kwargs: Keywords, place: int, name: str, default: int) -> int | None:
    """The value of an integer argument, None if it is not known."""
    given = argument(args, place, kwargs, name, ir.Scalar("int64", True, default))
    value = getattr(given, "value", None)
    return value if type(value) is int else None


def _items(args: Args) -> Sequence[ir.Kind]:
    """The items of the first argument, if that is a sequence that is written out."""
    return (ir.known_items(args[0]) if args else None) or ()


def _total(items: Sequence[ir.Kind], axis: int | None, rank: int) -> Lengths:
    """The sum of the lengths along an axis of arrays of one rank."""
    if axis is None or not items or not -rank <= axis < rank:
        return {}
    shapes = [d for d in map(ir.dims_of, items) if d is not None and len(d) == rank]
    return {axis: dims_sum([d[axis] for d in shapes])} if len(shapes) == len(items) else {}


def _row(kind: ir.Kind) -> ir.Kind:
    """A vector as a matrix of one row."""
    dims = ir.dims_of(kind)
    return ir.Array(None, (1, *dims)) if dims is not None and len(dims) == 1 else kind


def _stacked(args: Args, kwargs: Keywords, rank: int) -> Lengths:
    axis, items = _option(args, kwargs, 1, "axis", 0), _items(args)
    return {axis: len(items)} if items and axis is not None and axis >= -rank else {}


def _said_by_data(args: Args, kwargs: Keywords, rank: int) -> Lengths:
    """Of what has a shape that depends on the data; its rank does not."""
    return {}


def _repeated(args: Args, kwargs: Keywords, rank: int) -> Lengths:
    """Of `repeat` by one number along an axis."""
    axis = _option(args, kwargs, 2, "axis", 0 if rank == 1 else rank)
    times = argument(args, 1, kwargs, "repeats")
    dims = ir.dims_of(args[0]) if args else None
    if dims is None or len(dims) != rank or axis is None or not -rank <= axis < rank:
        return {}
    length = size_dim(times) if type(times) is ir.Scalar else None
    return {**dict(enumerate(dims)), axis % rank: product([dims[axis], length])}


def _differences(args: Args, kwargs: Keywords, rank: int) -> Lengths:
    """Of `diff`, where nothing is put before or behind."""
    times = _option(args, kwargs, 1, "n", 1)
    axis, dims = _option(args, kwargs, 2, "axis", -1), ir.dims_of(args[0]) if args else None
    more = len(args) > 3 or not kwargs.keys().isdisjoint(("prepend", "append"))
    if more or dims is None or times is None or axis is None or not -rank <= axis < rank:
        return {}
    length = dims[axis]
    if isinstance(length, ir.Sym):
        return {axis % rank: None if length == ir.BIG else length.moved(-times)}
    return {axis % rank: None if length is None else max(length - times, 0)}


_LENGTHS: dict[Any, Function[[Args, Keywords, int], Lengths]] = {
    np.concatenate: lambda args, kwargs, rank: _total(
        _items(args), _option(args, kwargs, 1, "axis", 0), rank
    ),
    # Along the second axis if there is one.
    np.hstack: lambda args, kwargs, rank: _total(_items(args), min(1, rank - 1), rank),
    np.vstack: lambda args, kwargs, rank: _total([_row(k) for k in _items(args)], 0, rank),
    np.stack: _stacked,
    np.repeat: _repeated,
    np.diff: _differences,
    **dict.fromkeys(
        (
            np.nonzero, np.flatnonzero, np.argwhere, np.unique, np.bincount, np.compress,
            np.extract, np.delete, np.insert, np.trim_zeros, np.union1d, np.intersect1d,
            np.setdiff1d, np.setxor1d, np.poly, np.histogram, np.linalg.lstsq, np.polyfit,
            np.digitize, np.r_.__getitem__, np.c_.__getitem__,
        ),
        _said_by_data,
    ),
}  # fmt: skip


# --- grids ---------------------------------------------------------------------------------------

_DENSE, _OPEN = (f"{type(g).__module__}.{type(g).__qualname__}" for g in (np.mgrid, np.ogrid))


def grid_kind(base: ir.Kind, index: ir.Kind) -> ir.Kind | None:
    """The kind of `np.mgrid[0:m, 0:n]` and of `np.ogrid`; None for what is none of these."""
    if not isinstance(base, ir.Object) or base.type not in (_DENSE, _OPEN):
        return None
    parts = index.items if type(index) is ir.Tuple else (index,)
    if parts is None or not all(type(p) is ir.SliceKind for p in parts):
        return ir.UNKNOWN
    numbers = [k for p in parts for k in (p.lower, p.upper, p.step)]  # type: ignore[union-attr]
    whole = all(type(k) is ir.NoneKind or getattr(k, "dtype", None) == "int64" for k in numbers)
    dtype = "int64" if whole else None
    dims = tuple(map(_span, parts))
    if type(index) is not ir.Tuple:
        return ir.Array(dtype, dims)
    if base.type == _DENSE:
        return ir.Array(dtype, (len(dims), *dims))
    alone = [tuple(d if k == j else 1 for j, d in enumerate(dims)) for k in range(len(dims))]
    return ir.Tuple(tuple(ir.Array(dtype, shape) for shape in alone))


def _span(part: ir.Kind) -> ir.Dim:
    """How many numbers there are in a slice of a grid."""
    assert type(part) is ir.SliceKind
    lower, upper, step = (getattr(k, "value", None) for k in (part.lower, part.upper, part.step))
    first = 0 if type(part.lower) is ir.NoneKind else lower
    if isinstance(step, complex):
        return int(abs(step))
    if first == 0 and type(part.step) is ir.NoneKind:
        return size_dim(part.upper)
    known: list[Any] = [first, upper, 1 if type(part.step) is ir.NoneKind else step]
    return len(range(*known)) if all(type(k) is int for k in known) and known[2] else None


# --- lengths that data say -----------------------------------------------------------------------


def _shape_from_array(fn: Any, args: Args) -> bool:
    """Whether an array of integers might say what shape the result has."""
    whole = any(type(a) is ir.Array and "int" in (a.dtype or "") for a in args[1:])
    return whole and op_named(fn) not in _BY_SHAPES and not op_of(fn).means(Meaning.PRODUCT)


_BY_SHAPES = (Op.INNER, Op.OUTER, Op.SEARCHSORTED, Op.TAKE, Op.TAKE_ALONG_AXIS)
"""What gives something of a shape that those of its operands say, besides products of matrices."""


def without_dims(kind: ir.Kind) -> ir.Kind:
    """A kind with the lengths of its axes forgotten."""
    if type(kind) is ir.Array and kind.dims is not None:
        return ir.Array(kind.dtype, (None,) * len(kind.dims), kind.maybe_scalar)
    return ir.mapped(without_dims, kind)


# --- lengths that are equal because an operation that always runs would have failed otherwise ----


class Equal:
    """Sets of equal lengths, each with the name that was seen first; none that may be cut off."""

    def __init__(self) -> None:
        self.first: dict[str, int | ir.Sym] = {}  # what a name without an offset stands for

    def learn(self, fn: Any, operands: tuple[ir.Kind, ...]) -> None:
        """An operation on these operands has succeeded."""
        if {*map(type, operands)} == {ir.Scalar}:
            return
        if op_of(fn).means(Meaning.PRODUCT) and len(operands) == 2:
            x, y = map(ir.dims_of, operands)
            if x and y and 1 <= len(x) <= 2 and 1 <= len(y) <= 2:
                self._union(x[-1], y[0])
        elif op_named(fn) in (Op.SUM, Op.CHOOSE):
            held = (k for o in operands for k in ir.known_items(o) or ())
            self._learn_broadcast([d for d in map(ir.dims_of, held) if d])
        elif op_of(fn).is_elementwise:
            self._learn_broadcast([d for d in map(ir.dims_of, with_arrays(fn, operands)) if d])

    def _learn_broadcast(self, shapes: list[tuple[ir.Dim, ...]]) -> None:
        """Lengths that are not 1 are equal where they meet."""
        for axis in range(1, 1 + max(map(len, shapes), default=0)):
            met = [s[-axis] for s in shapes if len(s) >= axis and ir.is_big(s[-axis])]
            for other in met[1:]:
                self._union(met[0], other)

    def _union(self, a: ir.Dim, b: ir.Dim) -> None:
        """Two lengths are equal."""
        if not _is_whole(a) or not _is_whole(b):
            return
        one, two = self._dim(a), self._dim(b)
        if _name(one) == _name(two) or (isinstance(one, int) and isinstance(two, int)):
            return
        if isinstance(one, int) or (isinstance(two, ir.Sym) and ir.is_big(one) >= ir.is_big(two)):
            one, two = two, one
        if isinstance(one, ir.Sym):
            assert two is not None
            self.first[one.name] = _moved(two, -one.offset)

    def kind(self, kind: ir.Kind) -> ir.Kind:
        """A kind with equal lengths under one name."""
        if not self.first:
            return kind
        if type(kind) is ir.Array and kind.dims is not None:
            return ir.Array(kind.dtype, tuple(map(self._dim, kind.dims)), kind.maybe_scalar)
        if type(kind) is ir.Scalar and kind.size_of is not None:
            return ir.Scalar(kind.dtype, kind.python, kind.value, self._dim(kind.size_of))
        return ir.mapped(self.kind, kind)

    def _dim(self, dim: ir.Dim) -> ir.Dim:
        """A length under its first name; shorter ones move along."""
        while isinstance(dim, ir.Sym) and dim.name in self.first:
            dim = _moved(self.first[dim.name], dim.offset)
        return dim


def _moved(length: int | ir.Sym, count: int) -> int | ir.Sym:
    """A length with something added."""
    if isinstance(length, int):
        return max(0, length + count)
    return length.moved(count) if count else length


def _name(length: ir.Dim) -> int | str | None:
    """What tells lengths apart, whatever else is known of each."""
    return length.name if isinstance(length, ir.Sym) else length


def _is_whole(dim: ir.Dim) -> bool:
    """Whether a length is an integer, or one of an argument or variable and not cut off."""
    if isinstance(dim, ir.Sym):
        whole = dim.offset == 0 or dim.least + dim.offset > 0
        return dim != ir.BIG and whole and "@" not in dim.name
    return dim is not None
