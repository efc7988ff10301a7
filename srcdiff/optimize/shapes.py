"""Plainer forms of the calls that undo or do broadcasting, where the kinds decide the shapes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from srcdiff import ir
from srcdiff.ir.frozen import replace
from srcdiff.ir.kinds import (
    Array,
    Dim,
    Kind,
    Kinds,
    Scalar,
    broadcasts_to_itself,
    dims_of,
    is_big,
    same_dim,
    same_shape,
)
from srcdiff.kinds.calls import atom_kind
from srcdiff.optimize.memory import Available
from srcdiff.primitives.effects import asks_form
from srcdiff.primitives.ops import Op, is_op

BINARY = (Op.MUL, Op.ADD, Op.SUB, Op.DIV)


def plain(call: ir.Call, kinds: Kinds, available: Available) -> ir.Rhs | None:
    """The plainer form of a call, None if there is none."""
    if is_op(call, Op.UNBROADCAST) and len(call.args) == 2:
        return _unbroadcast(call.args[0], call.args[1], kinds)
    if is_op(call, *BINARY) and len(call.args) == 2:
        return _without_spreading(call, kinds, available)
    if is_op(call, Op.RESHAPE) and len(call.args) == 2:
        return _summed(*call.args, kinds, available)
    return None


# --- undoing -----------------------------------------------------------------------------------


def _unbroadcast(d: ir.Atom, x: ir.Atom, kinds: Kinds) -> ir.Rhs | None:
    """`d` itself, or a plain sum over the axes along which `x` was broadcast."""
    kind, like = atom_kind(d, kinds), atom_kind(x, kinds)
    # `d` has the shape of the result of an elementwise operation on `x`.
    if same_shape(kind, like) or broadcasts_to_itself(like, kind):
        return d
    have, want = dims_of(kind), dims_of(like)
    if isinstance(like, Scalar) and isinstance(kind, Array) and have:
        return ir.Call(np.sum, (d,), text="np.sum")
    if have is None or want is None or not isinstance(like, Array) or len(have) < len(want):
        return None
    extra = len(have) - len(want)
    ones = _stretched(have[extra:], want)
    if ones is None or (extra and ones):
        return None
    axes = tuple(range(extra)) if extra else ones
    kwargs: tuple[tuple[str | None, ir.Atom], ...] = (("axis", _axes(axes)),)
    if not extra:
        kwargs += (("keepdims", ir.Const(True)),)
    return ir.Call(np.sum, (d,), kwargs, text="np.sum")


def _stretched(have: tuple[Dim, ...], want: tuple[Dim, ...]) -> tuple[int, ...] | None:
    """The axes of length 1 that may have been stretched; None if some axis is undecided."""
    ones: list[int] = []
    for axis, (p, q) in enumerate(zip(have, want)):
        if q == 1:
            if p != 1:
                ones.append(axis)
        elif not is_big(q) and not same_dim(p, q):
            return None
    return tuple(ones)


def _axes(axes: tuple[int, ...]) -> ir.Atom:
    """The argument `axis` of a sum."""
    return ir.Const(axes[0]) if len(axes) == 1 else ir.Tup(tuple(map(ir.Const, axes)))


def _summed(x: ir.Atom, shape: ir.Atom, kinds: Kinds, available: Available) -> ir.Rhs | None:
    """`np.sum(d, axis=1)` where a sum keeps the axis and is reshaped to what has it not."""
    total, asked = available.value(x), available.value(shape)
    if not is_op(total, Op.NP_SUM) or len(total.args) != 1:
        return None
    (axis, axes), *rest = total.kwargs or ((None, ir.NONE),)
    if axis != "axis" or rest != [("keepdims", ir.Const(True))]:
        return None
    have = dims_of(atom_kind(total.args[0], kinds))
    want: tuple[Dim, ...] | None = None
    if is_op(asked, Op.SHAPE):
        want = dims_of(atom_kind(asked.args[0], kinds))
    elif asked == ir.Tup(()):
        want = ()
    gone = [a.value for a in (axes.items if isinstance(axes, ir.Tup) else (axes,))]  # type: ignore[union-attr]
    if have is None or want is None or not all(type(k) is int for k in gone):
        return None
    left = [d for k, d in enumerate(have) if k not in gone and k - len(have) not in gone]
    if len(left) != len(want) or not all(map(same_dim, left, want)):
        return None
    return ir.Call(np.sum, total.args, total.kwargs[:1] if left else (), text="np.sum")


# --- doing -------------------------------------------------------------------------------------


def _without_spreading(call: ir.Call, kinds: Kinds, available: Available) -> ir.Rhs | None:
    """`np.broadcast_to(d, shape) * y` where `y` has that shape."""
    a, b = call.args
    small = spread_over(a, b, kinds, available)
    if small is not None:
        return replace(call, args=(small, b))
    small = spread_over(b, a, kinds, available)
    return None if small is None else replace(call, args=(a, small))


def spread_over(
    atom: ir.Atom, other: ir.Atom, kinds: Kinds, available: Available
) -> ir.Atom | None:
    """`d` where the atom is `d` broadcast to the shape of `other`, with the same dtype."""
    beside = atom_kind(other, kinds)
    if not isinstance(beside, Array) or not beside.dims:
        return None
    if not same_shape(atom_kind(atom, kinds), beside):
        return None
    return spread(atom, beside, kinds, available)


def spread(atom: ir.Atom, beside: Kind, kinds: Kinds, available: Available) -> ir.Atom | None:
    """`d` where the atom is `d` broadcast, if that gives no other dtype beside such an array."""
    value = available.value(atom)
    if not isinstance(value, ir.Call) or len(value.args) < 2:
        return None
    source = value.args[0]
    if is_op(value, Op.SPREAD):
        if len(value.args) > 2 or value.kwargs:
            return None
        if dims_of(atom_kind(source, kinds)) != ():
            return None
    elif not is_op(value, Op.BROADCAST_TO) or value.kwargs:
        return None
    # A number of Python does not widen a dtype; spread out it would, which nobody asked for.
    part = atom_kind(source, kinds)
    dtype = getattr(part, "dtype", None)
    same = dtype is not None and dtype == getattr(beside, "dtype", None)
    return source if same or isinstance(part, Scalar) else None


# --- asking ------------------------------------------------------------------------------------


def from_another(
    call: ir.Call,
    kinds: Kinds,
    available: Available,
    steady: tuple[str, ...],
    loose: Callable[[str], bool],
) -> ir.Call | None:
    """A question about the shape of a loose name, asked of something of the same shape."""
    place = asks_form(call)
    if place is None or len(call.args) <= place:
        return None
    atom = call.args[place]
    if not isinstance(atom, ir.Name):
        return None
    other = _copied(atom, kinds, available)
    if loose(atom.id) and not is_op(call, Op.LEN, Op.COTANGENT):
        other = _of_same_shape(atom, kinds, available, steady)
    if is_op(call, Op.ZEROS_LIKE, Op.COTANGENT) and (
        other is None or not same_dtype(atom_kind(atom, kinds), atom_kind(other, kinds))
    ):
        return None
    if other is None:
        return None
    args = (*call.args[:place], other, *call.args[place + 1 :])
    return replace(call, args=args)


def _of_same_shape(
    atom: ir.Name, kinds: Kinds, available: Available, steady: tuple[str, ...]
) -> ir.Name | None:
    """A parameter of the same shape, or else an operand that the value was computed from."""
    kind = atom_kind(atom, kinds)
    if not isinstance(kind, Array) or kind.maybe_scalar:
        return None
    for name in steady:
        if _is_as(kinds.get(name), kind):
            return ir.Name(name)
    value = available.value(atom)
    if isinstance(value, ir.Call):
        for operand in value.args:
            if isinstance(operand, ir.Name) and _is_as(kinds.get(operand.id), kind):
                return operand
    return None


COPIES = (Op.COPY, Op.COPY_METHOD)


def _copied(atom: ir.Name, kinds: Kinds, available: Available) -> ir.Name | None:
    """The array that a name is a copy of."""
    value = available.value(atom)
    if not is_op(value, *COPIES):
        return None
    source = value.args[0]
    kind = atom_kind(atom, kinds)
    if not isinstance(source, ir.Name) or not isinstance(kind, Array) or kind.maybe_scalar:
        return None
    return source if isinstance(kinds.get(source.id), Array) else None


def same_dtype(a: Kind, b: Kind) -> bool:
    """Whether two arrays have certainly one dtype."""
    dtype = getattr(a, "dtype", None)
    return dtype is not None and dtype == getattr(b, "dtype", None)


def _is_as(kind: Kind | None, other: Array) -> bool:
    """Whether a value is surely an array of the shape of another."""
    return isinstance(kind, Array) and same_shape(kind, other)
