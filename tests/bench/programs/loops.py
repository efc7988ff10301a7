"""The programs as people write them with NumPy, with arguments of three sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SIZES = ("small", "medium", "large")


@dataclass(frozen=True)
class Program:
    """A loss, what it is differentiated by, and what makes its arguments, by the names of sizes."""

    function: Callable[..., Any]
    inputs: tuple[int, ...]
    data: Callable[..., tuple[Any, ...]]
    sizes: tuple[tuple[int, ...], ...]

    @property
    def name(self) -> str:
        return self.function.__name__

    def arguments(self, size: str) -> tuple[Any, ...]:
        """The same arguments each time."""
        return self.data(np.random.default_rng(1), *self.sizes[SIZES.index(size)])


PROGRAMS: dict[str, Program] = {}


def program(inputs: tuple[int, ...], data: Callable[..., Any], *sizes: tuple[int, ...]) -> Any:
    """Register a loss with what makes its arguments from generators and sizes."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = Program(function, inputs, data, sizes)
        return function

    return register


def positive(r: np.random.Generator, n: int) -> np.ndarray:
    """A positive definite matrix."""
    a = r.standard_normal((n, n))
    return a @ a.T / n + 2.0 * np.eye(n)


def squares(x):
    return np.sum(x * x)


SQUARES = Program(squares, (0,), lambda r: (r.random(3),), ((),) * len(SIZES))
"""What is not measured: libraries load what they need at its first run."""

# --- elementwise functions and reductions ---------------------------------------------------------


@program(
    (0, 1, 2, 3), lambda r, n: tuple(0.8 * r.random((4, n))), (1_000,), (100_000,), (1_000_000,)
)
def arc_distance(theta_1, phi_1, theta_2, phi_2):
    temp = (
        np.sin((theta_2 - theta_1) / 2) ** 2
        + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2) ** 2
    )
    distance = 2 * np.arctan2(np.sqrt(temp), np.sqrt(1 - temp))
    return np.sum(distance)


@program((0,), lambda r, n: (r.standard_normal((n, n)),), (50,), (400,), (2000,))
def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return np.sum(a + trace)


@program(
    (0,), lambda r, n, h, s: (r.standard_normal((n, h, s, s)),),
    (2, 4, 16), (8, 8, 64), (16, 16, 128),
)  # fmt: skip
def softmax(x):
    tmp_max = np.max(x, axis=-1, keepdims=True)
    tmp_out = np.exp(x - tmp_max)
    tmp_sum = np.sum(tmp_out, axis=-1, keepdims=True)
    out = tmp_out / tmp_sum
    return np.sum(out * out)


def mlp_data(r, n, c, s0, s1, s2):
    """Samples, weights and biases of three layers."""
    widths = (c, s0, s1, s2)
    layers = [
        (r.standard_normal((a, b)) / np.sqrt(a), 0.1 * r.standard_normal(b))
        for a, b in zip(widths, widths[1:])
    ]
    return (r.standard_normal((n, c)), *(p for layer in layers for p in layer))


@program(
    (1, 2, 3, 4, 5, 6), mlp_data,
    (8, 3, 30, 20, 20), (32, 64, 256, 128, 64), (128, 256, 1024, 512, 256),
)  # fmt: skip
def mlp(x, w1, b1, w2, b2, w3, b3):
    x = np.maximum(x @ w1 + b1, 0)
    x = np.maximum(x @ w2 + b2, 0)
    x = x @ w3 + b3
    x = np.exp(x - np.max(x, axis=-1, keepdims=True))
    x = x / np.sum(x, axis=-1, keepdims=True)
    return np.sum(x * x)


