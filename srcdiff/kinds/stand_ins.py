"""Tiny values that stand for all values of a kind, for functions to be tried on."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcdiff.ir.kinds import (
    BIG,
    Array,
    Callable,
    Dim,
    Kind,
    List,
    NoneKind,
    Object,
    Scalar,
    SliceKind,
    Sym,
    Text,
    Tuple,
)

Key = tuple[Any, ...]  # what tells one unknown length of the operands from another
Lengths = dict[Key, int]


class NoStandInError(Exception):
    """There is no stand-in for this kind."""


def key_of_length(dim: Dim, path: tuple[int, ...]) -> Key:
    """What tells a length from others; known integers are varied as well."""
    if isinstance(dim, Sym) and dim.name != BIG.name:
        return dim.name, dim.offset
    return ("", dim) if isinstance(dim, int) else ("?", *path)


def stand_in(kind: Kind, path: tuple[int, ...], lengths: Lengths, fill: float, whole: int) -> Any:
    """A value of a kind; `whole` for integers of which nothing is known."""
    if isinstance(kind, Scalar):
        return _number(kind, fill, whole)
    if isinstance(kind, Array):
        return _filled(kind, path, lengths, fill)
    if isinstance(kind, (Tuple, List)):
        inner = enumerate(kind.items or ())
        items = [stand_in(k, (*path, i), lengths, fill, whole) for i, k in inner]
        return tuple(items) if isinstance(kind, Tuple) else items
    if isinstance(kind, NoneKind):
        return None
    if isinstance(kind, (Text, Callable, Object)) and kind.value is not None:
        if not isinstance(kind, Callable) or _is_type(kind.value):
            return kind.value
    if isinstance(kind, SliceKind):
        parts = (kind.lower, kind.upper, kind.step)
        return slice(*(stand_in(k, path, lengths, fill, whole) for k in parts))
    raise NoStandInError


def _is_type(value: Any) -> bool:
    """Whether a callable operand is a type of numbers (nothing else is passed on)."""
    return value in (bool, int, float, complex) or (
        isinstance(value, type) and issubclass(value, np.generic)
    )


def _number(kind: Scalar, fill: float, whole: int) -> Any:
    """A number of a dtype."""
    dtype = np.dtype(kind.dtype)
    value: Any = kind.value
    if value is None:
        value = fill if dtype.kind in "fc" else True if dtype.kind == "b" else whole
    if not kind.python:
        return dtype.type(value)
    return {"b": bool, "i": int, "u": int, "f": float, "c": complex}[dtype.kind](value)


def _filled(kind: Array, path: tuple[int, ...], lengths: Lengths, fill: float) -> Any:
    """An array of a dtype and of the given lengths, invertible where it is square."""
    dims = kind.dims or ()
    shape = tuple(
        1 if d == 1 else lengths[key_of_length(d, (*path, axis))] for axis, d in enumerate(dims)
    )
    try:
        dtype = np.dtype(kind.dtype)
    except TypeError:
        raise NoStandInError from None
    if dtype.kind not in "biufc":
        return np.zeros(shape, dtype)
    result = np.full(shape, fill if dtype.kind in "fc" else 1, dtype)
    if len(shape) > 1 and shape[-1] == shape[-2] and dtype.kind in "fc":
        result += 3 * np.eye(shape[-1], dtype=dtype)
    return result
