"""Programs that the compiler once got wrong, reduced."""

import functools
import itertools

import numpy as np

import srcdiff
from srcdiff.normalize.overlaps import INDEX_IS_READ_LATE

from .registry import sample


def four(r):
    """Three arrays of four numbers and a number, away from kinks."""
    return (*(r.standard_normal(4) + 2.0 for _ in range(3)), 0.7)


def permuted_alias_written(x, y, m, s):
    a = m
    d = a
    d, m = m, d
    a[...] = x
    return d + m


sample(permuted_alias_written, four, ("x", "m"))


def parameters_swapped_and_written(x, y, m, s):
    y, x = x, y
    x[[1, 0, 2]] -= s
    return y


sample(parameters_swapped_and_written, four)


def alias_swapped_with_its_origin(x, y, m, s):
    d = m
    m[::2] = y[::2]
    m, d = d, m
    return m + d


sample(alias_swapped_with_its_origin, four, ("y", "m"))


def rotated_buffers(x, y, m, s):
    a, b, c = x * 1.0, x, np.zeros(4)
    for _ in range(4):
        c[:] = b
        a, b, c = b, c, a
    return np.sum(a * b)


sample(rotated_buffers, four)


def swaps_that_undo_each_other(x, y, m, s):
    for _ in range(3):
        x, y = y * s, x
        x, y = y, x
        x = x * 2
        y = y * x
    return y


sample(swaps_that_undo_each_other, four, ("x", "y", "s"))


def _reset(a):
    a -= a
    a += 3


def callee_resets_its_argument(x, y, m, s):
    _reset(y)
    return y + x


sample(callee_resets_its_argument, four, ("x", "y"))


def in_place_twice_through_an_alias(x, y, m, s):
    y = y * 1.0
    a = y
    y[2:] = 2
    y += m
    y *= a
    return a + y


sample(in_place_twice_through_an_alias, four, ("y", "m"))


def negated_sum_subtracted_in_place(x, y, m, s):
    a = y
    y[2:] = 2
    y -= -np.outer(m, m).sum(axis=0)
    return a


sample(negated_sum_subtracted_in_place, four, ("y", "m"))


def inverse_of_what_was_written(x, y, m, s):
    a = np.outer(m, m) + np.diag(y)
    b = x
    for i in range(2):
        a[i] += b
        a = np.linalg.inv(a)
    return a


sample(inverse_of_what_was_written, four, ("x", "y", "m"))


def bound_together_in_a_loop(x, y, m, s):
    n = 0
    while n < 3:
        n += 1
        u = y
        s, m, t = y, m, u
    return t


sample(bound_together_in_a_loop, four, "y")


def two_conditions(x, y, m, s):
    n = 0
    while y @ x < 0.3 or n < 3:
        n += 1
        m[n] = s
        y = y * 1.3
    return m * y


sample(two_conditions, four, ("y", "m", "s"))


def number_then_array(x, y, m, s):
    t = s
    t += x
    u = t
    u *= s
    return t * x


sample(number_then_array, four, ("x", "s"))


def zero_dimensional(x, y, m, s):
    z = np.zeros(())
    z += s
    z[...] = z * s
    w = z
    w *= z
    return z + s


sample(zero_dimensional, four, "s")


def empty_subscript(x, y, m, s):
    y = x[0] * 1.0
    return y[()] * x[1] * x[0]


sample(empty_subscript, four)


def cast_is_a_copy(x, y, m, s):
    z = x.astype(np.float64)
    z[0] = x[1] ** 2
    return np.sum(x**2) + np.sum(z)


sample(cast_is_a_copy, four)


def written_by_keyword(x, y, m, s):
    z = x * 1.0
    np.copyto(dst=z, src=y)
    return z * x


sample(written_by_keyword, four, ("x", "y"))


def index_of_no_dimension_copies(x, y, m, s):
    a = np.outer(m, m)
    i = np.array(1)
    b = a[i]
    b[:] = x
    return a * m


sample(index_of_no_dimension_copies, four, "m")


def rows_written_one_by_one(x, y, m, s):
    a = np.outer(x, y)
    for row in a:
        row *= row[0]
        row[1] = row[2] * m[0]
    return a


sample(rows_written_one_by_one, four, ("x", "y", "m"))


def sum_of_a_list_that_grows(x, y, m, s):
    xs = [s, x[0]]
    z = sum(xs)
    xs.append(s * z)
    return z * x


sample(sum_of_a_list_that_grows, four, ("x", "s"))


def _tree(x, n):
    total = x * 1.0
    for i in range(n):
        total = total + _tree(x * 0.5, i) * x[i]
    return total


def recursion_in_a_loop(x, y, m, s):
    return _tree(x, 3)


sample(recursion_in_a_loop, four)


def aliases_of_a_swap(x, y, m, s):
    a = u = x * 1.0
    v = y * 1.0
    u, v = v, u
    a[0] = s
    v[1] *= s
    return u * v * a


