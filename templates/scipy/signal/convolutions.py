"""Rules of convolutions and correlations of `scipy.signal`."""

import numpy as np
from scipy import signal

from srcdiff.rules import *
from srcdiff.runtime.linalg import as_full


@rule(signal.convolve)
@samples(
    "A(4), A(3)", "A(2), A(4)", "A(3, 4), A(2, 2)", "C(3), C(2)", "A(4), A(3), method='fft'",
    "A(5), A(3), 'same'", "A(5), A(2), mode='valid'", "A(2), A(4), 'same'", "A(2), A(5), 'valid'",
)  # fmt: skip
def convolve(in1, in2, mode="full", method="auto"):
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
    if np.size(in1) == 0 or np.size(in2) == 0:
        return signal.fftconvolve(np.zeros_like(in1), np.zeros_like(in2), mode)
    return signal.convolve(in1, in2, mode, "fft")


@composed(signal.fftconvolve, signal.oaconvolve, given="axes")
@samples(
    "A(2, 4), A(2, 3), 'full', 1", "A(2, 5), A(1, 3), 'same', axes=(1,)", "C(3), C(2), axes=0",
    "A(2, 3, 4), A(2, 2, 2), mode='valid', axes=[1, -1]",
)  # fmt: skip
def fftconvolve_along(in1, in2, mode="full", axes=None):
    if axes is None:
        return signal.fftconvolve(in1, in2, mode)
    if np.size(in1) == 0 or np.size(in2) == 0:
        return signal.fftconvolve(np.zeros_like(in1), np.zeros_like(in2), mode)
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


def _bordered(x, y, boundary, fillvalue):
    """`x` with as much around it as a full convolution with `y` looks at."""
    widths = ((len(y) - 1, len(y) - 1), (np.shape(y)[1] - 1, np.shape(y)[1] - 1))
    if boundary in ("symm", "symmetric"):
        return np.pad(x, widths, "symmetric")
    if boundary in ("wrap", "circular"):
        return np.pad(x, widths, "wrap")
    if boundary not in ("fill", "pad"):
        refuse("`boundary` must be 'fill', 'wrap' or 'symm', and known")
    return np.pad(x - fillvalue, widths) + fillvalue


@composed(signal.convolve2d)
@samples(
    "A(3, 4), A(2, 2)", "A(3, 4), A(2, 3), 'same'", "A(3, 4), A(2, 3), 'same', 'symm'",
    "A(3, 4), A(3, 2), boundary='wrap'", "A(3, 4), A(2, 3), 'valid', 'wrap'",
    "A(3, 4), A(2, 2), fillvalue=A()",
)  # fmt: skip
def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    plain = mode == "valid" or boundary in ("fill", "pad") and known(fillvalue) and fillvalue == 0
    if np.size(in2) == 0 or plain and np.size(in1) == 0:
        return signal.convolve2d(np.zeros_like(in1), np.zeros_like(in2), mode)
    if plain:
        return signal.convolve(in1, in2, mode, "direct")
    z = signal.convolve(_bordered(in1, in2, boundary, fillvalue), in2, "valid", "direct")
    if mode == "same":
        row, column = (len(in2) - 1) // 2, (np.shape(in2)[1] - 1) // 2
        z = z[row : row + len(in1), column : column + np.shape(in1)[1]]
    return z


@composed(signal.correlate2d)
@samples(
    "A(3, 4), A(2, 2)", "A(3, 4), A(2, 3), 'valid'", "A(3, 4), A(2, 4), 'same'",
    "A(3, 4), A(2, 3), 'same', 'symm'", "A(3, 4), A(3, 2), boundary='wrap'",
    "A(3, 4), A(2, 2), fillvalue=A()", "A(2, 3), A(3, 4), 'valid'", "C(3, 4), C(2, 2), 'same'",
)  # fmt: skip
def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0):
    plain = boundary in ("fill", "pad") and known(fillvalue) and fillvalue == 0
    if np.size(in2) == 0 or (plain or mode == "valid") and np.size(in1) == 0:
        return signal.correlate2d(np.zeros_like(in1), np.zeros_like(in2), mode)
    if mode == "valid":
        return signal.correlate(in1, in2, mode, "direct")
    if plain:
        z = signal.correlate(in1, in2, "full", "direct")
    else:
        z = signal.correlate(_bordered(in1, in2, boundary, fillvalue), in2, "valid", "direct")
    if mode == "same":  # half a step beside that of `correlate` where `in2` is even
        row, column = len(in2) // 2, np.shape(in2)[1] // 2
        z = z[row : row + len(in1), column : column + np.shape(in1)[1]]
    return z
