"""Functions that run more often than they are called: they must compute the same each time."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.onecall import place_of
from srcdiff.frontend.source.parse import parse
from srcdiff.primitives.effects import IN_PLACE_FUNCTIONS, MUTATORS, is_pure, is_ufunc_at, module_of
from srcdiff.primitives.registry import spelling


def check_repeatable(generated: Any, f: Any) -> None:
    """Refuse a function whose derivative draws random numbers, prints, or counts.

    `generated` is the derivative, as a function with a source, and `f` the function.
    """
    for call in _calls(generated, set()):
        if not _is_repeatable(call):
            raise UnsupportedError(
                f"the function runs more than once here, and {spelling(call)} may do something "
                "else each time",
                place_of(f),
                remedy="Draw random numbers, and print, outside of it, and pass it the numbers.",
            )


def _calls(generated: Any, seen: set[Any]) -> Iterator[ir.Call]:
    """All calls in a generated function, and in those that it calls."""
    seen.add(generated)
    for stmt in ir.walk(lower(parse(generated)).body):
        call = ir.call_of(stmt)
        if call is None:
            continue
        if _is_generated(call.fn) and call.fn not in seen:
            yield from _calls(call.fn, seen)
        elif not _is_generated(call.fn):
            yield call


def _is_generated(fn: Any) -> bool:
    """Whether a callee is a part of a recursive function that was generated."""
    return isinstance(fn, types.FunctionType) and fn.__code__.co_filename.startswith(ir.GENERATED)


def _is_repeatable(call: ir.Call) -> bool:
    """Whether a call computes, or writes into what the generated function has made."""
    if isinstance(call.fn, ir.Method):
        return is_pure(call.fn) or call.fn.name in MUTATORS
    if isinstance(call.fn, ir.Name):
        return False
    if getattr(call.fn, "__name__", "") in ("Before", "run_again"):
        return False  # a checkpoint, which puts back random generators
    own = is_ufunc_at(call.fn) or call.fn in IN_PLACE_FUNCTIONS
    return own or is_pure(call.fn) or module_of(call.fn).startswith("srcdiff.")
