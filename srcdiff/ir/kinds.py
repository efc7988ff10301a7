"""Kinds: what is known of a value before the program runs, and what follows about shapes.

`Callable` is the kind of functions: which ones a value may be.  A dimension is the length of an
axis, as far as it is known: an `int` (known), a `Sym` (the same unknown length wherever the same
name and offset occur) or None.  `Sym(name, offset)` is `max(0, length(name) + offset)`: the slice
`x[1:]` of an empty array is empty, it is not of length -1.

"Big" means "known not to be 1", zero included.  Which dimensions of an argument are 0 or 1 is part
of the dispatch key, so it is known for arguments.  So is which are 4 or more (`least`), hence
`x[1:-1]` of those is big too.  It decides what broadcasting can do: in an elementwise operation
that succeeds, an axis of the result has the length of every operand whose length there is not 1.
If that length is n > 1 or 0, the other operands have n or 1 (0 against 1 gives 0; 0 against n > 1
fails), so two big operands are equal, and a big operand has the length of the result.  A dimension
that is not known to be big may be 1 and be stretched; then equality needs the same `Sym` or the
same integer.

Two dims that compare equal with `==` need not be equal lengths (`BIG` is some length that is
not 1): ask `same_dim`, `same_shape` and `broadcasts_to_itself`.
"""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard, Union, final

from srcdiff.ir.frozen import frozen
from srcdiff.ir.nodes import Site

__all__ = [
    "Array", "BIG", "Callable", "Dict", "Dim", "ELLIPSIS", "KEY", "Key", "Kind", "Kinds", "List",
    "Maybe", "Module", "NUMERIC", "NoneKind", "Object", "OtherArray", "Range", "Scalar",
    "SliceKind", "Sparse", "Sym", "Text", "Tuple", "UNKNOWN", "UNREACHED", "Unknown",
    "broadcast_dims", "broadcasts_to_itself", "carries", "class_if_any", "class_of", "classes_in",
    "contents", "dims_of", "dtype_of", "dtypes_in", "holds_memory", "indexes_as_array", "inside",
    "is_active_kind", "is_basic", "is_big", "is_container", "is_filled", "is_float", "is_integer",
    "is_inexact_dtype", "is_mutable", "is_none", "is_numeric", "is_real", "is_scalar", "items_of",
    "join_callables", "join_dim", "known_items", "known_truth", "mapped", "maybe", "met_dim",
    "only", "rank_of", "same_dim", "same_shape", "sure",
]  # fmt: skip


@frozen
class Sym:
    """A length known by name only; `big`: it is not 1; `least`: `name` is at least this long.

    `below`: `name` is less than each of these, as the counter of a loop is.  `cut`: it is 1 where
    the length of this name is, and nowhere else, as `x[:i]` is of an `x` that has two or more.
    """

    name: str
    offset: int = 0
    big: bool = False
    least: int = 0
    below: tuple[int | Sym, ...] = ()
    cut: str = ""

    @property
    def text(self) -> str:
        """The length as part of the name of another one."""
        return f"({self.name}{self.offset:+})" if self.offset else self.name

    def moved(self, count: int) -> Sym:
        """The length with `count` added."""
        offset = self.offset + count
        return Sym(self.name, offset, self.least + offset > 1, self.least, self.below)


Dim = Union[int, Sym, None]

BIG = Sym("?", 0, True)
"""Some length that is not 1; never provably equal to another."""


def is_big(dim: Dim) -> bool:
    """Whether a length is known not to be 1."""
    return dim.big if isinstance(dim, Sym) else dim is not None and dim != 1


def is_filled(dim: Dim) -> bool:
    """Whether a length is known not to be 0."""
    return dim.least + dim.offset > 0 if isinstance(dim, Sym) else bool(dim)


def same_dim(a: Dim, b: Dim) -> bool:
    """Whether two lengths are provably equal."""
    if isinstance(a, Sym) and isinstance(b, Sym):
        return a.name == b.name != BIG.name and a.offset == b.offset
    return a is not None and not isinstance(a, Sym) and a == b


def met_dim(a: Dim, b: Dim) -> bool:
    """Whether two lengths are provably equal where an elementwise operation on them succeeds."""
    if same_dim(a, b) or (is_big(a) and is_big(b)):
        return True
    return isinstance(a, Sym) and isinstance(b, Sym) and (a.cut or a.text) == (b.cut or b.text)


