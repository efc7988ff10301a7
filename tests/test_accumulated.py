"""Gradients that are added up and differentiated again, as torch's `.grad`."""

import numpy as np
import pytest

import srcdiff
from srcdiff import autograd

from . import models
from .check import close

X = np.array([0.5, -1.0, 2.0])
Y = np.array([2.0, 3.0, 4.0])


def cube(x):
    return np.sum(x * x * x)


def square(x):
    return np.sum(x * x)


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed: extra oracles")


def leaf(torch, value):
    return torch.tensor(value, requires_grad=True)


def accumulated(creates):
    """The gradient that several calls of `backward` add up, and the derivative of it."""
    r = srcdiff.run(cube, X)
    for create in creates:
        r.backward(retain_graph=True, create_graph=create)
    total = r.grads["x"]
    return total.value, *autograd.grad(total, "x", Y)


@pytest.mark.oracles
@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("creates", [(True,), (True, True), (False, True), (True, False, True)])
def test_accumulated_gradients_are_outputs_again(torch, creates):
    x = leaf(torch, X)
    loss = (x * x * x).sum()
    for create in creates:
        loss.backward(retain_graph=True, create_graph=create)
    (second,) = torch.autograd.grad(x.grad, x, torch.tensor(Y))
    value, ours = accumulated(creates)
    np.testing.assert_allclose(value, x.grad.detach().numpy(), rtol=1e-14)
    np.testing.assert_allclose(ours, second.numpy(), rtol=1e-14)


@pytest.mark.oracles
@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_penalty_on_accumulated_gradients(torch):
    """What a gradient's own `backward` adds goes where that of the function went."""
    x = leaf(torch, X)
    r = srcdiff.run(cube, X)
    (x * x * x).sum().backward(create_graph=True)
    autograd.backward(r, create_graph=True)
    first = x.grad
    first.backward(torch.tensor(Y), create_graph=True)
    r.grads["x"].backward(Y, create_graph=True)
    (third,) = torch.autograd.grad(x.grad, x, torch.tensor(X), retain_graph=True)
    np.testing.assert_allclose(r.grads["x"].value, x.grad.detach().numpy(), rtol=1e-14)
    (ours,) = autograd.grad(r.grads["x"], "x", X, retain_graph=True)
    np.testing.assert_allclose(ours, third.numpy(), rtol=1e-14)
    (again,) = autograd.grad(r.grads["x"], "x", X, create_graph=True)
    (fourth,) = torch.autograd.grad(x.grad, x, torch.tensor(X), create_graph=True)
    (theirs,) = torch.autograd.grad(fourth, x, torch.tensor(Y))
    np.testing.assert_allclose(autograd.grad(again, "x", Y), [theirs.numpy()], rtol=1e-14)


@pytest.mark.oracles
def test_gradients_of_several_runs_are_outputs_again(torch):
    x = leaf(torch, X)
    one, two = (x * x * x).sum(), (x * x).sum()
    (first,) = torch.autograd.grad((one, two), x, create_graph=True)
    (theirs,) = torch.autograd.grad(first, x, torch.tensor(Y))
    runs = srcdiff.run(cube, X), srcdiff.run(square, X)
    (ours,) = autograd.grad(runs, "x", create_graph=True)
    np.testing.assert_allclose(ours.value, first.detach().numpy(), rtol=1e-14)
    np.testing.assert_allclose(autograd.grad(ours, "x", Y), [theirs.numpy()], rtol=1e-14)


def test_accumulated_gradients_of_structures_are_outputs_again():
    params = {"w": X, "b": 2.0}
    r = srcdiff.run(models.with_state, params, 3.0)
    r.backward(retain_graph=True)
    r.backward(create_graph=True)
    r.backward(create_graph=True, inputs="params['b']")
    total = r.grads["params"]
    close(total["w"].value, 24.0 * X)
    (second,) = autograd.grad(total["w"], "params['b']", Y)
    close(second, 6.0 * np.sum(X * Y))
    assert isinstance(r.grads["params['b']"].value, float)
    with pytest.raises(srcdiff.UnsupportedError, match="into"):
        r.backward(create_graph=True, into={})


def test_an_array_that_was_passed_twice_is_an_input_of_an_output_again():
    r = srcdiff.run(lambda x, y: np.sum(x * x * y), X, X)
    dx = r.grad(X, create_graph=True)
    close(dx.value, 3.0 * X * X)
    close(dx.grad(X, np.ones(3)), 6.0 * X)


def test_an_input_that_none_of_several_runs_has():
    runs = srcdiff.run(models.vector, X), srcdiff.run(models.linear, X)
    with pytest.raises(srcdiff.TransformError, match="no input 'z'"):
        autograd.grad(runs, "z", (np.ones(3), None), allow_unused=True)
