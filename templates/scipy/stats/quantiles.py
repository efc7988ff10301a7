"""Quantiles (`ppf`, `isf`) of `scipy.stats`.

Those of distributions with shapes have derivatives in the probability, `loc` and `scale`.
"""

import math

import numpy as np
from scipy import special, stats

from srcdiff.rules import *

from ._standard import positive


def _placed(z, loc, scale):
    return loc + positive(scale) * z


def _probability(q):
    return np.where((q >= 0) & (q <= 1), q, np.nan)


def _laplace(q):
    p = _probability(q)
    tail = np.where(p > 0.5, 1.0 - p, p)
    return np.where(p > 0.5, -1.0, 1.0) * np.log(2.0 * tail)


def _tangent(q):
    inner = np.tan(math.pi * (_probability(q) - 0.5))
    return np.where(q == 0, -np.inf, np.where(q == 1, np.inf, inner))


def symmetric(distribution, plain, *calls):
    """The definitions of the quantiles of a distribution that is symmetric."""

    @composed(distribution.ppf)
    @samples(*calls)
    def below(q, loc=0, scale=1):
        return _placed(plain(q), loc, scale)

    @composed(distribution.isf)
    @samples(*calls)
    def above(q, loc=0, scale=1):
        return _placed(-plain(q), loc, scale)


symmetric(stats.norm, special.ndtri, "np.abs(U(3))", "np.abs(U(3)), A(), P()")
symmetric(
    stats.laplace, _laplace, "np.array([0.2, 0.6]), A(), P()", "0.2 * P(3)", "0.5 + 0.2 * P(3)"
)
symmetric(stats.logistic, special.logit, "np.abs(U(3))", "np.abs(U(3)), A(), P()")
symmetric(stats.cauchy, _tangent, "np.abs(U(3))", "np.abs(U(3)), A(), P()")


def _student(df, q):
    end = np.where(q == 0, -np.inf, np.inf)  # where SciPy has inf, or nan
    return np.where(((q == 0) | (q == 1)) & (df > 0), end, special.stdtrit(df, q))


@composed(stats.expon.ppf)
@samples("np.abs(U(3))", "np.abs(U(3)), A(), P()")
def expon_ppf(q, loc=0, scale=1):
    return _placed(-np.log1p(-_probability(q)), loc, scale)


@composed(stats.expon.isf)
@samples("np.abs(U(3))", "np.abs(U(3)), A(), P()")
def expon_isf(q, loc=0, scale=1):
    return _placed(-np.log(_probability(q)), loc, scale)


@composed(stats.uniform.ppf)
@samples("np.abs(U(3)), scale=P()", "np.abs(U(3)), A(), P()")
def uniform_ppf(q, loc=0, scale=1):
    return _placed(_probability(q), loc, scale)


@composed(stats.uniform.isf)
@samples("np.abs(U(3)), scale=P()", "np.abs(U(3)), A(), P()")
def uniform_isf(q, loc=0, scale=1):
    return _placed(1.0 - _probability(q), loc, scale)


@composed(stats.t.ppf)
@samples("np.abs(U(3)), 3.0", "np.abs(U(3)), 2.5, A(), P()")
def t_ppf(q, df, loc=0, scale=1):
    return _placed(_student(df, q), loc, scale)


@composed(stats.t.isf)
@samples("np.abs(U(3)), 3.0", "np.abs(U(3)), 2.5, A(), P()")
def t_isf(q, df, loc=0, scale=1):
    return _placed(-_student(df, q), loc, scale)


@composed(stats.gamma.ppf)
@samples("np.abs(U(3)), 2.5", "np.abs(U(3)), 1.5, A(), P()")
def gamma_ppf(q, a, loc=0, scale=1):
    return _placed(special.gammaincinv(positive(a), q), loc, scale)


@composed(stats.gamma.isf)
@samples("np.abs(U(3)), 2.5", "np.abs(U(3)), 1.5, A(), P()")
def gamma_isf(q, a, loc=0, scale=1):
    return _placed(special.gammainccinv(positive(a), q), loc, scale)


@composed(stats.chi2.ppf)
@samples("np.abs(U(3)), 3.0", "np.abs(U(3)), 2, A(), P()")
def chi2_ppf(q, df, loc=0, scale=1):
    return _placed(2.0 * special.gammaincinv(positive(0.5 * df), q), loc, scale)


@composed(stats.chi2.isf)
@samples("np.abs(U(3)), 3.0", "np.abs(U(3)), 2, A(), P()")
def chi2_isf(q, df, loc=0, scale=1):
    return _placed(2.0 * special.gammainccinv(positive(0.5 * df), q), loc, scale)


@composed(stats.lognorm.ppf)
@samples("np.abs(U(3)), 0.5", "np.abs(U(3)), P(), A(), P()")
def lognorm_ppf(q, s, loc=0, scale=1):
    return _placed(np.exp(positive(s) * special.ndtri(q)), loc, scale)


@composed(stats.lognorm.isf)
@samples("np.abs(U(3)), 0.5", "np.abs(U(3)), P(), A(), P()")
def lognorm_isf(q, s, loc=0, scale=1):
    return _placed(np.exp(-positive(s) * special.ndtri(q)), loc, scale)


@composed(stats.beta.ppf)
@samples("np.abs(U(3)), 2.5, 1.5", "np.abs(U(3)), 0.7, 1.5, A(), P()")
def beta_ppf(q, a, b, loc=0, scale=1):
    return _placed(special.betaincinv(a, b, q), loc, scale)


@composed(stats.beta.isf)
@samples("np.abs(U(3)), 2.5, 1.5", "np.abs(U(3)), 0.7, 1.5, A(), P()")
def beta_isf(q, a, b, loc=0, scale=1):
    return _placed(special.betainccinv(a, b, q), loc, scale)
