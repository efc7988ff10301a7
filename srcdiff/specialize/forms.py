"""Calls in templates that have a plainer form where more is known of their arguments.

Each form takes the folder and the call; it returns an atom or a call, or UNSET to leave the call
as it is.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from srcdiff.ir import NONE, Atom, Attr, Call, Const, Name, Ref, Rhs, Slice, Star, Tup, make_list
from srcdiff.ir.kinds import (
    Array,
    Kind,
    List,
    NoneKind,
    Object,
    Scalar,
    SliceKind,
    Tuple,
    Unknown,
    dims_of,
    is_filled,
    is_float,
    rank_of,
)
from srcdiff.primitives import notation
from srcdiff.runtime import arrays
from srcdiff.runtime.devices import on_device

UNSET: Any = object()
"""The static value of what is known only when running."""


class Folder(Protocol):
    """What a form asks of the folder (see `folding.py`)."""

    emit: Callable[[Rhs], Name]

    def kind(self, atom: Atom) -> Kind:
        """The kind of an atom."""

    def static(self, atom: Atom) -> Any:
        """The value of an atom that is known now, else UNSET."""

    def is_complex(self, atom: Atom) -> bool:
        """Whether a value is known to be able to be complex."""

    def call(self, call: Call) -> Rhs:
        """A call as an atom where it is known now, else in its plainest form."""

    def ask(self, question: Any, args: tuple[Atom, ...]) -> Any:
        """The answer to a question; what is not known for certain is denied."""


def plainer(folder: Folder, call: Call) -> Any:
    """The plainer form of a call, or UNSET."""
    form = None if isinstance(call.fn, Name) else _FORMS.get(call.fn)
    return UNSET if form is None else form(folder, call)


def _is_array(folder: Folder, atom: Atom) -> bool:
    return bool(folder.ask(notation.isarray, (atom,)))


def _attribute(name: str) -> Any:
    """`np.shape(x)` as `x.shape` where `x` is an array."""

    def form(folder: Folder, call: Call) -> Any:
        if len(call.args) == 1 and not call.kwargs and _is_array(folder, call.args[0]):
            return Call(Attr(name), call.args)
        return UNSET

    return form


def _shape(folder: Folder, call: Call) -> Any:
    if isinstance(folder.kind(call.args[0]), Scalar):
        return Tup(())
    return _attribute("shape")(folder, call)


def _ndim(folder: Folder, call: Call) -> Any:
    rank = rank_of(folder.kind(call.args[0]))
    return UNSET if rank is None else Const(rank)


def _len(folder: Folder, call: Call) -> Any:
    arg = call.args[0]
    kind = folder.kind(arg)
    if isinstance(arg, Tup):
        return Const(len(arg.items))
    if isinstance(kind, (Tuple, List)) and kind.items is not None:
        return Const(len(kind.items))
    return UNSET


def _display(folder: Folder, call: Call) -> Any:
    """A display of a template, and `tuple` of one, as a tuple of atoms."""
    if call.fn is tuple:
        return call.args[0] if call.args and isinstance(call.args[0], Tup) else UNSET
    return UNSET if any(isinstance(a, Star) for a in call.args) else Tup(call.args)


def _getitem(folder: Folder, call: Call) -> Any:
    base, index = call.args
    at = folder.static(index)
    if not isinstance(base, Tup) or not isinstance(at, (int, slice)):
        return UNSET
    known = base.items
    if any(isinstance(item, Star) for item in known):  # how many it stands for is not known
        known = known[: [isinstance(item, Star) for item in known].index(True)]
        end = at.stop if isinstance(at, slice) else at
        if not isinstance(end, int) or not 0 <= end < len(known) + isinstance(at, slice):
            return UNSET
    return Tup(known[at]) if isinstance(at, slice) else known[at]


def _conj(folder: Folder, call: Call) -> Any:
    x = call.args[0]
    if isinstance(x, Const) and isinstance(x.value, complex):
        return Const(x.value.conjugate())
    return Call(np.conj, (x,), text="np.conj") if folder.is_complex(x) else x


def _divisor(folder: Folder, call: Call) -> Any:
    """`np.float64(x)` where `x` may be a number of Python, and Python did not divide by it."""
    x, *result = call.args
    kind = folder.kind(x)
    apart = all(map(_is_of_numpy, map(folder.kind, result)))
    if isinstance(x, Const) or not isinstance(kind, Scalar) or kind.python is False:
        return x
    if not apart or on_device():
        return x
    made = _NUMBERS.get(kind.dtype)
    return x if made is None else Call(made, (x,), text=f"np.{made.__name__}")


def _is_of_numpy(kind: Kind) -> bool:
    """Whether a result may be a number of NumPy in double precision; arrays divide as NumPy."""
    return isinstance(kind, Scalar) and kind.python is not True and kind.dtype in _NUMBERS


_NUMBERS: Mapping[str | None, Any] = {
    "float64": np.float64, "int64": np.float64, "complex128": np.complex128,
}  # fmt: skip


def _add(folder: Folder, call: Call) -> Any:
    a, b = call.args
    if a == Const(0) or b == Const(0):
        return b if a == Const(0) else a
    if isinstance(a, Tup) and isinstance(b, Tup):
        return Tup((*a.items, *b.items))
    return UNSET


def _sub(folder: Folder, call: Call) -> Any:
    a, b = call.args
    return a if b == Const(0) else UNSET


def _is_none(same: bool) -> Any:
    """`x is None` where the kind of `x` tells."""

    def form(folder: Folder, call: Call) -> Any:
        a, b = call.args
        if b != NONE:
            return UNSET
        if isinstance(a, (Tup, Slice, Const, Ref)):
            return Const((getattr(a, "value", 0) is None) == same)
        kind = folder.kind(a)
        if isinstance(kind, (Unknown, Object)) or (isinstance(kind, Array) and kind.maybe_scalar):
            return UNSET
        return Const(isinstance(kind, NoneKind) == same)

    return form


def _isinstance(folder: Folder, call: Call) -> Any:
    arg, cls = call.args
    kind, wanted = folder.kind(arg), folder.static(cls)
    known: Mapping[Any, tuple[type[Kind], ...]] = {
        tuple: (Tuple,), list: (List,), (tuple, list): (Tuple, List), slice: (SliceKind,),
    }  # fmt: skip
    if isinstance(arg, Const) or wanted is UNSET or wanted not in known:
        return UNSET
    if isinstance(kind, (Unknown, Object)):
        return UNSET
    return Const(isinstance(kind, known[wanted]))


def _keep_axes(folder: Folder, call: Call) -> Any:
    value, axis, keepdims = (*call.args, NONE, Const(False))[:3]
    if folder.static(axis) is None or folder.static(keepdims) is True:
        return value
    if folder.static(axis) is UNSET or folder.static(keepdims) is UNSET:
        return UNSET
    return Call(np.expand_dims, (value, axis), text="np.expand_dims")


def _uncut(folder: Folder, call: Call) -> Any:
    """`uncut(d, x)` as `d` where `x` is known to have fractions."""
    return call.args[0] if is_float(folder.kind(call.args[1])) else UNSET


def _spread(folder: Folder, call: Call) -> Any:
    value, x, axis, keepdims = (*call.args, NONE, Const(False))[:4]
    if isinstance(folder.kind(x), Scalar):
        return value
    kept = _keep_axes(folder, Call(arrays.keep_axes, (value, axis, keepdims)))
    if kept is UNSET:
        return UNSET
    kept = folder.emit(kept) if isinstance(kept, Call) else kept
    shape = folder.emit(folder.call(Call(np.shape, (x,), text="np.shape")))
    return Call(np.broadcast_to, (kept, shape), text="np.broadcast_to")


def _axis_size(folder: Folder, call: Call) -> Any:
    """`x.size` or `x.shape[axis]`, where they are known not to be 0."""
    x, axis = (*call.args, NONE)[:2]
    at, dims = folder.static(axis), dims_of(folder.kind(x))
    if dims is None:
        return UNSET
    if not all(map(is_filled, dims[at : at + 1 or None] if isinstance(at, int) else dims)):
        return UNSET
    if at is None:
        return folder.call(Call(np.size, (x,), text="np.size"))
    if not isinstance(at, int):
        return UNSET
    shape = folder.emit(folder.call(Call(np.shape, (x,), text="np.shape")))
    return Call(operator.getitem, (shape, Const(at)))


def part_of(lower: Atom, upper: Atom, step: Atom = NONE) -> Slice:
    """`lower:upper:step`; a start that turned out to be 0 is left out."""
    first = lower == Const(0) and step == NONE
    return Slice(NONE if first else lower, upper, step)


def _along(folder: Folder, call: Call) -> Any:
    axis, part = folder.static(call.args[0]), call.args[1:]
    if not isinstance(axis, int):
        return UNSET
    item = part[0] if len(part) == 1 else part_of(part[0], part[1])
    whole = Slice(NONE, NONE, NONE)
    if axis >= 0:
        return Tup((*[whole] * axis, item)) if axis else item
    return Tup((Const(...), item, *[whole] * (-1 - axis)))


_FORMS: Mapping[Any, Any] = {
    np.shape: _shape,
    np.ndim: _ndim,
    np.size: _attribute("size"),
    np.result_type: _attribute("dtype"),
    make_list: _display,
    tuple: _display,
    len: _len,
    isinstance: _isinstance,
    operator.getitem: _getitem,
    operator.add: _add,
    operator.sub: _sub,
    operator.is_: _is_none(True),
    operator.is_not: _is_none(False),
    notation.conj: _conj,
    notation.divisor: _divisor,
    arrays.keep_axes: _keep_axes,
    arrays.spread: _spread,
    arrays.uncut: _uncut,
    arrays.axis_size: _axis_size,
    arrays.along: _along,
}
