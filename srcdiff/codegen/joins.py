"""Conditionals that are expressions: `a and b`, `a or b`, `x if c else y`."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Protocol

from srcdiff.analysis.reads import is_pure
from srcdiff.analysis.uses import stmt_reads
from srcdiff.codegen.measure import rhs_width
from srcdiff.codegen.visible import result_name, visible
from srcdiff.ir import Assign, Block, Comment, If, Name, operands, walk, writes


class Facts(Protocol):
    """What is known of the whole function."""

    @property
    def inline(self) -> Set[str]:
        """The names that are nested so far."""

    @property
    def held(self) -> Set[str]:
        """The names that are read where no expression can stand."""

    @property
    def uses(self) -> dict[str, int]:
        """How often every name is read."""

    @property
    def defs(self) -> dict[str, int]:
        """How often every name is bound."""


@dataclass(frozen=True)
class Join:
    """A conditional whose only result is one temporary, used once after it.

    `first` is the assignment before an `and` or `or`.
    """

    name: str
    first: Assign | None
    reads: frozenset[str]
    impure: bool
    width: int


def find_join(block: Block, index: int, facts: Facts) -> Join | None:
    """The expression that the `If` at `index` is, if it is one."""
    stmt = block[index] if index < len(block) else None
    if not isinstance(stmt, If):
        return None
    name = value_target(stmt, facts.inline)
    if name is None or name in facts.held:
        return None
    first = None
    inside: Block = (stmt,)
    if is_continued(stmt, name):
        before = block[index - 1] if index else None
        if not isinstance(before, Assign) or before.target.id != name:
            return None
        first, inside = before, (before, stmt)
    return _checked(name, first, inside, facts)


def _checked(name: str, first: Assign | None, inside: Block, facts: Facts) -> Join | None:
    """The join, unless the name is bound elsewhere or read more than once after it."""
    within = list(walk(inside))
    bindings = sum(name in writes(s) for s in within)
    read = [n for s in within for n in stmt_reads(s)]
    if facts.defs[name] != bindings or facts.uses[name] != read.count(name) + 1:
        return None
    return Join(
        name,
        first,
        frozenset(read) - {name},
        any(isinstance(s, Assign) and s is not first and not is_pure(s.rhs) for s in within),
        sum(rhs_width(o) for s in within for o in operands(s)) + 6 * len(inside),
    )


def is_continued(stmt: If, name: str) -> bool:
    """Whether a conditional goes on with an `and` or `or` of a name."""
    return stmt.test == Name(name) and (not stmt.body or not stmt.orelse)


def value_target(stmt: If, inline: Set[str]) -> str | None:
    """The temporary that a conditional computes, if it does nothing else."""
    name = result_name(stmt)
    if name is None or not name.startswith("_") or name.startswith("_ret"):
        return None  # `_ret` holds what several `return` statements return
    if is_continued(stmt, name):
        return name if _computes(stmt.body or stmt.orelse, name, inline) else None
    both = _computes(stmt.body, name, inline) and _computes(stmt.orelse, name, inline)
    return name if both else None


def _computes(block: Block, name: str, inline: Set[str]) -> bool:
    """Whether a block does nothing but compute a value for `name`."""
    shown = visible(block, inline)
    if any(isinstance(s, Comment) for s in shown) or not 1 <= len(shown) <= 2:
        return False
    first, last = shown[0], shown[-1]
    if len(shown) == 2:
        return (
            isinstance(first, Assign)
            and first.target.id == name
            and isinstance(last, If)
            and is_continued(last, name)
            and value_target(last, inline) == name
        )
    if isinstance(first, If):
        return not is_continued(first, name) and value_target(first, inline) == name
    return isinstance(first, Assign) and first.target.id == name
