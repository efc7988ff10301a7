"""Quantiles (`ppf`, `isf`) of `scipy.stats`.

Those of distributions with shapes have derivatives in the probability, `loc` and `scale`.
"""

import math

import numpy as np
from scipy import special, stats

from ._standard import declared, named, parameters, positive, probability


def placed(z, loc, scale):
    """A quantile of the standard form of a distribution as that of another location and scale."""
    return loc + positive(scale) * z


def _laplace(q):
    p = probability(q)
    tail = np.where(p > 0.5, 1.0 - p, p)
    return np.where(p > 0.5, -1.0, 1.0) * np.log(2.0 * tail)


def _tangent(q):
    inner = np.tan(math.pi * (probability(q) - 0.5))
    return np.where(q == 0, -np.inf, np.where(q == 1, np.inf, inner))


def _student(q, df):
    end = np.where(q == 0, -np.inf, np.inf)  # where SciPy has inf, or nan
    return np.where(((q == 0) | (q == 1)) & (df > 0), end, special.stdtrit(df, q))


def quantiles(distribution, below, above, *calls):
    """Declare the quantiles of a distribution by those of its standard form; None: symmetric."""
    given = named(["q", *parameters(distribution)[:-2]])
    value, minus = f"placed(plain({given}), loc, scale)", f"placed(-plain({given}), loc, scale)"
    declared(distribution, "ppf", "q", value, calls, placed=placed, plain=below)
    other, plain = (minus, below) if above is None else (value, above)
    declared(distribution, "isf", "q", other, calls, placed=placed, plain=plain)


PARTS = ("np.abs(U(3))", "np.abs(U(3)), A(), P()")
quantiles(stats.norm, special.ndtri, None, *PARTS)
quantiles(
    stats.laplace, _laplace, None, "np.array([0.2, 0.6]), A(), P()", "0.2 * P(3)",
    "0.5 + 0.2 * P(3)",
)
quantiles(stats.logistic, special.logit, None, *PARTS)
quantiles(stats.cauchy, _tangent, None, *PARTS)
quantiles(
    stats.expon, lambda q: -np.log1p(-probability(q)), lambda q: -np.log(probability(q)), *PARTS
)
quantiles(
    stats.uniform, probability, lambda q: 1.0 - probability(q), "np.abs(U(3)), scale=P()",
    "np.abs(U(3)), A(), P()",
)
quantiles(stats.t, _student, None, "np.abs(U(3)), 3.0", "np.abs(U(3)), 2.5, A(), P()")
quantiles(
    stats.gamma, lambda q, a: special.gammaincinv(positive(a), q),
    lambda q, a: special.gammainccinv(positive(a), q),
    "np.abs(U(3)), 2.5", "np.abs(U(3)), 1.5, A(), P()",
)
quantiles(
    stats.chi2, lambda q, df: 2.0 * special.gammaincinv(positive(0.5 * df), q),
    lambda q, df: 2.0 * special.gammainccinv(positive(0.5 * df), q),
    "np.abs(U(3)), 3.0", "np.abs(U(3)), 2, A(), P()",
)
quantiles(
    stats.lognorm, lambda q, s: np.exp(positive(s) * special.ndtri(q)),
    lambda q, s: np.exp(-positive(s) * special.ndtri(q)),
    "np.abs(U(3)), 0.5", "np.abs(U(3)), P(), A(), P()",
)
quantiles(
    stats.beta, lambda q, a, b: special.betaincinv(a, b, q),
    lambda q, a, b: special.betainccinv(a, b, q),
    "np.abs(U(3)), 2.5, 1.5", "np.abs(U(3)), 0.7, 1.5, A(), P()",
)
