"""Contexts that hold for the thread that entered them."""

from __future__ import annotations

from contextvars import ContextVar, Token
from typing import Any


class Holding:
    """What `now` is between `__enter__` and `__exit__`; of nested contexts the innermost."""

    def __init__(self, now: ContextVar[Any]) -> None:
        self._now = now
        self._tokens: list[Token[Any]] = []

    def __enter__(self) -> None:
        """From here on."""
        self._tokens.append(self._now.set(self))

    def __exit__(self, *error: object) -> None:
        """As it was before."""
        self._now.reset(self._tokens.pop())
