"""Every transform with every option that says how it runs: right, or refused with a reason."""

import contextlib
import copy
import dataclasses
import inspect
import linecache
import pickle
import sys
import types
import warnings

import numpy as np
import pytest

import srcdiff
from srcdiff.driver import derivative, executable, pipeline
from srcdiff.driver.options import OfGradients, Options
from srcdiff.errors import TransformError, UncompiledWarning, UnsupportedError
from srcdiff.ir import Target
from tests.corpus.native import interpreted
from tests.programs import GOLDEN
from tests.support import structures as st
from tests.support.differences import positional
from tests.support.part import part

X, Y = np.array([0.3, -0.5, 0.2, 0.9]), np.array([1.5, 0.4, -1.0, 0.7])
V = np.array([1.0, -2.0, 0.5, 3.0])
CT = np.array([0.5, -1.0, 2.0, 1.0])
BATCH = np.stack([CT, V, X])
WEIGHTS = np.array([2.0, -1.0, 0.5, 1.0])


def vector(x, y):
    h = np.tanh(x * y) + WEIGHTS
    return h * x


def number(x, y):
    total = 0.0
    for i in range(len(x)):
        total += np.sin(x[i]) * y[i] * x[i]
    return total


def with_aux(x, y):
    h = np.exp(x) * y
    return h, 2.0 * h


def square(x, y):
    return np.sum(np.sin(x) * x * y)


def number_and_aux(x, y):
    h = np.sin(x) * x
    return np.sum(h * y), 2.0 * h


def plain_part(found):
    """What a pullback gives, in place of it."""
    output, pullback, aux = found
    return output, pullback(), aux


def pulled(f, *args, outputs=None, cotangent=CT, **options):
    """The value, and the gradients for two cotangents of one run."""
    value, pullback = srcdiff.vjp(f, *args, outputs=outputs, **options)
    return value, pullback(cotangent), pullback(2.0 * cotangent, retain_graph=False)


def linear(f, **options):
    """The value at a point, and two directions from there."""
    value, along = srcdiff.linearize(f, X, Y, **options)
    return value, along(V, Y), along(Y, V)


