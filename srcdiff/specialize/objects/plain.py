"""Objects of some classes as dicts, from where they are made.

Takes a block, the names of such objects, and what their classes have for them to start with;
returns the block with a dict display in place of each constructor and of the stores of its
`__init__`.  One is made as late as something else mentions it, or changes what it is to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, replace

from srcdiff import ir
from srcdiff.runtime import records

Start = Callable[[str], dict[str, ir.Atom]]


def as_dicts(block: ir.Block, names: Container[str], start: Start) -> ir.Block:
    """The block with dicts for objects."""
    out: list[ir.Stmt] = []
    pending: dict[str, _Pending] = {}

    def finish(done: Iterable[str]) -> None:
        out.extend(pending.pop(name).stmt() for name in list(done))

    for stmt in block:
        call = ir.call_of(stmt)
        base = call.args[0] if call is not None and call.args else None
        mine = pending.get(base.id) if isinstance(base, ir.Name) else None
        if mine is not None and call is not None:
            if mine.takes(call, pending):
                continue
            if isinstance(stmt, ir.Assign):
                stmt = replace(stmt, rhs=mine.attribute(call))
        changed = ir.bound((stmt,)) | _stored(stmt)
        used = ir.used((stmt,)) | changed
        finish(n for n, p in pending.items() if n in used or changed & p.reads())
        if isinstance(stmt, ir.Assign) and _makes(stmt.rhs) and stmt.target.id in names:
            pending[stmt.target.id] = _Pending(stmt, start(stmt.target.id), set())
            continue
        stmt = _with_fields(stmt, names)
        out.append(ir.map_blocks(stmt, lambda b: as_dicts(b, names, start)))
    if not out or not isinstance(out[-1], ir.Return):
        finish(pending)
    return tuple(out)


def _makes(rhs: ir.Rhs) -> bool:
    return isinstance(rhs, ir.Call) and rhs.fn is ir.new_object


def _stored(stmt: ir.Stmt) -> frozenset[str]:
    """The names that are stored into: `x += y` binds them anew, if they are numbers."""
    return frozenset(s.base.id for s in ir.walk((stmt,)) if isinstance(s, ir.SetItem))


@dataclass(frozen=True)
class _Pending:
    """An object that is not made yet, what it will hold, and which of that was stored."""

    made: ir.Assign
    values: dict[str, ir.Atom]
    stored: set[str]

    def takes(self, call: ir.Call, pending: Container[str]) -> bool:
        """Whether a call stores an attribute that the object may as well be made with."""
        if call.fn is not ir.set_attr or len(call.args) > 3:
            return False
        key, value = call.args[1:]
        assert isinstance(key, ir.Const)
        if key.value in self.stored or any(n in pending for n in ir.names(value)):
            return False
        self.values[key.value] = value
        self.stored.add(key.value)
        return True

    def attribute(self, call: ir.Call) -> ir.Rhs:
        """What a call reads of the object, if it reads an attribute; else the call."""
        known = isinstance(call.fn, ir.Attr) and call.fn.name in self.values
        return self.values[call.fn.name] if known else call  # type: ignore[union-attr]

    def reads(self) -> frozenset[str]:
        """The names that it is made of."""
        return frozenset(n for v in self.values.values() for n in ir.names(v))

    def stmt(self) -> ir.Stmt:
        """The statement that makes it."""
        return replace(self.made, rhs=_dict(self.values.items()))


def _dict(values: Iterable[tuple[str, ir.Atom]]) -> ir.Call:
    """A display of names and values."""
    return ir.Call(ir.make_dict, tuple(a for k, v in values for a in (ir.Const(k), v)))


def _with_fields(stmt: ir.Stmt, names: Container[str]) -> ir.Stmt:
    """A statement that makes an object of its fields, as one that makes a dict."""
    call = ir.call_of(stmt)
    fields = None if call is None else records.plain_fields(call.fn)
    if call is None or fields is None or not isinstance(stmt, ir.Assign):
        return stmt
    if stmt.target.id not in names:
        return stmt
    return replace(stmt, rhs=_dict(zip(fields, call.args, strict=True)))
