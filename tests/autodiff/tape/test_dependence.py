"""Stores for which nothing is saved, and stores that look as if nothing had to be."""

import numpy as np
import pytest

import srcdiff
from tests.support.differences import difference


def thomas(a, d):
    """A column solver: what is stored is divided once all that reads it has run."""
    c = np.empty(a.shape)
    x = np.empty(a.shape)
    n = a.shape[1]
    for k in range(n):
        b = 3.0 + a[:, k]
        if k < n - 1:
            c[:, k] = 0.5 * a[:, k]
        x[:, k] = d[:, k]
        if k > 0:
            b = b - c[:, k - 1] * a[:, k]
            x[:, k] -= x[:, k - 1] * a[:, k]
        x[:, k] /= b
    return np.sum(x * x)


def cholesky(a, d):
    a = a + 5.0 * np.eye(len(a))
    for i in range(len(a)):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[j, :j]
            a[i, j] /= a[j, j]
        a[i, i] -= a[i, :i] @ a[i, :i]
        a[i, i] = np.sqrt(a[i, i])
    return np.sum(a * d)


def below_the_start(a, d):
    """The read is of the last row at first: it is overwritten later, though its test says k > 0."""
    x, s = d.copy(), 0.0
    for k in range(len(a)):
        if k > 0:
            s += np.sum(x[m] ** 3)  # noqa: F821
        x[k] = a[k] * a[k]
        m = k - 1  # noqa: F841
    return s


def bound_in_the_branch(a, d):
    x, s, m = d.copy(), 0.0, 1
    for k in range(1, len(a)):
        if m > 0:
            m = k - 2
            s += np.sum(x[m] ** 3)
            x[k] = a[k] * a[k]
        m = 1
    return s


def divided_by_a_part(a, d):
    x = a + 3.0
    x[1:] /= x[:-1]
    x /= x[:1]
    return np.sum(x * d)


def read_before_it_is_divided(a, d):
    x, s = a + 3.0, 0.0
    for k in range(1, len(a)):
        s += np.sum(x[k] ** 3)
        x[k] /= d[k] + 4.0
    return s + np.sum(x)


def bound_of_what_was(a, d):
    """The test speaks of `m` as it is now, the range of the loop of what it was."""
    x, s, m = d.copy(), 0.0, 4
    for i in range(m):
        m = m - 2
        s += np.sum(x[i % 2] ** 3)
        if m < 1:
            x[i] = a[i] * a[i]
    return s


def unequal_in_two_nests(a, d):
    """Each nest has an `i` and a `k` of its own that are unequal."""
    x, s = d.copy(), 0.0
    for i in range(4):
        for k in range(4):
            if i != k:
                s += np.sum(x[i] ** 3)
    for i in range(4):
        for k in range(4):
            if i != k:
                x[k] = a[i] * a[k]
    return s + np.sum(x)


def bound_of_the_round_before(a, d):
    x, s, m = d.copy(), 0.0, 0
    for i in range(4):
        for j in range(m + 1):
            s += np.sum(x[j] ** 3)
        x[m] = a[i] * a[m]
        m = 3 - i
    return s


@pytest.fixture
def args():
    rng = np.random.default_rng(3)
    return 0.3 * rng.standard_normal((4, 4)), rng.standard_normal((4, 4))


@pytest.mark.parametrize(
    ("function", "saves"),
    [
        (thomas, ["b_saved"]),
        (cholesky, []),
        (below_the_start, ["x_saved", "m_saved"]),
        (bound_in_the_branch, None),
        (divided_by_a_part, None),
        (read_before_it_is_divided, ["x_saved"]),
        (bound_of_what_was, None),
        (unequal_in_two_nests, None),
        (bound_of_the_round_before, None),
    ],
)
def test_what_is_saved(function, saves, args):
    gradient = srcdiff.grad(function, inputs=(0, 1))
    found = gradient(*args)
    along = [np.cos(np.arange(16.0) * (k + 1)).reshape(4, 4) for k in range(2)]
    expected, _ = difference(lambda h: function(*(a + h * w for a, w in zip(args, along))))
    assert abs(sum(np.sum(g * w) for g, w in zip(found, along)) - expected) <= 1e-8 * abs(expected)
    if saves is not None:
        made = [line.split()[0] for line in gradient.source.splitlines() if "_saved = " in line]
        assert made == saves
