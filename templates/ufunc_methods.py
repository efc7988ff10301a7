"""Methods of ufuncs: `reduce`, `accumulate` and `reduceat`."""

import numpy as np

from srcdiff.factors import latest, unreduced
from srcdiff.rules import composed, d, linear, rule, samples, unsupported
from srcdiff.runtime import keep_axes


@composed(np.multiply.reduce)
@samples("A(3)", "A(2, 3), 1", "A(2, 3), None, keepdims=True")
def multiply_reduce(array, axis=0, *, keepdims=False):
    return np.prod(array, axis, keepdims=keepdims)


@composed(np.maximum.reduce, np.fmax.reduce)
@samples("A(3)", "A(2, 3), 1", "A(2, 3), None, keepdims=True")
def maximum_reduce(array, axis=0, *, keepdims=False):
    return np.max(array, axis, keepdims=keepdims)


@composed(np.minimum.reduce, np.fmin.reduce)
@samples("A(3)", "A(2, 3), 1", "A(2, 3), None, keepdims=True")
def minimum_reduce(array, axis=0, *, keepdims=False):
    return np.min(array, axis, keepdims=keepdims)


@composed(np.hypot.reduce)
@samples("A(3)", "A(2, 3), 1")
def hypot_reduce(array, axis=0, *, keepdims=False):
    return np.linalg.vector_norm(array, axis=axis, keepdims=keepdims)


@rule(np.logaddexp.reduce)
@samples("A(3)", "A(2, 3), 1", "A(2, 3), 0, keepdims=True")
def logaddexp_reduce(array, axis=0, *, keepdims=False):
    z = np.logaddexp.reduce(array, axis, keepdims=keepdims)
    yield z
    d[array] += keep_axes(d[z], axis, keepdims) * np.exp(array - keep_axes(z, axis, keepdims))


@composed(np.subtract.reduce)
@samples("A(3)", "A(2, 3), 1")
def subtract_reduce(array, axis=0):
    return 2.0 * np.take(array, 0, axis) - np.sum(array, axis)


@composed(np.add.accumulate)
@samples("A(3)", "A(2, 3), 1")
def add_accumulate(array, axis=0):
    return np.cumsum(array, axis)


@composed(np.multiply.accumulate)
@samples("A(3)", "A(2, 3), 1")
def multiply_accumulate(array, axis=0):
    return np.cumprod(array, axis)


@composed(np.maximum.accumulate)
@samples("A(5)", "A(2, 5), 1")
def maximum_accumulate(array, axis=0):
    hit = array == np.maximum.accumulate(array, axis)
    return np.take_along_axis(array, latest(hit, axis), axis)


@composed(np.minimum.accumulate)
@samples("A(5)", "A(2, 5), 1")
def minimum_accumulate(array, axis=0):
    hit = array == np.minimum.accumulate(array, axis)
    return np.take_along_axis(array, latest(hit, axis), axis)


@linear(np.add.reduceat)
@samples("A(5), [0, 2, 3]", "A(2, 5), [1, 3], 1", "A(5), np.array([0, 3, 1, 1])")
def add_reduceat(array, indices, axis=0):
    z = np.add.reduceat(array, indices, axis)
    yield z
    d[array] += unreduced(d[z], indices, array, axis)


unsupported(
    "Call the reduction of each slice in a loop.",
    np.multiply.reduceat, np.subtract.reduceat, np.maximum.reduceat, np.minimum.reduceat,
    np.logaddexp.reduceat,
)  # fmt: skip
unsupported(
    "Write the steps in a loop.",
    np.subtract.accumulate, np.divide.accumulate, np.logaddexp.accumulate, np.power.accumulate,
    np.divide.reduce, np.power.reduce,
)  # fmt: skip
