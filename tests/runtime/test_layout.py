"""Programs that the order of arrays in memory decides: values, tangents and Jacobians."""

import numpy as np
import pytest

import srcdiff
from tests.programs.layouts import IN_MEMORY

PLAIN = [f for f in IN_MEMORY if f.__name__ != "numbers_of_another_width"]
X = np.array([[1.13, 0.71], [0.637, 1.29]])
V = np.array([[0.3, -0.8], [0.5, 0.2]])


def slope(f, x, v, h=1e-6):
    """The central difference along a direction."""
    return (f(x + h * v) - f(x - h * v)) / (2.0 * h)


def in_order(x, order):
    """A copy in C or Fortran order."""
    return np.array(x, order=order)


@pytest.mark.parametrize("function", PLAIN, ids=lambda f: f.__name__)
@pytest.mark.parametrize("order", ["C", "F"])
def test_values_and_tangents(function, order):
    """Both modes give the value of the function, and what differences give."""

    def plain(x):
        return function(in_order(x, order))

    expected, along = plain(X), slope(plain, X, V)
    value, gradient = srcdiff.value_and_grad(function)(in_order(X, order))
    np.testing.assert_allclose([value, np.sum(gradient * V)], [expected, along], rtol=1e-6)
    value, tangent = srcdiff.jvp(function, (in_order(X, order),), (V,))
    np.testing.assert_allclose([value, tangent], [expected, along], rtol=1e-6)


@pytest.mark.parametrize("function", PLAIN, ids=lambda f: f.__name__)
def test_tangents_of_gradients(function):
    """Forward mode over reverse mode."""
    gradient = srcdiff.grad(function)
    found = srcdiff.jvp(gradient, (X.copy(),), (V,))[1]
    np.testing.assert_allclose(found, slope(gradient, X, V), rtol=1e-5, atol=1e-7)


def flat_of_a_turned_outer_product(x):
    y = np.outer(x[0], x[1]).T * 1.0
    z = y.ravel()
    z[1] = 5.0
    return y * z.sum()


def flat_of_a_buffer_in_fortran_order(x):
    y = np.zeros((2, 2), order="F")
    y[:] = x
    z = y.ravel()
    z[0] = 5.0
    return y * z.sum()


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(
    "function", [flat_of_a_turned_outer_product, flat_of_a_buffer_in_fortran_order]
)
def test_jacobians(function, mode):
    """All columns or rows at once."""
    found = srcdiff.jacobian(function, mode=mode)(X.copy())
    np.testing.assert_allclose(np.tensordot(found, V, 2), slope(function, X, V), atol=1e-8)


def in_an_order_that_memory_has(x):
    return np.sum(np.reshape(x.T, -1, order="A") * np.arange(4.0))


@pytest.mark.parametrize("derivative", [srcdiff.grad, srcdiff.value_and_grad, srcdiff.jacobian])
def test_an_order_that_memory_has_is_refused(derivative):
    """What `reshape` gives then is not said by its arguments."""
    with pytest.raises(srcdiff.UnsupportedError, match="must be 'C' or 'F'"):
        derivative(in_an_order_that_memory_has)(X)


def first_row_doubled(x):
    x[0] *= 2.0
    return np.sum(x * x)


def test_an_argument_that_overlaps_itself_is_refused():
    """Only where the function writes into it."""
    x = np.lib.stride_tricks.as_strided(np.arange(1.0, 6.0), (3, 3), (8, 8))
    with pytest.raises(srcdiff.UnsupportedError, match="elements of `x` share memory"):
        srcdiff.value_and_grad(first_row_doubled)(x)
    with pytest.raises(srcdiff.UnsupportedError, match="elements of `x` share memory"):
        srcdiff.jvp(first_row_doubled, (x,), (np.ones((3, 3)),))
    np.testing.assert_array_equal(srcdiff.grad(lambda x: np.sum(x * x))(x), 2.0 * x)


def doubled_and_multiplied(a, b):
    a *= 2.0
    return np.sum(a * a * b)


def test_shared_memory_is_refused_by_derivatives_of_derivatives():
    """Their primal, a gradient, writes into nothing itself."""
    x, v = np.ones(3), np.ones(3)
    gradient = srcdiff.grad(doubled_and_multiplied)
    with pytest.raises(srcdiff.UnsupportedError, match="`a` and `b` share memory"):
        srcdiff.hvp(doubled_and_multiplied, (x, x), v)
    with pytest.raises(srcdiff.UnsupportedError, match="`a` and `b` share memory"):
        srcdiff.jvp(gradient, (x, x), (v, v))
    with pytest.raises(srcdiff.UnsupportedError, match="`a` and `b` share memory"):
        srcdiff.hessian(doubled_and_multiplied)(x, x)
