"""Prints a function, compiles the text, and lowers it again."""

from __future__ import annotations

from typing import Any

from srcdiff import ir
from srcdiff.backends.numpy import compile_text
from srcdiff.emit import emit
from srcdiff.lower import lower
from srcdiff.names import name
from srcdiff.parse import parse


def text_of(function: ir.Function) -> str:
    """The text of a function with readable names."""
    return emit(name(function)).text


def printed(f: Any) -> tuple[str, Any]:
    """The text of a function lowered and printed, and the function compiled from it."""
    function = name(lower(parse(f)))
    emitted = emit(function)
    return emitted.text, compile_text(emitted.text, emitted.refs, function.name)


def again(function: Any) -> str:
    """The text of a compiled function, lowered and printed once more.

    Temporaries have no order and no names in a text, so equal texts mean the same function of the
    IR up to the places and names of temporaries.
    """
    return text_of(lower(parse(function)))
