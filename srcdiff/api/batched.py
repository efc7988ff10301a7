"""Derivatives for a batch of cotangents."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from srcdiff.analyses.kind_types import Kind
from srcdiff.api.batch import batched
from srcdiff.api.derivative import Derivative
from srcdiff.api.options import Options
from srcdiff.api.point import Point
from srcdiff.errors import CotangentError, UnsupportedError, placed
from srcdiff.onecall import place_of


class Batched(Derivative):
    """The gradients for a batch of cotangents: one forward and one backward run.

    Where the backward part cannot be written for a batch, it runs once for each item.
    """

    _many: str | None = None

    def __call__(self, *args: Any, grad_outputs: Any = None, **kwargs: Any) -> Any:
        """The gradients, each with the batch axis of the cotangents in front."""
        point = Point(self.primal, self._single, args, kwargs)
        value, pull = point.pullback(at_once=True)
        try:
            output = point.output(value)
            gradients = batched(pull, grad_outputs, output, point.inputs, retain_graph=False)
        except CotangentError as error:
            raise placed(error, pull.returns) from None
        self._many = pull.many_source
        return (value, gradients) if self.options.value else gradients

    @functools.cached_property
    def _single(self) -> Options:
        """The options for one cotangent."""
        return replace(self.options, is_grads_batched=False, value=False)

    def for_kinds(self, kinds: Mapping[str, Kind]) -> Any:
        """Nothing: there is no function of one text for a batch.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            "gradients for a batch of cotangents (`is_grads_batched`) are not differentiated again",
            place_of(self.primal),
            remedy="Take the gradient for each cotangent, in a loop.",
        )

    @property
    def source(self) -> str:
        """The forward part and the backward part for a batch, as of the latest call.

        The plain gradient before the first call, and where cotangents go through it one by one.
        """
        return self._many or super().source

    def __reduce__(self) -> Any:
        """Pickled by reference to its function."""
        found = super().__reduce__()
        return found if isinstance(found, str) else (Batched, (self.primal, self.options))
