"""Let a chain hang: Newton's method with `hessian` against steepest descent with `grad`.

Forty links are springs with weights between two nails, beside a round beam that pushes them away.
The energy is a loop over the links.  `hessian` gives the matrix of Newton's method; damping makes
it positive where the energy is not convex.

    python examples/newton.py
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

import srcdiff

LINKS, LENGTH, STIFF, WEIGHT = 40, 0.05, 200.0, 0.05
NAILS = np.array([[0.0, 0.0], [1.0, 0.25]])
BEAM, RADIUS = np.array([0.25, -0.75]), 0.2


def energy(free):
    """Of the chain whose inner joints are at `free`: stretched links, weights, and the beam."""
    joints = np.zeros((LINKS + 1, 2))
    joints[0], joints[-1] = NAILS
    joints[1:-1] = free.reshape(-1, 2)
    total = WEIGHT * np.sum(joints[:, 1])
    for i in range(LINKS):
        stretch = np.linalg.norm(joints[i + 1] - joints[i]) - LENGTH
        total += 0.5 * STIFF * stretch**2
    depth = RADIUS - np.sqrt(np.sum((joints - BEAM) ** 2, axis=1))
    return total + 0.5 * STIFF * np.sum(np.maximum(depth, 0.0) ** 2)


def newton(f, x, tolerance=1e-10):
    """The minimum, and the norm of the gradient before every step."""
    gradient, hessian = srcdiff.grad(f), srcdiff.hessian(f)
    norms, shapes, damping = [], [x], 1.0
    while True:
        g = gradient(x)
        norms.append(np.linalg.norm(g))
        if norms[-1] < tolerance:
            return x, norms, shapes
        H = hessian(x)
        while True:
            lowest = np.linalg.eigvalsh(H)[0]
            shift = damping * norms[-1] + max(0.0, -1.1 * lowest)
            step = np.linalg.solve(H + shift * np.eye(len(x)), -g)
            if f(x + step) <= f(x) + 1e-4 * (g @ step):
                break
            damping *= 4.0
        x, damping = x + step, damping / 4.0
        shapes.append(x)


def descent(f, x, steps, rate=2e-3):
    """The norm of the gradient before every step of steepest descent."""
    gradient, norms = srcdiff.grad(f), []
    for _ in range(steps):
        g = gradient(x)
        norms.append(np.linalg.norm(g))
        x = x - rate * g
    return norms


def draw(shapes, norms, slow, path):
    """The chain on its way down, and how fast either method comes to rest."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.add_patch(Circle(BEAM, RADIUS, color="0.85"))
    for i, shape in enumerate(shapes):
        joints = np.vstack((NAILS[:1], shape.reshape(-1, 2), NAILS[1:]))
        last = i == len(shapes) - 1
        left.plot(*joints.T, ".-" if last else "-", color="C3" if last else "C0", ms=4,
                  lw=1.5 if last else 0.6, alpha=1.0 if last else 0.35)  # fmt: skip
    left.plot(*NAILS.T, "o", color="0.2")
    left.set(aspect="equal", title=f"{len(shapes) - 1} steps of Newton")
    left.axis("off")
    right.semilogy(norms, ".-", color="C3", label="Newton")
    right.semilogy(slow, color="C0", label="steepest descent")
    right.set(xlabel="step", title="norm of the gradient")
    right.legend(frameon=False)
    right.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)


def main():
    along = np.linspace(0.0, 1.0, LINKS + 1)[1:-1, None]
    start = NAILS[0] + along * (NAILS[1] - NAILS[0])
    start[:, 1:] -= 3.2 * along * (1.0 - along)
    start = start.ravel()
    h = 1e-5 * np.random.default_rng(0).standard_normal(start.shape)
    difference = (srcdiff.grad(energy)(start + h) - srcdiff.grad(energy)(start - h)) / 2.0
    assert np.allclose(srcdiff.hessian(energy)(start) @ h, difference, rtol=1e-3, atol=1e-8)

    found, norms, shapes = newton(energy, start)
    slow = descent(energy, start, len(norms))
    print(f"energy {energy(start):.4f} at first, {energy(found):.4f} at rest")
    print("norm of the gradient, Newton:", " ".join(f"{n:.0e}" for n in norms[-6:]))
    print(f"steepest descent after as many steps: {slow[-1]:.0e}")
    path = Path(__file__).parent / "build" / "newton.png"
    draw(shapes, norms, slow, path)
    print(f"drawn in {path.name}")


if __name__ == "__main__":
    main()
