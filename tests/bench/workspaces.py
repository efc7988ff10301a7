"""The time of a gradient with `workspace=True` against that without, in one process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import srcdiff

from .timing import medians, micro, table


def chain(x: Any, y: Any) -> Any:
    """A chain of elementwise functions."""
    t = np.tanh(x * y)
    u = np.exp(-(t**2)) + x
    return np.sum(u * np.sqrt(1.0 + y * y))


def mlp(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    """The cross entropy of a network with one hidden layer."""
    h = np.maximum(x @ w1 + b1, 0.0)
    o = h @ w2 + b2
    o = o - np.max(o, axis=1, keepdims=True)
    p = o - np.log(np.sum(np.exp(o), axis=1, keepdims=True))
    return -np.sum(p * y) / len(x)


def heat(u: Any, k: Any, n: Any) -> Any:
    """Steps of an explicit scheme with a source that is not linear, written in place."""
    u = u.copy()
    for _ in range(n):
        u[1:-1] += k * (u[2:] - 2.0 * u[1:-1] + u[:-2]) + 0.01 * np.sin(u[1:-1])
    return np.sum(u * u)


def _mlp_arguments(batch: int, hidden: int) -> tuple[Any, ...]:
    r = np.random.default_rng(0)
    shapes = (784, hidden), (hidden,), (hidden, 10), (10,), (batch, 784), (batch, 10)
    return tuple(0.05 * r.standard_normal(s) for s in shapes)


def _vectors(size: int, count: int) -> list[Any]:
    return list(np.random.default_rng(0).standard_normal((count, size)))


CASES: tuple[tuple[str, Callable[..., Any], tuple[Any, ...], tuple[str, ...]], ...] = (
    ("chain, 10", chain, (*_vectors(10, 2),), ("x", "y")),
    ("chain, 1e3", chain, (*_vectors(1000, 2),), ("x", "y")),
    ("chain, 1e4", chain, (*_vectors(10_000, 2),), ("x", "y")),
    ("chain, 1e5", chain, (*_vectors(100_000, 2),), ("x", "y")),
    ("chain, 1e6", chain, (*_vectors(1_000_000, 2),), ("x", "y")),
    ("mlp, 32 by 64", mlp, _mlp_arguments(32, 64), ("w1", "b1", "w2", "b2")),
    ("mlp, 512 by 512", mlp, _mlp_arguments(512, 512), ("w1", "b1", "w2", "b2")),
    ("heat, 100, 50 steps", heat, (*_vectors(100, 1), 0.1, 50), ("u", "k")),
    ("heat, 1e5, 50 steps", heat, (*_vectors(100_000, 1), 0.1, 50), ("u", "k")),
    ("heat, 1e6, 5 steps", heat, (*_vectors(1_000_000, 1), 0.1, 5), ("u", "k")),
)


def main() -> None:
    """Print the table."""
    rows = []
    for label, f, args, inputs in CASES:
        plain = srcdiff.grad(f, inputs)
        kept = srcdiff.grad(f, inputs, workspace=True)
        one, two = medians(partial(plain, *args), partial(kept, *args), repeat=9)
        rows.append((label, micro(one), micro(two), f"{two / one:.2f}"))
    table("workspace=True", ("program", "plain", "workspace", "ratio"), rows)


if __name__ == "__main__":
    main()
