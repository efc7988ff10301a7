"""Distributions of `scipy.stats` with a location and a scale alone, in plain steps.

A scale that is not positive gives nan, as in SciPy, and so does nan; what lies outside of the
support has no slope.
"""

import math

import numpy as np
from scipy import special, stats

from srcdiff.rules import composed, samples

from ._standard import as_number, centred, per_scale, positive, standardised


@composed(stats.norm.logpdf)
@samples("A(3)", "A(3), A(), P()", "A(2, 3), A(3), scale=P(3)", "A(), 0.5, P()")
def norm_logpdf(x, loc=0, scale=1):
    y = centred(x, loc, scale)
    return per_scale(-0.5 * y * y - 0.5 * math.log(2.0 * math.pi), scale)


@composed(stats.norm.pdf)
@samples("A(3)", "A(3), A(), P()", "A(), 0.5, P()")
def norm_pdf(x, loc=0, scale=1):
    return np.exp(stats.norm.logpdf(x, loc, scale))


@composed(stats.norm.cdf)
@samples("A(3)", "A(3), A(), P()", "A(), 0.5, P()")
def norm_cdf(x, loc=0, scale=1):
    return special.ndtr(standardised(x, loc, scale))


@composed(stats.norm.logcdf)
@samples("V([-30.0, 1.0])", "A(3), A(), P()")
def norm_logcdf(x, loc=0, scale=1):
    return special.log_ndtr(standardised(x, loc, scale))


@composed(stats.norm.sf)
@samples("A(3)", "A(3), A(), P()")
def norm_sf(x, loc=0, scale=1):
    return special.ndtr(-standardised(x, loc, scale))


@composed(stats.norm.logsf)
@samples("V([30.0, 1.0])", "A(3), A(), P()")
def norm_logsf(x, loc=0, scale=1):
    return special.log_ndtr(-standardised(x, loc, scale))


@composed(stats.norm.ppf)
@samples("np.abs(U(3))", "np.abs(U(3)), A(), P()")
def norm_ppf(q, loc=0, scale=1):
    return special.ndtri(q) * positive(scale) + loc


@composed(stats.norm.isf)
@samples("np.abs(U(3))", "np.abs(U(3)), A(), P()")
def norm_isf(q, loc=0, scale=1):
    return loc - special.ndtri(q) * positive(scale)


# --- exponential and uniform -------------------------------------------------------------------


@composed(stats.expon.logpdf)
@samples("P(3)", "P(3) + 1.0, U(), P()", "P(), scale=P()")
def expon_logpdf(x, loc=0, scale=1):
    y = standardised(x, loc, scale)
    return as_number(np.where(y < 0, -np.inf, per_scale(-y, scale)))


@composed(stats.expon.pdf)
@samples("P(3)", "P(3) + 1.0, U(), P()", "V([-1.0, 2.0]), scale=P()")
def expon_pdf(x, loc=0, scale=1):
    return np.exp(stats.expon.logpdf(x, loc, scale))


@composed(stats.expon.cdf)
@samples("P(3)", "P(3) + 1.0, U(), P()", "V([-1.0, 2.0]), scale=P()")
def expon_cdf(x, loc=0, scale=1):
    return -np.expm1(-np.maximum(standardised(x, loc, scale), 0.0))


@composed(stats.expon.logcdf)
@samples("P(3)", "P(3) + 1.0, U(), P()")
def expon_logcdf(x, loc=0, scale=1):
    return np.log(-np.expm1(-np.maximum(standardised(x, loc, scale), 0.0)))


@composed(stats.expon.sf)
@samples("P(3)", "P(3) + 1.0, U(), P()", "V([-1.0, 2.0]), scale=P()")
def expon_sf(x, loc=0, scale=1):
    return np.exp(-np.maximum(standardised(x, loc, scale), 0.0))


