"""Straight-line code over scalars and arrays."""

import math
from math import exp as e_to_the

import numpy as np
from numpy import sin

from .registry import sample


def polynomial(x):
    return 3.0 * x**3 - 2.0 * x**2 + x - 7.0


sample(polynomial, lambda r: (1.3,))


def scalar_chain(x, y):
    a = x * y
    b = a + math.sin(a)
    c = b / (1.0 + y * y)
    return c * c - a


sample(scalar_chain, lambda r: (0.7, -1.2), (0, 1))


def math_functions(x, y):
    a = math.exp(x) + math.log(y) + math.sqrt(y)
    b = math.cos(x) * math.tan(x) - math.atan2(x, y)
    c = math.sinh(x) + math.cosh(x) * math.tanh(y)
    d = math.asin(x) + math.acos(x) - math.atan(y)
    e = math.hypot(x, y) + math.pow(y, x) + math.fabs(-y)
    return a + b * c - d * e


sample(math_functions, lambda r: (0.4, 1.7), ("x", "y"))


def more_math(x):
    a = math.log1p(x) + math.expm1(x) + math.log2(x) - math.log10(x)
    return a * math.asinh(x) + math.acosh(1.0 + x) - math.atanh(x) + math.degrees(math.radians(x))


sample(more_math, lambda r: (0.6,))


def ufuncs(x):
    a = np.sin(x) + np.cos(x) * np.tan(x)
    b = np.exp(-x) + np.log(x) + np.sqrt(x) + np.square(x)
    c = np.arcsin(0.5 * x) - np.arccos(0.5 * x) + np.arctan(x)
    d = np.sinh(x) + np.cosh(x) - np.tanh(x)
    return a * b + c * d


sample(ufuncs, lambda r: (r.uniform(0.5, 1.5, (3, 2)),))


def more_ufuncs(x):
    a = np.log1p(x) + np.expm1(x) + np.log2(x) + np.log10(x) + np.exp2(x)
    b = np.arcsinh(x) + np.arccosh(1.0 + x) + np.arctanh(0.3 * x)
    c = np.reciprocal(x) + np.cbrt(x) + np.deg2rad(x) - np.rad2deg(x) / 50.0
    return a * b - np.negative(c) + np.positive(x)


sample(more_ufuncs, lambda r: (r.uniform(0.5, 1.5, 4),))


def binary_ufuncs(x, y):
    a = np.add(x, y) * np.subtract(x, y)
    b = np.multiply(x, y) / np.divide(x, y)
    c = np.power(x, y) + np.hypot(x, y) + np.arctan2(x, y)
    d = np.logaddexp(x, y) + np.logaddexp2(x, y)
    return a - b + c * d


sample(binary_ufuncs, lambda r: (r.uniform(0.5, 1.5, (2, 3)), r.uniform(0.5, 1.5, 3)), (0, 1))


def operators(x, y):
    z = +x - (-y)
    z = z * x / y - x // 0.7 + (x % 0.7)
    return z**2 + 2.0**x + y**-1.5


sample(operators, lambda r: (r.uniform(1.0, 1.3, 4), r.uniform(1.0, 2.0, 4)), (0, 1))


def broadcasting(a, b, c):
    return (a[:, None] * b + c) ** 2 / (1.0 + b * b)


sample(
    broadcasting,
    lambda r: (r.standard_normal(3), r.standard_normal(4), r.standard_normal((1, 1))),
    (0, 1, 2),
)


def scalar_times_array(s, x):
    return np.sum(s * x + s / (2.0 + x * x))


sample(scalar_times_array, lambda r: (1.5, r.standard_normal((2, 3))), ("s", "x"))


def names_from_elsewhere(x):
    return sin(x) * e_to_the(-x) + np.pi * x - math.e


sample(names_from_elsewhere, lambda r: (0.3,))


def redefinitions(x):
    h = x * 2.0
    h = np.tanh(h)
    h = h * x
    y = h
    h = y * y
    return h + y


sample(redefinitions, lambda r: (r.standard_normal(3),))


def chained_assignment(x):
    a = b = x * x
    c, d = a + 1.0, b * 2.0
    c, d = d, c
    (e, f), g = (c * d, c - d), x
    return e * f + g


sample(chained_assignment, lambda r: (0.8,))


def starred(x, y):
    first, *middle, last = x, y, x * y, x - y
    return first * middle[0] + middle[1] * last


sample(starred, lambda r: (0.8, 1.9), (0, 1))


def augmented(x, y):
    s = x
    s += y
    s *= x
    s -= 2.0 * y
    s /= x + 3.0
    s **= 2
    return s


sample(augmented, lambda r: (0.8, 1.9), (0, 1))


def walrus(x):
    if (h := np.sum(x * x)) > 1.0:
        return h * x
    return x - h


sample(walrus, lambda r: (r.standard_normal(4) + 1.0,))
sample(walrus, lambda r: (r.uniform(0.0, 0.2, 4),))


