"""The programs whose generated gradients are kept as text in `tests/golden/` and reviewed."""

import numpy as np

from .registry import sample

GOLDEN = {"topics": ("golden",)}


def least_squares(w, X, y):
    r = X @ w - y
    return np.sum(r**2)


sample(
    least_squares,
    lambda r: (r.standard_normal(3), r.standard_normal((5, 3)), r.standard_normal(5)),
    "w",
    **GOLDEN,
)


def logistic_regression(w, b, X, y):
    z = X @ w + b
    p = 1.0 / (1.0 + np.exp(-z))
    return -np.mean(y * np.log(p) + (1.0 - y) * np.log(1.0 - p))


sample(
    logistic_regression,
    lambda r: (
        r.standard_normal(3),
        0.2,
        r.standard_normal((6, 3)),
        r.integers(0, 2, 6).astype(float),
    ),
    ("w", "b"),
    **GOLDEN,
)


def dense(x, w, b):
    return np.tanh(x @ w + b)


def mlp(w1, b1, w2, b2, x, y):
    h = dense(x, w1, b1)
    out = h @ w2 + b2
    return np.mean((out - y) ** 2)


sample(
    mlp,
    lambda r: (
        r.standard_normal((3, 4)),
        r.standard_normal(4),
        r.standard_normal((4, 2)),
        r.standard_normal(2),
        r.standard_normal((5, 3)),
        r.standard_normal((5, 2)),
    ),
    ("w1", "b1", "w2", "b2"),
    **GOLDEN,
)


def newton_root(a, x, n):
    """The root of x**3 - a by n steps of Newton's method."""
    for _ in range(n):
        x = x - (x**3 - a) / (3.0 * x**2)
    return x


sample(newton_root, lambda r: (2.5, 1.0, 4), "a", **GOLDEN)


def rnn(Wx, Wh, x):
    """All hidden states of a recurrent network, in a preallocated buffer."""
    T = x.shape[0]
    h = np.zeros((T + 1, Wh.shape[0]))
    for t in range(T):
        h[t + 1] = np.tanh(x[t] @ Wx + h[t] @ Wh)
    return h[1:]


sample(
    rnn,
    lambda r: (r.standard_normal((2, 3)), r.standard_normal((3, 3)), r.standard_normal((4, 2))),
    ("Wx", "Wh"),
    **GOLDEN,
)


def heat(u0, alpha, steps):
    """Explicit Euler steps of the heat equation, written into two buffers in turn."""
    u = u0.copy()
    new = u0.copy()
    for _ in range(steps):
        new[1:-1] = u[1:-1] + alpha * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u, new = new, u
    return u


sample(heat, lambda r: (r.standard_normal(8), 0.2, 5), ("u0", "alpha"), **GOLDEN)


def gauss_seidel(u, f, sweeps):
    n = len(u)
    for _ in range(sweeps):
        for i in range(1, n - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])


sample(
    gauss_seidel,
    lambda r: (r.standard_normal(6), r.standard_normal(6), 3),
    ("u", "f"),
    outputs="u",
    **GOLDEN,
)


def cholesky(A):
    n = A.shape[0]
    L = np.zeros_like(A)
    for j in range(n):
        L[j, j] = np.sqrt(A[j, j] - np.sum(L[j, :j] ** 2))
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - np.sum(L[i, :j] * L[j, :j])) / L[j, j]
    return L


def positive_definite(r, n):
    a = r.standard_normal((n, n))
    return a @ a.T + n * np.eye(n)


sample(cholesky, lambda r: (positive_definite(r, 4),), **GOLDEN)


def settle(x, rate):
    """A while loop with a break."""
    n = 0
    while n < 100:
        step = rate * np.sin(x)
        x = x - step
        n += 1
        if abs(step) < 0.05:
            break
    return x


sample(settle, lambda r: (1.2, 0.3), ("x", "rate"), **GOLDEN)


def view_chain(x):
    y = x.copy()
    rows = y.reshape(2, 3)
    first = rows[0]
    first[1:] = rows[1, :2] ** 2
    return np.sum(y * x)


sample(view_chain, lambda r: (r.standard_normal(6),), **GOLDEN)


def power(x, n):
    """x**n by repeated squaring, recursively."""
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    if n % 2:
        return half * half * x
    return half * half


sample(power, lambda r: (1.3, 5), **GOLDEN)


def rosenbrock(x, y):
    return (1.0 - x) ** 2 + 100.0 * (y - x * x) ** 2


sample(rosenbrock, lambda r: (-1.2, 1.0), ("x", "y"), **GOLDEN)


def cross_entropy(W, b, X, labels):
    logits = X @ W + b
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    logp = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(labels)), labels])


sample(
    cross_entropy,
    lambda r: (
        r.standard_normal((3, 4)),
        r.standard_normal(4),
        r.standard_normal((5, 3)),
        r.integers(0, 4, 5),
    ),
    ("W", "b"),
    **GOLDEN,
)


def gaussian_mixture(logits, means, log_scales, x):
    """The log-likelihood of a one-dimensional mixture."""
    z = (x[:, None] - means) * np.exp(-log_scales)
    parts = logits - log_scales - 0.5 * z**2
    top = np.max(parts, axis=1, keepdims=True)
    ll = np.log(np.sum(np.exp(parts - top), axis=1)) + top[:, 0]
    return np.sum(ll) - len(x) * np.log(np.sum(np.exp(logits)))


