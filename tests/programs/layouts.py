"""Arrays with gaps, turned round or in another order, that are reshaped: views or copies."""

import numpy as np

import srcdiff

from .registry import sample


def _flat_after(a, n):
    if n <= 0:
        return a.ravel()
    return _flat_after(a, n - 1)


def flat_part_of_what_is_turned_round(x):
    y = x * 2.0
    r = _flat_after(y[::-1], 2)  # a copy
    r[0] *= x[1]
    return np.sum(r * x[2]) + np.sum(y * x)


def flat_part_of_what_has_gaps(x):
    y = np.outer(x, x)
    r = _flat_after(y[:, ::2], 2)  # a copy
    r[0] *= x[1]
    return np.sum(r * x[2]) + np.sum(y)


def flat_part_of_what_has_none(x):
    y = np.outer(x, x)
    r = _flat_after(y[1:], 2)  # a view
    r[0] *= x[1]
    return np.sum(r * x[2]) + np.sum(y)


def _every_second_column(a, n):
    if n <= 0:
        b = np.ones((3, 4)) * a[0]
        return b[:, ::2]
    return _every_second_column(a * 1.1, n - 1)


def reshaped_columns_of_a_recursion(x):
    r = _every_second_column(x, 2)
    q = r.ravel()  # a copy
    q[0] = 5.0 * x[1]
    return np.sum(r * x[2])


def _scaled_and_reshaped(a, b, n):
    if n <= 0:
        return 1.0
    a[...] = a * b
    flat = a.ravel()
    flat[1] = 3.0 * b
    return _scaled_and_reshaped(a[::-1], b, n - 1) * np.sum(flat * flat)


def _of_every_second_column(m, s):
    m = m * 1.0
    return _scaled_and_reshaped(m[:, ::2], s, 2) * np.sum(m)


def tangent_of_what_is_reshaped(m, s, v):
    return srcdiff.jvp(_of_every_second_column, (m, s), (v, 0.3))[1]


for _function in (
    flat_part_of_what_is_turned_round,
    flat_part_of_what_has_gaps,
    flat_part_of_what_has_none,
    reshaped_columns_of_a_recursion,
):
    sample(_function, lambda r: (r.uniform(0.3, 1.0, 4),))

sample(
    tangent_of_what_is_reshaped,
    lambda r: (r.uniform(0.3, 1.0, (3, 4)), 0.7, r.standard_normal((3, 4))),
    ("m", "s"),
)
