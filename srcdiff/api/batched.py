"""Derivatives for a batch of cotangents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from srcdiff.api.batch import batched
from srcdiff.api.derivative import Derivative
from srcdiff.api.point import Point
from srcdiff.errors import CotangentError, placed


class Batched(Derivative):
    """The gradients for a batch of cotangents: one forward run, a backward run for each."""

    def __call__(self, *args: Any, grad_outputs: Any = None, **kwargs: Any) -> Any:
        """The gradients, each with the batch axis of the cotangents in front."""
        options = replace(self.options, is_grads_batched=False, value=False)
        point = Point(self.primal, options, args, kwargs)
        value, pull = point.pullback()
        try:
            gradients = batched(pull, grad_outputs, point.output(value), point.inputs)
        except CotangentError as error:
            raise placed(error, pull.returns) from None
        return (value, gradients) if self.options.value else gradients

    def __reduce__(self) -> Any:
        """Pickled by reference to its function."""
        found = super().__reduce__()
        return found if isinstance(found, str) else (Batched, (self.primal, self.options))
