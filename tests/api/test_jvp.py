"""`jvp` and `linearize`: forms, shapes, errors."""

import collections
import types

import numpy as np
import pytest

import srcdiff
from srcdiff.api.forward import forward_of
from srcdiff.driver.options import Options
from tests.support import models
from tests.support.differences import close

X = np.array([0.5, -1.0, 2.0])
Y = np.array([2.0, 3.0, 4.0])


def product(x, y):
    return np.sin(x) * y, np.sum(x) * y[0]


def cubes(params, k):
    return k * np.sum(params["a"] ** 3 * params["b"])


def test_jvp_of_several_arguments():
    value, tangent = srcdiff.jvp(product, (X, Y), (np.ones(3), 2.0 * np.ones(3)))
    close(value[0], np.sin(X) * Y)
    close(tangent[0], np.cos(X) * Y + 2.0 * np.sin(X))
    close(tangent[1], 3.0 * Y[0] + 2.0 * np.sum(X))


def test_jvp_leaves_constants_out():
    _, tangent = srcdiff.jvp(models.integer_part, (2.0, 3), (1.0, None))
    assert tangent == 12.0 and isinstance(tangent, float)


def test_jvp_keeps_structure():
    params = {"a": X, "b": 2.0}
    _, tangent = srcdiff.jvp(cubes, (params, 1), ({"a": np.ones(3), "b": None}, None))
    close(tangent, 6.0 * np.sum(X**2))


def test_jvp_of_a_parameter_written_into():
    A, B = X.copy(), Y.copy()
    _, tangent = srcdiff.jvp(models.kernel, (3, A, B), (None, np.ones(3), None), outputs="B")
    close(tangent, [0.0, X[0] + X[1], X[1] + X[2]])
    close(A, X)
    close(B, Y)


def test_tangent_does_not_alias_what_was_given():
    def same(x):
        return x

    v = np.ones(3)
    _, tangent = srcdiff.jvp(same, (X,), (v,))
    assert not np.shares_memory(tangent, v)


@pytest.mark.parametrize(
    ("tangent", "error"),
    [
        (np.ones(2), srcdiff.errors.CotangentError),
        ("text", srcdiff.errors.CotangentTypeError),
        (1j * np.ones(3), srcdiff.errors.CotangentError),
    ],
)
def test_tangent_that_does_not_fit(tangent, error):
    with pytest.raises(error, match=r"tangents\[0\]"):
        srcdiff.jvp(models.vector, (X,), (tangent,))


def test_tangents_that_are_missing():
    with pytest.raises(srcdiff.errors.CotangentError, match="expected 2 items"):
        srcdiff.jvp(product, (X, Y), (X,))
    with pytest.raises(srcdiff.errors.CotangentError, match="not None"):
        srcdiff.jvp(models.vector, (X,), (None,))
    with pytest.raises(srcdiff.errors.CotangentTypeError, match="primals"):
        srcdiff.jvp(models.vector, X, (X,))


def test_tangent_of_an_integer():
    with pytest.raises(srcdiff.errors.DtypeError, match="n"):
        srcdiff.jvp(models.integer_part, (2.0, 3), (1.0, 1.0))


@pytest.mark.parametrize("b", [np.array([1.0, 2.0]), np.array([[1.0, 0.5, 2.0], [2.0, 0.3, 1.0]])])
def test_a_tangent_that_is_decided_when_it_runs(b):
    """Nothing is known of the arguments, so that the rule's `if` stands in the text."""

    def solved(a, b):
        return np.sum(np.linalg.solve(a, b) ** 2)

    a, da, db = np.array([[2.0, 0.3], [0.1, 1.5]]), np.eye(2), np.ones_like(b)
    made = forward_of(solved, Options(), ("a", "b")).generic()
    assert "if np.ndim(b) > 1" in made.text
    value, tangent = made.function(a, b, da, db)
    h = 1e-6
    slope = (solved(a + h * da, b + h * db) - solved(a - h * da, b - h * db)) / (2.0 * h)
    assert value == solved(a, b) and abs(tangent - slope) < 1e-7
    by_reverse = srcdiff.grad(solved, (0, 1))(a, b)
    close(tangent, np.sum(by_reverse[0] * da) + np.sum(by_reverse[1] * db))


def test_linearize():
    value, linear = srcdiff.linearize(models.vector, X)
    close(value, X * X)
    close(linear(Y), 2.0 * X * Y)
    close(linear(X), 2.0 * X * X)


def test_linearize_keeps_the_point():
    x = X.copy()
    _, linear = srcdiff.linearize(models.vector, x)
    x[:] = 0.0
    close(linear(Y), 2.0 * X * Y)


def of_first(p, x):
    return np.sum(x * p[0])


def of_attribute(p, x):
    return np.sum(x * p.w)


class Own:
    def __init__(self, w):
        self.w, self.itself = w, self


@pytest.mark.parametrize(
    "f, make",
    [
        (of_first, lambda w: [w]),
        (of_first, lambda w: collections.OrderedDict({0: w})),
        (of_first, lambda w: collections.deque([w])),
        (of_attribute, lambda w: types.SimpleNamespace(w=w)),
        (of_attribute, Own),
    ],
    ids=["list", "ordered dict", "deque", "namespace", "object that holds itself"],
)
def test_linearize_keeps_what_is_in_the_point(f, make):
    w = np.array([1.0, 2.0, 3.0])
    value, linear = srcdiff.linearize(f, make(w), X)
    w[:] = 100.0
    close(linear(None, np.ones(3)), 6.0)


def test_forward_over_reverse_and_reverse_over_forward():
    def along(x, v):
        return srcdiff.jvp(models.scalar, (x,), (v,))[1]

    _, second = srcdiff.jvp(srcdiff.grad(models.scalar), (2.0,), (1.0,))
    close(second, 12.0)
    close(srcdiff.grad(along)(2.0, 1.0), 12.0)
    close(srcdiff.jvp(along, (2.0, 1.0), (1.0, None))[1], 12.0)
