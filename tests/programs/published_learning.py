"""Embeddings, factors and recursions, and kernels of complex numbers."""

import numpy as np

from .registry import sample


def skip_gram(embeddings, contexts, pairs, negatives):
    loss = 0.0
    for (center, context), sampled in zip(pairs, negatives):  # noqa: B905
        v = embeddings[center]
        loss -= np.log(1 / (1 + np.exp(-v @ contexts[context])))
        for k in sampled:
            loss -= np.log(1 / (1 + np.exp(v @ contexts[k])))
    return loss / len(pairs)


sample(
    skip_gram,
    lambda r: (
        r.standard_normal((4, 3)),
        r.standard_normal((4, 3)),
        [(0, 1), (2, 0), (0, 3)],
        [[2, 3], [1, 1], [0, 2]],
    ),
    ("embeddings", "contexts"),
)


def tsne_loss(Y, P):
    sum_Y = np.sum(np.square(Y), 1)
    num = -2.0 * np.dot(Y, Y.T)
    num = 1.0 / (1.0 + np.add(np.add(num, sum_Y).T, sum_Y))
    num[range(len(Y)), range(len(Y))] = 0.0
    Q = num / np.sum(num)
    Q = np.maximum(Q, 1e-12)
    return np.sum(P * np.log(np.maximum(P, 1e-12) / Q))


def _affinities(r, n):
    P = r.random((n, n))
    P = P + P.T
    np.fill_diagonal(P, 0.0)
    return P / P.sum()


sample(tsne_loss, lambda r: (r.standard_normal((4, 2)), _affinities(r, 4)), "Y")


def umap_loss(Y, heads, tails, weights, a=1.5, b=0.9):
    d2 = np.sum((Y[heads] - Y[tails]) ** 2, axis=1)
    q = 1.0 / (1.0 + a * d2**b)
    attract = -weights * np.log(q + 1e-6)
    repel = -(1.0 - weights) * np.log(1.0 - q + 1e-6)
    return (attract + repel).sum()


sample(
    umap_loss,
    lambda r: (
        r.standard_normal((5, 2)),
        np.array([0, 1, 2, 3, 0]),
        np.array([1, 2, 3, 4, 4]),
        r.random(5),
    ),
    "Y",
)


def nmf(V, W, H, steps=3, eps=1e-9):
    """The multiplicative updates of Lee and Seung."""
    for _ in range(steps):
        H *= (W.T @ V) / (W.T @ W @ H + eps)
        W *= (V @ H.T) / (W @ H @ H.T + eps)
    return np.linalg.norm(V - W @ H) ** 2


sample(
    nmf,
    lambda r: (r.random((4, 5)), r.random((4, 2)), r.random((2, 5))),
    ("V", "W", "H"),
)


def alternating_least_squares(R, U, V, lam, sweeps=2):
    k = U.shape[1]
    for _ in range(sweeps):
        for i in range(len(U)):
            U[i] = np.linalg.solve(V.T @ V + lam * np.eye(k), V.T @ R[i])
        for j in range(len(V)):
            V[j] = np.linalg.solve(U.T @ U + lam * np.eye(k), U.T @ R[:, j])
    return np.sum((R - U @ V.T) ** 2)


sample(
    alternating_least_squares,
    lambda r: (
        r.standard_normal((3, 4)),
        r.standard_normal((3, 2)),
        r.standard_normal((4, 2)),
        0.5,
    ),
    ("R", "V", "lam"),
)


def sinkhorn(a, b, cost, reg, iterations=5):
    K = np.exp(-cost / reg)
    u = np.ones_like(a)
    for _ in range(iterations):
        v = b / (K.T @ u)
        u = a / (K @ v)
    P = u[:, None] * K * v[None, :]
    return np.sum(P * cost)


sample(
    sinkhorn,
    lambda r: (r.dirichlet(np.ones(3)), r.dirichlet(np.ones(4)), r.random((3, 4)), 0.3),
    ("a", "b", "cost", "reg"),
)


