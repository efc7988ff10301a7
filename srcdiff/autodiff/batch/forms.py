"""The forms of calls with a batch axis.

`for_batch` takes the `Context` and a call some operand of which has a batch axis, at the place 0;
it gives the call for the whole batch, or None where the call has to be made for each item.  The
form follows from what the operation does with axes (`primitives/operation.py`): those that it names
count from behind the batch axis, operands get axes behind it where they broadcast.  Subscripts,
where `d[i]` becomes `d[:, i]`, and a few other callees have forms of their own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Union

import numpy as np

from srcdiff import ir
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import replace, state
from srcdiff.ir.kinds import is_container
from srcdiff.kinds.calls import atom_kind, call_kind
from srcdiff.primitives.arguments import as_atom
from srcdiff.primitives.operation import Axes, Axis, Bare, Meaning, op_of
from srcdiff.primitives.ops import Op, is_op, which_op
from srcdiff.runtime import batched


class NoBatchError(Exception):
    """A statement cannot be written for a batch; with the reason."""


@state
class Context(Builder):
    """What is known of the names, the size of the batch, and the statements made so far."""

    kinds: dict[str, ir.Kind]  # of a single item
    names: frozenset[str]  # those with a batch axis
    written: frozenset[str]  # those whose memory is written into
    numbers: frozenset[str]  # those that are bound to a literal somewhere
    size: ir.Name
    fresh: ir.Fresh
    renamed: frozenset[str] = frozenset()  # those that stand for what another name stands for
    shadows: frozenset[str] = frozenset()  # those that may share memory with a shadow
    owned: bool = True  # what is added to in place shares no memory that matters
    loc: ir.Loc = ir.NOWHERE
    out: list[ir.Stmt] = field(default_factory=list)
    transposed: dict[str, ir.Name] = field(default_factory=dict)  # of which matrix, here

    def has(self, node: ir.Rhs | None) -> bool:
        """Whether an atom or call reads a name with a batch axis."""
        return any(n in self.names for n in ir.names(node))

    def kind(self, atom: ir.Atom) -> ir.Kind:
        """The kind of an atom for a single item."""
        return atom_kind(atom, self.kinds)

    def rank(self, atom: ir.Atom) -> int | None:
        """The number of axes of an atom for a single item, None if unknown."""
        if isinstance(atom, ir.Const) and isinstance(atom.value, (int, float, complex)):
            return 0
        return ir.rank_of(self.kind(atom))

    def is_number(self, atom: ir.Atom) -> bool:
        """Whether an atom is certainly a number for a single item."""
        return isinstance(self.kind(atom), ir.Scalar)

    def is_array(self, atom: ir.Atom) -> bool:
        """Whether an atom is certainly an array for a single item, or a number of NumPy's."""
        return isinstance(self.kind(atom), ir.Array)

    def is_container(self, atom: ir.Atom) -> bool:
        """Whether an atom certainly is a tuple, list, dict or None."""
        kind = self.kind(atom)
        return is_container(kind) or isinstance(ir.sure(kind), ir.NoneKind)

    def one(self, atom: ir.Atom) -> ir.Atom:
        """A value for a single item: the first one of a batch."""
        return self.item(atom, ir.Const(0)) if self.has(atom) else atom

    def turned(self, matrix: ir.Atom) -> ir.Name:
        """A matrix transposed."""
        found = self.transposed.get(matrix.id) if isinstance(matrix, ir.Name) else None
        return self.attribute(matrix, "T") if found is None else found

    def widened(self, atom: ir.Atom, count: int) -> ir.Atom:
        """A batch with `count` axes more behind the batch axis."""
        return self.item(atom, ir.Tup((ir.ALL, *(ir.NONE,) * count))) if count > 0 else atom

    def completed(self, atom: ir.Atom) -> ir.Atom:
        """An atom that has the axis in all its parts."""
        if isinstance(atom, ir.Tup):
            return ir.Tup(tuple(map(self.completed, atom.items)))
        if atom == ir.NONE:
            return atom
        written = isinstance(atom, ir.Name) and atom.id in self.written and self.is_array(atom)
        if written and not self.has(atom):
            raise NoBatchError("an array that is written into becomes part of what has the axis")
        return self.repeated(atom)

    def repeated(self, atom: ir.Atom) -> ir.Atom:
        """An atom that has the axis, or what it is for every item in new memory."""
        return atom if self.has(atom) else self.apply(batched.repeated, atom, self.size)

    def aligned(self, atoms: Sequence[ir.Atom]) -> tuple[ir.Atom, ...]:
        """Operands that broadcast against each other behind the batch axis."""
        return tuple(
            self.beside(a, [b for b in atoms if b != a]) if self.has(a) else a for a in atoms
        )

    def beside(self, atom: ir.Atom, others: Sequence[ir.Atom]) -> ir.Atom:
        """A batch with axes behind the first, so that it broadcasts against other operands."""
        rank, ranks = self.rank(atom), [self.rank(o) for o in others]
        if not any(ranks) and None not in ranks:
            return atom
        if rank is None or None in ranks:
            larger = [o for o, r in zip(others, ranks) if r != 0]
            return self.apply(batched.beside, atom, *map(self.one, larger))
        return self.widened(atom, max(r for r in ranks if r is not None) - rank)


