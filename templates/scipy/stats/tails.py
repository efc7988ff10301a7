"""Probabilities above a value (`sf`, `logsf`) of `scipy.stats`, where these say all of them."""

import numpy as np
from scipy import special, stats

from srcdiff.rules import composed, samples


@composed(stats.uniform.sf)
@samples("np.abs(U(3))", "A(3), U(), 0.7")
def uniform_sf(x, loc=0, scale=1):
    return 1.0 - stats.uniform.cdf(x, loc, scale)


@composed(stats.laplace.sf)
@samples("A(3)", "A(3), U(), P()")
def laplace_sf(x, loc=0, scale=1):
    return stats.laplace.cdf(-x, -loc, scale)


@composed(stats.laplace.logsf)
@samples("A(3)", "A(3), U(), P()")
def laplace_logsf(x, loc=0, scale=1):
    return stats.laplace.logcdf(-x, -loc, scale)


@composed(stats.logistic.logsf)
@samples("A(3)", "A(3), U(), P()")
def logistic_logsf(x, loc=0, scale=1):
    return stats.logistic.logcdf(-x, -loc, scale)


@composed(stats.cauchy.sf)
@samples("A(3)", "A(3), U(), P()")
def cauchy_sf(x, loc=0, scale=1):
    return stats.cauchy.cdf(-x, -loc, scale)


@composed(stats.cauchy.logsf)
@samples("A(3)", "A(3), U(), P()")
def cauchy_logsf(x, loc=0, scale=1):
    return np.log(stats.cauchy.cdf(-x, -loc, scale))


@composed(stats.t.logsf)
@samples("A(3), 3.0", "A(3), 2.5, U(), P()")
def t_logsf(x, df, loc=0, scale=1):
    return np.log(stats.t.sf(x, df, loc, scale))


@composed(stats.gamma.logsf)
@samples("P(3), 2.5", "P(3) + 1.0, 1.5, U(), P()")
def gamma_logsf(x, a, loc=0, scale=1):
    return np.log(stats.gamma.sf(x, a, loc, scale))


@composed(stats.chi2.logsf)
@samples("P(3), 3.0")
def chi2_logsf(x, df, loc=0, scale=1):
    return np.log(stats.chi2.sf(x, df, loc, scale))


@composed(stats.lognorm.sf)
@samples("P(3), 0.5", "P(3) + 1.0, P(), U(), P()", "V([-1.0, 2.0]), s=P()")
def lognorm_sf(x, s, loc=0, scale=1):
    return np.exp(stats.lognorm.logsf(x, s, loc, scale))


@composed(stats.lognorm.logsf)
@samples("P(3), 0.5", "P(3) + 1.0, P(), U(), P()", "V([-1.0, 2.0]), s=P()", "P(), P()")
def lognorm_logsf(x, s, loc=0, scale=1):
    y = (x - loc) / np.where((scale > 0) & (s > 0), scale, np.nan)
    log = special.log_ndtr(-np.log(np.where(y <= 0, 1.0, y)) / s)
    return np.where(y <= 0, 0.0, log)[()]


@composed(stats.beta.sf)
@samples("np.abs(U(3)), 2.5, 1.5", "np.abs(U(3)), 0.7, 1.5, -0.2, P() + 0.8")
def beta_sf(x, a, b, loc=0, scale=1):
    return stats.beta.cdf(scale - (x - loc), b, a, 0, scale)


@composed(stats.beta.logsf)
@samples("np.abs(U(3)), 2.5, 1.5")
def beta_logsf(x, a, b, loc=0, scale=1):
    return np.log(stats.beta.sf(x, a, b, loc, scale))


@composed(stats.poisson.logsf)
@samples("np.array([0, 1, 4]), P(3)")
def poisson_logsf(k, mu, loc=0):
    return np.log(stats.poisson.sf(k, mu, loc))


@composed(stats.binom.logsf)
@samples("np.array([0, 1, 3]), 4, np.abs(U(3))")
def binom_logsf(k, n, p, loc=0):
    return np.log(stats.binom.sf(k, n, p, loc))
