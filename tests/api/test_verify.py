"""`verify="first"`: what is wrong is found, what is right passes, what cannot be told is said."""

import functools
import gc
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate

import srcdiff
from srcdiff.api import verify
from srcdiff.autograd import saved_hooks
from srcdiff.driver import executable
from srcdiff.errors import UnverifiedWarning, WrongDerivativeError
from srcdiff.primitives import registry
from tests.support import models

X, Y = np.array([0.5, -1.0, 2.0]), np.array([2.0, 3.0, 4.0])
A, B = np.arange(6.0).reshape(2, 3) / 3.0 + 0.1, np.arange(12.0).reshape(3, 4) - 5.5
SYMMETRIC = np.array([[3.0, 1.0], [1.0, 2.0]])
Z = np.array([0.5 + 1.0j, -1.0 + 0.3j])

ROOT = Path(__file__).parents[2]

HEAD = """\
import operator
import numpy as np
from srcdiff.rules import *
"""

BROKEN = {
    "the sign of sin": ("scalar_rule(np.sin, slope=lambda x, z: -np.cos(x))", np.sin, (X,)),
    "a factor of a power": (
        "@elementwise(operator.pow, np.power)\ndef power(x, y):\n    d[x] += d[z] * x ** (y - 1)",
        lambda x: x**3.5, (Y,),
    ),
    "the axis of a sum": (
        "@linear(np.sum)\ndef sum_(a, axis=None, *, keepdims=False):\n"
        "    d[a] += np.broadcast_to(d[z] if axis is None else np.flip(d[z]), np.shape(a))",
        lambda x: np.sum(x, axis=0), (A,),
    ),
    "a product that is not transposed": (
        "@rule(operator.matmul)\ndef matmul(x1, x2):\n    z = x1 @ x2\n    yield z\n"
        "    d[x1] += d[z] @ x2\n    d[x2] += x1 @ d[z]",
        lambda x: x @ SYMMETRIC.T @ np.array([[0.0, 1.0], [2.0, 0.0]]), (SYMMETRIC + A[:, :2],),
    ),
    "a conjugate that is missing": (
        "@elementwise(operator.mul)\ndef multiply(x, y):\n    d[x] += d[z] * y\n"
        "    d[y] += d[z] * x",
        lambda z: z * z, (Z,),
    ),
    "a factor of a quotient": (
        "@elementwise(operator.truediv)\ndef divide(x, y):\n    d[x] += d[z] / y\n"
        "    d[y] += -d[z] * x / y",
        lambda x, y: x / y, (X, Y),
    ),
    "the elements that a maximum takes": (
        "@elementwise(np.maximum)\ndef maximum(x, y):\n    d[x] += d[z] * (x < y)\n"
        "    d[y] += d[z] * (y <= x)",
        lambda x, y: np.maximum(x, y), (X, Y - 2.5),
    ),
    "an order of axes": (
        "@linear(np.transpose)\ndef transpose(a, axes=None):\n"
        "    d[a] += np.reshape(d[z], np.shape(a))",
        lambda x: np.transpose(x), (A,),
    ),
    "an inverse": (
        "@rule(np.linalg.inv)\ndef inv(a):\n    z = np.linalg.inv(a)\n    yield z\n"
        "    d[a] += z.T @ d[z] @ z.T",
        np.linalg.inv, (SYMMETRIC,),
    ),
    "what a running sum adds up": (
        "@linear(np.cumsum)\ndef cumsum(a, axis=None):\n    d[a] += np.cumsum(d[z])",
        np.cumsum, (X,),
    ),
    "a logarithm to another base": (
        "scalar_rule(np.log2, slope=lambda x, z: 1.0 / x)", lambda y: np.log2(y), (Y,),
    ),
}  # fmt: skip
"""Rules that are wrong, and programs that use them."""


@pytest.fixture
def load(tmp_path):
    """Takes the text of rules, which are forgotten after the test."""
    before = registry._user

    def loaded(text):
        (tmp_path / "broken.py").write_text(HEAD + text + "\n")
        srcdiff.rules.load_rules(tmp_path / "broken.py")

    yield loaded
    registry._user = before
    registry._so_far.cache_clear()


