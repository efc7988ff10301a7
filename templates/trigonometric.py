"""Rules of the trigonometric and hyperbolic functions."""

import math

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import divide_or_zero, sinc_slope

scalar_rule(np.sin, math.sin, slope=lambda x, z: np.cos(x), samples=("A(3)", "A()", "C(3)"))
scalar_rule(np.cos, math.cos, slope=lambda x, z: -np.sin(x), samples=("A(3)", "A()", "C(3)"))
scalar_rule(np.tan, math.tan, slope=lambda x, z: 1.0 + z * z, samples=("U(3)", "U()", "C(3)"))
scalar_rule(
    np.arcsin, math.asin, slope=lambda x, z: 1.0 / np.sqrt(1.0 - x * x),
    samples=("U(3)", "U()"),
)
scalar_rule(
    np.arccos, math.acos, slope=lambda x, z: -1.0 / np.sqrt(1.0 - x * x),
    samples=("U(3)", "U()"),
)
scalar_rule(
    np.arctan, math.atan, slope=lambda x, z: 1.0 / (1.0 + x * x),
    samples=("A(3)", "A()", "C(3)"),
)
scalar_rule(np.sinh, math.sinh, slope=lambda x, z: np.cosh(x), samples=("A(3)", "A()"))
scalar_rule(np.cosh, math.cosh, slope=lambda x, z: np.sinh(x), samples=("A(3)", "A()"))
scalar_rule(np.tanh, math.tanh, slope=lambda x, z: 1.0 - z * z, samples=("A(3)", "A()", "C(3)"))
scalar_rule(
    np.arcsinh, math.asinh, slope=lambda x, z: 1.0 / np.sqrt(x * x + 1.0),
    samples=("A(3)", "A()"),
)
scalar_rule(
    np.arccosh, math.acosh, slope=lambda x, z: 1.0 / (np.sqrt(x - 1.0) * np.sqrt(x + 1.0)),
    samples=("P(3) + 1.0", "P() + 1.0", "C(3)", "C(3) - 1.0"),
)
scalar_rule(
    np.arctanh, math.atanh, slope=lambda x, z: 1.0 / (1.0 - divisor(x, z) * x),
    samples=("U(3)", "U()"),
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
