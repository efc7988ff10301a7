"""Temporaries that only repeat a variable, where that variable still has the same value."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from srcdiff import ir


def forwarded(function: ir.Function) -> ir.Function:
    """The function without `_t = x` where every use of `_t` may read `x` itself."""
    defined = Counter(n for s in ir.walk(function.body) for n in ir.writes(s))
    used = _uses(function.body)
    return replace(function, body=_block(function.body, defined, used))


def _uses(block: ir.Block) -> Counter[str]:
    """How many statements read each name."""
    return Counter(n for s in ir.walk(block) for n in _read(s))


def _read(stmt: ir.Stmt) -> set[str]:
    """The names that a statement reads, the flags of loops too."""
    found = set(ir.reads(stmt))
    if isinstance(stmt, ir.While):
        found.update(ir.names(stmt.test))
    if isinstance(stmt, (ir.For, ir.While)) and stmt.stop is not None:
        found.add(stmt.stop.id)
    return found


def _block(block: ir.Block, defined: Counter[str], used: Counter[str]) -> ir.Block:
    """A block without what only repeats a variable."""
    todo = [
        ir.map_blocks(s, lambda b: _block(b, defined, used)) for s in block
    ]
    out: list[ir.Stmt] = []
    while todo:
        stmt = todo.pop(0)
        source = _repeated(stmt, defined)
        if source is not None and isinstance(stmt, ir.Assign):
            name = stmt.target.id
            span = max((k + 1 for k, s in enumerate(todo) if name in ir.used((s,))), default=0)
            part = tuple(todo[:span])
            written = _changes(part, source) or _changes(part, name)
            if _uses(part)[name] == used[name] and not written:
                todo[:span] = ir.rename(part, {name: source})
                continue
        out.append(stmt)
    return tuple(out)


def _repeated(stmt: ir.Stmt, defined: Counter[str]) -> str | None:
    """The variable that a statement gives a temporary name."""
    if not isinstance(stmt, ir.Assign) or not isinstance(stmt.rhs, ir.Name):
        return None
    once = defined[stmt.target.id] == 1 and stmt.target.id.startswith("_")
    return stmt.rhs.id if once else None


def _changes(block: ir.Block, name: str) -> bool:
    """Whether a block binds a variable anew, or applies an operator in place to it."""
    whole = (s for s in ir.walk(block) if isinstance(s, ir.SetItem) and s.index is None)
    return name in ir.bound(block) or any(s.base.id == name for s in whole)
