"""Derivatives inside of differentiated functions, and derivatives of what they make."""

import numpy as np
import pytest

import srcdiff
from srcdiff import autograd

X, W = np.array([0.3, 1.2, -0.4]), np.array([1.0, 2.0, 0.5])
V, U = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]]), np.array([[0.3, 0.2, 0.1], [1.0, 2.0, -1.0]])


def slopes(f, x, e=1e-6):
    """The gradient of a function of one real output by central differences."""
    steps = e * np.eye(x.size).reshape(x.size, *x.shape)
    return np.reshape([(f(x + s) - f(x - s)) / (2 * e) for s in steps], x.shape)


def assert_right(f, *args):
    """The gradients by all arguments are those of differences, and so are second derivatives."""
    assert_gradient(f, args)
    first = srcdiff.grad(f, materialize_grads=True)
    assert_gradient(first, args, np.cos(3.0 * args[0] + 1.0))


def assert_gradient(f, args, weights=1.0):
    for k, x in enumerate(args):
        one = slopes(lambda v, k=k: np.sum(weights * f(*args[:k], v, *args[k + 1 :])), x)
        g = srcdiff.grad(f, k, materialize_grads=True)
        found = g(*(np.copy(a) for a in args), grad_outputs=weights)
        np.testing.assert_allclose(found, one, rtol=1e-6, atol=1e-7)


# --- batches of cotangents -----------------------------------------------------------------------


def curve(y):
    return np.sin(y) * np.roll(y, 1)


def several(y, z):
    return {"a": np.sum(y * z), "b": y * z * z}


def tree(p, n):
    return p["w"] * p["b"][0] ** n


rows_of_curve = srcdiff.grad(curve, is_grads_batched=True)
rows_of_several = srcdiff.grad(several, (0, 1), is_grads_batched=True)
rows_by_key = srcdiff.grad(several, {"p": "z"}, outputs="b", is_grads_batched=True)
rows_of_tree = srcdiff.grad(tree, is_grads_batched=True)
with_value = srcdiff.value_and_grad(curve, is_grads_batched=True)
unused = srcdiff.grad(lambda a, b: a * a, (0, 1), allow_unused=True, is_grads_batched=True)


def batch(x, v):
    return np.sum(rows_of_curve(x, grad_outputs=v * x) ** 2)


def batch_of_dict(x, v):
    a, b = rows_of_several(x, x * x, grad_outputs={"a": v[:, 0] * x[0], "b": v * x})
    return np.sum(a * b)


def batch_of_one_output(x, v):
    return np.sum(rows_by_key(x, x * x, grad_outputs=v)["p"] ** 2)


def batch_of_container(x, v):
    found = rows_of_tree({"w": x, "b": [x[0], 3]}, 2, grad_outputs=v)
    assert found["b"][1] is None
    return np.sum(found["w"] ** 2) + np.sum(found["b"][0])


def batch_with_value(x, v):
    value, rows = with_value(x, grad_outputs=v)
    return np.sum(value * rows)


def batch_of_a_closure(x, v):
    return np.sum(srcdiff.grad(lambda y: y * y * x, is_grads_batched=True)(x, grad_outputs=v) ** 2)


def batch_without_items(x, v):
    return np.sum(rows_of_curve(x, grad_outputs=v[:0])) + x[0] * np.sum(v)


def batch_of_unused(x, v):
    a, b = unused(x, x, grad_outputs=v)
    return np.sum(a**2) if b is None else 0.0


BATCHES = (
    batch, batch_of_dict, batch_of_one_output, batch_of_container, batch_with_value,
    batch_of_a_closure, batch_without_items, batch_of_unused,
)  # fmt: skip


@pytest.mark.parametrize("f", BATCHES, ids=lambda f: f.__name__)
def test_batches_inside(f):
    assert_right(f, X, V)


class Model:
    def __init__(self, w):
        self.w = w

    def forward(self, x):
        return np.tanh(self.w * x)


def test_batches_of_a_method():
    rows = srcdiff.grad(Model(W).forward, is_grads_batched=True)
    assert_right(lambda x, v: np.sum(rows(x, grad_outputs=v) ** 2), X, V)


