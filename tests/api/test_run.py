"""`run`, `autograd.grad`, `autograd.backward` and `backward`."""

import numpy as np
import pytest

import srcdiff
from srcdiff import autograd
from srcdiff.errors import UnusedInputError
from tests.support import models
from tests.support.differences import close

X = np.array([0.5, -1.0, 2.0])
Y = np.array([2.0, 3.0, 4.0])


def mixed(x, y, n=2):
    return x * y * n, {"loss": np.sum(x * x), "count": len(x)}


def recorded():
    return srcdiff.autograd.run(mixed, X, Y)


# --- a run --------------------------------------------------------------------------------------


def test_value_and_inputs():
    r = recorded()
    close(r.value[0], 2.0 * X * Y)
    close(r[1]["loss"].value, np.sum(X * X))
    assert r.inputs == ("x", "y")


def test_runs_once():
    calls = []
    r = srcdiff.autograd.run(models.counted, 3.0, calls)
    assert calls == [] and r.grad("x", retain_graph=True) == 6.0 and r.grad("x") == 6.0


def test_forms_of_inputs():
    r = recorded()
    loss = r[1]["loss"]
    close(loss.grad("x", retain_graph=True), 2.0 * X)
    (one,) = loss.grad(["x"], retain_graph=True)
    close(one, 2.0 * X)
    close(loss.grad({"first": 0}, retain_graph=True)["first"], 2.0 * X)
    a, b = r.grad(None, (np.ones(3), {"loss": None, "count": None}))
    close(a, 2.0 * Y + 2.0 * X)
    close(b, 2.0 * X)


def test_inputs_may_be_the_arrays_that_were_passed():
    params = {"w": X, "b": 2.0}
    r = srcdiff.autograd.run(models.with_state, params, 3.0)
    close(r.grad(X, retain_graph=True), 12.0 * X)
    close(r.grad("params['w']", retain_graph=True), 12.0 * X)
    with pytest.raises(srcdiff.TransformError, match="no input"):
        r.grad(X.copy())


def test_an_array_that_was_passed_twice():
    r = srcdiff.autograd.run(models.pair, X, X)
    close(r.grad(X, (np.ones(3), np.ones(3))), 2.0 * X + np.sum(np.ones(3)) + 1.0)


def test_unknown_outputs_and_inputs():
    r = recorded()
    with pytest.raises(srcdiff.TransformError, match="no output 5"):
        r[5]
    with pytest.raises(srcdiff.TransformError, match="x, y, n"):
        r[0].grad("z", np.ones(3))
    with pytest.raises(srcdiff.TransformError):
        r[0].grad(7, np.ones(3))


def test_no_floating_point_argument():
    with pytest.raises(srcdiff.errors.DtypeError):
        srcdiff.autograd.run(models.integer_part, 2, 3)


def test_what_is_written_afterwards_does_not_matter():
    x = X.copy()
    r = srcdiff.autograd.run(models.vector, x)
    x[:] = 0.0
    r.value[:] = 0.0
    close(r.grad("x", np.ones(3)), 2.0 * X)


def test_vjp_does_not_see_what_is_written_afterwards():
    x = X.copy()
    value, pull = srcdiff.vjp(np_tanh, x)
    x[:] = 5.0
    value[:] = 5.0
    close(pull(np.ones(3)), 1.0 - np.tanh(X) ** 2)


def np_tanh(x):
    return np.tanh(x)


# --- retain_graph -------------------------------------------------------------------------------


def test_a_graph_is_freed_unless_it_is_retained():
    r = recorded()
    r[1]["loss"].grad("x", retain_graph=True)
    r[1]["loss"].grad("x")
    with pytest.raises(srcdiff.errors.ReleasedError, match="second time") as info:
        r[1]["loss"].grad("x")
    assert isinstance(info.value, RuntimeError)


def test_release():
    r = recorded()
    r.release()
    with pytest.raises(srcdiff.errors.ReleasedError):
        r[1]["loss"].grad("x")


