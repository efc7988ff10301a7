"""Which statements work element by element, or reduce elements, and how one element is computed.

Takes a statement and the kinds of its names; gives what it does to elements (`Map`, `Reduce`), or
None where loops over scalars would not compute the same: then it stays the call that it is.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from srcdiff import ir
from srcdiff.ir.frozen import frozen
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.indexing import item_kind
from srcdiff.primitives.arguments import axes_named
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op

Dims = tuple[ir.Dim, ...]


@frozen
class Map:
    """`compute` of the elements of `operands`, which becomes the element of a result.

    `compute` None: the only operand itself.  `target`: the name of a new array; else the elements
    of `base`, or of its part `index`, are written.  `like`: the array whose shape the result has,
    where the operands do not say it.  `fits`: operands have its lengths, or 1 where that is known.
    `indices`: arrays of integers that say which elements along the first axes of `base` are taken,
    or added to where there is no `target`.
    """

    stmt: ir.Stmt
    compute: Any
    operands: tuple[ir.Atom, ...]
    dims: Dims
    target: str | None = None
    base: str = ""
    index: ir.Atom | None = None
    like: ir.Name | None = None
    fits: bool = False
    indices: tuple[ir.Name, ...] = ()

    @property
    def adds_at(self) -> bool:
        """Whether it adds to elements of which nobody knows whether they are met again."""
        return bool(self.indices) and self.target is None

    @property
    def is_number(self) -> bool:
        """Whether it is no array: a loop does not begin with it."""
        return self.dims == ()


@frozen
class Reduce:
    """The elements of `operand` along some axes put together: by `+`, or as the extreme one.

    `is_partial`: other axes are left.
    """

    stmt: ir.Stmt
    extreme: Any
    operand: ir.Name
    axes: tuple[int, ...]
    target: str
    keeps: bool
    is_partial: bool = False
    is_number = False


Element = Map | Reduce


_MODULES = {"builtins": builtins, "numpy": np, "operator": operator}


def named(path: str) -> str:
    """The name of the operation at a path, or of a method: `np.arccos` is `np.acos` in NumPy 2."""
    module, _, name = path.partition(".")
    return op_of(getattr(_MODULES[module], name)).name if name else path


def _words(text: str) -> frozenset[str]:
    return frozenset(map(named, text.split()))


FLOATS = ("float64", "float32")
_DTYPES = (*FLOATS, "complex128", "int64", "bool")
_ARITHMETIC = _words(
    """
    operator.add operator.sub operator.mul operator.truediv operator.neg operator.pos operator.abs
    builtins.abs numpy.add numpy.subtract numpy.multiply numpy.divide numpy.negative numpy.positive
    numpy.absolute
    """
)
"""Of which some operand is no truth value, with which loops would count."""
_POWERS = _words("operator.pow numpy.power")
"""Of which some operand is a float: an integer may be raised to a negative power."""
_OF_FLOATS = _words(
    """
    numpy.arccos numpy.arccosh numpy.arcsin numpy.arcsinh numpy.arctan numpy.arctan2 numpy.arctanh
    numpy.cbrt numpy.ceil numpy.cos numpy.cosh numpy.exp numpy.exp2 numpy.expm1 numpy.fabs
    numpy.floor numpy.fmax numpy.fmin numpy.hypot numpy.isfinite numpy.isinf numpy.isnan numpy.log
    numpy.log10 numpy.log1p numpy.log2 numpy.logaddexp numpy.maximum numpy.minimum numpy.rint
    numpy.sign numpy.sin numpy.sinh numpy.sqrt numpy.square numpy.tan numpy.tanh numpy.trunc
    """
)
_OF_COMPLEX = _words("numpy.conj numpy.exp numpy.square conj conjugate")
_OF_TRUTHS = _words(
    """
    operator.and_ operator.or_ operator.xor numpy.logical_and numpy.logical_or numpy.logical_xor
    numpy.logical_not
    """
)
_COMPARED = _words(
    """
    operator.lt operator.le operator.gt operator.ge operator.eq operator.ne numpy.less
    numpy.less_equal numpy.greater numpy.greater_equal numpy.equal numpy.not_equal
    """
)
_EXACT = (
    _ARITHMETIC
    | _OF_TRUTHS
    | _COMPARED
    | _words(
        """
        numpy.where numpy.ceil numpy.fabs numpy.floor numpy.isfinite numpy.isinf numpy.isnan
        numpy.rint numpy.sign numpy.sqrt numpy.square numpy.trunc
        """
    )
)
"""Which of real numbers give the same bits wherever they are computed, zeros with their signs."""
_STORED: Mapping[str, Any] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv
}  # fmt: skip


Shapes = Mapping[str, ir.Name]
"""The names that stand for the shape of an array."""


def element_of(stmt: ir.Stmt, kinds: ir.Kinds, shapes: Shapes) -> Element | None:
    """What a statement does to elements; None of what is to stay as it is."""
    if isinstance(stmt, ir.Store):
        return _stored(stmt, kinds)
    if type(stmt) is not ir.Assign or type(stmt.rhs) is not ir.Call:
        return None
    if is_op(stmt.rhs, Op.NP_SUM, Op.AMAX, Op.AMIN):
        return _reduced(stmt, stmt.rhs, kinds)
    dims = dims_in(kinds, stmt.target.id)
    if dims and is_op(stmt.rhs, *_FILLED, *_LIKE):
        return _filled(stmt, stmt.rhs, dims, shapes)
    if dims is None or not _is_scalar_form(stmt.rhs, kinds):
        return None
    if dims == () and not _divides_as_numpy(kinds[stmt.target.id]):
        return None
    form = _scalar_form(stmt.rhs, kinds)
    arrays = [n for n in ir.names(stmt.rhs) if dims_in(kinds, n)]
    fits = stmt.rhs.role is ir.Role.FITTING
    if fits or len(arrays) == 1:  # the name may be another array elsewhere
        dims = _longest([dims_in(kinds, n) or () for n in arrays])
    return Map(stmt, form, stmt.rhs.args, dims, stmt.target.id, fits=fits)


def _longest(shapes: Sequence[Dims]) -> Dims:
    """The lengths along each axis that are not known to be 1, where some are not."""
    rank = max(map(len, shapes))
    most = sorted(shapes, key=lambda d: (len(d), sum(n != 1 for n in d)), reverse=True)
    padded = [(1,) * (rank - len(d)) + d for d in most]
    return tuple(next((n for n in axis if n != 1), 1) for axis in zip(*padded))


def indexed_of(stmt: ir.Stmt, kinds: ir.Kinds) -> Map | None:
    """What a statement takes from, or adds to, elements that arrays of integers choose."""
    call, takes = ir.call_of(stmt), type(stmt) is ir.Assign
    ops = (Op.GETITEM,) if takes else (Op.ADD_AT_UFUNC, Op.SUBTRACT_AT_UFUNC)
    if call is None or not is_op(call, *ops) or len(call.args) != (2 if takes else 3):
        return None
    base, index, *values = call.args
    indices = index.items if type(index) is ir.Tup else (index,)
    own = dims_in(kinds, base.id) if type(base) is ir.Name else None
    if not own or type(base) is not ir.Name or ir.dtype_of(kinds[base.id]) not in FLOATS:
        return None
    places = [dims_in(kinds, i.id) if type(i) is ir.Name else None for i in indices]
    if not all(places) or len({len(p or ()) for p in places}) > 1 or len(places) > len(own):
        return None
    if any(dtype_of(i, kinds) != "int64" for i in indices):
        return None
    if any(dtype_of(v, kinds) != ir.dtype_of(kinds[base.id]) for v in values):
        return None
    dims = (*(places[0] or ()), *own[len(places) :])
    names = tuple(i for i in indices if type(i) is ir.Name)
    target = stmt.target.id if type(stmt) is ir.Assign else None
    return Map(stmt, call.fn, tuple(values), dims, target, base.id, indices=names)


def is_exact(element: Element | None, kinds: ir.Kinds) -> TypeGuard[Map]:
    """Whether loops give every bit of what NumPy gives, and an array that is laid out like its own.

    Sums add up in another order, and a part of which there is one number is no array with strides.
    """
    if type(element) is not Map or element.like is not None:
        return False
    return element.compute is None or rounds_once(element.compute, element.operands, kinds)


def rounds_once(fn: Any, operands: Sequence[ir.Atom], kinds: ir.Kinds) -> bool:
    """Whether a function of numbers, or of arrays by element, is one that all compute alike."""
    return op_of(fn).name in _EXACT and "complex128" not in [dtype_of(a, kinds) for a in operands]


def is_cheap(element: Map) -> bool:
    """Whether an element costs as little as to store it and to read it."""
    name = "" if element.compute is None else op_of(element.compute).name
    return name in ("", "numpy.where") or name in (_ARITHMETIC | _COMPARED | _OF_TRUTHS)


def dims_in(kinds: ir.Kinds, name: str) -> Dims | None:
    """The lengths of an array of numbers that loops take; () of a number, else None."""
    kind = kinds.get(name)
    if kind is None or ir.dtype_of(kind) not in _DTYPES:
        return None
    if type(kind) is ir.Array and kind.maybe_scalar:
        return None
    return ir.dims_of(kind) if type(kind) in (ir.Array, ir.Scalar) else None


def dtype_of(atom: ir.Atom, kinds: ir.Kinds) -> str | None:
    """The dtype of what an operand holds; None of what is no number or array for loops."""
    value = atom.value if isinstance(atom, (ir.Const, ir.Ref)) else None
    if type(atom) is ir.Name:
        return None if dims_in(kinds, atom.id) is None else ir.dtype_of(kinds[atom.id])
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, (float, np.float64)):
        return "float64"
    if type(value) is np.float32:
        return "float32"
    if isinstance(value, complex):
        return "complex128"
    return "int64" if type(value) is int else None


def _is_scalar_form(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether a call of scalars gives the element that the call of arrays does."""
    dtypes = [dtype_of(a, kinds) for a in call.args]
    if call.kwargs or None in dtypes:
        return False
    name = op_of(call.fn).name
    if is_op(call, Op.WHERE):
        return len(dtypes) == 3 and dtypes[0] == "bool" and "bool" not in dtypes[1:]
    if "complex128" in dtypes:
        return "bool" not in dtypes and name in (_ARITHMETIC | _OF_COMPLEX)
    if name in _ARITHMETIC:
        return any(d != "bool" for d in dtypes)
    if name in _OF_TRUTHS:
        return set(dtypes) == {"bool"}
    if name in _COMPARED:
        return True
    floats = not set(FLOATS).isdisjoint(dtypes)
    return floats and "bool" not in dtypes and name in (_POWERS | _OF_FLOATS)


