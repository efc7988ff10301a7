"""Stores into one place, one after the other, are one; those that are not stay as they are."""

import numpy as np

from tests.optimize.test_simplify import simplified

X = np.ones(4)


def test_what_is_added_to_a_cleared_place_is_stored():
    def before(d_x, v, i):
        t = d_x[i]
        d_x[i] = 0.0
        d_x[i] += t * v
        d_x[i] -= v
        return d_x

    text = simplified(before, d_x=X, v=2.0, i=1)
    assert text == ["d_x[i] *= v", "d_x[i] -= v", "return d_x"]


def test_two_terms_are_one_line_and_three_are_not():
    def before(d_x, u, v):
        d_x[1:] += 2.0 * u
        d_x[1:] += v
        d_x[1:] += 3.0 * v
        return d_x

    text = simplified(before, d_x=X, u=X[1:], v=X[1:])
    assert text == ["d_x[1:] += 2.0 * u + v", "d_x[1:] += 3.0 * v", "return d_x"]


def test_the_same_term_twice_is_twice_the_term():
    def before(d_x, u, v):
        d_x[1:] += u * v
        d_x[1:] += u * v
        return d_x

    assert simplified(before, d_x=X, u=2.0, v=X[1:]) == ["d_x[1:] += 2.0 * (u * v)", "return d_x"]


def test_what_is_stored_back_is_not_stored():
    def before(d_x, v, s):
        t = np.copy(d_x[1:])
        s[0] = v
        d_x[1:] = 0.0
        d_x[1:] += t
        return t, d_x, s

    text = simplified(before, d_x=X.copy(), v=2.0, s=[1.0])
    assert text == ["t = np.copy(d_x[1:])", "s[0] = v", "return t, d_x, s"]


def test_a_read_in_between_keeps_stores_apart():
    def before(d_x, v):
        d_x[1:] += v
        s = np.sum(d_x)
        d_x[1:] += v
        return d_x, s

    assert len(simplified(before, d_x=X, v=2.0)) == 4


def test_another_name_of_the_memory_keeps_stores_apart():
    def before(d_x, v):
        w = d_x[2:]
        d_x[1] = 0.0
        w[0] = d_x[1] + v
        d_x[1] += v
        return d_x, w

    assert "d_x[1] += v" in simplified(before, d_x=X, v=2.0)


def test_a_value_in_the_memory_itself_is_read_before_it_is_cleared():
    def before(d_x):
        w = d_x[2:]
        d_x[2:] = 0.0
        d_x[2:] += w
        return d_x

    assert "d_x[2:] = 0.0" in simplified(before, d_x=X)


def test_an_index_that_is_bound_anew_is_another_place():
    def before(d_x, v, i):
        d_x[i] += v
        i = i + 1
        d_x[i] += v
        return d_x

    assert len(simplified(before, d_x=X, v=2.0, i=1)) == 4


def test_single_precision_adds_step_by_step():
    def before(d_x, u, v):
        d_x[1] += u
        d_x[1] += v
        return d_x

    single = X.astype(np.float32)
    assert len(simplified(before, d_x=single, u=np.float32(1.0), v=np.float64(1e-9))) == 3


def test_an_array_of_positions_may_name_one_twice():
    def before(d_x, v, i):
        d_x[i] = 0.0
        d_x[i] += v
        return d_x

    assert len(simplified(before, d_x=X, v=2.0, i=np.array([0, 0]))) == 3
