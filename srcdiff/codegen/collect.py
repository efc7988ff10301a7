"""Loops that only fill a list or a dict: `[e for x in xs if c]`, `{k: v for ...}`."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from srcdiff.analysis.reads import is_pure
from srcdiff.analysis.uses import Scan, stmt_reads
from srcdiff.codegen.measure import rhs_width
from srcdiff.codegen.visible import container, filled_name, visible
from srcdiff.ir import (
    Assign,
    Block,
    Call,
    For,
    If,
    Stmt,
    bound,
    make_dict,
    make_list,
    operands,
    walk,
)

Targets = Mapping[str, tuple[object, int]]


@dataclass(frozen=True)
class Collection:
    """A loop that fills one temporary, which is used once after it."""

    name: str
    reads: frozenset[str]
    impure: bool
    width: int


def filled(scan: Scan) -> frozenset[str]:
    """The containers that some statements put something into."""
    return frozenset(n for s in scan.stmts if (n := container(s)) is not None)


def find_collection(
    block: Block, index: int, loop: For, inline: Set[str], scan: Scan, targets: Targets
) -> Collection | None:
    """What the loop at `index` collects, if it does nothing else."""
    uses, defs, starts = scan.uses, scan.defs, targets
    name = filled_name(loop)
    if name is None or name in scan.held or (uses[name], defs[name]) != (2, 1):
        return None
    if not _is_empty(block[:index], name):
        return None
    inner = [s for s in walk((loop,)) if isinstance(s, For)]
    if not _only_fills(loop, name, inline, starts) or any(f.stop is not None for f in inner):
        return None
    variables = bound((loop,)) - inline
    if any(uses[v] != scan.reads_in((loop,), v) or defs[v] > 1 and uses[v] for v in variables):
        return None
    return _collection(name, loop)


def _collection(name: str, loop: For) -> Collection:
    within = list(walk((loop,)))
    reads = frozenset(n for s in within for n in stmt_reads(s)) - {name} - bound((loop,))
    impure = any(isinstance(s, Assign) and not is_pure(s.rhs) for s in within)
    width = sum(rhs_width(o) for s in within for o in operands(s))
    return Collection(name, reads, impure, width + 12)


def _is_empty(before: Block, name: str) -> bool:
    """Whether a name is an empty list or dict when the loop begins."""
    for stmt in reversed(before):
        if isinstance(stmt, Assign) and stmt.target.id == name:
            rhs = stmt.rhs
            made = isinstance(rhs, Call) and (rhs.fn is make_list or rhs.fn is make_dict)
            return made and not rhs.args  # type: ignore[union-attr]
    return False


def _only_fills(
    stmt: Stmt, name: str, inline: Set[str], starts: Targets
) -> bool:
    """Whether a statement is a loop or test around nothing but one that fills the container."""
    if isinstance(stmt, If):
        return not stmt.orelse and _fills_last(stmt.body, name, inline, starts)
    if isinstance(stmt, For):
        start = starts.get(stmt.target.id, (None, 0))[1]
        return _fills_last(stmt.body[start:], name, inline, starts)
    return container(stmt) == name


def _fills_last(
    block: Block, name: str, inline: Set[str], starts: Targets
) -> bool:
    shown = visible(block, inline)
    return len(shown) == 1 and shown[0] is block[-1] and _only_fills(shown[0], name, inline, starts)
