"""Kernels that write into their arguments and return nothing."""

import numpy as np

from .registry import sample


def saxpy(n, a, x, y):
    for i in range(n):
        y[i] = a * x[i] + y[i]


sample(
    saxpy,
    lambda r: (4, 1.7, r.standard_normal(4), r.standard_normal(4)),
    ("a", "x", "y"),
    outputs="y",
)


def jacobi_1d(steps, A, B):
    for _ in range(steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


sample(jacobi_1d, lambda r: (3, r.standard_normal(6), r.standard_normal(6)), "A", outputs="B")
sample(
    jacobi_1d,
    lambda r: (3, r.standard_normal(6), r.standard_normal(6)),
    ("A", "B"),
    outputs=("A", "B"),
)


def seidel_2d(steps, A):
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (
                    A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1] + A[i, j] ** 2
                ) / 5.0


sample(seidel_2d, lambda r: (2, r.standard_normal((4, 4))), "A", outputs="A")


def gemm(alpha, beta, C, A, B):
    C *= beta
    C += alpha * A @ B


sample(
    gemm,
    lambda r: (
        1.5,
        0.7,
        r.standard_normal((2, 2)),
        r.standard_normal((2, 3)),
        r.standard_normal((3, 2)),
    ),
    ("alpha", "beta", "C", "A", "B"),
    outputs="C",
)


def normalise_rows(A, lengths):
    for i in range(A.shape[0]):
        lengths[i] = np.sqrt(np.sum(A[i] * A[i]))
        A[i] /= lengths[i]


sample(
    normalise_rows,
    lambda r: (r.standard_normal((3, 2)), np.zeros(3)),
    "A",
    outputs=("A", "lengths"),
)


def value_and_state(x, state):
    state[0] = state[0] * x
    state[1] += state[0]
    return state[1] * x


sample(value_and_state, lambda r: (0.8, r.standard_normal(2)), ("x", "state"))
sample(value_and_state, lambda r: (0.8, r.standard_normal(2)), ("x", "state"), outputs="state")


def relax(u, f, h, sweeps):
    """Red-black Gauss-Seidel."""
    for _ in range(sweeps):
        for start in (1, 2):
            around = u[start - 1 : -2 : 2] + u[start + 1 :: 2]
            u[start:-1:2] = 0.5 * (around + h * h * f[start:-1:2])


sample(
    relax,
    lambda r: (r.standard_normal(8), r.standard_normal(8), 0.5, 2),
    ("u", "f", "h"),
    outputs="u",
)


def bubble_pass(x):
    for i in range(len(x) - 1):
        if x[i] > x[i + 1]:
            x[i], x[i + 1] = x[i + 1], x[i]


sample(bubble_pass, lambda r: (np.array([3.0, 1.0, 2.5, -1.0]),), outputs="x")
