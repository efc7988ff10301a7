"""Dicts, lists and tuples of arrays with `compile="numba"`: taken apart at the border."""

import copy
import importlib

import numpy as np
import pytest

import srcdiff
from srcdiff.errors import CotangentError, UnsupportedError
from tests.corpus.native import interpreted
from tests.support import structures as st

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 2))
DICT = {"w": RNG.normal(size=(3, 2)), "b": RNG.normal(size=2), "rate": 0.7}
LAYERS = [(RNG.normal(size=(3, 4)), RNG.normal(size=4)), (RNG.normal(size=(4, 2)), np.ones(2))]
NESTED = {"first": {"w": RNG.normal(size=(3, 2))}, "rest": [np.ones(2), (np.zeros(2), 3)]}
U, V = RNG.normal(size=4), RNG.normal(size=4)
STATE = {"u": U, "v": V}


def dense(p, x, y):
    h = np.tanh(x @ p["w"] + p["b"])
    return p["rate"] * np.sum((h - y) ** 2)


def network(layers, x, y):
    for w, b in layers:
        outputs = np.dot(x, w) + b
        x = np.tanh(outputs)
    return np.sum((outputs - y) ** 2)


def zipped(ws, bs, x):
    for w, b in zip(ws, bs):
        x = np.tanh(w * x + b)
    return np.sum(x)


def by_places(layers, x, y):
    for k in range(len(layers)):
        x = x @ layers[k][0] + layers[k][1]
        if k < len(layers) - 1:
            x = np.maximum(x, 0.1 * x)
    return np.sum((x - y) ** 2)


def nested(p, x):
    low, (high, n) = p["rest"]
    return np.sum((x @ p["first"]["w"] - low + high) ** n)


def by_names(p):
    total = 0.0
    for name, value in p.items():
        total = total + np.sum(value**2) * (2.0 if name == "w" else 1.0)
    return total


def pair(x, y):
    return np.sin(x) * y, np.sum(x * y)


def inner_pair(x, y):
    return {"a": (x * y, np.sum(x)), "n": 3}


def rotated(s):
    for _ in range(3):
        s = {"u": s["u"] + 0.1 * s["v"], "v": s["v"] - 0.1 * s["u"]}
    return s


def swapped(s):
    a, b = {"x": s["u"] * 1.0}, {"x": s["v"] * 2.0}
    for _ in range(3):
        a, b = {"x": b["x"] * 1.5}, {"x": a["x"] + 1.0}
    return np.sum(a["x"] * b["x"])


def under_two_names(s):
    held = {"x": s["u"] * 2.0}
    other = held
    other["x"] = other["x"] * s["v"]
    held["x"] += 1.0
    return np.sum(other["x"] * held["x"])


def read_before_a_store(s):
    held = {"x": s["u"] * 2.0, "n": 1.0}
    before, count = held["x"], held["n"]
    held["x"] = before * s["v"]
    held["n"] += 2.0
    return np.sum(before * held["x"]) * count * held["n"]


def on_a_branch(s):
    if np.sum(s["u"]) > 0.0:
        t = {"a": s["u"] * 2.0}
    else:
        t = {"a": s["v"] * 3.0}
    return np.sum(t["a"] * s["v"])


def written_into(s):
    s["u"] *= 2.0
    s["v"] = s["u"] * s["v"]
    return np.sum(s["v"])


def curve(p, x):
    level, (slope, bend) = p
    return np.sum(level + slope * x + bend * x * x)


def weights(p):
    return [w * w for w in p]


CASES = {
    "a dict": (dense, (DICT, X, Y)), "layers": (network, (LAYERS, X, Y)),
    "by places": (by_places, (LAYERS, X, Y)), "zipped": (zipped, ([U, V], [V, U], U)),
    "nested": (nested, (NESTED, X)),
    "by names": (by_names, (DICT,)), "swapped": (swapped, (STATE,)),
    "two names": (under_two_names, (STATE,)), "read before": (read_before_a_store, (STATE,)),
    "a branch": (on_a_branch, (STATE,)), "written into": (written_into, (STATE,)),
    "several outputs": (pair, (U, V)), "inner outputs": (inner_pair, (U, V)),
    "a state": (rotated, (STATE,)), "a list": (weights, ([U, V],)),
    "a tuple": (curve, ((0.3, (U, 0.2)), V)), "numbers": (curve, ((0.3, (0.1, 0.2)), V)),
}  # fmt: skip