sample(aliases_of_a_swap, four, ("x", "y", "s"))


def views_swapped(x, y, m, s):
    u = x * 1.0
    v = u[1:]
    w = u[:-1]
    v, w = w, v
    v[0] = w[1] * s
    w *= 2
    return u


sample(views_swapped, four, ("x", "s"))


def left_early_with_an_array(x, y, m, s):
    z = x * 0.5
    for i in range(4):
        z *= x[i]
        if np.sum(z) < 20.0:
            return z * x
        z[i] += 1.0
    return z


sample(left_early_with_an_array, four)


def _sums(a, n):
    if n == 0:
        return a[0] ** 2
    return _sums(a, n - 1) * np.sum(a**2)


def argument_written_after_a_recursive_call(x, y, m, s):
    a = x * 1.0
    z = _sums(a, 2)
    a[0] = s
    a[1] = 9.0
    return z * a[2]


sample(argument_written_after_a_recursive_call, four, ("x", "s"))


def _first_only(a, b, n):
    if n == 0:
        return a * 2.0
    return np.sin(_first_only(a, b * 2.0, n - 1))


def argument_that_a_recursion_only_passes_on(x, y, m, s):
    return _first_only(x, y, 2) * y


sample(argument_that_a_recursion_only_passes_on, four, ("x", "y"))


def appended_in_a_comprehension(x, y, m, s):
    out = []
    [out.append(v * v) for v in x]
    return sum(out) * y


sample(appended_in_a_comprehension, four, ("x", "y"))


def results_of_calls_that_have_none(x, y, m, s):
    a = np.zeros(4)
    nothing = np.copyto(a, x)
    also = a.fill(s) if nothing is not None else np.add.at(a, [0, 0, 2], y[:3])
    out = []
    return a * y if also is not None else (out.append(a * x) or out[0] * y)


sample(results_of_calls_that_have_none, four, ("x", "y"))


def rebound_by_the_condition(x):
    t = x[0]
    n = 0
    while (t := t * x[1] + 1.0) < 2.0 and n < 10:
        n += 1
    return t


sample(rebound_by_the_condition, lambda r: (r.uniform(0.3, 1.0, 3),))


def reduced_ranges(x):
    total = functools.reduce(lambda a, i: a + x * i, range(2, 5), 0.0)
    total += functools.reduce(lambda a, i: a * x + i, range(2, 8, 2))
    total += functools.reduce(lambda a, i: a + x**i, reversed(range(2, 5)), 0.0)
    total += functools.reduce(lambda a, v: a * x + v, map(lambda i: i * x, range(1, 7, 2)))
    return total + functools.reduce(lambda a, p: a * x + p[0] * p[1], enumerate([x, 2.0], 3), 1.0)


sample(reduced_ranges, lambda r: (1.3,))


def integers_and_numbers_in_a_list(x):
    t = 2
    xs = [t]
    for i in range(3, 5):
        t = t * x + i
        xs.append(t)
    return sum(xs) + sum(itertools.accumulate(range(2, 5), lambda a, i: a * x + i))


sample(integers_and_numbers_in_a_list, lambda r: (1.3,))


def blocks_of_constants(x, k):
    return np.sum(x * np.block([[k, -k], [-k, k]]))


sample(blocks_of_constants, lambda r: (r.standard_normal((4, 4)), r.standard_normal((2, 2))), "x")
sample(blocks_of_constants, lambda r: (r.standard_normal((4, 4)), r.standard_normal((2, 2))), "k")


def bound_in_a_branch_of_a_loop(x, y, s):
    t = np.cos(y @ x)
    for _ in range(3):
        if s > 1.5:
            y = x * 2.0
    a = np.roll(y, 1)
    a[[0, 2]] = t * np.zeros(2)
    return t + a + y


for _s in (0.5, 2.0):
    sample(
        bound_in_a_branch_of_a_loop,
        lambda r, s=_s: (r.uniform(0.3, 1.0, 3), r.uniform(0.3, 1.0, 3), s),
        ("x", "y"),
    )


def picked_twice_from_joined(x, y, i):
    joined = np.concatenate((np.flip(x), y[1:]))
    return joined[i] * joined[i[0]]


sample(
    picked_twice_from_joined,
    lambda r: (r.uniform(0.3, 1.0, 3), r.uniform(0.3, 1.0, 3), np.array([[0, 1, 1], [2, 1, 4]])),
    ("x", "y"),
)


def taken_from_dicts_and_written(x, y):
    d = {"u": x, "v": y}
    g = d.get("u")
    g *= y
    h = d.get("w", y)
    h[0] = x[1] * h[2]
    d.setdefault("z", g)[1:] += g[:-1] * 2.0
    if d.get("q") is None:
        d.update({"q": h})
    q = d.get("q")
    q[...] = q * np.sin(g)
    return np.sum(np.sin(x) * y * g * h * d["z"])


sample(taken_from_dicts_and_written, lambda r: tuple(r.uniform(0.2, 1.4, (2, 4))), ("x", "y"))


