"""The texts of derivatives for a batch of cotangents, or of directions."""

from __future__ import annotations

from typing import Any

from srcdiff import ir
from srcdiff.autodiff.batch.transform import batch_backward, batch_forward, with_axis
from srcdiff.autodiff.forward import tangent_kinds
from srcdiff.codegen.made import Made
from srcdiff.codegen.modules import module_text
from srcdiff.codegen.naming import name
from srcdiff.driver.pipeline import Kinds, pair_of, pair_state, run
from srcdiff.driver.polish import polished
from srcdiff.frontend.request import Request
from srcdiff.ir.kinds import Scalar, Tuple
from srcdiff.kinds.atoms import atom_kind
from srcdiff.kinds.interpreter import infer
from srcdiff.optimize.dead_code import remove_dead
from srcdiff.optimize.memory import Memory
from srcdiff.optimize.reusing import reused
from srcdiff.specialize.closures.lent import returned
from srcdiff.specialize.objects.restore import residual_kinds


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
    seeds = {two.params[0].name: Tuple(tuple(residuals.values())), **_cotangent(one, two, known)}
    plain = polished(two, seeds, facts)
    shadowed = with_axis(one, known, facts.shadows)
    shadows = frozenset(k for k, n in enumerate(residuals) if n in shadowed)
    memory = Memory(one, known)
    classes = [memory.find(n) for n in residuals]
    # A workspace hands out arrays row by row.
    columns = not request.workspace
    batch = remove_dead(batch_backward(plain, infer(plain, seeds), shadows, classes, columns))
    many = name(reused(batch, seeds, request))
    return Made(module_text([state.function, many], pair_of, origin, request), (), (), ())


def _cotangent(one: ir.Function, two: ir.Function, kinds: Kinds) -> Kinds:
    """The kind of the cotangent by its name, where that is one number."""
    last = one.body[-1]
    assert isinstance(last, ir.Return) and isinstance(last.value, ir.Tup)
    kind = atom_kind(last.value.items[0], kinds)
    return {two.params[1].name: kind} if isinstance(kind, Scalar) else {}


def derive_forward(origin: Any, request: Request, params: Kinds) -> Made:
    """The text of a function of forward mode for a batch of directions.

    Raises:
        NoBatchError: there is no such function.
    """
    state = next(s for label, s in run(origin, request, params) if label == "simplify")
    assert state.facts is not None
    tangents = frozenset(tangent_kinds(state.facts, request))
    batch = remove_dead(batch_forward(state.function, state.kinds, tangents))
    many = returned(name(batch), state.outside)
    return Made(module_text([many], pair_of, origin, request), (), (), ())
