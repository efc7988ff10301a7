"""Lists and tuples that are indexed by slices which are values."""

import operator

import numpy as np

from .registry import sample

REST = np.s_[1:]
PAIRS = (slice(0, 2), slice(1, None))


def slice_with_a_name(x):
    items, s = list(x), slice(0, 2)
    part = items[s]
    return part[0] * part[1]


class Box:
    def __init__(self, items):
        self.items = list(items)

    def __getitem__(self, k):
        return self.items[k]


def key_that_is_handed_on(x):
    box = Box(x)
    return sum(v**2 for v in box[1:]) + box[0]


def slice_of_the_module(x):
    return sum(v * v for v in tuple(x)[REST]) * x[0]


def slice_with_a_step(x):
    s = slice(None, None, -2)
    first, second = list(x)[s]
    return first**2 * second


def slice_for_a_function(x):
    part = operator.getitem([v * v for v in x], slice(2))
    return part[0] * part[1]


def rows_of_a_helper(x):
    def chosen(rows, s):
        return rows[s]

    part = chosen([x * 1.0, x**2, x**3], slice(1, 3))
    return np.sum(part[0] * part[1])


def slices_in_a_dict(x):
    items, parts = list(x), {"low": slice(0, 2), "high": slice(1, 3)}
    return sum(items[parts["low"]]) * sum(items[parts["high"]])


def slices_in_turn(x):
    items, t = list(x), 0.0
    for s in PAIRS:
        t += sum(items[s]) ** 2
    return t


def part_that_is_stored_into(x):
    items, s = list(x), slice(0, 2)
    part = items[s]
    part[0] = 5.0
    return items[0] * part[1] * part[0]


def store_by_a_slice(x):
    items, s = [x[0], x[1], x[2]], slice(0, 2)
    items[s] = [x[2], x[0] * x[1], x[1] ** 2]
    return items[0] * items[1] * items[2] ** 2 * items[3]


def deleted_by_a_slice(x):
    items, s = [x[0], x[1], x[2], x[0] * x[1]], slice(0, 2)
    del items[s]
    return items[0] * items[1]


def slice_of_a_parameter(x, s=slice(0, 2)):
    return sum([v * v for v in x][s])


for _function in (
    slice_with_a_name, key_that_is_handed_on, slice_of_the_module, slice_with_a_step,
    slice_for_a_function, rows_of_a_helper, slices_in_a_dict, slices_in_turn,
    part_that_is_stored_into, store_by_a_slice, deleted_by_a_slice, slice_of_a_parameter,
):  # fmt: skip
    sample(_function, lambda r: (r.uniform(0.6, 1.3, 3),))
for _step in (None, 2, -1):
    sample(
        slice_of_a_parameter,
        lambda r, k=_step: (r.uniform(0.6, 1.3, 3), slice(None, None, k)),
        inputs=0,
    )
