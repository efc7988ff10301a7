"""Kinds: what is known of a value before the program runs, and what follows about shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

from srcdiff.ir import Site
from srcdiff.ir.callables import Callable as Callable
from srcdiff.ir.dims import BIG as BIG
from srcdiff.ir.dims import Dim as Dim
from srcdiff.ir.dims import Sym as Sym
from srcdiff.ir.dims import broadcast_dim as broadcast_dim
from srcdiff.ir.dims import broadcast_dims as broadcast_dims
from srcdiff.ir.dims import is_big as is_big
from srcdiff.ir.dims import is_filled as is_filled
from srcdiff.ir.dims import join_dim as join_dim
from srcdiff.ir.dims import same_dim as same_dim


@dataclass(frozen=True)
class Scalar:
    """An immutable number.

    `dtype` None: some number.  `python`: True for a number of Python, False for one of NumPy, None
    for either.  `value` is that of a known int or bool.  `size_of` is an int's value as a length.
    """

    dtype: str | None
    python: bool | None = True
    value: int | None = None
    size_of: Dim = None


@dataclass(frozen=True)
class Array:
    """A `numpy.ndarray`, perhaps of rank 0; None is unknown; `maybe_scalar`: or a number."""

    dtype: str | None = None
    dims: tuple[Dim, ...] | None = None
    maybe_scalar: bool = False


@dataclass(frozen=True)
class Tuple:
    """A tuple; `items` None: of unknown length, every item being of the kind `item`."""

    items: tuple[Kind, ...] | None
    item: Kind | None = None


@dataclass(frozen=True)
class List:
    """A list: the kind of every item, of each item where they are known, and where it was made."""

    item: Kind | None = None
    items: tuple[Kind, ...] | None = None
    site: str = ""


@dataclass(frozen=True)
class Dict:
    """A dict: its known keys, the kind of values under other keys, and where it was made.

    A key that is not known may be one that is: ask `item_kind`.

    `cls`: it is an object of this class, and the keys are the names of its attributes.
    """

    items: tuple[tuple[Any, Kind], ...] = ()
    item: Kind | None = None
    site: str = ""
    cls: type | None = None


@dataclass(frozen=True)
class Range:
    """A `range`."""

    length: Dim = None


@dataclass(frozen=True)
class SliceKind:
    """`lower:upper:step` in a subscript."""

    lower: Kind
    upper: Kind
    step: Kind


@dataclass(frozen=True)
class NoneKind:
    """None."""


@dataclass(frozen=True)
class Text:
    """A string; `value` None: unknown."""

    value: str | None = None


@dataclass(frozen=True)
class Module:
    """A module."""

    name: str


@dataclass(frozen=True)
class Object:
    """A value of another type; `value` is that of a known dtype, or tells more of a function."""

    type: str
    value: Any = None


@dataclass(frozen=True)
class OtherArray(Object):
    """An array of a class that is not NumPy's own: a subclass, or one of another package."""

    cls: type = object


@dataclass(frozen=True)
class Sparse:
    """A sparse matrix of SciPy: the name of its class (`any_matrix`: one of these), its dtype.

    It carries no derivative itself: what it is made of does (see `entrywise`).
    """

    type: str
    dtype: str | None = None


@dataclass(frozen=True)
class Unknown:
    """Anything."""


@dataclass(frozen=True)
class Maybe(Unknown):
    """None, or a value of a kind: unknown, but what only works on a value says that it is one."""

    kind: Kind


@dataclass(frozen=True)
class Key(Unknown):
    """A key of a dict: unknown, but nothing that can be written into or carries a derivative."""


Kind = Union[
    Scalar, Array, Tuple, List, Dict, Range, SliceKind, NoneKind, Text, Callable, Module, Object,
    Sparse, Unknown,
]  # fmt: skip

UNKNOWN = Unknown()
KEY = Key()
UNREACHED = Unknown()
"""That of a name to which nothing is assigned where the program comes by: equal, not the same."""
NUMERIC = Array(None, None, maybe_scalar=True)
"""A number or an array of any rank and dtype: a parameter of which nothing is known."""


# --- shapes ------------------------------------------------------------------------------------


def dims_of(kind: Kind) -> tuple[Dim, ...] | None:
    """The dims of a number or array, None if the rank is unknown."""
    if isinstance(kind, Scalar):
        return ()
    if isinstance(kind, Array) and (not kind.maybe_scalar or kind.dims == ()):
        return kind.dims
    return None


def rank_of(kind: Kind) -> int | None:
    """The number of axes of a number or array, None if unknown."""
    if isinstance(kind, Sparse):
        return 2
    dims = dims_of(kind)
    return None if dims is None else len(dims)


def same_shape(a: Kind, b: Kind) -> bool:
    """Whether two values have provably equal shapes."""
    x, y = dims_of(a), dims_of(b)
    if x is None or y is None or len(x) != len(y):
        return False
    return all(map(same_dim, x, y))


def broadcasts_to_itself(x: Kind, z: Kind, others: Sequence[Kind] | None = None) -> bool:
    """Whether the operand `x` of an elementwise operation has provably the shape of its result `z`.

    `others` are the kinds of the other operands (an operand that is the same variable as `x` left
    out): where they are all numbers the shape is that of `x`, whatever it is.
    """
    if others is not None and all(dims_of(o) == () for o in others) and is_numeric(x):
        return True
    a, b = dims_of(x), dims_of(z)
    if a is None or b is None or len(a) != len(b):
        return False
    return all(is_big(p) or same_dim(p, q) for p, q in zip(a, b))


