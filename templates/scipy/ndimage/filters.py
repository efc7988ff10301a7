"""Rules of linear filters of `scipy.ndimage`."""

import numpy as np
from scipy import ndimage, signal

from srcdiff.factors import pad_mode, pad_widths
from srcdiff.rules import conj, d, known, linear, refuse, rule, samples
from srcdiff.runtime import inside, positions, scatter


@rule(ndimage.convolve)
@samples(
    "A(5), A(3)", "A(4, 5), A(3, 3)", "A(5), A(2), mode='constant'", "A(5), A(4), mode='nearest'",
    "A(5), A(3), mode='wrap'", "A(5), A(3), mode='mirror'",
    "C(4), C(3)", "A(4), C(2), mode='constant'",
    "A(5), A(3), mode='constant', cval=1.5", "A(5), A(4), mode='grid-constant', cval=0.5",
    "A(5), A(4), mode='grid-mirror'",
)  # fmt: skip
def convolve(input, weights, *, mode="reflect", cval=0.0):
    z = ndimage.convolve(input, weights, mode=mode, cval=cval)
    yield z
    widths = pad_widths(np.shape(weights), True)
    spread = signal.correlate(d[z], weights, method="direct")
    if mode in ("constant", "grid-constant"):
        d[input] += spread[inside(widths, np.ndim(input))]
    else:
        d[input] += scatter(spread, np.pad(positions(input), widths, pad_mode(mode)), input)
    if mode in ("constant", "grid-constant"):
        padded = np.pad(input, widths, constant_values=cval)
    else:
        padded = np.pad(input, widths, pad_mode(mode))
    d[weights] += np.flip(conj(signal.correlate(padded, d[z], "valid", "direct")))


@rule(ndimage.correlate)
@samples(
    "A(5), A(3)", "A(4, 5), A(3, 3)", "A(5), A(2), mode='constant'", "A(5), A(4), mode='wrap'",
    "C(4), C(3)", "A(5), A(4), mode='constant', cval=1.5", "A(5), A(4), mode='grid-wrap'",
)  # fmt: skip
def correlate(input, weights, *, mode="reflect", cval=0.0):
    z = ndimage.correlate(input, weights, mode=mode, cval=cval)
    yield z
    widths = pad_widths(np.shape(weights), False)
    spread = signal.convolve(d[z], weights, method="direct")
    if mode in ("constant", "grid-constant"):
        d[input] += spread[inside(widths, np.ndim(input))]
    else:
        d[input] += scatter(spread, np.pad(positions(input), widths, pad_mode(mode)), input)
    if mode in ("constant", "grid-constant"):
        padded = np.pad(input, widths, constant_values=cval)
    else:
        padded = np.pad(input, widths, pad_mode(mode))
    d[weights] += signal.correlate(padded, d[z], "valid", "direct")


# A symmetric kernel with a boundary that is half a sample away is a symmetric matrix.


@linear(ndimage.gaussian_filter)
@samples("A(5), 0.8", "A(4, 5), (0.5, 0.8)", "A(6), 1.0, mode='constant'", "A(6), 1.0, mode='wrap'")
def gaussian_filter(input, sigma, *, mode="reflect", truncate=4.0):
    z = ndimage.gaussian_filter(input, sigma, mode=mode, truncate=truncate)
    yield z
    if mode not in ("reflect", "constant", "wrap"):
        refuse("the mode must be 'reflect', 'constant' or 'wrap'")
    d[input] += ndimage.gaussian_filter(d[z], sigma, mode=mode, truncate=truncate)


@linear(ndimage.gaussian_filter1d)
@samples("A(5), 0.8", "A(4, 5), 0.5, 0")
def gaussian_filter1d(input, sigma, axis=-1, *, mode="reflect", truncate=4.0):
    z = ndimage.gaussian_filter1d(input, sigma, axis, mode=mode, truncate=truncate)
    yield z
    if mode not in ("reflect", "constant", "wrap"):
        refuse("the mode must be 'reflect', 'constant' or 'wrap'")
    d[input] += ndimage.gaussian_filter1d(d[z], sigma, axis, mode=mode, truncate=truncate)


@linear(ndimage.uniform_filter)
@samples("A(5), 3", "A(4, 5)", "A(6), 3, mode='constant'")
def uniform_filter(input, size=3, *, mode="reflect"):
    z = ndimage.uniform_filter(input, size, mode=mode)
    yield z
    if not known(size) or size % 2 == 0 or mode not in ("reflect", "constant", "wrap"):
        refuse("the size must be odd and known, the mode 'reflect', 'constant' or 'wrap'")
    d[input] += ndimage.uniform_filter(d[z], size, mode=mode)
