"""What a function under `functools.cache` gives is written into by nobody, under whatever name."""

import functools

import numpy as np
import pytest

import srcdiff

X = np.array([1.0, 2.0, 3.0])


@functools.lru_cache(None)
def row(k):
    return np.arange(3.0) * k


@functools.lru_cache(None)
def ends(k):
    return [float(k), 2.0]


def by_its_name(x):
    r = row(2)
    r[0] = 3.0
    return np.sum(r * x)


def as_an_item(x):
    rows = [row(2)]
    rows[0][0] = 3.0
    return np.sum(rows[0] * x)


def in_a_loop_over_items(x):
    rows = []
    for k in range(3):
        rows.append(row(k))
    for r in rows:
        r += 1.0
    return np.sum(rows[0] * x)


def through_another_name_of_a_list(x):
    rows = []
    others = rows
    others.append(row(2))
    r = rows[0]
    r *= 2.0
    return np.sum(r * x)


def through_a_list_of_lists(x):
    rows = []
    lists = [rows]
    for k in range(2):
        lists[0].append(row(k))
    r = rows[1]
    r[1:] = 2.0
    return np.sum(r * x)


def after_a_swap(x):
    a, b = np.zeros(3), row(2)
    for _ in range(3):
        a, b = b, a
        a[0] = 2.0
    return np.sum(a * x)


def grown(x):
    both = ends(2)
    both.append(3.0)
    return np.sum(both[0] * x)


# An operator in place on an item of a list that may hold others is refused before that.
@pytest.mark.parametrize(
    ("f", "refusal"),
    [
        (by_its_name, "kept for the next call"),
        (as_an_item, "kept for the next call"),
        (in_a_loop_over_items, "another name shares"),
        (through_another_name_of_a_list, "kept for the next call"),
        (through_a_list_of_lists, "kept for the next call"),
        (after_a_swap, "kept for the next call"),
        (grown, "kept for the next call"),
    ],
)
def test_it_is_not_written_into(f, refusal):
    with pytest.raises(srcdiff.UnsupportedError, match=refusal):
        srcdiff.grad(f)(X)
