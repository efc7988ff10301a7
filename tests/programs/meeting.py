"""Lists and tuples that meet arrays: `+` and `*` make an array of them, wherever that stands."""

import numpy as np

from .registry import sample


def shifted_if_asked(X, shift=True):
    if shift:
        X = X + [1.0, 0.8, 0.5]
    return np.sum(X * X)


def shifted_by_a_list_before(x):
    y = [0.1, 0.2, 0.3] + x
    for _ in range(2):
        y = [0.1, 0.2, 0.3] + y * x
    return np.sum(y * y)


def one_number_in_a_list(x):
    for _ in range(2):
        x = x * x + [0.5]
    return np.sum(x)


def shifted_and_cut(p):
    x = p * 2.0
    for _ in range(2):
        x = (p * x)[:3]
    x = (x + [p[0]])[:3]
    return np.sum(x * x)


def scaled_by_a_list_in_a_loop(x):
    y = np.zeros(3)
    for _ in range(2):
        y = y * [1.0, 0.8, 0.5] + x
    return np.sum(y * y)


def scaled_by_a_tuple(x, factors=(1.0, 2.0, 3.0)):
    return np.sum(factors * np.ones(3) * x)


def sums_with_a_tuple(q, factors=(1.0, 0.8, 0.5)):
    for _ in range(2):
        q = q + np.sum(factors * np.cos(q))
    return np.sum(q)


def shifted_in_a_branch(x):
    y = x
    if x[0] > 0:
        y = y + (1.0, 0.8, 0.5)
    return np.sum(y * x)


def scaled_to_an_array(x):
    for _ in range(2):
        x = x * [1.0, 0.8, 0.5]
    return x


def list_with_a_method(x):
    return np.sum(([1.0, 0.8, 0.5] + x.repeat(1)) ** 2 + [1.0, 0.8, 0.5] * x.repeat(1))


def one_of_two_lists(x):
    h = x * 1.0
    for off in ([0.1, 0.2, 0.3], [0.3, 0.4, 0.5]):
        h = h * x + off
    return np.sum(h)


def shifted_while(x):
    k = 0
    while k < 2:
        x = np.sin(x) + [0.1, 0.2, 0.3]
        k += 1
    return np.sum(x * x)


def _moved(y):
    return y + [0.1, 0.2, 0.3]


def moved_by_a_helper(x):
    for _ in range(3):
        x = _moved(x) * x
    return np.sum(x)


def list_of_its_items(x):
    for _ in range(2):
        x = x + [x[0], 0.8, x[1]]
    return np.sum(x * x)


for _function in (
    shifted_by_a_list_before, one_number_in_a_list, shifted_and_cut, scaled_by_a_list_in_a_loop,
    scaled_by_a_tuple, sums_with_a_tuple, shifted_in_a_branch, scaled_to_an_array,
    list_with_a_method, one_of_two_lists, shifted_while, moved_by_a_helper, list_of_its_items,
):  # fmt: skip
    sample(_function, lambda r: (r.uniform(0.4, 1.0, 3),))
sample(shifted_if_asked, lambda r: (r.uniform(0.4, 1.0, (4, 3)),))


def sorted_in_a_loop(x, n):
    y = [v * v for v in x]
    for _ in range(n):
        y = np.sort(y)
        y = y * 1.5
    return y[0] + y[-1] ** 2


def clipped_in_a_loop(x, n):
    y = [x[0], x[1], x[2], x[3]]
    for _ in range(n):
        y = np.maximum(y, 0.9) * y[0]
    return y[0] * y[-1] ** 2


def to_powers_in_a_loop(x, n):
    y = [x[0], x[1], x[2], x[3]]
    k = 0
    while k < n:
        y = x**y - y
        k += 1
    return y[0] * y[-1] ** 2


def list_times_a_matrix_in_a_branch(x, n):
    y = list(x)
    if n > 1:
        y = np.sin(x) * x
    z = np.outer(x, x) @ y
    return z[0] * z[-1] + y[1] * y[2]


def list_or_array_of_everything(x, n):
    y = [x[0], x[1] * x[0], x[2], x[3]]
    if n % 2:
        y = np.sin(x) * x
    z = np.cumsum(y) * np.diag(y)[1] + np.maximum.accumulate(y)
    return z[0] * z[-1] + np.dot(y, z) * y[2]


for _function in (
    sorted_in_a_loop, clipped_in_a_loop, to_powers_in_a_loop, list_times_a_matrix_in_a_branch,
    list_or_array_of_everything,
):  # fmt: skip
    for _count in range(3):
        sample(_function, lambda r, n=_count: (r.uniform(0.6, 1.3, 4), n), inputs=0)
