"""`jacobian`, `hessian`, `hvp` and `vhp`: forms, shapes, errors."""

import functools
import importlib

import numpy as np
import pytest

import srcdiff
from tests.programs.dicts import layers_of_lakes, two_lakes
from tests.support import models
from tests.support.differences import close

X = np.array([0.5, -1.0, 2.0])
Y = np.array([2.0, 3.0, 4.0])
MODES = ("reverse", "forward", None)


def product(x, y):
    return np.sin(x) * y, np.sum(x) * y[0]


def cubes(params, k):
    return k * np.sum(params["a"] ** 3 * params["b"])


# --- jacobian -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_jacobian_of_several(mode):
    (a, b), (c, e) = srcdiff.jacobian(product, ("x", "y"), mode=mode)(X, Y)
    close(a, np.diag(np.cos(X) * Y))
    close(b, np.diag(np.sin(X)))
    close(c, np.full(3, Y[0]))
    close(e, [np.sum(X), 0.0, 0.0])


@pytest.mark.parametrize("mode", MODES)
def test_jacobian_has_the_shape_of_output_and_input(mode):
    def outer(x):
        return np.outer(x, x)

    found = srcdiff.jacobian(outer, mode=mode)(X)
    assert found.shape == (3, 3, 3)
    eye = np.eye(3)
    close(found, np.einsum("ik,j->ijk", eye, X) + np.einsum("i,jk->ijk", X, eye))


@pytest.mark.parametrize("mode", MODES)
def test_jacobian_of_numbers_is_a_number(mode):
    found = srcdiff.jacobian(models.scalar, mode=mode)(2.0)
    assert found == 12.0 and isinstance(found, float)


@pytest.mark.parametrize("mode", MODES)
def test_jacobian_of_a_parameter_written_into(mode):
    found = srcdiff.jacobian(models.kernel, "A", "B", mode=mode)(3, X, Y)
    close(found, [[0, 0, 0], [X[1], X[0], 0], [0, X[2], X[1]]])


@pytest.mark.parametrize("mode", MODES)
def test_jacobian_of_structures(mode):
    found = srcdiff.jacobian(models.named, {"first": "a"}, mode=mode)(X, 2.0)
    close(found["product"]["first"], 2.0 * np.eye(3))
    close(found["total"]["first"], np.ones(3))
    assert found["count"] is None


@pytest.mark.parametrize("mode", MODES)
def test_jacobian_of_a_path(mode):
    found = srcdiff.jacobian(cubes, "params['a']", mode=mode)({"a": X, "b": 2.0}, 1.0)
    close(found, 6.0 * X**2)


@pytest.mark.parametrize("mode", MODES)
def test_jacobian_with_no_path_is_zero(mode):
    close(srcdiff.jacobian(models.loss, "y", mode=mode)(2.0, X, 1.0), -2.0 * np.sum(2.0 * X - 1.0))
    by_b = srcdiff.jacobian(first_of, "b", mode=mode, unused="zeros")
    close(by_b(X, 2.0), np.zeros(3))


def first_of(a, b):
    return a * a


@pytest.mark.parametrize("mode", MODES)
def test_jacobian_of_nothing(mode):
    assert srcdiff.jacobian(models.vector, mode=mode)(np.zeros(0)).shape == (0, 0)


def test_jacobian_of_complex_numbers_is_refused():
    with pytest.raises(srcdiff.errors.DtypeError, match="complex"):
        srcdiff.jacobian(models.vector)(X + 1j)


@pytest.mark.parametrize(("inputs", "mode"), [(2, "forward"), (4, "reverse")])
def test_jacobian_takes_the_smaller_batch(inputs, mode, monkeypatch):
    module = importlib.import_module("srcdiff.api.jacobian")

    def by_rows(*args):
        return "reverse"

    def by_columns(*args):
        return None, "forward"

    monkeypatch.setattr(module, "by_rows", by_rows)
    monkeypatch.setattr(module, "by_columns", by_columns)

    def three(x):
        return np.sum(x) * np.arange(3.0)

    assert srcdiff.jacobian(three)(np.ones(inputs)) == mode
    assert srcdiff.jacobian(three, mode="forward")(np.ones(inputs)) == "forward"
    assert srcdiff.jacobian(three, mode="reverse")(np.ones(inputs)) == "reverse"


