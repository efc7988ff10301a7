"""Operations that are several steps over elements, written as these.

Takes a finished function and the kinds of its parameters; gives the function in which means are
sums, the shares of extreme values are comparisons and sums, quotients that may be zero are chosen,
and shapes are asked of arguments.  The invariant: the same values, to the order of sums.
"""

from __future__ import annotations

import operator

import numpy as np

from srcdiff import ir
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.kernels.elements import dims_in
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime.arrays import divide_or_zero, log_or_zero


def expanded(function: ir.Function, params: ir.Kinds) -> ir.Function:
    """A function with such operations written out."""
    kinds = {**params, **infer(function, params)}
    return _Expansion(function, kinds).function(function)


class _Expansion(Rewriter):
    """The pass."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.kinds = kinds
        given = {p.name for p in function.params} - ir.bound(function.body)
        self.given = [n for n in kinds if n in given and dims_in(kinds, n)]

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement, and what it is made of."""
        call = ir.call_of(stmt)
        if type(stmt) is ir.Assign and is_op(call, Op.SHAPE) and type(call.args[0]) is ir.Name:
            return replace(stmt, rhs=replace(call, args=(self.known(call.args[0]),)))
        if type(stmt) is not ir.Assign or call is None or not self.is_of_floats(call):
            return self.inside(stmt)
        if is_op(call, Op.WINNERS):
            return replace(stmt, rhs=self.share(call))
        if call.fn is divide_or_zero:
            return replace(stmt, rhs=self.quotient(*call.args))
        if call.fn is log_or_zero:
            return replace(stmt, rhs=self.logarithm(*call.args))
        return replace(stmt, rhs=self.mean(call)) if call.fn is np.mean else stmt

    def known(self, name: ir.Name) -> ir.Name:
        """An argument that has the shape of an array, which itself need not be there."""
        kind = self.kinds.get(name.id, ir.UNKNOWN)
        same = (n for n in self.given if ir.same_shape(self.kinds[n], kind))
        return ir.Name(next(same, name.id)) if name.id not in self.given else name

    def is_of_floats(self, call: ir.Call) -> bool:
        """Whether a call is of an array of floats."""
        first = call.args[0] if call.args else None
        name = first.id if type(first) is ir.Name else ""
        return bool(dims_in(self.kinds, name)) and ir.dtype_of(self.kinds[name]) == "float64"

    def share(self, call: ir.Call) -> ir.Call:
        """`hit / sum(hit)`, where an element is the extreme value."""
        x, z, *axis = call.args
        hit = self.apply(np.equal, x, z)
        of = dict(call.kwargs).get("axis", axis[0] if axis else ir.NONE)
        dtype = ir.Ref("np.float64", np.float64)
        how = (("axis", of), ("keepdims", ir.Const(True)), ("dtype", dtype))
        count = self.temp(ir.Call(np.sum, (hit,), how))
        return ir.Call(operator.truediv, (hit, count))

    def quotient(self, x: ir.Atom, y: ir.Atom) -> ir.Call:
        """`x / y`, and zero where `y` is zero."""
        test = self.apply(operator.ne, y, ir.Const(0.0))
        found = self.apply(operator.truediv, x, y)
        return ir.Call(np.where, (test, found, ir.Const(0.0)))

    def logarithm(self, x: ir.Atom) -> ir.Call:
        """The logarithm, and zero where `x` is zero."""
        test = self.apply(operator.ne, x, ir.Const(0.0))
        return ir.Call(np.log, (self.apply(np.where, test, x, ir.Const(1.0)),))

    def mean(self, call: ir.Call) -> ir.Call:
        """`sum(x) / n`."""
        axis = call.args[1] if len(call.args) == 2 else dict(call.kwargs).get("axis", ir.NONE)
        known = {k for k, _ in call.kwargs} <= {"axis", "keepdims"} and len(call.args) <= 2
        if not known or not (axis == ir.NONE or type(axis) is ir.Const):
            return call
        total = self.temp(ir.Call(np.sum, call.args, call.kwargs))
        if axis == ir.NONE:
            return ir.Call(operator.truediv, (total, self.attribute(call.args[0], "size")))
        length = self.item(self.attribute(call.args[0], "shape"), axis)
        return ir.Call(operator.truediv, (total, length))
