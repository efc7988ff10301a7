"""sin and cos of every float64, in vectors: a module gives the functions that compute both at once.

Up to `inline.NEAR` both are arithmetic on one range reduction; if any lane is beyond, libm computes
those lanes.  That branch would keep a loop scalar: so it is in a function with vector forms of its
own, which LLVM puts into loops as it does with libmvec's, and calls once for sin and cos of one x.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from srcdiff.backends.numba.vector_math import libmvec
from srcdiff.backends.numba.vector_math.inline import NEAR, near_sincos
from srcdiff.backends.numba.vector_math.lanes import (
    DOUBLE,
    Lanes,
    absolute,
    attach,
    declared,
    lane_by_lane,
    where,
)

NAME = "srcdiff_sincos"
HAS_STRUCTS = llvm.llvm_version_info >= (21, 0, 0)
"""Whether LLVM vectorises calls that give several values."""


def value_of(name: str) -> Callable[[Any, Any], Any]:
    """What calls the function on an LLVM scalar, and takes its sine or cosine."""
    at = ("sin", "cos").index(name)
    counts = sorted(libmvec.widths(64)) or [2]  # how many float64 a register of this CPU holds

    def call(builder: Any, x: Any) -> Any:
        module = builder.module
        vectors = [_function(module, lanes) for lanes in counts]
        both = libmvec.vectorised_call(builder, _function(module, 1), [x], vectors)
        return builder.extract_value(both, at)

    return call


def _function(module: Any, lanes: int) -> Any:
    """The function for some lanes, which a module defines once and a linker keeps once."""
    name = NAME if lanes == 1 else f"{NAME}_{lanes}"
    if name in module.globals:
        return module.globals[name]
    kind = DOUBLE if lanes == 1 else ir.VectorType(DOUBLE, lanes)
    result = ir.LiteralStructType([kind, kind])
    function = ir.Function(module, ir.FunctionType(result, [kind]), name)
    function.linkage = "linkonce_odr"
    attach(function.attributes, "noinline", "nounwind", '"stackrealign"')
    _define(function)
    return function


def _define(function: Any) -> None:
    """Both values, computed by arithmetic, and by libm in the lanes that are beyond."""
    near, far, done = map(function.append_basic_block, ("near", "far", "done"))
    builder = ir.IRBuilder(near)
    x = Lanes(builder, function.args[0])
    values = near_sincos(x)
    is_far = absolute(x) > NEAR
    builder.cbranch(is_far.any(), far, done)
    builder.position_at_end(far)
    beyond = [where(is_far, _by_libm(x, name), v) for name, v in zip(("sin", "cos"), values)]
    builder.branch(done)
    builder.position_at_end(done)
    result = ir.Constant(function.function_type.return_type, ir.Undefined)
    ends = [_joined(builder, (near, far), ways) for ways in zip(values, beyond)]
    for i, value in enumerate(ends):
        result = builder.insert_value(result, value, i)
    builder.ret(result)


def _by_libm(x: Lanes, name: str) -> Lanes:
    """A function of libm in every lane."""
    scalar = declared(x.builder.module, name, DOUBLE, [DOUBLE])
    return Lanes(x.builder, lane_by_lane(x.builder, scalar, [x.value]))


def _joined(builder: Any, blocks: tuple[Any, ...], ways: tuple[Lanes, ...]) -> Any:
    """The value that a name has after one of some blocks."""
    phi = builder.phi(ways[0].value.type)
    for block, way in zip(blocks, ways):
        phi.add_incoming(way.value, block)
    return phi
