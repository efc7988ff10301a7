"""Bodies, integrators and loops until something happens."""

import numpy as np

from .registry import sample


def runge_kutta_4(f, y0, t0, t1, n, *args):
    h = (t1 - t0) / n
    t, y = t0, y0
    for _ in range(n):
        k1 = f(y, t, *args)
        k2 = f(y + h * k1 / 2, t + h / 2, *args)
        k3 = f(y + h * k2 / 2, t + h / 2, *args)
        k4 = f(y + h * k3, t + h, *args)
        y = y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        t = t + h
    return y


sample(
    runge_kutta_4,
    lambda r: (lorenz, r.standard_normal(3), 0.0, 0.1, 3, 10.0, 28.0, 2.5),
    ("y0", "t1"),
)


def lorenz(state, t, sigma, rho, beta):
    x, y, z = state
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def lorenz_endpoint(y0, sigma, rho, beta):
    return runge_kutta_4(lorenz, y0, 0.0, 0.2, 4, sigma, rho, beta)


sample(
    lorenz_endpoint,
    lambda r: (np.array([1.0, 2.0, 3.0]), 10.0, 28.0, 8.0 / 3.0),
    ("y0", "sigma", "rho", "beta"),
)


def lotka_volterra_fit(theta, z0, observed, dt):
    alpha, beta, gamma, delta = np.exp(theta)

    def rhs(z):
        prey, predator = z[0], z[1]
        return np.array(
            [alpha * prey - beta * prey * predator, delta * prey * predator - gamma * predator]
        )

    z = z0
    trajectory = [z]
    for _ in range(len(observed) - 1):
        k1 = rhs(z)
        k2 = rhs(z + dt * k1)
        z = z + dt / 2 * (k1 + k2)
        trajectory.append(z)
    return np.sum((np.log(np.array(trajectory)) - np.log(observed)) ** 2)


sample(
    lotka_volterra_fit,
    lambda r: (0.2 * r.standard_normal(4), np.array([1.0, 0.5]), 1 + r.random((5, 2)), 0.1),
    ("theta", "z0"),
)


def sir_model(beta, gamma, s0, i0, days):
    S, I, R = [s0], [i0], [1.0 - s0 - i0]
    for _ in range(days):
        new_infections = beta * S[-1] * I[-1]
        recoveries = gamma * I[-1]
        S.append(S[-1] - new_infections)
        I.append(I[-1] + new_infections - recoveries)
        R.append(R[-1] + recoveries)
    peak = max(I)
    return peak, np.array(I), R[-1]


sample(sir_model, lambda r: (0.5, 0.1, 0.9, 0.1, 6), ("beta", "gamma", "i0"))


def get_acceleration(pos, mass, G, softening):
    x = pos[:, 0:1]
    y = pos[:, 1:2]
    z = pos[:, 2:3]

    dx = x.T - x
    dy = y.T - y
    dz = z.T - z

    inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
    inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)

    ax = G * (dx * inv_r3) @ mass
    ay = G * (dy * inv_r3) @ mass
    az = G * (dz * inv_r3) @ mass
    return np.hstack((ax, ay, az))


def get_energy(pos, vel, mass, G):
    KE = 0.5 * np.sum(np.sum(mass * vel**2))
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inv_r = dx**2 + dy**2 + dz**2
    inv_r[inv_r > 0] = inv_r[inv_r > 0] ** (-0.5)
    PE = G * np.sum(np.sum(np.triu(-(mass * mass.T) * inv_r, 1)))
    return KE, PE


def nbody(mass, pos, vel, N, Nt, dt, G, softening):
    vel -= np.mean(mass * vel, 0) / np.mean(mass)
    acc = get_acceleration(pos, mass, G, softening)
    KE = np.ndarray(Nt + 1, dtype=np.float64)
    PE = np.ndarray(Nt + 1, dtype=np.float64)
    KE[0], PE[0] = get_energy(pos, vel, mass, G)
    t = 0.0
    for i in range(Nt):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = get_acceleration(pos, mass, G, softening)
        vel += acc * dt / 2.0
        t += dt
        KE[i + 1], PE[i + 1] = get_energy(pos, vel, mass, G)
    return KE, PE


sample(
    nbody,
    lambda r: (
        1 + r.random((3, 1)),
        r.standard_normal((3, 3)),
        r.standard_normal((3, 3)),
        3,
        2,
        0.05,
        1.0,
        0.5,
    ),
    ("mass", "pos", "vel"),
)


def nbody_pairs(positions, velocities, masses, dt, steps):
    n = len(masses)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                d = positions[i] - positions[j]
                mag = dt * (np.dot(d, d) + 0.1) ** -1.5
                velocities[i] -= d * masses[j] * mag
                velocities[j] += d * masses[i] * mag
        positions += dt * velocities
    return positions


sample(
    nbody_pairs,
    lambda r: (r.standard_normal((3, 2)), r.standard_normal((3, 2)), 1 + r.random(3), 0.1, 3),
    ("positions", "velocities", "masses"),
)


