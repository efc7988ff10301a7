"""The parameters of `grad` one by one: batches, graphs, auxiliary values, nan, strong zeros."""

import pickle
import types

import numpy as np
import pytest

import srcdiff

from . import models
from .check import close

X = np.array([0.5, -1.0, 2.0])
Y = np.array([2.0, 3.0, 4.0])


def product(x, y):
    return np.sin(x) * y


# --- is_grads_batched ---------------------------------------------------------------------------


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
    with pytest.raises(srcdiff.UnusedInputError):
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


# --- create_graph -------------------------------------------------------------------------------

detached = srcdiff.grad(models.scalar, create_graph=False)
attached = srcdiff.grad(models.scalar, create_graph=True)


def penalty(x):
    return attached(x) * x


def constant_penalty(x):
    return detached(x) * x


def test_a_gradient_inside_is_differentiated_unless_it_is_detached():
    assert srcdiff.grad(penalty)(2.0) == 36.0
    assert srcdiff.grad(constant_penalty)(2.0) == 12.0
    assert srcdiff.jvp(constant_penalty, (2.0,), (1.0,))[1] == 12.0


def test_a_detached_gradient_has_none_itself():
    assert detached(2.0) == 12.0
    with pytest.raises(srcdiff.UnusedInputError):
        srcdiff.grad(detached)(2.0)
    assert srcdiff.grad(detached, materialize_grads=True)(2.0) == 0.0
    assert srcdiff.grad(attached)(2.0) == 12.0


# --- has_aux ------------------------------------------------------------------------------------


def with_aux(x):
    return np.sum(x * x), {"size": len(x), "twice": 2.0 * x}


def test_auxiliary_value():
    (value, aux), g = srcdiff.value_and_grad(with_aux, has_aux=True)(X)
    close(value, np.sum(X * X))
    close(aux["twice"], 2.0 * X)
    close(g, 2.0 * X)
    close(srcdiff.grad(with_aux, has_aux=True)(X, grad_outputs=3.0), 6.0 * X)
    batched = srcdiff.grad(with_aux, has_aux=True, is_grads_batched=True)
    close(batched(X, grad_outputs=np.array([1.0, 2.0])), [2.0 * X, 4.0 * X])


def test_no_auxiliary_value():
    with pytest.raises(srcdiff.TransformError, match="has_aux"):
        srcdiff.grad(models.vector, has_aux=True)(X)


# --- check_nan ----------------------------------------------------------------------------------


def roots(x):
    total = 0.0
    for i in range(len(x)):
        h = np.sqrt(x[i])
        total += h * h
    return total


def test_nan_is_reported_with_its_line():
    with np.errstate(all="ignore"), pytest.raises(srcdiff.AnomalyError) as info:
        srcdiff.grad(roots, check_nan=True)(np.array([1.0, 0.0, 2.0]))
    text = str(info.value)
    assert "`x`" in text and "i = 1" in text and "h = np.sqrt(x[i])" in text
    assert "test_parameters.py:" in text
    assert isinstance(info.value, RuntimeError) and isinstance(info.value, FloatingPointError)


def test_nan_in_a_batch_is_reported():
    g = srcdiff.grad(roots, check_nan=True, is_grads_batched=True)
    with np.errstate(all="ignore"), pytest.raises(srcdiff.AnomalyError, match="sqrt"):
        g(np.array([1.0, 0.0, 2.0]), grad_outputs=np.ones(2))


def test_no_nan_changes_nothing():
    x = np.array([1.0, 3.0])
    close(srcdiff.grad(roots, check_nan=True)(x), srcdiff.grad(roots)(x))
    checked = srcdiff.grad(models.mlp, ("layers", "x"), check_nan=True)
    layers = [(np.ones((3, 2)), np.zeros(2))]
    close(checked(layers, X)[1], srcdiff.grad(models.mlp, "x")(layers, X))


# --- strong_zeros -------------------------------------------------------------------------------


def masked(x):
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))


