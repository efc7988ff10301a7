"""Methods of the distributions of `scipy.stats` that follow from others.

They differ in nothing but names and shapes, and are written by `derived`.
"""

import numpy as np
from scipy import stats

from ._standard import declared, named, parameters


def derived(method, function, inner, **calls):
    """Declare a method of distributions as a function of another one, with sample calls of each."""
    for name, some in calls.items():
        distribution = getattr(stats, name)
        x = "k" if hasattr(distribution, "pmf") else "x"
        value = f"np.{function}(stats.{name}.{inner}({x}, {named(parameters(distribution))}))"
        declared(distribution, method, x, value, some, np=np, stats=stats)


derived(
    "pdf", "exp", "logpdf",
    norm=("A(3)", "A(3), A(), P()", "A(), 0.5, P()"),
    expon=("P(3)", "P(3) + 1.0, U(), P()", "V([-1.0, 2.0]), scale=P()"),
    laplace=("A(3)", "A(3), U(), P()"),
    logistic=("A(3)", "A(3), U(), P()"),
    cauchy=("A(3)", "A(3), U(), P()"),
    t=("A(3), 3.0", "A(3), P(), U(), P()"),
    gamma=("P(3), 2.5", "P(3) + 1.0, P(), U(), P()", "V([-1.0, 2.0]), a=P(), scale=P()"),
    chi2=("P(3), 3.0", "P(3) + 1.0, P(), U(), P()"),
    lognorm=("P(3), 0.5", "P(3) + 1.0, P(), U(), P()"),
    beta=("np.abs(U(3)), 2.5, 1.5", "np.abs(U(3)), P(), P(), -0.2, 1.5 * P()"),
    weibull_min=("P(3), 2.5", "P(3) + 1.0, P(), U(), P()", "V([-1.0, 2.0]), 1.5, 0.2, P()"),
    halfnorm=("P(3)", "P(3) + 1.0, U(), P()", "V([-1.0, 2.0]), 0.0, P()"),
)  # fmt: skip
derived(
    "pmf", "exp", "logpmf",
    poisson=("np.array([0, 1, 4]), P(3)", "np.array([-1, 0, 3]), P()"),
    binom=("np.array([0, 1, 4, -1, 9]), 4, np.abs(U(5))", "2, 5, np.abs(U())"),
    bernoulli=("np.array([0, 1, 1]), np.abs(U(3))",),
    nbinom=("np.array([0, 1, 4, -1]), 4, np.abs(U(4))", "2, P(), np.abs(U())"),
)  # fmt: skip
derived(
    "sf", "exp", "logsf",
    lognorm=("P(3), 0.5", "P(3) + 1.0, P(), U(), P()", "V([-1.0, 2.0]), s=P()"),
    weibull_min=("P(3), 2.5", "P(3) + 1.0, P(), U(), P()"),
)  # fmt: skip
derived(
    "logcdf", "log", "cdf",
    expon=("P(3)", "P(3) + 1.0, U(), P()"),
    uniform=("np.abs(U(3))", "P(3) + 0.3, 0.2, P()"),
    cauchy=("A(3)", "A(3), U(), P()"),
    t=("A(3), 3.0", "A(3), 2.5, U(), P()"),
    gamma=("P(3), 2.5", "P(3) + 1.0, 1.5, U(), P()"),
    chi2=("P(3), 3.0",),
    beta=("np.abs(U(3)), 2.5, 1.5",),
    weibull_min=("P(3), 2.5", "P(3) + 1.0, P(), U(), P()"),
    halfnorm=("P(3)", "P(3) + 1.0, U(), P()"),
)  # fmt: skip
derived(
    "logsf", "log", "sf",
    cauchy=("A(3)", "A(3), U(), P()"),
    t=("A(3), 3.0", "A(3), 2.5, U(), P()"),
    gamma=("P(3), 2.5", "P(3) + 1.0, 1.5, U(), P()"),
    chi2=("P(3), 3.0",),
    beta=("np.abs(U(3)), 2.5, 1.5",),
    poisson=("np.array([0, 1, 4]), P(3)",),
    binom=("np.array([0, 1, 3]), 4, np.abs(U(3))",),
)  # fmt: skip
