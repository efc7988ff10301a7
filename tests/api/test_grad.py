"""`grad` and its parameters one by one: how it is called, what it returns, what it leaves alone."""

import copy
import inspect
import pickle
import threading
import types

import numpy as np
import pytest

import srcdiff
from srcdiff.driver import pipeline
from srcdiff.errors import CotangentError
from tests.support import models
from tests.support import structures as st
from tests.support.differences import check_gradient, close, define

X = np.array([0.5, -1.0, 2.0])
Y = np.array([2.0, 3.0, 4.0])


def product(x, y):
    return np.sin(x) * y


# --- grad ---------------------------------------------------------------------------------------


def test_grad_as_a_call():
    close(srcdiff.grad(models.scalar)(2.0), 12.0)


def test_grad_as_a_decorator():
    close(models.decorated_grad(2.0), 12.0)


def test_grad_as_a_decorator_with_options():
    close(models.decorated_options(2.0, 3.0), 12.0)


def test_inputs_by_position_and_by_name():
    r = X * 2.0 - 1.0
    by_position = srcdiff.grad(models.loss, 1)(2.0, X)
    by_name = srcdiff.grad(models.loss, inputs="x")(2.0, X)
    close(by_position, 2.0 * r * 2.0)
    close(by_name, by_position)


def test_bare_input_gives_bare_gradient():
    assert isinstance(srcdiff.grad(models.loss, "x")(2.0, X), np.ndarray)


@pytest.mark.parametrize("container", [tuple, list])
def test_several_inputs_give_a_tuple(container):
    result = srcdiff.grad(models.loss, container(("x", "w")))(2.0, X)
    assert isinstance(result, tuple)
    r = X * 2.0 - 1.0
    close(result[0], 4.0 * r)
    close(result[1], np.sum(2.0 * r * X))


def test_one_input_in_a_tuple_gives_a_tuple():
    result = srcdiff.grad(models.loss, ("w",))(2.0, X)
    assert isinstance(result, tuple) and len(result) == 1


def test_dict_of_inputs_gives_a_dict():
    result = srcdiff.grad(models.loss, {"weight": "w", "data": 1})(2.0, X)
    assert list(result) == ["weight", "data"]
    close(result["weight"], srcdiff.grad(models.loss)(2.0, X))


def test_path_into_a_parameter():
    params = {"w": X, "b": 2.0}
    close(srcdiff.grad(models.with_state, "params['w']")(params, 3.0), 12.0 * X)
    whole = srcdiff.grad(models.with_state, "params")(params, 3.0)
    assert list(whole) == ["w", "b"] and isinstance(whole["b"], float)
    close(whole["b"], 3.0 * np.sum(X**2))


def test_same_input_twice_gives_two_equal_results():
    a, b = srcdiff.grad(models.loss, ("x", 1))(2.0, X)
    close(a, b)
    assert not np.shares_memory(a, b)


@pytest.mark.parametrize("value", [X, [X, 2.0], {"a": X}], ids=["array", "list", "dict"])
def test_same_input_twice_shares_no_memory(value):
    def f(x):
        return np.sum(x[0] * x[0]) if not isinstance(x, dict) else np.sum(x["a"] ** 2)

    by_key = srcdiff.grad(f, {"p": 0, "q": "x"})(value)
    for a, b in (srcdiff.grad(f, (0, 0))(value), by_key.values()):
        arrays = [next(v for v in st.leaves(g) if isinstance(v, np.ndarray)) for g in (a, b)]
        close(*arrays)
        assert not np.shares_memory(*arrays)


@pytest.mark.parametrize("inputs", [("x", "x['a']"), ("x['a']", "x")], ids=["whole", "part"])
def test_an_input_beside_a_part_of_it_shares_no_memory(inputs):
    pair = srcdiff.grad(lambda x: np.sum(x["a"] ** 2), inputs)({"a": X})
    a, b = (found["a"] if isinstance(found, dict) else found for found in pair)
    close(a, 2.0 * X)
    close(b, 2.0 * X)
    assert not np.shares_memory(a, b)


