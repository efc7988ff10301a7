"""What names are known to equal at a point of a walk through a function.

A fact `name = rhs` holds until the name, or a name in `rhs`, is bound again, or memory that the
right-hand side looks at is written into.  Every name and every class of memory has a version that
goes up when that happens; a fact remembers the versions it was made under.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import NamedTuple

from srcdiff import ir
from srcdiff.analysis.liveness import names_in
from srcdiff.optimize.memory import Memory


def is_view(rhs: ir.Rhs) -> bool:
    """Whether a right-hand side is surely a view, if it is an array: `x.T`, `x[1:, 2]`."""
    if not isinstance(rhs, ir.Call):
        return False
    if rhs.fn is not operator.getitem:
        return isinstance(rhs.fn, ir.Attr) and rhs.fn.name == "T"
    index = rhs.args[1]
    items = index.items if isinstance(index, ir.Tup) else (index,)
    return all(isinstance(i, (ir.Slice, ir.Const)) for i in items) and any(
        isinstance(i, ir.Slice) for i in items
    )


class Fact(NamedTuple):
    """A right-hand side and the versions of what it depends on."""

    rhs: ir.Rhs
    names: tuple[tuple[str, int], ...]
    memory: tuple[tuple[str, int], ...]
    block: int


class Available:
    """The facts that hold at the present point."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.facts: dict[str, Fact] = {}
        self.values: dict[ir.Rhs, str] = {}
        self.names: dict[str, int] = {}
        self.written: dict[str, int] = {}

    def bind(self, name: str) -> None:
        """A name takes a new value."""
        self.names[name] = self.names.get(name, 0) + 1

    def write(self, classes: Iterable[str]) -> None:
        """Memory is written into."""
        for name in classes:
            self.written[name] = self.written.get(name, 0) + 1

    def forget(self, block: ir.Block) -> None:
        """Whatever a block may bind or write has happened, or is about to."""
        for stmt in ir.walk(block):
            for name in ir.writes(stmt):
                self.bind(name)
            self.change(stmt)

    def change(self, stmt: ir.Stmt) -> None:
        """The memory that a statement itself writes into; a number is bound anew instead."""
        self.write(self.memory.written_by(stmt))
        if isinstance(stmt, ir.SetItem) and stmt.index is None:
            self.bind(stmt.base.id)

    def learn(self, name: str, rhs: ir.Rhs, block: int) -> None:
        """From here on `name` equals `rhs`."""
        if isinstance(rhs, ir.Opaque):
            return
        reads = tuple(names_in(rhs))
        if name in reads:
            return
        fact = self._fact(name, rhs, reads, block)
        self.facts[name] = fact
        if isinstance(rhs, ir.Call):
            self.values[rhs] = name

    def _fact(self, name: str, rhs: ir.Rhs, reads: tuple[str, ...], block: int) -> Fact:
        versions = tuple([(n, self.names.get(n, 0)) for n in (name, *reads)])
        # A copy is the same object: what is written into one is written into the other.
        # So is a view: its elements change, it stays the view that it is.
        if isinstance(rhs, ir.Name) or is_view(rhs):
            return Fact(rhs, versions, (), block)
        classes = {self.memory.find(n) for n in (name, *reads) if self.memory.is_mutated(n)}
        memory = tuple([(c, self.written.get(c, 0)) for c in sorted(classes)]) if classes else ()
        return Fact(rhs, versions, memory, block)

    def value(self, atom: ir.Atom) -> ir.Rhs | None:
        """What a name is known to equal."""
        if type(atom) is not ir.Name:
            return None
        fact = self.facts.get(atom.id)
        return fact.rhs if fact is not None and self._holds(fact) else None

    def copied(self, name: ir.Name) -> ir.Atom:
        """What a name is a copy of; itself if it is none."""
        fact = self.facts.get(name.id)
        if fact is None or not isinstance(fact.rhs, (ir.Name, ir.Const, ir.Ref)):
            return name
        return fact.rhs if self._holds(fact) else name

    def same_value(self, rhs: ir.Rhs, block: int) -> str | None:
        """A name, bound in this block, that equals a right-hand side."""
        name = self.values.get(rhs)
        if name is None:
            return None
        fact = self.facts.get(name)
        if fact is None or fact.block != block or fact.rhs != rhs or not self._holds(fact):
            return None
        return name

    def _holds(self, fact: Fact) -> bool:
        for name, version in fact.names:
            if self.names.get(name, 0) != version:
                return False
        return not fact.memory or all(self.written.get(c, 0) == v for c, v in fact.memory)
