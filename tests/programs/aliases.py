"""Memory of which the source does not decide who holds it: by branches, in containers, in loops."""

import copy

import numpy as np

from .registry import sample


def two(r):
    """Two arrays of four numbers."""
    return r.standard_normal(4) + 2.0, r.standard_normal(4)


def alias_by_branch(x, flag):
    a = x.copy()
    b = x * 2.0
    c = a if flag else b
    c[0] = x[1] ** 2
    return np.sum(a * b)


for _flag in (True, False):
    sample(alias_by_branch, lambda r, flag=_flag: (r.standard_normal(3), flag))


def view_kept_in_tuple(x):
    y = x.copy()
    halves = (y[:2], y[2:])
    halves[0][0] = halves[1][1] ** 2
    halves[1][0] *= halves[0][0]
    return y


sample(view_kept_in_tuple, lambda r: (r.standard_normal(4),))


def alias_or_new(x, y, c):
    a = x * 2.0
    if c > 0:
        b = a
    else:
        b = np.zeros(4)
    b[0] = y[1]
    a[1:] += b[:3] * y[1:]
    return np.sum(a * b)


for _c in (1.0, -1.0):
    sample(alias_or_new, lambda r, c=_c: (*two(r), c), ("x", "y"))


def buffers_chosen_in_a_loop(x, y):
    even, odd = x * 1.0, y * 1.0
    for k in range(5):
        here = even if k % 2 == 0 else odd
        there = odd if k % 2 == 0 else even
        here[1:] += 0.5 * there[:-1]
        there[0] *= np.sin(here[3])
    return even * odd


sample(buffers_chosen_in_a_loop, two, ("x", "y"))


def weights_updated_in_place(params, x):
    for _ in range(3):
        h = np.tanh(params["w"] @ x + params["b"])
        params["w"] -= 0.1 * np.outer(h, x)
        params["b"] -= 0.1 * h
    return np.sum(np.tanh(params["w"] @ x + params["b"]) ** 2)


def _weights(r):
    return {"w": r.standard_normal((3, 4)), "b": r.standard_normal(3)}, r.standard_normal(4)


sample(weights_updated_in_place, _weights, ("params", "x"))


def arrays_of_a_list_written(x, y):
    layers = [x * 1.0, y * 1.0, x * y]
    first = layers[0]
    for k in range(2):
        layers[k][1:] += layers[k + 1][:-1] ** 2
        first[0] *= layers[2][k]
    return layers[0] + first * layers[1]


sample(arrays_of_a_list_written, two, ("x", "y"))


def rows_kept_and_written(m, s):
    rows = [m[k] for k in range(len(m))]
    rows[0][1] = s
    for row in rows:
        row *= row[0]
    rows[2][:] = rows[0] + rows[1]
    return m


sample(rows_kept_and_written, lambda r: (r.standard_normal((3, 2)), 1.3), ("m", "s"), outputs="m")


def history_of_one_buffer(x, n):
    u = x * 1.0
    seen = []
    for k in range(n):
        u[1:-1] = u[1:-1] + 0.3 * (u[2:] - u[:-2]) * x[k]
        seen.append(u)
    seen[0][0] = seen[-1][2] ** 2
    return u * np.sum(seen[1])


sample(history_of_one_buffer, lambda r: (r.standard_normal(5), 3))


def snapshots_and_numbers(x, s):
    u = x * 1.0
    stack = [(u, s)]
    for k in range(3):
        v, t = stack[-1]
        v[k] = v[k + 1] * t
        stack.append((v, t * v[0]))
    v, t = stack.pop()
    return v * t + u


sample(snapshots_and_numbers, lambda r: (r.standard_normal(4), 0.8), ("x", "s"))
sample(snapshots_and_numbers, lambda r: (r.standard_normal(4), 0.8), "x")


def snapshots_and_constants(x, c):
    u = x * 1.0
    stack = [(u, c)]
    for k in range(3):
        v, w = stack[-1]
        v[k] = v[k + 1] * w[k]
        stack.append((v, w * v[0]))
    v, w = stack.pop()
    return v * w + u


sample(snapshots_and_constants, lambda r: (r.standard_normal(4), r.standard_normal(4)), "x")


def reshaped_parameter_written(x, s):
    flat = x.reshape(-1)
    flat[::2] *= s
    flat[1] = flat[0] ** 2
    return x * np.sum(flat)


sample(reshaped_parameter_written, lambda r: (r.standard_normal((2, 3)), 1.7), ("x", "s"))


def numbers_and_arrays_popped(x, s):
    u = x * 1.0
    parts, factors = [u, u[:2]], [s, s * s]
    while parts:
        part = parts.pop()
        part *= factors.pop()
        u[3] *= part[0]
    factors.append(u[1])
    return u * factors[0]


sample(numbers_and_arrays_popped, lambda r: (r.standard_normal(4), 0.6), ("x", "s"))


