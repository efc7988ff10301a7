"""Structures of arrays and numbers, as inputs and outputs are: their leaves, by the keys to them.

Takes tuples, lists, dicts and objects; gives their real and complex leaves with paths, structures
of the same form with other leaves, and what is done leaf by leaf.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.driver.options import base_name
from srcdiff.errors import TransformError
from srcdiff.frontend.request import Input, Member, Nested, spelled
from srcdiff.frontend.signatures import place_of
from srcdiff.runtime import records
from srcdiff.runtime.devices import is_any_array
from srcdiff.runtime.layout import laid_like
from srcdiff.runtime.trees import differentiable_part, like_sequence

Path = tuple[Any, ...]


def _held(tree: Any) -> Mapping[Any, Any] | None:
    """What a structure holds by key, an object by the names of attributes; None for a leaf."""
    if isinstance(tree, dict):
        return tree
    if isinstance(tree, (list, tuple)):
        return dict(enumerate(tree))
    if not records.is_record(type(tree)):
        return None
    return {Member(name): value for name, value in records.attributes(tree).items()}


def _like(tree: Any, items: Mapping[Any, Any]) -> Any:
    """A structure like another one that holds something else."""
    if isinstance(tree, (list, tuple)):
        return like_sequence(tree, list(items.values()))
    return items if isinstance(tree, dict) else records.rebuilt(tree, items)


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The real and complex arrays and numbers of a structure, with the keys that lead to them."""
    items = None if type(tree) is np.ndarray else _held(tree)
    if items is not None:
        for key, item in items.items():
            yield from leaves(item, (*path, key))
    elif is_any_array(tree) or isinstance(tree, (np.generic, float, complex)):
        if np.result_type(tree).kind in "fc":
            yield path, tree


def with_leaves(tree: Any, new: Mapping[Path, Any], path: Path = ()) -> Any:
    """A structure with other leaves, None where there is none."""
    items = _held(tree)
    if items is None:
        return new.get(path)
    return _like(tree, {key: with_leaves(v, new, (*path, key)) for key, v in items.items()})


def with_leaf(tree: Any, path: Path, new: Any) -> Any:
    """A structure with one other part; everything else is what it was, None stays None."""
    if not path:
        return new
    if is_any_array(tree):
        made = np.copy(tree)
        made[path[0]] = with_leaf(tree[path[0]], path[1:], new)
        return made
    items = _held(tree)
    if items is None:
        return tree  # None: the tangent of an object, which forward mode refuses
    key = range(len(items))[path[0]] if isinstance(tree, (list, tuple)) else path[0]
    return _like(tree, {**items, key: with_leaf(items[key], path[1:], new)})


def zeros(tree: Any, size: int | None = None) -> Any:
    """Zero of a structure, or a batch; None where it holds no floating point number."""

    def zero(leaf: Any) -> Any:
        if size is not None:
            return np.zeros_like(leaf, shape=(size, *np.shape(leaf)))
        return np.zeros_like(leaf) if is_any_array(leaf) else type(leaf)(0)

    return with_leaves(tree, {path: zero(leaf) for path, leaf in leaves(tree)})


def unit(leaf: Any, index: tuple[int, ...], factor: complex = 1) -> Any:
    """Zero like an array or number, but for a one, or `factor`, at an index."""
    if not is_any_array(leaf):
        return type(leaf)(factor)
    one = np.zeros_like(leaf)
    one[index] = factor
    return one


def random_like(rng: np.random.Generator, tree: Any) -> Any:
    """Random numbers in a structure, None where it holds no floating point number."""

    def drawn(leaf: Any) -> Any:
        one = rng.standard_normal(np.shape(leaf))
        if np.iscomplexobj(leaf):
            one = one + 1j * rng.standard_normal(np.shape(leaf))
        array = isinstance(leaf, np.ndarray)
        return np.asarray(one).astype(leaf.dtype) if array else type(leaf)(one)

    return with_leaves(tree, {path: drawn(leaf) for path, leaf in leaves(tree)})


def plus(tree: Any, step: float, moves: Iterable[tuple[Path, Any]]) -> Any:
    """A structure moved along a direction, of which some leaves are given."""
    for path, move in moves:
        leaf = at(tree, path)
        new = leaf + step * move
        if isinstance(leaf, np.ndarray):
            tree = with_leaf(tree, path, laid_like(new, leaf))  # as views depend on it
        else:
            tree = with_leaf(tree, path, type(leaf)(new))
    return tree


