"""What generated code calls where its adjoints have a batch axis, the first one.

An adjoint of a number is then an array of one axis, that of a container a container of such.
Values of the primal have no batch axis.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from srcdiff.runtime import records, trees
from srcdiff.runtime.copies import owner_of
from srcdiff.runtime.trees import like_sequence


def beside(d: Any, *others: Any) -> Any:
    """`d`, with axes behind the batch axis, so that it broadcasts against values without one.

    >>> beside(np.zeros(4), np.zeros((2, 3))).shape
    (4, 1, 1)
    """
    d = array_each(d)
    missing = max(map(np.ndim, others)) + 1 - d.ndim
    return np.reshape(d, (len(d), *(1,) * missing, *d.shape[1:])) if missing > 0 else d


def array_each(d: Any) -> Any:
    """A list or tuple of batches, of equal shapes, as one batch of arrays; an array as it is."""
    return np.stack([array_each(x) for x in d], axis=1) if isinstance(d, (list, tuple)) else d


def unbroadcast_each(d: Any, x: Any) -> Any:
    """`d` summed over the axes along which `x` was broadcast, but for the batch axis."""
    shape = np.shape(x)
    if d.shape[1:] == shape:
        return d
    extra = d.ndim - 1 - len(shape)
    if extra < 0:
        return np.broadcast_to(beside(d, x), (len(d), *shape))
    axes = (*range(1, extra + 1), *(extra + 1 + k for k, n in enumerate(shape) if n == 1))
    return np.reshape(np.sum(d, axis=axes), (len(d), *shape))


def broadcast_each(d: Any, shape: Any) -> Any:
    """`d` repeated to a shape, which has no batch axis."""
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    d = np.reshape(d, (len(d), *(1,) * (len(shape) + 1 - d.ndim), *d.shape[1:]))
    return np.broadcast_to(d, (len(d), *shape))


def axes_behind(axis: Any) -> Any:
    """An axis, or several, behind the batch axis."""
    return tuple(map(axes_behind, axis)) if isinstance(axis, tuple) else axis + (axis >= 0)


def spread_each(d: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`d`, the result of a reduction of `x` over `axis`, repeated to the shape of `x`."""
    kept = d if axis is None or keepdims else np.expand_dims(d, axes_behind(axis))
    return broadcast_each(kept, np.shape(x))


def scatter_each(d: Any, index: Any, x: Any) -> Any:
    """Zeros of the shape of `x` with `d` added at the flat positions `index`, repeats adding up."""
    out = np.zeros((len(d), np.size(x)), np.result_type(d))
    trees.add_at(out, behind(index), d)
    return np.reshape(out, (len(d), *np.shape(x)))


def behind(index: Any) -> tuple[Any, ...]:
    """An index behind the batch axis."""
    return (slice(None), *(index if isinstance(index, tuple) else (index,)))


def own_numbers(d: Any) -> Any:
    """A copy of adjoints of numbers, which are no views of anything; adjoints of arrays as is."""
    return np.copy(d) if d.ndim == 1 else d


# --- structures --------------------------------------------------------------------------------


def repeated(x: Any, batch: int) -> Any:
    """A value without batch axis, with one; each number and array in new memory."""
    numbers = (float, int, complex, np.generic, np.ndarray)

    def one(x: Any) -> Any:
        known = isinstance(x, numbers) and not isinstance(x, bool)
        return np.full((batch, *np.shape(x)), x) if known else x

    return trees.mapped(one, x)


def add_each(a: Any, b: Any) -> Any:
    """The sum of two adjoints of one structure, in new memory; None is zero."""
    if a is None or b is None:
        return trees.copy_tree(b if a is None else a)
    if isinstance(a, dict):
        return {key: add_each(a.get(key), b.get(key)) for key in {**a, **b}}
    if isinstance(a, (list, tuple)):
        if not len(a) or not len(b):
            return trees.copy_tree(list(a) or list(b))
        items = np.moveaxis(b, 1, 0) if isinstance(b, np.ndarray) else b
        return [add_each(p, q) for p, q in zip(a, items, strict=True)]
    return beside(a, b[0]) + beside(b, a[0])


def like_each(d: Any, x: Any, batch: int) -> Any:
    """The adjoint `d` in the structure, shapes and dtypes of the input `x`, sharing no memory."""
    if isinstance(x, dict):
        return type(x)((key, like_each(d[key], value, batch)) for key, value in x.items())
    if isinstance(x, (list, tuple)):
        items = [like_each(p, q, batch) for p, q in zip(d, x, strict=True)]
        return items if isinstance(x, list) else tuple(items)
    if d is None or not isinstance(x, (float, complex, np.inexact, np.ndarray)):
        return d
    out = np.empty((batch, *np.shape(x)), np.result_type(x))
    out[...] = d if np.iscomplexobj(x) else np.real(d)
    return out