def anew(f):
    """A function of which nothing is generated yet."""
    if not hasattr(f, "__code__"):
        return f
    return type(f)(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)


def cotangent(f, args):
    """One for the output."""
    value = np.asarray(f(*args))
    return np.reshape(np.linspace(0.5, 2.0, value.size), value.shape).astype(value.dtype)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_found(name, load):
    text, f, args = BROKEN[name]
    seed, inputs = cotangent(f, args), tuple(range(len(args)))
    g = srcdiff.grad(anew(f), inputs, verify="first")
    right = g(*args, grad_outputs=seed)
    load(text)
    broken = srcdiff.grad(anew(f), inputs)(*args, grad_outputs=seed)
    assert not all(np.allclose(a, b) for a, b in zip(right, broken, strict=True))
    runs = [
        lambda f: srcdiff.grad(f, inputs, verify="first")(*args, grad_outputs=seed),
        lambda f: srcdiff.vjp(f, *args, inputs=inputs, verify="first"),
        lambda f: srcdiff.jacobian(f, inputs, mode="reverse", verify="first")(*args),
    ]
    for run in runs[: 2 if np.iscomplexobj(seed) else 3]:
        with pytest.raises(WrongDerivativeError, match="is wrong: along a random") as info:
            run(anew(f))
        assert abs(info.value.found - info.value.expected) > 1e-3 * abs(info.value.expected)


FORWARD = "@forward(np.sin)\ndef tangent(x):\n    d[z] += 2.0 * d[x] * np.cos(x)"
SINE = "scalar_rule(np.sin, slope=lambda x, z: np.cos(x))\n"


def test_one_mode_is_held_against_the_other(load):
    f, g = anew(models_of_sin), anew(models_of_sin)
    srcdiff.jvp(f, (X,), (Y,), verify="first")
    load(SINE + FORWARD)
    with pytest.raises(WrongDerivativeError, match="the tangent of .*reverse mode"):
        srcdiff.jvp(anew(models_of_sin), (X,), (Y,), verify="first")
    # The gradient is right: the rule of reverse mode is.
    found = srcdiff.grad(g, verify="first")(X)
    np.testing.assert_allclose(found, np.cos(X), rtol=1e-14)


def models_of_sin(x):
    return np.sum(np.sin(x))


def test_the_modes_alone_tell_where_differences_do_not(load, monkeypatch):
    """What differences say is lost at a kink; that the modes do not agree is said there too."""

    def f(x):
        return np.sum(np.abs(x) + np.sin(x))

    at = np.array([0.0, 1.0])
    load(SINE + FORWARD)
    with pytest.raises(WrongDerivativeError, match=r"by forward mode \(a kink: slope"):
        srcdiff.grad(f, verify="first")(at)


def test_the_error_says_what_is_wrong(load):
    def loss(w, n, params):
        return np.sum(np.sin(params["b"]) * w) * n

    load(BROKEN["the sign of sin"][0])
    g = srcdiff.grad(loss, ("w", "params"), verify="first")
    params = {"a": X, "b": [Y]}
    with pytest.raises(WrongDerivativeError) as info:
        g(np.ones((1, 3)), 2, params)
    error = info.value
    assert isinstance(error, RuntimeError) and error.input == "params['b'][0]"
    assert np.array_equal(error.at, Y) and np.all(error.direction / Y != 0.0)
    # The cotangent is a random number, too: it is the same on both sides.
    assert error.found == pytest.approx(-error.expected, rel=1e-8)
    said = str(error)
    assert "the gradient of `loss` by `params['b'][0]` is wrong" in said
    assert "by differences" in said and "forward mode" in said
    assert f"{__file__}:{loss.__code__.co_firstlineno}" in said
    assert "params['b'][0] = array([2., 3., 4.])" in said and "direction = array([" in said
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == said and again.found == error.found
    with pytest.raises(WrongDerivativeError):  # nothing is kept of it
        g(np.ones((1, 3)), 2, params)


