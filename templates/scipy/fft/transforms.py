"""Rules of `scipy.fft`: as in `numpy.fft`, and the transforms of cosines and sines."""

import numpy as np
from scipy import fft

from srcdiff.rules import *
from srcdiff.runtime.linalg import back_type, last_axes, scaled_ends, swapped_norm


def along_an_axis(of, plain, number):
    """The definition of a transform along an axis by that of NumPy."""
    made_of(
        of, value=lambda x, n=None, axis=-1, norm=None: plain(x, n, axis, norm),
        samples=("A(4)", f"{number}(3, 4), 6, 0", f"{number}(4), norm='ortho'"),
    )


def of_matrices(of, plain, number):
    """The definition of a transform along the last two axes by that of NumPy."""
    made_of(
        of, value=lambda x, s=None, axes=(-2, -1), norm=None: plain(x, s, axes, norm),
        samples=("A(3, 4)", f"{number}(3, 4)"),
    )


def along_axes(of, plain, number):
    """The definition of a transform along several axes by that of NumPy."""
    made_of(
        of, value=lambda x, s=None, axes=None, norm=None: plain(x, s, axes, norm),
        samples=("A(3, 4)", "A(2, 3, 4), axes=(0, 2)", f"{number}(2, 3, 4), (2, 5)"),
    )


for _name in ("fft", "ifft", "rfft", "irfft"):
    _number = "A" if _name == "rfft" else "C"
    along_an_axis(getattr(fft, _name), getattr(np.fft, _name), _number)
    of_matrices(getattr(fft, f"{_name}2"), getattr(np.fft, f"{_name}2"), _number)
    along_axes(getattr(fft, f"{_name}n"), getattr(np.fft, f"{_name}n"), _number)
made_of(fft.fftshift, value=lambda x, axes=None: np.fft.fftshift(x, axes), samples=("A(5)",))
made_of(fft.ifftshift, value=lambda x, axes=None: np.fft.ifftshift(x, axes), samples=("A(5)",))


# With `norm="ortho"` these are rotations: the transform back is the adjoint. Without, the matrix of
# type 2 is that of type 3 transposed, but for the weight of one end; type 1 weights both.


@linear(fft.dct)
@samples(
    "A(5), norm='ortho'", "A(3, 4), 3, axis=0, norm='ortho'", "A(4), 1, norm='ortho'", "A(4), 1",
    "A(5)", "A(3, 4), 3, axis=0", "A(4), 4, norm='forward'", "A(4), 2, norm='forward'",
)  # fmt: skip
def dct(x, type=2, *, axis=-1, norm=None):
    if norm == "ortho":
        d[x] += fft.idct(d[z], type, axis=axis, norm="ortho")
    elif type == 1:
        inner = fft.dct(scaled_ends(d[z], axis, 2.0, 2.0), 1, axis=axis, norm=norm)
        d[x] += scaled_ends(inner, axis, 0.5, 0.5)
    elif type == 2:
        d[x] += fft.dct(scaled_ends(d[z], axis, 2.0, 1.0), 3, axis=axis, norm=norm)
    elif type == 3:
        d[x] += scaled_ends(fft.dct(d[z], 2, axis=axis, norm=norm), axis, 0.5, 1.0)
    elif type == 4:
        d[x] += fft.dct(d[z], 4, axis=axis, norm=norm)
    else:
        refuse("the type must be a number that the source says")


@linear(fft.dst)
@samples(
    "A(5), norm='ortho'", "A(3, 4), 3, axis=0, norm='ortho'", "A(4), 1, norm='ortho'", "A(4), 1",
    "A(5)", "A(3, 4), 3, axis=0", "A(4), 4, norm='forward'", "A(4), 2, norm='forward'",
)  # fmt: skip
def dst(x, type=2, *, axis=-1, norm=None):
    if norm == "ortho":
        d[x] += fft.idst(d[z], type, axis=axis, norm="ortho")
    elif type == 2:
        d[x] += fft.dst(scaled_ends(d[z], axis, 1.0, 2.0), 3, axis=axis, norm=norm)
    elif type == 3:
        d[x] += scaled_ends(fft.dst(d[z], 2, axis=axis, norm=norm), axis, 1.0, 0.5)
    elif type == 1 or type == 4:
        d[x] += fft.dst(d[z], type, axis=axis, norm=norm)
    else:
        refuse("the type must be a number that the source says")


def of_cosines(one, several, one_back, several_back):
    """The definitions of the transforms back, and of those along several axes."""

    @composed(one_back)
    @samples(
        "A(5), norm='ortho'", "A(3, 4), 3, axis=0", "A(4)", "A(4), 1", "A(4), 2, norm='forward'"
    )
    def back(x, type=2, *, axis=-1, norm=None):
        return one(x, back_type(type), axis=axis, norm=swapped_norm(norm))

    @composed(several)
    @samples("A(3, 4)", "A(3, 4), 3, axes=(1,), norm='ortho'")
    def along_several(x, type=2, *, axes=None, norm=None):
        if axes is None:
            axes = last_axes(np.ndim(x))
        for k in range(len(axes)):
            x = one(x, type, axis=axes[k], norm=norm)
        return x

    @composed(several_back)
    @samples("A(3, 4)", "A(3, 4), axes=(0, 1), norm='ortho'")
    def back_along_several(x, type=2, *, axes=None, norm=None):
        return several(x, back_type(type), axes=axes, norm=swapped_norm(norm))


of_cosines(fft.dct, fft.dctn, fft.idct, fft.idctn)
of_cosines(fft.dst, fft.dstn, fft.idst, fft.idstn)


nondifferentiable(fft.fftfreq, fft.rfftfreq, fft.next_fast_len)
