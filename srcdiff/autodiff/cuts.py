"""Stores into arrays that may hold whole numbers, which cut off what is stored.

Of such an array the dtype is not known: where it has no fractions, nothing that is stored into it
has a derivative, and the adjoint or tangent of its place is cleared.
"""

from __future__ import annotations

from collections.abc import Iterable

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.ir.kinds import UNKNOWN, Array, sure
from srcdiff.runtime import arrays


def cut_adjoint(
    base: ir.Name, index: ir.Atom | None, stored: Iterable[str], facts: Facts, loc: ir.Loc
) -> ir.Block:
    """What clears the adjoint of a place where what is `stored` was cut."""
    if not _may_cut(base, stored, facts):
        return ()
    adjoint = facts.adjoint(base.id)
    return (ir.Demand(adjoint, base, loc), *_cleared(base, adjoint, index, facts, loc))


def cut_tangent(
    base: ir.Name, index: ir.Atom | None, stored: Iterable[str], facts: Facts, loc: ir.Loc
) -> ir.Block:
    """What clears the tangent of a place where what is `stored` was cut."""
    if not _may_cut(base, stored, facts):
        return ()
    return _cleared(base, facts.adjoint(base.id), index, facts, loc)


def _may_cut(base: ir.Name, stored: Iterable[str], facts: Facts) -> bool:
    """Whether values with a derivative go into what may be an array of whole numbers."""
    kind = sure(facts.kinds.get(base.id, UNKNOWN))
    unknown = kind == UNKNOWN or (isinstance(kind, Array) and kind.dtype is None)
    others = (n for n in stored if n != base.id)
    return unknown and base.id in facts.active and any(n in facts.active for n in others)


def _cleared(
    base: ir.Name, place: ir.Name, index: ir.Atom | None, facts: Facts, loc: ir.Loc
) -> ir.Block:
    test = facts.fresh("_t")
    at = ir.Const(...) if index is None else index
    clear = ir.SetItem(place, at, ir.Const(0.0), None, loc)
    ask = ir.Assign(test, ir.Call(arrays.is_discrete, (base,), text="is_discrete"), loc)
    return (ask, ir.If(test, (clear,), (), loc))
