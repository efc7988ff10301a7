"""The kinds of sums, products and copies of lists, tuples, dicts and texts, and of parts."""

from __future__ import annotations

import itertools
import operator
from collections import OrderedDict
from collections.abc import Callable as Function
from typing import Any

import numpy as np

from srcdiff.ir.kinds import (
    KEY,
    UNKNOWN,
    Array,
    Dict,
    Kind,
    List,
    Object,
    Range,
    Scalar,
    Text,
    Tuple,
    contents,
    dims_of,
    is_numeric,
)
from srcdiff.kinds.indexing import item_kind
from srcdiff.kinds.lattice import join_all

Args = tuple[Kind, ...]
Keywords = dict[str, Kind]

_MANY = 32  # items of a repeated sequence that are kept apart


def any_item(kind: Kind) -> Kind | None:
    """What describes every item of a list or tuple, None for one that is surely empty."""
    if isinstance(kind, List):
        return join_all(contents(kind)) if contents(kind) or kind.items is not None else UNKNOWN
    if isinstance(kind, Tuple) and kind.items is not None:
        return join_all(kind.items)
    return (kind.item if isinstance(kind, Tuple) else None) or UNKNOWN


def plain_tuple(item: Kind | None) -> Tuple:
    """A tuple of unknown length; only numbers and arrays are remembered as its items."""
    return Tuple(None, item if isinstance(item, (Scalar, Array)) else None)


def _added(args: Args, kwargs: Keywords) -> Kind | None:
    """`xs + ys`."""
    if len(args) != 2:
        return None
    one, two = args
    if isinstance(one, Text) and isinstance(two, Text):
        return Text()
    if not isinstance(one, (List, Tuple)) or type(one) is not type(two):
        return None
    assert isinstance(two, (List, Tuple))
    known = one.items is not None and two.items is not None
    items = (*(one.items or ()), *(two.items or ())) if known else None
    rest = None if known else join_all(k for k in map(any_item, args) if k is not None)
    if isinstance(one, List):
        return List(rest, items)
    return plain_tuple(rest) if items is None else Tuple(items)


def _repeated(args: Args, kwargs: Keywords) -> Kind | None:
    """`xs * n`."""
    if len(args) != 2:
        return None
    base, count = args if not isinstance(args[0], Scalar) else args[::-1]
    if isinstance(base, Text) and isinstance(count, Scalar):
        return Text()
    if not isinstance(base, (List, Tuple)) or not isinstance(count, Scalar):
        return None
    times = count.value
    if base.items is not None and times is not None and len(base.items) * times <= _MANY:
        items = base.items * times
        return List(None, items) if isinstance(base, List) else Tuple(items)
    item = any_item(base)
    return List(item) if isinstance(base, List) else plain_tuple(item)


def _merged(args: Args, kwargs: Keywords) -> Kind | None:
    """`d | e`."""
    if len(args) != 2:
        return None
    one, two = args
    if not isinstance(one, Dict) or not isinstance(two, Dict):
        return None
    rest = join_all(k for k in (one.item, two.item) if k is not None)
    return Dict(tuple({**dict(one.items), **dict(two.items)}.items()), rest)


def _to_dict(args: Args, kwargs: Keywords) -> Kind | None:
    """`dict(...)`."""
    base = args[0] if args else Dict()
    if isinstance(base, Dict):
        return Dict(tuple({**dict(base.items), **kwargs}.items()), base.item)
    pair = any_item(base) if isinstance(base, (List, Tuple)) else UNKNOWN
    value = UNKNOWN if pair is None else item_kind(pair, Scalar("int64", True, 1))
    return Dict(tuple(kwargs.items()), value)


def to_list(args: Args, kwargs: Keywords) -> Kind | None:
    """`list(...)`, `sorted(...)`."""
    base = args[0] if args else Tuple(())
    if isinstance(base, Dict) and base.cls is not None:
        named = issubclass(base.cls, tuple)  # a named tuple gives its values
        return List(None, tuple(v for _, v in base.items)) if named else List(UNKNOWN)
    if isinstance(base, Dict):
        keys = (_key_kind(k) for k, _ in base.items)
        return List(KEY if base.item is not None else join_all(keys) or KEY)
    if isinstance(base, (Tuple, List)):
        return List(None, base.items) if base.items is not None else List(any_item(base))
    if isinstance(base, Array):
        return List(item_kind(base, Scalar("int64")))
    return List(Scalar("int64") if isinstance(base, Range) else UNKNOWN)


def _key_kind(key: object) -> Kind:
    if isinstance(key, str):
        return Text()
    return Scalar("int64") if type(key) is int else KEY


def to_tuple(args: Args, kwargs: Keywords) -> Kind | None:
    """`tuple(...)`."""
    found = to_list(args, kwargs)
    assert isinstance(found, List)
    return plain_tuple(found.item) if found.items is None else Tuple(found.items)


def _sorted(args: Args, kwargs: Keywords) -> Kind | None:
    """`sorted(...)`: the items in another order."""
    found = to_list(args, {})
    return List(any_item(found)) if found is not None else None


ENDLESS = Object("itertools")


def _endless(args: Args, kwargs: Keywords) -> Kind | None:
    """`itertools.count()` and the like, which never end."""
    return ENDLESS


def _repeat(args: Args, kwargs: Keywords) -> Kind | None:
    return ENDLESS if len(args) + len(kwargs) == 1 else None


_PARTS = "indices_or_sections"


def _hsplit(args: Args, kwargs: Keywords) -> Kind | None:
    """`np.hsplit`: along the second axis, or the only one."""
    axis = 0 if len(dims_of(args[0]) or ()) == 1 else 1
    return _split(args, {**kwargs, "axis": Scalar("int64", True, axis)})


def _split(args: Args, kwargs: Keywords) -> Kind | None:
    """`np.split`: as many parts as are asked for, of the shape of the whole but along one axis."""
    base, parts = args[0], args[1] if len(args) > 1 else kwargs.get(_PARTS, UNKNOWN)
    axis = kwargs.get("axis", args[2] if len(args) > 2 else Scalar("int64", True, 0))
    dims = dims_of(base)
    count = parts.value if isinstance(parts, Scalar) else None
    if isinstance(parts, (List, Tuple)) and parts.items is not None:
        count = len(parts.items) + 1
    if dims is None or not isinstance(axis, Scalar) or axis.value is None:
        return List(Array(getattr(base, "dtype", None))) if is_numeric(base) else None
    place = range(len(dims))[axis.value] if -len(dims) <= axis.value < len(dims) else 0
    part = Array(getattr(base, "dtype", None), (*dims[:place], None, *dims[place + 1 :]))
    return List(part) if count is None else List(None, (part,) * count)


FUNCTIONS: dict[Any, Function[[Args, Keywords], Kind | None]] = {
    operator.add: _added,
    operator.mul: _repeated,
    operator.or_: _merged,
    dict: _to_dict,
    OrderedDict: _to_dict,
    list: to_list,
    tuple: to_tuple,
    sorted: _sorted,
    itertools.count: _endless,
    itertools.cycle: _endless,
    itertools.repeat: _repeat,
    **dict.fromkeys((np.split, np.array_split, np.vsplit), _split),
    np.hsplit: _hsplit,
}
