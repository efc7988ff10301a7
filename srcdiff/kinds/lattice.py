"""Joining kinds: what describes the values of both."""

from __future__ import annotations

from collections.abc import Iterable

from srcdiff.ir.callables import join_callables, only
from srcdiff.ir.kinds import (
    UNKNOWN,
    Array,
    Callable,
    Dict,
    Dim,
    Kind,
    List,
    Maybe,
    NoneKind,
    Object,
    Range,
    Scalar,
    SliceKind,
    Sparse,
    Text,
    Tuple,
    contents,
    dims_of,
    join_dim,
    maybe,
    sure,
)
from srcdiff.runtime.devices import on_device


def join(a: Kind, b: Kind) -> Kind:
    """A kind that describes the values of both."""
    if a == b:
        return a
    if isinstance(a, NoneKind) and isinstance(b, Callable) and b.choices:
        return join_callables(only(None), b, join)
    if isinstance(b, NoneKind) and isinstance(a, Callable) and a.choices:
        return join_callables(a, only(None), join)
    if isinstance(a, (NoneKind, Maybe)) or isinstance(b, (NoneKind, Maybe)):
        return _join_maybe(a, b)
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return _join_scalars(a, b)
    if isinstance(a, (Scalar, Array)) and isinstance(b, (Scalar, Array)):
        return _join_arrays(a, b)
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return _join_tuples(a, b)
    if isinstance(a, Range) and isinstance(b, Range):
        return Range(join_dim(a.length, b.length))
    if isinstance(a, SliceKind) and isinstance(b, SliceKind):
        parts = zip((a.lower, a.upper, a.step), (b.lower, b.upper, b.step))
        return SliceKind(*(join(p, q) for p, q in parts))
    if isinstance(a, Text) and isinstance(b, Text):
        return Text()
    if isinstance(a, List) and isinstance(b, List):
        return _join_lists(a, b)
    if isinstance(a, Dict) and isinstance(b, Dict) and a.cls is b.cls:
        return _join_dicts(a, b)
    if isinstance(a, Callable) and isinstance(b, Callable):
        return join_callables(a, b, join)
    if isinstance(a, Object) and isinstance(b, Object) and a.type == b.type:
        return Object(a.type)
    if isinstance(a, Sparse) and isinstance(b, Sparse):
        return _join_sparse(a, b)
    return UNKNOWN


def join_all(kinds: Iterable[Kind]) -> Kind | None:
    """The join of any number of kinds, None for none."""
    result: Kind | None = None
    for kind in kinds:
        result = kind if result is None else join(result, kind)
    return result


def _join_maybe(a: Kind, b: Kind) -> Kind:
    """The join of two kinds one of which may be None."""
    known = [sure(k) for k in (a, b) if not isinstance(k, NoneKind)]
    joined = join_all(known)
    return UNKNOWN if joined is None else maybe(joined)


def _join_scalars(a: Scalar, b: Scalar) -> Scalar:
    return Scalar(
        a.dtype if a.dtype == b.dtype else None,
        a.python if a.python == b.python else None,
        a.value if a.value == b.value and a.dtype == b.dtype else None,
        join_dim(a.size_of, b.size_of),
    )


def _join_arrays(a: Scalar | Array, b: Scalar | Array) -> Array:
    maybe = any(isinstance(k, Scalar) or k.maybe_scalar for k in (a, b))
    x, y = getattr(a, "dims", None), getattr(b, "dims", None)
    dims: tuple[Dim, ...] | None = () if on_device() and dims_of(a) == dims_of(b) == () else None
    if not maybe and x is not None and y is not None and len(x) == len(y):
        dims = tuple(map(join_dim, x, y))
    return Array(a.dtype if a.dtype == b.dtype else None, dims, maybe)


def _join_tuples(a: Tuple, b: Tuple) -> Tuple:
    if a.items is None or b.items is None or len(a.items) != len(b.items):
        both = [*(a.items or (a.item,)), *(b.items or (b.item,))]
        plain = all(isinstance(k, (Scalar, Array)) for k in both)
        return Tuple(None, join_all(k for k in both if k is not None) if plain else None)
    return Tuple(tuple(map(join, a.items, b.items)))


def _join_lists(a: List, b: List) -> List:
    item = join_all(k for k in (a.item, b.item) if k is not None)
    items = None
    if a.items is None or b.items is None or len(a.items) != len(b.items):
        item = join_all((*contents(a), *contents(b)))
    if a.items is not None and b.items is not None and len(a.items) == len(b.items):
        items = tuple(map(join, a.items, b.items))
    return List(item, items, a.site if a.site == b.site else "")


def _join_sparse(a: Sparse, b: Sparse) -> Kind:
    dtype = a.dtype if a.dtype == b.dtype else None
    one, two = (k.type.rpartition("_")[2] for k in (a, b))
    if one != two:  # `*` means something else
        return UNKNOWN
    return Sparse(a.type if a.type == b.type else f"any_{one}", dtype)


def _join_dicts(a: Dict, b: Dict) -> Kind:
    site = a.site if a.site == b.site else ""
    x, y = dict(a.items), dict(b.items)
    if [*x] == [*y] and a.item == b.item:
        return Dict(tuple((k, join(v, y[k])) for k, v in x.items()), a.item, site, a.cls)
    if a.cls is not None:
        return UNKNOWN
    return Dict((), join_all((*contents(a), *contents(b))), site)
