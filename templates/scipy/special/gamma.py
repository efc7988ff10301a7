"""Rules of the gamma function, its relatives and what is made of them (DLMF chapters 5 and 8)."""

import math
import operator

import numpy as np
from scipy import special

from srcdiff.rules import *

scalar_rule(  # DLMF 5.2.2
    special.gamma, slope=lambda x, z: conj(z * special.psi(x)),
    samples=("P(3)", "P()", "-0.3 * P(3)", "C(3)"),
)
scalar_rule(
    special.gammaln, slope=lambda x, z: special.psi(x),
    samples=("P(3)", "P()", "-0.3 * P(3)"),
)
scalar_rule(special.loggamma, slope=lambda x, z: special.psi(x), samples=("P(3)", "C(3)"))
scalar_rule(
    special.rgamma, slope=lambda x, z: -conj(z * special.psi(x)),
    samples=("P(3)", "P()", "C(3)"),
)


@elementwise(special.psi)
@samples("P(3)", "P()", "-0.3 * P(3)")
def psi(x):
    if iscomplex(x):
        refuse("SciPy has no trigamma function of complex numbers")
    d[x] += d[z] * special.zeta(2.0, x)  # DLMF 25.11.12


scalar_rule(
    special.polygamma, slope=lambda n, x, z: (None, special.polygamma(n + 1, x)),
    samples=("0, P(3)", "1, P(3)", "2, P()", "np.array([0, 1, 3]), P(3)"),
)
scalar_rule(  # DLMF 25.11.17
    special.zeta, slope=lambda x, q, z: (None, -x * special.zeta(x + 1.0, q)),
    samples=("2.5, P(3)", "3, P()", "np.array([1.7, 2.5, 3.0]), P(3)"),
)


def gamma_integral(of, inverse, signed, *calls):
    """The rules of an incomplete gamma function and of its inverse, by its sign (DLMF 8.8.13)."""

    @elementwise(of)
    @samples("2.5, P(3)", "np.array([0.7, 1.5, 3.0]), P(3)", "2, P(3)", *calls)
    def integral(a, x):
        d[x] += signed(d[z]) * np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))

    @elementwise(inverse)
    @samples("2.5, np.abs(U(3))", "np.array([0.7, 1.5, 3.0]), np.abs(U(3))")
    def inverted(a, y):
        d[y] += signed(d[z]) * np.exp(z + special.gammaln(a) - special.xlogy(a - 1.0, z))


gamma_integral(
    special.gammainc, special.gammaincinv, operator.pos, "np.array([0.5, 2.0]), P()"
)
gamma_integral(special.gammaincc, special.gammainccinv, operator.neg)


@composed(special.multigammaln)
@samples("P() + 2.0, 3", "P(3) + 1.0, 2")
def multigammaln(a, d):
    steps = np.expand_dims(a, -1) - 0.5 * np.arange(d)
    return 0.25 * d * (d - 1) * math.log(math.pi) + np.sum(special.gammaln(steps), axis=-1)


scalar_rule(  # DLMF 5.12.1
    special.beta,
    slope=lambda a, b, z: (
        z * (special.psi(a) - special.psi(a + b)), z * (special.psi(b) - special.psi(a + b)),
    ),
    samples=("P(3), P(3)", "P(2, 3), P(3)", "P(), 2.0"),
)
scalar_rule(
    special.betaln,
    slope=lambda a, b, z: (
        special.psi(a) - special.psi(a + b), special.psi(b) - special.psi(a + b),
    ),
    samples=("P(3), P(3)", "P(2, 3), P(3)", "P(), 2.0"),
)


def beta_integral(of, inverse, signed, *calls):
    """The rules of an incomplete beta function and of its inverse, by its sign (DLMF 8.17.1)."""

    @elementwise(of)
    @samples("2.5, 1.5, np.abs(U(3))", *calls)
    def integral(a, b, x):
        log = special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x)
        d[x] += signed(d[z]) * np.exp(log - special.betaln(a, b))

    @elementwise(inverse)
    @samples("2.5, 1.5, np.abs(U(3))")
    def inverted(a, b, y):
        log = special.xlogy(a - 1.0, z) + special.xlog1py(b - 1.0, -z)
        d[y] += signed(d[z]) * np.exp(special.betaln(a, b) - log)