@pytest.fixture
def compared(monkeypatch):
    """The comparisons that are made: what is found along a direction, and the differences."""
    found = []
    judge = verify._Check.compared

    def judged(self, one, size, crossed, two, known):
        result = judge(self, one, size, crossed, two, known)
        found.append((one, crossed, known.slope, result))
        return result

    monkeypatch.setattr(verify._Check, "compared", judged)
    return found


def in_place(u, v):
    u[1:] = u[1:] * v[:-1]
    u += np.sin(v)


def tree(p, n):
    return {"s": p["w"] * n, "t": [np.tanh(p["b"][0]), n]}, "text"


def with_aux(x, n):
    return np.exp(x) * n, {"n": n, "x": x}


def of_complex(z, x):
    return np.abs(z) ** 2 * x, z * np.conj(z) * x + 1j * z


class Model:
    def __init__(self, w):
        self.w, self.calls = w, 0

    def loss(self, x):
        self.calls += 1
        return np.sum(np.tanh(self.w * x))


WEIGHTS = np.array([1.0, 2.0, 3.0])
COUNTS = {"calls": 0}


def reads_outside(x):
    COUNTS["calls"] += 1
    return np.sum(WEIGHTS * x * WEIGHTS)


def square(x, y):
    return np.sum(np.sin(x) * x * y)


PARAMS = {"w": X, "b": (0.7, 3), "name": "p"}

def rows(x):
    return x * x


