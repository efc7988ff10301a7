"""Complex numbers from objects outside, for which real ones may stand later."""

from __future__ import annotations

import types

import numpy as np
import pytest

import srcdiff
from tests.support.differences import check_gradient, check_second_order

MIXED = np.array([[2.0 + 1.0j, 0.3j, 0.5], [0.1, 1.5 - 0.4j, 0.2j], [0.7j, -0.3, 2.5 + 0.2j]])
HELD = types.SimpleNamespace(line=MIXED, deep=types.SimpleNamespace(items=[np.eye(3), MIXED]))
X = np.array([0.3, -1.2, 0.7])


def by_an_attribute(x):
    return np.abs(HELD.line @ x + 1.0) ** 2


def by_two_attributes(x):
    return np.abs(np.linalg.solve(HELD.deep.items[1], x) + 1.0) ** 2


def in_a_helper(x):
    def applied(m, x):
        return m.line @ x

    return np.abs(applied(HELD, x) + 1.0) ** 2


@pytest.mark.parametrize("f", [by_an_attribute, by_two_attributes, in_a_helper])
def test_of_an_object_outside(f):
    check_gradient(f, (X,))
    check_second_order(f, (X,))


def test_of_an_object_as_an_argument():
    def f(x, held):
        return held.line @ x

    w = np.array([1.0 + 2.0j, -0.5j, 0.25])
    found = srcdiff.grad(f)(X, HELD, grad_outputs=w)
    np.testing.assert_allclose(found, np.real(np.conj(MIXED).T @ w), rtol=1e-14)


def test_an_object_that_is_changed():
    held = types.SimpleNamespace(line=np.eye(3))

    def f(x):
        return held.line @ x

    g, w = srcdiff.grad(f), np.array([1.0 + 2.0j, -0.5j, 0.25])
    assert np.array_equal(g(X, grad_outputs=np.real(w)), np.real(w))
    held.line = MIXED
    np.testing.assert_allclose(
        g(X, grad_outputs=w), np.real(np.conj(MIXED).T @ w), rtol=1e-14
    )
