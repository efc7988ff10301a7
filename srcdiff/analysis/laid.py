"""Arrays whose order in memory decides what is written into.

`y.ravel()` is a view of what lies in C order and a copy of anything else.  Where somebody writes
into one of the two while the other is used, nobody may change how `y` lies in memory: no rewriting
of what it is computed from, and a tangent beside it has to lie as it does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import FunctionType

import numpy as np

from srcdiff import ir
from srcdiff.analysis.links import groups, is_marked, links_of, written_classes
from srcdiff.analysis.shadowed import as_copies, may_copy
from srcdiff.ir.kinds import UNKNOWN, Kind, rank_of
from srcdiff.primitives.effects import is_pure, mutated_args
from srcdiff.primitives.views import is_sure_view, makes_c_order
from srcdiff.runtime import layout

Kinds = Mapping[str, Kind]

_BY_ORDER = (np.ascontiguousarray, np.asfortranarray, np.require)


def laid(function: ir.Function, kinds: Kinds) -> frozenset[str]:
    """The arrays of which it matters whether a part that is reshaped is a view."""
    made = list(_unsure(function, kinds))
    if not made:
        return frozenset()
    function = _with_stores(function)
    classes = written_classes(function, kinds)
    unseen = as_copies(function, kinds, classes, {target for target, _ in made})
    seen = (classes.keys() - unseen) | _leaving(function, kinds)
    return frozenset(n for target, names in made if target in seen for n in names)


def _with_stores(function: ir.Function) -> ir.Function:
    """The function with operators in place, which may be stores, as stores."""

    def one(stmt: ir.Stmt) -> ir.Block:
        if not isinstance(stmt, ir.Assign) or not is_marked(stmt.rhs):
            return (ir.map_blocks(stmt, block),)
        base, value = stmt.rhs.args  # type: ignore[union-attr]
        store = ir.SetItem(base, None, value, stmt.rhs.text[:-1], stmt.loc)  # type: ignore[union-attr, index, arg-type]
        return (store, replace(stmt, rhs=base))

    def block(statements: ir.Block) -> ir.Block:
        return tuple(s for stmt in statements for s in one(stmt))

    return replace(function, body=block(function.body))


def _leaving(function: ir.Function, kinds: Kinds) -> set[str]:
    """What is returned beside something that it may share memory with, to be written into then."""
    group = groups(links_of(function.body, kinds, False))
    returned = {n for s in function.body if isinstance(s, ir.Return) for n in ir.reads(s)}
    count = Counter(group[n] for n in returned if n in group)
    return {n for n in returned if count[group.get(n, n)] > 1}


def laid_classes(function: ir.Function, kinds: Kinds) -> frozenset[str]:
    """The names that may share memory with such an array."""
    bases = laid(function, kinds)
    if not bases:
        return frozenset()
    classes = written_classes(function, kinds)
    mine = {classes[n] for n in bases if n in classes}
    return bases | {n for n, owner in classes.items() if owner in mine}


def laid_origins(
    function: ir.Function, kinds: Kinds, lent: Iterable[str] = ()
) -> frozenset[str]:
    """Such arrays, and `lent` ones, and all that they are computed from, whose order they have."""
    found = {*laid(function, kinds), *lent, *_given_away(function, kinds)}
    sources = list(_sources(function.body)) if found else []
    while True:
        more = {n for target, names in sources if target in found for n in names} - found
        if not more:
            return frozenset(found)
        found |= more


def _given_away(function: ir.Function, kinds: Kinds) -> Iterator[str]:
    """What functions are given that nobody knows, which may reshape it and write into it."""
    for stmt in ir.walk(function.body):
        call = ir.call_of(stmt)
        if call is not None and isinstance(call.fn, FunctionType) and not is_pure(call.fn):
            yield from (n for a in mutated_args(call, kinds) for n in ir.names(a))


def _sources(block: ir.Block) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is bound, and what may say in which order that lies."""
    for stmt in ir.walk(block):
        if isinstance(stmt, ir.Assign):
            yield stmt.target.id, _orders(stmt.rhs)
        else:
            for name in ir.writes(stmt):
                yield name, tuple(ir.reads(stmt))


def _orders(rhs: ir.Rhs) -> tuple[str, ...]:
    """The names in an expression that may say in which order its value lies."""
    if isinstance(rhs, ir.Call) and makes_c_order(rhs):
        return ()
    if isinstance(rhs, ir.Call) and rhs.fn is layout.laid_like:
        return ir.names(rhs.args[1])
    return ir.names(rhs)


def _unsure(function: ir.Function, kinds: Kinds) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is made of an array, and may be a view or a copy by how that lies in memory."""
    for stmt in ir.walk(function.body):
        call = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if isinstance(stmt, ir.Assign) and isinstance(call, ir.Call) and _may_copy(call):
            if not _is_flat(call.args[0], kinds) and not is_sure_view(call, kinds, function):
                yield stmt.target.id, ir.names(call.args[0])


def _may_copy(call: ir.Call) -> bool:
    """Whether the order of the memory decides between a view and a copy."""
    if not call.args or isinstance(call.fn, (ir.Attr, ir.Name, ir.Derived)):
        return False
    return may_copy(call) or (not isinstance(call.fn, ir.Method) and call.fn in _BY_ORDER)


def _is_flat(base: ir.Atom, kinds: Kinds) -> bool:
    """Whether an array certainly has one axis at most."""
    rank = rank_of(kinds.get(base.id, UNKNOWN)) if isinstance(base, ir.Name) else 0
    return rank is not None and rank < 2
