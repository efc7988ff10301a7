"""Linear algebra kernels by loops, as in benchmark collections."""

import numpy as np

from .registry import sample


def _positive(r, n):
    A = r.standard_normal((n, n))
    return A @ A.T + n * np.eye(n)


def cholesky_kernel(A):
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])


sample(cholesky_kernel, lambda r: (_positive(r, 4),), "A", outputs="A")


def lu(A):
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]


sample(lu, lambda r: (_positive(r, 4),), "A", outputs="A")


def ludcmp(A, b):
    x = np.zeros_like(b)
    y = np.zeros_like(b)

    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]
    for i in range(A.shape[0]):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(A.shape[0] - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]

    return x, y


sample(ludcmp, lambda r: (_positive(r, 4), r.standard_normal(4)), ("A", "b"))


def gramschmidt(A):
    Q = np.zeros_like(A)
    R = np.zeros((A.shape[1], A.shape[1]), dtype=A.dtype)

    for k in range(A.shape[1]):
        nrm = np.dot(A[:, k], A[:, k])
        R[k, k] = np.sqrt(nrm)
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]

    return Q, R


sample(gramschmidt, lambda r: (r.standard_normal((4, 3)),), "A")


def trisolv(L, x, b):
    for i in range(x.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]


sample(
    trisolv,
    lambda r: (_positive(r, 4), r.standard_normal(4), r.standard_normal(4)),
    ("L", "b"),
    outputs="x",
)


def durbin(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]

    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha

    return y


sample(durbin, lambda r: (0.3 * r.standard_normal(5),))


def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x


sample(
    gemver,
    lambda r: (1.5, 1.2, r.standard_normal((3, 3)), *(r.standard_normal(3) for _ in range(8))),
    ("alpha", "beta", "A", "u1", "v1", "y", "z", "x", "w"),
    outputs=("w", "A"),
)


def atax(A, x):
    return (A @ x) @ A


sample(atax, lambda r: (r.standard_normal((3, 4)), r.standard_normal(4)), ("A", "x"))


def bicg(A, p, r):
    return r @ A, A @ p


sample(
    bicg,
    lambda r: (r.standard_normal((4, 3)), r.standard_normal(3), r.standard_normal(4)),
    ("A", "p", "r"),
)


def gesummv(alpha, beta, A, B, x):
    return alpha * A @ x + beta * B @ x


sample(
    gesummv,
    lambda r: (
        1.5,
        1.2,
        r.standard_normal((3, 3)),
        r.standard_normal((3, 3)),
        r.standard_normal(3),
    ),
    ("alpha", "beta", "A", "B", "x"),
)


def syrk(alpha, beta, C, A):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]


sample(
    syrk,
    lambda r: (1.5, 1.2, r.standard_normal((3, 3)), r.standard_normal((3, 2))),
    ("alpha", "beta", "C", "A"),
    outputs="C",
)


def syr2k(alpha, beta, C, A, B):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += A[: i + 1, k] * alpha * B[i, k] + B[: i + 1, k] * alpha * A[i, k]


sample(
    syr2k,
    lambda r: (
        1.5,
        1.2,
        r.standard_normal((3, 3)),
        r.standard_normal((3, 2)),
        r.standard_normal((3, 2)),
    ),
    ("alpha", "beta", "C", "A", "B"),
    outputs="C",
)


def symm(alpha, beta, C, A, B):
    temp2 = np.empty((C.shape[1],), dtype=C.dtype)
    C *= beta
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[:i, j] += alpha * B[i, j] * A[i, :i]
            temp2[j] = B[:i, j] @ A[i, :i]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * temp2


sample(
    symm,
    lambda r: (
        1.5,
        1.2,
        r.standard_normal((3, 2)),
        r.standard_normal((3, 3)),
        r.standard_normal((3, 2)),
    ),
    ("alpha", "beta", "C", "A", "B"),
    outputs="C",
)


def trmm(alpha, A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha


sample(
    trmm,
    lambda r: (1.5, r.standard_normal((3, 3)), r.standard_normal((3, 2))),
    ("alpha", "A", "B"),
    outputs="B",
)


def doitgen(NR, NQ, NP, A, C4):
    for r in range(NR):
        for q in range(NQ):
            tmp = A[r, q, :] @ C4
            A[r, q, :] = tmp


def doitgen_reshaped(NR, NQ, NP, A, C4):
    A[:] = np.reshape(np.reshape(A, (NR, NQ, 1, NP)) @ C4, (NR, NQ, NP))


for _kernel in (doitgen, doitgen_reshaped):
    sample(
        _kernel,
        lambda r: (2, 2, 3, r.standard_normal((2, 2, 3)), r.standard_normal((3, 3))),
        ("A", "C4"),
        outputs="A",
    )


def covariance(float_n, data):
    mean = np.mean(data, axis=0)
    data -= mean
    M = data.shape[1]
    cov = np.zeros((M, M), dtype=data.dtype)
    for i in range(M):
        cov[i:M, i] = data[:, i] @ data[:, i:M] / (float_n - 1.0)
        cov[i, i:M] = cov[i:M, i]
    return cov


sample(covariance, lambda r: (5.0, r.standard_normal((5, 3))), "data")


def correlation(float_n, data):
    mean = np.mean(data, axis=0)
    stddev = np.std(data, axis=0)
    stddev[stddev <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(float_n) * stddev
    M = data.shape[1]
    corr = np.eye(M, dtype=data.dtype)
    for i in range(M - 1):
        corr[i + 1 : M, i] = corr[i, i + 1 : M] = data[:, i] @ data[:, i + 1 : M]
    return corr


sample(correlation, lambda r: (5.0, r.standard_normal((5, 3))), "data")


def soft_floyd_warshall(path, temperature):
    """Shortest paths, with a soft minimum."""
    n = path.shape[0]
    for k in range(n):
        through = np.add.outer(path[:, k], path[k, :])
        path[:] = -temperature * np.logaddexp(-path / temperature, -through / temperature)
    return path


def floyd_warshall(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


sample(soft_floyd_warshall, lambda r: (1 + r.random((4, 4)), 0.5), ("path", "temperature"))
sample(floyd_warshall, lambda r: (1 + 3 * r.random((4, 4)),), "path", outputs="path")


def k3mm(A, B, C, D):
    return A @ B @ C @ D


sample(
    k3mm,
    lambda r: tuple(r.standard_normal((3, 3)) for _ in range(4)),
    ("A", "B", "C", "D"),
)
