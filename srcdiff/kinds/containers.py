"""The kinds of what is made of lists, tuples, dicts and texts, and of adjoints of containers.

Takes the kinds of the arguments; gives the kinds of sums, products, copies and parts of containers
and of what the helpers for adjoints of containers return (`FUNCTIONS`).
"""

from __future__ import annotations

import copy
import itertools
import operator
from collections import OrderedDict
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.frozen import replace
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
    dims_of,
    dtype_of,
    is_inexact_dtype,
    is_numeric,
    items_of,
    mapped,
    maybe,
    sure,
)
from srcdiff.kinds.indexing import item_kind
from srcdiff.kinds.lattice import Args, Keywords, Rule, always, argument, binary, join_all, like
from srcdiff.runtime import contexts, copies, layout, records, sequences, trees

_MANY = 32  # items of a repeated sequence that are kept apart


def any_item(kind: Kind) -> Kind | None:
    """What describes every item of a list or tuple, None for one that is surely empty."""
    return join_all(items_of(kind))


def plain_tuple(item: Kind | None) -> Tuple:
    """A tuple of unknown length; only numbers and arrays are remembered as its items."""
    return Tuple(None, item if isinstance(item, (Scalar, Array)) else None)


def _added(one: Kind, two: Kind) -> Kind | None:
    """`xs + ys`."""
    if isinstance(one, Text) and isinstance(two, Text):
        return Text()
    if not isinstance(one, (List, Tuple)) or type(one) is not type(two):
        return None
    assert isinstance(two, (List, Tuple))
    known = one.items is not None and two.items is not None
    items = (*(one.items or ()), *(two.items or ())) if known else None
    rest = None if known else join_all((*items_of(one), *items_of(two)))
    if isinstance(one, List):
        return List(rest, items)
    return plain_tuple(rest) if items is None else Tuple(items)


def _repeated(base: Kind, count: Kind) -> Kind | None:
    """`xs * n`."""
    if isinstance(base, Scalar):
        base, count = count, base
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


def _merged(one: Kind, two: Kind) -> Kind | None:
    """`d | e`."""
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


def _repeat(args: Args, kwargs: Keywords) -> Kind | None:
    """`itertools.repeat(x)`, which never ends, unless it is told how often."""
    return ENDLESS if len(args) + len(kwargs) == 1 else None


def _hsplit(args: Args, kwargs: Keywords) -> Kind | None:
    """`np.hsplit`: along the second axis, or the only one."""
    axis = 0 if len(dims_of(args[0]) or ()) == 1 else 1
    return _split(args, {**kwargs, "axis": Scalar("int64", True, axis)})


def _split(args: Args, kwargs: Keywords) -> Kind | None:
    """`np.split`: as many parts as are asked for, of the shape of the whole but along one axis."""
    base, parts = args[0], argument(args, 1, kwargs, "indices_or_sections")
    axis = argument(args, 2, kwargs, "axis", Scalar("int64", True, 0))
    dims = dims_of(base)
    count = parts.value if isinstance(parts, Scalar) else None
    if isinstance(parts, (List, Tuple)) and parts.items is not None:
        count = len(parts.items) + 1
    if dims is None or not isinstance(axis, Scalar) or axis.value is None:
        return List(Array(dtype_of(base))) if is_numeric(base) else None
    place = range(len(dims))[axis.value] if -len(dims) <= axis.value < len(dims) else 0
    part = Array(dtype_of(base), (*dims[:place], None, *dims[place + 1 :]))
    return List(part) if count is None else List(None, (part,) * count)


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
    if isinstance(kind, Dict):
        kind = replace(kind, cls=None)  # of an object as well
    held = isinstance(kind, (List, Dict, Maybe, NoneKind))
    return mapped(tree_kind, kind, new=True) if held else UNKNOWN


