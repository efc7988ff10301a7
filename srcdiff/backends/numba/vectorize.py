"""Loop functions with scalar functions that LLVM vectorises, and functions of whole arrays.

Takes a finished function that calls loops; gives it with loops in which functions of NumPy, and
sums of free order, are those of `vector_math`.  The invariant: the same values to the last places,
and the same special ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.backends.numba.cache import numba
from srcdiff.backends.numba.legalize import kinds_in_loops, with_loops
from srcdiff.ir.builder import OneName
from srcdiff.ir.frozen import replace
from srcdiff.kernels.elements import dims_in
from srcdiff.kernels.fusion import with_steady_arrays
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.interpreter import infer
from srcdiff.optimize.coalesce import with_first_names
from srcdiff.optimize.dead_code import remove_dead
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import loops


@cache
def _forms() -> Mapping[Any, Any]:
    """The vector form of each function."""
    from srcdiff.backends.numba import vector_math as vm

    return {
        loops.add: vm.add, np.arccos: vm.acos, np.arccosh: vm.acosh, np.arcsin: vm.asin,
        np.arcsinh: vm.asinh, np.arctan: vm.atan, np.arctan2: vm.atan2, np.arctanh: vm.atanh,
        np.cbrt: vm.cbrt, np.cos: vm.cos, np.cosh: vm.cosh, np.exp: vm.exp, np.exp2: vm.exp2,
        np.expm1: vm.expm1, np.hypot: vm.hypot, np.log: vm.log, np.log10: vm.log10,
        np.log1p: vm.log1p, np.log2: vm.log2, np.maximum: vm.maximum, np.minimum: vm.minimum,
        np.sin: vm.sin, np.sinh: vm.sinh, np.tan: vm.tan, np.tanh: vm.tanh,
    }  # fmt: skip


def vectorized(function: ir.Function, params: ir.Kinds) -> ir.Function:
    """A function whose loops call vector math, but for complex numbers.

    Raises:
        ExtraError: Numba is not installed.
    """
    numba()
    kinds = {**params, **infer(function, params)}
    mixed = any(ir.dtype_of(kind) == "complex128" for kind in kinds.values())
    inside = kinds_in_loops(function, kinds) if mixed else {}
    return with_loops(function, lambda loop: _vectorized(loop.function, inside.get(id(loop))))


def _vectorized(loop: ir.Function, kinds: ir.Kinds | None) -> ir.Function:
    """A loop function with vector forms; None: all numbers are real.

    It has a frame of its own, in which vectors lie around calls: without any it may be inlined.
    """
    from srcdiff.backends.numba import vector_math as vm

    def stmt(s: ir.Stmt) -> ir.Stmt:
        known = kinds is None or all(map(_is_real, (kinds.get(n) for n in ir.reads(s))))
        return _with_vector_form(s) if known else s

    body = ir.replaced(loop.body, stmt)
    called = {c.fn for c in ir.calls(body) if getattr(c.fn, "__module__", "") == vm.__name__}
    if called <= {vm.add, vm.maximum, vm.minimum}:
        return replace(loop, body=body)
    first = ir.Effect(ir.Call(vm.own_frame, (), text="own_frame"), loop.loc)
    return replace(loop, body=(first, *body))


def _is_real(kind: ir.Kind | None) -> bool:
    """Whether a number is certainly none with an imaginary part."""
    return kind is not None and ir.is_real(kind)


def _with_vector_form(stmt: ir.Stmt) -> ir.Stmt:
    """A statement that calls the vector form of a function."""
    call = ir.call_of(stmt)
    if type(stmt) is not ir.Assign or type(call) is not ir.Call:
        return stmt
    fn = _power(call) if is_op(call, Op.POW, Op.POWER) else _forms().get(call.fn)
    return stmt if fn is None else replace(stmt, rhs=replace(call, fn=fn, text=fn.__name__))


def _power(call: ir.Call) -> Any:
    """The vector form of a power; those by literal counts are products."""
    from srcdiff.backends.numba import vector_math as vm

    exponent = call.args[1]
    counts = type(exponent) is ir.Const and type(exponent.value) is int and exponent.value >= 0
    return None if counts else vm.pow


# --- functions of whole arrays --------------------------------------------------------------------


def with_array_math(function: ir.Function, params: ir.Kinds) -> ir.Function:
    """A function that calls `array_math` for arrays, where Numba would compile more than a loop."""
    function = with_steady_arrays(function, {**params, **infer(function, params)})
    kinds = {**params, **infer(function, params)}
    function = remove_dead(_Shapes(function, kinds).function(function))

    def stmt(s: ir.Stmt) -> ir.Stmt:
        call = ir.call_of(s)
        fn = None if call is None else _array_form(call, kinds)
        if call is None or fn is None:
            return s
        return replace(s, rhs=replace(call, fn=fn, text=fn.__name__))  # type: ignore[arg-type]

    done = with_loops(
        ir.replaced_in(function, stmt), lambda loop: ir.replaced_in(loop.function, stmt)
    )
    return with_first_names(done, {**params, **infer(done, params)}, copies=False)


class _Shapes(OneName):
    """Shapes of parts that nothing else is asked of: they are computed, and the parts not made."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.kinds = kinds
        self.counts = ir.binding_counts(function, function.params)
        self.made = {s.target.id: s.rhs for s in ir.assignments(function.body)}

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """A shape as that of the array, cut."""
        of = stmt.rhs.args[0] if type(stmt) is ir.Assign and is_op(stmt.rhs, Op.SHAPE) else None
        part = self.made.get(of.id) if type(of) is ir.Name and self.counts[of.id] == 1 else None
        if part is None or type(stmt) is not ir.Assign or not is_op(part, Op.GETITEM):
            return self.inside(stmt)
        base, index = part.args
        items = index.items if type(index) is ir.Tup else (index,)
        names = (*ir.names(base), *ir.names(index))
        if type(base) is not ir.Name:
            return stmt
        steady = all(self.counts[n] == 1 for n in names)
        if not steady or not all(map(self.is_plain, items)) or not dims_in(self.kinds, names[0]):
            return stmt
        assert type(of) is ir.Name
        first = self.known.setdefault(of.id, stmt.target.id)
        if first != stmt.target.id and self.counts[stmt.target.id] == 1:
            self.same[stmt.target.id] = first
            return ()
        while items and items[-1] == ir.ALL:
            items = items[:-1]
        if not items:
            return replace(stmt, rhs=ir.Call(ir.Attr("shape"), (base,)))
        shape = self.attribute(base, "shape")
        cut = map(_cut, items)
        return replace(stmt, rhs=ir.Call(loops.part_shape, (shape, *cut), text="part_shape"))

    def is_plain(self, item: ir.Atom) -> bool:
        """Whether an item of an index is a slice without steps, or an integer."""
        if type(item) is ir.Slice:
            return item.step in (ir.NONE, ir.Const(1))
        return ir.is_integer(atom_kind(item, self.kinds))


