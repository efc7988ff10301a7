"""The arguments `out`, `where`, `dtype` and `initial`, and methods of ufuncs."""

import numpy as np

from .registry import sample


def out_argument(x, y):
    z = np.empty_like(x)
    np.multiply(x, y, out=z)
    np.add(z, x, out=z)
    np.exp(z, z)
    return z


sample(out_argument, lambda r: (r.standard_normal(3), r.standard_normal(3)), (0, 1))


def out_views(x):
    buffer = np.zeros((2, 3))
    np.sin(x, out=buffer[0])
    np.multiply(buffer[0], x, out=buffer[1])
    total = np.empty(3)
    buffer.sum(axis=0, out=total)
    return np.clip(total, -0.5, 0.5, out=total) * x


sample(out_views, lambda r: (r.standard_normal(3),))


def guarded_division(x, y):
    ratio = np.zeros_like(x)
    np.divide(x, y, out=ratio, where=y != 0.0)
    return ratio * ratio


sample(guarded_division, lambda r: (r.standard_normal((2, 3)), np.array([0.5, 0.0, -2.0])))
sample(guarded_division, lambda r: (r.standard_normal((2, 3)), np.array([0.5, 0.7, -2.0])), (0, 1))


def value_of_out(x):
    z = np.zeros(3)
    return np.add(x, 1.0, out=z) * z


sample(value_of_out, lambda r: (r.standard_normal(3),))


def masked_moments(x):
    good = np.array([True, True, False, True])
    spread = np.sum((x - np.mean(x, where=good)) ** 2, where=good, initial=1.0)
    return spread * np.max(x, initial=-9.0, where=good) + np.std(x, where=good)


sample(masked_moments, lambda r: (r.standard_normal(4),))


def out_in_loop(x, n):
    state = x.copy()
    step = np.empty_like(x)
    for _ in range(n):
        np.sin(state, out=step)
        np.multiply(step, 0.5, out=step)
        np.subtract(state, step, out=state)
    return state


sample(out_in_loop, lambda r: (r.standard_normal(3), 3))


def results_over_their_operands(A):
    y, z = A * 1.0, A + 0.5
    np.dot(y, z, out=y)
    np.take(y, [2, 0, 1], axis=0, out=y)
    np.cumsum(y, axis=1, out=y[:, ::-1])
    np.einsum("ij,jk->ik", z, y, out=z)
    np.add.accumulate(z[:2], out=z[1:])
    z.sum(axis=0, out=z[0])
    np.choose([1, 0, 1], [z[0], z[1]], out=z[1])
    np.clip(z[::-1], 0.5, 40.0, out=z)
    parts = [z[1:].copy(), z[:1].copy()]
    np.concatenate(parts, out=z)
    return np.sum(z * y)


sample(results_over_their_operands, lambda r: (r.uniform(0.5, 1.5, (3, 3)),))


def ufunc_methods(x):
    pairs = np.hypot.outer(x, x + 3.0)
    return np.logaddexp.reduce(pairs, axis=1) * np.maximum.accumulate(x) + np.multiply.reduce(x)


sample(ufunc_methods, lambda r: (np.array([0.5, -0.7, 1.6]),))


def padded_with_what_depends(x, s):
    edge = s * 2.0
    return np.pad(x, 1, constant_values=edge)[:, 0] * s


sample(padded_with_what_depends, lambda r: (r.uniform(size=(2, 2)), 0.7), ("x", "s"))


def chosen_from_lists(x, y):
    return np.choose([0, 1, 0, 1], [x, y * y])


sample(chosen_from_lists, lambda r: (r.uniform(size=4), r.uniform(size=4)), ("x", "y"))


def complex_einsum_and_determinant(x, y):
    z = x + 1j * y
    return np.abs(np.einsum("ij,jk->ik", z, np.conj(z))) * np.abs(np.linalg.det(z))


sample(
    complex_einsum_and_determinant,
    lambda r: (r.standard_normal((3, 3)), r.standard_normal((3, 3))),
    ("x", "y"),
)


def from_a_generator(x):
    y = np.fromiter((v * v for v in x), float)
    return y * np.fromiter(map(np.sin, x), dtype=np.float64, count=len(x))


