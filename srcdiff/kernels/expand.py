"""Operations that are several steps over elements, as these.

Takes a finished function and the kinds of its names; gives the steps of each statement that is
several (`Expansion.steps`), and the function in which they stand for these.  Means are sums, the
shares of extreme values are comparisons and sums, quotients that may be zero are chosen, negative
powers are quotients.  The invariant: the same values, to the order of sums.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from srcdiff import ir
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.kernels.elements import dims_in
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op


class Expansion(Rewriter):
    """Goes over the statements; `steps` has those of each that is several, by identity."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.kinds = kinds
        self.asked = _asked(function, kinds)
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
        if is_op(call, Op.WINNERS):
            return self.share(call)
        made = {
            "srcdiff.runtime.arrays.divide_or_zero": self.quotient,
            "srcdiff.runtime.arrays.log_or_zero": self.logarithm,
            "numpy.mean": self.mean,
            "operator.pow": self.power, "numpy.power": self.power,
        }.get(op_of(call.fn).name)
        return None if made is None else made(call)

    def is_of_floats(self, call: ir.Call) -> bool:
        """Whether a call is of an array of floats."""
        first = call.args[0] if call.args else None
        name = first.id if type(first) is ir.Name else ""
        return bool(dims_in(self.kinds, name)) and ir.dtype_of(self.kinds[name]) == "float64"

    def share(self, call: ir.Call) -> ir.Call:
        """`hit / sum(hit)`, where an element is the extreme value."""
        x, z, *axis = call.args
        hit = self.apply(operator.eq, x, z)
        of = dict(call.kwargs).get("axis", axis[0] if axis else ir.NONE)
        dtype = ir.Ref("np.float64", np.float64)
        how: tuple[tuple[str | None, ir.Atom], ...] = (("dtype", dtype),)
        if of != ir.NONE:
            how = (("axis", of), ("keepdims", ir.Const(True)), *how)
        count = self.temp(ir.Call(np.sum, (hit,), how))
        return ir.Call(operator.truediv, (hit, count))

    def quotient(self, call: ir.Call) -> ir.Call:
        """`x / y`, and zero where `y` is zero."""
        x, y = call.args
        test = self.apply(operator.ne, y, ir.Const(0.0))
        found = self.apply(operator.truediv, x, y)
        return ir.Call(np.where, (test, found, ir.Const(0.0)))

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

    def mean(self, call: ir.Call) -> ir.Call | None:
        """`sum(x) / n`."""
        axis = call.args[1] if len(call.args) == 2 else dict(call.kwargs).get("axis", ir.NONE)
        known = {k for k, _ in call.kwargs} <= {"axis", "keepdims"} and len(call.args) <= 2
        if not known or not (axis == ir.NONE or type(axis) is ir.Const):
            return None
        total = self.temp(ir.Call(np.sum, call.args, call.kwargs))
        shaped = self.asked(call.args[0])
        if axis == ir.NONE:
            return ir.Call(operator.truediv, (total, self.attribute(shaped, "size")))
        length = self.item(self.attribute(shaped, "shape"), axis)
        return ir.Call(operator.truediv, (total, length))


def with_known_shapes(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """A function that asks arguments for shapes, where these have those of arrays made later.

    Such an array need not be there.
    """
    asked = _asked(function, kinds)

    def value(stmt: ir.Assign) -> ir.Rhs:
        call = stmt.rhs
        return replace(call, args=(asked(call.args[0]),)) if is_op(call, Op.SHAPE) else call

    return ir.with_values(function, value)


def _asked(function: ir.Function, kinds: ir.Kinds) -> Callable[[ir.Atom], ir.Atom]:
    """What is asked for the shape of an array: an argument of the same one, if there is one."""
    given = {p.name for p in function.params} - ir.bound(function)
    arrays = [n for n in kinds if n in given and dims_in(kinds, n)]

    def asked(atom: ir.Atom) -> ir.Atom:
        kind = kinds.get(atom.id, ir.UNKNOWN) if type(atom) is ir.Name else ir.UNKNOWN
        return next((ir.Name(n) for n in arrays if ir.same_shape(kinds[n], kind)), atom)

    return asked