@composed(stats.expon.logsf)
@samples("P(3)", "V([-1.0, 2.0]), scale=P()")
def expon_logsf(x, loc=0, scale=1):
    return -np.maximum(standardised(x, loc, scale), 0.0)


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


@composed(stats.uniform.cdf)
@samples("np.abs(U(3))", "A(3), 0.2, P()", "A(3), U(), 0.7")
def uniform_cdf(x, loc=0, scale=1):
    return np.clip(standardised(x, loc, scale), 0.0, 1.0)


@composed(stats.uniform.logcdf)
@samples("np.abs(U(3))", "P(3) + 0.3, 0.2, P()")
def uniform_logcdf(x, loc=0, scale=1):
    return np.log(np.clip(standardised(x, loc, scale), 0.0, 1.0))


# --- Laplace, logistic and Cauchy --------------------------------------------------------------


@composed(stats.laplace.logpdf)
@samples("A(3)", "A(3), U(), P()")
def laplace_logpdf(x, loc=0, scale=1):
    return per_scale(-np.abs(centred(x, loc, scale)) - math.log(2.0), scale)


@composed(stats.laplace.pdf)
@samples("A(3)", "A(3), U(), P()")
def laplace_pdf(x, loc=0, scale=1):
    return np.exp(stats.laplace.logpdf(x, loc, scale))


@composed(stats.laplace.cdf)
@samples("A(3)", "A(3), U(), P()")
def laplace_cdf(x, loc=0, scale=1):
    y = standardised(x, loc, scale)
    tail = 0.5 * np.exp(-np.abs(y))
    return as_number(np.where(y > 0, 1.0 - tail, tail))


@composed(stats.laplace.logcdf)
@samples("A(3)", "A(3), U(), P()")
def laplace_logcdf(x, loc=0, scale=1):
    y = standardised(x, loc, scale)
    tail = 0.5 * np.exp(-np.abs(y))
    return as_number(np.where(y > 0, np.log1p(-tail), y - math.log(2.0)))


@composed(stats.logistic.logpdf)
@samples("A(3)", "A(3), U(), P()")
def logistic_logpdf(x, loc=0, scale=1):
    y = centred(x, loc, scale)
    return per_scale(special.log_expit(y) + special.log_expit(-y), scale)


@composed(stats.logistic.pdf)
@samples("A(3)", "A(3), U(), P()")
def logistic_pdf(x, loc=0, scale=1):
    return np.exp(stats.logistic.logpdf(x, loc, scale))


@composed(stats.logistic.cdf)
@samples("A(3)", "A(3), U(), P()")
def logistic_cdf(x, loc=0, scale=1):
    return special.expit(standardised(x, loc, scale))


@composed(stats.logistic.logcdf)
@samples("A(3)", "A(3), U(), P()")
def logistic_logcdf(x, loc=0, scale=1):
    return special.log_expit(standardised(x, loc, scale))


@composed(stats.logistic.sf)
@samples("A(3), U(), P()")
def logistic_sf(x, loc=0, scale=1):
    return special.expit(-standardised(x, loc, scale))


@composed(stats.cauchy.logpdf)
@samples("A(3)", "A(3), U(), P()")
def cauchy_logpdf(x, loc=0, scale=1):
    y = centred(x, loc, scale)
    return per_scale(-np.log1p(y * y) - math.log(math.pi), scale)


@composed(stats.cauchy.pdf)
@samples("A(3)", "A(3), U(), P()")
def cauchy_pdf(x, loc=0, scale=1):
    return np.exp(stats.cauchy.logpdf(x, loc, scale))


@composed(stats.cauchy.cdf)
@samples("A(3)", "A(3), U(), P()")
def cauchy_cdf(x, loc=0, scale=1):
    return np.arctan2(1.0, -standardised(x, loc, scale)) / math.pi


@composed(stats.cauchy.logcdf)
@samples("A(3)", "A(3), U(), P()")
def cauchy_logcdf(x, loc=0, scale=1):
    return np.log(stats.cauchy.cdf(x, loc, scale))
