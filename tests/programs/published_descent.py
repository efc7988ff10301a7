"""Loops that search: line searches, Newton, fixed points."""

import numpy as np

from .registry import sample


def backtracking_descent(x, A, b, steps=3):
    """Gradient descent with an Armijo line search."""

    def objective(z):
        return 0.5 * z @ A @ z - b @ z + 0.1 * np.sum(z**4)

    def gradient(z):
        return A @ z - b + 0.4 * z**3

    for _ in range(steps):
        g = gradient(x)
        t = 1.0
        while True:
            candidate = x - t * g
            if objective(candidate) <= objective(x) - 0.3 * t * np.sum(g * g):
                break
            t *= 0.5
            if t < 1e-8:
                break
        x = candidate
    return x


sample(
    backtracking_descent,
    lambda r: (r.standard_normal(3), np.diag([1.0, 2.0, 5.0]), r.standard_normal(3)),
    ("x", "A", "b"),
)


def newton_system(p, x0, tol=1e-9):
    x = np.array(x0, dtype=float)
    for _ in range(20):
        F = np.array([x[0] ** 2 + p[0] * x[1] - 2.0, x[0] * x[1] - p[1]])
        J = np.array([[2 * x[0], p[0]], [x[1], x[0]]])
        dx = np.linalg.solve(J, -F)
        x += dx
        if np.linalg.norm(dx) < tol:
            break
    return x


sample(newton_system, lambda r: (np.array([1.0, 0.5]), [1.0, 1.0]), "p")


def implicit_euler(y0, lam, dt, n):
    """Stiff relaxation, each step by Newton's method."""
    ys = np.empty(n + 1)
    ys[0] = y0
    for k in range(n):
        y = ys[k]
        for _ in range(3):
            residual = y - ys[k] + dt * lam * (y**3 - 1)
            y -= residual / (1 + dt * lam * 3 * y**2)
        ys[k + 1] = y
    return ys


sample(implicit_euler, lambda r: (2.0, 5.0, 0.1, 4), ("y0", "lam"))


def adaptive_euler(y, rate, t_end, tol=1e-2):
    t, h = 0.0, 0.5
    accepted = 0
    while t < t_end:
        h = min(h, t_end - t)
        full = y - h * rate * y
        half = y - 0.5 * h * rate * y
        half = half - 0.5 * h * rate * half
        err = abs(half - full)
        if err > tol:
            h /= 2
            continue
        t += h
        y = half
        accepted += 1
        if err < tol / 4:
            h *= 2
    return y


sample(adaptive_euler, lambda r: (1.3, 0.8, 1.0), ("y", "rate"))


def kuramoto(theta, omega, K, dt, steps):
    n = theta.size
    order = []
    for _ in range(steps):
        diff = theta[None, :] - theta[:, None]
        theta = theta + dt * (omega + K / n * np.sin(diff).sum(axis=1))
        order.append(np.abs(np.mean(np.exp(1j * theta))))
    return np.array(order)


sample(
    kuramoto,
    lambda r: (r.standard_normal(4), r.standard_normal(4), 1.5, 0.1, 3),
    ("theta", "omega", "K"),
)


def ising_mean_field(J, h, beta, tol=1e-6):
    m = np.zeros(len(h))
    for it in range(30):
        m_new = np.tanh(beta * (J @ m + h))
        if np.max(np.abs(m_new - m)) < tol:
            break
        m = 0.5 * m + 0.5 * m_new
    return -0.5 * m @ J @ m - h @ m


sample(
    ising_mean_field,
    lambda r: (0.3 * r.standard_normal((4, 4)), r.standard_normal(4), 0.7),
    ("J", "h", "beta"),
)
