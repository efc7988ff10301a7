"""The programs without writes in place: `xp` is what a library that traces has for NumPy.

`xp` has NumPy's functions and four more: `relu`, `reversed` (of a vector), `interior` (an array
whose inside is replaced) and `constant` (an array of indices).  Loops are Python's.  The algorithms
are those of `loops`, in the form that such a library likes best: whole arrays, and shrinking blocks
for triangles.
"""

from __future__ import annotations

import numpy as np


def squares(xp, x):
    return xp.sum(x * x)


def arc_distance(xp, theta_1, phi_1, theta_2, phi_2):
    temp = (
        xp.sin((theta_2 - theta_1) / 2) ** 2
        + xp.cos(theta_1) * xp.cos(theta_2) * xp.sin((phi_2 - phi_1) / 2) ** 2
    )
    return xp.sum(2 * xp.arctan2(xp.sqrt(temp), xp.sqrt(1 - temp)))


def go_fast(xp, a):
    return xp.sum(a + xp.sum(xp.tanh(xp.diagonal(a))))


def softmax(xp, x):
    out = xp.exp(x - xp.amax(x, axis=-1, keepdims=True))
    out = out / xp.sum(out, axis=-1, keepdims=True)
    return xp.sum(out * out)


def mlp(xp, x, w1, b1, w2, b2, w3, b3):
    x = xp.relu(x @ w1 + b1)
    x = xp.relu(x @ w2 + b2)
    return softmax(xp, x @ w3 + b3)


def packed_places(d):
    """Where the entries of a lower triangle lie in (0, its diagonal, its columns)."""
    places = np.zeros((d, d), int)
    places[np.arange(d), np.arange(d)] = 1 + np.arange(d)
    start = 1 + d
    for j in range(d):
        places[j + 1 :, j] = np.arange(start, start + d - 1 - j)
        start += d - 1 - j
    return places


def gmm(xp, alphas, means, icf, x, gamma, m):
    n, d = x.shape
    values = xp.concatenate([0.0 * icf[:, :1], xp.exp(icf[:, :d]), icf[:, d:]], axis=1)
    low = values[:, xp.constant(packed_places(d))]
    sizes = xp.sum(icf[:, :d], axis=1)
    z = (x[None] - means[:, None]) @ xp.swapaxes(low, 1, 2)
    terms = (alphas + sizes)[:, None] - 0.5 * xp.sum(z * z, axis=2)
    prior = 0.5 * gamma * gamma * xp.sum(values * values) - m * xp.sum(sizes)
    return xp.sum(log_sum_exp(xp, terms)) - n * log_sum_exp(xp, alphas) + prior


def log_sum_exp(xp, terms):
    """log(sum(exp(terms))) along the first axis."""
    top = xp.amax(terms, axis=0)
    return xp.log(xp.sum(xp.exp(terms - top), axis=0)) + top


def nbody_step(xp, mass, position, velocity):
    dx, dy, dz = (p - p[:, None] for p in (position[:, 0], position[:, 1], position[:, 2]))
    inverse = (dx**2 + dy**2 + dz**2 + 0.01) ** (-1.5)
    acceleration = xp.stack([(d * inverse) @ mass for d in (dx, dy, dz)], axis=1)
    velocity = velocity + 0.01 * acceleration
    return position + 0.01 * velocity, velocity


def nbody(xp, mass, position, velocity, steps):
    for _ in range(steps):
        position, velocity = nbody_step(xp, mass, position, velocity)
    return 0.5 * xp.sum(mass * xp.sum(velocity**2, axis=1))


def hdiff(xp, in_field, coeff):
    f = in_field
    lap = 4.0 * f[1:-1, 1:-1] - (f[2:, 1:-1] + f[:-2, 1:-1] + f[1:-1, 2:] + f[1:-1, :-2])
    res = lap[1:, 1:-1] - lap[:-1, 1:-1]
    flx = xp.where(res * (f[2:-1, 2:-2] - f[1:-2, 2:-2]) > 0, 0.0, res)
    res = lap[1:-1, 1:] - lap[1:-1, :-1]
    fly = xp.where(res * (f[2:-2, 2:-1] - f[2:-2, 1:-2]) > 0, 0.0, res)
    return xp.sum(f[2:-2, 2:-2] - coeff * (flx[1:] - flx[:-1] + fly[:, 1:] - fly[:, :-1]))