def test_batches_of_what_draws_random_numbers():
    def noisy(y):
        return y * y * np.random.normal()

    rows = srcdiff.grad(noisy, is_grads_batched=True)
    with pytest.raises(srcdiff.UnsupportedError, match="runs more than once here"):
        srcdiff.grad(lambda x: np.sum(rows(x, grad_outputs=V)))(X)


def test_unequal_batches_inside():
    def f(x):
        a, b = rows_of_several(x, x, grad_outputs={"a": np.ones(3), "b": V})
        return np.sum(a + b)

    with pytest.raises(ValueError, match="one size of the batch axis"):
        srcdiff.grad(f)(X)


def test_a_variable_that_is_called_grad_outputs():
    def f(x):
        grad_outputs = x * 2.0
        return grad_outputs * x

    def g(x):
        return srcdiff.grad(lambda y: (y * y, y + 1.0))(x, grad_outputs=(x, x * 2.0))

    np.testing.assert_allclose(srcdiff.grad(f)(X, grad_outputs=W), 4.0 * X * W)
    np.testing.assert_allclose(srcdiff.vjp(g, X)[1](W), (4.0 * X + 2.0) * W)


def test_no_cotangent_inside():
    def f(x):
        return srcdiff.grad(lambda y: np.sum(y**3))(x, grad_outputs=None)

    np.testing.assert_allclose(srcdiff.grad(f)(X, grad_outputs=W), 6.0 * X * W)


# --- batches over runs: create_graph -------------------------------------------------------------


def outputs(x, w):
    return np.sin(x) * w, np.sum(x * x * w)


SELECTIONS = (((0,), (V,)), ((1,), (V[:, 0],)), ((0, 1), (V, V[:, 0])))
SELECTED = ("the first", "the second", "both")


@pytest.mark.parametrize(("chosen", "cotangents"), SELECTIONS, ids=SELECTED)
def test_batches_that_are_outputs_again(chosen, cotangents):
    run = srcdiff.autograd.run(outputs, X, W)
    many = autograd.grad(
        [run[k] for k in chosen], ["x", "w"], cotangents, create_graph=True, is_grads_batched=True
    )
    for k in range(2):
        single = autograd.grad(
            [run[j] for j in chosen], ["x", "w"], [c[k] for c in cotangents], create_graph=True
        )
        for one, row in zip(single, many):
            np.testing.assert_allclose(row.value[k], one.value, rtol=1e-14)
            mask = np.zeros((2, 3))
            mask[k] = U[k]
            options = {"retain_graph": True, "allow_unused": True}
            expected = autograd.grad(one, ["x", "w"], U[k], **options)
            found = autograd.grad(row, ["x", "w"], mask, **options)
            assert_same(found, expected)


def assert_same(found, expected):
    assert [g is None for g in found] == [g is None for g in expected]
    for one, other in zip(found, expected):
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def test_a_batch_of_none_that_is_an_output_again():
    run = srcdiff.autograd.run(outputs, X, W)
    (rows,) = autograd.grad(run[0], "x", V[:0], create_graph=True, is_grads_batched=True)
    assert rows.value.shape == (0, 3)
    np.testing.assert_array_equal(autograd.grad(rows, "x", V[:0])[0], np.zeros(3))


@pytest.mark.oracles
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("chosen", "cotangents"), SELECTIONS, ids=SELECTED)
def test_batches_that_are_outputs_again_in_torch(chosen, cotangents):
    torch = pytest.importorskip("torch", reason="torch is not installed: extra oracles")
    x, w = (torch.tensor(a, requires_grad=True) for a in (X, W))
    theirs = (torch.sin(x) * w, (x * x * w).sum())
    run = srcdiff.autograd.run(outputs, X, W)
    again = {"create_graph": True, "is_grads_batched": True}
    ours = autograd.grad([run[k] for k in chosen], ["x", "w"], cotangents, **again)
    theirs = torch.autograd.grad(
        [theirs[k] for k in chosen], [x, w], [torch.tensor(c) for c in cotangents], **again
    )
    assert_same([g.value for g in ours], [g.detach().numpy() for g in theirs])
    for one, other in zip(ours, theirs):
        for extra in ({}, {"is_grads_batched": True}):
            seed = np.stack([U, 2.0 * U * U]) if extra else U
            more = {"retain_graph": True, "allow_unused": True, **extra}
            found = autograd.grad(one, ["x", "w"], seed, **more)
            expected = torch.autograd.grad(other, [x, w], torch.tensor(seed), **more)
            assert_same(found, [None if g is None else g.numpy() for g in expected])
    more = {"retain_graph": True, "allow_unused": True}
    second = autograd.grad(ours[0], "x", np.stack([U, U * U]), **more, **again)
    seed = torch.tensor(np.stack([U, U * U]))
    expected = torch.autograd.grad(theirs[0], x, seed, **more, **again)
    found = autograd.grad(second[0], ["x", "w"], V, allow_unused=True)
    expected = torch.autograd.grad(expected[0], [x, w], torch.tensor(V), allow_unused=True)
    assert_same(found, [None if g is None else g.numpy() for g in expected])


