"""The text of a nested recursive function itself, where no derivative flows through its call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from srcdiff import ir
from srcdiff.analyses.kind_types import Kind
from srcdiff.analyses.kinds import infer
from srcdiff.callees import resolved
from srcdiff.calls import unmarked, user_calls
from srcdiff.inline import function_of, inline
from srcdiff.iterate import iterated, unpacked
from srcdiff.names import name
from srcdiff.prepare import inplace, prepare
from srcdiff.request import Request
from srcdiff.simplify import simplify
from srcdiff.webs import webs

Kinds = Mapping[str, Kind]


def primal_part(origin: Any, request: Request, params: Kinds) -> ir.Function:
    """A function as it is, in the form of generated ones."""
    function = resolved(inline(function_of(origin), origin), params, origin)
    function = steady_params(webs(prepare(function)))
    function = iterated(function, infer(function, params), params)
    function = user_calls(function, infer(function, params))
    function = webs(settled(function, params))
    doc = f"The function `{function.name}` itself."
    function = replace(function, name=request.name, doc=doc, body=unmarked(function.body))
    return name(unpacked(simplify(function, params, infer(function, params))))


def settled(function: ir.Function, params: Kinds) -> ir.Function:
    """Operators in place resolved until what is in place makes nothing else so."""
    while True:
        new = inplace(function, infer(function, params))
        if new == function:
            return new
        function = new


def steady_params(function: ir.Function) -> ir.Function:
    """Parameters that are bound again in a loop are copied to a variable first."""
    changed = [p.name for p in function.params if p.name in ir.bound(function.body)]
    if not changed:
        return function
    fresh = ir.Fresh(ir.all_names(function))
    new = {p: fresh(p).id for p in changed}
    start = tuple(ir.Assign(ir.Name(n), ir.Name(p), function.loc) for p, n in new.items())
    return replace(function, body=(*start, *ir.rename(function.body, new)))
