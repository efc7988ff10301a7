"""Rules of distribution functions, in the argument of the distribution (DLMF 8.17, 8.4)."""

import numpy as np
from scipy import special

from srcdiff.rules import *

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
