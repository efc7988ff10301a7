"""Weibull and half-normal distributions of `scipy.stats`, and standard scores, in plain steps.

A shape or a scale that is not positive gives nan, as in SciPy, and so does nan.
"""

import math

import numpy as np
from scipy import special, stats

from srcdiff.rules import *

from ._standard import as_number, outside, per_scale, shaped, standardised


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


@composed(stats.zscore)
@samples("A(5)", "A(3, 4)", "A(3, 4), 1, 1", "A(3, 4), axis=None, ddof=1")
def zscore(a, axis=0, ddof=0):
    mean = np.mean(a, axis=axis, keepdims=True)
    std = np.std(a, axis=axis, ddof=ddof, keepdims=True)
    same = std <= np.abs(np.finfo(np.result_type(mean)).eps * mean)
    return (a - mean) / np.where(same, np.nan, std)
