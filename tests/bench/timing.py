"""Timing of small things: the best of several repetitions, or medians side by side."""

from __future__ import annotations

import statistics
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


def medians(*fns: Callable[[], Any], repeat: int = 15, at_least: float = 0.003) -> list[float]:
    """The median times of one call of functions, which take turns; each has run before."""
    for fn in fns:
        fn()
    timers = [(t, max(1, round(at_least / t.timeit(2) * 2))) for t in map(timeit.Timer, fns)]
    rounds = [[t.timeit(number) / number for t, number in timers] for _ in range(repeat)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


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
