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
    order2=False,
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
    tolerance=1e-5,
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
    tolerance=1e-5,
)


def bootstrap_curve(rates, times):
    """Discount factors from par rates, one after the other."""
    df = []
    for n, (rate, t) in enumerate(zip(rates, times)):  # noqa: B905
        annuity = sum(df[k] * (times[k] - (times[k - 1] if k else 0.0)) for k in range(n))
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
    tolerance=1e-4,
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


def truss_stiffness(nodes, elements, EA):
    """Assembly of bars into a global matrix."""
    n_dof = 2 * len(nodes)
    K = np.zeros((n_dof, n_dof))
    for (i, j), ea in zip(elements, EA):  # noqa: B905
        d = nodes[j] - nodes[i]
        L = np.linalg.norm(d)
        c, s = d / L
        k = np.outer([c, s], [c, s])
        ke = ea / L * np.block([[k, -k], [-k, k]])
        dofs = np.array([2 * i, 2 * i + 1, 2 * j, 2 * j + 1])
        K[np.ix_(dofs, dofs)] += ke
    return K


def truss_compliance(nodes, elements, EA, load):
    K = truss_stiffness(nodes, elements, EA)
    free = np.arange(4, 2 * len(nodes))
    u = np.zeros(2 * len(nodes))
    u[free] = np.linalg.solve(K[np.ix_(free, free)], load[free])
    return load @ u


sample(
    truss_compliance,
    lambda r: (
        np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.1], [1.1, 1.0]]),
        [(0, 2), (1, 3), (2, 3), (0, 3), (1, 2)],
        1 + r.random(5),
        r.standard_normal(8),
    ),
    ("nodes", "EA"),
    tolerance=1e-5,
)


def assemble_p1(points, triangles, conductivity):
    """The stiffness matrix of linear triangles, all elements at once."""
    p0, p1, p2 = points[triangles[:, 0]], points[triangles[:, 1]], points[triangles[:, 2]]
    e = np.stack([p2 - p1, p0 - p2, p1 - p0], axis=1)
    area = 0.5 * np.abs(e[:, 2, 0] * -e[:, 1, 1] + e[:, 2, 1] * e[:, 1, 0])
    local = np.einsum("eid,ejd->eij", e, e) * (conductivity / (4 * area))[:, None, None]
    n = len(points)
    K = np.zeros((n, n))
    rows = np.repeat(triangles, 3, axis=1)
    cols = np.tile(triangles, (1, 3))
    np.add.at(K, (rows, cols), local.reshape(len(triangles), 9))
    return K


sample(
    assemble_p1,
    lambda r: (
        np.array([[0.0, 0.0], [1.0, 0.1], [1.1, 1.0], [0.0, 0.9]]),
        np.array([[0, 1, 2], [0, 2, 3]]),
        1 + r.random(2),
    ),
    ("points", "conductivity"),
)


def beam_deflection(EI, q, L, n=6):
    h = L / n
    A = np.zeros((n + 1, n + 1))
    b = np.zeros(n + 1)
    for i in range(1, n):
        A[i, i - 1 : i + 2] = np.array([1.0, -2.0, 1.0]) * EI[i] / h**2
        b[i] = q * (i * h) * (L - i * h) / 2
    A[0, 0] = A[n, n] = 1.0
    return np.linalg.solve(A, b)


sample(beam_deflection, lambda r: (1 + r.random(7), 2.0, 3.0), ("EI", "q", "L"))


def hit_sphere(center, radius, origin, direction):
    oc = origin - center
    b = np.dot(oc, direction)
    c = np.dot(oc, oc) - radius * radius
    discriminant = b * b - c
    if discriminant < 0:
        return None
    t = -b - np.sqrt(discriminant)
    return t if t > 1e-4 else None


def trace(origin, direction, spheres, light, depth=0):
    nearest, hit = np.inf, None
    for sphere in spheres:
        t = hit_sphere(sphere["center"], sphere["radius"], origin, direction)
        if t is not None and t < nearest:
            nearest, hit = t, sphere
    if hit is None:
        return np.zeros(3)
    point = origin + nearest * direction
    normal = (point - hit["center"]) / hit["radius"]
    to_light = light - point
    to_light = to_light / np.linalg.norm(to_light)
    color = hit["color"] * max(0.0, np.dot(normal, to_light))
    if depth < 1:
        reflected = direction - 2 * np.dot(direction, normal) * normal
        color = color + 0.3 * trace(point, reflected, spheres, light, depth + 1)
    return color


