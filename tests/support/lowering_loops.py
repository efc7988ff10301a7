"""Small programs with loops, jumps, comprehensions and nested functions for the lowering."""
# ruff: noqa

from __future__ import annotations

import numpy as np

from tests.support.lowering_programs import A, PROGRAMS, V

LOOPS = []
LAYERS = [(1.0, 2.0), (3.0, 4.0)]


def program(*cases):
    def register(f):
        LOOPS.append((f, cases))
        return f

    return register


@program((5,), (0,))
def ranges(n):
    out = []
    for i in range(n):
        out.append(i)
        i = 100
    for i in range(1, n):
        out.append(-i)
    for i in range(n, 0, -2):
        out.append(10 * i)
    for i in reversed(range(n)):
        out.append(i)
    for i in reversed(range(2, n)):
        out.append(i)
    for i in reversed(range(0, n, 2)):
        out.append(i)
    for _ in range(n):
        for _ in range(2):
            out.append(0)
    return out


@program((V, A))
def sequences(x, a):
    out = []
    for v in x:
        out.append(v)
    for row in a:
        row *= 2
        for v in row:
            out.append(v)
    for w, b in LAYERS:
        out.append(w + b)
    for i, v in enumerate(x):
        out.append(i * v)
        i = 7
    for i, (v, (p, q)) in enumerate(zip(x, LAYERS), start=3):
        out.append((i, v, p, q))
    for pair in enumerate(x, 2):
        out.append(pair)
    for u, v in zip(x[1:], reversed(x)):
        out.append(u - v)
    for u, v, w in zip(range(5), range(2, 9), reversed(range(4))):
        out.append((u, v, w))
    for v in reversed(x):
        out.append(v)
    for i, v in enumerate(reversed([1, 2, 3])):
        out.append((i, v))
    for i, v in zip(range(0, 10, 3), "abcd"):
        out.append((i, v))
    for (i, v), w in zip(enumerate(x), x):
        out.append((i, v, w))
    for t in zip(x):
        out.append(t)
    for v in (1, 2), [3]:
        out.append(v)
    for (i,) in [(1,), (2,)]:
        out.append(i)
    return out, a


@program(({"a": 1.0, "b": 2.0},))
def dicts(d):
    out = []
    for k, v in d.items():
        out.append((k, v))
        d[k] = v * 2
    for k in d.keys():
        out.append(k)
    for v in d.values():
        out.append(v)
    for i, (k, v) in enumerate(d.items()):
        out.append((i, k, v))
    for item in d.items():
        out.append(item)
    return out, {k: v + 1 for k, v in d.items() if v > 2}


@program(([1, 2, 3],))
def rebound_iterable(xs):
    out = []
    for x in xs:
        xs = [x, x]
        out.append(xs)
    for xs in xs:
        out.append(xs)
    for a, b in zip(out, xs if isinstance(xs, list) else [5]):
        out = [a, b]
    return out, xs


@program((10,), (3,), (0,))
def jumps(n):
    out = []
    for i in range(n):
        if i == 1:
            continue
        if i % 2:
            if i == 3:
                out.append("three")
                continue
            out.append("odd")
            if i == 7:
                break
            out.append("after")
        else:
            out.append("even")
        out.append(i)
    else:
        out.append("else")
    return out, n


@program((0,), (1,), (2,), (7,), (20,))
def search(n):
    for i in range(10):
        for j in range(10):
            if i * j == n and i > 1:
                return i, j
            if j > 5:
                break
        if i == 6:
            break
        if i == 4 and n == 7:
            return "four"
    else:
        return "else"
    return "end", i, j


@program((5.0,), (0.0,), (100.0,))
def whiles(x):
    n = 0
    while x > 1 and n < 10:
        x /= 2
        n += 1
        if x > 20:
            continue
        if n == 7:
            break
    else:
        n = -n
    while True:
        n += 1
        if n > 5:
            break
    while (n := n + 1) < 20:
        if n == 15:
            return "fifteen"
        if n % 2:
            continue
        x += 1
    return x, n


