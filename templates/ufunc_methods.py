"""Methods of ufuncs: `reduce`, `accumulate` and `reduceat`."""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import keep_axes, recur_back, winners
from srcdiff.runtime.indexing import leads, segments
from srcdiff.runtime.linalg import latest, unreduced


@rule(np.fmax.reduce, np.fmin.reduce)
@samples("A(3)", "A(2, 3), 1", "A(2, 3), None, keepdims=True", "V([1.0, np.nan, 2.0])")
def extreme_reduce(array, axis=0, *, keepdims=False):
    hit = winners(array, keep_axes(z, axis, keepdims), axis)
    d[array] += keep_axes(d[z], axis, keepdims) * hit


@composed(np.hypot.reduce)
@samples("A(3)", "A(2, 3), 1", "A(2, 3), (0, 1), keepdims=True")
def hypot_reduce(array, axis=0, *, keepdims=False):
    return np.linalg.vector_norm(array, axis=axis, keepdims=keepdims)


@rule(np.logaddexp.reduce)
@samples("A(3)", "A(2, 3), 1", "A(2, 3), 0, keepdims=True", "A(2, 3), (0, 1)")
def logaddexp_reduce(array, axis=0, *, keepdims=False):
    d[array] += keep_axes(d[z], axis, keepdims) * np.exp(array - keep_axes(z, axis, keepdims))


@composed(np.subtract.reduce)
@samples("A(3)", "A(2, 3), 1", "A(2, 3), -1, keepdims=True", "C(3)", "V([2.0])")
def subtract_reduce(array, axis=0, *, keepdims=False):
    moved = _along(array, axis)
    z = moved[0] - np.sum(moved[1:], axis=0)
    return np.expand_dims(z, axis) if keepdims else z


@rule(np.divide.reduce)
@samples(
    "P(3)", "P(2, 3), 1", "P(2, 3), -1, keepdims=True", "C(3)", "V([0.0, 2.0, 3.0])", "V([2.0])"
)
def divide_reduce(array, axis=0, *, keepdims=False):
    first = leads(array, axis)
    rest = np.where(first, 1.0, array)
    part = np.divide.reduce(rest, axis, keepdims=True)
    slope = np.where(first, part, -keep_axes(z, axis, keepdims) / rest)
    d[array] += keep_axes(d[z], axis, keepdims) * conj(slope)


def _along(array, axis):
    if axis is None:
        refuse("`axis=None`: name the axis")
    return np.moveaxis(array, axis, 0)


made_of(
    np.subtract.accumulate,
    value=lambda array, axis=0: np.cumsum(np.where(leads(array, axis), array, -array), axis),
    samples=("A(3)", "A(2, 3), 1", "A(2, 3), -1", "C(3)"),
)


@rule(np.divide.accumulate)
@samples("P(3)", "P(2, 3), 1", "P(2, 3), -1", "C(3)", "V([0.0, 2.0, 3.0])")
def divide_accumulate(array, axis=0):
    first = leads(array, axis)
    rest = np.where(first, 1.0, array)
    ahead = np.sum(d[z] * conj(np.divide.accumulate(rest, axis)), axis=axis, keepdims=True)
    behind = np.flip(np.cumsum(np.flip(d[z] * conj(z), axis), axis), axis)
    d[array] += np.where(first, ahead, -behind / conj(rest))


@rule(np.logaddexp.accumulate)
@samples("A(4)", "A(2, 3), 1", "A(2, 3), -1", "V([-9.0, 0.5, 0.5])")
def logaddexp_accumulate(array, axis=0):
    last = np.where(leads(array, axis), z, np.roll(z, 1, axis))
    # Beside an equal number the other one counts for nothing; both may be -inf.
    decay = np.exp(np.where(last == z, 0.0, last - z))
    share = np.exp(np.where(array == z, 0.0, array - z))
    d[array] += recur_back(d[z], decay, axis) * share


@composed(np.power.accumulate)
@samples("P(3)", "P(2, 3), 1", "P(2, 3), -1")
def power_accumulate(array, axis=0):
    z = np.array(np.moveaxis(array, axis, 0))
    for k in range(1, len(z)):
        z[k] = z[k - 1] ** z[k]
    return np.moveaxis(z, 0, axis)


def extremes_so_far(of):
    """The definition of the `accumulate` of `np.maximum` or `np.minimum`."""

    @composed(of)
    @samples("A(5)", "A(2, 5), 1")
    def accumulate(array, axis=0):
        hit = (array == of(array, axis)) | np.isnan(array)
        return np.take_along_axis(array, latest(hit, axis), axis)


extremes_so_far(np.maximum.accumulate)
extremes_so_far(np.minimum.accumulate)


@linear(np.add.reduceat)
@samples("A(5), [0, 2, 3]", "A(2, 5), [1, 3], 1", "A(5), np.array([0, 3, 1, 1])")
def add_reduceat(array, indices, axis=0):
    d[array] += unreduced(d[z], indices, array, axis)


def of_segments(ufunc, *calls):
    """The definition of the `reduceat` of a ufunc by its `at`."""

    @composed(ufunc.reduceat)
    @samples(
        "A(5), [0, 2, 3]", "A(2, 5), [1, 3], -1", "A(5), np.array([0, 3, 1, 1])", *calls
    )
    def reduceat(array, indices, axis=0):
        moved = np.moveaxis(array, axis, 0)
        items, segment = segments(indices, len(moved))
        z = moved[np.asarray(indices)]
        ufunc.at(z, segment, moved[items])
        return np.moveaxis(z, 0, axis)


of_segments(np.subtract)
of_segments(np.multiply, "C(4), [0, 1]")
of_segments(np.maximum)
of_segments(np.minimum)
of_segments(np.logaddexp)
nondifferentiable(leads, segments)
unsupported(
    "Write the steps in a loop.",
    np.divide.reduceat, np.power.reduceat, np.hypot.reduceat, np.fmax.reduceat, np.fmin.reduceat,
    np.hypot.accumulate, np.fmax.accumulate, np.fmin.accumulate,
)  # fmt: skip
unsupported(
    "Write `np.power.accumulate(x)[-1]`: NumPy itself leaves out what stands between the first and "
    "the last number, for some arrays.",
    np.power.reduce,
)
