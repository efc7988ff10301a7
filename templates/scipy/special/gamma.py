"""Rules of the gamma function and its relatives (DLMF chapters 5 and 8)."""

import math

import numpy as np
from scipy import special

from srcdiff.rules import composed, conj, d, elementwise, iscomplex, refuse, samples


@elementwise(special.gamma)
@samples("P(3)", "P()", "-0.3 * P(3)", "C(3)")
def gamma(x):
    z = special.gamma(x)
    yield z
    d[x] += d[z] * conj(z * special.psi(x))  # DLMF 5.2.2


@elementwise(special.gammaln)
@samples("P(3)", "P()", "-0.3 * P(3)")
def gammaln(x):
    z = special.gammaln(x)
    yield z
    d[x] += d[z] * special.psi(x)


@elementwise(special.loggamma)
@samples("P(3)", "C(3)")
def loggamma(x):
    z = special.loggamma(x)
    yield z
    d[x] += d[z] * conj(special.psi(x))


@elementwise(special.rgamma)
@samples("P(3)", "P()", "C(3)")
def rgamma(x):
    z = special.rgamma(x)
    yield z
    d[x] += -d[z] * conj(z * special.psi(x))


@elementwise(special.psi)
@samples("P(3)", "P()", "-0.3 * P(3)")
def psi(x):
    z = special.psi(x)
    yield z
    if iscomplex(x):
        refuse("SciPy has no trigamma function of complex numbers")
    d[x] += d[z] * special.zeta(2.0, x)  # DLMF 25.11.12


@elementwise(special.polygamma)
@samples("0, P(3)", "1, P(3)", "2, P()", "np.array([0, 1, 3]), P(3)")
def polygamma(n, x):
    z = special.polygamma(n, x)
    yield z
    d[x] += d[z] * special.polygamma(n + 1, x)


@elementwise(special.zeta)
@samples("2.5, P(3)", "3, P()", "np.array([1.7, 2.5, 3.0]), P(3)")
def zeta(x, q):
    z = special.zeta(x, q)
    yield z
    d[q] += -d[z] * x * special.zeta(x + 1.0, q)  # DLMF 25.11.17


@elementwise(special.gammainc)
@samples("2.5, P(3)", "np.array([0.7, 1.5, 3.0]), P(3)", "np.array([0.5, 2.0]), P()", "2, P(3)")
def gammainc(a, x):
    z = special.gammainc(a, x)
    yield z
    # DLMF 8.8.13
    d[x] += d[z] * np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))


@elementwise(special.gammaincc)
@samples("2.5, P(3)", "np.array([0.7, 1.5, 3.0]), P(3)", "2, P(3)")
def gammaincc(a, x):
    z = special.gammaincc(a, x)
    yield z
    d[x] += -d[z] * np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))


@elementwise(special.gammaincinv)
@samples("2.5, np.abs(U(3))", "np.array([0.7, 1.5, 3.0]), np.abs(U(3))")
def gammaincinv(a, y):
    z = special.gammaincinv(a, y)
    yield z
    d[y] += d[z] * np.exp(z + special.gammaln(a) - special.xlogy(a - 1.0, z))


@elementwise(special.gammainccinv)
@samples("2.5, np.abs(U(3))", "np.array([0.7, 1.5, 3.0]), np.abs(U(3))")
def gammainccinv(a, y):
    z = special.gammainccinv(a, y)
    yield z
    d[y] += -d[z] * np.exp(z + special.gammaln(a) - special.xlogy(a - 1.0, z))


@composed(special.multigammaln)
@samples("P() + 2.0, 3", "P(3) + 1.0, 2")
def multigammaln(a, d):
    steps = np.expand_dims(a, -1) - 0.5 * np.arange(d)
    return 0.25 * d * (d - 1) * math.log(math.pi) + np.sum(special.gammaln(steps), axis=-1)


@elementwise(special.beta)
@samples("P(3), P(3)", "P(2, 3), P(3)", "P(), 2.0")
def beta(a, b):
    z = special.beta(a, b)
    yield z
    d[a] += d[z] * z * (special.psi(a) - special.psi(a + b))  # DLMF 5.12.1
    d[b] += d[z] * z * (special.psi(b) - special.psi(a + b))


@elementwise(special.betaln)
@samples("P(3), P(3)", "P(2, 3), P(3)", "P(), 2.0")
def betaln(a, b):
    z = special.betaln(a, b)
    yield z
    d[a] += d[z] * (special.psi(a) - special.psi(a + b))
    d[b] += d[z] * (special.psi(b) - special.psi(a + b))


@elementwise(special.betainc)
@samples("2.5, 1.5, np.abs(U(3))", "np.array([0.7, 1.5, 3.0]), 2.0, np.abs(U(3))")
def betainc(a, b, x):
    z = special.betainc(a, b, x)
    yield z
    # DLMF 8.17.1
    log = special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x)
    d[x] += d[z] * np.exp(log - special.betaln(a, b))


@elementwise(special.betaincc)
@samples("2.5, 1.5, np.abs(U(3))")
def betaincc(a, b, x):
    z = special.betaincc(a, b, x)
    yield z
    log = special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x)
    d[x] += -d[z] * np.exp(log - special.betaln(a, b))


@elementwise(special.betaincinv)
@samples("2.5, 1.5, np.abs(U(3))")
def betaincinv(a, b, y):
    z = special.betaincinv(a, b, y)
    yield z
    log = special.xlogy(a - 1.0, z) + special.xlog1py(b - 1.0, -z)
    d[y] += d[z] * np.exp(special.betaln(a, b) - log)


@elementwise(special.betainccinv)
@samples("2.5, 1.5, np.abs(U(3))")
def betainccinv(a, b, y):
    z = special.betainccinv(a, b, y)
    yield z
    log = special.xlogy(a - 1.0, z) + special.xlog1py(b - 1.0, -z)
    d[y] += -d[z] * np.exp(special.betaln(a, b) - log)


@elementwise(special.poch)
@samples("P(3), P(3)", "P(), 2.5")
def poch(a, m):
    z = special.poch(a, m)
    yield z
    d[a] += d[z] * z * (special.psi(a + m) - special.psi(a))  # DLMF 5.2.5
    d[m] += d[z] * z * special.psi(a + m)


@elementwise(special.binom)
@samples("P(3) + 3.0, P(3)", "P() + 3.0, 2.5")
def binom(n, k):
    z = special.binom(n, k)
    yield z
    rest = special.psi(n - k + 1.0)
    d[n] += d[z] * z * (special.psi(n + 1.0) - rest)
    d[k] += d[z] * z * (rest - special.psi(k + 1.0))
