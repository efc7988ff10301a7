"""What was generated for one derivative, by what it was generated for."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from srcdiff.backends.arrays import one_cotangent
from srcdiff.driver.many import Many
from srcdiff.driver.notes import add_place
from srcdiff.driver.outside import Outside
from srcdiff.driver.watch import Watch
from srcdiff.errors import CotangentError, placed
from srcdiff.ir import Loc
from srcdiff.ir.kinds import Kind
from srcdiff.kinds.of_values import key_of


@dataclass(frozen=True)
class Compiled:
    """One specialisation: its function and text, and what it was generated from.

    `written` are the parameters that the primal writes into, `held` the arrays outside that it
    may read, `returns` where it returns.
    """

    function: Any
    text: str
    scalar: bool
    watch: Watch
    written: tuple[str, ...] = ()
    held: tuple[tuple[str, Any], ...] = ()
    returns: tuple[Loc, ...] = ()
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    seeded: Callable[[Any], Any] = one_cotangent
    many: Many | None = None  # of forward mode: the function for a batch of directions
    put: tuple[Any, ...] = ()  # containers outside that values with a derivative are put into

    def called(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], grad_outputs: Any) -> Any:
        """What the function gives; errors name the user's line."""
        try:
            if grad_outputs is None:
                return self.function(*args, **kwargs)
            if self.scalar:
                grad_outputs = self.seeded(grad_outputs)
            return self.function(*args, grad_outputs=grad_outputs, **kwargs)
        except CotangentError as error:
            raise placed(error, self.returns) from None
        except Exception as error:
            add_place(error)
            raise


@dataclass(frozen=True)
class CompiledPair:
    """A forward and a backward part, and what `Compiled` holds of them."""

    forward: Any
    backward: Any
    scalar: bool
    watch: Watch
    written: tuple[str, ...]
    held: tuple[tuple[str, Any], ...]
    returns: tuple[Loc, ...]
    consumes: bool
    many: Many  # the backward part for a batch of cotangents
    text: str
    seeded: Callable[[Any], Any] = one_cotangent
    put: tuple[Any, ...] = ()

    @functools.cached_property
    def outside(self) -> Outside:
        """What the two parts read from outside."""
        return Outside(self.text, self.forward, self.backward)


@dataclass
class Specialisations:
    """What was generated for one request, by what it was generated for."""

    by_key: dict[Any, Compiled] = field(default_factory=dict)
    by_kinds: dict[Any, Compiled] = field(default_factory=dict)
    pairs: dict[Any, CompiledPair] = field(default_factory=dict)
    checked: dict[Any, bool] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)


_MOST = 256


def keep(table: dict[Any, Any], key: Any, made: Any) -> None:
    """Put something into a table; of very many the oldest is forgotten."""
    table[key] = made
    if len(table) > _MOST:
        table.pop(next(iter(table)))


def key_of_call(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What a call has in common with all that run the same generated function."""
    key = tuple([key_of(a) for a in args])
    return (key, *((k, key_of(kwargs[k])) for k in sorted(kwargs))) if kwargs else key