def _scalar_form(call: ir.Call, kinds: ir.Kinds) -> Any:
    """The function of scalars: `**` raises an error where zero is raised to a negative integer.

    So does a quotient of complex numbers.
    """
    if "complex128" in [dtype_of(a, kinds) for a in call.args]:
        if is_op(call, Op.DIV):
            return np.divide
        return np.conj if type(call.fn) is ir.Method else call.fn
    if op_of(call.fn).name not in _POWERS or dtype_of(call.args[1], kinds) != "int64":
        return call.fn
    exponent = call.args[1]
    known = type(exponent) is ir.Const and exponent.value >= 0
    return call.fn if known else np.power


def _divides_as_numpy(kind: ir.Kind) -> bool:
    """Whether a number is certainly a float of NumPy: those of Python raise errors."""
    return type(kind) is ir.Scalar and kind.python is False and kind.dtype in FLOATS


_FILLED = (Op.BROADCAST_TO, Op.FULL, Op.ZEROS, Op.ONES)
_LIKE = (Op.ZEROS_LIKE, Op.ONES_LIKE, Op.FULL_LIKE)
_VALUES = {
    Op.ZEROS: 0.0, Op.ZEROS_LIKE: 0.0, Op.ONES: 1.0, Op.ONES_LIKE: 1.0
}  # fmt: skip