TRANSFORMS = {
    "grad": lambda **o: srcdiff.grad(number, ("x", "y"), **o)(X, Y),
    "grad of a vector": lambda **o: srcdiff.grad(vector, **o)(X, Y, grad_outputs=CT),
    "value_and_grad": lambda **o: srcdiff.value_and_grad(number, **o)(X, Y),
    "grad with aux": lambda **o: srcdiff.grad(with_aux, has_aux=True, **o)(X, Y, grad_outputs=CT),
    "value_and_grad with aux": lambda **o: srcdiff.value_and_grad(with_aux, has_aux=True, **o)(
        X, Y, grad_outputs=CT
    ),
    "batched grad": lambda **o: srcdiff.grad(vector, is_grads_batched=True, **o)(
        X, Y, grad_outputs=BATCH
    ),
    "batched value_and_grad": lambda **o: srcdiff.value_and_grad(
        vector, ("x", "y"), is_grads_batched=True, **o
    )(X, Y, grad_outputs=BATCH),
    "batched grad of a number": lambda **o: srcdiff.grad(number, is_grads_batched=True, **o)(
        X, Y, grad_outputs=CT
    ),
    "batched grad with aux": lambda **o: srcdiff.grad(
        with_aux, has_aux=True, is_grads_batched=True, **o
    )(X, Y, grad_outputs=BATCH),
    "vjp": lambda **o: pulled(vector, X, Y, **o),
    "vjp of a number": lambda **o: pulled(number, X, Y, cotangent=1.5, **o),
    "vjp of an output": lambda **o: pulled(with_aux, X, Y, outputs=0, **o),
    "jvp": lambda **o: srcdiff.jvp(vector, (X, Y), (V, Y), **o),
    "jvp by one input": lambda **o: srcdiff.jvp(number, (X, Y), (V, None), **o),
    "linearize": lambda **o: linear(vector, **o),
    "jacobian by rows": lambda **o: srcdiff.jacobian(vector, mode="reverse", **o)(X, Y),
    "jacobian by columns": lambda **o: srcdiff.jacobian(vector, "y", mode="forward", **o)(X, Y),
    "jacobian": lambda **o: srcdiff.jacobian(number, ("x", "y"), **o)(X, Y),
    "sparse jacobian": lambda **o: srcdiff.jacobian(vector, sparsity=np.eye(4, dtype=bool), **o)(
        X, Y
    ).toarray(),
    "hessian": lambda **o: srcdiff.hessian(square, **o)(X, Y),
    "hvp": lambda **o: srcdiff.hvp(square, (X, Y), V, **o),
    "vhp": lambda **o: srcdiff.vhp(square, (X, Y), V, **o),
    "vjp with aux": lambda **o: plain_part(srcdiff.vjp(number_and_aux, has_aux=True, **o)(X, Y)),
    "jvp with aux": lambda **o: srcdiff.jvp(number_and_aux, inputs="y", has_aux=True, **o)(
        X, Y, tangents=V
    ),
    "jacobian with aux": lambda **o: srcdiff.jacobian(with_aux, has_aux=True, **o)(X, Y),
    "hessian with aux": lambda **o: srcdiff.hessian(number_and_aux, has_aux=True, **o)(X, Y),
    "hvp with aux": lambda **o: srcdiff.hvp(number_and_aux, has_aux=True, **o)(X, Y, v=V),
    "vhp with aux": lambda **o: srcdiff.vhp(number_and_aux, has_aux=True, **o)(X, Y, v=V),
    "a variable outside": lambda **o: srcdiff.grad(vector, "global:WEIGHTS", **o)(
        X, Y, grad_outputs=CT
    ),
    "a batch by a variable outside": lambda **o: srcdiff.value_and_grad(
        vector, ("x", "global:WEIGHTS"), is_grads_batched=True, **o
    )(X, Y, grad_outputs=BATCH),
    "gradient of a gradient": lambda **o: srcdiff.grad(
        lambda x, y: np.sum(srcdiff.grad(square, **o)(x, y) * V), **o
    )(X, Y),
    "the other transforms inside": lambda **o: srcdiff.grad(inside(**o), **o)(X, Y),
}
"""What is computed, for some options more."""


def inside(**options):
    """A function that calls transforms with options."""
    if options.get("compile"):

        def f(x, y):
            _, pullback = srcdiff.vjp(square, x, y, compile="numba")
            _, along = srcdiff.jvp(square, (x, y), (y, x), compile="numba")
            product = srcdiff.hvp(square, (x, y), y, compile="numba")
            return np.sum(pullback()[0]) + along + np.sum(product)

    else:

        def f(x, y):
            _, pullback = srcdiff.vjp(square, x, y, workspace=False)
            _, along = srcdiff.jvp(square, (x, y), (y, x), workspace=False)
            product = srcdiff.hvp(square, (x, y), y, workspace=False)
            return np.sum(pullback()[0]) + along + np.sum(product)

    return f


WHERE = {
    "compiled": {"compile": "numba"},
    "loops": {"compile": "loops"},
    "auto": {"compile": "auto"},
    "workspace": {"workspace": True},
    "both": {"compile": "numba", "workspace": True},
}


def agree(found, expected):
    """Two results are of one structure, and of the same numbers."""
    leaves = st.leaves_as(expected, found)
    for one, two in zip(leaves, st.leaves(expected), strict=True):
        assert np.shape(one) == np.shape(two)
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-14)


@pytest.fixture
def targets(monkeypatch):
    """Where what is generated in a test runs, for functions of which nothing is generated yet."""
    monkeypatch.setenv("SRCDIFF_CACHE_DIR", "")
    for f in (vector, number, with_aux, square, number_and_aux):
        copy = types.FunctionType(f.__code__, f.__globals__, f.__name__)
        monkeypatch.setitem(globals(), f.__name__, copy)
    found = []
    for module in (derivative, executable):
        loaded = module.loaded
        monkeypatch.setattr(module, "loaded", lambda *a, run=loaded: found.append(a[-1]) or run(*a))
    return found