def join_dim(a: Dim, b: Dim) -> Dim:
    """A length that describes either of two."""
    if same_dim(a, b):
        wider = b if isinstance(a, Sym) and a.big else a
        if isinstance(wider, Sym) and getattr(a, "below", None) != getattr(b, "below", None):
            return Sym(wider.name, wider.offset, wider.big, wider.least)
        return wider
    return BIG if is_big(a) and is_big(b) else None


def broadcast_dim(dims: Iterable[Dim]) -> Dim:
    """The length of one axis after broadcasting that succeeds."""
    rest = [d for d in dims if d != 1]
    if not rest:
        return 1
    known = [d for d in rest if is_big(d)]
    for d in known:
        if d != BIG:
            return d
    if known:
        return BIG
    return rest[0] if all(met_dim(d, rest[0]) for d in rest[1:]) else None


def broadcast_dims(shapes: Sequence[tuple[Dim, ...]]) -> tuple[Dim, ...]:
    """The dims of the result of an elementwise operation that succeeds."""
    rank = max(map(len, shapes), default=0)
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    return tuple(broadcast_dim(axis) for axis in zip(*padded))


# --- functions -----------------------------------------------------------------------------------


@frozen(eq=False)
class Callable:
    """A function, class or other callable, one of `choices`; none: unknown.

    A choice is an object and, for one that the program makes (`ir.Site`), the kinds of what it
    captures.
    """

    choices: tuple[tuple[Any, tuple[Any, ...]], ...] = ()

    @property
    def value(self) -> Function[..., Any] | None:
        """The one object that it is, if that is known."""
        return self.choices[0][0] if len(self.choices) == 1 else None

    def __eq__(self, other: object) -> bool:
        """The order of the choices says nothing."""
        return isinstance(other, Callable) and self._table() == other._table()

    def __hash__(self) -> int:
        return hash(frozenset(id(f) for f, _ in self.choices))

    def _table(self) -> dict[int, tuple[Any, ...]]:
        return {id(f): kinds for f, kinds in self.choices}


def only(value: Any) -> Callable:
    """The kind of one callable."""
    return Callable(((value, ()),))


MANY = 16
"""More functions than this are as good as any."""


def join_callables(a: Callable, b: Callable, join: Function[[Any, Any], Any]) -> Callable:
    """Every function that one of two values may be."""
    if not a.choices or not b.choices:
        return Callable()
    found = {id(f): (f, kinds) for f, kinds in a.choices}
    for f, kinds in b.choices:
        old = found.get(id(f))
        found[id(f)] = (f, kinds if old is None else tuple(map(join, old[1], kinds)))
    return Callable(tuple(found.values())) if len(found) <= MANY else Callable()


# --- all kinds -----------------------------------------------------------------------------------


@final
@frozen
class Scalar:
    """An immutable number.

    `dtype` None: some number.  `python`: True for a number of Python, False for one of NumPy, None
    for either.  `value` is that of a known int or bool.  `size_of` is an int's value as a length.
    """

    dtype: str | None
    python: bool | None = True
    value: int | None = None
    size_of: Dim = None


@final
@frozen
class Array:
    """A `numpy.ndarray`, perhaps of rank 0; None is unknown; `maybe_scalar`: or a number."""

    dtype: str | None = None
    dims: tuple[Dim, ...] | None = None
    maybe_scalar: bool = False


@final
@frozen
class Tuple:
    """A tuple; `items` None: of unknown length, every item being of the kind `item`."""

    items: tuple[Kind, ...] | None
    item: Kind | None = None


@final
@frozen
class List:
    """A list: the kind of every item, of each item where they are known, and where it was made."""

    item: Kind | None = None
    items: tuple[Kind, ...] | None = None
    site: str = ""


@final
@frozen
class Dict:
    """A dict: its known keys, the kind of values under other keys, and where it was made.

    A key that is not known may be one that is: ask `item_kind`.

    `cls`: it is an object of this class, and the keys are the names of its attributes.
    """

    items: tuple[tuple[Any, Kind], ...] = ()
    item: Kind | None = None
    site: str = ""
    cls: type | None = None


@frozen
class Range:
    """A `range`; with steps of one, its items are from `first` on and less than `stop`."""

    length: Dim = None
    first: int | None = None
    stop: Dim = None


@frozen
class SliceKind:
    """`lower:upper:step` in a subscript."""

    lower: Kind
    upper: Kind
    step: Kind


@frozen
class NoneKind:
    """None."""