# --- vjp, linearize, jvp, hvp and vhp inside -----------------------------------------------------


def power(y, n, k=1.0):
    return np.sum(y**n * k)


def pullback_inside(x):
    value, pull = srcdiff.vjp(curve, x)
    return np.sum(pull(value) * pull(x * x))


def pullback_of_a_closure(x):
    value, pull = srcdiff.vjp(lambda y: curve(x * y), x)
    return np.sum(pull(value) * pull(x * x))


def pullback_in_a_loop(x):
    _, pull = srcdiff.vjp(curve, x)
    total = 0.0
    for k in range(3):
        total = total + np.sum(pull(x * k) ** 2)
    return total


def pullback_before_a_write(x):
    _, pull = srcdiff.vjp(lambda y: np.sum(curve(y * 2.0)), x)
    x[0] = x[1]
    return np.sum(pull() * x)


def pullback_before_a_captured_name_is_bound_again(x):
    a = x * 2.0
    value, pull = srcdiff.vjp(lambda y: curve(a * y), x)
    a = x * 5.0
    return np.sum(pull(a * value))


def pullback_of_what_writes_into_its_argument(x):
    def inplace(y):
        y[0] = y[1] * y[2]
        return y * y

    value, pull = srcdiff.vjp(inplace, x)
    return np.sum(pull(value) * x)


def pullback_without_the_integers(x):
    value, pull = srcdiff.vjp(power, x, 3, k=x[0])
    return np.sum(pull(retain_graph=True) ** 2) * value


def pullback_of_one_output(x):
    _, pull = srcdiff.vjp(lambda y, z: {"s": y * z, "t": np.sum(z)}, x, x * x, outputs="s")
    a, b = pull(x)
    return np.sum(a * b * b)


def pullback_by_names(x):
    pair = srcdiff.vjp(lambda y, z: y * z * z, x, x * x, inputs=("z", "y"))
    b, a = pair[1](grad_outputs=x)
    return np.sum(a * b * b * pair[0])


def pullback_kept_in_a_list(x):
    pulls = []
    pulls.append(srcdiff.vjp(curve, x)[1])
    return np.sum(pulls[0](x))


def pullback_in_a_pullback(x):
    _, pull = srcdiff.vjp(lambda y: srcdiff.vjp(curve, y)[1](y * x), x)
    return np.sum(pull(x) ** 2)


def pullback_of_a_gradient(x):
    return np.sum(srcdiff.vjp(srcdiff.grad(lambda y: np.sum(y**3) * x[1]), x)[1](x))


def linear_inside(x):
    value, push = srcdiff.linearize(curve, x)
    return np.sum(push(value) * push(x))


def linear_of_a_closure(x):
    a = 2.0 * x
    value, push = srcdiff.linearize(lambda y: curve(a * y), x)
    a = 7.0 * x  # a linear function runs its function again
    x[1] = 3.0
    return np.sum(push(value) * a * x)


def linear_with_an_integer(x):
    value, push = srcdiff.linearize(power, x, 3)
    return push(x * x, None) * value


def linear_of_a_gradient(x):
    return np.sum(srcdiff.linearize(srcdiff.grad(power), x, 3)[1](x, None))


def tangent_of_a_closure(x):
    return np.sum(srcdiff.jvp(lambda y, n=2: curve(x * y) ** n, (x, 3), (x * x, None))[1] ** 2)


def tangent_of_a_gradient_of_a_closure(x):
    return np.sum(srcdiff.jvp(srcdiff.grad(lambda y: np.sum(curve(x * y))), (x,), (x * x,))[1] ** 2)


