"""Cool a cluster of atoms until it freezes: loops over pairs and their gradient, compiled by Numba.

Fifty-five atoms attract each other by the Lennard-Jones potential, written as loops over
numbers.  `value_and_grad(energy, compile="numba")` lets Numba compile what srcdiff wrote; molecular
dynamics with friction follows its forces from a hot drop to a crystal.

    python examples/compiled.py
"""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize

import srcdiff

ATOMS, BEST = 55, -279.248


def energy(x):
    """Of all pairs of atoms."""
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            d2 = 0.0
            for k in range(3):
                d2 += (x[i, k] - x[j, k]) ** 2
            s6 = 1.0 / d2**3
            total += 4.0 * (s6 * s6 - s6)
    return total


def drop(rng):
    """Atoms of a dense lattice around the origin, shaken."""
    lattice = np.argwhere(np.ones((7, 7, 7), dtype=bool)) - 3
    lattice = lattice[lattice.sum(axis=1) % 2 == 0]
    nearest = np.argsort(np.sum(lattice**2, axis=1), kind="stable")[:ATOMS]
    return 0.85 * lattice[nearest] + 0.05 * rng.standard_normal((ATOMS, 3))


def anneal(value_and_grad, x, rng, steps=60_000, dt=0.005, hot=0.35):
    """Langevin dynamics while the temperature falls from `hot` to zero; energies on the way."""
    v, energies = np.zeros_like(x), np.zeros(steps)
    energies[0], slope = value_and_grad(x)
    for i in range(1, steps):
        v -= 0.5 * dt * slope
        x = x + dt * v
        energies[i], slope = value_and_grad(x)
        slope += 0.02 * x  # holds the drop together while it is hot
        v -= 0.5 * dt * slope
        warmth = 0.002 * hot * (1.0 - i / steps)
        v = 0.999 * v + np.sqrt(warmth) * rng.standard_normal(x.shape)
    return x, energies


def seconds(f, *args):
    """The best time of three calls."""
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        f(*args)
        best = min(best, time.perf_counter() - start)
    return best


def draw(clusters, energies, path):
    """The drop before and after, coloured by depth, with bonds; and the energy while it cools."""
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    for i, (title, x) in enumerate(clusters.items()):
        ax = figure.add_subplot(1, 3, 1 + i, projection="3d")
        apart = np.linalg.norm(x[:, None] - x[None], axis=2)
        for a, b in np.argwhere(np.triu(apart < 1.35, 1)):
            ax.plot(*x[[a, b]].T, color="0.6", lw=0.8)
        ax.scatter(*x.T, c=np.linalg.norm(x - x.mean(axis=0), axis=1), cmap="plasma_r", s=90,
                   edgecolors="k", linewidths=0.4, depthshade=False)  # fmt: skip
        ax.set(title=title, aspect="equal")
        ax.set_box_aspect(None, zoom=1.5)
        ax.axis("off")
    ax = figure.add_subplot(1, 3, 3)
    smooth = energies[: len(energies) // 100 * 100].reshape(-1, 100).mean(axis=1)
    ax.plot(np.arange(len(smooth)) / 10.0, smooth, lw=0.8)
    ax.axhline(BEST, color="0.5", lw=1, ls="--")
    ax.text(0.0, BEST + 1.5, "icosahedron", color="0.4", fontsize=8)
    ax.set(xlabel="thousand steps", title="energy")
    ax.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


def main():
    rng = np.random.default_rng(0)
    start = drop(rng)
    native = srcdiff.value_and_grad(energy, compile="numba")
    plain = srcdiff.value_and_grad(energy)

    h = 1e-6 * rng.standard_normal(start.shape)
    difference = (energy(start + h) - energy(start - h)) / 2.0
    assert np.isclose(np.sum(native(start)[1] * h), difference, rtol=1e-5)
    fast, slow = seconds(native, start), seconds(plain, start)
    print(f"energy and forces: {1e3 * slow:.1f} ms by Python, {1e6 * fast:.0f} µs by Numba", end="")
    print(f" ({slow / fast:.0f} times as fast)")

    cold, energies = anneal(native, start, rng)

    def objective(vector):
        value, gradient = native(vector.reshape(-1, 3))
        return value, gradient.ravel()

    rest = minimize(objective, cold.ravel(), jac=True, method="L-BFGS-B")
    print(f"energy {energies[0]:.1f} at first, {rest.fun:.2f} frozen", end="")
    print(f" (of the icosahedron, the best that is known: {BEST})")
    path = Path(__file__).parent / "build" / "compiled.png"
    draw({"a drop": start, "frozen": rest.x.reshape(-1, 3)}, energies, path)
    print(f"drawn in {path.name}")
    assert rest.fun < 0.93 * BEST and fast < 0.1 * slow


if __name__ == "__main__":
    main()
