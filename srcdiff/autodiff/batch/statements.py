"""Statements with a batch axis."""

from __future__ import annotations

import operator

import numpy as np

from srcdiff import ir
from srcdiff.autodiff.batch.forms import (
    Context,
    NoBatchError,
    for_batch,
    index_behind,
    stored,
)
from srcdiff.autodiff.containers import on_companions
from srcdiff.ir.frozen import replace
from srcdiff.kinds.indexing import item_kind
from srcdiff.primitives.effects import is_pure, mutated_args, returns_view, ufunc_method
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import batched


def block(b: Context, statements: ir.Block) -> ir.Block:
    """A block with a batch axis."""
    around, b.out = b.out, []
    for stmt in statements:
        b.loc = stmt.loc
        b.out += statement(b, stmt)
        _remember(b, stmt)
    done, b.out = tuple(b.out), around
    return done


def _remember(b: Context, stmt: ir.Stmt) -> None:
    """Which names are transposed matrices, as long as neither is bound anew."""
    changed = ir.bound((stmt,))
    for name, matrix in list(b.transposed.items()):
        if name in changed or matrix.id in changed:
            del b.transposed[name]
    call = ir.call_of(stmt)
    if isinstance(stmt, ir.Assign) and is_op(call, Op.T):
        base = call.args[0]
        if isinstance(base, ir.Name) and b.rank(base) == 2 and not b.has(base):
            b.transposed[stmt.target.id] = base


def statement(b: Context, stmt: ir.Stmt) -> ir.Block:
    """A statement with a batch axis; what has to run before it goes to the context."""
    if isinstance(stmt, ir.Assign):
        return (replace(stmt, rhs=_assign(b, stmt)),)
    if isinstance(stmt, ir.Store):
        return _set_item(b, stmt)
    if isinstance(stmt, ir.Effect):
        return _effect(b, stmt)
    if isinstance(stmt, ir.Return):
        return (ir.Return(_returned(b, stmt.value), stmt.loc),)
    if isinstance(stmt, (ir.If, ir.For, ir.While)):
        return _nested(b, stmt)
    if isinstance(stmt, ir.Permute):
        return (stmt,)
    if b.names.intersection((*ir.reads(stmt), *ir.writes(stmt))):
        raise NoBatchError("a statement that is kept as text reads an adjoint")
    return (stmt,)


def _nested(b: Context, stmt: ir.If | ir.For | ir.While) -> ir.Block:
    """Control flow, which is the same for every item of the batch."""
    asked = stmt.iter if isinstance(stmt, ir.For) else stmt.test
    stop = None if isinstance(stmt, ir.If) else stmt.stop
    if b.has(asked) or b.has(stop):
        raise NoBatchError("control flow depends on an adjoint")
    b.transposed.clear()
    return (ir.map_blocks(stmt, lambda inner: block(b, inner)),)


# --- assignments ---------------------------------------------------------------------------------


def _assign(b: Context, stmt: ir.Assign) -> ir.Rhs:
    """What is assigned where something has the axis, or the name has it elsewhere."""
    target, rhs = stmt.target, stmt.rhs
    if not b.has(rhs):
        return _lifted(b, rhs, target) if target.id in b.names else rhs
    if isinstance(rhs, ir.Opaque):
        raise NoBatchError("an expression that is kept as text reads an adjoint")
    if not isinstance(rhs, ir.Call):
        return b.completed(rhs)
    if target.id not in b.names and not op_of(rhs.fn).is_asked:
        raise NoBatchError("a value without adjoint depends on one")
    made = _on_container(b, rhs)
    if made is not None:
        return made
    if is_op(rhs, Op.COTANGENT) and target.id not in b.written:
        return ir.Call(batched.given_cotangents, (*rhs.args, b.size))
    new = for_batch(b, rhs)
    if new is not None:
        return new
    viewed = {n for a in returns_view(rhs, b.kinds) for n in ir.names(a)}
    if {target.id, *viewed} & b.written & b.names and viewed & b.names:
        raise NoBatchError("a view that is written into, or of what is")
    return _each(b, rhs)


