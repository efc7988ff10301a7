"""A batch of cotangents in one run against one call for each, and against one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import srcdiff

from .timing import medians, micro, seconds, table


def layers(x, V, W):
    return np.tanh(W @ np.tanh(V @ x))


def elementwise(x, y):
    return np.sin(x) * y + np.exp(-x * x) / (1.0 + y * y)


def smoothed(x, steps):
    y = x.copy()
    for _ in range(steps):
        y[1:-1] = y[1:-1] + 0.1 * (y[2:] - 2.0 * y[1:-1] + y[:-2])
    return y


def powers(x, n):
    out = np.zeros(n)
    h = x
    for i in range(n):
        out[i] = h
        h = h * x + 0.01
    return out


def chain(x):
    return np.sum((x[1:] - np.sin(x[:-1]) ** 2) ** 2)


def hessian_row(n: int) -> tuple[Any, ...]:
    """The times of a Hessian, of Hessian-vector products one by one, and of a sparse one."""
    x = np.linspace(0.0, 1.0, n)
    band = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1
    dense, compressed = srcdiff.hessian(chain), srcdiff.jacobian(srcdiff.grad(chain), sparsity=band)
    whole = seconds(lambda: dense(x))
    single = seconds(lambda: [srcdiff.hvp(chain, (x,), v) for v in np.eye(n)], repeat=2)
    sparse = seconds(lambda: compressed(x))
    return n, micro(whole), micro(single), micro(sparse), f"{single / whole:.1f}"


def row(f: Callable[..., Any], args: tuple[Any, ...], inputs: Any = 0) -> tuple[Any, ...]:
    """The times of one batched call, and of as many calls and pullbacks."""
    one, many = srcdiff.grad(f, inputs), srcdiff.grad(f, inputs, is_grads_batched=True)
    batch = np.eye(f(*args).size)
    _, pull = srcdiff.vjp(f, *args, inputs=inputs)
    together, calls, pulled = medians(
        lambda: many(*args, grad_outputs=batch),
        lambda: [one(*args, grad_outputs=v) for v in batch],
        lambda: [pull(v) for v in batch],
    )
    ratios = (f"{calls / together:.1f}", f"{pulled / together:.1f}")
    return f.__name__, len(batch), micro(together), micro(calls), micro(pulled), *ratios


def main() -> None:
    """Print the table."""
    r = np.random.default_rng(0)
    x, y = r.standard_normal(200), r.standard_normal(200)
    V, W = r.standard_normal((50, 20)) / 5.0, r.standard_normal((200, 50)) / 7.0
    rows = [
        row(layers, (r.standard_normal(20), V, W)),
        row(elementwise, (x, y), (0, 1)),
        row(smoothed, (x, 20)),
        row(powers, (0.9, 200)),
    ]
    head = ("function", "outputs", "batched", "calls", "pullbacks", "ratio", "ratio")
    table("a batch of cotangents", head, rows)
    print()
    more = [hessian_row(20), hessian_row(80), hessian_row(300)]
    table("a Hessian", ("variables", "hessian", "products", "sparse", "ratio"), more)


if __name__ == "__main__":
    main()
