"""Values and gradients as a person writes them with NumPy, for some of the programs."""

from __future__ import annotations

import numpy as np


def squares(x):
    return np.sum(x * x), (2.0 * x,)


def arc_distance(theta_1, phi_1, theta_2, phi_2):
    a, b = (theta_2 - theta_1) / 2, (phi_2 - phi_1) / 2
    sin_a, sin_b, cos_1, cos_2 = np.sin(a), np.sin(b), np.cos(theta_1), np.cos(theta_2)
    both, square = cos_1 * cos_2, sin_b * sin_b
    temp = sin_a * sin_a + both * square
    y, x = np.sqrt(temp), np.sqrt(1 - temp)
    d_temp = 1.0 / (x * y)  # of 2 arctan2(sqrt(t), sqrt(1 - t))
    d_a = d_temp * sin_a * np.cos(a)
    d_b = d_temp * both * sin_b * np.cos(b)
    d_both = d_temp * square
    d_theta_1 = -d_both * cos_2 * np.sin(theta_1) - d_a
    d_theta_2 = -d_both * cos_1 * np.sin(theta_2) + d_a
    return np.sum(2 * np.arctan2(y, x)), (d_theta_1, -d_b, d_theta_2, d_b)


def go_fast(a):
    t = np.tanh(np.diagonal(a))
    d_a = np.ones_like(a)
    d_a[np.diag_indices(a.shape[0])] += a.size * (1.0 - t * t)
    return np.sum(a) + a.size * np.sum(t), (d_a,)


def softmax_rows(x):
    """Rows of exponentials that sum to one."""
    out = np.exp(x - np.max(x, axis=-1, keepdims=True))
    out /= np.sum(out, axis=-1, keepdims=True)
    return out


def softmax(x):
    out = softmax_rows(x)
    d_out = 2.0 * out
    d_out -= np.sum(d_out * out, axis=-1, keepdims=True)
    d_out *= out
    return np.sum(out * out), (d_out,)


def mlp(x, w1, b1, w2, b2, w3, b3):
    h1 = np.maximum(x @ w1 + b1, 0)
    h2 = np.maximum(h1 @ w2 + b2, 0)
    loss, (d3,) = softmax(h2 @ w3 + b3)
    d2 = (d3 @ w3.T) * (h2 > 0)
    d1 = (d2 @ w2.T) * (h1 > 0)
    layers = ((x, d1), (h1, d2), (h2, d3))
    return loss, tuple(g for h, d in layers for g in (h.T @ d, np.sum(d, axis=0)))


def jacobi_1d(steps, A, B):
    A, B = A.copy(), B.copy()
    for _ in range(1, steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])
    d_A, d_B = np.ones_like(A), np.zeros_like(B)
    for _ in range(1, steps):
        for to, source in ((d_B, d_A), (d_A, d_B)):
            t = 0.33333 * source[1:-1]
            source[1:-1] = 0.0
            to[:-2] += t
            to[1:-1] += t
            to[2:] += t
    return np.sum(A), (d_A, d_B)


def jacobi_2d(steps, A, B):
    A, B = A.copy(), B.copy()
    for _ in range(1, steps):
        for to, x in ((B, A), (A, B)):
            to[1:-1, 1:-1] = 0.2 * (
                x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1]
            )
    d_A, d_B = np.ones_like(A), np.zeros_like(B)
    for _ in range(1, steps):
        for to, source in ((d_B, d_A), (d_A, d_B)):
            t = 0.2 * source[1:-1, 1:-1]
            source[1:-1, 1:-1] = 0.0
            to[1:-1, 1:-1] += t
            to[1:-1, :-2] += t
            to[1:-1, 2:] += t
            to[2:, 1:-1] += t
            to[:-2, 1:-1] += t
    return np.sum(A), (d_A, d_B)


def conv2d_bias(images, weights, bias):
    K = weights.shape[0]
    H, W = images.shape[1] - K + 1, images.shape[2] - K + 1
    taps = [(i, j) for i in range(K) for j in range(K)]
    out = np.zeros((images.shape[0], H, W, weights.shape[3])) + bias
    for i, j in taps:
        out += images[:, i : i + H, j : j + W] @ weights[i, j]
    d_out = 2.0 * out
    d_images, d_weights = np.zeros_like(images), np.empty_like(weights)
    for i, j in taps:
        d_images[:, i : i + H, j : j + W] += d_out @ weights[i, j].T
        d_weights[i, j] = np.tensordot(images[:, i : i + H, j : j + W], d_out, ((0, 1, 2),) * 2)
    return np.sum(out * out), (d_images, d_weights, np.sum(d_out, axis=(0, 1, 2)))


def trmm(alpha, A, B):
    low = np.tril(A, -1)
    out = B + low.T @ B
    # The cotangent of `out` is alpha everywhere.
    d_A = np.tril(np.outer(alpha * np.sum(B, axis=1), np.ones(len(B))), -1)
    d_B = np.repeat(alpha * (1.0 + np.sum(low, axis=1))[:, None], B.shape[1], axis=1)
    total = np.sum(out)
    return alpha * total, (total, d_A, d_B)


def atax(A, x):
    y = A @ x
    d_y = np.sum(A, axis=1)
    return y @ d_y, (np.outer(d_y, x) + y[:, None], d_y @ A)


def k2mm(alpha, beta, A, B, C, D):
    # The cotangent of the result is 1 everywhere: products with it are sums.
    rows = np.sum(C, axis=1)
    v = B @ rows
    u = np.sum(A, axis=0)
    product, rest = u @ v, np.sum(D)
    d_C = np.repeat((alpha * (u @ B))[:, None], C.shape[1], axis=1)
    d_A = np.tile(alpha * v, (len(A), 1))
    grads = (product, rest, d_A, alpha * np.outer(u, rows), d_C, np.full_like(D, beta))
    return alpha * product + beta * rest, grads


def cholesky(A):
    n = len(A)
    L = np.tril(A)
    for k in range(n):
        L[k:, k] -= L[k:, :k] @ L[k, :k]
        L[k, k] = np.sqrt(L[k, k])
        L[k + 1 :, k] /= L[k, k]
    d = np.tril(np.ones_like(A))
    d_A = np.ones_like(A)
    for k in range(n - 1, -1, -1):
        d[k + 1 :, k] /= L[k, k]
        d[k, k] -= d[k + 1 :, k] @ L[k + 1 :, k]
        d[k, k] /= 2.0 * L[k, k]
        t = d[k:, k]
        d[k:, :k] -= np.outer(t, L[k, :k])
        d[k, :k] -= t @ L[k:, :k]
        d_A[k:, k] = t
    return np.sum(L) + np.sum(np.triu(A, 1)), (d_A,)


def trisolv(L, b):
    n = len(b)
    x, d_b = np.empty_like(b), np.ones_like(b)
    for i in range(n):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    for i in range(n - 1, -1, -1):
        d_b[i] /= L[i, i]
        d_b[:i] -= d_b[i] * L[i, :i]
    return np.sum(x), (-np.tril(np.outer(d_b, x)), d_b)