def _lifted(b: Context, rhs: ir.Rhs, target: ir.Name) -> ir.Rhs:
    """What a name with the axis is bound to, where that has none."""
    if isinstance(rhs, ir.Const) and isinstance(rhs.value, (int, float, complex)):
        zero = rhs.value == 0 and isinstance(rhs.value, float)
        return ir.Call(np.zeros, (b.size,)) if zero else ir.Call(np.full, (b.size, rhs))
    if isinstance(rhs, ir.Call):
        made = _made(b, rhs)
        if made is not None:
            return made
    if isinstance(rhs, ir.Opaque):
        raise NoBatchError("an adjoint is kept as text")
    if isinstance(rhs, ir.Name) and target.id in b.written and rhs.id in b.written:
        raise NoBatchError("an adjoint is a view of a value without one")
    if rhs == ir.NONE:
        return rhs
    return ir.Call(batched.repeated, (b.temp(rhs), b.size))


def _made(b: Context, call: ir.Call) -> ir.Call | None:
    """Zeros with the axis."""
    if is_op(call, Op.ZEROS_LIKE) and len(call.args) == 1 and not call.kwargs:
        like = call.args[0]
        kind = b.kind(like)
        if not isinstance(kind, ir.Array) or not isinstance(like, ir.Name):
            return None
        shape = ir.Star(b.attribute(like, "shape"))
        dtype = () if kind.dtype == "float64" else (b.attribute(like, "dtype"),)
        return ir.Call(np.zeros, (ir.Tup((b.size, shape)), *dtype))
    return None


def _returned(b: Context, value: ir.Atom) -> ir.Atom:
    """The gradients, all with the axis; behind the value that comes before a tangent."""
    if b.owned:
        return b.completed(value)
    assert isinstance(value, ir.Tup)
    primal, tangent = value.items
    return ir.Tup((primal, b.completed(tangent)))


# --- item by item --------------------------------------------------------------------------------


def _each(b: Context, call: ir.Call) -> ir.Rhs:
    """A call that is made for each item of the batch, in a loop."""
    if isinstance(call.fn, ir.Derived) or not is_pure(call.fn) or mutated_args(call, b.kinds):
        raise NoBatchError("a call has to be made once for all adjoints")
    if any(b.is_container(ir.Name(n)) for n in ir.names(call) if n in b.names):
        raise NoBatchError("a call takes adjoints in a container")
    items, result = b.apply(ir.make_list), b.fresh()
    append = ir.Effect(ir.Call(ir.Method("append"), (items, result)), b.loc)
    b.out.append(_for_each(b, (ir.Assign(result, call, b.loc), append)))
    return ir.Call(batched.stacked, (items,))


def _each_store(b: Context, stmt: ir.Store | ir.Effect) -> ir.Block:
    """A statement that writes into arrays, for each item of the batch."""
    names = (ir.Name(n) for n in ir.reads(stmt) if n in b.names)
    if not all(b.is_array(n) or b.is_number(n) for n in names):
        raise NoBatchError("a store into adjoints of unknown kind")
    return (_for_each(b, (stmt,)),)


def _for_each(b: Context, single: ir.Block) -> ir.For:
    """A loop over the items of the batch, in which what has the axis stands for one item."""
    k = b.fresh("k")
    body: list[ir.Stmt] = []
    new: dict[str, ir.Name] = {}
    for n in dict.fromkeys(n for stmt in single for n in ir.reads(stmt) if n in b.names):
        new[n] = b.fresh()
        # Of what is no array its parts may have the axis.
        known = isinstance(b.kinds.get(n), (ir.Array, ir.Scalar))
        take = operator.getitem if known else batched.taken
        body.append(ir.Assign(new[n], ir.Call(take, (ir.Name(n), k)), b.loc))
    block = (*body, *ir.substituted(single, new))
    return ir.For(k, ir.Call(range, (b.size,)), block, None, b.loc)


# --- stores --------------------------------------------------------------------------------------


def _set_item(b: Context, stmt: ir.Store) -> ir.Block:
    """A store into an adjoint."""
    base, value = stmt.base, stmt.value
    if base.id not in b.names:
        if b.has(value) or b.has(stmt.index):
            raise NoBatchError("an adjoint is stored into a value without one")
        return (stmt,)
    if b.has(stmt.index):
        raise NoBatchError("a store at a place that depends on an adjoint")
    if stmt.index is None:
        assert isinstance(stmt, ir.AugAssign)
        return _whole(b, stmt)
    if b.is_container(base):
        return _into_container(b, stmt)
    if not b.is_array(base):
        raise NoBatchError("a store into an adjoint of unknown kind")
    index = index_behind(b, stmt.index)
    if index is None:
        return _each_store(b, stmt)
    return (replace(stmt, index=index, value=stored(b, base, stmt.index, value)),)


