"""Compares two functions of the IR up to the names of temporaries."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from srcdiff import ir
from srcdiff.backends.numpy import compile_text
from srcdiff.emit import emit, is_temporary
from srcdiff.lower import lower
from srcdiff.names import name
from srcdiff.parse import parse


def printed(f: Any, notes: bool = False) -> tuple[ir.Function, Any]:
    """The IR of a function with readable names, and the function compiled from its text."""
    function = name(lower(parse(f)))
    emitted = emit(function, notes=notes)
    return function, compile_text(emitted.text, emitted.refs, function.name)


def difference(one: ir.Function, other: ir.Function) -> str | None:
    """Where two functions first differ, but for the names of temporaries."""
    new: dict[str, str] = {}
    old: dict[str, str] = {}
    seen: list[Any] = []
    for a, b in itertools.zip_longest(tokens(one.body), tokens(other.body)):
        seen.append((a, b))
        if isinstance(a, ir.Name) and isinstance(b, ir.Name):
            same = new.setdefault(a.id, b.id) == b.id and old.setdefault(b.id, a.id) == a.id
            if same and (a == b or is_temporary(a.id) or is_temporary(b.id)):
                continue
        elif a == b:
            continue
        return "\n".join(f"{x}   {y}" for x, y in seen[-6:])
    return None


def tokens(block: ir.Block) -> Iterator[Any]:
    """Everything that a block says, in order."""
    for stmt in block:
        yield type(stmt).__name__
        yield from _statement(stmt)
        for inner in ir.blocks(stmt):
            yield "{"
            yield from tokens(inner)
            yield "}"
        if isinstance(stmt, ir.While):
            yield from _rhs(stmt.test)
        if isinstance(stmt, (ir.For, ir.While)):
            yield stmt.stop


def _statement(stmt: ir.Stmt) -> Iterator[Any]:
    for operand in ir.operands(stmt):
        yield from _rhs(operand)
    for target in ir.writes(stmt):
        yield ir.Name(target)
    if isinstance(stmt, ir.SetItem):
        yield stmt.op
        yield stmt.index is None


def _rhs(rhs: ir.Rhs) -> Iterator[Any]:
    if isinstance(rhs, ir.Call):
        yield "call" if isinstance(rhs.fn, ir.Name) else rhs.fn
        if isinstance(rhs.fn, ir.Name):
            yield rhs.fn
        for arg in rhs.args:
            yield from _rhs(arg)
        for key, value in rhs.kwargs:
            yield key
            yield from _rhs(value)
    elif isinstance(rhs, ir.Opaque):
        yield from rhs.reads
    elif isinstance(rhs, (ir.Name, ir.Const, ir.Ref)):
        yield rhs
    else:
        yield type(rhs)
        for part in ir.parts(rhs):
            yield from _rhs(part)
