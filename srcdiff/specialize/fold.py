"""Calls of a template or a definition, folded: what is known of their arguments is used.

Takes the kinds of the names and a call; gives an atom where the result is known now, else a call
in its plainest form: static values are computed, questions are answered, helpers become plain
NumPy. Each form takes the folder and the call; it returns an atom or a call, or UNSET to leave the
call as it is.  The invariant: a question of which the answer is not known for certain is denied.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
import types
from collections import ChainMap
from collections.abc import Callable, Mapping, Set
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.frontend.signatures import spliced
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.complexes import is_complex_kind
from srcdiff.kinds.indexing import item_kind
from srcdiff.kinds.probing import is_number_type
from srcdiff.primitives import notation
from srcdiff.primitives.arguments import as_atom
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op, which_op
from srcdiff.runtime import arrays

UNSET: Any = object()
"""The static value of what is known only when running."""


def plainer(folder: Folder, call: ir.Call) -> Any:
    """The plainer form of a call, or UNSET."""
    form = None if type(call.fn) is ir.Name else _FORMS.get(call.fn)
    return UNSET if form is None else form(folder, call)


def _attribute(name: str) -> Any:
    """`np.shape(x)` as `x.shape` where `x` is an array."""

    def form(folder: Folder, call: ir.Call) -> Any:
        if len(call.args) == 1 and not call.kwargs and folder.is_array(call.args[0]):
            return ir.Call(ir.Attr(name), call.args)
        return UNSET

    return form


def _shape(folder: Folder, call: ir.Call) -> Any:
    if type(folder.kind(call.args[0])) is ir.Scalar:
        return ir.Tup(())
    return _attribute("shape")(folder, call)


def _if_known(value: Any) -> Any:
    """A value as an atom, UNSET if it is not known."""
    return UNSET if value is None else ir.Const(value)


def _len(folder: Folder, call: ir.Call) -> Any:
    arg = call.args[0]
    items = arg.items if type(arg) is ir.Tup else ir.known_items(folder.kind(arg))
    return UNSET if items is None else ir.Const(len(items))


def _display(folder: Folder, call: ir.Call) -> Any:
    """A display of a template, and `tuple` of one, as a tuple of atoms."""
    if is_op(call, Op.TUPLE):
        return call.args[0] if call.args and type(call.args[0]) is ir.Tup else UNSET
    return UNSET if any(type(a) is ir.Star for a in call.args) else ir.Tup(call.args)


def _getitem(folder: Folder, call: ir.Call) -> Any:
    base, index = call.args
    at = folder.static(index)
    if type(base) is not ir.Tup or not isinstance(at, (int, slice)):
        return UNSET
    known = base.items
    if any(type(item) is ir.Star for item in known):  # how many it stands for is not known
        known = known[: [type(item) is ir.Star for item in known].index(True)]
        end = at.stop if isinstance(at, slice) else at
        if not isinstance(end, int) or not 0 <= end < len(known) + isinstance(at, slice):
            return UNSET
    if isinstance(at, slice):
        return ir.Tup(known[at])
    # What is not there is missed when it runs, if it runs.
    return known[at] if -len(known) <= at < len(known) else UNSET


def _conj(folder: Folder, call: ir.Call) -> Any:
    x = call.args[0]
    if type(x) is ir.Const and isinstance(x.value, complex):
        return ir.Const(x.value.conjugate())
    return ir.Call(np.conj, (x,), text="np.conj") if folder.is_complex(x) else x


def _divisor(folder: Folder, call: ir.Call) -> Any:
    """`np.float64(x)` where `x` may be a number of Python, and Python did not divide by it."""
    x, *result = call.args
    kind = folder.kind(x)
    apart = all(map(_is_of_numpy, map(folder.kind, result)))
    if type(x) is ir.Const or type(kind) is not ir.Scalar or kind.python is False:
        return x
    if not apart or folder.device:
        return x
    made = _NUMBERS.get(kind.dtype)
    return x if made is None else ir.Call(made, (x,), text=f"np.{made.__name__}")


def _is_of_numpy(kind: ir.Kind) -> bool:
    """Whether a result may be a number of NumPy in double precision; arrays divide as NumPy."""
    return type(kind) is ir.Scalar and kind.python is not True and kind.dtype in _NUMBERS


_NUMBERS: Mapping[str | None, Any] = {
    "float64": np.float64, "int64": np.float64, "complex128": np.complex128,
}  # fmt: skip


def _add(folder: Folder, call: ir.Call) -> Any:
    a, b = call.args
    if a == ir.Const(0) or b == ir.Const(0):
        return b if a == ir.Const(0) else a
    if type(a) is ir.Tup and type(b) is ir.Tup:
        return ir.Tup((*a.items, *b.items))
    return UNSET


def _is_none(folder: Folder, call: ir.Call) -> Any:
    """`x is None` and `x is not None` where the kind of `x` tells."""
    a, b = call.args
    if b != ir.NONE:
        return UNSET
    known = isinstance(a, (ir.Tup, ir.Slice, ir.Const, ir.Ref))
    none = getattr(a, "value", 0) is None if known else ir.is_none(folder.kind(a))
    return _if_known(None if none is None else none == is_op(call, Op.IS))


def _isinstance(folder: Folder, call: ir.Call) -> Any:
    arg, cls = call.args
    kind, wanted = folder.kind(arg), folder.static(cls)
    known: Mapping[Any, tuple[type[ir.Kind], ...]] = {
        tuple: (ir.Tuple,), list: (ir.List,), (tuple, list): (ir.Tuple, ir.List),
        slice: (ir.SliceKind,), dict: (ir.Dict,),
    }  # fmt: skip
    if type(arg) is ir.Const or wanted is UNSET or wanted not in known:
        return UNSET
    if isinstance(kind, (ir.Unknown, ir.Object)):
        return UNSET
    return ir.Const(isinstance(kind, known[wanted]) and ir.class_of(kind) is None)


def _keep_axes(folder: Folder, call: ir.Call) -> Any:
    value, axis, keepdims = (*call.args, ir.NONE, ir.Const(False))[:3]
    whole, keeps = folder.static(axis) is None, folder.static(keepdims)
    if whole or (keeps is not UNSET and keeps):  # 1 keeps them as True does
        return value
    if folder.static(axis) is UNSET or keeps is UNSET:
        return UNSET
    return ir.Call(np.expand_dims, (value, axis), text="np.expand_dims")


def _spread(folder: Folder, call: ir.Call) -> Any:
    value, x, axis, keepdims = (*call.args, ir.NONE, ir.Const(False))[:4]
    if type(folder.kind(x)) is ir.Scalar:
        return value
    kept = _keep_axes(folder, ir.Call(arrays.keep_axes, (value, axis, keepdims)))
    if kept is UNSET:
        return UNSET
    kept = folder.emit(kept) if type(kept) is ir.Call else kept
    shape = folder.emit(folder.call(ir.Call(np.shape, (x,), text="np.shape")))
    return ir.Call(np.broadcast_to, (kept, shape), text="np.broadcast_to")


def _axis_size(folder: Folder, call: ir.Call) -> Any:
    """`x.size` or `x.shape[axis]`, where they are known not to be 0."""
    x, axis = (*call.args, ir.NONE)[:2]
    at, dims = folder.static(axis), ir.dims_of(folder.kind(x))
    if dims is None:
        return UNSET
    if not all(map(ir.is_filled, dims[at : at + 1 or None] if isinstance(at, int) else dims)):
        return UNSET
    if at is None:
        return folder.call(ir.Call(np.size, (x,), text="np.size"))
    if not isinstance(at, int):
        return UNSET
    shape = folder.emit(folder.call(ir.Call(np.shape, (x,), text="np.shape")))
    return ir.Call(operator.getitem, (shape, ir.Const(at)))


def part_of(lower: ir.Atom, upper: ir.Atom, step: ir.Atom = ir.NONE) -> ir.Slice:
    """`lower:upper:step`; a start that turned out to be 0 is left out."""
    first = lower == ir.Const(0) and step == ir.NONE
    return ir.Slice(ir.NONE if first else lower, upper, step)


def _along(folder: Folder, call: ir.Call) -> Any:
    axis, part = folder.static(call.args[0]), call.args[1:]
    if not isinstance(axis, int):
        return UNSET
    item = part[0] if len(part) == 1 else part_of(part[0], part[1])
    if axis >= 0:
        return ir.Tup((*[ir.ALL] * axis, item)) if axis else item
    return ir.Tup((ir.Const(...), item, *[ir.ALL] * (-1 - axis)))


_FORMS: Mapping[Any, Any] = {
    np.shape: _shape,
    np.ndim: lambda folder, call: _if_known(ir.rank_of(folder.kind(call.args[0]))),
    np.size: _attribute("size"),
    np.result_type: _attribute("dtype"),
    ir.make_list: _display,
    tuple: _display,
    len: _len,
    isinstance: _isinstance,
    operator.getitem: _getitem,
    operator.add: _add,
    operator.sub: lambda folder, call: call.args[0] if call.args[1] == ir.Const(0) else UNSET,
    operator.is_: _is_none,
    operator.is_not: _is_none,
    notation.conj: _conj,
    notation.divisor: _divisor,
    arrays.keep_axes: _keep_axes,
    arrays.spread: _spread,
    # It is `d` where `x` is known to have fractions.
    arrays.uncut: lambda folder, call: (
        call.args[0] if ir.is_float(folder.kind(call.args[1])) else UNSET
    ),
    arrays.axis_size: _axis_size,
    arrays.along: _along,
}


# --- what is known when a template is expanded: static values, answers, plain NumPy for helpers --


def _is_everything(index: Any) -> bool:
    """Whether an index selects all that there is, or makes an axis."""
    return index is None or index is ... or (type(index) is slice and index == slice(None))


_SAFE_NUMBERS = (np.inf, -np.inf, np.pi, np.e)
"""Numbers found outside the function that are constants of nature, not settings."""

# Where the user's function is of `math`, so are those in its derivative.
_MATH: Mapping[Op | None, Any] = {
    Op.SIN: math.sin, Op.COS: math.cos, Op.SINH: math.sinh, Op.COSH: math.cosh,
    Op.EXP: math.exp, Op.LOG: math.log, Op.TRUNC: math.trunc,
}  # fmt: skip


class Folder:
    """Answers what can be answered when expanding; `emit` names the result of a call."""

    def __init__(
        self,
        kinds: Mapping[str, ir.Kind],
        emit: Callable[[ir.Rhs], ir.Name],
        device: bool,
        scalar_math: bool = False,
        mixed: bool = False,
        places: Set[str] = frozenset(),
    ) -> None:
        self.given, self.own = kinds, dict[str, ir.Kind]()
        self.kinds = ChainMap(self.own, kinds)  # type: ignore[arg-type]  # it is only read
        self.emit = emit
        self.device = device  # whether arrays live on one
        self.scalar_math = scalar_math
        self.mixed = mixed  # what has no known dtype may be complex
        self.different = places  # names of arrays of different integers from 0 on
        self.complex: set[str] = set()

    # --- atoms ---

    def kind(self, atom: ir.Atom) -> ir.Kind:
        """The kind of an atom."""
        if type(atom) is ir.Name:  # as most are
            return self.own.get(atom.id) or self.given.get(atom.id, ir.UNKNOWN)
        return atom_kind(atom, self.kinds)

    def static(self, atom: ir.Atom) -> Any:
        """The value of an atom that is known now, else UNSET."""
        if type(atom) is ir.Const:
            return atom.value
        if type(atom) is ir.Ref:
            number = isinstance(atom.value, (int, float, complex, np.ndarray, np.generic))
            setting = type(atom.value) is not float or atom.value not in _SAFE_NUMBERS
            return UNSET if number and setting else atom.value
        if type(atom) is ir.Tup:
            items = tuple(map(self.static, atom.items))
            return UNSET if any(i is UNSET for i in items) else items
        if type(atom) is ir.Slice:
            parts = [self.static(a) for a in (atom.lower, atom.upper, atom.step)]
            return UNSET if any(p is UNSET for p in parts) else slice(*parts)
        return self._static_kind(self.kind(atom))

    def _static_kind(self, kind: ir.Kind) -> Any:
        """The value that a kind tells."""
        if type(kind) is ir.NoneKind:
            return None
        if type(kind) is ir.Scalar and kind.value is not None:
            return bool(kind.value) if kind.dtype == "bool" else kind.value
        if type(kind) is ir.Text and kind.value is not None:
            return kind.value
        return UNSET

    def is_complex(self, atom: ir.Atom) -> bool:
        """Whether a value may be complex."""
        if type(atom) is not ir.Name:
            return is_complex_kind(self.kind(atom))
        if atom.id in self.complex:
            return True
        kind = self.own.get(atom.id) or self.given.get(atom.id)
        if kind is None:
            return False  # of the template: `note` has seen what it is made from
        return is_complex_kind(kind) or (self.mixed and _is_open(kind))

    def note(self, name: ir.Name, rhs: ir.Rhs) -> None:
        """Remember whether a new temporary may be complex, and what an item of a tuple is."""
        if is_op(rhs, Op.GETITEM):
            base = self.kind(rhs.args[0])
            if isinstance(base, (ir.Tuple, ir.List)):
                found = item_kind(base, self.kind(rhs.args[1]))
                self.own.update({} if found == ir.UNKNOWN else {name.id: found})
        if is_op(rhs, Op.ABSOLUTE, Op.REAL, Op.IMAG, Op.NP_SHAPE):
            return
        read = [a for a in ir.atoms(rhs) if isinstance(a, (ir.Name, ir.Const, ir.Ref))]
        if any(map(self.is_complex, read)):
            self.complex.add(name.id)

    # --- calls ---

    def call(self, call: ir.Call) -> ir.Rhs:
        """A call as an atom where it is known now, else in its plainest form."""
        args = tuple(spliced(call.args))
        call = ir.Call(call.fn, args, call.kwargs, call.text, call.role)
        if notation.asks(call.fn):
            return ir.Const(ANSWERS[call.fn](self, *args))
        found = plainer(self, call)
        if found is UNSET:
            found = self._folded(call)
        if found is not UNSET:
            rhs: ir.Rhs = found
            return rhs
        plain = _MATH.get(which_op(call)) if self.scalar_math else None
        if plain is not None:
            return ir.Call(plain, args, call.kwargs, f"math.{plain.__name__}")
        return _without_defaults(call)

    def _folded(self, call: ir.Call) -> Any:
        """The result of a call whose arguments are all known."""
        if call.kwargs or not op_of(call.fn).folded:
            return UNSET
        values = [self.static(a) for a in call.args]
        if any(v is UNSET for v in values):
            return UNSET
        try:
            result: Any = call.fn(*values)  # type: ignore[operator]
        except (TypeError, ValueError, IndexError):
            return UNSET  # it fails where it runs, as it would have without being folded
        if isinstance(result, float) and is_op(call, Op.SUB):
            result = _short(result)
        return as_atom(bool(result) if isinstance(result, np.bool_) else result)

    # --- questions: what is not known for certain is denied ---

    def basic(self, atom: ir.Atom) -> bool:
        """Whether an index, or the name of a field, is known as basic."""
        kind = self.kind(atom)
        return type(kind) is ir.Text or ir.is_basic(kind)

    def is_array(self, atom: ir.Atom) -> bool:
        """Whether a value is known as an array."""
        kind = self.kind(atom)
        return type(kind) is ir.Array and not kind.maybe_scalar

    def distinct(self, atom: ir.Atom) -> bool:
        """Whether an index is known to select no element twice."""
        items = atom.items if type(atom) is ir.Tup else (atom,)
        others = [i for i in items if not self.basic(i)]
        kinds = [self.kind(i) for i in others]
        shapes = [d for d in map(ir.dims_of, kinds) if d is not None and len(d) < 2]
        if len(shapes) == len(others):
            # Lines of places side by side: no two are the same, as those of one are not that was
            # not spread to the length of the others.
            line = ir.Array("int64", ir.broadcast_dims(shapes))
            lines = [k for i, k in zip(others, kinds) if not self.different.isdisjoint(ir.names(i))]
            if any(ir.broadcasts_to_itself(k, line) for k in lines):
                return True
        return len(others) <= 1 and all(self.is_mask(i) or self.places(i) for i in others)

    def is_mask(self, atom: ir.Atom) -> bool:
        """Whether an index is known as an array of bools."""
        return self.is_array(atom) and ir.dtype_of(self.kind(atom)) == "bool"

    def places(self, atom: ir.Atom) -> bool:
        """Whether an index is known as a list of different places, counted from the front."""
        kind = self.kind(atom)
        items = kind.items if type(kind) is ir.List and kind.items else (ir.UNKNOWN,)
        found = [getattr(k, "value", None) for k in items]
        plain = all(type(v) is int and v >= 0 for v in found)
        return plain and len(set(found)) == len(found)

    def picks_one(self, base: ir.Atom, index: ir.Atom) -> bool:
        """Whether an index is known to select one number; on a device it would be a view."""
        if self.device:
            return False
        kind = self.kind(index)
        items = kind.items if type(kind) is ir.Tuple else (kind,)
        if items is None or ir.rank_of(self.kind(base)) != len(items):
            return False
        return all(type(k) is ir.Scalar and ir.is_basic(k) for k in items)

    def reshapes(self, atom: ir.Atom) -> bool:
        """Whether an index is known to select everything, with more axes."""
        items = atom.items if type(atom) is ir.Tup else (atom,)
        return all(_is_everything(self.static(i)) for i in items)

    def discrete(self, dtype: ir.Atom) -> bool:
        """Whether a dtype is known to have no derivative."""
        value = self.static(dtype)
        known = type(value) is str or isinstance(value, np.dtype) or is_number_type(value)
        return known and np.dtype(value).kind not in "fcO"  # objects may have one

    def stretchable(self, atom: ir.Atom) -> bool:
        """Whether an operand may have been broadcast along an axis of length 1."""
        dims = ir.dims_of(self.kind(atom))
        return dims is None or not all(map(ir.is_big, dims))

    # --- broadcasting ---

    def unbroadcast(
        self, value: ir.Atom, x: ir.Atom, z: ir.Kind, others: list[ir.Kind] | None
    ) -> ir.Atom:
        """`value`, which has the shape of `z`, summed to the shape of its operand `x`."""
        kind = self.kind(x)
        if ir.broadcasts_to_itself(kind, z, others):
            return value
        plan = _sum_plan(kind, z)
        if plan is None:
            return self.emit(ir.Call(arrays.unbroadcast, (value, x), text="unbroadcast"))
        return self.emit(ir.Call(np.sum, (value,), plan, text="np.sum"))


@functools.cache
def _defaults(fn: Any) -> tuple[tuple[str, Any], ...]:
    """The parameters of a function written in Python with their defaults; () for others."""
    plain = getattr(fn, "_implementation", fn)  # what NumPy's dispatcher calls
    if not isinstance(plain, types.FunctionType):
        return ()
    return tuple((p.name, p.default) for p in inspect.signature(plain).parameters.values())


def _without_defaults(call: ir.Call) -> ir.Call:
    """A call without the last arguments that only repeat a default."""
    # An axis has a default since NumPy 2.3: the text is to be the same with every version.
    if isinstance(call.fn, (ir.Name, ir.Method, ir.Attr)) or is_op(call, Op.TAKE_ALONG_AXIS):
        return call
    params = _defaults(call.fn)
    given = dict(params)
    kwargs = tuple((k, v) for k, v in call.kwargs if k is None or not _is(v, given.get(k, UNSET)))
    args = call.args
    while args and len(args) <= len(params) and _is(args[-1], params[len(args) - 1][1]):
        args = args[:-1]
    return ir.Call(call.fn, args, kwargs, call.text, call.role)


def _is(atom: ir.Atom, default: Any) -> bool:
    """Whether an atom is the same constant as a default."""
    return type(atom) is ir.Const and atom == as_atom(default)


def _is_open(kind: ir.Kind) -> bool:
    """Whether a value may have any dtype."""
    return isinstance(kind, ir.Unknown) or (
        isinstance(kind, (ir.Scalar, ir.Array)) and not kind.dtype
    )


def _short(value: float) -> float:
    """A difference of decimal numbers as it would be written (1.2 - 1 is 0.2)."""
    rounded = round(value, 12)
    return rounded if abs(rounded - value) < 1e-15 else value


def _sum_plan(x: ir.Kind, z: ir.Kind) -> tuple[tuple[str, ir.Atom], ...] | None:
    """The keywords of the `np.sum` that undoes a broadcast from `x` to `z`; None if unknown."""
    small, large = ir.dims_of(x), ir.dims_of(z)
    if small == () and (type(x) is ir.Scalar or large is not None):
        return () if large else None
    if small is None or large is None or not all(n == 1 or ir.is_big(n) for n in small):
        return None
    extra = len(large) - len(small)
    ones = [k for k, n in enumerate(small) if n == 1 and large[extra + k] != 1]
    if extra and ones:
        return None
    axes = (*range(extra), *ones)
    axis = as_atom(axes[0] if len(axes) == 1 else axes)
    return (("axis", axis), ("keepdims", ir.Const(True))) if ones else (("axis", axis),)


# --- answers -----------------------------------------------------------------------------------

ANSWERS: Mapping[Any, Any] = {
    notation.rank: lambda f, x: ir.rank_of(f.kind(x)),
    notation.isscalar: lambda f, x: ir.rank_of(f.kind(x)) == 0,
    notation.weak_in_quantiles: lambda f, q: (
        ir.rank_of(f.kind(q)) == 0 and notation.quantiles_are_as_data()
    ),
    notation.iscomplex: Folder.is_complex,
    notation.isarray: Folder.is_array,
    notation.known: lambda f, x: f.static(x) is not UNSET,
    notation.basic: Folder.basic,
    notation.picks_one: Folder.picks_one,
    notation.reshapes: Folder.reshapes,
    notation.distinct: Folder.distinct,
    notation.discrete: Folder.discrete,
    notation.stretchable: Folder.stretchable,
}
