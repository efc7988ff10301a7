"""Recursive functions that append to lists, take from them, and store items in them."""

import numpy as np

from .registry import sample


def _collected(x, out, n):
    if n == 0:
        return
    out.append(x * n)
    _collected(np.sin(x), out, n - 1)


def collected_in_a_list(x):
    out = []
    _collected(x, out, 3)
    return sum(out) * out[-1]


def collected_twice_with_changes_between(x):
    out = [x]
    for k in range(3):
        _collected(x * k, out, k)
        out.append(out[-1] * out[0])
    del out[1]
    return np.stack(out)


def collected_in_an_argument(x, out):
    _collected(x, out, 2)
    return sum(out)


def _visited(k, x, out):
    if k > 7:
        return
    _visited(2 * k, x, out)
    out.append(np.sin(x * k))
    _visited(2 * k + 1, x, out)


def visited_in_order(x):
    out = []
    _visited(1, x, out)
    total = 0.0
    for k, value in enumerate(out):
        total = total + value * k
    return total


def _drained(xs, y):
    if len(xs) == 0:
        return 0.0
    x = xs.pop()
    return x * y + _drained(xs, y)


def drained_to_nothing(x, y):
    xs = [x, y, x * y]
    return _drained(xs, y) + len(xs) * x


def _scaled(xs, y, n):
    if n < 0:
        return
    xs[n] = xs[n] * y
    _scaled(xs, y, n - 1)


def items_stored(x, y):
    xs = [x, y, x * y]
    _scaled(xs, y, 2)
    return xs[0] + xs[1] * xs[2]


def _dealt(ours, theirs, x, n):
    if n == 0:
        return x
    ours.append(x * n)
    theirs.append(x * x)
    return _dealt(theirs, ours, x * 1.1, n - 1)


def dealt_to_two_lists(x):
    a, b = [], []
    rest = _dealt(a, b, x, 3)
    return rest + sum(a) * 2.0 + sum(b) * 3.0 * len(a)


def _grown(x, out, n):
    if n > 0:
        out.append(np.sin(x))
        _doubled(x, out, n - 1)


def _doubled(x, out, n):
    if n > 0:
        out[-1] = out[-1] * 2.0
        _grown(x * 0.9, out, n - 1)


def mutual_recursion_on_a_list(x):
    out = []
    _grown(x, out, 5)
    return sum(out)


def nested_recursion_on_a_list(x, y):
    xs = [x]

    def powers(n):
        if n > 0:
            xs.append(xs[-1] * y)
            powers(n - 1)

    powers(3)
    return sum(xs)


def _last(xs, x, n):
    if n <= 0:
        return x
    r = _last(xs, x * 1.5, n - 1)
    xs.append(r)
    return r


def returned_and_appended(x, y):
    xs = [4.0, y]
    r = _last(xs, x, 2) * 2.0
    for v in xs:
        r = r + v * v
    return r


def a_display_that_nobody_sees(x, y):
    return _last([4.0, y], x, 2) * y


def where_a_branch_is_taken(x, y):
    out = [y]
    if np.sum(x) > 0.0:
        _collected(x, out, 2)
    return sum(out) * y


def until_it_is_full(x):
    out = []
    while len(out) < 5:
        _collected(x + len(out), out, 2)
    return sum(v * k for k, v in enumerate(out))


def _guarded_sum(xs, k):
    try:
        return sum(xs) * k
    finally:
        pass


def list_for_a_helper_that_is_not_understood(x):
    weights = [1.0, 2.0]
    return x * _guarded_sum(weights, 3)


sample(list_for_a_helper_that_is_not_understood, lambda r: (r.standard_normal(3),))


def nobody_looks_at_the_list(x):
    xs = [x]
    _collected(x, xs, 2)
    ys = [1.0]
    _collected(2.0, ys, 1)
    for _ in range(2):
        zs = []
        _collected(x, zs, 1)
    return x * x * sum(ys)


def the_last_call_is_for_nothing(x):
    xs = [x]
    _collected(x, xs, 1)
    total = sum(xs)
    _collected(x, xs, 2)
    return total * x


sample(nobody_looks_at_the_list, lambda r: (r.standard_normal(3),))
sample(the_last_call_is_for_nothing, lambda r: (r.standard_normal(3),))


def _extended(v, n):
    if n <= 0:
        return sum([q * q for q in v])
    return _extended((*v, 0.4), n - 1)


def tuple_that_grows(x, y):
    return _extended((x, y), 2)


def list_that_becomes_a_tuple(x, y):
    return _extended([x, y], 3)


sample(tuple_that_grows, lambda r: (r.standard_normal(3), 0.7), (0, 1))
sample(list_that_becomes_a_tuple, lambda r: (r.standard_normal(3), 0.7), (0, 1))

for _function in (collected_in_a_list, visited_in_order, mutual_recursion_on_a_list):
    sample(_function, lambda r: (r.uniform(0.2, 0.9, 3),))
for _function in (collected_twice_with_changes_between, dealt_to_two_lists, until_it_is_full):
    sample(_function, lambda r: (r.uniform(0.2, 0.9),))
for _function in (
    drained_to_nothing, items_stored, nested_recursion_on_a_list, returned_and_appended,
    a_display_that_nobody_sees, where_a_branch_is_taken,
):  # fmt: skip
    sample(_function, lambda r: (r.standard_normal(3), r.standard_normal(3)), (0, 1))
sample(collected_in_an_argument, lambda r: (0.7, [0.3, 0.4]), (0, 1))