def nested_dict_of_buffers(x, y):
    grid = {"u": {"now": x * 1.0, "new": y * 1.0}, "dt": 0.1}
    for _ in range(3):
        now, new = grid["u"]["now"], grid["u"]["new"]
        new[1:-1] = now[1:-1] + grid["dt"] * (now[2:] - 2.0 * now[1:-1] + now[:-2])
        grid["u"]["now"], grid["u"]["new"] = new, now
    return grid["u"]["now"] * x


sample(nested_dict_of_buffers, two, ("x", "y"))


def variable_rebound_or_not_at_all(x, p, n):
    z = x * x
    for _ in range(2):
        for _ in range(n):
            x = p * 2.0
    return np.sum(z) + np.sum(x * x)


for _n in (0, 2):
    sample(variable_rebound_or_not_at_all, lambda r, n=_n: (*two(r), n), ("x", "p"))


def inner_loop_moves_the_counter(y, s):
    for k, q in enumerate(y):
        if k == 1:
            for k, _ in enumerate(y):  # noqa: B007
                pass
            if k > 1:
                s = s * q
    return s


sample(inner_loop_moves_the_counter, lambda r: (r.standard_normal(3), 1.1), ("y", "s"))


def _smoothed(a, n):
    if n == 0:
        return a[0]
    a[n] *= 2.0
    r = _smoothed(a, n - 1)
    a[0] += r * a[n]
    return r * a[1]


def written_by_recursion(x):
    y = x * 1.0
    z = _smoothed(y, 2)
    return z * y * _smoothed(y[1:], 1)


sample(written_by_recursion, lambda r: (r.standard_normal(4),))


def _bubble(a, hi):
    if hi < 1:
        return
    for k in range(hi):
        if a[k] > a[k + 1]:
            a[k], a[k + 1] = a[k + 1], a[k]
    _bubble(a, hi - 1)


def sorted_by_recursion(x):
    y = x * x
    _bubble(y, len(y) - 1)
    return y * np.arange(4.0) ** 2


sample(sorted_by_recursion, lambda r: (r.standard_normal(4),))