WAYS = [(w, t) for w in WHERE if w != "auto" for t in TRANSFORMS]
WAYS += [("auto", t) for t in part(list(TRANSFORMS), str, 3)]  # which is one of the others
# Compiling one for real takes seconds; Python runs what the others are compiled from.
COMPILED = part(list(TRANSFORMS), str, 3, which=1)


@pytest.mark.parametrize("where, transform", WAYS, ids="-".join)
def test_every_transform_runs_in_every_way(where, transform, targets):
    options = WHERE[where]
    if options.get("compile"):
        pytest.importorskip("numba")
    if where != "both":
        expected = TRANSFORMS[transform]()
        run_by_python = where == "loops" or where == "compiled" and transform not in COMPILED
        with interpreted() if run_by_python else contextlib.nullcontext():
            agree(TRANSFORMS[transform](**options), expected)
        compiler = {"auto": "numba"}.get(where, options.get("compile"))
        workspace = options.get("workspace", False)
        assert Target(compiler=compiler, workspace=workspace) in targets
        return
    with pytest.raises(UnsupportedError, match="workspace=True is not supported with compile") as e:
        TRANSFORMS[transform](**options)
    assert e.value.loc is not None and e.value.remedy == "Leave one of them out."


def test_a_workspace_has_the_arrays_of_every_transform():
    x, y = np.tile(X, 2000), np.tile(Y, 2000)
    found = srcdiff.jvp(vector_anew(), (x, y), (y, x), workspace=True)
    agree(found, srcdiff.jvp(vector_anew(), (x, y), (y, x)))
    f = vector_anew()
    _, pullback = srcdiff.vjp(f, x, y, workspace=True)
    assert "memory." in pullback.source
    first = pullback(x)
    kept = copy.deepcopy(first)
    agree(pullback(y), srcdiff.vjp(f, x, y)[1](y))
    agree(first, kept)


def vector_anew():
    """A function whose arrays are worth keeping."""

    def f(x, y):
        h = np.tanh(x * y)
        return h * x * np.sin(h)

    return f


FACTOR = np.array([2.0, 3.0, 4.0, 5.0])


def scaled(x):
    return x * x * FACTOR


def test_a_pullback_that_is_compiled_later_reads_what_was_outside_then():
    pytest.importorskip("numba")
    kept = FACTOR.copy()
    _, pullback = srcdiff.vjp(scaled, X, compile="numba")
    FACTOR[...] = -1.0
    agree(pullback(np.ones(4)), 2.0 * X * kept)
    agree(srcdiff.vjp(scaled, X, compile="numba")[1](np.ones(4)), -2.0 * X)


# --- one convention -------------------------------------------------------------------------------


def added(b, *args):
    """What is added into an empty store, and the value."""
    store = {}
    value = b(*args, into=store)
    return store, value


def two(x, y):
    return np.sum(x * np.sin(y) * y), {"size": len(x)}


def one_of_two(x, y):
    return np.sum(x * x * x), {"size": len(x)}


def number_alone(x, y):
    return two(x, y)[0]


CURRIED = {
    "grad": (srcdiff.grad, {}),
    "value_and_grad": (srcdiff.value_and_grad, {}),
    "vjp": (srcdiff.vjp, {}),
    "jvp": (srcdiff.jvp, {"tangents": (V, CT)}),
    "linearize": (srcdiff.linearize, {}),
    "jacobian": (srcdiff.jacobian, {}),
    "hessian": (srcdiff.hessian, {}),
    "hvp": (srcdiff.hvp, {"v": (V, CT)}),
    "vhp": (srcdiff.vhp, {"v": (V, CT)}),
    "backward": (srcdiff.backward, {"into": {}}),
}
"""The transforms, and what a call of what they make takes beside the arguments."""

DIRECT = {
    "vjp": lambda f, **o: srcdiff.vjp(f, X, Y, **o),
    "jvp": lambda f, **o: srcdiff.jvp(f, (X, Y), (V, CT), **o),
    "linearize": lambda f, **o: srcdiff.linearize(f, X, Y, **o),
    "hvp": lambda f, **o: srcdiff.hvp(f, (X, Y), (V, CT), **o),
    "vhp": lambda f, **o: srcdiff.vhp(f, (X, Y), (V, CT), **o),
}


