"""A copy of residuals in which everything that shared memory shares it again."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcdiff.device import is_device_array
from srcdiff.trees import like_sequence


def copied(value: Any, memo: dict[Any, Any] | None = None) -> Any:
    """A copy of nested tuples, lists and dicts of arrays; views become views of copied memory.

    >>> import numpy as np
    >>> a = np.zeros(3)
    >>> b, view = copied((a, a[1:]))
    >>> view[0] = 5.0
    >>> b, a
    (array([0., 5., 0.]), array([0., 0., 0.]))
    """
    memo = {} if memo is None else memo
    if isinstance(value, tuple):
        return like_sequence(value, [copied(v, memo) for v in value])
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, list):
        memo[id(value)] = made = []
        made += [copied(v, memo) for v in value]
        return made
    if isinstance(value, dict):
        memo[id(value)] = table = type(value)()
        table.update((k, copied(v, memo)) for k, v in value.items())
        return table
    if type(value) is np.ndarray or is_device_array(value):
        make = _array if type(value) is np.ndarray else _device_array
        memo[id(value)] = make(value, memo)
        return memo[id(value)]
    return value


def _device_array(array: Any, memo: dict[Any, Any]) -> Any:
    """A copy of an array of CuPy, at the same place in a copy of the memory that it is in."""
    owner = array
    while owner.base is not None:
        owner = owner.base
    flags = owner.flags
    if not flags.c_contiguous and not flags.f_contiguous:
        return array.copy()  # memory with gaps
    key = "cupy", owner.data.ptr
    if key not in memo:
        memo[key] = owner.copy(order="C" if flags.c_contiguous else "F")
    start = memo[key].data + (array.data.ptr - owner.data.ptr)
    return type(array)(array.shape, array.dtype, start, array.strides)


def _array(array: np.ndarray[Any, Any], memo: dict[Any, Any]) -> Any:
    """A copy of an array, at the same place in a copy of the memory that it is a view of."""
    owner = _owner(array)
    flat = owner
    if not owner.flags.c_contiguous:
        flat = owner.transpose(np.argsort([-abs(s) for s in owner.strides], kind="stable"))
    if not flat.flags.c_contiguous or owner.dtype.hasobject:
        return np.array(array)  # memory with gaps, of something else than NumPy
    key = -id(owner)
    if key not in memo:
        memo[key] = np.array(flat, order="C").reshape(-1).view(np.uint8)
    start = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, memo[key].data, start, array.strides)


def _owner(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array whose memory an array is a view of, also by strides."""
    held = array.base
    if held is not None and not isinstance(held, np.ndarray):
        held = getattr(held, "base", None)  # between the two stands what `as_strided` makes
    return _owner(held) if isinstance(held, np.ndarray) else array