def inserted_and_reversed_and_written(x, y):
    xs = [x, y * 1.0]
    for k in range(3):
        xs.insert(1, xs[0] * xs[-1])
        xs.insert(k, xs[0])
        xs[1][...] = np.sin(xs[1] * xs[2])
        xs.reverse()
        g = xs.pop(0)
        g *= x
    return np.sum(np.sin(xs[0] * xs[1])) + np.sum(g * x)


sample(inserted_and_reversed_and_written, lambda r: tuple(r.uniform(0.2, 1.4, (2, 4))), ("x", "y"))


def starred_lists_of_unknown_length(x, y):
    xs = [q * 2.0 for q in x if q > 0.3]
    ys = [*range(len(xs)), y[0], *xs, y[1] * x[1], *y]
    return ys[-1] * ys[-5] * xs[0] + (*xs, y[2])[-1] + [y[0], *xs][1:][0] * y[3]


sample(
    starred_lists_of_unknown_length,
    lambda r: tuple(r.uniform(0.4, 1.4, (2, 4))),
    ("x", "y"),
)


def joined_tuples_of_arrays_written(x):
    a = x * 1.0
    xs = [a, x * 2.0, x * 3.0]
    ys = xs[::-1]
    zs = tuple(xs[:2]) + (a,)
    a[0] = 5.0
    ys[0][1] = a[0]
    zs[1][1] = ys[2][0]
    return np.sum(xs[0] * xs[1] * ys[0] * zs[2])


sample(joined_tuples_of_arrays_written, lambda r: (r.uniform(0.4, 1.4, 3),))


def _reshaped_and_written(a, b, n):
    if n <= 0:
        return np.ones(4)
    a[...] = a * b
    flat = a.ravel()
    flat[1] = 3.0 * b
    return _reshaped_and_written(a[::-1], b, n - 1) * np.sum(flat * flat)


def recursion_reshapes_what_lies_otherwise(m, s):
    _reshaped_and_written(m, s, 1)  # for what it writes
    out = _reshaped_and_written(m, s, 2) + _reshaped_and_written(m[:, ::2], s, 2)
    return np.sum(out * m[0]) + np.sum(_reshaped_and_written(m.T, s, 1)[:3] * m[:, 0])


for _layout in ("C", "F"):
    sample(
        recursion_reshapes_what_lies_otherwise,
        lambda r, o=_layout: (np.array(r.uniform(0.3, 1.0, (3, 4)), order=o), 0.7),
        ("m", "s"),
    )


def recursion_for_nothing(x, y):
    def powers(a, n):
        return a * powers(a * a, n - 1) if n else a

    powers(x, 2)
    for k in range(2):
        powers(y, k)
        x = x * y
    return np.sum(x * y)


sample(recursion_for_nothing, lambda r: tuple(r.uniform(0.2, 1.4, (2, 4))), ("x", "y"))


def _scaled_part(a, b, n):
    if n <= 0:
        return a[::-1]
    a[1:] *= b[:-1]
    r = _scaled_part(a[1:], b[:-1], n - 1) if n > 1 else _scaled_part(a, b, 0)
    r[0] *= 2.0
    return r


def recursion_returns_a_part_of_what_it_writes(x, y, m):
    r = _scaled_part(x, y, 2)
    r[1] = m[0, 0] * x[2]
    x[3] *= r[0]
    q = _scaled_part(m[:, 1], y[:3], 1)
    q *= 1.0 + 0.1 * q
    m[:, 1] *= q[0]
    return np.sum(r) * x[1] + np.sum(np.sin(m)) + np.sum(q)


def _one_or_another(a, b, n):
    if n <= 0:
        return np.array([b, b, b, b])
    r = _one_or_another(a * 1.0, a[0], n - 1)
    r[2:] += 2.0 * a[:2]
    a[0] = b
    return a


def recursion_returns_what_it_writes_or_not(x, y, m):
    s = m[0, 0]
    for k in range(3):
        r = _one_or_another(x, s, k)
        r[k] *= y[0] * r[2]
        y = y * x
    return np.sum(r * x * y)


def _handed_through(a, b, n):
    if n <= 0:
        return a
    r = _handed_through(a, b, n - 1)
    return r if b > 0.2 else r * 2.0


def recursion_hands_through_what_is_written_later(x, y, m):
    r = _handed_through(x, 0.7, 2)
    r[1] = m[0, 0] * x[2]
    x *= y
    q = _handed_through(y[1:], 0.1, 2)
    y[2] *= q[0]
    return np.sum(r * x * y) + np.sum(q * q)


for _function in (
    recursion_returns_a_part_of_what_it_writes,
    recursion_returns_what_it_writes_or_not,
    recursion_hands_through_what_is_written_later,
):
    sample(
        _function,
        lambda r: (*r.uniform(0.3, 1.4, (2, 4)), r.uniform(0.3, 1.0, (3, 4))),
        ("x", "y", "m"),
    )