def test_signatures_show_the_options():
    shown = inspect.signature(srcdiff.grad).parameters
    assert set(shown) == {"f", "inputs", "outputs", *OfGradients.__annotations__}
    own = {f.name: f.default for f in dataclasses.fields(Options)}
    assert all(p.default == own[n] for n, p in shown.items() if n in own)
    assert set(inspect.signature(srcdiff.backward).parameters) < set(shown)


def alike(one, two):
    """Two results are the same, None where the other is."""
    if isinstance(one, tuple):
        for a, b in zip(one, two, strict=True):
            alike(a, b)
    elif one is None or two is None:
        assert one is two
    else:
        np.testing.assert_allclose(one, two, rtol=1e-12)


def plain(found):
    """What was found, with what a pullback or a linear function gives in place of it."""
    if isinstance(found, tuple) and len(found) > 1 and callable(found[1]):
        given = (V, CT) if type(found[1]).__name__ == "Linear" else ()
        return (found[0], found[1](*given), *found[2:])
    return found


def curried(name, f=two, *args, inputs=("x", "y"), **options):
    """What a transform gives at some arguments, by the curried form."""
    transform, more = CURRIED[name]
    return plain(transform(f, inputs=inputs, **options)(*(args or (X, Y)), **copy.deepcopy(more)))


@pytest.mark.parametrize("name", CURRIED)
def test_every_transform_gives_a_callable_of_the_arguments(name):
    transform, more = CURRIED[name]
    expected = curried(name, number_alone)
    made = transform(inputs=("x", "y"))(number_alone)
    assert made.__name__ == "number_alone" and made.primal is number_alone
    assert "def number_alone" in made.source
    agree(plain(made(X, y=Y, **copy.deepcopy(more))), expected)
    again = pickle.loads(pickle.dumps(made))
    agree(plain(again(X, Y, **copy.deepcopy(more))), expected)
    with pytest.raises(TypeError, match="there is no option 'compiled'"):
        transform(number_alone, compiled=True)


@pytest.mark.parametrize("name", DIRECT)
def test_a_direct_form_is_the_curried_one_called_at_once(name):
    expected = curried(name, number_alone)
    agree(plain(DIRECT[name](number_alone, inputs=("x", "y"))), expected)
    direct = plain(DIRECT[name](two, inputs=("x", "y"), has_aux=True))
    agree(direct, curried(name, two, has_aux=True))


@pytest.mark.parametrize("name", CURRIED)
def test_what_is_beside_the_output_is_given_back(name):
    found, aux = curried(name, has_aux=True), two(X, Y)[1]
    expected = curried(name, number_alone)
    if name in ("value_and_grad", "backward"):
        value = found[0] if name == "value_and_grad" else found
        agree(value, two(X, Y))
    elif name in ("vjp", "jvp", "linearize"):
        assert len(found) == 3 and found[2] == aux
        agree(found[:2], expected)
    else:
        assert len(found) == 2 and found[1] == aux
        agree(found[0], expected)
    with pytest.raises(TransformError, match="does not return `.output, aux.`"):
        curried(name, number_alone, has_aux=True)


@pytest.mark.parametrize("name", CURRIED)
def test_outputs_are_selected(name):
    kept = curried(name, lambda x, y: two(x, y)[::-1], outputs=1)
    expected = curried(name, number_alone)
    if name in ("value_and_grad", "vjp", "jvp", "linearize"):
        kept, expected = kept[1], expected[1]
    if name != "backward":
        agree(kept, expected)
    nested = curried(name, lambda x, y: ((1.0, two(x, y)[0]), "aux"), outputs=1, has_aux=True)
    if name not in ("value_and_grad", "vjp", "jvp", "linearize", "backward"):
        agree(nested[0], expected)


