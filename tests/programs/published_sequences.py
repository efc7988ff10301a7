"""Dynamic programs over sequences, graphs and trees."""

import numpy as np

from .registry import sample


def log_sum_exp(a):
    m = a.max()
    return m + np.log(np.sum(np.exp(a - m)))


def crf_forward(emissions, transitions, start, tags):
    """Negative log likelihood of a tag sequence."""
    score = start[tags[0]] + emissions[0, tags[0]]
    alpha = start + emissions[0]
    for t in range(1, len(tags)):
        score += transitions[tags[t - 1], tags[t]] + emissions[t, tags[t]]
        alpha_t = []
        for j in range(len(start)):
            alpha_t.append(log_sum_exp(alpha + transitions[:, j]) + emissions[t, j])
        alpha = np.array(alpha_t)
    return log_sum_exp(alpha) - score


sample(
    crf_forward,
    lambda r: (r.standard_normal((4, 3)), r.standard_normal((3, 3)), r.standard_normal(3), [0, 2, 1, 1]),
    ("emissions", "transitions", "start"),
)


def ctc_loss(params, seq, blank=0):
    """Forward variables with a normalisation at each step."""
    seqLen = len(seq)
    L = 2 * seqLen + 1
    T = params.shape[1]
    alphas = np.zeros((L, T))
    alphas[0, 0] = params[blank, 0]
    alphas[1, 0] = params[seq[0], 0]
    c = np.sum(alphas[:, 0])
    alphas[:, 0] = alphas[:, 0] / c
    llForward = np.log(c)
    for t in range(1, T):
        start = max(0, L - 2 * (T - t))
        end = min(2 * t + 2, L)
        for s in range(start, L):
            l = (s - 1) // 2  # noqa: E741
            if s % 2 == 0:
                if s == 0:
                    alphas[s, t] = alphas[s, t - 1] * params[blank, t]
                else:
                    alphas[s, t] = (alphas[s, t - 1] + alphas[s - 1, t - 1]) * params[blank, t]
            elif s == 1 or seq[l] == seq[l - 1]:
                alphas[s, t] = (alphas[s, t - 1] + alphas[s - 1, t - 1]) * params[seq[l], t]
            else:
                alphas[s, t] = (
                    alphas[s, t - 1] + alphas[s - 1, t - 1] + alphas[s - 2, t - 1]
                ) * params[seq[l], t]
        c = np.sum(alphas[start:end, t])
        alphas[start:end, t] = alphas[start:end, t] / c
        llForward += np.log(c)
    return -llForward


sample(
    ctc_loss,
    lambda r: (r.dirichlet(np.ones(3) * 5, 5).T.copy(), [1, 2]),
    tolerance=1e-5,
)


def soft_dtw(x, y, gamma):
    n, m = len(x), len(y)
    D = np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)
    R = np.full((n + 1, m + 1), 1e8)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            options = -np.array([R[i - 1, j - 1], R[i - 1, j], R[i, j - 1]]) / gamma
            top = np.max(options)
            softmin = -gamma * (np.log(np.sum(np.exp(options - top))) + top)
            R[i, j] = D[i - 1, j - 1] + softmin
    return R[n, m]


sample(
    soft_dtw,
    lambda r: (r.standard_normal((3, 2)), r.standard_normal((4, 2)), 0.7),
    ("x", "y", "gamma"),
)


def edit_distance(a, b, insert_cost, delete_cost, substitution):
    previous = [j * insert_cost for j in range(len(b) + 1)]
    for i, ca in enumerate(a):
        current = [(i + 1) * delete_cost]
        for j, cb in enumerate(b):
            current.append(
                min(
                    previous[j + 1] + delete_cost,
                    current[j] + insert_cost,
                    previous[j] + (0.0 if ca == cb else substitution),
                )
            )
        previous = current
    return previous[-1]


sample(
    edit_distance,
    lambda r: ("kitten", "sitting", 1.1, 0.9, 1.3),
    ("insert_cost", "delete_cost", "substitution"),
)


def needleman_wunsch(scores, gap):
    n, m = scores.shape
    F = np.zeros((n + 1, m + 1))
    F[:, 0] = -gap * np.arange(n + 1)
    F[0, :] = -gap * np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            F[i, j] = max(
                F[i - 1, j - 1] + scores[i - 1, j - 1], F[i - 1, j] - gap, F[i, j - 1] - gap
            )
    return F[-1, -1]


