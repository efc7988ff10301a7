"""The passes, one by one."""

from __future__ import annotations

from typing import Any

from srcdiff.codegen.emit import emit
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.pipeline import run
from srcdiff.ir.printer import show


def all_stages(made: Derivative, example: Any) -> dict[str, str]:
    """Pass -> text of the function after it; the last is the generated source."""
    given = (*made.receiver, *(example or ()))
    kinds = made.declared_kinds() if example is None else made.kinds(given, {})
    texts: dict[str, str] = {}
    for label, state in run(made.origin, made.request, kinds):
        texts[label] = show(state.function)
    texts["emit"] = emit(state.function).text
    return texts