@pytest.mark.parametrize("name", [*CURRIED, "run"])
def test_unused_means_the_same_everywhere(name):
    def run(**options):
        if name == "run":
            found = srcdiff.autograd.run(one_of_two, X, Y)[0].grad(("x", "y"), **options)
        elif name == "backward":
            b = srcdiff.backward(one_of_two, ("x", "y"), has_aux=True, **options)
            store, _ = added(b, X, Y)
            found = store["x"], store.get("y")
        else:
            found = curried(name, one_of_two, has_aux=True, **options)
            found = found[name in ("jvp", "linearize", "vjp", "value_and_grad")]
        return found

    for options in ({}, {"unused": "error"}, {"allow_unused": False}):
        with pytest.raises(srcdiff.errors.UnusedInputError):
            run(**options)
    none, zeros = (run(unused=u) for u in ("none", "zeros"))
    alike(run(allow_unused=True), none)
    alike(run(materialize_grads=True), zeros)
    if name in ("jvp", "linearize"):
        alike(none, zeros)
        alike(zeros, np.sum(3.0 * X**2 * V))
        return
    assert none[1] is None
    if name == "hessian":
        assert none[0][1] is None and zeros[1][1].shape == (4, 4)
        none, zeros = none[0], zeros[0]
    np.testing.assert_allclose(none[0], zeros[0])
    assert np.any(zeros[0]) and zeros[1] is not None and not np.any(zeros[1])
    with pytest.raises(ValueError, match="unused: expected 'error', 'none' or 'zeros', given 1"):
        run(unused=1)
    with pytest.raises(ValueError, match="unused: says what allow_unused and materialize_grads do"):
        run(unused="none", allow_unused=True)
    with pytest.raises(ValueError, match="Expected allow_unused to be True or not passed when"):
        run(allow_unused=False, materialize_grads=True)


def test_second_derivatives_that_are_zero_are_no_unused_inputs():
    def straight(x, y):
        return np.sum(3.0 * x) + np.sum(y)

    assert not np.any(srcdiff.hessian(straight)(X, Y))
    assert not np.any(srcdiff.hvp(straight, (X, Y), V))
    assert not np.any(srcdiff.vhp(straight, (X, Y), V))


@pytest.mark.parametrize("mode", [None, "reverse", "forward"])
def test_a_jacobian_has_no_block_for_an_unused_input(mode):
    def f(x, y):
        return x * x, {"a": 2.0 * x}

    (by_x, by_y), inner = srcdiff.jacobian(f, ("x", "y"), mode=mode, unused="none")(X, Y)
    agree(by_x, np.diag(2.0 * X))
    agree(inner["a"][0], 2.0 * np.eye(4))
    assert by_y is None and inner["a"][1] is None
    alone = srcdiff.jacobian(vector, "y", mode=mode, unused="none", sparsity=np.eye(4) > 0)
    assert alone(X, Y).nnz == 4
    constant = srcdiff.jacobian(lambda x, y: x, "y", mode=mode, unused="none", sparsity=np.eye(4))
    assert constant(X, Y) is None


def test_directions_have_an_item_for_each_input():
    j = srcdiff.jvp(vector, inputs={"a": "x", "b": "y"})
    agree(j(X, Y, tangents={"b": CT, "a": V}), srcdiff.jvp(vector, (X, Y), (V, CT)))
    by_y = srcdiff.jvp(vector, inputs="y")
    agree(by_y(X, Y, tangents=CT), j(X, Y, tangents={"a": None, "b": CT}))
    _, along = srcdiff.linearize(vector, X, Y, inputs={"a": "x", "b": "y"})
    agree(along({"a": V, "b": CT}), j(X, Y, tangents={"a": V, "b": CT})[1])
    for given, said in (
        ({"a": V}, "the keys 'a', 'b'"), ({"a": V, "c": V}, "the key 'b'"), ((V, V), "given tuple"),
    ):
        with pytest.raises(srcdiff.errors.CotangentError, match=said):
            j(X, Y, tangents=given)
    with pytest.raises(srcdiff.errors.CotangentError, match="expected 2 items"):
        srcdiff.hvp(square, (X, Y), (V,), inputs=("x", "y"))
    with pytest.raises(srcdiff.errors.CotangentError, match="tangents: expected 1"):
        srcdiff.linearize(vector, X, Y, inputs="x")[1](V, V)


def with_options(x, inputs, outputs, compile=3.0):
    return np.sum(x * inputs * outputs) * compile


