"""Rules of linear filters of `scipy.ndimage`."""

import numpy as np
from scipy import ndimage, signal

from srcdiff.factors import pad_mode, pad_widths
from srcdiff.filters import gaussian_weights
from srcdiff.rules import (
    composed,
    conj,
    d,
    isscalar,
    known,
    linear,
    nondifferentiable,
    refuse,
    rule,
    samples,
)  # fmt: skip
from srcdiff.runtime import inside, other_axes, positions, scatter

nondifferentiable(gaussian_weights)


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


def _along(weights, input, axis):
    """`weights` as a kernel along one axis."""
    return np.expand_dims(weights, other_axes(np.ndim(input), axis % np.ndim(input)))


@composed(ndimage.convolve1d)
@samples(
    "A(5), A(3)", "A(4, 5), [0.5, 0.2, -0.3], 0", "A(2, 5), A(2), mode='nearest'", "C(4), C(3)",
    "A(5), A(4), mode='constant', cval=1.5", "A(2, 3, 4), A(3), 1, mode='wrap'",
)  # fmt: skip
def convolve1d(input, weights, axis=-1, *, mode="reflect", cval=0.0):
    return ndimage.convolve(input, _along(weights, input, axis), mode=mode, cval=cval)


@composed(ndimage.correlate1d)
@samples(
    "A(5), A(3)", "A(4, 5), [0.5, 0.2, -0.3], 0", "A(2, 5), A(2), mode='mirror'", "C(4), C(3)",
    "A(5), A(4), mode='constant', cval=1.5",
)  # fmt: skip
def correlate1d(input, weights, axis=-1, *, mode="reflect", cval=0.0):
    return ndimage.correlate(input, _along(weights, input, axis), mode=mode, cval=cval)


def _edges(input, axis, across, mode, cval):
    z = ndimage.correlate1d(input, np.array([-1.0, 0.0, 1.0]), axis, mode=mode, cval=cval)
    for k in other_axes(np.ndim(input), axis % np.ndim(input)):
        z = ndimage.correlate1d(z, np.array(across), k, mode=mode, cval=cval)
    return z


@composed(ndimage.sobel)
@samples("A(5)", "A(3, 4)", "A(3, 4), 0, mode='nearest'", "A(3, 4), mode='constant', cval=0.5")
def sobel(input, axis=-1, *, mode="reflect", cval=0.0):
    return _edges(input, axis, [1.0, 2.0, 1.0], mode, cval)


@composed(ndimage.prewitt)
@samples("A(5)", "A(3, 4)", "A(3, 4), 0, mode='mirror'")
def prewitt(input, axis=-1, *, mode="reflect", cval=0.0):
    return _edges(input, axis, [1.0, 1.0, 1.0], mode, cval)


@composed(ndimage.laplace)
@samples("A(5)", "A(3, 4)", "A(3, 4), mode='wrap'", "A(3, 4), mode='constant', cval=0.5")
def laplace(input, *, mode="reflect", cval=0.0):
    weights = np.array([1.0, -2.0, 1.0])
    z = ndimage.correlate1d(input, weights, 0, mode=mode, cval=cval)
    for k in range(1, np.ndim(input)):
        z = z + ndimage.correlate1d(input, weights, k, mode=mode, cval=cval)
    return z


@composed(ndimage.gaussian_laplace)
@samples("A(5), 0.8", "A(3, 4), 0.5", "A(3, 4), (0.5, 0.8), mode='constant'")
def gaussian_laplace(input, sigma, *, mode="reflect", cval=0.0):
    z = _curved(input, sigma, 0, mode, cval)
    for k in range(1, np.ndim(input)):
        z = z + _curved(input, sigma, k, mode, cval)
    return z


def _curved(input, sigma, axis, mode, cval):
    """The second derivative along `axis` of the input with its noise taken away."""
    z = input
    for k in range(np.ndim(input)):
        width = sigma if isscalar(sigma) else sigma[k]
        z = _smoothed(z, width, k, 2 if k == axis else 0, mode, cval, 4.0)
    return z


def _smoothed(input, sigma, axis, order, mode, cval, truncate):
    weights = gaussian_weights(sigma, order, truncate)
    return ndimage.convolve1d(input, weights, axis, mode=mode, cval=cval)


@composed(ndimage.gaussian_filter1d, given="order")
@samples(
    "A(5), 0.8, order=1", "A(3, 4), 0.5, 0, 2",
    "A(6), 0.7, order=1, mode='nearest', truncate=3.0",
)  # fmt: skip
def gaussian_filter1d_order(
    input, sigma, axis=-1, order=0, *, mode="reflect", cval=0.0, truncate=4.0
):
    return _smoothed(input, sigma, axis, order, mode, cval, truncate)


@composed(ndimage.gaussian_filter, given="order")
@samples("A(5), 0.8, 1", "A(3, 4), 0.5, order=(0, 1)", "A(3, 4), (0.5, 0.8), (1, 1), mode='mirror'")
def gaussian_filter_order(input, sigma, order=0, *, mode="reflect", cval=0.0, truncate=4.0):
    z = input
    for k in range(np.ndim(input)):
        width = sigma if isscalar(sigma) else sigma[k]
        z = _smoothed(z, width, k, order if isscalar(order) else order[k], mode, cval, truncate)
    return z


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


@linear(ndimage.uniform_filter1d)
@samples("A(5), 3", "A(4, 5), 3, 0", "A(6), 5, mode='constant'", "A(2, 6), 3, mode='wrap'")
def uniform_filter1d(input, size, axis=-1, *, mode="reflect"):
    z = ndimage.uniform_filter1d(input, size, axis, mode=mode)
    yield z
    if not known(size) or size % 2 == 0 or mode not in ("reflect", "constant", "wrap"):
        refuse("of this size or mode: write `ndimage.correlate1d(x, np.full(n, 1 / n), axis)`")
    d[input] += ndimage.uniform_filter1d(d[z], size, axis, mode=mode)
