"""What fused loops call, and what calls them: shapes, arrays to fill, and sums of free order."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["add", "check_indices", "check_shapes", "empty_like", "part_shape"]


def add(total: Any, x: Any) -> Any:
    """`total + x`, where a compiler may add up in any order."""
    return total + x


def empty_like(dtype: Any, *arrays: Any) -> Any:
    """An array to fill, in the order in which NumPy makes one of arrays of this shape."""
    if all(a.flags.c_contiguous for a in arrays):
        return np.empty(arrays[0].shape, dtype)
    dtypes = [*(a.dtype for a in arrays), dtype]
    return np.nditer((*arrays, None), ["zerosize_ok"], op_dtypes=dtypes).operands[-1]


def check_shapes(shape: Any, *others: Any) -> None:
    """Refuse operands that have other shapes than the loops go over.

    Raises:
        ValueError: one of the shapes is another one.
    """
    for other in others:
        if other != shape:
            raise ValueError("operands could not be broadcast together")


def check_indices(shape: Any, *indices: Any) -> None:
    """Refuse arrays of integers that say places which an array of some shape does not have.

    Raises:
        IndexError: a place is out of bounds along its axis.
    """
    for axis, (length, places) in enumerate(zip(shape, indices)):
        if not places.size or -length <= places.min() and places.max() < length:
            continue
        first = places[(places < -length) | (places >= length)][0]
        raise IndexError(f"index {first} is out of bounds for axis {axis} with size {length}")


def part_shape(shape: Any, *items: Any) -> Any:
    """The shape of a part of an array: of axes there is a place, a piece (start, stop), or all.

    Raises:
        IndexError: a place is out of bounds.
    """
    found = []
    for length, item in zip(shape, items):
        if item is None or isinstance(item, tuple):
            found.append(len(range(length)[slice(*(item or (None,)))]))
        elif not -length <= item < length:
            raise IndexError("index is out of bounds")
    return (*found, *shape[len(items) :])
