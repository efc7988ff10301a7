"""Many machines: the gradient of a sum over shards, on Dask and on joblib.

A cut through a body is found from its shadows (computed tomography).  The misfit is a sum over
angles, and so is its gradient; every worker has some of the angles.  The `value_and_grad` of a
function pickles as the function does: by the name of its module, which the workers import.

    python examples/machines.py
"""

from pathlib import Path

import numpy as np
from dask.distributed import Client, LocalCluster
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from scipy.optimize import minimize

import srcdiff

N, SHARDS = 64, 4


def shadow(image, angle):
    """The sums of an image along parallel lines of an angle, by interpolation between its cells."""
    t = np.arange(N) - 0.5 * (N - 1)
    across, along = np.meshgrid(t, t)
    x = np.cos(angle) * across - np.sin(angle) * along + 0.5 * (N - 1)
    y = np.sin(angle) * across + np.cos(angle) * along + 0.5 * (N - 1)
    x, y = np.clip(x, 0.0, N - 1.001), np.clip(y, 0.0, N - 1.001)
    i, j = y.astype(int), x.astype(int)
    u, v = y - i, x - j
    values = (1.0 - u) * ((1.0 - v) * image[i, j] + v * image[i, j + 1])
    values += u * ((1.0 - v) * image[i + 1, j] + v * image[i + 1, j + 1])
    return np.sum(values, axis=0)


def misfit(image, angles, shadows):
    """How far the shadows of an image are from those that were measured."""
    total = 0.0
    for angle, measured in zip(angles, shadows):  # noqa: B905
        total += 0.5 * np.sum((shadow(image, angle) - measured) ** 2)
    return total


value_and_grad = srcdiff.value_and_grad(misfit)


def phantom():
    """A head of ellipses."""
    y, x = np.mgrid[-1 : 1 : N * 1j, -1 : 1 : N * 1j]
    image = np.zeros((N, N))
    for value, a, b, cx, cy in (
        (1.0, 0.70, 0.90, 0.0, 0.0), (-0.7, 0.63, 0.83, 0.0, 0.0), (-0.2, 0.12, 0.3, 0.25, 0.0),
        (-0.2, 0.16, 0.4, -0.25, 0.0), (0.4, 0.2, 0.15, 0.0, 0.5), (0.4, 0.06, 0.06, 0.0, -0.5),
    ):  # fmt: skip
        image[((x - cx) / a) ** 2 + ((y - cy) / b) ** 2 < 1.0] += value
    return image


def part_of(shard, image):
    """Value and gradient of the misfit of one shard."""
    return value_and_grad(image, *shard)


def total(parts):
    """The sum of values, and that of gradients."""
    values, gradients = zip(*parts)  # noqa: B905
    return sum(values), sum(gradients)


def reconstruct(parts_of):
    """The image, from a function that gives value and gradient of every shard."""

    def objective(vector):
        value, gradient = total(parts_of(vector.reshape(N, N)))
        return value, gradient.ravel()

    bounds = [(0.0, 1.5)] * (N * N)
    options = {"maxiter": 25}
    start = np.zeros(N * N)
    return minimize(objective, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options)


def draw(panels, path):
    """The images side by side."""
    figure = Figure(figsize=(9, 3.3), layout="constrained")
    for ax, (title, field) in zip(figure.subplots(1, len(panels)), panels.items(), strict=True):
        ax.imshow(field, cmap="bone", aspect="auto")
        ax.set(title=title, xticks=[], yticks=[])
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


def main():
    rng = np.random.default_rng(0)
    truth = phantom()
    angles = np.linspace(0.0, np.pi, 48, endpoint=False)
    shadows = np.array([shadow(truth, a) for a in angles])
    shadows += 0.2 * rng.standard_normal(shadows.shape)
    shards = [(angles[k::SHARDS], shadows[k::SHARDS]) for k in range(SHARDS)]

    image, h = np.zeros((N, N)), 1e-4 * rng.standard_normal((N, N))
    whole = value_and_grad(image, angles, shadows)
    difference = misfit(image + h, angles, shadows) - misfit(image - h, angles, shadows)
    assert np.isclose(np.sum(whole[1] * h), difference / 2.0, rtol=1e-5)

    with Parallel(n_jobs=2) as workers:
        parts = workers(delayed(part_of)(shard, image) for shard in shards)
    assert np.allclose(total(parts)[1], whole[1])
    print(f"joblib: the gradients of {SHARDS} shards add up to that of all angles")

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        there = client.scatter(shards)  # once; the image goes there at every step

        def parts_of(image):
            return client.gather(client.map(part_of, there, image=image, pure=False))

        found = reconstruct(parts_of)
    error = np.sqrt(np.mean((found.x.reshape(N, N) - truth) ** 2))
    print(f"Dask: {found.nfev} gradients, error of a cell {error:.3f}")
    path = Path(__file__).parent / "build" / "machines.png"
    draw({"body": truth, "its shadows": shadows, "found": found.x.reshape(N, N)}, path)
    print(f"drawn in {path.name}")
    assert error < 0.12


if __name__ == "__main__":
    from machines import main  # under the name that the workers know

    main()
