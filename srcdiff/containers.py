"""Adjoints of statements on lists, tuples and dicts: containers of the same structure.

The adjoint of a container is a container with an adjoint at every leaf (tuples become lists, so
that their items can be stored).  A list that grows or shrinks has its adjoint made at the start of
the backward part, from the list as it is at the end.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable

from srcdiff import ir
from srcdiff.analyses.kind_types import is_numeric
from srcdiff.errors import UnsupportedError
from srcdiff.facts import Facts
from srcdiff.trees import add_tree, zero_tree


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
    out: list[ir.Stmt] = []
    for key in path:
        piece = facts.fresh()
        out.append(ir.Assign(piece, ir.Call(operator.getitem, (source, key)), loc))
        source = piece
    return [*out, ir.Accum(facts.adjoint(name.id), source, name, loc)]


def element_adjoint(stmt: ir.Assign, call: ir.Call, facts: Facts) -> ir.Block:
    """`x = c[k]`: the place in the container's adjoint takes the adjoint of the element."""
    base, key = call.args
    if isinstance(base, ir.Tup):
        return _tuple_element_adjoint(stmt, base, key, facts)
    assert isinstance(base, ir.Name)
    d_base = facts.adjoint(base.id)
    d_target = facts.adjoint(stmt.target.id)
    return (
        ir.Demand(d_base, base, stmt.loc),
        *_add_at(d_base, key, d_target, stmt, facts),
    )


def _add_at(
    d_base: ir.Name, key: ir.Atom, value: ir.Name, stmt: ir.Assign, facts: Facts
) -> ir.Block:
    """`d_base[key] += value`, or leaf by leaf where the element is itself a container."""
    kind = facts.kinds.get(stmt.target.id)
    # Of an element that may be an integer there may be no adjoint.
    if kind is not None and is_numeric(kind) and getattr(kind, "dtype", None) is not None:
        return (ir.SetItem(d_base, key, value, "+", stmt.loc),)
    old, new = facts.fresh(), facts.fresh()
    return (
        ir.Assign(old, ir.Call(operator.getitem, (d_base, key)), stmt.loc),
        ir.Assign(new, ir.Call(add_tree, (old, value)), stmt.loc),
        ir.SetItem(d_base, key, new, None, stmt.loc),
    )


def _tuple_element_adjoint(
    stmt: ir.Assign, base: ir.Tup, key: ir.Atom, facts: Facts
) -> ir.Block:
    """`x = (a, b)[k]` with a literal k."""
    if not isinstance(key, ir.Const):
        raise _unsupported("indexing a tuple display by a variable", stmt.loc)
    item = base.items[key.value]
    if not isinstance(item, ir.Name) or item.id not in facts.active:
        return ()
    return (ir.Accum(facts.adjoint(item.id), facts.adjoint(stmt.target.id), item, stmt.loc),)


def store_adjoint(stmt: ir.SetItem, facts: Facts) -> ir.Block:
    """`c[k] = v`: v takes the adjoint of its place, which becomes zero."""
    if stmt.op is not None:
        raise _unsupported("an in-place operator on an element of a container", stmt.loc)
    assert stmt.index is not None
    d_base = facts.adjoint(stmt.base.id)
    out: list[ir.Stmt] = [ir.Demand(d_base, stmt.base, stmt.loc)]
    piece, zero = facts.fresh(), facts.fresh()
    out.append(ir.Assign(piece, ir.Call(operator.getitem, (d_base, stmt.index)), stmt.loc))
    out.append(ir.Assign(zero, ir.Call(zero_tree, (piece,)), stmt.loc))
    out.append(ir.SetItem(d_base, stmt.index, zero, None, stmt.loc))
    if isinstance(stmt.value, ir.Name) and stmt.value.id in facts.active:
        out.append(ir.Accum(facts.adjoint(stmt.value.id), piece, stmt.value, stmt.loc))
    return tuple(out)


def append_adjoint(stmt: ir.Effect, call: ir.Call, facts: Facts) -> ir.Block:
    """`xs.append(v)`: the last item of the list's adjoint is taken off, for v."""
    assert isinstance(call.fn, ir.Method)
    base = call.args[0]
    if call.fn.name != "append" or not isinstance(base, ir.Name):
        raise _unsupported(f"the method `{call.fn.name}` on a list of active values", stmt.loc)
    if base.id not in facts.active:
        return ()
    piece = facts.fresh()
    pop = ir.Assign(piece, ir.Call(ir.Method("pop"), (facts.adjoint(base.id),)), stmt.loc)
    out: list[ir.Stmt] = [pop]
    for name, path in _leaves(call.args[1], ()):
        if name.id in facts.active:
            out += take(piece, path, name, facts, stmt.loc)
    return tuple(out)


def pop_adjoint(stmt: ir.Assign, facts: Facts) -> ir.Block:
    """`v = xs.pop()`: the adjoint of v is appended to the list's adjoint."""
    call = stmt.rhs
    assert isinstance(call, ir.Call)
    base = call.args[0]
    if not isinstance(base, ir.Name) or base.id not in facts.active:
        return ()
    if len(call.args) > 1:
        raise _unsupported("`pop` with a position on a container of active values", stmt.loc)
    d_base = facts.adjoint(base.id)
    if stmt.target.id not in facts.active:

        zero = facts.fresh()
        return (
            ir.Assign(zero, ir.Call(zero_tree, (stmt.target,)), stmt.loc),
            ir.Effect(ir.Call(ir.Method("append"), (d_base, zero)), stmt.loc),
        )
    d_target = facts.adjoint(stmt.target.id)
    return (
        ir.Demand(d_target, stmt.target, stmt.loc),
        ir.Effect(ir.Call(ir.Method("append"), (d_base, d_target)), stmt.loc),
        ir.Reset(d_target, stmt.loc),
    )


def resized(block: ir.Block) -> frozenset[str]:
    """The lists that a block appends to or pops from."""
    found: set[str] = set()
    for stmt in ir.walk(block):
        rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
        if isinstance(rhs, ir.Call) and rhs.fn in (ir.Method("append"), ir.Method("pop")):
            found.update(ir.names(rhs.args[0]))
    return frozenset(found)


def _unsupported(what: str, loc: ir.Loc) -> UnsupportedError:
    return UnsupportedError(
        f"{what} is not supported yet",
        loc,
        remedy="Use lists with append, pop and items read by position, or an array.",
    )