def test_jacobian_with_an_unknown_mode():
    with pytest.raises(ValueError, match="mode"):
        srcdiff.jacobian(models.vector, mode="backward")


# --- hessian ------------------------------------------------------------------------------------


def test_hessian():
    close(srcdiff.hessian(models.scalar)(2.0), 12.0)
    found = srcdiff.hessian(cubes)({"a": X, "b": 2.0}, 1.0)
    close(found["a"]["a"], np.diag(12.0 * X))
    close(found["a"]["b"], 3.0 * X**2)
    close(found["b"]["a"], 3.0 * X**2)
    close(found["b"]["b"], 0.0)


def test_hessian_of_a_linear_function_is_zero():
    close(srcdiff.hessian(models.linear)(X), np.zeros((3, 3)))


def test_jacobian_by_an_element():
    expected = X[0] * (2.0 * X + X[0] * np.eye(3)[0])
    for mode in ("forward", "reverse"):
        close(srcdiff.jacobian(lambda x: x[0] ** 2 * x, "x[0]", mode=mode)(X), expected)


def test_hessian_of_one_output():
    h = srcdiff.hessian(lambda x: (np.sum(x), np.sum(x**3)), outputs=1)
    close(h(X), np.diag(6.0 * X))
    close(srcdiff.grad(lambda x: np.sum(h(x)))(X), np.full(3, 6.0))
    assert "jvp" in h.source


def test_hessian_needs_one_number():
    with pytest.raises(srcdiff.errors.CotangentError, match="scalar"):
        srcdiff.hessian(models.vector)(X)


def test_hessian_agrees_with_nested_reverse_mode():
    def energy(x):
        total = 0.0
        for i in range(len(x) - 1):
            total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
        return total

    x = np.random.default_rng(0).standard_normal(80)
    dense = srcdiff.hessian(energy)(x)
    nested = srcdiff.jacobian(srcdiff.grad(energy), mode="reverse")(x)
    np.testing.assert_allclose(dense, nested, rtol=1e-10, atol=1e-10)


def test_products_with_the_hessian():
    params, v = {"a": X, "b": 2.0}, {"a": Y, "b": 1.0}
    for product_with in (srcdiff.hvp, srcdiff.vhp):
        found = product_with(cubes, (params, 1.0), v)
        close(found["a"], 12.0 * X * Y + 3.0 * X**2)
        close(found["b"], np.sum(3.0 * X**2 * Y))


def test_primitives_methods_and_partials():
    class Spring:
        def __init__(self):
            self.k = 2.0

        def energy(self, x):
            return self.k * np.sum(x**3)

    close(srcdiff.jacobian(np.sin)(X), np.diag(np.cos(X)))
    close(srcdiff.hessian(np.sum)(X), np.zeros((3, 3)))
    close(srcdiff.jvp(np.sin, (X,), (Y,))[1], np.cos(X) * Y)
    spring = Spring()
    close(srcdiff.hessian(spring.energy)(X), np.diag(12.0 * X))
    close(srcdiff.autograd.run(spring.energy, X).grad("x"), 6.0 * X**2)
    half = functools.partial(models.pair, b=0.5)
    close(srcdiff.jacobian(half, outputs=0)(X), 0.5 * np.eye(3))
    assert srcdiff.testing.gradgradcheck(np.sin, (X,))


def test_derivatives_of_a_differentiable_function():
    close(models.cube.jacobian(X), np.diag(3.0 * X**2))
    assert models.cube.hessian(2.0) == 12.0
    assert models.cube.jvp((2.0,), (1.0,)) == (8.0, 12.0)