def test_parameters_may_have_the_names_of_options():
    expected = srcdiff.grad(with_options)(X, Y, outputs=V, compile=2.0)
    given = {"inputs": Y, "outputs": V, "compile": 2.0}
    agree(srcdiff.vjp(with_options, inputs="x")(X, **given)[1](), expected)
    _, tangent = srcdiff.jvp(with_options, inputs="x", verify="first")(X, **given, tangents=CT)
    agree(tangent, np.sum(expected * CT))
    agree(srcdiff.linearize(with_options, inputs="x")(X, **given)[1](CT), tangent)
    agree(srcdiff.hvp(with_options)(X, **given, v=CT), np.zeros(4))
    agree(srcdiff.vjp(with_options, X, Y, V)[1]()[0], expected / 2.0 * 3.0)


@pytest.mark.parametrize("name", ["compile", "workspace", "unused", "has_aux", "inputs"])
def test_an_option_is_no_argument_of_the_function(name):
    given = {"compile": None, "workspace": False, "unused": "zeros", "has_aux": False, "inputs": 0}
    given = {name: given[name]}
    f = types.FunctionType((lambda x, y: x * x).__code__, {}, "f")
    f.__code__ = f.__code__.replace(co_varnames=("x", name))
    for run in (
        lambda: srcdiff.vjp(f, 2.0, **given),
        lambda: srcdiff.jvp(f, (2.0,), (1.0,), **given),
        lambda: srcdiff.hvp(f, (2.0,), 1.0, **given),
        lambda: srcdiff.vhp(f, (2.0,), 1.0, **given),
    ):
        with pytest.raises(TransformError, match=f"may be given `{name}` itself"):
            run()


def with_seed(x, grad_outputs, *more, scale=2.0):
    return np.sum(x * x * grad_outputs["a"]) * scale


def keyword_seed(x, *, grad_outputs=3.0):
    return np.sum(x * x) * grad_outputs


def test_a_parameter_may_be_called_as_the_cotangent_is():
    given, expected = {"a": Y}, 2.0 * X * Y * 3.0
    value, pullback = srcdiff.vjp(with_seed)(X, given, scale=3.0)
    agree((value, pullback()), (with_seed(X, given, scale=3.0), (expected, {"a": X * X * 3.0})))
    by = {"both": ("x", "grad_outputs['a']"), "one": "grad_outputs['a']"}
    _, pullback = srcdiff.vjp(with_seed, inputs=by["both"])(X, grad_outputs=given)
    agree(pullback(grad_outputs=2.0), (4.0 * X * Y * 2.0, X * X * 4.0))
    tangent = srcdiff.jvp(with_seed, inputs=by["one"])(X, given, tangents=V)[1]
    agree(tangent, np.sum(X * X * V) * 2.0)
    agree(srcdiff.linearize(with_seed)(X, given, scale=2.0)[1](None, {"a": V}), tangent)
    agree(srcdiff.hessian(with_seed)(X, given), np.diag(4.0 * Y))
    agree(srcdiff.hvp(with_seed)(X, given, v=V), 4.0 * Y * V)
    agree(srcdiff.vjp(keyword_seed)(X)[1](), 6.0 * X)
    agree(srcdiff.jacobian(keyword_seed)(X, grad_outputs=2.0), 4.0 * X)
    for make in (srcdiff.grad, srcdiff.value_and_grad, srcdiff.backward):
        for f in (keyword_seed, with_seed):
            with pytest.raises(TransformError, match="a parameter called `grad_outputs`") as info:
                make(f)
            assert "srcdiff.vjp" in info.value.remedy


def plain_seed(x, grad_outputs):
    return np.sum(x * x * grad_outputs["a"])


