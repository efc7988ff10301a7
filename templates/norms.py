"""Rules of the norms of vectors and matrices: zero has a zero gradient."""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import divide_or_zero, keep_axes, winners


@rule(np.linalg.norm)
@samples(
    "A(4)", "A(3, 4)", "A(3, 4), axis=1", "A(3, 4), None, 0, True", "A(2, 3, 4), axis=(0, 2)",
    "C(3)", "A(2, 3, 4)",
)  # fmt: skip
def norm(x, ord=None, axis=None, keepdims=False):
    if ord is not None:
        refuse("this order of the norm has no rule")
    d[x] += keep_axes(divide_or_zero(d[z], z), axis, keepdims) * x


@composed(np.linalg.norm, given="ord")
@samples(
    "A(4), 1", "A(4), 2", "A(4), np.inf", "A(4), -np.inf", "A(3, 4), 3, 1", "A(3, 4), 'fro'",
    "A(3, 4), 1, 0", "A(3, 4), 2, axis=-1", "A(4), 0", "A(3, 4), 1", "A(3, 4), np.inf",
    "A(3, 4), 2", "A(3, 4), -2", "A(3, 4), 'nuc'", "A(3, 4), -1, keepdims=True",
    "A(2, 3, 4), 'fro', (0, 1)", "A(2, 3, 4), 2, (0, 2), True", "A(2, 3, 4), 'nuc', (0, 1)",
    "A(2, 3, 4), 1, (2, 0)", "A(2, 3, 4), -np.inf, (1, 2), True", "C(4), 3", "C(3, 2), 'nuc'",
    "A(4), 1, axis=(0,)", "A(3, 4), 3, (1,), True",
)  # fmt: skip
def norm_order(x, ord=None, axis=None, keepdims=False):
    if isinstance(axis, tuple) and len(axis) == 2:
        return _matrix_norm(x, ord, axis[0], axis[1], keepdims)
    if axis is None and np.ndim(x) == 2:
        return _matrix_norm(x, ord, 0, 1, keepdims)
    if ord is None or ord == 2:
        return np.linalg.norm(x, axis=axis, keepdims=keepdims)
    return np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


def _matrix_norm(x, ord, row, column, keepdims):
    if ord is None or ord == "fro":
        return np.linalg.norm(x, axis=(row, column), keepdims=keepdims)
    if ord == 1 or ord == 2 or ord == np.inf:
        if np.size(x) == 0:
            return np.sum(np.abs(x), axis=(row, column), keepdims=keepdims)
    if ord == 1 or ord == -1:
        sums = np.sum(np.abs(x), axis=row, keepdims=True)
    elif ord == np.inf or ord == -np.inf:
        sums = np.sum(np.abs(x), axis=column, keepdims=True)
    else:
        return _spectral_norm(x, ord, row, column, keepdims)
    if ord > 0:
        return np.max(sums, axis=(row, column), keepdims=keepdims)
    return np.min(sums, axis=(row, column), keepdims=keepdims)


def _spectral_norm(x, ord, row, column, keepdims):
    s = np.linalg.svdvals(np.moveaxis(x, (row, column), (-2, -1)))
    if ord == "nuc":
        z = np.sum(s, axis=-1)
    elif ord == 2:
        z = np.max(s, axis=-1)
    elif ord == -2:
        z = np.min(s, axis=-1)
    else:
        refuse("this order of the norm has no rule")
    return np.expand_dims(z, (row, column)) if keepdims else z


made_of(
    np.linalg.matrix_norm,
    value=lambda x, *, keepdims=False, ord="fro": _matrix_norm(x, ord, -2, -1, keepdims),
    samples=(
        "A(3, 4)", "A(2, 3, 4), ord=1", "A(2, 3, 4), keepdims=True, ord='nuc'", "A(3, 3), ord=-2",
        "C(3, 4), ord='nuc'",
    ),
)


@rule(np.linalg.vector_norm)
@samples(
    "A(4)", "A(3, 4), ord=1", "A(3, 4), axis=1, ord=np.inf", "A(3, 4), axis=0, ord=-np.inf",
    "A(3, 4), axis=(0, 1), ord=3", "A(3, 4), axis=1, keepdims=True, ord=0.5", "A(4), ord=0",
    "C(3), ord=3", "A(4), ord=-1",
)  # fmt: skip
def vector_norm(x, *, axis=None, keepdims=False, ord=2):
    if ord == 0:
        d[x] += 0.0
    elif ord == 1:
        d[x] += keep_axes(d[z], axis, keepdims) * np.sign(x)
    elif ord == np.inf or ord == -np.inf:
        hit = winners(np.abs(x), keep_axes(z, axis, keepdims), axis)
        d[x] += keep_axes(d[z], axis, keepdims) * np.sign(x) * hit
    elif ord == 2:
        d[x] += keep_axes(divide_or_zero(d[z], z), axis, keepdims) * x
    else:
        slope = keep_axes(divide_or_zero(d[z], z ** (ord - 1)), axis, keepdims)
        d[x] += slope * np.sign(x) * np.abs(x) ** (ord - 1)