def recursion_that_returns_a_constant(x, y):
    def constant(a, n):
        if n > 0:
            constant(a * 2.0, n - 1)
        return 2.0

    def doubled(a, n):
        if n > 0:
            doubled(a * 2.0, n - 1)

    doubled(y, 2)
    return constant(x, 2) * np.sum(x) + constant(y, 1)


sample(recursion_that_returns_a_constant, lambda r: tuple(r.uniform(0.2, 1.4, (2, 4))))


def condition_stores(x, y):
    def set_first(value, array):
        array[0] = value
        return value

    a, n = y, 0
    while set_first(x[n], y) < 0.9 and n < 2:
        a = a * x
        n += 1
    return a + y


def condition_halves(x, y):
    def halved(array):
        total = array
        total -= 0.5 * array
        return np.sum(array)

    n = 0
    while halved(x) > 0.2 and n < 2:
        y = y * x
        n += 1
    return x + y


def condition_pops(x, y):
    xs = [x * y, y + 1.0, x, x * x]
    total = y
    while np.sum(xs.pop()) < 7.0 and len(xs) > 1:
        total = total * x
    return total * xs[-1]


def condition_computes_into(x, y):
    s = np.empty(4)
    n = 0
    while np.max(np.multiply(x, y, out=s)) < 9.0 and n < 2:
        y = y + s
        n += 1
    return s * y


for _function in (condition_stores, condition_halves, condition_pops, condition_computes_into):
    sample(_function, lambda r: tuple(r.uniform(0.2, 0.8, (2, 4))))


def captured_by_a_fixed_point(a, b):
    """What the function of `fixed_point` captures is an argument of it like any other."""
    rate = np.exp(-b)

    def step(x, scale=b):
        y = a * x
        y += rate * scale
        return np.cos(y)

    return a * srcdiff.fixed_point(step, 0.5) + srcdiff.fixed_point(lambda x: np.sin(a) * x / 2, b)


sample(captured_by_a_fixed_point, lambda r: (0.7, 0.4), (0, 1))


def added_where_nobody_looks(x, y, m, s):
    a = x
    np.add.at(a, [3, 0, 1], y[:1])
    np.put_along_axis(a, np.array([2]), y[1:2], 0)
    a = y
    if s > 1.5:
        a[3] = m[0]
    return y * m


sample(added_where_nobody_looks, four, ("y", "m"))


def factor_that_a_loop_loads_again(x):
    first = functools.reduce(lambda a, b: a * b + 1, x)
    total = x[0] * x[1]
    return total * x[2] * first


sample(factor_that_a_loop_loads_again, lambda r: (r.standard_normal(4),))


