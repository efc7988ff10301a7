"""Loop functions with scalar functions that LLVM vectorises.

Takes a finished function that calls loops; gives it with loops in which functions of NumPy, and
sums of free order, are those of `vector_math`.  The invariant: the same values to the last places,
and the same special ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.backends.numba.jit import numba
from srcdiff.backends.numba.legalize import kinds_in_loops
from srcdiff.ir.frozen import replace
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import loops


@cache
def _forms() -> Mapping[Any, Any]:
    """The vector form of each function."""
    from srcdiff.backends.numba import vector_math as vm

    return {
        loops.add: vm.add, np.arccos: vm.acos, np.arccosh: vm.acosh, np.arcsin: vm.asin,
        np.arcsinh: vm.asinh, np.arctan: vm.atan, np.arctan2: vm.atan2, np.arctanh: vm.atanh,
        np.cbrt: vm.cbrt, np.cos: vm.cos, np.cosh: vm.cosh, np.exp: vm.exp, np.exp2: vm.exp2,
        np.expm1: vm.expm1, np.hypot: vm.hypot, np.log: vm.log, np.log10: vm.log10,
        np.log1p: vm.log1p, np.log2: vm.log2, np.maximum: vm.maximum, np.minimum: vm.minimum,
        np.sin: vm.sin, np.sinh: vm.sinh, np.tan: vm.tan, np.tanh: vm.tanh,
    }  # fmt: skip


def vectorized(function: ir.Function, params: ir.Kinds) -> ir.Function:
    """A function whose loops call vector math, but for complex numbers.

    Raises:
        ExtraError: Numba is not installed.
    """
    numba()
    kinds = {**params, **infer(function, params)}
    mixed = any(ir.dtype_of(kind) == "complex128" for kind in kinds.values())
    inside = kinds_in_loops(function, kinds) if mixed else {}
    made: dict[int, ir.Subroutine] = {}

    def stmt(s: ir.Stmt) -> ir.Stmt:
        call = ir.call_of(s)
        if call is None or type(call.fn) is not ir.Subroutine:
            return s
        loop = made.get(id(call.fn))
        if loop is None:
            new = _vectorized(call.fn.function, inside.get(id(call.fn)))
            loop = made[id(call.fn)] = replace(call.fn, function=new)
        return replace(s, rhs=replace(call, fn=loop))  # type: ignore[arg-type]

    return ir.replaced_in(function, stmt)


def _vectorized(loop: ir.Function, kinds: ir.Kinds | None) -> ir.Function:
    """A loop function with vector forms; None: all numbers are real.

    It has a frame of its own, in which vectors lie around calls: without any it may be inlined.
    """
    from srcdiff.backends.numba import vector_math as vm

    def stmt(s: ir.Stmt) -> ir.Stmt:
        known = kinds is None or all(map(_is_real, (kinds.get(n) for n in ir.reads(s))))
        return _with_vector_form(s) if known else s

    body = ir.replaced(loop.body, stmt)
    called = {c.fn for c in ir.calls(body) if getattr(c.fn, "__module__", "") == vm.__name__}
    if called <= {vm.add, vm.maximum, vm.minimum}:
        return replace(loop, body=body)
    first = ir.Effect(ir.Call(vm.own_frame, (), text="own_frame"), loop.loc)
    return replace(loop, body=(first, *body))


def _is_real(kind: ir.Kind | None) -> bool:
    """Whether a number is certainly none with an imaginary part."""
    return kind is not None and ir.is_real(kind)


def _with_vector_form(stmt: ir.Stmt) -> ir.Stmt:
    """A statement that calls the vector form of a function."""
    call = ir.call_of(stmt)
    if type(stmt) is not ir.Assign or type(call) is not ir.Call:
        return stmt
    fn = _power(call) if is_op(call, Op.POW, Op.POWER) else _forms().get(call.fn)
    return stmt if fn is None else replace(stmt, rhs=replace(call, fn=fn, text=fn.__name__))


def _power(call: ir.Call) -> Any:
    """The vector form of a power; those by literal counts are products."""
    from srcdiff.backends.numba import vector_math as vm

    exponent = call.args[1]
    counts = type(exponent) is ir.Const and type(exponent.value) is int and exponent.value >= 0
    return None if counts else vm.pow