def test_an_error_does_not_release():
    r = recorded()
    with pytest.raises(srcdiff.errors.CotangentError):
        r[0].grad("x", np.ones(2))
    with pytest.raises(UnusedInputError):
        r[1].grad("y")
    close(r[1]["loss"].grad("x"), 2.0 * X)


# --- unused inputs ------------------------------------------------------------------------------


def test_unused_for_the_selected_output():
    r = recorded()
    loss = r[1]["loss"]
    with pytest.raises(UnusedInputError, match="not have been used in the graph") as info:
        loss.grad(("x", "y"), retain_graph=True)
    assert isinstance(info.value, RuntimeError) and "`y`" in str(info.value)
    assert loss.grad("y", retain_graph=True, allow_unused=True) is None
    close(loss.grad("y", retain_graph=True, materialize_grads=True), np.zeros(3))
    with pytest.raises(ValueError, match="materialize_grads=True"):
        loss.grad("y", allow_unused=False, materialize_grads=True)


def test_what_is_not_selected_is_not_run_through():
    def singular(x):
        return np.sqrt(x), x * x

    r = srcdiff.autograd.run(singular, np.zeros(2))
    close(r[1].grad("x", np.ones(2)), np.zeros(2))


# --- batches ------------------------------------------------------------------------------------


def test_batch_of_cotangents():
    r = recorded()
    a, b = autograd.grad(r[0], ("x", "y"), np.eye(3), retain_graph=True, is_grads_batched=True)
    close(a, np.diag(2.0 * Y))
    close(b, np.diag(2.0 * X))
    for none in autograd.grad(r[0], ("x", "y"), np.zeros((0, 3)), True, is_grads_batched=True):
        assert none.shape == (0, 3)
    with pytest.raises(ValueError, match=r"\(B, 3\)"):
        r[0].grad("x", np.ones(3), is_grads_batched=True)
    (zero,) = autograd.grad(
        r[1]["loss"], "y", np.ones(4), is_grads_batched=True, materialize_grads=True
    )
    assert zero.shape == (4, 3)


# --- create_graph -------------------------------------------------------------------------------


def test_gradients_that_are_outputs_again():
    r = srcdiff.autograd.run(models.loss, 2.0, X)
    dw, dx = autograd.grad(r, ("w", "x"), create_graph=True)
    close(dw.value, np.sum(2.0 * (2.0 * X - 1.0) * X))
    (second,) = autograd.grad(dw, "w", retain_graph=True)
    close(second, 2.0 * np.sum(X * X))
    (again,) = autograd.grad(dx, "w", np.ones(3))
    close(again, np.sum(8.0 * X - 2.0))


def test_third_order():
    r = srcdiff.autograd.run(models.scalar, 2.0)
    (one,) = autograd.grad(r, "x", create_graph=True)
    (two,) = autograd.grad(one, "x", create_graph=True)
    assert autograd.grad(two, "x") == (6.0,)


# --- torch's signatures -------------------------------------------------------------------------


def test_signatures_are_torchs():
    import inspect

    names = list(inspect.signature(autograd.grad).parameters)
    assert names == [
        "outputs", "inputs", "grad_outputs", "retain_graph", "create_graph", "only_inputs",
        "allow_unused", "is_grads_batched", "materialize_grads",
    ]  # fmt: skip
    names = list(inspect.signature(autograd.backward).parameters)
    assert names == [
        "tensors", "grad_tensors", "retain_graph", "create_graph", "grad_variables", "inputs",
    ]  # fmt: skip


def test_only_inputs_warns():
    r = srcdiff.autograd.run(models.scalar, 2.0)
    with pytest.warns(FutureWarning, match="only_inputs"):
        assert autograd.grad(r, "x", only_inputs=False) == (12.0,)


def test_several_outputs_are_summed():
    r = recorded()
    (found,) = autograd.grad((r[0], r[1]["loss"]), X, (np.ones(3), None))
    close(found, 2.0 * Y + 2.0 * X)