sample(needleman_wunsch, lambda r: (r.standard_normal((3, 4)), 0.4), ("scores", "gap"))


def viterbi_score(log_start, log_trans, log_emit, observations):
    delta = log_start + log_emit[:, observations[0]]
    psi = []
    for obs in observations[1:]:
        candidates = delta[:, np.newaxis] + log_trans
        psi.append(np.argmax(candidates, axis=0))
        delta = np.max(candidates, axis=0) + log_emit[:, obs]
    state = int(np.argmax(delta))
    path = [state]
    for back in psi[::-1]:
        state = back[state]
        path.insert(0, state)
    return delta.max(), path


sample(
    viterbi_score,
    lambda r: (
        r.standard_normal(3), r.standard_normal((3, 3)), r.standard_normal((3, 4)), [0, 1, 3, 2],
    ),
    ("log_start", "log_trans", "log_emit"),
)


def pagerank(weights, damping=0.85, iterations=6):
    M = weights / weights.sum(axis=0)
    n = M.shape[0]
    rank = np.ones(n) / n
    for _ in range(iterations):
        rank = damping * M @ rank + (1 - damping) / n
    return rank


sample(pagerank, lambda r: (r.random((4, 4)), 0.8), ("weights", "damping"))


def graph_convolution(adjacency, features, weights):
    A_hat = adjacency + np.eye(adjacency.shape[0])
    d = A_hat.sum(axis=1)
    D_inv_sqrt = np.diag(1.0 / np.sqrt(d))
    A_norm = D_inv_sqrt @ A_hat @ D_inv_sqrt
    h = features
    for k, W in enumerate(weights):
        h = A_norm @ h @ W
        if k < len(weights) - 1:
            h = np.maximum(h, 0.01 * h)
    return h


sample(
    graph_convolution,
    lambda r: (
        (r.random((4, 4)) > 0.5).astype(float),
        r.standard_normal((4, 3)),
        [r.standard_normal((3, 5)), r.standard_normal((5, 2))],
    ),
    ("features", "weights"),
)


def message_passing(h, edge_index, edge_weight, W_self, W_nbr, rounds=2):
    src, dst = edge_index
    for _ in range(rounds):
        messages = edge_weight[:, None] * h[src]
        total = np.zeros_like(h)
        np.add.at(total, dst, messages)
        degree = np.bincount(dst, minlength=len(h))
        total /= np.maximum(degree, 1)[:, None]
        h = np.tanh(h @ W_self + total @ W_nbr)
    return h.mean(axis=0)


sample(
    message_passing,
    lambda r: (
        r.standard_normal((4, 2)),
        np.array([[0, 1, 2, 3, 0], [1, 2, 0, 1, 3]]),
        r.random(5),
        r.standard_normal((2, 2)),
        r.standard_normal((2, 2)),
    ),
    ("h", "edge_weight", "W_self", "W_nbr"),
)


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
        r.standard_normal((5, 2)), np.array([0, 1, 2, 3, 0]), np.array([1, 2, 3, 4, 4]), r.random(5),
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
    tolerance=1e-5,
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
    lambda r: (r.standard_normal((3, 4)), r.standard_normal((3, 2)), r.standard_normal((4, 2)), 0.5),
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
                "feature": 2, "threshold": -0.4, "left": {"leaf": -1.0}, "right": {"leaf": 0.7},
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
        tmp = np.exp(
            -2.0j * np.pi * ii_coord[:, : R**i] * jj_coord[:, : R**i] / R ** (i + 1)
        )
        D[:] = np.repeat(np.reshape(tmp, (R, R**i, 1)), R ** (K - i - 1), axis=2)
        tmp_twid = np.reshape(tmp_perm, (N,)) * np.reshape(D, (N,))
        y[:] = np.reshape(dft_mat @ np.reshape(tmp_twid, (R, R ** (K - 1))), (N,))


def _complex(r, *shape):
    return r.standard_normal(shape) + 1j * r.standard_normal(shape)


sample(
    stockham_fft,
    lambda r: (8, 2, 3, _complex(r, 8), np.zeros(8, dtype=complex)),
    "x",
    outputs="y",
)


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
    tolerance=1e-5,
)
