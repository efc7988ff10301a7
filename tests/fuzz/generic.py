"""Functions that take and return values of several kinds, and call themselves with others."""

from __future__ import annotations

import random

from tests.fuzz.kinds import NUMBER, Kind, list_of, vector

# Bodies of functions of `v` and `n`: of a number or an array,
FLAT = """\
if np.ndim(v) == 0:
    return v * {c}
if n > 0:
    return np.sum(v * v)
return {u}

if n == 1:
    return np.sum({u})
elif n > 1:
    return {c}
return {u} + {c}

if isinstance(v, np.ndarray):
    return v[1] * v[::-1]
return {u}

if np.sum(v) > {c}:
    return {u}
r = {u} * {c}
return np.sum(r)

r = {c}
for k in range(n + 1):
    if k == 1:
        return r * v
    r = r + np.sum({u})
return r

if n <= 0:
    return np.sum({u})
return {me}(v * np.array([0.5, 0.7, {c}, 1.1]), n - 1)

if n <= 0:
    return {u}
return {me}(np.sum(v), n - 1) * v + {c}

if n <= 0:
    return np.sum({u})
return {me}(np.array([v, v * {c}]), n - 1)

if n <= 0 or np.ndim(v) == 0:
    return np.sum({u})
return {me}(v[0], n - 1) + {me}(v[1:], n - 1)

if n <= 0:
    return np.mean({u})
return {me}(v[None] if np.ndim(v) else v * {c}, n - 1) * {c}
"""
# and of a list or an array.
LISTS = """\
if n <= 0:
    return sum(v)
return {me}(tuple(v)[1:], n - 1) * v[0]

if n <= 0:
    return v[0] * v[1]
return {me}([q * {c} for q in v], n - 1) + v[-1]

if n <= 0:
    return sum([q * q for q in v])
if n > 1:
    return {me}((*v, {c}), n - 1)
return {me}(list(v), 0)

if len(v) == 1 or n <= 0:
    return v[0]
first, *rest = v
return first * {me}(rest, n - 1) + {c}

if n <= 0:
    return np.sum(np.array(v)) * {c}
return {me}(np.array(v), n - 1) + {me}(tuple(v), n - 1)
"""
USES = ("v", "np.sin(v)", "v * v", "(v + 0.3)", "-v", "np.exp(-v * v)", "v / (1.0 + v * v)")
CONSTANTS = ("0.4", "1.3", "-0.6", "0.9")


def generic(r: random.Random, name: str) -> tuple[list[str], tuple[Kind, ...]]:
    """The lines of one function, and the kinds that it takes."""
    flat, lists = FLAT.split("\n\n"), LISTS.split("\n\n")
    text = r.choice([*flat, *lists])
    kinds = (list_of(NUMBER) if text in lists else NUMBER, vector())
    for mark, options in (("{u}", USES), ("{c}", CONSTANTS)):
        while mark in text:
            text = text.replace(mark, r.choice(options), 1)
    lines = text.replace("{me}", name).strip().split("\n")
    return [f"def {name}(v, n):", *(f"    {line}" for line in lines)], kinds
