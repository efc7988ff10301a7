"""Rules of averages, integrals, interpolation, convolution, outer sums and reductions."""

import numpy as np

from srcdiff.rules import d, linear, rank, refuse, rule, samples
from srcdiff.runtime import axis_size, keep_axes, scatter, spread, unbroadcast


@rule(np.average)
@samples("A(4)", "A(3, 4), 0", "A(4), None, P(4)", "A(3, 4), 1, P(3, 4)", "A(3, 4), None, P(3, 4)")
def average(a, axis=None, weights=None, *, keepdims=False):
    z = np.average(a, axis=axis, weights=weights, keepdims=keepdims)
    yield z
    if weights is None:
        d[a] += spread(d[z] / axis_size(a, axis), a, axis, keepdims)
    elif rank(a) is None or rank(weights) != rank(a):
        refuse("the weights must be known to have the shape of the array")
    else:
        scale = keep_axes(d[z], axis, keepdims) / np.sum(weights, axis=axis, keepdims=True)
        d[a] += scale * weights
        d[weights] += scale * (a - keep_axes(z, axis, keepdims))


@rule(np.trapezoid)
@samples("A(5)", "A(5), dx=0.5", "A(2, 5), A(5)", "A(5), A(5)", "A(2, 5), dx=A()")
def trapezoid(y, x=None, dx=1.0, axis=-1):
    z = np.trapezoid(y, x, dx, axis)
    yield z
    if axis != -1:
        refuse("the axis must be the last one")
    step = dx if x is None else np.diff(x)
    part = np.expand_dims(d[z], -1) * step * np.ones_like(y)[..., 1:]
    d[y][..., 1:] += 0.5 * part
    d[y][..., :-1] += 0.5 * part
    rise = np.expand_dims(d[z], -1) * 0.5 * (y[..., 1:] + y[..., :-1])
    if x is None:
        d[dx] += np.sum(rise)
    else:
        d[x][..., 1:] += unbroadcast(rise, np.diff(x))
        d[x][..., :-1] += unbroadcast(-rise, np.diff(x))


@rule(np.interp)
@samples("np.array([0.2, 1.7, 2.5]), np.arange(4.0), A(4)", "V([0.2, 1.7]), np.arange(4.0), A(4)")
def interp(x, xp, fp):
    z = np.interp(x, xp, fp)
    yield z
    k = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, len(xp) - 2)
    t = (x - xp[k]) / (xp[k + 1] - xp[k])
    inside = (t >= 0.0) & (t <= 1.0)
    d[x] += d[z] * inside * (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k])
    t = np.clip(t, 0.0, 1.0)
    d[fp] += scatter(d[z] * (1.0 - t), k, fp) + scatter(d[z] * t, k + 1, fp)


@rule(np.convolve)
@samples("A(5), A(3)", "A(3), A(5)")
def convolve(a, v, mode="full"):
    z = np.convolve(a, v, mode)
    yield z
    if mode != "full":
        refuse("the mode must be 'full'")
    d[a] += np.correlate(d[z], v, "valid")
    d[v] += np.correlate(d[z], a, "valid")


@rule(np.correlate)
@samples("A(7), A(3), 'valid'", "A(5), A(5), 'valid'")
def correlate(a, v, mode="valid"):
    z = np.correlate(a, v, mode)
    yield z
    if mode != "valid":
        refuse("the mode must be 'valid'")
    d[a] += np.convolve(d[z], v)
    d[v] += np.correlate(a, d[z], "valid")


@linear(np.add.outer)
@samples("A(3), A(4)", "A(2, 3), A(2)", "A(), A(3)")
def add_outer(a, b):
    z = np.add.outer(a, b)
    yield z
    d[a] += np.sum(np.reshape(d[z], np.shape(a) + (-1,)), axis=-1)
    d[b] += np.sum(np.reshape(d[z], (-1,) + np.shape(b)), axis=0)


@linear(np.subtract.outer)
@samples("A(3), A(4)", "A(2, 3), A(2)", "A(), A(3)")
def subtract_outer(a, b):
    z = np.subtract.outer(a, b)
    yield z
    d[a] += np.sum(np.reshape(d[z], np.shape(a) + (-1,)), axis=-1)
    d[b] += -np.sum(np.reshape(d[z], (-1,) + np.shape(b)), axis=0)


@linear(np.add.reduce)
@samples("A(3, 4)", "A(3, 4), 1", "A(3, 4), None", "A(3, 4), 0, keepdims=True")
def add_reduce(array, axis=0, *, keepdims=False):
    z = np.add.reduce(array, axis, keepdims=keepdims)
    yield z
    d[array] += spread(d[z], array, axis, keepdims)


@rule(np.median)
@samples("A(5)", "A(4)", "A(3, 5)")
def median(a, axis=None):
    z = np.median(a, axis)
    yield z
    if axis is not None:
        refuse("only the median of all elements has a rule")
    order = np.argsort(a, None, kind="stable")
    middle = order[(len(order) - 1) // 2 : len(order) // 2 + 1]
    d[a] += scatter(d[z] / len(middle), middle, a)
