"""Derivatives for a batch of cotangents."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from srcdiff.api.batch import batched
from srcdiff.api.point import Point
from srcdiff.api.reach import reached
from srcdiff.api.rows import rows_of
from srcdiff.driver.completion import offers
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.options import Options
from srcdiff.driver.pickled import parts
from srcdiff.driver.repeated import check_repeatable
from srcdiff.driver.reusing import Reusing
from srcdiff.errors import CotangentError, UnsupportedError, placed
from srcdiff.frontend.onecall import place_of
from srcdiff.ir import SEED
from srcdiff.ir.kinds import Kind, NoneKind
from srcdiff.runtime.tracebacks import entry


@offers("primal", "release_workspace", "source")
class Batched(Derivative):
    """The gradients for a batch of cotangents: one forward and one backward run.

    Where the backward part cannot be written for a batch, it runs once for each item.
    """

    _many: str | None = None

    @entry
    def __call__(self, *args: Any, grad_outputs: Any = None, **kwargs: Any) -> Any:
        """The gradients, each with the batch axis of the cotangents in front."""
        point = Point(self.primal, self._single, args, kwargs)
        value, pull = point.pullback(at_once=True)
        try:
            output = point.output(value)
            gradients = batched(pull, grad_outputs, output, point.inputs, retain_graph=False)
        except CotangentError as error:
            raise placed(error, pull.returns) from None
        self._many = pull.many_source or pull.source
        return (value, gradients) if self.options.value else gradients

    @functools.cached_property
    def _single(self) -> Options:
        """The options for one cotangent."""
        return replace(self.options, is_grads_batched=False, value=False)

    @functools.cached_property
    def unbound(self) -> Batched:
        """The same of the function behind a method."""
        return Batched(self.origin, self._own) if self.receiver else self

    def call_signature(self) -> inspect.Signature:
        """The parameters of the function, and the cotangents, which have a structure."""
        return self.__signature__

    def for_kinds(self, kinds: Mapping[str, Kind]) -> Any:
        """A function that takes the gradients one by one, for arguments of these kinds.

        Raises:
            UnsupportedError: the function may give something else each time that it runs.
        """
        kinds = dict(kinds)
        seed = kinds.pop(SEED, NoneKind())
        if self.options.has_aux:
            raise UnsupportedError(
                "gradients for a batch of cotangents (`is_grads_batched`) with `has_aux` are not "
                "differentiated again",
                place_of(self.primal),
                remedy="Let the function return its output alone.",
            )
        single = Derivative(self.primal, replace(self._single, workspace=False))
        check_repeatable(single.for_kinds(kinds), self.primal)
        keep = self.options.materialize_grads or not self.options.allow_unused
        params = frozenset(i.param for i in single.request.inputs)
        completed = single.completed(kinds)
        used = params if keep else reached(single, single.request.outputs, completed)
        return rows_of(single, self.options.value, kinds, seed, used)

    def release_workspace(self) -> None:
        """Let go of the memory that `workspace=True` keeps; what somebody holds stays theirs."""
        Reusing(self.primal, self._single).release_workspace()

    @property
    def source(self) -> str:
        """The forward part and the backward part for a batch, as of the latest call.

        Of one cotangent where they go through it one by one; the plain gradient before a call.
        """
        return self._many or super().source

    def __reduce__(self) -> Any:
        """Pickled by reference to its function."""
        found = super().__reduce__()
        return found if isinstance(found, str) else parts(Batched, self.primal, self.options)
