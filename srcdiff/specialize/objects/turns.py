"""Objects that say by `__iter__` what a loop, an unpacking or `list` takes of them."""

from __future__ import annotations

import operator
import types
from dataclasses import replace
from typing import Any

from srcdiff import ir
from srcdiff.analysis.links import use_counts
from srcdiff.errors import UnsupportedError
from srcdiff.runtime import records
from srcdiff.specialize.unroll import Unroller

_TAKING = (list, tuple, sum, min, max, sorted)


def _hashable(fn: Any) -> bool:
    return getattr(type(fn), "__hash__", None) is not None


class InTurn(Unroller):
    """What takes the items of objects, as calls of their methods."""

    def iterated(self, stmt: ir.Assign | ir.Effect, call: ir.Call) -> ir.Call:
        """What a loop or an unpacking asks an object: of the list of what its `__iter__` gives."""
        if call.fn is ir.make_list:
            return replace(call, args=tuple(self.starred(a, stmt.loc) for a in call.args))
        item = call.fn is operator.getitem and (call.text or "").startswith("item ")
        first = call.fn is len and isinstance(stmt, ir.Assign) and stmt.target.id.startswith("_n")
        if not (item or first) or not isinstance(call.args[0], ir.Name):
            return call
        base = call.args[0]
        own = self.member(base, "__iter__")
        if not isinstance(own, types.FunctionType):
            return call
        if first or base.id not in self.items:
            given = self.temp(ir.Call(own, (base,)), stmt.loc)
            self.items[base.id] = self.temp(ir.Call(list, (given,), text="list"), stmt.loc)
        return replace(call, args=(self.items[base.id], *call.args[1:]))

    def starred(self, atom: ir.Atom, loc: ir.Loc) -> ir.Atom:
        """`*x` of an object in a list."""
        base = atom.value if isinstance(atom, ir.Star) else ir.NONE
        own = self.member(base, "__iter__") if isinstance(base, ir.Name) else None
        if not isinstance(own, types.FunctionType):
            return atom
        given = self.temp(ir.Call(own, (base,)), loc)
        return ir.Star(self.temp(ir.Call(list, (given,), text="list"), loc))

    def taken_in_turn(self, call: ir.Call, loc: ir.Loc) -> ir.Rhs | None:
        """`list(x)` of an object, and of `iter(ys)`, which nothing else takes items of."""
        if not _hashable(call.fn) or call.fn not in _TAKING or len(call.args) != 1:
            return None
        base = call.args[0]
        behind = self.behind_iterator(base)
        if behind is not None:
            return replace(call, args=(behind, *call.args[1:]))
        own = self.member(base, "__iter__")
        if isinstance(self.member(base, "__next__"), types.FunctionType):
            raise UnsupportedError(
                "an object that gives one item after the other is iterated", loc,
                remedy="Give a list of the items.",
            )  # fmt: skip
        if records.is_named_tuple(self.cls(base)):
            return None
        if not isinstance(own, types.FunctionType):
            if isinstance(self.member(base, "__getitem__"), types.FunctionType):
                raise UnsupportedError(
                    "the items of an object that has no `__iter__` are taken in turn", loc,
                    remedy="Take them one by one: `[x[k] for k in range(len(x))]`.",
                )  # fmt: skip
            return None
        return replace(call, args=(self.temp(ir.Call(own, (base,)), loc),))

    def behind_iterator(self, atom: ir.Atom) -> ir.Atom | None:
        """What `iter` was given to make a value that is read once."""
        while isinstance(atom, ir.Name):
            made = [s for s in ir.walk(self.whole.body) if atom.id in ir.writes(s)]
            if len(made) != 1 or use_counts(self.whole.body).get(atom.id) != 1:
                return None
            rhs = made[0].rhs if isinstance(made[0], ir.Assign) else None
            if isinstance(rhs, ir.Call) and rhs.fn is iter and len(rhs.args) == 1:
                return rhs.args[0]
            if not isinstance(rhs, ir.Name):
                return None
            atom = rhs
        return None