@frozen
class Text:
    """A string; `value` None: unknown."""

    value: str | None = None


@frozen
class Module:
    """A module."""

    name: str


@frozen
class Object:
    """A value of another type; `value` is that of a known dtype, or tells more of a function."""

    type: str
    value: Any = None


@frozen
class OtherArray(Object):
    """An array of a class that is not NumPy's own: a subclass, or one of another package."""

    cls: type = object


@frozen
class Sparse:
    """A sparse matrix of SciPy: the name of its class (`any_matrix`: one of these), its dtype.

    It carries no derivative itself: what it is made of does (see `entrywise`).
    """

    type: str
    dtype: str | None = None


@frozen
class Unknown:
    """Anything."""


@frozen
class Maybe(Unknown):
    """None, or a value of a kind: unknown, but what only works on a value says that it is one."""

    kind: Kind


@frozen
class Key(Unknown):
    """A key of a dict: unknown, but nothing that can be written into or carries a derivative."""


Kind = Union[
    Scalar, Array, Tuple, List, Dict, Range, SliceKind, NoneKind, Text, Callable, Module, Object,
    Sparse, Unknown,
]  # fmt: skip
Kinds = Mapping[str, Kind]
"""What is known of the variables of a function, by name."""

UNKNOWN = Unknown()
KEY = Key()
UNREACHED = Unknown()
"""That of a name to which nothing is assigned where the program comes by: equal, not the same."""
NUMERIC = Array(None, None, maybe_scalar=True)
"""A number or an array of any rank and dtype: a parameter of which nothing is known."""


# --- shapes ------------------------------------------------------------------------------------


def dims_of(kind: Kind) -> tuple[Dim, ...] | None:
    """The dims of a number or array, None if the rank is unknown."""
    if type(kind) is Scalar:
        return ()
    if type(kind) is Array and (not kind.maybe_scalar or kind.dims == ()):
        return kind.dims
    return None


def dtypes_in(kind: Kind) -> Iterator[str]:
    """The dtypes of the numbers and arrays that a value is or holds, as far as they are known."""
    if isinstance(kind, (Array, Scalar)) and kind.dtype is not None:
        yield kind.dtype
    for part in inside(kind):
        yield from dtypes_in(part)


def dtype_of(kind: Kind | None) -> str | None:
    """The dtype of a number or array, None if unknown."""
    return getattr(kind, "dtype", None)


def rank_of(kind: Kind) -> int | None:
    """The number of axes of a number or array, None if unknown."""
    if type(kind) is Sparse:
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
    return all(is_big(p) or met_dim(p, q) for p, q in zip(a, b))


# --- asking ------------------------------------------------------------------------------------


def is_scalar(kind: Kind) -> bool:
    """Whether a value is certainly an immutable number."""
    return type(kind) is Scalar


def is_numeric(kind: Kind) -> bool:
    """Whether a value is certainly a number or an array."""
    return type(kind) is Array or type(kind) is Scalar


_IMMUTABLE = frozenset((Scalar, NoneKind, Text, Range, SliceKind, Module, Callable, Key))


def is_mutable(kind: Kind) -> bool:
    """Whether a value can be written into in place (or might be)."""
    if type(kind) is not Tuple:
        return type(kind) not in _IMMUTABLE
    return kind.items is None or any(map(is_mutable, kind.items))


def holds_memory(kind: Kind) -> bool:
    """Whether an item of a value can be written into in place (or might be)."""
    if isinstance(kind, (List, Tuple)):
        return any(map(is_mutable, items_of(kind)))
    return not is_numeric(kind)


def is_container(kind: Kind) -> bool:
    """Whether a value is certainly a tuple, list or dict, or None in place of one."""
    return isinstance(sure(kind), (Tuple, List, Dict))


def is_float(kind: Kind) -> bool:
    """Whether a value is certainly of a real floating or complex dtype."""
    return (type(kind) is Array or type(kind) is Scalar) and is_inexact_dtype(kind.dtype)


def is_integer(kind: Kind | None) -> TypeGuard[Scalar]:
    """Whether a value is certainly one integer, of Python or of its type in NumPy."""
    return type(kind) is Scalar and kind.dtype == "int64"


def is_inexact_dtype(dtype: str | None) -> bool:
    """Whether a dtype's name is that of a real floating or complex type."""
    return dtype is not None and dtype[:5] in ("float", "compl", "longd", "clong")


