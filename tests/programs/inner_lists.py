"""Lists of lists of arrays: a function gives one of them, or all after a store far inside."""

import numpy as np

from .registry import sample


def lists(r):
    return [[r.standard_normal(3) for _ in range(2)] for _ in range(2)]


def one_of_the_lists(z):
    return z[-2]


def both_lists(z):
    return z[1], z[0]


def taken_apart(z):
    first, second = z
    return second


def by_a_helper(z):
    def chosen(rows):
        return rows[1]

    return chosen(z)


def chosen_by_recursion(z, n):
    if n == 0:
        return z[0]
    return chosen_by_recursion([z[1], z[0]], n - 1)


def all_after_a_store(s, z):
    z[1][1][-2] -= s
    return z


def summed_after_a_store(s, z):
    z[1][1][-2] -= s
    return np.sum(z)


def one_list_after_stores(s, z):
    k = 0
    while k < 3:
        z[k % 2][0][1] += s * z[1 - k % 2][1][0]
        k += 1
    return z[0]


def lists_exchanged(s, z):
    z[0][0] += s
    z[0], z[1] = z[1], z[0]
    return z


def stored_and_read_from_the_end(s, z):
    z[0][0][0] = s
    z[-1][-2][1:] *= s
    return z[-2][0] * z[1][0]


def grown_and_read_from_the_end(s, x):
    rows = []
    for k in range(3):
        rows.append([x * k, x + k])
    rows[0][0][0] = s
    return rows[-3][0] * rows[0][1]


def grown_beside_another(z, y):
    first = z[0]
    first.append(y)
    first.extend([y * y])
    return first + z[1]


def grown_alone(z, y):
    first = z[0]
    first.extend([y])
    return first[0] * first[-1]


def by_name(p):
    return p["rows"]


for _function in (one_of_the_lists, both_lists, taken_apart, by_a_helper):
    sample(_function, lambda r: (lists(r),))
sample(chosen_by_recursion, lambda r: (lists(r), 3))
for _function in (
    all_after_a_store, summed_after_a_store, stored_and_read_from_the_end, one_list_after_stores,
    lists_exchanged,
):  # fmt: skip
    sample(_function, lambda r: (0.7, lists(r)), (0, 1))
sample(grown_and_read_from_the_end, lambda r: (0.7, r.standard_normal(4)), (0, 1))
for _function in (grown_beside_another, grown_alone):
    sample(_function, lambda r: (lists(r), r.standard_normal(3)), (0, 1))
sample(by_name, lambda r: ({"rows": lists(r)[0], "others": np.ones(2)},))


def columns_for_each_row(M):
    A = [list(r) for r in M]
    s = 0
    for r in A:
        for c in zip(*A):
            s = s + c[0] * r[1]
    return s


def columns_by_comprehensions(M):
    A = [tuple(r) for r in M]
    s = 0.0
    for r in A:
        for c in [tuple(a[0] for a in A), tuple(a[1] for a in A)]:
            s = s + c[0] * r[1] ** 2
    return s


for _function in (columns_for_each_row, columns_by_comprehensions):
    sample(_function, lambda r: (r.uniform(0.5, 1.5, (2, 2)).tolist(),))


def inner_list_under_a_second_name_of_the_outer(y, z):
    rows = z
    z[1][0] *= y
    return rows


sample(
    inner_list_under_a_second_name_of_the_outer,
    lambda r: (r.random(3), [[r.random(3), r.random(3)], [r.random(3), r.random(3)]]), (0, 1),
)  # fmt: skip
sample(
    inner_list_under_a_second_name_of_the_outer,
    lambda r: (r.random(3), [[r.random(3)], [r.random(3), r.random(3)]]), (0,),
)  # fmt: skip


def inner_list_of_a_copy_of_the_outer(y):
    z = [[y * 1.0, y * 2.0], [y * 3.0, y]]
    rows, t = z, z.copy()
    t[0][1] = y**3
    u = t[0]
    u[0] = y * u[1]
    return np.sum(rows[0][1] * rows[0][0])


def inner_list_that_grows_under_a_second_name(y):
    d = {"a": [y, y * 2.0], "b": [y]}
    named = d
    t = d["a"]
    t.append(y * y)
    t[0] = y * y * y
    return np.sum(named["a"][0]) + np.sum(named["a"][2])


def list_three_deep_under_a_second_name(y):
    z = [[[y, y], [y]], [[y]]]
    named, t = z, z[0]
    u = t[0]
    u[0] = u[1] * y
    return np.sum(named[0][0][0])


def inner_dict_under_a_second_name(y):
    z = {"r": {"u": y, "v": y * 2.0}}
    named, t = z, z["r"]
    t["u"] = y * t["v"]
    for _ in range(2):
        t["v"] = t["v"] * y
    return np.sum(named["r"]["u"] * named["r"]["v"])


for _function in (
    inner_list_of_a_copy_of_the_outer, inner_list_that_grows_under_a_second_name,
    list_three_deep_under_a_second_name, inner_dict_under_a_second_name,
):  # fmt: skip
    sample(_function, lambda r: (r.uniform(0.5, 1.5, 3),))
