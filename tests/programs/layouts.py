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


# What is reshaped, and written into through a view or an item that is made of it.


def part_of_what_is_reshaped(x, s):
    y = np.ones((2, 4)) + x  # its tangent lies in memory as `np.broadcast_to` lets it
    part = y.reshape(-1)[1:]
    part *= s
    return y * y


def item_of_a_list_that_is_reshaped(x, s):
    y = np.ones((2, 4)) + x
    parts = [y.ravel()]
    parts[0] *= s
    return np.sum(y * y * x)


def view_of_a_view_of_what_is_reshaped(x, s):
    y = np.broadcast_to(x, (2, 4)) + 0.5
    flat = np.moveaxis(np.ravel(y)[None], 0, -1)
    for k in range(2):
        part = flat[k:, 0][::-1]
        part *= s
    return np.sum(y * y * x)


for _function in (
    part_of_what_is_reshaped,
    item_of_a_list_that_is_reshaped,
    view_of_a_view_of_what_is_reshaped,
):
    sample(_function, lambda r: (r.uniform(0.3, 1.0, 4), 0.7), (0, 1))


# What is a view of an array whose order in memory is that of what it is computed from.


def _flat_changed(y):
    z = y.ravel()
    z[1] = 7.0
    return np.sum(y * y)


def turned_outer_product(x):
    y = np.outer(x[0], x[0]).T * 2.0
    z = y.ravel()
    z[1] = 7.0
    return np.sum(y * y)


def sine_of_a_turned_outer_product(x):
    return _flat_changed(np.sin(np.outer(x[0], x[1]).T))


def copy_of_a_turned_outer_product(x):
    return _flat_changed(np.copy(np.outer(x[0], x[1]).T))


def turned_product_of_matrices(x):
    return _flat_changed((x @ x).T * 1.0)


def product_with_what_is_turned(x):
    y = (x.T @ x).T
    return _flat_changed(y)


def row_for_every_row(x):
    return _flat_changed(np.broadcast_to(x[0], (2, 2)) * 1.0)


def sorted_columns_of_what_is_turned(x):
    return _flat_changed(np.sort(x.T, 0))


def medians_of_what_is_turned(x):
    return _flat_changed(np.median(np.stack([x, x * 2.0, x * 3.0]).T, axis=2))


def buffer_in_fortran_order(x):
    y = np.zeros((2, 2), "d", "F")
    y[:] = x
    return _flat_changed(y)


def buffer_like_one_in_fortran_order(x):
    y = np.full_like(np.zeros((2, 2)), 1.0, float, "F")
    y[:] += x
    return _flat_changed(y)


def columns_behind_each_other_are_copied(x):
    y = np.zeros((2, 2))
    y[:] = x
    z = np.reshape(y, -1, "F")  # a copy
    z[1] = 7.0
    return np.sum(y * y) + np.sum(z * x.ravel())


def written_selection_after_a_copy(x):
    return _flat_changed(np.select([x.T > 0.5], [x.T * x.T]).copy())


def eigenvectors_written_through_their_rows(x):
    w, v = np.linalg.eigh(x + x.T)
    return _flat_changed(v) + np.sum(w)


def part_of_a_result_written_before_another_is_read(x):
    t = np.linalg.svd(x)
    u = t[0]
    w = u * u
    s = t[1]
    u[0, 1] = 7.0
    return np.sum(u) + np.sum(s * s) + np.sum(w * x)


# Calls that give an array back, or do not.


def block_of_one_array(x):
    y = x * 1.0
    z = np.block([y])
    z *= 2.0
    return np.sum(y * y) + np.sum(z * x)


def block_of_one_row_of_one_array(x):
    y = x * 1.0
    z = np.block([[y[0]]])
    y *= 3.0
    return np.sum(y * y) + np.sum(z * z)


def array_as_the_numbers_that_it_has(x):
    y = x * 1.0
    z = np.float64(y)
    y[0] = 0.5
    return np.sum(z * z)


def array_that_is_written_as_its_numbers(x):
    z = np.float64(x)
    z *= 2.0
    return np.sum(z * x)


def numbers_of_another_width(x):
    y = x * 1.0
    z = np.float32(y)
    y[0] = 0.5
    return np.sum(y * y) + np.float64(z[0, 0])


def differences_of_no_order(x):
    y = x * 1.0
    z = np.diff(y, n=0)
    z *= 2.0
    return np.sum(y * y) + np.sum(z)


def differences_of_no_order_with_an_end(x):
    z = np.diff(x, 0, append=1.0)
    z *= 2.0
    return np.sum(x * z)


def matrix_to_the_power_of_one(x):
    y = x * 1.0
    z = np.linalg.matrix_power(y, 1)
    z *= 2.0
    return np.sum(y * y)


def fractions_that_are_written(x):
    y = x * 1.0
    z = np.modf(y)[0]
    z *= 2.0
    return np.sum(y * y) + np.sum(z * z)


def reshaped_by_a_copy(x):
    y = x * 1.0
    z = np.reshape(y, (4, 1), copy=True)
    y *= 2.0
    return np.sum(z * z) + np.sum(y * y)


def reshaped_by_a_copy_that_is_written(x):
    z = x.reshape((1, 4), copy=True)
    z *= 2.0
    return np.sum(z * z) + np.sum(x * x)


IN_MEMORY = (
    turned_outer_product, sine_of_a_turned_outer_product, copy_of_a_turned_outer_product,
    turned_product_of_matrices, product_with_what_is_turned, row_for_every_row,
    sorted_columns_of_what_is_turned, medians_of_what_is_turned, buffer_in_fortran_order,
    buffer_like_one_in_fortran_order, columns_behind_each_other_are_copied,
    written_selection_after_a_copy, eigenvectors_written_through_their_rows,
    part_of_a_result_written_before_another_is_read, block_of_one_array,
    block_of_one_row_of_one_array, array_as_the_numbers_that_it_has,
    array_that_is_written_as_its_numbers, numbers_of_another_width, differences_of_no_order,
    differences_of_no_order_with_an_end, matrix_to_the_power_of_one, fractions_that_are_written,
    reshaped_by_a_copy, reshaped_by_a_copy_that_is_written,
)  # fmt: skip
"""Functions of a matrix of two rows and columns, whose values the order in memory decides."""

for _function in IN_MEMORY:
    sample(
        _function,
        lambda r: (r.uniform(0.6, 1.4, (2, 2)),),
        tolerance=1e-3 if _function is numbers_of_another_width else 1e-6,
    )


# What may be a view of a part, whose own parts stay in use while the whole is written into.


def part_of_a_flipped_one(s):
    m = np.full(3, 0.7)
    v = np.split(np.flip(m), [1])[1]
    m[1] -= s
    return v


def part_of_a_reversed_one(x, s):
    m = x * x
    v = np.split(m[::-1], [1])[1]
    m[1] -= s
    m *= x
    return v


sample(part_of_a_flipped_one, lambda r: (r.uniform(0.3, 0.6),))
sample(part_of_a_reversed_one, lambda r: (r.uniform(0.3, 1.0, 3), 0.4), (0, 1))
