"""Functions of every kind times the parameters of `grad`, with torch as the judge."""

import itertools
import textwrap
from dataclasses import dataclass

import numpy as np
import pytest

import srcdiff
from tests.support.differences import define

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
    "recursion": "return np.sum(power(x, 3) * y), power(y, 2) * x",
    "method": "m = Model(x, 2.0)\nreturn np.sum(m.apply(y)), m.w * m.scaled(y)",
    "while else": "k = 0\nz = x\nwhile k < 3:\n    z = z * y + x\n    k += 1\n"
    "else:\n    z = z * 2.0\nreturn np.sum(z), z",
    "closure": "def g(t):\n    return t * y + x\nreturn np.sum(g(x)), g(g(y))",
    "dataclass": "p = Pair(x * y, x)\np.first = p.first * 2.0\n"
    "return np.sum(p.first * p.second), p.first",
    "dict loop": "d = {'a': x, 'b': y, 'c': x * y}\nt = x * 0.0\nfor k, v in d.items():\n"
    "    t = t + v * v\nreturn np.sum(t), t * d['b']",
    "mutating helper": "b = x * y\ndoubled(b, y)\nreturn np.sum(b * x), b",
    "layers": "h = x\nfor w, c in [(y, x), (x * 2.0, y)]:\n    h = np.tanh(h * w + c)\n"
    "return np.sum(h), h * y",
}
HELPERS = """
def power(t, n):
    return t if n == 1 else t * power(t, n - 1)


def doubled(b, y):
    b *= 2.0
    b[0] = y[0] * y[1]


class Model:
    def __init__(self, w, k):
        self.w, self.k = w, k

    def scaled(self, t):
        return self.k * t

    def apply(self, t):
        return np.sin(self.w * self.scaled(t))


@dataclass
class Pair:
    first: object
    second: object


"""
X, Y = np.array([0.5, -1.0, 2.0]), np.array([1.5, 0.3, -0.7])
V = np.array([1.0, 2.0, -3.0])
INPUTS = (("x",), ("y",), ("x", "y"), ("x", "x"))
COTANGENTS = (
    ((0,), (None,)), ((1,), (V,)), ((0, 1), (None, V)), ((1,), (None,)), ((1,), (V[:2],)),
    ((0,), (np.float64(2.0),)),
)  # fmt: skip
OPTIONS = ({}, {"allow_unused": True}, {"materialize_grads": True})


def made(body, np, G):
    text = HELPERS + "def f(x, y):\n" + textwrap.indent(body, "    ") + "\n"
    return define(text, "f", {"np": np, "G": G, "dataclass": dataclass})


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
    f = made(BODIES[name], np, srcdiff.autograd)
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
    f, g = made(body, np, srcdiff.autograd), made(body, torch, torch)
    shape = np.shape(part(f(X, Y), path))
    for inputs, options, order in itertools.product(INPUTS, OPTIONS, (1, 2, "batch")):
        batched = {"is_grads_batched": True} if order == "batch" else {}
        many = (4,) * len(batched)
        v = np.asarray(np.random.default_rng(0).standard_normal((*many, *shape)))

        def of_torch(v=v):
            x, y = torch.tensor(X, requires_grad=True), torch.tensor(Y, requires_grad=True)
            return part(g(x, y), path), {"x": x, "y": y}, torch.tensor(v), torch.tensor(V)

        def of_run(v=v):
            return part(srcdiff.autograd.run(f, X, Y), path), {"x": "x", "y": "y"}, v, V

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


# --- other options -------------------------------------------------------------------------------

SINGLE, MATRIX = X.astype(np.float32), np.outer(X, Y)
FORMS = {
    "complex": ("z = x * (1.0 + 2.0j) * y\nreturn np.sum(np.abs(z) ** 2), z.real * y", X, Y),
    "complex inputs": ("return np.sum(np.abs(x * y) ** 2), np.real(x * y)", X + 1j * Y, Y - 2j * X),
    "single": ("return np.sum(x * y), x * np.exp(y)", SINGLE, Y.astype(np.float32)),
    "single and double": ("return np.sum(x * y), x * np.exp(y)", SINGLE, Y),
    "no axes": ("return x * np.sin(y), x * y", np.array(2.0), np.array(0.5)),
    "no elements": ("return np.sum(x * y), x * x + y", np.zeros(0), np.zeros(0)),
    "broadcast": ("return np.sum(x * y), x + y", MATRIX, Y),
    "negative strides": ("return np.sum(x[::2] * y[::2]), x * y", X[::-1], Y),
    "matrix": ("return np.sum(x @ y), x.T @ y", MATRIX, Y),
}
FLAGS = ({}, {"has_aux": True}, {"is_grads_batched": True}, {"create_graph": True})


