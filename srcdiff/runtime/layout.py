"""Arrays that lie in memory as others do: also called by generated code."""

from __future__ import annotations

from typing import Any

import numpy as np


def laid_copy(x: Any) -> Any:
    """A copy of an array that lies in memory as it does, so that the same reshapings are views."""
    return laid_like(x, x)


def laid_like(values: Any, x: Any) -> Any:
    """An array of the shape and dtype of `x`, with the same gaps and order in memory.

    One of which two elements are one (what `np.broadcast_to` gives) has elements of its own.
    Of a tuple, such arrays for its items; numbers have no layout.
    """
    if isinstance(x, (tuple, list)):
        laid = [laid_like(v, item) for v, item in zip(values, x)]
        return laid if isinstance(x, list) else tuple(laid)
    if not hasattr(x, "strides") or isinstance(x, np.generic):
        return values
    out = np.empty_like(x)
    other = any(n > 1 and p != q for n, p, q in zip(x.shape, out.strides, x.strides))
    if other and not overlaps(x):
        start, end = span(x)
        out = placed_like(x, space_like(x, end - start), start)
    out[...] = values
    return out


def span(x: Any) -> tuple[int, int]:
    """The addresses of the first byte of an array, which has elements, and behind its last one."""
    ends = [(n - 1) * step for n, step in zip(x.shape, x.strides)]
    first = _start(x)
    low, high = sum(e for e in ends if e < 0), sum(e for e in ends if e > 0)
    return first + low, first + high + x.itemsize


def space_like(x: Any, size: int) -> Any:
    """So many bytes, here or on a device as `x` is."""
    return np.empty_like(x, np.uint8, shape=(size,))


def placed_like(x: Any, space: Any, start: int) -> Any:
    """An array in `space` that lies as far behind its start as `x` does behind an address."""
    return _at(space, _start(x) - start, x.shape, x.dtype, x.strides)


def overlaps(x: Any) -> bool:
    """Whether elements of an array may lie on each other."""
    extent = x.itemsize
    for step, n in sorted((abs(s), n) for s, n in zip(x.strides, x.shape) if n > 1):
        if step < extent:
            return True
        extent += (n - 1) * step
    return False


def view_like(base: Any, x: Any, old: Any, other: Any) -> Any:
    """The view of `base` that `x` is of `old`, an array of the same shape; `other` if it is none.

    Raises:
        ValueError: it is a reshaped view, and `base` has gaps where `old` has none.
    """
    if not hasattr(x, "strides") or not np.may_share_memory(x, old):
        return other
    shift = _start(x) - _start(old)
    start = _place(shift, old)
    steps = [_place(shift + step, old) - start for step in _inner(x)]
    strides = [int(np.dot(step, base.strides)) for step in steps]
    ends = [n - 1 if n > 1 else 0 for n in x.shape]
    last = _place(shift + int(np.dot(ends, _inner(x))), old) - start
    if int(np.dot(last, base.strides)) != int(np.dot(ends, strides)):
        raise ValueError(f"an array of strides {base.strides} has no such view as {old.strides}")
    corner = base[tuple(slice(k, None) for k in start)]
    if isinstance(corner, np.ndarray):
        return np.lib.stride_tricks.as_strided(corner, x.shape, strides)
    return _at(corner, 0, x.shape, x.dtype, strides)


def _start(x: Any) -> int:
    """The address of the first element of an array, which may be on a device."""
    host = isinstance(x, np.ndarray)
    return int(x.__array_interface__["data"][0] if host else x.data.ptr)


def _at(space: Any, first: int, shape: Any, dtype: Any, strides: Any) -> Any:
    """An array in the memory of another one, so many bytes behind its start."""
    if isinstance(space, np.ndarray):
        return np.ndarray(shape, dtype, space, first, strides)
    return type(space)(shape, dtype, space.data + first, strides)


def _inner(x: Any) -> list[int]:
    """The strides of an array, 0 for axes along which there is nothing to go."""
    return [step if n > 1 else 0 for n, step in zip(x.shape, x.strides)]


def _place(offset: int, x: Any) -> Any:
    """The indices of the element of an array that lies so many bytes behind its first one."""
    place = [0] * x.ndim
    offset -= sum((n - 1) * step for n, step in zip(x.shape, x.strides) if step < 0)
    for k in sorted(range(x.ndim), key=lambda k: -abs(x.strides[k])):
        if x.shape[k] > 1:
            place[k], offset = divmod(offset, abs(x.strides[k]))
            place[k] = place[k] if x.strides[k] > 0 else x.shape[k] - 1 - place[k]
    return np.array(place, int)