def _whole(b: Context, stmt: ir.AugAssign) -> ir.Block:
    """`d += t`: in place for arrays; a number takes a new value, which its other names have not."""
    base = stmt.base
    if b.is_container(base):
        raise NoBatchError("an operator in place on a container of adjoints")
    value = b.beside(stmt.value, (base,)) if b.has(stmt.value) else stmt.value
    if b.is_array(base) and b.rank(base) is not None:
        return (replace(stmt, value=value),)
    if not b.is_number(base) and not b.owned:
        raise NoBatchError("an operator in place on a tangent of unknown kind")
    alone = base.id not in b.numbers and base.id not in b.renamed
    if not b.is_number(base) and alone:
        return (replace(stmt, value=value),)
    if not b.is_number(base) and base.id in b.shadows:
        raise NoBatchError("an operator in place on a shadow of unknown kind")
    call = ir.Call(ir.OPERATORS[stmt.op], b.aligned((base, stmt.value)))
    return (ir.Assign(base, call, stmt.loc),)


def _into_container(b: Context, stmt: ir.Store) -> ir.Block:
    """A store into a list or dict: numbers take new values, arrays are written into."""
    if not isinstance(stmt, ir.AugAssign):
        return (replace(stmt, value=b.completed(stmt.value)),)
    assert stmt.index is not None
    found = item_kind(b.kind(stmt.base), b.kind(stmt.index))
    if isinstance(found, ir.Array) and not found.maybe_scalar:
        return (replace(stmt, value=stored(b, stmt.base, stmt.index, stmt.value)),)
    if not isinstance(found, ir.Scalar):
        raise NoBatchError("an operator in place on an adjoint of unknown kind")
    new = b.apply(ir.OPERATORS[stmt.op], b.item(stmt.base, stmt.index), stmt.value)
    return (ir.SetItem(stmt.base, stmt.index, new, loc=stmt.loc),)


# --- effects -------------------------------------------------------------------------------------

_ON_CONTAINERS = (Op.POP, Op.REVERSE, Op.CLEAR, Op.GET, Op.COPY_METHOD)


def _on_container(b: Context, call: ir.Call) -> ir.Call | None:
    """A list or dict of adjoints, or a method of one; what goes in has the axis."""
    if is_op(call, Op.MAKE_LIST, Op.MAKE_DICT):
        return on_companions(call, b.completed)
    if not is_op(call, Op.APPEND, Op.INSERT, *_ON_CONTAINERS):
        return None
    if not b.is_container(call.args[0]) or not b.has(call.args[0]):
        return None
    if not is_op(call, Op.APPEND, Op.INSERT) and any(map(b.has, call.args[1:])):
        return None
    return on_companions(call, b.completed)


def _effect(b: Context, stmt: ir.Effect) -> ir.Block:
    """A call for its effect."""
    call = stmt.rhs
    if not b.has(call):
        return (stmt,)
    if isinstance(call, ir.Opaque):
        raise NoBatchError("an expression that is kept as text reads an adjoint")
    method = _on_container(b, call)
    if method is not None:
        return (replace(stmt, rhs=method),)
    if is_op(call, Op.CHECK_ADJOINT):
        return (stmt,)
    if ufunc_method(call.fn) == "at" or (is_op(call, Op.ADD_AT) and b.is_array(call.args[0])):
        return _added_at(b, stmt, call)
    raise NoBatchError("a call is made for its effect on adjoints")


def _added_at(b: Context, stmt: ir.Effect, call: ir.Call) -> ir.Block:
    """`np.add.at(d, i, v)`, in which `i` may have the same place twice."""
    base, index, *values = call.args
    if b.has(index) or not isinstance(base, ir.Name) or base.id not in b.names:
        raise NoBatchError("an adjoint is added to a value without one")
    behind = index_behind(b, index) if b.is_array(base) else None
    if behind is None:
        return _each_store(b, stmt)
    new = (stored(b, base, index, v) for v in values)
    fn = call.fn if ufunc_method(call.fn) == "at" else np.add.at
    if isinstance(behind, ir.Tup):
        behind = ir.Tup(tuple(_outside_brackets(b, i) for i in behind.items))
    return (ir.Effect(ir.Call(fn, (base, behind, *new)), stmt.loc),)


def _outside_brackets(b: Context, item: ir.Atom) -> ir.Atom:
    """An item of an index, a slice as a call."""
    if not isinstance(item, ir.Slice):
        return item
    return b.apply(slice, *ir.parts(item)[: 1 if item == ir.ALL else 3])
