"""The functions of `test_standalone` and of the command line, as a user's module."""

import collections
import enum
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import sqrt as root  # noqa: F401  # it is handed on

X = np.array([0.3, 0.5, 0.2, 0.9, 0.4])
WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def loss(w: np.ndarray, x, y):
    # the residual
    h = np.tanh(x @ w)
    return np.sum((h - y) ** 2)


def total(x):
    return np.sum(x * x)


def inner(x, y):
    return np.sum(np.sin(x[1:-1]) * y)


def weighted(x):
    return np.sum(WEIGHTS * x)


def descending(x):
    found = np.argsort(x)
    return found[::-1]


def order(x):
    try:  # nothing here carries a derivative
        return descending(x)
    except TypeError:
        return np.arange(len(x))


def chosen(x):
    i = order(np.asarray(x > 0.4))
    return np.sum(x[i][:3] ** 2)


def network(params):
    out = 0.0
    for w, b in params["layers"]:
        out = np.tanh(np.sum(w) * out + b)
    return out


def intensity(z, x):
    return np.sum(np.abs(z * x) ** 2)


def turned(z, x):
    return np.sum(np.abs(z * x * 1j) ** 2)


def intensities(*zs, **more):
    return np.sum(np.abs(zs[0] * zs[1] * more["x"]) ** 2)


def moved(u, v):
    u[1:] += v[:-1] * u[:-1]


MANY = {f"f{k}": (lambda factor: lambda x: factor * x * x)(k) for k in range(20)}


def applied(x, name):
    return np.sum(MANY[name](x))


def cast(x, dtype, module, how, count, nothing):
    if nothing is not None or how != "mean":
        return 0.0 * np.sum(x)
    return np.sum(x.astype(dtype) ** 2) / count(x) + 0.0 * module.pi


class Model:
    def __init__(self, w):
        self.w = w

    def predict(self, x):
        return np.sum(self.w * x)


@dataclass
class Pair:
    one: Any
    two: Any


def made(x):
    return Pair(x * x, np.sin(x))


def bell():
    """A function of SciPy, which is imported here only."""
    from tests.support import standalone_scipy

    return standalone_scipy.bell


def broken():
    """A function whose rule is wrong."""
    from tests.support import standalone_wrong

    return standalone_wrong.f


ORDERED = collections.OrderedDict(a=2.0)
QUEUE = collections.deque([2.0, 3.0])


@functools.lru_cache
def doubled(n):
    return n * 2.0


def by_ordered(x):
    return np.sum(x * x) * ORDERED["a"]


def by_queue(x):
    return np.sum(x * x) * QUEUE[1]


def by_cached(x: np.ndarray):  # with annotations a file has `from __future__ import annotations`
    return np.sum(x * x) * doubled(3)


def solved(a, b):
    return np.sum(np.linalg.solve(a, b)) + np.einsum("ij,j->", a, b)


def scaled(x):
    return x * x * scaled.factor * getattr(scaled, "power")  # noqa: B009


scaled.factor = 2.0
scaled.power = 3
scaled.unread = object()


def by_attribute(x):
    return np.sum(scaled(x))


def tripled(f):
    @functools.wraps(f)
    def inner(x):
        return f(x) * inner.factor

    inner.factor = 3.0
    return inner


@tripled
def plain_square(x):
    return x * x


def by_decorated(x):
    return np.sum(plain_square(x))


def with_weights(x):
    return x * with_weights.values


with_weights.values = np.arange(500.0)


def by_weights(x):
    return np.sum(with_weights(x))


class Gain:
    factor = 3.0

    def apply(self, x):
        return self.factor * x


class Chain:
    """What an object may have itself in place of what its class has."""

    scale, kind, bias, flag, times = 2.0, "tanh", None, True, 2

    def __init__(self):
        self.gain, self.gains, self.named = Gain(), [Gain(), Gain()], {"a": Gain()}

    def number(self, x):
        return self.scale * np.sum(x**2)

    def string(self, x):
        return np.sum(np.tanh(x)) if self.kind == "tanh" else np.sum(x**2)

    def none(self, x):
        return np.sum(x**2) if self.bias is None else np.sum(self.bias * x**2)

    def flagged(self, x):
        return np.sum(x**2) if self.flag else np.sum(x**3)

    def power(self, x):
        for _ in range(self.times):
            x = x * x
        return np.sum(x)

    def curve(self, x):
        return np.tanh(x)

    def method(self, x):
        return np.sum(self.curve(x))

    def nested(self, x):
        return np.sum(self.gain.apply(x) ** 2)

    def listed(self, x):
        return np.sum(sum(g.apply(x) for g in self.gains) ** 2)

    def of_dict(self, x):
        return np.sum(self.named["a"].apply(x) ** 2)

    def asked(self, x):
        return np.sum(x**2) if hasattr(self, "extra") else np.sum(x**3)


def squares(x):
    return x**2


def cubes(x):
    return x**3


def power_of(k):
    return lambda x: x**k


def of_function(f, x):
    return np.sum(f(x))


def of_several(x, *chains):
    return sum(c.number(x) for c in chains)


def hiding(type, list, name, enumerate=2.0):
    """Parameters called as builtins are, and as loops over arguments would be."""
    key = enumerate
    return np.sum(type * list[0] * list[1] * list[2]["a {b}"]) * key * name


def stored(u, grid, table):
    u[0] = np.sum(grid) + table["a"][0] + table["b"][0]
    return np.sum(u * u)


def heat(u, alpha, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += alpha * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


def later(u0, alpha, steps):
    u, new = u0.copy(), u0.copy()
    for _ in range(steps):
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + alpha * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        )
        u, new = new, u
    return u


def stacked(x: float):
    return np.sum(np.array([x, 2.0 * x]))


class Law(enum.Enum):
    LINE = 1
    SQUARE = 2
    CUBE = 3


BY_LAW = {Law.LINE: lambda x: 2.0 * x, Law.SQUARE: lambda x: x * x, Law.CUBE: lambda x: x**3}
BY_NUMBER = [lambda x: 2.0 * x, np.sin, lambda x: x * x]


def of_laws(x, law):
    for other in (Law.LINE, law, Law.CUBE):
        x = BY_LAW[other](x) + 0.1 * x
    return np.sum(x)


def of_numbers(x, k):
    return np.sum(BY_NUMBER[k](x))
