"""Factorisations and solvers written as loops."""

import numpy as np
import scipy.linalg

from .registry import sample


def spd(r, n):
    a = r.standard_normal((n, n))
    return a @ a.T + n * np.eye(n)


def forward_substitution(L, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return x


sample(
    forward_substitution,
    lambda r: (np.tril(r.standard_normal((4, 4))) + 3 * np.eye(4), r.standard_normal(4)),
    (0, 1),
)


def back_substitution(U, b):
    n = b.shape[0]
    x = b.copy()
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            x[i] -= U[i, j] * x[j]
        x[i] /= U[i, i]
    return x


sample(
    back_substitution,
    lambda r: (np.triu(r.standard_normal((4, 4))) + 3 * np.eye(4), r.standard_normal(4)),
    (0, 1),
)


def lu_determinant(A):
    A = A.copy()
    n = A.shape[0]
    det = 1.0
    for k in range(n):
        for i in range(k + 1, n):
            A[i, k] = A[i, k] / A[k, k]
            A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
        det *= A[k, k]
    return det


sample(lu_determinant, lambda r: (r.standard_normal((4, 4)) + 3 * np.eye(4),))


def gaussian_elimination(A, b):
    A = A.copy()
    b = b.copy()
    n = len(b)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(A[k:, k]))
        A[[k, p]] = A[[p, k]]
        b[[k, p]] = b[[p, k]]
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            A[i] -= f * A[k]
            b[i] -= f * b[k]
    x = np.zeros_like(b)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - np.dot(A[i, i + 1 :], x[i + 1 :])) / A[i, i]
    return x


sample(gaussian_elimination, lambda r: (r.standard_normal((4, 4)), r.standard_normal(4)), (0, 1))


def gram_schmidt(A):
    Q = np.zeros_like(A)
    for j in range(A.shape[1]):
        v = A[:, j].copy()
        for i in range(j):
            v -= (Q[:, i] @ A[:, j]) * Q[:, i]
        Q[:, j] = v / np.sqrt(v @ v)
    return Q


sample(gram_schmidt, lambda r: (r.standard_normal((4, 3)),))


def conjugate_gradients(A, b):
    x = np.zeros_like(b)
    r = b - A @ x
    p = r
    rr = r @ r
    for _ in range(3):
        Ap = A @ p
        alpha = rr / (p @ Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        new = r @ r
        p = r + (new / rr) * p
        rr = new
    return x


sample(conjugate_gradients, lambda r: (spd(r, 5), r.standard_normal(5)), (0, 1))


def tridiagonal(a, b, c, d):
    """Thomas algorithm."""
    n = len(d)
    cp = np.empty(n)
    dp = np.empty(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.empty(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


sample(
    tridiagonal,
    lambda r: (
        r.standard_normal(5),
        r.uniform(3.0, 4.0, 5),
        r.standard_normal(5),
        r.standard_normal(5),
    ),
    (0, 1, 2, 3),
)


def matrix_power(A, n):
    P = np.eye(A.shape[0])
    while n > 0:
        if n % 2 == 1:
            P = P @ A
        A = A @ A
        n //= 2
    return P


sample(matrix_power, lambda r: (r.standard_normal((3, 3)) * 0.6, 5))


def triple_loop_product(A, B):
    n, m = A.shape
    p = B.shape[1]
    C = np.zeros((n, p))
    for i in range(n):
        for j in range(p):
            for k in range(m):
                C[i, j] += A[i, k] * B[k, j]
    return C


sample(
    triple_loop_product, lambda r: (r.standard_normal((2, 3)), r.standard_normal((3, 2))), (0, 1)
)


def givens(a, b):
    r = np.sqrt(a * a + b * b)
    c, s = a / r, b / r
    G = np.array([[c, s], [-s, c]])
    return G @ np.array([a, b * b])


sample(givens, lambda r: (0.7, -1.1), (0, 1))


def eigenpairs_of_a_triangle(x, triangle):
    return np.linalg.eigh(x @ x.T + np.diag([1.0, 3.0, 9.0]), triangle)


sample(eigenpairs_of_a_triangle, lambda r: (r.standard_normal((3, 3)), "U"))


# Complex arrays from outside, which rules transpose.
IMPEDANCES = np.array([[2.0 + 1.0j, 0.3j, 0.5], [0.1, 1.5 - 0.4j, 0.2j], [0.7j, -0.3, 2.5 + 0.2j]])
LOADS = np.array([1.0 - 0.5j, 0.2j, 0.8])


def currents_of_a_network(v):
    first = np.linalg.solve(IMPEDANCES, v * LOADS)
    return np.abs(first + np.dot(IMPEDANCES, v) * np.exp(1j * v)) ** 2


def rotated_by_a_matrix_outside(v, w):
    z = IMPEDANCES @ (v + 1j * w)
    return np.real(z @ IMPEDANCES) + np.imag(np.matmul(z, IMPEDANCES.T)), LOADS * z


def power_with_loads(v, loads=LOADS):
    def current(z):
        return np.linalg.multi_dot([IMPEDANCES, z[:, None] * IMPEDANCES, loads])

    return np.sum(np.abs(current(v + 1j * v * v)) ** 2)


sample(currents_of_a_network, lambda r: (r.standard_normal(3),))
sample(rotated_by_a_matrix_outside, lambda r: (r.standard_normal(3), r.standard_normal(3)), (0, 1))
sample(power_with_loads, lambda r: (r.standard_normal(3),))


BY_NAME = {"series": np.eye(3) + 0.5, "shunt": IMPEDANCES}


def complex_in_a_dict_outside(v):
    for factor in BY_NAME.values():
        v = np.linalg.solve(factor, v)
    return np.abs(v) ** 2


sample(complex_in_a_dict_outside, lambda r: (r.standard_normal(3),))


def values_that_are_scaled_in_place(a):
    s = np.linalg.svd(a, compute_uv=False)
    s *= 2.0
    w = np.linalg.eigvalsh(a @ a.T)
    w += s
    return np.sum(w * s)


sample(values_that_are_scaled_in_place, lambda r: (r.standard_normal((3, 3)) + 2.0 * np.eye(3),))


def equation_that_a_number_does_not_solve(a, q, method="doubling"):
    """A number has no axes: the branch that is not taken would fail."""
    if method == "direct":
        return scipy.linalg.solve_discrete_lyapunov(a, q)
    x = q
    for _ in range(3):
        x, a = x + a * x * a, a * a
    return x


sample(equation_that_a_number_does_not_solve, lambda r: (0.4, 0.7), ("a", "q"))
