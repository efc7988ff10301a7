"""Rules of Bessel functions and their relatives (DLMF chapters 9 to 11); orders are constants."""

import math

import numpy as np
from scipy import special

from srcdiff.rules import conj, d, elementwise, iscomplex, refuse, rule, samples


@elementwise(special.j0)
@samples("A(3)", "A()")
def j0(x):
    z = special.j0(x)
    yield z
    d[x] += -d[z] * special.j1(x)  # DLMF 10.6.3


@elementwise(special.j1)
@samples("A(3)", "A()", "V([0.0])")
def j1(x):
    z = special.j1(x)
    yield z
    d[x] += d[z] * 0.5 * (special.j0(x) - special.jv(2, x))  # DLMF 10.6.1


@elementwise(special.y0)
@samples("P(3)", "P()")
def y0(x):
    z = special.y0(x)
    yield z
    d[x] += -d[z] * special.y1(x)


@elementwise(special.y1)
@samples("P(3)", "P()")
def y1(x):
    z = special.y1(x)
    yield z
    d[x] += d[z] * 0.5 * (special.y0(x) - special.yn(2, x))


@elementwise(special.jv)
@samples("2, A(3)", "1.5, P(3)", "np.array([0.0, 1.0, 2.5]), P(2, 3)", "0, A()", "1, C(3)")
def jv(v, x):
    z = special.jv(v, x)
    yield z
    d[x] += d[z] * conj(0.5 * (special.jv(v - 1, x) - special.jv(v + 1, x)))  # DLMF 10.6.1


@elementwise(special.yv)
@samples("2, P(3)", "1.5, P(3)", "0, P()", "1, C(3)")
def yv(v, x):
    z = special.yv(v, x)
    yield z
    d[x] += d[z] * conj(0.5 * (special.yv(v - 1, x) - special.yv(v + 1, x)))


@elementwise(special.yn)
@samples("2, P(3)", "0, P()")
def yn(n, x):
    z = special.yn(n, x)
    yield z
    d[x] += d[z] * 0.5 * (special.yn(n - 1, x) - special.yn(n + 1, x))


@elementwise(special.hankel1)
@samples("2, P(3)", "1.5, C(3)")
def hankel1(v, x):
    z = special.hankel1(v, x)
    yield z
    d[x] += d[z] * np.conj(0.5 * (special.hankel1(v - 1, x) - special.hankel1(v + 1, x)))


@elementwise(special.hankel2)
@samples("2, P(3)", "1.5, C(3)")
def hankel2(v, x):
    z = special.hankel2(v, x)
    yield z
    d[x] += d[z] * np.conj(0.5 * (special.hankel2(v - 1, x) - special.hankel2(v + 1, x)))


@elementwise(special.i0)
@samples("A(3)", "A()")
def i0(x):
    z = special.i0(x)
    yield z
    d[x] += d[z] * special.i1(x)  # DLMF 10.29.3


@elementwise(special.i1)
@samples("A(3)", "A()", "V([0.0])")
def i1(x):
    z = special.i1(x)
    yield z
    d[x] += d[z] * 0.5 * (special.i0(x) + special.iv(2, x))  # DLMF 10.29.1


@elementwise(special.iv)
@samples("2, A(3)", "1.5, P(3)", "0, P()", "1, C(3)")
def iv(v, x):
    z = special.iv(v, x)
    yield z
    d[x] += d[z] * conj(0.5 * (special.iv(v - 1, x) + special.iv(v + 1, x)))


@elementwise(special.k0)
@samples("P(3)", "P()")
def k0(x):
    z = special.k0(x)
    yield z
    d[x] += -d[z] * special.k1(x)


@elementwise(special.k1)
@samples("P(3)", "P()")
def k1(x):
    z = special.k1(x)
    yield z
    d[x] += -d[z] * 0.5 * (special.k0(x) + special.kn(2, x))


@elementwise(special.kv)
@samples("2, P(3)", "1.5, P(3)", "0, P()", "1, C(3)")
def kv(v, x):
    z = special.kv(v, x)
    yield z
    d[x] += -d[z] * conj(0.5 * (special.kv(v - 1, x) + special.kv(v + 1, x)))


@elementwise(special.kn)
@samples("2, P(3)", "1, P()")
def kn(n, x):
    z = special.kn(n, x)
    yield z
    d[x] += -d[z] * 0.5 * (special.kn(abs(n - 1), x) + special.kn(n + 1, x))


# --- scaled by an exponential ------------------------------------------------------------------


@elementwise(special.i0e)
@samples("A(3)", "A()")
def i0e(x):
    z = special.i0e(x)
    yield z
    d[x] += d[z] * (special.i1e(x) - np.sign(x) * z)


@elementwise(special.i1e)
@samples("A(3)", "A()")
def i1e(x):
    z = special.i1e(x)
    yield z
    d[x] += d[z] * (0.5 * (special.i0e(x) + special.ive(2, x)) - np.sign(x) * z)


@elementwise(special.ive)
@samples("2, A(3)", "1.5, P(3)", "0, P()")
def ive(v, x):
    z = special.ive(v, x)
    yield z
    if iscomplex(x):
        refuse("of complex numbers, which is not analytic: use `special.iv`")
    d[x] += d[z] * (0.5 * (special.ive(v - 1, x) + special.ive(v + 1, x)) - np.sign(x) * z)


@elementwise(special.k0e)
@samples("P(3)", "P()")
def k0e(x):
    z = special.k0e(x)
    yield z
    d[x] += d[z] * (z - special.k1e(x))


@elementwise(special.k1e)
@samples("P(3)", "P()")
def k1e(x):
    z = special.k1e(x)
    yield z
    d[x] += d[z] * (z - 0.5 * (special.k0e(x) + special.kve(2, x)))


@elementwise(special.kve)
@samples("2, P(3)", "1.5, P(3)", "0, P()", "1, C(3)")
def kve(v, x):
    z = special.kve(v, x)
    yield z
    d[x] += d[z] * conj(z - 0.5 * (special.kve(v - 1, x) + special.kve(v + 1, x)))


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


@elementwise(special.ber)
@samples("A(3)", "A()")
def ber(x):
    z = special.ber(x)
    yield z
    d[x] += d[z] * special.berp(x)


@elementwise(special.bei)
@samples("A(3)", "A()")
def bei(x):
    z = special.bei(x)
    yield z
    d[x] += d[z] * special.beip(x)


@elementwise(special.ker)
@samples("P(3)", "P()")
def ker(x):
    z = special.ker(x)
    yield z
    d[x] += d[z] * special.kerp(x)


@elementwise(special.kei)
@samples("P(3)", "P()")
def kei(x):
    z = special.kei(x)
    yield z
    d[x] += d[z] * special.keip(x)
