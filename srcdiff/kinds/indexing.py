"""The kind of `x[i]`: views, elements and selections of arrays, items of containers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from srcdiff import ir
from srcdiff.ir.frozen import replace
from srcdiff.kinds.lattice import Args, join_all

NAME_LIMIT = 48


def item_kind(base: ir.Kind, index: ir.Kind) -> ir.Kind:
    """The kind of `base[index]`."""
    if type(base) is ir.Array:
        return _array_item(base, index)
    if isinstance(base, (ir.Tuple, ir.List)):
        return _sequence_item(base, index)
    if type(base) is ir.Dict:
        return _dict_item(base, index)
    if type(base) is ir.Range:
        return ir.Scalar("int64") if type(index) is ir.Scalar else ir.Range()
    if type(base) is ir.Text:
        return ir.Text()
    if type(base) is ir.Scalar:  # of NumPy, as numbers of Python have no items
        if index == ir.Tuple(()):
            return replace(base, python=False)
        return _array_item(ir.Array(base.dtype, ()), index)
    return ir.UNKNOWN


def _sequence_item(base: ir.Tuple | ir.List, index: ir.Kind) -> ir.Kind:
    """An item, or a slice, of a tuple or list."""
    items = base.items
    if type(index) is ir.SliceKind:
        return _sequence_slice(base, index)
    if items is None:
        return base.item or ir.UNKNOWN
    if type(index) is not ir.Scalar:
        return ir.UNKNOWN
    if index.value is None:
        return join_all(items) or ir.UNKNOWN
    return items[index.value] if -len(items) <= index.value < len(items) else ir.UNKNOWN


def _sequence_slice(base: ir.Tuple | ir.List, index: ir.SliceKind) -> ir.Kind:
    """A slice of a tuple or list."""
    bounds = slice_bounds(index)
    if base.items is not None and bounds is not None:
        part = base.items[bounds]
        return ir.Tuple(part) if type(base) is ir.Tuple else ir.List(base.item, part)
    if type(base) is ir.Tuple:
        return ir.Tuple(None, base.item if base.items is None else None)
    return ir.List(join_all(ir.contents(base)))


def slice_bounds(index: ir.SliceKind) -> slice | None:
    """A slice whose parts are known, None of others."""
    bounds = [_bound(k) for k in (index.lower, index.upper, index.step)]
    return None if "?" in bounds else slice(*bounds)


def _bound(kind: ir.Kind) -> Any:
    """The value of one part of a slice, "?" if unknown."""
    if type(kind) is ir.NoneKind:
        return None
    return kind.value if type(kind) is ir.Scalar and kind.value is not None else "?"


def _dict_item(base: ir.Dict, index: ir.Kind) -> ir.Kind:
    """A value of a dict."""
    key = index.value if isinstance(index, (ir.Text, ir.Scalar)) else None
    known = dict(base.items)
    if key is not None and key in known:
        return known[key] if base.item is None else join_all((known[key], base.item)) or ir.UNKNOWN
    return join_all(ir.contents(base)) or ir.UNKNOWN


# --- arrays ------------------------------------------------------------------------------------


def _array_item(base: ir.Array, index: ir.Kind) -> ir.Kind:
    """An element, view or selection of an array."""
    items = index.items if type(index) is ir.Tuple else (index,)
    if base.dims is None or items is None:
        return ir.Array(base.dtype, None, True)
    if base.maybe_scalar and not any(map(_axes_used, items)):  # numbers have no axes to take
        return ir.Array(base.dtype, None, True)
    result = _indexed_dims(base.dims, items)
    if result is None:
        return ir.Array(base.dtype, None, True)
    dims, views = result
    # An index of integers alone gives a number; with a slice or `...` it is an array of rank 0.
    if not dims and not views:
        return ir.Scalar(base.dtype, None if base.dtype is None else False)
    return ir.Array(base.dtype, dims)


def _indexed_dims(dims: tuple[ir.Dim, ...], items: Args) -> tuple[tuple[ir.Dim, ...], bool] | None:
    """The dims of `x[items]` and whether `...` stands in the index; None if unknown."""
    views = ir.ELLIPSIS in items
    used = [_axes_used(i) for i in items]
    rest = len(dims) - sum(u for u in used if u is not None)
    if None in used or rest < 0:
        return None
    out: list[ir.Dim] = []
    picks: list[tuple[int, tuple[ir.Dim, ...]]] = []
    axis = 0
    for item in items if views else (*items, ir.ELLIPSIS):
        if type(item) is ir.NoneKind:
            out.append(1)
        elif item == ir.ELLIPSIS:
            out += dims[axis : axis + rest]
            axis += rest
        elif type(item) is ir.SliceKind:
            out.append(slice_dim(dims[axis], item))
            axis += 1
        else:
            shape = _picked(item)
            if shape is None:
                return None
            picks.append((len(out), shape))
            axis += _axes_used(item) or 0
    return _place(out, picks), views


def _axes_used(item: ir.Kind) -> int | None:
    """How many axes an item of an index takes, None if unknown."""
    if type(item) is ir.NoneKind or item == ir.ELLIPSIS:
        return 0
    if type(item) is ir.SliceKind:
        return 1
    if type(item) is ir.Scalar:
        return None if item.dtype is None else int(item.dtype != "bool")
    if type(item) is ir.List:
        return 1 if all(type(k) is ir.Scalar for k in ir.contents(item)) else None
    dims = ir.dims_of(item)
    if type(item) is ir.Array and dims is not None and item.dtype is not None:
        return len(dims) if item.dtype == "bool" else 1
    return None


def _picked(item: ir.Kind) -> tuple[ir.Dim, ...] | None:
    """The dims of what an integer, or an array of places or flags, selects; None if unknown."""
    if type(item) is ir.Scalar:
        return None if item.dtype == "bool" else ()
    if type(item) is ir.List:
        flags = join_all(ir.contents(item)) == ir.Scalar("bool")
        return None if flags else (None if item.items is None else len(item.items),)
    return (None,) if ir.dtype_of(item) == "bool" else ir.dims_of(item)


def _place(out: list[ir.Dim], picks: list[tuple[int, tuple[ir.Dim, ...]]]) -> tuple[ir.Dim, ...]:
    """Put the axes of integer and boolean indices where NumPy puts them."""
    shape = ir.broadcast_dims([s for _, s in picks])
    places = {p for p, _ in picks}
    first = places.pop() if len(places) == 1 else 0
    return (*out[:first], *shape, *out[first:])


# --- slices ------------------------------------------------------------------------------------


def slice_dim(dim: ir.Dim, index: ir.SliceKind) -> ir.Dim:
    """The length of a slice of an axis."""
    lower, upper, step = index.lower, index.upper, index.step
    bounds = [_bound(k) for k in (lower, upper, step)]
    if bounds[2] in (None, 1) and bounds[0] in (None, 0) and type(upper) is ir.NoneKind:
        return dim
    if bounds[:2] == [None, None] and bounds[2] == -1:
        return dim
    known = slice_bounds(index)
    if isinstance(dim, int) and known is not None:
        return len(range(dim)[known])
    if dim is not None and bounds[2] in (None, 1):
        exact = _cut(dim, lower, upper)
        exact = _window(dim, lower, upper) if exact is None else exact
        if exact is not None:
            return exact
    return _named_slice(dim, index)


def _cut(dim: int | ir.Sym, lower: ir.Kind, upper: ir.Kind) -> ir.Dim:
    """The length of `[a:b]` of an axis, where that can be said of every axis that long."""
    if isinstance(dim, int):
        return None
    start = 0 if type(lower) is ir.NoneKind else _bound(lower)
    stop = 0 if type(upper) is ir.NoneKind else _bound(upper)
    if isinstance(start, int) and isinstance(stop, int):
        return _cut_by_numbers(dim, start, stop, stop < 0 or type(upper) is ir.NoneKind)
    if not isinstance(start, int) or start < 0:
        return None
    length = size_dim(upper)
    if not isinstance(length, ir.Sym):
        return None
    if not length.name == dim.name != "?":
        # `x[:n]` with `n` at most the length of `x`: it has as many.
        short = start == 0 and bool(length.below) and is_within(length, 0, dim)
        return length if short and length.least + length.offset >= 0 else None
    # `x[a:n-b]` with n the length of x.  A negative bound counts from the end: for b up to 2
    # the axis is then so short that nothing is left, as the formula says; for more it is not.
    # An integer of which it is not known how large it is at least may be negative.
    least, away = max(dim.least, length.least), length.offset - dim.offset
    known = least > 0 and least + min(dim.offset, length.offset) >= 0
    if known or away >= 0 or (dim.offset <= 0 and length.offset >= -2):
        return _moved(dim, min(away, 0) - start)
    return None


def _window(dim: ir.Dim, lower: ir.Kind, upper: ir.Kind) -> int | None:
    """The length of `x[i - a : i + b]`, where the counter of the loop keeps that inside of `x`."""
    start, stop = size_dim(lower), size_dim(upper)
    if not isinstance(start, ir.Sym) or not isinstance(stop, ir.Sym) or start.name != stop.name:
        return None
    if not start.below or start.below != stop.below or start.least + start.offset < 0:
        return None
    inside = any(is_within(b, stop.offset - 1, dim) for b in start.below)
    return stop.offset - start.offset if inside and stop.offset >= start.offset else None


def is_within(length: ir.Dim, more: int, other: ir.Dim) -> bool:
    """Whether a length, where it is not zero, and `more` are together at most another length."""
    if isinstance(length, ir.Sym):
        same = isinstance(other, ir.Sym) and length.name == other.name != "?"
        if same and length.offset + more <= other.offset:  # type: ignore[union-attr]
            return True
        return any(is_within(b, length.offset + more - 1, other) for b in length.below)
    return length is not None and other is not None and length + more <= _least(other)


def _cut_by_numbers(dim: ir.Sym, start: int, stop: int, from_end: bool) -> ir.Dim:
    """The length of `[start:stop]`; `stop`, 0 or less, may count from the end."""
    if from_end and start >= 0:
        return _moved(dim, stop - start)
    if from_end == (start < 0) and max(-start, stop) <= dim.least + dim.offset:
        return max(stop - start, 0)
    return None


def _named_slice(dim: ir.Dim, index: ir.SliceKind) -> ir.Dim:
    """A length named after the slice itself, where its bounds are known by name or value."""
    parts = [_text(k) for k in (index.lower, index.upper, index.step)]
    if not isinstance(dim, ir.Sym) or dim.name == "?" or None in parts:
        return None
    base = f"({dim_text(dim)})" if "*" in dim.name else dim_text(dim)  # `(a*b)[1:]`, not `a*b[1:]`
    found = named(f"{base}[{':'.join(p or '' for p in parts)}]", _least_of(dim, index))
    return found if found is None else replace(found, cut=_cut_at(dim, index))


def _cut_at(dim: ir.Sym, index: ir.SliceKind) -> str:
    """The name of the length that decides whether `x[:n]` has the length 1; nothing of others."""
    plain = _bound(index.lower) in (None, 0) and _bound(index.step) in (None, 1)
    least, stop = least_value(index.upper), size_dim(index.upper)
    known = plain and least is not None and least >= 0 and _least(dim) > 1
    return dim_text(stop) if known and isinstance(stop, ir.Sym) else ""


def _least_of(dim: ir.Sym, index: ir.SliceKind) -> int:
    """How long `[a:b]` of an axis is at least."""
    start = 0 if type(index.lower) is ir.NoneKind else _bound(index.lower)
    upper = dim if type(index.upper) is ir.NoneKind else size_dim(index.upper)
    if _bound(index.step) not in (None, 1) or not isinstance(start, int) or start < 0:
        return 0
    return 0 if upper is None else max(0, min(_least(dim), _least(upper)) - start)


def _least(dim: int | ir.Sym) -> int:
    """How long an axis is at least."""
    return dim if isinstance(dim, int) else dim.least + dim.offset


def named(text: str, least: int = 0) -> ir.Sym | None:
    """A length with a name made of others, unless that has become too long."""
    return ir.Sym(text, 0, least > 1, least) if len(text) <= NAME_LIMIT else None


def dim_text(dim: int | ir.Sym) -> str:
    """A length as part of a name."""
    return str(dim) if isinstance(dim, int) else dim.text


def _text(kind: ir.Kind) -> str | None:
    """One part of a slice as text, None if unknown."""
    if type(kind) is ir.NoneKind:
        return ""
    if type(kind) is ir.Scalar:
        if kind.value is not None:
            return str(kind.value)
        size = kind.size_of
        # With a negative offset it may be cut off at zero, or not: not one value.
        if isinstance(size, ir.Sym) and size.name != "?" and (
            size.offset >= 0 or size.least + size.offset >= 0
        ):
            return dim_text(size)
    return None


# --- integers as lengths -----------------------------------------------------------------------


def size_dim(kind: ir.Kind) -> ir.Dim:
    """The length that an integer gives; a negative one is no length."""
    if type(kind) is not ir.Scalar:
        return None
    if kind.value is not None:
        return kind.value if kind.value >= 0 else None
    return kind.size_of


def least_value(kind: ir.Kind) -> int | None:
    """What an integer is at least, None if that is not known."""
    size = size_dim(kind)
    if not isinstance(size, ir.Sym):
        return size
    known = size.least > 0 or bool(size.below)
    return size.least + size.offset if known else None


def least_dim(args: Sequence[ir.Kind]) -> ir.Dim:
    """The least of some integers as a length, where each is one by its name."""
    dims, least = [size_dim(a) for a in args], [least_value(a) for a in args]
    names = [d for d in dims if isinstance(d, ir.Sym) and d.name != "?" and d.offset >= 0]
    if len(dims) < 2 or len(names) < len(dims):
        return None
    found = named(f"min({','.join(sorted(map(dim_text, names)))})", min(n or 0 for n in least))
    if not isinstance(found, ir.Sym) or not all(n is not None and n >= 0 for n in least):
        return None
    return replace(found, below=tuple(d.moved(1) for d in names))


def size_scalar(dim: ir.Dim) -> ir.Scalar:
    """The integer that a length is."""
    if isinstance(dim, int):
        return ir.Scalar("int64", True, dim)
    return ir.Scalar("int64", True, None, dim)


def shape_dims(kind: ir.Kind) -> tuple[ir.Dim, ...] | None:
    """The dims that a shape argument gives, None if its length is unknown."""
    if type(kind) is ir.Scalar:
        return (size_dim(kind),)
    items = ir.known_items(kind)
    return None if items is None else tuple(map(size_dim, items))


def product(dims: Sequence[ir.Dim]) -> ir.Dim:
    """The number of elements of an array."""
    number = 1
    rest: list[ir.Sym] = []
    for dim in dims:
        if dim is None or dim == ir.BIG:
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
    if isinstance(whole, ir.Sym) and all(map(ir.is_filled, rest)):
        return replace(whole, least=1)
    return whole


def dims_sum(dims: Sequence[ir.Dim]) -> ir.Dim:
    """The sum of lengths; none may be one of which only a formula below zero is known."""
    number = sum(d for d in dims if isinstance(d, int))
    rest = sorted((d for d in dims if isinstance(d, ir.Sym)), key=lambda d: (d.name, d.offset))
    if None in dims or any(d.name == "?" or d.least + d.offset < 0 for d in rest):
        return None
    if len(rest) == 1:
        return rest[0].moved(number) if number else rest[0]
    if not rest:
        return number
    whole = named(f"({'+'.join(d.name for d in rest)})")
    offset, least = number + sum(d.offset for d in rest), sum(d.least for d in rest)
    return replace(whole, least=least).moved(offset) if isinstance(whole, ir.Sym) else None


def added(a: ir.Scalar, b: ir.Scalar, sign: int) -> ir.Dim:
    """The length that a sum or difference of integers is, if it is the length of something."""
    x, y = size_dim(a), size_dim(b)
    if isinstance(x, ir.Sym) and b.value is not None:
        return _shifted(x, sign * b.value)
    if isinstance(y, ir.Sym) and a.value is not None and sign == 1:
        return _shifted(y, a.value)
    if isinstance(x, ir.Sym) and isinstance(y, ir.Sym) and sign == -1 and ir.same_dim(x, y):
        return 0
    return None


def _shifted(size: ir.Sym, count: int) -> ir.Dim:
    """An integer with something added; one of which nothing is known may be less than zero."""
    found = _moved(size, count)
    unknown = not size.big and size.least + size.offset <= 0 and not size.below
    if not isinstance(found, ir.Sym) or count < 0 or not unknown:
        return found
    return ir.Sym(found.name, found.offset, False, min(found.least, -found.offset))


def _moved(dim: ir.Sym, count: int) -> ir.Dim:
    """A length with something added: not where the length may be cut off at zero."""
    if count == 0:
        return dim
    return None if dim.name == "?" or (dim.offset < 0 < count) else dim.moved(count)
