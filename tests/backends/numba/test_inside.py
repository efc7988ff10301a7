"""Loops that are compiled as part of their callers read and write what NumPy does."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

numba = pytest.importorskip("numba", reason="it is for Numba")

import srcdiff  # noqa: E402
from srcdiff.backends.numba import jit  # noqa: E402

if not numba.__version__.startswith(jit.KNOWN):
    pytest.skip("it is for other versions of Numba", allow_module_level=True)

from srcdiff.backends.numba.inside import Around, Inside  # noqa: E402  (needs Numba)

part = numba.njit(error_model="numpy", pipeline_class=Inside)
whole = numba.njit(boundscheck=True, pipeline_class=Around)


@part
def rows(x, y, k):
    for i in range(x.shape[0]):
        x_row = x[i]
        y_row = y[-1 - i, k]
        for j in range(x.shape[1]):
            x_row[j] = x_row[j] + 2.0 * y_row[j - 1]
            y[i, k, j] = x[i, j]


@part
def sums(x):
    """The buffer is its own, and a slice is made by Numba: references are counted."""
    t = np.zeros(x.shape[1])
    for i in range(x.shape[0]):
        row = x[i, 1:]
        for j in range(row.shape[0]):
            t[j] += row[j]
    return t[0]


@part
def truth(x, y):
    for i in range(x.shape[0]):
        y[i] = x[i] > 0


@part
def powers(x, y):
    for i in range(x.shape[0]):
        y[i] = x[i] ** 0 + x[i] ** 1 + x[i] ** 2 - x[i] ** 7 + x[i] ** -2


@whole
def raised(x, y):
    powers(x, y)


@whole
def called(x, y, k):
    rows(x, y, k)
    return sums(x)


@whole
def compared(x, y):
    truth(x, y)


def arrays(layout):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((3, 4)), rng.standard_normal((3, 5, 4))
    if layout == "apart":
        x, y = np.repeat(x, 2, axis=1)[:, ::2], np.repeat(y, 2, axis=2)[:, :, ::2]
    return np.asarray(x, order="K" if layout == "apart" else layout), y


@pytest.mark.parametrize("layout", ["C", "F", "apart"])
@pytest.mark.parametrize("k", [0, 2, -1])
def test_elements_and_rows_are_those_of_numpy(layout, k):
    x, y = arrays(layout)
    want_x, want_y = x.copy(), y.copy()
    rows.py_func(want_x, want_y, k)
    total = called(x, y, k)
    assert np.array_equal(x, want_x) and np.array_equal(y, want_y)
    assert total == sums.py_func(want_x)


@pytest.mark.parametrize("dtype", ["float64", "int64", "complex128", "float32"])
def test_numbers_are_cast_as_they_are_stored(dtype):
    x = np.array([1.5, -2.5, 0.0])
    y = np.full(3, 7, dtype)
    compared(x, y)
    assert np.array_equal(y, np.array([1, 0, 0], dtype))


def test_powers_are_products():
    x, y = np.array([1.5, -2.25, 0.5]), np.empty(3)
    raised(x, y)
    np.testing.assert_allclose(y, 1 + x + x**2 - x**7 + x**-2.0, rtol=1e-15)


def test_every_reference_is_given_back():
    x, y = arrays("C")
    called(x, y, 1)
    before = sys.getrefcount(x), sys.getrefcount(y)
    for _ in range(5):
        called(x, y, 1)
    assert (sys.getrefcount(x), sys.getrefcount(y)) == before


def chain(x):
    return np.sum(np.sin(x) * x)


def test_other_versions_compile_loops_as_they_are(monkeypatch):
    monkeypatch.setenv("SRCDIFF_CACHE_DIR", "")
    x = np.linspace(0.0, 1.0, 7)
    assert "pipeline_class" in text(x)
    monkeypatch.setattr(jit, "KNOWN", ("0.0.",))
    assert "pipeline_class" not in text(x)


def text(x):
    """What Numba is given for a function that is new, and right."""
    f = types.FunctionType(chain.__code__, globals(), "chain")
    g = srcdiff.grad(f, compile="numba")
    np.testing.assert_allclose(g(x), np.sin(x) + x * np.cos(x), rtol=1e-14)
    return g.source