def _filled(stmt: ir.Assign, call: ir.Call, dims: Dims, shapes: Shapes) -> Map | None:
    """An array of floats that has one value everywhere."""
    first = call.args[0] if call.args else None
    if call.kwargs or type(first) is not ir.Name:
        return None
    known = next((v for op, v in _VALUES.items() if is_op(call, op)), None)
    swapped = is_op(call, Op.BROADCAST_TO)
    if len(call.args) != (1 if known is not None else 2):
        return None
    value = ir.Const(known) if known is not None else call.args[0 if swapped else 1]
    shape = call.args[1] if swapped else first
    like = shapes.get(shape.id) if type(shape) is ir.Name else None
    like = first if is_op(call, *_LIKE) else like
    return None if like is None else Map(stmt, None, (value,), dims, stmt.target.id, like=like)


def _stored(stmt: ir.Store, kinds: ir.Kinds) -> Map | None:
    """A store into an array, or into a part of it."""
    base, value = dims_in(kinds, stmt.base.id), dtype_of(stmt.value, kinds)
    op = stmt.op if type(stmt) is ir.AugAssign else None
    if not base or value is None or (op is not None and op not in _STORED):
        return None
    own = ir.dtype_of(kinds[stmt.base.id])
    if "complex128" in (own, value):
        if own != "complex128" or value == "bool" or op == "/":
            return None
    elif own not in FLOATS and (own != value or op is not None):
        return None
    dims = base if stmt.index is None else dims_of_part(base, stmt.index, kinds)
    if not dims:
        return None
    operands: tuple[ir.Atom, ...] = (stmt.value,)
    fn = None if op is None else _STORED[op]
    return Map(stmt, fn, operands, dims, None, stmt.base.id, stmt.index)


