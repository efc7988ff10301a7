"""Which names have a batch axis: what depends on the cotangents, and the memory that it goes into.

Takes a function, the kinds of its names and the names that have the axis from the start; returns
all that have it.  A name has it everywhere or nowhere.  What is written into takes the axis from
what is written, and hands it on to the memory that it is a view of.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.kinds import Array, Kinds, is_mutable
from srcdiff.primitives.effects import returns_view, written_into
from srcdiff.primitives.operation import PLAIN_ATTRIBUTES

QUESTIONS: frozenset[Any] = frozenset(
    {len, np.shape, np.ndim, np.size, np.iscomplexobj, np.result_type, np.may_share_memory}
)
"""What they answer of a value is the same for every item of the batch."""


def is_question(call: ir.Call) -> bool:
    """Whether what a call returns is the same for every item of the batch."""
    if isinstance(call.fn, ir.Attr):
        return call.fn.name in PLAIN_ATTRIBUTES
    return not isinstance(call.fn, (ir.Name, ir.Derived)) and call.fn in QUESTIONS


Pairs = tuple[tuple[str, str], ...]
"""Names that share memory from the start."""


def with_axis(
    function: ir.Function, kinds: Kinds, start: frozenset[str], shared: Pairs = ()
) -> frozenset[str]:
    """The names that have a batch axis."""
    found = set(start)
    statements = list(ir.walk(function.body))
    views = [*shared, *_views(statements, kinds)]
    written = all_written(function, kinds, shared)
    while True:
        count = len(found)
        for stmt in statements:
            if found.intersection(_values(stmt)):
                found.update(ir.writes(stmt), written_into(stmt, kinds))
        for target, source in views:
            if target in found and target in written and source not in found:
                found.add(source)
        if len(found) == count:
            return frozenset(found)


def all_written(function: ir.Function, kinds: Kinds, shared: Pairs = ()) -> frozenset[str]:
    """The names whose memory is written into, by themselves or by a view."""
    statements = list(ir.walk(function.body))
    found = {n for stmt in statements for n in written_into(stmt, kinds)}
    return _closed(found, [*shared, *_views(statements, kinds)])


def sharing(
    function: ir.Function, kinds: Kinds, start: Iterable[str], shared: Pairs = ()
) -> frozenset[str]:
    """The names that may share memory with one of `start`, and these."""
    return _closed({*start}, [*shared, *_views(list(ir.walk(function.body)), kinds)])


def _closed(found: set[str], views: list[tuple[str, str]]) -> frozenset[str]:
    """Some names, and all that are linked to them."""
    while more := {n for pair in views if found & {*pair} for n in pair} - found:
        found |= more
    return frozenset(found)


def renamed(function: ir.Function) -> frozenset[str]:
    """The names that are bound to what another name stands for, and those others."""
    found = (s for s in ir.walk(function.body) if isinstance(s, ir.Assign))
    pairs = ((s.target.id, s.rhs.id) for s in found if isinstance(s.rhs, ir.Name))
    return frozenset(n for pair in pairs for n in pair)


def numbers(function: ir.Function) -> frozenset[str]:
    """The names that are bound to a literal somewhere."""
    found = (s for s in ir.walk(function.body) if isinstance(s, ir.Assign))
    return frozenset(s.target.id for s in found if isinstance(s.rhs, ir.Const))


def _values(stmt: ir.Stmt) -> tuple[str, ...]:
    """The names whose values what a statement writes depends on."""
    call = ir.call_of(stmt)
    if call is not None and is_question(call):
        return ()
    if isinstance(stmt, ir.SetItem):
        return ir.names(stmt.value)
    return () if isinstance(stmt, (ir.If, ir.While)) else ir.reads(stmt)


def _views(statements: list[ir.Stmt], kinds: Kinds) -> Iterator[tuple[str, str]]:
    """Names that may be views of others, with those; also containers and what is put into them."""
    for stmt in statements:
        if isinstance(stmt, ir.Permute):
            for name in stmt.targets:
                yield from ((name.id, s.id) for s in stmt.sources)
        elif isinstance(stmt, ir.Assign) and _has_memory(stmt.target.id, kinds):
            yield from ((stmt.target.id, n) for n in _sources(stmt.rhs, kinds))
        elif isinstance(stmt, ir.SetItem) and not isinstance(kinds.get(stmt.base.id), Array):
            yield from ((stmt.base.id, n) for n in _mutable(stmt.value, kinds))
        elif isinstance(stmt, ir.Effect) and isinstance(stmt.rhs, ir.Call):
            if isinstance(stmt.rhs.fn, ir.Method) and len(stmt.rhs.args) > 1:
                base, *items = stmt.rhs.args
                for target in ir.names(base):
                    yield from ((target, n) for a in items for n in _mutable(a, kinds))


def _sources(rhs: ir.Rhs, kinds: Kinds) -> Iterator[str]:
    """The names whose memory a value may share."""
    atoms = returns_view(rhs, kinds) if isinstance(rhs, ir.Call) else (rhs,)
    for atom in atoms:
        if not isinstance(atom, (ir.Call, ir.Opaque)):
            yield from _mutable(atom, kinds)


def _mutable(atom: ir.Atom, kinds: Kinds) -> Iterator[str]:
    return (n for n in ir.names(atom) if _has_memory(n, kinds))


def _has_memory(name: str, kinds: Kinds) -> bool:
    kind = kinds.get(name)
    return kind is None or is_mutable(kind)


def is_unpacking(stmt: ir.Stmt, residuals: str) -> bool:
    """Whether a statement takes a residual out of the tuple of them."""
    call = ir.call_of(stmt)
    taken = call is not None and call.fn is operator.getitem
    return taken and call.args[0] == ir.Name(residuals)  # type: ignore[union-attr]
