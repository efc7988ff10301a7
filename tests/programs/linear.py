"""Products of vectors and matrices."""

import numpy as np

from .registry import sample


def matmuls(a, b, v):
    c = a @ b
    d = np.matmul(c, v) + c.dot(v) + np.dot(c, v)
    return v @ d + np.dot(v, v) * (d @ d)


sample(
    matmuls,
    lambda r: (r.standard_normal((3, 4)), r.standard_normal((4, 3)), r.standard_normal(3)),
    ("a", "b", "v"),
)


def batched_matmul(a, b):
    return np.sum((a @ b) ** 2)


sample(batched_matmul, lambda r: (r.standard_normal((2, 3, 4)), r.standard_normal((4, 2))), (0, 1))


def outer_inner(u, v):
    a = np.outer(u, v)
    b = np.inner(u, v[:3]) if len(u) == 3 else np.vdot(u, u)
    return np.sum(a * a) + b + np.vdot(u, u) + np.tensordot(a, a, axes=2)


sample(outer_inner, lambda r: (r.standard_normal(3), r.standard_normal(4)), (0, 1))


def contractions(a, b):
    c = np.tensordot(a, b, axes=([1], [0]))
    d = np.einsum("ij,jk->ik", a, b)
    e = np.einsum("ij,ij->", a, a) + np.einsum("ii", a @ b[:, :3])
    return np.sum(c * d) + e


sample(contractions, lambda r: (r.standard_normal((3, 4)), r.standard_normal((4, 5))), (0, 1))


def quadratic_form(x, a):
    return 0.5 * x @ a @ x - x.sum()


sample(quadratic_form, lambda r: (r.standard_normal(3), r.standard_normal((3, 3))), (0, 1))


def affine_layer(x, w, b):
    return x @ w + b


sample(
    affine_layer,
    lambda r: (r.standard_normal((5, 3)), r.standard_normal((3, 2)), r.standard_normal(2)),
    ("x", "w", "b"),
)


def ridge(w, x, y, lam):
    r = x @ w - y
    return r @ r + lam * (w @ w)


sample(
    ridge,
    lambda r: (r.standard_normal(3), r.standard_normal((6, 3)), r.standard_normal(6), 0.3),
    ("w", "lam"),
)


def bilinear_dict(w, x):
    return {"form": x @ w @ x, "row": w[0] * x}


sample(bilinear_dict, lambda r: (r.standard_normal((3, 3)), r.standard_normal(3)), (0, 1))
sample(
    bilinear_dict,
    lambda r: (r.standard_normal((3, 3)), r.standard_normal(3)),
    {"matrix": "w", "vector": "x"},
    outputs="form",
)


def kronecker(a, b):
    return np.sum(np.kron(a, b) ** 2)


sample(kronecker, lambda r: (r.standard_normal((2, 2)), r.standard_normal((2, 3))), (0, 1))
