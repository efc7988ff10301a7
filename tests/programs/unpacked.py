"""Unpacking into one name, and into items of what is unpacked."""

import numpy as np

from .registry import sample


def the_one_item_of_a_list(x):
    items = [x]
    (b,) = items
    b += 1
    return x * x


def the_one_row(x):
    (row,) = np.split(x, 1)
    row *= 2
    return np.sum(x * x)


def the_one_item_in_a_loop(x):
    for (b,) in [[x]]:
        b *= 2
    return np.sum(x * x)


def the_one_value_of_a_dict(x):
    d = {"v": [x]}
    (v,) = d.values()
    (w,) = v
    w += 1
    return np.sum(x * x)


def a_list_exchanged_with_itself(x):
    t = [x[0], x[1]]
    t[1], t[0] = t
    return t[0] * t[1] ** 2


def an_array_moved_by_one(x):
    y = x * 1
    y[1], y[2] = y[:2]
    return np.sum(y * x)


def an_array_reversed(x):
    y = x * 1
    y[0], y[1], y[2] = y[::-1]
    return np.sum(y * y * x)


def a_rest_stored_into_the_list(x):
    t = [x[0], x[1], x[2]]
    t[1], *t[1:] = t
    return t[0] * t[1] ** 2 * t[-1] ** 3


def a_rest_beside_an_item(x):
    y = x * 1
    y[1], *r = y
    return y[1] * r[0] * r[1]


def inner_targets(x):
    t = [x[0], x[1]]
    (t[1], t[0]), z = t, 2.0
    return t[0] * t[1] ** 2 * z


def a_list_that_a_function_returns(x):
    t = [x[0], x[1]]

    def same():
        return t

    t[1], t[0] = same()
    return t[0] * t[1] ** 2


def items_as_loop_targets(x):
    y = x * 1
    for y[1], y[2] in [y[:2], y[1:]]:
        y[0] = y[0] * y[1]
    return np.sum(y * y * x)


def rows_of_a_matrix(x):
    m = np.outer(x, x)
    m[1], m[0] = m[:2]
    m[0, 1], m[0, 2] = m[0][:2]
    return np.sum(m[0] * m[1] * m[2])


def rows_as_arguments_of_a_ufunc(x):
    points = np.outer(np.arange(1.0, 5.0), x[:2])
    angles = np.arctan2(*(points - x[2]).T[::-1])
    return np.sum(np.hypot(*points.T) * angles)


for _function in (
    the_one_item_of_a_list,
    the_one_row,
    the_one_item_in_a_loop,
    the_one_value_of_a_dict,
    a_list_exchanged_with_itself,
    an_array_moved_by_one,
    an_array_reversed,
    a_rest_stored_into_the_list,
    a_rest_beside_an_item,
    inner_targets,
    a_list_that_a_function_returns,
    items_as_loop_targets,
    rows_of_a_matrix,
    rows_as_arguments_of_a_ufunc,
):
    sample(_function, lambda r: (r.uniform(0.3, 1.2, 3),))


def an_array_and_a_flag_made_arrays(x, flag):
    x, flag = _as_arrays((x, flag))
    return np.sum(_raised(x, flag) * _raised(2.0 * x, flag))


def _as_arrays(values):
    made = []
    for value in values:
        made.append(np.asarray(value))
    return made


def _raised(x, flag):
    x, flag = _as_arrays((x, flag))
    return x * x if flag else 3.0 * x


sample(an_array_and_a_flag_made_arrays, lambda r: (r.standard_normal(3), True))


def variances_from_a_tuple(parameters, x):
    (level, (memory, shocks)) = parameters
    variance = np.empty(len(x))
    variance[0] = level / (1.0 - memory)
    for i in range(1, len(x)):
        variance[i] = level + memory * variance[i - 1] + shocks[i % 2] * x[i - 1] ** 2
    return np.sum(np.log(variance) + x**2 / variance)


sample(
    variances_from_a_tuple,
    lambda r: ((0.4, (0.3, r.uniform(0.1, 0.3, 2))), r.standard_normal(5)),
    (0, 1),
)
