"""Rules of integrals of samples in `scipy.integrate`."""

import numpy as np
from scipy import integrate

from srcdiff.rules import *

made_of(
    integrate.trapezoid, value=lambda y, x=None, dx=1.0, axis=-1: np.trapezoid(y, x, dx, axis),
    samples=("A(4)", "A(3, 4), None, 0.5, 0", "A(4), A(4)", "A(3, 4), A(4)", "A(4), dx=A()"),
)


@composed(integrate.cumulative_trapezoid)
@samples(
    "A(4)", "A(3, 4), None, 0.5, 0", "A(4), A(4)", "A(3, 4), A(4)", "A(4), dx=A()",
    "A(3, 4), initial=0",
)  # fmt: skip
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    rows = np.moveaxis(y, axis, -1)
    step = dx if x is None else np.diff(x, axis=-1)
    z = np.cumsum(0.5 * step * (rows[..., 1:] + rows[..., :-1]), axis=-1)
    if initial is not None:
        z = np.concatenate((np.zeros_like(rows[..., :1]), z), axis=-1)
    return np.moveaxis(z, -1, axis)


# The weights of the rule are what it makes of an identity matrix.


@linear(integrate.simpson)
@samples("A(5)", "A(6)", "A(3, 4), dx=0.5, axis=0", "A(4), np.array([0.0, 0.3, 1.0, 1.5])")
def simpson(y, x=None, *, dx=1.0, axis=-1):
    weights = integrate.simpson(np.eye(np.shape(y)[axis]), x, dx=dx)
    if rank(y) == 1:
        d[y] += d[z] * weights
    else:
        d[y] += np.moveaxis(np.multiply.outer(d[z], weights), -1, axis)


@linear(integrate.romb)
@samples("A(5)", "A(3, 5), 0.5", "A(3, 2), axis=0")
def romb(y, dx=1.0, axis=-1):
    weights = integrate.romb(np.eye(np.shape(y)[axis]), dx)
    if rank(y) == 1:
        d[y] += d[z] * weights
    else:
        d[y] += np.moveaxis(np.multiply.outer(d[z], weights), -1, axis)


unsupported(
    "Sum over nodes and weights (`scipy.special.roots_legendre`), or step with a loop of your own.",
    integrate.dblquad, integrate.tplquad, integrate.nquad, integrate.quad_vec,
    integrate.solve_bvp, integrate.fixed_quad,
)  # fmt: skip
