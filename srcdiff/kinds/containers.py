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
from srcdiff.kinds.indexing import item_kind
from srcdiff.kinds.lattice import Args, Keywords, Rule, always, argument, binary, join_all, like
from srcdiff.runtime import contexts, copies, layout, records, sequences, trees

_MANY = 32  # items of a repeated sequence that are kept apart


def any_item(kind: ir.Kind) -> ir.Kind | None:
    """What describes every item of a list or tuple, None for one that is surely empty."""
    return join_all(ir.items_of(kind))


def plain_tuple(item: ir.Kind | None) -> ir.Tuple:
    """A tuple of unknown length; only numbers and arrays are remembered as its items."""
    return ir.Tuple(None, item if isinstance(item, (ir.Scalar, ir.Array)) else None)


def _added(one: ir.Kind, two: ir.Kind) -> ir.Kind | None:
    """`xs + ys`."""
    if type(one) is ir.Text and type(two) is ir.Text:
        return ir.Text()
    if not isinstance(one, (ir.List, ir.Tuple)) or type(one) is not type(two):
        return None
    assert isinstance(two, (ir.List, ir.Tuple))
    known = one.items is not None and two.items is not None
    items = (*(one.items or ()), *(two.items or ())) if known else None
    rest = None if known else join_all((*ir.items_of(one), *ir.items_of(two)))
    if type(one) is ir.List:
        return ir.List(rest, items)
    return plain_tuple(rest) if items is None else ir.Tuple(items)


def _repeated(base: ir.Kind, count: ir.Kind) -> ir.Kind | None:
    """`xs * n`."""
    if type(base) is ir.Scalar:
        base, count = count, base
    if type(base) is ir.Text and type(count) is ir.Scalar:
        return ir.Text()
    if not isinstance(base, (ir.List, ir.Tuple)) or type(count) is not ir.Scalar:
        return None
    times = count.value
    if base.items is not None and times is not None and len(base.items) * times <= _MANY:
        items = base.items * times
        return ir.List(None, items) if type(base) is ir.List else ir.Tuple(items)
    item = any_item(base)
    return ir.List(item) if type(base) is ir.List else plain_tuple(item)


def _merged(one: ir.Kind, two: ir.Kind) -> ir.Kind | None:
    """`d | e`."""
    if type(one) is not ir.Dict or type(two) is not ir.Dict:
        return None
    rest = join_all(k for k in (one.item, two.item) if k is not None)
    return ir.Dict(tuple({**dict(one.items), **dict(two.items)}.items()), rest)


