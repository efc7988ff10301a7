"""Tuples made while the program runs, held by lists, dicts and other tuples at once."""

import itertools

import numpy as np

from .registry import sample


def two_of_a_list(x, y):
    points = list(zip(x, y))
    return sum(a * b for a, b in (points[0], points[2]))


def edges_listed(x, y):
    points = list(zip(x, y))
    s = 0.0
    for p, q in list(zip(points, points[1:])):
        s = s + (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2
    return s


def energy_of_pairs(x, y):
    points = list(zip(x, y))
    return sum((a[0] - b[0]) ** 2 * a[1] for a, b in itertools.combinations(points, 2))


def numbered(x, y):
    points = [(a, b) for a, b in zip(x, y)]
    found = list(enumerate(points))
    return found[1][1][0] * found[0][1][1]


def scored(x, y):
    points = [(a, b) for a, b in zip(x, y)]
    found = [(p[0] * p[1], p) for p in points]
    return sum(w * p[0] for w, p in found)


def _area(corners):
    s = 0.0
    for p in corners:
        s = s + p[0] * p[1]
    return s


def area_of_two(x, y):
    points = list(zip(x, y))
    return _area((points[0], points[1]))


def _spread(*corners):
    return _area(corners)


def area_of_arguments(x, y):
    points = [(x[i], y[i]) for i in range(len(x))]
    return _spread(points[0], points[1]) * points[2][0]


def largest_of_two(x, y):
    points = list(zip(x, y))
    c = max((points[0], points[1]), key=lambda q: q[0])
    return c[0] * c[1]


def appended_and_paired(x, y):
    points = []
    for a, b in zip(x, y):
        points.append((a * b, b))
    edges = [(points[i], points[i + 1]) for i in range(len(points) - 1)]
    return sum(p[0] * q[1] for p, q in edges) * points[0][1]


def named_segments(x, y):
    points = [tuple(r) for r in np.stack([x, y], axis=1)]
    segments = {"s": (points[0], points[1]), "t": (points[1], points[2])}
    return sum(p[0] * q[1] - p[1] * q[0] for p, q in segments.values())


def rest_of_three(x, y):
    points = sorted(zip(x, y))
    c, *rest = points[0], points[1], points[2]
    return c[0] * rest[0][1] + rest[1][0] * c[1]


def one_of_both(x, y):
    points = list(zip(x, y))
    both = (points[0], points[1])
    s = 0.0
    for k in range(2):
        s = s + both[k][0] * both[1 - k][1]
    twice = (both[0], both[0])
    return s * twice[1][0] + twice[0][1]


def kept_by_name(x, y):
    found = {}
    for name, a, b in zip("pqr", x, y):
        found[name] = (a, b)
    s = 0.0
    for c in (found["p"], found["r"]):
        s = s + c[0] * c[1] ** 2
    return s


def weighed_and_reversed(x, y):
    points = list(zip(x, y))
    weighed = [(w, p) for w, p in zip(x, points)]
    return sum(w * p[1] for w, p in reversed(weighed)) * weighed[0][1][0]


def parts_of_a_tuple(x, y):
    points = list(zip(x, y))
    whole = (points[0], points[1], points[2])
    return sum(p[0] * p[1] for p in whole[1:]) * whole[:2][0][1]


for _function in (
    two_of_a_list, edges_listed, energy_of_pairs, numbered, scored, area_of_two, area_of_arguments,
    largest_of_two, appended_and_paired, named_segments, rest_of_three, one_of_both, kept_by_name,
    weighed_and_reversed, parts_of_a_tuple,
):  # fmt: skip
    sample(
        _function,
        lambda r: (r.permutation(3) + r.uniform(0.4, 1.0, 3), r.uniform(0.4, 1.6, 3)),
        ("x", "y"),
    )
