"""Programs that are not accepted yet: ordinary ones, each refused with its place and the reason.

One that becomes right moves to the corpus of its topic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


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


