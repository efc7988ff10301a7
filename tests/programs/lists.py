"""Lists that grow, shrink and are stored into."""

import numpy as np

from .registry import sample


def three(r):
    return (r.uniform(0.3, 1.5, 3),)


def list_extend(x):
    xs = [x[0]]
    xs.extend([x[1] * x[2], x[0] ** 2])
    return xs[0] * xs[1] * xs[2]


sample(list_extend, three)

def list_extend_loop(x):
    xs = []
    for v in x:
        xs.extend([v, v * v])
    return sum(xs) * xs[1]


sample(list_extend_loop, three)

def list_pop0(x):
    q = [x[0], x[1], x[2]]
    a = q.pop(0)
    b = q.pop(0)
    return a * b * q[0] ** 2


sample(list_pop0, three)

def list_popm(x):
    q = [x[0], x[1], x[2]]
    a = q.pop(1)
    return a * q[0] * q[1] ** 2


sample(list_popm, three)

def list_poploop(x):
    q = [v * v for v in x]
    t = 0.0
    while q:
        a = q.pop(0)
        t = t * a + a
    return t


sample(list_poploop, three)

def list_poploop2(x):
    q = [v * v for v in x]
    t = 0.0
    while len(q) > 0:
        a = q.pop()
        t = t * a + a
    return t


sample(list_poploop2, three)

def list_queue(x):
    q = [x[0]]
    t = 0.0
    n = 0
    while q:
        a = q.pop(0)
        t = t + np.sin(a)
        n += 1
        if n < 5:
            q.append(a * x[1])
    return t


sample(list_queue, three)

def list_insert(x):
    q = [x[0], x[1]]
    q.insert(1, x[2] * x[0])
    q.insert(0, x[1])
    return q[0] * q[1] + q[2] * q[3]


sample(list_insert, three)

def list_insertloop(x):
    q = []
    for v in x:
        q.insert(0, v * v)
    return q[0] * q[1] + q[2]


sample(list_insertloop, three)

def list_clear(x):
    q = [x[0], x[1]]
    t = q[0] * q[1]
    q.clear()
    q.append(t)
    return q[0] * x[2]


sample(list_clear, three)

def list_reverse(x):
    q = [x[0], x[1], x[2] ** 2]
    q.reverse()
    return q[0] * q[1] + q[2]


sample(list_reverse, three)

def list_del(x):
    q = [x[0], x[1], x[2] ** 2]
    del q[1]
    return q[0] * q[1]


sample(list_del, three)

def list_delneg(x):
    q = [x[0], x[1], x[2] ** 2]
    del q[-1]
    return q[0] * q[1]


sample(list_delneg, three)

def list_delslice(x):
    q = [x[0], x[1], x[2] ** 2, x[0] * x[1]]
    del q[1:3]
    return q[0] * q[1]


sample(list_delslice, three)

def list_slicestore(x):
    q = [0.0, 0.0, 0.0, 1.0]
    q[1:3] = [x[0], x[1] * x[2]]
    return q[1] * q[2] + q[3] * x[0]


sample(list_slicestore, three)

def list_slicestore2(x):
    q = [x[0], x[1], x[2]]
    q[0:2] = [x[2] * x[1]]
    return q[0] * q[1]


sample(list_slicestore2, three)

def list_slicestep(x):
    q = [v * v for v in x]
    a = q[::2]
    b = q[::-1]
    return a[0] * a[1] + b[0] * b[1]


sample(list_slicestep, three)

def list_slice(x):
    q = [v * v for v in x]
    return sum(q[1:]) * q[0] + sum(q[:-1])


sample(list_slice, three)

def list_plus(x):
    a = [x[0], x[1]]
    b = [x[2] * x[0]]
    c = a + b + [x[1]]
    return c[0] * c[1] + c[2] * c[3]


sample(list_plus, three)

def list_plusloop(x):
    c = []
    for v in x:
        c = c + [v * v]
    return c[0] * c[1] + c[2]


sample(list_plusloop, three)

