"""`vjp`: one forward run, and a pullback that can be called any number of times."""

import numpy as np
import pytest

import srcdiff
from tests.support import models
from tests.support.differences import close

X = np.array([0.5, -1.0, 2.0])


def test_vjp_pulls_back_any_number_of_times():
    value, pullback = srcdiff.vjp(models.vector, X)
    close(value, X * X)
    for v in (np.ones(3), X, 2.0 * X):
        before = v.copy()
        result = pullback(v)
        result = result[0] if isinstance(result, tuple) else result
        close(result, 2.0 * X * v)
        result[:] = 0.0
        close(v, before)


def test_vjp_with_inputs_and_release():
    value, pullback = srcdiff.vjp(models.loss, 2.0, X, inputs="x")
    close(value, models.loss(2.0, X))
    close(pullback(), srcdiff.grad(models.loss, "x")(2.0, X))
    close(pullback(2.0), 2.0 * srcdiff.grad(models.loss, "x")(2.0, X))
    pullback.release()
    with pytest.raises(srcdiff.errors.ReleasedError):
        pullback()


def test_vjp_of_a_loop_twice():
    def tanh_steps(x, n):
        for _ in range(n):
            x = np.tanh(1.2 * x)
        return x

    _, pullback = srcdiff.vjp(tanh_steps, X, 4, inputs="x")
    first = pullback(np.ones(3))
    close(pullback(np.ones(3)), first)
    close(first, srcdiff.grad(tanh_steps)(X, 4, grad_outputs=np.ones(3)))


def test_vjp_without_retaining():
    _, pullback = srcdiff.vjp(models.vector, X, inputs="x")
    close(pullback(X, retain_graph=False), 2.0 * X * X)
    with pytest.raises(srcdiff.errors.ReleasedError):
        pullback(X)
