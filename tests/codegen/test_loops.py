"""Loops of the backward part that only repeat: before and after, and the loops that stay."""

import numpy as np
import pytest

import srcdiff
from tests.support.differences import check_gradient, define

PLAIN = """
def f(x, n):
    h = x
    for i in range({bounds}):
        h = np.sin(h) * x
    return h
"""


def headers(f, *args):
    """The loops of the forward and of the backward part of a gradient."""
    check_gradient(f, args)
    text = srcdiff.source(f, example=args)
    parts = text.split("# backward")
    return [[s.strip() for s in p.splitlines() if "for " in s] for p in parts]


def made(text):
    return define(text, "f", {"np": np})


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize(
    "bounds, backward",
    [
        ("n", "n"),
        ("3", "3"),
        ("n - 1", "n - 1"),
        ("n + 1", "n + 1"),
        ("1, n", "1, n"),
        ("n, 4", "n, 4"),
        ("-1, n + 2", "-1, n + 2"),
        ("n - 2, n", "n - 2, n"),
    ],
)
def test_repetitions_count_as_the_forward_part_does(bounds, backward, n):
    forward, back = headers(made(PLAIN.format(bounds=bounds)), 0.3, n)
    assert back == [f"for _ in range({backward}):"]


def test_a_variable_that_is_read_counts_down():
    def f(x):
        h = 0.5
        for i in range(len(x)):
            h = np.sin(h) * x[i]
        return h

    assert headers(f, np.array([0.3, 0.4, 0.5]))[1] == ["for i in range(n - 1, -1, -1):"]


BEHIND = """
def f(x, n):
    h = x
    for i in range(n):
        h = np.sin(h) * x
        for k in range(2):
            h = h * np.cos(h)
    for k in range(2):
        h = h * np.sin(i * h)
        i = k
    return h
"""
CHANGED = """
def f(x, n):
    h = x
    for k in range(2):
        m = n - 1
        for i in range(n):
            h = np.sin(h) * x
        n = m
    return h
"""


@pytest.mark.parametrize("text", [BEHIND, CHANGED])
def test_bounds_and_variables_that_change_afterwards(text):
    check_gradient(made(text), (0.3, 3))


def test_loops_that_the_user_counts_down_stay_in_the_forward_part():
    def f(x, n):
        h = x
        for _ in range(n - 1, -1, -1):
            h = np.sin(h) * x
        return h

    forward, back = headers(f, 0.3, 3)
    assert forward[-1] == "for _ in range(n - 1, -1, -1):"
    assert back == ["for _ in range(n):"]


def test_rounds_over_items_are_counted_upwards():
    def f(x, names):
        h = x
        for _ in names:
            h = np.sin(h) * x
        return h

    assert headers(f, 0.3, ["a", "b", "c"])[1] == ["for _ in range(n):"]
