"""The forms of reductions and of what moves elements: axes count from behind the batch axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.autodiff.batch.context import Context, Form
from srcdiff.ir.kinds import Array, List, Scalar, Tuple, inside
from srcdiff.runtime import arrays, batched


def shifted(b: Context, axis: ir.Atom) -> ir.Atom | None:
    """An axis, or several, behind the batch axis; None where it is not known."""
    if isinstance(axis, ir.Tup):
        items = [shifted(b, i) for i in axis.items]
        return None if None in items else ir.Tup(tuple(i for i in items if i is not None))
    if not isinstance(axis, ir.Const) or type(axis.value) is not int:
        return None
    return ir.Const(axis.value + 1 if axis.value >= 0 else axis.value)


def all_axes(rank: int) -> ir.Atom:
    """All axes but that of the batch."""
    axes = tuple(ir.Const(k + 1) for k in range(rank))
    return axes[0] if rank == 1 else ir.Tup(axes)


def argument(call: ir.Call, place: int, name: str, default: ir.Atom) -> ir.Atom:
    """An argument, by position or by keyword."""
    if place < len(call.args):
        return call.args[place]
    return dict(call.kwargs).get(name, default)


def without(call: ir.Call, place: int, name: str, **new: ir.Atom) -> ir.Call:
    """A call without an argument, and what is behind it by position; others by keyword."""
    kwargs = tuple((k, v) for k, v in call.kwargs if k != name)
    return replace(call, args=call.args[:place], kwargs=(*new.items(), *kwargs))


def _plain(b: Context, call: ir.Call, most: int, *names: str) -> bool:
    """Whether only the first operand has the axis, and no argument is given but those known."""
    rest = (*call.args[1:], *(v for _, v in call.kwargs))
    known = len(call.args) <= most and {k for k, _ in call.kwargs} <= set(names)
    plain = known and not any(map(b.has, rest)) and not any(isinstance(a, ir.Star) for a in rest)
    return plain and not b.is_container(call.args[0]) and b.has(call.args[0])


def _reduction(b: Context, call: ir.Call) -> ir.Rhs | None:
    """A sum over some axes, or all."""
    if not _plain(b, call, 2, "axis", "keepdims"):
        return None
    d, axis = call.args[0], argument(call, 1, "axis", ir.NONE)
    if axis != ir.NONE:
        new = shifted(b, axis)
        return None if new is None else without(call, 1, "axis", axis=new)
    rank = b.rank(d)
    if rank is not None and rank > 0:
        return without(call, 1, "axis", axis=all_axes(rank))
    if dict(call.kwargs).get("keepdims", ir.Const(False)) != ir.Const(False):
        return None
    if rank == 0:
        return ir.Call(np.copy, (d,))
    flat = b.call(np.reshape, d, ir.Tup((b.size, ir.Const(-1))))
    return ir.Call(call.fn, (flat,), (("axis", ir.Const(1)),))


def _along(place: int, default: int | None = None, *names: str) -> Form:
    """What works along an axis, the argument at a place; without a default: all of them."""

    def form(b: Context, call: ir.Call) -> ir.Rhs | None:
        if not _plain(b, call, place + 1, "axis", *names):
            return None
        axis = argument(call, place, "axis", ir.Const(default))
        if axis == ir.NONE:
            rank = b.rank(call.args[0])
            # Which axes `np.squeeze` leaves out, the rank does not say.
            flattens = call.fn is not np.flip and (rank != 1 or call.fn is np.squeeze)
            new = None if not rank or flattens else all_axes(rank)
        else:
            new = shifted(b, axis)
        return None if new is None else without(call, place, "axis", axis=new)

    return form


def _two_axes(b: Context, call: ir.Call) -> ir.Rhs | None:
    """What moves or exchanges axes."""
    if not _plain(b, call, 3) or len(call.args) != 3:
        return None
    axes = [shifted(b, a) for a in call.args[1:]]
    return None if None in axes else replace(call, args=(call.args[0], *axes))  # type: ignore[arg-type]


def _transpose(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`d.T` and `np.transpose`."""
    if not _plain(b, call, 2, "axes"):
        return None
    d, axes = call.args[0], argument(call, 1, "axes", ir.NONE)
    rank = b.rank(d)
    if axes == ir.NONE:
        if rank is None:
            return None
        if rank < 2:
            return d
        if rank == 2:
            return ir.Call(ir.Attr("mT"), (d,))
        order: tuple[ir.Atom, ...] = tuple(ir.Const(k) for k in range(rank, 0, -1))
    else:
        new = shifted(b, axes)
        if not isinstance(new, ir.Tup):
            return None
        order = new.items
    return ir.Call(np.transpose, (d, ir.Tup((ir.Const(0), *order))))


def shape_behind(b: Context, shape: ir.Atom) -> ir.Tup | None:
    """A shape behind the size of the batch; None where it is not known to be a tuple or number."""
    if isinstance(shape, ir.Tup):
        return ir.Tup((b.size, *shape.items))
    kind = b.kind(shape)
    if isinstance(kind, Scalar):
        return ir.Tup((b.size, shape))
    return ir.Tup((b.size, ir.Star(shape))) if isinstance(kind, Tuple) else None