Form = Callable[[Context, ir.Call], Union[ir.Rhs, None]]
"""What a call is with a batch axis; None where it has to be made for each item."""


# --- subscripts behind the batch axis: `d[i]` becomes `d[:, i]` ----------------------------------


def index_behind(b: Context, index: ir.Atom) -> ir.Atom | None:
    """The index of an array for one of the batch; None where NumPy would put axes elsewhere.

    Where arrays (and integers beside them) in an index are apart from each other, what they
    select comes first in the result, before the batch.
    """
    kind = b.kind(index)
    if isinstance(kind, ir.Text):  # a field of records, which has the axes of the array
        return index
    if isinstance(index, ir.Name) and not isinstance(kind, (ir.Scalar, ir.Array)):
        return b.apply(batched.behind, index) if ir.is_basic(kind) else None
    items = index.items if isinstance(index, ir.Tup) else (index,)
    kinds = [b.kind(i) for i in items]
    if len(items) > 1 and any(map(ir.indexes_as_array, kinds)):
        if not all(ir.is_basic(k) or ir.indexes_as_array(k) for k in kinds):
            return None
        # Beside arrays an integer counts as one.
        advanced = (ir.indexes_as_array(one) or isinstance(one, ir.Scalar) for one in kinds)
        places = [k for k, is_one in enumerate(advanced) if is_one]
        if places[-1] - places[0] >= len(places):
            return None
    elif len(items) > 1 and not all(map(ir.is_basic, kinds)):
        return None
    return ir.Tup((ir.ALL, *items))


