"""The passes, one by one."""

from __future__ import annotations

import inspect
from typing import Any

from srcdiff.analyses.kind_values import kind_of
from srcdiff.api.derivative import Derivative, _declared
from srcdiff.emit import emit
from srcdiff.ir_text import show
from srcdiff.pipeline import run


def all_stages(made: Derivative, example: Any) -> dict[str, str]:
    """Pass -> text of the function after it; the last is the generated source."""
    signature = inspect.signature(made.primal)
    if example is None:
        kinds = {n: _declared(p) for n, p in signature.parameters.items()}
    else:
        bound = signature.bind(*example)
        bound.apply_defaults()
        kinds = {n: kind_of(v, n) for n, v in bound.arguments.items()}
    texts: dict[str, str] = {}
    for label, state in run(made.primal, made.request, kinds):
        texts[label] = show(state.function)
    texts["emit"] = emit(state.function).text
    return texts
