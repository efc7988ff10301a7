"""Elements of adjoints are cleared where somebody looks at them again, and only there."""

import numpy as np
import pytest

import srcdiff
from tests.support.differences import check_gradient

X = np.array([0.3, -0.2, 0.7, 0.4])
W = np.array([1.1, 0.6, -0.5, 0.9])
A = np.arange(12.0).reshape(4, 3) / 7.0


def each_once(x, w):
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = x[i] * w[i]
    return np.sum(out**2)


def rows_once(x, w):
    out = np.empty(A.shape)
    for i in range(4):
        out[i] = A[i] * x[i] + w[i]
    return np.sum(out**3)


def pairs_once(x, w):
    out = np.empty((4, 4))
    for i in range(4):
        for j in range(4):
            out[i, j] = x[i] * w[j]
    return np.sum(out**2)


def branches(x, w):
    out = np.ones(4)
    for i in range(4):
        if x[i] > 0.0:
            out[i] = x[i] * w[i]
    return np.sum(out**2)


def reads_the_one_before(x, w):
    out = np.ones(4)
    for i in range(1, 4):
        out[i] = out[i - 1] * x[i] + w[i]
    return np.sum(out**2)


def again_in_the_next_round(x, w):
    out = np.zeros(4)
    for _ in range(3):
        for i in range(4):
            out[i] = x[i] * w[i] + np.sum(out)
    return np.sum(out)


def not_by_the_loop(x, w):
    out = np.zeros(4)
    for i in range(4):
        out[i // 2] = x[i] * w[i]
    return np.sum(out**2)


def index_bound_anew(x, w):
    out = np.zeros(4)
    for i in range(4):
        i = min(i, 2)
        out[i] = x[i] * w[i] * 2.0
    return np.sum(out**2)


def last_row_is_kept(x, w):
    out = np.empty((4, 2))
    for i in range(4):
        out[i] = w[i] * x[:2]
    last = out[3]
    return np.sum(last * last) + np.sum(out)


def read_later(x, w):
    out = np.array(x)
    for i in range(4):
        out[i] = w[i] * x[i]
    return np.sum(out * x)


NEEDLESS = [each_once, rows_once, pairs_once, branches]
NEEDED = [reads_the_one_before, again_in_the_next_round, not_by_the_loop, index_bound_anew]


def text(f):
    return srcdiff.source(f, inputs=("x", "w"), example=(X, W))


@pytest.mark.parametrize("f", NEEDLESS, ids=lambda f: f.__name__)
def test_nothing_is_cleared_for_nothing(f):
    assert " = 0.0" not in text(f).split("# backward")[1]


def test_a_row_is_not_copied_when_it_is_not_cleared():
    assert "np.copy" not in text(rows_once)


@pytest.mark.parametrize("f", NEEDED, ids=lambda f: f.__name__)
def test_what_is_looked_at_again_is_cleared(f):
    assert " = 0.0" in text(f).split("# backward")[1]


@pytest.mark.parametrize(
    "f", [*NEEDLESS, *NEEDED, last_row_is_kept, read_later], ids=lambda f: f.__name__
)
def test_the_gradients_are_right(f):
    check_gradient(f, (X, W), (0, 1))
