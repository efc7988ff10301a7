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
        tracer = _Tracer(function.__code__, text)
        given = {} if grad_outputs is None else {"grad_outputs": grad_outputs}
        before = sys.gettrace()
        sys.settrace(tracer.called)
        try:
            value = function(*g.receiver, *args, **given, **kwargs)
        finally:
            sys.settrace(before)
        return Profile(value, tracer.costs())

    return profiled


class _Tracer:
    """The times of the lines of one generated function, and what it keeps."""

    def __init__(self, code: Any, text: str) -> None:
        self.code = code
        self.text = text.split("\n")
        marks = [k for k, line in enumerate(self.text, 1) if line.strip() == "# backward"]
        self.middle = marks[0] if marks else len(self.text) + 1
        self.spent: dict[int, float] = defaultdict(float)
        self.saved: dict[int, int] = {}
        self.last: tuple[int, float] | None = None

    def called(self, frame: Any, event: str, arg: Any) -> Any:
        """Follow the lines of the generated function alone."""
        return self.line if frame.f_code is self.code else None

    def line(self, frame: Any, event: str, arg: Any) -> Any:
        """A line begins."""
        now = time.perf_counter()
        if self.last is not None:
            self.spent[self.last[0]] += now - self.last[1]
        if frame.f_lineno > self.middle and not self.saved:
            self.saved = self.kept(frame.f_locals) or {0: 0}
        self.last = (frame.f_lineno, time.perf_counter())
        return self.line

    def kept(self, values: dict[str, Any]) -> dict[int, int]:
        """The bytes of what the backward part reads, by the line that computes it."""
        below = "\n".join(self.text[self.middle :])
        params = self.code.co_varnames[: self.code.co_argcount + self.code.co_kwonlyargcount]
        found: dict[int, int] = {}
        for name, value in values.items():
            made = re.compile(rf"^\s*{name}(\.append\(|\[[^=]*\] = )|\b{name}\b[^=(]* = ")
            lines = [k for k, s in enumerate(self.text[: self.middle], 1) if made.search(s)]
            if lines and name not in params and re.search(rf"\b{name}\b", below):
                found[lines[-1]] = found.get(lines[-1], 0) + _bytes(value)
        return found

    def costs(self) -> tuple[LineCost, ...]:
        """The costs by the lines of the primal."""
        table: dict[Any, LineCost] = {}
        for number in sorted({*self.spent, *self.saved} - {0}):
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
            cost.saved += self.saved.get(number, 0)
        return tuple(table[key] for key in sorted(table))


def _bytes(value: Any) -> int:
    """The bytes of the arrays in a value."""
    if isinstance(value, (list, tuple)):
        return sum(map(_bytes, value))
    return value.nbytes if isinstance(value, (np.ndarray, np.generic)) else 0
