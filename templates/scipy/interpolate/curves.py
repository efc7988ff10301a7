"""Rules of curves of `scipy.interpolate`, by the values that they go through, and where they are.

They are objects: a call of one makes the curve and evaluates it.  What they are is linear in the
values, with the curves through unit vectors as the matrix.
"""

import numpy as np
from scipy import interpolate

from srcdiff.rules import *
from srcdiff.runtime.linalg import all_axes, last_axes
from srcdiff.runtime.scipy.curves import interpolant

KNOTS = "np.array([0.0, 0.4, 1.0, 1.7, 2.0])"


class Interpolant:
    """What `make_interp_spline` and `CubicSpline` of `scipy.interpolate` make, as far as known."""

    def __init__(self, k, x, y):
        self.k = k
        self.x = x
        self.y = y

    def __call__(self, t, nu=0):
        return interpolant(self.k, self.x, self.y, t, nu)


class Interpolated(Interpolant):
    """What `scipy.interpolate.interp1d` makes, as far as it is known."""

    def __call__(self, t):
        if np.ndim(self.y) == 1:
            return interpolant(self.k, self.x, self.y, t, inside=True)
        # its points stand along the last axis, and so do the results
        z = interpolant(self.k, self.x, np.moveaxis(self.y, -1, 0), t, inside=True)
        return np.moveaxis(z, all_axes(np.ndim(t)), last_axes(np.ndim(t)))


@composed(interpolate.CubicSpline, early=True)
def cubic_spline(x, y, axis=0, bc_type="not-a-knot", extrapolate=None):
    if axis != 0 or extrapolate is not None:
        refuse("`axis` and `extrapolate` other than 0 and None")
    if bc_type not in ("not-a-knot", "natural", "clamped"):
        refuse("`bc_type` other than 'not-a-knot', 'natural' and 'clamped'")
    return Interpolant(bc_type, x, y)


@composed(interpolate.make_interp_spline, early=True)
def make_interp_spline(x, y, k=3):
    return Interpolant(k, x, y)


@composed(interpolate.interp1d, early=True)
def interp1d(x, y, kind="linear"):
    if kind == "linear":
        return Interpolated(1, x, y)
    if kind == "cubic":
        return Interpolated(3, x, y)
    if kind != "quadratic":
        refuse("`kind` other than 'linear', 'quadratic' and 'cubic'")
    return Interpolated(2, x, y)


@rule(interpolant)
@samples(
    f"3, {KNOTS}, A(5), P(3)", f"2, {KNOTS}, A(5, 2), P(3)", f"1, {KNOTS}, A(5), P(3), inside=True",
    f"3, {KNOTS}, C(5), V([0.2, 0.7, 1.9])",
    f"'not-a-knot', {KNOTS}, A(5), P(3)", f"'natural', {KNOTS}, A(5, 2), P(3)",
    f"'clamped', {KNOTS}, A(5), P()", f"'natural', {KNOTS}, A(5), P(2, 2), 1",
    f"'natural', {KNOTS}, C(5), V([0.2, 0.7, 1.9])",
)  # fmt: skip
def interpolant_(k, x, y, t, nu=0, *, inside=False):
    basis = interpolant(k, x, np.eye(len(x)), t, nu, inside=inside)
    if rank(y) == 1 and rank(t) == 1:
        d[y] += d[z] @ basis
    else:
        d[y] += np.tensordot(np.moveaxis(basis, -1, 0), d[z], np.ndim(t))
    slope = d[z] * conj(interpolant(k, x, y, t, nu + 1, inside=inside))
    d[t] += slope if rank(y) == 1 else np.sum(slope, axis=tuple(range(np.ndim(t), np.ndim(slope))))


unsupported(
    "Interpolate by `CubicSpline`, `make_interp_spline` or `interp1d`, or multiply the values by "
    "the matrix of the curve, which is what it makes of `np.eye(n)`.",
    interpolate.BSpline, interpolate.InterpolatedUnivariateSpline,
    interpolate.BarycentricInterpolator, interpolate.splrep, interpolate.splev,
    interpolate.KroghInterpolator, interpolate.CubicHermiteSpline,
    interpolate.RegularGridInterpolator, interpolate.RectBivariateSpline, interpolate.interpn,
    interpolate.LinearNDInterpolator, interpolate.griddata, interpolate.RBFInterpolator,
)  # fmt: skip
unsupported(
    "It is not linear in the values: use `CubicSpline`, `PchipInterpolator` or `interp1d`.",
    interpolate.Akima1DInterpolator, interpolate.UnivariateSpline,
)  # fmt: skip