# --- asking ------------------------------------------------------------------------------------


def is_scalar(kind: Kind) -> bool:
    """Whether a value is certainly an immutable number."""
    return isinstance(kind, Scalar)


def is_numeric(kind: Kind) -> bool:
    """Whether a value is certainly a number or an array."""
    return type(kind) is Array or type(kind) is Scalar


_IMMUTABLE = (Scalar, NoneKind, Text, Range, SliceKind, Module, Callable, Key)


def is_mutable(kind: Kind) -> bool:
    """Whether a value can be written into in place (or might be)."""
    if not isinstance(kind, Tuple):
        return type(kind) not in _IMMUTABLE
    return kind.items is None or any(map(is_mutable, kind.items))


def holds_memory(kind: Kind) -> bool:
    """Whether an item of a value can be written into in place (or might be)."""
    if isinstance(kind, (List, Tuple)):
        items = kind.items if kind.items is not None else (kind.item,)
        return any(i is None or is_mutable(i) for i in items)
    return not is_numeric(kind)


def is_container(kind: Kind) -> bool:
    """Whether a value is certainly a tuple, list or dict, or None in place of one."""
    return isinstance(sure(kind), (Tuple, List, Dict))


def is_float(kind: Kind) -> bool:
    """Whether a value is certainly of a real floating or complex dtype."""
    return is_numeric(kind) and is_inexact_dtype(getattr(kind, "dtype", None))


def is_inexact_dtype(dtype: str | None) -> bool:
    """Whether a dtype's name is that of a real floating or complex type."""
    return dtype is not None and dtype.startswith(("float", "complex", "longdouble", "clongdouble"))


def is_real(kind: Kind) -> bool:
    """Whether a value certainly has no imaginary part."""
    dtype = getattr(kind, "dtype", None)
    return is_numeric(kind) and dtype is not None and not dtype.startswith(("complex", "clong"))


def is_active_kind(kind: Kind) -> bool:
    """Whether a value can carry a derivative: floating, complex, unknown, or it holds such."""
    if isinstance(kind, (Scalar, Array)):
        return kind.dtype is None or is_inexact_dtype(kind.dtype)
    if isinstance(kind, Tuple):
        return kind.items is None or any(map(is_active_kind, kind.items))
    if isinstance(kind, List) and kind.items is None and kind.item is None:
        return True
    if isinstance(kind, (List, Dict)):
        return any(map(is_active_kind, contents(kind)))
    if isinstance(kind, Callable):  # a function that the program makes may capture such
        return any(isinstance(f, Site) for f, _ in kind.choices)
    if isinstance(kind, Maybe):
        return is_active_kind(kind.kind)
    open_ = isinstance(kind, (Object, Unknown)) and not isinstance(kind, Key)
    return open_ and getattr(kind, "value", None) is None


def class_of(kind: Kind | None) -> type | None:
    """The class of an object whose attributes are known, else None."""
    return kind.cls if isinstance(kind, Dict) else None


def class_if_any(kind: Kind | None) -> type | None:
    """The class of an object, or of what may be None in place of one."""
    return None if kind is None else class_of(sure(kind))


def contents(kind: List | Dict) -> tuple[Kind, ...]:
    """The kinds of what a list or dict holds."""
    known = () if kind.item is None else (kind.item,)
    if isinstance(kind, List):
        return (*(kind.items or ()), *known)
    return (*(k for _, k in kind.items), *known)


def inside(kind: Kind | None) -> tuple[Kind, ...]:
    """The kinds of what a value is known to hold; of one that may be None, that of the value."""
    if isinstance(kind, (List, Dict)):
        return contents(kind)
    if isinstance(kind, Tuple) and kind.items is not None:
        return kind.items
    if isinstance(kind, Tuple):
        return () if kind.item is None else (kind.item,)
    return (kind.kind,) if isinstance(kind, Maybe) else ()


def sure(kind: Kind) -> Kind:
    """The kind of a value that is not None."""
    return kind.kind if isinstance(kind, Maybe) else kind


def maybe(kind: Kind) -> Kind:
    """The kind of a value, or None."""
    plain = isinstance(kind, (NoneKind, Unknown))
    return kind if plain else Maybe(kind)


ELLIPSIS = Object("ellipsis")


def indexes_as_array(kind: Kind) -> bool:
    """Whether an index of a kind certainly has an array, or a list, in it."""
    if isinstance(kind, Tuple):
        return any(map(indexes_as_array, kind.items or ()))
    return isinstance(kind, (List, Dict)) or (isinstance(kind, Array) and not kind.maybe_scalar)


def is_basic(kind: Kind) -> bool:
    """Whether an index of a kind certainly selects by integers and slices alone."""
    if isinstance(kind, Tuple):
        return kind.items is not None and all(map(is_basic, kind.items))
    if isinstance(kind, Scalar):
        return kind.dtype is not None and "int" in kind.dtype
    return isinstance(kind, (SliceKind, NoneKind)) or kind == ELLIPSIS
