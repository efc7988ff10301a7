"""Displays with what is put into them: before and after."""

import numpy as np
import pytest

import srcdiff
from tests.optimize.test_simplify import simplified
from tests.support.differences import check_gradient

X = np.ones(3)


def sums(x, y):
    d = [0.0, 0.0]
    a = np.sum(x)
    b = np.sum(y)
    d[1] += a
    d[0] += b
    return d


def of_a_dict(x, y):
    d = {"a": 0.0, "b": 1.0}
    a = np.sum(x)
    d["a"] += a
    d["b"] = a
    return d


def looked_at(x, y):
    d = [0.0, 0.0]
    a = np.sum(x)
    d[1] += a
    b = d[1] + np.sum(y)
    d[0] += b
    d[0] += a
    return d


def an_array(x, y):
    d = [0.0, 0.0]
    d[1] += x
    x[0] = 5.0
    return d


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (sums, ["a = np.sum(x)", "b = np.sum(y)", "d = [b, a]", "return d"]),
        (of_a_dict, ["a = np.sum(x)", 'd = {"a": a, "b": a}', "return d"]),
        (looked_at, ["a = np.sum(x)", "b = a + np.sum(y)", "d = [b, a]", "d[0] += a", "return d"]),
        (an_array, ["d = [0.0, 0.0]", "d[1] += x", "x[0] = 5.0", "return d"]),
    ],
    ids=lambda case: getattr(case, "__name__", ""),
)
def test_stores_into_a_display(before, after):
    assert simplified(before, x=X, y=X) == after


def test_the_adjoint_of_a_list_of_numbers_is_a_display():
    def oscillator(angle, n):
        state = [angle, 0.0]
        for _ in range(n):
            position, speed = state
            state = [position + 0.1 * speed, speed - 0.1 * np.sin(position)]
        return state[0]

    g = srcdiff.grad(oscillator, "angle")
    g(0.5, 3)
    assert "d_state = [d_position, d_speed]" in g.source.replace("_1", "")
    h = 1e-6
    slope = (oscillator(0.5 + h, 3) - oscillator(0.5 - h, 3)) / (2 * h)
    assert g(0.5, 3) == pytest.approx(slope, rel=1e-8)


# --- lists that are empty again -----------------------------------------------------------------


def emptied(x, n):
    held = []
    for k in range(n):
        held.append(x * (k + 1.0))
    total = 0.0
    for _ in range(n - 1, -1, -1):
        total = total + np.sum(np.sin(held.pop()))
    return total


def half_emptied(x, n):
    held = []
    for k in range(n):
        held.append(x * (k + 1.0))
    total = 0.0
    for _ in range(n - 1):
        total = total + np.sum(np.sin(held.pop()))
    return total + np.sum(held[0])


def slopes(x):
    return np.sum(x * srcdiff.grad(emptied, "x")(x, 3))


def test_the_adjoint_of_what_is_empty():
    assert "zero_tree(held)" not in srcdiff.source(emptied, example=(X, 3))
    assert "zero_tree(held)" in srcdiff.source(half_emptied, example=(X, 3))
    check_gradient(emptied, (X, 3))
    check_gradient(half_emptied, (X, 3))
    check_gradient(slopes, (X,))
