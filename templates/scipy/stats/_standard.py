"""Steps that the densities of `scipy.stats` share: with location and scale, shapes, supports.

A shape or a scale that is not positive gives nan, as in SciPy, and so does nan.
"""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.implicit import with_source


def positive(a):
    """`a`, or nan where it is not positive."""
    if known(a) and a > 0:
        return a
    return np.where(a > 0, a, np.nan)


def probability(p):
    """`p`, or nan where it is none."""
    return np.where((p >= 0) & (p <= 1), p, np.nan)


def centred(x, loc, scale):
    """How many scales `x` is away from the location."""
    if known(scale) and scale == 1:
        return x - loc
    return (x - loc) / scale


def standardised(x, loc, scale):
    """How many scales `x` is away from the location; nan where the scale is none."""
    if known(scale) and scale == 1:
        return x - loc
    return (x - loc) / (scale if known(scale) and scale > 0 else np.where(scale > 0, scale, np.nan))


def shaped(y, a):
    """`y`, or nan where the shape is not one."""
    if known(a) and a > 0:
        return y
    return np.where(a > 0, y, np.nan)


def outside(y, a):
    """Where a density that begins as `y**(a - 1)` is zero."""
    if known(a):
        return y <= 0 if a > 1 else y < 0
    return (y < 0) | ((y == 0) & (a > 1))


def as_number(z):
    """`np.where` makes an array without axes of numbers, and SciPy gives a number."""
    if rank(z) is None or rank(z) == 0:
        return z[()]
    return z


def per_scale(log, scale):
    """The logarithm of a density that is spread over a scale."""
    if known(scale) and scale == 1:
        return log
    return log - np.log(scale)


def parameters(distribution):
    """The parameters of a distribution of one variable, as a signature has them."""
    shapes = (distribution.shapes or "").replace(",", "").split()
    return [*shapes, "loc=0"] if hasattr(distribution, "pmf") else [*shapes, "loc=0", "scale=1"]


def named(params):
    """The names of parameters, as arguments of a call."""
    return ", ".join(p.partition("=")[0] for p in params)


def declared(distribution, method, x, value, calls, **space):
    """Declare a method of a distribution, of `x` and its parameters, by an expression."""
    head = f"def {distribution.name}_{method}({', '.join([x, *parameters(distribution)])}):"
    definition = with_source(head, [f"return {value}"], {"__name__": __name__, **space})
    composed(getattr(distribution, method))(samples(*calls)(definition))
