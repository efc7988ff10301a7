"""Tangents that lie in memory as their values do, where it depends on that what is a view.

A view of a tangent is made by the same call as that of its value.  Whether `y.ravel()` is a view
depends on how `y` lies: where it matters, what is computed beside `y` is put in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from srcdiff import ir
from srcdiff.analysis.laid import laid_classes
from srcdiff.autodiff.tangents import Scribe
from srcdiff.ir.kinds import Kind
from srcdiff.normalize.copy_in import lent_names
from srcdiff.primitives.effects import returns_view
from srcdiff.runtime import layout


def laid_names(
    function: ir.Function, kinds: Mapping[str, Kind], classes: Mapping[str, str]
) -> frozenset[str]:
    """The names whose tangents have to lie in memory as they do."""
    lent = {classes[n] for n in lent_names(function) if n in classes}
    return laid_classes(function, kinds) | {n for n, owner in classes.items() if owner in lent}


_HOLD = (ir.make_list, ir.make_dict, list, tuple, dict, reversed, sorted)


def laid_tangent(stmt: ir.Assign, tangent: ir.Rhs | None, scribe: Scribe) -> ir.Rhs | None:
    """The tangent of an assignment, in the order in memory of its value if that matters."""
    call = stmt.rhs
    if stmt.target.id not in scribe.facts.laid or not isinstance(call, ir.Call):
        return tangent
    if tangent is None or isinstance(tangent, ir.Const) or call.fn in _HOLD:
        return tangent
    if returns_view(call, scribe.facts.kinds) or _is_like(tangent, stmt.target):
        return tangent
    if isinstance(tangent, ir.Call) and tangent.fn is np.array and not tangent.kwargs:
        tangent = tangent.args[0]  # the copy is made in that order
    value = scribe.temp(tangent) if isinstance(tangent, ir.Call) else tangent
    assert isinstance(value, (ir.Name, ir.Tup, ir.Const))
    return ir.Call(layout.laid_like, (value, stmt.target))


def _is_like(tangent: ir.Rhs, target: ir.Name) -> bool:
    """Whether a tangent is made of zeros that lie as the value."""
    zeros = isinstance(tangent, ir.Call) and tangent.fn is np.zeros_like
    return zeros and tangent.args == (target,)  # type: ignore[union-attr]
