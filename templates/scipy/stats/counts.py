"""Discrete and multivariate distributions of `scipy.stats`, in plain steps."""

import math

import numpy as np
from scipy import linalg, special, stats

from srcdiff.rules import composed, rank, refuse, samples


@composed(stats.poisson.logpmf)
@samples("np.array([0, 1, 4]), P(3)", "2, P()", "np.array([1, 2, 3]), P(), 1")
def poisson_logpmf(k, mu, loc=0):
    n = np.maximum(k - loc, 0)
    log = special.xlogy(n, mu) - special.gammaln(n + 1) - mu
    return np.where((k - loc >= 0) & (np.floor(k) == k), log, -np.inf)


@composed(stats.poisson.pmf)
@samples("np.array([0, 1, 4]), P(3)", "np.array([-1, 0, 3]), P()")
def poisson_pmf(k, mu, loc=0):
    return np.exp(stats.poisson.logpmf(k, mu, loc))


@composed(stats.poisson.cdf)
@samples("np.array([0, 1, 4]), P(3)", "np.array([-1, 0, 3]), P()")
def poisson_cdf(k, mu, loc=0):
    n = np.floor(k - loc)
    return np.where(n >= 0, special.gammaincc(np.maximum(n, 0.0) + 1.0, mu), 0.0)


@composed(stats.poisson.logcdf)
@samples("np.array([0, 1, 4]), P(3)", "np.array([2, 3]), P()")
def poisson_logcdf(k, mu, loc=0):
    none = k < loc
    return np.where(none, -np.inf, np.log(np.where(none, 1.0, stats.poisson.cdf(k, mu, loc))))


@composed(stats.binom.logpmf)
@samples("np.array([0, 1, 4]), 4, np.abs(U(3))", "2, 5, np.abs(U())")
def binom_logpmf(k, n, p, loc=0):
    hits = np.clip(k - loc, 0, n)
    log = special.gammaln(n + 1) - special.gammaln(hits + 1) - special.gammaln(n - hits + 1)
    log = log + special.xlogy(hits, p) + special.xlog1py(n - hits, -p)
    return np.where((k - loc == hits) & (np.floor(k) == k), log, -np.inf)


@composed(stats.binom.pmf)
@samples("np.array([0, 1, 4, -1, 9]), 4, np.abs(U(5))", "2, 5, np.abs(U())")
def binom_pmf(k, n, p, loc=0):
    return np.exp(stats.binom.logpmf(k, n, p, loc))


@composed(stats.binom.cdf)
@samples("np.array([0, 1, 4, -1]), 4, np.abs(U(4))", "2, 5, np.abs(U())")
def binom_cdf(k, n, p, loc=0):
    hits = np.floor(k - loc)
    inner = np.clip(hits, 0, n - 1)
    return np.where(
        hits < 0, 0.0, np.where(hits >= n, 1.0, special.betaincc(inner + 1.0, n - inner, p))
    )


@composed(stats.binom.logcdf)
@samples("np.array([0, 1, 4]), 4, np.abs(U(3))", "2, 5, np.abs(U())")
def binom_logcdf(k, n, p, loc=0):
    none = k < loc
    return np.where(none, -np.inf, np.log(np.where(none, 1.0, stats.binom.cdf(k, n, p, loc))))


@composed(stats.bernoulli.logpmf)
@samples("np.array([0, 1, 1]), np.abs(U(3))")
def bernoulli_logpmf(k, p, loc=0):
    return stats.binom.logpmf(k, 1, p, loc)


@composed(stats.bernoulli.pmf)
@samples("np.array([0, 1, 1]), np.abs(U(3))")
def bernoulli_pmf(k, p, loc=0):
    return np.exp(stats.binom.logpmf(k, 1, p, loc))


@composed(stats.multivariate_normal.logpdf)
@samples("A(3), A(3), S(3)", "A(4, 3), A(3), S(3)", "A(3), None, S(3)")
def multivariate_normal_logpdf(x, mean=None, cov=1):
    if rank(cov) == 0 or rank(cov) == 1:
        refuse("`cov` must be a matrix")
    centred = x if mean is None else x - mean
    root = linalg.cholesky(cov, lower=True)
    if np.ndim(centred) > 2:
        refuse("`x` must have one axis or two")
    y = linalg.solve_triangular(root, centred.T, lower=True)
    volume = 2.0 * np.sum(np.log(np.diagonal(root))) + len(root) * math.log(2.0 * math.pi)
    return -0.5 * (np.sum(y * y, axis=0) + volume)


@composed(stats.multivariate_normal.pdf)
@samples("A(3), A(3), S(3)", "A(4, 3), A(3), S(3)")
def multivariate_normal_pdf(x, mean=None, cov=1):
    return np.exp(stats.multivariate_normal.logpdf(x, mean, cov))


@composed(stats.dirichlet.logpdf)
@samples("np.array([0.2, 0.3, 0.5]), P(3)", "np.array([[0.2, 0.6], [0.3, 0.1], [0.5, 0.3]]), P(3)")
def dirichlet_logpdf(x, alpha):
    volume = np.sum(special.gammaln(alpha)) - special.gammaln(np.sum(alpha))
    return (alpha - 1.0) @ np.log(x) - volume


@composed(stats.dirichlet.pdf)
@samples("np.array([0.2, 0.3, 0.5]), P(3)")
def dirichlet_pdf(x, alpha):
    return np.exp(stats.dirichlet.logpdf(x, alpha))
