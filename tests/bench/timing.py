"""Timing of small things: the best of several repetitions."""

from __future__ import annotations

import timeit
from collections.abc import Callable
from typing import Any


def seconds(fn: Callable[[], Any], repeat: int = 5, at_least: float = 0.02) -> float:
    """The best time of one call of `fn`."""
    timer = timeit.Timer(fn)
    fn()
    number = 1
    while timer.timeit(number) < at_least:
        number *= 2
    return min(timer.repeat(repeat, number)) / number


def table(title: str, head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    """Print rows under their heads."""
    print(title)
    text = [head, *(tuple(str(cell) for cell in row) for row in rows)]
    widths = [max(len(row[i]) for row in text) for i in range(len(head))]
    for row in text:
        first, *rest = (cell.ljust(w) if i == 0 else cell.rjust(w)
                        for i, (cell, w) in enumerate(zip(row, widths, strict=True)))  # fmt: skip
        print("  " + "  ".join([first, *rest]))


def micro(value: float) -> str:
    """Seconds as text in a fitting unit."""
    if value < 1e-3:
        return f"{value * 1e6:.2f} us"
    return f"{value * 1e3:.1f} ms" if value < 1.0 else f"{value:.2f} s"
