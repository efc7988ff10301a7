"""Rules of averages, integrals, interpolation, convolution, outer sums and reductions."""

import operator

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import axis_size, scatter, spread, unbroadcast


@linear(np.average)
@samples("A(4)", "A(3, 4), 0", "A(3, 4), 1, keepdims=True")
def average(a, axis=None, weights=None, *, keepdims=False):
    if weights is not None:
        refuse("these weights")
    d[a] += spread(d[z] / axis_size(a, axis), a, axis, keepdims)


@rule(np.trapezoid)
@samples(
    "A(5)", "A(5), dx=0.5", "A(2, 5), A(5)", "A(5), A(5)", "A(2, 5), dx=A()",
    "C(4), C(4)", "C(4), dx=A()", "A(4), C(4)", "C(4), A(4)", "A(3, 4), dx=A(3)", "A(4), dx=A(3)",
    "A(4), A(3, 4)", "A(4), dx=A(2, 1)", "A(4), dx=A(2, 3)", "A(2, 1, 4), dx=A(3, 1)",
)  # fmt: skip
def trapezoid(y, x=None, dx=1.0, axis=-1):
    if axis != -1:
        refuse("the axis must be the last one")
    step = dx if x is None else np.diff(x)
    part = np.expand_dims(d[z], -1) * conj(step) * np.ones_like(y)[..., 1:]
    part = unbroadcast(part, y[..., 1:])
    if iscomplex(part) and not iscomplex(y):
        part = np.real(part)
    d[y][..., 1:] += 0.5 * part
    d[y][..., :-1] += 0.5 * part
    rise = np.expand_dims(d[z], -1) * 0.5 * conj(y[..., 1:] + y[..., :-1])
    if x is None:
        d[dx] += unbroadcast(rise, dx)
    else:
        if iscomplex(rise) and not iscomplex(x):
            rise = np.real(rise)
        d[x][..., 1:] += unbroadcast(rise, np.diff(x))
        d[x][..., :-1] += unbroadcast(-rise, np.diff(x))


@composed(np.trapezoid, given="axis")
@samples(
    "A(5, 2), axis=0", "A(5, 2), A(5), 1.0, 0", "A(5, 2), A(5, 2), axis=0",
    "A(3, 2), dx=A(2), axis=0", "A(3, 2), dx=A(2, 1), axis=0", "A(2, 3, 2), A(3), axis=1",
    "A(2, 3, 2), A(3, 2), axis=-2",
)  # fmt: skip
def trapezoid_axis(y, x=None, dx=1.0, axis=-1):
    if x is None:
        step = dx
    elif np.ndim(x) == 1:
        after = -1 - axis if axis < 0 else np.ndim(y) - 1 - axis
        step = np.reshape(np.diff(x), (-1,) + (1,) * after)
    else:
        step = np.diff(x, axis=axis)
    y = np.moveaxis(y, axis, 0)
    return np.sum(0.5 * step * np.moveaxis(y[1:] + y[:-1], 0, axis), axis=axis)


@rule(np.interp)
@samples(
    "np.array([0.2, 1.7, 2.5]), np.arange(4.0), A(4)", "V([0.2, 1.7]), np.arange(4.0), A(4)",
    "V([-1.2, 1.7, 5.2]), np.arange(4.0) + 0.1 * U(4), A(4)",
    "0.3 * U() + 1.5, np.arange(4.0), A(4)", "V([0.2, 1.7]), np.arange(4.0), C(4)",
    "A(3), A(1), A(1)", "A(), A(1), C(1)",
)  # fmt: skip
def interp(x, xp, fp):
    k = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, max(len(xp) - 2, 0))
    to = np.minimum(k + 1, len(xp) - 1)
    gap = xp[to] - xp[k] + (to == k)  # of one point, where the function is constant
    t = (x - xp[k]) / gap
    rise = conj(fp[to] - fp[k]) / gap
    slope = d[z] * ((t >= 0.0) & (t <= 1.0)) * rise
    d[x] += slope
    d[xp] += scatter(slope * (t - 1.0), k, xp) - scatter(slope * t, to, xp)
    t = np.clip(t, 0.0, 1.0)
    d[fp] += scatter(d[z] * (1.0 - t), k, fp) + scatter(d[z] * t, to, fp)


@composed(np.interp, given="left")
@samples("V([-1.2, 1.7]), np.arange(4.0), A(4), A(), 0.0", "A(), np.arange(4.0), A(4), A()")
def interp_left(x, xp, fp, left=None, right=None, period=None):
    return np.where(x < xp[0], left, np.interp(x, xp, fp, right=right, period=period))[()]


@composed(np.interp, given="right")
@samples(
    "V([-1.2, 1.7, 4.3]), np.arange(4.0), A(4), right=A()", "A(), np.arange(4.0), A(4), right=A()",
)  # fmt: skip
def interp_right(x, xp, fp, left=None, right=None, period=None):
    return np.where(x > xp[-1], right, np.interp(x, xp, fp, left=left, period=period))[()]


@rule(np.convolve)
@samples("A(5), A(3)", "A(3), A(5)")
def convolve(a, v, mode="full"):
    if mode != "full":
        refuse("this mode")
    d[a] += np.correlate(d[z], v, "valid")
    d[v] += np.correlate(d[z], a, "valid")


@composed(np.convolve, given="mode")
@samples("A(5), A(3), 'same'", "A(3), A(6), 'same'", "A(5), A(2), 'valid'", "A(2), A(5), 'valid'")
def convolve_mode(a, v, mode="full"):
    full = np.convolve(a, v)
    n, m = max(len(a), len(v)), min(len(a), len(v))
    if mode == "valid":
        return full[m - 1 : n]
    if mode == "full":
        return full
    if mode != "same":
        refuse("the mode must be 'full', 'same' or 'valid'")
    return full[(m - 1) // 2 : (m - 1) // 2 + n]


@composed(np.correlate)
@samples(
    "A(7), A(3)", "A(5), A(5), 'valid'", "A(3), A(7)", "A(5), A(2), 'same'", "A(4), A(7), 'same'",
    "A(5), A(3), 'full'", "C(5), C(2)", "C(4), C(7), 'same'",
)  # fmt: skip
def correlate(a, v, mode="valid"):
    if mode == "same" and len(a) < len(v):
        return conj(np.convolve(v, conj(a[::-1]), mode))[::-1]
    return np.convolve(a, conj(v[::-1]), mode)


def outer(of, signed):
    """The rule of outer sums or differences."""

    @linear(of)
    @samples("A(3), A(4)", "A(2, 3), A(2)", "A(), A(3)")
    def sums(a, b):
        d[a] += np.sum(np.reshape(d[z], np.shape(a) + (np.size(b),)), axis=-1)
        d[b] += signed(np.sum(np.reshape(d[z], (np.size(a),) + np.shape(b)), axis=0))


outer(np.add.outer, operator.pos)
outer(np.subtract.outer, operator.neg)