def list_pluseq(x):
    c = [x[0]]
    c += [x[1] * x[2], x[0]]
    return c[0] * c[1] + c[2]


sample(list_pluseq, three)

def list_pluseqloop(x):
    c = []
    for v in x:
        c += [v * v, v]
    return c[0] * c[1] + c[5] * c[4]


sample(list_pluseqloop, three)

def list_times(x):
    c = [x[0] * x[1]] * 3
    return c[0] * c[1] * c[2] + x[2]


sample(list_times, three)

def list_times0(x):
    c = [0.0] * 3
    for i in range(3):
        c[i] = x[i] ** 2
    return c[0] * c[1] * c[2]


sample(list_times0, three)

def list_none_times(x):
    c = [None] * 3
    for i in range(3):
        c[i] = x[i] ** 2
    return c[0] * c[1] * c[2]


sample(list_none_times, three)

def list_none_times_arr(x):
    c = [None] * 3
    for i in range(3):
        c[i] = x * x[i]
    return np.sum(c[0] * c[1] * c[2])


sample(list_none_times_arr, three)

def list_neg(x):
    c = [v * v for v in x]
    c[-1] = c[-2] * c[0]
    return c[-1] * c[-3]


sample(list_neg, three)

def list_nested(x):
    g = [[x[i] * x[j] for j in range(3)] for i in range(3)]
    g[1][2] = x[0] ** 3
    return sum(g[1]) * g[2][0]


sample(list_nested, three)

def list_nested_append(x):
    rows = []
    for i in range(3):
        row = []
        for j in range(2):
            row.append(x[i] * x[j])
        rows.append(row)
    return rows[0][1] * rows[2][1] + rows[1][0]


sample(list_nested_append, three)

def list_nested_append2(x):
    rows = [[], []]
    for i in range(3):
        rows[i % 2].append(x[i] * x[0])
    return rows[0][1] * rows[1][0] + rows[0][0]


sample(list_nested_append2, three)

def list_nested_append3(x):
    rows = []
    for i in range(3):
        rows.append([])
        rows[-1].append(x[i] * x[0])
        rows[i].append(x[i])
    return rows[0][1] * rows[1][0] + rows[2][0]


sample(list_nested_append3, three)

def list_listtuples(x):
    ps = [(x[0], x), (x[1], x * x)]
    t = 0.0
    for a, b in ps:
        t = t + a * np.sum(b)
    return t


sample(list_listtuples, three)

def list_listtuples_append(x):
    ps = []
    for i in range(3):
        ps.append((x[i], x * x[i]))
    t = 0.0
    for a, b in ps:
        t = t + a * np.sum(b)
    return t * ps[1][0]


sample(list_listtuples_append, three)

def list_aug_item(x):
    c = [0.0, 1.0, 2.0]
    for i in range(3):
        c[i] += x[i] * x[0]
        c[0] *= x[i]
        c[1] -= x[1]
        c[2] /= x[0]
        c[2] **= 2
    return c[0] * c[1] + c[2]


sample(list_aug_item, three)

def list_table(x):
    fib = [x[0], x[1]]
    for i in range(2, 6):
        fib.append(fib[-1] * fib[-2] + fib[i - 1])
    return fib[5]


sample(list_table, three)

def list_dp(x):
    n = 3
    t = [[0.0] * (n + 1) for _ in range(n + 1)]
    t[0][0] = 1.0
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            t[i][j] = t[i - 1][j] * x[i - 1] + t[i][j - 1] * x[j - 1] + t[i - 1][j - 1]
    return t[n][n] + x[0]


sample(list_dp, three)

def list_len(x):
    c = [v for v in x if v > 0.5]
    return sum(c) / len(c) if len(c) > 0 else 0.0


sample(list_len, three)

def list_in(x):
    names = ["a", "b"]
    t = x[0]
    if "a" in names:
        t = t * x[1]
    if "c" not in names:
        t = t * x[2]
    return t


sample(list_in, three)

