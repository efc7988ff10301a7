"""The kind of a value, and what describes the values of two kinds.

Takes values or kinds; gives the kind of a value, the join of kinds, and the fast key by which calls
are dispatched on the kinds of their arguments.  The invariant: a join describes the values of both.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable as Function
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from srcdiff.ir import Site
from srcdiff.ir.kinds import (
    UNKNOWN,
    Array,
    Callable,
    Dict,
    Dim,
    Kind,
    List,
    Maybe,
    Module,
    NoneKind,
    Object,
    OtherArray,
    Range,
    Scalar,
    SliceKind,
    Sparse,
    Sym,
    Text,
    Tuple,
    contents,
    dims_of,
    join_callables,
    join_dim,
    maybe,
    only,
    sure,
)
from srcdiff.runtime import records
from srcdiff.runtime.devices import canonical, is_device_array, on_device
from srcdiff.runtime.scipy.sparse import is_sparse


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
    if type(a) is type(b):
        joined = _JOINS.get(type(a))
        return UNKNOWN if joined is None else joined(a, b)
    if isinstance(a, (Scalar, Array)) and isinstance(b, (Scalar, Array)):
        return _join_arrays(a, b)
    return UNKNOWN


def join_all(
    kinds: Iterable[Kind], joined: Function[[Kind, Kind], Kind] = join
) -> Kind | None:
    """The join of any number of kinds, None for none."""
    result: Kind | None = None
    for kind in kinds:
        result = kind if result is None else joined(result, kind)
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


def _join_slices(a: SliceKind, b: SliceKind) -> SliceKind:
    return SliceKind(join(a.lower, b.lower), join(a.upper, b.upper), join(a.step, b.step))


def _join_lists(a: List, b: List) -> List:
    site = a.site if a.site == b.site else ""
    if a.items is None or b.items is None or len(a.items) != len(b.items):
        return List(join_all((*contents(a), *contents(b))), None, site)
    item = join_all(k for k in (a.item, b.item) if k is not None)
    return List(item, tuple(map(join, a.items, b.items)), site)


def _join_sparse(a: Sparse, b: Sparse) -> Kind:
    dtype = a.dtype if a.dtype == b.dtype else None
    one, two = (k.type.rpartition("_")[2] for k in (a, b))
    if one != two:  # `*` means something else
        return UNKNOWN
    return Sparse(a.type if a.type == b.type else f"any_{one}", dtype)


def _join_dicts(a: Dict, b: Dict) -> Kind:
    if a.cls is not b.cls:
        return UNKNOWN
    site = a.site if a.site == b.site else ""
    x, y = dict(a.items), dict(b.items)
    if [*x] == [*y] and a.item == b.item:
        return Dict(tuple((k, join(v, y[k])) for k, v in x.items()), a.item, site, a.cls)
    if a.cls is not None:
        return UNKNOWN
    return Dict((), join_all((*contents(a), *contents(b))), site)


_JOINS: dict[type, Function[[Any, Any], Kind]] = {
    Scalar: _join_scalars,
    Array: _join_arrays,
    Tuple: _join_tuples,
    Range: lambda a, b: Range(join_dim(a.length, b.length)),
    SliceKind: _join_slices,
    Text: lambda a, b: Text(),
    List: _join_lists,
    Dict: _join_dicts,
    Callable: lambda a, b: join_callables(a, b, join),
    Object: lambda a, b: Object(a.type) if a.type == b.type else UNKNOWN,
    Sparse: _join_sparse,
}


# --- what says the kind of a call's result -------------------------------------------------------


Args = tuple[Kind, ...]
Keywords = dict[str, Kind]
Kwargs = tuple[tuple[str, Kind], ...]
Rule = Function[[Args, Keywords], "Kind | None"]
"""The kind of a call's result by those of its arguments; None where the rule does not know."""


def always(kind: Kind) -> Rule:
    """The rule for what gives one kind, whatever it is given."""
    return lambda args, kwargs: kind


def like(place: int, made: Function[[Kind], Kind] = lambda kind: kind) -> Rule:
    """The rule for what gives something of the kind of one argument, or of what is made of that."""
    return lambda args, kwargs: made(args[place]) if args else None


def binary(made: Function[[Kind, Kind], Kind | None]) -> Rule:
    """The rule for what has two operands and no options."""
    return lambda args, kwargs: made(*args) if len(args) == 2 and not kwargs else None


def argument(args: Args, place: int, kwargs: Keywords, name: str, default: Kind = UNKNOWN) -> Kind:
    """An argument that is given by its position or by its name, or what it is if left out."""
    return args[place] if len(args) > place else kwargs.get(name, default)


# --- kinds of actual values, and the fast key by which calls are dispatched on kinds -------------


_FUNCTIONS = (
    FunctionType, BuiltinFunctionType, type, np.ufunc, Site, MethodType, functools.partial,
    type(functools.lru_cache(lambda: None)),
)  # fmt: skip
"""Callables that are told apart by identity; other objects only by their type."""


def is_function(value: Any) -> bool:
    """Whether a value is a function of some sort, a derivative included."""
    return isinstance(value, _FUNCTIONS) or hasattr(type(value), "__srcdiff_function__")


LARGE = 4
"""Lengths from here on have kinds of their own: one or two elements less is still not 1."""


