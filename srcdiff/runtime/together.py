"""Copies of several arrays that share memory as these do: also called by generated code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from srcdiff.runtime import layout, records, trees


def kept_together(x: Any) -> Any:
    """A copy of `x` as `kept` makes it, of which parts share memory where those of `x` do."""
    arrays: list[Any] = []
    _with_arrays(x, arrays.append)
    copies = iter(laid_copies(arrays))
    return _with_arrays(x, lambda _: next(copies))


def _with_arrays(x: Any, new: Callable[[Any], Any]) -> Any:
    """Something of the structure of `x` with what `new` gives for its arrays."""
    if records.is_record(type(x)):
        values = {k: _with_arrays(v, new) for k, v in records.attributes(x).items()}
        return records.rebuilt(x, values)
    if isinstance(x, dict):
        return {key: _with_arrays(value, new) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        items = [_with_arrays(value, new) for value in x]
        return items if isinstance(x, list) else tuple(items)
    return new(x) if trees.is_array(x) else x


def laid_copies(arrays: list[Any]) -> list[Any]:
    """Copies of arrays in the same layout, which share memory where the arrays do.

    Arrays of Python objects are copied one by one.
    """
    made: dict[int, Any] = {}
    for start, end, block in _blocks(arrays):
        if len(block) == 1:
            made[block[0]] = layout.laid_copy(arrays[block[0]])
            continue
        space = layout.space_like(arrays[block[0]], end - start)
        for k in block:
            made[k] = layout.placed_like(arrays[k], space, start)
            made[k][...] = arrays[k]
    return [made[k] for k in range(len(arrays))]


def _blocks(arrays: list[Any]) -> Iterator[tuple[int, int, list[int]]]:
    """Stretches of memory, and the arrays that lie in each: two in one stretch may overlap."""
    alone = [k for k, x in enumerate(arrays) if x.dtype.hasobject or not x.size]
    yield from ((0, 0, [k]) for k in alone)
    spans = ((*layout.span(x), k) for k, x in enumerate(arrays) if k not in alone)
    block: list[int] = []
    start = end = 0
    for low, high, k in sorted(spans):
        if block and low >= end:
            yield start, end, block
            block = []
        start, end = (start, max(end, high)) if block else (low, high)
        block = [*block, k]
    if block:
        yield start, end, block
