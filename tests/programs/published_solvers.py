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


sample(householder_qr, lambda r: (r.standard_normal((4, 3)),))


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
)


def truss(nodes, bars, E, A, P, fixed):
    count = 2 * len(nodes)
    d = nodes[bars[:, 1], :] - nodes[bars[:, 0], :]
    L = np.sqrt((d**2).sum(axis=1))
    angle = d.T / L
    a = np.concatenate((-angle.T, angle.T), axis=1)
    K = np.zeros([count, count])
    for k in range(len(bars)):
        aux = 2 * bars[k, :]
        index = np.r_[aux[0] : aux[0] + 2, aux[1] : aux[1] + 2]
        ES = np.dot(a[k][np.newaxis].T * E * A[k], a[k][np.newaxis]) / L[k]
        K[np.ix_(index, index)] = K[np.ix_(index, index)] + ES
    free = [i for i in range(count) if i not in fixed]
    U = np.zeros(count)
    U[free] = np.linalg.solve(K[np.ix_(free, free)], P.flatten()[free])
    U = U.reshape(len(nodes), 2)
    u = U[bars[:, 1], :] - U[bars[:, 0], :]
    return E * A[:] / L[:] * (angle.T * u).sum(axis=1), U


_nodes = np.array([[0.0, 0.0], [1.0, 0.1], [0.2, 1.0], [1.1, 1.2]])
_bars = np.array([[0, 1], [0, 2], [1, 2], [1, 3], [2, 3], [0, 3]])
sample(
    truss,
    lambda r: (_nodes, _bars, 2.0, 1 + r.random(6), r.standard_normal((4, 2)), (0, 1, 3)),
    ("nodes", "E", "A", "P"),
)


def stiffness_of_triangles(points, cells, f):
    n = len(points)
    rows, cols, vals = [], [], []
    F = np.zeros(n)
    for tri in cells:
        P = points[tri]
        B = np.c_[np.ones(3), P]
        area = 0.5 * abs(np.linalg.det(B))
        G = np.linalg.inv(B)[1:, :]
        Ke = area * G.T @ G
        for a in range(3):
            for b in range(3):
                rows.append(tri[a])
                cols.append(tri[b])
                vals.append(Ke[a, b])
            F[tri[a]] += f(P.mean(axis=0)) * area / 3
    K = np.zeros((n, n))
    np.add.at(K, (rows, cols), vals)
    return K, F


_points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.4, 0.6]])
_cells = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])
sample(
    stiffness_of_triangles,
    lambda r: (_points, _cells, lambda p: np.sin(p[0]) * p[1]),
    "points",
)


def columns_and_rows_joined(P, y):
    column = np.c_[P[:, 0], 0:3]
    row = np.r_[P[0], 0.0:1.0:0.5, [P[1, 1], y], y, 3.0]
    last = np.r_[0:2, 3]
    return column * column, row[last] * row[0], np.c_[P[0], P[1]], np.c_[P[..., None], P[..., None]]


sample(columns_and_rows_joined, lambda r: (r.standard_normal((3, 2)), 0.7), ("P", "y"))
