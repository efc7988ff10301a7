"""What is found out about a version of a function, once for all passes that ask.

Takes an analysis, a function and the kinds of its names; gives the analysis, which is kept beside
the fields of the function.  The invariant: functions and kinds never change, so what was found out
about them stays true.

What a Python function does is asked for by several passes, and again for every part of a
derivative.  It stays the same while a derivative is compiled, but not longer: what closures hold
may change (`once`).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar
from weakref import ref

from srcdiff import ir

A = TypeVar("A", bound="Analysis")
T = TypeVar("T")


class Analysis:
    """What is found out about a function and the kinds of its names.

    The function keeps it, and not the other way round: a version of a function that no pass has any
    more is no garbage that waits for the collector.
    """

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        self._function, self.kinds = ref(function), kinds

    @property
    def function(self) -> ir.Function:
        """The function, which somebody has who asks."""
        found = self._function()
        assert found is not None
        return found

    @classmethod
    def of(cls: type[A], function: ir.Function, kinds: ir.Kinds) -> A:
        """The analysis of a function, made where there is none for these kinds."""
        found: A | None = vars(function).get(cls.__name__)
        if found is None or found.kinds is not kinds:
            found = vars(function)[cls.__name__] = cls(function, kinds)
        return found


# --- what is found once while a derivative is compiled ------------------------------------------


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


def once(key: Hashable, compute: Callable[[], T]) -> T:
    """What is computed, or what it was for the same key."""
    found = _found.get()
    if found is None:
        return compute()
    if key not in found:
        found[key] = compute()
    value: T = found[key]
    return value