def gmm_data(r, n, d, k):
    """Weights, means, the packed inverse factors of covariances, points."""
    icf = 0.3 * r.standard_normal((k, d + d * (d - 1) // 2))
    return r.standard_normal(k), r.standard_normal((k, d)), icf, r.standard_normal((n, d)), 1.0, 0


@program((0, 1, 2), gmm_data, (50, 3, 4), (1000, 8, 8), (5000, 10, 25))
def gmm(alphas, means, icf, x, gamma, m):
    n, d = x.shape
    k = alphas.shape[0]
    terms = np.empty((n, k))
    prior = 0.0
    for c in range(k):
        low = np.zeros((d, d))
        start = d
        for j in range(d):
            low[j, j] = np.exp(icf[c, j])
            low[j + 1 :, j] = icf[c, start : start + d - 1 - j]
            start += d - 1 - j
        z = (x - means[c]) @ low.T
        size = np.sum(icf[c, :d])
        terms[:, c] = alphas[c] + size - 0.5 * np.sum(z * z, axis=1)
        prior += 0.5 * gamma * gamma * np.sum(low * low) - m * size
    top = np.max(terms, axis=1)
    likelihood = np.sum(np.log(np.sum(np.exp(terms - top[:, np.newaxis]), axis=1)) + top)
    highest = np.max(alphas)
    return likelihood - n * (np.log(np.sum(np.exp(alphas - highest))) + highest) + prior


def nbody_data(r, n, steps):
    """Masses, positions, velocities, and the number of steps."""
    return np.full(n, 20.0 / n), r.standard_normal((n, 3)), r.standard_normal((n, 3)), steps


@program((1, 2), nbody_data, (10, 3), (30, 20), (100, 40))
def nbody(mass, position, velocity, steps):
    position, velocity = position.copy(), velocity.copy()
    for _ in range(steps):
        x, y, z = position[:, 0], position[:, 1], position[:, 2]
        dx = x - x[:, np.newaxis]
        dy = y - y[:, np.newaxis]
        dz = z - z[:, np.newaxis]
        inverse = (dx**2 + dy**2 + dz**2 + 0.01) ** (-1.5)
        acceleration = np.empty_like(position)
        acceleration[:, 0] = (dx * inverse) @ mass
        acceleration[:, 1] = (dy * inverse) @ mass
        acceleration[:, 2] = (dz * inverse) @ mass
        velocity += 0.01 * acceleration
        position += 0.01 * velocity
    return 0.5 * np.sum(mass * np.sum(velocity**2, axis=1))


# --- stencils -------------------------------------------------------------------------------------


@program(
    (0, 1), lambda r, i, j, k: (r.random((i + 4, j + 4, k)), r.random((i, j, k))),
    (8, 8, 8), (48, 48, 32), (128, 128, 64),
)  # fmt: skip
def hdiff(in_field, coeff):
    I, J = coeff.shape[0], coeff.shape[1]  # noqa: E741
    lap_field = 4.0 * in_field[1 : I + 3, 1 : J + 3, :] - (
        in_field[2 : I + 4, 1 : J + 3, :]
        + in_field[0 : I + 2, 1 : J + 3, :]
        + in_field[1 : I + 3, 2 : J + 4, :]
        + in_field[1 : I + 3, 0 : J + 2, :]
    )
    res = lap_field[1:, 1 : J + 1, :] - lap_field[:-1, 1 : J + 1, :]
    flx_field = np.where(
        res * (in_field[2 : I + 3, 2 : J + 2, :] - in_field[1 : I + 2, 2 : J + 2, :]) > 0, 0.0, res
    )
    res = lap_field[1 : I + 1, 1:, :] - lap_field[1 : I + 1, :-1, :]
    fly_field = np.where(
        res * (in_field[2 : I + 2, 2 : J + 3, :] - in_field[2 : I + 2, 1 : J + 2, :]) > 0, 0.0, res
    )
    out_field = in_field[2 : I + 2, 2 : J + 2, :] - coeff * (
        flx_field[1:, :, :] - flx_field[:-1, :, :] + fly_field[:, 1:, :] - fly_field[:, :-1, :]
    )
    return np.sum(out_field)


def vadv_data(r, i, j, k):
    """The fields of a column solver."""
    shapes = ((i, j, k), (i, j, k), (i + 1, j, k), (i, j, k), (i, j, k))
    return (*(r.random(s) for s in shapes), 3.0 / 20.0 + 2.0)


@program((0, 1, 2, 3, 4), vadv_data, (6, 6, 8), (32, 32, 40), (96, 96, 80))
def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    I, J, K = utens_stage.shape  # noqa: E741
    ccol = np.empty((I, J, K))
    dcol = np.empty((I, J, K))
    for k in range(K):
        bcol = np.full((I, J), dtr_stage)
        correction = np.zeros((I, J))
        if k > 0:
            gav = -0.25 * (wcon[1:, :, k] + wcon[:-1, :, k])
            acol = gav * 0.5
            bcol -= acol
            correction -= acol * (u_stage[:, :, k - 1] - u_stage[:, :, k])
        if k < K - 1:
            gcv = 0.25 * (wcon[1:, :, k + 1] + wcon[:-1, :, k + 1])
            ccol[:, :, k] = gcv * 0.5
            bcol -= ccol[:, :, k]
            correction -= ccol[:, :, k] * (u_stage[:, :, k + 1] - u_stage[:, :, k])
        dcol[:, :, k] = (
            dtr_stage * u_pos[:, :, k] + utens[:, :, k] + utens_stage[:, :, k] + correction
        )
        if k > 0:
            bcol -= ccol[:, :, k - 1] * acol
            dcol[:, :, k] -= dcol[:, :, k - 1] * acol
        if k < K - 1:
            ccol[:, :, k] /= bcol
        dcol[:, :, k] /= bcol
    out = np.empty((I, J, K))
    data_col = dcol[:, :, K - 1].copy()
    out[:, :, K - 1] = dtr_stage * (data_col - u_pos[:, :, K - 1])
    for k in range(K - 2, -1, -1):
        data_col = dcol[:, :, k] - ccol[:, :, k] * data_col
        out[:, :, k] = dtr_stage * (data_col - u_pos[:, :, k])
    return np.sum(out)


@program((1, 2), lambda r, t, n: (t, *r.standard_normal((2, n))), (5, 30), (50, 1000), (200, 4000))
def jacobi_1d(steps, A, B):
    A, B = A.copy(), B.copy()
    for _ in range(1, steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])
    return np.sum(A)


@program(
    (1, 2), lambda r, t, n: (t, *r.standard_normal((2, n, n))), (4, 12), (20, 80), (50, 250)
)
def jacobi_2d(steps, A, B):
    A, B = A.copy(), B.copy()
    for _ in range(1, steps):
        B[1:-1, 1:-1] = 0.2 * (
            A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1]
        )
        A[1:-1, 1:-1] = 0.2 * (
            B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1]
        )
    return np.sum(A)


