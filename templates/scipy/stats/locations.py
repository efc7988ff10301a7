"""Distributions of `scipy.stats` with a location and a scale alone, and scores, in plain steps.

A scale that is not positive gives nan, as in SciPy, and so does nan; what lies outside of the
support has no slope.
"""

import math

import numpy as np
from scipy import special, stats

from srcdiff.rules import *

from ._standard import as_number, centred, per_scale, standardised


@composed(stats.norm.logpdf)
@samples("A(3)", "A(3), A(), P()", "A(2, 3), A(3), scale=P(3)", "A(), 0.5, P()")
def norm_logpdf(x, loc=0, scale=1):
    y = centred(x, loc, scale)
    return per_scale(-0.5 * y * y - 0.5 * math.log(2.0 * math.pi), scale)


def both_sides(below, above, plain, *calls):
    """The definitions of probabilities, or of logarithms of these, on both sides of a value."""
    made_of(
        below, value=lambda x, loc=0, scale=1: plain(standardised(x, loc, scale)),
        samples=("A(3)", "A(3), A(), P()", *calls),
    )

    made_of(
        above, value=lambda x, loc=0, scale=1: plain(-standardised(x, loc, scale)),
        samples=("A(3)", "A(3), A(), P()", *calls),
    )


both_sides(stats.norm.cdf, stats.norm.sf, special.ndtr, "A(), 0.5, P()")
both_sides(stats.norm.logcdf, stats.norm.logsf, special.log_ndtr, "V([-30.0, 1.0, 30.0])")


# --- exponential, uniform and half-normal ------------------------------------------------------


@composed(stats.expon.logpdf)
@samples("P(3)", "P(3) + 1.0, U(), P()", "P(), scale=P()")
def expon_logpdf(x, loc=0, scale=1):
    y = standardised(x, loc, scale)
    return as_number(np.where(y < 0, -np.inf, per_scale(-y, scale)))


made_of(
    stats.expon.cdf,
    value=lambda x, loc=0, scale=1: -np.expm1(-np.maximum(standardised(x, loc, scale), 0.0)),
    samples=("P(3)", "P(3) + 1.0, U(), P()", "V([-1.0, 2.0]), scale=P()"),
)
made_of(
    stats.expon.sf,
    value=lambda x, loc=0, scale=1: np.exp(-np.maximum(standardised(x, loc, scale), 0.0)),
    samples=("P(3)", "P(3) + 1.0, U(), P()", "V([-1.0, 2.0]), scale=P()"),
)
made_of(
    stats.expon.logsf,
    value=lambda x, loc=0, scale=1: -np.maximum(standardised(x, loc, scale), 0.0),
    samples=("P(3)", "V([-1.0, 2.0]), scale=P()"),
)


@composed(stats.uniform.logpdf)
@samples("np.abs(U(3)), scale=P()", "np.array([0.3, 0.5]), 0.2, P()")
def uniform_logpdf(x, loc=0, scale=1):
    y = standardised(x, loc, scale)
    none = np.where(np.isnan(y), np.nan, -np.inf)
    return as_number(np.where((y >= 0) & (y <= 1), -np.log(scale), none))


@composed(stats.uniform.pdf)
@samples("np.abs(U(3)), scale=P()", "np.array([-1.0, 0.5]), 0.2, P()")
def uniform_pdf(x, loc=0, scale=1):
    y = standardised(x, loc, scale)
    none = np.where(np.isnan(y), np.nan, 0.0)
    return as_number(np.where((y >= 0) & (y <= 1), 1.0 / scale, none))


made_of(
    stats.uniform.cdf,
    value=lambda x, loc=0, scale=1: np.clip(standardised(x, loc, scale), 0.0, 1.0),
    samples=("np.abs(U(3))", "A(3), 0.2, P()", "A(3), U(), 0.7"),
)
made_of(
    stats.uniform.sf, value=lambda x, loc=0, scale=1: 1.0 - stats.uniform.cdf(x, loc, scale),
    samples=("np.abs(U(3))", "A(3), U(), 0.7"),
)


@composed(stats.halfnorm.logpdf)
@samples("P(3)", "P(3) + 1.0, U(), P()", "P()")
def halfnorm_logpdf(x, loc=0, scale=1):
    y = standardised(x, loc, scale)
    log = 0.5 * math.log(2.0 / math.pi) - 0.5 * y * y
    return as_number(np.where(y < 0, -np.inf, per_scale(log, scale)))


def halfnorm_sum(of, plain, end):
    """The definition of probabilities below or above a value."""

    @composed(of)
    @samples("P(3)", "P(3) + 1.0, U(), P()", "V([-1.0, 2.0]), 0.0, P()")
    def total(x, loc=0, scale=1):
        y = standardised(x, loc, scale)
        return as_number(np.where(y <= 0, end, plain(y / math.sqrt(2.0))))


halfnorm_sum(stats.halfnorm.cdf, special.erf, 0.0)
halfnorm_sum(stats.halfnorm.sf, special.erfc, 1.0)


@composed(stats.halfnorm.logsf)
@samples("P(3)", "P(3) + 1.0, U(), P()")
def halfnorm_logsf(x, loc=0, scale=1):
    y = standardised(x, loc, scale)
    return as_number(np.where(y <= 0, 0.0, math.log(2.0) + special.log_ndtr(-y)))


# --- Laplace, logistic and Cauchy --------------------------------------------------------------


@composed(stats.laplace.logpdf)
@samples("A(3)", "A(3), U(), P()")
def laplace_logpdf(x, loc=0, scale=1):
    return per_scale(-np.abs(centred(x, loc, scale)) - math.log(2.0), scale)


def _laplace(y):
    tail = 0.5 * np.exp(-np.abs(y))
    return as_number(np.where(y > 0, 1.0 - tail, tail))


def _log_laplace(y):
    tail = 0.5 * np.exp(-np.abs(y))
    return as_number(np.where(y > 0, np.log1p(-tail), y - math.log(2.0)))


both_sides(stats.laplace.cdf, stats.laplace.sf, _laplace)
both_sides(stats.laplace.logcdf, stats.laplace.logsf, _log_laplace)


@composed(stats.logistic.logpdf)
@samples("A(3)", "A(3), U(), P()")
def logistic_logpdf(x, loc=0, scale=1):
    y = centred(x, loc, scale)
    return per_scale(special.log_expit(y) + special.log_expit(-y), scale)


both_sides(stats.logistic.cdf, stats.logistic.sf, special.expit)
both_sides(stats.logistic.logcdf, stats.logistic.logsf, special.log_expit)


@composed(stats.cauchy.logpdf)
@samples("A(3)", "A(3), U(), P()")
def cauchy_logpdf(x, loc=0, scale=1):
    y = centred(x, loc, scale)
    return per_scale(-np.log1p(y * y) - math.log(math.pi), scale)


def _cauchy(y):
    return np.arctan2(1.0, -y) / math.pi


both_sides(stats.cauchy.cdf, stats.cauchy.sf, _cauchy)


@composed(stats.zscore)
@samples("A(5)", "A(3, 4)", "A(3, 4), 1, 1", "A(3, 4), axis=None, ddof=1")
def zscore(a, axis=0, ddof=0):
    mean = np.mean(a, axis=axis, keepdims=True)
    std = np.std(a, axis=axis, ddof=ddof, keepdims=True)
    same = std <= np.abs(np.finfo(np.result_type(mean)).eps * mean)
    return (a - mean) / np.where(same, np.nan, std)
