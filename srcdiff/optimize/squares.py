"""Squares of norms, of `abs` and of `std` have derivatives of their own: they are smooth at zero.

Takes a function and the kinds of its names; returns it with `y = with_slope(d * d, np.sum(x * x))`
in place of `y = d * d` where `d = np.linalg.norm(x)`.  Values are computed as they were, and texts
show nothing of it: the derivative is that of the second argument, to every order, where that of
`d`, which is zero at zero by convention, would say that nothing bends there.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator

import numpy as np

from srcdiff import ir
from srcdiff.analysis.activity import activity, edges_of
from srcdiff.frontend.lowering import flows
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.normalize.outputs import selected_names
from srcdiff.optimize.memory import Available, Memory
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op, which_op
from srcdiff.runtime.arrays import squared_modulus, with_slope

_NORMS = (Op.LINALG_NORM, Op.LINALG_VECTOR_NORM)
_ABS = (Op.ABS, Op.ABSOLUTE, Op.FABS)
_MUL = (Op.MUL, Op.MULTIPLY)
_DIV = (Op.DIV, Op.DIVIDE)
_NEG = (Op.NEG, Op.NEGATIVE)
_POW = (Op.POW, Op.BUILTIN_POW, Op.MATH_POW, Op.POWER, Op.FLOAT_POWER)
_INNER = (Op.MATMUL, Op.NP_MATMUL, Op.DOT, Op.INNER, Op.VDOT)


Steps = tuple[tuple[ir.Callee, tuple[ir.Atom, ...]], ...]
"""What makes a multiple of a value: operators, with their other operands."""


def with_squares(function: ir.Function, kinds: ir.Kinds, inputs: Iterable[str]) -> ir.Function:
    """The function with the derivatives of squares said apart from their values."""
    if not any(_is_root(s.rhs) for s in ir.walk(function) if isinstance(s, ir.Assign)):
        return function
    found = edges_of(function, kinds, flows)
    active = activity(inputs, selected_names(function), found)
    return _Squares(function, kinds, active).function(function)


def _is_root(rhs: ir.Rhs) -> bool:
    """Whether an expression is a norm, a distance, an absolute value or a standard deviation."""
    if not isinstance(rhs, ir.Call) or not op_of(rhs.fn).root:
        return False
    if is_op(rhs, *_NORMS):
        return len(rhs.args) == 1 and all(_is_two(k, v) for k, v in rhs.kwargs) or (
            is_op(rhs, Op.LINALG_NORM) and len(rhs.args) > 1 and rhs.args[1] == ir.NONE
        )
    return not is_op(rhs, Op.CDIST) or _is_distance(rhs)


def _is_distance(call: ir.Call) -> bool:
    """Whether a call gives the Euclidean distances between points."""
    metric = [*call.args[2:], *(v for _, v in call.kwargs)]
    return is_op(call, Op.CDIST) and metric in ([], [ir.Const("euclidean")])


def _is_two(key: str | None, value: ir.Atom) -> bool:
    """Whether a keyword argument of a norm leaves it the root of a sum of squares."""
    return key in ("axis", "keepdims") or key == "ord" and value in (ir.NONE, ir.Const(2))


class _Squares(Rewriter):
    """The walk through one function, with what its names are known to equal."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds, active: frozenset[str]) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.kinds = kinds
        self.active = active
        self.available = Available(Memory(function, dict(kinds)))

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """Control flow: what a loop changes is not known in it, what is bound inside not after."""
        if type(stmt) in ir.PLAIN:
            return self.plain(stmt)
        if not isinstance(stmt, ir.If):
            self.available.forget((stmt,))
        return self.inside(stmt)

    def inner(self, block: ir.Block) -> ir.Block:
        """An inner block, of which nothing is known after it."""
        new = self.block(block)
        self.available.forget(block)
        return new

    def plain(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement, and what is known after it."""
        call = ir.call_of(stmt)
        if isinstance(stmt, ir.Assign) and call is not None and stmt.target.id in self.active:
            slope = self.product(call)
            if slope is not None:
                stmt = replace(stmt, rhs=ir.Call(with_slope, (self.temp(stmt.rhs), slope)))
        for name in ir.writes(stmt):
            self.available.bind(name)
        self.available.change(stmt)
        if isinstance(stmt, ir.Assign):
            self.available.learn(stmt.target.id, stmt.rhs, 0)
        return stmt

    def value(self, atom: ir.Atom) -> ir.Call | None:
        """The call that a name is known to be the result of."""
        found = self.available.value(atom)
        while isinstance(found, ir.Name):
            found = self.available.value(found)
        return found if isinstance(found, ir.Call) else None

    def product(self, call: ir.Call) -> ir.Atom | None:
        """What has the derivative of a product in which a root occurs twice, None for any other."""
        if call.kwargs or not call.args:
            return None
        if is_op(call, Op.SQUARE):
            return self.square(call.args[0])
        if len(call.args) != 2:
            return None
        one, two = call.args
        if is_op(call, *_POW):
            return self.power(one, two)
        if is_op(call, *_MUL):
            return self.pair(one, two)
        if is_op(call, *_INNER) and ir.rank_of(atom_kind(one, self.kinds)) == 1:
            terms = self.pair(one, two)
            return None if terms is None else self.temp(ir.Call(np.sum, (terms,), text="np.sum"))
        return None

    def power(self, base: ir.Atom, exponent: ir.Atom) -> ir.Atom | None:
        """An even power of a root; an odd one is a square times less than bends at zero."""
        n = exponent.value if isinstance(exponent, ir.Const) else None
        if not isinstance(n, (int, float)) or n < 2 or n % 2:
            return None
        square = self.square(base)
        if square is None or n == 2:
            return square
        return self.apply(operator.pow, square, ir.Const(int(n) // 2))

    def pair(self, one: ir.Atom, two: ir.Atom) -> ir.Atom | None:
        """The product of two multiples of one root."""
        for first, factors in self.multiples(one):
            for second, others in self.multiples(two):
                if self.is_same(first, second):
                    square = self.square(first)
                    return None if square is None else self.scaled(square, (*factors, *others))
        return None

    def is_same(self, one: ir.Atom, two: ir.Atom) -> bool:
        """Whether two names have one value: that of a root, or a part of one, may have several."""
        if one == two:
            return True
        a, b = self.value(one), self.value(two)
        if a is None or b is None or a.kwargs != b.kwargs or len(a.args) != len(b.args):
            return False
        parts = is_op(a, Op.GETITEM) and is_op(b, Op.GETITEM)
        alike = which_op(a) == which_op(b) or (is_op(a, *_ABS) and is_op(b, *_ABS))
        roots = _is_root(a) and _is_root(b) and alike
        return (parts or roots) and all(map(self.is_same, a.args, b.args))

    def multiples(self, atom: ir.Atom, factors: Steps = ()) -> Iterator[tuple[ir.Atom, Steps]]:
        """What a value is a multiple of, and by which steps, itself first."""
        yield atom, factors
        found = self.value(atom)
        if found is None or found.kwargs or len(factors) > 3:
            return
        if is_op(found, *_NEG):
            yield from self.multiples(found.args[0], ((operator.neg, ()), *factors))
        elif is_op(found, *_MUL):
            for one, two in (found.args, found.args[::-1]):
                yield from self.multiples(one, ((operator.mul, (two,)), *factors))
        elif is_op(found, *_DIV):
            over, under = found.args
            yield from self.multiples(over, ((operator.truediv, (under,)), *factors))

    def scaled(self, square: ir.Atom, factors: Steps) -> ir.Atom:
        """A square times the factors of its roots."""
        for fn, others in factors:
            square = self.apply(fn, square, *others)
        return square

    def square(self, atom: ir.Atom) -> ir.Atom | None:
        """The square of a multiple, or of a part, of a root; None of anything else."""
        found = self.value(atom)
        if found is None:
            return None
        if _is_root(found):
            value = self.apply(operator.mul, atom, atom)
            return self.apply(with_slope, value, self.of_root(found))
        if is_op(found, Op.GETITEM):
            whole = self.square(found.args[0])
            return None if whole is None else self.apply(operator.getitem, whole, found.args[1])
        for core, factors in self.multiples(atom):
            if core != atom and (inner := self.square(core)) is not None:
                return self.scaled(inner, (*factors, *factors))
        return None

    def of_root(self, call: ir.Call) -> ir.Atom:
        """The square of a root, as a smooth function of its argument."""
        if is_op(call, Op.STD):
            method = isinstance(call.fn, ir.Method)
            var = replace(call, fn=ir.Method("var") if method else np.var, text="np.var")
            return self.temp(var)
        if _is_distance(call):
            return self.apply(call.fn, *call.args[:2], ir.Const("sqeuclidean"))
        x = call.args[0]
        squares = self.square(x) or self.apply(squared_modulus, x)
        if is_op(call, *_ABS):
            return squares
        kwargs = tuple((k, v) for k, v in call.kwargs if k != "ord")
        return self.temp(ir.Call(np.sum, (squares, *call.args[2:3]), kwargs, "np.sum"))
