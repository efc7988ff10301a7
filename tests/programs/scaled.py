"""Operators `*=` and `/=` on parts of arrays, views of them, and arrays in dicts that move."""

import numpy as np

from .registry import sample


def vector(r):
    """Four numbers away from zero."""
    return (r.uniform(0.5, 2.0, 4),)


def two(r):
    """Two arrays of four numbers away from zero."""
    return r.uniform(0.5, 2.0, 4), r.uniform(0.5, 2.0, 4)


def view_scaled(x, c):
    v = x.copy()
    w = v[1:]
    w *= c
    v /= w[0]
    return np.sum(v * x)


sample(view_scaled, lambda r: (*vector(r), 1.7), (0, 1))


def scaled_by_itself(x):
    y = x.copy()
    y[1:] *= y[:-1]
    y[:2] /= y[2:]
    v = y[:]
    v *= v
    v /= y[::-1]
    return y


sample(scaled_by_itself, vector)


def scaled_in_a_loop(x, c):
    y = x.copy()
    for k in range(3):
        y[k] *= c[k] * y[k + 1]
        y[1:] /= c[:3]
        row = y[:2]
        row *= 0.5 + k
    return np.sum(y**2)


sample(scaled_in_a_loop, two, (0, 1))


def masked_and_scaled(x, c):
    y = x * c
    y[x > 1.0] *= c[x > 1.0]
    y[[0, 2]] /= c[[1, 3]]
    y[[0, 0]] *= 3.0
    return y


sample(masked_and_scaled, two, (0, 1))


def rows_normalised(x):
    m = x.reshape(2, 2).copy()
    for row in m:
        row /= np.sqrt(np.sum(row**2))
    m[:, 1] *= x[:2]
    return m


sample(rows_normalised, vector)


def complex_scaled(x, c):
    z = x + 1j * c
    w = z[:2]
    w *= c[2:] - 2j * x[2:]
    z[2:] /= w
    return np.abs(z) ** 2


sample(complex_scaled, two, (0, 1))


def scaled_by_alias(x, flag):
    y = x * 2.0
    z = x * 3.0
    a = y if flag else z
    a *= x
    a[1:] /= y[:3]
    return np.sum(y * z)


for _flag in (True, False):
    sample(scaled_by_alias, lambda r, flag=_flag: (*vector(r), flag))


def default_is_written(x, flag):
    m = x * 2.0
    d = {"u": x * 3.0}
    g = d.get("u" if flag else "w", m)
    g += x
    g *= x
    return np.sum(m * m) + np.sum(d["u"])


for _flag in (True, False):
    sample(default_is_written, lambda r, flag=_flag: (*vector(r), flag))


def moved_to_another_key(x):
    y = x * 2.0
    d = {"u": y, "n": 2.0 * x[0]}
    d["v"] = d.pop("u")
    n = d.pop("n")
    y *= x
    e = d["v"]
    e += n * x
    return np.sum(d["v"] ** 2) * n


# Of a dict of numbers and arrays that move the kinds are not known the second time.
sample(moved_to_another_key, vector)


def moved_to_and_fro(x):
    y = x * 2.0
    d = {"u": y, "n": 2.0 * x[0], "m": x[1]}
    out = 0.0
    for _ in range(3):
        d["v"] = d.pop("u")
        n = d.pop("n")
        y *= x
        d["n"] = n * d["m"]
        d["u"] = d.pop("v")
        out += n
    return np.sum(d["u"] ** 2) * d["n"] + out


sample(moved_to_and_fro, vector)


def numbers_unpacked_beside_a_write(x, y):
    first, *rest, last = list(y)
    a = y
    a[1] = x[0] * first
    return first * last * sum(rest) * np.sum(a)


sample(numbers_unpacked_beside_a_write, two, (0, 1))


def popped_or_default(x, key):
    a = x * 2.0
    d = {"u": a}
    b = d.pop(key, x * 3.0)
    b *= x
    d["w"] = b
    return np.sum(a * d["w"])


for _key in ("u", "v"):
    sample(popped_or_default, lambda r, key=_key: (*vector(r), key))
