"""Find the orbit of an asteroid from eight directions in which it was seen.

The orbit is a loop of Runge-Kutta steps, the observer stands on the Earth, and only angles are
known: no distances.  `jacobian` of the residuals, through all steps, is what `least_squares` asks
for; the same matrix says how well the orbit is known (the cloud of orbits in the picture).

    python examples/orbit.py
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import least_squares

import srcdiff

GM = 4.0 * np.pi**2  # in astronomical units and years
STEPS = 10  # between two nights
NIGHT = 0.05  # years


def slope(state):
    """Velocity and acceleration of a body that the Sun attracts."""
    position, velocity = state[:2], state[2:]
    distance = np.sqrt(np.sum(position**2))
    return np.concatenate((velocity, -GM * position / distance**3))


def orbit(state, nights):
    """Where the body is at every night."""
    places = np.zeros((nights, 2))
    dt = NIGHT / STEPS
    for night in range(nights):
        places[night] = state[:2]
        for _ in range(STEPS):
            k1 = slope(state)
            k2 = slope(state + 0.5 * dt * k1)
            k3 = slope(state + 0.5 * dt * k2)
            k4 = slope(state + dt * k3)
            state = state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return places


def earth(nights):
    """Where we are at every night."""
    angle = 2.0 * np.pi * NIGHT * np.arange(nights)
    return np.stack((np.cos(angle), np.sin(angle)), axis=1)


def residuals(state, seen):
    """How far off the directions of an orbit are, in radians."""
    line = orbit(state, len(seen)) - earth(len(seen))
    off = np.arctan2(line[:, 1], line[:, 0]) - seen
    return np.arctan2(np.sin(off), np.cos(off))


def draw(truth, found, cloud, nights, path):
    """The orbits of a whole revolution, the true one below the one that was found."""
    figure = Figure(figsize=(5.4, 5.4), layout="constrained")
    ax, turn = figure.subplots(), np.linspace(0.0, 2.0 * np.pi, 200)
    for state in cloud:
        ax.plot(*orbit(state, 150).T, color="C1", lw=0.4, alpha=0.5)
    ax.plot(*orbit(truth, 150).T, color="0.3", lw=3, alpha=0.5, label="true orbit")
    ax.plot(*orbit(found, 150).T, color="C1", lw=1.2, label="found, and orbits as likely")
    ax.plot(np.cos(turn), np.sin(turn), color="C0", lw=1, label="Earth")
    for here, there in zip(earth(nights), orbit(truth, nights), strict=True):
        ax.plot(*np.stack((here, there)).T, "o-", color="0.6", ms=2, lw=0.6, zorder=0)
    ax.plot(0, 0, "o", color="gold", ms=12)
    ax.set(aspect="equal", title=f"An orbit from {nights} angles")
    ax.axis("off")
    figure.legend(frameon=False, loc="outside lower center", ncols=3)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)


def main():
    rng = np.random.default_rng(3)
    truth, nights, sigma = np.array([1.7, 0.4, -0.9, 5.6]), 8, 2e-3
    line = orbit(truth, nights) - earth(nights)
    seen = np.arctan2(line[:, 1], line[:, 0]) + sigma * rng.standard_normal(nights)

    jacobian = srcdiff.jacobian(residuals)
    guess = np.array([2.2, 0.3, 0.0, 4.0])
    h = 1e-6 * rng.standard_normal(4)
    difference = (residuals(guess + h, seen) - residuals(guess - h, seen)) / 2.0
    assert np.allclose(jacobian(guess, seen) @ h, difference, rtol=1e-4, atol=1e-11)

    result = least_squares(residuals, guess, jac=jacobian, args=(seen,), x_scale="jac")
    off = np.sqrt(np.mean(result.fun**2))
    print(f"{result.njev} Jacobians of shape {result.jac.shape}, residual {off:.1e} rad")
    J = jacobian(result.x, seen)
    spread = np.linalg.inv(J.T @ J) * sigma**2
    for name, value, error, true in zip(
        ("x", "y", "vx", "vy"), result.x, np.sqrt(np.diag(spread)), truth, strict=True
    ):
        print(f"  {name:2} {value:7.3f} ± {error:.3f}   (true {true})")
    cloud = rng.multivariate_normal(result.x, spread, size=40)
    path = Path(__file__).parent / "build" / "orbit.png"
    draw(truth, result.x, cloud, nights, path)
    print(f"drawn in {path.name}")
    pull = (result.x - truth) @ np.linalg.solve(spread, result.x - truth)
    assert pull < 20.0, "the orbit is not within what the angles say"


if __name__ == "__main__":
    main()
