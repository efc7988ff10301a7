"""Reshaping, transposing, joining, splitting, repeating."""

import numpy as np

from .registry import sample


def reshapes(x):
    a = x.reshape(-1)
    b = np.reshape(x, (3, 2, 2))
    c = x.reshape(2, 6)
    d = np.ravel(x) * x.flatten()
    return np.sum(a * d) + np.sum(b**3) + np.sum(c[0] * c[1])


sample(reshapes, lambda r: (r.standard_normal((3, 4)),))


def transposes(x, y):
    a = x.T @ y
    b = np.transpose(x[None], (2, 0, 1))
    c = np.swapaxes(b, 0, 2) * np.moveaxis(b, 0, -1).reshape(3, 1, 4)
    return np.sum(a) + np.sum(c * x.transpose()[None, :, 0][..., None] * 2.0)


sample(
    transposes, lambda r: (r.standard_normal((3, 4)), r.standard_normal((3, 2))), (0,), order2=True
)


def expanding(x):
    a = np.expand_dims(x, 1)
    b = np.squeeze(a * a, axis=1)
    c = x[:, np.newaxis] * x[None, :]
    d = np.broadcast_to(x, (3, 4)) * np.atleast_2d(x)
    return np.sum(b) + np.sum(c**2) + np.sum(d)


sample(expanding, lambda r: (r.standard_normal(4),))


def joining(x, y):
    a = np.concatenate((x, y * 2.0))
    b = np.stack([x, y], axis=1)
    c = np.vstack((x, y))
    d = np.hstack([x, y, x])
    e = np.column_stack((y, x))
    f = np.append(x, y)
    return np.sum(a * f) + np.sum(b * e[:, ::-1]) + np.sum(c.T @ c) + np.sum(d**3)


sample(joining, lambda r: (r.standard_normal(3), r.standard_normal(3)), (0, 1))


def joining_matrices(x, y):
    a = np.concatenate([x, y], axis=1)
    b = np.concatenate((x, x * x), axis=-1)
    return np.sum(a @ a.T) + np.sum(b)


sample(joining_matrices, lambda r: (r.standard_normal((2, 3)), r.standard_normal((2, 1))), (0, 1))


def splitting(x):
    a, b = np.split(x, 2)
    parts = np.split(x, [1, 3])
    return np.sum(a * b) + np.sum(parts[0]) * np.sum(parts[1] ** 2) * np.sum(parts[2])


sample(splitting, lambda r: (r.standard_normal(6),))


def part_of_a_split(x):
    part = np.split(x, [1])[1]
    return np.sum(np.cos(part)) + np.sum(np.sin(x))


sample(part_of_a_split, lambda r: (r.standard_normal(4),))


def rolling(x):
    a = np.roll(x, 1, axis=0) * x
    b = np.flip(x, axis=1) - np.roll(x, -2)
    return np.sum(a * b) + np.sum(np.flipud(x) * np.fliplr(x)) + np.sum(np.rot90(x) ** 3)


sample(rolling, lambda r: (r.standard_normal((3, 4)),))


def padding(x):
    a = np.pad(x, 1)
    b = np.pad(x, ((1, 0), (0, 2)), mode="constant")
    return np.sum(a[:-2, 1:-1] * x) + np.sum(b**2)


sample(padding, lambda r: (r.standard_normal((3, 3)),))


def repeating(x):
    a = np.repeat(x, 3)
    b = np.tile(x, 2)
    c = np.repeat(x[None], 2, axis=0) * np.tile(x, (2, 1))
    return np.sum(a * a) + np.sum(b**3) + np.sum(c)


sample(repeating, lambda r: (r.standard_normal(4),))


def triangles(x):
    a = np.tril(x) @ np.triu(x, 1)
    b = np.diag(x) * np.diagonal(x) + np.trace(x)
    c = np.diag(b) + np.diag(x[0, :2], 1)[:3, :3]
    return np.sum(a * c)


sample(triangles, lambda r: (r.standard_normal((3, 3)),))


def meshes(x, y):
    xx, yy = np.meshgrid(x, y)
    return np.sum(np.sin(xx) * yy**2)


sample(meshes, lambda r: (r.standard_normal(3), r.standard_normal(2)), (0, 1))


def created(x):
    a = np.zeros(3) + x
    b = np.ones_like(x) * np.full(3, 2.0) * np.eye(3)[0]
    c = np.linspace(0.0, 1.0, 3) * np.arange(3)
    d = np.array([x[0], 1.0, x[1] * x[2]])
    e = np.full(3, x[0]) + np.full_like(x, x[1])
    return np.sum((a + b) * c * d * e)


sample(created, lambda r: (r.standard_normal(3),))


def nested_array_display(a, b):
    m = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    return m @ np.array([b, 1.0])


sample(nested_array_display, lambda r: (0.4, 1.5), ("a", "b"))


def parts_side_by_side(x):
    a, b = np.hsplit(x, 2)
    c, d = np.hsplit(x.reshape(2, -1), [1])
    e, f = np.vsplit(x.reshape(2, -1), 2)
    return np.sum(a * b) * np.sum(c) + np.sum(d**2) + np.sum(e * f)


sample(parts_side_by_side, lambda r: (r.standard_normal(6),))


def first_arguments_by_name(x):
    a, b = np.split(ary=x, indices_or_sections=2)
    wide = np.broadcast_to(array=x, shape=(2, 6)) * np.ones_like(a=x)
    return np.sum(np.ravel(a=wide) ** 2) * np.shape(a=x)[0] + np.sum(a * b)


sample(first_arguments_by_name, lambda r: (r.standard_normal(6),))


def products_by_broadcasting(x, w, resp):
    scores = np.sum(x[:, None, :] * w, axis=-1)
    means = np.sum(resp[:, :, None] * x[:, None, :], axis=0)
    return np.sum(np.tanh(scores)) + np.sum(np.sin(means) * w)


sample(
    products_by_broadcasting,
    lambda r: (r.standard_normal((4, 3)), r.standard_normal((2, 3)), r.random((4, 2))),
    ("x", "w", "resp"), order2=True,
)  # fmt: skip


def windows_at_counters(x, w):
    n, m = x.shape
    edges = np.zeros((n - 2, m - 2))
    for i in range(n - 2):
        for j in range(1, m - 1):
            edges[i, j - 1] = np.sum(x[i : i + 3, j - 1 : j + 2] * w)
    return np.sum(np.tanh(edges))


sample(
    windows_at_counters, lambda r: (r.standard_normal((5, 6)), r.standard_normal((3, 3))),
    ("x", "w"), order2=True,
)  # fmt: skip