def verlet_lennard_jones(x, v, epsilon, sigma, box, dt=0.01, steps=2):
    def forces(x):
        f = np.zeros_like(x)
        energy = 0.0
        for i in range(len(x) - 1):
            for j in range(i + 1, len(x)):
                r = x[i] - x[j]
                r = r - box * np.round(r / box)
                r2 = np.sum(r * r)
                if r2 > 6.25 * sigma**2:
                    continue
                s6 = (sigma**2 / r2) ** 3
                energy += 4 * epsilon * (s6 * s6 - s6)
                fij = 24 * epsilon * (2 * s6 * s6 - s6) / r2 * r
                f[i] += fij
                f[j] -= fij
        return f, energy

    f, energy = forces(x)
    for _ in range(steps):
        v = v + 0.5 * dt * f
        x = x + dt * v
        f, energy = forces(x)
        v = v + 0.5 * dt * f
    return x, v, energy


sample(
    verlet_lennard_jones,
    lambda r: (
        np.array([[0.0, 0.0], [1.2, 0.1], [0.3, 1.4], [2.9, 2.8]]),
        0.1 * r.standard_normal((4, 2)),
        1.0,
        1.0,
        5.0,
    ),
    ("x", "v", "epsilon", "sigma"),
)


def spring_cloth(pos, vel, stiffness, damping, rest, dt, steps):
    """A cloth by index arrays; the upper row is held."""
    rows, cols, _ = pos.shape
    pinned = np.zeros((rows, cols, 1))
    pinned[0, :] = 1.0
    gravity = np.array([0.0, -9.81, 0.0])
    for _ in range(steps):
        force = np.zeros_like(pos) + gravity
        for di, dj in [(0, 1), (1, 0), (1, 1)]:
            a = pos[: rows - di, : cols - dj]
            b = pos[di:, dj:]
            delta = b - a
            length = np.sqrt(np.sum(delta**2, axis=-1, keepdims=True))
            pull = stiffness * (1 - rest * np.hypot(di, dj) / length) * delta
            force[: rows - di, : cols - dj] += pull
            force[di:, dj:] -= pull
        force -= damping * vel
        vel = (vel + dt * force) * (1 - pinned)
        pos = pos + dt * vel
    return pos


sample(
    spring_cloth,
    lambda r: (
        r.standard_normal((3, 3, 3)),
        0.1 * r.standard_normal((3, 3, 3)),
        5.0,
        0.1,
        1.0,
        0.05,
        2,
    ),
    ("pos", "vel", "stiffness", "rest"),
)


def spring_network(x, edges, k, rest):
    i, j = edges[:, 0], edges[:, 1]
    d = x[j] - x[i]
    length = np.linalg.norm(d, axis=1)
    f = np.zeros_like(x)
    pull = (k * (length - rest) / length)[:, None] * d
    np.add.at(f, i, pull)
    np.subtract.at(f, j, pull)
    return f, 0.5 * np.sum(k * (length - rest) ** 2)


sample(
    spring_network,
    lambda r: (
        r.standard_normal((4, 2)),
        np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]]),
        1 + r.random(5),
        0.5 + r.random(5),
    ),
    ("x", "k", "rest"),
)


def ballistic_range(angle, speed, drag, dt=0.05):
    """Steps until the ground is reached, then the point between the last two steps."""
    x, y = 0.0, 0.0
    vx, vy = speed * np.cos(angle), speed * np.sin(angle)
    while y >= 0.0:
        x_old, y_old = x, y
        v = np.sqrt(vx**2 + vy**2)
        vx -= dt * drag * v * vx
        vy -= dt * (9.81 + drag * v * vy)
        x += dt * vx
        y += dt * vy
    fraction = y_old / (y_old - y)
    return x_old + fraction * (x - x_old)


sample(ballistic_range, lambda r: (0.7, 5.03, 0.02), ("angle", "speed", "drag"))


def double_pendulum(theta, omega, lengths, masses, g=9.81, dt=0.01, steps=4):
    t1, t2 = theta
    w1, w2 = omega
    l1, l2 = lengths
    m1, m2 = masses
    for _ in range(steps):
        delta = t2 - t1
        den1 = (m1 + m2) * l1 - m2 * l1 * np.cos(delta) * np.cos(delta)
        a1 = (
            m2 * l1 * w1 * w1 * np.sin(delta) * np.cos(delta)
            + m2 * g * np.sin(t2) * np.cos(delta)
            + m2 * l2 * w2 * w2 * np.sin(delta)
            - (m1 + m2) * g * np.sin(t1)
        ) / den1
        den2 = (l2 / l1) * den1
        a2 = (
            -m2 * l2 * w2 * w2 * np.sin(delta) * np.cos(delta)
            + (m1 + m2) * g * np.sin(t1) * np.cos(delta)
            - (m1 + m2) * l1 * w1 * w1 * np.sin(delta)
            - (m1 + m2) * g * np.sin(t2)
        ) / den2
        w1, w2 = w1 + dt * a1, w2 + dt * a2
        t1, t2 = t1 + dt * w1, t2 + dt * w2
    return -(m1 + m2) * g * l1 * np.cos(t1) - m2 * g * l2 * np.cos(t2)


sample(
    double_pendulum,
    lambda r: (r.standard_normal(2), r.standard_normal(2), 1 + r.random(2), 1 + r.random(2)),
    ("theta", "omega", "lengths", "masses"),
)