def test_a_gradient_takes_such_a_parameter_by_its_position():
    given, expected = {"a": Y}, 2.0 * X * Y
    by = "x", "grad_outputs['a']"
    g = srcdiff.grad(plain_seed, inputs=by)
    agree(g(X, given, grad_outputs=2.0), (2.0 * expected, 2.0 * X * X))
    agree(pickle.loads(pickle.dumps(g))(X, given), (expected, X * X))
    agree(srcdiff.value_and_grad(plain_seed)(X, given), (plain_seed(X, given), expected))
    agree(srcdiff.grad(srcdiff.grad(plain_seed))(X, given, grad_outputs=V), 2.0 * Y * V)
    store = {}
    srcdiff.backward(plain_seed)(X, given, into=store, grad_outputs=2.0)
    agree(store, {"x": 2.0 * expected})
    with pytest.raises(TypeError, match=r"plain_seed\(\): missing a required argument"):
        g(X, grad_outputs=given)


NAMES = (
    "inputs", "outputs", "unused", "has_aux", "compile", "verify", "args", "v", "tangents",
    "primals", "grad_outputs", "into", "f",
)  # fmt: skip
FORMS = (
    "T.grad(g)(x, 2.0)", "T.value_and_grad(g, inputs=0)(x, 2.0)[1]", "T.vjp(g)(x, 2.0)[1]()[0]",
    "T.vjp(g, inputs=0)(x, 2.0)[1](grad_outputs=1.0)", "T.jvp(g)(x, 2.0, tangents=(x, 1.0))[1]",
    "T.linearize(g)(x, 2.0)[1](x, 1.0)", "T.hvp(g)(x, 2.0, v=x)", "T.vhp(g)(x, 2.0, v=x)",
    "T.jacobian(g)(x, 2.0)", "T.hessian(g)(x, 2.0)",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_parameters_of_any_name_in_the_curried_form(name):
    """At the top, and inside of a function that is differentiated: as with a name of no meaning."""
    found = []
    for own in (name, "k"):
        text = f"def g(x, {own}):\n    return np.sum(x**3) * {own}\n"
        for k, form in enumerate(FORMS):
            text += f"def h{k}(x):\n    return np.sum({form} * x)\n"
        file = f"<options called {own}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        space = {"np": np, "T": srcdiff}
        exec(compile(text, file, "exec"), space)
        every = [space[f"h{k}"] for k in range(len(FORMS))]
        found.append([(h(X), srcdiff.grad(h)(X)) for h in every])
    agree(*found)


def test_options_beside_any_keywords():
    assert srcdiff.vjp(lambda x, compile: x * x, 2.0, 3.0, unused="zeros")[1]() == (4.0, 0.0)
    with pytest.raises(ValueError, match="workspace: expected True or False, given ndarray"):
        srcdiff.jvp(np.sin, (2.0,), (1.0,), workspace=X)
    with pytest.raises(TransformError, match="may be given `compile` itself"):
        srcdiff.jvp(lambda x, **more: x, (2.0,), (1.0,), compile=None)


def test_what_compiled_code_cannot_do():
    f = vector_anew()
    compiled = srcdiff.grad(f, compile="numba")
    hooks = srcdiff.autograd.saved_hooks(lambda a: a, lambda a: a)
    for context in (hooks, srcdiff.autograd.detect_anomaly()):
        with context, pytest.raises(UnsupportedError, match="compile='numba'|compiled by Numba"):
            compiled(X, Y, grad_outputs=CT)
    with pytest.raises(UnsupportedError, match="adjoints are checked with the lines"):
        srcdiff.grad(f, compile="numba", check_nan=True)


def test_random_numbers_are_not_those_of_numba():
    pytest.importorskip("numba")

    def f(x):
        return np.sum(x * np.random.standard_normal(4))

    with pytest.raises(UnsupportedError, match="random numbers from a state of its own") as e:
        srcdiff.grad(f, compile="numba")(X)
    assert e.value.loc.line == f.__code__.co_firstlineno + 1


def drawn(x, y):
    return np.sum(x * y) * 2.0 + 0.0 * np.sum(np.random.standard_normal(4))


def by_einsum(x, y):
    return np.einsum("i,i,i", x, y, x)


@pytest.mark.parametrize("f", [drawn, by_einsum], ids=lambda f: f.__name__)
def test_numpy_runs_what_numba_refuses(f):
    """What is refused before Numba sees it, and what Numba does not compile."""
    pytest.importorskip("numba")
    line = f.__code__.co_firstlineno + 1
    g = srcdiff.value_and_grad(f, compile="auto")
    with pytest.warns(UncompiledWarning, match=rf"NumPy runs .*test_options\.py:{line}:"):
        found = g(X, Y)
    agree(found, srcdiff.value_and_grad(f)(X, Y))
    agree(g(Y, X), srcdiff.value_and_grad(f)(Y, X))
    assert "boundscheck=True" not in g.source, "more is compiled than loops"
    _, pullback = srcdiff.vjp(f, X, Y, compile="auto")
    agree(pullback(), srcdiff.vjp(f, X, Y)[1]())
    _, along = srcdiff.jvp(f, (X, Y), (V, None), compile="auto")
    agree(along, np.sum(srcdiff.grad(f)(X, Y) * V))


def test_numba_takes_a_pair_with_numbers_among_its_outputs():
    pytest.importorskip("numba")
    f = lambda x, y: (np.sum(x) * y, {"largest": np.max(x), "at": np.argmax(x)})  # noqa: E731
    ct = (Y, {"largest": 2.0, "at": None})
    with warnings.catch_warnings():
        warnings.simplefilter("error", UncompiledWarning)
        found = srcdiff.vjp(f, X, Y, compile="auto")[1](ct)
    agree(found, srcdiff.vjp(f, X, Y)[1](ct))


def turned(a):
    return np.sum(a.reshape(-1) ** 2 * np.arange(6.0))


def test_other_layouts_are_other_functions_to_numba():
    pytest.importorskip("numba")
    a = np.arange(6.0).reshape(2, 3) / 7.0
    g = srcdiff.grad(turned, compile="auto")
    agree(g(a), srcdiff.grad(turned)(a))
    assert "njit" in g.source
    b = np.asfortranarray(a)
    with pytest.warns(UncompiledWarning, match="incompatible shape for array"):
        agree(g(b), srcdiff.grad(turned)(b))


def test_what_is_nothing_for_numba():
    with pytest.raises(UnsupportedError, match="where=") as e:
        srcdiff.grad(lambda x: np.sum(np.sin(x, where=x > 0.0)), compile="auto")(X)
    assert "compile='numba'" not in str(e.value)


def test_options_that_go_without_numba():
    f = vector_anew()
    with pytest.warns(UncompiledWarning, match="workspace=True is not supported with"):
        found = srcdiff.grad(f, compile="auto", workspace=True)(X, Y, grad_outputs=CT)
    agree(found, srcdiff.grad(f)(X, Y, grad_outputs=CT))


def test_numba_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    f = vector_anew()
    g = srcdiff.grad(f, compile="auto")
    with pytest.warns(UncompiledWarning, match="Numba is not installed: pip install"):
        found = g(X, Y, grad_outputs=CT)
    agree(found, srcdiff.grad(f)(X, Y, grad_outputs=CT))
    agree(g(Y, X, grad_outputs=CT), srcdiff.grad(f)(Y, X, grad_outputs=CT))


@pytest.mark.parametrize("pair", [False, True], ids=["whole", "pair"])
def test_every_pass_keeps_where_a_function_runs(pair):
    target, seen = Target("cupy"), []
    for program in GOLDEN:
        made = derivative.Derivative(program.function, Options(program.inputs, program.outputs))
        names = st.bound_arguments(program.function, program.arguments())
        kinds = made.kinds(*positional(program.function, names))

        def watch(row, name, before, after):
            seen.append(after.target)

        *_, (_, state) = pipeline.run(made.origin, made.request, kinds, target, watch, pair)
        parts = [state.function, *([state.extra["backward"]] if pair else [])]
        assert {f.target for f in parts} == {target}
    assert len(seen) > 20 * len(GOLDEN) and set(seen) == {target}


def test_large_arrays_and_small_ones_are_compiled_otherwise():
    pytest.importorskip("numba")
    f = vector_anew()
    g = srcdiff.grad(f, compile="auto")
    x = np.linspace(0.1, 1.0, 5000)
    for some in (x, x[:5], x):
        agree(g(some, some, grad_outputs=some), srcdiff.grad(f)(some, some, grad_outputs=some))
        assert ("boundscheck=True" in g.source) == (len(some) == 5)
