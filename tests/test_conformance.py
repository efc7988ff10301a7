"""Functions of every kind times the parameters of `grad`, with torch as the judge."""

import itertools
import textwrap

import numpy as np
import pytest

import srcdiff

from .check import define

pytestmark = [pytest.mark.oracles, pytest.mark.filterwarnings("ignore")]

BODIES = {
    "straight": "return np.sum(x * y), x * x",
    "loop": "s = x * 0.0\nfor i in range(3):\n    s = s + np.sin(x * (i + 1)) * y\n"
    "return np.sum(s), s",
    "branch": "if x[0] > 0:\n    z = x * y\nelse:\n    z = x - y\nreturn np.sum(z * z), z",
    "early": "for i in range(3):\n    if x[i] < 0:\n        return np.sum(x * y), y * x[i]\n"
    "return np.sum(x), x * y",
    "while": "z = x\nwhile np.sum(z * z) < 50.0:\n    z = z * 1.5 + y * 0.1\nreturn np.sum(z), z",
    "list": "zs = [x[i] * y[i] for i in range(3)]\nreturn sum(zs), x * zs[1]",
    "store": "b = x * 2.0\nb[0] = y[1] * x[2]\nb[1:] += y[1:]\nreturn np.sum(b * b), b",
    "view": "b = x * 1.0\nv = b[1:]\nv *= y[1:]\nreturn np.sum(b), b * y",
    "dict": "d = {'a': x * y, 'b': [x, y]}\nd['a'] = d['a'] * d['b'][0]\n"
    "return np.sum(d['a']), d['b'][1] * x",
    "helper": "def sq(t, k=2.0):\n    return k * t * t\nreturn np.sum(sq(x, k=y)), sq(y) * x",
    "no_grad": "with G.no_grad():\n    w = x * y\nreturn np.sum(w * x), y * w",
    "index": "return np.sum(x[[0, 0, 2]] * y[[1, 1, 2]]), x[[2, 1, 1]] * y",
    "where": "return np.sum(np.where(x > 0, x * y, y)), np.maximum(x, y)",
    "clip": "return np.sum(abs(x) * y), np.clip(x, -0.5, 1.0)",
    "unused": "return np.sum(x * x), x * 3.0",
}
X, Y = np.array([0.5, -1.0, 2.0]), np.array([1.5, 0.3, -0.7])
V = np.array([1.0, 2.0, -3.0])
INPUTS = (("x",), ("y",), ("x", "y"), ("x", "x"))
COTANGENTS = (
    ((0,), (None,)), ((1,), (V,)), ((0, 1), (None, V)), ((1,), (None,)), ((1,), (V[:2],)),
    ((0,), (np.float64(2.0),)),
)  # fmt: skip
OPTIONS = ({}, {"allow_unused": True}, {"materialize_grads": True})


def made(body, np, G):
    text = "def f(x, y):\n" + textwrap.indent(body, "    ") + "\n"
    return define(text, "f", {"np": np, "G": G})


def of_torch(torch, f, inputs, outputs, cotangents, options):
    """The gradients, or the error."""
    leaves = {"x": torch.tensor(X, requires_grad=True), "y": torch.tensor(Y, requires_grad=True)}
    values = f(leaves["x"], leaves["y"])
    given = [None if c is None else torch.tensor(c) for c in cotangents]
    try:
        found = torch.autograd.grad(
            [values[k] for k in outputs], [leaves[n] for n in inputs], given, **options
        )
    except RuntimeError as error:
        return error
    return [None if d is None else d.numpy() for d in found]


def of_srcdiff(f, inputs, outputs, cotangents, options):
    try:
        return srcdiff.grad(f, inputs, outputs=outputs, **options)(X, Y, grad_outputs=cotangents)
    except RuntimeError as error:
        return error


