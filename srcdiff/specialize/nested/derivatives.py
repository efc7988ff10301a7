"""Derivatives inside of differentiated functions: `srcdiff.grad(f)(x)` in the source.

Takes a function and the kinds of its names; returns it with every call of a derivative replaced by
a call of the Python function that is generated for the kinds of its arguments, which `inline` then
treats like any other.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from srcdiff import ir
from srcdiff.ir.frozen import replace
from srcdiff.kinds.lattice import kind_of
from srcdiff.runtime.arrays import stop_gradient
from srcdiff.runtime.service import is_derivative


def is_transform(fn: Any) -> bool:
    """Whether a callee makes a derivative (`srcdiff.grad`)."""
    return bool(getattr(fn, "__srcdiff_transform__", False))


def makes_derivative(rhs: ir.Rhs | None) -> TypeGuard[ir.Call]:
    """Whether an expression makes a derivative or a Jacobian."""
    made = rhs.fn if isinstance(rhs, ir.Call) else None
    return is_transform(made) or hasattr(made, "__srcdiff_matrix__")


def generated(
    function: ir.Function, kinds: Mapping[str, ir.Kind], by_tangent: bool = False
) -> ir.Function:
    """The function with calls of derivatives as calls of generated functions.

    With `by_tangent` those of gradients stay calls, where they can.
    """
    fresh, arrays = ir.Fresh(ir.all_names(function)), function.target.arrays

    def one(stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        call = ir.call_of(stmt)
        if call is None or not is_derivative(call.fn):
            return stmt
        fn: Any = call.fn
        kept = fn.one_call(call, kinds, arrays) if by_tangent else None
        if kept is not None and isinstance(stmt, ir.Assign):
            return tuple(_kept(stmt, kept[0], kept[1], fresh))
        stmt = ir.rebuilt(stmt, rhs=_specialised(call, kinds, arrays))
        if not isinstance(stmt, ir.Assign) or not is_detached(call.fn):
            return stmt
        held = fresh("_" + stmt.target.id.lstrip("_"))
        stopped = replace(stmt, rhs=ir.Call(stop_gradient, (held,)))
        return (replace(stmt, target=held), stopped)

    return ir.replaced_in(function, one)


def has_derivatives(function: ir.Function) -> bool:
    """Whether a function calls a derivative."""
    return any(is_derivative(call.fn) for call in ir.calls(function))


def detached(function: ir.Function) -> ir.Function:
    """The function with its result as a constant."""
    last = function.body[-1]
    assert isinstance(last, ir.Return)
    held = ir.Fresh(ir.all_names(function))("_held")
    value = ir.Assign(held, ir.Call(stop_gradient, (last.value,)), last.loc)
    return ir.rebuilt(function, body=(*function.body[:-1], value, replace(last, value=held)))


def is_detached(fn: Any) -> bool:
    """Whether the result of a derivative is to be a constant (`create_graph=False`)."""
    return getattr(getattr(fn, "options", None), "create_graph", None) is False


def _kept(
    stmt: ir.Assign, call: ir.Call, places: int | tuple[int, ...], fresh: ir.Fresh
) -> Iterator[ir.Stmt]:
    """A statement with another call, of whose result it takes an item or several."""
    whole = fresh()
    yield ir.Assign(whole, call, stmt.loc)
    if isinstance(places, int):
        yield replace(stmt, rhs=ir.Call(operator.getitem, (whole, ir.Const(places))))
        return
    items = [fresh() for _ in places]
    for item, place in zip(items, places):
        yield ir.Assign(item, ir.Call(operator.getitem, (whole, ir.Const(place))), stmt.loc)
    yield replace(stmt, rhs=ir.Tup(tuple(items)))


def _specialised(call: ir.Call, kinds: Mapping[str, ir.Kind], arrays: str) -> ir.Call:
    """A call of a derivative as a call of the function for these kinds."""
    fn: Any = call.fn
    signature: inspect.Signature = fn.unbound.call_signature()
    call = replace(call, kwargs=tuple(kv for kv in call.kwargs if kv != (ir.SEED, ir.NONE)))
    asked = (kv for kv in call.kwargs if kv[0] != ir.SEED or ir.SEED in signature.parameters)
    kwargs = {str(k): v for k, v in asked}
    args = (*(ir.Ref(type(x).__name__.lower(), x) for x in fn.receiver), *call.args)
    call = replace(call, args=args)
    bound = signature.bind(*args, **kwargs)
    found = {n: _kind(a, kinds) for n, a in bound.arguments.items()}
    made = fn.unbound.for_kinds(found, arrays)
    names: Mapping[str | None, str] = fn.unbound.keywords(made)
    renamed = tuple((names.get(k, k), v) for k, v in call.kwargs)
    return replace(call, fn=made, kwargs=renamed, text=None)


def _kind(atom: Any, kinds: Mapping[str, ir.Kind]) -> ir.Kind:
    """The kind of an argument, or of all that `*args` takes."""
    if isinstance(atom, tuple):
        items = [_items(a, kinds) for a in atom]
        known = tuple(k for some in items for k in some or ())
        return ir.UNKNOWN if None in items else ir.Tuple(known)
    if isinstance(atom, ir.Name):
        return kinds.get(atom.id, ir.UNKNOWN)
    return kind_of(atom.value, "x") if isinstance(atom, (ir.Const, ir.Ref)) else ir.UNKNOWN


def _items(atom: Any, kinds: Mapping[str, ir.Kind]) -> tuple[ir.Kind, ...] | None:
    """The kinds of the arguments that an atom stands for; None if it is not known how many."""
    if not isinstance(atom, ir.Star):
        return (_kind(atom, kinds),)
    kind = _kind(atom.value, kinds)
    return kind.items if isinstance(kind, ir.Tuple) else None


def seed_free(function: ir.Function) -> ir.Function:
    """The function without a variable of the name of the cotangent, which is a parameter later."""
    if ir.SEED not in ir.bound(function):
        return function
    new = ir.Fresh(ir.all_names(function))(ir.SEED).id
    return ir.rebuilt(function, body=ir.rename(function.body, {ir.SEED: new}))


def without_seed(function: ir.Function) -> ir.Function:
    """A generated function with its cotangent left at the default."""
    seed = next(p for p in function.params if p.name == ir.SEED)
    assert seed.default is not None
    local = ir.Fresh(ir.all_names(function))("_seed")
    start = ir.Assign(local, seed.default, function.loc)
    params = tuple(p for p in function.params if p is not seed)
    body = (start, *ir.rename(function.body, {ir.SEED: local.id}))
    # The inner comment `# backward` would stand in the middle of the outer forward part.
    return replace(function, params=params, body=body, comments={})
