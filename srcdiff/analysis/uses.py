"""What a function reads and binds, found in one walk over it."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain

from srcdiff.ir import (
    Assign,
    Block,
    For,
    Function,
    Opaque,
    Permute,
    SetItem,
    Stmt,
    Verbatim,
    While,
    occurrences,
    operands,
    walk,
    writes,
)

_TEMPORARY = re.compile(r"(d_)*_")


def is_temporary(name: str) -> bool:
    """Whether a name is the compiler's: it starts with `_`, or is the adjoint of such a one."""
    return _TEMPORARY.match(name) is not None


def stmt_reads(stmt: Stmt) -> tuple[str, ...]:
    """The names that a statement itself reads, and the test of a `while`."""
    if type(stmt) is Assign:
        return occurrences(stmt.rhs)
    found = [n for operand in operands(stmt) for n in occurrences(operand)]
    return (*found, *occurrences(stmt.test)) if isinstance(stmt, While) else tuple(found)


class Scan:
    """The statements of a function, outer ones first, with how often names are read and bound.

    `held` are the names that are read where no expression can stand, such as inside a text.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.stmts: list[Stmt] = list(walk(function.body))
        self._reads = {id(s): stmt_reads(s) for s in self.stmts}
        self.uses = Counter(chain.from_iterable(map(self.reads, self.stmts)))
        self.defs = Counter(chain.from_iterable(map(writes, self.stmts)))
        self.held = {n for s in self.stmts for n in _held(s, self.reads(s))}
        self.names = {p.name for p in function.params}
        self.names.update(self.uses, self.defs, self.held)

    def reads(self, stmt: Stmt) -> tuple[str, ...]:
        """The names that a statement itself reads."""
        found = self._reads.get(id(stmt))
        return stmt_reads(stmt) if found is None else found

    def reads_in(self, block: Block, name: str) -> int:
        """How often the statements of a block read a name."""
        return sum(self.reads(s).count(name) for s in walk(block))


def _held(stmt: Stmt, reads: tuple[str, ...]) -> tuple[str, ...]:
    """The names that a statement reads where no expression can stand."""
    if isinstance(stmt, (Verbatim, Permute)):
        return reads
    if isinstance(stmt, (For, While)):
        return () if stmt.stop is None else (stmt.stop.id,)
    if isinstance(stmt, SetItem):
        return (stmt.base.id,) if stmt.index is None else ()
    rhs = getattr(stmt, "rhs", None)
    return reads if isinstance(rhs, Opaque) else ()
