"""Adjoints of statements on containers, and of stores that cut off what is stored.

The adjoint of a list, tuple or dict is a container of the same structure with an adjoint at every
leaf (tuples become lists, so that their items can be stored).  A list that grows or shrinks has its
adjoint made at the start of the backward part, from the list as it is at the end.

Of an array that may hold whole numbers the dtype is not known: where it has no fractions, nothing
that is stored into it has a derivative, and the adjoint or tangent of its place is cleared.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping

from srcdiff import ir
from srcdiff.analysis.aliases import keeps_shape, may_be_dict
from srcdiff.analysis.facts import Facts
from srcdiff.errors import InternalError, UnsupportedError
from srcdiff.ir.builder import Builder, place_of
from srcdiff.ir.kinds import (
    UNKNOWN,
    Array,
    Dict,
    Kind,
    List,
    Scalar,
    Tuple,
    Unknown,
    inside,
    is_container,
    is_float,
    is_inexact_dtype,
    is_numeric,
    sure,
)
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.indexing import item_kind
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import arrays
from srcdiff.runtime.sequences import numbers, of_items, one_value
from srcdiff.runtime.trees import add_at, add_tree, copy_tree, zero_tree


def _keys(keys: Iterable[object]) -> list[ir.Atom]:
    return [ir.Const(k) if isinstance(k, int) else k for k in keys]  # type: ignore[misc]


def display_adjoint(
    target: ir.Name, items: tuple[ir.Atom, ...], keys: Iterable[object], facts: Facts, loc: ir.Loc
) -> ir.Block:
    """`t = (a, b)`: each item takes the adjoint of its place."""
    out: list[ir.Stmt] = []
    for key, item in zip(_keys(keys), items):
        for name, path in _leaves(item, (key,)):
            if name.id in facts.active:
                out += take(facts.adjoint(target.id), path, name, facts, loc)
    return tuple(out)


def _leaves(item: ir.Atom, path: tuple[ir.Atom, ...]) -> list[tuple[ir.Name, tuple[ir.Atom, ...]]]:
    """The names in a display and the keys that lead to each."""
    if isinstance(item, ir.Name):
        return [(item, path)]
    if isinstance(item, ir.Tup):
        return [x for k, sub in enumerate(item.items) for x in _leaves(sub, (*path, ir.Const(k)))]
    return []


def take(
    source: ir.Name, path: tuple[ir.Atom, ...], name: ir.Name, facts: Facts, loc: ir.Loc
) -> list[ir.Stmt]:
    """`d_name += source[k0][k1]`."""
    b = Builder(facts.fresh, loc)
    for key in path:
        source = b.item(source, key)
    return [*b.out, ir.Accum(facts.adjoint(name.id), source, name, loc)]


def element_adjoint(stmt: ir.Assign, call: ir.Call, facts: Facts) -> ir.Block:
    """`x = c[k]`: the place in the container's adjoint takes the adjoint of the element."""
    base, key = call.args
    if isinstance(base, ir.Tup):
        return _tuple_element_adjoint(stmt, base, key, facts)
    assert isinstance(base, ir.Name)
    d_base = facts.adjoint(base.id)
    d_target = facts.adjoint(stmt.target.id)
    made = ir.Demand(d_base, base, stmt.loc)
    if isinstance(key, ir.Slice):
        return (made, *_add_part(base, key, stmt, facts))
    if _is_resized_item(stmt.target.id, base.id, facts):
        copied = facts.fresh()
        copy = ir.Assign(copied, ir.Call(copy_tree, (d_target,)), stmt.loc)
        return (made, copy, ir.SetItem(d_base, key, copied, None, stmt.loc))
    return (made, *_add_at(d_base, key, d_target, stmt, facts))


def _is_resized_item(name: str, base: str, facts: Facts) -> bool:
    """Whether an item is taken once, and then changes its number of items or their shapes.

    The adjoint of the container may have been made when it was of another structure.
    """
    found = facts.aliases
    return name in found.taken.get(base, ()) and found.classes.get(name) in found.reshaped


