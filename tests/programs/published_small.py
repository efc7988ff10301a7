"""Small things that published programs do."""

import numpy as np

from .registry import sample


def private_names(_x, _scale=2.0):
    _y = _x * _scale
    _y[0] = _scale
    _x = _x + 1.0
    _acc = 0.0
    for _i in range(len(_x)):
        _acc += _y[_i] * np.sin(_x[_i])
    return _acc


sample(private_names, lambda r: (r.standard_normal(3), 1.5), ("_x", "_scale"))


def equal_gradients(x, y, z):
    x = x + (y + z)
    return x * 1.0


sample(
    equal_gradients,
    lambda r: (r.standard_normal(3), r.standard_normal(3), r.standard_normal(3)),
    ("x", "y", "z"),
)
