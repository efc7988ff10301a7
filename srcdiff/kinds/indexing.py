"""The kind of `x[i]`: views, elements and selections of arrays, items of containers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from srcdiff.ir.frozen import replace
from srcdiff.ir.kinds import (
    ELLIPSIS,
    UNKNOWN,
    Array,
    Dict,
    Dim,
    Kind,
    List,
    NoneKind,
    Range,
    Scalar,
    SliceKind,
    Sym,
    Text,
    Tuple,
    broadcast_dims,
    contents,
    dims_of,
    dtype_of,
    is_filled,
    same_dim,
)
from srcdiff.kinds.lattice import Args, join_all

NAME_LIMIT = 48


def item_kind(base: Kind, index: Kind) -> Kind:
    """The kind of `base[index]`."""
    if isinstance(base, Array):
        return _array_item(base, index)
    if isinstance(base, (Tuple, List)):
        return _sequence_item(base, index)
    if isinstance(base, Dict):
        return _dict_item(base, index)
    if isinstance(base, Range):
        return Scalar("int64") if isinstance(index, Scalar) else Range()
    if isinstance(base, Text):
        return Text()
    if isinstance(base, Scalar) and base.python is False and index == Tuple(()):
        return base
    return UNKNOWN


def _sequence_item(base: Tuple | List, index: Kind) -> Kind:
    """An item, or a slice, of a tuple or list."""
    items = base.items
    if isinstance(index, SliceKind):
        return _sequence_slice(base, index)
    if items is None:
        return base.item or UNKNOWN
    if not isinstance(index, Scalar):
        return UNKNOWN
    if index.value is None:
        return join_all(items) or UNKNOWN
    return items[index.value] if -len(items) <= index.value < len(items) else UNKNOWN


def _sequence_slice(base: Tuple | List, index: SliceKind) -> Kind:
    """A slice of a tuple or list."""
    bounds = slice_bounds(index)
    if base.items is not None and bounds is not None:
        part = base.items[bounds]
        return Tuple(part) if isinstance(base, Tuple) else List(base.item, part)
    if isinstance(base, Tuple):
        return Tuple(None, base.item if base.items is None else None)
    return List(join_all(contents(base)))


def slice_bounds(index: SliceKind) -> slice | None:
    """A slice whose parts are known, None of others."""
    bounds = [_bound(k) for k in (index.lower, index.upper, index.step)]
    return None if "?" in bounds else slice(*bounds)


def _bound(kind: Kind) -> Any:
    """The value of one part of a slice, "?" if unknown."""
    if isinstance(kind, NoneKind):
        return None
    return kind.value if isinstance(kind, Scalar) and kind.value is not None else "?"


def _dict_item(base: Dict, index: Kind) -> Kind:
    """A value of a dict."""
    key = index.value if isinstance(index, (Text, Scalar)) else None
    known = dict(base.items)
    if key is not None and key in known:
        return known[key] if base.item is None else join_all((known[key], base.item)) or UNKNOWN
    return join_all(contents(base)) or UNKNOWN


# --- arrays ------------------------------------------------------------------------------------


def _array_item(base: Array, index: Kind) -> Kind:
    """An element, view or selection of an array."""
    items = index.items if isinstance(index, Tuple) else (index,)
    if base.dims is None or items is None:
        return Array(base.dtype, None, True)
    if base.maybe_scalar and not any(map(_axes_used, items)):  # numbers have no axes to take
        return Array(base.dtype, None, True)
    result = _indexed_dims(base.dims, items)
    if result is None:
        return Array(base.dtype, None, True)
    dims, views = result
    # An index of integers alone gives a number; with a slice or `...` it is an array of rank 0.
    if not dims and not views:
        return Scalar(base.dtype, None if base.dtype is None else False)
    return Array(base.dtype, dims)


def _indexed_dims(dims: tuple[Dim, ...], items: Args) -> tuple[tuple[Dim, ...], bool] | None:
    """The dims of `x[items]` and whether `...` stands in the index; None if unknown."""
    views = ELLIPSIS in items
    used = [_axes_used(i) for i in items]
    rest = len(dims) - sum(u for u in used if u is not None)
    if None in used or rest < 0:
        return None
    out: list[Dim] = []
    picks: list[tuple[int, tuple[Dim, ...]]] = []
    axis = 0
    for item in items if views else (*items, ELLIPSIS):
        if isinstance(item, NoneKind):
            out.append(1)
        elif item == ELLIPSIS:
            out += dims[axis : axis + rest]
            axis += rest
        elif isinstance(item, SliceKind):
            out.append(slice_dim(dims[axis], item))
            axis += 1
        else:
            shape = _picked(item)
            if shape is None:
                return None
            picks.append((len(out), shape))
            axis += _axes_used(item) or 0
    return _place(out, picks), views


def _axes_used(item: Kind) -> int | None:
    """How many axes an item of an index takes, None if unknown."""
    if isinstance(item, NoneKind) or item == ELLIPSIS:
        return 0
    if isinstance(item, SliceKind):
        return 1
    if isinstance(item, Scalar):
        return None if item.dtype is None else int(item.dtype != "bool")
    if isinstance(item, List):
        return 1 if all(isinstance(k, Scalar) for k in contents(item)) else None
    dims = dims_of(item)
    if isinstance(item, Array) and dims is not None and item.dtype is not None:
        return len(dims) if item.dtype == "bool" else 1
    return None


def _picked(item: Kind) -> tuple[Dim, ...] | None:
    """The dims of what an integer, or an array of places or flags, selects; None if unknown."""
    if isinstance(item, Scalar):
        return None if item.dtype == "bool" else ()
    if isinstance(item, List):
        flags = join_all(contents(item)) == Scalar("bool")
        return None if flags else (None if item.items is None else len(item.items),)
    return (None,) if dtype_of(item) == "bool" else dims_of(item)


def _place(out: list[Dim], picks: list[tuple[int, tuple[Dim, ...]]]) -> tuple[Dim, ...]:
    """Put the axes of integer and boolean indices where NumPy puts them."""
    shape = broadcast_dims([s for _, s in picks])
    places = {p for p, _ in picks}
    first = places.pop() if len(places) == 1 else 0
    return (*out[:first], *shape, *out[first:])


# --- slices ------------------------------------------------------------------------------------


def slice_dim(dim: Dim, index: SliceKind) -> Dim:
    """The length of a slice of an axis."""
    lower, upper, step = index.lower, index.upper, index.step
    bounds = [_bound(k) for k in (lower, upper, step)]
    if bounds[2] in (None, 1) and bounds[0] in (None, 0) and isinstance(upper, NoneKind):
        return dim
    if bounds[:2] == [None, None] and bounds[2] == -1:
        return dim
    known = slice_bounds(index)
    if isinstance(dim, int) and known is not None:
        return len(range(dim)[known])
    if isinstance(dim, Sym) and bounds[2] in (None, 1):
        exact = _cut(dim, lower, upper)
        if exact is not None:
            return exact
    return _named_slice(dim, index)


def _cut(dim: Sym, lower: Kind, upper: Kind) -> Dim:
    """The length of `[a:b]` of an axis, where that can be said of every axis that long."""
    start = 0 if isinstance(lower, NoneKind) else _bound(lower)
    stop = 0 if isinstance(upper, NoneKind) else _bound(upper)
    if isinstance(start, int) and isinstance(stop, int):
        return _cut_by_numbers(dim, start, stop, stop < 0 or isinstance(upper, NoneKind))
    if not isinstance(start, int) or start < 0:
        return None
    length = size_dim(upper)
    if isinstance(length, Sym) and length.name == dim.name != "?" and dim.offset <= 0:
        # `x[a:n-b]` with n the length of x.  A negative bound counts from the end: for b up to 2
        # the axis is then so short that nothing is left, as the formula says; for more it is not.
        if length.offset >= -2:
            return _moved(dim, min(length.offset - dim.offset, 0) - start)
    return None


def _cut_by_numbers(dim: Sym, start: int, stop: int, from_end: bool) -> Dim:
    """The length of `[start:stop]`; `stop`, 0 or less, may count from the end."""
    if from_end and start >= 0:
        return _moved(dim, stop - start)
    if from_end == (start < 0) and max(-start, stop) <= dim.least + dim.offset:
        return max(stop - start, 0)
    return None


def _named_slice(dim: Dim, index: SliceKind) -> Dim:
    """A length named after the slice itself, where its bounds are known by name or value."""
    parts = [_text(k) for k in (index.lower, index.upper, index.step)]
    if not isinstance(dim, Sym) or dim.name == "?" or None in parts:
        return None
    base = f"({dim_text(dim)})" if "*" in dim.name else dim_text(dim)  # `(a*b)[1:]`, not `a*b[1:]`
    return named(f"{base}[{':'.join(p or '' for p in parts)}]")


def named(text: str) -> Dim:
    """A length with a name made of others, unless that has become too long."""
    return Sym(text) if len(text) <= NAME_LIMIT else None


def dim_text(dim: int | Sym) -> str:
    """A length as part of a name."""
    if isinstance(dim, int) or not dim.offset:
        return str(dim) if isinstance(dim, int) else dim.name
    return f"({dim.name}{dim.offset:+})"


def _text(kind: Kind) -> str | None:
    """One part of a slice as text, None if unknown."""
    if isinstance(kind, NoneKind):
        return ""
    if isinstance(kind, Scalar):
        if kind.value is not None:
            return str(kind.value)
        size = kind.size_of
        # With a negative offset it may be cut off at zero, or not: not one value.
        if isinstance(size, Sym) and size.name != "?" and size.offset >= 0:
            return dim_text(size)
    return None


# --- integers as lengths -----------------------------------------------------------------------


def size_dim(kind: Kind) -> Dim:
    """The length that an integer gives; a negative one is no length."""
    if not isinstance(kind, Scalar):
        return None
    if kind.value is not None:
        return kind.value if kind.value >= 0 else None
    return kind.size_of


def size_scalar(dim: Dim) -> Scalar:
    """The integer that a length is."""
    if isinstance(dim, int):
        return Scalar("int64", True, dim)
    return Scalar("int64", True, None, dim)


def shape_dims(kind: Kind) -> tuple[Dim, ...] | None:
    """The dims that a shape argument gives, None if its length is unknown."""
    if isinstance(kind, Scalar):
        return (size_dim(kind),)
    if isinstance(kind, (Tuple, List)) and kind.items is not None:
        return tuple(map(size_dim, kind.items))
    return None


def product(dims: Sequence[Dim]) -> Dim:
    """The number of elements of an array."""
    number = 1
    rest: list[Sym] = []
    for dim in dims:
        if dim is None or dim == Sym("?", 0, True):
            return None
        if isinstance(dim, int):
            number *= dim
        else:
            rest.append(dim)
    if not rest or number == 0:
        return number
    if len(rest) == 1 and number == 1:
        return rest[0]
    text = "*".join([*(dim_text(d) for d in rest), *([str(number)] if number > 1 else [])])
    whole = named(text)
    if isinstance(whole, Sym) and all(map(is_filled, rest)):
        return replace(whole, least=1)
    return whole


def dims_sum(dims: Sequence[Dim]) -> Dim:
    """The sum of lengths; none may be one of which only a formula below zero is known."""
    number = sum(d for d in dims if isinstance(d, int))
    rest = sorted((d for d in dims if isinstance(d, Sym)), key=lambda d: (d.name, d.offset))
    if None in dims or any(d.name == "?" or d.least + d.offset < 0 for d in rest):
        return None
    if len(rest) == 1:
        return rest[0].moved(number) if number else rest[0]
    if not rest:
        return number
    whole = named(f"({'+'.join(d.name for d in rest)})")
    offset, least = number + sum(d.offset for d in rest), sum(d.least for d in rest)
    return replace(whole, least=least).moved(offset) if isinstance(whole, Sym) else None


def added(a: Scalar, b: Scalar, sign: int) -> Dim:
    """The length that a sum or difference of integers is, if it is the length of something."""
    x, y = size_dim(a), size_dim(b)
    if isinstance(x, Sym) and b.value is not None:
        return _moved(x, sign * b.value)
    if isinstance(y, Sym) and a.value is not None and sign == 1:
        return _moved(y, a.value)
    if isinstance(x, Sym) and isinstance(y, Sym) and sign == -1 and same_dim(x, y):
        return 0
    return None


def _moved(dim: Sym, count: int) -> Dim:
    """A length with something added: not where the length may be cut off at zero."""
    if count == 0:
        return dim
    return None if dim.name == "?" or (dim.offset < 0 < count) else dim.moved(count)
