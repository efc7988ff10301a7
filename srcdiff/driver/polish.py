"""A generated function in its plainest form: what runs at the end over each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.argument_shapes import with_fitting
from srcdiff.backends.cupy.placement import placed_calls
from srcdiff.codegen.tidy import fold, in_order, shorten
from srcdiff.codegen.upwards import upwards
from srcdiff.ir.kinds import Kind
from srcdiff.kinds.interpreter import infer
from srcdiff.normalize.lengths import unpacked
from srcdiff.normalize.live_ranges import webs
from srcdiff.optimize.backwards import items_in_reverse
from srcdiff.optimize.copies import read_at_once, returned_at_once
from srcdiff.optimize.finish import finish, returned, spell
from srcdiff.optimize.first_names import with_first_names
from srcdiff.optimize.simplify import simplify
from srcdiff.optimize.sink import sink


def polished(function: ir.Function, params: Mapping[str, Kind], facts: Facts) -> ir.Function:
    """A finished function in its plainest form."""
    views = {facts.adjoints[v] for v in facts.aliases.views if v in facts.adjoints}
    split = webs(function, lambda n: n.startswith("_") or n in views)
    split = _temporary(split, views)
    kinds = infer(split, params)
    function = simplify(fold(split, kinds), params, kinds, (facts.seed,))
    kinds = infer(function, params)
    function = finish(function, kinds)
    ours = frozenset(n for n in ir.bound(function.body) if n.startswith(("d_", "steps")))
    ours -= returned(function)
    # Before items of unpackings stand for the check of their number: those may be dead.
    function = upwards(spell(function, kinds, ours), kinds)
    function = sink(items_in_reverse(unpacked(function)), kinds)
    function = returned_at_once(read_at_once(function, kinds), kinds)
    function = with_first_names(function, kinds)
    function = with_fitting(function, params, facts.kinds)
    function = shorten(in_order(function, facts.adjoints.values()), facts.theirs)
    return placed_calls(function, params)


def _temporary(function: ir.Function, views: set[str]) -> ir.Function:
    """The function with the adjoints of views as temporaries, to stand where they are used."""
    fresh = ir.Fresh(ir.all_names(function))
    bound = sorted(ir.bound(function.body))
    mine = [n for n in bound if n in views or n.rsplit("_", 1)[0] in views]
    if not mine:
        return function
    new = {n: fresh("_" + n.replace("d__", "d_")).id for n in mine}
    return replace(function, body=ir.rename(function.body, new))
