"""Rules of the discrete Fourier transforms: the adjoint of one is the transform back."""

import numpy as np

from srcdiff.rules import composed, d, iscomplex, linear, samples
from srcdiff.runtime.linalg import fitted, last_axes, mirrored, swapped_norm


@linear(np.fft.fft)
@samples(
    "A(4)", "A(3, 4), 6", "A(5), 3, norm='ortho'", "A(3, 4), axis=0, norm='forward'", "C(4), 6",
)  # fmt: skip
def fft(a, n=None, axis=-1, norm=None):
    z = np.fft.fft(a, n, axis, norm)
    yield z
    g = np.fft.ifft(d[z], axis=axis, norm=swapped_norm(norm))
    if n is not None:
        g = fitted(g, a)
    d[a] += g if iscomplex(a) else np.real(g)


@linear(np.fft.ifft)
@samples(
    "A(4)", "A(3, 4), 6", "A(5), 3, norm='ortho'", "A(3, 4), axis=0, norm='forward'", "C(4), 6",
)  # fmt: skip
def ifft(a, n=None, axis=-1, norm=None):
    z = np.fft.ifft(a, n, axis, norm)
    yield z
    g = np.fft.fft(d[z], axis=axis, norm=swapped_norm(norm))
    if n is not None:
        g = fitted(g, a)
    d[a] += g if iscomplex(a) else np.real(g)


@linear(np.fft.rfft)
@samples("A(4)", "A(5)", "A(3, 4), 6", "A(5), 3, norm='ortho'", "A(3, 4), axis=0, norm='forward'")
def rfft(a, n=None, axis=-1, norm=None):
    z = np.fft.rfft(a, n, axis, norm)
    yield z
    if n is None:
        d[a] += np.real(np.fft.ifft(d[z], np.shape(a)[axis], axis, swapped_norm(norm)))
    else:
        d[a] += fitted(np.real(np.fft.ifft(d[z], n, axis, swapped_norm(norm))), a)


@linear(np.fft.irfft)
@samples(
    "A(4)", "C(4)", "A(3, 4), 7", "C(5), 4, norm='ortho'", "C(3, 4), axis=0, norm='forward'",
    "C(3), 8", "C(4), 7",
)  # fmt: skip
def irfft(a, n=None, axis=-1, norm=None):
    z = np.fft.irfft(a, n, axis, norm)
    yield z
    g = np.moveaxis(np.fft.rfft(d[z], axis=axis, norm=swapped_norm(norm)), axis, -1)
    g = g * mirrored(np.shape(z)[axis], np.shape(g)[-1], np.result_type(z))
    g = fitted(np.moveaxis(g, -1, axis), a)
    d[a] += g if iscomplex(a) else np.real(g)


@linear(np.fft.fftn)
@samples("A(3, 4)", "C(3, 4)", "A(2, 3, 4), axes=(0, 2), norm='ortho'", "A(3, 4), axes=(0, 0)")
def fftn(a, s=None, axes=None, norm=None):
    z = np.fft.fftn(a, s, axes, norm)
    yield z
    g = np.fft.ifftn(d[z], axes=axes, norm=swapped_norm(norm))
    d[a] += g if iscomplex(a) else np.real(g)


def _by_axis(one, a, s, axes, norm):
    """Transforms along one axis after the other, the last first, as NumPy does them."""
    if axes is None:
        axes = last_axes(len(s))
    z = one(a, _length(a, s, axes, -1), axes[-1], norm)
    for k in range(len(axes) - 2, -1, -1):
        z = one(z, _length(a, s, axes, k), axes[k], norm)
    return z


@composed(np.fft.fftn, given="s")
@samples(
    "A(3, 4), (2, 6), (0, 1)", "C(3, 4), (4, -1), (1, 0)",
    "A(2, 3), (5, 2, -1), (1, 0, -1), 'ortho'",
)  # fmt: skip
def fftn_sized(a, s=None, axes=None, norm=None):
    if s is None:
        return np.fft.fftn(a, None, axes, norm)
    return _by_axis(np.fft.fft, a, s, axes, norm)


@linear(np.fft.ifftn)
@samples("A(3, 4)", "C(3, 4)", "A(2, 3, 4), axes=(0, 2), norm='ortho'", "A(3, 4), axes=(0, 0)")
def ifftn(a, s=None, axes=None, norm=None):
    z = np.fft.ifftn(a, s, axes, norm)
    yield z
    g = np.fft.fftn(d[z], axes=axes, norm=swapped_norm(norm))
    d[a] += g if iscomplex(a) else np.real(g)


@composed(np.fft.ifftn, given="s")
@samples(
    "A(3, 4), (2, 6), (0, 1)", "C(3, 4), (4, -1), (1, 0)",
    "A(2, 3), (5, 2, -1), (1, 0, -1), 'ortho'",
)  # fmt: skip
def ifftn_sized(a, s=None, axes=None, norm=None):
    if s is None:
        return np.fft.ifftn(a, None, axes, norm)
    return _by_axis(np.fft.ifft, a, s, axes, norm)


