"""Functions that give an array back that they are given, where they have nothing to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.kinds import Array, Kind, rank_of

_TIMES: dict[Any, tuple[str, int, int]] = {
    np.diff: ("n", 1, 0),
    np.polyder: ("m", 1, 0),
    np.polyint: ("m", 1, 0),
    np.linalg.matrix_power: ("n", 0, 1),
}
"""How often something is done, its default, and the number for which nothing is."""


def may_give_back(call: ir.Call, kinds: Mapping[str, Kind] | None) -> bool:
    """Whether what a call returns may be its first argument itself."""
    if isinstance(call.fn, type) and issubclass(call.fn, np.generic):
        return bool(call.args) and _dtype(call, kinds) in (None, np.dtype(call.fn).name)
    return _times(call) in (None, True)


def gives_back(call: ir.Call, kinds: Mapping[str, Kind]) -> bool:
    """Whether what a call returns certainly is its first argument itself, an array."""
    if isinstance(call.fn, type) and issubclass(call.fn, np.generic):
        return len(call.args) == 1 and _dtype(call, kinds) == np.dtype(call.fn).name
    return _times(call) is True


def _dtype(call: ir.Call, kinds: Mapping[str, Kind] | None) -> str | None:
    """The dtype of the first argument of a call, if that certainly is an array with axes."""
    first = call.args[0] if call.args else None
    kind = (kinds or {}).get(first.id) if isinstance(first, ir.Name) else None
    known = isinstance(kind, Array) and not kind.maybe_scalar and rank_of(kind)
    return kind.dtype if known else None  # type: ignore[union-attr]


def _times(call: ir.Call) -> bool | None:
    """Whether something is certainly done no times, None where that is not known."""
    if isinstance(call.fn, (ir.Method, ir.Attr, ir.Name, ir.Derived)) or call.fn not in _TIMES:
        return False
    name, default, nothing = _TIMES[call.fn]
    number = dict(call.kwargs).get(name, call.args[1] if len(call.args) > 1 else ir.Const(default))
    return number.value == nothing if isinstance(number, ir.Const) else None


def asks_copy(call: ir.Call) -> bool:
    """Whether a call is told to copy: `x.reshape(n, copy=True)`."""
    return any(k == "copy" and v == ir.Const(True) for k, v in call.kwargs)


def copies(call: ir.Call) -> bool:
    """Whether what may give a view is told to copy, as `np.array` is unless told otherwise."""
    return asks_copy(call) or (call.fn is np.array and not asks_no_copy(call))


def asks_no_copy(call: ir.Call) -> bool:
    """Whether `np.array` is told that it need not copy."""
    return any(k == "copy" and v != ir.Const(True) for k, v in call.kwargs) or len(call.args) > 2
