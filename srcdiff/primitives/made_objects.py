"""Calls that make an object out of the values of its attributes."""

from __future__ import annotations

from typing import Any

from srcdiff import ir
from srcdiff.runtime import records, trees


def makes_object(fn: Any) -> bool:
    """Whether a callee makes an object out of the values of its attributes."""
    if isinstance(fn, type):
        return records.plain_fields(fn) is not None
    return fn is records.instance or fn is trees.like_object


def object_parts(call: ir.Call) -> tuple[tuple[str, ...], tuple[ir.Atom, ...]]:
    """The attributes of an object that a call makes: their names and values."""
    fields = records.plain_fields(call.fn)
    if fields is not None:
        return fields, call.args
    return tuple(str(k) for k, _ in call.kwargs), tuple(v for _, v in call.kwargs)
