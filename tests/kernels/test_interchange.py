"""Loops over planes `x[..., k]` as loops over elements that have them inside."""

import ast

import numpy as np
import pytest

import srcdiff
from tests.corpus.native import interpreted

X = np.random.default_rng(3).uniform(0.2, 0.9, (3, 4, 5))
M = np.ascontiguousarray(X[0])


def smoothed(x, a):
    h, out = np.zeros(x.shape[0]), np.empty_like(x)
    for t in range(x.shape[1]):
        h = a * h + x[:, t]
        out[:, t] = h
    return np.sum(out * out)


def variances(r, a):
    s, out = np.full(r.shape[0], 0.1), np.zeros_like(r)
    for t in range(1, r.shape[1]):
        s = a * r[:, t - 1] * r[:, t - 1] + 0.7 * s
        out[:, t] = r[:, t] / s
    return np.sum(out) + np.sum(s)


def solved(x, a):
    """Thomas' algorithm: what is computed first is gone through again from its end."""
    c, d = np.empty_like(x), np.empty_like(x)
    for k in range(x.shape[2]):
        b = np.full((x.shape[0], x.shape[1]), 2.0)
        if k > 0:
            b = b - a * c[:, :, k - 1]
        c[:, :, k] = x[:, :, k] / b
        d[:, :, k] = x[:, :, k]
        if k > 0:
            d[:, :, k] -= a * d[:, :, k - 1]
        d[:, :, k] /= b
    y = d[:, :, -1].copy()
    total = np.zeros((x.shape[0], x.shape[1]))
    for k in range(x.shape[2] - 2, -1, -1):
        y = d[:, :, k] - c[:, :, k] * y
        total += y * y
    return np.sum(total)


def clipped(x, a):
    out = np.zeros_like(x)
    for t in range(x.shape[1]):
        h = np.where(x[:, t] > 0.5, a * x[:, t], np.sqrt(x[:, t]))
        if t < x.shape[1] - 1:
            g = h
            out[:, t] += g * x[:, t + 1]
        out[:, t] *= h
    return np.sum(out)


def staggered(x, a):
    """What is added to two rows of the adjoint of `x` adds up in another order."""
    out = np.zeros((x.shape[0] - 1, x.shape[1]))
    for t in range(x.shape[1]):
        out[:, t] = (x[1:, t] + x[:-1, t]) * x[1:, t] * a
    return np.sum(out)


TURNED = [(smoothed, M), (variances, M), (solved, X), (clipped, M), (staggered, M)]


def neighbours(x, a):
    out = np.zeros_like(x)
    for t in range(1, x.shape[1]):
        out[1:, t] = a * out[:-1, t - 1] + x[1:, t]
    return np.sum(out * out)


def rows(x, a):
    h = np.zeros(x.shape[1])
    for t in range(x.shape[0]):
        h = a * h + x[t] * x[t]
    return np.sum(h)


def transcendental(x, a):
    h = np.zeros(x.shape[0])
    for t in range(x.shape[1]):
        h = np.exp(-a * h) + x[:, t]
    return np.sum(h)


def shared(x, a):
    """`first` sees what is written into `h`."""
    h = np.zeros(x.shape[0])
    first, total = h, np.zeros(x.shape[0])
    for t in range(x.shape[1]):
        h += a * x[:, t]
        total += first * x[:, t]
    return np.sum(total)


def several(x, a):
    """The total is one number, of which each iteration needs all."""
    h = np.zeros(x.shape[0])
    for t in range(x.shape[1]):
        h = a * h + x[:, t]
        h = h / np.sum(h)
    return np.sum(h * h)


LEFT = [neighbours, rows, transcendental, shared, several]


def derived(f, x, **options):
    """Value, gradient and text of a function, of which Python runs the loops."""
    g = srcdiff.value_and_grad(f, 0, **options)
    with interpreted():
        return g(np.copy(x), 0.3), g.source


