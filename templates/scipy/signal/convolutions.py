"""Rules of convolutions, correlations and filters of `scipy.signal`."""

import numpy as np
from scipy import signal

from srcdiff.factors import as_full
from srcdiff.rules import composed, conj, d, iscomplex, isscalar, linear, rule, samples


@rule(signal.convolve)
@samples(
    "A(4), A(3)", "A(2), A(4)", "A(3, 4), A(2, 2)", "C(3), C(2)", "A(4), A(3), method='fft'",
    "A(5), A(3), 'same'", "A(5), A(2), mode='valid'", "A(2), A(4), 'same'", "A(2), A(5), 'valid'",
)  # fmt: skip
def convolve(in1, in2, mode="full", method="auto"):
    z = signal.convolve(in1, in2, mode, method)
    yield z
    g = d[z] if mode == "full" else as_full(d[z], in1, in2, mode)
    d[in1] += signal.correlate(g, in2, "valid", method)
    d[in2] += signal.correlate(g, in1, "valid", method)


@composed(signal.correlate)
@samples(
    "A(4), A(3)", "A(5), A(3), 'same'", "A(5), A(2), mode='valid'", "A(3, 4), A(2, 2)",
    "C(3), C(2)", "A(2), A(5), 'valid'",
)  # fmt: skip
def correlate(in1, in2, mode="full", method="auto"):
    return signal.convolve(in1, np.flip(conj(in2)), mode, method)


@composed(signal.fftconvolve, signal.oaconvolve)
@samples("A(4), A(3)", "A(3, 4), A(2, 2), 'same'", "A(5), A(2), mode='valid'")
def fftconvolve(in1, in2, mode="full"):
    return signal.convolve(in1, in2, mode, "fft")


@composed(signal.fftconvolve, signal.oaconvolve, given="axes")
@samples(
    "A(2, 4), A(2, 3), 'full', 1", "A(2, 5), A(1, 3), 'same', axes=(1,)", "C(3), C(2), axes=0",
    "A(2, 3, 4), A(2, 2, 2), mode='valid', axes=[1, -1]",
)  # fmt: skip
def fftconvolve_along(in1, in2, mode="full", axes=None):
    if axes is None:
        return signal.fftconvolve(in1, in2, mode)
    along = (axes,) if isscalar(axes) else axes
    x, y = in1, in2
    for k in along:
        size = np.shape(in1)[k] + np.shape(in2)[k] - 1
        x, y = np.fft.fft(x, size, k), np.fft.fft(y, size, k)
    z = x * y
    for k in along:
        z = np.fft.ifft(z, axis=k)
        n, m = np.shape(in1)[k], np.shape(in2)[k]
        if mode == "same":
            z = np.take(z, np.arange(n) + (m - 1) // 2, k)
        elif mode == "valid":
            z = np.take(z, np.arange(min(n, m) - 1, max(n, m)), k)
    return z if iscomplex(in1) or iscomplex(in2) else np.real(z)


@composed(signal.convolve2d)
@samples("A(3, 4), A(2, 2)", "A(3, 4), A(2, 3), 'same'")
def convolve2d(in1, in2, mode="full"):
    return signal.convolve(in1, in2, mode, "direct")


@composed(signal.correlate2d)
@samples("A(3, 4), A(2, 2)", "A(3, 4), A(2, 3), 'valid'")
def correlate2d(in1, in2, mode="full"):
    return signal.correlate(in1, in2, mode, "direct")


# The adjoint of a filter is the filter backwards in time.
@linear(signal.lfilter)
@samples(
    "np.array([0.5, 0.2]), np.array([1.0, -0.4]), A(5)", "[0.5, 0.2], 1.0, A(3, 4), 0",
)  # fmt: skip
def lfilter(b, a, x, axis=-1):
    z = signal.lfilter(b, a, x, axis)
    yield z
    d[x] += np.flip(signal.lfilter(b, a, np.flip(d[z], axis), axis), axis)


@linear(signal.detrend)
@samples("A(5)", "A(3, 4), 0, 'constant'")
def detrend(data, axis=-1, type="linear"):
    z = signal.detrend(data, axis, type)
    yield z
    d[data] += signal.detrend(d[z], axis, type)
