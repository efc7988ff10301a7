"""The texts of derivatives for a batch of cotangents, or of directions."""

from __future__ import annotations

from typing import Any

from srcdiff.analyses.kind_types import Tuple
from srcdiff.analyses.kinds import infer
from srcdiff.batch import batch_backward, batch_forward, with_axis
from srcdiff.forward import tangent_kinds
from srcdiff.lent import returned
from srcdiff.modules import module_text
from srcdiff.names import name
from srcdiff.pipeline import Kinds, Made, pair_of, pair_state, run
from srcdiff.polish import polished
from srcdiff.request import Request
from srcdiff.restore import residual_kinds
from srcdiff.reusing import reused


def derive_backward(origin: Any, request: Request, params: Kinds) -> Made:
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
    # A workspace hands out arrays row by row.
    batch = batch_backward(plain, infer(plain, seeds), shadows, columns=not request.workspace)
    many = name(reused(batch, seeds, request))
    return Made(module_text([state.function, many], pair_of, origin, request), (), (), ())


def derive_forward(origin: Any, request: Request, params: Kinds) -> Made:
    """The text of a function of forward mode for a batch of directions.

    Raises:
        NoBatchError: there is no such function.
    """
    state = next(s for label, s in run(origin, request, params) if label == "simplify")
    assert state.facts is not None
    tangents = frozenset(tangent_kinds(state.facts, request))
    many = returned(name(batch_forward(state.function, state.kinds, tangents)), state.outside)
    return Made(module_text([many], pair_of, origin, request), (), (), ())
