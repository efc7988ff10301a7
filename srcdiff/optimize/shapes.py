"""Plainer forms of the calls that undo or do broadcasting, where the kinds decide the shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from srcdiff import ir
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.optimize.memory import Available
from srcdiff.primitives.arguments import axes_named
from srcdiff.primitives.effects import asks_form
from srcdiff.primitives.ops import Op, is_op, which_op
from srcdiff.primitives.views import is_array

BINARY = (Op.MUL, Op.ADD, Op.SUB, Op.DIV)
COPIES = (Op.COPY, Op.COPY_METHOD, Op.ARRAY)


def plain(call: ir.Call, kinds: ir.Kinds, available: Available) -> ir.Rhs | None:
    """The plainer form of a call, None if there is none."""
    op = which_op(call)
    if op is Op.WHERE and len(call.args) == 3:
        return _without_spreading(call, kinds, available)
    if len(call.args) != 2:
        return None
    if op is Op.UNBROADCAST:
        return _unbroadcast(call.args[0], call.args[1], kinds)
    if op in BINARY:
        one, two = (atom_kind(a, kinds) for a in call.args)
        if type(one) is type(two) is ir.Scalar:
            return None
        spread_out = _without_spreading(call, kinds, available)
        return spread_out or _without_leading_axes(call, one, two, kinds, available)
    return _summed(*call.args, kinds, available) if op is Op.RESHAPE else None


# --- undoing -----------------------------------------------------------------------------------


def _unbroadcast(d: ir.Atom, x: ir.Atom, kinds: ir.Kinds) -> ir.Rhs | None:
    """`d` itself, or a plain sum over the axes along which `x` was broadcast."""
    kind, like = atom_kind(d, kinds), atom_kind(x, kinds)
    # `d` has the shape of the result of an elementwise operation on `x`.
    if ir.same_shape(kind, like) or ir.broadcasts_to_itself(like, kind):
        return d
    have, want = ir.dims_of(kind), ir.dims_of(like)
    if type(like) is ir.Scalar and type(kind) is ir.Array and have:
        return ir.Call(np.sum, (d,), text="np.sum")
    if have is None or want is None or type(like) is not ir.Array or len(have) < len(want):
        return None
    extra = len(have) - len(want)
    ones = _stretched(have[extra:], want)
    if ones is None or (extra and ones):
        return None
    axes = tuple(range(extra)) if extra else ones
    axis = ir.Const(axes[0]) if len(axes) == 1 else ir.Tup(tuple(map(ir.Const, axes)))
    kept = () if extra else (("keepdims", ir.Const(True)),)
    return ir.Call(np.sum, (d,), (("axis", axis), *kept), text="np.sum")


def _stretched(have: tuple[ir.Dim, ...], want: tuple[ir.Dim, ...]) -> tuple[int, ...] | None:
    """The axes of length 1 that may have been stretched; None if some axis is undecided."""
    ones: list[int] = []
    for axis, (p, q) in enumerate(zip(have, want)):
        if q == 1:
            if p != 1:
                ones.append(axis)
        elif not ir.is_big(q) and not ir.met_dim(p, q):
            return None
    return tuple(ones)


def _summed(x: ir.Atom, shape: ir.Atom, kinds: ir.Kinds, available: Available) -> ir.Rhs | None:
    """`np.sum(d, axis=1)` where a sum keeps the axis and is reshaped to what has it not."""
    total, asked = available.value(x), available.value(shape)
    if not is_op(total, Op.NP_SUM) or len(total.args) != 1:
        return None
    said = dict(total.kwargs)
    axes = said.pop("axis", ir.NONE)
    if said != {"keepdims": ir.Const(True)}:
        return None
    have = ir.dims_of(atom_kind(total.args[0], kinds))
    want: tuple[ir.Dim, ...] | None = None
    if is_op(asked, Op.SHAPE):
        want = ir.dims_of(atom_kind(asked.args[0], kinds))
    elif asked == ir.Tup(()):
        want = ()
    gone = None if have is None else axes_named(axes, len(have))
    if have is None or want is None or gone is None:
        return None
    left = [d for k, d in enumerate(have) if k not in gone]
    if len(left) != len(want) or not all(map(ir.same_dim, left, want)):
        return None
    return ir.Call(np.sum, total.args, (("axis", axes),) if left else (), text="np.sum")


# --- doing -------------------------------------------------------------------------------------


def _without_spreading(call: ir.Call, kinds: ir.Kinds, available: Available) -> ir.Rhs | None:
    """`np.broadcast_to(d, shape) * y` where `y` has that shape, or `d * y` has it."""
    known = [atom_kind(a, kinds) for a in call.args]
    if all(type(kind) is ir.Scalar for kind in known):
        return None
    for k, atom in enumerate(call.args):
        rest = (*call.args[:k], *call.args[k + 1 :])
        beside = [*known[:k], *known[k + 1 :]]
        array = next((b for b in beside[::-1] if type(b) is ir.Array), None)
        small = None if array is None else spread(atom, array, kinds, available)
        if small is None:
            continue
        alike = any(_has_shape_of(atom, other, available) for other in rest)
        if alike or _alike([known[k], *beside], [atom_kind(small, kinds), *beside]):
            return replace(call, args=(*call.args[:k], small, *call.args[k + 1 :]))
    return None


def _has_shape_of(atom: ir.Atom, other: ir.Atom, available: Available) -> bool:
    """Whether the atom is something that is broadcast to the shape of another one."""
    value = available.value(atom)
    shape = value.args[0 if is_op(value, Op.FULL) else 1] if type(value) is ir.Call else ir.NONE
    asked = available.value(shape)
    return is_op(asked, Op.SHAPE) and asked.args == (other,)


def _alike(*operands: list[ir.Kind]) -> bool:
    """Whether some operands broadcast to the shape that some others broadcast to."""
    shapes = [[ir.dims_of(kind) for kind in each] for each in operands]
    if any(None in each for each in shapes):
        return False
    one, two = (ir.broadcast_dims([s for s in each if s is not None]) for each in shapes)
    return len(one) == len(two) and all(map(ir.same_dim, one, two))


def _without_leading_axes(
    call: ir.Call, one: ir.Kind, two: ir.Kind, kinds: ir.Kinds, available: Available
) -> ir.Rhs | None:
    """`d * y` for `np.expand_dims(d, 0) * y` where `y` has that many axes anyway."""
    first, second = call.args
    small = without_axes(first, two, kinds, available)
    if small is not None:
        return replace(call, args=(small, second))
    small = without_axes(second, one, kinds, available)
    return None if small is None else replace(call, args=(first, small))


def without_axes(
    atom: ir.Atom, beside: ir.Kind, kinds: ir.Kinds, available: Available
) -> ir.Atom | None:
    """`d` for `np.expand_dims(d, 0)`, which broadcasts alike beside an array of this kind."""
    value = available.value(atom)
    if not is_op(value, Op.EXPAND_DIMS) or len(value.args) != 2:
        return None
    rank, own = ir.rank_of(beside), ir.rank_of(atom_kind(atom, kinds))
    if rank is None or own is None or own > rank:
        return None
    if type(atom_kind(value.args[0], kinds)) is ir.Scalar:
        return value.args[0]
    items = value.args[1].items if type(value.args[1]) is ir.Tup else value.args[1:]
    leading = items == tuple(ir.Const(k) for k in range(len(items)))
    return value.args[0] if leading and len(items) < own else None


def spread(atom: ir.Atom, beside: ir.Kind, kinds: ir.Kinds, available: Available) -> ir.Atom | None:
    """`d` where the atom is `d` broadcast, if that gives no other dtype beside such an array."""
    value = available.value(atom)
    if not is_op(value, Op.SPREAD, Op.BROADCAST_TO, Op.FULL):
        return None
    if len(value.args) != 2 or value.kwargs:
        return None
    if is_op(value, Op.FULL) and not any(map(ir.is_temporary, ir.names(atom))):
        return None  # an array of the user's
    small = value.args[is_op(value, Op.FULL)]
    part = atom_kind(small, kinds)
    if not is_op(value, Op.BROADCAST_TO) and ir.dims_of(part) != ():
        return None
    # A number of Python does not widen a dtype; spread out it would, which nobody asked for.
    return small if type(part) is ir.Scalar or same_dtype(part, beside) else None


# --- asking ------------------------------------------------------------------------------------


def from_another(
    call: ir.Call,
    kinds: ir.Kinds,
    available: Available,
    steady: tuple[str, ...],
    loose: Callable[[str], bool],
    near: Callable[[str], Iterable[str]],
) -> ir.Call | None:
    """A question about the shape of a loose name, asked of something of the same shape.

    `near` gives what is at hand and has the shape of a name for another reason than its kind.
    """
    place = asks_form(call)
    if place is None or len(call.args) <= place:
        return None
    atom = call.args[place]
    if type(atom) is not ir.Name:
        return None
    other = _copied(atom, kinds, available)
    if loose(atom.id) and not is_op(call, Op.LEN, Op.COTANGENT):
        other = _of_same_shape(atom, kinds, available, steady)
        other = next(map(ir.Name, near(atom.id)), other)
    if other is None:
        return None
    if asks_dtype(call) and not same_dtype(atom_kind(atom, kinds), atom_kind(other, kinds)):
        return None
    args = (*call.args[:place], other, *call.args[place + 1 :])
    return replace(call, args=args)


def asks_dtype(call: ir.Call | None) -> bool:
    """Whether a question about a form is one about the dtype as well."""
    return is_op(call, Op.ZEROS_LIKE, Op.COTANGENT)


def _of_same_shape(
    atom: ir.Name, kinds: ir.Kinds, available: Available, steady: tuple[str, ...]
) -> ir.Name | None:
    """A parameter of the same shape, or else an operand that the value was computed from."""
    value = available.value(atom)
    operands = value.args if type(value) is ir.Call else ()
    near = (a.id for a in operands if type(a) is ir.Name)
    kind = kinds.get(atom.id)
    return next((ir.Name(n) for n in (*steady, *near) if are_alike(kinds.get(n), kind)), None)


def _copied(atom: ir.Name, kinds: ir.Kinds, available: Available) -> ir.Name | None:
    """The array that a name is a copy of."""
    source = copied(available.value(atom)) if is_array(atom_kind(atom, kinds)) else None
    return source if source and type(kinds.get(source.id)) is ir.Array else None


def copied(rhs: ir.Rhs | None, *ops: Op) -> ir.Name | None:
    """The name of which a call makes a copy, without saying how."""
    if not is_op(rhs, *(ops or COPIES)) or len(rhs.args) != 1 or rhs.kwargs:
        return None
    return rhs.args[0] if type(rhs.args[0]) is ir.Name else None


def same_dtype(a: ir.Kind | None, b: ir.Kind | None) -> bool:
    """Whether two arrays have certainly one dtype."""
    dtype = getattr(a, "dtype", None)
    return dtype is not None and dtype == getattr(b, "dtype", None)


def are_alike(one: ir.Kind | None, two: ir.Kind | None, dtype: bool = False) -> bool:
    """Whether two values are surely arrays of one shape, and if that is asked of one dtype."""
    shape = is_array(one) and is_array(two) and ir.same_shape(one, two)
    return shape and (not dtype or same_dtype(one, two))
