"""Discrete distributions of `scipy.stats`, in plain steps.

Parameters that are none give nan, as in SciPy.
"""

import numpy as np
from scipy import special, stats

from srcdiff.rules import *

from ._standard import as_number, probability


@composed(stats.poisson.logpmf)
@samples("np.array([0, 1, 4]), P(3)", "2, P()", "np.array([1, 2, 3]), P(), 1")
def poisson_logpmf(k, mu, loc=0):
    n = k - loc
    none = (n < 0) | (np.floor(n) < n)
    n, mean = np.maximum(n, 0), np.where(mu >= 0, mu, np.nan)
    log = special.xlogy(n, mean) - special.gammaln(n + 1) - mean
    return as_number(np.where(none & (mu >= 0), -np.inf, log))


def of_poisson(of, plain, end):
    """The definition of probabilities below or above a number of events."""

    @composed(of)
    @samples("np.array([0, 1, 4]), P(3)", "np.array([-1, 0, 3]), P()", "2, P()")
    def poisson_sum(k, mu, loc=0):
        n = np.floor(k - loc)
        rest = plain(np.maximum(n, 0.0) + 1.0, mu)
        return as_number(np.where((n < 0) & (mu >= 0), end, rest))


of_poisson(stats.poisson.cdf, special.gammaincc, 0.0)
of_poisson(stats.poisson.sf, special.gammainc, 1.0)


def _logarithm(total, none):
    """The logarithm of a sum of probabilities, where there are some."""
    return as_number(np.where(none, -np.inf, np.log(np.where(none, 1.0, total))))


made_of(
    stats.poisson.logcdf, samples=("np.array([0, 1, 4]), P(3)", "np.array([2, 3]), P()"),
    value=lambda k, mu, loc=0: _logarithm(stats.poisson.cdf(k, mu, loc), (k < loc) & (mu >= 0)),
)


@composed(stats.binom.logpmf)
@samples("np.array([0, 1, 4]), 4, np.abs(U(3))", "2, 5, np.abs(U())")
def binom_logpmf(k, n, p, loc=0):
    found, chance = k - loc, probability(p)
    hits = np.clip(found, 0, n)
    log = special.gammaln(n + 1) - special.gammaln(hits + 1) - special.gammaln(n - hits + 1)
    log = log + special.xlogy(hits, chance) + special.xlog1py(n - hits, -chance)
    none = (found < 0) | (found > n) | (np.floor(found) < found)
    return as_number(np.where(none & (p >= 0) & (p <= 1), -np.inf, log))


def of_binom(of, plain, none, all_of_them):
    """The definition of probabilities below or above a number of hits."""

    @composed(of)
    @samples("np.array([0, 1, 4, -1]), 4, np.abs(U(4))", "2, 5, np.abs(U())")
    def binom_sum(k, n, p, loc=0):
        hits, chance = np.floor(k - loc), probability(p)
        inner = np.clip(hits, 0, n - 1)
        rest = plain(inner + 1.0, n - inner, chance)
        apart = ((hits < 0) | (hits >= n)) & (p >= 0) & (p <= 1)
        return as_number(np.where(apart, np.where(hits < 0, none, all_of_them), rest))


of_binom(stats.binom.cdf, special.betaincc, 0.0, 1.0)
of_binom(stats.binom.sf, special.betainc, 1.0, 0.0)


@composed(stats.binom.logcdf)
@samples("np.array([0, 1, 4]), 4, np.abs(U(3))", "2, 5, np.abs(U())")
def binom_logcdf(k, n, p, loc=0):
    return _logarithm(stats.binom.cdf(k, n, p, loc), (k < loc) & (p >= 0) & (p <= 1))


made_of(
    stats.bernoulli.logpmf, value=lambda k, p, loc=0: stats.binom.logpmf(k, 1, p, loc),
    samples=("np.array([0, 1, 1]), np.abs(U(3))",),
)


@composed(stats.nbinom.logpmf)
@samples(
    "np.array([0, 1, 4]), 4, np.abs(U(3))", "2, P(), np.abs(U())",
    "np.array([3, 2]), P(2), np.abs(U()), 1",
)  # fmt: skip
def nbinom_logpmf(k, n, p, loc=0):
    found = k - loc
    fits = (n > 0) & (p > 0) & (p <= 1)
    wanted, chance = np.where(fits, n, np.nan), np.where(fits, p, np.nan)
    misses = np.maximum(found, 0)
    log = special.gammaln(wanted + misses) - special.gammaln(misses + 1) - special.gammaln(wanted)
    log = log + wanted * np.log(chance) + special.xlog1py(misses, -chance)
    return as_number(np.where(fits & ((found < 0) | (np.floor(found) < found)), -np.inf, log))