def _to_dict(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`dict(...)`."""
    base = args[0] if args else ir.Dict()
    if type(base) is ir.Dict:
        return ir.Dict(tuple({**dict(base.items), **kwargs}.items()), base.item)
    pair = any_item(base) if isinstance(base, (ir.List, ir.Tuple)) else ir.UNKNOWN
    value = ir.UNKNOWN if pair is None else item_kind(pair, ir.Scalar("int64", True, 1))
    return ir.Dict(tuple(kwargs.items()), value)


def to_list(args: Args, kwargs: Keywords) -> ir.List:
    """`list(...)`, `sorted(...)`."""
    base = args[0] if args else ir.Tuple(())
    if type(base) is ir.Dict and base.cls is not None:
        named = issubclass(base.cls, tuple)  # a named tuple gives its values
        return ir.List(None, tuple(v for _, v in base.items)) if named else ir.List(ir.UNKNOWN)
    if type(base) is ir.Dict:
        keys = (_key_kind(k) for k, _ in base.items)
        return ir.List(ir.KEY if base.item is not None else join_all(keys) or ir.KEY)
    if isinstance(base, (ir.Tuple, ir.List)):
        return ir.List(None, base.items) if base.items is not None else ir.List(any_item(base))
    if type(base) is ir.Array:
        return ir.List(item_kind(base, ir.Scalar("int64")))
    if isinstance(base, ir.Object) and type(base.value) is ir.Tuple:
        return ir.List(base.value)
    return ir.List(ir.Scalar("int64") if type(base) is ir.Range else ir.UNKNOWN)


def _key_kind(key: object) -> ir.Kind:
    if isinstance(key, str):
        return ir.Text()
    return ir.Scalar("int64") if type(key) is int else ir.KEY


def to_tuple(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`tuple(...)`."""
    found = to_list(args, kwargs)
    return plain_tuple(found.item) if found.items is None else ir.Tuple(found.items)


ENDLESS = ir.Object("itertools")


def _chosen(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`combinations(range(n), 2)`: an iterator of tuples of whole numbers; nothing of others."""
    size = args[1] if len(args) == 2 and not kwargs else None
    if type(args[0]) is not ir.Range or type(size) is not ir.Scalar or size.value is None:
        return None
    return ir.Object("itertools", ir.Tuple((ir.Scalar("int64", True),) * size.value))


def _products(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`product(range(n), range(m))`."""
    repeat = kwargs.get("repeat", ir.Scalar("int64", True, 1))
    if {ir.Range} != {*map(type, args)} or type(repeat) is not ir.Scalar or repeat.value is None:
        return None
    count = len(args) * repeat.value
    return ir.Object("itertools", ir.Tuple((ir.Scalar("int64", True),) * count))


def _hsplit(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`np.hsplit`: along the second axis, or the only one."""
    axis = 0 if len(ir.dims_of(args[0]) or ()) == 1 else 1
    return _split(args, {**kwargs, "axis": ir.Scalar("int64", True, axis)})


def _split(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`np.split`: as many parts as are asked for, of the shape of the whole but along one axis."""
    base, parts = args[0], argument(args, 1, kwargs, "indices_or_sections")
    axis = argument(args, 2, kwargs, "axis", ir.Scalar("int64", True, 0))
    dims = ir.dims_of(base)
    count = parts.value if type(parts) is ir.Scalar else None
    if (bounds := ir.known_items(parts)) is not None:
        count = len(bounds) + 1
    if dims is None or type(axis) is not ir.Scalar or axis.value is None:
        return ir.List(ir.Array(ir.dtype_of(base))) if ir.is_numeric(base) else None
    place = range(len(dims))[axis.value] if -len(dims) <= axis.value < len(dims) else 0
    part = ir.Array(ir.dtype_of(base), (*dims[:place], None, *dims[place + 1 :]))
    return ir.List(part) if count is None else ir.List(None, (part,) * count)


# --- the kinds of what the helpers for adjoints of containers return -----------------------------


def tree_kind(kind: ir.Kind) -> ir.Kind:
    """The kind of the adjoint of a value: tuples as lists, None at what has no derivative."""
    if type(kind) is ir.Scalar:  # a number of NumPy may be added to it
        found = _leaf(kind)
        return ir.Scalar(found.dtype, None) if type(found) is ir.Scalar else found
    if type(kind) is ir.Array:
        return _leaf(kind)
    if type(kind) is ir.Tuple:
        items = None if kind.items is None else tuple(map(tree_kind, kind.items))
        return ir.List(ir.UNKNOWN if items is None else None, items)
    if type(kind) is ir.Dict:
        kind = replace(kind, cls=None)  # of an object as well
    held = isinstance(kind, (ir.List, ir.Dict, ir.Maybe, ir.NoneKind))
    return ir.mapped(tree_kind, kind, new=True) if held else ir.UNKNOWN


def _leaf(kind: ir.Scalar | ir.Array) -> ir.Kind:
    """The kind of the adjoint of a number or array."""
    if kind.dtype is None:
        return ir.UNKNOWN if type(kind) is ir.Scalar else kind
    if not ir.is_inexact_dtype(kind.dtype):
        return ir.NoneKind()
    return ir.Scalar(kind.dtype, kind.python) if type(kind) is ir.Scalar else kind


def _deep_copy(kind: ir.Kind) -> ir.Kind:
    """`copy.deepcopy`: the same structure, unless a class has a say in it."""
    cls = ir.class_of(kind)
    return _siteless(kind) if cls is None or records.is_copied_plainly(cls, True) else ir.UNKNOWN


def _siteless(kind: ir.Kind) -> ir.Kind:
    """A kind whose lists and dicts are made here."""
    return ir.mapped(_siteless, kind, new=True)


def in_structure(kind: ir.Kind) -> ir.Kind:
    """A gradient's kind: like the input, None where it has none."""
    if isinstance(kind, (ir.Scalar, ir.Array)):
        return _leaf(kind)
    if type(kind) is ir.Tuple:
        return ir.mapped(in_structure, kind)
    if ir.class_of(kind) is not None:
        return ir.UNKNOWN
    return tree_kind(kind)


def _sum(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`add_tree`: the structure of both."""
    one, two = map(tree_kind, args)
    if type(one) is ir.NoneKind or type(two) is ir.NoneKind:
        return two if type(one) is ir.NoneKind else one
    if not isinstance(ir.sure(one), (ir.List, ir.Dict)):
        return None
    found = join_all((ir.sure(one), ir.sure(two))) or ir.UNKNOWN
    return ir.maybe(found) if isinstance(one, ir.Maybe) and isinstance(two, ir.Maybe) else found


def _object_gradient(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`like_object`: an object of the same class."""
    x = args[0]
    if type(x) is not ir.Dict or x.cls is None:
        return ir.UNKNOWN
    items = tuple((k, kwargs.get(k) or in_structure(v)) for k, v in x.items)
    return ir.Dict(items, None, "", x.cls)


def _new_object(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """An object that has no attributes yet, or those that it is given."""
    cls: Any = getattr(args[0], "value", None)
    return ir.Dict(tuple(kwargs.items()), None, "", cls) if isinstance(cls, type) else ir.UNKNOWN


def _unpacked(kind: ir.Kind) -> ir.Kind:
    """What was packed, in something that holds it as a tuple would."""
    return kind.items[0] if type(kind) is ir.Tuple and kind.items else ir.UNKNOWN


FUNCTIONS: dict[Any, Rule] = {
    operator.add: binary(_added),
    operator.mul: binary(_repeated),
    operator.or_: binary(_merged),
    dict: _to_dict,
    OrderedDict: _to_dict,
    list: to_list,
    tuple: to_tuple,
    sorted: lambda args, kwargs: ir.List(any_item(to_list(args, {}))),  # in another order
    **dict.fromkeys(
        (itertools.combinations, itertools.combinations_with_replacement, itertools.permutations),
        _chosen,
    ),
    itertools.product: _products,
    itertools.count: always(ENDLESS),
    itertools.cycle: always(ENDLESS),
    itertools.repeat: lambda args, kwargs: ENDLESS if len(args) + len(kwargs) == 1 else None,
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
    copy.deepcopy: like(0, _deep_copy),
    layout.laid_like: like(1),
    layout.view_like: like(-1),
    trees.as_now: like(0),
    contexts.packed: lambda args, kwargs: ir.Tuple(args),
    contexts.unpacked: like(0, _unpacked),
    trees.like_tree: like(1, in_structure),
    trees.cotangent: like(1, tree_kind),
    trees.where_nonzero: like(1),
    trees.like_object: _object_gradient,
    ir.new_object: _new_object,
    records.instance: _new_object,
}