def _cut(item: ir.Atom) -> ir.Atom:
    """What is told of an axis: a place, where a slice begins and ends, or that all is there."""
    if item == ir.ALL:
        return ir.NONE
    return ir.Tup((item.lower, item.upper)) if type(item) is ir.Slice else item


def _array_form(call: ir.Call, kinds: ir.Kinds) -> Any:
    """What computes the same as a call, as code that is there."""
    name = None if call.kwargs or not call.args else _form_name(call, kinds)
    if name is None:
        return None
    from srcdiff.backends.numba import array_math

    return getattr(array_math, name)


def _form_name(call: ir.Call, kinds: ir.Kinds) -> str | None:
    """The name of what computes the same as a call, None if there is nothing."""
    if is_op(call, Op.CHECK_INDICES, Op.CHECK_SHAPES, Op.PART_SHAPE):
        return str(getattr(call.fn, "__name__", ""))
    told = len(call.args) > 2  # in which order it lies
    if is_op(call, Op.EMPTY, Op.ZEROS) and not told and _is_shape(call.args[0], kinds):
        return "empty" if is_op(call, Op.EMPTY) else "zeros"
    if is_op(call, Op.BROADCAST_SHAPES) and all(_is_shape(a, kinds) for a in call.args):
        return "broadcast_shapes"
    ranks = [dims_in(kinds, a.id) if type(a) is ir.Name else None for a in call.args]
    if not ranks[0]:
        return None
    if is_op(call, Op.ZEROS_LIKE) and len(ranks) == 1:
        return "zeros_like"
    if is_op(call, Op.BROADCAST_TO) and _is_shape(call.args[1], kinds):
        return "broadcast_to"
    fits = is_op(call, Op.UNBROADCAST) and bool(ranks[1]) and len(ranks[1] or ()) <= len(ranks[0])
    return "unbroadcast" if fits else None


def _is_shape(atom: ir.Atom, kinds: ir.Kinds) -> bool:
    """Whether an atom is the shape of an array, or one length."""
    kind = atom_kind(atom, kinds)
    items = kind.items if type(kind) is ir.Tuple else (kind,)
    return items is not None and all(map(ir.is_integer, items))