def test_decorators():
    @srcdiff.jacobian(inputs="x")
    def squares(x):
        return x * x

    @srcdiff.hessian
    def cube(x):
        return x**3

    close(squares(X), np.diag(2.0 * X))
    assert cube(2.0) == 12.0 and cube.__name__ == "cube"


def third_powers(x):
    return x**3


THIRD, SECOND = srcdiff.jacobian(third_powers), srcdiff.hessian(cubes, "k")
STORED = srcdiff.backward(cubes, "k")


def with_jacobian(x):
    return np.sum(THIRD(x))


def with_hessian(x):
    return SECOND({"a": x, "b": x}, 2.0) * x


def with_backward(x):
    return STORED({"a": x, "b": x}, 2.0, into={}) * x


def test_what_backward_makes_is_not_differentiated_again():
    """Nor taken for the function that it is made of."""
    for transform in (srcdiff.grad, srcdiff.jacobian, srcdiff.hessian):
        with pytest.raises(srcdiff.UnsupportedError):
            transform(with_backward)(X)


class Cubes:
    @srcdiff.jacobian(inputs="x")
    def rows(self, x):
        return x**3

    @srcdiff.grad(inputs="x")
    def slope(self, x):
        return np.sum(x**3)


@pytest.mark.parametrize("method", [Cubes().rows, Cubes().slope])
def test_derivatives_of_methods_are_not_taken_for_the_methods(method):
    for transform in (srcdiff.grad, srcdiff.jacobian):
        with pytest.raises(srcdiff.TransformError):
            transform(method)(X)


def test_a_jacobian_of_single_precision_numbers_stays_so():
    x, y = np.array(0.5, np.float32), np.array(2.0, np.float32)
    for found in srcdiff.jacobian(lambda x, y: np.sin(x) * y, (0, 1))(x, y):
        assert found.dtype == np.float32
    assert type(srcdiff.jacobian(lambda x: x * x)(3.0)) is float


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("f", [np.sum, lambda x: x * x, lambda x: np.ones((2, 0)) * np.sum(x)])
def test_a_jacobian_of_nothing(f, mode):
    x = np.zeros(0)
    found = srcdiff.jacobian(lambda x: f(x), mode=mode)(x)
    assert np.shape(found) == (*np.shape(f(x)), 0)


def test_a_pullback_gives_zeros_for_what_is_not_used():
    _, pull = srcdiff.vjp(lambda x, y: x * 3.0, np.ones(2), np.ones(3), unused="zeros")
    dx, dy = pull(np.ones(2))
    np.testing.assert_array_equal(dx, [3.0, 3.0])
    np.testing.assert_array_equal(dy, np.zeros(3))


# --- Jacobians inside -----------------------------------------------------------------------------


def cubed(x):
    return x**3


def layer(w, x):
    return np.tanh(w @ x)


def energy(x):
    return np.sum(x**3 * np.cos(x[0]))


def pair(x):
    return x * x, x


by_weights = srcdiff.jacobian(layer, "w")


def of_an_array(x):
    return np.sum(srcdiff.jacobian(cubed)(x) ** 2 * x)


def of_a_number(x):
    return srcdiff.jacobian(cubed)(x) * x


def of_an_input_by_name(x):
    w = np.outer(x, np.ones(2))
    return np.sum(by_weights(w, x[:2]) ** 2)


def of_a_gradient(x):
    return np.sum(srcdiff.jacobian(srcdiff.grad(energy), mode="reverse")(x) ** 2)


def of_second_derivatives(x):
    return np.linalg.det(srcdiff.hessian(energy)(x))


def of_a_product(x):
    return np.sum(srcdiff.hvp(energy, (x,), np.sin(x)) * x)


def newton(x):
    for _ in range(3):
        x = x - np.linalg.solve(srcdiff.jacobian(lambda y: y**3 + y)(x), x**3 + x - 1.0)
    return np.sum(x * x)