sample(from_a_generator, lambda r: (r.standard_normal(3),))


def from_values(x):
    named = {"a": x[0] * x[1], "b": np.exp(x[1])}
    return np.fromiter(named.values(), float) ** 2 + np.fromiter(x, float, 2)


sample(from_values, lambda r: (r.standard_normal(3),))


def norm_of_an_order(x, order=None):
    return np.linalg.norm(x, order) * np.linalg.norm(x * x, order, 0)


sample(norm_of_an_order, lambda r: (r.standard_normal(4), None))
sample(norm_of_an_order, lambda r: (r.standard_normal(4), 3))


def convolved_as_told(x, y, mode):
    return np.convolve(x, y, mode) * np.sum(np.correlate(x, y, mode))


sample(convolved_as_told, lambda r: (r.standard_normal(5), r.standard_normal(3), "full"), (0, 1))
sample(convolved_as_told, lambda r: (r.standard_normal(5), r.standard_normal(3), "same"), (0, 1))


def eigenvalues_of_a_triangle(x, uplo):
    a = x @ x.T + np.diag([1.0, 3.0, 6.0])
    w, v = np.linalg.eigh(a, uplo)
    return w * v[0] ** 2 + np.linalg.eigh(a, UPLO=uplo).eigenvalues


sample(eigenvalues_of_a_triangle, lambda r: (r.standard_normal((3, 3)), "U"))


def singular_values_as_told(x, full):
    parts = np.linalg.svd(x, full)
    return parts[1] * np.abs(parts[2][0, :3]) + np.abs(np.linalg.svd(x, full)[0][0])


sample(singular_values_as_told, lambda r: (r.standard_normal((3, 4)), False))
sample(singular_values_as_told, lambda r: (r.standard_normal((3, 4)), True))


def sums_that_keep_an_axis(x, w, keep):
    return x * np.sum(x, 0, keepdims=keep) + np.sum(w * np.sum(x, 1, keepdims=keep))


sample(
    sums_that_keep_an_axis,
    lambda r: (r.standard_normal((2, 3)), r.standard_normal(2), True),
    (0, 1),
)
sample(
    sums_that_keep_an_axis,
    lambda r: (r.standard_normal((2, 3)), r.standard_normal(2), False),
    (0, 1),
)


def triangle_in_a_mode(a, mode):
    z = np.linalg.qr(a, mode)
    return z * z if mode == "r" else z[0] * z[0] @ z[1]


for _mode in ("r", "reduced"):
    sample(triangle_in_a_mode, lambda r, m=_mode: (r.standard_normal((4, 3)), m), (0,))


def roots_of_padded(p):
    """Roots at zero move with the last coefficient; zeros in front are left out."""
    z = np.roots(np.concatenate((np.zeros(2), p, np.zeros(1))))
    return np.abs(np.sum(z * z)) + np.real(np.roots(np.append(p, p[0] - p[0]))[-1] * 2.0)


sample(roots_of_padded, lambda r: (np.array([1.0, -1.0, 1.0]),))
sample(roots_of_padded, lambda r: (np.array([2.0, 1.0, 3.0, 5.0]),))


def joined_numbers_between_ends(a, b):
    """`3j` says how many numbers there are from one end to the other."""
    row = np.r_[0.5, a:b:3j, b, 1:3]
    return row * np.sum(np.c_[a:b:6j, np.r_[:a:2j, b, b, 1:3]], axis=1)[0:7].sum()


sample(joined_numbers_between_ends, lambda r: (0.3 + r.random(), 2.0 + r.random()), (0, 1))


def without_bounds_and_without_outputs(x):
    y = np.clip(x, None, None) * np.clip(x, 0.2, 0.9, out=None)
    return y + x.clip(None, None) * np.round(10.0 * x, out=None) + np.around(x, 1, out=None) * x


sample(without_bounds_and_without_outputs, lambda r: (0.35 + 0.05 * r.random(4),))


def remainder_by_a_number(x, y):
    quotient, rest = divmod(x, y)
    return np.sum(rest * rest) + np.sum(quotient * x) * y


sample(remainder_by_a_number, lambda r: (1.0 + r.random(4), 0.7), (0, 1))
