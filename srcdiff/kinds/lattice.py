"""The kind of a value, and what describes the values of two kinds.

Takes values or kinds; gives the kind of a value, the join of kinds, and the fast key by which calls
are dispatched on the kinds of their arguments.  The invariant: a join describes the values of both.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable as Function
from collections.abc import Iterable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, TypeVar

import numpy as np

from srcdiff import ir
from srcdiff.ir import Site
from srcdiff.ir.frozen import replace
from srcdiff.ir.kinds import maybe
from srcdiff.runtime import records
from srcdiff.runtime.devices import canonical, is_device_array
from srcdiff.runtime.scipy.sparse import is_sparse

T = TypeVar("T")


def join(a: ir.Kind, b: ir.Kind) -> ir.Kind:
    """A kind that describes the values of both."""
    if a == b:
        return a
    if type(a) is ir.NoneKind and isinstance(b, ir.Callable) and b.choices:
        return ir.join_callables(ir.only(None), b, join)
    if type(b) is ir.NoneKind and isinstance(a, ir.Callable) and a.choices:
        return ir.join_callables(a, ir.only(None), join)
    if isinstance(a, (ir.NoneKind, ir.Maybe)) or isinstance(b, (ir.NoneKind, ir.Maybe)):
        return _join_maybe(a, b)
    if type(a) is type(b):
        joined = _JOINS.get(type(a))
        return ir.UNKNOWN if joined is None else joined(a, b)
    if isinstance(a, (ir.Scalar, ir.Array)) and isinstance(b, (ir.Scalar, ir.Array)):
        return _join_arrays(a, b)
    return ir.UNKNOWN


def join_all(
    kinds: Iterable[ir.Kind], joined: Function[[ir.Kind, ir.Kind], ir.Kind] = join
) -> ir.Kind | None:
    """The join of any number of kinds, None for none."""
    result: ir.Kind | None = None
    for kind in kinds:
        result = kind if result is None else joined(result, kind)
    return result


def _join_maybe(a: ir.Kind, b: ir.Kind) -> ir.Kind:
    """The join of two kinds one of which may be None."""
    known = [ir.sure(k) for k in (a, b) if type(k) is not ir.NoneKind]
    joined = join_all(known)
    return ir.UNKNOWN if joined is None else maybe(joined)


def _join_scalars(a: ir.Scalar, b: ir.Scalar) -> ir.Scalar:
    return ir.Scalar(
        a.dtype if a.dtype == b.dtype else None,
        a.python if a.python == b.python else None,
        a.value if a.value == b.value and a.dtype == b.dtype else None,
        ir.join_dim(a.size_of, b.size_of),
    )


def _join_ranges(a: ir.Range, b: ir.Range) -> ir.Range:
    first = a.first if a.first == b.first else None
    return ir.Range(ir.join_dim(a.length, b.length), first, ir.join_dim(a.stop, b.stop))


def _join_arrays(a: ir.Scalar | ir.Array, b: ir.Scalar | ir.Array) -> ir.Array:
    maybe = any(type(k) is ir.Scalar or k.maybe_scalar for k in (a, b))
    x, y = getattr(a, "dims", None), getattr(b, "dims", None)
    numbers = ir.dims_of(a) == ir.dims_of(b) == ()
    dims: tuple[ir.Dim, ...] | None = () if numbers else None
    if not maybe and x is not None and y is not None and len(x) == len(y):
        dims = tuple(map(ir.join_dim, x, y))
    return ir.Array(a.dtype if a.dtype == b.dtype else None, dims, maybe)


def _join_tuples(a: ir.Tuple, b: ir.Tuple) -> ir.Tuple:
    if a.items is None or b.items is None or len(a.items) != len(b.items):
        both = [*(a.items or (a.item,)), *(b.items or (b.item,))]
        plain = all(isinstance(k, (ir.Scalar, ir.Array)) for k in both)
        return ir.Tuple(None, join_all(k for k in both if k is not None) if plain else None)
    return ir.Tuple(tuple(map(join, a.items, b.items)))


def _join_slices(a: ir.SliceKind, b: ir.SliceKind) -> ir.SliceKind:
    return ir.SliceKind(join(a.lower, b.lower), join(a.upper, b.upper), join(a.step, b.step))


def _join_lists(a: ir.List, b: ir.List) -> ir.List:
    site = a.site if a.site == b.site else ""
    if a.items is None or b.items is None or len(a.items) != len(b.items):
        return ir.List(join_all((*ir.contents(a), *ir.contents(b))), None, site)
    item = join_all(k for k in (a.item, b.item) if k is not None)
    return ir.List(item, tuple(map(join, a.items, b.items)), site)


def _join_sparse(a: ir.Sparse, b: ir.Sparse) -> ir.Kind:
    dtype = a.dtype if a.dtype == b.dtype else None
    one, two = (k.type.rpartition("_")[2] for k in (a, b))
    if one != two:  # `*` means something else
        return ir.UNKNOWN
    return ir.Sparse(a.type if a.type == b.type else f"any_{one}", dtype)


def _join_dicts(a: ir.Dict, b: ir.Dict) -> ir.Kind:
    if a.cls is not b.cls:
        return ir.UNKNOWN
    site = a.site if a.site == b.site else ""
    x, y = dict(a.items), dict(b.items)
    if [*x] == [*y] and a.item == b.item:
        return ir.Dict(tuple((k, join(v, y[k])) for k, v in x.items()), a.item, site, a.cls)
    if a.cls is not None:
        return ir.UNKNOWN
    return ir.Dict((), join_all((*ir.contents(a), *ir.contents(b))), site)


_JOINS: dict[type, Function[[Any, Any], ir.Kind]] = {
    ir.Scalar: _join_scalars,
    ir.Array: _join_arrays,
    ir.Tuple: _join_tuples,
    ir.Range: _join_ranges,
    ir.SliceKind: _join_slices,
    ir.Text: lambda a, b: ir.Text(),
    ir.List: _join_lists,
    ir.Dict: _join_dicts,
    ir.Callable: lambda a, b: ir.join_callables(a, b, join),
    ir.Object: lambda a, b: ir.Object(a.type) if a.type == b.type else ir.UNKNOWN,
    ir.Sparse: _join_sparse,
}


# --- what says the kind of a call's result -------------------------------------------------------


Args = tuple[ir.Kind, ...]
Keywords = dict[str, ir.Kind]
Kwargs = tuple[tuple[str, ir.Kind], ...]
Rule = Function[[Args, Keywords], "ir.Kind | None"]
"""The kind of a call's result by those of its arguments; None where the rule does not know."""


