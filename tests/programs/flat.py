"""`x.flat`: the numbers of an array in turn, read and written."""

import numpy as np

from .registry import sample


def _vector(r):
    return (np.array([0.7, 0.4, 0.55]),)


def numbers_in_turn(x):
    y = np.outer(x, x)
    total = sum(v * v for v in x.flat)
    for i, v in enumerate(y.flat):
        total += i * v * v
    for a, b in zip(y.flat, y.T.flat):
        total += a * b * a
    return total + len(y.flat) * y.flat[2] * y.flat[-4]


sample(numbers_in_turn, _vector)


def stored_by_number(x):
    y = np.zeros((2, 2))
    y.flat[1] = x[0] * x[1]
    y.flat[3] = x[2]
    y.flat[-4] = x[1]
    turned = np.outer(x, x).T[::-1]
    turned.flat[2] = x[0]
    return np.sum(y**3) + np.sum(turned[0] * turned[1])


sample(stored_by_number, _vector)


def jitter_on_the_diagonal(x):
    K = np.exp(-(np.subtract.outer(x, x) ** 2))
    K.flat[:: len(K) + 1] += 0.01 * x
    K.flat[1 :: len(K) + 1] *= 2.0
    return np.linalg.slogdet(K)[1]


sample(jitter_on_the_diagonal, _vector)


def taken_and_stored_together(x):
    y = np.outer(x, x)
    several, large = y.flat[[1, 2, 2]], y.flat[y.flatten() > 0.2]
    y.flat[[0, 4]] = 0.0
    return np.sum(several**2) + np.sum(large**3) + np.sum(y**2)


sample(taken_and_stored_together, _vector)


def no_view_of_a_vector(x):
    y = x.copy()
    rest = y.flat[1:]
    rest[0] = 5.0
    y.flat[0] = x[2] ** 2
    y.flat[1:] *= x[0]
    return np.sum(y * y) + np.sum(rest * x[1:])


sample(no_view_of_a_vector, _vector)


def all_at_once(x):
    y = np.outer(x, x)
    squares = [v * v for v in y.flat]
    return sum(y.flat) * max(y.flat) + np.sum(np.array(y.flat) ** 2) + list(y.flat)[3] + squares[4]


sample(all_at_once, _vector)


def stored_again_and_again(x):
    y, z = np.outer(x, x), x * 1.0
    y.flat[:] = [x[0] ** 2, 3.0]
    y.flat[1::2] = np.outer(x[:2], x) ** 2
    y.flat[[0, 4, 5, 8]] = x
    z.flat[:] = x[:1] * 2.0
    return np.sum(y * y.T) + np.sum(z**3)


sample(stored_again_and_again, _vector)


def list_added_at_places(x):
    y = np.outer(x, x)
    y.flat[1:3] += [x[2] ** 2, 3.0]
    y[[0, 2], [1, 1]] *= [x[0], 2.0]
    y[[1, 2]] -= [[x[1], 1.0, 2.0], [x[2], x[2], x[0]]]
    return np.sum(y * y)


sample(list_added_at_places, _vector)


def by_a_name(x):
    y = np.outer(x, x)
    places = y.flat
    total = places[0] * places[5] ** 2
    places[4] = x[0]
    for v in places:
        total += v * v
    return total


sample(by_a_name, _vector)
