"""Densities of several variables of `scipy.stats`, in plain steps."""

import math

import numpy as np
from scipy import linalg, special, stats

from srcdiff.rules import *
from srcdiff.runtime.scipy.distributions import on_simplex


def _each(density, x):
    """What SciPy makes of the densities of points in rows: one point alone is no axis."""
    if rank(x) is None or rank(x) > 2:
        return np.squeeze(np.reshape(density, np.shape(x)[:-1] if np.ndim(x) > 1 else -1))[()]
    return np.squeeze(density)[()]


def _matrix(cov, mean):
    if rank(cov) == 2:
        return cov
    return cov if np.ndim(cov) == 2 else cov * np.eye(1 if mean is None else np.size(mean))


@composed(stats.multivariate_normal.logpdf)
@samples(
    "A(3), A(3), S(3)", "A(4, 3), A(3), S(3)", "A(3), None, S(3)", "A(4, 3), A(3), P(3)",
    "A(4, 3), A(3), P()", "A(4, 3), A(3)", "A(3), A(), P()", "A(4), None, S(1)", "A(4)",
    "A(1, 3), A(3), S(3)", "A(2, 4, 3), A(3), S(3)",
)  # fmt: skip
def multivariate_normal_logpdf(x, mean=None, cov=1, allow_singular=False):
    if not known(allow_singular) or allow_singular:
        refuse("`allow_singular=True`: there is no density")
    centred = x if mean is None else x - mean
    if cov is None or rank(cov) == 0 or rank(cov) == 1:
        # variables that do not depend on each other
        count = 1 if mean is None or rank(mean) == 0 else np.size(mean)
        scale = 1 if cov is None or known(cov) and cov == 1 else np.sqrt(cov)
        rows = np.reshape(centred, (-1, count))
        return _each(np.sum(stats.norm.logpdf(rows, 0, scale), axis=1), x)
    root = linalg.cholesky(_matrix(cov, mean), lower=True)
    y = linalg.solve_triangular(root, np.reshape(centred, (-1, len(root))).T, lower=True)
    volume = 2.0 * np.sum(np.log(np.diagonal(root))) + len(root) * math.log(2.0 * math.pi)
    return _each(-0.5 * (np.sum(y * y, axis=0) + volume), x)


@composed(stats.multivariate_normal.pdf)
@samples("A(3), A(3), S(3)", "A(4, 3), A(3), S(3)", "A(4, 3), A(3), P(3)")
def multivariate_normal_pdf(x, mean=None, cov=1, allow_singular=False):
    return np.exp(stats.multivariate_normal.logpdf(x, mean, cov, allow_singular))


unsupported(
    "Of independent variables multiply `stats.norm.cdf`.",
    stats.multivariate_normal.cdf, stats.multivariate_normal.logcdf,
)  # fmt: skip


@rule(on_simplex, constant="alpha")
@samples("np.array([0.2, 0.3, 0.5]), P(3)")
def on_simplex_(x, alpha):
    d[x] += d[z]


@composed(stats.dirichlet.logpdf)
@samples(
    "np.array([0.2, 0.3, 0.5]), P(3)", "np.array([[0.2, 0.6], [0.3, 0.1], [0.5, 0.3]]), P(3)",
    "np.array([0.2, 0.3]), P(3)",
)  # fmt: skip
def dirichlet_logpdf(x, alpha):
    parts = x
    if len(x) + 1 == len(alpha):
        parts = np.concatenate((x, np.expand_dims(1.0 - np.sum(x, axis=0), 0)))
    parts = on_simplex(parts, alpha)
    volume = np.sum(special.gammaln(alpha)) - special.gammaln(np.sum(alpha))
    return np.sum(special.xlogy(alpha - 1.0, parts.T), axis=-1) - volume


made_of(
    stats.dirichlet.pdf, value=lambda x, alpha: np.exp(stats.dirichlet.logpdf(x, alpha)),
    samples=("np.array([0.2, 0.3, 0.5]), P(3)",),
)