def _reshape(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.reshape` and `d.reshape`."""
    items = call.args[1:]
    ordered = call.fn is np.reshape and len(items) > 1
    if not _plain(b, call, len(call.args)) or not items or ordered:
        return None
    shape = shape_behind(b, items[0] if len(items) == 1 else ir.Tup(items))
    return None if shape is None else ir.Call(np.reshape, (call.args[0], shape))


def _ravel(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.ravel` and `d.ravel()`, which is a view where that of a single item is one."""
    if not _plain(b, call, 1):
        return None
    return ir.Call(np.reshape, (call.args[0], ir.Tup((b.size, ir.Const(-1)))))


def _broadcast_to(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.broadcast_to`, with axes in between where ranks differ."""
    if not _plain(b, call, 2) or len(call.args) != 2:
        return None
    d, shape = call.args
    rank, kind = b.rank(d), b.kind(shape)
    behind = shape_behind(b, shape)
    known = isinstance(kind, Tuple) and kind.items is not None
    if rank is None or behind is None or not known:
        return ir.Call(batched.broadcast_each, (d, shape))
    assert isinstance(kind, Tuple) and kind.items is not None
    return ir.Call(np.broadcast_to, (b.widened(d, len(kind.items) - rank), behind))


def _joined(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.concatenate` and `np.stack` of things all of which have the axis."""
    axis = shifted(b, argument(call, 1, "axis", ir.Const(0)))
    items = call.args[0]
    if axis is None or len(call.args) > 2 or {k for k, _ in call.kwargs} - {"axis"}:
        return None
    kind = b.kind(items)
    if isinstance(items, ir.Name) and isinstance(kind, (List, Tuple)):
        plain = all(isinstance(k, (Array, Scalar)) for k in inside(kind))
        return ir.Call(call.fn, (items,), (("axis", axis),)) if plain else None
    if not isinstance(items, ir.Tup) or any(isinstance(i, ir.Star) for i in items.items):
        return None
    if any(b.has(i) and not b.is_array(i) and not b.is_number(i) for i in items.items):
        return None
    parts = tuple(_part(b, i) for i in items.items)
    return ir.Call(call.fn, (ir.Tup(parts),), (("axis", axis),))


def _part(b: Context, part: ir.Atom) -> ir.Atom:
    """What is joined with others that have the axis."""
    if b.has(part):
        return part
    array = part if b.is_array(part) else b.call(np.asarray, part)
    return b.call(batched.repeated, array, b.size)


def _triangle(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.triu` and `np.tril` of matrices, or stacks of them."""
    rank = b.rank(call.args[0])
    return call if rank is not None and rank > 1 and _plain(b, call, 2, "k") else None


def _diagonal(b: Context, call: ir.Call) -> ir.Rhs | None:
    """The diagonal of a matrix."""
    if b.rank(call.args[0]) != 2 or not _plain(b, call, 2, "offset"):
        return None
    offset = argument(call, 1, "offset", ir.Const(0))
    return ir.Call(np.diagonal, (call.args[0], offset, ir.Const(1), ir.Const(2)))


def _move(count: int) -> Form:
    """`shift` and `undiff`, whose axis comes last, after `count` other operands."""

    def form(b: Context, call: ir.Call) -> ir.Rhs | None:
        d, *rest, axis = call.args
        plain = replace(call, args=(d, rest[-1], axis))  # of `x` in `undiff` the shape matters
        if not _plain(b, plain, 3) or len(call.args) != count + 1:
            return None
        moved = shifted(b, axis)
        return None if moved is None else replace(call, args=(d, *rest, moved))

    return form


_FFT = tuple(getattr(np.fft, n) for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))

SHAPES: Mapping[Any, Form] = {
    **dict.fromkeys((np.sum, np.mean, ir.Method("sum"), ir.Method("mean")), _reduction),
    **dict.fromkeys((np.cumsum, np.cumprod, np.flip), _along(1)),
    **dict.fromkeys((np.expand_dims, np.squeeze), _along(1)),
    **dict.fromkeys(_FFT, _along(2, -1, "n", "norm")),
    np.roll: _along(2),
    **dict.fromkeys((np.moveaxis, np.swapaxes, ir.Method("swapaxes")), _two_axes),
    **dict.fromkeys((np.transpose, ir.Attr("T")), _transpose),
    ir.Attr("mT"): lambda b, call: call if b.is_array(call.args[0]) else None,
    **dict.fromkeys((np.reshape, ir.Method("reshape")), _reshape),
    **dict.fromkeys((np.ravel, ir.Method("ravel")), _ravel),
    np.broadcast_to: _broadcast_to,
    **dict.fromkeys((np.concatenate, np.stack), _joined),
    **dict.fromkeys((np.triu, np.tril), _triangle),
    np.diagonal: _diagonal,
    arrays.shift: _move(2),
    arrays.undiff: _move(3),
}
