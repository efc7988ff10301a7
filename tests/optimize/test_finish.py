"""Sums of integers stand where they are read in a text for NumPy, as a person writes them."""

import numpy as np

import srcdiff

X = np.linspace(0.1, 1.3, 9)


def source(f, *args):
    g = srcdiff.grad(f)
    g(*args)
    return g.source


def stencil(x, n):
    return np.sum(x[1 : n + 1] * x[0:n] * x[2 : n + 2])


def shifted(x, n):
    total = 0.0
    for k in range(n):
        total = total * x[k] + x[k + 1] * x[k + 2]
    return total


def bound_again(x, n):
    a = x[n + 1] * x[n]
    m = n + 1
    n = 0
    return a * x[n] * x[m]


def test_ends_of_parts_are_sums():
    text = source(stencil, X, 5)
    assert text.count("[1 : n + 1]") == 2 and "t = n" not in text


def test_a_sum_of_the_variable_of_a_loop_is_written_in_its_body():
    text = source(shifted, X, 5)
    assert "d_x[k + 2] +=" in text and "d_x[k + 1] +=" in text


def test_what_is_bound_again_keeps_its_name():
    g = srcdiff.grad(bound_again)
    expected = np.array([X[3] * X[2] * X[3], 0, X[3] * X[0] * X[3], 2 * X[2] * X[0] * X[3]])
    np.testing.assert_allclose(g(X, 2)[:4], expected, rtol=1e-14)
