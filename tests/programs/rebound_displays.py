"""Displays of which an item, or the name itself, is bound again before they are read."""

import itertools
from itertools import starmap

import numpy as np

from .registry import sample


def joined_after_a_number_grew(x):
    s = x[0] * 1.0
    t = (s, x[1])
    s += x[2]
    t = t + (s,)
    return t[0] * t[1] * t[2]


def joined_in_each_step(x):
    s = x[0] * 1.0
    out = []
    for i in range(3):
        t = (s, x[i])
        s += x[i] * x[0]
        out.append(t + (s,))
    return sum(p * q * r for p, q, r in out)


def joined_around_calls(x):
    k = x[0] * 1.0

    def moved():
        nonlocal k
        k += x[1]
        return k * 2

    t = (k, moved()) + (k, moved())
    return t[0] * t[1] * t[2] * t[3]


def list_bound_again(x, y):
    _l = [x[0], y[0]]
    _l = y[-2:]
    return sum(_l) * x[1]


def tuple_bound_again_in_a_branch(x, y):
    _t = (x, y)
    if x[0] > 0:
        _t = (y, x * x)
    return np.sum(np.stack(_t) ** 2)


def list_bound_again_in_a_loop(x, y):
    _t = [x, y]
    for _ in range(2):
        z = np.stack(_t)
        _t = [y * x, x]
    return np.sum(z**2)


def nested_list_bound_again(x, y):
    _a = [x[0], y[1]]
    _l = [_a, [x[1], x[2]]]
    _a = [y[0], y[0]]
    _l = [_a, [x[1], x[2]]]
    return np.sum(np.array(_l) ** 3)


for _function in (joined_after_a_number_grew, joined_in_each_step, joined_around_calls):
    sample(_function, lambda r: (r.uniform(0.6, 1.3, 3),))
for _function in (
    list_bound_again, tuple_bound_again_in_a_branch, list_bound_again_in_a_loop,
    nested_list_bound_again,
):  # fmt: skip
    sample(_function, lambda r: (r.uniform(0.6, 1.3, 3), r.uniform(0.6, 1.3, 3)))


def joined_after_a_branch(x, n):
    s = x[0] * 1.0
    t = (s, x[1])
    if n:
        s += x[2]
    t = t + (s,)
    return t[0] * t[1] * t[2]


for _flag in (False, True):
    sample(joined_after_a_branch, lambda r, n=_flag: (r.uniform(0.6, 1.3, 3), n), inputs=0)


def scaled_power(a, k):
    return a**k * a


def starmap_over_pairs(x):
    pairs = [(x[0], 2), (x[1], 3), (x[2], 1)]
    return sum(starmap(scaled_power, pairs))


def starmap_over_zip(x):
    total = 0.0
    for v in itertools.starmap(scaled_power, zip(x, (1, 2, 3))):
        total = total + v * total + v
    return total


def list_of_starmap(x):
    made = list(starmap(lambda a, b: a * b + b, zip(x, x[1:])))
    return made[0] * made[1] ** 2


for _function in (starmap_over_pairs, starmap_over_zip, list_of_starmap):
    sample(_function, lambda r: (r.uniform(0.6, 1.3, 3),))


def joined_after_an_array_grew(x):
    s = x[:2] * 1.0
    t = (s, x[1])
    s += x[2]
    t = t + (s,)
    return np.sum(t[0] * t[1] * t[2])


def part_of_a_tuple_in_a_list(x):
    t = (x[0], x[1], x[2])
    rows = [t, t]
    if x[0] > 0.9:
        rows[0] = (x[0] * x[1],) + t[:2]
    return rows[0][0] * rows[0][1] * rows[1][2]


def window_of_tuples(x):
    def moved(t, v):
        return t[1:] + (v,)

    rows = [(x[0], x[1])]
    for i in range(2):
        rows.append(moved(rows[-1], x[i] * x[2]))
    if x[0] > 0.9:
        rows[0] = rows[-1]
    return rows[0][0] * rows[1][1] * rows[2][1]


def lists_in_a_tuple_in_a_list(x):
    a = np.array([([x[0], x[1]], [x[2] * x[0], 1.0])])
    return np.sum(a * a * a)


for _function in (
    joined_after_an_array_grew, part_of_a_tuple_in_a_list, window_of_tuples,
    lists_in_a_tuple_in_a_list,
):  # fmt: skip
    sample(_function, lambda r: (r.uniform(0.6, 1.3, 3),))