@pytest.mark.parametrize("name", BODIES)
def test_grad_is_that_of_torch(name):
    torch = pytest.importorskip("torch", reason="torch is not installed: extra oracles")
    f = made(BODIES[name], np, srcdiff)
    g = made(BODIES[name].replace("np.clip", "np.clamp"), torch, torch)
    for inputs, asked, options in itertools.product(INPUTS, COTANGENTS, OPTIONS):
        case = inputs, *asked, options
        expected, found = of_torch(torch, g, *case), of_srcdiff(f, *case)
        assert isinstance(found, Exception) == isinstance(expected, Exception), (case, found)
        if isinstance(expected, Exception):
            continue
        for a, b in zip(found, expected, strict=True):
            # A path that is not taken gives zeros here, None there.
            wanted = np.zeros(3) if b is None else b
            assert a is None if b is None and a is None else np.allclose(a, wanted), case


# --- outputs of runs -----------------------------------------------------------------------------

PARTS = {
    "return np.sum(x * y), x * x, y": [(0,), (1,), (2,)],
    "return np.sum(x), [x * y, np.sin(y)]": [(0,), (1, 0), (1, 1)],
    "return {'a': np.sum(x * y), 'b': x * np.exp(y)}": [("a",), ("b",)],
    "return x[1:], x.reshape(3, 1)": [(0,), (1,)],
    "return np.sum(x * y).reshape(1, 1)": [()],
    "return x * 2.0": [()],
    "return x[:, None] * y": [()],
}
SELECTED = [(body, path) for body, paths in PARTS.items() for path in paths]


def part(value, path):
    for key in path:
        value = value[key]
    return value


def outcome(compute):
    """What is computed as arrays, or the error."""
    try:
        found = compute()
    except RuntimeError as error:
        return error
    found = [getattr(d, "value", d) for d in found]
    return [d if d is None or isinstance(d, np.ndarray) else d.detach().numpy() for d in found]


def gradients(grad, given, inputs, options, order):
    """The gradients of the output that `given` makes, or those of the first of them."""
    output, at, cotangent, second = given()
    inputs = [at[n] for n in inputs]
    if order == 1:
        return grad(output, inputs, cotangent, **options)
    first = grad(output, inputs, cotangent, create_graph=True, **options)
    there = [d for d in first if d is not None]
    return grad(there[:1], inputs, [second], **options) if there else first


@pytest.mark.parametrize(("body", "path"), SELECTED)
def test_outputs_of_runs_are_those_of_torch(body, path):
    torch = pytest.importorskip("torch", reason="torch is not installed: extra oracles")
    f, g = made(body, np, srcdiff), made(body, torch, torch)
    shape = np.shape(part(f(X, Y), path))
    for inputs, options, order in itertools.product(INPUTS, OPTIONS, (1, 2, "batch")):
        batched = {"is_grads_batched": True} if order == "batch" else {}
        many = (4,) * len(batched)
        v = np.asarray(np.random.default_rng(0).standard_normal((*many, *shape)))

        def of_torch(v=v):
            x, y = torch.tensor(X, requires_grad=True), torch.tensor(Y, requires_grad=True)
            return part(g(x, y), path), {"x": x, "y": y}, torch.tensor(v), torch.tensor(V)

        def of_run(v=v):
            return part(srcdiff.run(f, X, Y), path), {"x": "x", "y": "y"}, v, V

        case, asked = (inputs, options, order), {**options, **batched}
        nth = 2 if order == 2 else 1
        expected = outcome(lambda: gradients(torch.autograd.grad, of_torch, inputs, asked, nth))
        found = outcome(lambda: gradients(srcdiff.autograd.grad, of_run, inputs, asked, nth))
        if "does not require grad" in str(expected):
            continue  # an output that no input reaches gives None or zeros here
        assert isinstance(found, Exception) == isinstance(expected, Exception), (case, found)
        if isinstance(expected, Exception):
            continue
        for a, b in zip(found, expected, strict=True):
            # Zeros that are materialised have the batch axis here.
            assert (a is None) == (b is None) and (a is None or np.allclose(a, b)), case