def always(kind: ir.Kind) -> Rule:
    """The rule for what gives one kind, whatever it is given."""
    return lambda args, kwargs: kind


def like(place: int, made: Function[[ir.Kind], ir.Kind] = lambda kind: kind) -> Rule:
    """The rule for what gives something of the kind of one argument, or of what is made of that."""
    return lambda args, kwargs: made(args[place]) if args else None


def binary(made: Function[[ir.Kind, ir.Kind], ir.Kind | None]) -> Rule:
    """The rule for what has two operands and no options."""
    return lambda args, kwargs: made(*args) if len(args) == 2 and not kwargs else None


def argument(
    args: Args, place: int, kwargs: Keywords, name: str, default: ir.Kind = ir.UNKNOWN
) -> ir.Kind:
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


def classes_of(kind: ir.Kind) -> tuple[type, ...]:
    """The classes of the values of a kind, of containers perhaps derived ones; () if unknown."""
    if type(kind) is ir.Scalar and kind.dtype is not None:
        python = (_PYTHON[kind.dtype],) if kind.dtype in _PYTHON else ()
        numpy = (np.dtype(kind.dtype).type,)
        return (*python * (kind.python is not False), *numpy * (kind.python is not True))
    if type(kind) is ir.Array:
        return () if kind.maybe_scalar else (np.ndarray, np.memmap)
    return _CLASSES.get(type(kind), ()) if ir.class_of(kind) is None else ()


_PYTHON: dict[str, type] = {"bool": bool, "int64": int, "float64": float, "complex128": complex}
_CLASSES: dict[type, tuple[type, ...]] = {
    ir.Tuple: (tuple,), ir.List: (list,), ir.Dict: (dict,), ir.Text: (str,),
    ir.NoneKind: (type(None),), ir.SliceKind: (slice,), ir.Range: (range,),
}  # fmt: skip


LARGE = 4
"""Lengths from here on have kinds of their own: one or two elements less is still not 1."""


def kind_of(value: Any, name: str) -> ir.Kind:
    """The kind of an argument: it describes every value that has the same `key_of`."""
    cls = type(value)
    make = _KINDS.get(cls) if type(cls) is type else None
    if make is not None:
        return make(value, name)
    if records.is_closed(value):
        return ir.Object(_type_name(value))
    if isinstance(value, np.number):
        return _number(value, name)
    if isinstance(value, np.bool_):
        return ir.Scalar("bool", False)
    if is_device_array(value):
        return _array(value, name)
    if isinstance(value, np.dtype):
        return ir.Object("dtype", value)
    if is_sparse(value):
        return ir.Sparse(type(value).__name__, value.dtype.name)
    value = canonical(value)
    if isinstance(value, ModuleType):
        return ir.Module(str(records.own_dict(value).get("__name__")))
    if is_function(value):
        return ir.only(value)
    if records.is_record(type(value)):
        return _record(value, name)
    if records.becomes_array(type(value)):
        return ir.OtherArray(_type_name(value), cls=type(value))
    return ir.Object(_type_name(value))


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


def _by_attributes(value: Any, one: Function[[str, Any], T]) -> list[tuple[str, T]] | None:
    """What is said of each attribute of an object; None where it is not to be looked into."""
    inside: set[int] = _being.__dict__.setdefault("inside", set())
    if not inside:
        _being.left = _MOST
    if id(value) in inside or not _being.left or len(inside) >= _DEEPEST:
        return None
    _being.left -= 1
    inside.add(id(value))
    try:
        return [(name, one(name, held)) for name, held in records.attributes(value).items()]
    finally:
        inside.discard(id(value))


