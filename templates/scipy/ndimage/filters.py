"""Rules of linear filters of `scipy.ndimage`."""

import numpy as np
from scipy import ndimage, signal

from srcdiff.rules import *
from srcdiff.runtime.arrays import other_axes, positions, scatter
from srcdiff.runtime.linalg import pad_mode, pad_widths
from srcdiff.runtime.scipy.filters import gaussian_weights

nondifferentiable(gaussian_weights)


def filters(of, back, full, mirrored):
    """The rule and the tangent of a filter; `full` spreads an adjoint over all that it has read."""

    @rule(of)
    @samples(
        "A(5), A(3)", "A(4, 5), A(3, 3)", "A(5), A(2), mode='constant'", "C(4), C(3)",
        "A(5), A(4), mode='nearest'", "A(5), A(3), mode='wrap'", "A(5), A(3), mode='mirror'",
        "A(4), C(2), mode='constant'", "A(5), A(3), mode='constant', cval=1.5",
        "A(5), A(4), mode='grid-constant', cval=0.5", "A(5), A(4), mode='grid-mirror'",
        "C(3), A(4), mode='constant'", "A(2), A(6), mode='mirror'", "A(5), A(4), mode='grid-wrap'",
        "C(4), C(2), mode='constant'", "C(3), A(4), mode='nearest'", "A(3), A(8), mode='mirror'",
    )  # fmt: skip
    def filter(input, weights, *, mode="reflect", cval=0.0):
        widths = pad_widths(np.shape(weights), mirrored)
        if mode in ("constant", "grid-constant"):
            d[input] += back(d[z], weights, mode="constant")
        if np.size(input) > 0:
            if mode in ("constant", "grid-constant"):
                padded = np.pad(input, widths, constant_values=cval)
            else:
                spread = full(d[z], weights, method="direct")
                d[input] += scatter(spread, np.pad(positions(input), widths, pad_mode(mode)), input)
                padded = np.pad(input, widths, pad_mode(mode))
            if mirrored:
                d[weights] += np.flip(conj(signal.correlate(padded, d[z], "valid", "direct")))
            else:
                d[weights] += signal.correlate(padded, d[z], "valid", "direct")

    @forward(of)
    def filter_tangent(input, weights, mode, cval):
        d[z] += of(d[input], weights, mode=mode)
        d[z] += of(input, d[weights], mode=mode, cval=cval)


filters(ndimage.convolve, ndimage.correlate, signal.correlate, mirrored=True)
filters(ndimage.correlate, ndimage.convolve, signal.convolve, mirrored=False)


def _along(weights, input, axis):
    """`weights` as a kernel along one axis."""
    return np.expand_dims(weights, other_axes(np.ndim(input), axis % np.ndim(input)))


def along_an_axis(of, plain):
    """The definition of a filter along an axis."""

    @composed(of)
    @samples(
        "A(5), A(3)", "A(4, 5), [0.5, 0.2, -0.3], 0", "A(2, 5), A(2), mode='nearest'", "C(4), C(3)",
        "A(5), A(4), mode='constant', cval=1.5", "A(2, 3, 4), A(3), 1, mode='wrap'",
    )  # fmt: skip
    def filter1d(input, weights, axis=-1, *, mode="reflect", cval=0.0):
        return plain(input, _along(weights, input, axis), mode=mode, cval=cval)


along_an_axis(ndimage.convolve1d, ndimage.convolve)
along_an_axis(ndimage.correlate1d, ndimage.correlate)


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
@samples("A(5), 0.8", "A(3, 4), 0.5", "A(3, 4), (0.5, 0.8), mode='constant'", "A(2, 5), (0, 1)")
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
        if width > 1e-15:
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
@samples(
    "A(5), 0.8, 1", "A(3, 4), 0.5, order=(0, 1)", "A(3, 4), (0.5, 0.8), (1, 1), mode='mirror'",
    "A(3, 4), (0.0, 0.8), (0, 1)",
)  # fmt: skip
def gaussian_filter_order(input, sigma, order=0, *, mode="reflect", cval=0.0, truncate=4.0):
    z = input
    for k in range(np.ndim(input)):
        width = sigma if isscalar(sigma) else sigma[k]
        if width > 1e-15:
            degree = order if isscalar(order) else order[k]
            z = _smoothed(z, width, k, degree, mode, cval, truncate)
    return z


# A symmetric kernel with a boundary that is half a sample away is a symmetric matrix.  With others,
# what a filter reads beyond the ends goes back to where `np.pad` takes it from.
SYMMETRIC = ("reflect", "constant", "wrap", "grid-mirror", "grid-constant", "grid-wrap")
MODES = (*SYMMETRIC, "nearest", "mirror")