def inner(tree: Any, along: Any) -> float:
    """The real inner product of two structures; None is zero."""
    return sum((_product(a, b) for a, b in _pairs(tree, along)), 0.0)


def magnitude(tree: Any, along: Any) -> float:
    """How large the numbers are that the inner product of two structures adds up."""
    return sum((_product(np.abs(a), np.abs(b)) for a, b in _pairs(tree, along)), 0.0)


def _pairs(tree: Any, along: Any) -> Iterator[tuple[Any, Any]]:
    """The leaves of a structure with what stands there in another one."""
    pairs = ((at(tree, path), leaf) for path, leaf in leaves(along))
    return ((a, b) for a, b in pairs if a is not None)


def _product(one: Any, two: Any) -> float:
    """The real inner product of two arrays or numbers, added up in double precision."""
    wide = np.result_type(one, two, np.float64)
    return float(np.real(np.vdot(np.asarray(one, wide), np.asarray(two, wide))))


# --- what `inputs` and `outputs` select -----------------------------------------------------------


def part_of(kind: ir.Kind, item: Input, f: Any) -> ir.Kind:
    """The kind of an input of `f` in a parameter of a kind; refused where nothing is so named."""
    if not item.path:
        return kind
    from srcdiff.specialize.objects.places import item_at

    for key in item.path:
        inner = item_at(kind, key)
        if isinstance(kind, ir.Dict) and kind.cls is not None and inner is None:
            known = ", ".join(str(k) for k, _ in kind.items)
            raise TransformError(
                f"`{kind.cls.__name__}` has no attribute `{key}`, which the input "
                f"`{spelled(item.param, item.path)}` names",
                place_of(f),
                remedy=f"Its attributes are: {known or 'none'}.",
            )
        kind = ir.UNKNOWN if inner is None else inner
    return kind


def given_at(value: Any, item: Input, f: Any) -> Any:
    """The input in the argument that it is a part of; refused where there is no such item."""
    try:
        return at(value, item.path)
    except (IndexError, KeyError) as error:
        raise TransformError(
            f"the argument for `{item.param}` of `{base_name(f)}` has no item "
            f"`{spelled(item.param, item.path)}`, which is an input",
            place_of(f),
            remedy="Compare the inputs with the arguments.",
        ) from error


def behind_aux(outputs: Any, params: Container[str]) -> Any:
    """The outputs among what a function returns that gives something else beside them."""
    if outputs is None:
        return 0
    if isinstance(outputs, (tuple, list)) and not isinstance(outputs, Nested):
        return tuple(behind_aux(one, params) for one in outputs)
    return outputs if outputs in params else Nested((0, outputs))


def selected(value: Any, outputs: Any, values: Mapping[str, Any]) -> Any:
    """The selected outputs of what a function returned, or left in its arguments."""
    if outputs is None:
        return value
    if isinstance(outputs, Nested):
        return at(value, outputs)
    if isinstance(outputs, (tuple, list)):
        return tuple(selected(value, one, values) for one in outputs)
    if isinstance(outputs, str) and outputs in values:
        return values[outputs]
    single = not isinstance(value, (tuple, list, dict))
    return value if single and outputs in (0, -1) else value[outputs]


def tangent_of(tangent: Any, value: Any, outputs: Any, params: Container[str]) -> Any:
    """The tangent of the outputs, None where they are no floating point numbers."""
    if names_parameter(outputs, params):
        return tangent
    return differentiable_part(tangent, selected(value, outputs, {}))


def names_parameter(outputs: Any, params: Container[str]) -> bool:
    """Whether one of the outputs is a parameter that is written into."""
    if isinstance(outputs, (tuple, list)) and not isinstance(outputs, Nested):
        return any(names_parameter(o, params) for o in outputs)
    return isinstance(outputs, str) and outputs in params


def at(tree: Any, path: Path) -> Any:
    """The part of a structure at the end of some keys, None below a None."""
    for key in path:
        if tree is not None:
            tree = getattr(tree, key) if isinstance(key, Member) else tree[key]
    return tree