def test_the_same_output_twice():
    r = srcdiff.autograd.run(models.scalar, 2.0)
    assert autograd.grad((r, r), "x") == (24.0,)


def test_outputs_of_several_runs():
    one, two = srcdiff.autograd.run(models.vector, X), srcdiff.autograd.run(models.linear, X)
    (found,) = autograd.grad((one, two), X, (np.ones(3), None))
    close(found, 2.0 * X + 3.0)


def test_wrong_arguments():
    r = recorded()
    with pytest.raises(TypeError, match="Run"):
        autograd.grad(3.0, "x")
    with pytest.raises(ValueError, match="non-empty"):
        autograd.grad(r, ())
    with pytest.raises(srcdiff.errors.CotangentError, match="2 items"):
        autograd.grad((r[0], r[1]["loss"]), "x", (np.ones(3),))


class Spring:
    """A displacement and a stiffness."""

    def __init__(self, x, k):
        self.x, self.k = x, k


def energy(spring):
    return 0.5 * spring.k * np.sum(spring.x**2)


# --- backward -----------------------------------------------------------------------------------


def test_backward_of_a_run_adds_up():
    r = recorded()
    r[1]["loss"].backward(retain_graph=True)
    autograd.backward(r[1]["loss"])
    close(r.grads["x"], 4.0 * X)
    assert "y" not in r.grads
    with pytest.raises(RuntimeError, match="cannot be empty"):
        autograd.backward(r, inputs=())


def test_backward_into_buffers():
    b = srcdiff.backward(models.loss, ("w", "x"))
    buffer = np.ones(3)
    store = {"x": buffer}
    value = b(2.0, X, into=store)
    close(value, models.loss(2.0, X))
    assert store["x"] is buffer
    dw, dx = srcdiff.grad(models.loss, ("w", "x"))(2.0, X)
    close(buffer, 1.0 + dx)
    close(store["w"], dw)
    b(2.0, X, into=store)
    close(buffer, 1.0 + 2.0 * dx)
    close(store["w"], 2.0 * dw)


def test_backward_into_buffers_of_attributes():
    """They are called what the input was called."""
    spring = Spring(np.array([1.0, 2.0]), 3.0)
    store = {}
    assert srcdiff.backward(energy, "spring.x")(spring, into=store) == 7.5
    np.testing.assert_array_equal(store["spring.x"], [3.0, 6.0])


def test_backward_into_positions_a_list_an_array_and_a_structure():
    dx = srcdiff.grad(models.loss, "x")(2.0, X)
    by_position, in_list, array = {1: np.zeros(3)}, [np.zeros(3)], np.zeros(3)
    for store in (by_position, in_list, array):
        srcdiff.backward(models.loss, "x")(2.0, X, into=store)
    for found in (by_position[1], in_list[0], array):
        close(found, dx)
    params, into = {"w": X, "b": 2.0}, {"w": np.zeros(3), "b": 1.0}
    srcdiff.backward(models.with_state, "params")(params, 3.0, into=into)
    close(into["w"], 12.0 * X)
    close(into["b"], 1.0 + 3.0 * np.sum(X**2))


def test_a_new_entry_is_a_copy():
    store = {}
    v = np.ones(3)
    srcdiff.backward(lambda x: x)(X, into=store, grad_outputs=v)
    store["x"][:] = 7.0
    close(v, np.ones(3))


def read_only():
    array = np.zeros(3)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "bad", [np.zeros(2), np.zeros(3, int), read_only(), [0.0, 0.0, 0.0], np.zeros((3, 1))]
)
def test_all_or_nothing(bad):
    store = {"w": np.zeros(()), "x": bad}
    with pytest.raises(srcdiff.errors.CotangentError, match="into"):
        srcdiff.backward(models.loss, ("w", "x"))(2.0, X, into=store)
    assert store["w"] == 0.0


def inside(x, y):
    return np.sum(x * y), [x * x, {"y": np.sin(y)}]


