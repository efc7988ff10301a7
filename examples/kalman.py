"""Smooth the floods of the Nile: a Kalman filter, its likelihood, and the smoother as a derivative.

The river's yearly volume (1871 to 1970, from Durbin and Koopman's book on state space methods) is a
level that wanders, plus noise.  The filter is an ordinary loop that writes into an array.

* `grad` of the likelihood by the two variances finds them (the book has 15099 and 1469.1);
* nobody writes the smoother: what the noise of a year was, given all years, is the gradient of
  the likelihood by the observations, and its uncertainty is in `hessian`.

    python examples/kalman.py
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize

import srcdiff

YEARS = np.arange(1871, 1971)
NILE = np.array([
    1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180,
    799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833,
    701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768,
    845, 864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822, 1010,
    771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890, 744, 749, 838, 1050, 918,
    986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
], dtype=float)  # fmt: skip


def innovations(y, noise, drift):
    """One step of the filter after the other: by how much each year surprises, and the variance."""
    surprise, variance = np.zeros(len(y)), np.zeros(len(y))
    level, uncertain = y[0], noise
    for t in range(1, len(y)):
        uncertain = uncertain + drift
        surprise[t] = y[t] - level
        variance[t] = uncertain + noise
        gain = uncertain / variance[t]
        level = level + gain * surprise[t]
        uncertain = uncertain * (1.0 - gain)
    return surprise[1:], variance[1:]


def log_likelihood(logs, y):
    """Of the logarithms of the two variances; the first year tells the level alone."""
    noise, drift = np.exp(logs)
    v, f = innovations(y, noise, drift)
    return -0.5 * np.sum(np.log(2.0 * np.pi * f) + v * v / f)


def smooth(logs, y):
    """The level of every year given all years, and its standard deviation."""
    noise = np.exp(logs[0])
    slope = srcdiff.grad(log_likelihood, inputs="y")(logs, y)
    curvature = srcdiff.hessian(log_likelihood, inputs="y")(logs, y)
    level = y + noise * slope
    return level, np.sqrt(noise + noise**2 * np.diag(curvature))


def draw(level, spread, path):
    """Observations and the level with two standard deviations on either side."""
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    ax = figure.subplots()
    ax.fill_between(YEARS, level - 2 * spread, level + 2 * spread, color="C0", alpha=0.2, lw=0)
    ax.plot(YEARS, NILE, "o", ms=3, color="0.35", label="observed")
    formula = r"$y + \sigma^2\, \partial \log L / \partial y$"
    ax.plot(YEARS, level, color="C0", label=f"level: {formula}")
    ax.axvline(1899, color="0.7", lw=1, zorder=0)
    ax.text(1900, 1330, "dam at Aswan begun", color="0.4", fontsize=8)
    ax.set(ylabel="10⁸ m³ a year", title="The Nile, smoothed by a gradient")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)


def main():
    value_and_grad = srcdiff.value_and_grad(log_likelihood)
    start = np.log([np.var(NILE), np.var(NILE)])
    h = np.array([1e-5, -2e-5])
    difference = log_likelihood(start + h, NILE) - log_likelihood(start - h, NILE)
    assert np.isclose(value_and_grad(start, NILE)[1] @ h, difference / 2.0, rtol=1e-6)

    def objective(logs):
        value, gradient = value_and_grad(logs, NILE)
        return -value, -gradient

    found = minimize(objective, start, jac=True, method="BFGS")
    noise, drift = np.exp(found.x)
    print(value_and_grad.source)
    print(f"variance of the noise {noise:7.1f}   (Durbin and Koopman: 15099.0)")
    print(f"variance of the drift {drift:7.1f}   (Durbin and Koopman:  1469.1)")
    print(f"log-likelihood {-found.fun:.2f} after {found.nfev} gradients")
    level, spread = smooth(found.x, NILE)
    print(f"level in 1898: {level[27]:.0f} ± {spread[27]:.0f}, in 1900: {level[29]:.0f}")
    path = Path(__file__).parent / "build" / "kalman.png"
    draw(level, spread, path)
    print(f"drawn in {path.name}")
    assert abs(noise - 15099.0) < 5.0 and abs(drift - 1469.1) < 5.0


if __name__ == "__main__":
    main()
