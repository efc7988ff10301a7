"""Arrays of places: which ones certainly name no element twice, and adjoints at these."""

import numpy as np
import pytest

import srcdiff
from tests.support.differences import check_gradient

X = np.linspace(0.2, 1.3, 6)


def counted(x):
    t = np.arange(len(x))
    return np.sum(x[t] ** 2 * np.sin(x))


def from_the_second(x):
    return np.sum(x[np.arange(1, len(x))] ** 2)


def moved(x):
    s = 0.0
    for k in range(3):
        s = s * x[k] + np.sum(x[k + np.arange(2)] ** 2)
    return s


def of_rows(A):
    return np.sum(A[np.arange(2), np.array([1, 1])] ** 2)


def written(x):
    t = np.arange(len(x))
    t[0] = 1
    return np.sum(x[t] ** 2)


def written_by_another_name(x):
    t = np.arange(len(x))
    u = t
    u[0] = 1
    return np.sum(x[t] ** 2)


def written_by_a_view(x):
    t = np.arange(len(x))
    t[2:][0] = 1
    return np.sum(x[t] ** 2)


def out_of_a_call(x):
    t = np.arange(len(x))
    np.multiply(t, 0, out=t)
    return np.sum(x[t] ** 2)


def remainder(x):
    return np.sum(x[np.arange(len(x)) % 3] ** 2)


def from_below(x):
    return np.sum(x[np.arange(-2, len(x))] ** 2)


def against_each_other(A):
    t = np.arange(2)
    return np.sum(A[t[:, None] // 2, t] ** 2)


def of_two_ranks(A):
    return np.sum(A[np.arange(2), np.array([[0, 0], [1, 1]])] ** 2) + np.sum(
        A[np.array([[0, 0], [0, 1]]), np.arange(2)] ** 2
    )


A = X.reshape(2, 3)


@pytest.mark.parametrize(("f", "x"), [(counted, X), (from_the_second, X), (moved, X), (of_rows, A)])
def test_no_place_is_named_twice(f, x):
    assert "np.add.at" not in srcdiff.source(f, example=(x,))
    check_gradient(f, (x,))


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (written, X), (written_by_another_name, X), (written_by_a_view, X), (out_of_a_call, X),
        (remainder, X), (from_below, X), (against_each_other, A), (of_two_ranks, A),
    ],
)  # fmt: skip
def test_a_place_may_be_named_twice(f, x):
    assert "np.add.at" in srcdiff.source(f, example=(x,))
    check_gradient(f, (x,))


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
