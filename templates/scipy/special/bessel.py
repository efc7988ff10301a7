"""Rules of Bessel functions and their relatives (DLMF chapters 9 to 11); orders are constants."""

import math
import operator

import numpy as np
from scipy import special

from srcdiff.rules import *

REAL, POSITIVE = ("A(3)", "A()"), ("P(3)", "P()")

# DLMF 10.6.3 and 10.29.3
scalar_rule(special.j0, slope=lambda x, z: -special.j1(x), samples=REAL)
scalar_rule(special.y0, slope=lambda x, z: -special.y1(x), samples=POSITIVE)
scalar_rule(special.i0, slope=lambda x, z: special.i1(x), samples=REAL)
scalar_rule(special.k0, slope=lambda x, z: -special.k1(x), samples=POSITIVE)


def first(of, joined, below, above, *calls):
    """The rule of a function of order 1, of those of orders 0 and 2 (DLMF 10.6.1, 10.29.1)."""
    scalar_rule(of, slope=lambda x, z: 0.5 * joined(below(x), above(2, x)), samples=calls)


first(special.j1, operator.sub, special.j0, special.jv, *REAL, "V([0.0])")
first(special.y1, operator.sub, special.y0, special.yn, *POSITIVE)
first(special.i1, operator.add, special.i0, special.iv, *REAL, "V([0.0])")
scalar_rule(
    special.k1, slope=lambda x, z: -0.5 * (special.k0(x) + special.kn(2, x)), samples=POSITIVE,
)


def cylinder(of, joined, signed, conjugate, *calls):
    """The rule of a function that is made of its neighbours (DLMF 10.6.1, 10.29.1)."""

    @elementwise(of)
    @samples(*calls)
    def bessel(v, x):
        d[x] += signed(d[z]) * conjugate(0.5 * joined(of(v - 1, x), of(v + 1, x)))


ANALYTIC = ("2, P(3)", "1.5, P(3)", "0, P()", "1, C(3)")
cylinder(
    special.jv, operator.sub, operator.pos, conj, "2, A(3)", "1.5, P(3)",
    "np.array([0.0, 1.0, 2.5]), P(2, 3)", "0, A()", "1, C(3)",
)
cylinder(special.yv, operator.sub, operator.pos, conj, *ANALYTIC)
cylinder(special.yn, operator.sub, operator.pos, conj, "2, P(3)", "0, P()")
cylinder(special.iv, operator.add, operator.pos, conj, "2, A(3)", *ANALYTIC)
cylinder(special.kv, operator.add, operator.neg, conj, *ANALYTIC)
cylinder(special.hankel1, operator.sub, operator.pos, np.conj, "2, P(3)", "1.5, C(3)")
cylinder(special.hankel2, operator.sub, operator.pos, np.conj, "2, P(3)", "1.5, C(3)")
scalar_rule(
    special.kn, samples=("2, P(3)", "1, P()"),
    slope=lambda n, x, z: (None, -0.5 * (special.kn(abs(n - 1), x) + special.kn(n + 1, x))),
)


# --- scaled by an exponential ------------------------------------------------------------------


scalar_rule(special.i0e, slope=lambda x, z: special.i1e(x) - np.sign(x) * z, samples=REAL)
scalar_rule(
    special.i1e, slope=lambda x, z: 0.5 * (special.i0e(x) + special.ive(2, x)) - np.sign(x) * z,
    samples=REAL,
)


@elementwise(special.ive)
@samples("2, A(3)", "1.5, P(3)", "0, P()")
def ive(v, x):
    if iscomplex(x):
        refuse("of complex numbers, which is not analytic: use `special.iv`")
    d[x] += d[z] * (0.5 * (special.ive(v - 1, x) + special.ive(v + 1, x)) - np.sign(x) * z)


scalar_rule(special.k0e, slope=lambda x, z: z - special.k1e(x), samples=POSITIVE)
scalar_rule(
    special.k1e, slope=lambda x, z: z - 0.5 * (special.k0e(x) + special.kve(2, x)),
    samples=POSITIVE,
)
scalar_rule(
    special.kve, samples=ANALYTIC,
    slope=lambda v, x, z: (None, z - 0.5 * (special.kve(v - 1, x) + special.kve(v + 1, x))),
)


def scaled(of):
    """The rule of a function that is scaled by an exponential of the imaginary part."""

    @elementwise(of)
    @samples("2, P(3)", "1.5, P(3)")
    def bessel(v, x):
        if iscomplex(x):
            refuse("of complex numbers, which is not analytic: use the function without a scale")
        d[x] += d[z] * 0.5 * (of(v - 1, x) - of(v + 1, x))


scaled(special.jve)
scaled(special.yve)


def scaled_hankel(of, turned):
    """The rule of a Hankel function that is scaled by an exponential."""

    @elementwise(of)
    @samples("2, P(3)", "1.5, C(3)")
    def hankel(v, x):
        rise = 0.5 * (of(v - 1, x) - of(v + 1, x))
        d[x] += d[z] * np.conj(turned(rise, 1j * z))


scaled_hankel(special.hankel1e, operator.sub)
scaled_hankel(special.hankel2e, operator.add)


# --- Struve, Airy and Kelvin functions ---------------------------------------------------------


def struve_like(of, joined):
    """The rule of a Struve function (DLMF 11.4.23 to 11.4.26)."""

    @elementwise(of)
    @samples("1, P(3)", "0.5, P(3)")
    def struve(v, x):
        power = (0.5 * x) ** v * special.rgamma(v + 1.5) / math.sqrt(math.pi)
        d[x] += d[z] * 0.5 * (joined(of(v - 1.0, x), of(v + 1.0, x)) + power)


struve_like(special.struve, operator.sub)
struve_like(special.modstruve, operator.add)


@rule(special.airy)
@samples("A(3)", "A()", "C(3)")
def airy(x):
    a, da, b, db = special.airy(x)
    yield a, da, b, db
    d[x] += d[a] * conj(da) + d[da] * conj(x * a) + d[b] * conj(db) + d[db] * conj(x * b)


scalar_rule(special.ber, slope=lambda x, z: special.berp(x), samples=REAL)
scalar_rule(special.bei, slope=lambda x, z: special.beip(x), samples=REAL)
scalar_rule(special.ker, slope=lambda x, z: special.kerp(x), samples=POSITIVE)
scalar_rule(special.kei, slope=lambda x, z: special.keip(x), samples=POSITIVE)
# DLMF 10.61.3
scalar_rule(special.berp, slope=lambda x, z: -(special.bei(x) + z / x), samples=POSITIVE)
scalar_rule(special.beip, slope=lambda x, z: special.ber(x) - z / x, samples=POSITIVE)
scalar_rule(special.kerp, slope=lambda x, z: -(special.kei(x) + z / x), samples=POSITIVE)
scalar_rule(special.keip, slope=lambda x, z: special.ker(x) - z / x, samples=POSITIVE)


# --- derivatives, and spherical functions ------------------------------------------------------


def derivatives(of, conjugate, *calls):
    """The rule of derivatives of a Bessel function: the slope of one is the next."""

    @elementwise(of)
    @samples("2, P(3)", "1.5, P(3), 2", *calls)
    def derivative(v, z, n=1):
        w = of(v, z, n)
        yield w
        d[z] += d[w] * conjugate(of(v, z, n + 1))


derivatives(special.jvp, conj, "1, P(), n=0")
derivatives(special.yvp, conj)
derivatives(special.ivp, conj)
derivatives(special.kvp, conj)
derivatives(special.h1vp, np.conj)
derivatives(special.h2vp, np.conj)


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
