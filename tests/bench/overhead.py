"""What calling a gradient costs above the generated function itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import srcdiff
from tests.support.differences import from_source

from .timing import micro, seconds, table


def cube(x):
    return x * x * x


def line(x, a, b):
    return a * x + b


def norm(x):
    return np.sum(x * x)


def network(layers, x):
    for W, b in layers:
        x = np.tanh(x @ W + b)
    return np.sum(x)


def row(f: Callable[..., Any], args: tuple[Any, ...], inputs: Any = 0) -> tuple[Any, ...]:
    """The times of the primal, of the generated function, and of the call through srcdiff."""
    g = srcdiff.grad(f, inputs)
    g(*args)
    bare = from_source(g.source, f"{f.__name__}_grad", f)
    times = [seconds(lambda h=h: h(*args)) for h in (f, bare, g)]
    return (f.__name__, *map(micro, times), micro(times[2] - times[1]))


def main() -> None:
    """Print the table."""
    layers = [(np.ones((3, 3)), np.zeros(3)) for _ in range(3)]
    rows = [
        row(cube, (2.0,)),
        row(line, (2.0, 3.0, 4.0), (0, 1, 2)),
        row(norm, (np.ones(3),)),
        row(network, (layers, np.ones(3))),
    ]
    head = ("function", "primal", "generated", "called", "overhead")
    table("calling a gradient", head, rows)


if __name__ == "__main__":
    main()
