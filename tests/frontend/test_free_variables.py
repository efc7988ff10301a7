"""Variables outside of a function as inputs."""

import numpy as np
import pytest

import srcdiff

X = np.array([0.3, -0.2, 0.7])
W = np.array([1.0, 2.0, 3.0])
SCALE = 0.5
PARAMS = {"w": np.ones(3), "b": 1.0}


def through_a_helper(y):
    return np.sum(W * y) * SCALE


def reads_variables(x):
    return through_a_helper(x * W) + SCALE * np.sum(x**2)


def test_variables_of_the_module():
    global W
    g = srcdiff.grad(reads_variables, ("global:W", "global:SCALE", "x"))
    before = W
    for _ in range(2):
        d_w, d_scale, d_x = g(X)
        np.testing.assert_allclose(d_w, 2.0 * W * X * SCALE)
        np.testing.assert_allclose(d_scale, np.sum(X * W * W) + np.sum(X**2))
        np.testing.assert_allclose(d_x, W * W * SCALE + 2.0 * SCALE * X)
        W = W * 3.0
    W = before


def test_a_cell():
    def make(w):
        def loss(x):
            def scaled(y):
                return w * y

            return np.sum(scaled(x) ** 2)

        return loss

    value, slope = srcdiff.value_and_grad(make(3.0), "global:w")(X)
    np.testing.assert_allclose([value, slope], [9.0 * np.sum(X**2), 6.0 * np.sum(X**2)])


def test_a_container_and_a_part_of_it():
    def net(x):
        return np.sum(PARAMS["w"] * x) + PARAMS["b"]

    found = srcdiff.grad(net, "global:PARAMS")(X)
    np.testing.assert_allclose(found["w"], X)
    assert found["b"] == 1.0
    np.testing.assert_allclose(srcdiff.grad(net, "global:PARAMS['w']")(X), X)


class Scaled:
    """A model whose factor is a variable of the module."""

    power = 3.0

    @srcdiff.grad(inputs="global:SCALE")
    def slope(self, x):
        return SCALE * np.sum(x**self.power)


def test_a_gradient_by_a_variable_is_bound_to_an_object():
    assert Scaled().slope(X) == pytest.approx(np.sum(X**3.0), rel=1e-14)


def test_second_order_of_a_variable():
    def f(x):
        return np.sum(np.sin(W * x))

    g = srcdiff.grad(srcdiff.grad(f, "global:W"), "global:W")
    np.testing.assert_allclose(g(X, grad_outputs=np.ones(3)), -np.sin(W * X) * X * X)


def recursive(x, n):
    return W[0] * x if n == 0 else recursive(x * W[1], n - 1)


def calls_recursive(x):
    return recursive(x, 2)


def with_a_derivative(x):
    return np.sum(srcdiff.grad(reads_variables)(x) * W)


def hides(x):
    W = x  # noqa: N806
    return W + through_a_helper(X)


@pytest.mark.parametrize(
    "f,x,reason",
    [
        (calls_recursive, 1.0, "`recursive`, which stays a call"),
        (with_a_derivative, X, "`reads_variables`, which stays a call"),
        (hides, 1.0, "a variable of its own called `W`"),
    ],
)
def test_variables_that_are_read_elsewhere(f, x, reason):
    with pytest.raises(srcdiff.UnsupportedError) as info:
        srcdiff.grad(f, "global:W")(x)
    assert reason in info.value.reason
    assert info.value.remedy.endswith(".")
    assert info.value.loc is not None and info.value.loc.line > 0


def test_a_variable_that_is_not_there():
    with pytest.raises(srcdiff.TransformError, match="no input 'global:nowhere'"):
        srcdiff.grad(reads_variables, "global:nowhere")