@linear(ndimage.gaussian_filter)
@samples(
    "A(5), 0.8", "A(4, 5), (0.5, 0.8)", "A(6), 1.0, mode='constant'", "A(6), 1.0, mode='wrap'",
    "A(5), 0.8, mode='nearest'", "A(3, 4), (0.5, 0.8), mode='mirror'", "A(2), 1.0, mode='mirror'",
    "A(3, 2), 0.6, mode='nearest', truncate=3.0", "C(4), 0.8, mode='nearest'",
)  # fmt: skip
def gaussian_filter(input, sigma, *, mode="reflect", truncate=4.0):
    if mode not in MODES:
        refuse("`mode` must be one for all axes, and known: write `gaussian_filter1d` for each")
    if mode in SYMMETRIC:
        d[input] += ndimage.gaussian_filter(d[z], sigma, mode=mode, truncate=truncate)
    elif np.size(input) > 0:
        if isscalar(sigma):
            widths = int(truncate * sigma + 0.5)
        else:
            reach = (truncate * np.asarray(sigma) + 0.5).astype(int)
            widths = np.stack((reach, reach), axis=1).tolist()
        padded = np.pad(d[z], widths)
        spread = ndimage.gaussian_filter(padded, sigma, mode="constant", truncate=truncate)
        d[input] += scatter(spread, np.pad(positions(input), widths, pad_mode(mode)), input)


@linear(ndimage.gaussian_filter1d)
@samples(
    "A(5), 0.8", "A(4, 5), 0.5, 0", "A(4, 5), 0.5, 0, mode='nearest'",
    "A(2, 5), 0.7, mode='mirror'", "C(2, 3), 0.5, mode='mirror', truncate=3.0",
)  # fmt: skip
def gaussian_filter1d(input, sigma, axis=-1, *, mode="reflect", truncate=4.0):
    if mode in SYMMETRIC:
        d[input] += ndimage.gaussian_filter1d(d[z], sigma, axis, mode=mode, truncate=truncate)
    elif np.size(input) > 0:
        n, k = int(truncate * sigma + 0.5), axis % np.ndim(input)
        widths = [(0, 0)] * k + [(n, n)] + [(0, 0)] * (np.ndim(input) - k - 1)
        padded = np.pad(d[z], widths)
        spread = ndimage.gaussian_filter1d(padded, sigma, axis, mode="constant", truncate=truncate)
        d[input] += scatter(spread, np.pad(positions(input), widths, pad_mode(mode)), input)


@linear(ndimage.uniform_filter)
@samples(
    "A(5), 3", "A(4, 5)", "A(6), 3, mode='constant'", "A(5), 4", "A(3, 4), 2", "A(3, 4), (2, 3)",
    "A(6), 4, mode='constant'", "A(3, 5), [3, 4], mode='wrap'", "A(4), 3, mode='nearest'",
    "A(3, 4), (4, 1), mode='mirror'", "A(2), 6, mode='mirror'", "A(5), 4, origin=1",
    "A(3, 4), 3, mode='nearest', origin=(1, -1)", "C(4), 4", "A(5), 4, mode='constant', origin=1",
)  # fmt: skip
def uniform_filter(input, size=3, *, mode="reflect", origin=0):
    if mode not in MODES:
        refuse("`mode` must be one for all axes, and known: write `uniform_filter1d` for each")
    if isscalar(size) and known(size) and size % 2 == 1 and origin == 0 and mode in SYMMETRIC:
        d[input] += ndimage.uniform_filter(d[z], size, mode=mode)
    elif np.size(input) > 0:
        if isscalar(size) and isscalar(origin):
            back, widths = size % 2 - 1 - origin, (size // 2 + origin, (size - 1) // 2 - origin)
        else:
            n, k = np.asarray(size), np.asarray(origin)
            back = (n % 2 - 1 - k).tolist()
            widths = np.stack((n // 2 + k, (n - 1) // 2 - k), axis=1).tolist()
        if mode in ("constant", "grid-constant"):
            d[input] += ndimage.uniform_filter(d[z], size, mode="constant", origin=back)
        else:
            padded = np.pad(d[z], widths)
            spread = ndimage.uniform_filter(padded, size, mode="constant", origin=back)
            d[input] += scatter(spread, np.pad(positions(input), widths, pad_mode(mode)), input)


@linear(ndimage.uniform_filter1d)
@samples(
    "A(5), 3", "A(4, 5), 3, 0", "A(6), 5, mode='constant'", "A(2, 6), 3, mode='wrap'", "A(5), 4",
    "A(3, 4), 2, 0, mode='constant'", "A(5), 4, mode='wrap'", "A(4, 2), 3, 0, mode='nearest'",
    "A(5), 2, mode='mirror'", "A(5), 3, mode='mirror', origin=-1", "A(5), 4, origin=1",
    "C(2, 3), 2, mode='wrap', origin=-1", "A(5), 3, mode='constant', origin=1",
)  # fmt: skip
def uniform_filter1d(input, size, axis=-1, *, mode="reflect", origin=0):
    if known(size) and size % 2 == 1 and origin == 0 and mode in SYMMETRIC:
        d[input] += ndimage.uniform_filter1d(d[z], size, axis, mode=mode)
    elif mode in ("constant", "grid-constant"):
        back = size % 2 - 1 - origin
        d[input] += ndimage.uniform_filter1d(d[z], size, axis, mode="constant", origin=back)
    elif np.size(input) > 0:
        k, width = axis % np.ndim(input), (size // 2 + origin, (size - 1) // 2 - origin)
        widths = [(0, 0)] * k + [width] + [(0, 0)] * (np.ndim(input) - k - 1)
        padded, back = np.pad(d[z], widths), size % 2 - 1 - origin
        spread = ndimage.uniform_filter1d(padded, size, axis, mode="constant", origin=back)
        d[input] += scatter(spread, np.pad(positions(input), widths, pad_mode(mode)), input)
