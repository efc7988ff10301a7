"""Which parameters of a function lead differentiably to some of its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from srcdiff.driver.derivative import Derivative
from srcdiff.driver.pipeline import run
from srcdiff.errors import InternalError
from srcdiff.ir.kinds import Kind


def reached(made: Derivative, outputs: Any, kinds: Mapping[str, Kind]) -> frozenset[str]:
    """The parameters of which some of the selected outputs are functions, by the source."""
    table: dict[Any, frozenset[str]] = made.__dict__.setdefault("_reached", {})
    key = repr(outputs), *sorted((n, repr(k)) for n, k in kinds.items())
    if key not in table:
        table[key] = _reached(made, outputs, kinds)
    return table[key]


def _reached(made: Derivative, outputs: Any, kinds: Mapping[str, Kind]) -> frozenset[str]:
    request = replace(made.request, outputs=outputs, allow_unused=True)
    for label, state in run(made.primal, request, kinds):
        if label == "analyse":
            assert state.facts is not None
            return state.facts.active & {i.param for i in request.inputs}
    raise InternalError("the pipeline has no analysis")