def is_real(kind: Kind) -> bool:
    """Whether a value certainly has no imaginary part."""
    dtype = kind.dtype if type(kind) is Array or type(kind) is Scalar else None
    return dtype is not None and dtype[:5] not in ("compl", "clong")


def carries(name: str, kinds: Kinds) -> bool:
    """Whether a variable may carry a derivative, as far as is known."""
    return name not in kinds or is_active_kind(kinds[name])


def is_active_kind(kind: Kind) -> bool:
    """Whether a value can carry a derivative: floating, complex, unknown, or it holds such."""
    if isinstance(kind, (Scalar, Array)):
        return kind.dtype is None or is_inexact_dtype(kind.dtype)
    if type(kind) is Tuple:
        return kind.items is None or any(map(is_active_kind, kind.items))
    if type(kind) is List and kind.items is None and kind.item is None:
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
    return kind.cls if type(kind) is Dict else None


def classes_in(kind: Kind | None) -> Iterator[type]:
    """The classes of the objects that a value is or holds."""
    if (cls := class_of(kind)) is not None:
        yield cls
    for part in inside(kind):
        yield from classes_in(part)


def class_if_any(kind: Kind | None) -> type | None:
    """The class of an object, or of what may be None in place of one."""
    return None if kind is None else class_of(sure(kind))


def known_truth(kind: Kind | None) -> bool | None:
    """The value of a condition, None if it is not known."""
    if type(kind) is not Scalar or kind.dtype != "bool" or kind.value is None:
        return None
    return bool(kind.value)


def is_none(kind: Kind) -> bool | None:
    """Whether a value is None; None where its kind does not tell."""
    if isinstance(kind, Callable):
        found = {value is None for value, _ in kind.choices}
        return found.pop() if len(found) == 1 else None
    open_ = isinstance(kind, (Unknown, Object, Maybe))
    return None if open_ or (type(kind) is Array and kind.maybe_scalar) else type(kind) is NoneKind


def contents(kind: Tuple | List | Dict) -> tuple[Kind, ...]:
    """The kinds of what a tuple, list or dict holds."""
    known = tuple(v for _, v in kind.items) if type(kind) is Dict else kind.items or ()
    return known if kind.item is None else (*known, kind.item)


def inside(kind: Kind | None) -> tuple[Kind, ...]:
    """The kinds of what a value is known to hold; of one that may be None, that of the value."""
    if isinstance(kind, (Tuple, List, Dict)):
        return contents(kind)
    return (kind.kind,) if isinstance(kind, Maybe) else ()


def known_items(kind: Kind | None) -> tuple[Kind, ...] | None:
    """The kinds of the items of a tuple or list, where each of them is known; else None."""
    return kind.items if isinstance(kind, (Tuple, List)) else None


def items_of(kind: Kind | None) -> tuple[Kind, ...]:
    """The kinds of what a container may hold, UNKNOWN where that is not known."""
    if type(kind) is Dict or (isinstance(kind, (List, Tuple)) and kind.items is not None):
        return inside(kind)
    return ((kind.item if isinstance(kind, (List, Tuple)) else None) or UNKNOWN,)


def mapped(one: Function[[Kind], Kind], kind: Kind, new: bool = False) -> Kind:
    """A kind with those of what the value holds mapped; `new`: its lists and dicts are new ones."""
    if isinstance(kind, Maybe):
        return maybe(one(kind.kind))
    if not isinstance(kind, (Tuple, List, Dict)):
        return kind
    item = None if kind.item is None else one(kind.item)
    site = "" if new or type(kind) is Tuple else kind.site
    if type(kind) is Dict:
        return Dict(tuple((k, one(v)) for k, v in kind.items), item, site, kind.cls)
    items = None if kind.items is None else tuple(map(one, kind.items))
    return Tuple(items, item) if type(kind) is Tuple else List(item, items, site)


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
    if type(kind) is Tuple:
        return any(map(indexes_as_array, kind.items or ()))
    return isinstance(kind, (List, Dict)) or (type(kind) is Array and not kind.maybe_scalar)


def is_basic(kind: Kind) -> bool:
    """Whether an index of a kind certainly selects by integers and slices alone."""
    if type(kind) is Tuple:
        return kind.items is not None and all(map(is_basic, kind.items))
    if type(kind) is Scalar:
        return kind.dtype is not None and "int" in kind.dtype
    return isinstance(kind, (SliceKind, NoneKind)) or kind == ELLIPSIS