def _record_key(value: Any) -> Any:
    """The key of an object: its class and those of its attributes."""
    found = _by_attributes(value, lambda _, held: key_of(held))
    return type(value) if found is None else (type(value), tuple(found))


def _record(value: Any, name: str) -> ir.Kind:
    """The kind of an object by its attributes."""
    found = _by_attributes(value, lambda k, held: kind_of(held, f"{name}:{k}"))  # no ".": see `Sym`
    if found is None:
        return ir.Object(_type_name(value))
    return ir.Dict(tuple(found), None, name, type(value))


def _type_name(value: Any) -> str:
    module, name = (type.__getattribute__(type(value), n) for n in ("__module__", "__qualname__"))
    return f"{module}.{name}"


def _array(value: np.ndarray[Any, Any], name: str) -> ir.Kind:
    if value.dtype.hasobject or value.dtype.names is not None:
        return ir.Object("numpy.ndarray")
    dims: list[ir.Dim] = [
        1 if n == 1 else ir.Sym(f"{name}.{axis}", 0, True, LARGE if n >= LARGE else min(n, 2))
        for axis, n in enumerate(value.shape)
    ]
    return ir.Array(value.dtype.name, tuple(dims))


# --- lengths that arguments have in common -------------------------------------------------------


Relation = tuple[str, str, int]
"""A length by its name, another one, and how many the first one is longer."""

NEAR = 4
"""How many one length may be longer than another to be said by that: a border, or differences."""


def lengths_in(value: Any, name: str) -> Iterator[tuple[str, int]]:
    """The lengths in an argument, by their names in its kind, from `LARGE` on."""
    cls = type(value)
    if cls is np.ndarray or is_device_array(value):
        yield from ((f"{name}.{k}", n) for k, n in enumerate(value.shape) if n >= LARGE)
    elif cls is tuple or cls is list:
        for k, item in enumerate(value):
            yield from lengths_in(item, f"{name}[{k}]")
    elif cls is dict:
        for key, item in value.items():
            yield from lengths_in(item, f"{name}[{key!r}]") if _is_key(key) else ()


def relations_of(lengths: Mapping[str, int]) -> tuple[Relation, ...]:
    """What lengths have in common: those that are about as long as a shorter one are said by it."""
    found: list[Relation] = []
    shortest = ""
    for name, n in sorted(lengths.items(), key=lambda item: item[1]):
        if shortest and n - lengths[shortest] <= NEAR:
            found.append((name, shortest, n - lengths[shortest]))
        else:
            shortest = name
    return tuple(found)


def are_related(lengths: Mapping[str, int], relations: Iterable[Relation]) -> bool:
    """Whether lengths have that in common."""
    return all(lengths[name] == lengths[other] + more for name, other, more in relations)


def related(kind: ir.Kind, relations: Iterable[Relation]) -> ir.Kind:
    """A kind whose lengths are said by others that they have something in common with."""
    said = {name: ir.Sym(other, more, True, LARGE) for name, other, more in relations}

    def by_others(kind: ir.Kind) -> ir.Kind:
        if type(kind) is not ir.Array or not kind.dims:
            return ir.mapped(by_others, kind)
        dims = (said.get(d.name, d) if isinstance(d, ir.Sym) else d for d in kind.dims)
        return replace(kind, dims=tuple(dims))

    return by_others(kind) if said else kind


def _number(value: np.number[Any], name: str) -> ir.Kind:
    size = ir.Sym(name) if isinstance(value, np.integer) else None
    return ir.Scalar(value.dtype.name, False, size_of=size)


def _items(value: Any, name: str) -> tuple[ir.Kind, ...]:
    return tuple(kind_of(v, f"{name}[{i}]") for i, v in enumerate(value))


def _is_key(key: Any) -> bool:
    """Whether a dict's key is known by its value (others are not told apart)."""
    return isinstance(key, (str, int))


def _dict(value: dict[Any, Any], name: str) -> ir.Kind:
    known = [(k, kind_of(v, f"{name}[{k!r}]")) for k, v in value.items() if _is_key(k)]
    pairs = enumerate(value.items())
    others = [kind_of(v, f"{name}[?{i}]") for i, (k, v) in pairs if not _is_key(k)]
    return ir.Dict(tuple(known), join_all(others), name)


_KINDS: dict[type, Function[[Any, str], ir.Kind]] = {
    np.ndarray: _array,
    np.memmap: _array,
    float: lambda value, name: ir.Scalar("float64"),
    int: lambda value, name: ir.Scalar("int64", size_of=ir.Sym(name)),
    bool: lambda value, name: ir.Scalar("bool"),
    complex: lambda value, name: ir.Scalar("complex128"),
    type(None): lambda value, name: ir.NoneKind(),
    str: lambda value, name: ir.Text(),
    tuple: lambda value, name: ir.Tuple(_items(value, name)),
    list: lambda value, name: ir.List(None, _items(value, name), name),
    dict: _dict,
    range: lambda value, name: ir.Range(),
    slice: lambda value, name: ir.SliceKind(ir.UNKNOWN, ir.UNKNOWN, ir.UNKNOWN),
}
