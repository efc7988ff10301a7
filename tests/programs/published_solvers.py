"""Solvers of linear systems, by loops."""

import numpy as np

from .registry import sample


def _positive(r, n):
    A = r.standard_normal((n, n))
    return A @ A.T + n * np.eye(n)


def spmv(A_row, A_col, A_val, x):
    y = np.empty(A_row.size - 1, A_val.dtype)
    for i in range(A_row.size - 1):
        cols = A_col[A_row[i] : A_row[i + 1]]
        vals = A_val[A_row[i] : A_row[i + 1]]
        y[i] = vals @ x[cols]
    return y


sample(
    spmv,
    lambda r: (
        np.array([0, 2, 3, 3, 6]),
        np.array([0, 2, 1, 0, 1, 2]),
        r.standard_normal(6),
        r.standard_normal(3),
    ),
    ("A_val", "x"),
)


def csr_matvec(data, indices, indptr, x):
    y = np.zeros(len(indptr) - 1)
    for row in range(len(y)):
        for k in range(indptr[row], indptr[row + 1]):
            y[row] += data[k] * x[indices[k]]
    return y


sample(
    csr_matvec,
    lambda r: (
        r.standard_normal(6),
        np.array([0, 2, 1, 0, 1, 2]),
        np.array([0, 2, 3, 3, 6]),
        r.standard_normal(3),
    ),
    ("data", "x"),
)


def conjugate_gradient(A, b, x0, iterations=3):
    x = x0.copy()
    r = b - A @ x
    p = r
    rs = r @ r
    for _ in range(iterations):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        rs_new = r @ r
        if np.sqrt(rs_new) < 1e-10:
            break
        p = r + (rs_new / rs) * p
        rs = rs_new
    return x


sample(
    conjugate_gradient,
    lambda r: (_positive(r, 4), r.standard_normal(4), np.zeros(4)),
    ("A", "b"),
    tolerance=1e-5,
)


def thomas(a, b, c, d):
    n = len(d)
    cp, dp, x = np.zeros(n), np.zeros(n), np.zeros(n)
    cp[0], dp[0] = c[0] / b[0], d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


sample(
    thomas,
    lambda r: (r.random(5), 3 + r.random(5), r.random(5), r.standard_normal(5)),
    ("a", "b", "c", "d"),
)


def gauss_elimination(A, b):
    """With partial pivoting, on copies."""
    A, b = A.astype(float), b.astype(float)
    n = len(b)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            b[[k, p]] = b[[p, k]]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            A[i, k:] -= factor * A[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros(n)
    for i in reversed(range(n)):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


sample(gauss_elimination, lambda r: (r.standard_normal((4, 4)), r.standard_normal(4)), ("A", "b"))


def householder_qr(A):
    m, n = A.shape
    R = A.copy()
    Q = np.eye(m)
    for j in range(n):
        normx = np.linalg.norm(R[j:, j])
        s = -np.sign(R[j, j])
        u1 = R[j, j] - s * normx
        w = R[j:, j].reshape((-1, 1)) / u1
        w[0] = 1
        tau = -s * u1 / normx
        R[j:, :] = R[j:, :] - (tau * w) @ (w.T @ R[j:, :])
        Q[:, j:] = Q[:, j:] - (Q[:, j:] @ w) @ (tau * w).T
    return Q, R


sample(householder_qr, lambda r: (r.standard_normal((4, 3)),), tolerance=1e-5)


def pca_power(X, k=2, iterations=20):
    """Components one after the other, by deflation."""
    X = X - X.mean(axis=0)
    C = X.T @ X / (len(X) - 1)
    components = []
    for c in range(k):
        v = np.ones(C.shape[0]) / np.sqrt(C.shape[0])
        for _ in range(iterations):
            v = C @ v
            v /= np.linalg.norm(v)
        lam = v @ C @ v
        components.append(np.sqrt(lam) * v)
        C = C - lam * np.outer(v, v)
    return np.array(components)


sample(
    pca_power,
    lambda r: (r.standard_normal((6, 3)) * np.array([3.0, 1.0, 0.2]),),
    tolerance=1e-5,
)
