"""Looking at nodes: what they read and write, and what is inside of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from srcdiff.ir.nodes import (
    Accum,
    Assign,
    Atom,
    Block,
    Call,
    Comment,
    Const,
    Demand,
    Effect,
    For,
    Function,
    If,
    Name,
    Opaque,
    Pair,
    Permute,
    Ref,
    Reset,
    Return,
    Rhs,
    SetItem,
    Slice,
    Star,
    Stmt,
    Tup,
    Undo,
    Verbatim,
    While,
)


def atoms(node: Rhs | None) -> Iterator[Atom]:
    """Every atom of an atom or right-hand side, inner ones included."""
    if node is None:
        return
    if isinstance(node, Call):
        if type(node.fn) is Name:
            yield node.fn
        for item in (*node.args, *[v for _, v in node.kwargs]) if node.kwargs else node.args:
            kind = type(item)
            if kind is Name or kind is Const:
                yield item
            else:
                yield from atoms(item)
    elif isinstance(node, Opaque):
        yield from node.reads
    else:
        yield node
        for item in parts(node):
            yield from atoms(item)


def parts(atom: Atom) -> tuple[Atom, ...]:
    """The atoms directly inside an atom."""
    if isinstance(atom, Tup):
        return atom.items
    if isinstance(atom, Slice):
        return atom.lower, atom.upper, atom.step
    if isinstance(atom, Star):
        return (atom.value,)
    return ()


def occurrences(node: Rhs | None) -> tuple[str, ...]:
    """The names read by an atom or right-hand side, in order, as often as they occur."""
    kind = type(node)
    if kind is Name:
        return (node.id,)  # type: ignore[union-attr]
    if kind is Const or kind is Ref or node is None:
        return ()
    found = node.__dict__.get("_occurrences")
    if found is None:
        # Remembered beside the fields: a frozen node never reads other names.
        found = tuple([a.id for a in atoms(node) if type(a) is Name])
        node.__dict__["_occurrences"] = found
    return found


def refs(node: Rhs | None) -> tuple[Ref, ...]:
    """The objects from outside that an atom or right-hand side mentions."""
    kind = type(node)
    if kind is Name or kind is Const or node is None:
        return ()
    found: tuple[Ref, ...] | None = node.__dict__.get("_refs")
    if found is None:  # remembered beside the fields, as above
        found = node.__dict__["_refs"] = tuple([a for a in atoms(node) if type(a) is Ref])
    return found


def names(node: Rhs | None) -> tuple[str, ...]:
    """The names read by an atom or right-hand side, in order, each once."""
    found = occurrences(node)
    return found if len(found) < 2 else tuple(dict.fromkeys(found))


def _stored(stmt: SetItem) -> tuple[Rhs, ...]:
    return (stmt.base, *(() if stmt.index is None else (stmt.index,)), stmt.value)


# By the class of the statement: this is asked more often than anything else.
_OPERANDS: Mapping[type, Callable[[Any], tuple[Rhs, ...]]] = {
    Assign: lambda stmt: (stmt.rhs,),
    Permute: lambda stmt: stmt.sources,
    SetItem: _stored,
    Effect: lambda stmt: (stmt.rhs,),
    Verbatim: lambda stmt: stmt.reads,
    If: lambda stmt: (stmt.test,),
    For: lambda stmt: (stmt.iter,),
    Return: lambda stmt: (stmt.value,),
    Accum: lambda stmt: (stmt.value, stmt.like),
    Demand: lambda stmt: (stmt.like,),
}

_WRITES: Mapping[type, Callable[[Any], tuple[str, ...]]] = {
    Assign: lambda stmt: (stmt.target.id,),
    Accum: lambda stmt: (stmt.target.id,),
    Demand: lambda stmt: (stmt.target.id,),
    For: lambda stmt: (stmt.target.id,),
    Permute: lambda stmt: tuple(t.id for t in stmt.targets),
    Verbatim: lambda stmt: tuple(w.id for w in stmt.writes),
}


def operands(stmt: Stmt) -> tuple[Rhs, ...]:
    """What a statement itself reads (not what the statements inside it read)."""
    found = _OPERANDS.get(type(stmt))
    return () if found is None else found(stmt)


def reads(stmt: Stmt) -> tuple[str, ...]:
    """The names that a statement itself reads; the base of a store counts as read.

    The test and the stop flag of a `While`, and the stop flag of a `For`, are read inside the loop
    (after `cond`, at the end of the body), so they are not listed here.
    """
    if type(stmt) is Assign:
        return names(stmt.rhs)
    return tuple(dict.fromkeys([n for o in operands(stmt) for n in occurrences(o)]))


def call_of(stmt: Stmt | None) -> Call | None:
    """The call that an assignment or an effect makes."""
    if type(stmt) is not Assign and type(stmt) is not Effect:
        return None
    rhs: Any = stmt.rhs
    return rhs if type(rhs) is Call else None


def writes(stmt: Stmt) -> tuple[str, ...]:
    """The names that a statement itself binds (a store into an array binds nothing)."""
    if type(stmt) is Assign:
        return (stmt.target.id,)
    found = _WRITES.get(type(stmt))
    return () if found is None else found(stmt)


PLAIN = frozenset((
    Assign, Permute, SetItem, Effect, Verbatim, Return, Comment, Undo, Accum, Demand, Reset,
))  # fmt: skip
"""The statements without blocks inside."""


def blocks(stmt: Stmt) -> tuple[Block, ...]:
    """The blocks inside a statement."""
    found = _BLOCKS.get(type(stmt))
    return () if found is None else found(stmt)


def _of_pair(stmt: Pair) -> tuple[Block, ...]:
    return (() if stmt.primal is None else (stmt.primal,)), stmt.adjoint


_BLOCKS: Mapping[type, Callable[[Any], tuple[Block, ...]]] = {
    If: lambda stmt: (stmt.body, stmt.orelse),
    For: lambda stmt: (stmt.body,),
    While: lambda stmt: (stmt.cond, stmt.body),
    Pair: _of_pair,
}


def walk(block: Block) -> Sequence[Stmt]:
    """Every statement of a block, outer ones first, in source order."""
    if PLAIN.issuperset(map(type, block)):
        return block
    found: list[Stmt] = []
    for stmt in block:
        found.append(stmt)
        if type(stmt) not in PLAIN:
            found += _inside(stmt)
    return found


def _inside(stmt: Stmt) -> tuple[Stmt, ...]:
    """Every statement inside a statement (remembered beside its fields)."""
    found: tuple[Stmt, ...] | None = stmt.__dict__.get("_inside")
    if found is None:
        found = tuple([s for inner in _BLOCKS[type(stmt)](stmt) for s in walk(inner)])
        stmt.__dict__["_inside"] = found
    return found


def itself_mentions(stmt: Stmt) -> set[str]:
    """The names in a statement itself: tests and stop flags included, inner blocks not."""
    found = {*reads(stmt), *writes(stmt)}
    if type(stmt) in PLAIN:
        return found
    if isinstance(stmt, While):
        found.update(names(stmt.test))
    if isinstance(stmt, (For, While)) and stmt.stop is not None:
        found.add(stmt.stop.id)
    return found


def bound(block: Block) -> frozenset[str]:
    """Every name bound anywhere in a block."""
    found: set[str] = set()
    for stmt in block:
        if type(stmt) is Assign:
            found.add(stmt.target.id)
        else:
            found.update(writes(stmt) if type(stmt) in PLAIN else _bound_inside(stmt))
    return frozenset(found)


def _bound_inside(stmt: Stmt) -> frozenset[str]:
    """Every name that a statement with blocks binds (remembered beside its fields)."""
    found = stmt.__dict__.get("_bound")
    if found is None:
        found = frozenset(writes(stmt)).union(*map(bound, blocks(stmt)))
        stmt.__dict__["_bound"] = found
    return found


def used(block: Block) -> frozenset[str]:
    """Every name read anywhere in a block, tests and stop flags included."""
    found: set[str] = set()
    for stmt in block:
        if type(stmt) is Assign:
            found.update(occurrences(stmt.rhs))
        else:
            found.update(reads(stmt) if type(stmt) in PLAIN else _used_inside(stmt))
    return frozenset(found)


def _used_inside(stmt: Stmt) -> frozenset[str]:
    """Every name that a statement with blocks reads (remembered beside its fields)."""
    found = stmt.__dict__.get("_used")
    if found is None:
        own = [*reads(stmt), *(names(stmt.test) if isinstance(stmt, While) else ())]
        if isinstance(stmt, (For, While)) and stmt.stop is not None:
            own.append(stmt.stop.id)
        found = frozenset(own).union(*map(used, blocks(stmt)))
        stmt.__dict__["_used"] = found
    return found


def said(name: str) -> str:
    """A name as the user knows it: without the number that it was given, a temporary without it."""
    return "a part of the expression" if name.startswith("_") else f"`{_NUMBER.sub('', name)}`"


_NUMBER = re.compile(r"_\d+\Z")


def all_names(function: Function) -> frozenset[str]:
    """Every name of a function: parameters, bound and read ones."""
    found: frozenset[str] | None = function.__dict__.get("_all_names")
    if found is None:  # remembered beside the fields, as above
        params = [p.name for p in function.params]
        found = bound(function.body).union(params, used(function.body))
        function.__dict__["_all_names"] = found
    return found
