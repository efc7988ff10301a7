"""Rules of reductions (sum, mean, max, ...) and of running sums and products."""

import operator

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import (
    axis_size,
    before,
    divide_or_zero,
    keep_axes,
    others,
    recur,
    recur_back,
    spread,
    unbroadcast,
    undiff,
    winners,
)


@linear(np.sum, np.ndarray.sum)
@samples(
    "A(3, 4)", "A(3, 4), 0", "A(3, 4), -1, keepdims=True", "A(2, 3, 4), axis=(0, 2)", "A()",
    "C(3, 4), 0",
)  # fmt: skip
def sum_(a, axis=None, *, keepdims=False):
    d[a] += spread(d[z], a, axis, keepdims)


@linear(sum)
@samples("A(3)", "A(3, 2)", "[A(), A(), A()]", "(A(3), A(3)), A(3)")
def builtin_sum(iterable, start=0):
    if isarray(iterable):
        d[iterable] += np.broadcast_to(d[z], np.shape(iterable))
    else:
        for k in range(len(iterable)):
            d[iterable][k] += unbroadcast(d[z], iterable[k])
    d[start] += unbroadcast(d[z], start)


@linear(np.mean, np.ndarray.mean)
@samples(
    "A(3, 4)", "A(3, 4), 0", "A(3, 4), -1, keepdims=True", "A(2, 3, 4), axis=(0, 2)", "A()",
    "C(3, 4), 0",
)  # fmt: skip
def mean(a, axis=None, *, keepdims=False):
    d[a] += spread(d[z] / axis_size(a, axis), a, axis, keepdims)


# What is divided by 0 is an array, of which the quotient is nan.
@rule(np.var, np.ndarray.var)
@samples(
    "A(5)", "A(3, 4), 0, ddof=1", "A(3, 4), 1, keepdims=True", "A(2, 3, 4), axis=(0, 2)", "C(4)",
    "A(4), ddof=2",
)  # fmt: skip
def var(a, axis=None, *, ddof=0, keepdims=False):
    center = np.mean(a) if axis is None else np.mean(a, axis=axis, keepdims=True)
    if known(ddof) and ddof == 0:
        d[a] += 2.0 * keep_axes(d[z], axis, keepdims) / axis_size(a, axis) * (a - center)
    else:
        n = axis_size(a, axis) - ddof
        if not known(ddof) or ddof > 1:
            n = max(n, 0)
        d[a] += 2.0 * keep_axes(d[z], axis, keepdims) * (a - center) / n


@rule(np.std, np.ndarray.std)
@samples(
    "A(5)", "A(3, 4), 0, ddof=1", "A(3, 4), 1, keepdims=True", "A(2, 3, 4), axis=(0, 2)", "C(4)",
    "A(4), ddof=2",
)  # fmt: skip
def std(a, axis=None, *, ddof=0, keepdims=False):
    n = axis_size(a, axis) - ddof
    if not known(ddof) or ddof > 1:
        n = max(n, 0)
    slope = divide_or_zero(d[z], z) / n
    center = np.mean(a) if axis is None else np.mean(a, axis=axis, keepdims=True)
    d[a] += keep_axes(slope, axis, keepdims) * (a - center)


def spread_tangent(*functions, is_root):
    """The tangent of `np.var`, or of `np.std`, which is its root."""

    @forward(*functions)
    def tangent(a, axis, ddof, keepdims):
        center = np.mean(a) if axis is None else np.mean(a, axis=axis, keepdims=True)
        part = d[a] * conj(a - center)
        if iscomplex(a):
            part = np.real(part)
        total = np.sum(part, axis=axis, keepdims=keepdims)
        n = axis_size(a, axis) - ddof
        if not known(ddof) or ddof > 1:
            n = max(n, 0)
        d[z] += divide_or_zero(total, z * n) if is_root else 2.0 * total / n


spread_tangent(np.var, np.ndarray.var, is_root=False)
spread_tangent(np.std, np.ndarray.std, is_root=True)


@rule(np.prod, np.ndarray.prod)
@samples(
    "A(4)", "A(3, 4), 0", "A(3, 4), -1, keepdims=True", "A(2, 3, 4), axis=(0, 2)",
    "V([0.0, 2.0, 3.0])", "V([0.0, 2.0, 0.0])",
    "C(3)",
)  # fmt: skip
def prod(a, axis=None, *, keepdims=False):
    d[a] += keep_axes(d[z], axis, keepdims) * conj(others(a, axis))


@forward(np.prod, np.ndarray.prod)
def prod_tangent(a, axis, keepdims):
    d[z] += np.sum(d[a] * others(a, axis), axis=axis, keepdims=keepdims)


def extremes(of, *others):
    """The rule and the tangent of `np.max` or `np.min`."""

    @rule(of, *others)
    @samples("A(5)", "A(3, 4), 0", "A(3, 4), -1, keepdims=True", "A(2, 3, 4), axis=(0, 2)")
    def extreme(a, axis=None, *, keepdims=False):
        hit = winners(a, keep_axes(z, axis, keepdims), axis)
        d[a] += keep_axes(d[z], axis, keepdims) * hit


