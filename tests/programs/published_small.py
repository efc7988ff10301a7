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


def first_best(xs, w):
    """A variable that is None until something is found."""
    best, where = None, None
    for i in range(len(xs)):
        value = np.sin(xs[i] * w)
        if best is None or value > best:
            best, where = value, i
    return best * xs[where]


sample(first_best, lambda r: (r.standard_normal(4), 0.7), ("xs", "w"))


def summed_or_none(arrays, scale):
    total = None
    for a in arrays:
        term = np.tanh(a * scale)
        total = term if total is None else total + term
    total *= scale
    return total


sample(
    summed_or_none,
    lambda r: ([r.standard_normal(3) for _ in range(3)], 0.7),
    ("arrays", "scale"),
)


def differences_to_previous(xs):
    previous = None
    out = []
    for x in xs:
        if previous is not None:
            out.append((x - previous) ** 2)
        previous = np.sin(x)
    return sum(out), previous


sample(differences_to_previous, lambda r: (r.standard_normal(4),))


def optional_state(xs, W, state=None):
    """A recurrence that makes its first state itself."""
    for x in xs:
        if state is None:
            state = np.zeros(W.shape[0])
        state = np.tanh(W @ state + x)
        state[0] += 1.0
    return state


sample(
    optional_state,
    lambda r: (r.standard_normal((3, 2)), r.standard_normal((2, 2))),
    ("xs", "W"),
)


def list_or_none(xs):
    """A list that is made when it is first needed."""
    kept = None
    for x in xs:
        if x > 0.0:
            if kept is None:
                kept = []
            kept.append(x * x)
    if kept == None:  # noqa: E711
        return 0.0
    return sum(kept) * len(kept)


# What may be None or a list has no kind.
sample(list_or_none, lambda r: (np.array([0.5, -0.3, 1.2]),))


def pairs_of_columns(table, w):
    """`zip(*...)` turns rows into columns."""
    loss = 0.0
    for x, y in zip(*table):  # noqa: B905
        loss += (w * x - y) ** 2
    return loss + sum(x * y for x, y in zip(*(table[0], table[1])))  # noqa: B905


sample(pairs_of_columns, lambda r: (r.standard_normal((2, 4)), 0.7), ("table", "w"))
