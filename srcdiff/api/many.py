"""The backward part for a batch of cotangents, generated when it is first asked for."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from srcdiff.analyses.kind_types import Kind
from srcdiff.api.watch import Watch, unchanged
from srcdiff.backends.numpy import compile_module
from srcdiff.batch import NoBatchError
from srcdiff.batching import derive_batch
from srcdiff.device import array_module
from srcdiff.onecall import module_of
from srcdiff.request import Request


@dataclass(frozen=True, eq=False)
class Many:
    """What the two parts of a derivative were generated from, and the part for batches of it."""

    primal: Any
    origin: Any
    request: Request
    kinds: Mapping[str, Kind]
    watch: Watch
    module: str = field(default_factory=array_module)

    @functools.cached_property
    def generated(self) -> tuple[Any, str] | None:
        """The function, and its text behind that of the forward part; None: one by one."""
        if self.module != "numpy" or not unchanged(self.watch):
            return None  # or the residuals are those of a function that is no more
        try:
            made = derive_batch(self.origin, self.request, self.kinds).emitted
        except NoBatchError:
            return None
        name = self.request.name
        namespace = compile_module(made.text, made.refs, name, module_of(self.primal))
        return namespace[f"{name}_backward_batch"], made.text
