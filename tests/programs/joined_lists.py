"""Lists that are joined, items taken straight into a container, and tangents that grow in loops."""

import numpy as np

from .registry import sample

ROWS = np.ones((2, 3))


def joined_to_the_end(x):
    t = np.ones(3)
    d = []
    d = d + [t]
    t += x
    return np.sum(d[0] ** 2)


def item_of_a_joined_list(x):
    t = np.ones(3)
    d = [np.zeros(3)] + [t]
    d[1] += x
    return np.sum(t**2)


def item_of_joined_tuples(x):
    t = np.ones(3)
    d = (np.ones(3),) + (t,)
    d[1][:] = x * x
    return np.sum(t * x)


def joined_with_a_copy_of_the_argument(x):
    w = x * 1.0
    d = [np.zeros(3)] + [w]
    d[1][0] = 5.0
    return np.sum(w * w)


def loop_over_joined_lists(x):
    a, b = [np.zeros(3), np.zeros(3)], [np.ones(3)]
    for v in a + b:
        v += x
    return np.sum(a[0] * a[1] * b[0])


def joined_in_a_loop(x):
    d = []
    for _ in range(3):
        d = d + [np.ones(3)]
    for b in d:
        b += x
    return np.sum(d[0] * d[1])


def part_of_joined_lists(x):
    t, u = np.ones(3), np.zeros(3)
    d = ([u] + [t])[1:]
    t += x
    d[0] *= x
    return np.sum(t * d[0])


def repeated_and_joined(x):
    t = np.ones(3)
    d = [t] * 1 + [np.zeros(3)]
    t += x
    return np.sum(d[0] ** 2) + np.sum(d[1])


def popped_into_a_list(x):
    t = np.ones(3)
    s = [np.zeros(3), t]
    d = [s.pop()]
    d[0] += x
    return np.sum(t**2)


def popped_into_a_dict(x):
    t = np.ones(3)
    s = [np.zeros(3), t]
    d = {}
    d["k"] = s.pop()
    d["k"] += x
    return np.sum(t * t) + np.sum(d["k"] * x)


def number_that_becomes_a_row(x):
    o = x[0]
    for row in ROWS:
        o = o + row
    return np.sum(np.cumsum(o) ** 2)


def number_that_becomes_a_row_of_the_other_side(x):
    o = np.sum(x)
    k = 0
    while k < 2:
        o = ROWS[k] - o
        k += 1
    return np.sum(np.sin(np.cumsum(o)) + 0.3 * o * o)


def stored_and_written_by_another_name(x):
    m, t = np.zeros((2, 3)), np.zeros(3)
    d = {}
    for k in range(2):
        d[k] = m[k]
    d[0] += x
    d[2] = t
    d[2] += x * x
    return np.sum(m**2) + np.sum(t * t)


def stored_in_a_list_and_written(x):
    t = np.zeros(3)
    d = [np.ones(3), np.ones(3)]
    d[0] = t
    for b in d:
        b += x
    return np.sum(t * d[1])


for _program in (
    joined_to_the_end, item_of_a_joined_list, item_of_joined_tuples,
    joined_with_a_copy_of_the_argument, loop_over_joined_lists, joined_in_a_loop,
    part_of_joined_lists, repeated_and_joined, popped_into_a_list, popped_into_a_dict,
    number_that_becomes_a_row, number_that_becomes_a_row_of_the_other_side,
    stored_and_written_by_another_name, stored_in_a_list_and_written,
):  # fmt: skip
    sample(_program, lambda r: (r.uniform(0.3, 0.9, 3),))
