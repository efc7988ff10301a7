"""Rules of hypergeometric functions, elliptic integrals and others made of them."""

import math

import numpy as np
from scipy import special

from srcdiff.rules import *
from srcdiff.runtime.arrays import unbroadcast

scalar_rule(  # DLMF 16.3.1
    special.hyp0f1, slope=lambda v, x, z: (None, conj(special.hyp0f1(v + 1.0, x) / v)),
    samples=("1.5, A(3)", "np.array([0.7, 1.5, 3.0]), A()", "0.5, C(3)"),
)
scalar_rule(  # DLMF 13.3.15
    special.hyp1f1,
    slope=lambda a, b, x, z: (None, None, conj(special.hyp1f1(a + 1.0, b + 1.0, x) * (a / b))),
    samples=("1.5, 2.5, A(3)", "np.array([0.7, 1.5]), 3, A(2)", "0.5, 1.5, C(3)"),
)


@elementwise(special.hyp2f1)
@samples("1.5, 2.5, 3.5, U(3)", "np.array([0.7, 1.5]), 2, 3, U(2)", "0.5, 1.5, 2.0, 0.3 * C(3)")
def hyp2f1(a, b, c, x):
    slope = special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, x) * (a * b / c)  # DLMF 15.5.1
    d[x] += d[z] * conj(slope)


scalar_rule(  # DLMF 13.3.22
    special.hyperu, slope=lambda a, b, x, z: (None, None, -a * special.hyperu(a + 1.0, b + 1.0, x)),
    samples=("1.5, 2.5, P(3)", "np.array([0.7, 1.5]), 2, P(2)"),
)


# --- elliptic integrals ------------------------------------------------------------------------

# By their hypergeometric series (DLMF 19.5.1, 19.5.2): the quotients that are usual divide by m.


scalar_rule(
    special.ellipk, slope=lambda m, z: special.hyp2f1(1.5, 1.5, 2.0, m) * (math.pi / 8.0),
    samples=("U(3)", "U()", "V([0.0])", "-5.0 * P(3)"),
)
scalar_rule(
    special.ellipe, slope=lambda m, z: -special.hyp2f1(0.5, 1.5, 2.0, m) * (math.pi / 8.0),
    samples=("U(3)", "U()", "V([0.0])", "-5.0 * P(3)"),
)
scalar_rule(  # DLMF 19.2.4
    special.ellipkinc, slope=lambda phi, m, z: (1.0 / np.sqrt(1.0 - m * np.sin(phi) ** 2), None),
    samples=("A(3), 0.3", "A(2, 3), np.array([0.0, -2.0, 0.7])", "A(), 0.5"),
)
scalar_rule(  # DLMF 19.2.5
    special.ellipeinc, slope=lambda phi, m, z: (np.sqrt(1.0 - m * np.sin(phi) ** 2), None),
    samples=("A(3), 0.3", "A(2, 3), np.array([0.0, -2.0, 0.7])", "A(), 0.5"),
)


@rule(special.ellipj)
@samples("A(3), 0.3", "A(3), np.array([[0.1], [0.6]])", "A(), 0.5")
def ellipj(u, m):
    sn, cn, dn, ph = special.ellipj(u, m)
    yield sn, cn, dn, ph
    # DLMF 22.13.1 to 22.13.3 and 22.16.3
    slope = d[sn] * cn * dn - d[cn] * sn * dn - d[dn] * m * sn * cn + d[ph] * dn
    d[u] += unbroadcast(slope, u)


# --- others ------------------------------------------------------------------------------------


scalar_rule(  # log(x) / (1 - x), as a series that is no quotient of zeros at 1 (DLMF 15.4.1)
    special.spence, slope=lambda x, z: -special.hyp2f1(1.0, 1.0, 2.0, 1.0 - x),
    samples=("P(3)", "P()", "V([1.0, 1.001])", "C(3)"),
)


@elementwise(special.lambertw)
@samples("P(3)", "P()", "0.0 * P()", "-0.1 * P(3), -1", "C(3), 1")
def lambertw(z, k=0, tol=1e-8):
    w = special.lambertw(z, k)
    yield w
    d[z] += d[w] * conj(np.exp(-w) / (1.0 + w))  # DLMF 4.13.4


scalar_rule(
    special.wrightomega, slope=lambda x, z: conj(z / (1.0 + z)),
    samples=("A(3)", "A()", "C(3)"),
)