RIGHT = {
    "grad": lambda **o: srcdiff.grad(square, (0, 1), **o)(X, Y),
    "value_and_grad": lambda **o: srcdiff.value_and_grad(square, **o)(X, y=Y),
    "grad of integers beside": lambda **o: srcdiff.grad(lambda x, k: np.sum(x**k), **o)(Y, 3),
    "grad in single precision": lambda **o: srcdiff.grad(square, **o)(
        X.astype(np.float32), Y.astype(np.float32)
    ),
    "has_aux": lambda **o: srcdiff.grad(with_aux, has_aux=True, **o)(X, 3, grad_outputs=Y),
    "an output of has_aux": lambda **o: srcdiff.grad(
        lambda x: ((x, np.sin(x)), 3), has_aux=True, outputs=1, **o
    )(X, grad_outputs=Y),
    "trees": lambda **o: srcdiff.grad(tree, ("p",), outputs=0, **o)(
        PARAMS, 2, grad_outputs={"s": Y, "t": [1.0, None]}
    ),
    "an input twice": lambda **o: srcdiff.grad(square, ("x", "y", "x"), **o)(X, Y),
    "an input and a part of it": lambda **o: srcdiff.grad(
        tree, {"one": "p['b'][0]", "all": "p", "two": "p['w']"}, outputs=0, **o
    )(PARAMS, 2, grad_outputs={"s": Y, "t": [1.0, None]}),
    "a path": lambda **o: srcdiff.grad(tree, {"w": "p['w']"}, outputs=0, **o)(
        PARAMS, 2, grad_outputs={"s": Y, "t": [1.0, None]}
    ),
    "what is written into": lambda **o: srcdiff.grad(in_place, "v", outputs="u", **o)(
        X.copy(), Y, grad_outputs=Y
    ),
    "complex numbers": lambda **o: srcdiff.grad(of_complex, (0, 1), **o)(
        Z, Z.real, grad_outputs=(Z.real, Z)
    ),
    "unused": lambda **o: srcdiff.grad(lambda x, y: x * 2.0, (0, 1), allow_unused=True, **o)(
        1.0, 2.0
    ),
    "an object": lambda **o: srcdiff.grad(Model(X).loss, **o)(Y),
    "self": lambda **o: srcdiff.grad(Model.loss, "self.w", **o)(Model(X), Y),
    "a variable outside": lambda **o: srcdiff.grad(reads_outside, ("x", "global:WEIGHTS"), **o)(X),
    "a batch": lambda **o: srcdiff.grad(models.vector, is_grads_batched=True, **o)(
        X, grad_outputs=np.eye(3)
    ),
    "vjp": lambda **o: srcdiff.vjp(square, X, Y, **o)[1](),
    "run": lambda **o: srcdiff.autograd.run(square, X, Y, **o).grad("x"),
    "a run of a gradient": lambda **o: (
        srcdiff.autograd.run(square, X, Y, **o).grad("x", create_graph=True).grad("y", X)
    ),
    "backward": lambda **o: srcdiff.backward(square, **o)(X, Y, into={}),
    "jvp": lambda **o: srcdiff.jvp(square, (X, Y), (Y, None), **o),
    "jvp of many": lambda **o: srcdiff.jvp(lambda *a: a[0] * np.sin(a[1]), (X, Y), (Y, X), **o),
    "jvp in place": lambda **o: srcdiff.jvp(
        in_place, (X.copy(), Y), (X, Y), outputs="u", **o
    )[1],
    "linearize": lambda **o: srcdiff.linearize(square, X, Y, **o)[1](Y, X),
    "jacobian by rows": lambda **o: srcdiff.jacobian(anew(rows), mode="reverse", **o)(X),
    "jacobian by columns": lambda **o: srcdiff.jacobian(anew(rows), mode="forward", **o)(X),
    "hessian": lambda **o: srcdiff.hessian(square, **o)(X, Y),
    "hvp": lambda **o: srcdiff.hvp(square, (X, Y), Y, **o),
    "vhp": lambda **o: srcdiff.vhp(square, (X, Y), Y, **o),
    "a gradient of a gradient": lambda **o: srcdiff.grad(srcdiff.grad(square, **o), **o)(
        X, Y, grad_outputs=Y
    ),
    "differentiable": lambda **o: srcdiff.differentiable(square, **o).grad(X, Y),
}  # fmt: skip
"""Every transform, and what arguments and outputs can be."""


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_passes_and_nothing_is_changed(name, compared, monkeypatch):
    for f in (square, tree, with_aux, in_place, of_complex, reads_outside):
        monkeypatch.setitem(globals(), f.__name__, anew(f))
    given = [a.copy() for a in (X, Y, Z, WEIGHTS)], dict(COUNTS)
    found = RIGHT[name](verify="first")
    assert compared and all(result == verify._Judged() for *_, result in compared)
    assert all(slope == pytest.approx(one, rel=3e-3, abs=1e-3) for one, _, slope, _ in compared)
    in_both_modes = name != "self"  # forward mode does not follow objects
    assert all((crossed is not None) == in_both_modes for _, crossed, *_ in compared)
    after = [X, Y, Z, WEIGHTS], COUNTS
    assert all(np.array_equal(a, b) for a, b in zip(given[0], after[0], strict=True))
    assert COUNTS["calls"] - given[1]["calls"] == (name == "a variable outside")
    done = len(compared)
    expected = RIGHT[name]()
    assert len(compared) == done  # not without the option
    leaves = dict(verify.leaves(expected))
    for path, leaf in verify.leaves(found):
        np.testing.assert_array_equal(leaf, leaves[path])


@pytest.mark.parametrize("compiler", ["numba", "loops"])
def test_compiled_code_is_verified(compiler, compared):
    pytest.importorskip("numba")
    g = srcdiff.value_and_grad(anew(square), ("x", "y"), compile=compiler, verify="first")
    g(X, Y)
    assert [result for *_, result in compared] == [verify._Judged()]


def test_a_method_counts_once():
    model = Model(X)
    srcdiff.grad(model.loss, verify="first")(Y)
    plain = Model(X)
    srcdiff.grad(plain.loss)(Y)
    assert model.calls == plain.calls


def test_what_the_second_argument_shares_it_shares_when_it_runs_again(compared):
    def f(x, y):
        return np.sum(x * y)

    whole = np.arange(5.0)
    srcdiff.grad(f, (0, 1), verify="first")(whole[1:], whole[:-1])
    assert len(compared) == 1 and not compared[0][-1].reason


