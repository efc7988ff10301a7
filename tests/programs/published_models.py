"""Recurrent, variational and attention models, written as people publish them."""

import numpy as np

from .registry import sample


def rnn_text_loss(params, inputs, targets):
    """A character model: helpers inside, outputs in a list."""

    def concat_and_multiply(weights, *args):
        cat_state = np.hstack(args + (np.ones((args[0].shape[0], 1)),))
        return np.dot(cat_state, weights)

    def update_rnn(inp, hiddens):
        return np.tanh(concat_and_multiply(params["change"], inp, hiddens))

    def hiddens_to_output_probs(hiddens):
        output = concat_and_multiply(params["predict"], hiddens)
        return output - np.log(np.sum(np.exp(output), axis=1, keepdims=True))

    num_sequences = inputs.shape[1]
    hiddens = np.repeat(params["init hiddens"], num_sequences, axis=0)
    output = [hiddens_to_output_probs(hiddens)]
    for inp in inputs:
        hiddens = update_rnn(inp, hiddens)
        output.append(hiddens_to_output_probs(hiddens))

    loglik = 0.0
    num_time_steps, num_examples, _ = inputs.shape
    for t in range(num_time_steps):
        loglik += np.sum(output[t] * targets[t])
    return -loglik / (num_time_steps * num_examples)


sample(
    rnn_text_loss,
    lambda r: (
        {
            "init hiddens": 0.1 * r.standard_normal((1, 3)),
            "change": 0.5 * r.standard_normal((4 + 3 + 1, 3)),
            "predict": 0.5 * r.standard_normal((3 + 1, 4)),
        },
        _one_hot(r, (3, 2), 4),
        _one_hot(r, (3, 2), 4),
    ),
    "params",
)


def _one_hot(r, shape, size):
    return np.eye(size)[r.integers(0, size, shape)]


def sigmoid(x):
    return 0.5 * (np.tanh(x / 2.0) + 1.0)


def concat_and_multiply(weights, *args):
    cat_state = np.hstack(args + (np.ones((args[0].shape[0], 1)),))
    return np.dot(cat_state, weights)


def lstm_predict(params, inputs):
    def update_lstm(inp, hiddens, cells):
        change = np.tanh(concat_and_multiply(params["change"], inp, hiddens))
        forget = sigmoid(concat_and_multiply(params["forget"], inp, hiddens))
        ingate = sigmoid(concat_and_multiply(params["ingate"], inp, hiddens))
        outgate = sigmoid(concat_and_multiply(params["outgate"], inp, hiddens))
        cells = cells * forget + ingate * change
        hiddens = outgate * np.tanh(cells)
        return hiddens, cells

    def hiddens_to_output_probs(hiddens):
        output = concat_and_multiply(params["predict"], hiddens)
        shift = np.max(output, axis=1, keepdims=True)
        return output - shift - np.log(np.sum(np.exp(output - shift), axis=1, keepdims=True))

    num_sequences = inputs.shape[1]
    hiddens = np.repeat(params["init hiddens"], num_sequences, axis=0)
    cells = np.repeat(params["init cells"], num_sequences, axis=0)
    output = [hiddens_to_output_probs(hiddens)]
    for inp in inputs:
        hiddens, cells = update_lstm(inp, hiddens, cells)
        output.append(hiddens_to_output_probs(hiddens))
    return output


def lstm_log_likelihood(params, inputs, targets):
    logprobs = lstm_predict(params, inputs)
    loglik = 0.0
    num_time_steps, num_examples, _ = inputs.shape
    for t in range(num_time_steps):
        loglik += np.sum(logprobs[t] * targets[t])
    return loglik / (num_time_steps * num_examples)


def _lstm_params(r, inputs, hidden, outputs):
    shape = (inputs + hidden + 1, hidden)
    return {
        "init cells": 0.3 * r.standard_normal((1, hidden)),
        "init hiddens": 0.3 * r.standard_normal((1, hidden)),
        "change": 0.5 * r.standard_normal(shape),
        "forget": 0.5 * r.standard_normal(shape),
        "ingate": 0.5 * r.standard_normal(shape),
        "outgate": 0.5 * r.standard_normal(shape),
        "predict": 0.5 * r.standard_normal((hidden + 1, outputs)),
    }


sample(
    lstm_log_likelihood,
    lambda r: (_lstm_params(r, 3, 2, 3), _one_hot(r, (3, 2), 3), _one_hot(r, (3, 2), 3)),
    "params",
)


def relu(x):
    return np.maximum(0, x)


def diag_gaussian_log_density(x, mu, log_std):
    return np.sum(
        -0.5 * np.log(2 * np.pi) - log_std - 0.5 * ((x - mu) / np.exp(log_std)) ** 2, axis=-1
    )


def unpack_gaussian_params(params):
    half = params.shape[-1] // 2
    mean, log_std = params[..., :half], params[..., half:]
    return mean, log_std


