"""Rules of `scipy.fft`: as in `numpy.fft`, and the transforms of cosines and sines."""

import numpy as np
from scipy import fft

from srcdiff.rules import composed, d, linear, nondifferentiable, refuse, samples


@composed(fft.fft)
@samples("A(4)", "A(3, 4), 6, 0", "C(4), norm='ortho'")
def fft_(x, n=None, axis=-1, norm=None):
    return np.fft.fft(x, n, axis, norm)


@composed(fft.ifft)
@samples("A(4)", "C(3, 4), 6, 0")
def ifft(x, n=None, axis=-1, norm=None):
    return np.fft.ifft(x, n, axis, norm)


@composed(fft.rfft)
@samples("A(4)", "A(3, 4), 6, 0")
def rfft(x, n=None, axis=-1, norm=None):
    return np.fft.rfft(x, n, axis, norm)


@composed(fft.irfft)
@samples("A(4)", "C(3, 4), 6, 0")
def irfft(x, n=None, axis=-1, norm=None):
    return np.fft.irfft(x, n, axis, norm)


@composed(fft.fft2)
@samples("A(3, 4)")
def fft2(x, s=None, axes=(-2, -1), norm=None):
    return np.fft.fft2(x, s, axes, norm)


@composed(fft.ifft2)
@samples("C(3, 4)")
def ifft2(x, s=None, axes=(-2, -1), norm=None):
    return np.fft.ifft2(x, s, axes, norm)


@composed(fft.fftn)
@samples("A(3, 4)", "A(2, 3, 4), axes=(0, 2)")
def fftn(x, s=None, axes=None, norm=None):
    return np.fft.fftn(x, s, axes, norm)


@composed(fft.ifftn)
@samples("C(3, 4)")
def ifftn(x, s=None, axes=None, norm=None):
    return np.fft.ifftn(x, s, axes, norm)


@composed(fft.rfft2)
@samples("A(3, 4)")
def rfft2(x, s=None, axes=(-2, -1), norm=None):
    return np.fft.rfft2(x, s, axes, norm)


@composed(fft.irfft2)
@samples("C(3, 3)")
def irfft2(x, s=None, axes=(-2, -1), norm=None):
    return np.fft.irfft2(x, s, axes, norm)


@composed(fft.rfftn)
@samples("A(3, 4)")
def rfftn(x, s=None, axes=None, norm=None):
    return np.fft.rfftn(x, s, axes, norm)


@composed(fft.irfftn)
@samples("C(3, 3)")
def irfftn(x, s=None, axes=None, norm=None):
    return np.fft.irfftn(x, s, axes, norm)


@composed(fft.fftshift)
@samples("A(5)")
def fftshift(x, axes=None):
    return np.fft.fftshift(x, axes)


@composed(fft.ifftshift)
@samples("A(5)")
def ifftshift(x, axes=None):
    return np.fft.ifftshift(x, axes)


# With `norm="ortho"` these are rotations: the transform back is the adjoint.


@linear(fft.dct)
@samples("A(5), norm='ortho'", "A(3, 4), 3, axis=0, norm='ortho'", "A(4), 1, norm='ortho'")
def dct(x, type=2, *, axis=-1, norm=None):
    z = fft.dct(x, type, axis=axis, norm=norm)
    yield z
    if norm != "ortho":
        refuse("`norm='ortho'` is needed; scale the result")
    d[x] += fft.idct(d[z], type, axis=axis, norm="ortho")


@linear(fft.idct)
@samples("A(5), norm='ortho'", "A(3, 4), 3, axis=0, norm='ortho'")
def idct(x, type=2, *, axis=-1, norm=None):
    z = fft.idct(x, type, axis=axis, norm=norm)
    yield z
    if norm != "ortho":
        refuse("`norm='ortho'` is needed; scale the result")
    d[x] += fft.dct(d[z], type, axis=axis, norm="ortho")


@linear(fft.dst)
@samples("A(5), norm='ortho'", "A(3, 4), 3, axis=0, norm='ortho'")
def dst(x, type=2, *, axis=-1, norm=None):
    z = fft.dst(x, type, axis=axis, norm=norm)
    yield z
    if norm != "ortho":
        refuse("`norm='ortho'` is needed; scale the result")
    d[x] += fft.idst(d[z], type, axis=axis, norm="ortho")


@linear(fft.idst)
@samples("A(5), norm='ortho'", "A(3, 4), 3, axis=0, norm='ortho'")
def idst(x, type=2, *, axis=-1, norm=None):
    z = fft.idst(x, type, axis=axis, norm=norm)
    yield z
    if norm != "ortho":
        refuse("`norm='ortho'` is needed; scale the result")
    d[x] += fft.dst(d[z], type, axis=axis, norm="ortho")


nondifferentiable(fft.fftfreq, fft.rfftfreq, fft.next_fast_len)
