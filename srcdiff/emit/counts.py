"""How often the names of a function are read and bound, and which of them are temporaries."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from srcdiff.ir import (
    Block,
    For,
    Name,
    Opaque,
    Permute,
    Rhs,
    SetItem,
    Stmt,
    Verbatim,
    While,
    atoms,
    operands,
    walk,
    writes,
)  # fmt: skip

_TEMPORARY = re.compile(r"(d_)*_")


def is_temporary(name: str) -> bool:
    """Whether a name is the compiler's: it starts with `_`, or is the adjoint of such a one."""
    return _TEMPORARY.match(name) is not None


def count_names(body: Block) -> tuple[Counter[str], Counter[str]]:
    """How often every name is read and bound; reads that cannot be replaced count twice."""
    uses: Counter[str] = Counter()
    defs: Counter[str] = Counter()
    for stmt in walk(body):
        defs.update(writes(stmt))
        for operand in _all_operands(stmt):
            fixed = 2 if isinstance(operand, Opaque) or isinstance(stmt, (Verbatim, Permute)) else 1
            for atom in atoms(operand):
                if isinstance(atom, Name):
                    uses[atom.id] += fixed
        if isinstance(stmt, (For, While)) and stmt.stop is not None:
            uses[stmt.stop.id] += 2
        if isinstance(stmt, SetItem) and stmt.index is None:
            uses[stmt.base.id] += 2
    return uses, defs


def _all_operands(stmt: Stmt) -> Iterator[Rhs]:
    yield from operands(stmt)
    if isinstance(stmt, While):
        yield stmt.test
