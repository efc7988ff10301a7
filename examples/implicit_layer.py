"""A network whose one layer is an equation: two moons told apart at a fixed point.

The state of the layer is the `z` with `z = tanh(W z + U x + b)`, found by iteration.
`srcdiff.fixed_point` is differentiated at the solution by the implicit function theorem: no step of
the iteration is kept, however many it takes.

    python examples/implicit_layer.py
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize
from sklearn.datasets import make_moons

import srcdiff

WIDTH = 8


def layer(z, p, x):
    """One step of the iteration; the norm of `W` is below one, so that it converges."""
    W = 0.9 * p["W"] / (1.0 + np.sqrt(np.sum(p["W"] ** 2)))
    return np.tanh(z @ W + x @ p["U"] + p["b"])


def scores(p, x):
    """Above zero where a point belongs to the second moon."""
    z = srcdiff.fixed_point(layer, np.zeros((len(x), WIDTH)), p, x)
    return z @ p["out"]


def loss(p, x, y):
    """Cross entropy of the labels -1 and 1, with a little weight decay."""
    decay = np.sum(p["W"] ** 2) + np.sum(p["U"] ** 2) + np.sum(p["out"] ** 2)
    return np.mean(np.logaddexp(0.0, -y * scores(p, x))) + 1e-4 * decay


def initial(rng):
    """Small random weights."""
    shapes = {"W": (WIDTH, WIDTH), "U": (2, WIDTH), "b": (WIDTH,), "out": (WIDTH,)}
    return {name: 0.5 * rng.standard_normal(shape) for name, shape in shapes.items()}


def flatten(p):
    """All weights in one vector."""
    return np.concatenate([part.ravel() for part in p.values()])


def unflatten(vector, like):
    """The vector as weights of the shapes of `like`."""
    ends = np.cumsum([part.size for part in like.values()])[:-1]
    pieces = zip(like.items(), np.split(vector, ends), strict=True)
    return {name: piece.reshape(part.shape) for (name, part), piece in pieces}


def draw(p, x, y, path):
    """The scores as a map, and the points."""
    a, b = np.meshgrid(np.linspace(-1.7, 2.7, 120), np.linspace(-1.2, 1.7, 80))
    field = scores(p, np.stack((a.ravel(), b.ravel()), axis=1)).reshape(a.shape)
    figure = Figure(figsize=(6, 4), layout="constrained")
    ax = figure.subplots()
    ax.contourf(a, b, np.tanh(0.3 * field), levels=20, cmap="RdBu", alpha=0.8)
    ax.contour(a, b, field, levels=[0.0], colors="k", linewidths=1)
    ax.scatter(*x.T, c=y, cmap="RdBu", s=14, edgecolors="k", linewidths=0.4)
    ax.set_title("Two moons, and a layer that is an equation")
    ax.axis("off")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)


def main():
    rng = np.random.default_rng(0)
    x, y = make_moons(150, noise=0.15, random_state=0)
    y = 2.0 * y - 1.0
    start = initial(rng)
    value_and_grad = srcdiff.value_and_grad(loss)

    def objective(vector):
        value, gradient = value_and_grad(unflatten(vector, start), x, y)
        return value, flatten(gradient)

    at = flatten(start)
    h = 1e-5 * rng.standard_normal(at.shape)
    difference = (objective(at + h)[0] - objective(at - h)[0]) / 2.0
    assert np.isclose(objective(at)[1] @ h, difference, rtol=1e-5)

    found = minimize(objective, at, jac=True, method="L-BFGS-B", options={"maxiter": 60})
    p = unflatten(found.x, start)
    right = np.mean((scores(p, x) > 0.0) == (y > 0.0))
    print(f"{found.nfev} gradients, loss {objective(at)[0]:.3f} at first and {found.fun:.3f} now")
    print(f"{right:.1%} of the points are told apart")
    path = Path(__file__).parent / "build" / "implicit_layer.png"
    draw(p, x, y, path)
    print(f"drawn in {path.name}")
    assert right > 0.95


if __name__ == "__main__":
    main()
