"""Distributions of `scipy.stats` with shapes, in plain steps; outside of the support 0 or 1.

A shape or a scale that is not positive gives nan, as in SciPy, and so does nan; at the ends of the
support a density may be positive.  Distribution functions have derivatives in `x`, `loc` and
`scale`, densities in the shapes as well.
"""

import math

import numpy as np
from scipy import special, stats

from srcdiff.rules import *

from ._standard import as_number, centred, outside, per_scale, shaped, standardised


@composed(stats.t.logpdf)
@samples("A(3), 3.0", "A(3), P(), U(), P()", "A(2, 3), df=P(3), scale=P()")
def t_logpdf(x, df, loc=0, scale=1):
    if known(df) and df == math.inf:
        return stats.norm.logpdf(x, loc, scale)
    y = centred(x, loc, scale)
    log = special.xlog1py(-0.5 * (df + 1.0), y * y / df)
    return per_scale(log - special.betaln(0.5 * df, 0.5) - 0.5 * np.log(df), scale)


made_of(
    stats.t.cdf, value=lambda x, df, loc=0, scale=1: special.stdtr(df, standardised(x, loc, scale)),
    samples=("A(3), 3.0", "A(3), 2.5, U(), P()"),
)
made_of(
    stats.t.sf, value=lambda x, df, loc=0, scale=1: special.stdtr(df, -standardised(x, loc, scale)),
    samples=("A(3), 2.5, U(), P()",),
)


# --- positive numbers --------------------------------------------------------------------------


@composed(stats.gamma.logpdf)
@samples("P(3), 2.5", "P(3) + 1.0, P(), U(), P()", "P(3), a=P(), scale=P()")
def gamma_logpdf(x, a, loc=0, scale=1):
    y = shaped(standardised(x, loc, scale), a)
    none = outside(y, a)
    inside = np.where(none, 1.0, y)
    log = special.xlogy(a - 1.0, inside) - inside - special.gammaln(a)
    return as_number(np.where(none, -np.inf, per_scale(log, scale)))


def gamma_sum(of, plain, end, *calls):
    """The definition of probabilities below or above a value."""

    @composed(of)
    @samples("P(3) + 1.0, 1.5, U(), P()", "V([-1.0, 2.0]), a=2.0, scale=P()", *calls)
    def total(x, a, loc=0, scale=1):
        y = shaped(standardised(x, loc, scale), a)
        return as_number(np.where(y <= 0, end, plain(a, np.where(y <= 0, 1.0, y))))


gamma_sum(stats.gamma.cdf, special.gammainc, 0.0, "P(3), 2.5")
gamma_sum(stats.gamma.sf, special.gammaincc, 1.0)


def of_gamma(of, plain, *calls):
    """The definition of a method of `chi2`: that of `gamma` with other parameters."""
    made_of(
        of, value=lambda x, df, loc=0, scale=1: plain(x, 0.5 * df, loc, 2.0 * scale),
        samples=("P(3), 3.0", *calls),
    )


of_gamma(stats.chi2.logpdf, stats.gamma.logpdf, "P(3) + 1.0, P(), U(), P()", "P(3), df=P()")
of_gamma(stats.chi2.cdf, stats.gamma.cdf, "P(3) + 1.0, 2, U(), P()")
of_gamma(stats.chi2.sf, stats.gamma.sf, "P(3) + 1.0, 2, U(), P()")


@composed(stats.lognorm.logpdf)
@samples("P(3), 0.5", "P(3) + 1.0, P(), U(), P()", "P(3), s=P()")
def lognorm_logpdf(x, s, loc=0, scale=1):
    y = shaped(standardised(x, loc, scale), s)
    log = np.log(np.where(y <= 0, 1.0, y))
    density = -0.5 * (log / s) ** 2 - log - np.log(s) - 0.5 * math.log(2.0 * math.pi)
    return as_number(np.where(y <= 0, -np.inf, per_scale(density, scale)))


