"""Finance, elements, light and other small sciences."""

import numpy as np

from .registry import sample


def monte_carlo_call(S0, K, T, r, sigma, Z):
    n_steps, n_paths = Z.shape
    dt = T / n_steps
    S = np.full(n_paths, S0)
    for k in range(n_steps):
        S = S * np.exp((r - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * Z[k])
    payoff = np.maximum(S - K, 0)
    return np.exp(-r * T) * np.mean(payoff)


sample(
    monte_carlo_call,
    lambda r: (100.0, 95.0, 1.0, 0.03, 0.2, r.standard_normal((3, 6))),
    ("S0", "K", "T", "r", "sigma"),
)


def asian_option(S0, K, T, r, sigma, Z):
    dt = T / Z.shape[1]
    paths = np.zeros((Z.shape[0], Z.shape[1] + 1))
    paths[:, 0] = S0
    for t in range(1, Z.shape[1] + 1):
        paths[:, t] = paths[:, t - 1] * np.exp(
            (r - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * Z[:, t - 1]
        )
    average = paths[:, 1:].mean(axis=1)
    return np.exp(-r * T) * np.mean(np.where(average > K, average - K, 0.0))


sample(
    asian_option,
    lambda r: (1.0, 0.95, 1.0, 0.03, 0.2, r.standard_normal((5, 3))),
    ("S0", "K", "T", "r", "sigma"),
)


def heston(S0, v0, mu, kappa, theta, xi, rho, W, dt):
    S, v = S0, v0
    for dW1, dZ in zip(W[0], W[1]):  # noqa: B905
        dW2 = rho * dW1 + np.sqrt(1 - rho**2) * dZ
        v_plus = np.maximum(v, 0.0)
        S = S * np.exp((mu - 0.5 * v_plus) * dt + np.sqrt(v_plus * dt) * dW1)
        v = v + kappa * (theta - v_plus) * dt + xi * np.sqrt(v_plus * dt) * dW2
    return np.mean(np.log(S)), v


sample(
    heston,
    lambda r: (1.0, 0.2, 0.05, 1.5, 0.2, 0.1, -0.6, r.standard_normal((2, 3, 4)), 0.1),
    ("S0", "v0", "mu", "kappa", "theta", "xi", "rho"),
)


def binomial_american_put(S, K, T, r, sigma, N):
    dt = T / N
    u = np.exp(sigma * np.sqrt(dt))
    d = 1 / u
    p = (np.exp(r * dt) - d) / (u - d)
    stock = np.zeros(N + 1)
    for j in range(N + 1):
        stock[j] = S * u ** (N - j) * d**j
    option = np.maximum(K - stock, 0)
    for i in range(N - 1, -1, -1):
        for j in range(i + 1):
            hold = np.exp(-r * dt) * (p * option[j] + (1 - p) * option[j + 1])
            exercise = K - S * u ** (i - j) * d**j
            option[j] = max(hold, exercise)
    return option[0]


sample(
    binomial_american_put,
    lambda r: (1.02, 1.1, 1.0, 0.05, 0.3, 4),
    ("S", "K", "T", "r", "sigma"),
)


def longstaff_schwartz(S, strike, discount):
    """Least squares regression decides about exercise."""
    steps, paths = S.shape
    cash = np.maximum(strike - S[-1], 0.0)
    for t in range(steps - 2, 0, -1):
        cash = cash * discount
        inside = S[t] < strike
        if inside.sum() < 3:
            continue
        X = np.stack([np.ones(inside.sum()), S[t][inside], S[t][inside] ** 2], axis=1)
        beta = np.linalg.solve(X.T @ X + 1e-6 * np.eye(3), X.T @ cash[inside])
        continuation = X @ beta
        exercise = strike - S[t][inside]
        cash[inside] = np.where(exercise > continuation, exercise, cash[inside])
    return np.mean(cash) * discount


sample(
    longstaff_schwartz,
    lambda r: (1 + 0.2 * r.standard_normal((4, 8)), 1.05, 0.97),
    ("S", "strike", "discount"),
)


def bootstrap_curve(rates, times):
    """Discount factors from par rates, one after the other."""
    df = []
    for n, (rate, t) in enumerate(zip(rates, times)):  # noqa: B905
        annuity = 0.0
        for k in range(n):
            annuity += df[k] * (times[k] - (times[k - 1] if k else 0.0))
        df.append((1.0 - rate * annuity) / (1.0 + rate * (t - (times[n - 1] if n else 0.0))))
    return np.array(df)


sample(
    bootstrap_curve,
    lambda r: (np.array([0.02, 0.025, 0.03, 0.032]), np.array([1.0, 2.0, 3.0, 5.0])),
    "rates",
)


def implied_volatility(price, S, K, T, r):
    def norm_cdf(x):
        return 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))

    low, high = 0.01, 1.0
    sigma = 0.5 * (low + high)
    for _ in range(6):
        d1 = (np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T))
        d2 = d1 - sigma * np.sqrt(T)
        value = S * norm_cdf(d1) - K * np.exp(-r * T) * norm_cdf(d2)
        vega = S * np.sqrt(T) * np.exp(-(d1**2) / 2) / np.sqrt(2 * np.pi)
        sigma -= (value - price) / vega
    return sigma


sample(
    implied_volatility,
    lambda r: (0.12, 1.0, 1.05, 1.0, 0.03),
    ("price", "S", "K", "T", "r"),
)


def portfolio(weights, mu, cov, target, penalty):
    w = np.exp(weights) / np.sum(np.exp(weights))
    ret = np.dot(w, mu)
    vol = np.sqrt(np.dot(w.T, np.dot(cov, w)))
    return -ret / vol + penalty * max(0.0, target - ret) ** 2


sample(
    portfolio,
    lambda r: (r.standard_normal(3), 0.1 * r.random(3), np.diag(0.1 + r.random(3)), 0.2, 10.0),
    ("weights", "mu", "cov"),
)
