"""Stores, in-place operators, buffers."""

import numpy as np

from .registry import sample


def filled_buffer(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] ** 2 + i
    return y


sample(filled_buffer, lambda r: (r.standard_normal(4),))


def prefix_products(x):
    y = np.empty(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = y[i - 1] * x[i]
    return y


sample(prefix_products, lambda r: (r.standard_normal(5),))


def overwritten(x):
    y = np.zeros(3)
    y[:] = x
    y[1] = y[0] * y[2]
    y[0] = y[1] + y[2]
    y[1] = 0.0
    return y


sample(overwritten, lambda r: (r.standard_normal(3),))


def inplace_operators(x, y):
    z = x.copy()
    z += y
    z *= x
    z -= 2.0
    z /= y
    z **= 2
    return z


sample(inplace_operators, lambda r: (r.standard_normal(3), r.uniform(1.0, 2.0, 3)), (0, 1))


def inplace_items(x):
    y = x.copy()
    y[0] += x[1]
    y[1:] *= y[:-1].copy()
    y[-1] -= y[0] ** 2
    y[::2] /= 2.0 + x[::2] ** 2
    y[1] **= 2
    return y


sample(inplace_items, lambda r: (r.standard_normal(4),))


def square_in_place(x):
    y = np.array(x)
    y *= y
    y += y
    y -= y * 0.5
    return y


sample(square_in_place, lambda r: (r.standard_normal(3),))


def broadcast_store(x, s):
    a = np.ones((3, 4))
    a[:] = x
    a[1] = s
    a[:, 2] *= s
    a[2, :] += x * a[0]
    return a


sample(broadcast_store, lambda r: (r.standard_normal(4), 0.7), (0, 1))


def masked_store(x):
    y = x * 2.0
    y[y < 0.0] = 0.1
    y[x > 1.0] *= 3.0
    return np.sum(y**2)


sample(masked_store, lambda r: (np.array([0.5, -0.7, 1.6, -0.2]),))


def masked_store_of_values(x, v):
    y = x.copy()
    mask = x > 0.0
    y[mask] = v[mask] * x[mask]
    return y * v


sample(
    masked_store_of_values,
    lambda r: (np.array([0.5, -0.7, 1.6, -0.2]), r.standard_normal(4)),
    (0, 1),
)


def scattered_store(x, idx):
    y = np.zeros(5)
    y[idx] = x * x
    return y


sample(scattered_store, lambda r: (r.standard_normal(3), np.array([4, 0, 2])))


def scattered_add(x, idx):
    y = np.zeros(4)
    np.add.at(y, idx, x)
    return y**2


sample(scattered_add, lambda r: (r.standard_normal(5), np.array([3, 0, 3, 1, 3])))


def fill_and_copyto(x, s):
    a = np.empty(3)
    a.fill(s)
    b = np.zeros(3)
    np.copyto(b, x)
    b[0] = a[1] * b[2]
    return a * b


sample(fill_and_copyto, lambda r: (r.standard_normal(3), 1.4), (0, 1))


def sort_in_place(x):
    y = x.copy()
    y.sort()
    return y * np.arange(4.0)


sample(sort_in_place, lambda r: (np.array([0.4, -1.2, 2.0, 0.9]),))


def histogram_weights(x, bins):
    h = np.zeros(3)
    for i in range(len(x)):
        h[bins[i]] += x[i]
    return h / h.sum()


sample(histogram_weights, lambda r: (r.uniform(0.5, 1.0, 5), np.array([0, 2, 1, 2, 0])))


def two_buffers(x, n):
    a = x.copy()
    b = np.zeros_like(x)
    for _ in range(n):
        b[1:-1] = a[1:-1] + 0.1 * (a[2:] - 2.0 * a[1:-1] + a[:-2]) * a[1:-1]
        a, b = b, a
    return a


sample(two_buffers, lambda r: (r.standard_normal(6), 4))


def table(x):
    """Dynamic programming over a table, written row by row."""
    n = len(x)
    T = np.zeros((n + 1, n + 1))
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            T[i, j] = 0.5 * (T[i - 1, j] + T[i, j - 1]) + x[i - 1] * x[j - 1]
    return T[n, n]


sample(table, lambda r: (r.standard_normal(3),))


def parameter_written(x, y):
    x[0] = y[1] * x[1]
    x += y
    return np.sum(x * x)


sample(parameter_written, lambda r: (r.standard_normal(3), r.standard_normal(3)), (0, 1))


def conditional_store(x):
    y = np.ones_like(x)
    for i in range(len(x)):
        if x[i] > 0.0:
            y[i] = np.sqrt(x[i])
        elif i > 0:
            y[i] *= y[i - 1] * x[i]
    return y


sample(conditional_store, lambda r: (np.array([0.5, -0.7, 1.6, -0.2, -0.4]),))


def where_store(x):
    y = np.array(x)
    for k in range(3):
        y = np.where(y > 0.5, y * 0.7, y + 0.1)
        y[k] = y[k] ** 2
    return y


sample(where_store, lambda r: (np.array([0.21, 0.93, 1.7]),))


def integer_buffer(x):
    """An integer array beside a float one: it has no derivative."""
    visits = np.zeros(3, dtype=int)
    y = np.zeros(3)
    for i in range(6):
        k = i % 3
        visits[k] += 1
        y[k] += visits[k] * x[i] ** 2
    return y


sample(integer_buffer, lambda r: (r.standard_normal(6),))


def harmonics(t, table):
    """A number at first, then an array: nobody has it by another name while it is added to."""
    s = 0.0
    for row in range(len(table)):
        s += table[row, 0] * np.cos(table[row, 1] + table[row, 2] * t)
    return s


def sums_of_helpers(t, table):
    whole = harmonics(t, table)
    rest = harmonics(t, table[1:])
    whole /= rest[-1]
    return whole + rest * t


sample(sums_of_helpers, lambda r: (r.standard_normal(3), r.uniform(0.5, 1.5, (3, 3))))
