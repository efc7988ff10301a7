"""Rules of Bessel functions and their relatives (DLMF chapters 9 to 11); orders are constants."""

import math

import numpy as np
from scipy import special

from srcdiff.rules import conj, d, elementwise, iscomplex, refuse, rule, samples, scalar_rule

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
scalar_rule(  # DLMF 10.6.1
    special.jv,
    slope=lambda v, x, z: (None, conj(0.5 * (special.jv(v - 1, x) - special.jv(v + 1, x)))),
    samples=("2, A(3)", "1.5, P(3)", "np.array([0.0, 1.0, 2.5]), P(2, 3)", "0, A()", "1, C(3)"),
)
scalar_rule(
    special.yv,
    slope=lambda v, x, z: (None, conj(0.5 * (special.yv(v - 1, x) - special.yv(v + 1, x)))),
    samples=("2, P(3)", "1.5, P(3)", "0, P()", "1, C(3)"),
)
scalar_rule(
    special.yn, slope=lambda n, x, z: (None, 0.5 * (special.yn(n - 1, x) - special.yn(n + 1, x))),
    samples=("2, P(3)", "0, P()"),
)
scalar_rule(
    special.hankel1,
    slope=lambda v, x, z: (
        None, np.conj(0.5 * (special.hankel1(v - 1, x) - special.hankel1(v + 1, x))),
    ),
    samples=("2, P(3)", "1.5, C(3)"),
)
scalar_rule(
    special.hankel2,
    slope=lambda v, x, z: (
        None, np.conj(0.5 * (special.hankel2(v - 1, x) - special.hankel2(v + 1, x))),
    ),
    samples=("2, P(3)", "1.5, C(3)"),
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
    z = special.ive(v, x)
    yield z
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


@elementwise(special.jve)
@samples("2, A(3)", "1.5, P(3)")
def jve(v, x):
    z = special.jve(v, x)
    yield z
    if iscomplex(x):
        refuse("of complex numbers, which is not analytic: use `special.jv`")
    d[x] += d[z] * 0.5 * (special.jve(v - 1, x) - special.jve(v + 1, x))


@elementwise(special.yve)
@samples("2, P(3)", "1.5, P(3)")
def yve(v, x):
    z = special.yve(v, x)
    yield z
    if iscomplex(x):
        refuse("of complex numbers, which is not analytic: use `special.yv`")
    d[x] += d[z] * 0.5 * (special.yve(v - 1, x) - special.yve(v + 1, x))


@elementwise(special.hankel1e)
@samples("2, P(3)", "1.5, C(3)")
def hankel1e(v, x):
    z = special.hankel1e(v, x)
    yield z
    rise = 0.5 * (special.hankel1e(v - 1, x) - special.hankel1e(v + 1, x))
    d[x] += d[z] * np.conj(rise - 1j * z)


@elementwise(special.hankel2e)
@samples("2, P(3)", "1.5, C(3)")
def hankel2e(v, x):
    z = special.hankel2e(v, x)
    yield z
    rise = 0.5 * (special.hankel2e(v - 1, x) - special.hankel2e(v + 1, x))
    d[x] += d[z] * np.conj(rise + 1j * z)


# --- Struve, Airy and Kelvin functions ---------------------------------------------------------


@elementwise(special.struve)
@samples("1, P(3)", "0.5, P(3)")
def struve(v, x):
    z = special.struve(v, x)
    yield z
    # DLMF 11.4.23 and 11.4.24
    power = (0.5 * x) ** v * special.rgamma(v + 1.5) / math.sqrt(math.pi)
    d[x] += d[z] * 0.5 * (special.struve(v - 1.0, x) - special.struve(v + 1.0, x) + power)


@elementwise(special.modstruve)
@samples("1, P(3)", "0.5, P(3)")
def modstruve(v, x):
    z = special.modstruve(v, x)
    yield z
    # DLMF 11.4.25 and 11.4.26
    power = (0.5 * x) ** v * special.rgamma(v + 1.5) / math.sqrt(math.pi)
    d[x] += d[z] * 0.5 * (special.modstruve(v - 1.0, x) + special.modstruve(v + 1.0, x) + power)


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
