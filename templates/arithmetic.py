"""Rules of the arithmetic operators and the functions that are the same."""

import math
import operator

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import divide_or_zero, log_or_zero, power_slope

PAIRS = ("A(3), A(3)", "A(2, 3), A(3)", "A(2, 1), A(3)", "A(3), A()", "A(), A()")

scalar_rule(operator.pos, np.positive, slope=lambda x, z: 1.0, samples=("A(3)", "A()"))
scalar_rule(operator.neg, np.negative, slope=lambda x, z: -1.0, samples=("A(3)", "A()"))
scalar_rule(
    operator.add, np.add, slope=lambda x, y, z: (1.0, 1.0),
    samples=(*PAIRS, "C(3), C(2, 3)", "A(3), C(3)"),
)
scalar_rule(
    operator.sub, np.subtract, slope=lambda x, y, z: (1.0, -1.0),
    samples=(*PAIRS, "C(3), A(3)"),
)
scalar_rule(
    operator.mul, np.multiply, slope=lambda x, y, z: (y, x),
    samples=(*PAIRS, "2, A(3)", "C(3), C(3)", "A(3), C(3)", "C(3), A(2, 3)"),
)


@elementwise(operator.truediv, np.divide, np.true_divide)
@samples(
    "A(3), P(3)", "A(2, 3), P(3)", "A(2, 1), P(3)", "A(3), P()", "A(), P()", "1.0, P(3)",
    "C(3), C(3)", "A(3), C(3)", "C(3), P(3)",
)  # fmt: skip
def divide(x, y):
    d[x] += d[z] / conj(divisor(y, z))
    d[y] += -(d[z] / conj(divisor(y, z))) * conj(z)


@elementwise(operator.pow, np.power, np.float_power, math.pow, pow)
@samples(
    "P(3), A(3)", "P(2, 3), A(3)", "P(2, 1), A()", "P(), A()", "2.0, A(3)", "A(3), 2", "A(), 2",
    "A(3), 3", "A(3), 1", "A(3), 0", "P(3), 0.5", "P(3), -1", "P(3), -1.5", "A(3), 2.0",
    "A(3), np.array([0, 1, 2])", "V([0.0, 1.0]), np.array([2, 3])",
    "C(3), 2", "C(3), 3", "C(3), 0.5", "C(3), -1", "C(3), 2.5", "C(3), C(3)",
    "-2.0, C(3)", "A(3), C(3)", "2.0, C(3)",
)  # fmt: skip
def power(x, y):
    if known(y) and isscalar(y):
        if y == 2:
            d[x] += 2.0 * conj(x) * d[z]
        elif y == 1:
            d[x] += d[z]
        elif y == 3:
            d[x] += 3.0 * conj(x) ** 2 * d[z]
        elif y == -1:
            d[x] += -conj(z * z) * d[z]
        elif y == 0.5:
            d[x] += 0.5 * d[z] / conj(divisor(z))
        elif y > 1:
            d[x] += y * conj(x ** (y - 1)) * d[z]
        elif y > 0:
            d[x] += y * conj(divisor(x) ** (y - 1)) * d[z]
        elif y != 0:
            d[x] += y * conj(divisor(x, z) ** (y - 1)) * d[z]
    else:
        d[x] += d[z] * conj(power_slope(divisor(x), y))
    if not iscomplex(x) and known(x) and x > 0:
        d[y] += d[z] * conj(z) * math.log(x)
    elif iscomplex(y) and not iscomplex(x):
        d[y] += d[z] * conj(z * log_or_zero(x + 0j))
    else:
        d[y] += d[z] * conj(z * log_or_zero(x))


@elementwise(np.square)
@samples("A(3)", "A(2, 3)", "A()", "C(3)")
def square(x):
    d[x] += 2.0 * conj(x) * d[z]


@elementwise(np.reciprocal)
@samples("P(3)", "P()", "C(3)")
def reciprocal(x):
    d[x] += -conj(z * z) * d[z]


scalar_rule(
    operator.mod, np.mod, np.remainder, slope=lambda x, y, z: (1.0, -(x // divisor(y, z))),
    samples=("A(3), P(3) + 2.0", "A(2, 3), P(3) + 2.0", "A(3), -2.7", "A(), P()"),
)
scalar_rule(
    np.fmod, math.fmod, slope=lambda x, y, z: (1.0, -np.trunc(x / divisor(y, z))),
    samples=("A(3), P(3)", "A(2, 3), P(3)", "A(), P()"),
)


@elementwise(operator.abs, np.absolute, np.fabs, math.fabs, abs)
@samples("A(3)", "A()", "C(3)")
def absolute(x):
    d[x] += d[z] * np.sign(x)


@elementwise(np.sign)
@samples("A(3)", "A()", "C(3)")
def sign(x):
    if iscomplex(x):
        d[x] += divide_or_zero(d[z] - z * np.real(d[z] * conj(z)), np.abs(x))
    else:
        d[x] += 0.0


@elementwise(np.ldexp, math.ldexp)
@samples("A(3), 3", "A(3), np.array([1, 2, 3])", "A(), 2")
def ldexp(x, i):
    d[x] += np.ldexp(d[z], i)


nondifferentiable(operator.floordiv, np.floor_divide)
