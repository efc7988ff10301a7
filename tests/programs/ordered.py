"""Values in the order of a key, and the one with the greatest or the least."""

import numpy as np

from .registry import sample


def items_by_key(d):
    s = 0.0
    for _, v in sorted(d.items(), key=lambda kv: kv[0]):
        s = s * 0.5 + v * v
    return s


def items_in_order(d):
    s = 0.0
    for _, v in sorted(d.items()):
        s = s * 0.5 + v * v
    return s


def items_by_value(d):
    s = 0.0
    for _, v in sorted(d.items(), key=lambda kv: kv[1], reverse=True):
        s = s * 0.5 + v * v
    return s


def sorted_in_place(d):
    pairs = list(d.items())
    pairs.sort(key=lambda kv: kv[1])
    s = 0.0
    for _, v in pairs:
        s = s * 0.5 + v * v
    return s


def greatest_entry(d):
    best = max(d, key=d.get)
    return d[best] ** 2 * (1 + best)


def least_entry(d):
    best = min(d, key=lambda k: d[k] ** 2)
    return d[best] ** 3 * (2 + best)


def greatest_item(d):
    return max(d.items(), key=lambda kv: kv[1])[1] ** 2


def least_of_what_is_made(x):
    return min((v * v for v in x), key=lambda v: abs(v - 0.5)) * x[0]


def points_by_distance(x):
    points = [(x[0], x[1]), (x[1] * 0.1, x[2]), (x[2], x[0])]
    near = sorted(points, key=lambda p: p[0] ** 2 + p[1] ** 2)
    return near[0][0] * near[1][1] + near[2][0]


def rows_by_norm(m):
    rows = sorted(m, key=np.linalg.norm)
    return np.sum(rows[0] * rows[-1])


def moved_pairs(d):
    pairs = [(k, v) for k, v in d.items()]
    moved = [pairs[k] for k in (1, 0, 1)]
    moved.append(pairs[0])
    return sum(v * v * (i + 1) for i, (_, v) in enumerate(moved))


def _numbers(r):
    return ({1: r.uniform(1.0, 2.0), 0: r.uniform(0.2, 0.9), 2: r.uniform(3.0, 4.0)},)


for _function in (
    items_by_key, items_in_order, items_by_value, sorted_in_place, greatest_entry, least_entry,
    greatest_item, moved_pairs,
):  # fmt: skip
    sample(_function, _numbers)
for _function in (least_of_what_is_made, points_by_distance):
    sample(_function, lambda r: (r.uniform(0.3, 1.2, 3),))
sample(rows_by_norm, lambda r: (r.standard_normal((4, 3)),))