def _add_part(base: ir.Name, part: ir.Slice, stmt: ir.Assign, facts: Facts) -> ir.Block:
    """`ys = xs[a:b]`: the adjoint of each item of the part is added at its place."""
    d_base, d_target = facts.adjoint(base.id), facts.adjoint(stmt.target.id)
    lines = Builder(facts.fresh, stmt.loc)
    start = ir.Const(0) if part.lower == ir.NONE else part.lower
    plain = part.step == ir.NONE and isinstance(start, ir.Const) and start.value >= 0
    places = None if plain else lines.item(lines.call(range, lines.call(len, base)), part)

    def add(inner: Builder, k: ir.Name) -> None:
        at: ir.Atom = k
        if places is not None:
            at = inner.item(places, k)
        elif start != ir.Const(0):
            at = inner.call(operator.add, k, start)
        value = inner.item(d_target, k)
        if _holds_numbers(facts.kinds[base.id]):
            inner.add(d_base, at, value)
        else:  # leaf by leaf
            inner.store(d_base, at, inner.call(add_tree, inner.item(d_base, at), value))

    lines.loop(lines.call(len, d_target), add)
    return tuple(lines.out)


def _holds_numbers(kind: Kind) -> bool:
    """Whether every item of a container is surely a number or array with a derivative."""
    items = inside(kind)
    return bool(items) and all(is_float(k) for k in items)


def concatenation_adjoint(stmt: ir.Assign, call: ir.Call, facts: Facts) -> ir.Block:
    """`c = a + b`: each takes the adjoints of its own items."""
    one, two = call.args
    source = facts.adjoint(stmt.target.id)
    counts = _count(one, facts), _count(two, facts)
    lines = Builder(facts.fresh, stmt.loc)
    for atom in call.args:
        if isinstance(atom, ir.Name) and not is_container(facts.kinds.get(atom.id, UNKNOWN)):
            lines.assign(source, ir.Call(of_items, (source, atom, *place_of(stmt.loc))))
    split: ir.Atom
    if counts[0] is not None:
        split = ir.Const(counts[0])
    elif counts[1]:
        split = ir.Const(-counts[1])
    else:
        split = lines.call(len, one)
    places = ir.Slice(ir.NONE, split, ir.NONE), ir.Slice(split, ir.NONE, ir.NONE)
    for atom, place, count, first in zip(call.args, places, counts, (0, -(counts[1] or 0))):
        if isinstance(atom, ir.Tup):
            keys = range(first, first + (count or 0))
            lines.out += display_adjoint(stmt.target, atom.items, keys, facts, stmt.loc)
        elif isinstance(atom, ir.Name) and atom.id in facts.active:
            piece = lines.item(source, place)
            lines.out.append(ir.Accum(facts.adjoint(atom.id), piece, atom, stmt.loc))
    return tuple(lines.out)


def checked_sum(stmt: ir.Assign, call: ir.Call, facts: Facts) -> ir.Block:
    """A check that `+` or `*` of what may be lists made no list: its adjoint would be another.

    A list times a float is none, though its adjoint may have been added to that of one.
    """
    joins = is_op(call, Op.ADD, Op.MUL) and facts.sampled
    if not joins or not may_join(call, facts.kinds):
        return ()
    by_float = any(is_float(atom_kind(a, facts.kinds)) for a in call.args)
    check = numbers if by_float and is_op(call, Op.MUL) else one_value
    adjoint = facts.adjoint(stmt.target.id)
    checked = ir.Call(check, (adjoint, *place_of(stmt.loc)))
    if stmt.target.id in facts.shadowed:  # a shadow stays what the forward part has made
        return (ir.Effect(checked, stmt.loc),)
    return (ir.Assign(adjoint, checked, stmt.loc),)


