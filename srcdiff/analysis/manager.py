"""What is found once for each compilation, however often it is asked for.

What a Python function does is asked for by several passes, and again for every part of a
derivative.  It stays the same while a derivative is compiled, but not longer: what closures hold
may change.

A compilation makes many nodes that live as long as it does, and few cycles: the collector, which
would look through all of them again and again, waits until it is done.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

_T = TypeVar("_T")

_found: ContextVar[dict[Hashable, Any] | None] = ContextVar("srcdiff.memory", default=None)


@contextmanager
def remembering() -> Iterator[None]:
    """Remember what `once` computes until the outermost of these ends."""
    token = _found.set({} if (found := _found.get()) is None else found)
    try:
        yield
    finally:
        _found.reset(token)


@contextmanager
def uncollected() -> Iterator[None]:
    """Search for no cycles of garbage until this ends, if that is what was going on."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def once(key: Hashable, compute: Callable[[], _T]) -> _T:
    """What is computed, or what it was for the same key."""
    found = _found.get()
    if found is None:
        return compute()
    if key not in found:
        found[key] = compute()
    value: _T = found[key]
    return value
