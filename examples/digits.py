"""Train a network, written in plain NumPy, on real handwritten digits.

The 1,797 images of 8 x 8 pixels come with scikit-learn.  The network is a list of `(W, b)` layers
and a few helper functions; `srcdiff.value_and_grad` writes the function that returns the loss and
its gradient, and SciPy minimises it.  `srcdiff.grad` by the image shows what the network looks at.

    python examples/digits.py
"""

import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize
from sklearn.datasets import load_digits

import srcdiff


def dense(x, W, b):
    return x @ W + b


def log_softmax(z):
    shifted = z - np.max(z, axis=1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))


def network(params, x):
    """Scores of the ten classes."""
    h = x
    for W, b in params[:-1]:
        h = np.tanh(dense(h, W, b))
    W, b = params[-1]
    return dense(h, W, b)


def loss(params, x, y):
    """Cross entropy with a little weight decay."""
    logp = log_softmax(network(params, x))
    fit = -np.mean(logp[np.arange(len(y)), y])
    decay = 0.0
    for W, _ in params:
        decay = decay + np.sum(W * W)
    return fit + 5e-4 * decay


def initial(sizes, rng):
    """Random layers for the given widths."""
    pairs = zip(sizes[:-1], sizes[1:], strict=True)
    return [(rng.standard_normal((m, n)) / np.sqrt(m), np.zeros(n)) for m, n in pairs]


def flatten(params):
    """All numbers of the layers in one vector, as SciPy wants them."""
    return np.concatenate([part.ravel() for layer in params for part in layer])


def unflatten(vector, like):
    """The vector as layers of the same shapes as `like`."""
    layers, at = [], 0
    for W, b in like:
        end = at + W.size
        layers.append((vector[at:end].reshape(W.shape), vector[end : end + b.size]))
        at = end + b.size
    return layers


def accuracy(params, x, y):
    """The part of the images that the network gets right."""
    return np.mean(np.argmax(network(params, x), axis=1) == y)


def seconds(fn, *args):
    """The best time of a few runs."""
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        fn(*args)
        best = min(best, time.perf_counter() - start)
    return best


def load():
    """Train and test images (a fixed shuffle), and their digits."""
    images, digits = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(digits))
    images, digits = images[order] / 16.0, digits[order]
    return (images[:1400], digits[:1400]), (images[1400:], digits[1400:])


def score(x, params, digit):
    """How much the network takes one image for a digit."""
    return log_softmax(network(params, x[None]))[0, digit]


def draw(params, x, y, path):
    """Images, and the gradient of the score of their digit: what more ink would say, where."""
    sensitivity = srcdiff.grad(score)
    figure = Figure(figsize=(10, 2.4), layout="constrained")
    axes = figure.subplots(2, 10)
    for digit, (above, below) in enumerate(axes.T):
        image = x[np.argmax(y == digit)]
        slope = sensitivity(image, params, digit)
        above.imshow(image.reshape(8, 8), cmap="Greys")
        most = abs(slope).max()
        below.imshow(slope.reshape(8, 8), cmap="RdBu", vmin=-most, vmax=most)
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
    figure.suptitle("digits, and where more ink speaks for them (blue) and against them (red)")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)


def main():
    (x, y), (x_test, y_test) = load()
    start = initial((64, 48, 10), np.random.default_rng(1))
    value_and_grad = srcdiff.value_and_grad(loss, inputs="params")

    def objective(vector):
        value, gradient = value_and_grad(unflatten(vector, start), x, y)
        return value, flatten(gradient)

    at, h = flatten(start), 1e-6 * np.random.default_rng(2).standard_normal(flatten(start).shape)
    difference = (objective(at + h)[0] - objective(at - h)[0]) / 2.0
    assert np.isclose(objective(at)[1] @ h, difference, rtol=1e-5)
    print("The gradient that srcdiff wrote for `loss`:\n")
    print(value_and_grad.source)

    print(f"Training on {len(y)} digits, testing on {len(y_test)}.")
    iteration = 0

    def report(vector):
        nonlocal iteration
        iteration += 1
        if iteration % 10 == 0:
            params = unflatten(vector, start)
            right = accuracy(params, x, y)
            print(f"  iteration {iteration:3d}   loss {loss(params, x, y):.4f}   train {right:.1%}")

    began = time.perf_counter()
    result = minimize(
        objective,
        flatten(start),
        jac=True,
        method="L-BFGS-B",
        callback=report,
        options={"maxiter": 80},
    )
    params = unflatten(result.x, start)
    print(f"{result.nfev} gradients in {time.perf_counter() - began:.1f} s")
    print(f"train accuracy {accuracy(params, x, y):.1%}")
    test = accuracy(params, x_test, y_test)
    print(f"test accuracy  {test:.1%}")

    forward = seconds(loss, params, x, y)
    both = seconds(value_and_grad, params, x, y)
    print(f"loss {forward * 1e3:.2f} ms, loss and gradient {both * 1e3:.2f} ms", end="")
    print(f" ({both / forward:.1f} times)")
    path = Path(__file__).parent / "build" / "digits.png"
    draw(params, x_test, y_test, path)
    print(f"drawn in {path.name}")
    if test <= 0.95:
        raise SystemExit("test accuracy is not above 95 %")


if __name__ == "__main__":
    main()
