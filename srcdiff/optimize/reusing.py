"""Calls that make arrays as calls of a workspace: what `workspace=True` asks for.

Takes a finished function and the kinds of its parameters; returns it with `memory.multiply(x, y)`
for `x * y` and `np.multiply(x, y)`, where that certainly is an array with axes.  What a workspace
mirrors is in `srcdiff/runtime/allocating.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.frontend.request import Request
from srcdiff.ir.kinds import Array, Kind, Scalar
from srcdiff.kinds.atoms import atom_kind, kind_of_call
from srcdiff.kinds.interpreter import infer
from srcdiff.runtime.allocating import FUNCTIONS, MEMORY, OPERATORS, POWERS
from srcdiff.runtime.devices import on_device

Kinds = Mapping[str, Kind]
Named = tuple[str | None, tuple[ir.Atom, ...]]

_NAMES: Mapping[Any, str] = {**OPERATORS, **{getattr(np, name): name for name in FUNCTIONS}}
# Where other arguments than arrays and numbers stand, and the keywords that a workspace takes.
_FIRST = ("einsum", "zeros", "ones", "empty", "full", "concatenate", "stack")
_KEYWORDS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("zeros", "ones", "empty", "full"), frozenset({"dtype"})),
    **dict.fromkeys(("concatenate", "stack", "cumsum", "cumprod"), frozenset({"axis"})),
}
_POSITIONAL: Mapping[str, int] = {
    "zeros": 1, "ones": 1, "empty": 1, "full": 2, "zeros_like": 1, "ones_like": 1, "empty_like": 1,
    "full_like": 2, "copy": 1, "array": 1, "concatenate": 2, "stack": 2, "cumsum": 2, "cumprod": 2,
    "matmul": 2, "dot": 2, "outer": 2,
}  # fmt: skip


def reused(function: ir.Function, params: Kinds, request: Request) -> ir.Function:
    """The function with its arrays from a workspace, if the request asks for that.

    CuPy keeps the memory of its arrays itself.
    """
    if not request.workspace or on_device():
        return function
    kinds = infer(function, params)

    def block(inner: ir.Block) -> ir.Block:
        return tuple(stmt(s) for s in inner)

    def stmt(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Assign) and isinstance(s.rhs, ir.Call):
            return replace(s, rhs=_reused(s.rhs, kinds))
        return ir.map_blocks(s, block)

    return replace(function, body=block(function.body))


def _reused(call: ir.Call, kinds: Kinds) -> ir.Call:
    """A call as that of a workspace, if its result is an array with axes for certain."""
    name, args = _named(call, kinds)
    if name is None or not _is_array(kind_of_call(call, kinds)):
        return call
    if any(isinstance(a, ir.Star) for a in args) or not _fits(name, args, call):
        return call
    plain = args[1:] if name in _FIRST else args
    if not all(isinstance(atom_kind(a, kinds), (Array, Scalar)) for a in plain):
        return call
    return replace(call, fn=getattr(MEMORY, name), args=args, text=f"memory.{name}")


def _is_array(kind: Kind | None) -> bool:
    """Whether a value is an array with axes."""
    return isinstance(kind, Array) and not kind.maybe_scalar and bool(kind.dims)


def _named(call: ir.Call, kinds: Kinds) -> Named:
    """The function of NumPy that a call is, and its arguments."""
    if call.fn is operator.pow:
        base, exponent = call.args
        return _power(base, exponent, kinds)
    try:
        return _NAMES.get(call.fn), call.args
    except TypeError:  # some callable object
        return None, ()


def _power(base: ir.Atom, exponent: ir.Atom, kinds: Kinds) -> Named:
    """What `**` is of an array: for some numbers another function than `power`."""
    kind = atom_kind(base, kinds)
    inexact = isinstance(kind, Array) and (kind.dtype or "").startswith(("float", "complex"))
    if not isinstance(exponent, ir.Const):
        whole = _is_array(atom_kind(exponent, kinds))
        return "power" if whole else None, (base, exponent)
    if not inexact or exponent.value in (0, 1):
        return None, ()
    other = POWERS.get(exponent.value)
    return (other, (base,)) if other else ("power", (base, exponent))


def _fits(name: str, args: tuple[ir.Atom, ...], call: ir.Call) -> bool:
    """Whether a call has the arguments that a workspace takes."""
    keywords = {k for k, _ in call.kwargs}
    if not keywords <= _KEYWORDS.get(name, frozenset()):
        return False
    fn = getattr(np, name)
    if isinstance(fn, np.ufunc):
        return len(args) == fn.nin
    return name == "einsum" or len(args) <= _POSITIONAL[name]
