"""The time of a gradient against the time of the function, for the golden programs."""

from __future__ import annotations

from typing import Any

import numpy as np

import srcdiff
from tests.support import structures as st
from tests.support.differences import Problem

from ..programs import GOLDEN, Program
from .timing import micro, seconds, table

LARGE: dict[str, Any] = {
    "least_squares": lambda r: (
        r.standard_normal(200),
        r.standard_normal((2000, 200)),
        r.standard_normal(2000),
    ),
    "heat": lambda r: (r.standard_normal(20_000), 0.2, 50),
    "jacobi": lambda r: (r.standard_normal((200, 200)), r.standard_normal((200, 200)), 20),
    "tanh_recurrence": lambda r: (r.standard_normal(20_000), 1.2, 20),
    "rnn": lambda r: (
        r.standard_normal((20, 60)),
        0.1 * r.standard_normal((60, 60)),
        r.standard_normal((100, 20)),
    ),
    "mlp": lambda r: (
        r.standard_normal((64, 128)),
        r.standard_normal(128),
        r.standard_normal((128, 10)),
        r.standard_normal(10),
        r.standard_normal((500, 64)),
        r.standard_normal((500, 10)),
    ),
    "soft_kmeans": lambda r: (r.standard_normal((10, 4)), r.standard_normal((2000, 4))),
}


def row(program: Program, size: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The times for one program."""
    f = program.function
    g = srcdiff.grad(f, program.inputs, program.outputs)
    problem = Problem(f, args, program.inputs, program.outputs)
    ct = st.random_like(np.random.default_rng(0), problem.output())
    primal = seconds(lambda: f(*args))
    gradient = seconds(lambda: g(*args, grad_outputs=ct))
    return f.__name__, size, micro(primal), micro(gradient), f"{gradient / primal:.1f}"


def main() -> None:
    """Print the table."""
    rows = []
    for program in GOLDEN:
        if program.outputs is not None:
            continue  # the primal would change its arguments from one repetition to the next
        rows.append(row(program, "sample", program.arguments()))
        large = LARGE.get(program.function.__name__)
        if large is not None:
            rows.append(row(program, "large", large(np.random.default_rng(0))))
    table("gradient against function", ("program", "size", "function", "gradient", "times"), rows)


if __name__ == "__main__":
    main()
