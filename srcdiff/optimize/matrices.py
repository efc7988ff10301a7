"""Plainer forms of products of matrices and vectors: fewer transposes, outer products by name."""

from __future__ import annotations

import operator

import numpy as np

from srcdiff import ir
from srcdiff.ir.kinds import Array, rank_of
from srcdiff.optimize.signs import Signs

_ALL = ir.Slice(ir.NONE, ir.NONE, ir.NONE)
_COLUMN = ir.Tup((ir.Const(...), _ALL, ir.NONE))
_ROW = ir.Tup((ir.Const(...), ir.NONE, _ALL))


def transposed(x: ir.Atom, signs: Signs, loc: ir.Loc) -> ir.Rhs | None:
    """`x.T` of a product that is used nowhere else: `(a.T @ b).T` is `b.T @ a`."""
    value = signs.available.value(x)
    if not isinstance(x, ir.Name) or signs.uses.get(x.id) != 1 or not isinstance(value, ir.Call):
        return None
    if value.fn is operator.neg:
        return ir.Call(operator.neg, (_transpose(value.args[0], signs, loc),))
    if value.kwargs or len(value.args) != 2:
        return None
    a, b = value.args
    if value.fn is np.outer:
        return ir.Call(np.outer, (b, a), text=value.text)
    if value.fn is not operator.matmul or not all(_rank(k, signs) == 2 for k in (a, b)):
        return None
    untransposed = [_base(k, signs) for k in (a, b)]
    if untransposed == [None, None]:
        return None
    left, right = (
        base or _transpose(k, signs, loc) for k, base in zip((b, a), reversed(untransposed))
    )
    return ir.Call(operator.matmul, (left, right), text=value.text)


def outer(a: ir.Atom, b: ir.Atom, signs: Signs, loc: ir.Loc) -> ir.Rhs | None:
    """`x[..., :, None] * y[..., None, :]` of vectors, of which one may be negated."""
    column, row = _spread(a, _COLUMN, signs), _spread(b, _ROW, signs)
    if column is not None and row is not None:
        return ir.Call(np.outer, (column, row), text="np.outer")
    value = signs.available.value(a)
    if isinstance(value, ir.Call) and value.fn is operator.neg and row is not None:
        column = _spread(value.args[0], _COLUMN, signs)
        if column is not None:
            product = ir.Call(np.outer, (column, row), text="np.outer")
            return ir.Call(operator.neg, (signs.computed(product, loc),))
    return None


def _spread(atom: ir.Atom, index: ir.Tup, signs: Signs) -> ir.Atom | None:
    """The vector of which an atom is the column or the row."""
    value = signs.available.value(atom)
    if not isinstance(value, ir.Call) or value.fn is not operator.getitem:
        return None
    return value.args[0] if value.args[1] == index and _rank(value.args[0], signs) == 1 else None


def _rank(atom: ir.Atom, signs: Signs) -> int | None:
    kind = signs.kinds.get(atom.id) if isinstance(atom, ir.Name) else None
    return rank_of(kind) if isinstance(kind, Array) and not kind.maybe_scalar else None


def _base(atom: ir.Atom, signs: Signs) -> ir.Atom | None:
    """What an atom is the transpose of."""
    value = signs.available.value(atom)
    is_transpose = isinstance(value, ir.Call) and value.fn == ir.Attr("T")
    return value.args[0] if is_transpose else None  # type: ignore[union-attr]


def _transpose(atom: ir.Atom, signs: Signs, loc: ir.Loc) -> ir.Name:
    return signs.computed(ir.Call(ir.Attr("T"), (atom,)), loc)
