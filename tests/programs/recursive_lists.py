"""Recursive functions that are given lists, and make longer ones."""

import numpy as np

from .registry import sample


def _joined(x, n):
    if n == 0:
        return []
    return [x * n, *_joined(np.sin(x), n - 1)]


def lists_joined_on_the_way_back(x):
    out = _joined(x, 3)
    out.append(out[-1] * out[0])
    return sum(out) * out[1]


def _visited(k, x):
    if k > 7:
        return []
    return _visited(2 * k, x) + [np.sin(x * k)] + _visited(2 * k + 1, x)


def visited_in_order(x):
    total = 0.0
    for k, value in enumerate(_visited(1, x)):
        total = total + value * k
    return total


for _function in (lists_joined_on_the_way_back, visited_in_order):
    sample(_function, lambda r: (r.uniform(0.2, 0.9, 3),))


def _guarded_sum(xs, k):
    try:
        return sum(xs) * k
    finally:
        pass


def list_for_a_helper_that_is_not_understood(x):
    weights = [1.0, 2.0]
    return x * _guarded_sum(weights, 3)


sample(list_for_a_helper_that_is_not_understood, lambda r: (r.standard_normal(3),))


def _extended(v, n):
    if n <= 0:
        return sum([q * q for q in v])
    return _extended((*v, 0.4), n - 1)


def tuple_that_grows(x, y):
    return _extended((x, y), 2)


def list_that_becomes_a_tuple(x, y):
    return _extended([x, y], 3)


sample(tuple_that_grows, lambda r: (r.standard_normal(3), 0.7), (0, 1))
# In the backward part of a recursive function it is not known what is added to an item.
sample(list_that_becomes_a_tuple, lambda r: (r.standard_normal(3), 0.7), (0, 1), order2=False)