def sample_diag_gaussian(mean, log_std, noise):
    return noise * np.exp(log_std) + mean


def bernoulli_log_density(targets, unnormalized_logprobs):
    label_probabilities = -np.logaddexp(0, -unnormalized_logprobs * targets)
    return np.sum(label_probabilities, axis=-1)


def neural_net_predict(params, inputs):
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs = np.tanh(outputs)
    return outputs


def vae_lower_bound(gen_params, rec_params, data, noise):
    q_means, q_log_stds = unpack_gaussian_params(neural_net_predict(rec_params, data))
    latents = sample_diag_gaussian(q_means, q_log_stds, noise)
    q_latents = diag_gaussian_log_density(latents, q_means, q_log_stds)
    p_latents = diag_gaussian_log_density(latents, 0, 0)
    likelihood = bernoulli_log_density(data, neural_net_predict(gen_params, latents))
    return np.mean(p_latents + likelihood - q_latents)


sample(
    vae_lower_bound,
    lambda r: (
        _layers(r, [2, 4, 5]),
        _layers(r, [5, 3, 4]),
        np.sign(r.standard_normal((3, 5))),
        r.standard_normal((3, 2)),
    ),
    ("gen_params", "rec_params"),
)


def _layers(r, sizes):
    return [
        (0.4 * r.standard_normal((m, n)), 0.4 * r.standard_normal(n))
        for m, n in zip(sizes[:-1], sizes[1:], strict=True)
    ]


def multi_head_attention(x, p, heads):
    n, d = x.shape
    size = d // heads
    q = (x @ p["wq"]).reshape(n, heads, size).transpose(1, 0, 2)
    k = (x @ p["wk"]).reshape(n, heads, size).transpose(1, 0, 2)
    v = (x @ p["wv"]).reshape(n, heads, size).transpose(1, 0, 2)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(size)
    mask = np.triu(np.ones((n, n), dtype=bool), 1)
    scores = np.where(mask, -1e9, scores)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = scores / scores.sum(axis=-1, keepdims=True)
    return (weights @ v).transpose(1, 0, 2).reshape(n, d) @ p["wo"]


def normalise(x, gain, bias, eps=1e-5):
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return gain * (x - mean) / np.sqrt(variance + eps) + bias


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def transformer_loss(blocks, embedding, tokens, heads=2):
    x = embedding[tokens[:-1]]
    for block in blocks:
        x = x + multi_head_attention(normalise(x, **block["ln1"]), block["attn"], heads)
        h = normalise(x, **block["ln2"])
        x = x + gelu(h @ block["mlp"]["w1"] + block["mlp"]["b1"]) @ block["mlp"]["w2"]
    logits = x @ embedding.T
    shift = logits.max(axis=-1, keepdims=True)
    logp = logits - shift - np.log(np.exp(logits - shift).sum(axis=-1, keepdims=True))
    return -logp[np.arange(len(tokens) - 1), tokens[1:]].mean()


def _block(r, d):
    return {
        "ln1": {"gain": 1 + 0.1 * r.standard_normal(d), "bias": 0.1 * r.standard_normal(d)},
        "ln2": {"gain": 1 + 0.1 * r.standard_normal(d), "bias": 0.1 * r.standard_normal(d)},
        "attn": {k: 0.5 * r.standard_normal((d, d)) for k in ("wq", "wk", "wv", "wo")},
        "mlp": {
            "w1": 0.5 * r.standard_normal((d, 3)),
            "b1": 0.1 * r.standard_normal(3),
            "w2": 0.5 * r.standard_normal((3, d)),
        },
    }


sample(
    transformer_loss,
    lambda r: ([_block(r, 4)], 0.5 * r.standard_normal((5, 4)), r.integers(0, 5, 4)),
    ("blocks", "embedding"),
)


def neural_ode(params, z0, t_grid, target):
    def dynamics(z, t):
        h = np.append(z, t)
        for W, b in params:
            h = np.tanh(W @ h + b)
        return h

    z = z0
    path = [z0]
    for k in range(len(t_grid) - 1):
        t, dt = t_grid[k], t_grid[k + 1] - t_grid[k]
        k1 = dynamics(z, t)
        k2 = dynamics(z + 0.5 * dt * k1, t + 0.5 * dt)
        z = z + dt * k2
        path.append(z)
    return np.mean((np.stack(path) - target) ** 2)


sample(
    neural_ode,
    lambda r: (
        [
            (0.5 * r.standard_normal((4, 3)), 0.1 * r.standard_normal(4)),
            (0.5 * r.standard_normal((2, 4)), 0.1 * r.standard_normal(2)),
        ],
        r.standard_normal(2),
        np.linspace(0.0, 1.0, 5),
        r.standard_normal((5, 2)),
    ),
    ("params", "z0"),
)
