"""Arguments that no derivative is generated for: arrays with operators of their own, no numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from srcdiff.check.strange import own_meaning
from srcdiff.errors import DtypeError, placed
from srcdiff.frontend.onecall import place_of
from srcdiff.ir.kinds import Array, Kind, Object, Scalar, Sparse, is_active_kind
from srcdiff.runtime import records

_NUMBERLESS = ("builtins", "fractions", "decimal", "array", "datetime")
"""Modules whose objects hold no floating point numbers of NumPy or Python, or hold them apart."""


def check_plain(values: Mapping[str, Any]) -> None:
    """Raise if an array is of a class that gives operators a meaning of its own.

    Raises:
        DtypeError: with the place of the array among the values.
    """
    for name, value in values.items():
        for path, array in _others(name, value):
            raise DtypeError(f"`{path}` {own_meaning(type(array), path)}")


def check_read(refs: Mapping[str, Any]) -> None:
    """The same of what is read from outside; of objects that is what they hold."""
    check_plain({n: v for n, v in refs.items() if not records.is_record(type(v))})


def _others(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The arrays of other classes than NumPy's own in a value."""
    if isinstance(value, (list, tuple)):
        for k, item in enumerate(value):
            yield from _others(f"{path}[{k}]", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _others(f"{path}[{key!r}]", item)
    elif records.becomes_array(type(value)):
        yield path, value


def check_input(name: str, value: Any, kind: Kind, f: Any) -> None:
    """Raise if an input of a function cannot carry a derivative.

    Raises:
        DtypeError: it is no real or complex floating point number, array, or container of them.
    """
    reason = _without_derivative(name, value, kind)
    if reason:
        raise placed(DtypeError(reason), [place_of(f)])


def _without_derivative(name: str, value: Any, kind: Kind) -> str:
    """Why an input cannot carry a derivative, "" if it can."""
    if isinstance(kind, (Scalar, Array)) and not is_active_kind(kind):
        return (
            f"the input `{name}` has dtype {kind.dtype}: only floating point and complex inputs "
            "have a derivative; pass a float, or `.astype(float)`"
        )
    if isinstance(value, np.ndarray) and isinstance(kind, Object):
        what = "with fields" if value.dtype.names else "of Python objects"
        return (
            f"the input `{name}` is an array {what}: only floating point and complex inputs have "
            "a derivative; pass arrays of floats"
        )
    if isinstance(kind, Sparse):
        return (
            f"the input `{name}` is a sparse matrix, which has no derivative of its own: pass the "
            "array of its entries, and make the matrix of it in the function, "
            "`sparse.csr_array((data, indices, indptr), shape=shape)`"
        )
    foreign = isinstance(kind, Object) and type(value).__module__ in _NUMBERLESS
    if foreign or not is_active_kind(kind):
        return (
            f"the input `{name}` is of type {type(value).__name__}, "
            "which holds no floating point number or array"
        )
    return ""
