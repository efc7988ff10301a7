"""Rules of exponentials, logarithms and roots, of trigonometric and hyperbolic functions."""

import math

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import divide_or_zero, sinc_slope

REAL, POSITIVE, INNER = ("A(3)", "A()"), ("P(3)", "P()"), ("U(3)", "U()")
ANALYTIC = ("A(3)", "A()", "C(3)")

scalar_rule(np.exp, math.exp, slope=lambda x, z: z, samples=ANALYTIC)
scalar_rule(
    np.exp2, getattr(math, "exp2", None), slope=lambda x, z: z * math.log(2.0), samples=REAL,
)
scalar_rule(np.expm1, math.expm1, slope=lambda x, z: z + 1.0, samples=ANALYTIC)
scalar_rule(np.log, slope=lambda x, z: 1.0 / divisor(x, z), samples=("P(3)", "P()", "C(3)"))
scalar_rule(
    np.log2, math.log2, slope=lambda x, z: 1.0 / (conj(divisor(x, z)) * math.log(2.0)),
    samples=POSITIVE,
)
scalar_rule(
    np.log10, math.log10, slope=lambda x, z: 1.0 / (conj(divisor(x, z)) * math.log(10.0)),
    samples=POSITIVE,
)
scalar_rule(np.log1p, math.log1p, slope=lambda x, z: 1.0 / (1.0 + divisor(x, z)), samples=POSITIVE)
scalar_rule(np.sqrt, slope=lambda x, z: 1.0 / (2.0 * conj(z)), samples=("P(3)", "P()", "C(3)"))
scalar_rule(
    np.cbrt, getattr(math, "cbrt", None), slope=lambda x, z: 1.0 / (3.0 * divisor(z) * z),
    samples=POSITIVE,
)


@elementwise(math.log)
@samples("P()", "P(), 3.0", "P(), P() + 1.0")
def math_log(x, base=None):
    if base is None:
        d[x] += d[z] / x
    else:
        d[x] += d[z] / (x * math.log(base))
        d[base] += -d[z] * z / (base * math.log(base))


@elementwise(math.sqrt)
@samples("P()")
def math_sqrt(x):
    d[x] += 0.5 * d[z] / divisor(z)


scalar_rule(
    np.logaddexp, slope=lambda x, y, z: (np.exp(x - z), np.exp(y - z)),
    samples=("A(3), A(3)", "A(2, 3), A(3)", "A(), A()", "A(3), 0.0"),
)
scalar_rule(
    np.logaddexp2, slope=lambda x, y, z: (np.exp2(x - z), np.exp2(y - z)),
    samples=("A(3), A(3)", "A(2, 3), A(3)", "A(), A()", "A(3), 0.0"),
)


# --- angles and hyperbolic functions -----------------------------------------------------------


scalar_rule(np.sin, math.sin, slope=lambda x, z: np.cos(x), samples=ANALYTIC)
scalar_rule(np.cos, math.cos, slope=lambda x, z: -np.sin(x), samples=ANALYTIC)
scalar_rule(np.tan, math.tan, slope=lambda x, z: 1.0 + z * z, samples=("U(3)", "U()", "C(3)"))
scalar_rule(np.arcsin, math.asin, slope=lambda x, z: 1.0 / np.sqrt(1.0 - x * x), samples=INNER)
scalar_rule(np.arccos, math.acos, slope=lambda x, z: -1.0 / np.sqrt(1.0 - x * x), samples=INNER)
scalar_rule(np.arctan, math.atan, slope=lambda x, z: 1.0 / (1.0 + x * x), samples=ANALYTIC)
scalar_rule(np.sinh, math.sinh, slope=lambda x, z: np.cosh(x), samples=REAL)
scalar_rule(np.cosh, math.cosh, slope=lambda x, z: np.sinh(x), samples=REAL)
scalar_rule(np.tanh, math.tanh, slope=lambda x, z: 1.0 - z * z, samples=ANALYTIC)
scalar_rule(np.arcsinh, math.asinh, slope=lambda x, z: 1.0 / np.sqrt(x * x + 1.0), samples=REAL)
scalar_rule(
    np.arccosh, math.acosh, slope=lambda x, z: 1.0 / (np.sqrt(x - 1.0) * np.sqrt(x + 1.0)),
    samples=("P(3) + 1.0", "P() + 1.0", "C(3)", "C(3) - 1.0"),
)
scalar_rule(
    np.arctanh, math.atanh, slope=lambda x, z: 1.0 / (1.0 - divisor(x, z) * x), samples=INNER,
)
scalar_rule(
    np.arctan2, math.atan2,
    slope=lambda y, x, z: (divide_or_zero(x, x * x + y * y), -divide_or_zero(y, x * x + y * y)),
    samples=("A(3), A(3)", "A(2, 3), A(3)", "A(), A()", "A(3), 1.5"),
)
scalar_rule(
    np.hypot, slope=lambda x, y, z: (x / z, y / z),
    samples=("A(3), A(3)", "A(2, 3), A(3)", "A(), A()", "A(3), 1.5"),
)
scalar_rule(
    np.sinc, slope=lambda x, z: sinc_slope(x),
    samples=("A(3)", "A()", "V([0.0, 1e-4, 0.5])", "C(3)"),
)


def angles(of, *others):
    """The rule of a change of units, which is its own slope."""

    @elementwise(of, *others)
    @samples("A(3)", "A()")
    def angle(x):
        d[x] += of(d[z])


angles(np.deg2rad, np.radians, math.radians)
angles(np.rad2deg, np.degrees, math.degrees)
