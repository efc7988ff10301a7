"""Elements, light and other small sciences."""

import numpy as np

from .registry import sample


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
        np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.1], [1.1, 0.9]]),
        [(0, 2), (1, 3), (0, 3), (1, 2), (2, 3)],
        1 + r.random(5),
        r.standard_normal(8),
    ),
    ("nodes", "EA", "load"),
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
            {
                "center": np.array([0.1, 0.0, 1.0]),
                "radius": 0.8,
                "color": np.array([0.9, 0.2, 0.1]),
            },
            {
                "center": np.array([-0.6, 0.4, 0.5]),
                "radius": 0.4,
                "color": np.array([0.1, 0.8, 0.3]),
            },
        ],
        np.array([2.0, 2.0, -2.0]),
        3,
        2,
    ),
    ("spheres", "light"),
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


sample(mandelbrot, lambda r: (r.random(3), r.random(2), 4, 2.0), ("re", "im"))


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


sample(
    dispersion_fit,
    lambda r: (r.standard_normal(4), r.random(5), r.random(5)),
    ("params", "k", "omega"),
)


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


sample(
    michaelis_menten,
    lambda r: (0.3 * r.standard_normal(3), 1.0, 0.5, 0.1, 4),
    ("theta", "s0", "e0"),
)


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
