"""`profile`: where the time of a gradient goes, and what it keeps, by the lines of the primal."""

from __future__ import annotations

import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np

from srcdiff.api.grad import with_variables
from srcdiff.backends.loader import place_in
from srcdiff.driver.derivative import Derivative
from srcdiff.errors import entry
from srcdiff.ir.frozen import frozen, state
from srcdiff.texts import line_of


@state
class LineCost:
    """What one line of the primal costs: seconds forwards and backwards, bytes kept between."""

    place: str
    text: str
    forward: float = 0.0
    backward: float = 0.0
    saved: int = 0


@frozen
class Profile:
    """The costs of one call of a gradient; `str` of it is a table."""

    value: Any
    lines: tuple[LineCost, ...] = field(default=())

    def __str__(self) -> str:
        """A table, a row a line of the primal."""
        rows = ["  forward ms  backward ms    saved bytes  line"]
        for c in self.lines:
            times = f"{1e3 * c.forward:12.3f} {1e3 * c.backward:12.3f}"
            rows.append(f"{times} {c.saved:14,d}  {c.place}: {c.text}")
        return "\n".join(rows)


@entry
def profile(g: Derivative) -> Callable[..., Profile]:
    """A gradient that says where its time goes: `profile(srcdiff.grad(f))(*args)`.

    Each line of the generated text is timed and counted for the line of the function that it comes
    from, with the functions that it calls; measuring makes every line some microseconds slower.

    Returns:
        A function with the parameters of `g` that returns a `Profile`: `.value` is what `g`
        returns, `.lines` the costs of each line, and `print` of it shows a table.

    >>> import numpy as np
    >>> import srcdiff
    >>> def f(x):
    ...     h = np.exp(x)
    ...     return np.sum(h * np.sin(h))
    >>> found = srcdiff.profile(srcdiff.grad(f))(np.ones(1000))
    >>> [(line.text, line.saved) for line in found.lines if line.saved]
    [('h = np.exp(x)', 8000)]
    """

    @entry
    def profiled(*args: Any, grad_outputs: Any = None, **kwargs: Any) -> Profile:
        function, text = g.specialised(*args, **kwargs), g.source
        tracer, (plain, held) = Tracer(function, text), with_variables(g)
        given = {} if grad_outputs is None else {"grad_outputs": grad_outputs}
        value = tracer.run(*plain.receiver, *args, **given, **kwargs, **held)
        return Profile(value, tracer.costs())

    return profiled


def backward_line(lines: list[str]) -> int:
    """The line of a generated text, from 1, on which its backward part begins."""
    marks = (k for k, line in enumerate(lines, 1) if line.strip() == "# backward")
    return next(marks, len(lines) + 1)


class Tracer:
    """The times of the lines of one generated function, and what it keeps.

    `held`: the bytes of its variables when the backward part begins.
    """

    def __init__(self, function: Any, text: str) -> None:
        self.function, self.code = function, function.__code__
        self.text = text.split("\n")
        self.middle = backward_line(self.text)
        self.spent: dict[int, float] = defaultdict(float)
        self.held: dict[str, int] = {}
        self.last: tuple[int, float] | None = None

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives."""
        before = sys.gettrace()
        sys.settrace(self.called)
        try:
            return self.function(*args, **kwargs)
        finally:
            sys.settrace(before)

    def called(self, frame: Any, event: str, arg: Any) -> Any:
        """Follow the lines of the generated function alone."""
        return self.line if frame.f_code is self.code else None

    def line(self, frame: Any, event: str, arg: Any) -> Any:
        """A line begins."""
        now = time.perf_counter()
        if self.last is not None:
            self.spent[self.last[0]] += now - self.last[1]
        if frame.f_lineno > self.middle and not self.held:
            self.held = {name: bytes_of(value) for name, value in frame.f_locals.items()}
        self.last = (frame.f_lineno, time.perf_counter())
        return self.line

    def saved(self) -> dict[int, int]:
        """The bytes of what the backward part reads, by the line that computes it."""
        below = "\n".join(self.text[self.middle :])
        params = self.code.co_varnames[: self.code.co_argcount + self.code.co_kwonlyargcount]
        found: dict[int, int] = defaultdict(int)
        for name, size in self.held.items():
            made = re.compile(rf"^\s*{name}(\.append\(|\[[^=]*\] = )|\b{name}\b[^=(]* = ")
            lines = [k for k, s in enumerate(self.text[: self.middle], 1) if made.search(s)]
            if lines and name not in params and re.search(rf"\b{name}\b", below):
                found[lines[-1]] += size
        return found

    def costs(self) -> tuple[LineCost, ...]:
        """The costs by the lines of the primal."""
        table: dict[Any, LineCost] = {}
        saved = self.saved()
        for number in sorted({*self.spent, *saved}):
            loc = place_in(self.code.co_filename, number)
            if loc is None:
                continue
            key = loc.file, loc.line
            text = line_of(*key).strip()
            cost = table.setdefault(key, LineCost(f"{loc.file}:{loc.line}", text))
            if number > self.middle:
                cost.backward += self.spent.get(number, 0.0)
            else:
                cost.forward += self.spent.get(number, 0.0)
            cost.saved += saved.get(number, 0)
        return tuple(table[key] for key in sorted(table))


def bytes_of(value: Any) -> int:
    """The bytes of the arrays and numbers in a value."""
    if isinstance(value, (list, tuple, dict)):
        return sum(map(bytes_of, value.values() if isinstance(value, dict) else value))
    return int(value.nbytes) if isinstance(value, (np.ndarray, np.generic)) else 8
