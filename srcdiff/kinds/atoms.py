"""The kinds of atoms and calls where those of the names are given."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from srcdiff import ir
from srcdiff.ir.kinds import (
    UNKNOWN,
    Array,
    Kind,
    Maybe,
    Object,
    Scalar,
    SliceKind,
    Text,
    Tuple,
    is_inexact_dtype,
    maybe,
)
from srcdiff.kinds.calls import call_kind, surely
from srcdiff.kinds.of_values import kind_of
from srcdiff.runtime.devices import on_device


def kind_of_call(call: ir.Call, kinds: Mapping[str, Kind]) -> Kind:
    """The kind of a call's result where the names have these kinds."""
    args = [atom_kind(a, kinds) for a in call.args]
    kwargs = tuple((k, atom_kind(v, kinds)) for k, v in call.kwargs if k is not None)
    if len(kwargs) < len(call.kwargs) or any(isinstance(a, ir.Star) for a in call.args):
        return UNKNOWN
    return call_kind(call.fn, tuple(surely(call.fn, args)), kwargs)


def atom_kind(atom: ir.Atom, kinds: Mapping[str, Kind]) -> Kind:
    """The kind of an atom; names that are not given are unknown."""
    if type(atom) is ir.Name:
        return kinds.get(atom.id, UNKNOWN)
    if isinstance(atom, ir.Const):
        return constant_kind(atom.value)
    if isinstance(atom, ir.Ref):
        return kind_of(atom.value, atom.text)
    if isinstance(atom, ir.Tup):
        if any(isinstance(i, ir.Star) for i in atom.items):
            return Tuple(None)
        return Tuple(tuple(atom_kind(i, kinds) for i in atom.items))
    if isinstance(atom, ir.Slice):
        return SliceKind(*(atom_kind(p, kinds) for p in (atom.lower, atom.upper, atom.step)))
    return UNKNOWN


@lru_cache(maxsize=1024, typed=True)
def constant_kind(value: Any) -> Kind:
    """The kind of a literal."""
    if isinstance(value, (bool, int)):
        return Scalar("bool" if isinstance(value, bool) else "int64", True, value)
    if isinstance(value, str):
        return Text(value)
    return Object("ellipsis") if value is ... else kind_of(value, "")


def float_like(kind: Kind) -> Kind:
    """The kind of the adjoint of a value: its shape, with a floating dtype."""
    if isinstance(kind, Scalar) and on_device():
        return Array(_float_dtype(kind.dtype), (), maybe_scalar=True)
    if isinstance(kind, Scalar):
        return Scalar(_float_dtype(kind.dtype), None)
    if isinstance(kind, Array):
        return Array(_float_dtype(kind.dtype), kind.dims, kind.maybe_scalar)
    return maybe(float_like(kind.kind)) if isinstance(kind, Maybe) else UNKNOWN


def _float_dtype(dtype: str | None) -> str | None:
    return dtype if dtype is None or is_inexact_dtype(dtype) else "float64"
