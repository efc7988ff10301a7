"""Refusals: programs whose derivative would be wrong, with the place, the reason and a remedy.

Takes a function that is ready to be differentiated, and what the analyses say of it; gives nothing,
or raises.  Here stands the row of them; what each says stands in `refusals.txt`.

Rooms, in reading order:
callees: calls of which it is not known enough where a derivative would have to pass.
memory: writes into memory that no statement shows, or that is from outside.
objects: arrays of other classes and of objects, and objects with tangents.
loops: lists that become longer or shorter while a loop runs over them, and narrow counters.
inputs: inputs that reach no output, and options that do not reach what is called.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from srcdiff.analysis.facts import Facts
from srcdiff.check import callees, inputs, loops, memory, objects
from srcdiff.frontend.request import Request
from srcdiff.kinds.interpreter import Typed
from srcdiff.normalize.outputs import selected_names
from srcdiff.specialize.lifting import Variables


def check_source(
    source: Typed, plain: Typed, request: Request, outside: Variables, stored: Iterable[str]
) -> tuple[Any, ...]:
    """Refuse what would be wrong; gives the containers from outside that get derivatives.

    `source` has its operators in place as the source says them: what they write, others may see,
    whatever `plain` makes of it.  `outside` are the variables that are parameters for a while,
    `stored` the attributes that are assigned.
    """
    function, kinds = source.function, source.kinds
    loops.check_loops(function, kinds)
    memory.check_written(function, kinds)
    memory.check_views(function, kinds)
    memory.check_kept(function, kinds)
    callees.check_changes(function, kinds)
    put = memory.check_outside(function, kinds, outside.values(), request.internal)
    function, kinds = plain.function, plain.kinds
    roots = tuple(p for item in request.inputs for p in item.params)
    memory.check_objects_outside(stored, outside, function.loc)
    callees.check_first_order(function)
    objects.check_boxed(function, kinds, roots)
    callees.check_callees(function, kinds, roots, selected_names(function))
    return put


def check_flow(plain: Typed, facts: Facts, request: Request) -> None:
    """Refuse what depends on where derivatives flow."""
    function, kinds = plain.function, plain.kinds
    if request.mode == "forward":
        objects.check_objects(function, facts.active, kinds, request)
    callees.check_texts(function, facts.active)
    callees.check_used(function, facts.active)
    inputs.check_strong(function, facts.active, kinds, request)
    inputs.check_used(function, kinds, facts, request)