def agree(found, expected):
    """Two results of one structure, in which arrays and numbers are the same."""
    for one, two in zip(st.leaves_as(expected, found), st.leaves(expected), strict=True):
        assert type(one) is type(two)
        if two is None:
            continue
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-13)


def cotangent_of(f, args):
    """A cotangent of what a function gives."""
    return st.random_like(np.random.default_rng(4), f(*copy.deepcopy(args)))


@pytest.mark.parametrize("name", CASES)
def test_it_is_the_gradient_of_numpy(name):
    f, args = CASES[name]
    ct = cotangent_of(f, args)
    expected = srcdiff.value_and_grad(f)(*copy.deepcopy(args), grad_outputs=ct)
    with interpreted():
        g = srcdiff.value_and_grad(f, compile="numba")
        agree(g(*copy.deepcopy(args), grad_outputs=ct), expected)
    assert "zero_tree" not in g.source


def pulled(f, *args, **options):
    """The value, and the gradients for two cotangents of one run."""
    ct = cotangent_of(f, args)
    value, pullback = srcdiff.vjp(f, *args, **options)
    return value, pullback(ct), pullback(ct)


TRANSFORMS = {
    "vjp": lambda **o: pulled(dense, DICT, X, Y, **o),
    "vjp of layers": lambda **o: pulled(network, LAYERS, X, Y, **o),
    "vjp of a pair": lambda **o: pulled(pair, U, V, **o),
    "vjp of a tuple": lambda **o: pulled(curve, (0.3, (U, 0.2)), V, **o),
    "vjp of numbers": lambda **o: pulled(curve, (0.3, (0.1, 0.2)), V, **o),
    "jvp": lambda **o: srcdiff.jvp(dense, (DICT, X, Y), (DICT, X, None), **o),
    "linearize": lambda **o: srcdiff.linearize(network, LAYERS, X, Y, **o)[1](LAYERS, X, Y),
    "hvp": lambda **o: srcdiff.hvp(network, (LAYERS, X, Y), LAYERS, **o),
    "vhp": lambda **o: srcdiff.vhp(dense, (DICT, X, Y), DICT, **o),
    "columns": lambda **o: srcdiff.jacobian(rotated, "s['u']", outputs="v", mode="forward", **o)(
        STATE
    ),
    "hessian": lambda **o: srcdiff.hessian(dense, "p['b']", **o)(DICT, X, Y),
    "batch": lambda **o: srcdiff.grad(pair, is_grads_batched=True, **o)(
        U, V, grad_outputs=(np.stack([U, V]), np.array([1.0, 2.0]))
    ),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name):
    run = TRANSFORMS[name]
    expected = run()
    with interpreted():
        found = run(compile="numba")
    for one, two in zip(st.leaves_as(expected, found), st.leaves(expected), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-11, atol=1e-12)


def test_what_stands_around_it():
    with interpreted():
        g = srcdiff.grad(dense, compile="numba")
        g(DICT, X, Y)
    inner, outer = g.source.split("def dense_grad_of_arrays(")[1].split("\n\n\n")[:2]
    assert outer.startswith("def dense_grad(p, x, y, grad_outputs=1.0):"), "Numba compiles it"
    assert 'dense_grad_of_arrays(p["w"], p["b"], p["rate"], x, y, grad_outputs)' in outer
    assert 'return {"w": grad_w, "b": grad_b, "rate": grad_rate}' in outer
    assert '["' not in inner


