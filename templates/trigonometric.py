"""Rules of the trigonometric and hyperbolic functions."""

import math

import numpy as np

from srcdiff.rules import conj, d, divisor, elementwise, samples
from srcdiff.runtime.arrays import divide_or_zero, sinc_slope


@elementwise(np.sin, math.sin)
@samples("A(3)", "A()", "C(3)")
def sin(x):
    z = np.sin(x)
    yield z
    d[x] += d[z] * conj(np.cos(x))


@elementwise(np.cos, math.cos)
@samples("A(3)", "A()", "C(3)")
def cos(x):
    z = np.cos(x)
    yield z
    d[x] += -d[z] * conj(np.sin(x))


@elementwise(np.tan, math.tan)
@samples("U(3)", "U()", "C(3)")
def tan(x):
    z = np.tan(x)
    yield z
    d[x] += d[z] * conj(1.0 + z * z)


@elementwise(np.arcsin, math.asin)
@samples("U(3)", "U()")
def arcsin(x):
    z = np.arcsin(x)
    yield z
    d[x] += d[z] / conj(np.sqrt(1.0 - x * x))


@elementwise(np.arccos, math.acos)
@samples("U(3)", "U()")
def arccos(x):
    z = np.arccos(x)
    yield z
    d[x] += -d[z] / conj(np.sqrt(1.0 - x * x))


@elementwise(np.arctan, math.atan)
@samples("A(3)", "A()", "C(3)")
def arctan(x):
    z = np.arctan(x)
    yield z
    d[x] += d[z] / conj(1.0 + x * x)


@elementwise(np.sinh, math.sinh)
@samples("A(3)", "A()")
def sinh(x):
    z = np.sinh(x)
    yield z
    d[x] += d[z] * conj(np.cosh(x))


@elementwise(np.cosh, math.cosh)
@samples("A(3)", "A()")
def cosh(x):
    z = np.cosh(x)
    yield z
    d[x] += d[z] * conj(np.sinh(x))


@elementwise(np.tanh, math.tanh)
@samples("A(3)", "A()", "C(3)")
def tanh(x):
    z = np.tanh(x)
    yield z
    d[x] += d[z] * conj(1.0 - z * z)


@elementwise(np.arcsinh, math.asinh)
@samples("A(3)", "A()")
def arcsinh(x):
    z = np.arcsinh(x)
    yield z
    d[x] += d[z] / conj(np.sqrt(x * x + 1.0))


@elementwise(np.arccosh, math.acosh)
@samples("P(3) + 1.0", "P() + 1.0", "C(3)", "C(3) - 1.0")
def arccosh(x):
    z = np.arccosh(x)
    yield z
    d[x] += d[z] / conj(np.sqrt(x - 1.0) * np.sqrt(x + 1.0))


@elementwise(np.arctanh, math.atanh)
@samples("U(3)", "U()")
def arctanh(x):
    z = np.arctanh(x)
    yield z
    d[x] += d[z] / conj(1.0 - divisor(x, z) * x)


@elementwise(np.arctan2, math.atan2)
@samples("A(3), A(3)", "A(2, 3), A(3)", "A(), A()", "A(3), 1.5")
def arctan2(y, x):
    z = np.arctan2(y, x)
    yield z
    d[y] += d[z] * divide_or_zero(x, x * x + y * y)
    d[x] += -d[z] * divide_or_zero(y, x * x + y * y)


@elementwise(np.hypot)
@samples("A(3), A(3)", "A(2, 3), A(3)", "A(), A()", "A(3), 1.5")
def hypot(x, y):
    z = np.hypot(x, y)
    yield z
    d[x] += d[z] * x / z
    d[y] += d[z] * y / z


@elementwise(np.sinc)
@samples("A(3)", "A()", "V([0.0, 1e-4, 0.5])", "C(3)")
def sinc(x):
    z = np.sinc(x)
    yield z
    d[x] += d[z] * conj(sinc_slope(x))


@elementwise(np.deg2rad, np.radians, math.radians)
@samples("A(3)", "A()")
def deg2rad(x):
    z = np.deg2rad(x)
    yield z
    d[x] += np.deg2rad(d[z])


@elementwise(np.rad2deg, np.degrees, math.degrees)
@samples("A(3)", "A()")
def rad2deg(x):
    z = np.rad2deg(x)
    yield z
    d[x] += np.rad2deg(d[z])