extremes(np.max, np.amax, np.nanmax, np.ndarray.max)
extremes(np.min, np.amin, np.nanmin, np.ndarray.min)


def builtin_extremes(of, wins):
    """The rule and the tangent of `max` or `min`, by the comparison that its result wins."""

    @rule(of)
    @samples("A(), A()", "A(), A(), 0.0", "[A(), A(), A()]", "A(4)")
    def builtin_extreme(first, *more):
        if len(more) == 1:
            d[first] += d[z] * wins(first, more[0]) + 0.5 * d[z] * (first == more[0])
            d[more][0] += d[z] * wins(more[0], first) + 0.5 * d[z] * (first == more[0])
        else:
            items = (first, *more) if len(more) > 0 else first
            count = 0
            for k in range(len(items)):
                count = count + 1.0 * (items[k] == z)
            for k in range(len(items)):
                if len(more) == 0:
                    d[first][k] += d[z] * (first[k] == z) / count
                elif k > 0:
                    d[more][k - 1] += d[z] * (more[k - 1] == z) / count
                else:
                    d[first] += d[z] * (first == z) / count

    @forward(of)
    def builtin_extreme_tangent(first, *more):
        if len(more) == 0:
            hit = np.asarray(first) == z
            d[z] += np.sum(np.asarray(d[first]) * hit) / int(np.sum(hit))
        elif len(more) == 1:
            d[z] += d[first] * wins(first, more[0]) + 0.5 * d[first] * (first == more[0])
            d[z] += d[more][0] * wins(more[0], first) + 0.5 * d[more][0] * (first == more[0])
        else:
            count = 1.0 * (first == z)
            for k in range(len(more)):
                count = count + 1.0 * (more[k] == z)
            d[z] += d[first] * (first == z) / count
            for k in range(len(more)):
                d[z] += d[more][k] * (more[k] == z) / count


builtin_extremes(max, operator.gt)
builtin_extremes(min, operator.lt)


@rule(np.ptp)
@samples("A(5)", "A(3, 4), 0", "A(3, 4), -1, keepdims=True")
def ptp(a, axis=None, *, keepdims=False):
    top = winners(a, np.max(a, axis=axis, keepdims=True), axis)
    bottom = winners(a, np.min(a, axis=axis, keepdims=True), axis)
    d[a] += keep_axes(d[z], axis, keepdims) * (top - bottom)


@rule(np.nansum)
@samples("A(5)", "A(3, 4), 0", "V([1.0, np.nan, 2.0])")
def nansum(a, axis=None, *, keepdims=False):
    d[a] += keep_axes(d[z], axis, keepdims) * ~np.isnan(a)


@forward(np.nansum)
def nansum_tangent(a, axis, keepdims):
    d[z] += np.sum(np.where(np.isnan(a), 0.0, d[a]), axis=axis, keepdims=keepdims)


@rule(np.nanmean)
@samples("A(5)", "A(3, 4), 0", "V([1.0, np.nan, 2.0])")
def nanmean(a, axis=None, *, keepdims=False):
    count = np.sum(~np.isnan(a), axis=axis, keepdims=True, dtype=np.result_type(a))
    d[a] += keep_axes(d[z], axis, keepdims) * (~np.isnan(a) / count)


@linear(np.cumsum, np.ndarray.cumsum)
@samples("A(5)", "A(3, 4)", "A(3, 4), 0", "A(3, 4), axis=-1", "C(4)")
def cumsum(a, axis=None):
    if axis is None and rank(a) != 1:
        d[a] += np.reshape(np.flip(np.cumsum(np.flip(d[z]))), np.shape(a))
    else:
        d[a] += np.flip(np.cumsum(np.flip(d[z], axis), axis), axis)


@rule(np.cumprod, np.ndarray.cumprod)
@samples("A(5)", "A(3, 4)", "A(3, 4), 0", "V([2.0, 0.0, 3.0, 0.0, 1.0])", "C(4)")
def cumprod(a, axis=None):
    if axis is None:
        flat = np.ravel(a)
        d[a] += np.reshape(conj(before(flat, 0)) * recur_back(d[z], conj(flat), 0), np.shape(a))
    else:
        d[a] += conj(before(a, axis)) * recur_back(d[z], conj(a), axis)


@forward(np.cumprod, np.ndarray.cumprod)
def cumprod_tangent(a, axis):
    if axis is None:
        flat = np.ravel(a)
        d[z] += recur(np.ravel(d[a]) * before(flat, 0), flat, 0)
    else:
        d[z] += recur(d[a] * before(a, axis), a, axis)


@linear(np.diff)
@samples("A(5)", "A(3, 4), 2", "A(3, 4), 1, 0")
def diff(a, n=1, axis=-1):
    d[a] += undiff(d[z], a, n, axis)


nondifferentiable(np.any, np.all, np.count_nonzero, np.ndarray.any, np.ndarray.all, any, all)
