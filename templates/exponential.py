"""Rules of exponentials, logarithms and roots."""

import math

import numpy as np

from srcdiff.rules import *

scalar_rule(np.exp, math.exp, slope=lambda x, z: z, samples=("A(3)", "A()", "C(3)"))
scalar_rule(
    np.exp2, getattr(math, "exp2", None), slope=lambda x, z: z * math.log(2.0),
    samples=("A(3)", "A()"),
)
scalar_rule(np.expm1, math.expm1, slope=lambda x, z: z + 1.0, samples=("A(3)", "A()", "C(3)"))
scalar_rule(np.log, slope=lambda x, z: 1.0 / divisor(x, z), samples=("P(3)", "P()", "C(3)"))
scalar_rule(
    np.log2, math.log2, slope=lambda x, z: 1.0 / (conj(divisor(x, z)) * math.log(2.0)),
    samples=("P(3)", "P()"),
)
scalar_rule(
    np.log10, math.log10, slope=lambda x, z: 1.0 / (conj(divisor(x, z)) * math.log(10.0)),
    samples=("P(3)", "P()"),
)
scalar_rule(
    np.log1p, math.log1p, slope=lambda x, z: 1.0 / (1.0 + divisor(x, z)),
    samples=("P(3)", "P()"),
)
scalar_rule(np.sqrt, slope=lambda x, z: 1.0 / (2.0 * conj(z)), samples=("P(3)", "P()", "C(3)"))
scalar_rule(
    np.cbrt, getattr(math, "cbrt", None), slope=lambda x, z: 1.0 / (3.0 * divisor(z) * z),
    samples=("P(3)", "P()"),
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