beta_integral(
    special.betainc, special.betaincinv, operator.pos,
    "np.array([0.7, 1.5, 3.0]), 2.0, np.abs(U(3))",
)
beta_integral(special.betaincc, special.betainccinv, operator.neg)


scalar_rule(  # DLMF 5.2.5
    special.poch,
    slope=lambda a, m, z: (z * (special.psi(a + m) - special.psi(a)), z * special.psi(a + m)),
    samples=("P(3), P(3)", "P(), 2.5"),
)


@elementwise(special.binom)
@samples("P(3) + 3.0, P(3)", "P() + 3.0, 2.5")
def binom(n, k):
    rest = special.psi(n - k + 1.0)
    d[n] += d[z] * z * (special.psi(n + 1.0) - rest)
    d[k] += d[z] * z * (rest - special.psi(k + 1.0))


# --- distribution functions, in the argument of the distribution (DLMF 8.17, 8.4) ---------------


made_of(
    special.chdtr, value=lambda v, x: special.gammainc(0.5 * v, 0.5 * x),
    samples=("3.0, P(3)", "2, P()"),
)
made_of(
    special.chdtrc, value=lambda v, x: special.gammaincc(0.5 * v, 0.5 * x), samples=("3.0, P(3)",),
)
made_of(
    special.chdtri, value=lambda v, p: 2.0 * special.gammainccinv(0.5 * v, p),
    samples=("3.0, np.abs(U(3))",),
)
made_of(special.gdtr, value=lambda a, b, x: special.gammainc(b, a * x), samples=("P(), 2.0, P(3)",))
made_of(
    special.gdtrc, value=lambda a, b, x: special.gammaincc(b, a * x), samples=("P(), 2.0, P(3)",),
)
made_of(
    special.gdtrix, value=lambda a, b, p: special.gammaincinv(b, p) / a,
    samples=("P(), 2.0, np.abs(U(3))",),
)
made_of(
    special.fdtr,
    value=lambda dfn, dfd, x: special.betainc(0.5 * dfn, 0.5 * dfd, dfn * x / (dfd + dfn * x)),
    samples=("3.0, 5.0, P(3)",),
)
made_of(
    special.fdtrc,
    value=lambda dfn, dfd, x: special.betainc(0.5 * dfd, 0.5 * dfn, dfd / (dfd + dfn * x)),
    samples=("3.0, 5.0, P(3)",),
)


@elementwise(special.stdtr)
@samples("3.0, A(3)", "np.array([0.7, 1.5, 3.0]), A(2, 3)", "2, A()")
def stdtr(df, t):
    # The density of Student's distribution: Abramowitz and Stegun 26.7.1
    log = special.xlog1py(-0.5 * (df + 1.0), t * t / df) - special.betaln(0.5 * df, 0.5)
    d[t] += d[z] * np.exp(log) / np.sqrt(df)


@elementwise(special.stdtrit)
@samples("3.0, np.abs(U(3))", "5, 0.5 + 0.5 * U()")
def stdtrit(df, p):
    log = special.betaln(0.5 * df, 0.5) - special.xlog1py(-0.5 * (df + 1.0), z * z / df)
    d[p] += d[z] * np.exp(log) * np.sqrt(df)


made_of(
    special.pdtr, value=lambda k, m: special.gammaincc(np.floor(k) + 1.0, m),
    samples=("2.0, P(3)", "np.array([0, 1, 3]), P(3)"),
)
made_of(
    special.pdtrc, value=lambda k, m: special.gammainc(np.floor(k) + 1.0, m),
    samples=("2.0, P(3)",),
)
made_of(
    special.nbdtr, value=lambda k, n, p: special.betainc(n, k + 1.0, p),
    samples=("2, 5, np.abs(U(3))",),
)
made_of(
    special.nbdtrc, value=lambda k, n, p: special.betaincc(n, k + 1.0, p),
    samples=("2, 5, np.abs(U(3))",),
)
