"""Copies of arrays, containers and objects, in which what shared memory shares it again.

`kept_together` and `laid_copies` copy arrays that lie in memory as others do: they are also called
by generated code.  `copied` copies residuals, of which views become views of copies.  `with_memory`
says where what can be written into stands in a value.
"""

from __future__ import annotations

import collections
import copy
import types
from collections.abc import Callable, Container, Iterator
from typing import Any

import numpy as np

from srcdiff.runtime import layout, records, trees
from srcdiff.runtime.devices import is_any_array, is_device_array
from srcdiff.runtime.scipy.sparse import is_sparse
from srcdiff.runtime.trees import like_sequence


def kept_together(x: Any) -> Any:
    """A copy of `x` as `kept` makes it, of which parts share memory where those of `x` do."""
    arrays: list[Any] = []
    trees.mapped(lambda part: arrays.append(part) if trees.is_array(part) else part, x)
    copies = iter(laid_copies(arrays))
    return trees.mapped(lambda part: next(copies) if trees.is_array(part) else part, x)


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


def _blocks(arrays: list[Any]) -> list[tuple[int, int, list[int]]]:
    """Stretches of memory, and the arrays that lie in each: two in one stretch may overlap."""
    alone = [k for k, x in enumerate(arrays) if x.dtype.hasobject or not x.size]
    spans = ((*layout.span(x), k) for k, x in enumerate(arrays) if k not in alone)
    blocks: list[tuple[int, int, list[int]]] = []
    for low, high, k in sorted(spans):
        start, end, inside = blocks.pop() if blocks and low < blocks[-1][1] else (low, high, [])
        blocks.append((start, max(end, high), [*inside, k]))
    return [*((0, 0, [k]) for k in alone), *blocks]


# --- residuals -----------------------------------------------------------------------------------


Words = Container[str] | None
"""The attributes of objects that are copied as well; None for all."""

Memo = dict[Any, Any]
"""Copies by the ids of what they are copies of, memory by where it begins and ends."""

PLAIN = frozenset({float, int, bool, np.float64, complex, str, type(None)})
"""Types of which nothing is ever written into."""


def copied(value: Any, memo: Memo | None = None, words: Words = None) -> Any:
    """A copy of nested containers and objects with arrays; views become views of copied memory.

    What cannot be looked into stays what it is.

    >>> import numpy as np
    >>> a = np.zeros(3)
    >>> b, view = copied((a, a[1:]))
    >>> view[0] = 5.0
    >>> b, a
    (array([0., 5., 0.]), array([0., 0., 0.]))
    """
    if type(value) in PLAIN:
        return value
    if memo is None and _are_apart(value):
        return tuple([v if type(v) in PLAIN else layout.laid_copy(v) for v in value])
    memo = {} if memo is None else memo
    if isinstance(value, tuple):
        return like_sequence(value, [copied(v, memo, words) for v in value])
    if id(value) not in memo:
        put = _putter(value)
        if put is None:
            return value
        put(value, memo, words)
    return memo[id(value)]


def _are_apart(value: Any) -> bool:
    """Whether a value is a tuple of numbers, and of arrays none of which shares memory."""
    if type(value) is not tuple:
        return False
    arrays = [v for v in value if type(v) not in PLAIN]
    own = all(type(v) is np.ndarray and v.base is None for v in arrays)
    return own and len({*map(id, arrays)}) == len(arrays)


def _putter(value: Any) -> Callable[[Any, Memo, Words], None] | None:
    """What puts a copy of a value into a memo; None where it is not copied."""
    if isinstance(value, (list, dict, set, collections.deque)):
        return _put_container
    if type(value) in (np.ndarray, np.memmap) or is_device_array(value) or is_sparse(value):
        return _put_array
    return _put_object if is_open(value) else None


def is_open(value: Any) -> bool:
    """Whether a value is an object whose attributes are looked into."""
    return type(value) is types.SimpleNamespace or records.is_record(type(value))


def attributes(value: Any) -> dict[str, Any]:
    """What such an object holds, by name."""
    return vars(value) if type(value) is types.SimpleNamespace else records.attributes(value)


def _put_array(value: Any, memo: Memo, _: Words) -> None:
    """Copy an array, at its place in a copy of the memory that it is in, or a sparse matrix."""
    if is_sparse(value):
        memo[id(value)] = value.copy()
    elif value.dtype.hasobject or not value.size:
        memo[id(value)] = layout.laid_copy(value)
    else:
        owner = owner_of(value)
        start, end = stretch = layout.span(owner)
        if stretch not in memo:
            memo[stretch] = layout.space_like(owner, end - start)
            layout.placed_like(owner, memo[stretch], start)[...] = owner
        memo[id(value)] = layout.placed_like(value, memo[stretch], start)


def _put_container(value: Any, memo: Memo, words: Words) -> None:
    """Copy a container, which may hold itself."""
    memo[id(value)] = made = copy.copy(value)
    if isinstance(value, dict):
        for key, item in value.items():
            dict.__setitem__(made, key, copied(item, memo, words))
    elif not isinstance(value, set):
        for k, item in enumerate(value):
            made[k] = copied(item, memo, words)


def _put_object(value: Any, memo: Memo, words: Words) -> None:
    """Copy an object, which may hold itself; its constructor does not run."""
    cls: Any = type(value)
    memo[id(value)] = made = cls.__new__(cls)
    for name, item in attributes(value).items():
        wanted = words is None or name in words
        object.__setattr__(made, name, copied(item, memo, words) if wanted else item)


def owner_of(array: Any) -> Any:
    """The array whose memory an array is a view of, also by strides."""
    held = array.base
    if held is not None and not is_any_array(held):
        held = getattr(held, "base", None)  # between the two stands what `as_strided` makes
    return owner_of(held) if is_any_array(held) else array


# --- where arrays, containers and objects stand in a value --------------------------------------


Leaf = tuple[str, Any]

_DEEP = 12
"""How many objects in each other are looked into."""


def with_memory(path: str, value: Any) -> Iterator[Leaf]:
    """Everything with memory in a value, and where it stands."""
    if is_any_array(value):
        yield path, value
    elif isinstance(value, (list, tuple)):
        if isinstance(value, list):
            yield path, value
        for k, item in enumerate(value):
            yield from with_memory(f"{path}[{k}]", item)
    elif isinstance(value, dict):
        yield path, value
        for key, item in value.items():
            yield from with_memory(f"{path}[{key!r}]", item)
    elif records.is_record(type(value)) and path.count(".") < _DEEP:
        yield path, value
        for name, item in records.attributes(value).items():
            yield from with_memory(f"{path}.{name}", item)
