"""Operations that are several steps over elements, as these.

Takes a finished function and the kinds of its names; gives the steps of each statement that is
several (`Expansion.steps`), and the function in which they stand for these.  Means are sums, the
shares of extreme values are comparisons and sums, quotients that may be zero are chosen, negative
powers are quotients.  The invariant: the same values, to the order of sums; of a `strict` function
the same bits, so that squares alone are something else, which are products for NumPy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from srcdiff import ir
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.kernels.elements import FLOATS, Dims, Map, dims_in, element_of, named
from srcdiff.kernels.groups import aligned
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op


class _OfArrays(Rewriter):
    """Goes over statements of arrays, of which something is known."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.kinds = kinds

    def dims(self, atom: ir.Atom) -> Dims:
        """The lengths of an array, none of numbers."""
        return (dims_in(self.kinds, atom.id) if type(atom) is ir.Name else None) or ()


class Expansion(_OfArrays):
    """Goes over the statements; `steps` has those of each that is several, by identity."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(function, kinds)
        self.asked = _asked(function, kinds)
        self.strict = function.target.strict
        self.steps: dict[int, ir.Block] = {}
        self.expanded = self.function(function)

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement, and what it is made of."""
        call = ir.call_of(stmt)
        if type(stmt) is not ir.Assign or call is None or not self.is_of_floats(call):
            return self.inside(stmt)
        before = len(self.out)
        rhs = self.made_of(call)
        if rhs is None:
            return stmt
        last = replace(stmt, rhs=rhs)
        self.steps[id(stmt)] = (*self.out[before:], last)
        return last

    def made_of(self, call: ir.Call) -> ir.Call | None:
        """What a call is made of, behind the steps before the last; None of one step."""
        if self.strict:
            return self.squared(call)
        if is_op(call, Op.WINNERS):
            return self.share(call)
        if is_op(call, Op.UNBROADCAST):
            return self.summed(call)
        made = {
            "srcdiff.runtime.arrays.divide_or_zero": self.quotient,
            "srcdiff.runtime.arrays.log_or_zero": self.logarithm,
            "srcdiff.runtime.arrays.power_slope": self.slope_of_power,
            "numpy.mean": self.mean, "mean": self.mean,
            "numpy.var": self.variance, "var": self.variance,
            "numpy.std": self.deviation, "std": self.deviation,
            "numpy.clip": self.clipped, "clip": self.clipped,
            "numpy.outer": self.outer, "numpy.linalg.norm": self.norm,
            named("operator.matmul"): self.product, named("numpy.matmul"): self.product,
            named("numpy.dot"): self.product, "dot": self.product,
            named("operator.pow"): self.power, named("numpy.power"): self.power,
        }.get(op_of(call.fn).name)
        return None if made is None else made(call)

    def is_of_floats(self, call: ir.Call) -> bool:
        """Whether a call is of an array of floats."""
        first = call.args[0] if call.args else ir.NONE
        return bool(self.dims(first)) and ir.dtype_of(self.kinds[ir.names(first)[0]]) in FLOATS

    def share(self, call: ir.Call) -> ir.Call:
        """`hit / sum(hit)`, where an element is the extreme value."""
        x, z, *axis = call.args
        hit = self.apply(operator.eq, x, z)
        of = dict(call.kwargs).get("axis", axis[0] if axis else ir.NONE)
        single = ir.dtype_of(self.kinds[x.id]) == "float32" if type(x) is ir.Name else False
        dtype = ir.Ref("np.float32", np.float32) if single else ir.Ref("np.float64", np.float64)
        how: tuple[tuple[str | None, ir.Atom], ...] = (("dtype", dtype),)
        if of != ir.NONE:
            how = (("axis", of), ("keepdims", ir.Const(True)), *how)
        count = self.temp(ir.Call(np.sum, (hit,), how))
        return ir.Call(operator.truediv, (hit, count))

    def summed(self, call: ir.Call) -> ir.Call | None:
        """The sum over axes that are known to have been spread, of which others are asked."""
        own, mine = map(self.dims, call.args)
        extra = len(own) - len(mine)
        spread = [k for k, (d, n) in enumerate(zip(mine, own[extra:])) if d == 1 != n]
        if not mine or extra < 0 or not spread:
            return None
        axes = ir.Tup(tuple(ir.Const(k) for k in (*range(extra), *(k + extra for k in spread))))
        how: tuple[tuple[str | None, ir.Atom], ...]
        how = (("axis", axes), ("keepdims", ir.Const(True)))
        return replace(call, args=(self.temp(ir.Call(np.sum, call.args[:1], how)), call.args[1]))

    def quotient(self, call: ir.Call) -> ir.Call:
        """`x / y`, and zero where `y` is zero."""
        x, y = call.args
        test = self.apply(operator.ne, y, ir.Const(0.0))
        found = self.apply(operator.truediv, x, y)
        return ir.Call(np.where, (test, found, ir.Const(0.0)))

    def slope_of_power(self, call: ir.Call) -> ir.Call | None:
        """`y * x ** (y - 1)`, zero where `y` is."""
        if len(call.args) != 2 or call.kwargs:
            return None
        x, y = call.args
        less = self.apply(operator.sub, y, ir.Const(1))
        exponent = self.apply(operator.mul, less, self.apply(operator.ne, y, ir.Const(0)))
        raised = self.apply(operator.pow, x, exponent)
        return ir.Call(operator.mul, (y, raised))

    def logarithm(self, call: ir.Call) -> ir.Call:
        """The logarithm, and zero where `x` is zero."""
        (x,) = call.args
        test = self.apply(operator.ne, x, ir.Const(0.0))
        return ir.Call(np.log, (self.apply(np.where, test, x, ir.Const(1.0)),))

    def power(self, call: ir.Call) -> ir.Call | None:
        """`1.0 / x ** n` for a literal `-n`."""
        x, exponent = call.args
        value = exponent.value if type(exponent) is ir.Const else None
        if call.kwargs or type(value) is not int or value >= 0:
            return None
        raised = x if value == -1 else self.apply(operator.pow, x, ir.Const(-value))
        return ir.Call(operator.truediv, (ir.Const(1.0), raised))

    def squared(self, call: ir.Call) -> ir.Call | None:
        """`x * x` for `x ** 2`."""
        is_square = is_op(call, Op.POW) and call.args[1] == ir.Const(2)
        return ir.Call(operator.mul, (call.args[0], call.args[0])) if is_square else None

    def mean(self, call: ir.Call) -> ir.Call | None:
        """`sum(x) / n`."""
        axis = _axis(call, "keepdims")
        if axis is None:
            return None
        total = self.temp(ir.Call(np.sum, call.args, call.kwargs))
        return ir.Call(operator.truediv, (total, self.count(call.args[0], axis)))

    def count(self, x: ir.Atom, axis: ir.Const) -> ir.Atom:
        """The number of elements along an axis, or of all."""
        shaped = self.asked(x)
        if axis == ir.NONE:
            return self.attribute(shaped, "size")
        return self.item(self.attribute(shaped, "shape"), axis)

    def variance(self, call: ir.Call) -> ir.Call | None:
        """`sum((x - mean) ** 2) / max(n - ddof, 0)`."""
        axis, given = _axis(call, "keepdims", "ddof"), dict(call.kwargs)
        if axis is None:
            return None
        x, n = call.args[0], self.count(call.args[0], axis)
        along: tuple[tuple[str | None, ir.Atom], ...] = (("axis", axis),)
        total = self.temp(ir.Call(np.sum, (x,), (*along, ("keepdims", ir.Const(True)))))
        away = self.apply(operator.sub, x, self.apply(operator.truediv, total, n))
        keeps = tuple((k, v) for k, v in call.kwargs if k == "keepdims")
        squares = self.apply(operator.mul, away, away)
        total = self.temp(ir.Call(np.sum, (squares,), (*along, *keeps)))
        ddof = given.get("ddof", ir.Const(0))
        if ddof != ir.Const(0):
            n = self.apply(max, self.apply(operator.sub, n, ddof), ir.Const(0))
        return ir.Call(operator.truediv, (total, n))

    def deviation(self, call: ir.Call) -> ir.Call | None:
        """The root of the variance."""
        variance = self.variance(call)
        return None if variance is None else ir.Call(np.sqrt, (self.temp(variance),))

    def norm(self, call: ir.Call) -> ir.Call | None:
        """`sqrt(sum(x * x))`."""
        if _axis(call, "keepdims", positions=1) is None:
            return None
        squares = self.apply(operator.mul, call.args[0], call.args[0])
        return ir.Call(np.sqrt, (self.temp(ir.Call(np.sum, (squares,), call.kwargs)),))

    def clipped(self, call: ir.Call) -> ir.Call | None:
        """`minimum(maximum(x, low), high)`."""
        if call.kwargs or len(call.args) != 3 or ir.NONE in call.args:
            return None
        x, low, high = call.args
        return ir.Call(np.minimum, (self.apply(np.maximum, x, low), high))

    def product(self, call: ir.Call) -> ir.Call | None:
        """`sum(x * y)` of vectors, and of a matrix and a vector the sums of rows or of columns."""
        ranks = tuple(len(self.dims(a)) for a in call.args)
        if call.kwargs or ranks not in ((1, 1), (1, 2), (2, 1)) or not self.is_of_one_dtype(call):
            return None
        x, y = call.args
        if ranks == (1, 2):
            x = self.item(x, ir.Tup((ir.ALL, ir.NONE)))
        products = self.temp(ir.Call(operator.mul, (x, y), role=ir.Role.FITTING))
        along = () if ranks == (1, 1) else ((("axis", ir.Const(ranks[0] - 1))),)
        return ir.Call(np.sum, (products,), along)

    def is_of_one_dtype(self, call: ir.Call) -> bool:
        """Whether all operands of a call are floats of one precision."""
        dtypes = {ir.dtype_of(self.kinds.get(n)) for n in ir.names(call)}
        return len(dtypes) == 1 and dtypes <= set(FLOATS)

    def outer(self, call: ir.Call) -> ir.Call | None:
        """`x[:, None] * y` of vectors."""
        if call.kwargs or [len(self.dims(a)) for a in call.args] != [1, 1]:
            return None
        x, y = call.args
        column = self.item(x, ir.Tup((ir.ALL, ir.NONE)))
        return ir.Call(operator.mul, (column, y))


