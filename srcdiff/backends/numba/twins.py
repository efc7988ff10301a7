"""The forms of helpers that Numba compiles, which are copied beside a gradient compiled by it.

They are for arrays of float64 and complex128 alone: others are refused before.  What a form takes
no argument for, Numba refuses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcdiff.runtime import arrays, trees


def cotangent(grad_outputs: Any, output: Any) -> Any:
    """A copy of `grad_outputs`, which has the shape of the output; one where it is left out."""
    if grad_outputs is None:
        if output.size != 1:
            raise ValueError("grad_outputs: may be left out only for an output of one number")
        return np.ones_like(output)
    if grad_outputs.shape != output.shape:
        raise ValueError("grad_outputs: expected an array of the shape of the output")
    return grad_outputs.astype(output.dtype)


def like_tree(d: Any, x: Any) -> Any:
    """An array of the shape and dtype of `x` with the values of `d`."""
    out = np.empty_like(x)
    out[...] = d
    return out


def unbroadcast(d: Any, x: Any) -> Any:
    """`d` summed over the axes along which `x` was broadcast, so that it has the shape of `x`."""
    parts, shape = np.asarray(d), np.shape(x)
    extra = parts.ndim - len(shape)
    if extra < 0:
        out = np.asarray(np.zeros(shape, parts.dtype) + parts).ravel()
    else:
        out = np.zeros(np.asarray(x).size, parts.dtype)
        sizes = shape + (1,)  # with an item where Numba looks for the type of one
        for index, part in np.ndenumerate(parts):
            at = 0
            for k in range(len(shape)):
                at = at * sizes[k] + (index + (0,))[extra + k] % sizes[k]
            out[at] += part
    return out.reshape(shape)[()]


def winners(x: Any, z: Any) -> Any:
    """The share of every element of `x` in its extreme value `z`."""
    hit = np.equal(x, z)
    return hit / np.sum(hit)


def scatter(d: Any, index: Any, x: Any) -> Any:
    """Zeros of the shape of `x` with `d` added at the flat positions `index`, repeats adding up."""
    values, at, like = np.asarray(d), np.asarray(index), np.asarray(x)
    out = np.zeros(like.size, values.dtype)
    places, parts = at.ravel(), np.broadcast_to(values, at.shape).ravel()
    for k in range(places.size):
        out[places[k]] += parts[k]
    return out.reshape(like.shape)


def undiff(d: Any, x: Any, n: int, axis: int) -> Any:
    """The adjoint of `x` in `np.diff(x, n, axis)`."""
    last = np.copy(np.swapaxes(d, axis, -1))
    for _ in range(n):
        wide = np.zeros(last.shape[:-1] + (last.shape[-1] + 1,), last.dtype)
        wide[..., 1:] += last
        wide[..., :-1] -= last
        last = wide
    return np.swapaxes(last[..., : x.shape[axis]], axis, -1)


def others(x: Any) -> Any:
    """The product of all other elements, exact where some are zero."""
    flat = x.ravel()
    out = np.ones_like(flat)
    before = after = np.ones_like(flat[:1])
    for k in range(flat.size):
        out[k] *= before[0]
        before = before * flat[k]
    for k in range(flat.size - 1, -1, -1):
        out[k] *= after[0]
        after = after * flat[k]
    return out.reshape(x.shape)


def cofactor(a: Any) -> Any:
    """The cofactors of one matrix, exact where it is singular."""
    u, s, vt = np.linalg.svd(a)
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return sign * np.conj((u * others(s)) @ vt)


_TWINS = {
    id(helper): form
    for helper, form in (
        (trees.cotangent, cotangent), (trees.like_tree, like_tree),
        (arrays.unbroadcast, unbroadcast), (arrays.winners, winners),
        (arrays.scatter, scatter), (arrays.undiff, undiff), (arrays.others, others),
        (arrays.cofactor, cofactor),
    )
}  # fmt: skip


def twin(value: Any) -> Any:
    """The form of a helper that Numba compiles; anything else is itself."""
    return _TWINS.get(id(value), value)
