"""Plainer forms of single calls: same values but for the sign of a zero, same shape and dtype.

Products of matrices and vectors among them: fewer transposes, outer products by name.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind, kind_of_call
from srcdiff.optimize import shapes
from srcdiff.optimize.displays import plain_zeros
from srcdiff.optimize.products import CHAIN, Products, Signs, is_linear, literal
from srcdiff.primitives.ops import Op, is_op, which_op
from srcdiff.primitives.views import is_array

_ALL = ir.Slice(ir.NONE, ir.NONE, ir.NONE)
_COLUMN = ir.Tup((ir.Const(...), _ALL, ir.NONE))
_ROW = ir.Tup((ir.Const(...), ir.NONE, _ALL))


class Algebra:
    """The rewriting of calls, by what their operands are known to equal."""

    def __init__(self, signs: Signs, steady: frozenset[str], fused: bool) -> None:
        self.fused = fused
        self.kinds = signs.kinds
        self.available = signs.available
        self.memory = signs.available.memory
        self.signs = signs
        self.is_real, self.is_inexact = signs.is_real, signs.is_inexact
        self.steady = tuple(sorted(steady))
        self.is_loose: Callable[[str], bool] = ir.is_temporary
        self.near: Callable[[str], Iterable[str]] = lambda name: ()
        self.emptied: Callable[[], frozenset[str]] = frozenset
        self.loops = False  # whether array statements become loops, or kernels
        self.products: Products | None = None  # where numbers are gathered

    def plain(self, target: str, rhs: ir.Rhs) -> ir.Rhs:
        """The plainest form found of what `target` is bound to."""
        for _ in range(6):
            if type(rhs) is not ir.Call:
                return rhs
            done = len(self.signs.pending)
            new = self.step(target, rhs)
            if new is None:
                del self.signs.pending[done:]  # made on a way that led nowhere
                return rhs
            rhs = new
        return rhs

    def step(self, target: str, call: ir.Call) -> ir.Rhs | None:
        """One step, None if there is nothing to do."""
        op = which_op(call)
        if op not in shapes.BINARY:
            given = self.kinds, self.available, self.steady, self.is_loose, self.near
            other: ir.Rhs | None = shapes.from_another(call, *given)
            if other is None and op is Op.SHAPE:
                other = self.shape(call.args[0])
            if other is None and op is Op.NP_SUM and is_linear(call):
                other = self.total(call) or self.linear(target, call)
                other = other or self.summed(target, call) or self.inner(call)
                other = other or self.contracted(call) or self.turned(call)
            if other is not None:
                return other
        if call.kwargs:
            return None
        new: ir.Rhs | None = None
        if ir.Const in map(type, call.args):
            new = _folded(call) or self.neutral(target, call)
        rule = _RULES.get(op) if new is None else None
        new = new if rule is None else rule(self, target, *call.args)
        if new is not None and new != call:
            return new
        return shapes.plain(call, self.kinds, self.available) or self.gathered(target, call)

    def shape(self, atom: ir.Atom) -> ir.Rhs | None:
        """The shape of what is computed for nothing else, by those of its operands."""
        value = self.available.value(atom)
        if not self.signs.is_read_once(atom) or not is_op(value, *shapes.BINARY):
            return None
        arrays = [a for a in value.args if is_array(self.kind(a))]
        if not all(is_array(k) or type(k) is ir.Scalar for k in map(self.kind, value.args)):
            return None
        asked = [ir.Call(ir.Attr("shape"), (a,)) for a in arrays]
        if len(set(asked)) == 1:
            return asked[0]
        return ir.Call(np.broadcast_shapes, tuple(map(self.signs.computed, asked)))

    def common_shape(self, target: str, *shapes: ir.Atom) -> ir.Rhs | None:
        """`np.broadcast_shapes(x.shape, x.shape)`."""
        asked = {self.available.value(s) for s in shapes}
        found = asked.pop() if len(asked) == 1 else None
        return found if is_op(found, Op.SHAPE) else None

    def gathered(self, target: str, call: ir.Call) -> ir.Rhs | None:
        """A product with its numbers in front."""
        if self.products is None or which_op(call) not in CHAIN:
            return None
        new = self.products.gathered(call)
        return new if new is None or type(new) is ir.Call else self.itself(target, new)

    def summed(self, target: str, call: ir.Call) -> ir.Rhs | None:
        """A sum of products with its numbers before it."""
        kind = self.kinds.get(target, ir.UNKNOWN)
        inexact = self.products is not None and ir.is_float(kind)
        return self.products.summed(call, kind) if inexact else None  # type: ignore[union-attr]

    def total(self, call: ir.Call) -> ir.Rhs | None:
        """`np.sum(np.broadcast_to(v, x.shape))` of a number as `v * x.size`."""
        found = None if call.kwargs else self.everywhere(call.args[0])
        if found is None or not self.is_inexact(found[0]):
            return None
        number, asked = found[0], self.available.value(found[1])
        if not is_op(asked, Op.SHAPE) or type(self.kind(asked.args[0])) is not ir.Array:
            return None
        size = self.signs.computed(ir.Call(ir.Attr("size"), asked.args))
        return ir.Call(operator.mul, (number, size))

    def turned(self, call: ir.Call) -> ir.Rhs | None:
        """`np.sum(x.T, axis=1)` as `np.sum(x, axis=0)`."""
        value, axis = self.available.value(call.args[0]), _only_axis(call)
        if axis is None or not is_op(value, Op.T) or self.rank(call.args[0]) != 2:
            return None
        return replace(call, args=value.args, kwargs=(("axis", ir.Const(1 - axis % 2)),))

    def inner(self, call: ir.Call) -> ir.Rhs | None:
        """`np.sum(x * y)` of vectors as `x @ y`, where a loop of its own does not add it up."""
        value = self.available.value(call.args[0])
        if len(call.args) > 1 or call.kwargs or self.fused or self.products is None:
            return None
        if not is_op(value, Op.MUL) or not self.signs.is_read_once(call.args[0]):
            return None
        one, two = map(self.kind, value.args)
        if not shapes.are_alike(one, two, dtype=True) or ir.rank_of(one) != 1:
            return None
        return ir.Call(operator.matmul, value.args) if ir.is_float(one) else None

    def contracted(self, call: ir.Call) -> ir.Rhs | None:
        """`np.sum(x[:, :, None] * y[:, None, :], axis=0)` with an adjoint as `x.T @ y`."""
        value, axis = self.available.value(call.args[0]), _only_axis(call)
        if self.products is None or self.products.adjoints.isdisjoint(ir.names(call)):
            return None
        if axis is None or not is_op(value, Op.MUL) or not self.signs.is_read_once(call.args[0]):
            return None
        (x, a), (y, b) = map(self.with_axis, value.args)
        one, two = map(self.kind, value.args)
        along = axis % 3
        if {a, b, along} != {0, 1, 2} or not ir.is_float(one) or not shapes.same_dtype(one, two):
            return None
        if not _are_as_long(one, two, along - 3):
            return None
        (k, left), (m, right) = sorted([(b, x), (a, y)])  # each by its axis that stays
        left, right = left if k < along else self.flipped(left), right
        return ir.Call(operator.matmul, (left, right if along < m else self.flipped(right)))

    def with_axis(self, atom: ir.Atom) -> tuple[ir.Atom, int]:
        """A matrix that gets another axis of length one, and its place; -1 of anything else."""
        value = self.available.value(atom)
        if self.rank(atom) == 2:
            return atom, 0
        if type(value) is not ir.Call or len(value.args) != 2 or self.rank(value.args[0]) != 2:
            return atom, -1
        matrix, place = value.args
        if is_op(value, Op.EXPAND_DIMS):
            return matrix, place.value % 3 if type(place) is ir.Const else -1
        items = place.items if is_op(value, Op.GETITEM) and type(place) is ir.Tup else ()
        new = [k for k, item in enumerate(items) if item == ir.NONE]
        return matrix, new[0] if new and len(items) == 3 and items.count(_ALL) == 2 else -1

    # --- products with one number everywhere ---

    def everywhere(self, atom: ir.Atom) -> tuple[ir.Atom, ir.Atom] | None:
        """The number, and the shape, of an array that has one number everywhere."""
        value = self.available.value(atom)
        if not is_op(value, Op.BROADCAST_TO, Op.EXPAND_DIMS) or len(value.args) != 2:
            return None
        number, shape = value.args
        if value.kwargs or type(self.kind(number)) is not ir.Scalar:
            return None
        if is_op(value, Op.BROADCAST_TO):
            return number, shape
        return (number, ir.Tup((ir.Const(1),))) if type(shape) is ir.Const else None

    def scaled(self, target: str, fn: Any, *args: ir.Atom) -> ir.Rhs | None:
        """A multiple of what has one number everywhere, in memory of its own where it needs it."""
        for k, atom in enumerate(args):
            repeated = self.repeated(atom) if self.signs.is_read_once(atom) else None
            found = self.everywhere(atom) or repeated
            rest = (*args[:k], *args[k + 1 :])
            if found is None or not all(type(self.kind(a)) is ir.Scalar for a in rest):
                continue
            small, shape = found
            read = self.memory.is_only_read(target)
            if not read and self.rank(small):
                continue
            small = self.signs.computed(ir.Call(fn, (*args[:k], small, *args[k + 1 :])))
            return ir.Call(np.broadcast_to, (small, shape)) if read else self.filled(shape, small)
        return None

    def repeated(self, atom: ir.Atom) -> tuple[ir.Atom, ir.Atom] | None:
        """What an array repeats, and the shape of that."""
        value = self.available.value(atom)
        if not is_op(value, Op.BROADCAST_TO) or len(value.args) != 2 or value.kwargs:
            return None
        small, shape = value.args
        return (small, shape) if self.rank(small) and self.is_real(small) else None

    def filled(self, shape: ir.Atom, number: ir.Atom) -> ir.Call:
        """`np.full(shape, number)`."""
        asked = self.available.value(shape)
        if type(asked) is ir.Call and type(asked.fn) is ir.Attr:
            shape = self.signs.computed(asked)  # reads better than a name for it
        return ir.Call(np.full, (shape, number))

    def matmul(self, target: str, a: ir.Atom, b: ir.Atom) -> ir.Rhs | None:
        """A product with a vector that has one number everywhere: sums, times that.

        Loops go over a matrix once for all of its products.
        """
        if self.rank(a) == self.rank(b) == 2:
            return self.of_lines(target, a, b)
        if self.fused:
            return None
        for other, vector, axis in ((a, b, 1), (b, a, 0)):
            found = self.everywhere(vector) if self.rank(vector) == 1 else None
            if found is not None and self.rank(other) in (1, 2) and self.is_inexact(other):
                return ir.Call(operator.mul, (found[0], self.sums(other, axis)))
        return None

    def sums(self, array: ir.Atom, axis: int) -> ir.Name:
        """The sums of a matrix along an axis, or that of a vector."""
        value = self.available.value(array)
        if is_op(value, Op.T):
            array, axis = value.args[0], 1 - axis
        along = (("axis", ir.Const(axis)),) if self.rank(array) == 2 else ()
        return self.signs.computed(ir.Call(np.sum, (array,), along, text="np.sum"))

    def of_lines(self, target: str, a: ir.Atom, b: ir.Atom) -> ir.Rhs | None:
        """A product of matrices of which one repeats a row, a column or a number."""
        for matrix, other, kept in ((a, b, 0), (b, a, 1)):
            found = self.line(matrix)
            if found is None or not self.is_real(other):
                continue
            line, axis = found
            if axis == kept:
                args = (line, self.sums(other, kept))[:: 1 if matrix is a else -1]
                return ir.Call(np.outer, args, text="np.outer")
            if axis is None:
                product = ir.Call(operator.mul, (line, self.sums(other, kept)))
            else:
                product = ir.Call(operator.matmul, (line, other)[:: 1 if matrix is a else -1])
            return self.of_one_line(target, product, 1 - kept, self.shape_of_product(a, b))
        return None

    def line(self, matrix: ir.Atom) -> tuple[ir.Atom, int | None] | None:
        """The row or column that a matrix repeats and the axis that it lies along, or a number."""
        value = self.available.value(matrix)
        if is_op(value, Op.T):
            turned = self.line(value.args[0])
            return turned if turned is None or turned[1] is None else (turned[0], 1 - turned[1])
        number, repeated = self.everywhere(matrix), self.repeated(matrix)
        if number is not None or repeated is None:
            return None if number is None else (number[0], None)
        line, axis = repeated[0], 1
        value = self.available.value(line)
        if is_op(value, Op.EXPAND_DIMS) and type(value.args[1]) is ir.Const:
            line, axis = value.args[0], 1 - value.args[1].value % 2
        if self.rank(line) != 1:
            return None
        length, whole = ir.dims_of(self.kind(line)), ir.dims_of(self.kind(matrix))
        alike = length is not None and whole is not None and ir.same_dim(length[0], whole[axis])
        return (line, axis) if alike else None

    def of_one_line(
        self, target: str, line: ir.Call, axis: int, shape: ir.Atom | None = None
    ) -> ir.Rhs | None:
        """The matrix that repeats a row or a column; its shape is that of a parameter if it can."""
        kind = self.kinds.get(target, ir.UNKNOWN)
        alike = [n for n in self.steady if shapes.are_alike(self.kinds.get(n), kind)]
        read = self.memory.is_only_read(target)
        if alike:
            shape = self.signs.computed(ir.Call(ir.Attr("shape"), (ir.Name(alike[0]),)))
        elif shape is None or not read or not is_array(kind):
            return None
        small = self.signs.computed(line)
        if not axis:
            small = self.signs.computed(ir.Call(np.expand_dims, (small, ir.Const(1))))
        matrix = ir.Call(np.broadcast_to, (small, shape))
        return matrix if read else ir.Call(np.copy, (self.signs.computed(matrix),))

    def shape_of_product(self, *factors: ir.Atom) -> ir.Atom:
        """The shape of a product of matrices."""
        items = []
        for k, matrix in enumerate(factors):
            found = self.repeated(matrix) or self.everywhere(matrix)
            shape = None if found is None else found[1]
            if shape is None:
                shape = self.signs.computed(ir.Call(ir.Attr("shape"), (matrix,)))
            length = ir.Call(operator.getitem, (shape, ir.Const(k)))
            items.append(shape.items[k] if type(shape) is ir.Tup else self.signs.computed(length))
        return ir.Tup(tuple(items))

    def outer_product(self, target: str, a: ir.Atom, b: ir.Atom) -> ir.Rhs | None:
        """`np.outer(x, np.broadcast_to(v, shape))` of a number, where no loop makes it."""
        for vector, line, axis in ((a, b, 0), (b, a, 1)):
            found = self.everywhere(line) if self.rank(line) == 1 else None
            if self.fused or found is None or self.rank(vector) != 1:
                continue
            if self.is_real(vector):
                product = ir.Call(operator.mul, (found[0], vector))
                return self.of_one_line(target, product, axis)
        return None

    # --- asking ---

    def kind(self, atom: ir.Atom) -> ir.Kind:
        """The kind of an atom."""
        return atom_kind(atom, self.kinds)

    def is_inexact_item(self, stmt: ir.Store) -> bool:
        """Whether a store goes into something that is certainly float or complex."""
        if self.is_inexact(stmt.base) or stmt.index is None:
            return self.is_inexact(stmt.base)
        item = ir.Call(operator.getitem, (stmt.base, stmt.index))
        return ir.is_float(kind_of_call(item, self.kinds, self.signs.device))

    def rank(self, atom: ir.Atom) -> int | None:
        """How many axes an atom has that is certainly an array."""
        kind = self.kind(atom)
        return ir.rank_of(kind) if is_array(kind) else None

    def itself(self, target: str, atom: ir.Atom) -> ir.Rhs | None:
        """The operand as the result, if the two may be one object and are of one type."""
        kind = self.kind(atom)
        if type(kind) is ir.Array and not ir.rank_of(kind):
            return None  # an operation on an array of rank 0 gives a number
        if type(atom) is ir.Name and not self.memory.may_share(target, atom.id):
            return None
        # An array from outside stays what it is.
        outside = type(atom) is ir.Ref and ir.is_mutable(kind)
        return None if outside and not self.memory.is_only_read(target) else atom

    def neutral(self, target: str, call: ir.Call) -> ir.Rhs | None:
        """`0.0 + x`, `x - 0.0`, `1.0 * x`, `x / 1.0`, `x ** 1`."""
        number, places = _NEUTRAL.get(which_op(call), (0.0, 0))
        for one, x in (call.args[::-1], call.args)[:places]:
            if _is_number(one, number) and (self.is_real(x) if number else self.is_inexact(x)):
                # A copy of it where the two have to be two arrays.
                copied = ir.Call(np.copy, (x,)) if self.rank(x) else None
                return self.itself(target, x) or copied
        return None

    # --- rules ---

    def transposed(self, target: str, x: ir.Atom) -> ir.Rhs | None:
        """`x.T.T`, `v.T`, and `(a.T @ b).T` as `b.T @ a` where the product is used nowhere else."""
        if self.rank(x) == 1:
            return self.itself(target, x)
        value = self.available.value(x)
        if is_op(value, Op.T):
            base = value.args[0]
            return base if type(self.kind(base)) is ir.Array else None
        if not self.signs.is_read_once(x) or type(value) is not ir.Call or value.kwargs:
            return None
        if is_op(value, Op.NEG):
            return replace(value, role=None, args=(self.flipped(value.args[0]),))
        if is_op(value, Op.OUTER) and len(value.args) == 2:
            return replace(value, role=None, args=value.args[::-1])
        if not is_op(value, Op.MATMUL) or not all(self.rank(k) == 2 for k in value.args):
            return None
        known = [(k, self.available.value(k)) for k in reversed(value.args)]
        if not any(is_op(v, Op.T) for _, v in known):
            return None
        args = tuple(v.args[0] if is_op(v, Op.T) else self.flipped(k) for k, v in known)
        return replace(value, role=None, args=args)

    def flipped(self, atom: ir.Atom) -> ir.Name:
        """The transpose of an atom."""
        return self.signs.computed(ir.Call(ir.Attr("T"), (atom,)))

    def neg(self, target: str, x: ir.Atom) -> ir.Rhs | None:
        """`-(-x)`, and `-(c * x)`."""
        inner, number = self.signs.negated(x), literal(x)
        if inner is not None:
            return self.itself(target, inner)
        if (spread := self.scaled(target, operator.neg, x)) is not None:
            return spread
        if number is not None:
            return ir.Const(-number)
        value = self.available.value(x)
        if is_op(value, Op.MUL):
            first, other = value.args
            number = literal(first)
            if number is not None and self.is_real(other):
                return replace(value, role=None, args=(ir.Const(-number), other))
        return None

    def linear(self, target: str, call: ir.Call) -> ir.Rhs | None:
        """`np.sum(-x * y)`: the sign of fewer numbers is turned."""
        x, kind = call.args[0], self.kinds.get(target, ir.UNKNOWN)
        chain = is_op(self.available.value(x), *CHAIN) and self.signs.is_read_once(x)
        inner = self.signs.negated(x) if chain and ir.is_float(kind) else None
        if inner is None or not self.is_real(inner):
            return None
        plain = replace(call, args=(inner, *call.args[1:]))
        return ir.Call(operator.neg, (self.signs.named(plain, kind),))

    def add(self, target: str, a: ir.Atom, b: ir.Atom) -> ir.Rhs | None:
        """`a + (-b)`, `a + a`."""
        right, left = self.signs.negated(b), self.signs.negated(a)
        if right is not None and self.is_inexact(a):
            return ir.Call(operator.sub, (a, right))
        if left is not None and type(a) is not ir.Const and self.is_inexact(b):
            return ir.Call(operator.sub, (b, left))
        if a == b and type(a) is ir.Name and self.is_inexact(a):
            return ir.Call(operator.mul, (ir.Const(2.0), a))
        return self._added_twice(a, b)

    def _added_twice(self, a: ir.Atom, b: ir.Atom) -> ir.Rhs | None:
        """`d + t + t`, where adding twice is what the order of the adjoints made of `2.0 * t`."""
        value = self.available.value(a)
        if not is_op(value, Op.ADD) or value.args[1] != b or not self.signs.is_read_once(a):
            return None
        kind = self.kind(b)
        inexact = ir.is_float(kind) and self.is_inexact(value.args[0])
        if type(b) is not ir.Name or not inexact:
            return None
        twice = ir.Call(operator.mul, (ir.Const(2.0), b))
        return ir.Call(operator.add, (value.args[0], self.signs.named(twice, kind)))

    def sub(self, target: str, a: ir.Atom, b: ir.Atom) -> ir.Rhs | None:
        """`a - (-b)`, `0.0 - b`."""
        right = self.signs.negated(b)
        if right is not None and self.is_inexact(a) and type(b) is not ir.Const:
            return ir.Call(operator.add, (a, right))
        if _is_number(a, 0.0) and self.is_real(b):
            return ir.Call(operator.neg, (b,))
        return None

    def mul(self, target: str, a: ir.Atom, b: ir.Atom) -> ir.Rhs | None:
        """`-1.0 * x`, products of vectors, of negated operands and of two numbers."""
        for number, other in ((a, b), (b, a)):
            if type(number) is ir.Const and _is_number(number, -1.0) and self.is_real(other):
                return ir.Call(operator.neg, (other,))
        if type(self.kinds.get(target)) is ir.Scalar:
            return self._signs(operator.mul, a, b) or self._twice(a, b)
        found = self.ones(target, a, b) or self.outer(a, b)
        found = found or self._signs(operator.mul, a, b) or self._twice(a, b)
        return found or self.scaled(target, operator.mul, a, b)

    def ones(self, target: str, a: ir.Atom, b: ir.Atom) -> ir.Rhs | None:
        """`x * np.ones_like(y)[1:]`, where `x` has the shape and dtype of that.

        Arrays that may not fit together where `y` is computed are left to fail.
        """
        for one, other in ((a, b), (b, a)):
            value = self.available.value(one)
            whole = self.available.value(value.args[0]) if is_op(value, Op.GETITEM) else value
            if not is_op(whole, Op.ONES_LIKE) or len(whole.args) != 1 or whole.kwargs:
                continue
            made = self.available.value(whole.args[0])
            arrays = () if made is None else [n for n in ir.names(made) if self.rank(ir.Name(n))]
            alike = shapes.are_alike(self.kind(other), self.kinds.get(target), dtype=True)
            if alike and len(arrays) < 2:
                return self.itself(target, other) or ir.Call(np.copy, (other,))
        return None

    def div(self, target: str, a: ir.Atom, b: ir.Atom) -> ir.Rhs | None:
        """Quotients of negated operands."""
        safe = type(b) is ir.Const and bool(b.value)  # numbers of Python fail where arrays do not
        found = self._signs(operator.truediv, a, b)
        return found or (self.scaled(target, operator.truediv, a, b) if safe else None)

    def _signs(self, fn: Any, a: ir.Atom, b: ir.Atom) -> ir.Rhs | None:
        """`(-a) * (-b)`, and a negated operand beside a number."""
        left, right = self.signs.negated(a), self.signs.negated(b)
        if left is None and right is None or not (self.is_real(a) and self.is_real(b)):
            return None
        if left is not None and right is not None:
            return ir.Call(fn, (left, right))
        if type(a) is ir.Const and right is not None:
            return ir.Call(fn, (ir.Const(-a.value), right))
        if type(b) is ir.Const and left is not None:
            return ir.Call(fn, (left, ir.Const(-b.value)))
        return None

    def outer(self, a: ir.Atom, b: ir.Atom) -> ir.Rhs | None:
        """`x[..., :, None] * y[..., None, :]` of vectors, of which the first may be negated."""
        row = self.spread(b, _ROW)
        if row is None:
            return None
        value = self.available.value(a)
        negated = is_op(value, Op.NEG)
        column = self.spread(value.args[0] if is_op(value, Op.NEG) else a, _COLUMN)
        if column is None:
            return None
        product = ir.Call(np.outer, (column, row), text="np.outer")
        return ir.Call(operator.neg, (self.signs.computed(product),)) if negated else product

    def spread(self, atom: ir.Atom, index: ir.Tup) -> ir.Atom | None:
        """The vector of which an atom is the column or the row."""
        if type(self.kind(atom)) is ir.Scalar:
            return None
        value = self.available.value(atom)
        if not is_op(value, Op.GETITEM) or value.args[1] != index:
            return None
        return value.args[0] if self.rank(value.args[0]) == 1 else None

    def _twice(self, a: ir.Atom, b: ir.Atom) -> ir.Rhs | None:
        """`2.0 * (c * x)`: doubling and halving are exact, short of overflow."""
        for number, other in ((literal(a), b), (literal(b), a)):
            if number is None or number not in (2.0, 4.0, 0.5):
                continue
            value = self.available.value(other)
            if not is_op(value, Op.MUL):
                continue
            first, rest = literal(value.args[0]), value.args[1]
            if first is not None and self.is_real(rest):
                return replace(value, role=None, args=(ir.Const(number * first), rest))
        return None

    def copy(self, target: str, x: ir.Atom) -> ir.Rhs | None:
        """`np.copy(np.broadcast_to(v, shape))` of a number."""
        found = self.everywhere(x)
        return None if found is None else self.filled(found[1], found[0])

    def item(self, target: str, x: ir.Atom, i: ir.Atom) -> ir.Rhs | None:
        """`(a, b)[0]`, `{"a": b}["a"]`, `a[...]`."""
        if type(i) is ir.Const and i.value is Ellipsis:
            # Views of the whole are written into like what they are views of.
            return x if is_array(self.kind(x)) else None
        value = x if type(x) is ir.Tup else self.available.value(x)
        if is_op(value, Op.MAKE_DICT):
            keys = value.args[::2]
            known = all(type(a) is ir.Const for a in (*keys, i)) and keys.count(i) == 1
            return value.args[2 * keys.index(i) + 1] if known else None
        items = value.items if type(value) is ir.Tup else ()
        items = value.args if is_op(value, Op.MAKE_LIST) else items
        if type(i) is not ir.Const or type(i.value) is not int:
            return None
        if any(type(v) is ir.Star for v in items):
            return None
        return items[i.value] if -len(items) <= i.value < len(items) else None

    def reshaped(self, target: str, x: ir.Atom, *shape: ir.Atom) -> ir.Rhs | None:
        """`np.reshape(-x, shape)`: the sign of what has come out of it is turned."""
        inner = self.signs.negated(x) if self.is_real(x) else None
        if inner is None or not is_array(self.kinds.get(target)):
            return None
        call = ir.Call(np.reshape, (inner, *shape), text="np.reshape")
        plain = shapes.plain(call, self.kinds, self.available)
        if type(plain) is not ir.Call:
            return None
        return ir.Call(operator.neg, (self.signs.named(plain, self.kinds[target]),))

    def zeros(self, target: str, like: ir.Atom) -> ir.Rhs | None:
        """`zero_tree(xs)` of a list that is empty, of a few numbers, of a number, of an array."""
        if type(like) is ir.Name and like.id in self.emptied():
            return ir.Call(ir.make_list)
        return plain_zeros(like, self.kind(like), self.signs.device)

    def add_tree(self, target: str, a: ir.Atom, b: ir.Atom) -> ir.Rhs | None:
        """`add_tree(a, b)` of numbers and arrays."""
        numbers = all(ir.is_float(self.kind(v)) for v in (a, b))
        return ir.Call(operator.add, (a, b)) if numbers else None

    def tuple(self, target: str, items: ir.Atom) -> ir.Rhs | None:
        """`tuple((a, b))`."""
        return items if type(items) is ir.Tup and not items.listed else None

    def store(self, stmt: ir.Store) -> ir.Store:
        """`x[i] += -v`, and `x[i] += np.broadcast_to(v, shape)`."""
        if isinstance(stmt, ir.AugAssign):
            if stmt.op not in ("+", "-"):
                return stmt
            inner = self.signs.negated(stmt.value)
            if inner is not None and self.is_inexact_item(stmt):
                return replace(stmt, op="-" if stmt.op == "+" else "+", value=inner)
        value = self.unspread(stmt.value, stmt.base)
        if value is stmt.value:
            value = self.unspread_factor(value, stmt.base)
        if stmt.index is None:
            value = self.of_fewer_axes(value, self.kind(stmt.base))
        return ir.rebuilt(stmt, value=value)

    def effect(self, call: ir.Call) -> ir.Call:
        """`np.add.at(x, i, -v)`, and `np.add.at(x, i, np.broadcast_to(v, shape))`."""
        if not is_op(call, Op.ADD_AT_UFUNC) or len(call.args) != 3:
            return call
        x, i, value = call.args
        # Loops in threads have sums of their own for what is added.
        inner = None if self.fused or not self.is_inexact(x) else self.signs.negated(value)
        if inner is not None:
            call, value = ir.Call(np.subtract.at, call.args, text="np.subtract.at"), inner
        return replace(call, args=(x, i, self.unspread(value, x)))

    def unspread(self, value: ir.Atom, into: ir.Atom) -> ir.Atom:
        """What is stored into an array, which broadcasts it itself."""
        if type(into) is not ir.Name or not self.memory.is_array(into.id):
            return value
        small = shapes.spread(value, self.kind(into), self.kinds, self.available)
        return value if small is None else small

    def unspread_factor(self, value: ir.Atom, into: ir.Name) -> ir.Atom:
        """`v * y` for `np.broadcast_to(v, shape) * y`, which is computed to be stored.

        Loops go over what is added to an array with that: it has its shape.
        """
        call = self.available.value(value)
        if self.loops or not is_op(call, Op.MUL, Op.DIV) or not self.signs.is_read_once(value):
            return value
        args = tuple(self.unspread(a, into) for a in call.args)
        if args == call.args or not any(is_array(self.kind(a)) for a in args):
            return value
        return self.signs.computed(replace(call, args=args))

    def of_fewer_axes(self, value: ir.Atom, whole: ir.Kind) -> ir.Atom:
        """What an array is added to, without leading axes of length one."""
        beside = whole if is_array(whole) else ir.UNKNOWN
        small = shapes.without_axes(value, beside, self.kinds, self.available)
        return value if small is None else small


def _only_axis(call: ir.Call) -> int | None:
    """The axis that a sum goes along, where it is told nothing else."""
    axis = dict(call.kwargs).get("axis")
    alone = len(call.kwargs) == len(call.args) == 1 and type(axis) is ir.Const
    return axis.value if alone and type(axis.value) is int else None  # type: ignore[union-attr]


def _are_as_long(one: ir.Kind, two: ir.Kind, axis: int) -> bool:
    """Whether arrays, which broadcast, are equally long along an axis."""
    x, y = ((ir.dims_of(kind) or ())[axis] for kind in (one, two))
    return ir.same_dim(x, y) or (ir.is_big(x) and ir.is_big(y))


def _is_number(atom: ir.Atom, value: float) -> bool:
    """Whether an atom is this real literal."""
    return type(atom) is ir.Const and type(atom.value) in (int, float) and atom.value == value


def _folded(call: ir.Call) -> ir.Const | None:
    """The value of an operator on two literals; a division by zero is left to happen."""
    if not is_op(call, *shapes.BINARY) or not all(type(a) is ir.Const for a in call.args):
        return None
    one, two = (a.value for a in call.args if type(a) is ir.Const)
    if type(one) not in (int, float) or type(two) not in (int, float):
        return None
    if is_op(call, Op.DIV) and two == 0:
        return None
    return ir.Const(call.fn(one, two))  # type: ignore[operator]


_NEUTRAL: Mapping[Op | None, tuple[float, int]] = {
    Op.ADD: (0.0, 2), Op.SUB: (0.0, 1), Op.MUL: (1.0, 2), Op.DIV: (1.0, 1), Op.POW: (1.0, 1),
}  # fmt: skip
"""The number that leaves a value as it is: behind it, or on either side."""

_RULES: Mapping[Op | None, Callable[..., ir.Rhs | None]] = {
    Op.NEG: Algebra.neg,
    Op.ADD: Algebra.add,
    Op.SUB: Algebra.sub,
    Op.MUL: Algebra.mul,
    Op.DIV: Algebra.div,
    Op.MATMUL: Algebra.matmul,
    Op.OUTER: Algebra.outer_product,
    Op.BROADCAST_SHAPES: Algebra.common_shape,
    Op.GETITEM: Algebra.item,
    Op.COPY: Algebra.copy,
    Op.RESHAPE: Algebra.reshaped,
    Op.T: Algebra.transposed,
    Op.TUPLE: Algebra.tuple,
    Op.ZERO_TREE: Algebra.zeros,
    Op.ADD_TREE: Algebra.add_tree,
}