def _axis(call: ir.Call, *others: str, positions: int = 2) -> ir.Const | None:
    """The axis that a call reduces along, `NONE`: all; None where it is told more than others."""
    given: dict[str | None, ir.Atom] = dict(call.kwargs)
    axis = call.args[1] if len(call.args) == 2 else given.get("axis", ir.NONE)
    known = given.keys() <= {"axis", *others} and len(call.args) <= positions
    return axis if known and type(axis) is ir.Const else None


def with_known_shapes(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """A function that asks arguments for lengths, where these have those of arrays made later.

    Such an array need not be there.
    """
    return _Lengths(function, kinds).function(function)


class _Lengths(_OfArrays):
    """Goes over what is asked for shapes, sizes and lengths."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(function, kinds)
        self.asked = _asked(function, kinds)
        self.given = _given(function, kinds)
        counts = ir.binding_counts(function.body, function.params)
        shapes = (s for s in ir.assignments(function.body) if is_op(s.rhs, Op.SHAPE))
        self.shapes = {s.target.id: s.rhs.args[0] for s in shapes if counts[s.target.id] == 1}  # type: ignore[union-attr]

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement that asks an argument."""
        call = ir.call_of(stmt)
        if type(stmt) is not ir.Assign or call is None:
            return self.inside(stmt)
        if is_op(call, Op.SHAPE, Op.SIZE):
            other = self.asked(call.args[0])
            if is_op(call, Op.SIZE) and other == call.args[0] and len(self.dims(other)) == 1:
                return replace(stmt, rhs=self.length(other, 0) or call)
            return replace(stmt, rhs=replace(call, args=(other,)))
        if is_op(call, Op.GETITEM) and type(call.args[0]) is ir.Name:
            of, place = self.shapes.get(call.args[0].id), call.args[1]
            if of is not None and type(place) is ir.Const and type(place.value) is int:
                return replace(stmt, rhs=self.length(of, place.value) or call)
        return stmt

    def length(self, atom: ir.Atom, axis: int) -> ir.Call | None:
        """The length of an axis as that of an argument; None where none is known to have it."""
        dims = self.dims(atom)
        if not -len(dims) <= axis < len(dims):
            return None
        if type(atom) is ir.Name and atom.id in self.given:
            return None  # it is asked already
        for name in self.given:
            for k, length in enumerate(dims_in(self.kinds, name) or ()):
                if ir.same_dim(length, dims[axis]):
                    shape = self.attribute(ir.Name(name), "shape")
                    return ir.Call(operator.getitem, (shape, ir.Const(k)))
        return None


def _given(function: ir.Function, kinds: ir.Kinds) -> list[str]:
    """The arguments of a function that are arrays, and stay what they are."""
    given = {p.name for p in function.params} - ir.bound(function)
    return [n for n in kinds if n in given and dims_in(kinds, n)]


def _asked(function: ir.Function, kinds: ir.Kinds) -> Callable[[ir.Atom], ir.Atom]:
    """What is asked for the shape of an array: an argument of the same one, if there is one."""
    arrays = _given(function, kinds)

    def asked(atom: ir.Atom) -> ir.Atom:
        kind = kinds.get(atom.id, ir.UNKNOWN) if type(atom) is ir.Name else ir.UNKNOWN
        return next((ir.Name(n) for n in arrays if ir.same_shape(kinds[n], kind)), atom)

    return asked


# --- lengths of which nothing is known ------------------------------------------------------------


def with_spread_operands(function: ir.Function, params: ir.Kinds) -> ir.Function:
    """A function that spreads operands to one shape, where it is not known that they have it.

    Loops go over all of them then.
    """
    return _Spread(function, {**params, **infer(function, params)}).function(function)


class _Spread(_OfArrays):
    """Goes over what works element by element."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(function, kinds)
        self.added = added_to(function)
        self.counts = ir.binding_counts(function.body, function.params)
        self.shapes: dict[str, ir.Name] = {}

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement whose operands have the lengths of its result."""
        if type(stmt) is not ir.Assign and not isinstance(stmt, ir.Store):
            return self.inside(stmt)
        if type(stmt) is ir.Assign and is_op(stmt.rhs, Op.SHAPE):
            known = [self.shapes[n] for n in ir.names(stmt.rhs) if n in self.shapes]
            return replace(stmt, rhs=known[0]) if known else stmt
        found = element_of(stmt, self.kinds, {})
        if type(found) is not Map or found.fits or id(stmt) in self.added:
            return stmt
        arrays = [a for a in dict.fromkeys(found.operands) if self.dims(a)]
        if not arrays or all(self.is_known(a, found.dims) for a in arrays):
            return stmt
        if isinstance(stmt, ir.Store):
            part = stmt.base if stmt.index is None else self.item(stmt.base, stmt.index)
            shape = self.attribute(part, "shape")
            return replace(stmt, value=self.apply(np.broadcast_to, stmt.value, shape))
        shape = self.apply(np.broadcast_shapes, *(self.attribute(a, "shape") for a in arrays))
        new = {a: self.spread(a, shape, len(found.dims)) for a in arrays}
        if self.counts[stmt.target.id] == 1:
            self.shapes[stmt.target.id] = shape
        call = ir.call_of(stmt)
        assert call is not None
        args = tuple(new.get(a, a) for a in call.args)
        return replace(stmt, rhs=replace(call, args=args, role=ir.Role.FITTING))

    def spread(self, atom: ir.Atom, shape: ir.Name, rank: int) -> ir.Name:
        """An operand spread to a shape, but along axes that are known to have length 1."""
        own = self.dims(atom)
        if 1 not in own:
            return self.apply(np.broadcast_to, atom, shape)
        places = range(rank - len(own), rank)
        lengths = (ir.Const(1) if d == 1 else self.item(shape, ir.Const(k))
                   for d, k in zip(own, places))  # fmt: skip
        return self.apply(np.broadcast_to, atom, ir.Tup(tuple(lengths)))

    def is_known(self, atom: ir.Atom, dims: Dims) -> bool:
        """Whether it is known along which axes an operand is read."""
        return aligned(self.dims(atom), dims, tuple(range(len(dims)))) is not None


def added_to(function: ir.Function) -> frozenset[int]:
    """The statements of the backward part that add to an adjoint, or to a part of one.

    They spread nothing: an adjoint has the shape of what it is one of.
    """
    at = next((k for k, s in enumerate(function.body) if type(s) is ir.Backward), None)
    ours = () if at is None else function.body[at:]
    stores = (s for s in ir.walk(ours) if type(s) is ir.AugAssign and s.op in ("+", "-"))
    return frozenset(id(s) for s in stores if ir.is_adjoint(s.base.id))
