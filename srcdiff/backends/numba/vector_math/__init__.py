"""Scalar functions that LLVM vectorises in the loops that Numba compiles, and sums of free order.

Takes floats, integers or truth values; gives what NumPy gives, in float32 if all are, else in
float64; sums and extremes of integers are integers.  A loop that calls `math.exp` stays scalar,
because LLVM knows no vector form of it, and one `total += y` keeps it scalar too, because the order
of such a sum is fixed: with `exp`, and with `total = add(total, y)`, it does not.

`inline`: exp, expm1, log, log1p, tanh, sin and cos of float64 as arithmetic, where the CPU has a
fused multiply-add; `lanes`: the notation for it.  `libmvec`: all others, and float32.  A function
of libmvec has other last bits in the remainder of a loop than in its body: what is compared with an
earlier result must not be computed again by one.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import lower_builtin, type_callable

from srcdiff.backends.numba.vector_math import circular, inline, libmvec
from srcdiff.backends.numba.vector_math.lanes import LONG, SINGLE, Lanes, attach, declared

HAS_FMA = platform.machine().lower() in ("arm64", "aarch64") or "+fma" in libmvec.FEATURES
"""Whether the CPU has the instruction; without it LLVM calls a slow function of libm."""

F = TypeVar("F", bound=Callable[..., Any])


def _result_type(name: str, given: tuple[Any, ...]) -> Any:
    """The Numba type of a function of real scalars."""
    if not all(isinstance(a, (types.Float, types.Integer, types.Boolean)) for a in given):
        raise TypingError(f"{name} takes real scalars, not {', '.join(map(str, given))}")
    return types.float32 if all(a == types.float32 for a in given) else types.float64


def _sum_type(name: str, given: tuple[Any, ...]) -> Any:
    """The same for sums and extremes, of which those of integers are integers."""
    if all(a in types.signed_domain for a in given):
        return types.int64
    if not any(isinstance(a, types.Float) for a in given):
        what = ", ".join(map(str, given))
        raise TypingError(f"{name} takes floats or signed integers, not {what}")
    return _result_type(name, given)


def _register(function: Any, typer: Callable[..., Any], lower: Callable[..., Any]) -> None:
    """Tell Numba the result type of a function, and the LLVM code of a call."""
    by_type: Any = type_callable
    by_code: Any = lower_builtin
    anything: Any = types.VarArg
    by_type(function)(lambda _: typer)
    by_code(function, anything(types.Any))(lower)


def _compiled_as(
    name: str,
    code: Callable[[Any, list[Any]], Any],
    result_type: Callable[[str, tuple[Any, ...]], Any] = _result_type,
) -> Callable[[F], F]:
    """A decorator: Numba compiles calls of the function as LLVM code from a builder and values."""

    def lower(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        result = signature.return_type
        given = [context.cast(builder, v, t, result) for v, t in zip(values, signature.args)]
        return code(builder, given)

    def register(function: F) -> F:
        if function.__code__.co_argcount == 1:
            _register(function, lambda x: result_type(name, (x,)), lower)
        else:
            _register(function, lambda x, y: result_type(name, (x, y)), lower)
        return function

    return register


# --- elementary functions -------------------------------------------------------------------------


def _inline(name: str) -> Callable[[Any, Any], Any] | None:
    """What computes a function of a float64 without libmvec; None if nothing does."""
    if not HAS_FMA:
        return None
    if name in ("sin", "cos"):
        return circular.value_of(name) if circular.HAS_STRUCTS else None
    function = getattr(inline, name, None)
    if function is None:
        return None
    return lambda builder, x: function(Lanes(builder, x)).value


def _elementary(name: str) -> Callable[..., float]:
    """The function of this name, for compiled code and for Python."""
    own = _inline(name)

    def code(builder: Any, given: list[Any]) -> Any:
        if own is None or given[0].type == SINGLE:
            return libmvec.call(builder, name, given)
        return own(builder, *given)

    python = getattr(math if name in ("erf", "erfc") else np, name)
    if libmvec.ARITIES[name] == 1:

        def function(x: float) -> Any:
            return python(x)
    else:

        def function(x: float, y: float) -> Any:  # type: ignore[misc]
            return python(x, y)

    function.__name__ = function.__qualname__ = name
    return _compiled_as(name, code)(function)


exp, exp2, expm1 = map(_elementary, ("exp", "exp2", "expm1"))
log, log2, log10, log1p = map(_elementary, ("log", "log2", "log10", "log1p"))
sin, cos, tan = map(_elementary, ("sin", "cos", "tan"))
asin, acos, atan, atan2 = map(_elementary, ("asin", "acos", "atan", "atan2"))
sinh, cosh, tanh = map(_elementary, ("sinh", "cosh", "tanh"))
asinh, acosh, atanh = map(_elementary, ("asinh", "acosh", "atanh"))
cbrt, hypot, pow = map(_elementary, ("cbrt", "hypot", "pow"))
erf, erfc = map(_elementary, ("erf", "erfc"))


# --- reductions and frames ------------------------------------------------------------------------


def _free_sum(builder: Any, given: list[Any]) -> Any:
    """A sum that may be reordered: `fastmath` would give the permission to all of a function."""
    if given[0].type == LONG:
        return builder.add(*given)
    return builder.fadd(*given, flags=("reassoc", "nsz", "contract"))


def _extreme(name: str, sign: str) -> Callable[[Any, list[Any]], Any]:
    """A call of a function of LLVM on two floats, or the one of two integers that has a sign."""

    def code(builder: Any, given: list[Any]) -> Any:
        kind = given[0].type
        if kind == LONG:
            return builder.select(builder.icmp_signed(sign, *given), *given)
        suffix = "f32" if kind == SINGLE else "f64"
        function = declared(builder.module, f"llvm.{name}.{suffix}", kind, [kind, kind])
        return builder.call(function, given)

    return code


@_compiled_as("add", _free_sum, _sum_type)
def add(x: float, y: float) -> float:
    """Sum of free order: a loop that adds with it makes partial sums in vector lanes."""
    return x + y


@_compiled_as("maximum", _extreme("maximum", ">"), _sum_type)
def maximum(x: float, y: float) -> Any:
    """The larger one, NaN if one is NaN."""
    return np.maximum(x, y)


@_compiled_as("minimum", _extreme("minimum", "<"), _sum_type)
def minimum(x: float, y: float) -> Any:
    """The smaller one, NaN if one is NaN."""
    return np.minimum(x, y)


def own_frame() -> None:
    """Said first in a function with a hot loop: it is not inlined, its stack holds whole vectors.

    Numba's functions start with a stack aligned to 16 bytes; vectors of 64 that are spilled around
    calls then lie across lines of the cache (1.7 times slower, measured).  Inlining loses that, as
    the body of a `prange` is inlined: let it call a function that says this.
    """


def _lower_own_frame(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """Nothing is computed: the function that is compiled gets attributes."""
    attach(builder.function.attributes, "noinline", '"stackrealign"')
    return context.get_dummy_value()


_register(own_frame, lambda: types.void, _lower_own_frame)