def distances(p):
    """The energy of particles, the diagonal left out."""
    d = p[:, None] - p[None, :]
    r = np.sqrt(d * d)
    return np.sum(np.where(r > 0.0, 1.0 / r, 0.0))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_strong_zeros():
    x = np.array([4.0, 0.0])
    assert np.isnan(srcdiff.grad(masked)(x)[1])
    close(srcdiff.grad(masked, strong_zeros=True)(x), [0.25, 0.0])
    p = np.array([0.0, 1.0, 3.0])
    assert np.all(np.isnan(srcdiff.grad(distances)(p)))
    g = srcdiff.grad(distances, strong_zeros=True)(p)
    step = 1e-6
    for k in range(3):
        e = np.eye(3)[k] * step
        slope = (distances(p + e) - distances(p - e)) / (2 * step)
        assert abs(g[k] - slope) < 1e-7


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_strong_zeros_at_order_two():
    g = srcdiff.grad(masked, strong_zeros=True)
    second = srcdiff.grad(g, strong_zeros=True)
    close(second(np.array([4.0, 0.0]), grad_outputs=np.ones(2)), [-1.0 / 32.0, 0.0])


def masked_again(x, n):
    return masked(x) if n == 0 else masked_again(x, n - 1) + np.sum(x)


def masked_each(functions, x):
    total = 0.0
    for f in functions:
        total = total + f(x)
    return total


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_strong_zeros_in_functions_that_are_called():
    """Recursive ones, and those that only the running program knows."""
    x = np.array([4.0, 0.0])
    g = srcdiff.grad(masked_again, strong_zeros=True)
    close(g(x, 1), [1.25, 1.0])
    second = srcdiff.grad(g, strong_zeros=True)
    close(second(x, 1, grad_outputs=np.ones(2)), [-0.03125, 0.0])
    many = srcdiff.grad(masked_again, strong_zeros=True, is_grads_batched=True)
    close(many(x, 1, grad_outputs=np.array([1.0, 2.0])), [[1.25, 1.0], [2.5, 2.0]])
    close(srcdiff.grad(masked_each, 1, strong_zeros=True)([masked, np.sum], x), [1.25, 1.0])
    assert np.isnan(srcdiff.grad(masked_each, 1)([masked, np.sum], x)[1])


def test_strong_zeros_change_nothing_else():
    close(srcdiff.grad(product, strong_zeros=True)(X, Y, grad_outputs=Y), np.cos(X) * Y * Y)
    x32 = X.astype(np.float32)
    assert srcdiff.grad(masked, strong_zeros=True)(np.abs(x32)).dtype == np.float32


# --- arguments of any number --------------------------------------------------------------------


def test_items_of_any_number_of_arguments():
    f = models.weighted_products
    dx, dy = srcdiff.grad(f, (1, 2))(0.5, X, Y)
    close(dx, X * Y[0])
    close(dy, Y * Y[0] + np.array([0.5 * np.sum(X**2 + Y**2), 0.0, 0.0]))
    close(srcdiff.grad(f, "xs[1]")(0.5, X, Y), dy)
    close(srcdiff.grad(f, 1)(0.5, X, Y, power=3), 1.5 * X**2 * Y[0])
    again = srcdiff.grad(lambda *xs: np.sum(srcdiff.grad(f, 1)(*xs)), 1)
    close(again(0.5, X, Y), np.full(3, Y[0]))


def test_an_item_that_is_not_given():
    with pytest.raises(srcdiff.TransformError, match=r"has no item `xs\[1\]`, which is an input"):
        srcdiff.grad(models.weighted_products, 2)(0.5, X)


