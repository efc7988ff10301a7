"""Forms of calls for all iterations of a loop at once: the same ones, of values with an axis more.

Takes a call of one iteration and says what it is of arrays in which each iteration has its part: by
what the axes of operands mean (`primitives.operation.Axes`), so that no operation is named but
products, outer products and subscripts.  The invariant: a part of the result is what the call gives
of the parts of its operands.
"""

from __future__ import annotations

import operator
from typing import Union

import numpy as np

from srcdiff import ir
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind, rhs_kind
from srcdiff.primitives.arguments import argument
from srcdiff.primitives.operation import Bare, Meaning, op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array

Found = Union[tuple[ir.Call, int], None]
"""A call for all iterations, and how many axes of one lie behind theirs; None: there is none."""


class AxisForms(Builder):
    """Forms of calls for all iterations, by what operations do with axes.

    `behind` has the names with an axis more, and how many axes of one iteration lie behind that;
    `kinds` are those of an iteration, `all` those of all of them.  `counters` are numbers that are
    others in each iteration, `limit` is how many axes an array may have, and `is_last` says where
    an axis is put that may lie anywhere.
    """

    limit = 0
    is_last = True

    def __init__(self, fresh: ir.Fresh, kinds: ir.Kinds) -> None:
        super().__init__(fresh)
        self.kinds, self.all = {**kinds}, {**kinds}
        self.behind: dict[str, int] = {}
        self.counters: dict[str, int] = {}

    def temp(self, rhs: ir.Rhs, base: str = "_t") -> ir.Name:
        """A new name for a value, of which the kind is noted."""
        name = super().temp(rhs, base)
        self.all[name.id] = rhs_kind(rhs, self.all, False)
        return name

    def rank(self, atom: ir.Atom) -> int | None:
        """How many axes something has in one iteration."""
        return ir.rank_of(atom_kind(atom, self.kinds))

    def varies(self, *nodes: ir.Rhs | None) -> bool:
        """Whether something is not the same for all iterations."""
        names = (n for node in nodes for n in ir.names(node))
        return any(n in self.behind or n in self.counters for n in names)

    def place(self, atom: ir.Atom) -> int:
        """How many axes of one iteration lie behind the axis of something."""
        (name,) = ir.names(atom)
        return self.behind[name]

    def form(self, call: ir.Call) -> Found:
        """What a call is for all iterations."""
        axes = op_of(call.fn).axes
        if is_op(call, Op.GETITEM):
            return self.item_of(call)
        if axes is None or self.varies(*(v for _, v in call.kwargs)):
            return None
        if axes.meaning is Meaning.ALONG and axes.bare is Bare.TOTAL:
            return self.reduced(call)
        if call.kwargs:
            return None
        if axes.meaning in (Meaning.ELEMENTS, Meaning.COMPARED):
            return self.elements(call)
        if axes.meaning is Meaning.LIKE and len(call.args) == 1:
            return call, self.place(call.args[0])
        return self.product(call) if axes.meaning is Meaning.PRODUCT else None

    def elements(self, call: ir.Call) -> Found:
        """Operands that broadcast against each other."""
        fixed = [self.place(a) for a in call.args if self.varies(a) and self.rank(a)]
        free = 0 if self.is_last else max(self.rank(a) or 0 for a in call.args)
        behind = max(fixed, default=free)
        if is_op(call, Op.MUL) and {*map(self.rank, call.args)} == {0, 1} and not fixed:
            return self.outer(*call.args, behind=behind)
        args = tuple(a for a in (self.fitted(a, behind) for a in call.args) if a is not None)
        return (replace(call, args=args), behind) if len(args) == len(call.args) else None

    def outer(self, x: ir.Atom, y: ir.Atom, *, behind: int) -> Found:
        """Products of a vector with the numbers of all iterations."""
        vector, number = (x, y) if self.varies(y) else (y, x)
        return ir.Call(np.outer, (number, vector) if behind else (vector, number)), behind

    def fitted(self, atom: ir.Atom, behind: int) -> ir.Atom | None:
        """An operand whose axes meet those of what has so many behind the axis of iterations."""
        rank = self.rank(atom)
        if type(atom) not in (ir.Name, ir.Const, ir.Ref) or rank is None:
            return None
        if not self.varies(atom):
            added = ir.Tup((*(ir.ALL,) * (rank - behind), ir.NONE))
            return self.item(atom, added) if rank > behind else atom
        own = self.place(atom)
        if own == behind:
            return atom
        first = own == rank and own < behind
        return self.item(atom, ir.Tup((ir.ALL, *(ir.NONE,) * (behind - own)))) if first else None

    def reduced(self, call: ir.Call) -> Found:
        """A reduction along axes of one iteration."""
        x, keeps = call.args[0], dict(call.kwargs).get("keepdims", ir.Const(False))
        plain = {k for k, _ in call.kwargs} <= {"axis", "keepdims"} and len(call.args) < 3
        if not plain or not self.varies(x) or keeps not in (ir.Const(True), ir.Const(False)):
            return None
        places = self.axes_of(x, argument(call, "axis") or ir.NONE)
        if not places:
            return None
        along = ir.Const(places[0]) if len(places) == 1 else ir.Tup(tuple(map(ir.Const, places)))
        kwargs = tuple((k, v) for k, v in call.kwargs if k == "keepdims")
        before = (self.rank(x) or 0) - self.place(x)
        gone = 0 if keeps == ir.Const(True) else sum(k > before for k in places)
        new = replace(call, args=(x,), kwargs=(("axis", along), *kwargs))
        return new, self.place(x) - gone

    def axes_of(self, x: ir.Atom, axis: ir.Atom) -> list[int]:
        """The axes that are meant of something for one iteration; none where they are not known."""
        rank, items = self.rank(x) or 0, axis.items if type(axis) is ir.Tup else (axis,)
        found = [a.value for a in items if type(a) is ir.Const and type(a.value) is int]
        if axis == ir.NONE:
            found = [*range(rank)]
        elif len(found) < len(items) or not all(-rank <= k < rank for k in found):
            return []
        before = rank - self.place(x)
        return [k % rank + (k % rank >= before) for k in found]

    def product(self, call: ir.Call) -> Found:
        """A product of vectors and matrices."""
        x, y = call.args
        one, two = self.rank(x), self.rank(y)
        if one not in (1, 2) or two not in (1, 2):
            return None
        if self.varies(x) and self.varies(y):
            return self.product_of_both(x, y)
        return (self.from_left if self.varies(x) else self.from_right)(x, y, one, two)

    def product_of_both(self, x: ir.Atom, y: ir.Atom) -> Found:
        """Products of pairs: of vectors the sums of what their elements give."""
        own = self.place(x)
        one, two = (ir.dims_of(atom_kind(a, self.kinds)) or () for a in (x, y))
        if own != self.place(y) or len(one) != len(two):
            return None
        if len(one) == 2:
            return (ir.Call(operator.matmul, (x, y)), 2) if own == 2 else None
        if not ir.same_dim(*one, *two) or self.limit < 2:  # others might be spread to one length
            return None
        along = (("axis", ir.Const(own)),)
        return ir.Call(np.sum, (self.apply(operator.mul, x, y),), along), 0

    def from_left(self, x: ir.Atom, y: ir.Atom, one: int, two: int) -> Found:
        """A product of which the first factor has the axis."""
        own = self.place(x)
        if own:
            return ir.Call(operator.matmul, (x, y)), own + two - 2
        if one == 2:
            return None
        return ir.Call(operator.matmul, (y if two == 1 else self.attribute(y, "T"), x)), 0

    def from_right(self, x: ir.Atom, y: ir.Atom, one: int, two: int) -> Found:
        """A product of which the second factor has the axis."""
        own = self.place(y)
        if two == 2:
            return (ir.Call(operator.matmul, (x, y)), one) if own == 2 else None
        if own == 0:
            return ir.Call(operator.matmul, (x, y)), 0
        return ir.Call(operator.matmul, (y, x if one == 1 else self.attribute(x, "T"))), one - 1

    # --- parts ---

    def item_of(self, call: ir.Call) -> Found:
        """A part of what has the axis."""
        base, index = call.args
        if type(base) is not ir.Name or base.id not in self.behind:
            return None
        found = self.within(base, index)
        return None if found is None else (ir.Call(call.fn, (base, found[0])), found[1])

    def within(self, base: ir.Name, index: ir.Atom) -> tuple[ir.Atom, int] | None:
        """An index of what has the axis, and how many axes lie behind that in the result."""
        items = self.items(base, index)
        if items is None or self.varies(*items):
            return None
        before, k = (self.rank(base) or 0) - self.behind[base.id], 0
        while before:
            before -= items[k] != ir.NONE
            k += 1
        return index_of((*items[:k], ir.ALL, *items[k:])), sum(map(is_kept, items[k:]))

    def items(self, base: ir.Atom, index: ir.Atom) -> tuple[ir.Atom, ...] | None:
        """What stands in an index for each axis of an array, and for new ones; None of others."""
        items, rank = index.items if type(index) is ir.Tup else (index,), self.rank(base)
        if not is_array(atom_kind(base, self.kinds)) or not all(map(self.is_basic, items)):
            return None
        rest = (rank or 0) - sum(i not in (ir.NONE, ir.Const(...)) for i in items)
        if rest < 0 or items.count(ir.Const(...)) > 1:
            return None
        at = items.index(ir.Const(...)) if ir.Const(...) in items else len(items)
        return (*items[:at], *(ir.ALL,) * rest, *items[at + 1 :])

    def is_basic(self, item: ir.Atom) -> bool:
        """Whether something in an index is an integer, a slice, `None` or `...`."""
        kind = atom_kind(item, self.kinds)
        if type(item) is ir.Name:  # of a slice or of None it does not say which
            return ir.is_scalar(kind) and ir.is_basic(kind)
        if type(item) is ir.Const and type(item.value) is bool:
            return False
        return type(item) in (ir.Const, ir.Slice) and ir.is_basic(kind)


def index_of(items: tuple[ir.Atom, ...]) -> ir.Atom:
    """An index as one writes it: without whole axes at its end, `...` where nothing is left."""
    while items and items[-1] == ir.ALL:
        items = items[:-1]
    return (items[0] if len(items) == 1 else ir.Tup(items)) if items else ir.Const(...)


def is_kept(item: ir.Atom) -> bool:
    """Whether an item of an index gives an axis."""
    return item == ir.NONE or type(item) is ir.Slice