class Wrong:
    """NumPy with another cosine."""

    cos = staticmethod(lambda x: -np.cos(x))

    def __getattr__(self, name):
        return getattr(np, name)


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_wrong_function_for_a_batch_is_found(mode, monkeypatch):
    def f(x):
        return np.sin(x) * x

    right = srcdiff.jacobian(f, mode=mode, verify="first")(X)
    np.testing.assert_allclose(right, np.diag(np.sin(X) + X * np.cos(X)), rtol=1e-14)
    load = executable.loaded

    def loaded(*given):
        found = load(*given)
        next(iter(found.functions.values())).__globals__["np"] = Wrong()
        return found

    monkeypatch.setattr(executable, "loaded", loaded)  # of functions for batches alone
    with pytest.raises(WrongDerivativeError, match="`f` for a batch are wrong: an element"):
        srcdiff.jacobian(anew(f), mode=mode, verify="first")(X)


def test_once_for_each_kind_of_arguments(compared):
    g = srcdiff.grad(anew(square), verify="first")
    g(X, Y)
    g(Y, X)
    assert len(compared) == 1
    g(X.astype(np.float32), Y.astype(np.float32))
    assert len(compared) == 2
    assert compared[0][0] != 0.0


def test_directions_are_the_same_each_time(compared):
    for _ in range(2):
        srcdiff.grad(anew(square), verify="first")(X, Y)
    assert compared[0] == compared[1]


def test_directions_are_as_large_as_what_they_move():
    rng = np.random.default_rng(0)
    tree = {"a": np.array([1e-8, -1e8, 0.0]), "b": (2.0, 5, np.zeros(2)), "c": np.float32(1e3)}
    found = [verify.scaled_like(rng, tree) for _ in range(400)]
    size = np.sqrt(np.mean([one["a"] ** 2 for one in found], axis=0))
    np.testing.assert_allclose(size, [1e-8, 1e8, 0.5e8], rtol=0.15)
    assert found[0]["b"][1] is None and type(found[0]["b"][0]) is float
    assert np.std([one["b"][2] for one in found]) == pytest.approx(1.0, rel=0.15)
    assert type(found[0]["c"]) is np.float32


# --- what cannot be told, and is said -------------------------------------------------------------


KINKS = {
    "abs": (lambda x: np.sum(np.abs(x)), np.zeros(2)),
    "relu": (lambda x: np.sum(np.maximum(x, 0.0)), np.array([0.0, 1.0])),
    "where": (lambda x: np.sum(np.where(x > 0.0, x, 0.0)), np.array([0.0, 1.0])),
    "a tie of maximum": (lambda x: np.sum(np.maximum(x, x[::-1] ** 2)), np.array([1.0, 1.0])),
    "a tie of max": (lambda x: np.max(x), np.array([2.0, 1.0, 2.0])),
    "clip": (lambda x: np.sum(np.clip(x, -1.0, 1.0)), np.array([1.0, 0.3])),
    "nearly at one": (lambda x: np.sum(np.abs(x - 1.0)), np.array([1.0 + 1e-9, 3.0])),
}


@pytest.mark.parametrize("name", KINKS)
@pytest.mark.parametrize("mode", ["grad", "jvp"])
def test_a_kink_is_said_to_be_one(name, mode):
    f, at = KINKS[name]
    f = anew(f)
    run = {
        "grad": lambda: srcdiff.grad(f, verify="first")(at),
        "jvp": lambda: srcdiff.jvp(f, (at,), (at,), verify="first"),
    }[mode]
    with pytest.warns(UnverifiedWarning, match="is not verified: a kink: slope"):
        run()
    run()  # it is said once


UNSURE = {
    "a step": (lambda x: np.sum(np.floor(x * 1e6) * 1e-6 + x), Y, "do not converge"),
    "waves": (lambda x: np.sum(np.sin(1e9 * x)), Y, "do not converge"),
    "a jump at the point": (
        lambda x: np.sum(np.unique(x, return_counts=True)[1][0] * x), np.ones(2), "do not converge",
    ),
    "infinite": (lambda x: np.sum(np.sqrt(x)), np.zeros(2), "nan or infinite"),
    "nan": (lambda x: np.sum(x), np.array([np.nan, 1.0]), "nan or infinite"),
}


