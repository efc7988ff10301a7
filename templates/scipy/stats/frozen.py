"""Frozen distributions of `scipy.stats`: `stats.norm(loc, scale)` as an object of its parameters.

Each method is that of the distribution with the parameters behind its argument.  The classes differ
in nothing but names, and are written by `_frozen`.
"""

from scipy import stats

from srcdiff.rules import *
from srcdiff.runtime.implicit import with_source

from ._standard import named, parameters

_CONTINUOUS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
_DISCRETE = ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
_MOMENTS = ("mean", "std", "var", "median", "entropy")


def _frozen(name, params, methods, moments=()):
    """Declare the class of a frozen distribution, and the definition of what makes it."""
    given = ", ".join(f"self.{n}" for n in named(params).split(", "))
    lines = [f"def __init__(self, {', '.join(params)}):"]
    lines += [f"    self.{n} = {n}" for n in named(params).split(", ")]
    for method in methods:
        lines += [f"def {method}(self, x):", f"    return stats.{name}.{method}(x, {given})"]
    for method in moments:
        lines += [f"def {method}(self):", f"    return stats.{name}.{method}({given})"]
    lines += ["def rvs(self, size=1, random_state=None):"]
    lines += [f"    return stats.{name}.rvs({given}, size=size, random_state=random_state)"]
    space = {"stats": stats, "__name__": __name__}
    made = with_source(f"class Frozen_{name}:", lines, space)
    space[made.__name__] = made
    body = [f"return Frozen_{name}({named(params)})"]
    definition = with_source(f"def frozen_{name}({', '.join(params)}):", body, space)
    composed(getattr(stats, name), early=True)(definition)


for _name in (
    "norm", "expon", "uniform", "laplace", "logistic", "cauchy", "t", "chi2", "gamma", "beta",
    "lognorm",
):  # fmt: skip
    _frozen(_name, parameters(getattr(stats, _name)), _CONTINUOUS, _MOMENTS)
for _name in ("weibull_min", "halfnorm"):
    _frozen(_name, parameters(getattr(stats, _name)), _CONTINUOUS[:-2])
for _name in ("poisson", "binom", "bernoulli"):
    _frozen(_name, parameters(getattr(stats, _name)), _DISCRETE, _MOMENTS)
_frozen("nbinom", parameters(stats.nbinom), _DISCRETE[:2])
_frozen("multivariate_normal", ["mean=None", "cov=1"], ("pdf", "logpdf", "cdf", "logcdf"))
_frozen("dirichlet", ["alpha"], ("pdf", "logpdf"))
