"""Programs that copy containers and objects with the module `copy`."""

from __future__ import annotations

import copy

import numpy as np

from .registry import sample


class State:
    scale = 2.0

    def __init__(self, u, v):
        self.u = u
        self.more(v)

    def more(self, v):
        self.scale = np.sum(v)
        self.v = v

    def step(self, h):
        self.u = self.u + h * np.sin(self.u)


class Pair:
    def __init__(self, state, table):
        self.state, self.table = state, table


def deep_copy_of_a_list(x):
    y = copy.deepcopy([x, 2.0 * x])
    y[0][0] = 3.0
    return np.sum(y[0] * x) + np.sum(y[1])


def deep_copy_of_a_dict(x):
    d = {"a": x, "b": [x * 2.0, 3.0], "c": None, "t": "text"}
    e = copy.deepcopy(d)
    e["a"][0] = 2.0
    e["b"][0][1] = 5.0
    return np.sum(e["a"] * x) + np.sum(e["b"][0] * d["b"][0]) * e["b"][1]


def deep_copy_of_numbers_that_grow(x):
    y = copy.deepcopy([x[0], x[1] * 2.0, [x[2]]])
    y[0] = y[0] * y[1]
    y[2].append(x[0])
    return y[0] + y[1] ** 2 * y[2][0] * y[2][1]


def deep_copy_of_an_object(x):
    s = State(x * 2.0, x**2)
    t = copy.deepcopy(s)
    t.u[0] = 3.0
    t.v[:] *= 2.0
    return np.sum(t.u * s.u * t.v * s.v) * t.scale


def deep_copy_of_nested_objects(x):
    s = Pair(State(x * 2.0, x), [np.sin(x), x**2])
    t = copy.deepcopy(s)
    t.state.u[0] = 3.0
    t.table[1][1] = 2.0
    return np.sum(t.state.u * s.state.u) + np.sum(t.table[1] * s.table[1] * t.table[0])


def deep_copy_of_the_best(x):
    s = State(x * 1.0, x)
    best = None
    for _ in range(3):
        s.step(0.5)
        if best is None or np.sum(s.u) > np.sum(best.u):
            best = copy.deepcopy(s)
    return np.sum(best.u**2)


def deep_copy_of_what_is_not_known(x, flag=None):
    kept = None
    for z in x:
        if flag is None:
            z = np.atleast_2d(z).T
        kept = copy.deepcopy(z)
    return np.sum(kept * x[0])


def shallow_copy_of_what_init_calls_store(x):
    s = State(x * 1.0, x)
    t = copy.copy(s)
    t.u = t.u * 3.0
    return np.sum(t.u * s.u) * t.scale


for _function in (
    deep_copy_of_a_list, deep_copy_of_a_dict, deep_copy_of_numbers_that_grow,
    deep_copy_of_an_object, deep_copy_of_nested_objects, deep_copy_of_the_best,
    deep_copy_of_what_is_not_known, shallow_copy_of_what_init_calls_store,
):  # fmt: skip
    sample(_function, lambda r: (r.uniform(0.5, 1.5, 3),))
