"""`is_grads_batched`: gradients for a batch of cotangents."""

import pickle

import numpy as np
import pytest

import srcdiff
from tests.support import models
from tests.support.differences import close

X = np.array([0.5, -1.0, 2.0])
Y = np.array([2.0, 3.0, 4.0])


def product(x, y):
    return np.sin(x) * y


def test_a_batch_of_cotangents():
    g = srcdiff.grad(product, ("x", "y"), is_grads_batched=True)
    dx, dy = g(X, Y, grad_outputs=np.eye(3))
    close(dx, np.diag(np.cos(X) * Y))
    close(dy, np.diag(np.sin(X)))


def test_an_empty_batch():
    dx, dy = srcdiff.grad(product, ("x", "y"), is_grads_batched=True)(
        X, Y, grad_outputs=np.zeros((0, 3))
    )
    assert dx.shape == dy.shape == (0, 3) and dx.dtype == np.float64


def test_a_batch_for_several_outputs_and_a_structure():
    g = srcdiff.value_and_grad(models.named, {"in": "a"}, is_grads_batched=True)
    v = np.arange(6.0).reshape(2, 3)
    value, found = g(X, 2.0, grad_outputs={"product": v, "total": np.ones(2), "count": None})
    close(value["product"], 2.0 * X)
    close(found["in"], 2.0 * v + 1.0)


def test_a_batch_of_a_number():
    close(srcdiff.grad(models.scalar, is_grads_batched=True)(2.0, grad_outputs=X), 12.0 * X)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.ones(3), r"\(B, 3\)"),
        (np.ones((2, 2)), r"\(B, 3\)"),
        (np.ones((2, 3, 1)), r"\(B, 3\)"),
        (None, "batch axis"),
    ],
)
def test_a_missing_batch_axis(given, words):
    with pytest.raises(ValueError, match=words):
        srcdiff.grad(product, is_grads_batched=True)(X, Y, grad_outputs=given)


def test_unequal_batches():
    g = srcdiff.grad(models.pair, is_grads_batched=True)
    with pytest.raises(ValueError, match="one size of the batch axis"):
        g(X, 2.0, grad_outputs=(np.ones((2, 3)), np.ones(3)))


def test_unused_inputs_of_a_batch():
    options = {"is_grads_batched": True}
    with pytest.raises(srcdiff.errors.UnusedInputError):
        srcdiff.grad(models.unused, "k", **options)(X, 3.0, grad_outputs=np.eye(3))
    for size in (0, 2):
        v = np.ones((size, 3))
        g = srcdiff.grad(models.unused, ("x", "k"), allow_unused=True, **options)
        dx, dk = g(X, 3.0, grad_outputs=v)
        assert dx.shape == (size, 3) and dk is None


def test_a_zero_of_a_batch_has_the_batch_axis():
    def first(x, k):
        return x * 2.0

    g = srcdiff.grad(first, "k", materialize_grads=True, is_grads_batched=True)
    assert g(X, np.ones(2), grad_outputs=np.ones((5, 3))).shape == (5, 2)
    assert g(X, np.ones(2), grad_outputs=np.ones((0, 3))).shape == (0, 2)


def test_a_batch_runs_the_function_once():
    calls = []
    g = srcdiff.grad(models.counted, is_grads_batched=True)
    close(g(3.0, calls, grad_outputs=np.ones(4)), 6.0 * np.ones(4))
    assert calls == []  # what it appends to is a copy


def test_a_batched_gradient_pickles():
    g = srcdiff.grad(models.vector, is_grads_batched=True)
    again = pickle.loads(pickle.dumps(g))
    close(again(X, grad_outputs=np.eye(3)), np.diag(2.0 * X))
