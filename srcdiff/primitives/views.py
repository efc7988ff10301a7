"""Which calls certainly return a view of their first argument.

`effects.returns_view` says what may share memory; here is what must.  Reshaping is a view of memory
in C order: of a new one-dimensional array, or of an array that was made in that order.
"""

from __future__ import annotations

from typing import TypeGuard

from srcdiff import ir
from srcdiff.primitives.arguments import argument
from srcdiff.primitives.effects import asks_copy, gives_back, returns_view
from srcdiff.primitives.operation import Meaning, Result, op_of
from srcdiff.primitives.ops import Op, is_op

_SAME = (Op.ASARRAY, Op.ASANYARRAY)
_IN_C_ORDER = (
    Op.ARANGE, Op.COPY_METHOD, Op.EMPTY, Op.EYE, Op.FULL, Op.LINSPACE, Op.ONES, Op.ZEROS,
)  # fmt: skip
_LIKE_ANOTHER = (Op.EMPTY_LIKE, Op.FULL_LIKE, Op.ONES_LIKE, Op.ZEROS_LIKE)


def is_sure_view(rhs: ir.Rhs, kinds: ir.Kinds, function: ir.Function) -> bool:
    """Whether an expression is certainly a view of the array that is its first operand."""
    if type(rhs) is ir.Name:
        return True
    if type(rhs) is not ir.Call:
        return False
    if is_op(rhs, Op.REAL, Op.REAL_PART):  # of a complex array it is a part
        return type(rhs.args[0]) is ir.Name and ir.is_real(
            kinds.get(rhs.args[0].id, ir.UNKNOWN)
        )
    if is_op(rhs, Op.GETITEM):
        return _is_basic(rhs.args[1], kinds)
    if op_of(rhs.fn).result is Result.SURE_VIEW or is_plain_view(rhs):
        return True
    if is_op(rhs, Op.ARRAY, *_SAME):
        plain = len(rhs.args) == 1 and not rhs.kwargs and is_op(rhs, *_SAME)
        return plain or ("copy", ir.Const(False)) in rhs.kwargs  # a view, or an error
    if gives_back(rhs, kinds):
        return True
    return is_reshaping(rhs) and _in_c_order(rhs.args[0], kinds, function)


def is_plain_view(call: ir.Call) -> bool:
    """Whether a call is `y.view()`, which has the dtype and the class of `y`."""
    return is_op(call, Op.VIEW) and len(call.args) == 1 and not call.kwargs


def _is_basic(index: ir.Atom, kinds: ir.Kinds) -> bool:
    """Whether an index certainly is one of integers, slices, `None` and `...`."""
    if type(index) is ir.Tup:
        return all(_is_basic(i, kinds) for i in index.items)
    if type(index) is ir.Const:
        return not isinstance(index.value, bool)
    if type(index) is ir.Name:
        return index.id in kinds and ir.is_basic(kinds[index.id])
    return type(index) is ir.Slice


def is_reshaping(rhs: ir.Rhs) -> bool:
    """Whether an expression is `reshape` or `ravel` in C order, which may be a view."""
    if type(rhs) is not ir.Call or not op_of(rhs.fn).means(Meaning.SHAPED):
        return False
    return not asks_order(rhs) and not asks_copy(rhs)


def is_told_shape(call: ir.Call) -> bool:
    """Whether a call is `reshape`, which is told a shape, and no `ravel`."""
    called = op_of(call.fn)
    return called.is_shaped and called.axes is not None and bool(called.axes.named)


def asks_order(call: ir.Call) -> bool:
    """Whether a call is given an order of the elements, by name or by position."""
    return argument(call, "order") is not None


def _in_c_order(
    base: ir.Atom, kinds: ir.Kinds, function: ir.Function, seen: frozenset[str] = frozenset()
) -> bool:
    """Whether an array is certainly contiguous in C order, because it was made so."""
    if type(base) is not ir.Name or base.id in {*seen, *(p.name for p in function.params)}:
        return False
    seen |= {base.id}
    flat = ir.rank_of(kinds[base.id]) == 1 if base.id in kinds else False
    made = ir.binders(function).get(base.id, ())
    return all(
        type(s) is ir.Assign and _makes_c_order(s.rhs, flat, kinds, function, seen)
        for s in made
    )


def _makes_c_order(
    rhs: ir.Rhs, flat: bool, kinds: ir.Kinds, function: ir.Function, seen: frozenset[str]
) -> bool:
    """Whether an expression makes a new array in C order, or is one that was made so."""
    if type(rhs) is ir.Name:
        return _in_c_order(rhs, kinds, function, seen)
    if type(rhs) is not ir.Call or asks_order(rhs):
        return False
    if makes_c_order(rhs):
        return True
    if is_op(rhs, *_LIKE_ANOTHER):
        return _in_c_order(rhs.args[0], kinds, function, seen)
    known = not isinstance(rhs.fn, (ir.Name, ir.Derived))  # which may give back what it is given
    return flat and known and not returns_view(rhs, kinds)


def makes_c_order(call: ir.Call) -> bool:
    """Whether a call makes a new array in C order, whatever it is given."""
    return not asks_order(call) and is_op(call, *_IN_C_ORDER)


def is_array(kind: ir.Kind | None) -> TypeGuard[ir.Array]:
    """Whether a value is certainly an array."""
    return type(kind) is ir.Array and not kind.maybe_scalar


def is_array_if_any(kind: ir.Kind | None) -> bool:
    """Whether a value is certainly an array, or None in place of one."""
    return kind is not None and is_array(ir.sure(kind))
