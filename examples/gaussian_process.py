"""A Gaussian process on real heights: 500 points of a valley say what lies between them.

The heights are of the Jacksboro fault in Tennessee and come with Matplotlib.  A covariance of two
lengths, a height and a noise has four parameters; `value_and_grad` of the marginal likelihood,
through Cholesky and a triangular solve, gives SciPy what it needs to find them.

    python examples/gaussian_process.py
"""

from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.cbook import get_sample_data
from matplotlib.colors import LightSource
from matplotlib.figure import Figure
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

import srcdiff


def covariance(theta, a, b):
    """Smooth hills along two directions of their own lengths, of a height of their own."""
    south, east, height, _ = np.exp(theta)
    d2 = ((a[:, None, 0] - b[None, :, 0]) / south) ** 2
    d2 = d2 + ((a[:, None, 1] - b[None, :, 1]) / east) ** 2
    return height**2 / (1.0 + 0.5 * d2)


def log_likelihood(theta, x, y):
    """How probable the heights `y` at the places `x` are."""
    K = covariance(theta, x, x) + np.exp(2.0 * theta[3]) * np.eye(len(x))
    L = np.linalg.cholesky(K)
    whitened = solve_triangular(L, y, lower=True)
    return -0.5 * np.sum(whitened**2) - np.sum(np.log(np.diag(L))) - 0.919 * len(y)


def predict(theta, x, y, places):
    """Mean and standard deviation of the height at new places."""
    K = covariance(theta, x, x) + np.exp(2.0 * theta[3]) * np.eye(len(x))
    across = covariance(theta, places, x)
    L = np.linalg.cholesky(K)
    V = solve_triangular(L, across.T, lower=True)
    mean = V.T @ solve_triangular(L, y, lower=True)
    return mean, np.sqrt(np.exp(2.0 * theta[2]) - np.sum(V * V, axis=0))


def load():
    """Heights in hundreds of metres, less their mean, on every fourth point of the map."""
    with np.load(get_sample_data("jacksboro_fault_dem.npz", asfileobj=False)) as dem:
        heights = dem["elevation"][::4, ::4].astype(float)
    return (heights - heights.mean()) / 100.0


def draw(panels, x, path):
    """The maps side by side, in relief, and the points."""
    figure = Figure(figsize=(11, 3.45), layout="constrained")
    light, colours = LightSource(azdeg=315, altdeg=45), colormaps["gist_earth"]
    low, high = panels["the valley"].min() - 4.0, panels["the valley"].max()
    for ax, (title, field) in zip(figure.subplots(1, 3), panels.items(), strict=True):
        if title.startswith("uncertainty"):
            ax.imshow(field, cmap="Purples", vmin=0.0)
            ax.plot(x[:, 1], x[:, 0], ".", ms=2, color="k")
        else:
            relief = light.shade(
                field, colours, blend_mode="soft", vmin=low, vmax=high, vert_exag=0.7
            )
            ax.imshow(relief, interpolation="bilinear")
        ax.set_title(title)
        ax.axis("off")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


def main():
    rng = np.random.default_rng(0)
    heights = load()
    grid = np.argwhere(np.ones_like(heights, dtype=bool)).astype(float)
    chosen = rng.choice(len(grid), 500, replace=False)
    x, y = grid[chosen], heights.ravel()[chosen]

    value_and_grad = srcdiff.value_and_grad(log_likelihood)
    theta = np.log([8.0, 8.0, 1.0, 0.2])
    h = 1e-5 * rng.standard_normal(4)
    difference = log_likelihood(theta + h, x, y) - log_likelihood(theta - h, x, y)
    assert np.isclose(value_and_grad(theta, x, y)[1] @ h, difference / 2.0, rtol=1e-5)

    def objective(theta):
        value, gradient = value_and_grad(theta, x, y)
        return -value, -gradient

    found = minimize(objective, theta, jac=True, method="L-BFGS-B")
    north_south, east_west, height, noise = np.exp(found.x)
    print(f"{found.nfev} gradients of {len(x)} points, log-likelihood {-found.fun:.1f}")
    print(f"lengths {north_south:.1f} and {east_west:.1f} points, ", end="")
    print(f"hills of {100 * height:.0f} m, noise {100 * noise:.0f} m")
    mean, deviation = predict(found.x, x, y, grid)
    error = np.sqrt(np.mean((mean - heights.ravel()) ** 2))
    within = np.mean(np.abs(mean - heights.ravel()) < 2.0 * deviation + 2.0 * noise)
    print(f"error between the points {100 * error:.0f} m; {within:.0%} within two deviations")
    panels = {
        "the valley": heights,
        "from 500 points": mean.reshape(heights.shape),
        "uncertainty": deviation.reshape(heights.shape),
    }
    path = Path(__file__).parent / "build" / "gaussian_process.png"
    draw(panels, x, path)
    print(f"drawn in {path.name}")
    assert error < 0.5 * np.std(heights)


if __name__ == "__main__":
    main()
