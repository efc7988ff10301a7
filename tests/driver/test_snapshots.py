"""Runs that run again: as they were, whatever has been written since."""

import numpy as np
import pytest

import srcdiff

X = np.array([0.5, -1.0, 2.0])
Y = np.array([2.0, 3.0, 4.0])


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)


def cubes(ws):
    return sum([np.sum(w**3) for w in ws])


class Weighted:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return np.sum(self.w * x**3)

    def __call__(self, x):
        return self.loss(x)


CHANGED = {
    "array": (lambda x: np.sum(x**3), lambda x: x, lambda a: a.__imul__(10.0)),
    "list": (cubes, lambda x: [x], lambda a: a[0].__imul__(10.0)),
    "list with another item": (cubes, lambda x: [x], lambda a: a.append(X)),
    "dict": (lambda d: np.sum(d["x"] ** 3), lambda x: {"x": x}, lambda a: a.update(x=9.0 * X)),
}


@pytest.mark.parametrize("name", CHANGED)
def test_gradients_that_are_outputs_are_those_of_the_run(name):
    f, make, change = CHANGED[name]
    given = make(X.copy())
    r = srcdiff.autograd.run(f, given)
    change(given)

    def at(tree):
        return tree["x"] if name == "dict" else tree[0] if "list" in name else tree

    gradient = r.grad(0, create_graph=True)
    close(at(gradient.value), 3.0 * X**2)
    batch = r.grad(0, np.array([1.0, 2.0]), is_grads_batched=True, retain_graph=True)
    close(at(batch), np.stack([3.0 * X**2, 6.0 * X**2]))
    again = gradient.grad(0, like(gradient.value), create_graph=True)
    close(at(again.value), 6.0 * X)


def like(tree):
    """Ones of the structure of a gradient."""
    if isinstance(tree, dict):
        return {k: like(v) for k, v in tree.items()}
    return [like(v) for v in tree] if isinstance(tree, list) else np.ones_like(tree)


@pytest.mark.parametrize("call", [lambda o: o, lambda o: o.loss], ids=["object", "method"])
def test_objects_are_what_they_were_at_the_run(call):
    o = Weighted(Y.copy())
    r = srcdiff.autograd.run(call(o), X)
    o.w *= 10.0
    close(r.grad("x", create_graph=True).value, 3.0 * Y * X**2)


def test_parts_are_run_through_as_they_were():
    x = X.copy()
    r = srcdiff.autograd.run(lambda x: (np.sum(x**3), np.sum(np.sqrt(x - x))), x)
    x[:] = 10.0
    with np.errstate(all="ignore"):
        close(r[0].grad("x"), 3.0 * X**2)


def test_arrays_that_came_into_a_list_after_the_run_are_no_inputs():
    old, new = X.copy(), Y.copy()
    ws = [old, X]
    r = srcdiff.autograd.run(cubes, ws)
    ws[1] = new
    ws.append(old)
    close(r.grad(old, retain_graph=True), 3.0 * X**2)
    with pytest.raises(srcdiff.TransformError, match="no input that is this object"):
        r.grad(new)


def factors(n):
    """Functions of things outside, and what changes those."""
    scale, table, shift = n, {"k": n}, np.full(3, n)

    def change():
        nonlocal scale
        scale = 5.0
        table["k"] = 5.0
        shift[:] = 5.0

    return change, [
        lambda x: scale * np.sum(x**3),
        lambda x: table["k"] * np.sum(x**3),
        lambda x: np.sum(shift * x**3),
    ]


@pytest.mark.parametrize("k", range(3))
def test_what_changed_outside_is_no_longer_run_again(k):
    change, functions = factors(2.0)
    r = srcdiff.autograd.run(functions[k], X)
    close(r.grad("x", create_graph=True).value, 6.0 * X**2)
    change()
    close(r.grad("x", retain_graph=True), 6.0 * X**2)
    with pytest.raises(srcdiff.UnsupportedError, match="changed since the run of") as e:
        r.grad("x", create_graph=True)
    assert "test_snapshots.py" in str(e.value) and ("scale", "table", "shift")[k] in str(e.value)


def test_an_equal_value_outside_has_not_changed():
    scale = 2.0

    def f(x):
        return scale * np.sum(x**3)

    r = srcdiff.autograd.run(f, X)
    scale = float("2")
    close(r.grad("x", create_graph=True).value, 6.0 * X**2)