def of_constants(x):
    return np.sum(srcdiff.jacobian(pair)(np.ones(2))[0]) * np.sum(x)


INSIDE = [
    of_an_array, of_an_input_by_name, of_a_gradient, of_second_derivatives, of_a_product, newton,
    of_constants, with_jacobian, with_hessian,
]  # fmt: skip


@pytest.mark.parametrize("f", INSIDE)
def test_jacobians_inside(f):
    x = np.array([0.3, 1.2, -0.4])
    assert srcdiff.testing.gradcheck(f, (x,), check_forward_ad=True)


def test_jacobians_inside_of_numbers_and_dtypes():
    assert srcdiff.grad(of_a_number)(0.7) == pytest.approx(9.0 * 0.7**2, rel=1e-14)
    assert srcdiff.testing.gradgradcheck(of_an_array, (np.array([0.3, 1.2]),))
    assert srcdiff.grad(of_an_array)(np.ones(2, np.float32)).dtype == np.float32


def test_jacobians_inside_that_are_refused():
    def capturing(x):
        return np.sum(srcdiff.jacobian(lambda y: (x * y, y), outputs=0)(x))

    def with_options(x):
        return np.sum(srcdiff.jacobian(pair, outputs=0)(x))

    x = np.ones(2)
    for f in (capturing, with_options):
        with pytest.raises(srcdiff.UnsupportedError, match="is not differentiated") as info:
            srcdiff.grad(f)(x)
        assert info.value.loc.line == f.__code__.co_firstlineno + 1
    with pytest.raises(TypeError, match="one real output"):
        srcdiff.grad(lambda x: np.sum(srcdiff.jacobian(pair)(x)[0]))(x)
    with pytest.raises(TypeError, match="real numbers and arrays"):
        srcdiff.grad(lambda x: np.real(np.sum(srcdiff.jacobian(cubed)(x))))(x + 0j)


SCALE = 2.0


def scaled(x):
    return SCALE * x**3


of_scaled = srcdiff.jacobian(scaled)


def through_an_object(x):
    return np.sum(of_scaled(x))


def test_jacobians_inside_are_made_anew_when_something_outside_changes(monkeypatch):
    gradient = srcdiff.grad(through_an_object)
    assert gradient(1.0) == 12.0
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert gradient(1.0) == 18.0


def test_a_vector_that_is_not_given_is_one():
    assert srcdiff.hvp(lambda x: x**3, (2.0,), None) == 12.0
    close(srcdiff.hvp(lambda x: np.sum(x**3), (np.array([2.0]),), None), [12.0])
    with pytest.raises(srcdiff.errors.CotangentError, match="The vector v can only be None"):
        srcdiff.hvp(lambda x: np.sum(x**3), (np.ones(2),), None)


def test_a_jacobian_by_an_array_without_axes_is_one():
    for transform in (srcdiff.jacobian, srcdiff.hessian):
        found = transform(lambda x: x**3)(np.array(2.0))
        assert type(found) is np.ndarray and found.shape == () and found == 12.0
    assert type(srcdiff.jacobian(lambda x: x**3)(2.0)) is float


def test_a_hessian_where_only_the_gradient_as_a_whole_has_a_tangent():
    """The batch is derived as the single one is: with gradients as calls where that is refused."""
    args = two_lakes(np.random.default_rng(3))
    slope = srcdiff.grad(layers_of_lakes, "sun")
    found = srcdiff.hessian(layers_of_lakes, "sun")(*args)
    lakes, rates, sun, days = args
    up, down = (slope(lakes, rates, sun + h, days) for h in (1e-5, -1e-5))
    assert found == pytest.approx((up - down) / 2e-5, rel=1e-7)
    assert found == pytest.approx(srcdiff.hvp(layers_of_lakes, args, 1.0, inputs="sun"), rel=1e-14)
