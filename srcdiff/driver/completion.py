"""What completion offers of an object: what is there for users."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

C = TypeVar("C", bound=type)


def offers(*names: str) -> Callable[[C], C]:
    """Let `dir` list the public attributes of these names alone."""

    def listed(self: Any) -> Iterable[str]:
        """The attributes for users, and those of Python."""
        return [n for n in object.__dir__(self) if n.startswith("__") or n in names]

    def decorate(cls: C) -> C:
        cls.__dir__ = listed  # type: ignore[method-assign, assignment]
        return cls

    return decorate
