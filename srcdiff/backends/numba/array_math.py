"""Functions of whole arrays as the code that Numba has for them: none is compiled by itself.

Takes arrays and shapes as Numba knows them; gives what NumPy gives.  A function in Python is
compiled anew for every number of arguments and axes, which takes longer than what it is called in.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils as _cgutils
from numba.core import types as _types
from numba.core.errors import TypingError
from numba.core.typing import templates as _templates
from numba.extending import lower_builtin
from numba.np import arrayobj as _arrayobj

from srcdiff.runtime import arrays, loops

cgutils: Any = _cgutils
arrayobj: Any = _arrayobj
types: Any = _types
templates: Any = _templates
by_code: Any = lower_builtin

WRONG = "operands could not be broadcast together"


def _compiled_as(
    same: Any, typer: Callable[..., Any], code: Callable[..., Any]
) -> Callable[[Any], Any]:
    """A decorator: Numba compiles calls of a function as `code`; it computes the `same`."""

    def register(function: Any) -> Any:
        function.__srcdiff_same__ = same

        class Template(templates.AbstractTemplate):  # type: ignore[misc]
            key = function

            def generic(self, given: Any, named: Any) -> Any:
                return templates.signature(typer(*given), *given)

        templates.infer_global(function, types.Function(Template))
        by_code(function, types.VarArg(types.Any))(code)
        return function

    return register


# --- shapes ---------------------------------------------------------------------------------------


def _shape_type(*shapes: Any) -> Any:
    """The type of what shapes are broadcast to."""
    if not all(isinstance(s, types.BaseTuple) for s in shapes):
        raise TypingError(f"shapes are tuples, not {', '.join(map(str, shapes))}")
    return types.UniTuple(types.intp, max(s.count for s in shapes))


def _lengths(context: Any, builder: Any, shape: Any, kind: Any) -> list[Any]:
    """The lengths of a shape."""
    items = (builder.extract_value(shape, k) for k in range(kind.count))
    return [context.cast(builder, v, t, types.intp) for v, t in zip(items, kind)]


def _differs(builder: Any, one: Any, two: Any) -> Any:
    return builder.icmp_unsigned("!=", one, two)


def _fail_where(context: Any, builder: Any, wrong: Any) -> None:
    """Raise an error where lengths are wrong."""
    with builder.if_then(wrong, likely=False):
        context.call_conv.return_user_exc(builder, ValueError, (WRONG,))


def _check(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    """The lengths compared one by one."""
    first, *others = [_lengths(context, builder, *pair) for pair in zip(values, sig.args)]
    wrong = context.get_constant(types.boolean, any(len(o) != len(first) for o in others))
    for other in others:
        for pair in zip(first, other):
            wrong = builder.or_(wrong, _differs(builder, *pair))
    _fail_where(context, builder, wrong)
    return context.get_dummy_value()


@_compiled_as(loops.check_shapes, lambda *shapes: _shape_type(*shapes) and types.void, _check)
def check_shapes(shape: Any, *others: Any) -> None:
    """Refuse operands that have other shapes than the loops go over."""
    loops.check_shapes(shape, *others)


def _places_type(shape: Any, *places: Any) -> Any:
    """The type of nothing, of arrays of places in what has a shape."""
    arrays_of_places = all(isinstance(p, types.Array) for p in places)
    if not isinstance(shape, types.BaseTuple) or not arrays_of_places:
        raise TypingError(f"no places in {shape} by {places}")
    return types.void


def _check_places(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    """The places along each axis compared with its length."""
    shape, *kinds = sig.args
    lengths = _lengths(context, builder, values[0], shape)
    for length, places, kind in zip(lengths, values[1:], kinds):
        one = templates.signature(types.void, types.intp, kind)
        context.compile_internal(builder, _check_along, one, (length, places))
    return context.get_dummy_value()


def _check_along(length: Any, places: Any) -> None:
    """Refuse places that an axis of some length does not have."""
    for place in places.flat:
        if place < -length or place >= length:
            raise IndexError("index is out of bounds")


@_compiled_as(loops.check_indices, _places_type, _check_places)
def check_indices(shape: Any, *indices: Any) -> None:
    """Refuse arrays of integers that say places which an array of some shape does not have."""
    loops.check_indices(shape, *indices)


def _broadcast(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    """The lengths, of 1 and another one the other; that they fit is asked where they are used."""
    found = [context.get_constant(types.intp, 1)] * sig.return_type.count
    for pair in zip(values, sig.args):
        mine = _lengths(context, builder, *pair)
        for k, length in enumerate(reversed(mine), 1):
            found[-k] = builder.select(_is_one(builder, found[-k]), length, found[-k])
    return cgutils.pack_array(builder, found)


def _is_one(builder: Any, length: Any) -> Any:
    return builder.icmp_unsigned("==", length, ir.Constant(length.type, 1))


@_compiled_as(np.broadcast_shapes, _shape_type, _broadcast)
def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that arrays are spread to."""
    return np.broadcast_shapes(*shapes)


