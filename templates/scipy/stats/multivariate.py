"""The distribution function of normal variables that depend on each other.

Its slope by one of them is the density of this one, times the probability that the others are below
given that one; its slope by the covariance is half of its second derivative (Plackett's identity).
Both triangles of the covariance count as one variable: which of them SciPy reads depends on its
version and on the number of variables.
"""

import numpy as np
from scipy import stats

from srcdiff.rules import composed, d, forward, known, rank, refuse, rule, samples
from srcdiff.runtime.scipy import normal
from srcdiff.runtime.scipy.normal import below

composed(normal.density_at)(samples("A(2, 3), S(3), 1")(normal.density_at))
composed(normal.others_given)(samples("A(2, 3), S(3), 1")(normal.others_given))
composed(normal.below_slope)(samples("A(3, 2), S(2)")(normal.below_slope))
composed(normal.below_curves)(samples("A(2, 1), S(1)")(normal.below_curves))


@rule(below)
@samples("A(3, 2), np.diag(P(2)) + 0.2 * U()")
def below_(y, cov, options=()):
    z = below(y, cov, options)
    yield z
    d[y] += d[z][:, None] * normal.below_slope(y, cov, options)
    d[cov] += 0.5 * np.tensordot(d[z], normal.below_curves(y, cov, options), 1)


@forward(below)
def below_tangent(y, cov, options=()):
    z = below(y, cov, options)
    yield z
    d[z] += np.sum(d[y] * normal.below_slope(y, cov, options), axis=1)
    d[z] += 0.5 * np.sum(d[cov] * normal.below_curves(y, cov, options), axis=(1, 2))


@composed(stats.multivariate_normal.cdf)
@samples(
    "A(2), None, np.diag(P(2)) + 0.2 * U()", "A(4, 2), A(2), np.diag(P(2)) + 0.2 * U()",
    "A(3), A(1), S(1)",
)  # fmt: skip
def multivariate_normal_cdf(
    x, mean=None, cov=1, allow_singular=False, maxpts=None, abseps=1e-5, releps=1e-5, *,
    lower_limit=None, rng=None,
):  # fmt: skip
    if rank(cov) == 0 or rank(cov) == 1:
        refuse("`cov` must be a matrix; of variables that are independent: `stats.norm.cdf`")
    if not known(allow_singular) or allow_singular:
        refuse("`allow_singular=True`: there is no density")
    if lower_limit is not None:
        refuse("`lower_limit`: add and subtract the probabilities below the corners")
    if np.ndim(x) > 2:
        refuse("`x` must have one axis or two")
    options = (("maxpts", maxpts), ("abseps", abseps), ("releps", releps))
    if rng is not None:
        options = (*options, ("rng", rng))
    y = np.asarray(x) if mean is None else np.asarray(x) - np.asarray(mean)
    z = np.squeeze(below(np.reshape(y, (-1, len(cov))), np.asarray(cov), options))
    return z[()]  # SciPy gives a number of one point


@composed(stats.multivariate_normal.logcdf)
@samples("A(2), A(2), np.diag(P(2)) + 0.2 * U()")
def multivariate_normal_logcdf(
    x, mean=None, cov=1, allow_singular=False, maxpts=None, abseps=1e-5, releps=1e-5, *,
    lower_limit=None, rng=None,
):  # fmt: skip
    return np.log(
        stats.multivariate_normal.cdf(
            x, mean, cov, allow_singular, maxpts, abseps, releps, lower_limit=lower_limit, rng=rng
        )
    )