@program(
    (1, 2), lambda r, t, n: (t, *r.standard_normal((2, n, n, n))), (3, 6), (10, 20), (20, 50)
)
def heat_3d(steps, A, B):
    A, B = A.copy(), B.copy()
    for _ in range(1, steps):
        B[1:-1, 1:-1, 1:-1] = (
            0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, :-2])
            + A[1:-1, 1:-1, 1:-1]
        )
        A[1:-1, 1:-1, 1:-1] = (
            0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[:-2, 1:-1, 1:-1])
            + 0.125 * (B[1:-1, 2:, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, :-2, 1:-1])
            + 0.125 * (B[1:-1, 1:-1, 2:] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, 1:-1, :-2])
            + B[1:-1, 1:-1, 1:-1]
        )
    return np.sum(A)


@program((1,), lambda r, t, n: (t, r.standard_normal((n, n))), (2, 8), (4, 30), (8, 80))
def seidel_2d(steps, A):
    A = A.copy()
    N = A.shape[0]
    for _ in range(steps - 1):
        for i in range(1, N - 1):
            A[i, 1:-1] += (
                A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:] + A[i, 2:]
                + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:]
            )  # fmt: skip
            for j in range(1, N - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0
    return np.sum(A)


def conv_data(r, n, c_in, c_out, k, h):
    """Images, weights and biases."""
    shapes = ((n, h, h, c_in), (k, k, c_in, c_out), (c_out,))
    return tuple(r.standard_normal(s) for s in shapes)


@program((0, 1, 2), conv_data, (2, 2, 3, 3, 8), (4, 3, 8, 5, 24), (8, 3, 16, 5, 48))
def conv2d_bias(images, weights, bias):
    K = weights.shape[0]
    N, H_out, W_out = images.shape[0], images.shape[1] - K + 1, images.shape[2] - K + 1
    output = np.empty((N, H_out, W_out, weights.shape[3]))
    for i in range(H_out):
        for j in range(W_out):
            output[:, i, j, :] = np.sum(
                images[:, i : i + K, j : j + K, :, np.newaxis] * weights[np.newaxis, :, :, :, :],
                axis=(1, 2, 3),
            )
    return np.sum((output + bias) ** 2)


# --- linear algebra -------------------------------------------------------------------------------


@program(
    (0, 1, 2), lambda r, m, n: (1.5, r.standard_normal((m, m)), r.standard_normal((m, n))),
    (8, 6), (40, 30), (100, 80),
)  # fmt: skip
def trmm(alpha, A, B):
    B = B.copy()
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            B[i, j] += np.dot(A[i + 1 :, i], B[i + 1 :, j])
    B *= alpha
    return np.sum(B)


@program(
    (0, 1), lambda r, m, n: (r.standard_normal((m, n)), r.standard_normal(n)),
    (20, 25), (300, 400), (2000, 2500),
)  # fmt: skip
def atax(A, x):
    return np.sum((A @ x) @ A)


def k2mm_data(r, i, j, k, m):
    """Two numbers and four matrices."""
    return 1.5, 1.2, *(r.standard_normal(s) for s in ((i, k), (k, j), (j, m), (i, m)))


@program(
    (0, 1, 2, 3, 4, 5), k2mm_data, (8, 10, 12, 14), (80, 90, 100, 110), (400, 450, 500, 550)
)
def k2mm(alpha, beta, A, B, C, D):
    return np.sum(alpha * A @ B @ C + beta * D)


@program((0,), lambda r, m, n: (r.standard_normal((m, n)),), (8, 6), (50, 30), (120, 80))
def gramschmidt(A):
    A = A.copy()
    Q = np.zeros_like(A)
    R = np.zeros((A.shape[1], A.shape[1]))
    for k in range(A.shape[1]):
        R[k, k] = np.sqrt(np.dot(A[:, k], A[:, k]))
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, A.shape[1]):
            R[k, j] = np.dot(Q[:, k], A[:, j])
            A[:, j] -= Q[:, k] * R[k, j]
    return np.sum(Q) + np.sum(R)


@program((0,), lambda r, n: (positive(r, n),), (8,), (40,), (100,))
def cholesky(A):
    A = A.copy()
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])
    return np.sum(A)


@program((0,), lambda r, n: (positive(r, n),), (8,), (40,), (100,))
def lu(A):
    A = A.copy()
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return np.sum(A)


@program((0,), lambda r, n: (0.2 * r.standard_normal(n) / np.sqrt(n),), (10,), (120,), (500,))
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
    return np.sum(y)


@program((0, 1), lambda r, n: (positive(r, n), r.standard_normal(n)), (10,), (120,), (500,))
def trisolv(L, b):
    x = np.empty_like(b)
    for i in range(b.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return np.sum(x)