def test_structure_of_an_input_is_kept():
    layers = [(np.ones((3, 2)), np.zeros(2)), (np.ones((2, 1)), np.zeros(1))]
    result = srcdiff.grad(models.mlp)(layers, X)
    assert isinstance(result, list) and all(isinstance(r, tuple) for r in result)
    assert [g.shape for layer in result for g in layer] == [(3, 2), (2,), (2, 1), (1,)]


def test_arguments_by_keyword_and_defaults():
    g = srcdiff.grad(models.loss)
    close(g(w=2.0, x=X), g(2.0, X, 1.0))
    close(g(2.0, x=X, y=0.5), g(2.0, X, 0.5))


@pytest.mark.parametrize("call", [(), (1.0,), (1.0, 2.0, 3.0, 4.0)])
def test_wrong_number_of_arguments(call):
    with pytest.raises(TypeError):
        srcdiff.grad(models.loss)(*call)


def test_unexpected_keyword():
    with pytest.raises(TypeError, match="nonsense"):
        srcdiff.grad(models.loss)(1.0, X, nonsense=1)


def test_float_gives_float_and_array_gives_array():
    assert type(srcdiff.grad(models.scalar)(2.0)) is float
    g = srcdiff.grad(models.scalar)(np.array(2.0))
    assert isinstance(g, np.ndarray) and g.shape == ()


def test_numpy_scalar_and_single_precision():
    g = srcdiff.grad(models.scalar)(np.float32(2.0))
    assert np.asarray(g).dtype == np.float32
    g = srcdiff.grad(models.vector)(X.astype(np.float32), grad_outputs=np.ones(3, np.float32))
    assert g.dtype == np.float32


# --- outputs ------------------------------------------------------------------------------------


def test_output_by_position():
    close(srcdiff.grad(models.pair, "a", outputs=1)(X, 2.0), np.ones(3))
    close(srcdiff.grad(models.pair, "a", 0)(X, 2.0, grad_outputs=X), 2.0 * X)


def test_output_by_key():
    close(srcdiff.grad(models.named, "a", "total")(X, 2.0), np.ones(3))


@pytest.mark.parametrize(
    ("function", "outputs", "reason"),
    [
        (models.pair, 2, "`pair` has no output 2: it returns 2 values"),
        (models.pair, "total", "`pair` has no output 'total': it returns 2 values"),
        (models.named, "sum", "`named` has no output 'sum': the keys are 'product', 'total', "),
        (models.loss, 1, "`loss` has no output 1: it returns a single value"),
        (models.loss, "w", None),
    ],
)
def test_unknown_output(function, outputs, reason):
    args = (2.0, X) if function is models.loss else (X, 2.0)
    if reason is None:  # a parameter is an output, if only its own
        assert srcdiff.grad(function, 0, outputs)(*args) == 1.0
        return
    with pytest.raises(srcdiff.TransformError) as info:
        srcdiff.grad(function, 0, outputs)(*args)
    assert info.value.reason.startswith(reason)
    assert info.value.loc.file.endswith("models.py") and info.value.loc.line > 0


def test_has_aux_needs_a_pair():
    with pytest.raises(srcdiff.TransformError, match="has_aux=True"):
        srcdiff.grad(models.loss, has_aux=True)(2.0, X)
    g, aux = srcdiff.grad(models.pair, "a", outputs=None, has_aux=True)(X, 2.0, grad_outputs=X)
    close(g, 2 * X)
    close(aux, np.sum(X) + 2.0)


def test_several_outputs_contribute_their_sum():
    g = srcdiff.grad(models.pair, "a", outputs=(0, 1))
    close(g(X, 2.0, grad_outputs=(X, 3.0)), 2.0 * X + 3.0)


def test_all_outputs_by_default():
    close(srcdiff.grad(models.pair, "a")(X, 2.0, grad_outputs=(X, 3.0)), 2.0 * X + 3.0)


def test_integer_outputs_take_no_cotangent():
    ct = {"product": X, "total": 3.0, "count": None}
    close(srcdiff.grad(models.named, "a")(X, 2.0, grad_outputs=ct), 2.0 * X + 3.0)


