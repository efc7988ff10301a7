"""Simulations."""

import numpy as np

from .registry import sample


def pendulum(theta, omega, length, steps):
    g, dt = 9.81, 0.02
    for _ in range(steps):
        omega = omega - dt * g / length * np.sin(theta)
        theta = theta + dt * omega
    return theta, omega


sample(pendulum, lambda r: (0.4, 0.1, 1.2, 10), ("theta", "omega", "length"))


def projectile(v0, angle, drag):
    x = y = 0.0
    vx, vy = v0 * np.cos(angle), v0 * np.sin(angle)
    dt = 0.05
    while y >= 0.0:
        speed = np.sqrt(vx * vx + vy * vy)
        vx -= dt * drag * speed * vx
        vy -= dt * (9.81 + drag * speed * vy)
        x += dt * vx
        y += dt * vy
    return x


sample(projectile, lambda r: (10.0, 0.8, 0.02), (0, 1, 2))


def lennard_jones(pos, eps, sigma):
    energy = 0.0
    n = pos.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            d = pos[i] - pos[j]
            s6 = (sigma * sigma / (d @ d)) ** 3
            energy += 4.0 * eps * (s6 * s6 - s6)
    return energy


sample(
    lennard_jones,
    lambda r: (np.array([[0.0, 0, 0], [1.1, 0.1, 0], [0, 1.2, 0.3]]), 0.8, 1.05),
    (0, 1, 2),
)


def n_body(pos, vel, mass, steps):
    pos = pos.copy()
    vel = vel.copy()
    n = len(mass)
    for _ in range(steps):
        acc = np.zeros_like(pos)
        for i in range(n):
            for j in range(n):
                if i == j:
                    continue
                d = pos[j] - pos[i]
                r2 = np.sum(d * d) + 0.1
                acc[i] += mass[j] * d / (r2 * np.sqrt(r2))
        vel += 0.01 * acc
        pos += 0.01 * vel
    return pos


sample(
    n_body,
    lambda r: (r.standard_normal((3, 2)), r.standard_normal((3, 2)), r.uniform(0.5, 2, 3), 3),
    ("pos", "vel", "mass"),
)


def wave(u0, c, steps):
    u_old = u0.copy()
    u = u0.copy()
    u_new = np.zeros_like(u0)
    for _ in range(steps):
        u_new[1:-1] = 2.0 * u[1:-1] - u_old[1:-1] + c**2 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u_old, u, u_new = u, u_new, u_old
    return u


sample(wave, lambda r: (r.standard_normal(7), 0.4, 5), ("u0", "c"))


def burgers(u, nu, steps):
    dx, dt = 0.2, 0.01
    u = u.copy()
    for _ in range(steps):
        un = u.copy()
        u[1:-1] = (
            un[1:-1]
            - dt / dx * un[1:-1] * (un[1:-1] - un[:-2])
            + nu * dt / dx**2 * (un[2:] - 2 * un[1:-1] + un[:-2])
        )
    return u


sample(burgers, lambda r: (r.standard_normal(6), 0.1, 4), ("u", "nu"))


def heat_2d(u, k, steps):
    for _ in range(steps):
        lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
        u[1:-1, 1:-1] += k * lap
    return np.sum(u**2)


sample(heat_2d, lambda r: (r.standard_normal((5, 4)), 0.1, 3), ("u", "k"))


def verlet_chain(x, v, k):
    a = force(x, k)
    for _ in range(3):
        v_half = v + 0.05 * a
        x = x + 0.1 * v_half
        a = force(x, k)
        v = v_half + 0.05 * a
    return x, v


def force(x, k):
    f = np.zeros_like(x)
    stretch = x[1:] - x[:-1]
    f[:-1] += k * stretch
    f[1:] -= k * stretch
    return f - 0.1 * x**3


sample(verlet_chain, lambda r: (r.standard_normal(4), r.standard_normal(4), 0.9), ("x", "v", "k"))


def lorenz(state, sigma, rho, beta, steps):
    out = np.zeros((steps, 3))
    x, y, z = state
    for t in range(steps):
        dx = sigma * (y - x)
        dy = x * (rho - z) - y
        dz = x * y - beta * z
        x, y, z = x + 0.01 * dx, y + 0.01 * dy, z + 0.01 * dz
        out[t] = x, y, z
    return out


sample(
    lorenz,
    lambda r: (r.standard_normal(3), 10.0, 28.0, 8.0 / 3.0, 4),
    ("state", "sigma", "rho", "beta"),
)


def implicit_euler(y0, k, steps):
    y = y0
    for _ in range(steps):
        z = y
        for _ in range(4):
            f = z - y + 0.1 * k * z**3
            z = z - f / (1.0 + 0.3 * k * z**2)
        y = z
    return y


sample(implicit_euler, lambda r: (1.1, 0.7, 3), (0, 1))


def lotka_volterra(params, n):
    a, b, c, d = params
    prey, predators = 1.0, 0.5
    history = []
    for _ in range(n):
        new = prey + 0.1 * (a * prey - b * prey * predators)
        predators = predators + 0.1 * (c * prey * predators - d * predators)
        prey = new
        history.append((prey, predators))
    return history[-1][0] * history[n // 2][1]


sample(lotka_volterra, lambda r: (np.array([1.1, 0.4, 0.3, 0.7]), 5))