def test_cotangents_of_several_outputs():
    with interpreted():
        g = srcdiff.grad(pair, compile="numba")
        plain = srcdiff.grad(pair)
        for ct in ((U, 2.0), (V, None), [U, np.float64(0.5)]):
            agree(g(U, V, grad_outputs=ct), plain(U, V, grad_outputs=ct))
        for ct, said in (((U,), "expected 2 items, given 1"), (3.0, "expected a tuple of 2 items"),
                         ((U, 1j), "real number"), ((U, U), "real number"),
                         ((None, 1.0), "left out only"), ((U[1:], 1.0), "the shape"),
                         ((U, "a"), "expected a number, given str")):  # fmt: skip
            with pytest.raises(CotangentError, match=said):
                g(U, V, grad_outputs=ct)
        structured = srcdiff.grad(inner_pair, compile="numba")
        with pytest.raises(CotangentError, match="expected 2 items, given 1"):
            structured(U, V, grad_outputs={"z": None})


def test_what_is_the_caller_s_is_given_back_as_it_is():
    def with_state(s, x):
        return s, np.sum(s["u"] * x)

    with interpreted():
        (held, _), _ = srcdiff.value_and_grad(with_state, "x", outputs=1, compile="numba")(STATE, U)
    assert held is STATE


# --- refused --------------------------------------------------------------------------------------


def at_a_number(p, k):
    return np.sum(p[k] ** 2)


def of_an_object(p):
    return np.sum(p.w)


class Weights:
    """An object with an array."""

    def __init__(self, w):
        self.w = w


def one_or_the_other(s, k):
    t = {"a": s["u"]}
    other = t if k > 0 else s
    return np.sum(next(iter(other.values())))


def too_many(xs):
    total = 0.0
    for x in xs:
        total = total + x * x
    return total


def a_function(p, x):
    return np.sum(p["f"](x))


REFUSED = [
    (at_a_number, ([U, V], 1), r"only when the program runs which item"),
    (too_many, ([1.0] * 65,), r"a loop over a container of more than 64 items"),
    (a_function, ({"f": np.sin, "w": U}, U), r"`p\['f'\]` is no number or array"),
]  # fmt: skip


@pytest.mark.parametrize("f, args, match", REFUSED, ids=lambda v: getattr(v, "__name__", ""))
def test_refused(f, args, match):
    with interpreted(), pytest.raises(UnsupportedError, match=match) as caught:
        srcdiff.grad(f, inputs=len(args) - 1 if f is a_function else 0, compile="numba")(*args)
    assert "test_flatten.py" in str(caught.value)
    assert "leave out compile='numba'" in str(caught.value)


# --- compiled -------------------------------------------------------------------------------------


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="needs Numba")
class TestCompiled:
    """What needs Numba itself."""

    @pytest.mark.filterwarnings("ignore::numba.NumbaPerformanceWarning")
    def test_layers(self):
        value, pullback = srcdiff.vjp(network, LAYERS, X, Y, inputs="layers", compile="numba")
        expected = srcdiff.value_and_grad(network)(LAYERS, X, Y)
        agree((value, pullback()), (float(expected[0]), expected[1]))

    def test_several_cotangents(self):
        ct = U, 0.5
        found = srcdiff.grad(pair, compile="numba")(U, V, grad_outputs=ct)
        agree(found, srcdiff.grad(pair)(U, V, grad_outputs=ct))

    def test_files(self):
        text = srcdiff.aot.generate(by_names, compile="numba", example=(DICT,), verify=True)
        assert "\n\n\ndef by_names_grad(p, grad_outputs=1.0):" in text
        assert "@numba.njit(cache=True, boundscheck=True)\ndef by_names_grad_of_arrays(" in text


def two_outputs(x):
    return np.sin(x), np.sum(x * x)


def pulled_back(x, ct):
    return np.sum(srcdiff.grad(two_outputs)(x, grad_outputs=ct))


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="needs Numba")
def test_a_file_takes_a_tuple_with_a_number_as_cotangent():
    x, ct = np.array([0.3, -0.5]), (np.array([1.0, 2.0]), 1.5)
    text = srcdiff.aot.generate(pulled_back, example=(x, ct), compile="numba", checks=False)
    space = {}
    exec(text.replace("cache=True, ", ""), space)  # the cache is kept beside files
    expected = 2.0 * 1.5 - np.sin(x) * ct[0]
    np.testing.assert_allclose(space["pulled_back_grad"](x, ct), expected, rtol=1e-14)
