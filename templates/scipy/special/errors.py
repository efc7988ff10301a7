"""Rules of the error function and its relatives, and of exponential integrals (DLMF 6 and 7)."""

import math

import numpy as np
from scipy import special

from srcdiff.rules import *

ANALYTIC = ("A(3)", "A()", "C(3)")

scalar_rule(  # DLMF 7.2.1
    special.erf, slope=lambda x, z: np.exp(-x * x) * (2.0 / math.sqrt(math.pi)), samples=ANALYTIC,
)
scalar_rule(
    special.erfc, slope=lambda x, z: -np.exp(-x * x) * (2.0 / math.sqrt(math.pi)), samples=ANALYTIC,
)
scalar_rule(
    special.erfcx, slope=lambda x, z: 2.0 * x * z - 2.0 / math.sqrt(math.pi), samples=ANALYTIC,
)
scalar_rule(
    special.erfi, slope=lambda x, z: np.exp(x * x) * (2.0 / math.sqrt(math.pi)), samples=ANALYTIC,
)
scalar_rule(special.dawsn, slope=lambda x, z: 1.0 - 2.0 * x * z, samples=ANALYTIC)  # DLMF 7.2.5
scalar_rule(  # DLMF 7.10.2
    special.wofz, slope=lambda x, z: np.conj(2j / math.sqrt(math.pi) - 2.0 * x * z),
    samples=("A(3)", "C(3)"),
)
scalar_rule(
    special.erfinv, slope=lambda x, z: np.exp(z * z) * (0.5 * math.sqrt(math.pi)),
    samples=("U(3)", "U()"),
)
scalar_rule(
    special.erfcinv, slope=lambda x, z: -np.exp(z * z) * (0.5 * math.sqrt(math.pi)),
    samples=("U(3) + 1.0", "U() + 1.0"),
)
scalar_rule(
    special.ndtr, slope=lambda x, z: np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi),
    samples=ANALYTIC,
)


@elementwise(special.log_ndtr)
@samples("A(3)", "A()", "V([-40.0, -5.0, 9.0, 50.0])", "C(3)")
def log_ndtr(x):
    if iscomplex(x):
        d[x] += d[z] * math.sqrt(2.0 / math.pi) / np.conj(special.erfcx(-x * math.sqrt(0.5)))
    else:  # far above, where the slope is below 1e-280, it would divide by inf
        inverse = special.erfcx(np.maximum(-x * math.sqrt(0.5), -25.0))
        d[x] += d[z] * math.sqrt(2.0 / math.pi) / inverse


scalar_rule(
    special.ndtri, slope=lambda x, z: np.exp(0.5 * z * z) * math.sqrt(2.0 * math.pi),
    samples=("np.abs(U(3))", "0.5 + 0.5 * U()"),
)
scalar_rule(
    special.ndtri_exp,
    slope=lambda x, z: special.erfcx(-z * math.sqrt(0.5)) * math.sqrt(0.5 * math.pi),
    samples=("-P(3)", "-P()"),
)


@elementwise(special.owens_t)
@samples("A(3), A(3)", "A(2, 3), A(3)", "A(), 0.5")
def owens_t(h, a):
    # Patefield and Tandy 2000, equation 1
    density = np.exp(-0.5 * h * h) / math.sqrt(8.0 * math.pi)
    d[h] += -d[z] * special.erf(a * h * math.sqrt(0.5)) * density
    d[a] += d[z] * np.exp(-0.5 * h * h * (1.0 + a * a)) / (2.0 * math.pi * (1.0 + a * a))


@composed(special.voigt_profile)
@samples("A(3), P(), P()", "A(), P(), P(3)", "A(3), 0.0, P()")
def voigt_profile(x, sigma, gamma):
    if known(sigma) and sigma == 0:
        return gamma / (math.pi * (x * x + gamma * gamma))
    width = sigma * math.sqrt(2.0)
    return np.real(special.wofz((x + 1j * gamma) / width)) / (width * math.sqrt(math.pi))


@rule(special.fresnel)
@samples("A(3)", "A()", "C(3)")
def fresnel(x):
    s, c = special.fresnel(x)
    yield s, c
    angle = 0.5 * math.pi * x * x  # DLMF 7.2.7, 7.2.8
    d[x] += d[s] * conj(np.sin(angle)) + d[c] * conj(np.cos(angle))


@rule(special.sici)
@samples("P(3)", "P()", "C(3)")
def sici(x):
    s, c = special.sici(x)
    yield s, c
    # DLMF 6.2.9, 6.2.11
    d[x] += d[s] * conj(np.sinc(x / math.pi)) + d[c] * conj(np.cos(x) / x)


@rule(special.shichi)
@samples("P(3)", "P()", "C(3)")
def shichi(x):
    s, c = special.shichi(x)
    yield s, c
    # DLMF 6.2.15, 6.2.16
    d[x] += d[s] * conj(np.sinh(x) / x) + d[c] * conj(np.cosh(x) / x)


scalar_rule(  # DLMF 6.2.5
    special.expi, slope=lambda x, z: conj(np.exp(x) / x),
    samples=("P(3)", "P()", "C(3)"),
)
scalar_rule(special.exp1, slope=lambda x, z: -conj(np.exp(-x) / x), samples=("P(3)", "P()", "C(3)"))


@elementwise(special.expn)
@samples("3, P(3)", "1, P(3)", "0, P()", "np.array([1, 2, 4]), P(3)")
def expn(n, x):
    if known(n) and n > 1:
        d[x] += -d[z] * special.expn(n - 1, x)  # DLMF 8.19.13
    else:
        d[x] += d[z] * ((n - 1) * z - np.exp(-x)) / x  # DLMF 8.19.12
