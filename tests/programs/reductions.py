"""Sums, means, products, extrema, norms, running totals."""

import numpy as np

from .registry import sample


def sums(x):
    a = np.sum(x, axis=0)
    b = np.sum(x, axis=1, keepdims=True)
    c = x.sum() + np.sum(x, axis=(0, 1)) + x.sum(-1).sum()
    return np.sum(a * a) + np.sum(b * x) * c


sample(sums, lambda r: (r.standard_normal((3, 4)),))


def means(x):
    a = np.mean(x, axis=0)
    b = x.mean(axis=1, keepdims=True)
    return np.sum((x - a) * (x - b)) + x.mean() ** 2


sample(means, lambda r: (r.standard_normal((3, 4)),))


def variances(x):
    return np.var(x) + np.sum(np.std(x, axis=0)) + np.sum(x.var(axis=1, ddof=1) * x.std(axis=1))


sample(variances, lambda r: (r.standard_normal((4, 3)),))


def products(x):
    return np.prod(x, axis=0) * np.prod(x) + x.prod(axis=1, keepdims=True)


sample(products, lambda r: (r.uniform(0.5, 1.5, (3, 2)),))


def product_with_zeros(x):
    return np.prod(x, axis=1) + np.sum(np.cumprod(x, axis=1))


sample(
    product_with_zeros, lambda r: (np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [0.5, 2.0, 3.0]]),)
)


def extrema(x):
    return np.max(x, axis=0) * np.min(x) + x.max() - x.min(axis=0) + np.amax(x)


sample(extrema, lambda r: (r.permutation(12).reshape(3, 4) * 0.3 - 1.0,))


def running_totals(x):
    a = np.cumsum(x)
    b = np.cumsum(x, axis=1)
    c = x.cumsum(0)
    return np.sum(a * a) + np.sum(b * c * np.cumprod(x, axis=0))


sample(running_totals, lambda r: (r.standard_normal((3, 4)),))


def norms(x):
    n = np.linalg.norm(x)
    return n * x + np.sqrt(np.sum(x * x, axis=0))


sample(norms, lambda r: (r.standard_normal((3, 2)),))


def log_sum_exp(x):
    m = np.max(x, axis=1, keepdims=True)
    return np.log(np.sum(np.exp(x - m), axis=1)) + m[:, 0]


sample(log_sum_exp, lambda r: (r.standard_normal((3, 4)) * 3.0,))


def counting(x):
    positive = np.sum(x > 0.0)
    n = len(x)
    best = np.argmax(x)
    return np.sum(x) * positive / n + x[best] * x.size + np.count_nonzero(x)


sample(counting, lambda r: (r.standard_normal(6),))


def weighted_average(x, w):
    return np.average(x, weights=w) + np.average(x)


sample(weighted_average, lambda r: (r.standard_normal(5), r.uniform(0.5, 1.0, 5)), (0, 1))


def differences(x):
    d = np.diff(x)
    return np.sum(d * d) + np.sum(np.diff(x, n=2) ** 2)


sample(differences, lambda r: (r.standard_normal(6),))


def builtin_reductions(x):
    total = sum(x)
    return total * max(x[0], x[1]) + min(x[2], 0.5) + sum([x[0], x[1] * x[2]])


sample(builtin_reductions, lambda r: (r.standard_normal(4),))


def axes_kept_by_a_number(x, keep=1):
    """`keepdims=1`, as is written where 1 is true."""
    y = x / np.sum(x, axis=0, keepdims=1)
    z = np.max(x, axis=1, keepdims=keep) * np.mean(y, axis=0, keepdims=1)
    return z * np.linalg.norm(x, axis=1, keepdims=1) + np.sum(x**2, 1, None, None, 1)


sample(axes_kept_by_a_number, lambda r: (r.uniform(0.5, 1.5, (3, 4)),))