sample(
    gaussian_mixture,
    lambda r: (
        r.standard_normal(3),
        r.standard_normal(3),
        0.3 * r.standard_normal(3),
        r.standard_normal(6),
    ),
    ("logits", "means", "log_scales"),
    **GOLDEN,
)


def kepler(q, p, dt, steps):
    """A planet's orbit by the leapfrog method."""
    for _ in range(steps):
        p = p - 0.5 * dt * q / np.sum(q * q) ** 1.5
        q = q + dt * p
        p = p - 0.5 * dt * q / np.sum(q * q) ** 1.5
    return q, p


sample(
    kepler,
    lambda r: (np.array([1.0, 0.1]), np.array([0.0, 0.9]), 0.05, 6),
    ("q", "p"),
    **GOLDEN,
)


def vanderpol(y, mu):
    return np.array([y[1], mu * (1.0 - y[0] ** 2) * y[1] - y[0]])


def rk4(y, mu, h, steps):
    for _ in range(steps):
        k1 = vanderpol(y, mu)
        k2 = vanderpol(y + 0.5 * h * k1, mu)
        k3 = vanderpol(y + 0.5 * h * k2, mu)
        k4 = vanderpol(y + h * k3, mu)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y


sample(rk4, lambda r: (r.standard_normal(2), 0.8, 0.1, 3), ("y", "mu"), **GOLDEN)


def jacobi(u, f, sweeps):
    """Jacobi sweeps for a Poisson problem: linear, so nothing is saved."""
    u = u.copy()
    for _ in range(sweeps):
        new = np.zeros_like(u)
        new[1:-1, 1:-1] = 0.25 * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + f[1:-1, 1:-1]
        )
        u = new
    return u


sample(
    jacobi,
    lambda r: (r.standard_normal((4, 5)), r.standard_normal((4, 5)), 3),
    ("u", "f"),
    **GOLDEN,
)


def tanh_recurrence(x, w, n):
    for _ in range(n):
        x = np.tanh(w * x)
    return x


sample(tanh_recurrence, lambda r: (r.standard_normal(3), 1.2, 5), ("x", "w"), **GOLDEN)


def horner(coeffs, x):
    """A polynomial by Horner's scheme, with an early return."""
    if len(coeffs) == 1:
        return coeffs[0] + 0.0 * x
    y = 0.0
    for c in coeffs:
        y = y * x + c
    return y


sample(horner, lambda r: (r.standard_normal(4), 0.7), ("coeffs", "x"), **GOLDEN)


def cumulative_product(x):
    y = np.ones(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = y[i - 1] * x[i]
    return y


sample(cumulative_product, lambda r: (r.standard_normal(5),), **GOLDEN)


def soft_kmeans(centres, points):
    d = np.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=2)
    w = np.exp(-d)
    return np.sum(w * d) / np.sum(w)


sample(
    soft_kmeans,
    lambda r: (r.standard_normal((3, 2)), r.standard_normal((7, 2))),
    "centres",
    **GOLDEN,
)


def convolve(signal, kernel):
    n, m = len(signal), len(kernel)
    out = np.zeros(n - m + 1)
    for i in range(n - m + 1):
        for k in range(m):
            out[i] += signal[i + k] * kernel[k]
    return out


sample(
    convolve,
    lambda r: (r.standard_normal(6), r.standard_normal(3)),
    ("signal", "kernel"),
    **GOLDEN,
)


def power_iteration(A, v, n):
    for _ in range(n):
        w = A @ v
        v = w / np.sqrt(w @ w)
    return v @ A @ v


sample(
    power_iteration,
    lambda r: (positive_definite(r, 3), r.standard_normal(3), 4),
    "A",
    **GOLDEN,
)


def normal_cdf(x):
    """The logistic approximation of the normal distribution function."""
    return 1.0 / (1.0 + np.exp(-1.5976 * x - 0.07056 * x**3))


def black_scholes(spot, strike, rate, vol, time):
    d1 = (np.log(spot / strike) + (rate + 0.5 * vol**2) * time) / (vol * np.sqrt(time))
    d2 = d1 - vol * np.sqrt(time)
    return spot * normal_cdf(d1) - strike * np.exp(-rate * time) * normal_cdf(d2)


sample(
    black_scholes,
    lambda r: (100.0, 95.0, 0.03, 0.25, 0.75),
    ("spot", "rate", "vol", "time"),
    **GOLDEN,
)


def kalman(a, q, r, z):
    """The log-likelihood of a scalar Kalman filter."""
    m, p = 0.0, 1.0
    ll = 0.0
    for t in range(len(z)):
        m = a * m
        p = a * a * p + q
        s = p + r
        e = z[t] - m
        ll = ll - 0.5 * (np.log(s) + e * e / s)
        k = p / s
        m = m + k * e
        p = (1.0 - k) * p
    return ll


sample(kalman, lambda r: (0.9, 0.2, 0.5, r.standard_normal(6)), ("a", "q", "r"), **GOLDEN)


def piecewise(x):
    """Branches and a list of parts."""
    parts = []
    for i in range(len(x)):
        if x[i] > 1.0:
            parts.append(2.0 * x[i] - 1.0)
        elif x[i] > -1.0:
            parts.append(x[i] ** 2)
        else:
            parts.append(-2.0 * x[i] - 1.0)
    return sum(parts)


sample(piecewise, lambda r: (np.array([-1.7, -0.3, 0.4, 2.2]),), **GOLDEN)
