"""An adjoint and what it becomes are one array where nothing else needs the first."""

import numpy as np

import srcdiff
from tests.support.differences import check_gradient

X = np.random.default_rng(0).standard_normal((3, 4))


def softmax(x):
    e = np.exp(x)
    p = e / np.sum(e, axis=1, keepdims=True)
    return np.sum(p * p)


def shared(x):
    y = np.sin(x)
    return np.sum(y * np.cos(y) * x)


def of_another_shape(x, w):
    y = np.exp(x)
    return np.sum((y + np.sum(y, axis=1, keepdims=True) * w) ** 2)


def source(f, *args, **options):
    g = srcdiff.grad(f, **options)
    g(*args)
    return g.source


def test_the_gradients_are_right():
    for f in (softmax, shared):
        check_gradient(f, (X,))
    check_gradient(of_another_shape, (X, X), inputs=(0, 1))


def test_what_is_only_added_to_becomes_another_in_place():
    text = source(softmax, X)
    assert "d_x *= e" in text and text.count("d_x = ") == 1


def test_what_serves_for_something_else_keeps_its_name():
    lines = source(shared, X).splitlines()
    assert not any(line.strip().startswith("d_x = cotangent") for line in lines)


def test_the_cotangent_stays_as_it_was():
    given = np.ones_like(X)
    srcdiff.grad(lambda x: np.exp(x) * x)(X, grad_outputs=given)
    np.testing.assert_array_equal(given, 1.0)


def test_compiled_text_has_no_such_names():
    assert "d_x *=" not in source(softmax, X, compile="numba")


def two_variables(x):
    inside = np.arctan(np.exp(x))
    return np.sum(np.sin(inside) * np.cos(inside))


def test_adjoints_of_two_variables_keep_their_names():
    check_gradient(two_variables, (X,))
    assert "d_inside" in source(two_variables, X)
