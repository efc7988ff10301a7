"""Structures of arrays and numbers, as inputs and outputs are: their leaves, by the keys to them.

Takes tuples, lists, dicts and objects; gives their real and complex leaves with paths, structures
of the same form with other leaves, and what is done leaf by leaf.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from srcdiff.driver.options import Path, at, is_object, opened
from srcdiff.runtime import records
from srcdiff.runtime.devices import is_any_array
from srcdiff.runtime.trees import like_sequence


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The real and complex arrays and numbers of a structure, with the keys that lead to them."""
    if type(tree) is np.ndarray:
        if tree.dtype.kind in "fc":
            yield path, tree
        return
    tree = opened(tree)
    if isinstance(tree, dict):
        for key, item in tree.items():
            yield from leaves(item, (*path, key))
    elif isinstance(tree, (list, tuple)):
        for k, item in enumerate(tree):
            yield from leaves(item, (*path, k))
    elif is_any_array(tree) or isinstance(tree, (np.generic, float, complex)):
        if np.result_type(tree).kind in "fc":
            yield path, tree


def with_leaves(tree: Any, new: Mapping[Path, Any], path: Path = ()) -> Any:
    """A structure with other leaves, None where there is none."""
    if type(tree) is np.ndarray:
        return new.get(path)
    if is_object(tree):
        return records.rebuilt(tree, with_leaves(opened(tree), new, path))
    if isinstance(tree, dict):
        return {k: with_leaves(v, new, (*path, k)) for k, v in tree.items()}
    if isinstance(tree, (list, tuple)):
        return like_sequence(tree, [with_leaves(v, new, (*path, k)) for k, v in enumerate(tree)])
    return new.get(path)


def with_leaf(tree: Any, path: Path, new: Any) -> Any:
    """A structure with one other part; everything else is what it was, None stays None."""
    if not path:
        return new
    if tree is None:
        return None  # as the tangent of an object, which forward mode refuses
    if is_object(tree):
        return records.rebuilt(tree, with_leaf(opened(tree), path, new))
    if isinstance(tree, dict):
        return {k: with_leaf(v, path[1:], new) if k == path[0] else v for k, v in tree.items()}
    place = range(len(tree))[path[0]]
    items = [with_leaf(v, path[1:], new) if k == place else v for k, v in enumerate(tree)]
    return like_sequence(tree, items)


def zeros(tree: Any, size: int | None = None) -> Any:
    """Zero of a structure, or a batch; None where it holds no floating point number."""
    return with_leaves(tree, {path: zero(leaf, size) for path, leaf in leaves(tree)})


def zero(leaf: Any, size: int | None = None) -> Any:
    """Zero like an array or number, or a batch of them."""
    if size is not None:
        return np.zeros((size, *np.shape(leaf)), np.result_type(leaf))
    return np.zeros_like(leaf) if is_any_array(leaf) else type(leaf)(0)


def unit(leaf: Any, index: tuple[int, ...], factor: complex = 1) -> Any:
    """Zero like an array or number, but for a one, or `factor`, at an index."""
    if not is_any_array(leaf):
        return type(leaf)(factor)
    one = np.zeros_like(leaf)
    one[index] = factor
    return one


def random_like(rng: np.random.Generator, tree: Any) -> Any:
    """Random numbers in a structure, None where it holds no floating point number."""
    new: dict[Path, Any] = {}
    for path, leaf in leaves(tree):
        one = rng.standard_normal(np.shape(leaf))
        if np.iscomplexobj(leaf):
            one = one + 1j * rng.standard_normal(np.shape(leaf))
        array = isinstance(leaf, np.ndarray)
        new[path] = np.asarray(one).astype(leaf.dtype) if array else type(leaf)(one)
    return with_leaves(tree, new)


def plus(tree: Any, step: float, direction: Any) -> Any:
    """A structure moved along a direction."""
    for path, move in leaves(direction):
        leaf = at(tree, path)
        new = leaf + step * move
        if isinstance(leaf, np.ndarray):
            out = np.empty_like(leaf)  # in the layout of the argument
            out[...] = new
            tree = with_leaf(tree, path, out)
        else:
            tree = with_leaf(tree, path, type(leaf)(new))
    return tree


def inner(tree: Any, along: Any) -> float:
    """The real inner product of two structures; None is zero."""
    pairs = ((at(tree, path), leaf) for path, leaf in leaves(along))
    return sum((float(np.real(np.vdot(a, b))) for a, b in pairs if a is not None), 0.0)