def may_join(call: ir.Call, kinds: Mapping[str, Kind]) -> bool:
    """Whether operands may be lists for all that is known."""
    found = [atom_kind(a, kinds) for a in call.args]
    unknown = [k for k in found if not is_numeric(k) and not is_container(k)]
    rest = [k for k in found if is_numeric(k)]
    counts = is_op(call, Op.MUL) and all(isinstance(k, Scalar) for k in rest)
    return bool(unknown) and (counts or not rest)


def _count(atom: ir.Atom, facts: Facts) -> int | None:
    """The number of items of an operand of a concatenation, None if unknown."""
    if isinstance(atom, ir.Tup):
        return len(atom.items)
    kind = facts.kinds.get(atom.id) if isinstance(atom, ir.Name) else None
    items = kind.items if isinstance(kind, (List, Tuple)) else None
    return None if items is None else len(items)


def _add_at(
    d_base: ir.Name, key: ir.Atom, value: ir.Name, stmt: ir.Assign, facts: Facts
) -> ir.Block:
    """`d_base[key] += value`, or leaf by leaf where the element is itself a container."""
    if _may_repeat(stmt, key, facts):
        return (ir.Effect(ir.Call(add_at, (d_base, key, value)), stmt.loc),)
    kind = facts.kinds.get(stmt.target.id)
    # Of an element that may be an integer there may be no adjoint.
    known = getattr(kind, "dtype", None) is not None
    if kind is not None and known and is_numeric(kind) and not _holds_none(stmt, facts):
        return (ir.SetItem(d_base, key, value, "+", stmt.loc),)
    b = Builder(facts.fresh, stmt.loc)
    b.store(d_base, key, b.apply(add_tree, b.item(d_base, key), value))
    return tuple(b.out)


def _may_repeat(stmt: ir.Assign, key: ir.Atom, facts: Facts) -> bool:
    """Whether the base may be an array and the key an array that selects an element twice."""
    base = stmt.rhs.args[0] if isinstance(stmt.rhs, ir.Call) else None
    known = facts.kinds.get(base.id, UNKNOWN) if isinstance(base, ir.Name) else None
    parts = key.items if isinstance(key, ir.Tup) else (key,)
    kinds = [facts.kinds.get(k.id, UNKNOWN) for k in parts if isinstance(k, ir.Name)]
    kinds += [UNKNOWN for k in parts if isinstance(k, ir.Ref)]
    maybe = known is not None and isinstance(sure(known), (Unknown, Array))
    return maybe and any(isinstance(sure(k), (Unknown, Array, List)) for k in kinds)


def _holds_none(stmt: ir.Assign, facts: Facts) -> bool:
    """Whether a container has items without a derivative beside those that have one."""
    base = stmt.rhs.args[0] if isinstance(stmt.rhs, ir.Call) else None
    kind = facts.kinds.get(base.id) if isinstance(base, ir.Name) else None
    known = [getattr(k, "dtype", None) for k in inside(kind)]
    return any(d is not None and not is_inexact_dtype(d) for d in known)


def _tuple_element_adjoint(stmt: ir.Assign, base: ir.Tup, key: ir.Atom, facts: Facts) -> ir.Block:
    """`x = (a, b)[k]` with a literal k."""
    if not isinstance(key, ir.Const):
        raise InternalError("a display that is indexed by a variable has no name", stmt)
    item = base.items[key.value]
    if not isinstance(item, ir.Name) or item.id not in facts.active:
        return ()
    return (ir.Accum(facts.adjoint(item.id), facts.adjoint(stmt.target.id), item, stmt.loc),)


