"""Rules of filters of `scipy.signal`."""

import numpy as np
from scipy import ndimage, signal

from srcdiff.rules import *
from srcdiff.runtime.scipy.filters import analytic, edge_weights, lagged

nondifferentiable(analytic, edge_weights)


# The adjoint of a filter is the filter backwards in time.
@rule(signal.lfilter)
@samples(
    "np.array([0.5, 0.2]), np.array([1.0, -0.4]), A(5)", "[0.5, 0.2], 1.0, A(3, 4), 0",
    "A(3), np.array([1.0, -0.4]), A(5)", "A(3), V([2.0, -0.4, 0.3]), A(2, 5)",
    "V([0.5, 0.2, 0.1, 0.3]), V([1.0, -0.4]), A(2, 3), -1", "C(2), np.array([1.0, 0.4j]), C(4)",
    "A(2), V([1.0, -0.4]), C(3)", "A(), P(), A(3)",
)  # fmt: skip
def lfilter(b, a, x, axis=-1, zi=None):
    d[x] += np.flip(signal.lfilter(conj(b), conj(a), np.flip(d[z], axis), axis), axis)
    one = np.ones_like(np.atleast_1d(a)[:1])  # in the precision of the filter
    d[b] += lagged(d[z], conj(signal.lfilter(one, a, x, axis)), b, axis)
    d[a] -= lagged(d[z], conj(signal.lfilter(one, a, z, axis)), a, axis)


@composed(signal.lfilter, given="zi")
@samples(
    "A(3), V([2.0, -0.4, 0.3]), A(6), zi=A(2)", "A(2), V([1.0, -0.4, 0.2, 0.1]), A(2), -1, A(3)",
    "V([0.5, 0.2, 0.1]), 1.0, A(4, 2), 0, A(2, 1)", "C(2), V([2.0, -0.4]), C(3), zi=C(1)",
    "[0.5], [1.0, -0.3], A(2, 4), zi=A(2, 1)", "A(1), P(1), A(3), zi=np.zeros(0)",
)  # fmt: skip
def lfilter_zi(b, a, x, axis=-1, zi=None):
    if np.size(x) == 0:  # where SciPy has left in `zf` whatever was in memory
        return signal.lfilter(b, a, x, axis), zi + np.sum(x, axis, keepdims=True)
    rows, start = np.moveaxis(x, axis, -1), np.moveaxis(zi, axis, -1)
    n, k, divisors = np.shape(rows)[-1], np.shape(start)[-1], np.atleast_1d(a)
    if np.ndim(zi) != np.ndim(x) or k != max(np.size(a), np.size(b)) - 1:
        raise ValueError("`zi` has another shape than the states of the filter")
    # What the states hold adds to what the numerator makes; what is left over is the new state.
    made = signal.lfilter(b, divisors[:1], _lengthened(rows, k))
    w = made + np.broadcast_to(_lengthened(start, n), np.shape(made))
    y = signal.lfilter(divisors[:1], a, w[..., :n])
    zf = w[..., n:] - signal.lfilter(a, divisors[:1], _lengthened(y, k))[..., n:]
    return np.moveaxis(y, -1, axis), np.moveaxis(zf, -1, axis)


def _lengthened(x, n):
    """`x` with `n` zeros behind its last axis."""
    return np.concatenate((x, np.zeros(np.shape(x)[:-1] + (n,), np.result_type(x))), axis=-1)


@rule(lagged, constant="like")
@samples(
    "A(4), A(4), A(3), 0", "A(2, 3), A(2, 3), A(5), 1", "C(3), C(3), A(2), -1",
    "A(3), A(3), 1.0, 0",
)  # fmt: skip
def lagged_(g, v, like, axis):
    one = np.ones(1, np.result_type(v))
    d[g] += signal.lfilter(d[z], one, conj(v), axis)
    d[v] += np.flip(signal.lfilter(d[z], one, np.flip(conj(g), axis), axis), axis)


def _settled(b, a, x):
    """`x` filtered along its last axis as if it had always been what it is at first."""
    first = x[..., :1]
    return signal.lfilter(b, a, x - first) + np.sum(b) / np.sum(a) * first


