"""Arrays that are None, or a number, at first: items, views and shadows of them."""

import numpy as np

from .registry import sample

ENDS = np.array([0, 2])
TWICE = np.array([1, 1, 0])


def item_before_a_store(x, s):
    y = None
    if s > 0.1:
        y = x * s
    t = y[ENDS]
    y[0] = s * s
    return np.sum(y * y) * np.sum(t)


def masked_before_a_store(x, s):
    y = None
    if s > 0.1:
        y = x * s
    t = y[y > 0]
    y[0] = s * s
    return np.sum(y * y) * np.sum(t)


def columns_before_a_store(x, s):
    y = None
    if s > 0.1:
        y = np.outer(x, x)
    t = y[:, [1, 1]]
    y[0] = s * s
    return np.sum(y * y) * np.sum(t)


def turned_over(a, c):
    for _ in range(2):
        a = np.sin(a) * c + a[::-1]
        if c > 5.0:
            return a * 2.0
    return a


def ends_of_what_a_helper_gives(x, s):
    x = turned_over(x, s)
    x[ENDS] = s
    return np.sum(np.sin(x) * x)


def elements_twice(x, s):
    y = None
    if s > 0.1:
        y = x
    return np.sum(np.sin(y[TWICE]) * s)


def elements_twice_of_a_default(x, s, y=None):
    if y is None:
        y = x * s
    return np.sum(np.sin(y[TWICE]))


def elements_twice_of_an_item(x, s):
    y = [s, None]
    y[1] = x * 2.0
    return np.sum(np.sin(y[1][TWICE]) * s)


class Held:
    def __init__(self, x):
        self.y = None
        if x[0] > 0:
            self.y = x * 2.0


def elements_twice_of_an_attribute(x, s):
    held = Held(x)
    return np.sum(np.sin(held.y[TWICE]) * s)


def rows_twice(x, s):
    y = None
    for _ in range(2):
        y = np.outer(x, x)
    return s * np.sum(np.sin(y[TWICE, 0]))


def last_of_a_loop_under_two_names(x, s):
    v = None
    for _ in range(2):
        v = x * s
    if s > 0.1:
        x = v
    v[0] = s
    return np.sum(x * x)


def view_of_the_last_of_a_loop(x, s):
    v = None
    for _ in range(2):
        v = x * s
    w = np.asarray(v)
    v[1] = s
    return np.sum(np.sin(np.stack([v, w, x])))


def view_of_what_was_a_number(x, s):
    v = s
    for _ in range(2):
        v = x * s
    w = np.asarray(v)
    v[1] = s
    return np.sum(np.sin(np.concatenate([v, w])))


def parts_of_the_last_of_a_loop(x, s):
    v = None
    for _ in range(2):
        v = x * s
    w, u = v[1:], v[::-1]
    v[1] = s
    return np.sum(v * u) + np.sum(np.sin(np.concatenate([w, v, u])))


def transposed_last_of_a_loop(x, s):
    v = None
    for _ in range(2):
        v = np.outer(x, x) * s
    w = v.T
    v[1] = s * x
    return np.sum(np.sin(np.stack([v, w])))


for _function in (
    item_before_a_store, masked_before_a_store, columns_before_a_store,
    ends_of_what_a_helper_gives, elements_twice, elements_twice_of_a_default,
    elements_twice_of_an_item, elements_twice_of_an_attribute, rows_twice,
    last_of_a_loop_under_two_names, view_of_the_last_of_a_loop, view_of_what_was_a_number,
    parts_of_the_last_of_a_loop, transposed_last_of_a_loop,
):  # fmt: skip
    sample(_function, lambda r: (np.array([0.3, -0.5, 0.7]) * r.uniform(0.9, 1.1), 0.4), (0, 1))
