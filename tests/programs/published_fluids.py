"""Fields on grids, written as people publish them."""

import numpy as np

from .registry import sample


def project(vx, vy):
    """Project the velocity field to be approximately mass-conserving."""
    p = np.zeros(vx.shape)
    div = -0.5 * (
        np.roll(vx, -1, axis=1)
        - np.roll(vx, 1, axis=1)
        + np.roll(vy, -1, axis=0)
        - np.roll(vy, 1, axis=0)
    )
    for _ in range(4):
        p = (
            div
            + np.roll(p, 1, axis=1)
            + np.roll(p, -1, axis=1)
            + np.roll(p, 1, axis=0)
            + np.roll(p, -1, axis=0)
        ) / 4.0
    vx -= 0.5 * (np.roll(p, -1, axis=1) - np.roll(p, 1, axis=1))
    vy -= 0.5 * (np.roll(p, -1, axis=0) - np.roll(p, 1, axis=0))
    return vx, vy


def advect(f, vx, vy):
    """Move field f according to x and y velocities (u and v) using an implicit Euler integrator."""
    rows, cols = f.shape
    cell_ys, cell_xs = np.meshgrid(np.arange(rows), np.arange(cols), indexing="ij")
    center_xs = (cell_xs - vx).ravel()
    center_ys = (cell_ys - vy).ravel()

    left_ix = np.floor(center_xs).astype(int)
    top_ix = np.floor(center_ys).astype(int)
    rw = center_xs - left_ix
    bw = center_ys - top_ix
    left_ix = np.mod(left_ix, rows)
    right_ix = np.mod(left_ix + 1, rows)
    top_ix = np.mod(top_ix, cols)
    bot_ix = np.mod(top_ix + 1, cols)

    flat_f = (1 - rw) * ((1 - bw) * f[left_ix, top_ix] + bw * f[left_ix, bot_ix]) + rw * (
        (1 - bw) * f[right_ix, top_ix] + bw * f[right_ix, bot_ix]
    )
    return np.reshape(flat_f, (rows, cols))


def stam_simulate(vx, vy, smoke, num_time_steps):
    for _ in range(num_time_steps):
        vx_updated = advect(vx, vx, vy)
        vy_updated = advect(vy, vx, vy)
        vx, vy = project(vx_updated, vy_updated)
        smoke = advect(smoke, vx, vy)
    return smoke


def stam_objective(init_vx_and_vy, initial_smoke, target):
    rows, cols = target.shape
    init_vx = init_vx_and_vy[: rows * cols].reshape((rows, cols))
    init_vy = init_vx_and_vy[rows * cols :].reshape((rows, cols))
    final_smoke = stam_simulate(init_vx, init_vy, initial_smoke, 2)
    return np.mean((target - final_smoke) ** 2)


sample(
    stam_objective,
    lambda r: (0.3 + 0.2 * r.random(32), r.random((4, 4)), r.random((4, 4))),
    ("init_vx_and_vy", "initial_smoke"),
)


def build_up_b(rho, dt, dx, dy, u, v):
    b = np.zeros_like(u)
    b[1:-1, 1:-1] = rho * (
        1
        / dt
        * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))
        - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
    )
    return b


def pressure_poisson(nit, p, dx, dy, b):
    pn = np.empty_like(p)
    pn = p.copy()
    for _ in range(nit):
        pn = p.copy()
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2
        ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0
    return p


def cavity_flow(nt, nit, u, v, dt, dx, dy, p, rho, nu):
    un = np.empty_like(u)
    vn = np.empty_like(v)
    for _ in range(nt):
        un = u.copy()
        vn = v.copy()
        b = build_up_b(rho, dt, dx, dy, u, v)
        p = pressure_poisson(nit, p, dx, dy, b)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
            + nu * dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1])
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
            + nu * dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[0:-2, 1:-1])
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0
    return u, v, p


sample(
    cavity_flow,
    lambda r: (
        2,
        2,
        r.random((5, 5)),
        r.random((5, 5)),
        0.01,
        0.25,
        0.25,
        r.random((5, 5)),
        1.0,
        0.1,
    ),
    ("u", "v", "p", "nu"),
)


def channel_flow(u, v, p, nit, rho, nu, dt, dx, F):
    """Periodic in x, with a test of convergence."""
    udiff, stepcount = 1.0, 0
    while udiff > 0.05 and stepcount < 3:
        un = u.copy()
        b = np.zeros_like(u)
        b[1:-1, 1:-1] = rho / dt * (u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)
        b[1:-1, -1] = rho / dt * (u[1:-1, 0] - u[1:-1, -2]) / (2 * dx)
        for _ in range(nit):
            pn = p.copy()
            p[1:-1, 1:-1] = (pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1]) / 4
            p[1:-1, 1:-1] -= dx**2 / 4 * b[1:-1, 1:-1]
            p[1:-1, -1] = (pn[1:-1, 0] + pn[1:-1, -2] + pn[2:, -1] + pn[0:-2, -1]) / 4
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]
        u[1:-1, 1:-1] += dt * (F - (p[1:-1, 2:] - p[1:-1, :-2]) / (2 * rho * dx))
        u[1:-1, 1:-1] += nu * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2])
        u[0, :] = 0
        u[-1, :] = 0
        udiff = (np.sum(u) - np.sum(un)) / np.sum(u)
        stepcount += 1
    return u, stepcount


