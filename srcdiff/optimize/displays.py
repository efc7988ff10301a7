"""A list or dict display with what the statements behind it put into its places.

Takes the statements up to a store and the kinds; gives the display that does both.  What stands in
between does not look at the container, and binds nothing that the display reads.
"""

from __future__ import annotations

from srcdiff import ir
from srcdiff.ir.frozen import replace
from srcdiff.primitives.ops import Op, is_op

NEAR = 12
"""How many statements before a store, or behind a temporary, are looked at."""


def with_item(before: list[ir.Stmt], store: ir.Stmt, kinds: ir.Kinds) -> ir.Assign | None:
    """The display that a store of a number adds to or sets an item of, which `before` loses."""
    if type(store) is not ir.SetItem and (type(store) is not ir.AugAssign or store.op != "+"):
        return None
    if not _is_float(store.value, kinds):
        return None
    bound: set[str] = set()
    for k in range(len(before) - 1, max(-1, len(before) - NEAR - 1), -1):
        stmt = before[k]
        if store.base.id in ir.mentions(stmt):
            new = _filled(stmt, store)
            if new is None or not bound.isdisjoint(ir.reads_of(stmt)):
                return None
            del before[k]
            return new
        bound.update(ir.bound_in(stmt))
    return None


def _is_float(value: ir.Atom, kinds: ir.Kinds) -> bool:
    """Whether a value is a number of a known kind: it shares no memory."""
    kind = kinds.get(value.id) if isinstance(value, ir.Name) else None
    return isinstance(kind, ir.Scalar) and ir.is_float(kind)


def _filled(stmt: ir.Stmt, store: ir.Store) -> ir.Assign | None:
    """The display of a statement with a stored item in it, if its value is no more than that."""
    if not isinstance(stmt, ir.Assign) or stmt.target != store.base:
        return None
    place = _place(stmt.rhs, store.index)
    if place is None:
        return None
    assert isinstance(stmt.rhs, ir.Call)
    args = list(stmt.rhs.args)
    if isinstance(store, ir.AugAssign) and args[place] != ir.Const(0.0):
        return None
    args[place] = store.value
    return replace(stmt, rhs=replace(stmt.rhs, args=tuple(args)))


def _place(rhs: ir.Rhs, index: ir.Atom | None) -> int | None:
    """Where a display has the item with a literal index."""
    key = index.value if isinstance(index, ir.Const) else None
    if is_op(rhs, Op.MAKE_LIST) and type(key) is int:
        known = 0 <= key < len(rhs.args) and not any(isinstance(a, ir.Star) for a in rhs.args)
        return key if known else None
    if is_op(rhs, Op.MAKE_DICT) and index in rhs.args[::2]:
        return 2 * rhs.args[::2].index(index) + 1
    return None


# --- zeros ---------------------------------------------------------------------------------------


_FEW = 4  # zeros that are written out


def few_zeros(kind: ir.Kind | None, device: bool) -> ir.Call | None:
    """The display of zeros in the form of a list of a few numbers; None for others."""
    known = isinstance(kind, (ir.List, ir.Tuple)) and kind.items is not None
    items = ir.items_of(kind) if known else ()
    if not 0 < len(items) <= _FEW or not all(is_number(k, device) for k in items):
        return None
    return ir.Call(ir.make_list, (ir.Const(0.0),) * len(items))


def is_number(kind: ir.Kind | None, device: bool) -> bool:
    """Whether a value is a number, or the sum of a list: on a device an array, or 0 of none."""
    if isinstance(kind, ir.Array):
        return device and kind.maybe_scalar and kind.dims == () and kind.dtype == "float64"
    return isinstance(kind, ir.Scalar) and kind.dtype == "float64"


def makes_zeros(rhs: ir.Rhs | None) -> bool:
    """Whether a call makes a new array, or a new container of numbers, of nothing but zeros."""
    if is_op(rhs, Op.MAKE_LIST):
        return set(rhs.args) == {ir.Const(0.0)}
    return is_op(rhs, Op.ZEROS_LIKE, Op.ZERO_TREE, Op.ZEROS_OF)