def hessian_product(x):
    return np.sum(srcdiff.hvp(power, (x, 3), x * x)) + np.sum(srcdiff.vhp(power, (x, 3), x * x))


def hessian_product_of_a_closure(x):
    return np.sum(srcdiff.hvp(lambda y: np.sum(curve(y * x)), (x,), x * x))


def vector_hessian_product_of_a_closure(x):
    return np.sum(srcdiff.vhp(lambda y: np.sum(curve(y * x)), (x,), x * x))


def hessian_products_by_two(x):
    def f(y, z):
        return np.sum(curve(y * x) * z)

    a, b = srcdiff.hvp(f, (x, x), (x * x, x), inputs=(0, 1))
    c, e = srcdiff.vhp(f, (x, x), v=(x * x, x), inputs=("y", "z"))
    return np.sum(a * b + c * e * x)


INSIDE = (
    pullback_inside, pullback_of_a_closure, pullback_in_a_loop, pullback_before_a_write,
    pullback_before_a_captured_name_is_bound_again, pullback_of_what_writes_into_its_argument,
    pullback_without_the_integers, pullback_of_one_output, pullback_by_names,
    pullback_kept_in_a_list, pullback_in_a_pullback, pullback_of_a_gradient, linear_inside,
    linear_of_a_closure, linear_with_an_integer, linear_of_a_gradient, tangent_of_a_closure,
    tangent_of_a_gradient_of_a_closure, hessian_product, hessian_product_of_a_closure,
    vector_hessian_product_of_a_closure, hessian_products_by_two,
)  # fmt: skip


@pytest.mark.parametrize("f", INSIDE, ids=lambda f: f.__name__)
def test_direct_transforms_inside(f):
    before = X.copy()
    assert_right(lambda x: f(np.array(x)), X)
    found, value = srcdiff.jvp(lambda x: f(np.array(x)), (X,), (W,)), f(X.copy())
    np.testing.assert_allclose(found[0], value, rtol=1e-12)
    one = np.sum(srcdiff.grad(f)(X) * W)
    np.testing.assert_allclose(found[1], one, rtol=1e-10)
    np.testing.assert_array_equal(X, before)


def test_a_pullback_sees_what_its_function_read():
    def f(x):
        _, pull = srcdiff.vjp(lambda y: np.sum(curve(x * y)), x)
        x[0] = x[1]
        return np.sum(pull() * x)

    def g(x):
        held = np.copy(x)
        _, pull = srcdiff.vjp(lambda y: np.sum(curve(held * y)), x)
        x[0] = x[1]
        return np.sum(pull() * x)

    np.testing.assert_allclose(srcdiff.grad(f)(X), srcdiff.grad(g)(X), rtol=1e-14)


def test_nothing_is_copied_where_nothing_is_written():
    assert "copy" not in srcdiff.source(pullback_of_a_closure, example=(X,))
    assert "copy" in srcdiff.source(pullback_before_a_write, example=(X,))


def returned(x):
    value, pull = srcdiff.vjp(curve, x)
    return np.sum(value), pull


def draws(y):
    return y * y * np.random.normal()


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: returned(x)[1], "the nested function `pullback` is used as a value"),
        (lambda x: np.sum(srcdiff.vjp(draws, x)[1](x)), "runs more than once here"),
        (lambda x: np.sum(srcdiff.linearize(draws, x)[1](x)), "runs more than once here"),
        (lambda x: np.sum(srcdiff.vjp(curve, x, inputs=len(x) - 3)[1](x)), "are constants"),
    ],
    ids=["escapes", "random pullback", "random linear", "inputs"],
)
def test_what_is_refused_inside(f, words):
    with pytest.raises(srcdiff.UnsupportedError, match=words):
        srcdiff.grad(f)(X)


# --- every transform of what every transform makes -----------------------------------------------


def vector(x):
    return x * x * np.sin(x[0])


def number(x):
    return np.sum(vector(x) * x)


INNER = {
    "grad": srcdiff.grad(number),
    "value_and_grad": srcdiff.value_and_grad(number),
    "vjp": lambda x: srcdiff.vjp(vector, x)[1](W),
    "jvp": lambda x: srcdiff.jvp(vector, (x,), (W,))[1],
    "linearize": lambda x: srcdiff.linearize(vector, x)[1](W),
    "jacobian": srcdiff.jacobian(vector),
    "hessian": srcdiff.hessian(number),
    "hvp": lambda x: srcdiff.hvp(number, (x,), W),
}


