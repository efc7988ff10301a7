"""Items of containers by one spelling: `xs[-1]` of two as `xs[1]`, where both ways are used.

Takes a function and its kinds; returns it with the items counted from the front in lists and
tuples whose length is known.  The analyses of memory tell items apart by their keys.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace

from srcdiff import ir
from srcdiff.analyses.kind_types import Kind, List, Tuple


def counted(function: ir.Function, kinds: Mapping[str, Kind]) -> ir.Function:
    """The function with keys of one sign."""
    keys = [k for s in ir.walk(function.body) if (k := _key(s, kinds)) is not None]
    if not any(k < 0 for k in keys) or not any(k >= 0 for k in keys):
        return function
    return replace(function, body=_block(function.body, kinds))


def _key(stmt: ir.Stmt, kinds: Mapping[str, Kind]) -> int | None:
    """The place in a container of known length that a statement reads or stores."""
    base: ir.Atom | None = None
    key: ir.Atom | None = None
    if isinstance(stmt, ir.SetItem):
        base, key = stmt.base, stmt.index
    elif isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Call):
        if stmt.rhs.fn is operator.getitem:
            base, key = stmt.rhs.args
    if not isinstance(base, ir.Name) or not isinstance(key, ir.Const) or type(key.value) is not int:
        return None
    return key.value if _length(kinds.get(base.id)) is not None else None


def _length(kind: Kind | None) -> int | None:
    """How many items a list or a tuple has."""
    items = kind.items if isinstance(kind, (List, Tuple)) else None
    return None if items is None else len(items)


def _block(block: ir.Block, kinds: Mapping[str, Kind]) -> ir.Block:
    return tuple(_stmt(s, kinds) for s in block)


def _stmt(stmt: ir.Stmt, kinds: Mapping[str, Kind]) -> ir.Stmt:
    """A statement with its key counted from the front."""
    stmt = ir.map_blocks(stmt, lambda inner: _block(inner, kinds))
    key = _key(stmt, kinds)
    if key is None or key >= 0:
        return stmt
    base = stmt.base if isinstance(stmt, ir.SetItem) else stmt.rhs.args[0]  # type: ignore[union-attr]
    size = _length(kinds.get(base.id))  # type: ignore[union-attr]
    if size is None or key + size < 0:
        return stmt
    if isinstance(stmt, ir.SetItem):
        return replace(stmt, index=ir.Const(key + size))
    assert isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Call)
    return replace(stmt, rhs=replace(stmt.rhs, args=(base, ir.Const(key + size))))
