"""Loop variables that may have one name: those of loops of which none stands inside another.

Takes a function and returns new names for some of its loop variables; a variable takes part if
only loops bind it and only their bodies read it, so that it means nothing between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from srcdiff import ir
from srcdiff.analysis.liveness import reads_of


def shared(function: ir.Function, families: Mapping[str, str]) -> dict[str, str]:
    """The variables that take another's name: `families` says which `i` an `i_1` is called after.

    That is the name itself, or another variable that is called after it.
    """
    if not families:
        return {}
    known = _Loops(function)
    first = {n: None for n in known.around if n in families}
    found: dict[str, str] = {}
    same: dict[str, list[str]] = {}
    for name in first:
        family = families[name]
        others = same.setdefault(family, [family] if family in known.around else [])
        taken = next((n for n in others if n not in known.around[name]), None)
        if taken is None:
            others.append(name)
        else:
            found[name] = taken
            known.join(name, taken)
    return found


class _Loops:
    """The variables that mean something in their loops alone, and those of loops around each."""

    def __init__(self, function: ir.Function) -> None:
        self.around: dict[str, set[str]] = {}
        self.others = {p.name for p in function.params}
        self.block(function.body, ())
        self.around = {n: a for n, a in self.around.items() if n not in self.others}

    def block(self, block: ir.Block, outer: tuple[str, ...]) -> None:
        """Looks at a block inside the loops of some variables."""
        for stmt in block:
            self.others.update(n for n in _reads(stmt) if n not in outer or _is_text(stmt))
            if not isinstance(stmt, ir.For):
                self.others.update(ir.writes(stmt))
            for inner in ir.blocks(stmt):
                self.block(inner, self.inside(stmt, outer))

    def inside(self, stmt: ir.Stmt, outer: tuple[str, ...]) -> tuple[str, ...]:
        """The variables of the loops around the blocks of a statement."""
        if not isinstance(stmt, ir.For):
            return outer
        name = stmt.target.id
        self.around.setdefault(name, set()).update((name, *outer))
        for other in outer:
            self.around[other].add(name)
        return (*outer, name)

    def join(self, name: str, taken: str) -> None:
        """Give a variable another one's name."""
        for other in self.around.pop(name) - {name}:
            self.around[taken].add(other)
            self.around.get(other, set()).add(taken)


def _reads(stmt: ir.Stmt) -> Iterator[str]:
    """The names that a statement itself reads, its test and its flag included."""
    yield from reads_of(stmt)
    if isinstance(stmt, ir.While):
        yield from ir.names(stmt.test)
    if isinstance(stmt, (ir.For, ir.While)) and stmt.stop is not None:
        yield stmt.stop.id


def _is_text(stmt: ir.Stmt) -> bool:
    """Whether a function in a text that is taken over may look at names later."""
    return any(isinstance(o, (ir.Opaque, ir.Verbatim)) for o in (stmt, *ir.operands(stmt)))
