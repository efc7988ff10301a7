"""For loops over ranges and sequences."""

import numpy as np

from .registry import sample


def recurrence(x, n):
    acc = 1.0
    for i in range(n):
        acc = acc * np.sin(x[i]) + x[0]
    return acc


sample(recurrence, lambda r: (r.standard_normal(5), 5))
sample(
    recurrence,
    lambda r: (r.standard_normal(5), 0),
    gradient=lambda x, n, ct: 0 * x,
)


def logistic_map(x, n):
    for _ in range(n):
        x = 3.5 * x * (1.0 - x)
    return x


sample(logistic_map, lambda r: (0.37, 6))


def nested_sums(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total += np.exp(-((x[i] - x[j]) ** 2))
    return total


sample(nested_sums, lambda r: (r.standard_normal(4),))


def over_array(x):
    s = 0.0
    for v in x:
        s = s * 0.5 + v * v
    return s


sample(over_array, lambda r: (r.standard_normal(4),))


def over_rows(X):
    s = 0.0
    for row in X:
        s += np.sum(row) * row[0]
    return s


sample(over_rows, lambda r: (r.standard_normal((3, 2)),))


def over_zip(xs, ys):
    s = 0.0
    for x, y in zip(xs, ys):
        s += x * y - np.sin(x)
    return s


sample(over_zip, lambda r: (r.standard_normal(4), r.standard_normal(4)), (0, 1))


def over_enumerate(x):
    s = 0.0
    for i, v in enumerate(x):
        s += (i + 1) * v**2
    for i, (a, b) in enumerate(zip(x, x[1:]), 1):
        s += a * b / i
    return s


sample(over_enumerate, lambda r: (r.standard_normal(4),))


def over_reversed(coeffs, t):
    y = 0.0
    for c in reversed(coeffs):
        y = y * t + c
    return y


sample(over_reversed, lambda r: (r.standard_normal(4), 0.8), (0, 1))


def over_list(x):
    s = 0.0
    for scale in [1.0, 2.0, 3.0]:
        for name in ("a", "b"):
            if name == "a":
                s += np.sum(np.sin(scale * x))
            else:
                s += np.sum(x) * scale
    return s


sample(over_list, lambda r: (r.standard_normal(3),))


def steps_and_offsets(x):
    y = 0.0
    for i in range(1, len(x) - 1, 2):
        y += x[i - 1] * x[i] * x[i + 1]
    for i in range(len(x) - 1, 0, -1):
        y = y * 0.9 + x[i]
    return y


sample(steps_and_offsets, lambda r: (r.standard_normal(7),))


def counter_after_loop(x):
    k = 0
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0.0:
            k = k + 1
            s = s + x[i] * k
    return s / k + x[i]


sample(counter_after_loop, lambda r: (np.array([0.4, -1.0, 0.8, 1.3, -0.2]),))


def fibonacci_like(a, b, n):
    for _ in range(n):
        a, b = b, a + b * np.cos(a)
    return a * b


sample(fibonacci_like, lambda r: (0.3, 0.9, 5), (0, 1))


def accumulate_matrix(W, x, steps):
    h = x
    total = np.zeros_like(x)
    for t in range(steps):
        h = np.tanh(W @ h)
        total = total + h
    return total


sample(
    accumulate_matrix, lambda r: (r.standard_normal((3, 3)), r.standard_normal(3), 4), ("W", "x")
)


def tuple_in_loop(x):
    state = (x, 0.0)
    for i in range(3):
        p, q = state
        state = (p * np.cos(q), q + p * 0.1)
    return state


sample(tuple_in_loop, lambda r: (0.9,))


def loop_invariant(x, y):
    s = 0.0
    c = np.exp(y)
    for i in range(3):
        s += c * x[i]
        s *= 1.1
    return s


sample(loop_invariant, lambda r: (r.standard_normal(3), 0.3), (0, 1))


def redefined_in_loop(x):
    y = x
    for i in range(3):
        h = y * y
        h = h + x
        y = h / (1.0 + i)
    return y


sample(redefined_in_loop, lambda r: (r.standard_normal(2),))


def dependent_bounds(x, n):
    s = 0.0
    for i in range(n):
        for j in range(i, n):
            if (i + j) % 2 == 0:
                s += x[i] * x[j] ** 2
    return s


sample(dependent_bounds, lambda r: (r.standard_normal(4), 4))


def elapsed_else(x):
    s = 0.0
    for v in x:
        if v > 10.0:
            break
        s += v**2
    else:
        s = s * 2.0
    return s


sample(elapsed_else, lambda r: (r.standard_normal(4),))
sample(elapsed_else, lambda r: (np.array([1.0, 2.0, 11.0, 3.0]),))


def views_of_what_is_restored(A):
    R = A * 1.0
    for _ in range(2):
        a = R[:, 0]
        v = a / (a[0] + 3.0)
        v[0] = 1
        R = np.dot(np.dot(v[:, None], v[None, :]), R)
    return R


sample(views_of_what_is_restored, lambda r: (r.uniform(0.3, 1.0, (3, 3)),))


def unsigned_bounds(x, k):
    y = x * 1.0
    for i in range(k[0], k[2]):
        y = y * x[i]
    for i in range(k[0], k[2], k[1]):
        y = y + x[i] * y[0]
    return np.sum(y)


def unsigned_bounds_of_counted(x, n, step):
    y = x * 1.0
    for i in range(n, 9, step):
        if y[0] > 40.0:
            break
        y = y * (x[i % 5] + 1.0)
    for i in range(9, n, -1):
        if y[1] > 900.0:
            break
        y = y * (x[i % 5] + 1.0)
    return np.sum(y)


sample(unsigned_bounds, lambda r: (r.random(5) + 0.5, np.array([0, 2, 5], np.uint8)))
sample(unsigned_bounds, lambda r: (r.random(5) + 0.5, np.array([0, 2, 0], np.uint8)))
sample(unsigned_bounds_of_counted, lambda r: (r.random(5) + 0.5, np.uint8(0), np.uint16(2)))
sample(unsigned_bounds_of_counted, lambda r: (r.random(5) + 0.5, 1, 1))
