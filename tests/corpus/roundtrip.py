"""Prints a function, compiles the text, and lowers it again."""

from __future__ import annotations

import inspect
import types
from typing import Any

import srcdiff
from srcdiff import ir
from srcdiff.backends.loader import compile_text
from srcdiff.codegen.emit import emit
from srcdiff.codegen.naming import name
from srcdiff.frontend.closures import Closure, Lifted
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.specialize.nested.derivatives import is_transform
from tests.programs import PROGRAMS, Program


def is_incomplete(function: ir.Function) -> bool:
    """Whether a function holds nested functions that only the passes after lowering replace."""
    for stmt in ir.walk(function.body):
        rhs: Any = getattr(stmt, "rhs", None)
        lifted = isinstance(rhs, ir.Call) and (isinstance(rhs.fn, Lifted) or is_transform(rhs.fn))
        if lifted or isinstance(rhs, Closure):
            return True
    return False


def makes_functions(function: Any) -> bool:
    """Whether a function may hold others: it defines some, or names what makes some."""
    code = function.__code__
    inner = any(isinstance(c, types.CodeType) for c in code.co_consts)
    return inner or not {"srcdiff", "operator"}.isdisjoint(code.co_names)


# Programs whose nested functions, if any, stand in the text where they are called.
WHOLE = tuple(
    p
    for p in PROGRAMS
    if not makes_functions(p.function) or not is_incomplete(lower(parse(p.function)))
)


def text_of(function: ir.Function, namespace: Any = None) -> str:
    """The text of a function with readable names."""
    return emit(name(function), namespace=namespace).text


def printed(f: Any) -> tuple[str, Any]:
    """The text of a function lowered and printed, and the function compiled from it."""
    function = name(lower(parse(f)))
    assert not is_incomplete(function), "this function is more than its text"
    emitted = emit(function)
    return emitted.text, compile_text(emitted.text, emitted.refs, function.name)


def again(function: Any) -> str:
    """The text of a compiled function, lowered and printed once more.

    Temporaries have no order and no names in a text, so equal texts mean the same function of the
    IR up to the places and names of temporaries.
    """
    return text_of(lower(parse(function)), function.__globals__)


def check_gradient_reads_back(program: Program) -> None:
    """The text of the gradient of a program, lowered and printed once more, is the same."""
    g = srcdiff.grad(program.function, program.inputs, program.outputs)
    function = g.specialised(*program.arguments())
    assert again(function).rstrip() == inspect.getsource(function).rstrip()