def in_torch(torch, value):
    return torch.tensor(np.array(value, order="C"), requires_grad=True)


def seeds(shapes, flags):
    """Random cotangents for the outputs of some shapes, with a batch in front if asked for."""
    rng = np.random.default_rng(5)
    batch = (2,) if "is_grads_batched" in flags else ()
    return tuple(rng.standard_normal((*batch, *s)) for s in shapes)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("name", FORMS)
def test_values_of_other_forms(name, flags):
    """Gradients of both outputs: their numbers, dtypes and shapes."""
    torch = pytest.importorskip("torch", reason="torch is not installed: extra oracles")
    body, x, y = FORMS[name]
    f, g = made(body, np, srcdiff.autograd), made(body, torch, torch)
    if "has_aux" in flags:
        nested = f"def inner():\n{textwrap.indent(body, '    ')}\nreturn inner(), x"
        f = made(nested, np, srcdiff.autograd)
    inputs = in_torch(torch, x), in_torch(torch, y)
    values = g(*inputs)
    given = seeds([tuple(v.shape) for v in values], flags)
    batched = "is_grads_batched" in flags
    expected = torch.autograd.grad(
        values, inputs, [torch.tensor(v).to(o.dtype) for v, o in zip(given, values)],
        is_grads_batched=batched,
    )  # fmt: skip
    found = srcdiff.grad(f, (0, 1), **flags)(x, y, grad_outputs=given)
    found = found[0] if "has_aux" in flags else found
    for a, b in zip(found, expected, strict=True):
        b = b.resolve_conj().numpy()
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-5 if a.dtype == np.float32 else 1e-12, atol=1e-7)


def structured(p):
    return np.sum(p["w"] * p["layers"][0]) * p["k"], p["w"] * p["layers"][1]


def test_inputs_in_structures():
    torch = pytest.importorskip("torch", reason="torch is not installed: extra oracles")
    w, a, b, k = (torch.tensor(v, requires_grad=True) for v in (X, Y, V, 2.0 * np.ones(())))
    outputs = structured_in_torch(w, a, b, k)
    expected = torch.autograd.grad(outputs, (w, a, b, k), (None, torch.tensor(V)))
    p = {"w": X, "layers": [Y, V], "k": np.array(2.0), "steps": 3}
    found = srcdiff.grad(structured)(p, grad_outputs=(None, V))
    assert found["steps"] is None and type(found["layers"]) is list
    mine = found["w"], *found["layers"], found["k"]
    for d, e in zip(mine, expected, strict=True):
        np.testing.assert_allclose(d, e.numpy(), rtol=1e-14)
        assert d.shape == tuple(e.shape)


def structured_in_torch(w, a, b, k):
    return (w * a).sum() * k, w * b


def smoothed(n, A, B):
    for _ in range(n):
        B[1:-1] = A[:-2] * A[1:-1] + B[2:]
        A[:] = B * 0.5


def smoothed_in_torch(n, A, B):
    A, B = A.clone(), B.clone()
    for _ in range(n):
        B = torch_stored(B, A[:-2] * A[1:-1] + B[2:])
        A = B * 0.5
    return B


def torch_stored(B, inner):
    new = B.clone()
    new[1:-1] = inner
    return new


@pytest.mark.parametrize("inputs", [("A",), ("A", "B")])
def test_a_kernel_that_writes_into_its_output(inputs):
    torch = pytest.importorskip("torch", reason="torch is not installed: extra oracles")
    rng = np.random.default_rng(6)
    A, B, v = rng.standard_normal((3, 6))
    leaves = {"A": torch.tensor(A, requires_grad=True), "B": torch.tensor(B, requires_grad=True)}
    out = smoothed_in_torch(3, leaves["A"], leaves["B"])
    expected = torch.autograd.grad(out, [leaves[n] for n in inputs], torch.tensor(v))
    kept = A.copy(), B.copy()
    found = srcdiff.grad(smoothed, inputs, outputs="B")(3, A, B, grad_outputs=v)
    for d, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(d, e.numpy(), rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal((A, B), kept)


@pytest.mark.parametrize("inputs", ["z", 5, -4, 1.5, (), [], "x["])
def test_inputs_that_are_not_there(inputs):
    with pytest.raises(RuntimeError if inputs not in ((), []) else ValueError):
        srcdiff.grad(lambda x, y: np.sum(x * y), inputs)(X, Y)


@pytest.mark.parametrize("size", [0, 1, 3])
def test_batches_of_any_size(size):
    v = np.ones((size, 3))
    for d in srcdiff.grad(lambda x, y: x * y, (0, 1), is_grads_batched=True)(X, Y, grad_outputs=v):
        assert d.shape == (size, 3)
