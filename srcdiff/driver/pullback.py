"""`vjp`: one forward run, and a pullback that can be called any number of times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from srcdiff.driver.compiled import CompiledPair
from srcdiff.driver.completion import offers
from srcdiff.driver.many import CANNOT
from srcdiff.driver.notes import add_place
from srcdiff.driver.outside import Snapshot
from srcdiff.driver.shared import Held, shares
from srcdiff.driver.watch import unchanged
from srcdiff.errors import CotangentError, ReleasedError, placed
from srcdiff.runtime.residuals import Memo, copied
from srcdiff.runtime.tracebacks import entry
from srcdiff.runtime.trees import cotangent

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
        self._backward: Callable[..., Any] | None = made.backward
        self._residuals = residuals

    @entry
    def __call__(self, grad_outputs: Any = None, retain_graph: bool = True) -> Any:
        """The gradients for one cotangent; `retain_graph=False` frees the residuals after it."""
        if self._backward is None:
            raise _released()
        try:
            if self._made.scalar:
                grad_outputs = 1.0 if grad_outputs is None else self._made.seeded(grad_outputs)
            backward = self._made.outside.as_then(self._then) if self._then else self._backward
            result = backward(self._own_residuals(retain_graph), grad_outputs)
        except CotangentError as error:
            raise placed(error, self._made.returns) from None
        except Exception as error:
            add_place(error)
            raise
        if not retain_graph:
            self.release()
        return result

    def many(self, grad_outputs: Any, size: int, retain_graph: bool = True) -> Any:
        """The gradients for a batch of cotangents, each with the batch axis in front.

        They may share memory with the cotangents.  `retain_graph=False` lets them have the
        residuals.  `CANNOT` where the function has no backward part for batches.
        """
        if self._backward is None:
            raise _released()
        many = self._made.many
        if many.generated is None or not self._is_as_then:
            return CANNOT  # one by one, with what was there then
        if self._made.scalar:
            cotangent(grad_outputs[0], 1.0)
            grad_outputs = np.array(grad_outputs, np.float64)
        found = many.run(self._own_residuals(retain_graph), grad_outputs, size)
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
        generated = self._made.many.generated if self._is_as_then else None
        return None if generated is None else generated[1]

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
        return sum(a.size for a in Held().add(self._residuals).arrays)

    @property
    def returns(self) -> Any:
        """Where the function returns."""
        return self._made.returns

    def release(self) -> None:
        """Free the residuals; a later call raises ReleasedError."""
        self._backward = self._residuals = None


def _released() -> ReleasedError:
    return ReleasedError(
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
    try:
        value, residuals = pair.forward(*args, **kwargs)
    except Exception as error:
        add_place(error)
        raise
    if at_once and not pair.consumes:
        return value, Pullback(pair, residuals)
    outside, memo = pair.outside, Memo()
    then = outside.now(outside.all_paths if keep else outside.paths, memo)
    if outside.words is None or shares(residuals, (args, kwargs, value, outside.held())):
        residuals = copied(residuals, memo, outside.words)
    given = copied((args, kwargs), memo, outside.words) if keep else None
    return value, Pullback(pair, residuals, then, given)
