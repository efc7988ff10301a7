"""`vjp`: one forward run, and a pullback that can be called any number of times.

Takes a forward and a backward part and the arguments; gives the value and the pullback, which knows
whether its residuals share memory, or containers and objects, with what somebody else holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from srcdiff.backends.loader import with_place
from srcdiff.driver.callables import offers
from srcdiff.driver.executable import CANNOT, CompiledPair
from srcdiff.driver.guards import unchanged
from srcdiff.driver.snapshots import Snapshot, contents
from srcdiff.errors import ReleasedError, entry
from srcdiff.runtime.copies import Memo, copied
from srcdiff.runtime.devices import is_any_array
from srcdiff.runtime.trees import cotangent, mapped


def _in_order(cotangent: Any) -> Any:
    """A cotangent that lies in memory in C order."""
    plain = type(cotangent) is not np.ndarray or not cotangent.ndim
    return cotangent if plain else np.ascontiguousarray(cotangent)


def held_in(value: Any) -> dict[int, Any]:
    """The arrays, containers and objects that a value holds, by their ids."""
    found = ((one, parts is not None) for one, parts in contents(value) if type(one) is not tuple)
    return {id(one): one for one, holds in found if holds or is_any_array(one)}


def _arrays(value: Any) -> list[Any]:
    """The arrays that a value holds."""
    return [one for one, _ in contents(value) if is_any_array(one)]


def shares(mine: Any, theirs: Any) -> bool:
    """Whether two values have memory in common, or containers and objects."""
    if not held_in(mine).keys().isdisjoint(held_in(theirs)):
        return True
    return any(np.may_share_memory(a, b) for a in _arrays(mine) for b in _arrays(theirs))


# --- pullbacks ------------------------------------------------------------------------------------


_NOTHING: Snapshot = {}
_CACHED = 100_000
"""How many numbers of a batch are computed with at a time, so that they stay in the cache."""


@offers("release", "source")
class Pullback:
    """The backward part of one run: maps a cotangent of the output to gradients of the inputs."""

    def __init__(
        self, made: CompiledPair, residuals: Any, then: Snapshot = _NOTHING, given: Any = None
    ) -> None:
        self._made, self._then, self.given = made, then, given
        self._residuals, self._is_released = residuals, False

    @entry
    def __call__(self, grad_outputs: Any = None, retain_graph: bool = True) -> Any:
        """The gradients for one cotangent; `retain_graph=False` frees the residuals after it."""
        self._check()
        result = with_place(self._made.returns, self._run, grad_outputs, retain_graph)
        if not retain_graph:
            self.release()
        return result

    def _run(self, grad_outputs: Any, retain_graph: bool) -> Any:
        """What the backward part gives, reading what was outside at the forward run."""
        if self._made.scalar:
            grad_outputs = 1.0 if grad_outputs is None else self._made.seeded(grad_outputs)
        made = self._made
        if made.target.native:  # for which it was compiled
            grad_outputs = mapped(_in_order, grad_outputs)
        backward = made.outside.as_then(self._then) if self._then else made.backward
        return backward(self._own_residuals(retain_graph), grad_outputs)

    def many(self, grad_outputs: Any, size: int, retain_graph: bool = True) -> Any:
        """The gradients for a batch of cotangents, each with the batch axis in front.

        They may share memory with the cotangents.  `retain_graph=False` lets them have the
        residuals.  `CANNOT` where the function has no backward part for batches.
        """
        self._check()
        if self._made.many is None or not self._is_as_then:
            return CANNOT  # one by one, with what was there then
        if self._made.scalar:
            cotangent(grad_outputs[0], 1.0)
            grad_outputs = np.array(grad_outputs, np.float64)
        found = self._made.called_many(self._own_residuals(retain_graph), grad_outputs, size)
        if not retain_graph:
            self.release()
        return found

    def step(self, size: int, width: int) -> int:
        """How much of a batch to compute with at a time: arrays of a width stay in the cache.

        All of it where every run would have to copy the residuals.
        """
        count = 1 if self._made.consumes else max(1, -(-size * width // _CACHED))
        return max(1, -(-size // count))

    @property
    def many_source(self) -> str | None:
        """The text behind `many`, None where there is none."""
        many = self._made.many if self._is_as_then else None
        return None if many is None else many[1]

    @property
    def source(self) -> str:
        """The text of the forward and the backward part."""
        return self._made.text

    def _own_residuals(self, retain_graph: bool) -> Any:
        """The residuals; a copy if the backward part uses them up and is to run again."""
        used_up = self._made.consumes and retain_graph
        return copied(self._residuals) if used_up else self._residuals

    @property
    def _is_as_then(self) -> bool:
        """Whether nobody has written into what the backward part reads from outside."""
        return not self._then or not self._made.outside.changed(self._then)

    def changed(self, made: Any) -> str | None:
        """What the function reads that is not as it was in this run, None if nothing is."""
        assert self.given is not None
        pair = self._made
        if not unchanged(pair.watch):
            args, kwargs = self.given
            pair = made.pair(*args[len(made.receiver) :], **kwargs)
        return pair.outside.differs(self._made.outside, self._then)

    @property
    def weight(self) -> int:
        """How many numbers the residuals hold."""
        return sum(a.size for a in _arrays(self._residuals))

    @property
    def returns(self) -> Any:
        """Where the function returns."""
        return self._made.returns

    def release(self) -> None:
        """Free the residuals; a later call raises ReleasedError."""
        self._residuals, self._is_released = None, True

    def _check(self) -> None:
        """Raise if the residuals have been freed."""
        if self._is_released:
            raise ReleasedError(
                "Trying to backward through the graph a second time (or directly access saved "
                "tensors after they have already been freed). Saved intermediate values of the "
                "graph are freed when you call .backward() or autograd.grad(). Specify "
                "retain_graph=True if you need to backward through the graph a second time or if "
                "you need to access saved tensors after calling backward."
            )


def recorded(
    pair: CompiledPair,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    at_once: bool = False,
    keep: bool = False,
) -> tuple[Any, Pullback]:
    """One forward run: the value, and a pullback that does not see what is written afterwards.

    `at_once`: it is used before anyone can write; `keep`: it keeps what the function was given.
    """
    value, residuals = with_place(None, pair.function, *args, **kwargs)
    if at_once and not pair.consumes:
        return value, Pullback(pair, residuals)
    outside, memo = pair.outside, Memo()
    then = outside.now(outside.all_paths if keep else outside.paths, memo)
    if outside.words is None or shares(residuals, (args, kwargs, value, outside.held())):
        residuals = copied(residuals, memo, outside.words)
    given = copied((args, kwargs), memo, outside.words) if keep else None
    return value, Pullback(pair, residuals, then, given)