def flat(tree):
    items = tree if isinstance(tree, tuple) else (tree,)
    return np.concatenate([np.ravel(item) for item in items])


def matrix(f, e=1e-5):
    """The Jacobian of all that a function returns, by differences."""
    return np.stack([(flat(f(X + s)) - flat(f(X - s))) / (2 * e) for s in e * np.eye(X.size)], -1)


def seed_like(tree):
    if isinstance(tree, tuple):
        return tuple(map(seed_like, tree))
    return np.cos(np.arange(np.size(tree))).reshape(np.shape(tree)) if np.ndim(tree) else 0.5


def outer_grad(f):
    seed = seed_like(f(X))
    return srcdiff.grad(f)(X, grad_outputs=seed), flat(seed) @ matrix(f)


def outer_value_and_grad(f):
    seed = seed_like(f(X))
    value, found = srcdiff.value_and_grad(f)(X, grad_outputs=seed)
    np.testing.assert_allclose(flat(value), flat(f(X)), rtol=1e-12)
    return found, flat(seed) @ matrix(f)


def outer_vjp(f):
    value, pull = srcdiff.vjp(f, X)
    np.testing.assert_allclose(flat(value), flat(f(X)), rtol=1e-12)
    return pull(seed_like(value)), flat(seed_like(value)) @ matrix(f)


def outer_jvp(f):
    return srcdiff.jvp(f, (X,), (W,))[1], matrix(f) @ W


def outer_linearize(f):
    return srcdiff.linearize(f, X)[1](W), matrix(f) @ W


def outer_jacobian(f):
    found = srcdiff.jacobian(f)(X)
    if not isinstance(found, tuple):
        assert found.shape == (*np.shape(f(X)), 3)
    return found, matrix(f)


def total(f):
    """A function of one output that calls another."""
    if isinstance(f(X), tuple):
        return lambda x: f(x)[0] + np.sum(f(x)[1] ** 2)
    return lambda x: np.sum(f(x) ** 2)


def outer_hessian(f):
    return srcdiff.hessian(total(f))(X), matrix(srcdiff.grad(total(f)))


def outer_hvp(f):
    return srcdiff.hvp(total(f), (X,), W), matrix(srcdiff.grad(total(f))) @ W


OUTER = (
    outer_grad, outer_value_and_grad, outer_vjp, outer_jvp, outer_linearize, outer_jacobian,
    outer_hessian, outer_hvp,
)  # fmt: skip


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("outer", OUTER, ids=lambda f: f.__name__)
def test_pairs(outer, inner):
    found, expected = outer(INNER[inner])
    np.testing.assert_allclose(flat(found), np.ravel(expected), rtol=1e-6, atol=1e-7)


def test_jacobians_of_jacobians():
    third = srcdiff.jacobian(srcdiff.jacobian(srcdiff.jacobian(lambda x: x**4)))(X)
    expected = np.zeros((3, 3, 3, 3))
    expected[np.diag_indices(3, 4)] = 24.0 * X
    np.testing.assert_allclose(third, expected, atol=1e-13)
    assert srcdiff.jacobian(srcdiff.jacobian(lambda x: x**3))(2.0) == 12.0
    again = srcdiff.jacobian(srcdiff.jacobian(vector, mode="reverse"), mode="forward")(X)
    np.testing.assert_allclose(again, srcdiff.jacobian(srcdiff.jacobian(vector))(X), rtol=1e-13)


def jacobian_of_a_closure(x):
    return np.sum(srcdiff.jacobian(lambda y: x * y * np.roll(y, 1))(x) ** 2)


def hessian_of_a_closure(x):
    return np.sum(srcdiff.hessian(lambda y: np.sum(x * y**3) * y[0])(x * x) ** 2)


def jacobians_of_a_closure_with_an_integer(x):
    jacobian = srcdiff.jacobian(lambda y, n: (x * y) ** n)
    return np.sum(jacobian(x, 3) * jacobian(x * x, 2))


def jacobian_of_a_jacobian_of_a_closure(x):
    return np.sum(srcdiff.jacobian(srcdiff.jacobian(lambda y: x * y**3 * y[0]))(x * x) ** 2)