def _transform(a):
    n = len(a)
    if n == 1:
        return
    even, odd = a[::2].copy(), a[1::2].copy()
    _transform(even)
    _transform(odd)
    a[: n // 2] = even + odd
    a[n // 2 :] = even - odd


def walsh_in_place(x):
    y = x * np.sin(x)
    _transform(y)
    return y**2


sample(walsh_in_place, lambda r: (r.standard_normal(8),))


def numbers_of_a_list_copied(x, s):
    u = x * 1.0
    items = [u, s]
    again, fixed = list(items), tuple(items)
    again[0][0] = again[1] ** 2
    items[1] = s * s
    items[0][1] *= items[1] * fixed[1]
    return u * again[1]


sample(numbers_of_a_list_copied, lambda r: (r.standard_normal(4), 0.7), ("x", "s"))


def entries_made_in_a_loop(x, y):
    d = {}
    for key, value in zip(("p", "q"), (x * 1.0, y * 1.0)):
        d[key] = value
    e = dict(d)
    e["p"][0] = d["q"][1] ** 2
    d["q"] = e["p"]
    d["q"][1] *= 3.0
    return e["p"] * e["q"] * d["q"]


sample(entries_made_in_a_loop, two, ("x", "y"))


def work_list_of_views(x, y):
    work = [(x * 1.0, 0)]
    out = 0.0
    while work:
        a, depth = work.pop()
        out = out + np.sum(a**2)
        if depth < 2:
            work.append((a[::2] * y[0], depth + 1))
            a[0] = 0.0
            work.append((a[1:], depth + 1))
    return out


sample(work_list_of_views, two, ("x", "y"))


def best_so_far(x, y):
    best = x * 1.0
    for k in range(4):
        trial = best.copy()
        trial[k] += y[k]
        if np.sum(trial**2) < np.sum(best**2):
            best = trial
        best[0] *= 1.1
    return best


sample(best_so_far, two, ("x", "y"))


def rows_normalised_and_mixed(m, x):
    a = m * 1.0
    for row in a:
        row /= np.sum(row**2)
        row[0] += x[0]
    rows = [a[0], a[1], a[2]]
    rows[0], rows[1] = rows[1], rows[0]
    rows[0] += x
    rows[2] *= rows[0]
    return a


sample(
    rows_normalised_and_mixed,
    lambda r: (r.standard_normal((3, 4)), r.standard_normal(4)),
    ("m", "x"),
)


def pieces_of_a_split_written(x, y):
    a = x * 1.0
    one, two_ = np.split(a, 2)
    one += y[:2]
    two_[:] = one * two_
    return a


sample(pieces_of_a_split_written, two, ("x", "y"))


def _halved(a, n):
    a *= 0.5
    if n > 0:
        _halved(a, n - 1)
    return n


def halved_by_recursion(x):
    y = x * x
    _halved(y, 2)
    return y


sample(halved_by_recursion, lambda r: (r.standard_normal(3),))


def element_handed_on_and_written(p, x):
    held = p
    out = p["w"]
    part = out
    part[2] -= part[2]
    part[0] *= x[1]
    return held["w"] * x


sample(
    element_handed_on_and_written,
    lambda r: ({"w": r.standard_normal(3)}, r.standard_normal(3)),
    ("p", "x"),
)


def element_moved_and_written(p, x):
    y = x * 2.0
    for _ in range(3):
        x[1:] += 3.0 * y[0]
        d = p["w"]
        x, y = y, d
    return x * y * p["w"]


sample(
    element_moved_and_written,
    lambda r: ({"w": r.standard_normal(3)}, r.standard_normal(3)),
    ("p", "x"),
)


def swapped_after_operators_in_place(x, y, n):
    a = y
    for _ in range(n):
        a *= 2.0
        x -= a
        a, x = x, a
    return a * x


def swapped_in_turn(x, y, n):
    a, b, c = x.copy(), y.copy(), x * y
    for _ in range(n):
        a += c
        b *= a
        c -= 0.5 * b
        a, b, c = c, a, b
    return a + 2.0 * b + 3.0 * c


def swapped_where_one_is_kept(x, y, n):
    a, b = x.copy(), y.copy()
    held = [a]
    for _ in range(n):
        a *= 1.5
        b += a
        if np.sum(a) > 0.0:
            a, b = b, a
    return a * held[0] - b


for _swap in (swapped_after_operators_in_place, swapped_in_turn, swapped_where_one_is_kept):
    for _turns in (2, 3):
        sample(
            _swap,
            lambda r, n=_turns: (r.uniform(0.2, 1.2, 4), r.uniform(0.2, 1.2, 4), n),
            ("x", "y"),
        )


def written_by_a_nested_function(x):
    y = x * 1.0

    def bump(i):
        y[i] = y[i - 1] * x[i]
        return y

    z = bump(1)
    z[0] += x[2]
    bump(2)
    return np.sum(y * z)


sample(written_by_a_nested_function, lambda r: (r.standard_normal(3),))


def views_from_captured_arrays(x):
    a = x * 1.0
    fs = [lambda: a, lambda: a[1:]]
    fs[1]()[0] *= x[0]
    b = fs[0]()
    b[2] += a[1] ** 2
    return a * b


sample(views_from_captured_arrays, lambda r: (r.standard_normal(3),))


def _from(a, n):
    return a[n:]


def returned_view_written_in_a_loop(x):
    a = x * 1.0
    for i in range(2):
        v = _from(a, i)
        v[0] *= x[2]
        a[-1] += v[0]
    return a


sample(returned_view_written_in_a_loop, lambda r: (r.standard_normal(3),))


def copied_by_the_module(x):
    y, z = copy.copy(x), copy.deepcopy(x)
    y *= 2.0
    z[0] = 3.0
    pair = [x, x * 2.0]
    other = copy.copy(pair)
    other[0] = x * 3.0
    other[1] *= 2.0
    return y * x + z + pair[0] * pair[1] + other[0]


sample(copied_by_the_module, lambda r: (r.standard_normal(3),))


def shifted_before_a_store(x):
    a = x + 0.3
    b = 1.0 - (-x[::-1])
    x[2] = x[0] * x[1]
    c = +x
    x *= 2.0
    return np.sum(a * x) + np.sum(b * c)


sample(shifted_before_a_store, lambda r: (r.standard_normal(4),))


def shifted_in_a_loop(x):
    total = x - 1.0
    for k in range(2):
        kept = np.ones(4) + x
        x[k] = x[k + 1] * 0.5
        total = total + kept * x
    return total


sample(shifted_in_a_loop, lambda r: (r.standard_normal(4),))


def one_of_the_parts_of_a_split(x, first=True):
    y = x * 2.0
    p, q = np.split(y, 2)
    r = p if first else q
    r[0] = r[0] * x[1]
    return np.sum(y * y) + p[1] * q[0]


def array_of_one_axis_or_another(x, first=False):
    y = x * 2.0
    z, w = np.atleast_1d(y), x * 3.0
    r = z if first else w
    r[0] = r[0] * x[1]
    return np.sum(y * z) + np.sum(w)


sample(one_of_the_parts_of_a_split, lambda r: (r.standard_normal(4),))
sample(array_of_one_axis_or_another, lambda r: (r.standard_normal(4), True))


def filled_with_whole_numbers(x):
    ones = np.full_like(x, 1.7, int)
    return np.sum(x * ones) * ones[0]


sample(filled_with_whole_numbers, lambda r: (r.standard_normal(3),))
