"""Look into the ground: find how fast sound travels below from the echoes of a few shots.

The wave equation in two dimensions is a loop of 220 steps; the misfit of its echoes is minimised by
the speed in every cell, with `value_and_grad`.  `checkpointed` keeps 12 states of the loop instead
of 220, and computes the others again on the way back; the example measures the memory.

    python examples/waves.py
"""

import tracemalloc
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize
from tqdm import tqdm

import srcdiff

DEEP, WIDE, STEPS, SLOTS = 40, 60, 220, 12
SHOTS = np.array([4, 21, 38, 55])
SURFACE = 6  # rows that are known

_x = np.minimum(np.arange(WIDE), np.arange(WIDE)[::-1])
_y = np.minimum(np.arange(DEEP), np.arange(DEEP)[::-1])
SPONGE = 1.0 - 0.0015 * np.maximum(8 - np.minimum(_y[:, None], _x), 0.0) ** 2


def pulse(t):
    """The wavelet of a shot."""
    a = (0.15 * (t - 20.0)) ** 2
    return (1.0 - 2.0 * a) * np.exp(-a)


def advance(old, now, c2, t):
    """One step of the waves of all shots; the rim swallows them."""
    new = 2.0 * now - old
    new[:, 1:-1, 1:-1] += c2[1:-1, 1:-1] * (
        now[:, 2:, 1:-1] + now[:, :-2, 1:-1] + now[:, 1:-1, 2:] + now[:, 1:-1, :-2]
        - 4.0 * now[:, 1:-1, 1:-1]
    )  # fmt: skip
    new[np.arange(len(SHOTS)), 3, SHOTS] += pulse(t)
    return SPONGE * now, SPONGE * new


def record(c2):
    """What a row of microphones near the surface hears of every shot, at every step."""
    old, now = np.zeros((2, len(SHOTS), DEEP, WIDE))
    heard = []
    for t in range(STEPS):
        old, now = advance(old, now, c2, t)
        heard.append(now[:, 4])
    return np.array(heard)


def misfit(c2, heard):
    """How far the echoes are from the recorded ones; rough grounds cost a little."""
    old, now = np.zeros((2, len(SHOTS), DEEP, WIDE))
    total = 0.0
    for t in srcdiff.checkpointed(range(STEPS), slots=SLOTS):
        old, now = advance(old, now, c2, t)
        total += np.sum((now[:, 4] - heard[t]) ** 2)
    rough = np.sum(np.diff(c2, axis=0) ** 2) + np.sum(np.diff(c2, axis=1) ** 2)
    return 50.0 * total + 3.0 * rough


def ground():
    """The square of the speed: slow sediment above a fast, folded layer with a lens of salt."""
    y, x = np.mgrid[0:DEEP, 0:WIDE]
    c2 = np.full((DEEP, WIDE), 0.10)
    c2[y > 22 + 4.0 * np.sin(x / 9.0)] = 0.16
    c2[((x - 20) / 7.0) ** 2 + ((y - 15) / 3.5) ** 2 < 1.0] = 0.16
    return c2


def peak(f, *args):
    """The most memory that a call takes, in megabytes."""
    tracemalloc.start()
    f(*args)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


def draw(panels, path):
    """The grounds side by side; stars are shots."""
    figure = Figure(figsize=(11, 2.6), layout="constrained")
    for ax, (title, field) in zip(figure.subplots(1, 3), panels.items(), strict=True):
        shown = ax.imshow(np.sqrt(field), cmap="cividis", vmin=0.29, vmax=0.42)
        ax.plot(SHOTS, [3] * len(SHOTS), "*", color="w", ms=8)
        ax.set(title=title, xticks=[], yticks=[])
    figure.colorbar(shown, ax=figure.axes, label="cells a step", shrink=0.8)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


def main():
    truth = ground()
    heard = record(truth)
    start = 0.10 + 0.06 * np.linspace(0.0, 1.0, DEEP)[:, None] * np.ones((1, WIDE))
    start[:SURFACE] = truth[:SURFACE]
    value_and_grad = srcdiff.value_and_grad(misfit)

    h = 1e-5 * np.random.default_rng(0).standard_normal(start.shape)
    difference = misfit(start + h, heard) - misfit(start - h, heard)
    first, gradient = value_and_grad(start, heard)
    assert np.isclose(np.sum(gradient * h), difference / 2.0, rtol=1e-3)
    memory, states = peak(value_and_grad, start, heard), 2 * STEPS * len(SHOTS) * start.nbytes / 1e6
    print(f"a gradient takes {memory:.1f} MB; all states of the loop are {states:.1f} MB")

    def objective(below):
        c2 = np.concatenate((start[:SURFACE], below.reshape(-1, WIDE)))
        value, gradient = value_and_grad(c2, heard)
        return value, gradient[SURFACE:].ravel()

    bar = tqdm(total=24, unit="step", mininterval=0.5)
    found = minimize(
        objective,
        start[SURFACE:].ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.06, 0.2)] * (start.size - SURFACE * WIDE),
        callback=lambda _: bar.update(),
        options={"maxiter": bar.total},
    )
    bar.close()
    c2 = np.concatenate((start[:SURFACE], found.x.reshape(-1, WIDE)))
    print(f"{found.nfev} gradients; misfit {first:.2f} at first, {found.fun:.2f} now")
    panels = {"true ground": truth, "first guess": start, "found from echoes": c2}
    path = Path(__file__).parent / "build" / "waves.png"
    draw(panels, path)
    print(f"drawn in {path.name}")
    assert found.fun < 0.1 * first


if __name__ == "__main__":
    main()
