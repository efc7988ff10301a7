"""Taking a minus sign out of a chain of products and sums: exact in floating point."""

from __future__ import annotations

import operator
from collections.abc import Mapping, MutableMapping
from dataclasses import replace

import numpy as np

from srcdiff import ir
from srcdiff.ir.kinds import Kind, is_float, is_real
from srcdiff.kinds.interpreter import atom_kind, kind_of_call
from srcdiff.optimize.available import Available

PRODUCTS = (operator.mul, operator.truediv, operator.matmul, np.outer)
LINEAR = (np.sum,)  # not those that return views: their operand may be written into
DEPTH = 12


def is_linear(call: ir.Call) -> bool:
    """Whether a call is linear in its first argument: not if it starts with another value."""
    if call.fn not in LINEAR or len(call.args) not in (1, 2):
        return False
    return all(k in ("axis", "keepdims") for k, _ in call.kwargs)


class Signs:
    """Finds negations inside chains of temporaries that are used once, and builds the chain anew.

    New statements are put into `pending`; the walk places them before the present statement.
    """

    def __init__(
        self,
        kinds: MutableMapping[str, Kind],
        available: Available,
        uses: Mapping[str, int],
        fresh: ir.Fresh,
    ) -> None:
        self.kinds = kinds
        self.available = available
        self.uses = uses
        self.fresh = fresh
        self.pending: list[ir.Assign] = []

    def strip(self, atom: ir.Atom, loc: ir.Loc, depth: int = DEPTH) -> ir.Atom | None:
        """`x` where the atom is `-x`, of real floats; None if there is no sign to take out."""
        if isinstance(atom, ir.Const):
            negative = type(atom.value) is float and atom.value < 0
            return ir.Const(-atom.value) if negative else None
        value = self.available.value(atom)
        if not isinstance(atom, ir.Name) or not isinstance(value, ir.Call):
            return None
        inside = depth > 0 and self.uses.get(atom.id, 0) == 1
        if not inside and value.fn is not operator.neg:
            return None
        kind = atom_kind(atom, self.kinds)
        if not (is_float(kind) and is_real(kind)):
            return None
        if value.fn is operator.neg:
            return self._unsigned(atom, value.args[0])
        return self._inside(value, kind, loc, depth) if inside else None

    def _unsigned(self, atom: ir.Name, inner: ir.Atom) -> ir.Atom | None:
        """The operand of a negation, unless both would then have to be variables."""
        if not is_float(atom_kind(inner, self.kinds)):
            return None
        kept = isinstance(inner, ir.Name) and self.uses.get(inner.id, 0) == 1
        return None if kept and self.uses.get(atom.id, 0) > 1 else inner

    def _inside(self, call: ir.Call, kind: Kind, loc: ir.Loc, depth: int) -> ir.Atom | None:
        """The call without the sign of one of its operands."""
        if call.fn in PRODUCTS and len(call.args) == 2 and not call.kwargs:
            places = range(2)
        elif is_linear(call):
            places = range(1)
        else:
            return None
        for k in places:
            if k < len(call.args):
                plain = self.strip(call.args[k], loc, depth - 1)
                if plain is not None:
                    args = (*call.args[:k], plain, *call.args[k + 1 :])
                    return self.named(replace(call, args=args), kind, loc)
        return None

    def named(self, call: ir.Call, kind: Kind, loc: ir.Loc) -> ir.Name:
        """A new temporary for a call."""
        name = self.fresh()
        self.kinds[name.id] = kind
        self.pending.append(ir.Assign(name, call, loc))
        self.available.memory.note(self.pending[-1])
        return name

    def computed(self, call: ir.Call, loc: ir.Loc) -> ir.Name:
        """A new temporary for a call, whose kind follows from its operands."""
        return self.named(call, kind_of_call(call, self.kinds), loc)