def test_kernel_that_returns_nothing():
    A, B, v = X.copy(), np.ones(3), np.array([7.0, 1.0, 10.0])
    dA, dB = srcdiff.grad(models.kernel, inputs=("A", "B"), outputs="B")(3, A, B, grad_outputs=v)
    close(dA, [v[1] * A[1], v[1] * A[0] + v[2] * A[2], v[2] * A[1]])
    close(dB, v)
    close(A, X)
    close(B, np.ones(3))


def test_mutated_parameter_and_returned_value():
    out = np.zeros(3)
    close(srcdiff.grad(models.write_and_return, "x")(X, out), 2.0 * X)
    close(srcdiff.grad(models.write_and_return, "x", "out")(X, out, grad_outputs=X), 2.0 * X * X)
    close(out, np.zeros(3))


# --- value_and_grad -----------------------------------------------------------------------------


def test_value_and_grad():
    value, (dw, dx) = srcdiff.value_and_grad(models.loss, ("w", "x"))(2.0, X)
    close(value, models.loss(2.0, X))
    close((dw, *dx), (srcdiff.grad(models.loss)(2.0, X), *srcdiff.grad(models.loss, 1)(2.0, X)))


def test_value_and_grad_as_a_decorator():
    assert models.decorated_value(3.0) == (9.0, 6.0)


def test_value_of_several_outputs():
    value, _ = srcdiff.value_and_grad(models.pair, "a")(X, 2.0, grad_outputs=(X, 1.0))
    assert isinstance(value, tuple)
    close(value[0], X * 2.0)


# --- what a gradient function is ----------------------------------------------------------------


def test_a_call_that_does_not_fit_names_the_function():
    for f in (srcdiff.grad(models.loss), *(make(models.loss) for make in TRANSFORMS.values())):
        more = dict.fromkeys(OWN.get(f.__class__.__name__.lower(), ()))
        for args in ((), (1.0, X, X, X, X)):
            with pytest.raises(TypeError, match=r"^(\w+\.)?(loss|__call__)\(\)"):
                f(*args, **more)
    with pytest.raises(TypeError, match=r"loss\(\): missing a required argument: 'x'"):
        srcdiff.testing.gradcheck(models.loss, (1.0,))


def test_keeps_name_docstring_and_signature():
    g = srcdiff.grad(models.loss)
    assert g.__doc__.startswith("The gradient of `loss` with respect to `w`.\n\n")
    both = srcdiff.value_and_grad(models.loss, ("w", "x"))
    assert both.__doc__.startswith("The value and the gradient of `loss` with respect to `w`, `x`.")
    assert g.__name__.startswith("loss")
    assert "Squared error." in (g.__doc__ or "")
    assert g.primal is models.loss
    names = list(inspect.signature(g).parameters)
    assert names[:3] == ["w", "x", "y"] and "grad_outputs" in names


def test_has_source():
    g = srcdiff.grad(models.loss)
    g(2.0, X)
    assert g.source.startswith("def loss_grad(w, x, y")
    assert "models.py" in g.source
    compile(g.source, "<source>", "exec")


def test_source_without_calling():
    text = srcdiff.source(models.loss, inputs="w")
    assert "def loss_grad(" in text
    compile(text, "<source>", "exec")


def test_stages_show_the_text_after_every_pass():
    shown = srcdiff.aot.stages(models.loss)
    text = str(shown)
    assert list(shown)[: len(pipeline.PASSES)] == [name for name, _ in pipeline.PASSES]
    assert all(shown[name].strip() for name in shown)
    assert "def loss" in text


@pytest.mark.parametrize("options", [{}, {"inputs": "x"}, {"inputs": ("w", "x")}])
def test_pickles(options):
    g = srcdiff.grad(models.loss, **options)
    again = pickle.loads(pickle.dumps(g))
    found, expected = again(2.0, X), g(2.0, X)
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    for a, b in zip(found, expected, strict=True):
        close(a, b)


def test_pickles_value_and_grad_and_copies():
    g = srcdiff.value_and_grad(models.scalar)
    assert pickle.loads(pickle.dumps(g))(2.0) == g(2.0)
    assert copy.deepcopy(g)(2.0) == g(2.0)


