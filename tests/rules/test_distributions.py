"""Distributions of `scipy.stats` have SciPy's values, at the ends of the support and beyond."""

import itertools

import numpy as np
import pytest

import srcdiff
from tests.support.differences import define

pytest.importorskip("scipy", reason="SciPy is an extra")
from scipy import stats  # noqa: E402

SHAPES = {
    "norm": [()], "expon": [()], "uniform": [()], "laplace": [()], "logistic": [()],
    "cauchy": [()], "t": [(3.0,), (-1.0,)], "chi2": [(2.0,), (3.0,), (1.0,), (-1.0,)],
    "gamma": [(1.0,), (2.0,), (0.5,), (-1.0,), (0.0,)],
    "beta": [(1.0, 1.0), (2.0, 1.0), (1.0, 3.0), (0.5, 0.5), (2.0, 2.0), (-1.0, 2.0), (2.0, 0.0)],
    "lognorm": [(0.5,), (-0.5,)],
}  # fmt: skip
COUNTS = {
    "poisson": [(2.0,), (1e-9,), (-0.5,)],
    "binom": [(4, 0.3), (4, 0.0), (4, 1.0), (4, 1.5), (4, -0.5)],
    "bernoulli": [(0.3,), (1.2,)],
}
PLACED = [(), (0.0, 1.0), (-0.5, 2.0), (0.0, -1.0)]
X = np.array([-1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, np.inf, np.nan])
K = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 4.0, 5.0, np.nan])
Q = np.array([0.0, 0.3, 1.0, -0.1, 1.2, np.nan])
DENSITIES, REST = ("pdf", "logpdf"), ("cdf", "logcdf", "sf", "logsf")


def supported(name, methods):
    """The methods of a distribution that have a rule."""
    return [m for m in methods if srcdiff.rules.lookup(getattr(getattr(stats, name), m))]


def derivative_of(name, method, count):
    """Values of a method and its slopes in its first argument, or in a factor beside it."""
    names = ", ".join("xabcd"[:count])
    text = f"def f(w, {names}):\n    return w * 1.0, stats.{name}.{method}({names})\n"
    f = define(text, "f", {"stats": stats})
    made = srcdiff.value_and_grad(f, (0, 1), outputs=1, allow_unused=True)
    return lambda x, *rest: made(1.0, x, *rest, grad_outputs=x * 0.0 + 1.0)[0][1]


def check(name, methods, points, params):
    for method, (count, group) in itertools.product(supported(name, methods), grouped(params)):
        found_at = derivative_of(name, method, 1 + count)
        for args, x in itertools.product(group, (points, *points[:4])):
            expected = getattr(getattr(stats, name), method)(x, *args)
            found, message = found_at(x, *args), f"{name}.{method}({x}, {args})"
            np.testing.assert_allclose(found, expected, 1e-12, 1e-14, err_msg=message)
            assert isinstance(found, np.ndarray) is isinstance(expected, np.ndarray), message


def grouped(params):
    """Parameters by how many there are."""
    return [(n, list(found)) for n, found in itertools.groupby(sorted(params, key=len), len)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SHAPES)
def test_values_of_densities_and_probabilities(name):
    params = [(*s, *p) for s, p in itertools.product(SHAPES[name], PLACED)]
    check(name, DENSITIES + REST, X, params)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", SHAPES)
def test_values_of_quantiles(name):
    params = [(*s, *p) for s, p in itertools.product(SHAPES[name], PLACED)]
    check(name, ("ppf", "isf"), Q, params)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", COUNTS)
def test_values_of_counts(name):
    params = [(*s, *p) for s, p in itertools.product(COUNTS[name], ((), (1,)))]
    check(name, ("pmf", "logpmf", "cdf", "sf"), K, params)
    of_one = [p for p in params if 0 <= p[len(p) > 2] <= 1 or name == "poisson"]
    check(name, ("logcdf", "logsf"), K, of_one)  # SciPy has numbers where parameters are none
