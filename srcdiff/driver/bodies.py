"""Bodies in place of all calls that have one: of functions, of functionals, of derivatives."""

from __future__ import annotations

from collections.abc import Mapping

from srcdiff import ir
from srcdiff.autodiff.runtimecalls import check_first_order
from srcdiff.frontend.free import check_reads
from srcdiff.ir.kinds import Kind
from srcdiff.kinds.interpreter import infer
from srcdiff.normalize.composed import without_functionals
from srcdiff.normalize.displays import returned
from srcdiff.normalize.live_ranges import webs
from srcdiff.normalize.prepare import prepare
from srcdiff.specialize.callees import resolved
from srcdiff.specialize.inline import inline
from srcdiff.specialize.nested.calls import generated, has_derivatives
from srcdiff.specialize.nested.columns import with_columns
from srcdiff.specialize.nested.direct import with_copies_of_now


def with_bodies(
    function: ir.Function,
    params: Mapping[str, Kind],
    origin: object,
    inputs: tuple[str, ...],
    by_tangent: bool = False,
) -> ir.Function:
    """The function with bodies for calls, and with derivatives generated for their arguments."""
    function = _once(function, params, origin, inputs)
    while has_derivatives(function):
        named = webs(prepare(function))
        made = generated(named, infer(named, params), by_tangent)
        function = _once(made, params, origin, inputs)
        function = returned(function)
    return with_copies_of_now(function, params)


def _once(
    function: ir.Function, params: Mapping[str, Kind], origin: object, inputs: tuple[str, ...]
) -> ir.Function:
    function = inline(function, origin)
    while (written := with_columns(function, inputs)) != function:
        function = inline(written, origin)
    function = without_functionals(function, origin, inputs)
    function = resolved(function, params, origin)
    check_reads(function, origin)
    check_first_order(function)
    return function