def list_cmp(x):
    order = [1, 2]
    if order == [1, 2]:
        return x[0] * x[1]
    return x[2]


sample(list_cmp, three)

def list_remove(x):
    ks = [0, 1, 2]
    ks.remove(1)
    t = 1.0
    for k in ks:
        t = t * x[k]
    return t


sample(list_remove, three)

def list_sort(x):
    ks = [2, 0, 1]
    ks.sort()
    ks.reverse()
    t = 1.0
    for k in ks:
        t = t * x[k] + 1.0
    return t


sample(list_sort, three)

def list_index(x):
    ks = ["p", "q", "r"]
    return x[ks.index("q")] * x[ks.count("p")] * x[0]


sample(list_index, three)

def list_copy(x):
    a = [x[0], x[1]]
    b = a.copy()
    b[0] = x[2] * a[0]
    c = list(b)
    c[1] = c[0] * b[0]
    d = b[:]
    d[1] = 0.5
    return a[0] * b[0] + c[1] + d[1] * d[0] + a[1]


sample(list_copy, three)

def list_alias_append(x):
    a = [x[0]]
    b = a
    b.append(x[1] * x[2])
    return a[0] * a[1]


sample(list_alias_append, three)

def list_arrays(x):
    hs = [x]
    for i in range(3):
        hs.append(np.tanh(hs[-1] * hs[0]))
    return np.sum(np.array(hs)) + np.sum(np.stack(hs[1:]))


sample(list_arrays, three)

def list_concat(x):
    hs = []
    for i in range(3):
        hs.append(x[:2] * i)
    return np.sum(np.concatenate(hs) ** 2) + np.sum(np.vstack(hs))


sample(list_concat, three)

def list_choose(x):
    ls = [x, x ** 2, np.sin(x)]
    t = 0.0
    for i in range(5):
        t = t + np.sum(ls[i % 3] * x)
    return t


sample(list_choose, three)

def list_listcmp(x):
    c = [x[0], x[1]]
    m = c[0] if c[0] > c[1] else c[1]
    return m * x[2]


sample(list_listcmp, three)

def list_none_list(x):
    best = None
    for v in x:
        w = v * v
        if best is None or w > best:
            best = w
    return best * x[0]


sample(list_none_list, three)

def list_del_name(x):
    y = x * x
    z = y * x
    del y
    return np.sum(z)


sample(list_del_name, three)

def list_mask_iter(x):
    m = x > 0.7
    t = 0.0
    for i, keep in enumerate(m):
        if keep:
            t = t + x[i] ** 2
    return t


sample(list_mask_iter, three)

def list_mask_rebound(x):
    mask = x > 0.7
    for m in mask:
        x = np.sum(x) * 0.5 if m else np.sum(x)
    return x


sample(list_mask_rebound, three)

def list_replaced_shapes(x):
    c = [x, x * x]
    a = np.sum(c[0] * x)
    c[0] = np.sum(x)
    c[1] = x[:2]
    return a * c[0] + np.sum(c[1])


sample(list_replaced_shapes, three)

def list_branch_list(x):
    t = 0.0
    for i in range(3):
        if i % 2 == 0:
            c = [x[i] * v for v in x]
            t = t + sum(c)
        else:
            t = t * x[i]
    return t


sample(list_branch_list, three)

def list_branch_list2(x):
    t = 0.0
    for i in range(3):
        c = []
        if i % 2 == 0:
            c.append(x[i] * t)
            c.append(x[0])
            t = t + sum(c)
    return t


sample(list_branch_list2, three)

def list_branch_list3(x):
    c = [x[0]]
    for i in range(3):
        if i % 2 == 0:
            c = [v * x[i] for v in c] + [x[i]]
    return sum(c) * c[0]


sample(list_branch_list3, three)

def list_star_list(x):
    a = [x[0], x[1]]
    b = [*a, x[2] * x[0], *a]
    return b[0] * b[2] * b[4]


sample(list_star_list, three)

