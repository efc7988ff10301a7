"""Arrays without elements: gradients and tangents have their shapes, and the rest is right."""

import numpy as np
import pytest

import srcdiff

from .check import check_gradient, define

NONE, ROWS, WIDE = np.zeros(0), np.zeros((0, 3)), np.zeros((2, 0))
SOME, FULL = np.array([0.3, -0.7, 1.1]), np.array([[0.2, 0.5, -0.4], [1.0, 0.1, 0.6]])

CASES = {
    "np.sin(x) * y": (NONE, NONE),
    "x * y + y": (ROWS, SOME),
    "np.where(x > 0, x, y)": (WIDE, np.zeros((2, 1))),
    "np.sum(x) + np.sum(y, axis=0)": (NONE, FULL),
    "np.sum(x, axis=0) * np.prod(x, axis=0) + y": (ROWS, SOME),
    "np.cumsum(x, axis=1).sum() + y": (WIDE, SOME),
    "np.cumprod(x) * np.sum(y)": (NONE, SOME),
    "np.max(x, axis=1).sum() + y": (ROWS, SOME),
    "np.sort(x)[:2].sum() * y": (NONE, SOME),
    "x @ y": (WIDE, np.zeros((0, 3))),
    "np.dot(x, y.T)": (ROWS, FULL),
    "np.einsum('ij,j->i', x, y)": (ROWS, SOME),
    "np.outer(x, y).sum() + y": (NONE, SOME),
    "np.concatenate([x, y])": (ROWS, FULL),
    "np.stack([x, x], axis=1).sum() + y": (ROWS, SOME),
    "np.reshape(x, (0, 2)).T @ np.zeros((0, 1)) + np.sum(y)": (NONE, SOME),
    "np.pad(x, 1) * np.sum(y)": (NONE, SOME),
    "np.resize(x, (2, 2)) * y[0]": (NONE, SOME),
    "np.trim_zeros(x).sum() + y": (NONE, SOME),
    "np.trim_zeros(x * 0.0).sum() + y": (SOME, SOME),
    "np.linalg.norm(x) + y": (ROWS, SOME),
    "np.linalg.norm(x, axis=0) * y": (ROWS, SOME),
    "np.diff(x, axis=1).sum() + y": (ROWS, SOME),
    "np.repeat(x, 3, axis=0) * y": (ROWS, SOME),
    "np.take(y, np.zeros(0, int)) * x": (NONE, SOME),
    "y[np.zeros(3, bool)] * x": (NONE, SOME),
    "np.dot(np.fft.rfft(y).real, y[:2]) + x": (NONE, SOME),
}


@pytest.mark.parametrize("expression", CASES)
def test_empty(expression):
    f = define(f"def f(x, y):\n    return {expression}\n", "f", {"np": np})
    args = CASES[expression]
    check_gradient(f, args, (0, 1))
    value, tangent = srcdiff.jvp(f, args, tuple(map(np.ones_like, args)))
    assert np.shape(tangent) == np.shape(value)
