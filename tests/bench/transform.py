"""How long it takes to generate a gradient, for functions of 20, 200 and 2,000 lines."""

from __future__ import annotations

import sys
import textwrap
import time
from typing import Any

import numpy as np

import srcdiff
from tests.support.differences import define

from .hydrodynamics import misfit, shock_tube
from .timing import micro, table

LINES = (
    "    a = np.sin(b) * c + x[{k}]\n",
    "    b = a * a - b / (1.0 + c * c)\n",
    "    if a > 2.0:\n        c = c * 0.5\n    else:\n        c = c + a\n",
    "    for i in range(3):\n        b = b + np.tanh(a * x[i])\n",
    "    y[{k}] = b * c\n",
    "    c = helper(c, b)\n",
)
HELPER = "def helper(u, v):\n    return np.exp(-u * u) + v\n\n"


def program(lines: int, repeated: bool = False) -> str:
    """A function of about `lines` lines: straight code, branches, loops, stores and calls.

    `repeated`: all of them in one loop, in which every value is saved.
    """
    text, k = "", 0
    while text.count("\n") < lines - 4:
        text += LINES[k % len(LINES)].format(k=k % 8)
        k += 1
    if repeated:
        text = "    for _ in range(2):\n" + textwrap.indent(text, "    ")
    start = "def f(x):\n    a, b, c = x[0], x[1], x[2]\n    y = np.zeros(8)\n"
    return HELPER + start + text + "    return a * b + c + np.sum(y)\n"


def once(lines: int) -> float:
    """The time to generate and compile one gradient (rules are loaded already)."""
    f = define(program(lines), "f", {"np": np})
    g = srcdiff.grad(f)
    start = time.perf_counter()
    g(np.linspace(0.1, 0.8, 8))
    return time.perf_counter() - start


def calls(lines: int, repeated: bool = False) -> int:
    """The calls of functions, Python's own included, that it takes to generate one gradient."""
    g = srcdiff.grad(define(program(lines, repeated), "f", {"np": np}))
    count = 0

    def profile(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        g(np.linspace(0.1, 0.8, 8))
    finally:
        sys.setprofile(before)
    return count


def main() -> None:
    """Print the table: the calls say how the work grows, the time also how memory answers."""
    once(20)
    rows = []
    # The numbers of a long function overflow: only its text matters here.
    with np.errstate(all="ignore"):
        for lines in (20, 200, 2000):
            best = min(once(lines) for _ in range(15 if lines == 20 else 2000 // lines // 2 or 1))
            rows.append((lines, micro(best), micro(best / lines), round(calls(lines) / lines)))
    table("generating a gradient", ("lines", "time", "per line", "calls per line"), rows)
    g, state = srcdiff.grad(misfit, "left"), shock_tube()
    start = time.perf_counter()
    g(*state)
    first = time.perf_counter() - start
    start = time.perf_counter()
    srcdiff.hvp(misfit, state, np.ones(3), inputs="left")
    second = time.perf_counter() - start
    rows = [("gradient", micro(first)), ("product with the Hessian", micro(second))]
    table("a solver of 200 lines", ("derivative", "time"), rows)


if __name__ == "__main__":
    main()
