"""The kinds of what is made of lists, tuples, dicts and texts, and of adjoints of containers.

Takes the kinds of the arguments; gives the kinds of sums, products, copies and parts of containers
(`FUNCTIONS`), and of what the helpers for adjoints of containers return (`TREE_FUNCTIONS`).
"""

from __future__ import annotations

import copy
import itertools
import operator
from collections import OrderedDict
from collections.abc import Callable as Function
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.kinds import (
    KEY,
    UNKNOWN,
    Array,
    Dict,
    Kind,
    List,
    Maybe,
    NoneKind,
    Object,
    Range,
    Scalar,
    Text,
    Tuple,
    class_of,
    contents,
    dims_of,
    is_inexact_dtype,
    is_numeric,
    maybe,
    sure,
)
from srcdiff.kinds.indexing import item_kind
from srcdiff.kinds.lattice import join_all
from srcdiff.runtime import contexts, copies, layout, records, sequences, trees

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


# --- the kinds of what the helpers for adjoints of containers return -----------------------------


def tree_kind(kind: Kind) -> Kind:
    """The kind of the adjoint of a value: tuples as lists, None at what has no derivative."""
    if isinstance(kind, Scalar):  # a number of NumPy may be added to it
        found = _leaf(kind)
        return Scalar(found.dtype, None) if isinstance(found, Scalar) else found
    if isinstance(kind, Array):
        return _leaf(kind)
    if isinstance(kind, Tuple):
        items = None if kind.items is None else tuple(map(tree_kind, kind.items))
        return List(UNKNOWN if items is None else None, items)
    if isinstance(kind, List):
        items = None if kind.items is None else tuple(map(tree_kind, kind.items))
        return List(None if kind.item is None else tree_kind(kind.item), items)
    if isinstance(kind, Dict):
        known = tuple((k, tree_kind(v)) for k, v in kind.items)
        return Dict(known, None if kind.item is None else tree_kind(kind.item))
    if isinstance(kind, Maybe):
        return maybe(tree_kind(kind.kind))
    return kind if isinstance(kind, NoneKind) else UNKNOWN


def _leaf(kind: Scalar | Array) -> Kind:
    """The kind of the adjoint of a number or array."""
    if kind.dtype is None:
        return UNKNOWN if isinstance(kind, Scalar) else kind
    if not is_inexact_dtype(kind.dtype):
        return NoneKind()
    return Scalar(kind.dtype, kind.python) if isinstance(kind, Scalar) else kind


def _like_first(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    return tree_kind(args[0])


def _copy(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    """`kept`: the same structure, in lists and dicts of its own."""
    return _siteless(args[0])


def _deep_copy(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    """`copy.deepcopy`: the same structure, unless a class has a say in it."""
    cls = class_of(args[0])
    return _siteless(args[0]) if cls is None or records.is_copied_plainly(cls, True) else UNKNOWN


def _siteless(kind: Kind) -> Kind:
    """A kind whose lists and dicts are made here."""
    if isinstance(kind, Tuple) and kind.items is not None:
        return Tuple(tuple(map(_siteless, kind.items)))
    if isinstance(kind, List):
        items = None if kind.items is None else tuple(map(_siteless, kind.items))
        return List(None if kind.item is None else _siteless(kind.item), items)
    if isinstance(kind, Dict):
        known = tuple((k, _siteless(v)) for k, v in kind.items)
        item = None if kind.item is None else _siteless(kind.item)
        return Dict(known, item, "", kind.cls)
    return maybe(_siteless(kind.kind)) if isinstance(kind, Maybe) else kind


def _second(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    return args[1]


def _last(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    return args[-1]


def _like_second(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    return tree_kind(args[1])


def _gradient(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    """`like_tree`: the structure of the input itself."""
    return in_structure(args[1])


def in_structure(kind: Kind) -> Kind:
    """A gradient's kind: like the input, None where it has none."""
    if isinstance(kind, (Scalar, Array)):
        return _leaf(kind)
    if isinstance(kind, Tuple):
        return Tuple(None if kind.items is None else tuple(map(in_structure, kind.items)))
    if class_of(kind) is not None:
        return UNKNOWN
    return tree_kind(kind)


def _sum(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    """`add_tree`: the structure of both."""
    one, two = map(tree_kind, args)
    if isinstance(one, NoneKind) or isinstance(two, NoneKind):
        return two if isinstance(one, NoneKind) else one
    if not isinstance(sure(one), (List, Dict)):
        return None
    found = join_all((sure(one), sure(two))) or UNKNOWN
    return maybe(found) if isinstance(one, Maybe) and isinstance(two, Maybe) else found


def _object_gradient(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    """`like_object`: an object of the same class."""
    x = args[0]
    if not isinstance(x, Dict) or x.cls is None:
        return UNKNOWN
    items = tuple((k, kwargs.get(k) or in_structure(v)) for k, v in x.items)
    return Dict(items, None, "", x.cls)


def _new_object(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    """An object that has no attributes yet, or those that it is given."""
    cls: Any = getattr(args[0], "value", None)
    return Dict(tuple(kwargs.items()), None, "", cls) if isinstance(cls, type) else UNKNOWN


def _packed(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    """Something that holds a value, as a tuple would."""
    return Tuple(args)


def _unpacked(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    held = args[0]
    return held.items[0] if isinstance(held, Tuple) and held.items else UNKNOWN


TREE_FUNCTIONS: dict[Any, Function[[Args, dict[str, Kind]], Kind | None]] = {
    trees.zero_tree: _like_first,
    sequences.zeros_of: _like_first,
    trees.copy_tree: _like_first,
    trees.hook: _like_first,
    trees.hooked: _like_first,
    trees.add_tree: _sum,
    layout.laid_copy: _copy,
    layout.laid_like: _second,
    layout.view_like: _last,
    trees.kept: _copy,
    trees.deep_copy: _copy,
    copy.deepcopy: _deep_copy,
    copies.kept_together: _copy,
    trees.as_now: lambda args, kwargs: args[0],
    contexts.packed: _packed,
    contexts.unpacked: _unpacked,
    trees.like_tree: _gradient,
    trees.cotangent: _like_second,
    trees.where_nonzero: _second,
    trees.like_object: _object_gradient,
    ir.new_object: _new_object,
    records.instance: _new_object,
}