def test_an_output_inside_of_others_is_selected_by_itself():
    r = srcdiff.autograd.run(inside, X, Y)
    _, unused = r[1][0].grad(("x", "y"), np.ones(3), retain_graph=True, allow_unused=True)
    assert unused is None
    with pytest.raises(UnusedInputError):
        r[1][1]["y"].grad("x", np.ones(3))


def bound_in_a_loop(x, n):
    for i in range(n):
        a = x * i
        if i == 1:
            t = (a, x)
    return t


def kept_list(x, y):
    parts = [x * 2.0, y]
    parts[0] = y
    return parts


def test_what_a_name_was_bound_to_is_what_it_holds_at_the_end():
    assert srcdiff.grad(bound_in_a_loop, outputs=0)(3.0, 4) == 1.0
    found = srcdiff.grad(kept_list, ("x", "y"), outputs=0, allow_unused=True)(3.0, 4.0)
    assert found[0] in (None, 0.0) and found[1] == 1.0


def test_an_output_and_what_it_holds_are_summed():
    r = srcdiff.autograd.run(inside, X, Y)
    given = [Y, {"y": X}], X
    dx, dy = autograd.grad((r[1], r[1][0]), ("x", "y"), given, create_graph=True)
    np.testing.assert_allclose(dx.value, 2.0 * X * (X + Y))
    np.testing.assert_allclose(dy.value, X * np.cos(Y))
    (second,) = autograd.grad(dx, "x", np.ones(3))
    np.testing.assert_allclose(second, 2.0 * (X + Y))


def test_a_gradient_depends_on_what_the_selected_outputs_depend_on():
    r = srcdiff.autograd.run(inside, X, Y)
    dx, dy = autograd.grad(r[0], ("x", "y"), create_graph=True)
    with pytest.raises(UnusedInputError):
        autograd.grad(dx, "x", Y)
    (mixed,) = autograd.grad(dy, "x", Y)
    np.testing.assert_array_equal(mixed, Y)


def test_zeros_that_are_materialised_are_outputs_too():
    r = srcdiff.autograd.run(inside, X, Y)
    dx, dy = autograd.grad(r[1][0], ("x", "y"), X, create_graph=True, materialize_grads=True)
    np.testing.assert_array_equal(dy.value, np.zeros(3))
    assert autograd.grad(dy, "x", X, allow_unused=True) == (None,)


def test_a_bad_cotangent_comes_before_an_unused_input():
    r = srcdiff.autograd.run(inside, X, Y)
    with pytest.raises(srcdiff.errors.CotangentTypeError, match="given str"):
        r[1][0].grad("y", "text")
    with pytest.raises(srcdiff.errors.CotangentError, match="batch axis"):
        r[1][0].grad("y", np.ones(3), is_grads_batched=True)


# --- gradients that are added up and differentiated again ----------------------------------------


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
    r = srcdiff.autograd.run(cube, X)
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
    r = srcdiff.autograd.run(cube, X)
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
    runs = srcdiff.autograd.run(cube, X), srcdiff.autograd.run(square, X)
    (ours,) = autograd.grad(runs, "x", create_graph=True)
    np.testing.assert_allclose(ours.value, first.detach().numpy(), rtol=1e-14)
    np.testing.assert_allclose(autograd.grad(ours, "x", Y), [theirs.numpy()], rtol=1e-14)


def test_accumulated_gradients_of_structures_are_outputs_again():
    params = {"w": X, "b": 2.0}
    r = srcdiff.autograd.run(models.with_state, params, 3.0)
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
    r = srcdiff.autograd.run(lambda x, y: np.sum(x * x * y), X, X)
    dx = r.grad(X, create_graph=True)
    close(dx.value, 3.0 * X * X)
    close(dx.grad(X, np.ones(3)), 6.0 * X)


def test_an_input_that_none_of_several_runs_has():
    runs = srcdiff.autograd.run(models.vector, X), srcdiff.autograd.run(models.linear, X)
    with pytest.raises(srcdiff.TransformError, match="no input 'z'"):
        autograd.grad(runs, "z", (np.ones(3), None), allow_unused=True)
