"""`out=None`, which says nothing, in all the ways that it is written."""

import numpy as np

from .registry import sample

NOTHING = {"out": None}


def by_name(x):
    return np.sum(np.multiply(x, x, out=None))


def _relu(v, out=None):
    return np.maximum(v, 0.5, out=out)


def a_parameter_that_is_none(x):
    return np.sum(_relu(x) * x)


def by_position(x):
    a, b = np.divmod(x, 0.4, None, None)
    return np.sum(np.multiply(x, a, None) + b * x)


def in_a_tuple(x):
    return np.sum(np.multiply(x, x, out=(None,)))


def in_a_dict(x):
    return np.sum(np.multiply(x, x, **NOTHING) + np.exp(x, **{"out": None}))


def a_variable_that_is_none(x):
    out = None
    y = np.multiply(x, x, where=True, out=out)
    y *= 2
    return np.sum(y * x)


def beside_one_that_is_not(x):
    def sine(a, out):
        return np.sin(a, out)

    z = np.empty(3)
    return np.sum(sine(x, None) * sine(x, z) * z)


for _function in (
    by_name,
    a_parameter_that_is_none,
    by_position,
    in_a_tuple,
    in_a_dict,
    a_variable_that_is_none,
    beside_one_that_is_not,
):
    sample(_function, lambda r: (r.uniform(0.3, 1.1, 3),))
