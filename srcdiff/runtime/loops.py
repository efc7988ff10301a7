"""What fused loops call: the shapes that have to be the same, and sums of free order."""

from __future__ import annotations

from typing import Any

__all__ = ["add", "check_shapes"]


def add(total: Any, x: Any) -> Any:
    """`total + x`, where a compiler may add up in any order."""
    return total + x


def check_shapes(shape: Any, *others: Any) -> None:
    """Refuse operands that have other shapes than the loops go over.

    Raises:
        ValueError: one of the shapes is another one.
    """
    for other in others:
        if other != shape:
            raise ValueError("operands could not be broadcast together")