def list_sorted_passive(x):
    ks = sorted([2, 0, 1], key=lambda k: -k)
    t = 1.0
    for k in ks:
        t = t * x[k] + 1.0
    return t


sample(list_sorted_passive, three)

def list_list_of_list_const(x):
    edges = [(0, 1), (1, 2), (2, 0)]
    t = 0.0
    for i, j in edges:
        t += (x[i] - x[j]) ** 2
    return t


sample(list_list_of_list_const, three)

def list_append_in_branch(x):
    c = []
    for v in x:
        if v > 0.6:
            c.append(v * v)
        else:
            c.append(v)
    return c[0] * c[1] * c[2]


sample(list_append_in_branch, three)

def list_return_list(x):
    c = []
    for v in x:
        c.append(v * v)
    return c


sample(list_return_list, three)

def list_popappend(x):
    c = [x[0], x[1]]
    for i in range(4):
        a = c.pop()
        b = c.pop()
        c.append(a * b)
        c.append(b + x[2])
    return c[0] * c[1]


sample(list_popappend, three)


def pops(x):
    stack = [x, x * x]
    stack.append(np.sin(x))
    a = stack.pop()
    b = stack.pop()
    stack.extend([a * b, a - b])
    return stack[-1] * stack[1] + stack[0]


sample(pops, lambda r: (0.8,))
sample(pops, lambda r: (r.standard_normal(3),))


def rows_of_a_slice(x):
    L = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        Li = L[i]
        for j, Lj in enumerate(L[: i + 1]):
            Li[j] = x[i] * x[j] + sum(Li[k] * Lj[k] for k in range(j))
    return L[2][2] + L[1][1]


sample(rows_of_a_slice, lambda r: (r.standard_normal(3),))


def rows_turned_round(x):
    rows = [[x[0], 1.0], [x[1], 2.0]]
    turned = rows[::-1]
    rows[0][1] = x[0] * x[1]
    turned[1][0] = rows[0][1] * x[2]
    return rows[0][0] * turned[1][1]


sample(rows_turned_round, lambda r: (r.standard_normal(3),))


def copied_list_of_lists(x):
    rows = [[0.0] * 3 for _ in range(3)]
    same = rows.copy()
    rows[0][0] = x[0] * x[1]
    same[0][1] = rows[0][0] * x[2]
    same[1] = [x[2], x[1], x[0]]
    return rows[0][1] * same[0][0] + rows[1][0] + same[1][2] ** 2


sample(copied_list_of_lists, lambda r: (r.standard_normal(3),))


def copied_dict_of_lists(x):
    one = {"a": [x[0], x[1]], "b": [1.0]}
    two = one.copy()
    two["b"] = [x[1]]
    one["a"][0] = x[2] * x[0]
    return one["a"][0] * two["a"][0] * two["b"][0] * one["b"][0]


sample(copied_dict_of_lists, lambda r: (r.standard_normal(3),))


def list_as_an_array(x):
    s = [x[0] * 1.0, x[1] * x[0]]
    t = []
    for v in x:
        t.append(v * x[0])
    first = np.maximum(s, [1.0, 0.2]) + np.clip(s, 0.2, 0.8) + np.power(s, 2)
    second = np.arctan2(s, s[::-1]) + np.multiply(s, s) / np.sqrt(s) + np.array(s) * s
    third = np.sum(np.log(t)) + np.linalg.norm(t) + np.average(t, weights=t) + np.dot(t, t)
    return first, second, third, np.gradient(t), np.identity(2) @ s


sample(list_as_an_array, lambda r: (r.uniform(0.3, 0.7, 3),))


def list_beside_a_number_of_numpy(x):
    """NumPy takes the list for an array, where a number of Python would be an error."""
    s, c = (x[0], x[1] * x[0]), np.sum(x)
    return s - c, c - s, s / c, [x[1], x[2]] + c, c ** [x[0], 2.0], np.exp(s - np.max(x) * c)


sample(list_beside_a_number_of_numpy, lambda r: (r.uniform(0.3, 0.7, 3),))