def _part_type(shape: Any, *items: Any) -> Any:
    """The type of the shape of a part."""
    if not isinstance(shape, types.BaseTuple) or len(items) > shape.count:
        raise TypingError(f"no part of {shape} by {items}")
    gone = sum(isinstance(i, types.Integer) for i in items)
    return types.UniTuple(types.intp, shape.count - gone)


def _part(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    """The lengths of slices, for integers none: those are asked whether they are in bounds."""
    shape, *kinds = sig.args
    lengths = _lengths(context, builder, values[0], shape)
    found = []
    for length, item, kind in zip(lengths, values[1:], kinds):
        if isinstance(kind, types.Integer):
            _ask(context, builder, context.cast(builder, item, kind, types.intp), length)
            continue
        if isinstance(kind, types.NoneType):
            found.append(length)
            continue
        ends = [
            _end(context, builder, builder.extract_value(item, k), t, length, default)
            for k, (t, default) in enumerate(zip(kind, (ir.Constant(length.type, 0), length)))
        ]
        more = builder.icmp_signed(">", ends[1], ends[0])
        nothing = ir.Constant(length.type, 0)
        found.append(builder.select(more, builder.sub(ends[1], ends[0]), nothing))
    found += lengths[len(kinds) :]
    return cgutils.pack_array(builder, found, ty=lengths[0].type)


def _end(context: Any, builder: Any, value: Any, kind: Any, length: Any, default: Any) -> Any:
    """Where a slice begins or ends in an axis; those that are negative count from its end."""
    if isinstance(kind, types.NoneType):
        return default
    value = context.cast(builder, value, kind, types.intp)
    nothing = ir.Constant(length.type, 0)
    negative = builder.icmp_signed("<", value, nothing)
    value = builder.select(negative, builder.add(value, length), value)
    value = builder.select(builder.icmp_signed("<", value, nothing), nothing, value)
    return builder.select(builder.icmp_signed(">", value, length), length, value)


def _ask(context: Any, builder: Any, place: Any, length: Any) -> None:
    """Raise an error where a place is out of bounds."""
    low = builder.icmp_signed("<", place, builder.neg(length))
    wrong = builder.or_(low, builder.icmp_signed(">=", place, length))
    with builder.if_then(wrong, likely=False):
        context.call_conv.return_user_exc(builder, IndexError, ("index is out of bounds",))


@_compiled_as(loops.part_shape, _part_type, _part)
def part_shape(shape: Any, *items: Any) -> Any:
    """The shape of a part of an array."""
    return loops.part_shape(shape, *items)


# --- arrays ---------------------------------------------------------------------------------------


def _spread_type(x: Any, shape: Any) -> Any:
    """The type of an array that is read with other lengths."""
    if not isinstance(x, types.Array) or shape.count < x.ndim:
        raise TypingError(f"{x} is not spread to {shape}")
    return types.Array(x.dtype, shape.count, "A", readonly=not x.mutable)


def _spread(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    """The same memory: an axis of length 1 is gone through without a step."""
    kind, shape = sig.args
    x = arrayobj.make_array(kind)(context, builder, values[0])
    lengths = _lengths(context, builder, values[1], shape)
    nothing = context.get_constant(types.intp, 0)
    steps = [nothing] * (len(lengths) - kind.ndim)
    own = zip(_items(builder, x.shape), _items(builder, x.strides), lengths[len(steps) :])
    for mine, step, length in own:
        other = _differs(builder, mine, length)
        one = _is_one(builder, mine)
        _fail_where(context, builder, builder.and_(other, builder.not_(one)))
        steps.append(builder.select(one, nothing, step))
    out = arrayobj.make_array(sig.return_type)(context, builder)
    arrayobj.populate_array(
        out, data=x.data, shape=cgutils.pack_array(builder, lengths),
        strides=cgutils.pack_array(builder, steps), itemsize=x.itemsize, meminfo=x.meminfo,
        parent=x.parent,
    )  # fmt: skip
    context.nrt.incref(builder, kind, values[0])
    return out._getvalue()


def _items(builder: Any, values: Any) -> list[Any]:
    """The lengths, or steps, of an array."""
    return list(cgutils.unpack_tuple(builder, values))


@_compiled_as(np.broadcast_to, _spread_type, _spread)
def broadcast_to(x: Any, shape: Any) -> Any:
    """An array spread to a shape, without a copy."""
    return np.broadcast_to(x, shape)


def _sum_type(d: Any, x: Any) -> Any:
    """The type of a sum over the axes along which an array was spread."""
    both = isinstance(d, types.Array) and isinstance(x, types.Array)
    if not both or not 0 < x.ndim <= d.ndim:
        raise TypingError(f"{d} is not summed to {x}")
    layout = "C" if d.layout == "C" or d.ndim > x.ndim else "A"
    return types.Array(d.dtype, x.ndim, layout, readonly=not d.mutable)


def _sum(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    """`d` itself where it has the shape of `x`, as with NumPy; else a new array."""
    d, x = (
        arrayobj.make_array(t)(context, builder, v) for t, v in zip(sig.args, values)
    )
    lengths, mine = _items(builder, x.shape), _items(builder, d.shape)
    result = cgutils.alloca_once(builder, context.get_value_type(sig.return_type))
    if len(lengths) < len(mine):
        builder.store(_summed(context, builder, sig, d, lengths), result)
        return builder.load(result)
    other = context.get_constant(types.boolean, False)
    for pair in zip(lengths, mine):
        other = builder.or_(other, _differs(builder, *pair))
    with builder.if_else(other) as (different, same):
        with different:
            builder.store(_summed(context, builder, sig, d, lengths), result)
        with same:
            context.nrt.incref(builder, sig.args[0], values[0])
            builder.store(values[0], result)
    return builder.load(result)


def _summed(context: Any, builder: Any, sig: Any, d: Any, lengths: list[Any]) -> Any:
    """A new array of some lengths to which every element is added at its place."""
    kind = sig.return_type
    own = types.Array(kind.dtype, kind.ndim, "C")
    out = arrayobj._empty_nd_impl(context, builder, own, lengths)
    total = _zeroed(builder, out)
    sum_of_two = templates.signature(kind.dtype, kind.dtype, kind.dtype)
    add = context.get_function(operator.add, sum_of_two)
    extra = sig.args[0].ndim - kind.ndim
    nothing = context.get_constant(types.intp, 0)
    for length, mine in zip(lengths, _items(builder, d.shape)[extra:]):
        fits = builder.or_(_is_one(builder, length), builder.not_(_differs(builder, length, mine)))
        _fail_where(context, builder, builder.not_(fits))
    with cgutils.loop_nest(builder, _items(builder, d.shape), nothing.type) as at:
        place = [
            builder.select(_is_one(builder, n), nothing, k) for n, k in zip(lengths, at[extra:])
        ]
        element = _element(context, builder, sig.args[0], d, at)
        spot = _element(context, builder, own, out, place)
        builder.store(add(builder, (builder.load(spot), builder.load(element))), spot)
    return total


def _element(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Where an element stands."""
    return cgutils.get_item_pointer(context, builder, kind, array, at)


@_compiled_as(arrays.unbroadcast, _sum_type, _sum)
def unbroadcast(d: Any, x: Any) -> Any:
    """`d` summed over the axes along which `x` was spread."""
    return arrays.unbroadcast(d, x)


# --- new arrays -----------------------------------------------------------------------------------


def _new_type(shape: Any, dtype: Any = types.float64) -> Any:
    """The type of a new array."""
    element = getattr(dtype, "dtype", dtype)
    if not isinstance(shape, (types.BaseTuple, types.Integer)) or not isinstance(element, _NUMBERS):
        raise TypingError(f"no array of {shape} of {dtype}")
    return types.Array(element, getattr(shape, "count", 1), "C")


_NUMBERS = (types.Number, types.Boolean)


def _new(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    """An array of a shape."""
    lengths = arrayobj._parse_shape(context, builder, sig.args[0], values[0])
    return arrayobj._empty_nd_impl(context, builder, sig.return_type, lengths)


def _empty(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    """The memory alone."""
    return _new(context, builder, sig, values)._getvalue()


def _zeros(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    """The memory filled."""
    return _zeroed(builder, _new(context, builder, sig, values))


def _zeroed(builder: Any, out: Any) -> Any:
    """An array whose bytes are zero."""
    cgutils.memset(builder, out.data, builder.mul(out.itemsize, out.nitems), 0)
    return out._getvalue()


@_compiled_as(np.empty, _new_type, _empty)
def empty(shape: Any, dtype: Any = float) -> Any:
    """An array of a shape, of which nothing is set."""
    return np.empty(shape, dtype)


@_compiled_as(np.zeros, _new_type, _zeros)
def zeros(shape: Any, dtype: Any = float) -> Any:
    """An array of zeros of a shape."""
    return np.zeros(shape, dtype)


def _like_type(x: Any) -> Any:
    """The type of a new array like another one."""
    if not isinstance(x, types.Array):
        raise TypingError(f"{x} is no array")
    return types.Array(x.dtype, x.ndim, "F" if x.layout == "F" else "C")


def _like(context: Any, builder: Any, sig: Any, values: Any) -> Any:
    """An array of zeros of the shape of another one."""
    x = arrayobj.make_array(sig.args[0])(context, builder, values[0])
    out = arrayobj._empty_nd_impl(context, builder, sig.return_type, _items(builder, x.shape))
    return _zeroed(builder, out)


@_compiled_as(np.zeros_like, _like_type, _like)
def zeros_like(x: Any) -> Any:
    """An array of zeros of the shape of another one."""
    return np.zeros_like(x)
