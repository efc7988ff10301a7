"""Rules of reductions (sum, mean, max, ...) and of running sums and products."""

import operator

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime import arrays

AXES = ("A(3, 4), 0", "A(3, 4), -1, keepdims=True", "A(2, 3, 4), axis=(0, 2)")


@linear(np.sum, np.ndarray.sum)
@samples(*AXES, "A(3, 4)", "A()", "C(3, 4), 0")
def sum_(a, axis=None, *, keepdims=False):
    d[a] += arrays.spread(d[z], a, axis, keepdims)


@linear(sum)
@samples("A(3)", "A(3, 2)", "[A(), A(), A()]", "(A(3), A(3)), A(3)")
def builtin_sum(iterable, start=0):
    if isarray(iterable):
        d[iterable] += np.broadcast_to(d[z], np.shape(iterable))
    else:
        for k in range(len(iterable)):
            d[iterable][k] += arrays.unbroadcast(d[z], iterable[k])
    d[start] += arrays.unbroadcast(d[z], start)


@linear(np.mean, np.ndarray.mean)
@samples(*AXES, "A(3, 4)", "A()", "C(3, 4), 0")
def mean(a, axis=None, *, keepdims=False):
    d[a] += arrays.spread(d[z] / arrays.axis_size(a, axis), a, axis, keepdims)


def spreads(*functions, is_root):
    """The rule and the tangent of `np.var`, or of `np.std`, which is its root."""

    # What is divided by 0 is an array, of which the quotient is nan.
    @rule(*functions)
    @samples(*AXES, "A(5)", "A(3, 4), 0, ddof=1", "C(4)", "A(4), ddof=2")
    def spread(a, axis=None, *, ddof=0, keepdims=False):
        n = arrays.axis_size(a, axis) - ddof
        if not known(ddof) or ddof > 1:
            n = max(n, 0)
        slope = arrays.divide_or_zero(d[z], z) / n
        center = np.mean(a) if axis is None else np.mean(a, axis=axis, keepdims=True)
        if is_root:
            d[a] += arrays.keep_axes(slope, axis, keepdims) * (a - center)
        elif known(ddof) and ddof == 0:
            d[a] += 2.0 * arrays.keep_axes(d[z], axis, keepdims) / n * (a - center)
        else:
            d[a] += 2.0 * arrays.keep_axes(d[z], axis, keepdims) * (a - center) / n

    @forward(*functions)
    def spread_tangent(a, axis, ddof, keepdims):
        center = np.mean(a) if axis is None else np.mean(a, axis=axis, keepdims=True)
        part = d[a] * conj(a - center)
        if iscomplex(a):
            part = np.real(part)
        total = np.sum(part, axis=axis, keepdims=keepdims)
        n = arrays.axis_size(a, axis) - ddof
        if not known(ddof) or ddof > 1:
            n = max(n, 0)
        d[z] += arrays.divide_or_zero(total, z * n) if is_root else 2.0 * total / n


spreads(np.var, np.ndarray.var, is_root=False)
spreads(np.std, np.ndarray.std, is_root=True)


@rule(np.prod, np.ndarray.prod)
@samples(*AXES, "A(4)", "V([0.0, 2.0, 3.0])", "V([0.0, 2.0, 0.0])", "C(3)")
def prod(a, axis=None, *, keepdims=False):
    d[a] += arrays.keep_axes(d[z], axis, keepdims) * conj(arrays.others(a, axis))


@forward(np.prod, np.ndarray.prod)
def prod_tangent(a, axis, keepdims):
    d[z] += np.sum(d[a] * arrays.others(a, axis), axis=axis, keepdims=keepdims)


@rule(np.max, np.amax, np.nanmax, np.ndarray.max, np.min, np.amin, np.nanmin, np.ndarray.min)
@samples(*AXES, "A(5)")
def extreme(a, axis=None, *, keepdims=False):
    hit = arrays.winners(a, arrays.keep_axes(z, axis, keepdims), axis)
    d[a] += arrays.keep_axes(d[z], axis, keepdims) * hit


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
    top = arrays.winners(a, np.max(a, axis=axis, keepdims=True), axis)
    bottom = arrays.winners(a, np.min(a, axis=axis, keepdims=True), axis)
    d[a] += arrays.keep_axes(d[z], axis, keepdims) * (top - bottom)


@rule(np.nansum)
@samples("A(5)", "A(3, 4), 0", "V([1.0, np.nan, 2.0])")
def nansum(a, axis=None, *, keepdims=False):
    d[a] += arrays.keep_axes(d[z], axis, keepdims) * ~np.isnan(a)


@forward(np.nansum)
def nansum_tangent(a, axis, keepdims):
    d[z] += np.sum(np.where(np.isnan(a), 0.0, d[a]), axis=axis, keepdims=keepdims)


@rule(np.nanmean)
@samples("A(5)", "A(3, 4), 0", "V([1.0, np.nan, 2.0])")
def nanmean(a, axis=None, *, keepdims=False):
    count = np.sum(~np.isnan(a), axis=axis, keepdims=True, dtype=np.result_type(a))
    d[a] += arrays.keep_axes(d[z], axis, keepdims) * (~np.isnan(a) / count)


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
        slope = conj(arrays.before(flat, 0)) * arrays.recur_back(d[z], conj(flat), 0)
        d[a] += np.reshape(slope, np.shape(a))
    else:
        d[a] += conj(arrays.before(a, axis)) * arrays.recur_back(d[z], conj(a), axis)


@forward(np.cumprod, np.ndarray.cumprod)
def cumprod_tangent(a, axis):
    if axis is None:
        flat = np.ravel(a)
        d[z] += arrays.recur(np.ravel(d[a]) * arrays.before(flat, 0), flat, 0)
    else:
        d[z] += arrays.recur(d[a] * arrays.before(a, axis), a, axis)


@linear(np.diff)
@samples("A(5)", "A(3, 4), 2", "A(3, 4), 1, 0")
def diff(a, n=1, axis=-1):
    d[a] += arrays.undiff(d[z], a, n, axis)


nondifferentiable(np.any, np.all, np.count_nonzero, np.ndarray.any, np.ndarray.all, any, all)
