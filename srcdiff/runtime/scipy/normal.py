"""Probabilities of normal variables, and their slopes, by `scipy.stats`.

The rules in `templates/scipy/stats/multivariate.py` are written with them.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def below(y: Any, cov: Any, options: Any = ()) -> Any:
    """The probability that centred normal variables are below each of the rows `y`.

    Of three and more variables it has the accuracy that SciPy is asked for; `options` are pairs.
    """
    from scipy.special import ndtr
    from scipy.stats import multivariate_normal

    if len(cov) == 0:
        return np.ones(len(y))
    if len(cov) == 1:
        return ndtr(y[:, 0] / np.sqrt(cov[0, 0]))
    return np.reshape(multivariate_normal.cdf(y, cov=cov, **dict(options)), len(y))


def density_at(y: Any, cov: Any, i: int) -> Any:
    """The density of the variable `i`, in rows."""
    return np.exp(-0.5 * y[:, i] ** 2 / cov[i, i]) / np.sqrt(2.0 * np.pi * cov[i, i])


def others_given(y: Any, cov: Any, i: int) -> Any:
    """The others where the variable `i` is given: what they are below, and their covariance."""
    rest, with_i = np.delete(y, i, 1), np.delete(cov[i], i)
    inner = np.delete(np.delete(cov, i, 0), i, 1)
    by = with_i / cov[i, i]
    return rest - np.outer(y[:, i], by), inner - np.outer(with_i, by)


def below_slope(y: Any, cov: Any, options: Any = ()) -> Any:
    """The derivatives of `below` by the columns of `y`."""
    slope = np.zeros_like(y)
    for i in range(len(cov)):
        rest, inner = others_given(y, cov, i)
        slope[:, i] = density_at(y, cov, i) * below(rest, inner, options)
    return slope


def below_curves(y: Any, cov: Any, options: Any = ()) -> Any:
    """The second derivatives of `below` by the columns of `y`: a matrix for every row."""
    slope = below_slope(y, cov, options)
    curves = np.zeros((*np.shape(y), len(cov)))
    for i in range(len(cov)):
        rest, inner = others_given(y, cov, i)
        row = density_at(y, cov, i)[:, None] * below_slope(rest, inner, options)
        own = -(y[:, i] * slope[:, i] + row @ np.delete(cov[i], i)) / cov[i, i]
        curves[:, i] = np.insert(row, i, own, 1)
    return curves


def on_simplex(x: Any, alpha: Any) -> Any:
    """`x`, of which the parts along the first axis add up to one.

    Raises:
        ValueError: they do not, or `alpha` are no parameters of a distribution of Dirichlet.
    """
    from scipy.stats import dirichlet

    dirichlet.logpdf(x, alpha)
    return np.array(x)