@composed(np.fft.fft2)
@samples("A(3, 4)", "C(3, 4)", "A(2, 3, 4), (2, 6)", "A(3, 4), None, (1, 0), 'forward'")
def fft2(a, s=None, axes=(-2, -1), norm=None):
    return np.fft.fftn(a, s, axes, norm)


@composed(np.fft.ifft2)
@samples("A(3, 4)", "C(3, 4)", "A(2, 3, 4), (2, 6)", "A(3, 4), None, (1, 0), 'forward'")
def ifft2(a, s=None, axes=(-2, -1), norm=None):
    return np.fft.ifftn(a, s, axes, norm)


@composed(np.fft.rfftn)
@samples(
    "A(3, 4)", "A(3, 4), (2, 6), (0, 1)", "A(2, 3, 4), axes=(0, 2), norm='ortho'", "A(2, 3, 5)",
    "A(3, 4), (4, -1), (1, 0)", "A(3, 4), (-1, 6), (0, 1)", "A(4, 2), axes=(0, 1, -2)",
    "A(4, 2), (-1, 6), (0, 0)",
)  # fmt: skip
def rfftn(a, s=None, axes=None, norm=None):
    if axes is None:
        axes = last_axes(np.ndim(a) if s is None else len(s))
    if s is None and (axes[-1] in axes[:-1] or min(axes) < 0 <= max(axes)):
        s = (-1,) * len(axes)  # the last axis, which gets shorter, may be transformed once more
    z = np.fft.rfft(a, _length(a, s, axes, -1), axes[-1], norm)
    for k in range(len(axes) - 2, -1, -1):
        z = np.fft.fft(z, _length(a, s, axes, k), axes[k], norm)
    return z


def _length(a, s, axes, k):
    """The length of one of several transforms, of which -1 is that of the array given to all."""
    if s is None:
        return None
    return np.shape(a)[axes[k]] if s[k] == -1 else s[k]


@composed(np.fft.irfftn)
@samples(
    "C(3, 4)", "A(3, 4), (2, 6), (0, 1)", "C(2, 3, 4), axes=(0, 2), norm='ortho'", "C(2, 3, 5)",
    "C(3, 4), (4, -1), (1, 0)", "A(3, 4), (-1, 6), (0, 1)", "C(4, 2), (3, -1, -1), (0, 1, -2)",
    "C(4, 2), axes=(0, 0)",
)  # fmt: skip
def irfftn(a, s=None, axes=None, norm=None):
    if axes is None:
        axes = last_axes(np.ndim(a) if s is None else len(s))
    z = a
    for k in range(len(axes) - 1):
        z = np.fft.ifft(z, _length(a, s, axes, k), axes[k], norm)
    return np.fft.irfft(z, _length(a, s, axes, -1), axes[-1], norm)


@composed(np.fft.rfft2)
@samples("A(3, 4)", "A(2, 3, 4), (2, 6)")
def rfft2(a, s=None, axes=(-2, -1), norm=None):
    return np.fft.rfftn(a, s, axes, norm)


@composed(np.fft.irfft2)
@samples("C(3, 4)", "C(2, 3, 4), (2, 6)")
def irfft2(a, s=None, axes=(-2, -1), norm=None):
    return np.fft.irfftn(a, s, axes, norm)


@composed(np.fft.hfft)
@samples("C(4)", "A(3, 4), 6", "C(5), 4, norm='ortho'", "C(3, 4), axis=0, norm='forward'")
def hfft(a, n=None, axis=-1, norm=None):
    return np.fft.irfft(np.conj(a), n, axis, swapped_norm(norm))


@composed(np.fft.ihfft)
@samples("A(4)", "A(3, 4), 6", "A(5), 4, norm='ortho'", "A(3, 4), axis=0, norm='forward'")
def ihfft(a, n=None, axis=-1, norm=None):
    return np.conj(np.fft.rfft(a, n, axis, swapped_norm(norm)))


@linear(np.fft.fftshift)
@samples("A(4)", "A(3, 5)", "A(3, 5), 1")
def fftshift(x, axes=None):
    z = np.fft.fftshift(x, axes)
    yield z
    d[x] += np.fft.ifftshift(d[z], axes)


@linear(np.fft.ifftshift)
@samples("A(4)", "A(3, 5)", "A(3, 5), 1")
def ifftshift(x, axes=None):
    z = np.fft.ifftshift(x, axes)
    yield z
    d[x] += np.fft.fftshift(d[z], axes)


@composed(np.fft.fftfreq)
@samples("5, A()", "4, d=A()")
def fftfreq(n, d=1.0):
    return np.fft.ifftshift(np.arange(-(n // 2), (n + 1) // 2)) * (1.0 / (n * d))


@composed(np.fft.rfftfreq)
@samples("5, A()", "4, d=A()")
def rfftfreq(n, d=1.0):
    return np.arange(n // 2 + 1) * (1.0 / (n * d))
