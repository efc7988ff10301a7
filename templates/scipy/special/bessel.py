"""Rules of Bessel functions and their relatives (DLMF chapters 9 to 11); orders are constants."""

import math
import operator

import numpy as np
from scipy import special

from srcdiff.rules import *

scalar_rule(special.j0, slope=lambda x, z: -special.j1(x), samples=("A(3)", "A()"))  # DLMF 10.6.3
scalar_rule(  # DLMF 10.6.1
    special.j1, slope=lambda x, z: 0.5 * (special.j0(x) - special.jv(2, x)),
    samples=("A(3)", "A()", "V([0.0])"),
)
scalar_rule(special.y0, slope=lambda x, z: -special.y1(x), samples=("P(3)", "P()"))
scalar_rule(
    special.y1, slope=lambda x, z: 0.5 * (special.y0(x) - special.yn(2, x)),
    samples=("P(3)", "P()"),
)


def cylinder(of, *calls):
    """The rule of a function that is made of its neighbours (DLMF 10.6.1)."""
    scalar_rule(
        of, slope=lambda v, x, z: (None, conj(0.5 * (of(v - 1, x) - of(v + 1, x)))), samples=calls
    )


cylinder(
    special.jv, "2, A(3)", "1.5, P(3)", "np.array([0.0, 1.0, 2.5]), P(2, 3)", "0, A()", "1, C(3)"
)
cylinder(special.yv, "2, P(3)", "1.5, P(3)", "0, P()", "1, C(3)")


def hankel(of):
    """The same of a function that is complex."""
    scalar_rule(
        of, slope=lambda v, x, z: (None, np.conj(0.5 * (of(v - 1, x) - of(v + 1, x)))),
        samples=("2, P(3)", "1.5, C(3)"),
    )


hankel(special.hankel1)
hankel(special.hankel2)
scalar_rule(
    special.yn, slope=lambda n, x, z: (None, 0.5 * (special.yn(n - 1, x) - special.yn(n + 1, x))),
    samples=("2, P(3)", "0, P()"),
)
scalar_rule(special.i0, slope=lambda x, z: special.i1(x), samples=("A(3)", "A()"))  # DLMF 10.29.3
scalar_rule(  # DLMF 10.29.1
    special.i1, slope=lambda x, z: 0.5 * (special.i0(x) + special.iv(2, x)),
    samples=("A(3)", "A()", "V([0.0])"),
)
scalar_rule(
    special.iv,
    slope=lambda v, x, z: (None, conj(0.5 * (special.iv(v - 1, x) + special.iv(v + 1, x)))),
    samples=("2, A(3)", "1.5, P(3)", "0, P()", "1, C(3)"),
)
scalar_rule(special.k0, slope=lambda x, z: -special.k1(x), samples=("P(3)", "P()"))
scalar_rule(
    special.k1, slope=lambda x, z: -0.5 * (special.k0(x) + special.kn(2, x)),
    samples=("P(3)", "P()"),
)
scalar_rule(
    special.kv,
    slope=lambda v, x, z: (None, -conj(0.5 * (special.kv(v - 1, x) + special.kv(v + 1, x)))),
    samples=("2, P(3)", "1.5, P(3)", "0, P()", "1, C(3)"),
)
scalar_rule(
    special.kn,
    slope=lambda n, x, z: (None, -0.5 * (special.kn(abs(n - 1), x) + special.kn(n + 1, x))),
    samples=("2, P(3)", "1, P()"),
)


# --- scaled by an exponential ------------------------------------------------------------------


scalar_rule(
    special.i0e, slope=lambda x, z: special.i1e(x) - np.sign(x) * z,
    samples=("A(3)", "A()"),
)
scalar_rule(
    special.i1e, slope=lambda x, z: 0.5 * (special.i0e(x) + special.ive(2, x)) - np.sign(x) * z,
    samples=("A(3)", "A()"),
)


@elementwise(special.ive)
@samples("2, A(3)", "1.5, P(3)", "0, P()")
def ive(v, x):
    if iscomplex(x):
        refuse("of complex numbers, which is not analytic: use `special.iv`")
    d[x] += d[z] * (0.5 * (special.ive(v - 1, x) + special.ive(v + 1, x)) - np.sign(x) * z)


scalar_rule(special.k0e, slope=lambda x, z: z - special.k1e(x), samples=("P(3)", "P()"))
scalar_rule(
    special.k1e, slope=lambda x, z: z - 0.5 * (special.k0e(x) + special.kve(2, x)),
    samples=("P(3)", "P()"),
)
scalar_rule(
    special.kve,
    slope=lambda v, x, z: (None, z - 0.5 * (special.kve(v - 1, x) + special.kve(v + 1, x))),
    samples=("2, P(3)", "1.5, P(3)", "0, P()", "1, C(3)"),
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


scalar_rule(special.ber, slope=lambda x, z: special.berp(x), samples=("A(3)", "A()"))
scalar_rule(special.bei, slope=lambda x, z: special.beip(x), samples=("A(3)", "A()"))
scalar_rule(special.ker, slope=lambda x, z: special.kerp(x), samples=("P(3)", "P()"))
scalar_rule(special.kei, slope=lambda x, z: special.keip(x), samples=("P(3)", "P()"))