sample(
    channel_flow,
    lambda r: (
        1 + r.random((5, 5)),
        r.random((5, 5)),
        r.random((5, 5)),
        2,
        1.0,
        0.1,
        0.05,
        0.5,
        1.0,
    ),
    ("u", "p", "F", "nu"),
)


def burgers_equation(u, nu, dx, dt, steps):
    for _ in range(steps):
        un = u.copy()
        for i in range(1, len(u) - 1):
            u[i] = (
                un[i]
                - un[i] * dt / dx * (un[i] - un[i - 1])
                + nu * dt / dx**2 * (un[i + 1] - 2 * un[i] + un[i - 1])
            )
        u[0] = un[0] - un[0] * dt / dx * (un[0] - un[-2])
        u[-1] = u[0]
    return u


sample(burgers_equation, lambda r: (1 + r.random(6), 0.1, 0.5, 0.02, 3), ("u", "nu"))


def shallow_water(h, u, g=9.8, dx=1.0, dt=0.02, steps=3):
    hu = h * u
    for _ in range(steps):
        flux_h = hu
        flux_hu = hu**2 / h + 0.5 * g * h**2
        h_half = 0.5 * (h[1:] + h[:-1]) - 0.5 * dt / dx * (flux_h[1:] - flux_h[:-1])
        hu_half = 0.5 * (hu[1:] + hu[:-1]) - 0.5 * dt / dx * (flux_hu[1:] - flux_hu[:-1])
        f_half = hu_half**2 / h_half + 0.5 * g * h_half**2
        h = np.concatenate([h[:1], h[1:-1] - dt / dx * (hu_half[1:] - hu_half[:-1]), h[-1:]])
        hu = np.concatenate([[0.0], hu[1:-1] - dt / dx * (f_half[1:] - f_half[:-1]), [0.0]])
    return h, hu / h


sample(shallow_water, lambda r: (1 + 0.2 * r.random(6), 0.1 * r.random(6)), ("h", "u"))


def wave_2d(u, c, dt, dx, nt):
    u_prev = u.copy()
    history = np.zeros((nt, *u.shape))
    for n in range(nt):
        lap = np.zeros_like(u)
        lap[1:-1, 1:-1] = (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        ) / dx**2
        u_next = 2 * u - u_prev + (c * dt) ** 2 * lap
        u_prev, u = u, u_next
        history[n] = u
    return history


sample(wave_2d, lambda r: (r.random((4, 4)), 1.0 + r.random((4, 4)), 0.1, 0.5, 3), ("u", "c"))


def poisson_sor(f, omega, h, tol=1e-3, max_iter=4):
    n, m = f.shape
    phi = np.zeros((n, m))
    for _ in range(max_iter):
        change = 0.0
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                residual = (
                    phi[i - 1, j]
                    + phi[i + 1, j]
                    + phi[i, j - 1]
                    + phi[i, j + 1]
                    - 4 * phi[i, j]
                    - h**2 * f[i, j]
                )
                phi[i, j] += omega * residual / 4
                change = max(change, abs(residual))
        if change < tol:
            break
    return phi


sample(poisson_sor, lambda r: (r.standard_normal((4, 4)), 1.5, 1.0), ("f", "omega"))


def gray_scott(U, V, Du, Dv, F, k, steps):
    def laplacian(Z):
        return Z[:-2, 1:-1] + Z[1:-1, :-2] - 4 * Z[1:-1, 1:-1] + Z[1:-1, 2:] + Z[2:, 1:-1]

    u, v = U[1:-1, 1:-1], V[1:-1, 1:-1]
    for _ in range(steps):
        Lu, Lv = laplacian(U), laplacian(V)
        uvv = u * v * v
        u += Du * Lu - uvv + F * (1 - u)
        v += Dv * Lv + uvv - (F + k) * v
    return V


sample(
    gray_scott,
    lambda r: (r.random((5, 5)), r.random((5, 5)), 0.16, 0.08, 0.06, 0.062, 3),
    ("U", "V", "F", "k"),
)


def spectral_heat(u0, nu, t):
    """By matrices of cosines and sines."""
    n = len(u0)
    x = 2 * np.pi * np.arange(n) / n
    k = np.arange(n // 2)
    C = np.cos(np.outer(k, x))
    S = np.sin(np.outer(k, x))
    a, b = 2 * C @ u0 / n, 2 * S @ u0 / n
    a[0] /= 2
    decay = np.exp(-nu * k**2 * t)
    return (a * decay) @ C + (b * decay) @ S


sample(spectral_heat, lambda r: (r.standard_normal(6), 0.3, 0.5), ("u0", "nu"))
