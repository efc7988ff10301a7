"""`a, b = f(x)`: a temporary whose items are taken one after the other."""

from __future__ import annotations

import operator
from collections.abc import Mapping

from srcdiff.ir import Assign, Block, Call, Const, Name, Stmt


def unpacked(
    block: Block, index: int, uses: Mapping[str, int], defs: Mapping[str, int]
) -> tuple[str, ...]:
    """The targets if the statements after `index` take all items of what it binds; else ()."""
    stmt = block[index]
    if not isinstance(stmt, Assign) or defs[stmt.target.id] != 1:
        return ()
    count = uses[stmt.target.id]
    group = block[index + 1 : index + 1 + count]
    targets = [_item(s, stmt.target.id, k) for k, s in enumerate(group)]
    found = tuple(t for t in targets if t is not None)
    distinct = len(set(found)) == count and stmt.target.id not in found
    return found if count > 1 and distinct else ()


def _item(stmt: Stmt, base: str, position: int) -> str | None:
    """The target of `target = base[position]`."""
    wanted = Call(operator.getitem, (Name(base), Const(position)))
    if isinstance(stmt, Assign) and stmt.rhs == wanted:
        return stmt.target.id
    return None
