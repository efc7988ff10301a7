"""The kinds of what the helpers for adjoints of containers return."""

from __future__ import annotations

import copy
from collections.abc import Callable as Function
from typing import Any

from srcdiff import ir
from srcdiff.ir.kinds import (
    UNKNOWN,
    Array,
    Dict,
    Kind,
    List,
    Maybe,
    NoneKind,
    Scalar,
    Tuple,
    class_of,
    is_inexact_dtype,
    maybe,
    sure,
)
from srcdiff.kinds.lattice import join_all
from srcdiff.runtime import hooks, layout, records, second_order, sequences, together, trees

Args = tuple[Kind, ...]


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
    return _in_structure(args[1])


def _in_structure(kind: Kind) -> Kind:
    """A gradient's kind: like the input, None where it has none."""
    if isinstance(kind, (Scalar, Array)):
        return _leaf(kind)
    if isinstance(kind, Tuple):
        return Tuple(None if kind.items is None else tuple(map(_in_structure, kind.items)))
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
    items = tuple((k, kwargs.get(k) or _in_structure(v)) for k, v in x.items)
    return Dict(items, None, "", x.cls)


def _new_object(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    """An object that has no attributes yet, or those that it is given."""
    cls: Any = getattr(args[0], "value", None)
    return Dict(tuple(kwargs.items()), None, "", cls) if isinstance(cls, type) else UNKNOWN


def _gradients_at(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    """An item for each argument of the function, behind its inputs and the cotangent."""
    return Tuple(tuple(map(_in_structure, args[3:])))


def _gradients_along(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    """An item for each argument of the function, behind its inputs, tangents and cotangent."""
    return Tuple(tuple(map(_in_structure, args[4:])))


def _packed(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    """Something that holds a value, as a tuple would."""
    return Tuple(args)


def _unpacked(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    held = args[0]
    return held.items[0] if isinstance(held, Tuple) and held.items else UNKNOWN


FUNCTIONS: dict[Any, Function[[Args, dict[str, Kind]], Kind | None]] = {
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
    together.kept_together: _copy,
    trees.as_now: lambda args, kwargs: args[0],
    hooks.packed: _packed,
    hooks.unpacked: _unpacked,
    trees.like_tree: _gradient,
    trees.cotangent: _like_second,
    trees.where_nonzero: _second,
    trees.like_object: _object_gradient,
    second_order.gradients_at: _gradients_at,
    second_order.gradients_along: _gradients_along,
    ir.new_object: _new_object,
    records.instance: _new_object,
}
