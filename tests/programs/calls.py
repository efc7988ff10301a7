"""Calls of other Python functions."""

import functools

import numpy as np

from . import helpers
from .helpers import shift
from .registry import sample


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def silu(x):
    return x * sigmoid(x)


sample(silu, lambda r: (r.standard_normal(3),))


def affine(x, w, b=0.5, *, scale=1.0):
    return scale * (x * w + b)


def keywords_and_defaults(x, w):
    a = affine(x, w)
    b = affine(w=x, x=w, scale=2.0)
    c = affine(x, w, a, scale=b)
    return a * b + c


sample(keywords_and_defaults, lambda r: (0.7, 1.9), (0, 1))


def called_twice(x):
    return sigmoid(sigmoid(x) * x)


sample(called_twice, lambda r: (0.4,))


def split_parts(x):
    n = len(x) // 2
    return x[:n], x[n:]


def tuple_result(x):
    a, b = split_parts(x)
    pair = split_parts(a * b)
    return np.sum(pair[0]) * np.sum(pair[1])


sample(tuple_result, lambda r: (r.standard_normal(8),))


def stats_of(x):
    mean = np.mean(x)
    return {"mean": mean, "spread": np.mean((x - mean) ** 2), "n": len(x)}


def dict_result(x):
    s = stats_of(x)
    return s["mean"] * s["spread"] / s["n"]


sample(dict_result, lambda r: (r.standard_normal(4),))


def factorial_like(x, n):
    if n == 0:
        return 1.0
    return x * factorial_like(x - 0.1, n - 1)


sample(factorial_like, lambda r: (1.7, 4))


