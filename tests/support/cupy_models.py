"""The functions whose gradients for CuPy arrays are compared as text, in `golden/cupy/`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.ndimage
import scipy.special

import srcdiff

cp: Any = np  # `Model.on` puts CuPy in its place


@dataclass(frozen=True)
class Model:
    """A function, its arguments, and those that it is differentiated by."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    inputs: tuple[str, ...]

    @property
    def text(self) -> str:
        """The generated source."""
        source = srcdiff.source(self.function, self.wanted, example=self.args, backend="cupy")
        return source.rstrip() + "\n"

    @property
    def wanted(self) -> Any:
        """The inputs, one by its name alone."""
        return self.inputs if len(self.inputs) > 1 else self.inputs[0]

    def on(self, cupy: Any) -> Callable[..., Any]:
        """The function in a module where `cp` is a module for CuPy."""
        f = self.function
        return type(f)(f.__code__, {**f.__globals__, "cp": cupy}, f.__name__)  # type: ignore


def mlp(x, w1, b1, w2, y):
    h = np.maximum(x @ w1 + b1, 0.0)
    r = h @ w2 - y
    return 0.5 * np.mean(r * r)


def heat(u, steps, rate):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += rate * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        )
    return np.sum(u * u)


def attention(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[-1])
    e = np.exp(s - np.max(s, axis=-1, keepdims=True))
    p = e / np.sum(e, axis=-1, keepdims=True)
    return p @ v


def messages(x, edges, weights):
    out = np.zeros_like(x)
    np.add.at(out, edges[1], weights * x[edges[0]])
    return np.sum(out**2)


def contraction(a, b, c):
    return np.einsum("ij,jk,ki->", a, b, c)


def running(x):
    s = np.cumsum(x)
    return np.sum(s * np.cumprod(1.0 + x))


def chosen(x, y, level):
    z = np.where(x > level, x * y, np.minimum(x, y))
    return np.sum(np.clip(z, -1.0, 1.0))


def gaussian(a, b):
    low = np.linalg.cholesky(a)
    z = np.linalg.solve(low, b)
    return -0.5 * np.sum(z * z) - np.sum(np.log(np.diag(low)))


def special(x, mu):
    return np.sum(scipy.special.gammaln(x) + scipy.special.erf(x - mu))


def blurred(image, kernel):
    s = scipy.ndimage.convolve(image, kernel, mode="reflect")
    return np.sum(s * s)


def written_with_cp(x, w):
    h = cp.tanh(x @ w)
    return cp.linalg.norm(h - cp.mean(h, axis=0))


def methods(x, w):
    h = (x @ w).clip(0.0, 6.0)
    return (h - h.mean(axis=0)).std()


def until(x, tol):
    y = x
    while np.sum(y * y) > tol:
        y = 0.5 * y * np.cos(y)
    return np.sum(y)


def stored(x, order):
    y = np.zeros_like(x)
    y[order] = x**2
    return np.sum(y * np.arange(len(x)))


def likelihood(x, mean, scale):
    z = (x - mean) / scale
    return -0.5 * np.sum(z * z) - x.size * np.log(scale)


def models() -> dict[str, Model]:
    """The models by the names of their functions."""
    r = np.random.default_rng(0)
    n = r.normal
    spd = np.eye(3) * 3.0 + 0.1
    edges = np.array([[0, 1, 2, 0], [1, 2, 0, 1]])
    found = (
        Model(mlp, (n(size=(4, 3)), n(size=(3, 5)), n(size=5), n(size=(5, 2)), n(size=(4, 2))),
              ("w1", "b1", "w2")),
        Model(heat, (n(size=(5, 5)), 3, 0.1), ("u",)),
        Model(attention, (n(size=(4, 3)), n(size=(6, 3)), n(size=(6, 2))), ("q", "k", "v")),
        Model(messages, (n(size=3), edges, n(size=4)), ("x", "weights")),
        Model(contraction, (n(size=(2, 3)), n(size=(3, 4)), n(size=(4, 2))), ("a", "b", "c")),
        Model(running, (n(size=4),), ("x",)),
        Model(chosen, (n(size=4), n(size=4), 0.3), ("x", "y")),
        Model(gaussian, (spd, n(size=3)), ("a", "b")),
        Model(special, (1.5 + r.random(4), 0.3), ("x", "mu")),
        Model(blurred, (n(size=(5, 5)), n(size=(3, 3))), ("image", "kernel")),
        Model(written_with_cp, (n(size=(4, 3)), n(size=(3, 2))), ("x", "w")),
        Model(methods, (n(size=(4, 3)), n(size=(3, 2))), ("w",)),
        Model(until, (n(size=3), 0.1), ("x",)),
        Model(stored, (n(size=3), np.array([2, 0, 1])), ("x",)),
        Model(likelihood, (n(size=4), 0.5, 2.0), ("x", "mean", "scale")),
    )  # fmt: skip
    return {m.function.__name__: m for m in found}