@composed(stats.lognorm.cdf)
@samples("P(3), 0.5", "P(3) + 1.0, P(), U(), P()", "V([-1.0, 2.0]), s=P()")
def lognorm_cdf(x, s, loc=0, scale=1):
    y = shaped(standardised(x, loc, scale), s)
    return as_number(np.where(y <= 0, 0.0, special.ndtr(np.log(np.where(y <= 0, 1.0, y)) / s)))


@composed(stats.lognorm.logcdf)
@samples("P(3), 0.5", "P(3) + 1.0, P(), U(), P()")
def lognorm_logcdf(x, s, loc=0, scale=1):
    y = shaped(standardised(x, loc, scale), s)
    log = special.log_ndtr(np.log(np.where(y <= 0, 1.0, y)) / s)
    return as_number(np.where(y <= 0, -np.inf, log))


@composed(stats.lognorm.logsf)
@samples("P(3), 0.5", "P(3) + 1.0, P(), U(), P()", "V([-1.0, 2.0]), s=P()", "P(), P()")
def lognorm_logsf(x, s, loc=0, scale=1):
    y = (x - loc) / np.where((scale > 0) & (s > 0), scale, np.nan)
    log = special.log_ndtr(-np.log(np.where(y <= 0, 1.0, y)) / s)
    return np.where(y <= 0, 0.0, log)[()]


@composed(stats.weibull_min.logpdf)
@samples("P(3), 2.5", "P(3) + 1.0, P(), U(), P()", "P(3), c=P(), scale=P()")
def weibull_min_logpdf(x, c, loc=0, scale=1):
    y = shaped(standardised(x, loc, scale), c)
    none = outside(y, c)
    inside = np.where(none, 1.0, y)
    log = np.log(c) + special.xlogy(c - 1.0, inside) - inside**c
    return as_number(np.where(none, -np.inf, per_scale(log, scale)))


@composed(stats.weibull_min.logsf)
@samples("P(3), 2.5", "P(3) + 1.0, P(), U(), P()", "V([-1.0, 2.0]), 1.5, 0.2, P()")
def weibull_min_logsf(x, c, loc=0, scale=1):
    y = shaped(standardised(x, loc, scale), c)
    inside = np.where(y <= 0, 1.0, y)
    return as_number(np.where(y <= 0, 0.0, shaped(-(inside**c), c)))  # nan**0 is 1


made_of(
    stats.weibull_min.cdf,
    value=lambda x, c, loc=0, scale=1: -np.expm1(stats.weibull_min.logsf(x, c, loc, scale)),
    samples=("P(3), 2.5", "P(3) + 1.0, P(), U(), P()"),
)


# --- numbers between 0 and 1 -------------------------------------------------------------------


@composed(stats.beta.logpdf)
@samples("np.abs(U(3)), 2.5, 1.5", "np.abs(U(3)), P(), P(), -0.2, 1.5 * P()")
def beta_logpdf(x, a, b, loc=0, scale=1):
    y = shaped(shaped(standardised(x, loc, scale), a), b)
    none = outside(y, a) | outside(1.0 - y, b)
    inside = np.where(none, 0.5, y)
    log = special.xlogy(a - 1.0, inside) + special.xlog1py(b - 1.0, -inside)
    log = per_scale(log - special.betaln(a, b), scale)
    return as_number(np.where(none, -np.inf, log))


@composed(stats.beta.cdf)
@samples("np.abs(U(3)), 2.5, 1.5", "np.abs(U(3)), 0.7, 1.5, -0.2, P() + 0.8", "A(3), 2.0, 2.0")
def beta_cdf(x, a, b, loc=0, scale=1):
    y = shaped(shaped(standardised(x, loc, scale), a), b)
    inner = special.betainc(a, b, np.where((y <= 0) | (y >= 1), 0.5, y))
    return as_number(np.where(y <= 0, 0.0, np.where(y >= 1, 1.0, inner)))


made_of(
    stats.beta.sf,
    value=lambda x, a, b, loc=0, scale=1: stats.beta.cdf(scale - (x - loc), b, a, 0, scale),
    samples=("np.abs(U(3)), 2.5, 1.5", "np.abs(U(3)), 0.7, 1.5, -0.2, P() + 0.8"),
)
