"""The text of a nested recursive function itself, where no derivative flows through its call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from srcdiff import ir
from srcdiff.autodiff.calls import unmarked
from srcdiff.autodiff.marks import user_calls
from srcdiff.backends.cupy.placement import placed_calls
from srcdiff.codegen.naming import name
from srcdiff.frontend.request import Request
from srcdiff.ir.kinds import Kind
from srcdiff.kinds.typed import Typed
from srcdiff.normalize.iterate import iterated
from srcdiff.normalize.lengths import unpacked
from srcdiff.normalize.live_ranges import webs
from srcdiff.normalize.overlaps import without_overlaps
from srcdiff.normalize.prepare import inplace, prepare
from srcdiff.optimize.simplify import simplify
from srcdiff.specialize.callees import resolved
from srcdiff.specialize.inline import function_of, inline

Kinds = Mapping[str, Kind]


def primal_part(origin: Any, request: Request, params: Kinds) -> ir.Function:
    """A function as it is, in the form of generated ones."""
    function = resolved(inline(function_of(origin), origin), params, origin)
    function = steady_params(webs(prepare(function)))
    typed = Typed(function, params)
    typed = typed.then(iterated(typed.function, typed.kinds, params))
    typed = settled(typed.then(user_calls(typed)))
    function = webs(typed.function)
    doc = f"The function `{function.name}` itself."
    function = replace(function, name=request.name, doc=doc, body=unmarked(function.body))
    return name(placed_calls(unpacked(simplify(function, params)), params))


def itself(origin: Any, request: Request) -> ir.Function:
    """A function that is made in another one as one beside it, the same for all arguments."""
    function = simplify(inline(function_of(origin), origin), {})
    return name(replace(function, name=request.name))


def settled(typed: Typed) -> Typed:
    """Operators in place resolved until what is in place makes nothing else so."""
    typed = typed.then(without_overlaps(typed.function, typed.kinds))
    while True:
        new = inplace(typed.function, typed.kinds)
        same = new == typed.function
        typed = typed.then(new)
        if same:
            return typed


def steady_params(function: ir.Function) -> ir.Function:
    """Parameters that are bound again in a loop are copied to a variable first."""
    changed = [p.name for p in function.params if p.name in ir.bound(function.body)]
    if not changed:
        return function
    fresh = ir.Fresh(ir.all_names(function))
    new = {p: fresh(p).id for p in changed}
    start = tuple(ir.Assign(ir.Name(n), ir.Name(p), function.loc) for p, n in new.items())
    return replace(function, body=(*start, *ir.rename(function.body, new)))
