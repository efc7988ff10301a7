"""Derivatives of a function, each made once as long as the function lives."""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from srcdiff.api.derivative import Derivative

_TABLE = "__srcdiff_made__"
T = TypeVar("T", bound=Derivative)


def made_once(f: Any, key: Hashable, make: Callable[[], T]) -> T:
    """What `make` makes of `f` for a key, kept beside `f`."""
    if not isinstance(f, (types.FunctionType, Derivative)):
        return make()
    try:
        table = f.__dict__.setdefault(_TABLE, {})
        found: T | None = table.get(key)
    except TypeError:  # an unhashable key
        return make()
    if found is None or found.primal is not f:  # a wrapper has the `__dict__` of what it wraps
        found = table[key] = make()
    return found