def list_of_rows_solved(x):
    s = [x[0], x[1] * x[0]]
    inverse = np.linalg.inv([s, [0.1, 1.0]])
    return np.linalg.solve([[x[0], 0.1], [0.2, x[0] * 3.0]], s), inverse, np.sort(s)


sample(list_of_rows_solved, lambda r: (r.uniform(0.3, 0.7, 3),))


def stack_that_is_asked(x):
    """A list is the test of branches that change it."""
    stack, seen, s = [x[0]], [], x[1]
    for v in x:
        if stack:
            s = s * 2.0 + stack.pop()
        else:
            s = s * v
        if seen:
            s = s * 0.5
        else:
            seen.append(v)
    return s * seen[0]


sample(stack_that_is_asked, lambda r: (r.standard_normal(4),))


def view_that_is_asked(x):
    """An array of one element is the test of a branch that writes into it, by another name."""
    w = x * 1.0
    first, s = w[:1], x[1]
    for _ in range(3):
        if first:
            s = s * 2.0
            w[0] = 0.0
        else:
            s = s * 3.0
    return s + w @ x


sample(view_that_is_asked, lambda r: (r.standard_normal(4),))


def list_that_is_asked(x):
    """A list without derivatives is a test, and changed by the statements behind the branches."""
    marks, s = [], x[0]
    for v in x:
        if marks:
            s = s * 2.0
        else:
            s = s * 3.0
        if v > 0.0 and not marks:
            marks.append(1)
        elif marks:
            marks.pop()
    return s


sample(list_that_is_asked, lambda r: (r.standard_normal(5),))


def constants_taken_off_and_written(x):
    pool = []
    for _ in range(3):
        pool.append(np.zeros(3))
    total = 0.0
    while len(pool):
        b = pool.pop()
        b -= x
        b *= b
        total = total + np.sum(b * x)
    return total


def buffers_taken_off_and_kept(x):
    buffers, old = [], []
    u = np.zeros(3)
    for t in range(3):
        a = np.zeros(3)
        u[:] = x * (t + 1)
        old.append(np.copy(u))
        buffers.append(a)
    s = np.zeros(3)
    kept = []
    for _ in range(3):
        b = buffers.pop()
        b += old.pop()
        s += b * b * x
        kept.append(b)
    return np.sum(s) + np.sum(kept[0] * kept[2])


def two_values_kept_in_each_step(x):
    u, p = np.zeros(3), x
    for _ in range(3):
        n = x * p
        u[:] = n
        last = [n, p]
        p = u
    return np.sum(u) + 0.1 * np.sum(last[0])


def a_view_and_a_number_repeated(x):
    xs = [x * 1.0, x[0]]
    ys = xs * 2
    ys[0][0] = 5.0
    return np.sum(xs[0]) * ys[1]


for _program in (
    constants_taken_off_and_written, buffers_taken_off_and_kept, two_values_kept_in_each_step,
    a_view_and_a_number_repeated,
):  # fmt: skip
    sample(_program, lambda r: (r.uniform(0.3, 0.9, 3),))


def terms_of_a_branch(x, n):
    if n:
        terms = []
        for k in range(n):
            terms.append(x[0] * k)
    y = x[0]
    if n:
        for term in terms:
            y += term * term
    return y * x[1]


for _n in (0, 2):
    sample(terms_of_a_branch, lambda r, n=_n: (r.uniform(0.3, 0.9, 3), n))


def whole_numbers_among_the_items(s, n, q):
    s, n, q = list(map(np.asanyarray, (s, n, q)))
    doubled = [v * 2 for v in (s, n, q)]
    rows = [s, n, q]
    for i in range(3):
        rows[i] = np.atleast_1d(rows[i])
    named = {k: np.asarray(v) for k, v in {"s": s, "n": n, "q": q}.items()}
    return s * q + doubled[0] * q + rows[0][0] * rows[2][-1] + named["s"] * q


sample(whole_numbers_among_the_items, lambda r: (0.7, np.array([1, 2]), 1.5), ("s", "q"))
