"""Programs that are not accepted yet: ordinary ones, each refused with its place and the reason.

One that becomes right moves to the corpus of its topic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .containers import Oscillator, energy_of


@dataclass(frozen=True)
class Refused:
    """A function with sample arguments, and the error that a derivative of it raises."""

    function: Callable[..., Any]
    args: Callable[[np.random.Generator], tuple[Any, ...]]
    inputs: Any
    line: str
    """The source line that the error shows; "" where no line is at fault."""
    reason: str


REFUSED: list[Refused] = []


def refused(
    function: Callable[..., Any],
    args: Callable[[np.random.Generator], tuple[Any, ...]],
    inputs: Any = 0,
    *,
    line: str,
    reason: str,
) -> None:
    """Register a program; called below each function."""
    REFUSED.append(Refused(function, args, inputs, line, reason))


def pops(x):
    stack = [x, x * x]
    stack.append(np.sin(x))
    a = stack.pop()
    b = stack.pop()
    stack.extend([a * b, a - b])
    return stack[-1] * stack[1] + stack[0]


refused(
    pops,
    lambda r: (0.8,),
    line="stack.extend([a * b, a - b])",
    reason="the method `extend` on a list of active values",
)

refused(
    energy_of,
    lambda r: (Oscillator(1.3, r.standard_normal(3)), 0.4),
    ("system.springs", "x"),
    line="",
    reason="`energy_of` has no input 'system.springs'",
)


class State(NamedTuple):
    position: np.ndarray
    velocity: np.ndarray


def one_kick(x, v):
    s = State(x, v)
    s = State(s.position + 0.1 * s.velocity, s.velocity - np.sin(s.position))
    return s.position * s.velocity


refused(
    one_kick,
    lambda r: (r.standard_normal(2), r.standard_normal(2)),
    (0, 1),
    line="s = State(x, v)",
    reason="`State` makes an object that holds values with a derivative",
)