def store_adjoint(stmt: ir.SetItem, facts: Facts) -> ir.Block:
    """`c[k] = v`: v takes the adjoint of its place, which becomes zero."""
    if stmt.op is not None:
        raise InternalError("an operator in place on an item of a container is left", stmt)
    assert stmt.index is not None
    if isinstance(stmt.index, ir.Slice):
        raise _unsupported("a store into a slice of a dict", stmt.loc)
    d_base = facts.adjoint(stmt.base.id)
    out: list[ir.Stmt] = [ir.Demand(d_base, stmt.base, stmt.loc)]
    piece, zero = facts.fresh(), facts.fresh()
    out.append(ir.Assign(piece, ir.Call(operator.getitem, (d_base, stmt.index)), stmt.loc))
    like = piece
    if not keeps_shape(stmt, facts.kinds) or _may_become_complex(stmt, facts):
        like = facts.fresh()
        out += [ir.Undo(stmt.loc), ir.Assign(like, _old_item(stmt, facts), stmt.loc)]
    out.append(ir.Assign(zero, ir.Call(zero_tree, (like,)), stmt.loc))
    out.append(ir.SetItem(d_base, stmt.index, zero, None, stmt.loc))
    for name, path in _leaves(stmt.value, ()):
        if name.id in facts.active:
            out += take(piece, path, name, facts, stmt.loc)
    return tuple(out)


def check_items(stmt: ir.SetItem, facts: Facts) -> None:
    """Refuse items for a part of what may be a list, whose length they change."""
    items = isinstance(stmt.index, ir.Slice) and is_container(atom_kind(stmt.value, facts.kinds))
    if items and not is_numeric(atom_kind(stmt.base, facts.kinds)):
        raise UnsupportedError(
            f"items are stored into a part of {ir.said(stmt.base.id)}, which may be an array or a "
            "list",
            stmt.loc,
            remedy="Store an array, `np.array([...])`, or give an example of the arguments.",
        )


def _may_become_complex(stmt: ir.SetItem, facts: Facts) -> bool:
    """Whether what is stored may be complex where what was at its place is real."""
    kinds = facts.kinds
    return facts.complex and not is_float(_item_kind(stmt, kinds))


def _item_kind(stmt: ir.SetItem, kinds: Mapping[str, Kind]) -> Kind:
    """What is known of the items at the place of a store."""
    base = kinds.get(stmt.base.id)
    key = UNKNOWN if stmt.index is None else atom_kind(stmt.index, kinds)
    return UNKNOWN if base is None else item_kind(base, key)


def _old_item(stmt: ir.SetItem, facts: Facts) -> ir.Call:
    """What was at the place of a store: None where there was no such key."""
    assert stmt.index is not None
    if may_be_dict(atom_kind(stmt.base, facts.kinds), atom_kind(stmt.index, facts.kinds)):
        return ir.Call(ir.Method("get"), (stmt.base, stmt.index))
    return ir.Call(operator.getitem, (stmt.base, stmt.index))


def change_adjoint(stmt: ir.Effect, call: ir.Call, facts: Facts) -> ir.Block:
    """`xs.append(v)`, `xs.insert(k, v)`: the item of the list's adjoint is taken off, for v."""
    assert isinstance(call.fn, ir.Method)
    base, *rest = call.args
    if call.fn.name not in ("append", "insert", "reverse") or not isinstance(base, ir.Name):
        raise _unsupported(f"the method `{call.fn.name}` on a container of active values", stmt.loc)
    if base.id not in facts.active:
        return ()
    d_base = facts.adjoint(base.id)
    if call.fn.name == "reverse":
        return (ir.Effect(ir.Call(call.fn, (d_base,)), stmt.loc),)
    piece = facts.fresh()
    pop = ir.Assign(piece, ir.Call(ir.Method("pop"), (d_base, *rest[:-1])), stmt.loc)
    out: list[ir.Stmt] = [pop]
    for name, path in _leaves(rest[-1], ()):
        if name.id in facts.active:
            out += take(piece, path, name, facts, stmt.loc)
    return tuple(out)


