"""Likelihoods and estimators."""

import math

import numpy as np

from .registry import sample


def normal_loglik(mu, log_sigma, x):
    sigma = np.exp(log_sigma)
    z = (x - mu) / sigma
    return -0.5 * np.sum(z**2) - len(x) * (log_sigma + 0.5 * math.log(2 * math.pi))


sample(normal_loglik, lambda r: (0.3, -0.2, r.standard_normal(6)), ("mu", "log_sigma", "x"))


def poisson_regression(beta, X, counts):
    eta = X @ beta
    return np.sum(counts * eta - np.exp(eta))


sample(
    poisson_regression,
    lambda r: (r.standard_normal(2), r.standard_normal((5, 2)), r.integers(0, 4, 5)),
)


def student_t(params, x):
    loc, log_scale, nu = params
    z = (x - loc) / np.exp(log_scale)
    return -np.sum(0.5 * (nu + 1.0) * np.log1p(z * z / nu)) - x.size * log_scale


sample(student_t, lambda r: (np.array([0.2, -0.1, 4.0]), r.standard_normal(5)))


def ar1(phi, sigma, x):
    ll = 0.0
    for t in range(1, len(x)):
        e = x[t] - phi * x[t - 1]
        ll -= 0.5 * (e / sigma) ** 2 + np.log(sigma)
    return ll


sample(ar1, lambda r: (0.6, 0.8, r.standard_normal(6)), (0, 1))


def hidden_markov(start, trans, emit, obs):
    alpha = start * emit[:, obs[0]]
    ll = 0.0
    for o in obs[1:]:
        c = alpha.sum()
        ll += np.log(c)
        alpha = ((alpha / c) @ trans) * emit[:, o]
    return ll + np.log(alpha.sum())


sample(
    hidden_markov,
    lambda r: (
        np.array([0.6, 0.4]),
        np.array([[0.7, 0.3], [0.2, 0.8]]),
        np.array([[0.5, 0.5], [0.1, 0.9]]),
        [0, 1, 1, 0],
    ),
    ("start", "trans", "emit"),
)


def garch(omega, alpha, beta, returns):
    h = np.empty(len(returns))
    h[0] = np.var(returns)
    for t in range(1, len(returns)):
        h[t] = omega + alpha * returns[t - 1] ** 2 + beta * h[t - 1]
    return 0.5 * np.sum(np.log(h) + returns**2 / h)


sample(
    garch,
    lambda r: (0.1, 0.2, 0.6, r.standard_normal(5)),
    ("omega", "alpha", "beta", "returns"),
)


def kernel_matrix(x, length, noise):
    n = len(x)
    K = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            K[i, j] = np.exp(-0.5 * ((x[i] - x[j]) / length) ** 2)
            K[j, i] = K[i, j]
        K[i, i] += noise
    return K


sample(kernel_matrix, lambda r: (r.standard_normal(4), 0.8, 0.1), ("x", "length", "noise"))


def huber(beta, X, y, delta=1.0):
    total = 0.0
    for i in range(len(y)):
        e = y[i] - X[i] @ beta
        if abs(e) <= delta:
            total += 0.5 * e * e
        else:
            total += delta * (abs(e) - 0.5 * delta)
    return total


sample(
    huber,
    lambda r: (r.standard_normal(2), r.standard_normal((6, 2)), 3 * r.standard_normal(6)),
    "beta",
)


def correlation(x, y):
    xc = x - x.mean()
    yc = y - y.mean()
    return (xc @ yc) / np.sqrt((xc @ xc) * (yc @ yc))


sample(correlation, lambda r: (r.standard_normal(5), r.standard_normal(5)), (0, 1))


def monte_carlo(mu, sigma, noise):
    paths = np.exp(mu + sigma * noise)
    payoff = np.maximum(paths - 1.0, 0.0)
    return payoff.mean()


sample(monte_carlo, lambda r: (0.1, 0.4, r.standard_normal(8)), (0, 1))


def welford(x):
    mean = 0.0
    m2 = 0.0
    for n, value in enumerate(x, start=1):
        delta = value - mean
        mean += delta / n
        m2 += delta * (value - mean)
    return mean, m2 / (len(x) - 1)


sample(welford, lambda r: (r.standard_normal(5),))


def edges_of_a_histogram(x, w):
    counts, edges = np.histogram(x, 4, weights=w)
    middles = (edges[1:] + edges[:-1]) / 2.0
    return np.sum(counts * middles) + np.sum(np.histogram_bin_edges(x, 3) ** 2)


sample(edges_of_a_histogram, lambda r: (r.uniform(0.1, 2.0, 7), r.uniform(0.5, 1.0, 7)), (0, 1))


def frequencies(spacing):
    return np.fft.fftfreq(5, spacing) * np.sin(np.fft.rfftfreq(8, d=spacing))


sample(frequencies, lambda r: (0.7,))
