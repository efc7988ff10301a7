"""A list or dict display with what the statements behind it put into its places.

Takes the statements up to a store and the kinds; gives the display that does both.  What stands in
between does not look at the container, and binds nothing that the display reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Union

import numpy as np

from srcdiff import ir
from srcdiff.analysis.subscripts import range_bounds
from srcdiff.ir.frozen import replace
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array

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


def plain_zeros(like: ir.Atom, kind: ir.Kind | None, device: bool) -> ir.Rhs | None:
    """Zeros in the form of a number, an array, or a list of a few numbers; None for others."""
    if is_number(kind, device):
        return ir.Const(0.0)
    if is_array(kind) and ir.is_float(kind):
        return ir.Call(np.zeros_like, (like,))
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


# --- lists from which all is taken that was put into them ----------------------------------------


_Turns = tuple[object, ...]  # from where to where each loop around a statement counts, or None
_Steady = Mapping[str, Union[ir.Rhs, None]]  # what has one value, and what that is


def emptied(function: ir.Function) -> frozenset[str]:
    """The lists that are empty where the adjoints begin, which ask for their form alone.

    They are made empty, filled in loops, and emptied in loops of as many turns.
    """
    cut = next((k for k, s in enumerate(function.body) if type(s) is ir.Backward), 0)
    counts = ir.binding_counts(function, function.params)
    made = (s for s in function.body[:cut] if type(s) is ir.Assign and counts[s.target.id] == 1)
    steady: dict[str, ir.Rhs | None] = {s.target.id: s.rhs for s in made}
    steady.update({p.name: None for p in function.params if counts[p.name] == 1})
    does: dict[str, list[tuple[Op | None, _Turns]]] = {}
    for stmt, turns in _in_turns(function.body[:cut], (), steady):
        for name, op in _done(stmt):
            does.setdefault(name, []).append((op, turns))
    later = (s for s in ir.walk(function.body[cut:]) if not is_op(ir.call_of(s), Op.ZERO_TREE))
    others = {n for s in later for n in ir.itself_mentions(s)}
    return frozenset(n for n, found in does.items() if n not in others and _is_emptied(found))


def _is_emptied(does: list[tuple[Op | None, _Turns]]) -> bool:
    """Whether a list is made, filled and emptied, and nothing else is done with it."""
    if [op for op, _ in does] != [Op.MAKE_LIST, Op.APPEND, Op.POP]:
        return False
    (_, made), (_, filled), (_, taken) = does
    return not made and filled == taken and None not in filled


def _in_turns(block: ir.Block, turns: _Turns, steady: _Steady) -> Iterator[tuple[ir.Stmt, _Turns]]:
    """Every statement, with the loops around it by how they count."""
    for stmt in block:
        yield stmt, turns
        for inner in () if type(stmt) in ir.PLAIN else ir.blocks(stmt):
            yield from _in_turns(inner, (*turns, _count(stmt, steady)), steady)


def _done(stmt: ir.Stmt) -> Iterator[tuple[str, Op | None]]:
    """What a statement does with names: it makes, fills or empties a list, or None."""
    call = ir.call_of(stmt)
    op = next((op for op, n in _PARTS.items() if is_op(call, op) and len(call.args) == n), None)
    mine = ir.writes(stmt) if op is Op.MAKE_LIST else ()
    if op in (Op.APPEND, Op.POP) and call is not None:
        mine = ir.names(call.args[0])
    yield from ((name, op) for name in mine)
    yield from ((name, None) for name in ir.itself_mentions(stmt).difference(mine))


_PARTS = {Op.MAKE_LIST: 0, Op.POP: 1, Op.APPEND: 2}


def _count(stmt: ir.Stmt, steady: _Steady) -> object:
    """From where to where a loop counts, in whichever direction; None of what is no such loop."""
    if type(stmt) is not ir.For or stmt.stop is not None or not is_op(stmt.iter, Op.RANGE):
        return None
    start, stop, step = range_bounds(stmt.iter)
    one, two = _sum(start, steady), _sum(stop, steady)
    if one is None or two is None or step not in (ir.Const(1), ir.Const(-1)):
        return None
    down = step == ir.Const(-1)
    return ((two[0], two[1] + 1), (one[0], one[1] + 1)) if down else (one, two)


def _sum(atom: ir.Atom, steady: _Steady) -> tuple[str, int] | None:
    """An integer as a name that has one value, and a number."""
    if type(atom) is ir.Const and type(atom.value) is int:
        return "", atom.value
    if type(atom) is not ir.Name or atom.id not in steady:
        return None
    rhs = steady[atom.id]
    if is_op(rhs, Op.ADD, Op.SUB) and type(rhs.args[1]) is ir.Const:
        before, number = _sum(rhs.args[0], steady), rhs.args[1].value
        if before is not None and type(number) is int:
            return before[0], before[1] + (number if is_op(rhs, Op.ADD) else -number)
    return atom.id, 0
