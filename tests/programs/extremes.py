"""`max` and `min` of lists or tuples, sums of what may be empty, `zip` with `strict`."""

from .registry import sample


def best_so_far(x):
    best = (-1.0, 0)
    for i in range(3):
        best = max(best, (x[i] * x[0], i))
    return best[0] * x[best[1]]


def best_or_none(x):
    best = None
    for i in range(3):
        c = (x[i] * x[0], i)
        best = c if best is None else max(best, c)
    return best[0] * x[best[1]]


def greater_of_two_tuples(x):
    return max((x[0], x[1]), (x[1], x[2]))[1] * x[0]


def least_of_two_lists(x):
    a = [x[0], x[1]]
    b = [x[1] * 2, x[2]]
    m = min(a, b)
    return m[0] * m[1] * x[0]


def least_of_a_display_and_a_list(x):
    b = [x[1] * 2, x[2]]
    m = min([x[0], x[1]], b)
    return m[0] * m[1] * x[0]


def greatest_with_a_name(x):
    return max((x[0], "a"), (x[1], "b"), (x[2] * x[1], "c"))[0] * x[0]


def greater_by_a_key(x):
    w = max([x[0], x[1]], [x[2], x[0]], key=lambda r: r[0] * r[1])
    return w[0] * w[1] ** 2


def least_of_three_by_a_key(x):
    w = min((x[0], x[1]), (x[2], x[0]), (x[1], x[0]), key=lambda r: abs(r[0] - 2))
    return w[0] * w[1] ** 2


def greatest_number_by_a_key(x):
    return max(x[0], x[1], key=lambda r: -r) * x[2]


def sums_of_lists_that_may_be_empty(x):
    rows = [[x[0], x[1]], [], [x[2]]]
    return sum(sum(r) for r in rows) * x[0]


def joined_to_what_a_branch_made(x):
    if x[0] > 1.0:
        u = (x[0],)
    else:
        u = (x[1], x[2])
    t = u + (x[2] * x[0],)
    return t[0] * t[-1]


for _function in (
    best_so_far, best_or_none, greater_of_two_tuples, least_of_two_lists,
    least_of_a_display_and_a_list, greatest_with_a_name, greater_by_a_key,
    least_of_three_by_a_key, greatest_number_by_a_key,
    sums_of_lists_that_may_be_empty, joined_to_what_a_branch_made,
):  # fmt: skip
    sample(_function, lambda r: (r.permutation(3) * 0.4 + r.uniform(0.5, 0.8, 3),))


def sums_in_step(x, y):
    t = 0.0
    for a, b in zip(x, y, strict=True):
        t += a * b * t + a
    return t


def products_in_step(x, y):
    return sum(a * b * b for a, b in zip(x, y, strict=True))


def pairs_in_step(x, y):
    pairs = list(zip(x, y, strict=True))
    named = dict(zip("abc", x, strict=True))
    return pairs[0][0] * pairs[-1][1] * named["c"]


for _function in (sums_in_step, products_in_step, pairs_in_step):
    sample(_function, lambda r: (r.uniform(0.6, 1.3, 3), r.uniform(0.6, 1.3, 3)))
