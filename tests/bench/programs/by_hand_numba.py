"""Values and gradients as a person writes them for Numba: loops, or NumPy where Numba has it."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

compiled = njit(error_model="numpy")


@compiled
def squares(x):
    return np.sum(x * x), (2.0 * x,)


@compiled
def arc_distance(theta_1, phi_1, theta_2, phi_2):
    d_theta_1, d_phi_1 = np.empty_like(theta_1), np.empty_like(theta_1)
    d_theta_2, d_phi_2 = np.empty_like(theta_1), np.empty_like(theta_1)
    total = 0.0
    for i in range(theta_1.shape[0]):
        a, b = (theta_2[i] - theta_1[i]) / 2, (phi_2[i] - phi_1[i]) / 2
        sin_a, sin_b = math.sin(a), math.sin(b)
        cos_1, cos_2 = math.cos(theta_1[i]), math.cos(theta_2[i])
        temp = sin_a * sin_a + cos_1 * cos_2 * sin_b * sin_b
        y, x = math.sqrt(temp), math.sqrt(1 - temp)
        total += 2 * math.atan2(y, x)
        d_temp = 1.0 / (x * y)
        d_a = d_temp * sin_a * math.cos(a)
        d_b = d_temp * cos_1 * cos_2 * sin_b * math.cos(b)
        d_both = d_temp * sin_b * sin_b
        d_phi_1[i], d_phi_2[i] = -d_b, d_b
        d_theta_1[i] = -d_both * cos_2 * math.sin(theta_1[i]) - d_a
        d_theta_2[i] = -d_both * cos_1 * math.sin(theta_2[i]) + d_a
    return total, (d_theta_1, d_phi_1, d_theta_2, d_phi_2)


@compiled
def go_fast(a):
    d_a = np.empty_like(a)
    trace = 0.0
    for i in range(a.shape[0]):
        trace += math.tanh(a[i, i])
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] + trace
            d_a[i, j] = 1.0
    for i in range(a.shape[0]):
        t = math.tanh(a[i, i])
        d_a[i, i] += a.size * (1.0 - t * t)
    return total, (d_a,)


@compiled
def softmax(x):
    d_x = np.empty_like(x)
    rows, d_rows = x.reshape(-1, x.shape[-1]), d_x.reshape(-1, x.shape[-1])
    total = 0.0
    for i in range(rows.shape[0]):
        row, d = rows[i], d_rows[i]
        top = row[0]
        for j in range(1, row.shape[0]):
            top = max(top, row[j])
        size = 0.0
        for j in range(row.shape[0]):
            d[j] = math.exp(row[j] - top)
            size += d[j]
        square = 0.0
        for j in range(row.shape[0]):
            d[j] /= size
            square += d[j] * d[j]
        for j in range(row.shape[0]):
            d[j] *= 2.0 * (d[j] - square)
        total += square
    return total, (d_x,)


@compiled
def jacobi_1d(steps, A, B):
    A, B = A.copy(), B.copy()
    n = A.shape[0]
    for _ in range(1, steps):
        for i in range(1, n - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, n - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])
    d_A, d_B = np.ones_like(A), np.zeros_like(B)
    for _ in range(1, steps):
        scatter_1d(d_A, d_B)
        scatter_1d(d_B, d_A)
    return np.sum(A), (d_A, d_B)


@compiled
def scatter_1d(source, to):
    """What a cell had goes in thirds to its neighbours and itself in the other grid."""
    for i in range(1, source.shape[0] - 1):
        t = 0.33333 * source[i]
        source[i] = 0.0
        to[i - 1] += t
        to[i] += t
        to[i + 1] += t


@compiled
def jacobi_2d(steps, A, B):
    A, B = A.copy(), B.copy()
    for _ in range(1, steps):
        gather_2d(A, B)
        gather_2d(B, A)
    d_A, d_B = np.ones_like(A), np.zeros_like(B)
    for _ in range(1, steps):
        scatter_2d(d_A, d_B)
        scatter_2d(d_B, d_A)
    return np.sum(A), (d_A, d_B)


@compiled
def gather_2d(source, to):
    """A cell is the mean of its neighbours and itself in the other grid."""
    for i in range(1, source.shape[0] - 1):
        for j in range(1, source.shape[1] - 1):
            to[i, j] = 0.2 * (
                source[i, j] + source[i, j - 1] + source[i, j + 1]
                + source[i + 1, j] + source[i - 1, j]
            )  # fmt: skip


@compiled
def scatter_2d(source, to):
    """The adjoint of the mean."""
    for i in range(1, source.shape[0] - 1):
        for j in range(1, source.shape[1] - 1):
            t = 0.2 * source[i, j]
            source[i, j] = 0.0
            to[i, j] += t
            to[i, j - 1] += t
            to[i, j + 1] += t
            to[i + 1, j] += t
            to[i - 1, j] += t


@compiled
def seidel_2d(steps, A):
    A = A.copy()
    n = A.shape[0]
    for _ in range(steps - 1):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (
                    A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1] + A[i, j - 1] + A[i, j]
                    + A[i, j + 1] + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                ) / 9.0  # fmt: skip
    d = np.ones_like(A)
    for _ in range(steps - 1):
        for i in range(n - 2, 0, -1):
            for j in range(n - 2, 0, -1):
                t = d[i, j] / 9.0
                d[i, j] = t
                d[i - 1, j - 1] += t
                d[i - 1, j] += t
                d[i - 1, j + 1] += t
                d[i, j - 1] += t
                d[i, j + 1] += t
                d[i + 1, j - 1] += t
                d[i + 1, j] += t
                d[i + 1, j + 1] += t
    return np.sum(A), (d,)


@compiled
def trmm(alpha, A, B):
    m, n = B.shape
    d_A, d_B = np.zeros_like(A), np.empty_like(B)
    total = 0.0
    for k in range(m):
        row = 0.0
        for j in range(n):
            row += B[k, j]
        weight = 1.0
        for i in range(k):
            weight += A[k, i]
            d_A[k, i] = alpha * row
        for j in range(n):
            d_B[k, j] = alpha * weight
        total += weight * row
    return alpha * total, (total, d_A, d_B)


@compiled
def atax(A, x):
    y = A @ x
    d_A, d_y, d_x = np.empty_like(A), np.empty_like(y), np.zeros_like(x)
    for i in range(A.shape[0]):
        d_y[i] = np.sum(A[i])
        for j in range(A.shape[1]):
            d_A[i, j] = d_y[i] * x[j] + y[i]
            d_x[j] += d_y[i] * A[i, j]
    return y @ d_y, (d_A, d_x)


@compiled
def cholesky(A):
    n = A.shape[0]
    L, d, d_A = A.copy(), np.ones_like(A), np.ones_like(A)
    for i in range(n):
        for j in range(i + 1):
            t = L[i, j]
            for k in range(j):
                t -= L[i, k] * L[j, k]
            L[i, j] = math.sqrt(t) if i == j else t / L[j, j]
    for i in range(n - 1, -1, -1):
        for j in range(i, -1, -1):
            if i == j:
                t = d[i, i] / (2.0 * L[i, i])
            else:
                t = d[i, j] / L[j, j]
                d[j, j] -= t * L[i, j]
            d_A[i, j] = t
            for k in range(j):
                d[i, k] -= t * L[j, k]
                d[j, k] -= t * L[i, k]
    return np.sum(L), (d_A,)


@compiled
def lu(A):
    n = A.shape[0]
    F, d, d_A = A.copy(), np.ones_like(A), np.empty_like(A)
    for i in range(n):
        for j in range(n):
            t = F[i, j]
            for k in range(min(i, j)):
                t -= F[i, k] * F[k, j]
            F[i, j] = t / F[j, j] if j < i else t
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, -1, -1):
            t = d[i, j]
            if j < i:
                t /= F[j, j]
                d[j, j] -= t * F[i, j]
            d_A[i, j] = t
            for k in range(min(i, j)):
                d[i, k] -= t * F[k, j]
                d[k, j] -= t * F[i, k]
    return np.sum(F), (d_A,)


@compiled
def trisolv(L, b):
    n = b.shape[0]
    x, d_b, d_L = np.empty_like(b), np.ones_like(b), np.zeros_like(L)
    for i in range(n):
        t = b[i]
        for k in range(i):
            t -= L[i, k] * x[k]
        x[i] = t / L[i, i]
    for i in range(n - 1, -1, -1):
        d_b[i] /= L[i, i]
        for k in range(i):
            d_b[k] -= d_b[i] * L[i, k]
        for k in range(i + 1):
            d_L[i, k] = -d_b[i] * x[k]
    return np.sum(x), (d_L, d_b)