def dims_of_part(base: Dims, index: ir.Atom, kinds: ir.Kinds) -> Dims | None:
    """The lengths of a part that integers and slices choose; None of others."""
    found = atom_kind(index, kinds)
    if not ir.is_basic(found):
        return None
    part = item_kind(ir.Array("float64", base), found)
    return ir.dims_of(part) if type(part) is ir.Array else None


def _reduced(stmt: ir.Assign, call: ir.Call, kinds: ir.Kinds) -> Reduce | None:
    """A sum, or the extreme element, along axes that are known."""
    given: dict[str | None, ir.Atom] = dict(call.kwargs)
    dtype = given.pop("dtype", None)
    first = call.args[0] if call.args else None
    if type(first) is not ir.Name or len(call.args) > 2 or not {*given} <= {"axis", "keepdims"}:
        return None
    dims, own = dims_in(kinds, first.id), ir.dtype_of(kinds.get(first.id))
    summed = own == "complex128" and is_op(call, Op.NP_SUM)
    told = own == "bool" or own == "float64" == _float_of(dtype)
    if not dims or not (own in FLOATS or summed if dtype is None else told and _float_of(dtype)):
        return None
    axes = axes_named(call.args[1] if len(call.args) == 2 else given.get("axis"), len(dims))
    keeps = given.get("keepdims", ir.Const(False))
    if axes is None or type(keeps) is not ir.Const:
        return None
    extreme = {Op.AMAX: np.maximum, Op.AMIN: np.minimum}
    found = next((fn for op, fn in extreme.items() if is_op(call, op)), None)
    if found is not None and (dtype is not None or not all(ir.is_filled(dims[k]) for k in axes)):
        return None
    partial = len(axes) < len(dims)
    return Reduce(stmt, found, first, axes, stmt.target.id, bool(keeps.value), partial)


def _float_of(dtype: ir.Atom | None) -> str:
    """The name of a dtype of floats; empty for others."""
    known = isinstance(dtype, ir.Ref) and type(dtype.value) is type
    name = dtype.value.__name__ if known else ""  # type: ignore[union-attr]
    return name if name in FLOATS else ""
