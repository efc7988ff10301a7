"""`itemgetter`, `attrgetter` and `methodcaller`, as keys, in `map` and by themselves."""

import operator
from operator import attrgetter, itemgetter, methodcaller

from .registry import sample

second = itemgetter(1)


class Holder:
    def __init__(self, y):
        self.y = y


def _pairs(x):
    return list(zip(x, x[::-1] * x[0]))


def keys_of_a_sort(x):
    pairs = sorted(_pairs(x), key=operator.itemgetter(-1))
    pairs.sort(key=second, reverse=True)
    return pairs[0][0] * pairs[1][1] ** 2


def key_of_two_items(x):
    return max(_pairs(x), key=itemgetter(0, 1))[0] * second(_pairs(x)[2])


def attributes_of_objects(x):
    held = [Holder(v * x[0]) for v in x]
    return sum(map(attrgetter("y"), held)) * max(held, key=attrgetter("y")).y


def two_items(x):
    both = itemgetter(1, 2)
    a, b = both(x)
    return a * b**2 + itemgetter(1)([x[0], x[1] ** 2])


def mapped(x):
    sums = sum(map(methodcaller("sum"), [x, x * x]))
    return sums * sum(map(itemgetter(0), _pairs(x)))


def asked_about(x):
    assert second(x) > 0, f"{operator.itemgetter(0)(x)}"
    if x[0] > 100.0:
        raise ValueError(itemgetter(1)(x))
    return second(x) * x[0]


for _function in (
    keys_of_a_sort, key_of_two_items, attributes_of_objects, two_items, mapped, asked_about,
):  # fmt: skip
    sample(_function, lambda r: (r.permutation(5) * 0.4 + r.uniform(0.3, 0.5, 5),))
