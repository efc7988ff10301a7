"""Refuse arrays of Python objects that a value with a derivative is put into.

NumPy keeps such a value as it is, so that a derivative would have to pass; it has no place in an
array of zeros of that dtype.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from srcdiff import ir
from srcdiff.analysis.activity import edges_of, reachable
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.flow import flows
from srcdiff.ir.kinds import UNKNOWN, Array, Kind


def check_boxed(
    function: ir.Function, kinds: Mapping[str, Kind], inputs: tuple[str, ...]
) -> None:
    """Refuse an array of objects that holds what depends on the inputs.

    Raises:
        UnsupportedError: a value that carries a derivative is stored in it, or it is made of one.
    """
    boxes = {n for n, k in kinds.items() if isinstance(k, Array) and k.dtype == "object"}
    boxes |= {s.target.id for s in ir.walk(function.body) if _makes_box(s)}  # type: ignore[union-attr]
    if not boxes:
        return
    found = edges_of(function, {**kinds, **dict.fromkeys(boxes, UNKNOWN)}, flows)
    varied = reachable(inputs, found)
    for source, target, stmt in found:
        if target in boxes and source in varied and source not in boxes:
            raise UnsupportedError(
                f"{ir.said(target)} is an array of Python objects, through which no derivative "
                "passes",
                stmt.loc,
                remedy="Keep the values in a list, or in an array of numbers.",
            )


def _makes_box(stmt: ir.Stmt) -> bool:
    """Whether a statement binds what a call makes that is given the dtype of objects."""
    if not isinstance(stmt, ir.Assign) or not isinstance(stmt.rhs, ir.Call):
        return False
    dtypes = [v for k, v in stmt.rhs.kwargs if k == "dtype"] or stmt.rhs.args[1:]
    return any(isinstance(a, (ir.Ref, ir.Const)) and _is_object(a.value) for a in dtypes)


def _is_object(dtype: object) -> bool:
    """Whether something names the dtype of Python objects."""
    if isinstance(dtype, str):
        return dtype in ("O", "object")
    return dtype is object or dtype is np.object_ or (isinstance(dtype, np.dtype) and dtype == "O")
