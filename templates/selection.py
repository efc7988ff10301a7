"""Rules of functions that choose between values, or keep a part of one."""

import math
import operator

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import real_like, unbroadcast, uncut


@elementwise(np.where)
@samples(
    "A(3) > 0, A(3), A(3)", "A(2, 3) > 0, A(3), A(2, 1)", "A(3) > 0, A(3), 0.0",
    "A(2, 3) > 0, A(), A(3)", "True, A(3), A(3)", "A(3) > 0, C(3), C(3)",
)  # fmt: skip
def where(condition, x, y):
    d[condition] += 0.0
    d[x] += np.where(condition, d[z], 0.0)
    d[y] += np.where(condition, 0.0, d[z])


def extremes(of, wins, numbers, *calls):
    """The rule of a maximum or minimum, by the comparison that it wins; nan loses to `numbers`."""

    @elementwise(of)
    @samples("A(3), A(3)", "A(2, 3), A(3)", "A(3), 0.0", "A(), A()", *calls)
    def extreme(x, y):
        first = wins(x, y) | np.isnan(y) if numbers else wins(x, y)
        second = wins(y, x) | np.isnan(x) if numbers else wins(y, x)
        d[x] += d[z] * first + 0.5 * d[z] * (x == y)
        d[y] += d[z] * second + 0.5 * d[z] * (x == y)


extremes(np.maximum, operator.gt, False)
extremes(np.minimum, operator.lt, False)
extremes(np.fmax, operator.gt, True, "V([np.nan, 1.0]), A(2)")
extremes(np.fmin, operator.lt, True, "V([np.nan, 1.0]), A(2)")


@elementwise(np.clip, np.ndarray.clip)
@samples(
    "A(5), -0.45, 0.65", "A(5), None, 0.65", "A(5), -0.45, None", "A(5), A(5) - 2, A(5) + 2",
    "A(5), None, None",
)  # fmt: skip
def clip(a, a_min=None, a_max=None):
    if a_min is None and a_max is None:
        d[a] += d[z]
    elif a_max is None:
        d[a] += d[z] * (a >= a_min)
    elif a_min is None:
        d[a] += d[z] * (a <= a_max)
    else:
        d[a] += d[z] * ((a_min <= a) & (a <= a_max))
    if a_min is not None:
        if a_max is None:
            d[a_min] += d[z] * (a < a_min)
        else:
            d[a_min] += d[z] * ((a < a_min) & (a_min < a_max))
    if a_max is not None:
        if a_min is None:
            d[a_max] += d[z] * (a > a_max)
        else:
            d[a_max] += d[z] * ((a > a_max) | (a_min > a_max))


scalar_rule(
    np.copysign, math.copysign, slope=lambda x, y, z: (np.sign(x) * np.sign(z), 0.0),
    samples=("A(3), A(3)", "A(2, 3), -1.0", "A(), A()"),
)


@elementwise(np.nan_to_num)
@samples("A(3)", "A()", "V([1.0, np.nan, 2.0])")
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    d[x] += d[z] * np.isfinite(x)


@linear(np.conjugate, np.conj, np.ndarray.conj, np.ndarray.conjugate)
@samples("A(3)", "C(3)", "A()")
def conjugate(x):
    d[x] += np.conj(d[z])


@linear(np.real, np.ndarray.real, view="val")
@samples("A(3)", "C(3)", "A()")
def real(val):
    if iscomplex(val):
        d[val] += d[z] + np.zeros_like(val)
    else:
        d[val] += d[z]


@rule(np.imag, np.ndarray.imag, view="val")
@samples("A(3)", "C(3)", "A()")
def imag(val):
    if iscomplex(val):
        d[val] += 1j * d[z]


@rule(np.angle)
@samples("C(3)")
def angle(z):
    a = np.angle(z)
    yield a
    if iscomplex(z):
        d[z] += 1j * (d[a] / np.abs(z) ** 2) * z


@linear(np.real_if_close)
@samples("A(3)")
def real_if_close(a):
    if iscomplex(a):
        refuse("of complex numbers, whose values say what it gives: `np.real(a)`, or `a` as it is")
    d[a] += d[z]


@linear(np.choose)
@samples(
    "np.array([0, 1, 0]), (A(3), A(3))", "[0, 1, 0], [A(3), A(3)]", "[[1], [0]], [A(3), A(3)]",
    "[1, 0], [A(), A(3, 1)]", "[[1], [0]], A(2, 3)",
)  # fmt: skip
def choose(a, choices):
    for k in range(len(choices)):
        d[choices][k] += unbroadcast(d[z] * np.equal(a, k), choices[k])


scalar_rule(
    np.heaviside, slope=lambda x1, x2, z: (0.0, x1 == 0.0),
    samples=("A(3), A(3)", "np.zeros(2), A(2)", "A(), 0.5"),
)


@linear(real_like, view="g", constant="x")
@samples("A(3), A(3)", "C(3), A(3)", "C(3), C(3)")
def real_like_(g, x):
    d[g] += d[z]


@linear(uncut, view="d_", constant="x")
@samples("A(3), A(3)", "C(3), A(3)")
def uncut_(d_, x):
    d[d_] += uncut(d[z], x)
