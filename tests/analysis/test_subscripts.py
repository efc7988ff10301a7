"""Arrays of places that are all different: what adjoints add there."""

import numpy as np
import pytest

import srcdiff
from tests.support.differences import check_gradient


def beside_others(x, k, n):
    t = np.arange(n)
    rows, columns = x[t, k], x[k, t + 1]
    return np.sum(rows**2) + np.sum(columns**3) + np.sum(x[k, t, None])


def alone(x, k, n):
    t = np.arange(n)
    return np.sum(x[t] ** 2) + np.sum(x[t + 1, 0] * x[0, t]) + np.sum(x[t, t] ** 3)


@pytest.mark.parametrize(("k", "n"), [([1, 0, 1], 1), ([1, 0, 1], 3), ([1], 3), ([0, 0], 2)])
def test_one_place_may_be_spread_to_those_beside_it(k, n):
    x = np.random.default_rng(0).normal(size=(4, 5))
    check_gradient(beside_others, (x, np.array(k), n))


def test_counted_places_are_added_to_at_once():
    x = np.random.default_rng(0).normal(size=(4, 5))
    text = srcdiff.source(alone, example=(x, np.array([0]), 3))
    assert "np.add.at" not in text and "d_x[t] +=" in text
    check_gradient(alone, (x, np.array([0]), 3))
