"""Rules of derivatives of Kelvin and Bessel functions, and of spherical Bessel functions."""

import operator

import numpy as np
from scipy import special

from srcdiff.rules import *

scalar_rule(  # DLMF 10.61.3
    special.berp, slope=lambda x, z: -(special.bei(x) + z / x),
    samples=("P(3)", "P()"),
)
scalar_rule(special.beip, slope=lambda x, z: special.ber(x) - z / x, samples=("P(3)", "P()"))
scalar_rule(special.kerp, slope=lambda x, z: -(special.kei(x) + z / x), samples=("P(3)", "P()"))
scalar_rule(special.keip, slope=lambda x, z: special.ker(x) - z / x, samples=("P(3)", "P()"))


def derivatives(of, *calls):
    """The rule of derivatives of a Bessel function: the slope of one is the next."""

    @elementwise(of)
    @samples("2, P(3)", "1.5, P(3), 2", *calls)
    def derivative(v, z, n=1):
        w = of(v, z, n)
        yield w
        d[z] += d[w] * conj(of(v, z, n + 1))


derivatives(special.jvp, "1, P(), n=0")
derivatives(special.yvp)
derivatives(special.ivp)
derivatives(special.kvp)


def complex_derivatives(of):
    """The same of a function that is complex."""

    @elementwise(of)
    @samples("2, P(3)", "1.5, P(3), 2")
    def derivative(v, z, n=1):
        w = of(v, z, n)
        yield w
        d[z] += d[w] * np.conj(of(v, z, n + 1))


complex_derivatives(special.h1vp)
complex_derivatives(special.h2vp)


# The derivative at 0 needs the form that does not divide by z: DLMF 10.51.1 and 10.51.4.
def spherical(of, joined, signed, *calls):
    """The rule of a spherical Bessel function: its slope joins its neighbours, and has a sign."""

    @elementwise(of)
    @samples(*calls)
    def bessel(n, z, derivative=False):
        w = of(n, z)
        yield w
        if derivative:
            refuse("of the derivative: differentiate the function twice")
        below, above = of(np.maximum(n - 1, 0), z), of(n + 1, z)
        d[z] += signed(d[w]) * conj(joined(n * below, (n + 1) * above) / (2 * n + 1))


spherical(
    special.spherical_jn, operator.sub, operator.pos, "2, A(3)", "0, P()",
    "np.array([0, 1, 3]), A(3)",
)  # fmt: skip
spherical(special.spherical_yn, operator.sub, operator.pos, "2, P(3)", "0, P()")
spherical(special.spherical_in, operator.add, operator.pos, "2, A(3)", "0, P()")
spherical(special.spherical_kn, operator.add, operator.neg, "2, P(3)", "0, P()")
