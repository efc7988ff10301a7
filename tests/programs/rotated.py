"""Places in buffers that change their roles: `old, new = new, old` of whole numbers."""

import numpy as np

from .registry import sample


def _vector(r):
    return (np.array([0.7, 0.4, 0.55]),)


def two_places(x):
    u = x * 1.0
    c, n = 0, 1
    for _ in range(3):
        u[n] = u[c] * u[c] + x[2]
        c, n = n, c
    return u[0] + u[1]


sample(two_places, _vector)


def two_rows(x):
    u = np.zeros((2, 4))
    u[0, :3] = x
    old, new = 0, 1
    for _ in range(5):
        u[new, 1:-1] = u[old, 1:-1] * u[old, 2:] + u[old, :-2]
        old, new = new, old
    return np.sum(u**2)


sample(two_rows, _vector)


def three_items_of_a_list(x):
    u = list(x)
    oldest, old, new = 0, 1, 2
    for _ in range(4):
        u[new] = u[old] * u[oldest] + u[old]
        oldest, old, new = old, new, oldest
    return u[0] * u[1] + u[2]


sample(three_items_of_a_list, _vector)


def slices_swapped_in_a_branch(x):
    u, k = x * 1.0, 0
    a, b = 0, 1
    while k < 4:
        u[a : a + 1] = u[b : b + 1] ** 2 * x[2]
        if k % 2 == 0:
            a, b = b, a
        k += 1
    return u[0] + u[1] * u[2]


sample(slices_swapped_in_a_branch, _vector)


def swapped_by_a_helper(x):
    u, a, b = x * 1.0, 0, 1

    def swap():
        nonlocal a, b
        a, b = b, a

    for _ in range(4):
        u[a] = u[b] ** 2 * x[2] + u[b]
        swap()
    return u[0] + u[1] * u[2]


sample(swapped_by_a_helper, _vector)
