"""Rules of distribution functions, in the argument of the distribution (DLMF 8.17, 8.4)."""

import numpy as np
from scipy import special

from srcdiff.rules import *


@composed(special.chdtr)
@samples("3.0, P(3)", "2, P()")
def chdtr(v, x):
    return special.gammainc(0.5 * v, 0.5 * x)


@composed(special.chdtrc)
@samples("3.0, P(3)")
def chdtrc(v, x):
    return special.gammaincc(0.5 * v, 0.5 * x)


@composed(special.chdtri)
@samples("3.0, np.abs(U(3))")
def chdtri(v, p):
    return 2.0 * special.gammainccinv(0.5 * v, p)


@composed(special.gdtr)
@samples("P(), 2.0, P(3)")
def gdtr(a, b, x):
    return special.gammainc(b, a * x)


@composed(special.gdtrc)
@samples("P(), 2.0, P(3)")
def gdtrc(a, b, x):
    return special.gammaincc(b, a * x)


@composed(special.gdtrix)
@samples("P(), 2.0, np.abs(U(3))")
def gdtrix(a, b, p):
    return special.gammaincinv(b, p) / a


@composed(special.fdtr)
@samples("3.0, 5.0, P(3)")
def fdtr(dfn, dfd, x):
    return special.betainc(0.5 * dfn, 0.5 * dfd, dfn * x / (dfd + dfn * x))


@composed(special.fdtrc)
@samples("3.0, 5.0, P(3)")
def fdtrc(dfn, dfd, x):
    return special.betainc(0.5 * dfd, 0.5 * dfn, dfd / (dfd + dfn * x))


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


@composed(special.pdtr)
@samples("2.0, P(3)", "np.array([0, 1, 3]), P(3)")
def pdtr(k, m):
    return special.gammaincc(np.floor(k) + 1.0, m)


@composed(special.pdtrc)
@samples("2.0, P(3)")
def pdtrc(k, m):
    return special.gammainc(np.floor(k) + 1.0, m)


@composed(special.nbdtr)
@samples("2, 5, np.abs(U(3))")
def nbdtr(k, n, p):
    return special.betainc(n, k + 1.0, p)


@composed(special.nbdtrc)
@samples("2, 5, np.abs(U(3))")
def nbdtrc(k, n, p):
    return special.betaincc(n, k + 1.0, p)
