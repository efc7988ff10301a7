"""Recursive functions that call themselves with arguments of other kinds than they were given."""

import numpy as np

from .registry import sample


def _times_pair(a, b, n):
    if n <= 0:
        return b * a
    return _times_pair(a, np.array([2.0, 3.0]), n - 1)


def number_at_first_then_an_array(x):
    return np.sum(_times_pair(x, x, 2) * np.array([1.0, 5.0])) + _times_pair(x, x, 0)


def _doubled_pair(a, b, n):
    if n <= 0:
        return b * a
    r = _doubled_pair(a, np.array([2.0, 3.0]), n - 1)
    return r * 2.0


def array_after_a_number_scaled(x):
    return np.sum(_doubled_pair(x, x, 3) * np.array([1.0, 5.0]))


def _stacked(a, n):
    return a if n <= 0 else _stacked(np.stack([a, 2.0 * a]), n - 1)


def one_axis_more_in_each_call(x):
    return np.sum(_stacked(x, 2) * np.array([1.0, 5.0])) + np.sum(np.sin(_stacked(x, 6)))


def _spread(a, n):
    if n <= 0:
        return a
    if n == 1:
        return _spread(np.ones((3, 2)) * a, n - 1)
    return _spread(a * 2.0, n - 1)


def rows_in_the_last_call(x):
    return np.sum(_spread(x, 2) * np.array([1.0, 5.0])) + _spread(x[0], 3)[0, 1] * x[1]


def _even(a, n):
    return a if n == 0 else _odd(a[None], n - 1)


def _odd(b, n):
    return b if n == 0 else _even(b * np.array([[1.0], [2.0]]), n - 1)


def two_functions_that_add_axes(x):
    return np.sum(_even(x, 2) * x) + np.sum(_odd(x, 1)[1] * _even(x, 0))


def _halves(xs, n):
    if n == 0:
        return xs[0]
    return _halves(np.array([np.sum(xs), xs[0]]), n - 1)


def list_at_first_then_an_array(x):
    return np.sum(_halves([x, x * 2.0], 0)) * _halves([x[0], x[1] * 3.0], 2)


def _written_as_an_array(a, b, n):
    if n == 0:
        b[0] *= 2.0
        return a
    c = b * 1.0
    r = _written_as_an_array(a, c, n - 1)
    return r * c[0]


def written_by_the_last_call(x):
    y = x * x
    r = _written_as_an_array(x[0], y, 2)
    return r + np.sum(y * x)


def _never_called_again(a, b, n):
    if n <= 0:
        return 0.3
    both = {"u": b}
    again = [both for _ in both]
    return _never_called_again(a, again, n)


def call_without_a_derivative(x, s):
    a = x * 1.0
    sums = [s]
    for _ in range(3):
        total = sum(tuple(a))
        sums.append(total)
        _never_called_again(total, a, 0)
    a += s
    return sum(sums) * np.sum(a)


for _program in (
    array_after_a_number_scaled,
    number_at_first_then_an_array,
):
    sample(_program, lambda r: (r.uniform(0.5, 1.0),))
for _program in (
    one_axis_more_in_each_call,
    rows_in_the_last_call,
    list_at_first_then_an_array,
):
    sample(_program, lambda r: (r.uniform(0.5, 1.0, 2),))
for _program in (two_functions_that_add_axes, written_by_the_last_call):
    sample(_program, lambda r: (r.uniform(0.5, 1.0, 2),))
sample(call_without_a_derivative, lambda r: (r.uniform(0.5, 1.0, 3), 0.7), inputs=(0, 1))


def _pair(a, n):
    if n <= 0:
        return a * 2.0, np.sum(a)
    one, two = _pair(a * a, n - 1)
    return one, two * a[0]


def written_into_one_of_two(x):
    one, two = _pair(x, 2)
    rows = [one, x * two]
    one += x * two
    return np.sum(rows[0] * rows[1])


sample(written_into_one_of_two, lambda r: (r.uniform(0.3, 1.0, 3),))


def _product_below(v, n):
    if n <= 0:
        return v[0] * v[1]
    return _product_below([q * 0.9 for q in v], n - 1)


def number_in_a_list_of_a_recursion(m, s):
    return np.sum(_product_below([0.5, s], 0) * np.max(m))


sample(number_in_a_list_of_a_recursion, lambda r: (r.standard_normal((2, 2)), 0.7), (0, 1))


def _total(v, n):
    if n <= 0:
        return sum([q for q in v])
    return _total(v, 0)


def number_chosen_and_kept(s, u):
    t = np.maximum(s, u)
    kept = [s, t]
    step = _total(kept, 1)
    for _ in range(3):
        t -= step
    return kept


def number_under_two_names(s, u):
    first = np.maximum(s, u)
    t = first
    step = _total([s, first], 1)
    for _ in range(3):
        t -= step
    return [first, t]


def number_as_an_array_that_is_added_to(s, u):
    first = np.maximum(s, u)
    t = np.asarray(first)
    t += s
    return [first, t]


def two_numbers(r):
    return np.float64(r.uniform(0.5, 0.9)), np.float64(0.2)


for _function in (number_chosen_and_kept, number_as_an_array_that_is_added_to):
    sample(_function, two_numbers, (0, 1))
# In the backward part of a recursive function it is not known what is added to an item.
sample(number_under_two_names, two_numbers, (0, 1), order2=False)


def _first_of_others(v, n):
    if n <= 0:
        return v[0]
    return _first_of_others([0.9, 0.8], n - 1)


def number_of_a_recursion_in_place(x, m):
    t = _first_of_others(x, 2)
    t += np.sum(m)
    kept = t
    t -= x[0] * x[1]
    return [kept, t]


def number_of_a_recursion_in_place_in_a_loop(x, m):
    t = _first_of_others(x, 0)
    kept = [t]
    for k in range(2):
        t *= m[k]
        kept.append(t)
    return kept


for _function in (number_of_a_recursion_in_place, number_of_a_recursion_in_place_in_a_loop):
    sample(_function, lambda r: (r.uniform(0.5, 1.5, 3), r.uniform(0.5, 1.5, 2)), (0, 1))