def vadv(xp, utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    K = u_stage.shape[2]
    right = dtr_stage * u_pos + utens + utens_stage
    rise = u_stage[:, :, 1:] - u_stage[:, :, :-1]
    g = 0.125 * (wcon[1:, :, 1:K] + wcon[:-1, :, 1:K])
    cs, ds = [], []
    for k in range(K):
        b, d = dtr_stage, right[:, :, k]
        if k > 0:
            b = b + g[:, :, k - 1]
            d = d - g[:, :, k - 1] * rise[:, :, k - 1]
        if k < K - 1:
            b = b - g[:, :, k]
            d = d - g[:, :, k] * rise[:, :, k]
        if k > 0:
            b = b + cs[-1] * g[:, :, k - 1]
            d = d + ds[-1] * g[:, :, k - 1]
        if k < K - 1:
            cs.append(g[:, :, k] / b)
        ds.append(d / b)
    column = ds[-1]
    total = column
    for k in range(K - 2, -1, -1):
        column = ds[k] - cs[k] * column
        total = total + column
    return dtr_stage * (xp.sum(total) - xp.sum(u_pos))


def jacobi_1d_step(xp, A, B):
    B = xp.interior(B, 0.33333 * (A[:-2] + A[1:-1] + A[2:]))
    return xp.interior(A, 0.33333 * (B[:-2] + B[1:-1] + B[2:])), B


def jacobi_2d_half(A):
    return 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])


def jacobi_2d_step(xp, A, B):
    B = xp.interior(B, jacobi_2d_half(A))
    return xp.interior(A, jacobi_2d_half(B)), B


def heat_3d_half(A):
    return (
        0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
        + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
        + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, :-2])
        + A[1:-1, 1:-1, 1:-1]
    )


def heat_3d_step(xp, A, B):
    B = xp.interior(B, heat_3d_half(A))
    return xp.interior(A, heat_3d_half(B)), B


def stepped(step):
    """The sum of a grid after some steps."""

    def loss(xp, steps, A, B):
        for _ in range(1, steps):
            A, B = step(xp, A, B)
        return xp.sum(A)

    return loss


jacobi_1d, jacobi_2d, heat_3d = map(stepped, (jacobi_1d_step, jacobi_2d_step, heat_3d_step))


def seidel_row(above, row, below):
    """What a row's cells sum up before the cell on the left is added."""
    return (
        row[1:-1] + above[:-2] + above[1:-1] + above[2:] + row[2:]
        + below[:-2] + below[1:-1] + below[2:]
    )  # fmt: skip


def seidel_2d(xp, steps, A):
    N = A.shape[0]
    rows = [A[i] for i in range(N)]
    for _ in range(steps - 1):
        for i in range(1, N - 1):
            sums = seidel_row(rows[i - 1], rows[i], rows[i + 1])
            cells = [rows[i][0]]
            for j in range(N - 2):
                cells.append((sums[j] + cells[-1]) / 9.0)
            rows[i] = xp.stack([*cells, rows[i][-1]])
    return sum(xp.sum(row) for row in rows)


def conv2d_bias(xp, images, weights, bias):
    K = weights.shape[0]
    H, W = images.shape[1] - K + 1, images.shape[2] - K + 1
    taps = [images[:, i : i + H, j : j + W] @ weights[i, j] for i in range(K) for j in range(K)]
    return xp.sum((sum(taps) + bias) ** 2)


def trmm(xp, alpha, A, B):
    return xp.sum(alpha * (B + xp.swapaxes(xp.tril(A, -1), 0, 1) @ B))


def atax(xp, A, x):
    return xp.sum((A @ x) @ A)


def k2mm(xp, alpha, beta, A, B, C, D):
    return xp.sum(alpha * A @ B @ C + beta * D)


def gramschmidt(xp, A):
    total = 0.0
    while A.shape[1]:
        norm = xp.sqrt(xp.sum(A[:, 0] * A[:, 0]))
        q = A[:, 0] / norm
        r = q @ A[:, 1:]
        total = total + xp.sum(q) + norm + xp.sum(r)
        A = A[:, 1:] - q[:, None] * r
    return total


def cholesky(xp, A):
    total = xp.sum(xp.triu(A, 1))
    while A.shape[0]:
        column = A[:, 0] / xp.sqrt(A[0, 0])
        total = total + xp.sum(column)
        A = A[1:, 1:] - column[1:, None] * column[1:]
    return total


def lu(xp, A):
    total = 0.0
    while A.shape[0]:
        column = A[1:, 0] / A[0, 0]
        total = total + xp.sum(A[0]) + xp.sum(column)
        A = A[1:, 1:] - column[:, None] * A[0, 1:]
    return total


def durbin(xp, r):
    alpha, beta, y = -r[0], 1.0, -r[:1]
    for k in range(1, r.shape[0]):
        beta = beta * (1.0 - alpha * alpha)
        alpha = -(r[k] + xp.reversed(r[:k]) @ y) / beta
        y = xp.concatenate([y + alpha * xp.reversed(y), xp.stack([alpha])])
    return xp.sum(y)


def trisolv(xp, L, b):
    total = 0.0
    for i in range(L.shape[0]):
        x = b[0] / L[i, i]
        total = total + x
        b = b[1:] - L[i + 1 :, i] * x
    return total