def _extended(x, n, padtype):
    """`x` with `n` values more at both ends of its last axis."""
    left, right = x[..., 1 : n + 1][..., ::-1], x[..., -n - 1 : -1][..., ::-1]
    if padtype == "odd":
        left, right = 2.0 * x[..., :1] - left, 2.0 * x[..., -1:] - right
    elif padtype == "constant":
        left, right = x[..., :1] + 0.0 * left, x[..., -1:] + 0.0 * right
    elif padtype != "even":
        refuse("`padtype` must be 'odd', 'even', 'constant' or None, and known")
    return np.concatenate((left, x, right), axis=-1)


@composed(signal.filtfilt)
@samples(
    "np.array([0.5, 0.2]), np.array([1.0, -0.4]), A(8)",
    "[0.5, 0.2], [1.0, -0.4], A(8, 2), 0, 'even'", "A(2), V([1.0, -0.4]), A(2, 7), padlen=2",
    "[0.5], [1.0, -0.3], A(5), padtype='constant', padlen=3",
    "[0.5, 0.2], [1.0, -0.4], A(5), padtype=None", "[0.5, 0.2], [1.0, -0.4], A(5), padlen=0",
)  # fmt: skip
def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None):
    n = 3 * max(np.size(a), np.size(b)) if padlen is None else padlen
    rows = np.moveaxis(x, axis, -1)
    long = rows if padtype is None or n == 0 else _extended(rows, n, padtype)
    there = _settled(b, a, long)
    back = _settled(b, a, there[..., ::-1])[..., ::-1]
    if padtype is not None and n > 0:
        back = back[..., n : n + np.shape(rows)[-1]]
    return np.moveaxis(back, -1, axis)


@composed(signal.hilbert)
@samples("A(5)", "A(2, 4)", "A(4, 2), axis=0", "A(3, 2), 5, 0", "A(1)")
def hilbert(x, N=None, axis=-1):
    if isarray(x) and iscomplex(x):
        refuse("`x` must be real")
    y = np.fft.fft(x, N, axis)
    weights = analytic(np.shape(y)[axis], np.result_type(y))
    z = np.moveaxis(y, axis, -1) * weights
    return np.moveaxis(np.fft.ifft(z), -1, axis)


@composed(signal.savgol_filter)
@samples(
    "A(7), 5, 2", "A(2, 6), 3, 1, 1, 0.5", "A(6, 2), 5, 2, axis=0, mode='nearest'",
    "A(6), 4, 2, mode='mirror'", "A(5), 5, 3, mode='constant', cval=0.5", "A(6), 3, 1, mode='wrap'",
    "A(6, 2), 3, 2, 2, axis=0",
)  # fmt: skip
def savgol_filter(
    x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0
):
    weights = signal.savgol_coeffs(window_length, polyorder, deriv, delta)
    if mode != "interp":
        return ndimage.convolve1d(x, weights, axis, mode=mode, cval=cval)
    rows, half = np.moveaxis(x, axis, -1), window_length // 2
    middle = ndimage.convolve1d(rows, weights, mode="constant")
    dtype = np.result_type(middle)
    first = edge_weights(window_length, polyorder, deriv, delta, False).astype(dtype)
    last = edge_weights(window_length, polyorder, deriv, delta, True).astype(dtype)
    left, right = rows[..., :window_length] @ first.T, rows[..., -window_length:] @ last.T
    inner = middle[..., half : np.shape(rows)[-1] - half]
    return np.moveaxis(np.concatenate((left, inner, right), axis=-1), -1, axis)


@linear(signal.detrend)
@samples(
    "A(5)", "A(3, 4), 0, 'constant'", "A(7), bp=3", "A(7, 2), 0, bp=[2, 5]", "C(6), bp=2",
    "A(2, 5), -1, 'constant', 2", "A(6), bp=np.array([4, 1])",
)  # fmt: skip
def detrend(data, axis=-1, type="linear", bp=0):
    d[data] += signal.detrend(d[z], axis, type, bp)