def _leaf(kind: Scalar | Array) -> Kind:
    """The kind of the adjoint of a number or array."""
    if kind.dtype is None:
        return UNKNOWN if isinstance(kind, Scalar) else kind
    if not is_inexact_dtype(kind.dtype):
        return NoneKind()
    return Scalar(kind.dtype, kind.python) if isinstance(kind, Scalar) else kind


def _deep_copy(args: Args, kwargs: Keywords) -> Kind | None:
    """`copy.deepcopy`: the same structure, unless a class has a say in it."""
    cls = class_of(args[0])
    return _siteless(args[0]) if cls is None or records.is_copied_plainly(cls, True) else UNKNOWN


def _siteless(kind: Kind) -> Kind:
    """A kind whose lists and dicts are made here."""
    return mapped(_siteless, kind, new=True)


def in_structure(kind: Kind) -> Kind:
    """A gradient's kind: like the input, None where it has none."""
    if isinstance(kind, (Scalar, Array)):
        return _leaf(kind)
    if isinstance(kind, Tuple):
        return mapped(in_structure, kind)
    if class_of(kind) is not None:
        return UNKNOWN
    return tree_kind(kind)


def _sum(args: Args, kwargs: Keywords) -> Kind | None:
    """`add_tree`: the structure of both."""
    one, two = map(tree_kind, args)
    if isinstance(one, NoneKind) or isinstance(two, NoneKind):
        return two if isinstance(one, NoneKind) else one
    if not isinstance(sure(one), (List, Dict)):
        return None
    found = join_all((sure(one), sure(two))) or UNKNOWN
    return maybe(found) if isinstance(one, Maybe) and isinstance(two, Maybe) else found


def _object_gradient(args: Args, kwargs: Keywords) -> Kind | None:
    """`like_object`: an object of the same class."""
    x = args[0]
    if not isinstance(x, Dict) or x.cls is None:
        return UNKNOWN
    items = tuple((k, kwargs.get(k) or in_structure(v)) for k, v in x.items)
    return Dict(items, None, "", x.cls)


def _new_object(args: Args, kwargs: Keywords) -> Kind | None:
    """An object that has no attributes yet, or those that it is given."""
    cls: Any = getattr(args[0], "value", None)
    return Dict(tuple(kwargs.items()), None, "", cls) if isinstance(cls, type) else UNKNOWN


def _unpacked(kind: Kind) -> Kind:
    """What was packed, in something that holds it as a tuple would."""
    return kind.items[0] if isinstance(kind, Tuple) and kind.items else UNKNOWN


FUNCTIONS: dict[Any, Rule] = {
    operator.add: binary(_added),
    operator.mul: binary(_repeated),
    operator.or_: binary(_merged),
    dict: _to_dict,
    OrderedDict: _to_dict,
    list: to_list,
    tuple: to_tuple,
    sorted: _sorted,
    itertools.count: always(ENDLESS),
    itertools.cycle: always(ENDLESS),
    itertools.repeat: _repeat,
    **dict.fromkeys((np.split, np.array_split, np.vsplit), _split),
    np.hsplit: _hsplit,
    **dict.fromkeys(
        (trees.zero_tree, sequences.zeros_of, trees.copy_tree, trees.hook, trees.hooked),
        like(0, tree_kind),
    ),
    trees.add_tree: _sum,
    **dict.fromkeys(
        (layout.laid_copy, trees.kept, trees.deep_copy, copies.kept_together), like(0, _siteless)
    ),
    copy.deepcopy: _deep_copy,
    layout.laid_like: like(1),
    layout.view_like: like(-1),
    trees.as_now: like(0),
    contexts.packed: lambda args, kwargs: Tuple(args),
    contexts.unpacked: like(0, _unpacked),
    trees.like_tree: like(1, in_structure),
    trees.cotangent: like(1, tree_kind),
    trees.where_nonzero: like(1),
    trees.like_object: _object_gradient,
    ir.new_object: _new_object,
    records.instance: _new_object,
}
