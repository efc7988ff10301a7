"""Functions of numbers that `np.vectorize` calls for every number of arrays."""

import math

import numpy as np

from .registry import sample


def _softened(v):
    return v * v if v > 0.5 else math.sin(v)


softened = np.vectorize(_softened)


@np.vectorize
def larger_product(v, w):
    return v * w if v > w else v - w


@np.vectorize(otypes=[float])
def integers_at_first(v):
    return 0 if v > 0.6 else 2.5 * v * v


def _vector(r):
    return (np.array([0.7, 0.3, 0.55]),)


def vectorized_in_the_module(x):
    return np.sum(softened(x) * larger_product(x, 0.5)) + softened(x[0]) * 2.0


sample(vectorized_in_the_module, _vector)


def pairs_that_broadcast(x):
    f = np.vectorize(lambda v, w: v * w if v > 0.5 else v + w)
    return np.sum(f(x, x[:, None]) * larger_product(x, x[::-1]))


sample(pairs_that_broadcast, _vector)


def vectorized_closures(x):
    def own(v):
        return v if v > 0.5 else x[0] * v

    total = np.sum(np.vectorize(own, otypes=[np.float64])(np.outer(x, x)))
    for k in range(3):
        power = np.vectorize(lambda v: v**k)  # noqa: B023
        total = total + np.sum(power(x) * x)
    return total


sample(vectorized_closures, _vector)


def _applied(f, x):
    return np.sum(f(x) * x)


def vectorized_as_arguments(x):
    return _applied(softened, x) + _applied(np.vectorize(math.exp), x)


sample(vectorized_as_arguments, _vector)


def declared_types(x):
    cubed = np.vectorize(lambda v, n: v**n, otypes="d")
    return np.sum(integers_at_first(x) * x) + np.sum(cubed(x, 3))


sample(declared_types, _vector)


def three_and_four_arguments(x):
    mixed = np.vectorize(lambda a, b, c: a * b if a > c else c * c)
    more = np.vectorize(lambda a, b, c, d: a * b + c * d)
    return np.sum(mixed(x, x[:, None], 0.5)) + np.sum(more(x, 2.0, x[:, None], x[::-1]))


sample(three_and_four_arguments, _vector)
