"""Derivatives for a batch of cotangents or directions, generated when first asked for."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from srcdiff.autodiff.batch.transform import NoBatchError
from srcdiff.backends.arrays import meanings
from srcdiff.backends.numpy import compile_module
from srcdiff.driver.batching import derive_backward, derive_forward
from srcdiff.driver.notes import add_place
from srcdiff.driver.watch import Watch, unchanged
from srcdiff.errors import CotangentError
from srcdiff.frontend.onecall import module_of
from srcdiff.frontend.request import Request
from srcdiff.ir.kinds import Kind
from srcdiff.runtime.devices import array_module

CANNOT: Any = object()
"""In place of derivatives: a batch goes through one by one."""


@dataclass(frozen=True, eq=False)
class Many:
    """What a derivative was generated from, and the function for batches that belongs to it.

    In reverse mode this is a backward part, which takes the residuals of the forward part.
    """

    primal: Any
    origin: Any
    request: Request
    kinds: Mapping[str, Kind]
    watch: Watch
    module: str = field(default_factory=array_module)

    @functools.cached_property
    def generated(self) -> tuple[Any, str] | None:
        """The function and its text, behind that of the forward part; None: one by one."""
        if self.module != "numpy" or not unchanged(self.watch):
            return None  # or the residuals are those of a function that is no more
        reverse = self.request.mode == "reverse"
        derive = derive_backward if reverse else derive_forward
        try:
            made = derive(self.origin, self.request, self.kinds).emitted
        except NoBatchError:
            return None
        name = self.request.name
        module = module_of(self.primal)
        namespace = compile_module(made.text, meanings(made.refs), name, module, made.lines)
        return namespace[f"{name}_backward_batch" if reverse else f"{name}_batch"], made.text

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives; errors name the user's line."""
        assert self.generated is not None
        try:
            return self.generated[0](*args, **kwargs)
        except CotangentError:
            raise
        except Exception as error:
            add_place(error)
            raise
