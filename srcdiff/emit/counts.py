"""What a function reads and binds, found in one walk over it."""

from __future__ import annotations

import re
from collections import Counter

from srcdiff.ir import (
    Block,
    Call,
    Const,
    For,
    Function,
    Name,
    Opaque,
    Permute,
    Ref,
    Rhs,
    SetItem,
    Slice,
    Star,
    Stmt,
    Tup,
    Verbatim,
    While,
    operands,
    walk,
    writes,
)

_TEMPORARY = re.compile(r"(d_)*_")


def is_temporary(name: str) -> bool:
    """Whether a name is the compiler's: it starts with `_`, or is the adjoint of such a one."""
    return _TEMPORARY.match(name) is not None


def reads_of(rhs: Rhs) -> list[str]:
    """The names that a right-hand side reads, in order, as often as it reads them."""
    out: list[str] = []
    _collect(rhs, out)
    return out


def _collect(rhs: Rhs, out: list[str]) -> None:
    kind = type(rhs)
    if kind is Name:
        out.append(rhs.id)  # type: ignore[union-attr]
    elif isinstance(rhs, Call):
        if type(rhs.fn) is Name:
            out.append(rhs.fn.id)
        for arg in rhs.args:
            _collect(arg, out)
        for _, value in rhs.kwargs:
            _collect(value, out)
    elif kind is Const or kind is Ref:
        return
    elif isinstance(rhs, Tup):
        for item in rhs.items:
            _collect(item, out)
    elif isinstance(rhs, Slice):
        for bound in (rhs.lower, rhs.upper, rhs.step):
            _collect(bound, out)
    elif isinstance(rhs, Star):
        _collect(rhs.value, out)
    elif isinstance(rhs, Opaque):
        out.extend(n.id for n in rhs.reads)


def stmt_reads(stmt: Stmt) -> list[str]:
    """The names that a statement itself reads, and the test of a `while`."""
    out: list[str] = []
    for operand in operands(stmt):
        _collect(operand, out)
    if isinstance(stmt, While):
        _collect(stmt.test, out)
    return out


class Scan:
    """The statements of a function, outer ones first, with how often names are read and bound.

    `held` are the names that are read where no expression can stand, such as inside a text.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.stmts: list[Stmt] = list(walk(function.body))
        self.uses: Counter[str] = Counter()
        self.defs: Counter[str] = Counter()
        self.held: set[str] = set()
        self.names = {p.name for p in function.params}
        self._reads: dict[int, list[str]] = {}
        for stmt in self.stmts:
            self._add(stmt)
        self.names.update(self.uses, self.defs, self.held)

    def _add(self, stmt: Stmt) -> None:
        found = self._reads[id(stmt)] = stmt_reads(stmt)
        for name in found:
            self.uses[name] += 1
        for name in writes(stmt):
            self.defs[name] += 1
        self.held.update(_held(stmt, found))

    def reads(self, stmt: Stmt) -> list[str]:
        """The names that a statement itself reads."""
        found = self._reads.get(id(stmt))
        return stmt_reads(stmt) if found is None else found

    def reads_in(self, block: Block, name: str) -> int:
        """How often the statements of a block read a name."""
        return sum(self.reads(s).count(name) for s in walk(block))


def _held(stmt: Stmt, reads: list[str]) -> list[str]:
    """The names that a statement reads where no expression can stand."""
    if isinstance(stmt, (Verbatim, Permute)):
        return reads
    if isinstance(stmt, (For, While)):
        return [] if stmt.stop is None else [stmt.stop.id]
    if isinstance(stmt, SetItem):
        return [stmt.base.id] if stmt.index is None else []
    rhs = getattr(stmt, "rhs", None)
    return reads if isinstance(rhs, Opaque) else []
