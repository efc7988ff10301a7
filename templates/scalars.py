"""Rules of functions of `math` that NumPy does not have, and of `cmath`, on Python numbers."""

import cmath
import math

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import others
from srcdiff.runtime.linalg import polygamma


@rule(math.hypot)
@samples("A(), A()", "A(), A(), 2.0", "A()")
def math_hypot(*coordinates):
    for k in range(len(coordinates)):
        d[coordinates][k] += d[z] * coordinates[k] / divisor(z)


@rule(math.dist)
@samples("[A(), A()], [A(), A()]", "A(3), A(3)")
def dist(p, q):
    for k in range(len(p)):
        slope = d[z] * (p[k] - q[k]) / divisor(z)
        d[p][k] += slope
        d[q][k] += -slope


@forward(math.dist)
def dist_tangent(p, q):
    d[z] += np.sum((np.asarray(p) - np.asarray(q)) * np.asarray(d[p])) / z
    d[z] += np.sum((np.asarray(q) - np.asarray(p)) * np.asarray(d[q])) / z


@linear(math.fsum)
@samples("[A(), A(), A()]", "A(3)")
def fsum(seq):
    for k in range(len(seq)):
        d[seq][k] += d[z]


@rule(math.prod)
@samples("[A(), A(), A()]", "A(3)", "C(3)")
def math_prod(iterable, *, start=1):
    rest = conj(others(np.asarray(iterable)))
    for k in range(len(iterable)):
        d[iterable][k] += d[z] * conj(start) * rest[k]
    d[start] += d[z] * conj(np.prod(iterable))


@forward(math.prod)
def math_prod_tangent(iterable, start):
    rest = others(np.asarray(iterable))
    d[z] += start * np.sum(np.asarray(d[iterable]) * rest)
    d[z] += d[start] * math.prod(iterable)


scalar_rule(
    math.erf, slope=lambda x, z: math.exp(-x * x) * (2.0 / math.sqrt(math.pi)), samples=("A()",)
)
scalar_rule(
    math.erfc, slope=lambda x, z: -math.exp(-x * x) * (2.0 / math.sqrt(math.pi)), samples=("A()",)
)
scalar_rule(math.lgamma, slope=lambda x, z: polygamma(0, x), samples=("P()", "-0.3 * P()"))
scalar_rule(math.gamma, slope=lambda x, z: z * polygamma(0, x), samples=("P()", "-0.3 * P()"))


@rule(math.frexp, np.frexp)
@samples("P()", "A(3)")
def frexp(x):
    m, e = np.frexp(x)
    yield m, e
    d[x] += np.ldexp(d[m], -e)


@rule(math.nextafter, np.nextafter, constant="y")
@samples("A(), 3.0", "A(3), 5.0")
def nextafter(x, y):
    d[x] += d[z]


scalar_rule(
    math.remainder, slope=lambda x, y, z: (1.0, -np.rint(x / divisor(y, z))),
    samples=("A(), P() + 2.0",),
)


@rule(math.modf, np.modf)
@samples("A()", "A(3)")
def modf(x):
    part, whole = np.modf(x)
    yield part, whole
    d[x] += d[part]


@forward(math.modf)
def modf_tangent(x):
    d[z] += (d[x], 0.0)


made_of(
    divmod, np.divmod, value=lambda x, y: (x // y, x % y),
    samples=("A(), P()", "A(3), P(3)", "A(3), P()", "A(), P(2, 1)"),
)


# Of later versions of Python.
made_of(getattr(math, "fma", None), value=lambda x, y, z: x * y + z, samples=("A(), A(), A()",))
made_of(
    getattr(math, "sumprod", None), value=lambda p, q: np.sum(np.asarray(p) * np.asarray(q)),
    samples=("A(3), A(3)",),
)


nondifferentiable(
    math.comb, math.factorial, math.gcd, math.isqrt, math.lcm, math.perm, math.ulp,
)  # fmt: skip


def of_numpy(function, plain, *calls):
    """The definition of a function of `cmath`: that of NumPy, of a number that is complex."""
    made_of(function, value=lambda z: plain(complex(z)), samples=calls)


of_numpy(cmath.exp, np.exp, "C()", "A()")
of_numpy(cmath.sqrt, np.sqrt, "C()", "-P()")
for _name in "log10 sin cos tan sinh cosh tanh".split():
    of_numpy(getattr(cmath, _name), getattr(np, _name), "C()")
for _name in "sin cos tan sinh cosh tanh".split():
    of_numpy(getattr(cmath, f"a{_name}"), getattr(np, f"arc{_name}"), "C()")


@composed(cmath.log)
@samples("C()", "C(), 2.0", "-P()")
def log(z, base=None):
    return np.log(complex(z)) if base is None else np.log(complex(z)) / np.log(complex(base))


made_of(cmath.phase, value=lambda z: np.angle(z), samples=("C()",))
made_of(
    cmath.rect, value=lambda r, phi: r * (np.cos(phi) + 1j * np.sin(phi)), samples=("P(), A()",),
)
made_of(
    complex, given="imag", value=lambda real=0, imag=0: real + 1j * imag,
    samples=("A(), A()", "A(), imag=A()"),
)
