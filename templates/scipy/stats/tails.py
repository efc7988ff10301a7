"""Probabilities above a value (`sf`, `logsf`) of `scipy.stats`, where these say all of them."""

import numpy as np
from scipy import special, stats

from srcdiff.rules import *

made_of(
    stats.uniform.sf, value=lambda x, loc=0, scale=1: 1.0 - stats.uniform.cdf(x, loc, scale),
    samples=("np.abs(U(3))", "A(3), U(), 0.7"),
)


@composed(stats.lognorm.logsf)
@samples("P(3), 0.5", "P(3) + 1.0, P(), U(), P()", "V([-1.0, 2.0]), s=P()", "P(), P()")
def lognorm_logsf(x, s, loc=0, scale=1):
    y = (x - loc) / np.where((scale > 0) & (s > 0), scale, np.nan)
    log = special.log_ndtr(-np.log(np.where(y <= 0, 1.0, y)) / s)
    return np.where(y <= 0, 0.0, log)[()]


made_of(
    stats.beta.sf,
    value=lambda x, a, b, loc=0, scale=1: stats.beta.cdf(scale - (x - loc), b, a, 0, scale),
    samples=("np.abs(U(3)), 2.5, 1.5", "np.abs(U(3)), 0.7, 1.5, -0.2, P() + 0.8"),
)
