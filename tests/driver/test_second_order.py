"""Second derivatives by the tangent, where the text of a gradient is not accepted again."""

import linecache
import re

import numpy as np
import pytest

import srcdiff
from tests.support.differences import check_second_order, define, from_source

X = np.array([0.4, 0.7, 1.1, 0.9])
U = np.array([0.9, -0.2, 0.5, 1.0])


def transform(a):
    n = len(a)
    if n == 1:
        return
    even, odd = a[::2].copy(), a[1::2].copy()
    transform(even)
    transform(odd)
    a[: n // 2] = even + odd
    a[n // 2 :] = even - odd


def energy(x, scale=1.0):
    y = x * np.sin(x)
    transform(y)
    return scale * np.sum(y**3)


def slope_along(x, v):
    g = srcdiff.grad(energy)(x)
    return np.sum(g * v)


def slopes(x, scale):
    dx, ds = srcdiff.grad(energy, ("x", "scale"))(x, scale=scale)
    return np.sum(dx**2) + ds * scale


def test_text():
    twice = srcdiff.grad(slope_along)
    twice(X, np.ones(4))
    assert "t = gradients_at(energy, (0,), None, x)" in twice.source
    assert "gradients_at_back(energy, (0,), d_t_1, None, x)" in twice.source


@pytest.mark.parametrize(
    ("function", "args", "inputs"),
    [
        (energy, (X,), 0),
        (energy, (X, 0.3), ("x", "scale")),
        (slope_along, (X, np.array([1.0, -0.5, 2.0, 0.3])), ("x", "v")),
        (slopes, (X, 0.7), ("x", "scale")),
    ],
)
def test_orders(function, args, inputs):
    if function is energy:
        check_second_order(function, args, inputs)
        return
    r = np.random.default_rng(0)
    names = [inputs] if isinstance(inputs, str) else list(inputs)
    found = srcdiff.grad(function, tuple(names))(*args)
    for k, gradient in enumerate(found):
        along = r.standard_normal(np.shape(args[k]))
        h = 1e-6

        def at(t, k=k, along=along):
            return function(*args[:k], args[k] + t * along, *args[k + 1 :])

        slope = (at(h) - at(-h)) / (2 * h)
        assert np.sum(gradient * along) == pytest.approx(slope, rel=1e-7)


V, W = np.array([0.3, 0.2, -0.5, 0.7]), np.array([1.0, -0.4, 0.2, 0.6])


def along(x, scale):
    return srcdiff.jvp(srcdiff.grad(energy), (x, scale), (V, None))[1]


@pytest.mark.parametrize("moves", [(V, 0.2), (V, None), (None, 0.2)])
def test_forward_over_reverse(moves):
    g = srcdiff.grad(energy, ("x", "scale"))
    by_x, by_scale = (0.0 * X if moves[0] is None else V), moves[1] or 0.0
    h = 1e-5
    ahead, behind = (g(X + s * by_x, 0.3 + s * by_scale) for s in (h, -h))
    value, tangent = srcdiff.jvp(g, (X, 0.3), moves)
    for k in range(2):
        np.testing.assert_array_equal(value[k], g(X, 0.3)[k])
        np.testing.assert_allclose(tangent[k], (ahead[k] - behind[k]) / (2 * h), rtol=1e-8)


def test_forward_over_reverse_by_the_cotangent():
    g = srcdiff.grad(energy)
    moved = srcdiff.jvp(lambda x, ct: g(x, grad_outputs=ct), (X, 0.7), (V, 0.5))[1]
    np.testing.assert_allclose(moved, 0.7 * srcdiff.hvp(energy, (X,), V) + 0.5 * g(X), rtol=1e-13)


def test_forward_over_reverse_once_more():
    h = 1e-5
    _, tangent = srcdiff.jvp(along, (X, 0.3), (W, 0.5))
    slope = (along(X + h * W, 0.3 + h * 0.5) - along(X - h * W, 0.3 - h * 0.5)) / (2 * h)
    np.testing.assert_allclose(tangent, slope, rtol=1e-8)
    by_x, by_scale = srcdiff.grad(along, ("x", "scale"))(X, 0.3, grad_outputs=U)
    assert by_x @ W + 0.5 * by_scale == pytest.approx(U @ tangent, rel=1e-12)


def test_forward_over_reverse_when_texts_were_forgotten(monkeypatch):
    first = srcdiff.jvp(along, (X, 0.3), (W, 0.5))
    monkeypatch.setattr(linecache, "cache", {})
    np.testing.assert_array_equal(srcdiff.jvp(along, (X, 0.3), (W, 0.5)), first)
    monkeypatch.setattr(linecache, "cache", {})
    np.testing.assert_array_equal(srcdiff.jvp(lambda x: along(x, 0.3), (X,), (W,))[0], first[0])


@pytest.mark.parametrize("made", [tuple, list])
def test_forward_over_reverse_of_a_sequence(made):
    def product(pair, scale):
        a, b = pair
        return energy(a * np.cos(b), scale)

    g = srcdiff.grad(product)
    h = 1e-5
    value, tangent = srcdiff.jvp(g, (made([X, V]), 0.3), (made([V, W]), None))
    ahead, behind = (g(made([X + s * V, V + s * W]), 0.3) for s in (h, -h))
    assert type(value) is type(tangent) is made
    for k in range(2):
        np.testing.assert_allclose(tangent[k], (ahead[k] - behind[k]) / (2 * h), rtol=1e-7)


def test_second_derivatives_do_not_depend_on_the_order():
    columns = [srcdiff.grad(slope_along)(X, e) for e in np.eye(4)]
    np.testing.assert_allclose(columns, np.transpose(columns), rtol=1e-12, atol=1e-12)


def test_gradients_that_only_the_backward_part_changes():
    """A hook is no part of the tangent: what is refused stays refused."""
    text = (
        "def hooked(x):\n    y = srcdiff.autograd.hook(x * np.sin(x), lambda d: 2.0 * d)\n"
        "    y = y * 1.0\n    transform(y)\n    return np.sum(y**3)\n"
    )
    names = {"np": np, "srcdiff": srcdiff, "transform": transform}
    f = define(text, "hooked", names)
    with pytest.raises(srcdiff.UnsupportedError, match="writes into"):
        srcdiff.grad(lambda x: np.sum(srcdiff.grad(f)(x) ** 2))(X)


def test_random_numbers_are_drawn_once():
    rng = np.random.default_rng(0)

    def noisy(x):
        y = x * rng.standard_normal(4)
        transform(y)
        return np.sum(y**3)

    with pytest.raises(srcdiff.UnsupportedError):
        srcdiff.grad(lambda x: np.sum(srcdiff.grad(noisy)(x) ** 2))(X)


def test_files_keep_what_is_refused(tmp_path):
    with pytest.raises(srcdiff.UnsupportedError):
        srcdiff.aot.generate(srcdiff.grad(energy), tmp_path / "twice.py", example=(X,))


def test_a_gradient_as_a_text_of_the_user_is_refused_at_its_line():
    """It is differentiated as any other function is."""
    g = srcdiff.grad(energy)
    g(X)
    text = re.sub(r"\bgrad_outputs\b", "ct", g.source)
    printed = from_source(text, "energy_grad", energy, g.specialised(X).__globals__)
    np.testing.assert_allclose(printed(X), g(X), rtol=1e-15)
    with pytest.raises(srcdiff.UnsupportedError) as info:
        srcdiff.grad(printed)(X, grad_outputs=U)
    assert info.value.loc.file == printed.__code__.co_filename and info.value.loc.line > 1


def picked(b, n):
    if n <= 0:
        return 0.3 * b
    b[n] = 1.0
    picked(b, n - 1)
    return b[[1, 0, 2, 1]]


def of_picked(x):
    return np.sum(np.sin(picked(x, 1)))


def test_an_index_that_is_missing_on_another_path_takes_no_view():
    """In the text of the gradient `t` is None or a list: `b[t]` is a copy, or not reached."""

    def slope(x):
        return np.sum(srcdiff.grad(of_picked)(x) * U)

    assert np.allclose(srcdiff.grad(slope)(X), srcdiff.hvp(of_picked, (X,), U), atol=1e-12)
