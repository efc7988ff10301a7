"""`differentiable`: a function that stays itself and knows its derivatives."""

import inspect

import numpy as np

import srcdiff
from tests.support import models
from tests.support.differences import close

X = np.array([0.5, -1.0, 2.0])


def test_differentiable_leaves_the_function_as_it_is():
    assert models.cube(2.0) == 8.0
    assert models.cube.__name__ == "cube" and models.cube.__doc__ == "A cube."
    assert str(inspect.signature(models.cube)) == "(x)"
    close(models.cube.grad(2.0), 12.0)
    assert models.cube.value_and_grad(2.0) == (8.0, 12.0)


def test_differentiable_with_options():
    dw, db = models.line.grad(2.0, 3.0, X)
    close((dw, db), (np.sum(X), 18.0))
    assert "line" in models.line.source


def test_differentiable_on_a_method():
    class Spring:
        k = 3.0

        @srcdiff.differentiable(inputs="x")
        def energy(self, x):
            return self.k * x**2

    assert Spring().energy(2.0) == 12.0
    close(Spring().energy.grad(2.0), 12.0)


def test_transforms_of_a_method():
    class Spring:
        def __init__(self, k):
            self.k = k

        @srcdiff.differentiable(inputs="x")
        def energy(self, x):
            """The energy."""
            return self.k * x**2

        @srcdiff.grad(inputs="x")
        def force(self, x):
            return self.k * x**2

    soft, hard = Spring(3.0), Spring(5.0)
    assert (soft.energy(2.0), hard.energy(2.0)) == (12.0, 20.0)
    assert (soft.energy.grad(2.0), hard.energy.grad(2.0)) == (12.0, 20.0)
    assert soft.energy.value_and_grad(x=2.0) == (12.0, 12.0)
    value, pullback = hard.energy.vjp(2.0)
    assert (value, pullback(), pullback(0.5)) == (20.0, 20.0, 10.0)
    assert srcdiff.grad(soft.energy)(2.0) == 12.0
    assert (soft.force(2.0), hard.force(2.0)) == (12.0, 20.0)
    assert soft.energy.__doc__ == "The energy." and "def energy_grad(self" in soft.energy.source
    assert soft.energy.primal(2.0) == 12.0


def test_bound_method():
    close(srcdiff.grad(models.Model(3.0).energy)(2.0), 12.0)


def test_lambda():
    close(srcdiff.grad(lambda x: x * x)(3.0), 6.0)
