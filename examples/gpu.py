"""The same gradient by NumPy and by CuPy: what a heated plate at the end owes to its start.

The function is written for NumPy.  Called with arrays of CuPy, `value_and_grad` differentiates it
for the GPU; without one, the example runs with NumPy alone and says so.

    python examples/gpu.py
"""

from __future__ import annotations

import time
from pathlib import Path
from types import ModuleType

import numpy as np
from matplotlib.figure import Figure

import srcdiff

RATE, STEPS = 0.24, 300


def heat_at_window(u, conductivity, window):
    """How much heat arrives at a window of the plate after all steps."""
    u = u.copy()
    for _ in range(STEPS):
        flow_down = conductivity[1:] * (u[1:] - u[:-1])
        flow_right = conductivity[:, 1:] * (u[:, 1:] - u[:, :-1])
        u[:-1] += RATE * flow_down
        u[1:] -= RATE * flow_down
        u[:, :-1] += RATE * flow_right
        u[:, 1:] -= RATE * flow_right
    return np.sum(u * window)


def array_module() -> tuple[ModuleType, str]:
    """CuPy and the name of its GPU, or NumPy."""
    try:
        import cupy

        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        return cupy, f"CuPy {cupy.__version__} on {name}"
    except Exception as error:  # no CuPy, no driver, no GPU: each has an error of its own
        return np, f"NumPy {np.__version__} on the CPU ({type(error).__name__}: no GPU with CuPy)"


def host(array) -> np.ndarray:
    """An array of CuPy, or of NumPy, as one of NumPy."""
    return array.get() if hasattr(array, "get") else array


def seconds(xp: ModuleType, call) -> float:
    """The time of one call, once it has been compiled; a GPU is waited for."""
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        call()
        if xp is not np:
            xp.cuda.Stream.null.synchronize()
        best = min(best, time.perf_counter() - start)
    return best


def plate(n):
    """Warmth at first, a wall that conducts badly but for a gap, and a window behind it."""
    y, x = np.mgrid[0:n, 0:n] / n
    u = np.exp(-60.0 * ((x - 0.3) ** 2 + (y - 0.35) ** 2))
    conductivity = np.ones((n, n))
    conductivity[(abs(x - 0.52) < 0.03) & (abs(y - 0.6) > 0.08)] = 0.02
    window = np.exp(-400.0 * ((x - 0.68) ** 2 + (y - 0.5) ** 2))
    return u, conductivity, window


def draw(start, conductivity, d_start, d_conductivity, path):
    """The plate, and both gradients."""
    figure = Figure(figsize=(10, 3.4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    left.imshow(start, cmap="inferno")
    middle.imshow(d_start, cmap="viridis")
    most = abs(d_conductivity).max() / 2.0
    right.imshow(d_conductivity, cmap="PuOr", vmin=-most, vmax=most)
    titles = "warm spot", "heat from here arrives", "better conduction here helps"
    for ax, title in zip((left, middle, right), titles, strict=True):
        ax.contour(conductivity, levels=[0.5], colors="w" if ax is not right else "k", linewidths=1)
        ax.set(title=title, xticks=[], yticks=[])
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


def main() -> None:
    """Run it where there is most to run it on, and compare with a difference."""
    xp, where = array_module()
    print(f"running with {where}")
    u, conductivity, window = (xp.asarray(a) for a in plate(64))
    value_and_grad = srcdiff.value_and_grad(heat_at_window, inputs=("u", "conductivity"))
    value, (d_u, d_conductivity) = value_and_grad(u, conductivity, window)

    h = 1e-5 * xp.asarray(np.random.default_rng(0).standard_normal(u.shape))
    ahead, back = (heat_at_window(u, conductivity + s * h, window) for s in (1.0, -1.0))
    assert np.isclose(float((d_conductivity * h).sum()), float(ahead - back) / 2.0, rtol=1e-4)
    # The function is linear in the field, so that its gradient times the field is its value.
    print(f"heat that arrives {float(value):.4f}; by the gradient {float((d_u * u).sum()):.4f}")
    took = seconds(xp, lambda: value_and_grad(u, conductivity, window))
    alone = seconds(xp, lambda: heat_at_window(u, conductivity, window))
    print(f"the function takes {1e3 * alone:.2f} ms, with both gradients {1e3 * took:.2f} ms")
    path = Path(__file__).parent / "build" / "gpu.png"
    draw(*map(host, (u, conductivity, d_u, d_conductivity)), path)
    print(f"drawn in {path.name}")


if __name__ == "__main__":
    main()