def pop_adjoint(stmt: ir.Assign, facts: Facts) -> ir.Block:
    """`v = xs.pop()`: the adjoint of v is put back into the adjoint of the list or dict."""
    call = stmt.rhs
    assert isinstance(call, ir.Call)
    base = call.args[0]
    assert isinstance(base, ir.Name)
    if base.id not in facts.active:  # what is popped may be written into
        active = stmt.target.id in facts.active
        return (ir.Reset(facts.adjoint(stmt.target.id), stmt.loc),) if active else ()
    d_base = facts.adjoint(base.id)
    if stmt.target.id not in facts.active:
        zero = facts.fresh()
        made = ir.Assign(zero, ir.Call(zero_tree, (stmt.target,)), stmt.loc)
        return (made, put_back(stmt, d_base, zero, facts))
    d_target = facts.adjoint(stmt.target.id)
    return (
        ir.Demand(d_target, stmt.target, stmt.loc),
        put_back(stmt, d_base, d_target, facts),
        ir.Reset(d_target, stmt.loc),
    )


def put_back(stmt: ir.Assign, base: ir.Name, item: ir.Name, facts: Facts) -> ir.Stmt:
    """The statement that undoes `v = xs.pop()`, on a list or dict of the same structure."""
    call = stmt.rhs
    assert isinstance(call, ir.Call)
    place = call.args[1:]
    owner = call.args[0]
    kind = facts.kinds.get(owner.id) if isinstance(owner, ir.Name) else None
    if place and isinstance(kind, Dict):
        return ir.SetItem(base, place[0], item, None, stmt.loc)
    name = "insert" if place else "append"
    return ir.Effect(ir.Call(ir.Method(name), (base, *place, item)), stmt.loc)


_RESIZING = ("append", "insert", "pop", "reverse")


def resized(block: ir.Block) -> frozenset[str]:
    """The lists and dicts that a block puts items into or takes items out of."""
    found: set[str] = set()
    for stmt in ir.walk(block):
        call = ir.call_of(stmt)
        fn = None if call is None else call.fn
        if isinstance(fn, ir.Method) and fn.name in _RESIZING:
            found.update(ir.names(call.args[0]))  # type: ignore[union-attr]
    return frozenset(found)


def _unsupported(what: str, loc: ir.Loc) -> UnsupportedError:
    return UnsupportedError(
        f"{what} is not supported yet",
        loc,
        remedy="Use append, pop, insert and items read by position, or an array.",
    )


# --- stores into arrays that may hold whole numbers, which cut off what is stored ----------------


def cut_adjoint(
    base: ir.Name, index: ir.Atom | None, stored: Iterable[str], facts: Facts, loc: ir.Loc
) -> ir.Block:
    """What clears the adjoint of a place where what is `stored` was cut."""
    if not _may_cut(base, stored, facts):
        return ()
    adjoint = facts.adjoint(base.id)
    return (ir.Demand(adjoint, base, loc), *_cleared(base, adjoint, index, facts, loc))


def cut_tangent(
    base: ir.Name, index: ir.Atom | None, stored: Iterable[str], facts: Facts, loc: ir.Loc
) -> ir.Block:
    """What clears the tangent of a place where what is `stored` was cut."""
    if not _may_cut(base, stored, facts):
        return ()
    return _cleared(base, facts.adjoint(base.id), index, facts, loc)


def _may_cut(base: ir.Name, stored: Iterable[str], facts: Facts) -> bool:
    """Whether values with a derivative go into what may be an array of whole numbers."""
    kind = sure(facts.kinds.get(base.id, UNKNOWN))
    unknown = kind == UNKNOWN or (isinstance(kind, Array) and kind.dtype is None)
    others = (n for n in stored if n != base.id)
    return unknown and base.id in facts.active and any(n in facts.active for n in others)


def _cleared(
    base: ir.Name, place: ir.Name, index: ir.Atom | None, facts: Facts, loc: ir.Loc
) -> ir.Block:
    test = facts.fresh("_t")
    at = ir.Const(...) if index is None else index
    clear = ir.SetItem(place, at, ir.Const(0.0), None, loc)
    ask = ir.Assign(test, ir.Call(arrays.is_discrete, (base,), text="is_discrete"), loc)
    return (ask, ir.If(test, (clear,), (), loc))
