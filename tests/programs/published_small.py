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


def mixed_numbers(H, points):
    """A list of real and complex numbers."""
    total = np.zeros(3, dtype=complex)
    for z in points:
        total += np.sin(z * H)
    return total


def _complex(r, *shape):
    return r.standard_normal(shape) + 1j * r.standard_normal(shape)


sample(mixed_numbers, lambda r: (_complex(r, 3), [0.5, 1.5 - 0.3j, 0.7]), ("H", "points"))


def real_or_complex(x, phase):
    """A branch decides of what type a value is."""
    y = x * 2.0
    if phase > 0.0:
        y = y * np.exp(1j * phase)
    z = y * y * (0.3 + 1j)
    return np.abs(np.sum(z * z)) + np.sum(np.real(z))


sample(real_or_complex, lambda r: (r.standard_normal(3), 0.7), ("x", "phase"))
sample(real_or_complex, lambda r: (r.standard_normal(3), -0.7), "x")


def used_inside_and_after(H, points):
    """`z` is read again by an inner loop and by a test behind it."""
    total = np.zeros(3)
    for z in points:
        T = np.ones(3)
        for n in range(2):
            T = T * np.sin(np.cos(z) * H[n])
        if abs(z) < 1.0:
            T = -T
        total += T * T
    return total


sample(used_inside_and_after, lambda r: (r.standard_normal((2, 3)), np.array([0.4, 1.5, -0.7])))


def last_of_loop(a, x):
    """What an inner loop leaves behind is read after it."""
    total = 0.0
    for i in range(3):
        v = 0.0
        for n in range(2):
            v = a[i, n]
        w = v * 2.0
        total += np.sin(w * x) * w
    return total


sample(last_of_loop, lambda r: (r.standard_normal((3, 2)), 0.7), ("a", "x"))
