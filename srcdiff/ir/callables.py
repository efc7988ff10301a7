"""The kind of functions: which ones a value may be."""

from __future__ import annotations

from collections.abc import Callable as Function
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Callable:
    """A function, class or other callable, one of `choices`; none: unknown.

    A choice is an object and, for one that the program makes (`ir.Site`), the kinds of what it
    captures.
    """

    choices: tuple[tuple[Any, tuple[Any, ...]], ...] = ()

    @property
    def value(self) -> Function[..., Any] | None:
        """The one object that it is, if that is known."""
        return self.choices[0][0] if len(self.choices) == 1 else None

    def __eq__(self, other: object) -> bool:
        """The order of the choices says nothing."""
        return isinstance(other, Callable) and self._table() == other._table()

    def __hash__(self) -> int:
        return hash(frozenset(id(f) for f, _ in self.choices))

    def _table(self) -> dict[int, tuple[Any, ...]]:
        return {id(f): kinds for f, kinds in self.choices}


def only(value: Any) -> Callable:
    """The kind of one callable."""
    return Callable(((value, ()),))


MANY = 16
"""More functions than this are as good as any."""


def join_callables(
    a: Callable, b: Callable, join: Function[[Any, Any], Any]
) -> Callable:
    """Every function that one of two values may be."""
    if not a.choices or not b.choices:
        return Callable()
    found = {id(f): (f, kinds) for f, kinds in a.choices}
    for f, kinds in b.choices:
        old = found.get(id(f))
        found[id(f)] = (f, kinds if old is None else tuple(map(join, old[1], kinds)))
    return Callable(tuple(found.values())) if len(found) <= MANY else Callable()
