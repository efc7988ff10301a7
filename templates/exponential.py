"""Rules of exponentials, logarithms and roots."""

import math

import numpy as np

from srcdiff.rules import conj, d, divisor, elementwise, samples


@elementwise(np.exp, math.exp)
@samples("A(3)", "A()", "C(3)")
def exp(x):
    z = np.exp(x)
    yield z
    d[x] += d[z] * conj(z)


@elementwise(np.exp2, getattr(math, "exp2", None))
@samples("A(3)", "A()")
def exp2(x):
    z = np.exp2(x)
    yield z
    d[x] += d[z] * conj(z) * math.log(2.0)


@elementwise(np.expm1, math.expm1)
@samples("A(3)", "A()", "C(3)")
def expm1(x):
    z = np.expm1(x)
    yield z
    d[x] += d[z] * conj(z + 1.0)


@elementwise(np.log)
@samples("P(3)", "P()", "C(3)")
def log(x):
    z = np.log(x)
    yield z
    d[x] += d[z] / conj(divisor(x, z))


@elementwise(np.log2, math.log2)
@samples("P(3)", "P()")
def log2(x):
    z = np.log2(x)
    yield z
    d[x] += d[z] / (conj(divisor(x, z)) * math.log(2.0))


@elementwise(np.log10, math.log10)
@samples("P(3)", "P()")
def log10(x):
    z = np.log10(x)
    yield z
    d[x] += d[z] / (conj(divisor(x, z)) * math.log(10.0))


@elementwise(np.log1p, math.log1p)
@samples("P(3)", "P()")
def log1p(x):
    z = np.log1p(x)
    yield z
    d[x] += d[z] / conj(1.0 + divisor(x, z))


@elementwise(np.sqrt)
@samples("P(3)", "P()", "C(3)")
def sqrt(x):
    z = np.sqrt(x)
    yield z
    d[x] += d[z] / (2.0 * conj(z))


@elementwise(np.cbrt, getattr(math, "cbrt", None))
@samples("P(3)", "P()")
def cbrt(x):
    z = np.cbrt(x)
    yield z
    d[x] += d[z] / (3.0 * divisor(z) * z)


@elementwise(math.log)
@samples("P()", "P(), 3.0", "P(), P() + 1.0")
def math_log(x, base=None):
    z = math.log(x) if base is None else math.log(x, base)
    yield z
    if base is None:
        d[x] += d[z] / x
    else:
        d[x] += d[z] / (x * math.log(base))
        d[base] += -d[z] * z / (base * math.log(base))


@elementwise(math.sqrt)
@samples("P()")
def math_sqrt(x):
    z = math.sqrt(x)
    yield z
    d[x] += 0.5 * d[z] / divisor(z)


@elementwise(np.logaddexp)
@samples("A(3), A(3)", "A(2, 3), A(3)", "A(), A()", "A(3), 0.0")
def logaddexp(x, y):
    z = np.logaddexp(x, y)
    yield z
    d[x] += d[z] * np.exp(x - z)
    d[y] += d[z] * np.exp(y - z)


@elementwise(np.logaddexp2)
@samples("A(3), A(3)", "A(2, 3), A(3)", "A(), A()", "A(3), 0.0")
def logaddexp2(x, y):
    z = np.logaddexp2(x, y)
    yield z
    d[x] += d[z] * np.exp2(x - z)
    d[y] += d[z] * np.exp2(y - z)
