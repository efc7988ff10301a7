"""Rules of functions that sum over axes: `logsumexp`, `softmax`, `log_softmax`."""

import numpy as np
from scipy import special

from srcdiff.rules import *
from srcdiff.runtime.arrays import keep_axes, stop_gradient


@rule(special.logsumexp)
@samples(
    "A(4)", "A(2, 3)", "A(2, 3), 1", "A(2, 3), axis=0, keepdims=True", "A(2, 3, 4), (0, 2)", "A()",
    "C(3)", "V([-np.inf, 1.0, 2.0])",
)  # fmt: skip
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False):
    if b is not None or return_sign:
        refuse("`b` and `return_sign` must be named by keyword")
    d[a] += keep_axes(d[z], axis, keepdims) * conj(np.exp(a - keep_axes(z, axis, keepdims)))


@composed(special.logsumexp, given="return_sign")
@samples("A(4), return_sign=True", "A(2, 3), 1, A(2, 3), return_sign=True")
def logsumexp_sign(a, axis=None, b=None, keepdims=False, return_sign=False):
    if iscomplex(a):
        refuse("`return_sign=True` of complex numbers")
    peak = _peak(a, axis)
    scaled = np.exp(a - peak) if b is None else b * np.exp(a - peak)
    total = np.sum(scaled, axis=axis, keepdims=keepdims)
    shift = peak if keepdims else np.squeeze(peak, axis)
    return np.log(np.abs(total)) + shift, np.sign(total)


@composed(special.logsumexp, given="b")
@samples("A(4), b=P(4)", "A(2, 3), 1, P(2, 3)", "A(2, 3), 0, P(3), keepdims=True", "A(3), b=2.0")
def logsumexp_weighted(a, axis=None, b=None, keepdims=False, return_sign=False):
    peak = _peak(a, axis)
    total = np.sum(b * np.exp(a - peak), axis=axis, keepdims=keepdims)
    return np.log(total) + (peak if keepdims else np.squeeze(peak, axis))


def _peak(a, axis):
    peak = stop_gradient(np.max(a, axis=axis, keepdims=True, initial=-np.inf))
    return np.where(np.isfinite(peak), peak, 0.0)


@rule(special.softmax)
@samples("A(4)", "A(2, 3)", "A(2, 3), 1", "A(2, 3), axis=0", "A(2, 3, 4), (0, 2)", "C(3)")
def softmax(x, axis=None):
    if axis is None:
        d[x] += conj(z) * (d[z] - np.sum(d[z] * conj(z)))
    else:
        d[x] += conj(z) * (d[z] - np.sum(d[z] * conj(z), axis=axis, keepdims=True))


@rule(special.log_softmax)
@samples("A(4)", "A(2, 3)", "A(2, 3), 1", "A(2, 3), axis=0", "A(2, 3, 4), (0, 2)", "C(3)")
def log_softmax(x, axis=None):
    if axis is None:
        d[x] += d[z] - conj(np.exp(z)) * np.sum(d[z])
    else:
        d[x] += d[z] - conj(np.exp(z)) * np.sum(d[z], axis=axis, keepdims=True)
