"""Stir smoke so that it ends up as a letter: a fluid solver run backwards.

Stam's stable fluids: advection along the flow and a projection that keeps it free of divergence,
in a loop.  `value_and_grad` by the first velocities differentiates all steps, with their
interpolation by computed indices, and SciPy finds how to stir.

    python examples/fluid.py
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path as Outline
from matplotlib.textpath import TextPath
from scipy.optimize import minimize
from tqdm import tqdm

import srcdiff

N, STEPS, SWEEPS = 40, 20, 12


def project(vx, vy):
    """The flow without the part that has sources, found by sweeps of Jacobi."""
    divergence = -0.5 * (np.roll(vx, -1, 0) - np.roll(vx, 1, 0))
    divergence -= 0.5 * (np.roll(vy, -1, 1) - np.roll(vy, 1, 1))
    p = np.zeros_like(vx)
    for _ in range(SWEEPS):
        around = np.roll(p, 1, 0) + np.roll(p, -1, 0) + np.roll(p, 1, 1) + np.roll(p, -1, 1)
        p = 0.25 * (divergence + around)
    vx = vx - 0.5 * (np.roll(p, -1, 0) - np.roll(p, 1, 0))
    vy = vy - 0.5 * (np.roll(p, -1, 1) - np.roll(p, 1, 1))
    return vx, vy


def advect(f, vx, vy):
    """What the flow carries to every cell: the value at the place where it comes from."""
    x, y = np.mgrid[0:N, 0:N]
    x, y = x - vx, y - vy
    left, low = np.floor(x).astype(int), np.floor(y).astype(int)
    rx, ry = x - left, y - low
    left, low = left % N, low % N
    right, high = (left + 1) % N, (low + 1) % N
    below = (1.0 - rx) * f[left, low] + rx * f[right, low]
    above = (1.0 - rx) * f[left, high] + rx * f[right, high]
    return (1.0 - ry) * below + ry * above


def simulate(smoke, vx, vy):
    """Smoke and flow after all steps."""
    vx, vy = project(vx, vy)
    for _ in range(STEPS):
        vx, vy = project(advect(vx, vx, vy), advect(vy, vx, vy))
        smoke = advect(smoke, vx, vy)
    return smoke


def misfit(velocity, smoke, target):
    """How far the smoke is from the letter."""
    vx, vy = velocity.reshape(2, N, N)
    return np.mean((simulate(smoke, vx, vy) - target) ** 2)


def letter(text):
    """A letter as smoke: one inside of its outline, with soft edges."""
    outline = TextPath((0, 0), text, size=34, prop=FontProperties(weight="bold"))
    low, high = outline.vertices.min(axis=0), outline.vertices.max(axis=0)
    corner = (N - (high - low)) / 2.0 - low
    fine = np.stack(np.meshgrid(np.arange(4 * N), np.arange(4 * N), indexing="ij"), axis=-1) / 4.0
    inside = Outline(outline.vertices + corner, outline.codes).contains_points(fine.reshape(-1, 2))
    return inside.reshape(N, 4, N, 4).mean(axis=(1, 3))


def draw(velocity, smoke, target, path):
    """The flow at first, the smoke before and after, and the letter."""
    vx, vy = project(*velocity.reshape(2, N, N))
    figure = Figure(figsize=(11, 2.95), layout="constrained")
    panels = {"smoke": smoke, "stirred like this": None,
              "20 steps later": simulate(smoke, vx, vy), "wanted": target}  # fmt: skip
    for ax, (title, field) in zip(figure.subplots(1, 4), panels.items(), strict=True):
        if field is None:
            x, y = np.mgrid[0:N:2, 0:N:2]
            speed = np.hypot(vx, vy)[::2, ::2]
            ax.quiver(x, y, vx[::2, ::2], vy[::2, ::2], speed, cmap="viridis")
            ax.set_aspect("equal")
        else:
            ax.imshow(field.T, origin="lower", cmap="Greys", vmin=0.0, vmax=1.0)
        ax.set(title=title, xticks=[], yticks=[])
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


def main():
    target = letter("S")
    smoke = np.zeros((N, N))
    smoke[:, 16:24] = np.sum(target) / (8.0 * N)
    value_and_grad = srcdiff.value_and_grad(misfit)

    velocity, h = np.random.default_rng(0).standard_normal((2, 2 * N * N)) * [[0.1], [1e-7]]
    difference = misfit(velocity + h, smoke, target) - misfit(velocity - h, smoke, target)
    assert np.isclose(value_and_grad(velocity, smoke, target)[1] @ h, difference / 2.0, rtol=1e-3)

    bar = tqdm(total=100, unit="step", mininterval=0.5)
    found = minimize(
        value_and_grad,
        np.zeros(2 * N * N),
        args=(smoke, target),
        jac=True,
        method="L-BFGS-B",
        callback=lambda _: bar.update(),
        options={"maxiter": bar.total},
    )
    bar.close()
    before = misfit(0.0 * velocity, smoke, target)
    print(f"{found.nfev} gradients of {STEPS} steps")
    print(f"the misfit falls from {before:.3f} to {found.fun:.3f}")
    path = Path(__file__).parent / "build" / "fluid.png"
    draw(found.x, smoke, target, path)
    print(f"drawn in {path.name}")
    assert found.fun < 0.4 * before


if __name__ == "__main__":
    main()
