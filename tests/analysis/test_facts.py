"""What is found once in a compilation, and whether complex numbers may occur."""

from __future__ import annotations

import types
from collections import Counter

import numpy as np
import pytest

import srcdiff
from srcdiff.analysis.facts import once, remembering
from srcdiff.normalize.summaries import induction
from tests.support.differences import check_gradient, check_second_order


def test_once_in_a_compilation():
    count = iter(range(9))
    assert [once("a", lambda: next(count)) for _ in range(2)] == [0, 1]
    for expected in (2, 3):
        with remembering():
            assert once("a", lambda: next(count)) == expected
            with remembering():
                assert once("a", lambda: next(count)) == expected


def product(x, n):
    if n == 0:
        return 1.0
    return x[n - 1] * rest(x, n - 1)


def rest(x, n):
    y = x * 1.0
    return np.sin(product(y, n))


def test_summaries_are_found_once(monkeypatch):
    """A gradient and its forward and backward parts ask for them; each is found for its kinds."""
    found = Counter()
    settled = induction._Induction.settled

    def counted(self, fn, kinds):
        found[fn, tuple(kinds.items())] += 1
        return settled(self, fn, kinds)

    monkeypatch.setattr(induction._Induction, "settled", counted)
    x = np.array([0.3, 0.7, 1.1])
    gradient = srcdiff.grad(lambda x: product(x, 3))(x)
    step = 1e-200j
    expected = [np.imag(product(x + step * e, 3)) / 1e-200 for e in np.eye(3)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-14)
    assert found and set(found.values()) == {1}


# --- complex numbers from objects outside, for which real ones may stand later -------------------

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