def decision_tree(x, node, sharpness):
    """A soft tree, by recursion over nested dicts."""
    if "leaf" in node:
        return node["leaf"]
    p = 1 / (1 + np.exp(-sharpness * (x[node["feature"]] - node["threshold"])))
    return p * decision_tree(x, node["right"], sharpness) + (1 - p) * decision_tree(
        x, node["left"], sharpness
    )


sample(
    decision_tree,
    lambda r: (
        r.standard_normal(3),
        {
            "feature": 0,
            "threshold": 0.2,
            "left": {"leaf": 1.5},
            "right": {
                "feature": 2,
                "threshold": -0.4,
                "left": {"leaf": -1.0},
                "right": {"leaf": 0.7},
            },
        },
        2.0,
    ),
    ("x", "node"),
)


def stockham_fft(N, R, K, x, y):
    """A radix-R transform of R**K points, by permuted views."""
    i_coord, j_coord = np.mgrid[0:R, 0:R]
    dft_mat = np.exp(-2.0j * np.pi * i_coord * j_coord / R)
    y[:] = x[:]
    ii_coord, jj_coord = np.mgrid[0:R, 0 : R**K]
    for i in range(K):
        yv = np.reshape(y, (R**i, R, R ** (K - i - 1)))
        tmp_perm = np.transpose(yv, axes=(1, 0, 2))
        D = np.empty((R, R**i, R ** (K - i - 1)), dtype=np.complex128)
        tmp = np.exp(-2.0j * np.pi * ii_coord[:, : R**i] * jj_coord[:, : R**i] / R ** (i + 1))
        D[:] = np.repeat(np.reshape(tmp, (R, R**i, 1)), R ** (K - i - 1), axis=2)
        tmp_twid = np.reshape(tmp_perm, (N,)) * np.reshape(D, (N,))
        y[:] = np.reshape(dft_mat @ np.reshape(tmp_twid, (R, R ** (K - 1))), (N,))


sample(
    stockham_fft,
    lambda r: (8, 2, 3, _complex(r, 8), np.zeros(8, dtype=complex)),
    "x",
    outputs="y",
)


def _complex(r, *shape):
    return r.standard_normal(shape) + 1j * r.standard_normal(shape)


def scattering_self_energies(neigh_idx, dH, G, D, Sigma):
    for k in range(G.shape[0]):
        for E in range(G.shape[1]):
            for q in range(D.shape[0]):
                for w in range(D.shape[1]):
                    for i in range(D.shape[-2]):
                        for j in range(D.shape[-1]):
                            for a in range(neigh_idx.shape[0]):
                                for b in range(neigh_idx.shape[1]):
                                    if E - w >= 0:
                                        dHG = G[k, E - w, neigh_idx[a, b]] @ dH[a, b, i]
                                        dHD = dH[a, b, j] * D[q, w, a, b, i, j]
                                        Sigma[k, E, a] += dHG @ dHD


sample(
    scattering_self_energies,
    lambda r: (
        np.array([[0, 1], [1, 0]]),
        _complex(r, 2, 2, 2, 2, 2),
        _complex(r, 1, 2, 2, 2, 2),
        _complex(r, 1, 1, 2, 2, 2, 2),
        np.zeros((1, 2, 2, 2, 2), dtype=complex),
    ),
    ("dH", "G", "D"),
    outputs="Sigma",
)


def contour_integral(NR, NM, slab_per_bc, Ham, int_pts, Y):
    P0 = np.zeros((NR, NM), dtype=np.complex128)
    P1 = np.zeros((NR, NM), dtype=np.complex128)
    for z in int_pts:
        Tz = np.zeros((NR, NR), dtype=np.complex128)
        for n in range(slab_per_bc + 1):
            zz = np.power(z, slab_per_bc / 2 - n)
            Tz += zz * Ham[n]
        if NR == NM:
            X = np.linalg.inv(Tz)
        else:
            X = np.linalg.solve(Tz, Y)
        if abs(z) < 1.0:
            X = -X
        P0 += X
        P1 += z * X

    return P0, P1


sample(
    contour_integral,
    lambda r: (3, 2, 2, _complex(r, 3, 3, 3), _complex(r, 3), _complex(r, 3, 2)),
    ("Ham", "Y"),
)
