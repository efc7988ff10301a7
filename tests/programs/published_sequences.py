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
    lambda r: (
        r.standard_normal((4, 3)),
        r.standard_normal((3, 3)),
        r.standard_normal(3),
        [0, 2, 1, 1],
    ),
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
        r.standard_normal(3),
        r.standard_normal((3, 3)),
        r.standard_normal((3, 4)),
        [0, 1, 3, 2],
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