def tree_sum(x):
    n = len(x)
    if n == 1:
        return x[0]
    return tree_sum(x[: n // 2]) * 0.9 + np.sin(tree_sum(x[n // 2 :]))


sample(tree_sum, lambda r: (r.standard_normal(5),))


def is_even_path(x, n):
    if n == 0:
        return x * x
    return is_odd_path(x * 1.1, n - 1)


def is_odd_path(x, n):
    if n == 0:
        return np.sin(x)
    return is_even_path(x + 0.2, n - 1)


sample(is_even_path, lambda r: (0.7, 3))


def set_first(a, v):
    a[0] = v
    a[1:] *= v


def callee_writes(x):
    y = x.copy()
    set_first(y, x[1] * x[2])
    return y


sample(callee_writes, lambda r: (r.standard_normal(3),))


def callee_in_loop(x):
    y = x.copy()
    for i in range(3):
        set_first(y, y[1] * 0.5 + x[i])
    return y


sample(callee_in_loop, lambda r: (r.standard_normal(3),))


def module_function(x):
    return helpers.shift(x) + shift(x * x) + helpers.inner.scale * x


sample(module_function, lambda r: (r.standard_normal(3),))


def local_function(x, k):
    def bump(t):
        return np.exp(-k * t * t)

    def both(t):
        return bump(t) + bump(t - 1.0)

    return both(x) * both(2.0 * x)


sample(local_function, lambda r: (0.4, 1.3), ("x", "k"))


def local_lambda(x):
    square = lambda t: t * t
    return square(x) + square(np.sin(x))


sample(local_lambda, lambda r: (r.standard_normal(3),))


def make_scaled(c):
    def scaled(x):
        return c * np.sin(x) + c

    return scaled


scaled_by_two = make_scaled(2.0)
scaled_by_three = make_scaled(3.0)


def closures(x):
    return scaled_by_two(x) * scaled_by_three(x)


sample(closures, lambda r: (0.6,))
sample(scaled_by_two, lambda r: (0.6,))


def function_argument(f, x):
    return f(x) * f(x + 1.0)


def passes_functions(x):
    return function_argument(np.sin, x) + function_argument(sigmoid, x)


sample(passes_functions, lambda r: (0.6,))


def simpson(f, a, b, n):
    h = (b - a) / n
    s = f(a) + f(b)
    for i in range(1, n):
        s += (4.0 if i % 2 else 2.0) * f(a + i * h)
    return s * h / 3.0


def integral(k, b):
    return simpson(lambda t: np.exp(-k * t) * np.cos(t), 0.0, b, 6)


sample(integral, lambda r: (0.8, 1.7), (0, 1))


def traced(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)

    return wrapper


@traced
def decorated(x):
    return x**3


def calls_decorated(x):
    return decorated(x) * 2.0


sample(calls_decorated, lambda r: (0.6,))


def star_call(x):
    args = (x[0], x[1])
    options = {"scale": 2.0}
    return affine(*args, **options)


sample(star_call, lambda r: (r.standard_normal(2),))


def variadic(*terms):
    total = 0.0
    for t in terms:
        total += t * t
    return total


def calls_variadic(x, y):
    return variadic(x, y, x * y)


sample(calls_variadic, lambda r: (0.6, 1.4), (0, 1))


def returns_nothing_useful(x, log):
    log.append(1)
    return None


def ignores_effect(x):
    log = []
    returns_nothing_useful(x, log)
    return x * x


sample(ignores_effect, lambda r: (0.6,))


def callee_with_early_return(x):
    if x > 1.0:
        return x
    return x * x


def loops_over_callee(x):
    s = 0.0
    for v in x:
        s = s + callee_with_early_return(v + s * 0.1)
    return s


sample(loops_over_callee, lambda r: (np.array([0.3, 1.5, -0.4]),))


def by_halves(x):
    """A complex transform that calls itself."""
    x = np.asarray(x, dtype=complex)
    n = x.shape[0]
    if n <= 1:
        return x * (1.0 + 0.5j)
    even = by_halves(x[::2])
    odd = by_halves(x[1::2])
    return np.concatenate([even + 1j * odd, even - odd * 2.0])


def spectrum_by_halves(x):
    return np.sum(np.abs(by_halves(x)) ** 2)


sample(spectrum_by_halves, lambda r: (r.standard_normal(4),))


def written_after_the_call(b, n):
    if n <= 0:
        return np.roll(b, 1)
    r = written_after_the_call(b, n - 1)
    r[:] -= b
    return np.exp(r * 0.5)


sample(written_after_the_call, lambda r: (r.standard_normal(4), 3))


def scaled_after_the_call(b, n):
    if n <= 0:
        return b * b
    r = scaled_after_the_call(b[1:], n - 1)
    r *= b[: len(r)]
    return np.tanh(r)


sample(scaled_after_the_call, lambda r: (r.standard_normal(4), 2))


def both_written(a, b, n):
    if n <= 0:
        return np.roll(b, 1)
    b[b > 0.6] += a
    r = both_written(a, b, n - 1)
    r[:] -= b
    return np.exp(r * 0.5)


def both_written_on_a_copy(a, b):
    return both_written(a, b.copy(), 2)


sample(
    both_written_on_a_copy,
    lambda r: (0.6, np.array([0.9, -0.3, -0.9, 0.5])),
    (0, 1),
)


def _weighted(a, b):
    return a * b * b


def _star_passed(x, *args):
    return _weighted(x, *args)


def _keywords_passed(f, x, **kwargs):
    y = x * 2.0
    return f(y, **kwargs)


def names_of_the_caller_in_rest_arguments(x, y):
    return _star_passed(y, x) + _keywords_passed(_weighted, y, b=x) * _star_passed(x, y)


sample(names_of_the_caller_in_rest_arguments, lambda r: (0.7, 1.3), ("x", "y"))


def _scaled_first(a, n):
    if n <= 0:
        return 0.0
    a[0] *= a[1]
    return _scaled_first(a, n - 1)


def _summed_after(a, n):
    if n <= 0:
        return 1.0
    _scaled_first(a, 2)
    return _summed_after(a, n - 1) * np.sum(a)


def recursion_that_calls_another_that_writes(x):
    y = x * 2.0
    z = _summed_after(y, 2)
    return z + np.sum(y * x)


def _last_replaced(a, b, n):
    if n <= 0:
        return b
    r = _last_replaced(a, b, n - 1)
    a[3] = a @ a
    return r


def _lowered(a, b, n):
    if n <= 0:
        return a
    r = _lowered(a + a, b, n - 1)
    r[1] -= _last_replaced(a, b, n)
    return 0.5 * r


def argument_written_by_another_recursion(x):
    _lowered(x, 2.0, 1)
    return np.sum(x)


def _one_way(x, n):
    if n <= 0:
        return 0.0
    x[0] *= 1.1
    return _one_way(x, n - 1) + _other_way(x, n - 1)


def _other_way(x, n):
    if n <= 0:
        return 1.0
    x[1] *= x[2]
    return _other_way(x, n - 1) * _one_way(x, n - 1) + np.sum(x)


def two_recursions_that_call_each_other(x):
    y = x * 2.0
    z = _one_way(y, 2)
    return z + np.sum(y * x)


for _function in (
    argument_written_by_another_recursion,
    recursion_that_calls_another_that_writes,
    two_recursions_that_call_each_other,
):
    sample(_function, lambda r: (r.uniform(0.3, 1.0, 4),))


def _turned_and_scaled(a, b, n):
    if n <= 0:
        return a[:-1]
    a[:] = a[::-1] * 0.9
    r = _turned_and_scaled(a, b * 1.2, n - 1)
    r[...] = r * np.cos(r)
    b[0] = 0.5 * a[0]
    return a * b[0]


def part_of_an_argument_written_below(x, y):
    u, w = x * 1.0, np.sin(y)
    r = _turned_and_scaled(u[::-1], w[1:], 1)
    w[-1] = w[0] * w[0]
    u[0] *= u[-1]
    return u[0] * r[-1] + np.sum(w) * w[0] + np.sum(r * r)


def _either_way_round(a, b, n):
    if n <= 0:
        return a[::2]
    a[:] = a[::-1] * 0.9
    b[0] = 0.5 * a[0]
    r = _either_way_round(a * b[0], b, n - 1) if n > 1 else _either_way_round(a, b * 1.2, n - 1)
    b *= 1.1
    r[:] = r[::-1] * 0.9
    return np.concatenate([b, b[:1]])


def column_and_copy_written_below(x, y):
    u, w = np.outer(x, y)[:, 1], np.sin(y)
    r = _either_way_round(u, u.copy(), 1)
    r[0] *= 0.5
    w[0] = 0.5 * r[0]
    return np.sum(u * u) + w[0] * r[-1] + np.sum(np.sin(r))


for _function in (part_of_an_argument_written_below, column_and_copy_written_below):
    sample(
        _function,
        lambda r: tuple(r.uniform(0.4, 1.0, (2, 4))),
        ("x", "y"),
    )


def _scaled_sines(x, *, n=2, scale=1.0):
    if n == 0:
        return x * scale
    return _scaled_sines(np.sin(x), n=n - 1, scale=scale * 2.0)


def recursion_with_keywords(x):
    return np.sum(_scaled_sines(x, scale=x[0]))


def _scaled_in_place(x, n, *, scale=1.0):
    if n == 0:
        return x * scale
    x[0] *= scale
    return _scaled_in_place(x, n - 1, scale=scale * 2.0)


def recursion_with_keywords_that_writes(x):
    y = x * 1.0
    z = _scaled_in_place(y, 2, scale=x[0])
    return np.sum(z * y)


sample(recursion_with_keywords, lambda r: (r.uniform(0.3, 1.0, 4),))
sample(recursion_with_keywords_that_writes, lambda r: (r.uniform(0.3, 1.0, 4),))


def _each_times_the_first(n, *xs):
    if n == 0:
        return sum(np.sum(v) for v in xs)
    return _each_times_the_first(n - 1, *[v * xs[0] for v in xs])


def recursion_with_a_star(x):
    return _each_times_the_first(2, x, x * 2.0)


sample(recursion_with_a_star, lambda r: (r.uniform(0.3, 1.0, 4),))


def quartiles_apart(x):
    return np.subtract(*np.percentile(x, [75, 25])) ** 2


def numbers_of_a_vector_as_arguments(x):
    def mixed(a, b, c):
        return a * b - c**2

    return mixed(*x[:3]) * np.hypot(*x[-2:]) + max(*x[1:4])


def numbers_behind_others(x):
    def mixed(a, b, c=2.0):
        return a * b - c**2

    return mixed(x[4], *x[1:3]) + np.arctan2(*x[2 : 2 + 2])


def rows_as_arguments(x):
    m = np.outer(x, x[:3]) + np.arange(3.0) * x[1]
    return np.sum(np.cross(*m[:2]) * x[:3])


for _function in (
    quartiles_apart, numbers_of_a_vector_as_arguments, numbers_behind_others, rows_as_arguments,
):  # fmt: skip
    sample(_function, lambda r: (r.permutation(5) * 0.3 + r.uniform(0.3, 0.5, 5),))


def options_by_their_names(x, shift=0.2, *, decay=0.6, scale=1.5):
    return scale * np.sum(np.exp(-x / decay)) + shift * x[0]


sample(options_by_their_names, lambda r: (r.uniform(0.3, 1.0, 4), 0.7), (0, 1))
