"""Lengths of what a call gives, beyond those that a probe finds, which are those of an operand.

Those of what is joined or repeated are sums and products; where data say how long a result is, what
the probe found is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from srcdiff.ir.dims import Dim
from srcdiff.ir.kinds import (
    UNKNOWN,
    Array,
    Kind,
    List,
    NoneKind,
    Object,
    Scalar,
    SliceKind,
    Tuple,
    dims_of,
)
from srcdiff.kinds.indexing import dims_sum, product, size_dim
from srcdiff.runtime.scipy.filters import edge_weights

Args = tuple[Kind, ...]
Lengths = dict[int, Dim]


# The shape of the result depends on the data; its rank does not.
DATA_DEPENDENT = frozenset(
    {
        np.nonzero, np.flatnonzero, np.argwhere, np.unique, np.bincount, np.compress, np.extract,
        np.repeat, np.delete, np.insert, np.trim_zeros, np.union1d, np.intersect1d, np.setdiff1d,
        np.setxor1d, np.roots, np.poly, np.histogram, np.linalg.lstsq, np.polyfit, np.digitize,
        np.r_.__getitem__, np.c_.__getitem__, edge_weights,
    }
)  # fmt: skip


def with_lengths(fn: Any, args: Args, kwargs: dict[str, Kind], kind: Kind) -> Kind:
    """The kind of a call's result, of which a probe found the kind, with the lengths it has."""
    if fn in DATA_DEPENDENT or _shape_from_array(fn, args):
        kind = _without_dims(kind)
    find = _LENGTHS.get(fn)
    if find is None or not isinstance(kind, Array) or kind.dims is None or kind.maybe_scalar:
        return kind
    rank = len(kind.dims)
    known = {axis % rank: dim for axis, dim in find(args, kwargs, rank).items() if axis < rank}
    dims = (known.get(k) if dim is None else dim for k, dim in enumerate(kind.dims))
    return replace(kind, dims=tuple(dims))


def _option(args: Args, kwargs: dict[str, Kind], place: int, name: str, default: int) -> int | None:
    """The value of an integer argument, None if it is not known."""
    given = args[place] if len(args) > place else kwargs.get(name)
    value = default if given is None else getattr(given, "value", None)
    return value if type(value) is int else None


def _items(kind: Kind | None) -> Sequence[Kind]:
    """The items of a sequence that is written out."""
    return (kind.items or ()) if isinstance(kind, (List, Tuple)) else ()


def _total(items: Sequence[Kind], axis: int | None, rank: int) -> Lengths:
    """The sum of the lengths along an axis of arrays of one rank."""
    if axis is None or not items or not -rank <= axis < rank:
        return {}
    shapes = [d for d in map(dims_of, items) if d is not None and len(d) == rank]
    return {axis: dims_sum([d[axis] for d in shapes])} if len(shapes) == len(items) else {}


def _concatenated(args: Args, kwargs: dict[str, Kind], rank: int) -> Lengths:
    return _total(_items(args[0] if args else None), _option(args, kwargs, 1, "axis", 0), rank)


def _beside(args: Args, kwargs: dict[str, Kind], rank: int) -> Lengths:
    """Of `hstack`: along the second axis if there is one."""
    return _total(_items(args[0] if args else None), min(1, rank - 1), rank)


def _below(args: Args, kwargs: dict[str, Kind], rank: int) -> Lengths:
    """Of `vstack`, to which vectors are rows."""
    items = _items(args[0] if args else None)
    return _total([_row(k) for k in items], 0, rank)


def _row(kind: Kind) -> Kind:
    """A vector as a matrix of one row."""
    dims = dims_of(kind)
    return Array(None, (1, *dims)) if dims is not None and len(dims) == 1 else kind


def _stacked(args: Args, kwargs: dict[str, Kind], rank: int) -> Lengths:
    axis, items = _option(args, kwargs, 1, "axis", 0), _items(args[0] if args else None)
    return {axis: len(items)} if items and axis is not None and axis >= -rank else {}


def _repeated(args: Args, kwargs: dict[str, Kind], rank: int) -> Lengths:
    """Of `repeat` by one number along an axis."""
    axis = _option(args, kwargs, 2, "axis", 0 if rank == 1 else rank)
    times = args[1] if len(args) > 1 else kwargs.get("repeats")
    dims = dims_of(args[0]) if args else None
    if dims is None or len(dims) != rank or axis is None or not -rank <= axis < rank:
        return {}
    length = size_dim(times) if isinstance(times, Scalar) else None
    return {**dict(enumerate(dims)), axis % rank: product([dims[axis], length])}


_LENGTHS: dict[Any, Function[[Args, dict[str, Kind], int], Lengths]] = {
    np.concatenate: _concatenated,
    np.hstack: _beside,
    np.vstack: _below,
    np.stack: _stacked,
    np.repeat: _repeated,
}


# --- grids ---------------------------------------------------------------------------------------

_DENSE, _OPEN = (f"{type(g).__module__}.{type(g).__qualname__}" for g in (np.mgrid, np.ogrid))


def grid_kind(base: Kind, index: Kind) -> Kind | None:
    """The kind of `np.mgrid[0:m, 0:n]` and of `np.ogrid`; None for what is none of these."""
    if not isinstance(base, Object) or base.type not in (_DENSE, _OPEN):
        return None
    parts = index.items if isinstance(index, Tuple) else (index,)
    if parts is None or not all(isinstance(p, SliceKind) for p in parts):
        return UNKNOWN
    numbers = [k for p in parts for k in (p.lower, p.upper, p.step)]  # type: ignore[union-attr]
    whole = all(isinstance(k, NoneKind) or getattr(k, "dtype", None) == "int64" for k in numbers)
    dtype = "int64" if whole else None
    dims = tuple(map(_span, parts))
    if not isinstance(index, Tuple):
        return Array(dtype, dims)
    if base.type == _DENSE:
        return Array(dtype, (len(dims), *dims))
    alone = [tuple(d if k == j else 1 for j, d in enumerate(dims)) for k in range(len(dims))]
    return Tuple(tuple(Array(dtype, shape) for shape in alone))


def _span(part: Kind) -> Dim:
    """How many numbers there are in a slice of a grid."""
    assert isinstance(part, SliceKind)
    lower, upper, step = (getattr(k, "value", None) for k in (part.lower, part.upper, part.step))
    first = 0 if isinstance(part.lower, NoneKind) else lower
    if isinstance(step, complex):
        return int(abs(step))
    if first == 0 and isinstance(part.step, NoneKind):
        return size_dim(part.upper)
    known: list[Any] = [first, upper, 1 if isinstance(part.step, NoneKind) else step]
    return len(range(*known)) if all(type(k) is int for k in known) and known[2] else None


# --- lengths that data say -----------------------------------------------------------------------


def _shape_from_array(fn: Any, args: Args) -> bool:
    """Whether an array of integers might say what shape the result has."""
    return any(
        isinstance(a, Array) and a.dtype is not None and "int" in a.dtype for a in args[1:]
    ) and (
        fn
        not in (np.take, np.take_along_axis, np.matmul, np.dot, np.searchsorted, np.outer, np.inner)
    )


def _without_dims(kind: Kind) -> Kind:
    """A kind with the lengths of its axes forgotten."""
    if isinstance(kind, Array) and kind.dims is not None:
        return Array(kind.dtype, (None,) * len(kind.dims), kind.maybe_scalar)
    if isinstance(kind, Tuple) and kind.items is not None:
        return Tuple(tuple(map(_without_dims, kind.items)))
    return kind
