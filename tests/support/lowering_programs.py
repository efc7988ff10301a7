"""Small programs for the lowering: each is run by Python and as IR, with the same arguments."""
# ruff: noqa

from __future__ import annotations

import functools
import math
import operator
from collections import namedtuple
from math import sin as sine

import numpy as np
from numpy import linalg

SCALE = 2.5
WEIGHTS = np.array([1.0, 2.0, 3.0])
CONFIG = {"rate": 0.5, "steps": 3}
Point = namedtuple("Point", "x y")


class Options:
    rate = 0.25

    @staticmethod
    def double(x):
        return 2 * x


class Model:
    def __init__(self, w):
        self.w = w

    def predict(self, x):
        return self.w * x


MODEL = Model(3.0)
A = lambda: np.arange(6.0).reshape(2, 3)
V = lambda: np.array([1.0, -2.0, 3.0])

PROGRAMS = []


def program(*cases):
    """Register a function with tuples of arguments (zero-argument lambdas make fresh arrays)."""

    def register(f):
        PROGRAMS.append((f, cases))
        return f

    return register


# --- straight lines ---


@program((2.0, 3.0), (V, 2.0), (1, 0))
def arithmetic(x, y):
    z = x * y + x / (y + 1) - x**2 // 3 % 5
    return -z + +x, abs(x) - -1.5, ~3 << 1 >> 1 | 5 & 3 ^ 1, not z is None


@program((A,))
def subscripts(x):
    y = x[1:, ::-1]
    y[0, ..., 0] = -1.0
    x[0][1] = 9.0
    x[0][2] += 2.0
    x[:, 1] *= 3.0
    x[[0, 1], [0, 0]] -= 1.0
    x[x > 8] = 0
    return x[None, 0, -1], x.T[2], x[0, 1:][0], y


@program((V, 3.0), (1.0, 2.0))
def augmented(x, y):
    z = x
    z += y
    y *= 2
    z -= y
    x = x / 2
    x **= 2
    return x, y, z


@program((1.0, 2.0, 3.0))
def tuples(a, b, c):
    a, b = b, a
    a, b, c = c, a, b
    a, b = b + 1, a
    x, y = a, b
    (p, q), r = (x, y), c
    [u, v] = p, p + q
    a = b = c = u + v
    d, (e, *f), *g = 1, (2, 3, 4), 5, 6
    i, *j = (a, b, c)
    *k, l = [1, 2, 3]
    return a, b, c, p, q, r, u, v, x, y, d, e, f, g, i, j, k, l


@program((1.0, 2.0))
def rebinding(a, b):
    a, a = a + 1, a * 7
    b, a = a, b
    a, b = b, a + b
    a, b = a, b
    a, b, c = b, b, a
    return a, b, c


@program((V,))
def tuple_stores(x):
    x[0], x[1] = x[1], x[0]
    i, x[i] = 2, 5.0
    (x[0], y), z = (x[1], x[2]), x[0]
    i = x[i] = 1
    return x, y, z, i


@program((V, V))
def chained_targets(x, y):
    a = x[0] = y[1] = x[2] * 2
    x[1] = b = a + 1
    c = d = y
    (e, f), g = h = (a, b), 3
    m, n = m = (1, 2)
    return a, b, c, d, e, f, g, h, x, y, m, n


@program((2.0,))
def annotations(x: float, n: int = 3, *, m: "str" = "a") -> float:
    y: float = x * n
    z: int
    z = 4
    return y + z


@program((1.0,), (1.0, 2.0, 3.0))
def varargs(x, *rest, k=-1.5, **more):
    return x, rest, k, more, max(x, *rest, 0), dict(a=x, **more)


@program((2.0,))
def resolving(x):
    y = np.sin(x) + sine(x) + math.cos(x) + linalg.norm([x, x]) + np.linalg.norm([x])
    return y * SCALE + np.pi + WEIGHTS.sum() + CONFIG["rate"] + Options.rate + Options.double(x)


@program((2.0,))
def objects(x):
    p = Point(x, y=2 * x)
    return MODEL.predict(x) + MODEL.w + p.x * p.y, p._replace(x=0), np.float64(x).item()


