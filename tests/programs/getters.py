"""Functions that take an item or an attribute: as keys, in `map` and by themselves."""

from operator import itemgetter

from .registry import sample


def second(item):
    return item[1]


class Holder:
    def __init__(self, y):
        self.y = y


def _pairs(x):
    return list(zip(x, x[::-1] * x[0]))


def keys_of_a_sort(x):
    pairs = sorted(_pairs(x), key=lambda item: item[-1])
    pairs.sort(key=second, reverse=True)
    return pairs[0][0] * pairs[1][1] ** 2


def key_of_two_items(x):
    return max(_pairs(x), key=lambda item: (item[0], item[1]))[0] * second(_pairs(x)[2])


def attributes_of_objects(x):
    held = [Holder(v * x[0]) for v in x]
    return sum(map(lambda item: item.y, held)) * max(held, key=lambda item: item.y).y


def two_items(x):
    both = lambda item: (item[1], item[2])  # noqa: E731
    a, b = both(x)
    return a * b**2 + second([x[0], x[1] ** 2])


def mapped(x):
    sums = sum(map(lambda item: item.sum(), [x, x * x]))
    return sums * sum(map(lambda item: item[0], _pairs(x)))


def asked_about(x):
    assert second(x) > 0, f"{itemgetter(0)(x)}"
    if x[0] > 100.0:
        raise ValueError(second(x))
    return second(x) * x[0]


for _function in (
    keys_of_a_sort, key_of_two_items, attributes_of_objects, two_items, mapped, asked_about,
):  # fmt: skip
    sample(_function, lambda r: (r.permutation(5) * 0.4 + r.uniform(0.3, 0.5, 5),))