def test_directions_of_any_number_of_arguments():
    f = models.weighted_products
    dx, dy = srcdiff.grad(f, (1, 2))(0.5, X, Y)
    ds = np.sum(X**2 + Y**2) * Y[0]
    for tangents in (1.0, Y, X), (None, Y, X), (None, None, X), (1.0, Y, None), (1.0, None, None):
        s, x, y = (0.0 if t is None else t for t in tangents)
        value, found = srcdiff.jvp(f, (0.5, X, Y), tangents)
        close(value, 0.5 * ds)
        close(found, s * ds + np.sum(x * dx + y * dy))
        close(srcdiff.linearize(f, 0.5, X, Y)[1](*tangents), found)
    with pytest.raises(srcdiff.CotangentError, match=r"tangents\[2\]: expected shape \(3,\)"):
        srcdiff.jvp(f, (0.5, X, Y), (None, X, X[:2]))
    inner = srcdiff.grad(lambda x: srcdiff.jvp(f, (0.5, x, Y), (1.0, x, x))[1])(X)
    close(inner[1:], ((4.0 * X + Y) * Y[0] + X * X[0])[1:])


def three(*xs):
    return xs[0] * xs[1] * xs[2] ** 2


def test_matrices_of_any_number_of_arguments():
    one = np.diag(np.ones(3))
    for mode in ("reverse", "forward"):
        dz, dx = srcdiff.jacobian(three, (2, 0), mode=mode)(X, Y, X)
        close(dz, one * (2.0 * X * Y * X))
        close(dx, one * (Y * X**2))

    def total(*xs):
        return np.sum(three(*xs))

    (xx, xy), (yx, yy) = srcdiff.hessian(total, (0, 1))(X, Y, X)
    close(xy, one * X**2)
    close(yx, one * X**2)
    close(xx, 0.0 * one)
    close(yy, 0.0 * one)
    for product in (srcdiff.hvp, srcdiff.vhp):
        close(product(total, (X, Y, X), Y, inputs=2), 2.0 * X * Y * Y)
    assert srcdiff.gradcheck(three, (X, Y, X))


def test_items_of_any_number_of_arguments_that_are_not_used():
    def constant(*xs):
        return 3.0

    def held(x, params, model):
        return np.sum(x)

    zeros = {"materialize_grads": True}
    first, second = srcdiff.grad(constant, (0, 1), **zeros)(X, 2.0)
    assert first.shape == (3,) and not first.any() and second == 0.0
    close(srcdiff.jacobian(three, 3)(X, Y, X, X[:2]), np.zeros((3, 2)))
    params, model = {"w": X[:2], "v": 1.0}, types.SimpleNamespace(w=X, b=2.0)
    inputs = ("params['w']", "model.w", "model.b")
    for zero, like in zip(srcdiff.grad(held, inputs, **zeros)(X, params, model), (X[:2], X, 2.0)):
        assert np.shape(zero) == np.shape(like) and not np.any(zero)

    def again(w, *x):
        return srcdiff.grad(np.add, (0, 1), **zeros)(*x, grad_outputs=w)

    found = srcdiff.grad(again, (0, 1, 2), **zeros)(0.3, 0.6, 0.7, grad_outputs=(1.0, 1.0))
    assert found == (2.0, 0.0, 0.0)


def energy_of_several(x, *models):
    return np.sum(models[0].energy(x)) * models[1].k


def test_any_number_of_objects():
    """What is added to the parameters stays behind them."""
    f, two = energy_of_several, (models.Model(2.0), models.Model(3.0))
    found = srcdiff.grad(f)(X, *two)
    value, again = srcdiff.value_and_grad(f)(X, *two)
    close(value, f(X, *two))
    close(again, found)
    close(srcdiff.grad(f)(X, *two, grad_outputs=0.5), 0.5 * found)
    close(srcdiff.jvp(f, (X, *two), (Y, None, None))[1], Y @ found)
    close(srcdiff.hvp(f, (X, *two), Y) @ X, srcdiff.hessian(f)(X, *two) @ Y @ X)


def test_checkpoint_of_any_number_of_arguments():
    whole = srcdiff.checkpoint(three)
    found = srcdiff.grad(lambda x, y: np.sum(whole(x, y, y)), (0, 1))(X, Y)
    close(found[0], Y**3)
    close(found[1], 3.0 * X * Y**2)


def test_a_run_of_any_number_of_arguments_is_refused():
    with pytest.raises(srcdiff.UnsupportedError, match="has no input but any number of arguments"):
        srcdiff.run(three, X, Y, X)