def getitem(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`d[i]` of an array for a single item, or of a container."""
    base, index = call.args
    if b.has(index) or not b.has(base):
        return None
    if b.is_container(base):
        return call
    if not b.is_array(base):
        return ir.Call(call.fn, (base, index), call.kwargs) if index == ir.Tup(()) else None
    behind = index_behind(b, index)
    if behind is None:
        return None
    item = ir.Call(operator.getitem, (base, behind))
    kind = region(b, base, index)
    assert isinstance(base, ir.Name)
    if base.id not in b.written or ir.rank_of(kind) is not None and isinstance(kind, ir.Array):
        return item
    number = isinstance(kind, ir.Scalar)
    return ir.Call(np.copy if number else batched.own_numbers, (b.temp(item),))


def region(b: Context, base: ir.Atom, index: ir.Atom) -> ir.Kind:
    """The kind of `base[index]` for a single item."""
    given = b.kind(base), atom_kind(index, b.kinds)
    return call_kind(operator.getitem, given, (), False)


def stored(b: Context, base: ir.Name, index: ir.Atom, value: ir.Atom) -> ir.Atom:
    """A value as it is stored into a region of an array, or an item, for each item of the batch."""
    if not b.has(value):
        return value
    if isinstance(value, ir.Tup):
        raise NoBatchError("numbers are stored together")
    rank, given = ir.rank_of(region(b, base, index)), b.rank(value)
    if rank is None or given is None:
        order = (index, ir.Const(0)) if b.is_container(base) else (ir.Const(0), index)
        return b.apply(batched.beside, value, b.item(b.item(base, order[0]), order[1]))
    return b.widened(value, rank - given)


# --- the forms that follow from what an operation does with axes ---------------------------------


def for_batch(b: Context, call: ir.Call) -> ir.Rhs | None:
    """What a call is for the whole batch, None where it has to be made for each item."""
    axes = op_of(call.fn).axes
    if axes is not None:
        return _DERIVED[axes.meaning](b, call, axes)
    op = which_op(call)
    own = None if op is None else _OWN.get(op)
    return None if own is None else own(b, call)


def _asked(b: Context, call: ir.Call, axes: Axes) -> ir.Rhs | None:
    """What is asked of a value is asked of that for one item.

    Raises:
        NoBatchError: it is a container, whose items have the axis.
    """
    held = any(b.has(a) and b.is_container(a) for a in call.args)
    if is_op(call, Op.MAY_SHARE_MEMORY) or (is_op(call, Op.LEN) and held):
        return call
    if held:
        raise NoBatchError("a container of adjoints is asked for its shape")
    return replace(call, args=tuple(map(b.one, call.args)))


def _elements(b: Context, call: ir.Call, axes: Axes) -> ir.Rhs | None:
    """Operands with axes behind the batch axis, where they need them."""
    if call.kwargs or any(map(b.is_container, call.args)):
        return None
    return replace(call, args=b.aligned(call.args))


def _like(b: Context, call: ir.Call, axes: Axes) -> ir.Rhs | None:
    """The same call."""
    rest = (*call.args[1:], *(v for _, v in call.kwargs))
    plain = {k for k, _ in call.kwargs} <= {"dtype", "order", "copy"} and not any(map(b.has, rest))
    least = (b.rank(call.args[0]) or 0) >= axes.least
    return call if plain and least and not b.is_container(call.args[0]) else None


def _converted(b: Context, call: ir.Call, axes: Axes) -> ir.Rhs | None:
    """An array of an array or number, or of a list of such of one shape."""
    d, kind = call.args[0], b.kind(call.args[0])
    alone = len(call.args) == 1 and not call.kwargs
    if isinstance(call.fn, type):  # `float(d)` is of numbers alone
        return ir.Call(np.array, call.args) if alone and b.is_number(d) else None
    if isinstance(kind, (ir.List, ir.Tuple)) and alone:
        return ir.Call(batched.array_each, (b.completed(d),))
    return _like(b, call, axes) if isinstance(kind, (ir.Array, ir.Scalar)) else None


def _along(b: Context, call: ir.Call, axes: Axes) -> ir.Rhs | None:
    """Named axes count from behind the batch axis."""
    if not _plain(b, call, axes):
        return None
    dims, new = ir.dims_of(b.kind(call.args[0])), call
    for axis in axes.named:
        given = _argument(call, axis)
        moved = _bare(axes.bare, dims) if given == ir.NONE else shifted(b, given)
        if moved is None:
            return _flat(b, call, axes) if given == ir.NONE else None
        new = _with_argument(new, axis, moved)
    return new


def _plain(b: Context, call: ir.Call, axes: Axes) -> bool:
    """Whether only the first operand has the axis, and what names no axes is no array.

    It may be one where it stands before the axes: places to take, how often to repeat.
    """
    d, *rest = call.args
    before = min((axis.place for axis in axes.named), default=1) - 1
    names = {axis.name for axis in axes.named}
    others = (*rest[before:], *(v for k, v in call.kwargs if k not in names))
    plain = all(
        isinstance(b.kind(a), (ir.Scalar, ir.Text, ir.NoneKind, ir.Object, ir.Tuple))
        for a in others
    )
    starred = any(isinstance(a, ir.Star) for a in rest)
    alone = not starred and not any(map(b.has, (*rest, *(v for _, v in call.kwargs))))
    return alone and plain and b.has(d) and not b.is_container(d)


def _argument(call: ir.Call, axis: Axis) -> ir.Atom:
    """The argument that names an axis, by position or by keyword, or what it is if left out."""
    if axis.place < len(call.args):
        return call.args[axis.place]
    return dict(call.kwargs).get(axis.name, as_atom(axis.default))


def _with_argument(call: ir.Call, axis: Axis, value: ir.Atom) -> ir.Call:
    """A call that names another axis, as it named one before."""
    if axis.place < len(call.args):
        args = (*call.args[: axis.place], value, *call.args[axis.place + 1 :])
        return replace(call, args=args)
    if value == as_atom(axis.default) and axis.name not in dict(call.kwargs):
        return call
    return replace(call, kwargs=tuple({**dict(call.kwargs), axis.name: value}.items()))


def _bare(bare: Bare, dims: tuple[ir.Dim, ...] | None) -> ir.Atom | None:
    """The axes that are meant where none is named, None if they are not known."""
    if bare is Bare.NOTHING:
        return ir.NONE
    flat = bare in (Bare.FLAT, Bare.AS_FLAT)
    if not dims or bare is Bare.NEVER or (flat and len(dims) > 1):
        return None
    if bare is Bare.ONES and not all(d == 1 or ir.is_big(d) for d in dims):
        return None
    every = (k + 1 for k, dim in enumerate(dims) if dim == 1 or bare is not Bare.ONES)
    axes = tuple(map(ir.Const, every))
    return axes[0] if len(axes) == 1 else ir.Tup(axes)


def _flat(b: Context, call: ir.Call, axes: Axes) -> ir.Rhs | None:
    """What is done with all numbers of an operand, whatever axes it has."""
    axis, kept = axes.named[0], dict(call.kwargs).get("keepdims", ir.Const(False))
    known = axes.bare in (Bare.TOTAL, Bare.FLAT) and len(call.args) <= axis.place + 1
    if not known or kept != ir.Const(False):
        return None
    flat = b.apply(np.reshape, call.args[0], ir.Tup((b.size, ir.Const(-1))))
    return _with_argument(replace(call, args=(flat, *call.args[1:])), axis, ir.Const(1))


def _ordered(b: Context, call: ir.Call, axes: Axes) -> ir.Rhs | None:
    """The batch axis stays the first one, the others are turned."""
    d, *given = call.args
    if not _plain(b, call, axes):
        return None
    named = _argument(call, axes.named[0]) if axes.named else ir.NONE
    order = ir.Tup(tuple(given)) if len(given) > 1 else named
    rank = b.rank(d)
    if order == ir.NONE and rank is not None:
        if rank < 3:
            return d if rank < 2 else ir.Call(ir.Attr("mT"), (d,))
        order = ir.Tup(tuple(ir.Const(k) for k in reversed(range(rank))))
    moved = shifted(b, order)
    if not isinstance(moved, ir.Tup):
        return None
    return ir.Call(np.transpose, (d, ir.Tup((ir.Const(0), *moved.items))))


def _shaped(b: Context, call: ir.Call, axes: Axes) -> ir.Rhs | None:
    """The size of the batch in front of the shape; in one axis, if none is given."""
    d, *given = call.args
    most = 0 if not axes.named else len(given) if isinstance(call.fn, ir.Method) else 1
    if not _plain(b, call, axes) or call.kwargs or len(given) > most:
        return None
    shape = shape_behind(b, given[0] if len(given) == 1 else ir.Tup(tuple(given or [ir.Const(-1)])))
    return None if shape is None else ir.Call(np.reshape, (d, shape))


def _joined(b: Context, call: ir.Call, axes: Axes) -> ir.Rhs | None:
    """What is joined with others, all of which have the axis."""
    items, (axis,) = call.args[0], axes.named
    moved = shifted(b, _argument(call, axis))
    if moved is None or len(call.args) > 2 or {k for k, _ in call.kwargs} - {axis.name}:
        return None
    kind = b.kind(items)
    if isinstance(items, ir.Name) and isinstance(kind, (ir.List, ir.Tuple)):
        known = all(isinstance(k, (ir.Array, ir.Scalar)) for k in ir.inside(kind))
    else:
        known = isinstance(items, ir.Tup) and all(_is_part(b, i) for i in items.items)
    if isinstance(items, ir.Tup) and known:
        items = ir.Tup(tuple(_part(b, i) for i in items.items))
    return ir.Call(call.fn, (items,), ((axis.name, moved),)) if known else None


def _is_part(b: Context, part: ir.Atom) -> bool:
    """Whether something may be joined with others that have the axis."""
    return not b.has(part) or b.is_array(part) or b.is_number(part)


def _part(b: Context, part: ir.Atom) -> ir.Atom:
    """What is joined with others that have the axis."""
    plain = b.has(part) or b.is_array(part)
    return b.repeated(part if plain else b.apply(np.asarray, part))


def _stacked(b: Context, call: ir.Call, axes: Axes) -> ir.Rhs | None:
    """Stacks of matrices and vectors: several operands have the axes that they are made for."""
    ranks = [b.rank(a) for a in call.args if b.has(a) or b.rank(a) != 0]
    if any(b.has(v) for _, v in call.kwargs) or any((r or 0) < axes.least for r in ranks):
        return None
    return call if len(ranks) == 1 or all(r is not None and r < 3 for r in ranks) else None


def _product(b: Context, call: ir.Call, axes: Axes) -> ir.Rhs | None:
    """A product in which one factor has the axis: vectors are rows of a matrix."""
    x, y = call.args[:2]
    left, right = b.rank(x), b.rank(y)
    if call.kwargs or len(call.args) > 2 or (b.has(x) and b.has(y)):
        return None
    if left is None or right is None or min(left, right) < 1 or max(left, right) > axes.most:
        return None
    fn = operator.matmul
    if b.has(y) and right == 1 and left < 3:
        return ir.Call(fn, (y, x if left == 1 else b.turned(x)))
    (own, other) = (left, right) if b.has(x) else (right, left)
    if own == 1 and other > 2:
        return None
    wide = other - own if other > 2 else 0  # axes of a stack that the one with the axis lacks
    args = (b.widened(x, wide), y) if b.has(x) else (x, b.widened(y, wide))
    return ir.Call(fn, args)


_Derived = Callable[[Context, ir.Call, Axes], Union[ir.Rhs, None]]
_DERIVED: Mapping[Meaning, _Derived] = {
    Meaning.ASKED: _asked,
    Meaning.ELEMENTS: _elements,
    Meaning.COMPARED: _elements,
    Meaning.LIKE: _like,
    Meaning.STRUCTURE: lambda b, call, axes: call,  # of a container of batches as well
    Meaning.CONVERTED: _converted,
    Meaning.ALONG: _along,
    Meaning.ORDERED: _ordered,
    Meaning.JOINED: _joined,
    Meaning.SHAPED: _shaped,
    Meaning.STACKED: _stacked,
    Meaning.PRODUCT: _product,
}


# --- axes and shapes behind the batch axis -------------------------------------------------------


def shifted(b: Context, axis: ir.Atom) -> ir.Atom | None:
    """An axis, or several, behind the batch axis; None where it is not known."""
    if isinstance(axis, ir.Tup):
        items = [shifted(b, i) for i in axis.items]
        return None if None in items else ir.Tup(tuple(i for i in items if i is not None))
    if isinstance(axis, ir.Const):
        known = type(axis.value) is int
        return ir.Const(axis.value + (axis.value >= 0)) if known else None
    known = isinstance(b.kind(axis), (ir.Scalar, ir.Tuple))
    return b.apply(batched.axes_behind, axis) if known else None


def shape_behind(b: Context, shape: ir.Atom) -> ir.Tup | None:
    """A shape behind the size of the batch; None where it is not known to be a tuple or number."""
    if isinstance(shape, ir.Tup):
        return ir.Tup((b.size, *shape.items))
    kind = b.kind(shape)
    if isinstance(kind, ir.Scalar):
        return ir.Tup((b.size, shape))
    return ir.Tup((b.size, ir.Star(shape))) if isinstance(kind, ir.Tuple) else None


# --- forms of their own --------------------------------------------------------------------------


def _broadcast_to(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.broadcast_to`, with axes in between where ranks differ."""
    if call.kwargs or len(call.args) != 2 or b.is_container(call.args[0]) or b.has(call.args[1]):
        return None
    d, shape = call.args
    rank, kind = b.rank(d), b.kind(shape)
    behind = shape_behind(b, shape)
    known = isinstance(kind, ir.Tuple) and kind.items is not None
    if rank is None or behind is None or not known:
        return ir.Call(batched.broadcast_each, (d, shape))
    assert isinstance(kind, ir.Tuple) and kind.items is not None
    return ir.Call(np.broadcast_to, (b.widened(d, len(kind.items) - rank), behind))


def _outer(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.outer` of vectors."""
    x, y = call.args
    if call.kwargs or b.rank(x) != 1 or b.rank(y) != 1:
        return None
    column = b.item(x, ir.Tup((ir.ALL, ir.ALL, ir.NONE) if b.has(x) else (ir.ALL, ir.NONE)))
    return ir.Call(operator.mul, (column, b.widened(y, 1) if b.has(y) else y))


def _einsum(b: Context, call: ir.Call) -> ir.Rhs | None:
    """Subscripts with a letter more for the batch."""
    text = call.args[0].value if isinstance(call.args[0], ir.Const) else None
    if not isinstance(text, str) or "->" not in text or "." in text or call.kwargs:
        return None
    letter = next((c for c in "bzyxwvutsrq" if c not in text), None)
    inputs, _, output = text.replace(" ", "").partition("->")
    parts = inputs.split(",")
    if letter is None or len(parts) != len(call.args) - 1:
        return None
    new = (letter + p if b.has(a) else p for p, a in zip(parts, call.args[1:]))
    subscripts = ir.Const(f"{','.join(new)}->{letter}{output}")
    return replace(call, args=(subscripts, *call.args[1:]))


def _solve(b: Context, call: ir.Call) -> ir.Rhs | None:
    """The solution of linear equations for right-hand sides that are vectors or matrices."""
    a, y = call.args
    if call.kwargs or b.has(a) or b.rank(a) != 2 or b.rank(y) not in (1, 2):
        return None
    if b.rank(y) == 2:
        return call
    columns = b.attribute(y, "T")
    return ir.Call(ir.Attr("T"), (b.apply(np.linalg.solve, a, columns),))


def _helper(fn: Any) -> Form:
    """A helper that has a counterpart for batches of its first operand."""

    def form(b: Context, call: ir.Call) -> ir.Rhs | None:
        d, *rest = call.args
        if not b.has(d) or b.is_container(d):
            return None
        kwargs = tuple((k, b.one(v)) for k, v in call.kwargs)
        return ir.Call(fn, (d, *map(b.one, rest)), kwargs)

    return form


def _with_size(fn: Any) -> Form:
    """A helper on structures that is told the size of the batch."""
    return lambda b, call: ir.Call(fn, (*call.args, b.size), call.kwargs)


_OWN: Mapping[Op, Form] = {
    Op.GETITEM: getitem,
    Op.BROADCAST_TO: _broadcast_to,
    Op.OUTER: _outer,
    Op.EINSUM: _einsum,
    Op.LINALG_SOLVE: _solve,
    Op.UNBROADCAST: _helper(batched.unbroadcast_each),
    Op.SPREAD: _helper(batched.spread_each),
    Op.SCATTER: _helper(batched.scatter_each),
    Op.ADD_TREE: lambda b, call: ir.Call(batched.add_each, tuple(map(b.repeated, call.args))),
    Op.LIKE_TREE: _with_size(batched.like_each),
    Op.COTANGENT: _with_size(batched.cotangents),
}
