"""Lists whose items change places after they are read, and are replaced at their new places."""

import numpy as np

from .registry import sample


def inserted_before_a_swap(x):
    items = [x[1] * x[1], x[2]]
    t = 0.0
    for _ in range(3):
        t += np.sin(items[0]) * x[0]
    items.insert(0, x[1])
    items[0], items[1] = items[1], items[0]
    return t


def inserted_before_a_store(x):
    items = [x[1] * x[1], x[2]]
    t = items[0] ** 2
    items.insert(0, x[0])
    items[1] = x[2] * x[0]
    return t * items[0] + items[1] * items[2]


def reversed_before_a_store(x):
    items = [x[1] * x[1], x[2], x[0]]
    t = np.tanh(items[0])
    items.reverse()
    items[2] = x[2] * x[0]
    return t * items[0] + items[1] * items[2]


def first_taken_before_a_store(x):
    items = [x[1] * x[1], x[2], x[0]]
    t = np.tanh(items[1]) * items[2]
    first = items.pop(0)
    items[0] = x[2] * first
    items[-1] = x[0] ** 3
    return t * items[0] + items[1]


def moved_in_each_step(x):
    items = [x[1] * x[1], x[2], x[0]]
    t = 0.0
    for k in range(3):
        t += np.sin(items[0]) * items[1]
        items.insert(0, items.pop())
        items[1] = items[1] * x[k]
    return t + items[0] * items[2]


def moved_rows(x):
    rows = [x * 1.0, x**2]
    t = rows[0] * np.sin(rows[1])
    rows.reverse()
    rows[1] = np.cos(x)
    rows[0] = rows[1] * x
    return np.sum(t * rows[0])


def moved_by_a_helper(x):
    def put(items, v):
        items.insert(0, v)

    items = [x[1] * x[1], x[2]]
    t = items[0] ** 2 * items[1]
    put(items, x[0])
    items[1] = t
    items[2] = t * x[0]
    return t * items[0] + items[1] * items[2]


for _function in (
    inserted_before_a_swap, inserted_before_a_store, reversed_before_a_store,
    first_taken_before_a_store, moved_in_each_step, moved_rows, moved_by_a_helper,
):  # fmt: skip
    sample(_function, lambda r: (r.uniform(0.6, 1.3, 3),))
