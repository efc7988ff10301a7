"""The text of a backward part for a batch of cotangents, behind that of its forward part."""

from __future__ import annotations

from typing import Any

from srcdiff.analyses.kind_types import Tuple
from srcdiff.analyses.kinds import infer
from srcdiff.batch import batch, with_axis
from srcdiff.modules import module_text
from srcdiff.names import name
from srcdiff.pipeline import Kinds, Made, pair_of, pair_state, residual_kinds
from srcdiff.polish import polished
from srcdiff.request import Request


def derive_batch(origin: Any, request: Request, params: Kinds) -> Made:
    """The text of the forward part, and of the backward part for a batch of cotangents.

    Raises:
        NoBatchError: there is no such part.
    """
    state = pair_state(origin, request, params)
    one, two = state.extra["parts"]
    facts = state.facts
    assert facts is not None
    known = {**infer(one, state.params), **facts.kinds}
    residuals = residual_kinds(two, known)
    seeds = {two.params[0].name: Tuple(tuple(residuals.values()))}
    plain = polished(two, seeds, facts)
    shadowed = with_axis(one, known, facts.shadows)
    shadows = frozenset(k for k, n in enumerate(residuals) if n in shadowed)
    many = name(batch(plain, infer(plain, seeds), shadows))
    return Made(module_text([state.function, many], pair_of, origin), (), (), ())
