"""Reads with every kind of subscript."""

import numpy as np

from .registry import sample


def basic_reads(x):
    a = x[0] * x[-1]
    b = x[1:3, ::2]
    c = x[..., 1] + x[:, -1]
    d = x[None, 0, :, None]
    return np.sum(a) + np.sum(b**2) + np.sum(c**3) + np.sum(d) * x[1, 2]


sample(basic_reads, lambda r: (r.standard_normal((3, 4)),))


def strided(x):
    return np.sum(x[::2] * x[1::2]) + np.sum(x[::-1] * x) + np.sum(x[4:1:-1] ** 3)


sample(strided, lambda r: (r.standard_normal(6),))


def gathered(x, idx):
    y = x[idx]
    return np.sum(y * y * np.arange(1.0, 6.0))


sample(gathered, lambda r: (r.standard_normal(4), np.array([0, 2, 2, 1, 2])))


def gathered_pairs(x, rows, cols):
    return x[rows, cols] * x[rows][:, 0] + np.sum(x[:, cols]) + x[rows, 1]


sample(
    gathered_pairs,
    lambda r: (r.standard_normal((3, 4)), np.array([0, 2, 0]), np.array([1, 3, 1])),
)


def masked(x):
    mask = x > 0.0
    y = x[mask]
    return np.sum(y * y) + np.sum(x[~mask] ** 3)


sample(masked, lambda r: (np.array([0.5, -0.3, 1.2, -2.0, 0.1]),))


def masked_matrix(x, mask):
    return np.sum(x[mask]) ** 2 + np.sum(np.where(mask, x * x, 0.0))


sample(masked_matrix, lambda r: (r.standard_normal((3, 3)), np.eye(3, dtype=bool)))


def taken(x, idx):
    a = np.take(x, idx, axis=0)
    b = np.take_along_axis(x, np.argsort(x, axis=1), axis=1)
    return np.sum(a**2) + np.sum(b * np.arange(3.0))


sample(taken, lambda r: (r.standard_normal((4, 3)), np.array([1, 1, 3])))


def picked_rows(logits, labels):
    n = logits.shape[0]
    return -np.sum(logits[np.arange(n), labels] ** 2)


sample(picked_rows, lambda r: (r.standard_normal((4, 3)), np.array([0, 2, 1, 2])))


def sorted_values(x):
    y = np.sort(x)
    order = np.argsort(-x)
    return np.sum(y * np.arange(5.0)) + np.sum(x[order] ** 2 * np.arange(5.0))


sample(sorted_values, lambda r: (r.permutation(5) * 0.4 - 0.7,))


def list_of_indices(x):
    return x[[0, 2]] * x[[1, 1]] + x[2]


sample(list_of_indices, lambda r: (r.standard_normal(3),))


def computed_index(x):
    k = int(np.argmax(x))
    m = len(x) // 2
    return x[k] * x[m] + x[k - 1] * np.sum(x[m:])


sample(computed_index, lambda r: (np.array([0.3, 1.4, -0.2, 0.8]),))


def open_mesh_transposed(x):
    K = np.outer(x, x)
    K[0] += x
    s = K[np.ix_([0, 0, 1], [1, 1])].T
    return s * s[0]


sample(open_mesh_transposed, lambda r: (r.standard_normal(3),))


def index_in_a_tuple(x):
    K = np.outer(x, x)
    K[0] += x
    places = ([0, 0, 1], [1, 1, 1])
    s = K[places][:2]
    return s * s[0]


sample(index_in_a_tuple, lambda r: (r.standard_normal(3),))


def picked_twice_by_a_list(x, table):
    B = [x * 2.0, (x, x)][len(table)]
    k = {"a": [0, 0, 1]}["a"]
    return B[k] * B[0]


sample(picked_twice_by_a_list, lambda r: (r.standard_normal(3), {}))


def taken_at_counters(x, k):
    s = np.take(x, [k, k + 1]) * np.take(x, (0, k))
    rows = np.take(np.outer(x, x), [[k, 0], [1, k + 1]], axis=0)
    columns = np.take(np.outer(x, x), [k + 5, k], axis=1, mode="wrap")
    return np.sum(s * np.sum(rows[0], axis=1)) + np.sum(columns**2) * np.sum(rows[1])


sample(taken_at_counters, lambda r: (r.standard_normal(4), 1))


def counted_at_counters(x, k):
    h = np.bincount([k, k + 1], weights=x[:2])
    h = h + np.bincount([0, k], weights=[x[0], x[1]], minlength=3)
    return np.sum(h * h)


sample(counted_at_counters, lambda r: (r.standard_normal(3), 1))


def indices_made_by_brackets(x):
    u, s = np.outer(x, x), np.s_[::2]
    u[1:3] = u[np.s_[0:2]]
    u[np.s_[1:3, 0]] = u[np.s_[0:2, 1]] ** 2
    u[np.index_exp[1:]] *= u[np.index_exp[:-1, ...]]
    return np.sum(u[s] ** 2) * x[np.s_[1]]


sample(indices_made_by_brackets, lambda r: (r.uniform(0.5, 1.5, 3),))


def number_stored_twice_where_it_is_the_greatest(m, s):
    t = s
    if t < 1.5:
        s = np.maximum(s, t)
    m[1:, [3, 3]] = t
    m[2, 3] = s
    return np.sum(np.sin(m))


sample(number_stored_twice_where_it_is_the_greatest, lambda r: (np.zeros((3, 4)), 0.8), 1)


def numbers_with_new_axes(x):
    columns = np.concatenate([v[..., np.newaxis] for v in x], axis=-1)
    first = x[0]
    s = columns * first[None, ...]
    for v in x:
        s = s + v[None, ..., None] * first[()]
    return s


sample(numbers_with_new_axes, lambda r: (r.standard_normal(3),))


def numbers_at_masks(x):
    s = x[0] * x[1]
    inside, beyond = s[s < 9.0], s[s > 9.0]
    return np.sum(inside**2) + np.sum(beyond) + s[np.True_][0] * x[2]


sample(numbers_at_masks, lambda r: (r.uniform(0.5, 1.5, 3),))
