"""Arrays from outside of a function, as they were when a pullback was made.

The backward part reads them by their names; what writes into them later is not for it to see.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from srcdiff.api.residuals import copied

Snapshot = Mapping[str, Any]


def read_names(forward: Any, backward: Any) -> tuple[str, ...]:
    """The variables with memory that a generated backward part reads from outside."""
    space = backward.__globals__
    codes = (f.__code__ for f in (*_functions(space), backward) if f is not forward)
    names = dict.fromkeys(n for code in codes for n in code.co_names)
    return tuple(n for n in names if isinstance(space.get(n), (np.ndarray, list, dict)))


def snapshot(backward: Any, names: tuple[str, ...]) -> Snapshot:
    """What some variables hold now."""
    return {n: copied(backward.__globals__[n]) for n in names}


def as_then(function: Any, then: Snapshot) -> Any:
    """A generated function that reads what was there then, where that has changed."""
    space = function.__globals__
    changed = {n: v for n, v in then.items() if n in space and not _same(space[n], v)}
    if not changed:
        return function
    new: dict[str, Any] = {**space, **changed}
    for other in _functions(space):
        new[other.__name__] = _copy(other, new)
    return _copy(function, new)


def _functions(space: Mapping[str, Any]) -> Iterator[types.FunctionType]:
    """The functions that were generated together."""
    for value in space.values():
        if isinstance(value, types.FunctionType) and value.__globals__ is space:
            yield value


def _copy(function: types.FunctionType, space: dict[str, Any]) -> types.FunctionType:
    new = types.FunctionType(
        function.__code__, space, function.__name__, function.__defaults__, function.__closure__
    )
    new.__kwdefaults__ = function.__kwdefaults__
    return new


def _same(now: Any, then: Any) -> bool:
    """Whether nothing was written."""
    if isinstance(then, np.ndarray):
        numbers = then.dtype.kind in "fc"
        return isinstance(now, np.ndarray) and np.array_equal(now, then, equal_nan=numbers)
    if type(now) is not type(then):
        return False
    if isinstance(then, dict):
        return now.keys() == then.keys() and all(_same(now[k], v) for k, v in then.items())
    if isinstance(then, (list, tuple)):
        return len(now) == len(then) and all(map(_same, now, then))
    return bool(now is then or now == then)
