"""Arrays that have no value at first: typed for Numba, and asked for where Python would fail."""

import numpy as np
import pytest

import srcdiff
from tests.corpus.native import interpreted

A = np.linspace(0.5, 2.0, 12).reshape(4, 3)


def carried(a, first):
    """What a branch binds is read by a later one with the same test."""
    total, out = 0.0, np.empty(a.shape)
    for k in range(len(a)):
        if k > first:
            w = a[k] * a[k - 1]
        out[k] = np.sin(a[k])
        if k > 0:
            out[k] *= w
        total += np.sum(out[k] * out[k])
    return total


def asked(a):
    last = None
    for k in range(len(a)):
        if last is None:
            last = a[k] * 2.0
        else:
            last = last * a[k]
    return np.sum(last)


def gradient(f, *args, compile=None):
    g = srcdiff.grad(f, compile=compile)
    return g(*[np.copy(a) if isinstance(a, np.ndarray) else a for a in args]), g.source


def test_a_name_without_a_value_is_an_empty_array():
    expected, plain = gradient(carried, A, 0)
    with interpreted():
        found, text = gradient(carried, A, 0, compile="numba")
    assert "w = None" in plain and "w = None" not in text and " empty((0,))" in text
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_it_is_asked_for_where_python_fails():
    """The first of its reads is of a value that is not there: an empty array would be a number."""
    with interpreted(), pytest.raises(UnboundLocalError, match="'w'"):
        gradient(carried, A, 1, compile="numba")


def test_a_none_that_is_asked_for_is_no_array():
    with interpreted(), pytest.raises(srcdiff.UnsupportedError):
        gradient(asked, A, compile="numba")


def test_numba_compiles_it():
    pytest.importorskip("numba", reason="needs Numba, which compiles it")
    expected, _ = gradient(carried, A, 0)
    found, _ = gradient(carried, A, 0, compile="numba")
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def repeated(x, n):
    h = x * 1.0
    for _ in range(n):
        h = np.sin(h) * h
    return h * h


def recurred(x, n):
    s = np.sum(x)
    for i in range(n):
        if s > 1.0:
            s = s * x[i]
        else:
            s = np.sin(s) + x[i]
    return s


def chosen(x, n):
    h = x * 1.0
    if n != 1:
        for _ in range(n):
            h = np.sin(h) * h
    return np.sum(h * h)


@pytest.mark.parametrize("compiler", ["numba", "auto"])
@pytest.mark.parametrize(
    ("f", "dtype"),
    [(repeated, np.float64), (repeated, np.float32), (recurred, np.float64), (chosen, np.float64)],
)
def test_a_loop_that_runs_zero_times_saves_nothing(f, dtype, compiler):
    """What the forward part gives back is an empty list to Python, of which Numba knows no type."""
    pytest.importorskip("numba", reason="needs Numba, which compiles it")
    x = np.array([0.5, 0.9, 1.4, 0.3], dtype)
    pair = srcdiff.vjp(f, inputs="x", compile=compiler)
    for count in (0, 1, 3, 0):
        (value, pullback), (expected, plain) = pair(x, count), srcdiff.vjp(f, inputs="x")(x, count)
        np.testing.assert_allclose(value, expected, rtol=4e-7 if dtype is np.float32 else 1e-14)
        for _ in range(2):  # the residuals serve as often as one likes
            found, right = pullback(np.ones_like(value)), plain(np.ones_like(expected))
            assert found.dtype == dtype
            np.testing.assert_allclose(found, right, rtol=2e-6 if dtype is np.float32 else 1e-14)