def cotangents(
    grad_outputs: Any,
    output: Any,
    batch: int,
    path: str = "grad_outputs",
    order: Literal["K", "F"] = "K",
) -> Any:
    """A copy of a batch of cotangents checked against the output, ones where they may be.

    `order="F"`: the batch axis is the last one in memory.

    Raises:
        CotangentError: one is missing for an output of several elements, or of the wrong shape.
        CotangentTypeError: one is no number or array.
    """
    return _checked(grad_outputs, output, batch, path, functools.partial(np.array, order=order))


def _checked(grad_outputs: Any, output: Any, batch: int, path: str, convert: Any) -> Any:
    """A batch of cotangents checked against the output, each array as `convert` gives it."""
    one = trees.cotangent(taken(grad_outputs, 0), output, path)
    return _like_one(one, grad_outputs, batch, convert)


def _like_one(one: Any, given: Any, batch: int, convert: Any) -> Any:
    """A batch in the structure of one of it that is complete, which stands for what is left out."""
    if given is None or one is None:
        return repeated(one, batch)
    if isinstance(one, dict):
        given = trees.as_dict(given)
        return {k: _like_one(value, given.get(k), batch, convert) for k, value in one.items()}
    if isinstance(one, list):
        return [_like_one(value, item, batch, convert) for value, item in zip(one, given)]
    return convert(given, np.result_type(one))


def by_attribute(given: Any, output: Any) -> tuple[Any, Any]:
    """A cotangent and its output; of a dataclass or object both by the names of attributes."""
    if not records.is_record(type(output)):
        return given, output
    return trees.as_dict(given), records.attributes(output)


def given_cotangents(grad_outputs: Any, output: Any, batch: int) -> Any:
    """A batch of cotangents as `cotangents` checks it, for who does not write into it: no copy."""
    return _checked(grad_outputs, output, batch, "grad_outputs", np.asarray)


def stacked(items: Sequence[Any]) -> Any:
    """What is computed for each item of a batch, together."""
    return trees.mapped(lambda *parts: None if parts[0] is None else np.stack(parts), *items)


def taken(batch: Any, k: Any) -> Any:
    """Item `k` of a batch, or those of a slice, in the structure that its parts have.

    >>> taken((np.arange(2.0), [np.eye(2)]), 1)
    (np.float64(1.0), [array([0., 1.])])
    """
    return trees.mapped(lambda part: None if part is None else part[k], batch)


def shadows(batch: int, *values: Any) -> list[Any]:
    """Zeros with a batch axis that share memory with each other as the given shadows do.

    >>> x = np.zeros(3)
    >>> a, b = shadows(2, x, x[1:])
    >>> b[:, 0] = 7.0
    >>> a
    array([[0., 7., 0.],
           [0., 7., 0.]])
    """
    memo: dict[int, Any] = {}
    return [_shadow(value, batch, memo) for value in values]


def _shadow(value: Any, batch: int, memo: dict[int, Any]) -> Any:
    """A shadow with a batch axis; the same one for the same list, dict or memory."""
    if isinstance(value, tuple):
        return like_sequence(value, [_shadow(v, batch, memo) for v in value])
    if isinstance(value, np.ndarray):
        return _shadow_array(value, batch, memo)
    if not isinstance(value, (list, dict)):
        return repeated(value, batch)
    if id(value) not in memo:
        made: Any = memo.setdefault(id(value), type(value)())
        if isinstance(value, list):
            made += [_shadow(v, batch, memo) for v in value]
        else:
            made.update((k, _shadow(v, batch, memo)) for k, v in value.items())
    return memo[id(value)]


def _shadow_array(array: np.ndarray[Any, Any], batch: int, memo: dict[int, Any]) -> Any:
    """The place of an array in memory that has been made for each item of a batch."""
    owner = owner_of(array)
    low, high = np.lib.array_utils.byte_bounds(owner)
    if -id(owner) not in memo:
        memo[-id(owner)] = np.zeros(batch * (high - low), np.uint8)
    start = array.__array_interface__["data"][0] - low
    shape, strides = (batch, *array.shape), (high - low, *array.strides)
    return np.ndarray(shape, array.dtype, memo[-id(owner)].data, start, strides)
