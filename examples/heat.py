"""Recover the temperature field that a plate started from, given what it looks like later.

The simulation is an ordinary time loop that writes into two buffers in turn.  `value_and_grad` by
the first field writes its gradient, and gradient descent with momentum finds that field.

    python examples/heat.py

Draws the fields as text, and as `examples/build/heat.png`.
"""

import os
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import srcdiff

STEPS = 40
ALPHA = 0.15


def simulate(u0, alpha, steps):
    """The field after many explicit steps; its rim keeps its temperature."""
    u = u0.copy()
    new = u0.copy()
    for _ in range(steps):
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + alpha * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        )
        u, new = new, u
    return u


def misfit(u0, observed, alpha, steps):
    """How far the simulated final field is from the observed one."""
    difference = simulate(u0, alpha, steps) - observed
    return 0.5 * np.sum(difference**2)


def true_field(n=32):
    """Two warm spots and a cold bar on a plate."""
    y, x = np.mgrid[0 : 1 : n * 1j, 0 : 1 : n * 1j]
    field = np.exp(-80.0 * ((x - 0.3) ** 2 + (y - 0.35) ** 2))
    field += 0.8 * np.exp(-120.0 * ((x - 0.7) ** 2 + (y - 0.6) ** 2))
    field -= 0.7 * np.exp(-12.0 * (x - 0.4) ** 2 - 150.0 * (y - 0.82) ** 2)
    return field


def descend(observed, iterations=400, rate=0.9, momentum=0.95):
    """Gradient descent with momentum from a plate at temperature zero."""
    value_and_grad = srcdiff.value_and_grad(misfit, inputs="u0")
    u0 = np.zeros_like(observed)
    speed = np.zeros_like(observed)
    first = None
    for i in range(iterations):
        value, gradient = value_and_grad(u0, observed, ALPHA, STEPS)
        if i == 0:
            first = value
            print("The gradient that srcdiff wrote for `misfit`:\n")
            print(value_and_grad.source)
        speed = momentum * speed - rate * gradient
        u0 = u0 + speed
        if i % 50 == 0 or i == iterations - 1:
            print(f"  iteration {i:3d}   misfit {value:.3e}   ({value / first:.1e} of the first)")
    return u0


def as_text(field):
    """Every second row of a field as characters: warm ones `.:-=+*#%@`, cold ones `,;oO`."""

    def character(value):
        shades, level = (" .:-=+*#%@", value) if value >= 0.0 else (" ,;oO", -value / 0.6)
        return shades[round(min(level, 1.0) * (len(shades) - 1))]

    return ["".join(character(v) for v in row) for row in field[::2]]


def draw(fields, path):
    """The fields side by side, as text and as a picture."""
    rows = zip(*(as_text(f) for f in fields.values()), strict=True)
    width = next(iter(fields.values())).shape[1]
    print("   ".join(f"{name:<{width}}" for name in fields))
    print("\n".join("   ".join(row).rstrip() for row in rows))

    path.parent.mkdir(exist_ok=True)
    figure = Figure(figsize=(3.2 * len(fields), 3.6), layout="constrained")
    for ax, (name, field) in zip(figure.subplots(1, len(fields)), fields.items(), strict=True):
        ax.imshow(field, vmin=-1.0, vmax=1.0, cmap="coolwarm")
        ax.set_title(name)
        ax.axis("off")
    figure.savefig(path, dpi=120)
    print(f"drawn in {os.path.relpath(path)}")


def main():
    truth = true_field()
    observed = simulate(truth, ALPHA, STEPS)
    h = 1e-4 * np.random.default_rng(0).standard_normal(truth.shape)
    difference = misfit(h, observed, ALPHA, STEPS) - misfit(-h, observed, ALPHA, STEPS)
    slope = srcdiff.grad(misfit)(0.0 * truth, observed, ALPHA, STEPS)
    assert np.isclose(np.sum(slope * h), difference / 2.0, rtol=1e-6)

    began = time.perf_counter()
    found = descend(observed)
    print(f"{time.perf_counter() - began:.1f} s")
    error = np.linalg.norm(found - truth) / np.linalg.norm(truth)
    print(f"relative error of the recovered field: {error:.1%}\n")
    if error > 0.2:
        raise SystemExit("the field was not recovered")
    fields = {"observed": observed, "true start": truth, "recovered start": found}
    draw(fields, Path(__file__).parent / "build" / "heat.png")


if __name__ == "__main__":
    main()