def ternary_and_or(x, y):
    big = x if x > y else y
    both = x > 0.0 and y > 0.0
    z = big * 2.0 if both else big
    w = x or y
    v = x and y
    return z * w + v if not both or 0.0 < x < 10.0 else z


sample(ternary_and_or, lambda r: (0.8, 1.9), (0, 1))
sample(ternary_and_or, lambda r: (-0.8, 1.9), (0, 1))


def power_cases(x, n, a):
    return x**n + x**0.5 + a**x + x**2 + (x * x) ** -1


sample(power_cases, lambda r: (r.uniform(0.5, 2.0, 3), 3, 1.7), ("x", "a"))


def abs_sign_clip(x):
    a = np.abs(x) + abs(x) * np.sign(x)
    b = np.clip(x, -0.5, 0.5) + np.maximum(x, 0.1) * np.minimum(x, 0.2)
    return a + b + np.where(x > 0.0, x * x, np.exp(x)) + np.floor(x) + np.fabs(x)


sample(abs_sign_clip, lambda r: (np.array([-1.2, -0.3, 0.15, 0.4, 0.9]),))


def casts(x):
    a = float(x[0]) * 2.0
    b = x[1].item()
    c = np.asarray(x[2:]).copy()
    d = c.astype(np.float64)
    n = int(x[0])
    return a * b + np.sum(d * c) + n


sample(casts, lambda r: (r.uniform(1.1, 1.9, 5),))


def single_precision(x):
    h = np.tanh(x)
    return np.sum(h * h) * np.float32(0.5)


sample(
    single_precision,
    lambda r: (r.standard_normal(4).astype(np.float32),),
    gradient=lambda x, ct: ct * np.tanh(x) * (1 - np.tanh(x) ** 2),
    second=lambda x, ct, u: ct * u * (1 - np.tanh(x) ** 2) * (1 - 3 * np.tanh(x) ** 2),
    tolerance=1e-5,
)


def complex_modulus(z):
    w = z * z + 1.0j * z
    return np.sum(np.abs(w) ** 2) + np.sum(w.real * w.imag)


sample(complex_modulus, lambda r: (r.standard_normal(3) + 1j * r.standard_normal(3),))


def complex_from_real(x, y):
    z = x + 1j * y
    w = np.exp(z) * np.conj(z)
    return w.real - 2.0 * np.imag(w)


sample(complex_from_real, lambda r: (r.standard_normal(3), r.standard_normal(3)), (0, 1))


def prints_and_asserts(x, verbose=False):
    """A docstring that stays."""
    assert x.ndim == 1, f"expected a vector, got {x.ndim} axes"
    scale: float = 2.0
    if verbose:
        print(f"scale = {scale:.2f}")
    if x.shape[0] == 0:
        raise ValueError("empty")
    y = scale * np.sin(x)  # the only line that matters
    del scale
    return y


sample(prints_and_asserts, lambda r: (r.standard_normal(3),))


def sum_times_itself(x, y):
    return (y + x) * (y + x)


sample(sum_times_itself, lambda r: (r.standard_normal(3), r.standard_normal(3)), (0, 1))


def real_parts_stored(z):
    """Real numbers that are stored in complex arrays, item by item and whole."""
    w = z.copy()
    w[0] = abs(w[0])
    w[1] += w[2].real ** 2
    u = np.zeros(3, complex)
    u[:] = w.real**3
    return u * w


sample(real_parts_stored, lambda r: (r.standard_normal(3) + 1j * r.standard_normal(3),))


def complex_after_real(z):
    """An adjoint to which a real number is added first, then complex ones."""
    r = np.abs(z)
    y = r**1.5 * z
    w = z.copy()
    w[2] = np.max(z.real)
    return w * (y.real @ r)


sample(complex_after_real, lambda r: (r.standard_normal(3) + 1j * r.standard_normal(3),))


def lists_of_integers(x):
    """Lists among the operands, which a rule has to compute with."""
    y = np.power(x, [2, 3]) + np.power([2, 3], x) * np.arctan2([1, 2], x)
    return y - np.interp(x, [0, 9], [1, 5])


sample(lists_of_integers, lambda r: (r.uniform(0.3, 2.0, 2),))


def ranges_as_operands(x):
    n = len(x)
    y = x ** range(n) + np.arctan2(x, range(1, n + 1)) + np.power(x, range(2, n + 2))
    return np.interp([0.3, 1.6], range(n), y) * np.sum(x * range(n))


sample(ranges_as_operands, lambda r: (r.uniform(0.5, 1.5, 3),))


def texts_taken_out_of_arrays(x):
    first = np.asarray(["sin", "cos"])[0]
    names = np.atleast_1d(first)
    return np.sin(x) * len(names) if names[0] == "sin" else np.cos(x)


sample(texts_taken_out_of_arrays, lambda r: (0.4,))
