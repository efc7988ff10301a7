"""Maxima that cancel out have no derivative; others have one."""

import numpy as np
import pytest

import srcdiff

X = np.random.default_rng(0).standard_normal((3, 4))


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    p = e / np.sum(e, axis=-1, keepdims=True)
    return np.sum(p * p)


def softmax_in_place(x):
    x -= x.max(axis=1, keepdims=True)
    e = np.exp(x)
    e /= e.sum(axis=1)[:, None]
    return np.sum(e * e)


def log_sum_exp(x):
    top = np.max(x, axis=1)
    return np.sum(np.log(np.sum(np.exp(x - top[:, np.newaxis]), axis=1)) + top)


def of_all(x):
    top = np.max(x)
    return np.log(np.mean(np.exp(x - top))) + top


def cross_entropy(x):
    z = x - np.max(x, axis=1, keepdims=True)
    logs = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(logs[np.arange(3), np.array([0, 2, 1])])


def in_a_loop(x):
    total = 0.0
    for k in range(x.shape[0]):
        row = x[k]
        e = np.exp(row - np.max(row))
        p = e / np.sum(e)
        total += np.sum(p * p)
    return total


def squared_ratio(x):
    e = np.exp(x - np.max(x, axis=0))
    return np.sum(np.square(e) / np.sum(e * e, axis=0))


CANCEL = softmax, softmax_in_place, log_sum_exp, of_all, cross_entropy, in_a_loop, squared_ratio


def without_the_rest(x):
    return np.sum(np.log(np.sum(np.exp(x - np.max(x, axis=1, keepdims=True)), axis=1)))


def along_another_axis(x):
    e = np.exp(x - np.max(x, axis=0))
    return np.sum(e * e / np.sum(e, axis=1, keepdims=True))


def one_power_too_many(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum(e * e / np.sum(e, axis=1, keepdims=True))


def shown_beside(x):
    top = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - top)
    return np.sum(e / np.sum(e, axis=1, keepdims=True) * x) + np.sum(top)


def stored(x):
    top = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - top)
    e[0] = 1.0
    return np.sum(e * e / np.sum(e * x * x, axis=1, keepdims=True))


def of_the_turn_before(x):
    total, e = 0.0, np.ones(4)
    for k in range(3):
        p = e * x[k] / np.sum(np.exp(x[k] - np.max(x[k])))
        e = np.exp(x[k] - np.max(x[k]))
        total += np.sum(p)
    return total


def of_another(x):
    e = np.exp(x[0] - np.max(x[1]))
    return np.sum(e * e) / np.sum(e)


STAY = (
    without_the_rest, along_another_axis, one_power_too_many, shown_beside, stored,
    of_the_turn_before, of_another,
)  # fmt: skip


def differences(f, x, step=1e-6):
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[place] = step
        found[place] = (f(x + d) - f(x - d)) / (2 * step)
    return found


@pytest.mark.parametrize("f", [*CANCEL, *STAY])
def test_the_gradient_is_right(f):
    np.testing.assert_allclose(srcdiff.grad(f)(X.copy()), differences(f, X), atol=1e-8)


@pytest.mark.parametrize("f", CANCEL)
def test_what_cancels_out_is_left_out(f):
    g = srcdiff.grad(f)
    g(X.copy())
    assert "winners" not in str(g.source)


@pytest.mark.parametrize("f", STAY)
def test_what_does_not_stays(f):
    g = srcdiff.grad(f)
    g(X.copy())
    assert "winners" in str(g.source)


@pytest.mark.parametrize("f", [softmax, log_sum_exp, of_all, cross_entropy])
def test_the_second_order_is_right(f):
    v = np.random.default_rng(1).standard_normal(X.shape)
    g = srcdiff.grad(f)
    expected = (g(X + 1e-5 * v) - g(X - 1e-5 * v)) / 2e-5
    np.testing.assert_allclose(srcdiff.hvp(f, (X,), v), expected, atol=1e-8)


@pytest.mark.parametrize("f", CANCEL)
def test_tangents_agree(f):
    v = np.random.default_rng(2).standard_normal(X.shape)
    tangent = srcdiff.jvp(f, (X.copy(),), (v,))[1]
    np.testing.assert_allclose(tangent, np.sum(srcdiff.grad(f)(X.copy()) * v), atol=1e-12)
