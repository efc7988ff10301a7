"""The functions of NumPy that make arrays, as methods of a workspace.

What is small, and what is no plain array or number of NumPy, goes to the plain function at once.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from srcdiff.runtime.workspace import NUMBERS, Workspace

_SMALL = 4096  # the size of arrays below which a result is made as usual: 32 KiB of `float64`
_ndarray = np.ndarray
_ARRAYS, _INTEGERS, _FLOATS = frozenset((_ndarray,)), frozenset((int,)), frozenset((float,))

OPERATORS: Mapping[Any, str] = {
    operator.add: "add", operator.sub: "subtract", operator.mul: "multiply",
    operator.truediv: "divide", operator.floordiv: "floor_divide", operator.mod: "remainder",
    operator.neg: "negative", builtins.abs: "absolute", operator.matmul: "matmul",
    operator.lt: "less", operator.le: "less_equal", operator.gt: "greater",
    operator.ge: "greater_equal", operator.and_: "bitwise_and", operator.or_: "bitwise_or",
    operator.xor: "bitwise_xor", operator.invert: "invert",
}  # fmt: skip
"""The operators, and the functions that they are of arrays.

Not `**`, which is other functions for some exponents, and not `==`, which accepts any shapes.
"""

POWERS: Mapping[float, str] = {2.0: "square", 0.5: "sqrt", -1.0: "reciprocal"}
"""The functions that `**` is for some exponents."""


class Memory(Workspace):
    """A workspace that mirrors NumPy: `memory.tanh(x)`, `memory.zeros(3)`."""


def _unary(ufunc: Any, plain: Callable[..., Any]) -> Callable[..., Any]:
    """An elementwise function of one array; `plain` is the operator, or the function itself."""

    def call(self: Memory, x: Any) -> Any:
        if type(x) is not _ndarray or x.size < _SMALL:
            return plain(x)
        return self.applied(ufunc, (ufunc, x.shape, x.strides, x.dtype), (x,))

    return call


def _binary(ufunc: Any, plain: Callable[..., Any]) -> Callable[..., Any]:
    """An elementwise function of two arrays, or of an array and a number."""

    def call(self: Memory, x: Any, y: Any) -> Any:
        one, two = type(x), type(y)
        signature: tuple[Any, ...]
        if one is _ndarray and two is _ndarray:
            m, n = x.size, y.size
            if m < _SMALL and n < _SMALL and (m * n < _SMALL or x.shape == y.shape):
                return plain(x, y)
            signature = ufunc, x.shape, x.strides, x.dtype, y.shape, y.strides, y.dtype
        elif one is _ndarray and two in NUMBERS and x.size >= _SMALL:
            signature = ufunc, x.shape, x.strides, x.dtype, two
        elif two is _ndarray and one in NUMBERS and y.size >= _SMALL:
            signature = ufunc, one, y.shape, y.strides, y.dtype
        else:
            return plain(x, y)
        return self.applied(ufunc, signature, (x, y))

    return call


def _product(fn: Any, plain: Callable[..., Any], inner: bool) -> Callable[..., Any]:
    """A product of two arrays; `inner`: it sums over the last axis of the first one."""

    def call(self: Memory, x: Any, y: Any) -> Any:
        if type(x) is not _ndarray or type(y) is not _ndarray:
            return plain(x, y)
        most = x.size * y.size
        if inner and x.ndim:
            most //= max(1, x.shape[-1]) ** 2
        if most < _SMALL:
            return plain(x, y)
        signature = fn, x.shape, x.strides, x.dtype, y.shape, y.strides, y.dtype
        return self.applied(fn, signature, (x, y))

    return call


def _einsum(self: Memory, subscripts: Any, *operands: Any) -> Any:
    """Sums of products by Einstein's convention."""
    if type(subscripts) is not str or not _all_arrays(operands):
        return np.einsum(subscripts, *operands)
    signature = (np.einsum, subscripts, *map(_form, operands))
    return self.applied(np.einsum, signature, (subscripts, *operands))


def _joined(fn: Any) -> Callable[..., Any]:
    """`concatenate` and `stack`."""

    def call(self: Memory, arrays: Any, axis: Any = 0) -> Any:
        known = type(arrays) in (tuple, list) and _is_axis(axis) and _all_arrays(arrays)
        if not known or sum([x.size for x in arrays]) < _SMALL:
            return fn(arrays, axis)
        return self.applied(fn, (fn, axis, *map(_form, arrays)), (arrays, axis))

    return call


def _cumulative(fn: Any) -> Callable[..., Any]:
    """`cumsum` and `cumprod`."""

    def call(self: Memory, x: Any, axis: Any = None) -> Any:
        if type(x) is not _ndarray or not _is_axis(axis) or x.size < _SMALL:
            return fn(x, axis)
        return self.applied(fn, (fn, axis, *_form(x)), (x, axis))

    return call


