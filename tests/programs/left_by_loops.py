"""What the last iteration of a loop leaves, written into after the loop."""

import numpy as np

from .registry import sample


def alias_after(x, s):
    t = 0.0
    for k in range(3):
        c = np.full(3, 0.7 + k)
        t += np.dot(c + s, c[::1])
    b = c
    b += 1.0
    return t * np.sum(b) * x


def scaled_after_an_inner_loop(x, s):
    t = 0.0
    for i in range(2):
        for k in range(3):
            c = np.full(3, 0.7 + k)
            t += np.dot(c * s, c[:])
        c *= 0.3
        t += np.sum(c * s)
    return t * x


def view_after_an_inner_loop(x, s):
    t = 0.0
    for i in range(2):
        for k in range(3):
            c = np.full(3, 0.7 + k)
            v = c[1:]
            t += np.dot(v * s, c[:2])
        v *= 0.3
        t += np.sum(c * s)
    c[0] = 5.0
    return t * x + c[0] * s + v[1]


def after_a_while(x, s):
    k = 0
    while k < 3:
        c = np.full(3, 0.7 + k)
        s = s * np.dot(c * s, c[:])
        k += 1
    c[1:] = 0.0
    return s * x


def after_a_break(x, s):
    for k in range(5):
        c = np.full(3, 0.7 + k)
        s = np.sin(0.1 * np.dot(c * s, c[:]))
        if k == 3:
            break
    c[1:] = 0.0
    return s * x * np.sum(c)


def helper_after(x, s):
    def helper(u):
        u *= 2.0
    for k in range(5):
        c = np.arange(3.0) + k
        s = np.sin(0.1 * np.dot(c * s, c[:]))
    helper(c)
    return s * x + np.sum(c)


def all_of_them_after(x, s):
    cs = []
    for k in range(4):
        c = np.arange(3.0) + k
        cs.append(c)
        s = np.sin(0.1 * np.dot(c * s, c[:]))
    for c in cs:
        c *= s
    return s * x + np.sum(c)


def list_after(x, s):
    for k in range(4):
        c = [0.3, 0.4 + k]
        s = np.sin(c[0] * s * c[1])
    c.append(5.0)
    c[0] = s
    return s * x + c[0]


def dict_after(x, s):
    for k in range(4):
        c = {"a": 0.3 + k}
        s = np.sin(c["a"] * s)
    c["a"] = s * 2
    return s * x + c["a"] * s


def after_a_branch(x, s):
    for k in range(4):
        c = np.arange(3.0) + k
        if k % 2:
            v = c[1:]
            s = np.sin(np.sum(v * s))
        else:
            s = 0.1 * s * np.sum(c)
    c *= 0.0
    return s * x + c[0]


def in_a_branch(x, s):
    for k in range(4):
        if k % 2:
            c = np.arange(3.0) + k
            v = c[1:]
            s = np.sin(np.sum(v * s))
            c[2] = s
    c *= 0.1
    return s * x + c[2]


def after_an_if(x, s):
    if s > -5:
        c = np.arange(3.0) + 1
        v = c[1:]
        s = np.sin(np.sum(v * s))
    c *= 0.1
    return s * x + c[2]


def rows_after(x, s):
    for k in range(3):
        m = np.ones((2, 2)) * (k + 1)
        r = m[0]
        s = s * np.sum(r * s) + r @ m[1]
        s = np.sin(s)
    m[0, 0] = 7.0
    m.T[1] = s
    return s * np.sum(m) * x


def active_after(x, s):
    for k in range(3):
        z = x * (k + 1)
        w = z[1:]
        s = np.sin(s * np.sum(w * w))
    z[1:] = s
    z += x
    return z


for _program in (
    alias_after, scaled_after_an_inner_loop, view_after_an_inner_loop, after_a_while,
    after_a_break, helper_after, all_of_them_after, dict_after, after_a_branch,
    in_a_branch, after_an_if, rows_after, active_after,
):  # fmt: skip
    sample(_program, lambda r: (r.uniform(0.2, 1.2, 4), 0.4), ("x", "s"))
# The gradient takes a list apart whose items are of unknown kind: it is refused.
sample(list_after, lambda r: (r.uniform(0.2, 1.2, 4), 0.4), ("x", "s"))


def _first_of_the_diagonal_or_product(a, b):
    for k in range(2):
        if k > 1:
            return a[k, k]
    for row in a:
        if row[1] < 1.0:
            b = row * b
            row[:1] = 1.0
        else:
            a *= 3.0
    return b


def rows_by_another_name_in_a_loop(y, m):
    for _ in range(3, 1, -2):
        return _first_of_the_diagonal_or_product(0.5 * m, y)


def rows_of_the_same_array_in_each_step(y, m):
    total = 0.0
    for k in range(2):
        a = m * (k + 1.0)
        other = a
        if k < 5:
            for i in range(len(a)):
                part = other[i]
                y = part * y
                part[1:] *= 0.5
                a += 0.1
        total = total + y
    return total


for _program in (rows_by_another_name_in_a_loop, rows_of_the_same_array_in_each_step):
    sample(_program, lambda r: (r.uniform(0.2, 1.0, 4), r.uniform(-1.0, 3.5, (3, 4))), (0, 1))
