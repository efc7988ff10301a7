"""What the forms of calls with a batch axis are made with."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Union

from srcdiff import ir
from srcdiff.ir.kinds import Array, Kind, NoneKind, Scalar, is_container, rank_of, sure
from srcdiff.kinds.atoms import atom_kind
from srcdiff.runtime import batched

ALL = ir.Slice(ir.NONE, ir.NONE, ir.NONE)
"""The index of the batch axis: `:`."""


class NoBatchError(Exception):
    """A statement cannot be written for a batch; with the reason."""

    def __init__(self, reason: str, loc: ir.Loc) -> None:
        super().__init__(reason)
        self.reason, self.loc = reason, loc


@dataclass
class Context:
    """What is known of the names, the size of the batch, and the statements made so far."""

    kinds: dict[str, Kind]  # of a single item
    names: frozenset[str]  # those with a batch axis
    written: frozenset[str]  # those whose memory is written into
    numbers: frozenset[str]  # those that are bound to a literal somewhere
    size: ir.Name
    fresh: ir.Fresh
    renamed: frozenset[str] = frozenset()  # those that stand for what another name stands for
    shadows: frozenset[str] = frozenset()  # those that may share memory with a shadow
    owned: bool = True  # what is added to in place shares no memory that matters
    loc: ir.Loc = ir.NOWHERE
    out: list[ir.Stmt] = field(default_factory=list)
    transposed: dict[str, ir.Name] = field(default_factory=dict)  # of which matrix, here

    def emit(self, rhs: ir.Rhs) -> ir.Name:
        """A name for a value."""
        target = self.fresh()
        self.out.append(ir.Assign(target, rhs, self.loc))
        return target

    def named(self, name: ir.Name, kind: Kind) -> ir.Name:
        """A new name of something with the axis, of a kind for a single item."""
        self.kinds[name.id] = kind
        self.names |= {name.id}
        return name

    def call(self, fn: ir.Callee, *args: ir.Atom) -> ir.Name:
        """A name for what a call returns."""
        return self.emit(ir.Call(fn, args))

    def has(self, node: ir.Rhs | None) -> bool:
        """Whether an atom or call reads a name with a batch axis."""
        return any(n in self.names for n in ir.names(node))

    def kind(self, atom: ir.Atom) -> Kind:
        """The kind of an atom for a single item."""
        return atom_kind(atom, self.kinds)

    def rank(self, atom: ir.Atom) -> int | None:
        """The number of axes of an atom for a single item, None if unknown."""
        if isinstance(atom, ir.Const) and isinstance(atom.value, (int, float, complex)):
            return 0
        return rank_of(self.kind(atom))

    def is_number(self, atom: ir.Atom) -> bool:
        """Whether an atom is certainly a number for a single item."""
        return isinstance(self.kind(atom), Scalar)

    def is_array(self, atom: ir.Atom) -> bool:
        """Whether an atom is certainly an array for a single item, or a number of NumPy's."""
        return isinstance(self.kind(atom), Array)

    def is_container(self, atom: ir.Atom) -> bool:
        """Whether an atom certainly is a tuple, list, dict or None."""
        kind = self.kind(atom)
        return is_container(kind) or isinstance(sure(kind), NoneKind)

    def one(self, atom: ir.Atom) -> ir.Atom:
        """A value for a single item: the first one of a batch."""
        return self.call(operator.getitem, atom, ir.Const(0)) if self.has(atom) else atom

    def item(self, atom: ir.Atom, index: ir.Atom) -> ir.Name:
        """`atom[index]`."""
        return self.call(operator.getitem, atom, index)

    def turned(self, matrix: ir.Atom) -> ir.Name:
        """A matrix transposed."""
        found = self.transposed.get(matrix.id) if isinstance(matrix, ir.Name) else None
        return self.emit(ir.Call(ir.Attr("T"), (matrix,))) if found is None else found

    def widened(self, atom: ir.Atom, count: int) -> ir.Atom:
        """A batch with `count` axes more behind the batch axis."""
        return self.item(atom, ir.Tup((ALL, *(ir.NONE,) * count))) if count > 0 else atom

    def completed(self, atom: ir.Atom) -> ir.Atom:
        """An atom that has the axis in all its parts."""
        if isinstance(atom, ir.Tup):
            return ir.Tup(tuple(map(self.completed, atom.items)))
        if self.has(atom) or atom == ir.NONE:
            return atom
        if isinstance(atom, ir.Name) and atom.id in self.written and self.is_array(atom):
            reason = "an array that is written into becomes part of what has the axis"
            raise NoBatchError(reason, self.loc)
        return self.call(batched.repeated, atom, self.size)

    def aligned(self, atoms: Sequence[ir.Atom]) -> tuple[ir.Atom, ...]:
        """Operands that broadcast against each other behind the batch axis."""
        return tuple(
            self.beside(a, [b for b in atoms if b != a]) if self.has(a) else a for a in atoms
        )

    def beside(self, atom: ir.Atom, others: Sequence[ir.Atom]) -> ir.Atom:
        """A batch with axes behind the first, so that it broadcasts against other operands."""
        rank, ranks = self.rank(atom), [self.rank(o) for o in others]
        if not any(ranks) and None not in ranks:
            return atom
        if rank is None or None in ranks:
            larger = [o for o, r in zip(others, ranks) if r != 0]
            return self.call(batched.beside, atom, *map(self.one, larger))
        return self.widened(atom, max(r for r in ranks if r is not None) - rank)


Form = Callable[[Context, ir.Call], Union[ir.Rhs, None]]
"""What a call is with a batch axis; None where it has to be made for each item."""
