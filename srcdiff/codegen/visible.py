"""What of a block is still to be seen once expressions are nested."""

from __future__ import annotations

from collections.abc import Set

from srcdiff.ir import Assign, Block, Call, Effect, For, If, Method, Name, SetItem, Stmt, bound


def visible(block: Block, inline: Set[str]) -> list[Stmt]:
    """The statements of a block that are not nested into others."""
    return [s for s in block if not _is_nested(s, inline)]


def _is_nested(stmt: Stmt, inline: Set[str]) -> bool:
    if isinstance(stmt, Assign):
        return stmt.target.id in inline
    if isinstance(stmt, For):
        return filled_name(stmt) in inline
    # The last name that a conditional binds can only be nested if all of the conditional is.
    return isinstance(stmt, If) and result_name(stmt) in inline


def result_name(stmt: If) -> str | None:
    """The name that a conditional binds last."""
    block = stmt.body or stmt.orelse
    last = block[-1] if block else None
    if isinstance(last, Assign):
        return last.target.id
    return result_name(last) if isinstance(last, If) else None


def filled_name(loop: For) -> str | None:
    """The temporary that the last statement of a loop puts something into."""
    last: Stmt | None = loop
    while isinstance(last, (For, If)):
        last = last.body[-1] if last.body else None
    found = container(last)
    if found is None or not found.startswith("_"):
        return None
    return None if found in bound((loop,)) else found  # `(a if c else b)[0] = v` fills another one


def container(stmt: Stmt | None) -> str | None:
    """The container that a statement puts something into."""
    if isinstance(stmt, SetItem) and stmt.op is None and stmt.index is not None:
        return stmt.base.id
    if isinstance(stmt, Effect) and isinstance(stmt.rhs, Call):
        call = stmt.rhs
        if call.fn == Method("append") and len(call.args) == 2 and isinstance(call.args[0], Name):
            return call.args[0].id
    return None