def _new(make: Any, fill: Callable[..., Any]) -> Callable[..., Any]:
    """`zeros`, `full` and the like; `fill` puts the value into an array."""

    def call(self: Memory, shape: Any, *value: Any, dtype: Any = None) -> Any:
        sizes = shape if type(shape) is tuple else (shape,)
        known = _INTEGERS.issuperset(map(type, sizes)) and math.prod(sizes) >= _SMALL
        if not known or not _is_dtype(dtype) or not _FLOATS.issuperset(map(type, value)):
            return make(shape, *value, dtype=dtype)
        return self.filled(
            lambda: make(shape, *value, dtype=dtype),
            (make, shape, dtype, len(value)),
            lambda out: fill(out, *value),
        )

    return call


def _like(make: Any, fill: Callable[..., Any]) -> Callable[..., Any]:
    """`zeros_like`, `copy` and the like; `fill` puts the value into an array."""

    def call(self: Memory, x: Any, *value: Any) -> Any:
        known = type(x) is _ndarray and NUMBERS.issuperset(map(type, value))
        if not known or x.size < _SMALL:
            return make(x, *value)
        return self.filled(
            lambda: make(x, *value),
            (make, *_form(x), *map(type, value)),
            lambda out: fill(out, x, *value),
        )

    return call


def _all_arrays(values: Any) -> bool:
    """Whether all of some values are arrays of NumPy's own class."""
    return _ARRAYS.issuperset(map(type, values))


def _form(x: Any) -> tuple[Any, ...]:
    """What results depend on of an array but its contents."""
    return x.shape, x.strides, x.dtype


def _is_axis(axis: Any) -> bool:
    """Whether a value is an axis, or None for the flat array."""
    return axis is None or type(axis) is int


def _is_dtype(dtype: Any) -> bool:
    """Whether a value means one dtype, for ever."""
    return dtype is None or isinstance(dtype, (type, np.dtype, str))


# --- all of them -------------------------------------------------------------------------------


def _elementwise() -> dict[str, Callable[..., Any]]:
    """The functions of NumPy with one result for one or two items of arrays."""
    named = {v.__name__: v for v in vars(np).values() if isinstance(v, np.ufunc)}
    plain = {name: fn for fn, name in OPERATORS.items()}
    found: dict[str, Callable[..., Any]] = {}
    for name, ufunc in named.items():
        if ufunc.nout == 1 and ufunc.signature is None and getattr(np, name, None) is ufunc:
            make = {1: _unary, 2: _binary}.get(ufunc.nin)
            if make is not None:
                found[name] = make(ufunc, plain.get(name, ufunc))
    return found


def _nothing(out: Any, *args: Any) -> None:
    """What fills an empty array."""


def _zero(out: Any, *args: Any) -> None:
    out.fill(0)


def _one(out: Any, *args: Any) -> None:
    out.fill(1)


def _full(out: Any, value: Any) -> None:
    np.copyto(out, value, casting="unsafe")


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **_elementwise(),
    "matmul": _product(np.matmul, operator.matmul, True),
    "dot": _product(np.dot, np.dot, True),
    "outer": _product(np.outer, np.outer, False),
    "einsum": _einsum,
    "concatenate": _joined(np.concatenate),
    "stack": _joined(np.stack),
    "cumsum": _cumulative(np.cumsum),
    "cumprod": _cumulative(np.cumprod),
    "zeros": _new(np.zeros, _zero),
    "ones": _new(np.ones, _one),
    "empty": _new(np.empty, _nothing),
    "full": _new(np.full, _full),
    "zeros_like": _like(np.zeros_like, _zero),
    "ones_like": _like(np.ones_like, _one),
    "empty_like": _like(np.empty_like, _nothing),
    "full_like": _like(np.full_like, lambda out, x, value: _full(out, value)),
    "copy": _like(np.copy, np.copyto),
    "array": _like(np.array, np.copyto),
}
"""The functions of `np` that a workspace has, by their names."""

for _name, _call in FUNCTIONS.items():
    _call.__name__ = _name
    setattr(Memory, _name, _call)

MEMORY = Memory()
"""What a text calls `memory`, until it is compiled."""


def given(refs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The global names of a text, with a workspace of its own in the place of `MEMORY`."""
    if not any(v is MEMORY for v in refs.values()):
        return refs
    own = Memory()
    return {n: own if v is MEMORY else v for n, v in refs.items()}


def workspaces(function: Any) -> list[Workspace]:
    """The workspaces that a generated function uses."""
    return [v for v in function.__globals__.values() if isinstance(v, Workspace)]
