"""What is made once for a function, and lives as long as the function does."""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from srcdiff.nested import is_derivative

_TABLE = "__srcdiff_made__"
_lock = threading.Lock()
T = TypeVar("T")


class _Table(dict[Hashable, Any]):
    """What was made for a function; where functions are pickled by value it pickles as empty."""

    def __init__(self, owner: Any = None) -> None:
        super().__init__()
        self.owner = owner

    def __reduce__(self) -> Any:
        """Nothing of it is needed anywhere else."""
        return _Table, ()


def made_once(f: Any, key: Hashable, make: Callable[[], T]) -> T:
    """What `make` makes of `f` for a key, kept beside `f`."""
    if not isinstance(f, types.FunctionType) and not is_derivative(f):
        return make()
    try:
        found: T | None = _table(f).get(key)
    except TypeError:  # an unhashable key
        return make()
    if found is None:
        made = make()
        found = _table(f).setdefault(key, made)
    return found


def _table(f: Any) -> _Table:
    """The table of a function."""
    with _lock:
        table: _Table | None = f.__dict__.get(_TABLE)
        if table is None or table.owner is not f:  # a wrapper has that of what it wraps
            table = f.__dict__[_TABLE] = _Table(f)
        return table