def spun(x):
    """Real numbers of an array of length one, else complex ones."""
    n = len(x)
    if n == 1:
        return x
    return np.concatenate([spun(x[: n // 2]) * (1 + 0.5j), spun(x[n // 2 :])])


def squared_often(z, n):
    if n <= 0:
        return z
    return z * squared_often(z, n - 1) * z


def complex_in_recursion(x):
    z = spun(x)
    return np.sum(np.abs(z * z + x * z * z * z))


def complex_for_a_recursion(x, n):
    return np.sum(np.abs(squared_often(spun(x), n) + x))


def complex_in_a_nested_recursion(x):
    def fft(x):
        n = len(x)
        if n == 1:
            return x
        even, odd = fft(x[::2]), fft(x[1::2])
        turned = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
        return np.concatenate([even + turned, even - turned])

    return np.abs(fft(x)) ** 2


sample(complex_in_recursion, lambda r: (r.standard_normal(4),))
sample(complex_for_a_recursion, lambda r: (r.standard_normal(4), 2))
sample(complex_in_a_nested_recursion, lambda r: (r.standard_normal(4),))

offsets = np.array([1, 0, 2])


def minus_an_array_from_outside(x):
    return x * -offsets


sample(minus_an_array_from_outside, lambda r: (r.standard_normal(3),))


def cut_by_whole_numbers(x, kept):
    a = np.array(kept) * 1
    a[1] = x[0] * 5
    a[2:4] = x[2:4]
    b = np.zeros_like(kept)
    b.fill(x[3] * 4)
    b[:2] = x[:2]
    return a * x + b * x


def cut_in_a_loop(x, kept):
    a = np.zeros_like(kept)
    total = 0.0
    for i in range(5):
        a[i] = x[i] ** 2
        total += a[i] * x[i - 1]
        if i:
            a[i] = a[i - 1] * x[i]
    return a * total


def slices_cut_in_a_loop(x, kept):
    a = np.zeros_like(kept)
    total = 0.0
    for i in range(2):
        a[i : i + 2] = x[i : i + 2] ** 2
        total += np.sum(a[i : i + 2] * x[1:3])
    return total


def five(r, kept):
    """Five numbers away from steps, and five more."""
    return np.array([1.3, -2.4, 0.6, 3.4, -1.6]) + 0.05 * r.standard_normal(5), kept


for _kept in ([1, 2, 3, 4, 5], [1.0, 2.0, 3.0, 4.0, 5.0]):
    sample(cut_by_whole_numbers, lambda r, k=_kept: five(r, k), "x")
    sample(cut_in_a_loop, lambda r, k=_kept: five(r, k), "x")
    sample(slices_cut_in_a_loop, lambda r, k=_kept: five(r, k), "x")


def cut_when_made(x, kept):
    dtype = np.asarray(kept).dtype
    return x.astype(dtype) * x + np.full_like(kept, x[1]) * x


def cut_by_branches(x, whole):
    a = np.zeros(5, int)
    b = np.zeros(5)
    c = a if whole else b
    c[0] = x[1] ** 2
    c[1:3] = x[:2]
    rows = []
    for n in range(3):
        row = np.zeros(5, int) if (n == 1) == whole else np.zeros(5)
        row[n] = x[n] * 2.5
        rows.append(row)
    return np.stack(rows) * x + c * x + a + b


for _kept in ([1, 2, 3, 4, 5], [1.0, 2.0, 3.0, 4.0, 5.0]):
    sample(cut_when_made, lambda r, k=_kept: five(r, k), "x")
for _whole in (True, False):
    sample(cut_by_branches, lambda r, k=_whole: five(r, k), "x")


def items_of_unknown_dtype_with_two_names(x, kept):
    rows = []
    again = []
    for n in range(3):
        b = np.zeros_like(kept)
        b[n] = x[n] ** 2
        rows.append(b)
        again.append(b)
    t = np.stack(rows)
    for n in range(3):
        again.pop()[n] = 1.0
    c = np.ones_like(kept)
    c[1] = x[1] ** 2
    pair = [c]
    u = np.concatenate(pair)
    c[1] = 2.0
    return np.sum(t * x) + np.sum(u * x)


sample(items_of_unknown_dtype_with_two_names, lambda r: five(r, [0.0] * 5), "x")


def bounds_that_cross(x, low, high):
    return np.clip(x, low, high) * x + np.clip(2.25, low, high)


sample(
    bounds_that_cross,
    lambda r: (r.standard_normal(6) * 3, np.array([0.0, 1, 2, 3, 4, 5]), np.full(6, 2.5)),
    (0, 1, 2),
)


class Counted:
    """Attributes that the class has until an object has its own."""

    calls = 0
    total = 0.0
    last = None

    def __call__(self, x):
        self.calls += 1
        self.total += x * self.calls
        if self.last is None:
            self.last = x
        else:
            self.last = self.last * x
        return self.total * self.last


def attributes_of_the_class_first(x):
    made = Counted()
    return made(x) * made(x * 2.0) + made(x) * made.calls


sample(attributes_of_the_class_first, lambda r: (1.5 + 0.1 * r.standard_normal(),))


def raveled_by_columns(x):
    return np.ravel(x, order="F") * np.arange(6.0) + x.reshape(6, order="F") ** 2


sample(raveled_by_columns, lambda r: (r.standard_normal((2, 3)),))


class Setting:
    """Methods that store what the class has before."""

    factor = 2.0
    count = 0

    def set(self, v):
        self.factor = v
        self.count = self.count + 1

    def __call__(self, v):
        self.set(v)
        return v


def attributes_stored_by_methods(x):
    one = Setting()
    before = one.factor * x
    one.set(x)
    other = Setting()
    return one.factor * x * one.count + other(x) * other.factor * before + Setting().factor * x


sample(attributes_stored_by_methods, lambda r: (1.5 + 0.1 * r.standard_normal(),))


def items_of_what_a_nested_function_rebinds(x, m):
    def halve():
        nonlocal a
        a = a * 0.5

    a, total = x, 0.0
    for q, row in zip(a, m):
        halve()
        total = total + q * np.sum(row)
    for k, q in enumerate(reversed(a)):
        halve()
        total = total + k * q * a[k]
    return total


def items_of_a_dict_that_a_nested_function_rebinds(x):
    def replace():
        nonlocal parts
        parts = {"u": x * 3.0, "v": x * x}

    parts, total = {"u": x, "v": 2.0 * x}, 0.0
    for _, part in parts.items():
        replace()
        total = total + part * parts["u"]
    return total


def nonlocal_of_a_function_further_out(x):
    a, total = x, 0.0

    def through():
        nonlocal total

        def halve():
            nonlocal a
            a = a * 0.5

        for q in a:
            halve()
            total = total + q * q

    through()
    return total * np.sum(a)


def alias_bound_in_an_earlier_step(x, y, s):
    xs = [s, s]
    w = y
    for q in w:
        if s > 0.3:
            b = w
            s = xs.pop()
            xs.append(q)
        b *= x
    return xs


sample(
    items_of_what_a_nested_function_rebinds,
    lambda r: (r.standard_normal(3), r.standard_normal((3, 2))), (0, 1),
)  # fmt: skip
sample(items_of_a_dict_that_a_nested_function_rebinds, lambda r: (r.standard_normal(3),))
sample(nonlocal_of_a_function_further_out, lambda r: (r.standard_normal(3),))
sample(
    alias_bound_in_an_earlier_step,
    lambda r: (r.uniform(0.8, 1.2, 4), np.array([0.25, 0.9, 0.2, 0.1]), 0.8), (0, 1, 2),
)  # fmt: skip


def indices_written_after_a_store(x):
    a = np.array([0.3, 0.6, 0.9, 0.2])
    i = np.array([1, 2, 2])
    total = x @ a
    for k in range(3):
        a[i] = k
        i[k] = 0
        total = total * (x @ a)
    return total


def list_of_indices_changed_after_a_store(x):
    a, i = np.array([0.3, 0.6, 0.9, 0.2]), [1, 2, 3, 3]
    first = x @ a
    a[i] = 3.0
    i.reverse()
    second = x @ a
    a[i] *= x
    i.pop()
    i.append(0)
    a[i] += 1.0
    i[0] = 1
    return first * second * (x @ a)


for _function in (indices_written_after_a_store, list_of_indices_changed_after_a_store):
    sample(_function, lambda r: (r.uniform(0.5, 1.5, 4),))


def index_bound_before_its_loop(x, y):
    b, total, i = y.copy(), 0.0, 0
    for i in range(2):
        total += x[0] * b[i]
    b[1] = x[1]
    return b + total + i


def stores_at_an_index_bound_before(x, y):
    b, t, i = x * 1.0, 1.0, 0
    for i in range(3):
        p = b[1]
        b[i] = t
        t = t * p * b[1]
    return t * i * y


def two_indices_bound_before(x, y):
    b, t = np.outer(x, y), 0.0
    i = j = 0
    for i in range(2):
        for j in range(2):
            t = t + x[0] * b[i, j]
    b[1, 0] = x[2]
    b[2] = x
    return t + b[i, j] + b[1]


def list_cleared_after_a_loop_over_it(x):
    w, y = [0.3, 0.6], x
    for v in w:
        y = y * v * x
    w.clear()
    return y * y


def list_shortened_after_loops_over_it(x):
    w, y = [1, 2], x * 1.0
    for _ in range(2):
        for k in w:
            y[k] = y[k] * x[0]
        w.pop()
    z = sum([v * x for v in [0.1, *w]])
    w.append(3)
    return y * y * z * len(w)


def equal_keys_in_a_display(x, key):
    d = {1: x, True: 2.0 * x, "b": x * x}  # noqa: F601
    e = {key: x, "b": 3.0 * x}
    return sum(d.values()) * e["b"] + sum(e.values())


for _function in (
    index_bound_before_its_loop, stores_at_an_index_bound_before, two_indices_bound_before,
):  # fmt: skip
    sample(_function, lambda r: (r.standard_normal(3), r.standard_normal(3)), (0, 1))
for _function in (list_cleared_after_a_loop_over_it, list_shortened_after_loops_over_it):
    sample(_function, lambda r: (r.uniform(0.5, 1.5, 3),))
sample(equal_keys_in_a_display, lambda r: (r.standard_normal(3), "b"))


# --- recurrences of three terms: a gradient negates one adjoint and scales another ----------------


def chebyshev(x, n):
    a, b = 1.0, x
    for _ in range(n):
        a, b = b, 2 * x * b - a
    return b


def clenshaw(x):
    b2 = b1 = b0 = 0.0
    for c in reversed(x):
        b2, b1, b0 = b1, b0, 2 * x[0] * b0 - b1 + c
    return 0.5 * (b0 - b2)


def rotated_pair(x):
    a, b = x[0], 1.0
    for _ in range(3):
        a, b = -b, b + x[1] * a
    return a * b


def carried_three(x):
    a, b, c = x[2], 0.0, 1.0
    for i in range(3):
        b, a, c = 2 * x[0] * b - x[i] - np.sin(c), np.sin(a), np.sin(c) - 0.5 * b
    return a - b


sample(chebyshev, lambda r: (0.3, 5))
for _program in (clenshaw, rotated_pair, carried_three):
    sample(_program, lambda r: (r.uniform(0.5, 1.5, 3),))


# --- stores into the index that they stand at ----------------------------------------------------


def index_stored_into_at_itself(x):
    y, i = x.copy(), np.array([1, 2, 0])
    y[i[:2]] = np.sin(y[i[:2]]) * x[:2]
    i[i] = i[::-1].copy()
    y[i[:2]] = y[i[:2]] ** 2
    return np.sum(y)


def index_stored_into_at_its_view(x):
    y, i = x.copy(), np.array([1, 2, 0])
    j = i[1:]
    y[i[:2]] = np.sin(y[i[:2]]) * x[:2]
    i[j] = [0, 1]
    y[i[:2]] = y[i[:2]] ** 2
    return np.sum(y)


def index_counted_up_at_itself(x):
    y, i = x.copy(), np.array([1, 0, 1])
    y[i] = np.sin(y[i]) * x
    i[i] += 1
    y[i] = y[i] * x**2
    return np.sum(y)


def active_set(x):
    w, active = np.ones_like(x), np.ones(x.shape, bool)
    for _ in range(30):
        step = (w[active] ** 3 - x[active]) / (3 * w[active] ** 2)
        w[active] -= step
        active[active] = np.abs(step) > 1e-10
        if not active.any():
            break
    return np.sum(w)


# Before NumPy 2.3 the programs themselves have no certain value (see `test_overlaps`).
AT_ITSELF = (index_stored_into_at_itself, index_stored_into_at_its_view, index_counted_up_at_itself)
for _program in (active_set, *(() if INDEX_IS_READ_LATE else AT_ITSELF)):
    sample(_program, lambda r: (r.uniform(0.5, 3.0, 3),))


# --- operators in place on items, whose arrays have been written into by their own names ---------


def item_changed_after_its_alias(x, y):
    b = x
    b *= 0.5
    held = [b]
    held[0] -= y
    return np.sum(x * x)


def item_changed_after_its_base(x, y):
    z = x * 1.0
    first = z[0]
    z *= y
    held = [first]
    held[0] -= y[0]
    return np.sum(z * z)


def parameter_decayed_and_stepped(params, y):
    w = params["w"]
    w *= 0.9
    params["w"] -= y
    return np.sum(w * w)


def _halved(a):
    a *= 0.5
    return a


def rows_halved_by_a_helper(x, y):
    a = x * y
    rows = [_halved(r) for r in a]
    rows[0] -= y[0]
    return np.sum(a * a)


def element_subtracted_after_a_new_key(x, y):
    c = y[0, 0]
    cache = {}
    cache["x"] = x
    x -= c
    return np.sum(x * x)


for _program in (
    item_changed_after_its_alias, item_changed_after_its_base, rows_halved_by_a_helper,
    element_subtracted_after_a_new_key,
):  # fmt: skip
    sample(_program, lambda r: (r.standard_normal((3, 2)), r.standard_normal((3, 2))), (0, 1))
sample(
    parameter_decayed_and_stepped,
    lambda r: ({"w": r.standard_normal(3)}, r.standard_normal(3)),
    ("params", "y"),
)


# --- conditions of loops that look at views of what is written into ------------------------------


def halved_while_large(x):
    n = 0
    while n < 6 and np.linalg.norm(x.reshape(-1)) > 0.5:
        x *= 0.5
        n += 1
    return np.sum(x * x)


def _is_large(x):
    return np.sum(x.ravel()) > 0.5


def halved_while_a_helper_says(x):
    n = 0
    while n < 5 and _is_large(x):
        x *= 0.5
        n += 1
    return np.sum(x**3)


for _program in (halved_while_large, halved_while_a_helper_says):
    sample(_program, lambda r: (r.uniform(0.5, 1.0, (2, 2)),))


# --- views that carry a derivative since an operator in place makes their array carry one --------


def sums_in_a_view_before_a_product(x):
    y = np.array([1.0, 2.0, 3.0, 4.0])
    v = y[1:]
    np.add.accumulate(v, out=v)
    y *= x
    return np.sum(y * x)


def slopes_in_a_view_before_a_sum(x):
    y = np.array([[1.0, 2.0, 4.0, 8.0], [0.0, 1.0, 3.0, 9.0]])
    v = y.T
    for _ in range(2):
        v[:] = np.gradient(v, axis=0)
        y += x
    return np.sum(y * y)


for _program in (sums_in_a_view_before_a_product, slopes_in_a_view_before_a_sum):
    sample(_program, lambda r: (r.uniform(0.5, 1.5, 4),))


# --- what one of two names stands for, filled as the last statement of a loop --------------------


def one_of_two_arrays_filled(x):
    a, b = np.zeros(3), np.ones(3)
    for c in range(3):
        (a if c else b)[c] = 2.0
    return np.sum((a + x) * b * x)


def one_of_two_dicts_filled(x):
    a, b, held = {}, {}, ([], [])
    for c in [True, False, True]:
        (a if c else b)["k"] = 2.0
        (held[0] if c else held[1]).append(3.0)
    return x * a["k"] * b["k"] * sum(held[0])


for _program in (one_of_two_arrays_filled, one_of_two_dicts_filled):
    sample(_program, lambda r: (r.uniform(0.5, 1.5, 3),))


# --- lists of what carries no derivative, joined beside numbers or arrays that do ----------------


def beams_with_their_paths(x):
    beams = [(1.0, [])]
    for v in x:
        beams = [(c * v * w, path + [k]) for c, path in beams for k, w in enumerate(x)]
        beams = sorted(beams, key=lambda beam: -beam[0])[:2]
    return beams[0][0] ** 2 * len(beams[1][1]) + beams[1][0]


def labels_beside_a_product(x):
    b = (["a"], 1.0)
    for v in x:
        b = (b[0] + ["b"], b[1] * v)
    return b[1] ** 2


def paths_sorted_and_reversed(x):
    b = [(x[0], [1], "s"), (x[1], [2], "t")]
    for v in x:
        b = [(c * v, s + [1], t + "u") for c, s, t in b][::-1]
        b.sort(key=lambda t: t[0])
    return b[0][0] ** 2 * b[1][0]


def constants_joined_with_arrays(x):
    y, first = x * 1.0, [3, "a"]
    b = first + [y]
    b[2][0] = x[1]
    y *= x
    return np.sum(b[2] * y)


def constants_joined_with_numbers(x):
    b, one = [(x[0], [x[1]]), (x[1], [x[2]])], [1]
    b = [(c * x[2], s + one) for c, s in b][:1]
    return b[0][0] ** 2 * b[0][1][0]


for _program in (
    beams_with_their_paths, labels_beside_a_product, paths_sorted_and_reversed,
    constants_joined_with_arrays, constants_joined_with_numbers,
):  # fmt: skip
    sample(_program, lambda r: (r.uniform(0.5, 1.5, 3),))


# --- views that nobody keeps ---------------------------------------------------------------------


def views_dropped(x):
    a = np.outer(x, x)

    def scaled(i):
        a[i] *= 2.0
        return a[i]

    scaled(1)
    a[0]
    a.T
    a[1:] *= x
    return np.sum(a * a)


sample(views_dropped, lambda r: (r.uniform(0.5, 1.5, 3),))


def whole_rows_or_others(x, whole):
    ints, others = [np.zeros(3, int)], [x * 1.0]
    rows = ints if whole else others
    rows = rows + [x * 2.0]
    rows[1][0] = x[1] ** 2
    rows[0][1:] *= 2
    return np.sum(rows[0] * rows[1]) + np.sum(others[0] * x)


for _whole in (True, False):
    sample(whole_rows_or_others, lambda r, k=_whole: (r.uniform(0.5, 1.5, 3), k))


def a_view_at_times_scaled_in_a_loop(x, y):
    """In a batch two lengths were equal that had one name, and the search for it did not end."""
    m = np.outer(x, y)
    if x[0] > 2.0:
        y = m.ravel()[2:6]
    for _ in range(2):
        y *= 0.5
    return y


sample(
    a_view_at_times_scaled_in_a_loop,
    lambda r: (r.uniform(0.1, 0.9, 4), r.uniform(0.1, 0.9, 4)),
    inputs=(0, 1),
)


def orbit_elements(r, v):
    """A cross product is a vector where it is read as one, whatever the lengths of its factors."""
    h = np.cross(r, v)
    eccentricity = np.cross(v, h) - r / np.linalg.norm(r)
    total = 0.0
    for k in range(3):
        step = eccentricity[k]
        total += step * h[k] ** 2
    return total + h[:2] @ eccentricity[1:]


sample(orbit_elements, lambda r: (r.standard_normal(3) + 2.0, r.standard_normal(3)), (0, 1))


def random_walk(v0, k):
    """What is drawn once is a number, and what it is added to one as well."""
    rng = np.random.default_rng(5)
    v, total = v0, 0.0
    for i in range(4):
        z = rng.normal(0.0, 1.0) + 0.1 * rng.poisson(3.0) + rng.uniform(-1.0, 1.0)
        before = v
        v += k * z
        total = total + before * v
    return total


sample(random_walk, lambda r: (1.0, 0.5), (0, 1))


def written_without_a_copy(x):
    """`copy=False` gives a view."""
    y = x * 2.0
    z = np.array(y, copy=False)
    z[0] = z[1] * x[2]
    w = np.asarray(y, dtype=np.float64, copy=False)
    w *= x
    return np.array(y, copy=None) ** 2 + np.array(z, copy=True)


sample(written_without_a_copy, lambda r: (r.standard_normal(3),))


def contracted(subscripts, a, b):
    """The subscripts are an argument."""
    return np.einsum(subscripts, a * a, b)


for _subscripts in ("ij,jk->ik", "ij,jk->", "ij,jl"):
    sample(
        contracted,
        lambda r, s=_subscripts: (s, r.standard_normal((2, 3)), r.standard_normal((3, 2))),
        (1, 2),
    )


def stored_from_both_ends(x, y, m, s):
    out = np.zeros(2)
    for i in range(-2, 2):
        out[i] = x[i + 2] * y[i + 2] * (i + 3.0)
    return out * m[:2]


sample(stored_from_both_ends, four, ("x", "y", "m"))


def lengths_from_a_number_below_zero(t, x, n):
    """The arrays have one element, which is stretched."""
    w = np.zeros(n + 8)
    w[0] = t
    v = np.concatenate((np.zeros(n + 7), np.full(1, t * t)))
    return np.sum(x * w) + np.sum(np.sin(x) * v)


sample(lengths_from_a_number_below_zero, lambda r: (0.5, r.standard_normal(5), -7), ("t", "x"))
