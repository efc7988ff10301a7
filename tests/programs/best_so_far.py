"""Variables that are None at first, and hold an object later: the best one so far, a chain."""

from collections import namedtuple
from dataclasses import dataclass

from .registry import sample

Pair = namedtuple("Pair", "u v")


@dataclass
class Node:
    u: float
    v: float


class Vector:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def norm(self):
        return self.a * self.a + self.b

    @property
    def half(self):
        return self.a * 0.5

    def __mul__(self, other):
        return Vector(self.a * other, self.b * other)

    def __bool__(self):
        return bool(self.a > 0.5)


def _vectors(x):
    return [Vector(v, v * x[0]) for v in x]


def longest(x):
    best = None
    for p in _vectors(x):
        if best is None or p.norm() > best.norm():
            best = p
    return best.norm() * best.half


def last_that_counts(x):
    best = None
    for p in _vectors(x):
        if not best or p.norm() > best.norm():
            best = p
    return best.norm() * best.b


def kept_by_its_class(x):
    best = None
    for p in _vectors(x):
        if isinstance(best, Vector) and best.a > p.a:
            continue
        best = p
    return (best * 2.0).norm()


def least_with_its_value(x):
    best = value = None
    for k in range(3):
        p = Vector(x[k], x[k] * x[0])
        if value is None or p.a < value:
            best, value = p, p.a
    return best.a * best.b + value


def least_pair(x):
    best = None
    for k in range(3):
        p = Pair(x[k], x[k] * x[0])
        if best is None or p.u < best.u:
            best = p
    a, b = best
    return a * b * best[0] + best[1]


def chain(x):
    node = None
    for v in x:
        node = Node(v, 0.0 if node is None else node.u * v)
    return node.u * node.v


def last_item(x):
    c = None
    for d in [Pair(v, v * v) for v in x]:
        c = d
    return c[0] * c[1] * x[0]


for _function in (
    longest, last_that_counts, kept_by_its_class, least_with_its_value, least_pair, chain,
    last_item,
):  # fmt: skip
    sample(_function, lambda r: (r.permutation(3) * 0.4 + r.uniform(0.3, 0.5, 3),))