@pytest.mark.parametrize("name", UNSURE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_where_differences_say_nothing(name):
    f, at, said = UNSURE[name]
    with pytest.warns(UnverifiedWarning, match=said):
        srcdiff.grad(anew(f), verify="first")(at)


def edge(x):
    if np.max(x) > 4.0:
        raise ValueError("too large")
    return np.sum(x * x)


def test_a_function_that_raises_nearby():
    with pytest.warns(UnverifiedWarning, match="raises ValueError: too large at arg"):
        srcdiff.grad(edge, verify="first")(Y)


def noisy(x, rng):
    for _ in srcdiff.checkpointed(range(5), slots=2):
        x = x * (1.0 + 0.1 * rng.standard_normal(3))
    return np.sum(x * x)


def test_generators_are_put_back(compared):
    """What draws in a loop that is run again is the same each time."""
    rng, again = np.random.default_rng(3), np.random.default_rng(3)
    found = srcdiff.grad(noisy, verify="first")(X, rng)
    assert [result for *_, result in compared] == [verify._Judged()]
    np.testing.assert_array_equal(found, srcdiff.grad(anew(noisy))(X, again))
    assert rng.random() == again.random()


def nearly(x):
    return np.sum(np.round(np.sin(x), 9) * x)


def test_a_function_that_is_less_exact_than_its_derivative(load):
    """Of nine digits: differences are off, by nothing that a wrong rule would do."""
    load("@elementwise(np.round)\ndef round_(a, decimals=0):\n    d[a] += d[z]")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnverifiedWarning)
        srcdiff.grad(nearly, verify="first")(X)


def prints(x):
    print("once", x)
    return np.sum(x * x)


def draws(x):
    return np.sum(x * np.random.standard_normal(3))


def draws_from(x, rng):
    return np.sum(x * rng.standard_normal(3))


def takes_next(x, factors):
    return np.sum(x * next(factors))


def printing_right_side(y, t):
    print("once", t)
    return -2.0 * y


def integrated(x):
    return np.sum(integrate.odeint(printing_right_side, x, np.array([0.0, 1.0])))


def constant_gradient(x):
    return np.sum(x * x)


def partly_constant(x):
    return np.sum(srcdiff.stop_gradient(x) * x)


def calls_a_constant(x):
    return np.sum(partly_constant(x) * x)


def without_derivatives(x):
    with srcdiff.autograd.no_grad():
        scale = np.max(x)
    return np.sum(x / scale)


EFFECTS = {
    "prints": (prints, (), "`print` may do something else"),
    "draws": (draws, (), "`np.random.standard_normal` may do something else"),
    "draws_from": (draws_from, (np.random.default_rng(3),), "standard_normal` may do something"),
    "takes_next": (takes_next, (iter([2.0, 3.0, 4.0]),), "an argument is an iterator"),
    "integrated": (integrated, (), "`print` may do something else"),
    "partly_constant": (partly_constant, (), "`srcdiff.stop_gradient` says what the derivative"),
    "calls_a_constant": (calls_a_constant, (), "stop_gradient` says what the derivative is"),
    "without_derivatives": (without_derivatives, (), "no_grad` says what the derivative is"),
}


@pytest.mark.parametrize("name", EFFECTS)
def test_what_is_not_run_again_is_said(name, capsys, monkeypatch):
    f, more, said = EFFECTS[name]
    f = anew(f)
    monkeypatch.setattr(verify, "World", None)  # nothing runs
    np.random.seed(3)
    with pytest.warns(UnverifiedWarning, match=said) as caught:
        found = srcdiff.grad(f, verify="first")(X, *more)
    assert caught[0].filename == __file__ and caught[0].lineno == f.__code__.co_firstlineno
    srcdiff.vjp(f, X, *more, inputs=0, verify="first")  # said once, by an error here otherwise
    if name == "prints":
        assert capsys.readouterr().out.count("once") == 2
    if name == "draws":
        np.random.seed(3)
        np.testing.assert_array_equal(found, np.random.standard_normal(3))
    if name == "takes_next":
        assert found[0] == 2.0 and next(more[0]) == 4.0