def render(spheres, light, width, height):
    image = np.zeros((height, width, 3))
    eye = np.array([0.0, 0.0, -3.0])
    for row in range(height):
        for col in range(width):
            target = np.array([(col + 0.5) / width - 0.5, (row + 0.5) / height - 0.5, 0.0])
            direction = (target - eye) / np.linalg.norm(target - eye)
            image[row, col] = np.clip(trace(eye, direction, spheres, light), 0, 1)
    return image


sample(
    render,
    lambda r: (
        [
            {"center": np.array([0.1, 0.0, 1.0]), "radius": 0.8, "color": np.array([0.9, 0.2, 0.1])},
            {"center": np.array([-0.6, 0.4, 0.5]), "radius": 0.4, "color": np.array([0.1, 0.8, 0.3])},
        ],
        np.array([2.0, 2.0, -2.0]),
        3,
        2,
    ),
    ("spheres", "light"),
    tolerance=1e-5,
)


def mandelbrot(re, im, maxiter, horizon):
    C = re + im[:, None] * 1j
    N = np.zeros(C.shape, dtype=np.int64)
    Z = np.zeros(C.shape, dtype=np.complex128)
    for n in range(maxiter):
        I = np.less(abs(Z), horizon)  # noqa: E741
        N[I] = n
        Z[I] = Z[I] ** 2 + C[I]
    N[N == maxiter - 1] = 0
    return np.abs(Z), N


sample(mandelbrot, lambda r: (r.random(3), r.random(2), 4, 2.0), ("re", "im"), tolerance=1e-5)


def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


sample(go_fast, lambda r: (r.standard_normal((3, 3)),))


def azimint_naive(data, radius, npt):
    rmax = radius.max()
    res = np.zeros(npt, dtype=np.float64)
    for i in range(npt):
        r1 = rmax * i / npt
        r2 = rmax * (i + 1) / npt
        mask_r12 = np.logical_and((r1 <= radius), (radius < r2))
        values_r12 = data[mask_r12]
        res[i] = values_r12.mean()
    return res


sample(azimint_naive, lambda r: (r.random(20), np.linspace(0.0, 1.0, 20), 4), "data")


def compute(array_1, array_2, a, b, c):
    return np.clip(array_1, 2, 10) * a + array_2 * b + c


sample(
    compute,
    lambda r: (12 * r.random((2, 3)), 5 * r.random((2, 3)), 4.0, 3.0, 9.0),
    ("array_1", "array_2", "a", "b", "c"),
)


def dispersion_fit(params, k, omega):
    """Named parts of a parameter vector, unpacked with a star."""
    c0, *coeffs = params
    model = c0 * k
    for power, a in enumerate(coeffs, start=2):
        model = model + a * k**power
    return np.sqrt(np.mean((model - omega) ** 2))


sample(dispersion_fit, lambda r: (r.standard_normal(4), r.random(5), r.random(5)), "params")


def michaelis_menten(theta, s0, e0, dt, n):
    k1, k_1, k2 = np.exp(theta)
    s, es, p = s0, 0.0, 0.0
    out = np.zeros((n, 3))
    for i in range(n):
        e = e0 - es
        v1, v_1, v2 = k1 * e * s, k_1 * es, k2 * es
        s += dt * (v_1 - v1)
        es += dt * (v1 - v_1 - v2)
        p += dt * v2
        out[i] = s, es, p
    return out


sample(michaelis_menten, lambda r: (0.3 * r.standard_normal(3), 1.0, 0.5, 0.1, 4), ("theta", "s0", "e0"))


def diffusion_reaction_network(c, k, stoichiometry, orders, dt, steps):
    for _ in range(steps):
        rates = k * np.prod(c[None, :] ** orders, axis=1)
        c = c + dt * stoichiometry.T @ rates
    return c


sample(
    diffusion_reaction_network,
    lambda r: (
        1 + r.random(3),
        r.random(2),
        np.array([[-1, 1, 0], [0, -1, 1]]),
        np.array([[1, 0, 0], [0, 2, 0]]),
        0.1,
        3,
    ),
    ("c", "k"),
)


def fresnel_stack(n, d, wavelength):
    """Transfer matrices of thin films."""
    M = np.eye(2, dtype=complex)
    for j in range(1, len(n) - 1):
        delta = 2 * np.pi * n[j] * d[j] / wavelength
        M = M @ np.array(
            [[np.cos(delta), 1j * np.sin(delta) / n[j]], [1j * n[j] * np.sin(delta), np.cos(delta)]]
        )
    b, c = M @ np.array([1.0, n[-1]])
    r = (n[0] * b - c) / (n[0] * b + c)
    return np.abs(r) ** 2


sample(
    fresnel_stack,
    lambda r: (1 + r.random(4), 0.3 * r.random(4), 0.55),
    ("n", "d", "wavelength"),
)
