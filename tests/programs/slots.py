"""Items of lists and dicts that keep a name while their place is given to something else."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from .registry import sample

Pair = namedtuple("Pair", "one two")


def item_replaced(a, b):
    pairs = [(a, b)]
    old = pairs[0]
    pairs[0] = (b, a * a)
    return old[0] ** 2 * pairs[0][1]


def item_deleted(a, b):
    rows = [[a], [b]]
    row = rows[0]
    del rows[0]
    return row[0] ** 2 * rows[0][0]


def item_moved(a, b):
    rows = [(a,), (b,)]
    row = rows[0]
    rows.insert(0, (a * b,))
    last = rows[-1]
    rows.append((a * a,))
    rows.reverse()
    return row[0] ** 2 * rows[0][0] * last[0]


def item_of_a_dict_replaced(a, b):
    state = {"k": [a], "j": (b,)}
    one, two = state["k"], state["j"]
    state["k"] = [b]
    state.update(j=(a * b,))
    return one[0] ** 2 * state["k"][0] * two[0] * state.pop("j")[0]


def item_replaced_in_a_branch(a, b):
    rows = [(a,)]
    row = rows[0]
    if b > 0:
        rows[0] = (b,)
    return row[0] ** 2 * rows[0][0]


def state_replaced_in_a_loop(a, b):
    state, total = {"now": {"v": a}}, 1.0
    for _ in range(3):
        now = state["now"]
        state["now"] = {"v": now["v"] * b + 1.0}
        total = total * now["v"] + state["now"]["v"] ** 2
    return total


def best_replaced_in_a_loop(a, b):
    best, total = [(a, b)], 0.0
    for _ in range(3):
        old = best[0]
        best[0] = (old[0] * b, old[1] + a)
        total = total + old[0] * best[0][1] ** 2
    return total


def named_item_replaced(a, b):
    pairs = [Pair(a, b), Pair(b, a)]
    old = pairs[0]
    pairs[0] = Pair(a * b, b)
    return old.one**2 * pairs[0].one


class Slot:
    def __init__(self, value):
        self.rows = [value]

    def put(self, value):
        old = self.rows[0]
        self.rows[0] = value
        return old


def item_returned_and_replaced(a, b):
    slot = Slot((a,))
    old = slot.put((b,))
    return old[0] ** 2 * slot.rows[0][0]


def item_of_an_item_replaced(a, b):
    tables = [[(a,), (b,)]]
    table = tables[0]
    row = table[1]
    tables[0] = [(a * b,)]
    return row[0] ** 2 * tables[0][0][0] * table[0][0]


def item_popped(a, b):
    rows = [[a], [b]]
    row = rows[1]
    rows.pop()
    return row[0] ** 3 * rows[0][0]


def first_pair_replaced(a, b):
    pairs = list(zip([a, b], [b, a * b]))
    pairs[0] = (b, b)
    total = a
    for u, v in pairs:
        total += u * u * v
    return total


def _turned(rows, x):
    for i in range(len(rows)):
        rows[i] = (rows[i][1] * x[i], rows[i][0])


def items_turned(a, b):
    rows = [(a, b), (b, a)]
    _turned(rows, [a, b])
    return rows[0][0] ** 2 * rows[1][1]


for _program in (
    item_replaced, item_deleted, item_moved, item_of_a_dict_replaced, item_replaced_in_a_branch,
    state_replaced_in_a_loop, best_replaced_in_a_loop, named_item_replaced,
    item_returned_and_replaced, item_of_an_item_replaced, item_popped, first_pair_replaced,
    items_turned,
):  # fmt: skip
    sample(_program, lambda r: (r.uniform(0.5, 1.5), r.uniform(0.5, 1.5)), (0, 1))


# --- loops over lists that only others change ----------------------------------------------------


def bound_to_a_new_list_in_a_loop(x):
    points = [x[0], x[1]]
    for _ in range(3):
        points = [p - 0.2 * p * p for p in points]
    return points[0] * points[1] + x[2]


def rows_divided(x):
    rows = [[x[0], x[1]], [x[2], x[3]]]
    for i in range(2):
        pivot = rows[i][i]
        rows[i] = [v / pivot for v in rows[i]]
    return rows[0][1] * rows[1][0]


def frontiers(x):
    frontier = [x[0], x[1]]
    for _ in range(3):
        new = []
        for f in frontier:
            new.append(f * x[2])
            new.append(f + x[3])
        frontier = new
    return sum(f * f for f in frontier)


def rows_that_grow(x):
    rows = [[x[0]], [x[1]]]
    for row in rows:
        row[0] *= x[0]
        row.append(x[2])
    return rows[0][0] * rows[1][1] * rows[1][0] + x[3]


def popped_beside_the_loop(x):
    low = []
    for p in sorted([x[0], x[1], x[2]]):
        while len(low) > 1 and low[-1] < p * 0.5:
            low.pop()
        low.append(p * x[3])
    return sum(v * v for v in low)


def _partitioned(xs):
    if len(xs) <= 1:
        return xs
    small = [v for v in xs[1:] if v < xs[0]]
    large = [v for v in xs[1:] if v >= xs[0]]
    return _partitioned(small) + [xs[0]] + _partitioned(large)


def quicksort(x):
    total = 0.0
    for i, v in enumerate(_partitioned(list(x))):
        total += (i + 1) * v * v
    return total


def _with_cubes(xs):
    if len(xs) <= 1:
        return xs, 0.0
    low, cubes = _with_cubes([v for v in xs[1:] if v < xs[0]])
    high, others = _with_cubes([v for v in xs[1:] if v >= xs[0]])
    return low + [xs[0]] + high, cubes + others + xs[0] ** 3


def sorted_beside_a_sum(x):
    ordered, cubes = _with_cubes(list(x))
    return sum((i + 1) * v**2 for i, v in enumerate(ordered)) * cubes


class Factor:
    def __init__(self, T):
        self.T = T


def _normalised(x):
    m = x.max()
    e = np.exp(x - m)
    return e / e.sum()


def parameter_with_the_name_of_a_local(x):
    return _scaled(x, Factor(2.0))


def _scaled(x, m):
    return _normalised(x * m.T)[0]


def object_with_the_name_of_a_local(x, m):
    return _normalised(x * m.T)[0]


for _program in (
    bound_to_a_new_list_in_a_loop, rows_divided, frontiers, rows_that_grow, popped_beside_the_loop,
    parameter_with_the_name_of_a_local,
):  # fmt: skip
    sample(_program, lambda r: (r.uniform(0.5, 1.5, 4),))
sample(object_with_the_name_of_a_local, lambda r: (r.uniform(0.5, 1.5, 4), Factor(2.0)))
for _program in (quicksort, sorted_beside_a_sum):
    sample(_program, lambda r: (r.uniform(0.5, 1.5, 4),))


# --- lists of constants joined to lists of values ------------------------------------------------

START = [5.0]
PAIR = (1.0, 2.0)


class Table:
    rows = [2.0]


def joined_to_constants(a, b):
    one = START + [a * b]
    two = [*START, b] + Table.rows
    three = PAIR + (a * a,) + ((b,) * 2)
    return one[0] * one[1] + two[1] * two[2] + three[1] * three[2] * three[4] + sum(START + [a])


def array_of_joined(a, b):
    return np.sum(np.array(START + [a * b]) ** 2)


def log_in_a_state(a, b):
    state = {"log": [], "p": a}
    for _ in range(3):
        new = dict(state)
        new["p"] = state["p"] + b
        new["log"] = state["log"] + [new["p"] * a]
        state = new
    return sum(state["log"])


def joined_from_a_dict_by_variables(a, b):
    given, new = {"c": (a, b), "d": (b,)}, {}
    for k in given:
        new[k] = given[k]
    both = new["c"] + new["d"]
    again = new["c"]
    again = again + again
    return both[0] ** 2 * both[2] * again[2] * again[3]


for _program in (
    joined_to_constants, array_of_joined, log_in_a_state, joined_from_a_dict_by_variables,
):  # fmt: skip
    sample(_program, lambda r: (r.uniform(0.5, 1.5), r.uniform(0.5, 1.5)), (0, 1))


# --- parts of lists whose rows are swapped -------------------------------------------------------


def _eliminated(a, b):
    n = len(a)
    a = [row[:] + [v] for row, v in zip(a, b)]
    for i in range(n):
        p = i
        for r in range(i + 1, n):
            if abs(a[r][i]) > abs(a[p][i]):
                p = r
        a[i], a[p] = a[p], a[i]
        for r in range(i + 1, n):
            factor = a[r][i] / a[i][i]
            for c in range(i, n + 1):
                a[r][c] -= factor * a[i][c]
    x = [0.0] * n
    for i in range(n - 1, -1, -1):
        s = a[i][n]
        for c in range(i + 1, n):
            s -= a[i][c] * x[c]
        x[i] = s / a[i][i]
    return x


def gauss_by_lists(x):
    found = _eliminated([[x[0], 1.0 + x[1]], [2.0 + x[2], x[3]]], [x[1], x[0]])
    return found[0] * found[1]


def rows_copied_and_swapped(x):
    rows = [[x[0], x[1], 2.0], [x[2], x[3], x[0]]]
    rows = [row[1:] for row in rows]
    rows[0], rows[1] = rows[1], rows[0]
    rows[0][0] = rows[1][0] * rows[0][1]
    return rows[1][1] * rows[0][0] + rows[0][1]


def homography(x):
    a = x.reshape(2, 2) + np.eye(2)
    u, s, vt = np.linalg.svd(a)
    h = vt[-1].reshape(2, 1)
    h /= h[1, 0]
    return h[0, 0]


def eigenvector_scaled(x):
    a = x.reshape(2, 2)
    w, v = np.linalg.eigh(a + a.T)
    h = v[:, -1].reshape(2, 1)
    h /= h[1, 0]
    return h[0, 0] * w[0]


def dict_made_if_none(x, out=None):
    if out is None:
        out = {}
    out["a"] = x * x
    return np.sum(out["a"] * x)


class Momentum:
    def __init__(self):
        self.v = None

    def step(self, x):
        if self.v is None:
            self.v = {}
        self.v["a"] = x * x
        return self.v["a"] * x


def lazy_dict_of_an_object(x):
    return np.sum(Momentum().step(x))


def part_of_numbers_and_arrays(x):
    mixed = [x * 1.0, x[0] * x[1], x[2]]
    part = mixed[1:] + [x[3]]
    head = mixed[:2]
    head[0][0] = 5.0 * part[2]
    return np.sum(mixed[0] ** 2) * head[1] * part[0] * part[1]


def imports_of_its_own(x):
    import operator
    from math import cos
    from math import sin as sine

    return operator.mul(x[0], sine(x[1])) * cos(x[2])


for _program in (
    imports_of_its_own, part_of_numbers_and_arrays, gauss_by_lists, rows_copied_and_swapped,
    homography, eigenvector_scaled, dict_made_if_none, lazy_dict_of_an_object,
):  # fmt: skip
    sample(_program, lambda r: (r.uniform(0.5, 1.5, 4),))


def items_made_in_a_loop_beside_their_arrays(x, s):
    for _ in range(2):
        state = {"a": {"u": x, "n": s * s}, "b": {"u": x, "n": s}}
        s = state["b"]["n"]
        old = state["b"]
        state["b"] = {"u": x, "n": 1.0 + s**2}
        total = old["n"] + state["a"]["n"]
    return s + np.sum(x) * total


sample(
    items_made_in_a_loop_beside_their_arrays, lambda r: (r.uniform(0.5, 1.5, 3), 0.7), (0, 1)
)


def arrays_of_lists_that_change(u):
    rows = [[u, 1.0], [2.0, u]]
    row = rows[0]
    rows[0] = [u * u, u]
    row[0] = row[0] * u
    a, b = np.asarray(rows), np.ravel(rows[0])
    a[0, 0] *= 2.0
    b += 1.0
    return np.sum(np.sin(a)) + row[0] + rows[0][0] * b[0] * np.atleast_1d(row)[0]


def table_scaled(u):
    table = [[0.0 for _ in range(3)] for _ in range(3)]
    for r in range(3):
        for k in range(1, 3):
            table[k][r] = u * k
    for k in range(1, 3):
        for j in range(3):
            table[k][j] *= 2.0
    return np.sum(np.sin(np.asarray(table)))


sample(arrays_of_lists_that_change, lambda r: (0.7,))
sample(table_scaled, lambda r: (0.7,))


# --- numbers of objects, and copies of what may be None -------------------------------------------


class Held:
    def __init__(self, b):
        self.b = b

    def scaled(self, k):
        self.b *= k
        return self


def numbers_of_objects(x, s):
    rate, first = 2.0, x[0]
    one, two, three = Held(s), Held(s), Held(first)
    one.b *= 2.0
    two.b += x[1]
    three.scaled(s).scaled(x[2])
    four = Held(rate)
    four.b *= 3.0
    return s * one.b + two.b * first * three.b + rate * four.b * s


def display_as_a_list(x, s):
    kept = list((x * 1.0, s))
    kept[0][0] = 2.0
    pairs = []
    for i in range(2):
        pairs.append(tuple([x * i, s]))
        pairs[-1][0][1] = s
    return np.sum(kept[0]) * kept[1] * s + sum(np.sum(u) * v for u, v in pairs)


def copy_of_what_was_none(x, s):
    best = None
    for k in range(3):
        if best is None or k == 1:
            best = x * k
    work = best.copy()
    work[0] = s
    return np.sum(work) * s


def item_of_what_was_none(x, s):
    state = None
    if s > 0:
        state = {"u": x * 1.0, "n": s}
    state["u"] *= s
    state["n"] += x[0]
    return np.sum(state["u"]) * state["n"]


for _program in (
    numbers_of_objects, display_as_a_list, copy_of_what_was_none, item_of_what_was_none,
):  # fmt: skip
    sample(_program, lambda r: (r.uniform(0.5, 1.5, 3), 0.7), (0, 1))
