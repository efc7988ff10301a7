"""Rules of the discrete Fourier transforms: the adjoint of one is the transform back."""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.linalg import fitted, last_axes, mirrored, swapped_norm

ALONG = ("A(4)", "A(3, 4), 6", "A(5), 3, norm='ortho'", "A(3, 4), axis=0, norm='forward'")


def along_an_axis(of, back):
    """The rule of a transform along an axis; the transform back goes forwards in its turn."""

    @linear(of)
    @samples(*ALONG, "C(4), 6")
    def transform(a, n=None, axis=-1, norm=None):
        g = back(d[z], axis=axis, norm=swapped_norm(norm))
        if n is not None:
            g = fitted(g, a)
        d[a] += g if iscomplex(a) else np.real(g)


along_an_axis(np.fft.fft, np.fft.ifft)
along_an_axis(np.fft.ifft, np.fft.fft)


@linear(np.fft.rfft)
@samples(*ALONG, "A(5)")
def rfft(a, n=None, axis=-1, norm=None):
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
    g = np.moveaxis(np.fft.rfft(d[z], axis=axis, norm=swapped_norm(norm)), axis, -1)
    g = g * mirrored(np.shape(z)[axis], np.shape(g)[-1], np.result_type(z))
    g = fitted(np.moveaxis(g, -1, axis), a)
    d[a] += g if iscomplex(a) else np.real(g)


def along_axes(of, back, one):
    """The rule of a transform along several axes, and its definition where lengths are given."""

    @linear(of)
    @samples("A(3, 4)", "C(3, 4)", "A(2, 3, 4), axes=(0, 2), norm='ortho'", "A(3, 4), axes=(0, 0)")
    def transform(a, s=None, axes=None, norm=None):
        g = back(d[z], axes=axes, norm=swapped_norm(norm))
        d[a] += g if iscomplex(a) else np.real(g)

    @composed(of, given="s")
    @samples(
        "A(3, 4), (2, 6), (0, 1)", "C(3, 4), (4, -1), (1, 0)",
        "A(2, 3), (5, 2, -1), (1, 0, -1), 'ortho'",
    )  # fmt: skip
    def sized(a, s=None, axes=None, norm=None):
        if s is None:
            return of(a, None, axes, norm)
        if axes is None:
            axes = last_axes(len(s))
        z = one(a, _length(a, s, axes, -1), axes[-1], norm)  # the last first, as NumPy does them
        for k in range(len(axes) - 2, -1, -1):
            z = one(z, _length(a, s, axes, k), axes[k], norm)
        return z


along_axes(np.fft.fftn, np.fft.ifftn, np.fft.fft)
along_axes(np.fft.ifftn, np.fft.fftn, np.fft.ifft)


def of_matrices(of, plain, *calls):
    """The definition of a transform along the last two axes."""
    made_of(
        of, value=lambda a, s=None, axes=(-2, -1), norm=None: plain(a, s, axes, norm),
        samples=calls,
    )


FULL = ("A(3, 4)", "C(3, 4)", "A(2, 3, 4), (2, 6)", "A(3, 4), None, (1, 0), 'forward'")
of_matrices(np.fft.fft2, np.fft.fftn, *FULL)
of_matrices(np.fft.ifft2, np.fft.ifftn, *FULL)
of_matrices(np.fft.rfft2, np.fft.rfftn, "A(3, 4)", "A(2, 3, 4), (2, 6)")
of_matrices(np.fft.irfft2, np.fft.irfftn, "C(3, 4)", "C(2, 3, 4), (2, 6)")


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


@composed(np.fft.hfft)
@samples("C(4)", "A(3, 4), 6", "C(5), 4, norm='ortho'", "C(3, 4), axis=0, norm='forward'")
def hfft(a, n=None, axis=-1, norm=None):
    return np.fft.irfft(np.conj(a), n, axis, swapped_norm(norm))


@composed(np.fft.ihfft)
@samples("A(4)", "A(3, 4), 6", "A(5), 4, norm='ortho'", "A(3, 4), axis=0, norm='forward'")
def ihfft(a, n=None, axis=-1, norm=None):
    return np.conj(np.fft.rfft(a, n, axis, swapped_norm(norm)))


def shifted(of, back):
    """The rule of a shift."""

    @linear(of)
    @samples("A(4)", "A(3, 5)", "A(3, 5), 1")
    def shift(x, axes=None):
        d[x] += back(d[z], axes)


shifted(np.fft.fftshift, np.fft.ifftshift)
shifted(np.fft.ifftshift, np.fft.fftshift)


made_of(
    np.fft.fftfreq,
    value=lambda n, d=1.0: np.fft.ifftshift(np.arange(-(n // 2), (n + 1) // 2)) * (1.0 / (n * d)),
    samples=("5, A()", "4, d=A()"),
)
made_of(
    np.fft.rfftfreq, value=lambda n, d=1.0: np.arange(n // 2 + 1) * (1.0 / (n * d)),
    samples=("5, A()", "4, d=A()"),
)