def test_threads():
    g = srcdiff.grad(models.mlp)
    layers = [(np.ones((3, 3)) * 0.1 * k, np.zeros(3)) for k in range(3)]
    results = [None] * 8
    barrier = threading.Barrier(8)

    def work(i):
        barrier.wait()
        for _ in range(5):
            results[i] = g(layers, X * i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i, result in enumerate(results):
        for (dW, db), (eW, eb) in zip(result, g(layers, X * i), strict=True):
            close(dW, eW)
            close(db, eb)


def test_dispatch_on_kinds():
    g = srcdiff.grad(models.scalar)
    assert type(g(2.0)) is float
    assert g(X, grad_outputs=np.ones(3)).shape == (3,)
    assert type(g(2.0)) is float
    assert g(1.0 + 1.0j, grad_outputs=1.0 + 0.0j) == pytest.approx(np.conj(3 * (1 + 1j) ** 2))


def test_shapes_of_one():
    """A kind knows which axes are one: other calls must not reuse what was simplified by that."""

    def product(a, b):
        return np.sum(a * b)

    g = srcdiff.grad(product, (0, 1))
    for sa, sb in [((3,), (3,)), ((1,), (3,)), ((3,), (1,)), ((2, 3), (3,)), ((2, 1), (1, 3))]:
        da, db = g(np.ones(sa), np.full(sb, 2.0))
        assert da.shape == sa and db.shape == sb
        size = np.broadcast_shapes(sa, sb)
        close(da.sum(), 2.0 * np.prod(size))
        close(db.sum(), 1.0 * np.prod(size))


def test_changed_closure_cell_is_a_changed_function():
    factor = 2.0

    def scaled(x):
        return factor * x * x

    g = srcdiff.grad(scaled)
    close(g(3.0), 12.0)
    factor = 5.0
    close(g(3.0), 30.0)


def test_changed_global():
    namespace = {"np": np}
    f = define("FACTOR = 2.0\ndef f(x):\n    return FACTOR * x * x\n", "f", namespace)
    g = srcdiff.grad(f)
    close(g(3.0), 12.0)
    namespace["FACTOR"] = 5.0
    close(g(3.0), 30.0)


def test_effects_happen_once():
    log = []
    srcdiff.grad(models.counted, "x")(2.0, log)
    assert log in (["called"], [])  # containers of the caller are copied, effects are not repeated


def test_printing_happens_once(capsys):
    def talkative(x):
        print("value", x)
        return x * x

    close(srcdiff.grad(talkative)(2.0), 4.0)
    assert capsys.readouterr().out == "value 2.0\n"


def test_random_numbers_are_drawn_once():
    def noisy(x, rng):
        z = rng.standard_normal(3)
        return np.sum(x * z)

    g = srcdiff.grad(noisy, "x")
    close(g(X, np.random.default_rng(0)), np.random.default_rng(0).standard_normal(3))


def test_a_generator_is_shared_not_copied():
    def noisy(rng, x, steps):
        for _ in range(steps):
            noise = rng.standard_normal(3)
            noise[0] = x
            x = np.sum(noise * noise)
        return x

    rng, same = np.random.default_rng(7), np.random.default_rng(7)
    found = srcdiff.grad(noisy, "x")(rng, 0.5, 1)
    assert found == 1.0
    same.standard_normal(3)
    assert rng.standard_normal() == same.standard_normal()
    assert np.isfinite(srcdiff.grad(noisy, "x")(rng, 0.5, 3))


def test_tuple_of_arrays_that_is_written_into():
    def f(xs):
        a, b = xs
        a[0] = 2.0
        return np.sum(a) * np.sum(b)

    xs = (np.ones(3), np.ones(2))
    a, b = srcdiff.grad(f)(xs)
    close(a, [0.0, 2.0, 2.0])
    close(b, [4.0, 4.0])
    close(xs[0], np.ones(3))


# --- every transform ----------------------------------------------------------------------------

TRANSFORMS = {
    "grad": srcdiff.grad, "value_and_grad": srcdiff.value_and_grad, "jacobian": srcdiff.jacobian,
    "hessian": srcdiff.hessian, "backward": srcdiff.backward,
}  # fmt: skip
OWN = {"backward": ("into", "grad_outputs"), "jacobian": (), "hessian": ()}


def called(name, g):
    """What a transform of `models.loss` by `x` gives."""
    if name != "backward":
        return g(2.0, X)
    store = {}
    g(2.0, X, into=store)
    return store["x"]


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_as_a_call_and_as_a_decorator(name):
    made = TRANSFORMS[name](models.loss, inputs="x"), TRANSFORMS[name](inputs="x")(models.loss)
    for g in made:
        assert g.__name__ == "loss" and g.primal is models.loss
        what, doc = inspect.getdoc(g).split(".\n\n")
        assert what.startswith("The ") and " of `loss`" in what and doc == "Squared error."
        params = list(inspect.signature(g).parameters)
        assert params == ["w", "x", "y", *OWN.get(name, ("grad_outputs",))]
        assert "def loss_" in g.source and "Generated by srcdiff from" in g.source
    first, second = (called(name, g) for g in made)
    again = called(name, pickle.loads(pickle.dumps(made[0])))
    for a, b, c in zip(st.leaves(first), st.leaves(second), st.leaves(again), strict=True):
        close(a, b)
        close(a, c)
    assert TRANSFORMS[name](models.scalar).primal is models.scalar  # as `@T` calls it


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_in_threads(name):
    g = TRANSFORMS[name](models.loss, inputs="x")
    found = [None] * 4

    def work(k):
        found[k] = called(name, g)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for one in found:
        for a, b in zip(st.leaves(one), st.leaves(called(name, g)), strict=True):
            close(a, b)


def test_gradients_are_like_their_inputs():
    """In shape, dtype and structure, None where there is no number; the caller's stay."""

    def f(p):
        p["a"][0] = p["b"] * 2.0
        return np.sum(p["a"] * p["c"][0]) * p["b"]

    p = {"a": np.ones(2, np.float32), "b": 3.0, "c": [np.ones(2), "text", 4], "d": None}
    before = copy.deepcopy(p)
    g = srcdiff.grad(f)(p)
    assert list(g) == list(p) and g["a"].dtype == np.float32 and type(g["b"]) is float
    assert g["c"][1:] == [None, None] and g["d"] is None and type(g["c"]) is list
    for a, b in zip(st.leaves(p), st.leaves(before), strict=True):
        assert np.array_equal(a, b)


# --- stop_gradient ------------------------------------------------------------------------------


def test_stop_gradient_is_the_identity():
    params = {"w": X}
    assert srcdiff.stop_gradient(params) is params and srcdiff.stop_gradient(X) is X


def test_stop_gradient_is_a_constant():
    def f(x):
        return np.sum(x * srcdiff.stop_gradient(x * x))

    def only(x):
        return np.sum(srcdiff.stop_gradient(x))

    close(srcdiff.grad(f)(X), X * X)
    with pytest.raises(srcdiff.errors.UnusedInputError, match="stop_gradient|depends"):
        srcdiff.grad(only)(X)
    close(srcdiff.grad(only, materialize_grads=True)(X), np.zeros(3))
    again = srcdiff.grad(lambda x: np.sum(srcdiff.grad(f)(x)), materialize_grads=True)
    close(again(X), np.zeros(3))  # x * x stays a constant, as in torch


def test_stop_gradient_may_share_memory():
    def f(x):
        y = x * 2.0
        c = srcdiff.stop_gradient(y)
        y[0] = 3.0
        return np.sum(c * y)

    with pytest.raises(srcdiff.UnsupportedError, match="view"):
        srcdiff.grad(f)(X)


def test_second_order():
    close(srcdiff.grad(srcdiff.grad(models.scalar))(2.0), 12.0)


def test_third_order():
    close(srcdiff.grad(srcdiff.grad(srcdiff.grad(models.scalar)))(2.0), 6.0)


def falling(x, n):
    if n == 0:
        return x
    return x * falling(np.sin(x), n - 1)


def with_a_list(x, n):
    parts = [x, x * x]
    parts[1] = parts[0] * parts[1]
    if n == 0:
        return parts[1]
    return np.cos(with_a_list(parts[1], n - 1)) * with_a_list(x + 0.5, n - 1)


@pytest.mark.parametrize("function", [falling, with_a_list])
def test_third_order_of_a_recursive_function(function):
    second = srcdiff.grad(srcdiff.grad(function))
    check_gradient(lambda x, n: second(x, n), (0.4, 2), "x")


def test_gradient_does_not_alias():
    def passes_on(x):
        return x

    v = np.ones(3)
    g = srcdiff.grad(passes_on)(X, grad_outputs=v)
    assert not np.shares_memory(g, v) and g.flags.writeable
    g[:] = 7.0
    close(v, np.ones(3))


def test_gradients_of_a_sum_do_not_alias_each_other():
    def total(a, b):
        return np.sum(a + b)

    da, db = srcdiff.grad(total, (0, 1))(X, X.copy())
    assert not np.shares_memory(da, db) and da.flags.writeable and db.flags.writeable


def test_function_generated_at_run_time():
    f = define("def generated(x):\n    return x * x\n", "generated", {})
    close(srcdiff.grad(f)(3.0), 6.0)


def test_primal_errors_come_through():
    def checked(x):
        if x < 0.0:
            raise ValueError("negative")
        return x * x

    with pytest.raises(ValueError, match="negative"):
        srcdiff.grad(checked)(-1.0)


OFFERED = {
    "derivative": (lambda: srcdiff.grad(np.sin), "primal source"),
    "workspace": (lambda: srcdiff.grad(np.sin, workspace=True), "primal release_workspace source"),
    "jacobian": (lambda: srcdiff.jacobian(np.sin), "primal source"),
    "hessian": (lambda: srcdiff.hessian(np.sin), "primal source"),
    "vjp": (lambda: srcdiff.vjp(np.sin), "primal source"),
    "jvp": (lambda: srcdiff.jvp(np.sin), "primal source"),
    "linearize": (lambda: srcdiff.linearize(np.sin), "primal source"),
    "hvp": (lambda: srcdiff.hvp(np.sin), "primal source"),
    "vhp": (lambda: srcdiff.vhp(np.sin), "primal source"),
    "pullback": (lambda: srcdiff.vjp(np.sin, 1.0)[1], "release source"),
    "run": (lambda: srcdiff.autograd.run(np.sin, 1.0), "backward grad grads release value"),
    "differentiable": (
        lambda: srcdiff.differentiable(np.sin),
        "grad hessian jacobian jvp primal source value_and_grad vjp",
    ),
}


@pytest.mark.parametrize("name", OFFERED)
def test_completion_offers_what_is_public(name):
    make, names = OFFERED[name]
    made = make()
    assert [n for n in dir(made) if not n.startswith("_")] == names.split()
    assert all(hasattr(made, n) for n in names.split())


def test_completion_of_the_package():
    assert [n for n in dir(srcdiff) if not n.startswith("_")] == sorted(srcdiff.__all__)
    assert "__version__" in dir(srcdiff)


# --- create_graph --------------------------------------------------------------------------------

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
    with pytest.raises(srcdiff.errors.UnusedInputError):
        srcdiff.grad(detached)(2.0)
    assert srcdiff.grad(detached, materialize_grads=True)(2.0) == 0.0
    assert srcdiff.grad(attached)(2.0) == 12.0


# --- has_aux -------------------------------------------------------------------------------------


def with_aux(x):
    return np.sum(x * x), {"size": len(x), "twice": 2.0 * x}


def test_auxiliary_value():
    (value, aux), g = srcdiff.value_and_grad(with_aux, has_aux=True)(X)
    close(value, np.sum(X * X))
    close(aux["twice"], 2.0 * X)
    close(g, 2.0 * X)
    g, aux = srcdiff.grad(with_aux, has_aux=True)(X, grad_outputs=3.0)
    close(g, 6.0 * X)
    assert aux["size"] == 3
    close(aux["twice"], 2.0 * X)
    batched = srcdiff.grad(with_aux, has_aux=True, is_grads_batched=True)
    rows, aux = batched(X, grad_outputs=np.array([1.0, 2.0]))
    close(rows, [2.0 * X, 4.0 * X])
    close(aux["twice"], 2.0 * X)
    second, aux = srcdiff.grad(srcdiff.grad(with_aux, has_aux=True), has_aux=True)(
        X, grad_outputs=X
    )
    close(second, 2.0 * X)
    close(aux["twice"], 2.0 * X)
    with srcdiff.autograd.saved_hooks(lambda a: a, lambda a: a):
        g, aux = srcdiff.grad(with_aux, has_aux=True)(X)
    close(aux["twice"], g)


def with_changed_aux(x):
    h = x * x
    both = np.sum(h * x), h
    h[1] = 7.0
    return both


def test_an_auxiliary_value_is_what_it_was_at_the_end():
    """The backward part puts back what was overwritten, in arrays that are not returned."""
    expected = with_changed_aux(X)[1]
    for make in (srcdiff.grad, srcdiff.value_and_grad):
        found = make(with_changed_aux, has_aux=True)(X)
        g, aux = found if make is srcdiff.grad else (found[1], found[0][1])
        close(aux, expected)
        close(g, 3.0 * X * X)


def test_an_auxiliary_value_inside_of_a_function():
    def f(x):
        g, aux = srcdiff.grad(with_aux, has_aux=True)(x)
        return np.sum(g * x) + np.sum(aux["twice"])

    close(srcdiff.grad(f)(X), 4.0 * X + 2.0)


def test_no_auxiliary_value():
    with pytest.raises(srcdiff.TransformError, match="has_aux"):
        srcdiff.grad(models.vector, has_aux=True)(X)


# --- check_nan -----------------------------------------------------------------------------------


def roots(x):
    total = 0.0
    for i in range(len(x)):
        h = np.sqrt(x[i])
        total += h * h
    return total


def test_nan_is_reported_with_its_line():
    with np.errstate(all="ignore"), pytest.raises(srcdiff.errors.AnomalyError) as info:
        srcdiff.grad(roots, check_nan=True)(np.array([1.0, 0.0, 2.0]))
    text = str(info.value)
    assert "`x`" in text and "i = 1" in text and "h = np.sqrt(x[i])" in text
    assert "test_grad.py:" in text
    assert isinstance(info.value, RuntimeError) and isinstance(info.value, FloatingPointError)


def test_nan_in_a_batch_is_reported():
    g = srcdiff.grad(roots, check_nan=True, is_grads_batched=True)
    with np.errstate(all="ignore"), pytest.raises(srcdiff.errors.AnomalyError, match="sqrt"):
        g(np.array([1.0, 0.0, 2.0]), grad_outputs=np.ones(2))


def test_no_nan_changes_nothing():
    x = np.array([1.0, 3.0])
    close(srcdiff.grad(roots, check_nan=True)(x), srcdiff.grad(roots)(x))
    checked = srcdiff.grad(models.mlp, ("layers", "x"), check_nan=True)
    layers = [(np.ones((3, 2)), np.zeros(2))]
    close(checked(layers, X)[1], srcdiff.grad(models.mlp, "x")(layers, X))


# --- strong_zeros --------------------------------------------------------------------------------


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


# --- arguments of any number ---------------------------------------------------------------------


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
    with pytest.raises(CotangentError, match=r"tangents\[2\]: expected shape \(3,\)"):
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
    assert srcdiff.testing.gradcheck(three, (X, Y, X))


def test_items_of_any_number_of_arguments_that_are_not_used():
    def constant(*xs):
        return 3.0

    def held(x, params, model):
        return np.sum(x)

    zeros = {"materialize_grads": True}
    first, second = srcdiff.grad(constant, (0, 1), **zeros)(X, 2.0)
    assert first.shape == (3,) and not first.any() and second == 0.0
    close(srcdiff.jacobian(three, 3, unused="zeros")(X, Y, X, X[:2]), np.zeros((3, 2)))
    with pytest.raises(srcdiff.errors.UnusedInputError, match=r"`xs\[3\]`, which is not used"):
        srcdiff.jacobian(three, 3)(X, Y, X, X[:2])
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
        srcdiff.autograd.run(three, X, Y, X)


def _passed_on(v, n):
    return v if n <= 0 else _passed_on(v, n - 1)


def test_single_precision_behind_a_recursion_stays_single():
    """What comes back from a sum with doubles is in double precision."""

    def f(x):
        return np.sum(np.zeros(3)) + _passed_on(np.cos(x), 1)

    x = np.linspace(0.1, 0.9, 4, dtype=np.float32)
    gradient = srcdiff.grad(f)(x, grad_outputs=np.ones(4))
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, -np.sin(x), rtol=1e-6)
