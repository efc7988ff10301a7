"""Small models and their losses."""

import numpy as np

from .registry import sample


def relu(z):
    return np.maximum(z, 0.0)


def relu_network(params, x, y):
    h = relu(x @ params["W1"] + params["b1"])
    out = h @ params["W2"] + params["b2"]
    return np.mean((out[:, 0] - y) ** 2)


sample(
    relu_network,
    lambda r: (
        {
            "W1": r.standard_normal((3, 4)),
            "b1": r.standard_normal(4),
            "W2": r.standard_normal((4, 1)),
            "b2": r.standard_normal(1),
        },
        r.standard_normal((5, 3)),
        r.standard_normal(5),
    ),
    "params",
)


def layer_norm(x, gain, bias):
    mean = x.mean(axis=-1, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return gain * (x - mean) / np.sqrt(var + 1e-5) + bias


sample(
    layer_norm,
    lambda r: (r.standard_normal((2, 4)), r.standard_normal(4), r.standard_normal(4)),
    (0, 1, 2),
)


def softmax(z):
    e = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def attention(q, k, v):
    scores = q @ k.T / np.sqrt(q.shape[-1])
    return softmax(scores) @ v


sample(
    attention,
    lambda r: (r.standard_normal((3, 4)), r.standard_normal((5, 4)), r.standard_normal((5, 2))),
    (0, 1, 2),
)


def hinge(w, X, y):
    margins = 1.0 - y * (X @ w)
    margins[margins < 0.0] = 0.0
    return np.sum(margins**2) / len(y) + 0.01 * np.sum(w**2)


sample(
    hinge,
    lambda r: (r.standard_normal(3), r.standard_normal((8, 3)), np.sign(r.standard_normal(8))),
    "w",
)


def gru_step(h, x, W):
    hx = np.concatenate([h, x])
    z = 1.0 / (1.0 + np.exp(-(W["z"] @ hx)))
    r = 1.0 / (1.0 + np.exp(-(W["r"] @ hx)))
    n = np.tanh(W["n"] @ np.concatenate([r * h, x]))
    return (1.0 - z) * n + z * h


def gru(W, xs):
    h = np.zeros(2)
    for x in xs:
        h = gru_step(h, x, W)
    return np.sum(h)


sample(
    gru,
    lambda r: ({k: r.standard_normal((2, 5)) for k in "zrn"}, r.standard_normal((3, 3))),
    ("W", "xs"),
)


def convolution_2d(image, kernel):
    kh, kw = kernel.shape
    h, w = image.shape
    out = np.zeros((h - kh + 1, w - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(image[i : i + kh, j : j + kw] * kernel)
    return np.tanh(out)


sample(convolution_2d, lambda r: (r.standard_normal((4, 4)), r.standard_normal((2, 2))), (0, 1))


def max_pool(x):
    n = x.shape[0] // 2
    out = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            out[i, j] = np.max(x[2 * i : 2 * i + 2, 2 * j : 2 * j + 2])
    return out


sample(max_pool, lambda r: (r.permutation(16).reshape(4, 4) * 0.3,))


def embedding_bag(table, tokens, w):
    vectors = table[tokens]
    pooled = vectors.mean(axis=1)
    return np.sum(np.tanh(pooled @ w))


sample(
    embedding_bag,
    lambda r: (
        r.standard_normal((5, 3)),
        np.array([[0, 1, 1], [4, 0, 4]]),
        r.standard_normal((3, 2)),
    ),
    ("table", "w"),
)


def batch_norm_train(x, gamma, beta, eps=1e-5):
    mu = np.mean(x, axis=0)
    xc = x - mu
    std = np.sqrt(np.mean(xc**2, axis=0) + eps)
    return gamma * xc / std + beta, mu


sample(
    batch_norm_train,
    lambda r: (r.standard_normal((5, 2)), r.standard_normal(2), r.standard_normal(2)),
    ("x", "gamma", "beta"),
)


def matrix_factorisation(U, V, ratings):
    loss = 0.0
    for i, j, rating in ratings:
        loss += (rating - U[i] @ V[j]) ** 2
    return loss + 0.1 * (np.sum(U * U) + np.sum(V * V))


sample(
    matrix_factorisation,
    lambda r: (
        r.standard_normal((3, 2)),
        r.standard_normal((4, 2)),
        [(0, 1, 3.0), (2, 3, 1.0), (0, 2, 4.0), (1, 1, 2.0)],
    ),
    ("U", "V"),
)


def momentum_training(w, X, y, lr):
    """The gradient of what training arrives at: a hypergradient."""
    v = np.zeros_like(w)
    for _ in range(4):
        residual = X @ w - y
        g = X.T @ residual / len(y)
        v = 0.9 * v - lr * g
        w = w + v
    return np.sum((X @ w - y) ** 2)


sample(
    momentum_training,
    lambda r: (r.standard_normal(2), r.standard_normal((4, 2)), r.standard_normal(4), 0.05),
    ("w", "lr"),
)
