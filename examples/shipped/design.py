"""Design a lens with a gradient from a file: srcdiff is not imported, and need not be installed.

`lens_grad.py` was written by `srcdiff generate --all` in this folder, from `lens.py` and what
`pyproject.toml` says (`value = true`: value and gradient), and is committed.  A hook of pre-commit
(`.pre-commit-config.yaml`) checks that it is up to date.

    python examples/shipped/design.py
"""

import sys
from pathlib import Path

import numpy as np
from lens import SCREEN, at_screen, blur, surface
from lens_grad import blur_value_and_grad
from matplotlib.figure import Figure
from scipy.optimize import minimize


def draw(lenses, heights, path):
    """Each lens with rays through it, and the spot on the screen enlarged."""
    figure = Figure(figsize=(9, 5), layout="constrained")
    rows = figure.subplots(2, 2, width_ratios=(3, 1))
    for row, (title, shape) in zip(rows, lenses.items(), strict=True):
        ax, spot = row
        y = np.linspace(-1.1, 1.1, 100)
        ax.fill_betweenx(y, -0.5, surface(shape, y)[0], color="C0", alpha=0.25, lw=0)
        z, end = surface(shape, heights)[0], at_screen(shape, heights)
        rays = np.array([0.0 * z - 1.0, z, 0.0 * z + SCREEN]), np.array([heights, heights, end])
        for where in row:
            where.plot(*rays, color="C1", lw=0.7)
            where.axvline(SCREEN, color="0.3", lw=1)
        ax.set(title=title, xlim=(-1.0, SCREEN + 0.05), ylim=(-1.15, 1.15), aspect="equal")
        ax.axis("off")
        spot.set(title="at the screen", xlim=(2.7, 3.1), ylim=(-0.1, 0.1), xticks=[], yticks=[])
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


def main():
    heights = np.linspace(-1.0, 1.0, 21)
    start = np.array([-1.0 / 3.0, 0.0, 0.0])
    h = 1e-6 * np.random.default_rng(0).standard_normal(3)
    difference = (blur(start + h, heights) - blur(start - h, heights)) / 2.0
    assert np.isclose(blur_value_and_grad(start, heights)[1] @ h, difference, rtol=1e-5)

    def objective(steps):
        value, gradient = blur_value_and_grad(start + 0.01 * steps, heights)
        return np.log(value), 0.01 * gradient / value

    found = minimize(objective, np.zeros(3), jac=True, method="BFGS")
    designed = start + 0.01 * found.x
    before, after = (1e3 * np.sqrt(blur(s, heights)) for s in (start, designed))
    print(f"{found.nfev} gradients; the spot shrinks from {before:.1f} to {after:.3f} thousandths")
    path = Path(__file__).parent.parent / "build" / "shipped.png"
    draw({"a parabola": start, "designed by its gradient": designed}, heights, path)
    print(f"drawn in {path.name}")
    assert after < 0.1 * before and "srcdiff" not in sys.modules


if __name__ == "__main__":
    main()