def jacobian_of_a_constant(x):
    c = np.array([1.0, 2.0, 3.0])
    return np.sum(srcdiff.jacobian(lambda y: c * y**3 * y[0])(np.ones(3)) * x * x)


JACOBIANS = (
    jacobian_of_a_closure, hessian_of_a_closure, jacobians_of_a_closure_with_an_integer,
    jacobian_of_a_jacobian_of_a_closure, jacobian_of_a_constant,
)  # fmt: skip


@pytest.mark.parametrize("f", JACOBIANS, ids=lambda f: f.__name__)
def test_jacobians_inside(f):
    assert_right(f, X)


def test_a_jacobian_of_what_draws_random_numbers():
    with pytest.raises(srcdiff.UnsupportedError, match="runs more than once here"):
        srcdiff.grad(lambda x: np.sum(srcdiff.jacobian(draws)(x)))(X)


# --- transforms with options alone, called with the arguments ------------------------------------


def of_two(x, y):
    return np.sum(np.sin(x) * x * y)


def with_beside(x, y):
    return np.sum(x * x * y), 3.0 * x


PULLED, ALONG = srcdiff.vjp(of_two, inputs="x"), srcdiff.linearize(of_two)
PRODUCT, TIMES = srcdiff.hvp(of_two), srcdiff.vhp(of_two, inputs="x")


def curried_here(x, y):
    pulled, along = srcdiff.vjp(of_two, inputs="x"), srcdiff.linearize(of_two)
    found = np.sum(pulled(x, y)[1]() ** 2) + along(x, y)[1](y, x)
    return found + np.sum(srcdiff.hvp(of_two)(x, y, v=y) * srcdiff.vhp(of_two)(x, y, v=x))


def curried_before(x, y):
    found = np.sum(PULLED(x, y)[1]() ** 2) + ALONG(x, y)[1](y, x)
    return found + np.sum(PRODUCT(x, y, v=y) * TIMES(x, y, v=x))


def called_at_once(x, y):
    _, pulled = srcdiff.vjp(of_two, x, y, inputs="x")
    _, along = srcdiff.linearize(of_two, x, y)
    found = np.sum(pulled() ** 2) + along(y, x)
    return found + np.sum(srcdiff.hvp(of_two, (x, y), y) * srcdiff.vhp(of_two, (x, y), x))


def captured(x, y):
    k = y[0]

    def inner(x, y):
        return of_two(x, y) * k * x[0]

    return np.sum(srcdiff.vjp(inner, outputs=None)(x, y)[1]()[0])


def beside(x, y):
    output, pullback, aux = srcdiff.vjp(with_beside, has_aux=True)(x, y)
    return np.sum(pullback()[0] ** 2) + np.sum(aux * x) + output


@pytest.mark.parametrize("f", [curried_here, curried_before, captured, beside])
def test_a_transform_with_options_alone_is_differentiated_like_the_direct_form(f):
    x, y = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.3, -0.7])
    assert srcdiff.testing.gradcheck(f, (x, y))
    if f in (curried_here, curried_before):
        expected = srcdiff.grad(called_at_once, (0, 1))(x, y)
        np.testing.assert_allclose(srcdiff.grad(f, (0, 1))(x, y), expected, rtol=1e-13)


def test_unused_inputs_of_transforms_in_a_function():
    def one_of_two(x, y):
        return np.sum(x * x)

    def pulled(x, y):
        return np.sum(srcdiff.vjp(one_of_two, x, y, unused="zeros")[1]()[0] * y)

    def refused(x, y):
        return np.sum(srcdiff.vjp(one_of_two, x, y)[1]()[0] * y)

    def product(x, y):
        return np.sum(srcdiff.hvp(one_of_two, (x, y), x, inputs=1))

    def tangent(x, y):
        return srcdiff.jvp(one_of_two, (x, y), (None, x))[1]

    x, y = np.ones(2), np.array([2.0, 3.0])
    np.testing.assert_allclose(srcdiff.grad(pulled)(x, y), 2.0 * y)
    for f in (refused, product, tangent):
        with pytest.raises(srcdiff.TransformError, match="no output of `one_of_two` depends"):
            srcdiff.grad(f)(x, y)


def with_keyword(x, y, k=2.0):
    return np.sum(x * x * y**3 * k)


