"""What a target does with a program: how it is legalised, what its names mean, how it is loaded.

Takes finished functions, and the text that was printed of them; gives functions that compute the
same where they run, and Python callables.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from srcdiff import ir
from srcdiff.backends.loader import Loaded, compile_module
from srcdiff.frontend.request import Request
from srcdiff.frontend.signatures import module_of
from srcdiff.runtime import trees
from srcdiff.runtime.workspace import given, workspaces

if TYPE_CHECKING:
    from srcdiff.codegen.emit import Made


def legalized(
    function: ir.Function,
    params: ir.Kinds,
    request: Request,
    used_up: tuple[str, ...] = (),
    popped: tuple[int, ...] = (),
) -> ir.Function:
    """A finished function that computes the same where it is to run.

    Nobody looks at the parameters `used_up` after a call.  `popped`: the places of the
    residuals that it gives back to have what they hold popped.
    """
    if function.target.kernels:
        from srcdiff.kernels.fusion import fused
        from srcdiff.kernels.launches import Launches

        return fused(function, params, Launches(function))
    if not function.target.fused:
        return function
    from srcdiff.backends.numba.flatten import flattened
    from srcdiff.backends.numba.legalize import (
        check_axes,
        check_rounding,
        for_numba,
        with_exact_dtypes,
        with_plain_calls,
    )
    from srcdiff.backends.numba.unbound import with_first_values, with_items
    from srcdiff.backends.numba.vectorize import vectorized, with_array_math
    from srcdiff.kernels.expand import with_spread_operands
    from srcdiff.kernels.fusion import Loops, fused

    scalar = request.alone or function.target.strict  # math with the bits of libm
    if not function.target.native:
        function = fused(with_plain_calls(function, params), params, Loops(function.target))
        function = with_exact_dtypes(function, params)
        return function if scalar else vectorized(function, params)
    border = None
    if request.internal:
        check_axes(function, params)
    else:
        function = with_items(function, params, popped)
        function, params, border = flattened(function, params, used_up)
    function = with_first_values(with_plain_calls(function, params), params)
    if not scalar:
        function = with_spread_operands(function, params)
    function = fused(function, params, Loops(function.target))
    function = with_exact_dtypes(function, params)
    if function.target.strict:
        check_rounding(function, params)
    if not scalar:
        function = with_array_math(vectorized(function, params), params)
    function = for_numba(function, params)
    return function if border is None else border.around(function)


def meanings(refs: Mapping[str, Any], target: ir.Target) -> Mapping[str, Any]:
    """What the global names of a generated text mean.

    Raises:
        DtypeError: one of them is an array of another module than the target's.
    """
    if not target.on_device:
        return given(refs)
    from srcdiff.backends.cupy.helpers import meanings as for_cupy

    return for_cupy(refs)


def loaded(
    made: Made, refs: Mapping[str, Any], title: str, primal: Any, target: ir.Target
) -> Loaded:
    """The functions of a generated text, whose global names mean `refs`."""
    if target.fused and not target.native:
        from srcdiff.backends.numba import jit

        return jit.with_loops(made, refs, title, primal)
    if not target.native:
        emitted = made.emitted
        space = compile_module(emitted.text, refs, title, module_of(primal), emitted.lines)
        return Loaded({n: space[n] for n in emitted.functions}, emitted.text)
    from srcdiff.backends.numba import jit

    return jit.loaded(made, refs, title, primal)


def released(function: Any) -> None:
    """Let go of the memory that a loaded function keeps for its arrays."""
    for workspace in workspaces(function):
        workspace.release()


# --- arguments ------------------------------------------------------------------------------------


def arrays_among(values: Mapping[str, Any]) -> str:
    """The module of the arrays among some arguments, `numpy` where there are none.

    Raises:
        DtypeError: there are arrays of both modules; with the names of two of them.
    """
    if "cupy" not in sys.modules:
        return "numpy"
    from srcdiff.backends.cupy.helpers import check_same_module

    return check_same_module(values)


def seed_check(target: ir.Target) -> Callable[[Any], Any]:
    """What checks the cotangent of one real number."""
    if not target.on_device:
        return lambda given: trees.cotangent(given, 1.0)
    from srcdiff.backends.cupy.helpers import number_cotangent

    return number_cotangent
