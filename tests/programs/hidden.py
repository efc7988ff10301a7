"""Writes into memory that the source says in another way than by a store."""

import operator
from functools import cached_property, partial

import numpy as np

from .registry import sample

W = np.array([3.0, 1.0, 4.0, 1.5])


def rounded_into(x):
    u = x * 2.0
    v = u + x
    np.round(u, 1, u)
    v.clip(0.1, 0.5, v)
    return u * x + v


sample(rounded_into, lambda r: (r.random(3),))


def out_by_position(x, w):
    table = np.arange(16.0).reshape(4, 4) / 7.0
    y = np.sin(x * w)
    np.cumsum(w, 0, None, w)
    y = y * np.cos(x * w)
    table.sum(0, None, w)
    y = y * np.sin(x * w)
    np.add.accumulate(table[1], 0, None, w)
    y = y + x * w
    np.dot(table, table[0], w)
    return y * w


sample(out_by_position, lambda r: (r.random(4), W.copy()))


def active_out_by_position(x):
    table = x[:, None] * x
    y = np.sin(x)
    table.sum(0, None, y)
    z = np.empty((1, 4))
    np.sum(table, 0, None, z, True)
    np.cumsum(y, 0, None, y)
    return y * z


sample(active_out_by_position, lambda r: (r.random(4),))


def out_in_loop_by_position(x, w):
    total = 0.0
    for _ in range(3):
        total = total + np.sum(np.sin(x * w))
        np.clip(w, 0.0, total, w)
        w.cumsum(0, None, w)
    return total


sample(out_in_loop_by_position, lambda r: (r.random(4), W.copy()))


def scratch_memory(x):
    w = np.array([3.0, 1.0, 4.0, 1.5])
    y = np.sin(x * w)
    middle = np.median(w, overwrite_input=True)
    return y * w * middle


sample(scratch_memory, lambda r: (r.random(4),))


def numbers_in_place(x):
    y = x * x[0]
    y[1:] = np.nan, np.inf
    z = np.nan_to_num(y, copy=False, nan=3.0, posinf=2.0)
    z *= x
    return y * x[0]


def numbers_in_place_gradient(x, ct):
    own = 4.0 * x[0] ** 3 * ct[0] + 3.0 * x[1] * ct[1] + 2.0 * x[2] * ct[2]
    return np.array([own, 3.0 * x[0] * ct[1], 2.0 * x[0] * ct[2]])


sample(numbers_in_place, lambda r: (r.random(3) + 0.5,), gradient=numbers_in_place_gradient)


def named_out(a, n, out):
    if n == 0:
        out[:] = a
        return
    named_out(np.sin(a), n - 1, out=out)


def out_of_a_recursion(x):
    w = np.ones(3)
    named_out(x, 3, out=w)
    return w * x


sample(out_of_a_recursion, lambda r: (r.random(3),))


def out_in_a_dict(x):
    w = x * 2.0
    kept = dict(out=w, b=x)
    w[0] = 3.0
    return kept["out"] * kept["b"]


sample(out_in_a_dict, lambda r: (r.random(3),))


def foreign_views_that_are_read(x):
    padded = np.zeros(5)
    padded[1:-1] = x
    windows = np.lib.stride_tricks.sliding_window_view(padded, 3)
    smooth = windows @ np.array([0.2, 0.5, 0.3])
    weights = np.array([1.0, 2.0, 3.0])
    hidden = np.ma.masked_greater(weights, 2.5)
    raw = memoryview(weights)
    return smooth * hidden.sum() * raw[1] * x


sample(foreign_views_that_are_read, lambda r: (r.random(3),))


def drawn_into(x):
    rng = np.random.default_rng(0)
    y = x * 1.0
    z = np.empty(2)
    rng.random(out=y[:2])
    rng.standard_normal(None, np.float64, z)
    rng.standard_gamma(2.0, out=z)
    rng.standard_exponential(out=y[1:])
    return y * x + np.sum(z)


sample(drawn_into, lambda r: (r.random(3),))


def items_by_functions(x):
    xs = [x[0], x[0] * x[1], x[2]]
    first = xs[0]
    operator.setitem(xs, 0, x[1])
    partial(operator.setitem, xs)(-1, x[0])
    y = x * first
    operator.setitem(y, slice(0, 1), 2.0)
    return sum(xs) * y * xs[0]


sample(items_by_functions, lambda r: (r.random(3),))


class Weighted:
    def __init__(self, w):
        self.w = w

    def put(self, w):
        super().__setattr__("w", w)


def attributes_by_methods(x):
    m = Weighted(x[0])
    r = m.w
    m.put(x[1])
    s = m.w
    m.__setattr__("w", x[2])
    return r * s**2 * m.w**3


sample(attributes_by_methods, lambda r: (r.random(3),))


def nested_results(x, w):
    table = np.zeros(3)
    table[:] = x

    def cost(i, j):
        if i == j:
            return table[i]
        best = None
        for k in range(i, j):
            c = cost(i, k) + cost(k + 1, j) + (i + 2) * w
            if best is None or c < best:
                best = c
        return best

    def row(k):
        return scaled(k) * cost(0, 2)

    def scaled(k):
        return x * k

    rows = []
    for k in range(3):
        rows.append(row(k))
    first = np.array(row(1))
    first[0] = w
    total = 0.0
    for r in rows:
        total = total + np.sum(r * first)
    return total * cost(0, 1)


sample(nested_results, lambda r: (r.random(3) + np.arange(3.0), 0.3), (0, 1))


class Measured:
    def __init__(self, w):
        self.w = w

    @cached_property
    def square(self):
        return self.w**2

    @property
    def cube(self):
        return self.w * self.square


def kept_properties(x):
    m = Measured(x)
    m.w = np.sin(x)
    total = 0.0
    for k in range(2):
        n = Measured(x * (k + 1))
        total = total + n.square * n.cube
    return m.square * m.cube + total * m.square


sample(kept_properties, lambda r: (r.random(3),))


def kept_beside_what_changes(x):
    m, state = Measured(x), Weighted(x * 1.0)
    for _ in range(3):
        state.w = state.w + 0.1 * m.square * state.w
    ms = [Measured(x), Measured(2.0 * x)]
    return state.w * ms[0].square * ms[1].square * ms[0].cube


sample(kept_beside_what_changes, lambda r: (r.random(3),))


def edits(x):
    a, b = x
    one, two = "kitten", "sit"

    def distance(i, j):
        if i == 0 or j == 0:
            return a * j + b * i
        c = 0.0 if one[i - 1] == two[j - 1] else a * b
        return min(distance(i - 1, j) + a, distance(i, j - 1) + b, distance(i - 1, j - 1) + c)

    return distance(6, 3) * max(a, a, 0.0) * x


sample(edits, lambda r: (np.array([0.31, 0.73]),))


class Pairs:
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return 3

    def __getitem__(self, i):
        return self.x[i] * 2.0

    def __iter__(self):
        return iter([self.x[0], self.x[1] * 3.0])


def own_iteration(x):
    pairs = Pairs(x)
    total = 1.0
    for v in pairs:
        total = total * v
    a, b = pairs
    for u, v in zip(x, pairs):
        total = total + u * v
    return total * a * b + sum(pairs) * len(pairs) * pairs[2] + sum([*pairs, 1.0]) * list(pairs)[1]


sample(own_iteration, lambda r: (r.random(3),))
