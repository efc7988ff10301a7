"""Elements of adjoints are cleared, and copied, where somebody looks at them again, only there."""

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


def rows_after_rows(x, w):
    out = np.empty((5, 4))
    out[0] = x
    for i in range(4):
        out[i + 1, :2] = out[i, :2] * w[:2]
        out[i + 1, 2:] = np.sin(out[i, 2:]) * w[2:] + out[i, :2]
    return np.sum(out[1:] ** 2)


def made_in_each_round(x, w):
    s = 0.0
    for _ in range(3):
        out = np.empty(4)
        for i in range(4):
            out[i] = x[i] * w[i] + s
        s = np.sum(out * out) * 0.1
    return s


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


def the_same_from_both_ends(x, w):
    out = np.zeros(2)
    for i in range(-2, 2):
        out[i] = x[i + 2] * w[i + 2] * (i + 3.0)
    return np.sum(out)


def a_step_is_taken_back(x, w):
    out = np.zeros(6)
    for i in range(1, 5):
        out[i + 1] = x[i - 1]
        out[i - 1] = w[i - 1] * out[i]
    return np.sum(out * out)


def one_row_again_and_again(x, w):
    out, s = np.zeros((2, 4)), 0.0
    row = out[0]
    for i in range(3):
        row[:] = x * w * (i + 1.0)
        s += np.sum(out[0] * row * w)
    return s


def the_bound_moves(x, w):
    out, m, s = np.zeros(12), 4, 0.0
    for i in range(m):
        m = m + i - 1
        out[m] = x[i] * w[i]
        s += out[m] * out[4]
    return s


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


NEEDLESS = [each_once, rows_once, pairs_once, branches, reads_the_one_before, rows_after_rows,
            made_in_each_round]
NEEDED = [again_in_the_next_round, not_by_the_loop, index_bound_anew, the_same_from_both_ends,
          a_step_is_taken_back, one_row_again_and_again, the_bound_moves]


def text(f):
    return srcdiff.source(f, inputs=("x", "w"), example=(X, W), strict=True)


@pytest.mark.parametrize("f", NEEDLESS, ids=lambda f: f.__name__)
def test_nothing_is_cleared_for_nothing(f):
    assert "] = 0.0" not in text(f).split("# backward")[1]


@pytest.mark.parametrize("f", [rows_once, rows_after_rows], ids=lambda f: f.__name__)
def test_a_row_is_not_copied_when_it_is_not_cleared(f):
    backward = text(f).split("# backward")[1]
    assert "copy" not in backward.split("for ")[1].replace("np.copy(d_out[0])", "")


@pytest.mark.parametrize("f", NEEDED, ids=lambda f: f.__name__)
def test_what_is_looked_at_again_is_cleared(f):
    assert "] = 0.0" in text(f).split("# backward")[1]


@pytest.mark.parametrize(
    "f", [*NEEDLESS, *NEEDED, last_row_is_kept, read_later], ids=lambda f: f.__name__
)
def test_the_gradients_are_right(f):
    check_gradient(f, (X, W), (0, 1))