def calls_in_loops(text):
    """The functions of loops that are called in loops themselves."""
    last = ast.parse(text).body[-1]
    loops = [n for n in ast.walk(last) if isinstance(n, ast.For)]
    calls = [c.func for loop in loops for c in ast.walk(loop) if isinstance(c, ast.Call)]
    return {c.id for c in calls if isinstance(c, ast.Name) and "_loop" in c.id}


@pytest.mark.parametrize(("f", "x"), TURNED)
@pytest.mark.parametrize("compiler", ["numba", "loops"])
def test_the_loop_goes_inside(f, x, compiler):
    expected, _ = derived(f, x)
    found, text = derived(f, x, compile=compiler)
    assert not calls_in_loops(text)
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("f", LEFT)
def test_it_stays_outside(f):
    expected, _ = derived(f, M)
    found, text = derived(f, M, compile="numba")
    assert calls_in_loops(text)
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize(("f", "x"), [*TURNED, *((f, M) for f in LEFT)])
def test_the_bits_are_those_of_numpy(f, x):
    expected, _ = derived(f, x)
    found, _ = derived(f, x, compile="loops", strict=True)
    for one, other in zip(found, expected):
        np.testing.assert_array_equal(one, other)


def test_what_adds_up_keeps_its_order():
    _, text = derived(staggered, M, compile="loops", strict=True)
    assert calls_in_loops(text)


def test_a_plane_is_a_number():
    _, text = derived(smoothed, M, compile="numba")
    assert """
        for t_1 in range(t):
            h = a * h + x[i, t_1]
            out[i, t_1] = h
""" in text


def test_what_is_saved_is_one_array():
    _, text = derived(variances, M, compile="numba")
    assert "s_saved = empty((t" in text and "append" not in text and "pop" not in text


def test_other_shapes_are_errors_as_before():
    def scaled(x, w):
        out = np.zeros_like(x)
        for t in range(x.shape[1]):
            out[:, t] = x[:, t] * w
        return np.sum(out)

    g = srcdiff.grad(scaled, (0, 1), compile="numba")
    with interpreted():
        g(np.copy(M), np.ones(4))
        with pytest.raises(ValueError, match="broadcast"):
            g(np.copy(M), np.ones(3))
        np.testing.assert_array_equal(g(np.ones((4, 0)), np.ones(4))[1], np.zeros(4))


def test_integers_out_of_bounds_are_errors_as_before():
    def ahead(x, n):
        out = np.zeros_like(x)
        for t in range(n):
            out[:, t] = x[:, t + 1] * x[:, t]
        return np.sum(out)

    g = srcdiff.grad(ahead, compile="numba")
    with interpreted():
        np.testing.assert_array_equal(g(np.copy(M), 4), srcdiff.grad(ahead)(np.copy(M), 4))
        with pytest.raises(IndexError):
            g(np.copy(M), 5)


def test_a_plane_that_a_branch_makes_is_asked_for():
    def late(x, first):
        out = np.zeros_like(x)
        for t in range(x.shape[1]):
            if t > first:
                h = x[:, t] * x[:, t - 1]
            if t > 0:
                out[:, t] = h * x[:, t]
        return np.sum(out)

    g = srcdiff.grad(late, compile="numba")
    with interpreted():
        np.testing.assert_allclose(
            g(np.copy(M), 0), srcdiff.grad(late)(np.copy(M), 0), rtol=1e-14
        )
        with pytest.raises(ValueError, match="broadcast"):  # with an array that stands for none
            g(np.copy(M), 1)


@pytest.mark.parametrize(("f", "x"), [(variances, M), (solved, X)])
def test_numba_compiles_it(f, x):
    pytest.importorskip("numba", reason="needs Numba, which compiles it")
    expected = srcdiff.value_and_grad(f, 0)(np.copy(x), 0.3)
    for compiler in ("numba", "loops"):
        found = srcdiff.value_and_grad(f, 0, compile=compiler)(np.copy(x), 0.3)
        for one, other in zip(found, expected):
            np.testing.assert_allclose(one, other, rtol=1e-13)
