"""Arguments that stand in containers of the module, and are spread out with `*` and `**`."""

import numpy as np

from .registry import sample

SCALES = {"b": 3.0}
NONE: dict[str, float] = {}
PAIR = (2.0, 0.5)
REDUCTION = {"axis": 0, "keepdims": True}
SHAPE = [3, 1]


def _scaled(a, b=1.0, c=1.0):
    return a * b**2 * c


def keywords_of_the_module(x):
    return _scaled(x[0], **SCALES) * _scaled(x[1], **NONE, c=x[2])


def keywords_of_the_module_in_a_lambda(x):
    times = lambda b, **rest: x[0] * b * (1 + len(rest))
    return times(**SCALES) * x[1]


def keywords_of_the_module_for_numpy(x):
    return np.sum(np.sum(x.reshape(1, -1) * x, **REDUCTION) ** 2)


def arguments_of_the_module(x):
    total = lambda *values: sum(values) * x[0]
    return _scaled(x[1], *PAIR) * total(*PAIR, x[2])


def arguments_of_the_module_for_numpy(x):
    return np.sum(x.reshape(*SHAPE) @ np.ones((1, 2)) * np.power(*PAIR)) * x[1]


for _function in (
    keywords_of_the_module,
    keywords_of_the_module_in_a_lambda,
    keywords_of_the_module_for_numpy,
    arguments_of_the_module,
    arguments_of_the_module_for_numpy,
):
    sample(_function, lambda r: (r.uniform(0.3, 0.9, 3),))