@program((V,))
def methods(x):
    x.fill(2.0)
    y = x.reshape(3, 1).sum(axis=0).T
    s = " ".join(str(v) for v in x) + "{}".format(y) + "%d" % 3
    return x.sum(), y, s.upper(), x.shape[0], (x + 1).mean(), "a,b".split(",")[0]


@program((2.0,))
def displays(x):
    a = [x, *[1, 2], x + 1]
    b = (x, *a)
    c = {"a": x, "b": [x, {"c": 2}], x: 3}
    d = {**c, "a": 0, **{"z": 1}}
    e = {1, 2, x}
    return a, b, c, d, e, [], (), {}, f"{x:.2f} {a[0]!r} {len(b)}", b"x", ..., 2j, a[-1:]


@program((3, 4))
def walruses(x, y):
    a = x + (x := 10) + x
    b = [x, (x := 5), x]
    if (n := y * 2) > 3 and (m := n + 1):
        a += m
    c = max(x, (x := 1), key=lambda t: -t)
    x += (x := 100)
    z = x < (x := 5) < (x := 7)
    w = [t := i for i in range(3)]
    d, e = y, (y := 7)
    return a, b, c, n, x, y, z, t, w, d, e


@program((V,))
def effects(x):
    x
    x[0] + 1
    "text"
    np.add.at(x, [0, 0, 1], 1.0)
    np.copyto(x[1:], 5.0)
    xs = []
    xs.append(x[0])
    xs.extend([1.0, 2.0])
    y = xs.pop()
    del y
    (lambda a: xs.append(a))(3)
    return x, xs


@program((1.0,), (-1.0,))
def checks(x):
    assert isinstance(x, float), f"not {x}"
    assert x > 0, "negative"
    if x > 5:
        raise ValueError("big")
    return x


@program((7.0,), (1.0,))
def raising(x):
    if x > 5:
        raise ValueError(f"big: {x}") from None
    elif x > 0:
        return x
    else:
        raise TypeError


@program((2.0,))
def imports(x):
    import math as m
    import os.path
    from math import cos, tau as two_pi
    from numpy import linalg as la

    return m.sin(x) + cos(x) + two_pi + la.norm([x]), os.path.basename("a/b")


# --- conditions ---


@program((1.0, 2.0), (0.0, 3.0), (0, 0), (-1, 5))
def booleans(x, y):
    a = x and y or x - 1
    b = not (x and y) or (x > 0 and y > 1 and x < y)
    c = x if y > 2 else y if x else -1
    d = 0 < x < y <= 3 != 4
    e = x in (1.0, y) and x not in [0] and x is not y
    return a, b, c, d, e


@program((0,), (1,))
def lazy(x):
    return x and 1 / x, x == 0 or 1 / x, (1 / x if x else 0), 0 < x < 1 / (x - 0)


@program((-1.0,), (0.5,), (2.0,), (9.0,))
def branches(x):
    if x < 0:
        y = -x
    elif x < 1:
        y = x * 2
        if x > 0.2:
            y += 1
    else:
        pass
    if x > 5:
        z = 1
    else:
        z = 2
    return z + (y if x < 1 else 0)


@program((1,), (2,), (3,), (4,), (5,))
def early(x):
    if x == 1:
        return "one"
    y = x + 1
    if x == 2:
        if y:
            return y
        return None
    elif x == 3:
        y = 7
    else:
        if x == 5:
            return x, y
    return y * 2


@program((1,), (0,))
def implicit_none(x):
    if x:
        return x


@program((V, 0.0), (V, 1.0))
def procedure(x, y):
    if y == 0:
        return
    x[0] = y


@program((0, 0), (0, 1), (1, 0), (1, 1))
def partial_return(a, b):
    out = []
    if a:
        out.append("a")
        if b:
            return out
        out.append("not b")
    out.append("end")
    if not a and b:
        out.append("late")
        if len(out) > 1:
            return [out]
    return out, a


@program(())
def nothing():
    pass
