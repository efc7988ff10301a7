"""The derivative of a printed gradient, where its text is not accepted again.

If the gradient of the function that the text names is, generated once more, the same but for names
of variables, the text is differentiated as a call of that gradient, which
`srcdiff/runtime/second_order.py` does by the tangent.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import gast

from srcdiff.errors import SrcdiffError
from srcdiff.frontend.onecall import signature_of
from srcdiff.frontend.source.parse import parse
from srcdiff.frontend.source.reprinted import named_primal, same_function
from srcdiff.ir.kinds import Kind
from srcdiff.runtime.implicit import with_source
from srcdiff.runtime.service import made_once

Gradient = Callable[[types.FunctionType, str | tuple[str, ...]], Any]
"""What makes the gradient of a function by some inputs."""


def primals_in_text(f: Any) -> tuple[types.FunctionType, ...]:
    """The function that a text says it is the gradient of; none for any other function."""
    named = named_primal(f)
    return (named[0],) if named else ()


def as_call_of_gradient(f: Any, kinds: Mapping[str, Kind], gradient: Gradient) -> Any:
    """A printed gradient as a function that calls the gradient; None if `f` is none of these.

    It has the parameters of `f`, of which the last is the cotangent.  `gradient` makes the gradient
    with options that a text shows: no inputs without a gradient are left out.
    """
    named = named_primal(f)
    params = list(signature_of(f).parameters.values())
    if named is None or any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in params):
        return None
    primal, inputs = named
    theirs = list(signature_of(primal).parameters)
    if len(params) != len(theirs) + 1 or not {*inputs} <= {*theirs}:
        return None
    by_name = {n: kinds[p.name] for n, p in zip(theirs, params) if p.name in kinds}
    for chosen in (inputs[0], inputs) if len(inputs) == 1 else (inputs,):
        found = gradient(primal, chosen)
        if _generates(found, by_name, f):
            key = "as call of gradient", primal, chosen, f.__code__
            return made_once(f, key, partial(_call, f, found))
    return None


def _generates(gradient: Any, kinds: Mapping[str, Kind], f: types.FunctionType) -> bool:
    """Whether a gradient for these kinds is `f`."""
    try:
        return same_function(gradient.for_kinds(kinds), f)
    except SrcdiffError:
        return False


def _call(f: types.FunctionType, gradient: Any) -> Any:
    """The function that calls a gradient with the parameters of `f`."""
    params = ast.unparse(gast.gast_to_ast(parse(f).tree.args))
    *given, seed = f.__code__.co_varnames[: f.__code__.co_argcount]
    body = f"return gradient({', '.join(given)}, grad_outputs={seed})"
    space = {**f.__globals__, "gradient": gradient}
    return with_source(f"def {f.__name__}({params}):", [body], space)
