"""How many arguments a function takes: what `*xs` in a call of it must stand for."""

from __future__ import annotations

import inspect
import types
from collections.abc import Set
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.frontend.lowering import Closure
from srcdiff.runtime import records


def wanted(call: ir.Call, fn: Any) -> int | None:
    """How many arguments the one `*xs` of a call of `fn` stands for; None if there is a choice."""
    stars = [a for a in call.args if isinstance(a, ir.Star)]
    if len(stars) != 1 or any(k is None for k, _ in call.kwargs):
        return None
    free = _places(fn, {k for k, _ in call.kwargs})
    return None if free is None else free - len(call.args) + 1


def _places(fn: Any, named: Set[str | None]) -> int | None:
    """How many positional arguments a function takes beside named ones; None if it may be more."""
    if isinstance(fn, np.ufunc):
        return fn.nin  # what is written into is given by name
    if isinstance(fn, Closure) and fn.function is not None:
        return _free(fn.function, named)
    if not isinstance(fn, types.FunctionType) and not records.is_record(fn):
        return None
    params = list(inspect.signature(fn).parameters.values())
    places = [p for p in params if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    free = [p for p in places if p.name not in named]
    choice = any(p.default is not p.empty for p in free)
    return None if choice or any(p.kind is p.VAR_POSITIONAL for p in params) else len(free)


def _free(function: ir.Function, named: Set[str | None]) -> int | None:
    """How many positional arguments a function made here takes; None if it may be more."""
    free = [p for p in function.params if p.style not in ("kw", "**") and p.name not in named]
    choice = any(p.style == "*" or p.default is not None for p in free)
    return None if choice else len(free)
