"""Operators in place on arrays of another dtype than what is added."""

import numpy as np
import pytest

import srcdiff

WIDE = np.array([3.0, 9.0, 1.0])
X = np.array([0.3, 0.4, 0.5], np.float32)


def one(x):
    y = x * 1.0
    y += WIDE
    return np.sum(y * y)


def several(x):
    y = x * 1.0
    y += WIDE
    y *= WIDE
    z = WIDE + x
    z /= WIDE
    return np.sum(y * z * x)


def with_another_name(x):
    y = x * 1.0
    z = y[::-1]
    y -= WIDE
    z *= WIDE
    return np.sum(y * z)


@pytest.mark.parametrize("f", [one, several, with_another_name])
def test_wider_numbers_go_into_narrow_arrays(f):
    """An array of single precision stays one, whatever is added to it."""
    gradient = srcdiff.grad(f)(X)
    value, tangent = srcdiff.jvp(f)(X, tangents=(np.ones_like(X),))
    expected = srcdiff.grad(f)(X.astype(float))
    assert gradient.dtype == np.float32 and value.dtype == f(X).dtype
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)
    np.testing.assert_allclose(tangent, np.sum(expected), rtol=1e-5)
    np.testing.assert_allclose(value, f(X), rtol=1e-6)
