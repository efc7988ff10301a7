"""The kind of elementwise operations: broadcasting, dtypes, integers that are lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.kinds.indexing import added, dim_text, named, size_dim, size_scalar
from srcdiff.kinds.lattice import Args, Kwargs
from srcdiff.kinds.probing import probe
from srcdiff.primitives.arguments import given_out
from srcdiff.primitives.effects import module_of
from srcdiff.primitives.operation import Meaning, op_of
from srcdiff.primitives.ops import Op, op_named


def out_kind(fn: Any, args: Args, kwargs: Kwargs) -> ir.Kind | None:
    """The kind of what a call is given as `out=z` or `out=(z,)`, which is its result."""
    into = given_out(fn, args, dict(kwargs))
    if into is None and isinstance(fn, np.ufunc) and len(args) > fn.nin:
        into = ir.Tuple(tuple(args[fn.nin :]))
    if into is None:
        return None
    parts = into.items if type(into) is ir.Tuple and into.items else (into,)
    if all(type(part) is ir.NoneKind for part in parts):
        return None
    if type(into) is ir.Tuple and len(parts) == 1:
        return parts[0]
    return ir.UNKNOWN if isinstance(into, ir.Maybe) else into


_NUMERIC = frozenset((ir.Scalar, ir.Array))


def elementwise_kind(fn: Any, args: Args, kwargs: Kwargs) -> ir.Kind:
    """The kind of an elementwise function: its shape by broadcasting, its dtype by probing."""
    kwargs = tuple([(k, v) for k, v in kwargs if k != "out"])  # it is None here
    args = with_arrays(fn, args[: fn.nin] if isinstance(fn, np.ufunc) else args)
    if not _NUMERIC.issuperset(map(type, args)) or (op_named(fn) is Op.WHERE and len(args) < 3):
        return _of_others(fn, args)
    if ir.Array not in map(type, args):
        return _of_numbers(fn, args, kwargs)
    small = tuple(_shrunk(a) for a in args)
    result = probe(fn, small, kwargs, True)
    shapes = [s for s in map(ir.dims_of, args) if s is not None]
    if len(shapes) < len(args):
        definite = any(type(a) is ir.Array and not a.maybe_scalar for a in args)
        certain = definite and any(shapes)  # some operand has an axis
        return _reshaped(result, ir.Array(None, None, not certain))
    return _reshaped(result, ir.Array(None, ir.broadcast_dims(shapes)))


def meets_lists(fn: Any, kind: ir.Kind) -> bool:
    """Whether an operator takes a list beside a value of this kind for an array."""
    if type(kind) is ir.Array and not kind.maybe_scalar:
        return True
    of_python = type(kind) is ir.Scalar and kind.python is True  # where it is an error
    if of_python or isinstance(kind, (ir.List, ir.Tuple)):
        return False
    symbol = op_of(fn).symbol
    if symbol == "+":  # that makes a longer list of two
        return isinstance(kind, (ir.Scalar, ir.Array))
    if symbol == "*":
        inexact = ir.is_inexact_dtype(ir.dtype_of(kind))
        return type(kind) is ir.Scalar and kind.python is False and inexact
    return symbol in ("-", "/", "//", "%", "**")  # which lists do not have


def with_arrays(fn: Any, args: Args) -> Args:
    """The operands, arrays in the place of lists that are taken for arrays."""
    if ir.List not in map(type, args) and ir.Tuple not in map(type, args):
        return args
    if not (isinstance(fn, np.ufunc) or any(meets_lists(fn, a) for a in args)):
        return args
    return tuple(_as_array(a) if isinstance(a, (ir.List, ir.Tuple)) else a for a in args)


def _as_array(kind: ir.Kind) -> ir.Kind:
    """What NumPy makes of a list of numbers, and of lists of them; else the list."""
    found = probe(np.asarray, (kind,), (), True)
    return found if type(found) is ir.Array else kind


def _shrunk(kind: ir.Kind) -> ir.Kind:
    """The same dtype, with a shape that fits all others."""
    if type(kind) is ir.Array:
        rank = 1 if kind.dims is None or kind.dims else 0
        return ir.Array(kind.dtype, (1,) * rank, kind.maybe_scalar)
    if type(kind) is ir.Scalar and kind.dtype is not None and kind.value is None:
        return ir.Scalar(kind.dtype, kind.python)
    return kind


def _reshaped(result: ir.Kind | None, shape: ir.Array) -> ir.Kind:
    """The result of a probe with its true shape."""
    if type(result) is ir.Tuple and result.items is not None:
        return ir.Tuple(tuple(_reshaped(r, shape) for r in result.items))
    dtype = result.dtype if isinstance(result, (ir.Array, ir.Scalar)) else None
    if shape.dims == () and type(result) is ir.Scalar:
        return result
    return ir.Array(dtype, shape.dims, shape.maybe_scalar)


def _of_numbers(fn: Any, args: Args, kwargs: Kwargs) -> ir.Kind:
    """The kind of an operation on numbers; integers keep track of the lengths that they are."""
    symbol = op_of(fn).symbol
    result = probe(fn, args, kwargs, symbol != "**")
    if result is None:
        return ir.Scalar(None, None) if module_of(fn) == "_operator" else ir.UNKNOWN
    if type(result) is ir.Scalar and result.dtype == "int64" and result.python:
        if result.value is None:
            return size_scalar(_size(symbol, args))
    if symbol == "==" and ir.Scalar("int64", True, 0) in args:
        if any(type(a) is ir.Scalar and ir.is_filled(a.size_of) for a in args):
            return ir.Scalar("bool", True, False)
    return result


def _size(symbol: str, args: Args) -> ir.Dim:
    """The length that an operator gives of integers."""
    if not all(type(a) is ir.Scalar and a.python for a in args) or len(args) != 2:
        return None
    x, y = args
    assert type(x) is ir.Scalar and type(y) is ir.Scalar
    if symbol in ("+", "-"):
        exact = added(x, y, 1 if symbol == "+" else -1)
        if exact is not None:
            return exact
    a, b = size_dim(x), size_dim(y)
    if symbol not in ("+", "-", "*", "//", "%") or not _plain(a) or not _plain(b):
        return None
    assert a is not None and b is not None
    return named(f"({dim_text(a)}{symbol}{dim_text(b)})")


def _plain(dim: ir.Dim) -> bool:
    """Whether a length is one value, never cut off at zero."""
    return isinstance(dim, int) or (isinstance(dim, ir.Sym) and dim.name != "?" and dim.offset >= 0)


def _of_others(fn: Any, args: Args) -> ir.Kind:
    """The kind of an operator on values other than numbers and arrays."""
    if any(not isinstance(a, (ir.Text, ir.Tuple, ir.List, ir.NoneKind, ir.Scalar)) for a in args):
        return ir.UNKNOWN
    callee = op_of(fn)
    if callee.symbol and callee.means(Meaning.COMPARED):
        return ir.Scalar("bool")
    return ir.Text() if type(args[0]) is ir.Text and callee.symbol == "%" else ir.UNKNOWN
