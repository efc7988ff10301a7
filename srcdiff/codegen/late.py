"""A loop that is left under a condition is left in its last statement, where that is the same."""

from __future__ import annotations

from dataclasses import replace

from srcdiff.analysis.uses import stmt_reads
from srcdiff.ir import (
    Assign,
    Block,
    Const,
    For,
    Function,
    If,
    Name,
    Stmt,
    While,
    map_blocks,
    walk,
    writes,
)


def with_late_breaks(function: Function) -> Function:
    """A function in which `if c: stop = True` stands at the end of a loop body, if it can.

    There it is printed as `break`; what the passes save stands after it otherwise.
    """
    if not any(_can_be_late(s) for s in walk(function.body)):
        return function
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    return tuple(_statement(s) for s in block)


def _statement(stmt: Stmt) -> Stmt:
    new = map_blocks(stmt, _block)
    if isinstance(new, (For, While)) and _can_be_late(new):
        return replace(new, body=_late(new.body, str(new.stop and new.stop.id)))
    return new


def _can_be_late(stmt: Stmt) -> bool:
    """Whether a loop body sets the flag that stops the loop before its last statement."""
    if not isinstance(stmt, (For, While)) or stmt.stop is None:
        return False
    return _late(stmt.body, stmt.stop.id) is not stmt.body


def _late(body: Block, flag: str) -> Block:
    """A body whose last setting of the flag comes last; the same body if it cannot."""
    places = [i for i, s in enumerate(body) if _sets(s, flag)]
    if not places or places[-1] == len(body) - 1:
        return body
    place = places[-1]
    stmt, rest = body[place], body[place + 1 :]
    test = stmt.test if isinstance(stmt, If) else None
    within = list(walk(rest))
    touched = {n for s in within for n in (*writes(s), *stmt_reads(s))} | {
        s.stop.id for s in within if isinstance(s, (For, While)) and s.stop is not None
    }
    rebound = isinstance(test, Name) and any(test.id in writes(s) for s in within)
    return body if flag in touched or rebound else (*body[:place], *rest, stmt)


def _sets(stmt: Stmt, flag: str) -> bool:
    """Whether a statement is `if test: flag = True` and no more."""
    if not isinstance(stmt, If) or stmt.orelse or len(stmt.body) != 1:
        return False
    inner = stmt.body[0]
    return isinstance(inner, Assign) and inner.target.id == flag and inner.rhs == Const(True)
