"""Programs and rivals give times: correctness first, then all of one size in turns, medians."""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.support.differences import difference

from .memory import peak
from .programs.loops import SQUARES, Program
from .rivals import Call, NotWrittenError, Rival

SHORTEST, BUDGET = 0.005, 4.0
"""Seconds: of one measurement at least, and of all of a program and a size about."""
ROUNDS = 3, 25


@dataclass
class Cell:
    """What is known of a rival on a program of a size."""

    program: str
    size: str
    rival: str
    failure: str | None = None
    seconds: float | None = None
    first: float | None = None
    """The first call, with all that is derived and compiled for it."""
    memory: float | None = None

    @property
    def compile(self) -> float | None:
        """The time of the first call beyond that of others."""
        if self.first is None or self.seconds is None:
            return None
        return max(self.first - self.seconds, 0.0)


def warm_up(rivals: tuple[Rival, ...]) -> None:
    """Load what each library loads at its first use, which is not part of any first call."""
    for rival in rivals:
        started(rival, SQUARES, SQUARES.arguments("small"), Cell("", "", ""))


def compare(
    program: Program, size: str, rivals: tuple[Rival, ...], is_timed: bool = True
) -> list[Cell]:
    """The cells of one program and size."""
    args = program.arguments(size)
    cells = {rival.name: Cell(program.name, size, rival.name) for rival in rivals}
    calls: dict[str, Call] = {}
    expected = None
    for rival in rivals:
        cell = cells[rival.name]
        call, result = started(rival, program, args, cell)
        if call is None:
            continue
        cell.failure = wrong(program, args, result, expected, size == "small")
        if cell.failure is None:
            calls[rival.name] = call
            expected = result if expected is None and result[1] is not None else expected
    if is_timed:
        for name, seconds in medians(calls).items():
            cells[name].seconds = seconds
            cells[name].memory = peak(calls[name]) if size == "large" else None
    return list(cells.values())


def started(
    rival: Rival, program: Program, args: tuple[Any, ...], cell: Cell
) -> tuple[Call | None, Any]:
    """The call of a rival after its first run, and the result as NumPy arrays; or what failed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            start = time.perf_counter()
            call = rival.make(program, args)
            value, gradients = call()
            cell.first = time.perf_counter() - start
        except Exception as error:  # each library has errors of its own: all are shown
            cell.failure = said(error)
            return None, None
    if gradients is not None:
        gradients = tuple(map(rival.to_numpy, gradients))
    return call, (float(rival.to_numpy(value)), gradients)


def said(error: Exception) -> str:
    """What an error says, in a line."""
    if isinstance(error, NotWrittenError):
        return "not written"
    if isinstance(error, ImportError):
        return f"not installed ({error})"
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


# --- correctness ----------------------------------------------------------------------------------


def wrong(
    program: Program, args: tuple[Any, ...], result: Any, expected: Any, by_differences: bool
) -> str | None:
    """What is wrong with a value and gradients: against another's, and against differences."""
    value, gradients = result
    if gradients is None:
        return None
    if expected is not None:
        if not np.isclose(value, expected[0], rtol=1e-8):
            return f"wrong: the value is {value}, another's {expected[0]}"
        for i, one, other in zip(program.inputs, gradients, expected[1], strict=True):
            size = max(1.0, np.abs(other).max())
            if one.shape != other.shape or not np.allclose(one, other, rtol=0, atol=1e-8 * size):
                return f"wrong: the gradient by argument {i} is another than others"
    if by_differences and not agrees_with_differences(program, args, gradients):
        return "wrong: the gradient is not what differences say"
    return None


def agrees_with_differences(
    program: Program, args: tuple[Any, ...], gradients: tuple[Any, ...]
) -> bool:
    """Whether a directional derivative is that of extrapolated differences."""
    rng = np.random.default_rng(2)
    directions = [0.01 * rng.standard_normal(np.shape(args[i])) for i in program.inputs]

    def along(t: float) -> float:
        moved = list(args)
        for i, direction in zip(program.inputs, directions, strict=True):
            moved[i] = moved[i] + t * direction
        return float(program.function(*moved))

    slope, error = difference(along)
    found = float(sum(np.sum(g * d) for g, d in zip(gradients, directions, strict=True)))
    scale = float(sum(np.sum(np.abs(g * d)) for g, d in zip(gradients, directions, strict=True)))
    return abs(found - slope) <= 1e-6 * scale + 4 * min(error, 1e-5 * scale)


# --- time -----------------------------------------------------------------------------------------


def medians(calls: dict[str, Call]) -> dict[str, float]:
    """The median times of calls that take turns."""
    numbers, once = {}, 0.0
    for name, call in calls.items():
        seconds = timed(call, 1)
        numbers[name] = max(1, round(SHORTEST / seconds))
        once += max(seconds, SHORTEST)
    rounds = min(max(round(BUDGET / max(once, 1e-3)), ROUNDS[0]), ROUNDS[1])
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            found[name].append(timed(call, numbers[name]))
    return {name: statistics.median(times) for name, times in found.items()}


def timed(call: Call, number: int) -> float:
    """The mean time of some calls, one after the other."""
    start = time.perf_counter()
    for _ in range(number):
        call()
    return (time.perf_counter() - start) / number


def geometric_means(cells: list[Cell], base: str, size: str) -> Iterator[tuple[str, float, int]]:
    """(rival, mean ratio of its times to those of `base`, number of programs that both have)."""
    times = {(c.rival, c.program): c.seconds for c in cells if c.seconds and c.size == size}
    for rival in dict.fromkeys(c.rival for c in cells):
        logs = [
            np.log(seconds / times[base, program])
            for (name, program), seconds in times.items()
            if name == rival and (base, program) in times
        ]
        if logs:
            yield rival, float(np.exp(np.mean(logs))), len(logs)
