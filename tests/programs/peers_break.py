"""The programs that other tools get wrong: aliasing, overlap, repeated indices, one name twice."""

import numpy as np

from . import helpers
from .registry import sample


def view_alias(x):
    y = x.copy()
    v = y[1:]
    v[0] = x[0] ** 2
    return np.sum(y * y)


sample(view_alias, lambda r: (r.standard_normal(3),))


def name_alias(x):
    y = x * 1.0
    z = y
    z[0] = 3.0 * x[1]
    return np.sum(y * y)


sample(name_alias, lambda r: (r.standard_normal(3),))


def alias_then_add(x):
    y = x * 2.0
    z = y
    y += x
    return np.sum(z * z)


sample(alias_then_add, lambda r: (r.standard_normal(3),))
sample(alias_then_add, lambda r: (0.7,))


def parameter_alias_add(x, y):
    z = y
    y += x
    return np.sum(z * y)


sample(parameter_alias_add, lambda r: (r.standard_normal(3), r.standard_normal(3)), (0, 1))


def first_item_add(x):
    y = x.copy()
    z = y
    y[0] += x[1] * x[2]
    return z * z


sample(first_item_add, lambda r: (r.standard_normal(3),))


def repeated_read(x):
    idx = np.array([0, 0, 1, 0])
    return np.sum(x[idx] ** 2 * np.array([1.0, 2.0, 3.0, 4.0]))


sample(repeated_read, lambda r: (r.standard_normal(3),))


def repeated_store(x):
    y = np.zeros(3)
    y[np.array([0, 1, 0])] = x * x
    return y


sample(repeated_store, lambda r: (r.standard_normal(3),))


def repeated_store_add(x):
    """NumPy adds the last one only: `y[[0, 0]] += a` is a read and a store."""
    y = np.ones(3)
    y[np.array([0, 1, 0])] += x * x
    return y


sample(repeated_store_add, lambda r: (r.standard_normal(3),))


def repeated_store_multiply(x):
    y = x[:2] * 1.0
    y[[0, 1, 0]] *= x
    return y


sample(repeated_store_multiply, lambda r: (r.standard_normal(3),))


def mutating_callee(x):
    y = x.copy()
    total = double_and_sum(y)
    return total + np.sum(y * y)


def double_and_sum(a):
    a *= 2.0
    a[0] = a[1]
    return np.sum(a)


sample(mutating_callee, lambda r: (r.standard_normal(3),))


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def helpers_of_one_name(x):
    return sigmoid(x) * helpers.sigmoid(x)


sample(helpers_of_one_name, lambda r: (0.8,))


def multiply_by_itself(x):
    y = x.copy()
    y *= y
    return y


sample(multiply_by_itself, lambda r: (r.standard_normal(3),))


def divide_by_itself(x):
    y = x.copy()
    y /= y * y
    y -= y
    y += x
    return y


sample(divide_by_itself, lambda r: (r.uniform(0.5, 1.5, 3),))


def recurrence_in_place(x):
    y = np.ones(len(x))
    for i in range(1, len(x)):
        y[i] = y[i - 1] * x[i]
    return np.sum(y * y)


sample(recurrence_in_place, lambda r: (r.standard_normal(5),))


def recurrence_on_input(x):
    for i in range(1, len(x)):
        x[i] = x[i - 1] * x[i]
    return x


sample(recurrence_on_input, lambda r: (r.standard_normal(5),))


def overlapping_stencil(x):
    y = x.copy()
    y[1:] = y[:-1] * y[1:]
    y[:-1] += y[1:] ** 2
    y[1:-1] = y[:-2] - y[2:]
    return y


sample(overlapping_stencil, lambda r: (r.standard_normal(5),))


def overlapping_views(x):
    y = x.copy()
    a = y[:-1]
    b = y[1:]
    a *= b
    b += a
    return y


sample(overlapping_views, lambda r: (r.standard_normal(4),))


def reversed_into_itself(x):
    y = x.copy()
    y[:] = y[::-1]
    y[:2] = y[1:3]
    return y * x


sample(reversed_into_itself, lambda r: (r.standard_normal(4),))


def zero_times_nan(x):
    return np.sum(0.0 * x)


sample(
    zero_times_nan,
    lambda r: (np.array([1.0, np.nan, 2.0]),),
    gradient=lambda x, ct: 0.0 * np.ones(3) * ct,
)


def nan_kept(x, y):
    return np.sum(x * y)


sample(
    nan_kept,
    lambda r: (np.array([0.0, 1.0]), np.array([np.nan, 2.0])),
    "x",
    gradient=lambda x, y, ct: ct * y,
    second=lambda x, y, ct, u: 0.0 * x,
)


def ping_pong(x, n):
    a = x.copy()
    b = np.zeros_like(x)
    for t in range(n):
        b[:] = np.sin(a) + np.roll(a, 1)
        a, b = b, a
    return a - b


sample(ping_pong, lambda r: (r.standard_normal(4), 3))
sample(ping_pong, lambda r: (r.standard_normal(4), 4))


def self_assignment(x):
    y = x.copy()
    y[0] = y[0]
    y = y
    z = y
    y = y * z
    z[1] = y[0]
    return y + z


sample(self_assignment, lambda r: (r.standard_normal(3),))


def old_value_read_later(x):
    y = x.copy()
    first = y[0]
    row = y[:2]
    kept = row.copy()
    y[0] = 10.0 * x[2]
    return first * y[0] + np.sum(row * kept)


sample(old_value_read_later, lambda r: (r.standard_normal(3),))


def dot_of_same(x):
    return np.dot(x, x) + x @ x + np.inner(x, x)


sample(dot_of_same, lambda r: (r.standard_normal(3),))


def scalar_from_array_is_no_view(x):
    y = x.copy()
    s = y[0]
    s += 1.0
    y[1] = s
    s *= y[1]
    return y * s


sample(scalar_from_array_is_no_view, lambda r: (r.standard_normal(3),))


def shadowed_builtin(x, sum):
    max = x * sum
    return max * max


sample(shadowed_builtin, lambda r: (0.8, 1.2), (0, 1))


def default_is_shared(x, acc=[]):
    return x * (1.0 + len(acc))


sample(default_is_shared, lambda r: (0.8,), "x")


def loop_variable_reused(x):
    s = 0.0
    for i in range(3):
        s += x[i] * i
        i = i * 2
        s += x[0] * i
    return s


sample(loop_variable_reused, lambda r: (r.standard_normal(3),))


def target_is_array_item(x):
    y = np.zeros(3)
    k = 0
    k, y[k] = 1, x[0] * 2.0
    y[k], y[2] = y[0] * x[1], x[2]
    return y


sample(target_is_array_item, lambda r: (r.standard_normal(3),))


def augmented_evaluates_once(x):
    y = x.copy()
    order = [2, 0]
    y[order.pop()] += x[1]
    y[order.pop()] *= x[0]
    return y


sample(augmented_evaluates_once, lambda r: (r.standard_normal(3),))