def test_a_gradient_that_is_a_constant_is_not_held_against_anything():
    g = srcdiff.grad(srcdiff.grad(constant_gradient, create_graph=False), verify="first",
                     unused="zeros")  # fmt: skip
    with pytest.warns(UnverifiedWarning, match="it is a constant: create_graph=False"):
        g(X, grad_outputs=X)


def test_saved_hooks_are_not_held_against_anything():
    with (
        saved_hooks(lambda a: a.astype(np.float32), lambda a: a.astype(np.float64)),
        pytest.warns(UnverifiedWarning, match="saved_hooks"),
    ):
        srcdiff.grad(anew(square), verify="first")(X, Y)


def test_what_forward_mode_refuses_is_held_against_differences(compared, load):
    load("@rule(np.spacing)\ndef spacing(x):\n    z = np.spacing(x)\n    yield z\n    d[x] += 0.0")

    def f(x, m):
        return np.sum(m.w * x) + m.w[0]

    model = Model(X.copy())
    srcdiff.grad(f, ("x", "m"), verify="first")(Y, model)
    assert [crossed for _, crossed, *_ in compared] == [None]
    assert compared[0][-1] == verify._Judged()


# --- how it is switched on, and what it costs ----------------------------------------------------


def test_the_environment_switches_it_on(compared, monkeypatch):
    monkeypatch.setenv("SRCDIFF_VERIFY", "first")
    srcdiff.grad(anew(square))(X, Y)
    srcdiff.vjp(anew(square), X, Y)
    srcdiff.jvp(anew(square), (X, Y), (Y, X))
    assert len(compared) == 3
    srcdiff.grad(anew(square), verify="off")(X, Y)
    assert len(compared) == 3
    monkeypatch.setenv("SRCDIFF_VERIFY", "")
    srcdiff.grad(anew(square))(X, Y)
    assert len(compared) == 3
    with pytest.raises(ValueError, match="verify: expected None, 'first' or 'off', given True"):
        srcdiff.grad(square, verify=True)


def path_of(run):
    """The lines of the package, and of what it generates, that a call goes through."""
    lines = []

    def trace(frame, event, _):
        lines.append((frame.f_code.co_filename, frame.f_code.co_name, frame.f_lineno, event))
        return trace

    gc.collect()
    gc.disable()  # what dies by it calls back wherever that happens to be
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(None)
        gc.enable()
    return [(file.partition(" at ")[0].rstrip("0123456789>"), *rest) for file, *rest in lines]


CALLS = {
    "grad": lambda f, o: functools.partial(srcdiff.grad(f, **o), X, Y),
    "vjp": lambda f, o: lambda: srcdiff.vjp(f, X, Y, **o)[1](),
    "jvp": lambda f, o: lambda: srcdiff.jvp(f, (X, Y), (Y, None), **o),
    "jacobian": lambda f, o: functools.partial(srcdiff.jacobian(f, mode="reverse", **o), X, Y),
}


@pytest.mark.parametrize("name", CALLS)
def test_it_costs_nothing_when_off(name):
    """A call takes the very steps that it takes without the option, none of them of `verify`."""
    paths = []
    for options in ({}, {"verify": "off"}):
        run = CALLS[name](anew(square), options)
        run()
        paths.append(path_of(run))
    plain, off = paths
    assert plain and not [step for step in plain if step[0] == verify.__file__]
    if name in ("grad", "jacobian"):
        assert off == plain
    g = srcdiff.grad(anew(square), verify="first")
    g(X, Y)
    if name == "grad":  # nor is anything asked at a later call where it is on
        assert path_of(functools.partial(g, X, Y)) == plain


def test_it_is_read_when_it_is_asked_for():
    code = (
        "import sys, statistics, numpy as np, srcdiff\n"
        "srcdiff.grad(np.sin)(1.0)\n"
        "print('srcdiff.api.verify' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
