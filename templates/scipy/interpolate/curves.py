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


# --- cubics that are as monotone as their points -----------------------------------------------

# They are made and evaluated in NumPy, step by step as in SciPy, so that points, values and places
# have derivatives.  Where the slope at a point jumps, it has that of the branch that is taken.


class Monotone:
    """What `scipy.interpolate.PchipInterpolator` makes, as far as it is known."""

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __call__(self, t, nu=0):
        return _values(self.x, self.y, t, nu)


@composed(interpolate.PchipInterpolator, early=True)
def pchip(x, y, axis=0, extrapolate=None):
    if axis != 0 or extrapolate is not None:
        refuse("`axis` and `extrapolate` other than 0 and None")
    return Monotone(x, y)


@composed(interpolate.pchip_interpolate)
@samples(
    "np.array([0.0, 0.4, 1.0, 1.7, 2.0]), A(5), P(3)", "V([0.0, 0.4, 1.0, 1.7]), A(4, 2), P(2)",
    "V([0.0, 0.4, 1.0]), V([0.1, 0.3, 2.0]), V([-0.5, 0.1, 0.6, 1.5])",
    "V([0.0, 2.0]), A(2), A(3)", "V([0.0, 0.4, 1.0, 1.7]), V([0.0, 2.0, 1.9, 2.4]), P(2, 2), 1",
    "V([0.0, 0.4, 1.0]), P(3), P()",
    "V([0.0, 0.4, 1.0, 1.7]), V([0.0, 1.0, 1.2, 2.0]), P(2), der=2",
    "V([0.0, 0.7, 1.0]), P(3), U(2), 3", "V([0.0, 0.4, 1.0]), A(3), A(2), 4",
    "[0.0, 0.4, 1.0, 1.7], V([0.0, -0.3, 1.0, 0.8]), V([0.3, 1.1])",
)  # fmt: skip
def pchip_interpolate(xi, yi, x, der=0, axis=0):
    if axis != 0 or not isscalar(der):
        refuse("`axis` must be 0, and `der` one number")
    return _values(xi, yi, x, der)


def _values(points, values, t, nu):
    """The same as arrays, of one number without axes."""
    z = _curve(points, values, t, nu)
    return z if np.ndim(z) else np.asarray(z)


def _curve(points, values, t, nu):
    """The derivative of order `nu` of the curve through some points, at `t`."""
    if np.iscomplexobj(values):
        raise ValueError("the values must be real")
    x, y, at = np.asarray(points, float), np.asarray(values, float), np.asarray(t, float)
    finite = np.all(np.isfinite(x)) and np.all(np.isfinite(y))
    if len(x) != len(y) or len(x) < 2 or not finite or np.any(x[1:] <= x[:-1]):
        raise ValueError("two or more finite points must increase, each with a finite value")
    h = np.reshape(x[1:] - x[:-1], (len(x) - 1,) + (1,) * (np.ndim(y) - 1))
    m = (y[1:] - y[:-1]) / h
    slopes = np.concatenate((m, m)) if len(x) == 2 else _slopes(h, m)
    k = np.clip(np.searchsorted(x, at, "right") - 1, 0, len(x) - 2)
    s, left = np.reshape(at - x[k], np.shape(h[k])), slopes[k]
    third = (left + slopes[k + 1] - 2.0 * m[k]) / h[k]
    second = (m[k] - left) / h[k] - third
    third = third / h[k]
    if nu == 0:
        return y[k] + s * (left + s * (second + s * third))
    if nu == 1:
        return left + s * (2.0 * second + s * 3.0 * third)
    if nu == 2:
        return 2.0 * second + s * 6.0 * third
    return 6.0 * third + 0.0 * s if nu == 3 else 0.0 * (left + s)


def _slopes(h, m):
    """The slopes of the curve at its points, by those between them: harmonic means, or zero."""
    flat = (np.sign(m[1:]) != np.sign(m[:-1])) | (m[1:] == 0.0) | (m[:-1] == 0.0)
    w, v = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    mean = (w / np.where(flat, 1.0, m[:-1]) + v / np.where(flat, 1.0, m[1:])) / (w + v)
    inner = np.where(flat, 0.0, 1.0 / mean)
    first, last = _at_end(h[:1], h[1:2], m[:1], m[1:2]), _at_end(h[-1:], h[-2:-1], m[-1:], m[-2:-1])
    return np.concatenate((first, inner, last))


def _at_end(h, further, m, next_one):
    """The slope at the first point."""
    slope = ((2.0 * h + further) * m - h * next_one) / (h + further)
    steep = (np.sign(m) != np.sign(next_one)) & (np.abs(slope) > 3.0 * np.abs(m))
    return np.where(np.sign(slope) != np.sign(m), 0.0, np.where(steep, 3.0 * m, slope))


unsupported(
    "Interpolate by `CubicSpline`, `make_interp_spline` or `interp1d`, or multiply the values by "
    "the matrix of the curve, which is what it makes of `np.eye(n)`.",
    *members(interpolate, "BSpline InterpolatedUnivariateSpline BarycentricInterpolator splrep "
                          "splev KroghInterpolator CubicHermiteSpline RegularGridInterpolator "
                          "RectBivariateSpline interpn LinearNDInterpolator griddata "
                          "RBFInterpolator"),
)  # fmt: skip
unsupported(
    "It is not linear in the values: use `CubicSpline`, `PchipInterpolator` or `interp1d`.",
    interpolate.Akima1DInterpolator, interpolate.UnivariateSpline,
)  # fmt: skip
