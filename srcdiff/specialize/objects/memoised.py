"""Refuse properties that keep their value where the program could tell them from plain ones.

`functools.cached_property` computes once: its body takes the place of a read, which gives the same
as long as nothing that it reads changes afterwards, and nobody writes into what it gave.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator, Mapping

from srcdiff import ir
from srcdiff.analysis.links import groups, in_place, is_marked, links_of, stored_names
from srcdiff.errors import UnsupportedError
from srcdiff.ir.kinds import Kind, class_of

Kinds = Mapping[str, Kind]


def check_property(
    function: ir.Function, kinds: Kinds, cls: type, own: functools.cached_property[object]
) -> None:
    """Refuse the property of a class in a function, if it is not as good as a plain one."""
    name = own.attrname or ""
    read = _names_read(cls, own.func, set())
    links = [*links_of(function.body, kinds, False), *in_place(function)]
    same = groups(k for k in links if not _is_of_object(k.stmt, kinds))
    whole = {n for n in kinds if class_of(kinds[n]) is not None}
    stored = {same.get(n, n) for n in _stored(function, kinds) if n not in whole}
    seen, fresh = set[str](), set[str]()  # objects of which it was read, and made since
    for stmt, again in _in_order(function.body, name):
        base, attr = _attribute(stmt)
        made = ir.writes(stmt) if attr == name or attr in read else ()
        held = {*made, *_given(stmt, cls, read)}
        if any(same.get(n, n) in stored for n in held):
            _refuse(name, "or what it is computed of, is written into", stmt)
        if attr == name:
            seen.add(same.get(base, base))
            fresh.clear()
        call = ir.call_of(stmt)
        if call is not None and call.fn is ir.new_object:
            fresh.update(ir.writes(stmt))
        elif call is not None and _changes(call, cls, name, read):
            bases = {same.get(n, n) for n in ir.names(call.args[0]) if n not in fresh}
            if bases and (again or not bases.isdisjoint(seen)):
                _refuse(name, "and what it is computed of is changed", stmt)


def _refuse(name: str, what: str, stmt: ir.Stmt) -> None:
    raise UnsupportedError(
        f"the property `{name}`, whose value is kept, {what}",
        stmt.loc,
        remedy="Make it a plain property, or a method.",
    )


def _is_of_object(stmt: ir.Stmt, kinds: Kinds) -> bool:
    """Whether a statement links an object and what its attributes are."""
    call = ir.call_of(stmt)
    if call is None or not call.args:
        return False
    base = call.args[0]
    known = isinstance(base, ir.Name) and class_of(kinds.get(base.id)) is not None
    return call.fn is ir.set_attr or isinstance(call.fn, type) or known


def _given(stmt: ir.Stmt, cls: type, read: set[str]) -> tuple[str, ...]:
    """The names of what a statement puts into an object of a class."""
    call = ir.call_of(stmt)
    if call is None or not call.args:
        return ()
    if call.fn is ir.set_attr:
        return ir.names(call.args[2]) if getattr(call.args[1], "value", "") in read else ()
    return ir.names(call) if call.fn is cls else ()


def _stored(function: ir.Function, kinds: Kinds) -> Iterator[str]:
    """The names of what is written into, also by operators in place."""
    for names in stored_names(function.body, kinds):
        yield from names
    for stmt in ir.walk(function.body):
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if isinstance(rhs, ir.Call) and is_marked(rhs):
            yield from ir.names(rhs.args[0])


def _in_order(block: ir.Block, name: str, loop: bool = False) -> Iterator[tuple[ir.Stmt, bool]]:
    """All statements, and whether each is in a loop that reads the property."""
    for stmt in block:
        yield stmt, loop
        inner = loop
        if isinstance(stmt, (ir.For, ir.While)):
            inner = loop or any(_attribute(s)[1] == name for s in ir.walk((stmt,)))
        for part in ir.blocks(stmt):
            yield from _in_order(part, name, inner)


def _attribute(stmt: ir.Stmt) -> tuple[str, str]:
    """The object and the attribute that a statement reads."""
    rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
    if not isinstance(rhs, ir.Call) or not isinstance(rhs.fn, ir.Attr):
        return "", ""
    return next(iter(ir.names(rhs.args[0])), ""), rhs.fn.name


def _changes(call: ir.Call, cls: type, name: str, read: set[str]) -> bool:
    """Whether a call assigns the property, or something that it reads."""
    if not call.args:
        return False
    if call.fn is ir.set_attr:
        key = call.args[1]
        found = str(getattr(key, "value", ""))
        return found in read or (found == name and len(call.args) > 3)
    fn: object = call.fn
    if isinstance(fn, ir.Method):
        fn = getattr(cls, fn.name, None)
    return isinstance(fn, types.FunctionType) and not read.isdisjoint(_names_stored(cls, fn, set()))


def _names_read(cls: type, fn: object, seen: set[str]) -> set[str]:
    """The attributes that a function reads, and the methods and properties of a class in it."""
    code = getattr(fn, "__code__", None)
    for name in () if code is None else code.co_names:
        if name not in seen:
            seen.add(name)
            _names_read(cls, _plain(cls, name), seen)
    return seen


def _names_stored(cls: type, fn: object, seen: set[str]) -> set[str]:
    """The attributes that a function assigns, and the methods of a class that it calls."""
    code = getattr(fn, "__code__", None)
    if code is None:
        return set()
    found = {str(i.argval) for i in dis.get_instructions(code) if i.opname == "STORE_ATTR"}
    for name in code.co_names:
        if name not in seen:
            seen.add(name)
            found |= _names_stored(cls, _plain(cls, name), seen)
    return found


def _plain(cls: type, name: str) -> object:
    """The function behind a method or a property."""
    own = getattr(cls, name, None)
    return getattr(own, "fget", None) or getattr(own, "func", None) or own