@program((3,), (50,))
def endless(n):
    while True:
        n += 7
        if n % 5 == 0:
            return n
        if n > 100:
            raise ValueError(n)


@program((1,), (2,), (3,), (4,))
def nested_exits(n):
    out = []
    for i in range(4):
        if i > 0:
            while True:
                out.append(i)
                if len(out) > n:
                    return out
                if i == 2:
                    break
                i += 1
                if i == 3:
                    if n == 3:
                        return "three"
                    break
            out.append("after")
        if n == 4:
            continue
        out.append("end")
    if n == 2:
        return None
    for k in out:
        if k == "end":
            return k
    return "nothing"


@program((2,), (5,), (9,))
def loop_else(n):
    for i in range(4):
        if i == n:
            found = True
            break
        for k in range(3):
            if k == 2 and n == 9 and i == 2:
                return "nine"
        else:
            continue
        found = 1
    else:
        found = False
        if n == 5:
            return "five"
    while found:
        found -= 1
        if found:
            break
    else:
        return "done", found
    return found


@program((2,), (3,))
def return_in_branch_loop(n):
    total = 0
    if n > 2:
        for i in range(n):
            total += i
            if total > 2:
                return total
    else:
        total = -1
    total += 1
    return total


@program((V, A))
def comprehensions(x, a):
    t = 5
    ys = [t * v for t, v in enumerate(x) if v > 0 if t < 9]
    zs = [u + v for u in x for v in a[0] if u < v]
    m = [[i * j for j in range(i)] for i in range(3)]
    s = sum(v * v for v in x) + sum((v for v in x), 1.0) + max(v for v in x)
    b = any(v < 0 for v in x), all(v < 9 for row in a for v in row), all(v for v in [0])
    d = {k: v for k, v in zip("ab", x)}
    e = {v for v in [1, 1]}
    f = tuple(v for v in x), sorted(-v for v in x), list(i for i in range(2))
    [ys.append(v) for v in x]
    return ys, zs, m, s, b, d, e, f, t


@program((0,), (1,))
def search_stops(x):
    seen = []
    r = any(seen.append(i) or i == 2 for i in range(5))
    q = all(seen.append(i) is None and i < 1 for i in range(5))
    return seen, r, q, any(1 / v > 0 for v in [1, x])


@program((2.0, 3.0), (-1.0, 1.0))
def nested_functions(x, y):
    def square(v):
        return v * v

    def shifted(v, by=x, *, scale=2.0):
        w = square(v) + by
        if w > 5:
            return w * scale
        for i in range(3):
            if i > w:
                return i
        return c

    def nothing(v):
        v += 1

    twice = lambda v, k=3: v * k + y
    c = 1.0
    r = shifted(x) + shifted(y, scale=3.0) + shifted(by=y, v=1)
    c = 2.0
    x = 10.0
    w = square(square(x)) + twice(y) + twice(1, k=2)
    v = [square(i) for i in range(3)]
    z = (lambda p, q: p - q)(w, x)
    return r, w, v, z, nothing(x), shifted(0.1), x


@program((3.0,))
def captured_names(i):
    def f(x):
        return x + i

    total = [f(i) for i in (1.0, 2.0)]
    i = 20.0
    a, i = f(1.0), i + 1
    b, c = i, f(i)
    return total, a, b, c, i


@program((6,))
def backward_code(x):
    acc, acc_saved = 1.0, []
    for i in range(x):
        acc_saved.append(acc)
        acc = acc * np.sin(i) + 1.0
    d_acc, d = 1.0, np.zeros(x)
    for i in range(x - 1, -1, -1):
        acc = acc_saved.pop()
        d[1:-1] += d_acc
        d[i] += d_acc * acc * np.cos(i)
        d_acc = d_acc * np.sin(i)
    return d, d_acc


ALL = [*PROGRAMS, *LOOPS]
