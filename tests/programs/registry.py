"""How a program of the corpus is registered, with sample arguments and what is asked of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Program:
    """An ordinary function with sample arguments, and the derivative that is asked of it."""

    function: Callable[..., Any]
    args: Callable[[np.random.Generator], tuple[Any, ...]]
    inputs: Any = 0
    outputs: Any = None
    order2: bool = True
    gradient: Callable[..., Any] | None = None
    """`gradient(*args, cotangent)`: a gradient by hand, where differences say nothing."""
    second: Callable[..., Any] | None = None
    """`second(*args, cotangent, u)`: the gradient by hand of the product of `gradient` and `u`."""
    tolerance: float = 1e-6
    topics: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The topic and the function's name."""
        topic = self.function.__module__.rpartition(".")[2]
        return f"{topic}-{self.function.__name__}"

    def arguments(self, seed: int = 0) -> tuple[Any, ...]:
        """Sample arguments, the same ones for the same seed."""
        return self.args(np.random.default_rng(seed))


_programs: list[Program] = []


def sample(
    function: Callable[..., Any],
    args: Callable[[np.random.Generator], tuple[Any, ...]],
    inputs: Any = 0,
    **options: Any,
) -> None:
    """Register a program; called below each function of the corpus."""
    _programs.append(Program(function, args, inputs, **options))


def registered() -> tuple[Program, ...]:
    """Everything registered so far, in the order of the imports."""
    return tuple(_programs)