def kind_of(value: Any, name: str) -> Kind:
    """The kind of an argument: it describes every value that has the same `key_of`."""
    cls = type(value)
    make = _KINDS.get(cls) if type(cls) is type else None
    if make is not None:
        return make(value, name)
    if records.is_closed(value):
        return Object(_type_name(value))
    if isinstance(value, np.number):
        return _number(value, name)
    if isinstance(value, np.bool_):
        return Scalar("bool", False)
    if is_device_array(value):
        return _array(value, name)
    if isinstance(value, np.dtype):
        return Object("dtype", value)
    if is_sparse(value):
        return Sparse(type(value).__name__, value.dtype.name)
    value = canonical(value)
    if isinstance(value, ModuleType):
        return Module(str(records.own_dict(value).get("__name__")))
    if is_function(value):
        return only(value)
    if records.is_record(type(value)):
        return _record(value, name)
    if records.becomes_array(type(value)):
        return OtherArray(_type_name(value), cls=type(value))
    return Object(_type_name(value))


def key_of(value: Any) -> Any:
    """A hashable key: two values with the same key have the same kind."""
    cls = type(value)
    if cls is np.ndarray or cls is np.memmap:
        return value.dtype, tuple([n if n < 2 else LARGE if n >= LARGE else 2 for n in value.shape])
    if cls is float or cls is int:
        return cls
    if cls is tuple or cls is list:
        return cls, tuple(map(key_of, value))
    if cls is dict:
        return cls, tuple((k if _is_key(k) else None, key_of(v)) for k, v in value.items())
    if records.is_closed(value):
        return "closed", id(cls)
    if cls.__name__ == "ndarray" and is_device_array(value):
        lengths = [n if n < 2 else LARGE if n >= LARGE else 2 for n in value.shape]
        return "cupy", value.dtype, tuple(lengths)
    if is_sparse(value):
        return cls, value.dtype
    if isinstance(value, np.dtype) or is_function(value):
        return value
    if cls is ModuleType:
        return canonical(value)
    if callable(value):  # a function of CuPy may be NumPy's here
        value = canonical(value)
        cls = value if is_function(value) else cls
    return _record_key(value) if records.is_record(cls) else cls


_being = threading.local()
"""The objects (by id) that are being looked into: a cycle ends there."""


_MOST, _DEEPEST = 2000, 20
"""How many objects are looked into for one value, one inside the other and in all: what several
of them hold in common counts each time."""


def _enter(value: Any) -> set[int] | None:
    """The objects that are being looked into, with this one; None if it is not to be."""
    inside: set[int] = _being.__dict__.setdefault("inside", set())
    if not inside:
        _being.left = _MOST
    if id(value) in inside or not _being.left or len(inside) >= _DEEPEST:
        return None
    _being.left -= 1
    inside.add(id(value))
    return inside


def _record_key(value: Any) -> Any:
    """The key of an object: its class and those of its attributes."""
    inside = _enter(value)
    if inside is None:
        return type(value)
    try:
        found = records.attributes(value)
        return type(value), tuple([(name, key_of(v)) for name, v in found.items()])
    finally:
        inside.discard(id(value))


def _record(value: Any, name: str) -> Kind:
    """The kind of an object by its attributes."""
    inside = _enter(value)
    if inside is None:
        return Object(_type_name(value))
    try:
        found = records.attributes(value).items()
        items = tuple((k, kind_of(v, f"{name}:{k}")) for k, v in found)  # no ".": see `Sym`
        return Dict(items, None, name, type(value))
    finally:
        inside.discard(id(value))


def _type_name(value: Any) -> str:
    module, name = (type.__getattribute__(type(value), n) for n in ("__module__", "__qualname__"))
    return f"{module}.{name}"


def _array(value: np.ndarray[Any, Any], name: str) -> Kind:
    if value.dtype.hasobject or value.dtype.names is not None:
        return Object("numpy.ndarray")
    dims: list[Dim] = [
        1 if n == 1 else Sym(f"{name}.{axis}", 0, True, LARGE if n >= LARGE else min(n, 2))
        for axis, n in enumerate(value.shape)
    ]
    return Array(value.dtype.name, tuple(dims))


def _number(value: np.number[Any], name: str) -> Kind:
    size = Sym(name) if isinstance(value, np.integer) else None
    return Scalar(value.dtype.name, False, size_of=size)


def _items(value: Any, name: str) -> tuple[Kind, ...]:
    return tuple(kind_of(v, f"{name}[{i}]") for i, v in enumerate(value))


def _list(value: list[Any], name: str) -> Kind:
    return List(None, _items(value, name), name)


def _is_key(key: Any) -> bool:
    """Whether a dict's key is known by its value (others are not told apart)."""
    return isinstance(key, (str, int))


def _dict(value: dict[Any, Any], name: str) -> Kind:
    known = [(k, kind_of(v, f"{name}[{k!r}]")) for k, v in value.items() if _is_key(k)]
    others = [
        kind_of(v, f"{name}[?{i}]") for i, (k, v) in enumerate(value.items()) if not _is_key(k)
    ]
    return Dict(tuple(known), join_all(others), name)


_KINDS: dict[type, Function[[Any, str], Kind]] = {
    np.ndarray: _array,
    np.memmap: _array,
    float: lambda value, name: Scalar("float64"),
    int: lambda value, name: Scalar("int64", size_of=Sym(name)),
    bool: lambda value, name: Scalar("bool"),
    complex: lambda value, name: Scalar("complex128"),
    type(None): lambda value, name: NoneKind(),
    str: lambda value, name: Text(),
    tuple: lambda value, name: Tuple(_items(value, name)),
    list: _list,
    dict: _dict,
    range: lambda value, name: Range(),
    slice: lambda value, name: SliceKind(UNKNOWN, UNKNOWN, UNKNOWN),
}