def of_the_names_of_options(x, inputs=2.0, v=1.0, tangents=1.0):
    return np.sum(x**3 * inputs * v * tangents)


def cubes_of(v, w):
    return np.sum(v**3 * w)


PUSHED, BOTH = srcdiff.jvp(with_beside, inputs={"a": 0}, outputs=0), srcdiff.jvp(of_two)
LINEAR, TWICE = srcdiff.linearize(with_keyword, inputs=("x", "y")), srcdiff.hvp(
    with_beside, inputs=["x"], has_aux=True
)
NAMED = srcdiff.vjp(of_the_names_of_options, inputs="x")


def tangent_by_one(x, y):
    return srcdiff.jvp(with_keyword, inputs="x")(x, y, k=3.0, tangents=y)[1]


def tangent_by_some(x, y):
    return srcdiff.jvp(with_keyword, (x, y), (y, x * x), inputs=(0, "y"))[1]


def tangent_by_all(x, y):
    return srcdiff.jvp(with_keyword)(x, y, tangents=(y, None))[1] + BOTH(x, y, tangents=(y, x))[1]


def tangent_of_an_output(x, y):
    _, tangent = srcdiff.jvp(with_beside, (x, y), (y, x), outputs=0)
    return PUSHED(x, y, tangents={"a": y})[1] * tangent


def tangent_beside(x, y):
    output, tangent, aux = srcdiff.jvp(with_beside, has_aux=True)(x, y, tangents=(y, None))
    return output + tangent * np.sum(aux)


def tangent_of_a_closure(x, y):
    def inner(x, k=1.0):
        return np.sum(x**3 * y * k)

    return srcdiff.jvp(inner, inputs="x")(x, k=x[0], tangents=y)[1]


def tangent_of_a_tangent(x, y):
    def inner(x, y):
        return srcdiff.jvp(with_keyword, inputs="x")(x, y, tangents=y)[1]

    return srcdiff.jvp(inner, inputs="y")(x, y, tangents=x)[1]


def linear_by_some(x, y):
    _, along = LINEAR(x, y)
    return along(y, x) + srcdiff.linearize(with_keyword, x, y, k=3.0)[1](y, None)


def linear_beside(x, y):
    _, along, aux = srcdiff.linearize(with_beside, x, y, has_aux=True)
    return along(y, x) * np.sum(aux)


def products_by_some(x, y):
    by_x, by_y = srcdiff.hvp(with_keyword, inputs=("x", "y"))(x, y, k=3.0, v=(y, x))
    return np.sum(by_x * by_y * srcdiff.vhp(with_keyword, (x, y), y, inputs="y", k=2.0))


def products_beside(x, y):
    (product,), aux = TWICE(x, y, v=(y,))
    again, _ = srcdiff.vhp(with_beside, (x, y), y, has_aux=True)
    return np.sum(product * aux * again)


def parameters_called_as_options(x, y):
    named = NAMED(x, inputs=3.0)[1]() + srcdiff.vjp(of_the_names_of_options)(x, inputs=y)[1]()
    product = srcdiff.hvp(of_the_names_of_options)(x, inputs=3.0, v=y)
    return np.sum(named * product) + np.sum(srcdiff.hvp(cubes_of, (x, y), y))


WITH_OPTIONS = (
    tangent_by_one, tangent_by_some, tangent_by_all, tangent_of_an_output, tangent_beside,
    tangent_of_a_closure, tangent_of_a_tangent, linear_by_some, linear_beside, products_by_some,
    products_beside, parameters_called_as_options,
)  # fmt: skip


@pytest.mark.parametrize("f", WITH_OPTIONS, ids=lambda f: f.__name__)
def test_options_of_transforms_in_a_function(f):
    x, y = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.3, -0.7])
    assert srcdiff.testing.gradcheck(f, (x, y), check_forward_ad=True)
    value, _ = srcdiff.value_and_grad(f)(x, y)
    np.testing.assert_allclose(value, f(x, y), rtol=1e-13)


def test_a_direction_that_does_not_fit_the_inputs_is_an_error():
    def f(x, y):
        along = (y, x, x)
        return srcdiff.jvp(with_keyword, (x, y), along, inputs=("x", "y"))[1]

    with pytest.raises(ValueError, match="too many values"):
        srcdiff.grad(f)(np.ones(2), np.ones(2))
