"""A gradient as a plain function of the arguments and the cotangent, to be recorded in its turn."""

from __future__ import annotations

import inspect
from collections.abc import Container
from typing import Any

from srcdiff import ir
from srcdiff.backends.numpy import compile_text
from srcdiff.driver.derivative import Derivative
from srcdiff.frontend.onecall import signature_of
from srcdiff.ir import SEED


def with_cotangent(made: Derivative, given: Container[str]) -> tuple[Any, str]:
    """`g(*args, cotangents=ct)` as a function that takes no `grad_outputs`, and that parameter.

    It has the parameters that are `given` an argument.
    """
    fresh = ir.Fresh({*signature_of(made.primal).parameters})
    seed, gradient = fresh("cotangents").id, fresh("gradient").id
    heads, uses = heads_and_uses(made.primal, given, seed)
    name = f"{made.request.name}_again"
    given = ", ".join([*uses, f"{SEED}={seed}"])
    text = f"def {name}({', '.join(heads)}):\n    return {gradient}({given})\n"
    return compile_text(text, {gradient: made}, name, made.primal), seed


def heads_and_uses(f: Any, given: Container[str], seed: str) -> tuple[list[str], list[str]]:
    """The parameters of `f` that are given an argument, with another one, and how to pass them."""
    params = [p for p in signature_of(f).parameters.values() if p.name in given]
    heads = [str(p.replace(annotation=p.empty, default=p.empty)) for p in params]
    uses = [_use(p, head) for p, head in zip(params, heads)]
    last = [heads.pop()] if params and params[-1].kind is inspect.Parameter.VAR_KEYWORD else []
    return [*_with_star(params, heads), seed, *last], uses


def _use(param: inspect.Parameter, head: str) -> str:
    return f"{param.name}={param.name}" if param.kind is param.KEYWORD_ONLY else head


def _with_star(params: list[inspect.Parameter], heads: list[str]) -> list[str]:
    """The parameters with a `*` before the keyword-only ones, where nothing else makes them so."""
    kinds = [p.kind for p in params]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return heads
    at = len(heads)
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        at = kinds.index(inspect.Parameter.KEYWORD_ONLY)
    return [*heads[:at], "*", *heads[at:]]
