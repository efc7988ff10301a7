"""`a, b = f(x)`: names bound to all items of a value, one after the other."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from typing import Any

from srcdiff.ir import Assign, Block, Call, Const, Name, Stmt, Tup

# The text of a subscript that takes one of so many items: the only items that there are, so that
# unpacking can do without a subscript.  Some of them may have been dropped as unused since.
_ITEM = re.compile(r"item of (\d+)\Z")


Target = tuple[Any, int]


def items_of(block: Block, index: int) -> tuple[str, tuple[str, ...]] | None:
    """The base and the targets, if the statements from `index` on take all items of a value."""
    count = _count(block[index]) if index < len(block) else 0
    group = block[index : index + count]
    base = _base(block[index]) if count else None
    if base is None or len(group) < count:
        return None
    targets = {_position(s, base, count): s.target.id for s in group if isinstance(s, Assign)}
    if set(targets) != set(range(count)):
        return None
    found = tuple(targets[k] for k in range(count))
    return (base, found) if len(set(found)) == count and base not in found else None


def unpacked(
    block: Block, index: int, uses: Mapping[str, int], defs: Mapping[str, int]
) -> tuple[str, ...]:
    """The targets if the statements after `index` take all items of what it binds; else ()."""
    stmt = block[index]
    found = items_of(block, index + 1)
    if found is None or not isinstance(stmt, Assign) or stmt.target.id != found[0]:
        return ()
    if isinstance(stmt.rhs, Tup):
        return ()  # that would read back as assignments one by one
    return found[1] if (uses[found[0]], defs[found[0]]) == (len(found[1]), 1) else ()


def loop_target(body: Block, name: str, uses: Mapping[str, int], start: int = 0) -> Target:
    """The target of a loop whose body begins by taking the items of `name` apart.

    A name or a tuple of targets, and where the rest of the body begins.
    """
    found = items_of(body, start)
    if found is None or found[0] != name or uses[name] != len(found[1]):
        return name, start
    position = start + len(found[1])
    parts = []
    for inner in found[1]:
        part, position = loop_target(body, inner, uses, position)
        parts.append(part)
    return tuple(parts), position


def _count(stmt: Stmt) -> int:
    """How many items there are, of which a statement takes one; 0 if it does not."""
    if not isinstance(stmt, Assign) or not isinstance(stmt.rhs, Call):
        return 0
    match = _ITEM.match(stmt.rhs.text or "") if stmt.rhs.fn is operator.getitem else None
    return int(match[1]) if match else 0


def _base(stmt: Stmt) -> str | None:
    """The name whose item a statement takes."""
    base = stmt.rhs.args[0] if isinstance(stmt, Assign) and isinstance(stmt.rhs, Call) else None
    return base.id if isinstance(base, Name) else None


def _position(stmt: Assign, base: str, count: int) -> int | None:
    """The position in `target = base[position]`, one of `count` items."""
    index = stmt.rhs.args[1] if isinstance(stmt.rhs, Call) and _count(stmt) == count else None
    position = index.value if isinstance(index, Const) and _base(stmt) == base else None
    return position if isinstance(position, int) else None
