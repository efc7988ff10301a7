"""The forms of calls with a batch axis: elementwise operations, products, copies, helpers.

A form is asked for a call some operand of which has a batch axis, at the place 0; it gives None
where the call has to be made for each item of the batch.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.autodiff.batch.context import ALL, Context, Form
from srcdiff.autodiff.batch.index import getitem
from srcdiff.autodiff.batch.names import is_question
from srcdiff.autodiff.batch.shapes import SHAPES
from srcdiff.ir.kinds import Array, List, Scalar, Tuple
from srcdiff.kinds.elementwise import is_elementwise
from srcdiff.runtime import arrays, batched, linalg, trees


def form_of(call: ir.Call) -> Form | None:
    """The form of a call, None if it has none."""
    if is_question(call):
        return _question
    if isinstance(call.fn, (ir.Name, ir.Derived)):
        return None
    if isinstance(call.fn, (ir.Method, ir.Attr)):
        return FORMS.get(call.fn)
    if is_elementwise(call.fn) or call.fn is trees.where_nonzero:
        return _elementwise
    return FORMS.get(call.fn) if type(call.fn).__hash__ is not None else None


def _question(b: Context, call: ir.Call) -> ir.Rhs | None:
    """What is asked of a value is asked of that for one item."""
    if call.fn is np.may_share_memory or (call.fn is len and b.is_container(call.args[0])):
        return call
    return replace(call, args=tuple(map(b.one, call.args)))


def _elementwise(b: Context, call: ir.Call) -> ir.Rhs | None:
    """Operands with axes behind the batch axis, where they need them."""
    if call.kwargs or any(map(b.is_container, call.args)):
        return None
    return replace(call, args=b.aligned(call.args))


def same(b: Context, call: ir.Call) -> ir.Rhs | None:
    """What does the same with a batch axis."""
    rest = (*call.args[1:], *(v for _, v in call.kwargs))
    return None if any(map(b.has, rest)) or b.is_container(call.args[0]) else call


def _same_container(b: Context, call: ir.Call) -> ir.Rhs | None:
    """What does the same to a container of batches."""
    return call


def _matrices(b: Context, call: ir.Call) -> ir.Rhs | None:
    """What takes stacks of matrices and vectors: operands of the ranks that they are made for."""
    ranks = [b.rank(a) for a in call.args if not isinstance(a, ir.Const)]
    return None if call.kwargs or not set(ranks) <= {1, 2} else call


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

    def form(b: Context, call: ir.Call) -> ir.Rhs | None:
        return ir.Call(fn, (*call.args, b.size), call.kwargs)

    return form


def _add_tree(b: Context, call: ir.Call) -> ir.Rhs | None:
    """The sum of two adjoints, both with the axis."""
    args = (a if b.has(a) else b.call(batched.repeated, a, b.size) for a in call.args)
    return ir.Call(batched.add_each, tuple(args))


def _as_number(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`float(d)` of a batch of numbers is an array of its own."""
    if len(call.args) != 1 or not b.is_number(call.args[0]):
        return None
    return ir.Call(np.array, call.args)


# --- products ------------------------------------------------------------------------------------


def _matmul(b: Context, call: ir.Call) -> ir.Rhs | None:
    """A product in which one factor has a batch axis: vectors are rows of a matrix."""
    x, y = call.args[:2]
    left, right = b.rank(x), b.rank(y)
    if call.kwargs or left is None or right is None or not left or not right:
        return None
    if max(left, right) > 2 or (b.has(x) and b.has(y)):
        return None
    fn = operator.matmul
    if b.has(y) and right == 1:
        return ir.Call(fn, (y, x if left == 1 else b.turned(x)))
    return ir.Call(fn, (x, y))


def _dot(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.dot`, which is `@` for vectors and matrices."""
    return _matmul(b, ir.Call(operator.matmul, call.args, call.kwargs))


def _outer(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.outer` of vectors."""
    x, y = call.args
    if call.kwargs or b.rank(x) != 1 or b.rank(y) != 1:
        return None
    return ir.Call(operator.mul, (_column(b, x), _row(b, y)))


def _column(b: Context, x: ir.Atom) -> ir.Atom:
    return b.item(x, ir.Tup((ALL, ALL, ir.NONE) if b.has(x) else (ALL, ir.NONE)))


def _row(b: Context, y: ir.Atom) -> ir.Atom:
    return b.widened(y, 1) if b.has(y) else y


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
    columns = b.emit(ir.Call(ir.Attr("T"), (y,)))
    return ir.Call(ir.Attr("T"), (b.call(np.linalg.solve, a, columns),))


def _array(b: Context, call: ir.Call) -> ir.Rhs | None:
    """`np.array(d)` of an array or number, or of a list of such of one shape."""
    d, kind = call.args[0], b.kind(call.args[0])
    if isinstance(kind, (List, Tuple)) and len(call.args) == 1 and not call.kwargs:
        return ir.Call(batched.array_each, (b.completed(d),))
    return same(b, call) if isinstance(kind, (Array, Scalar)) else None


_MATRICES = (
    linalg.eigh_back, linalg.eig_back, linalg.svd_back, linalg.cholesky_back,
    linalg.eigvalsh_back, linalg.eigvalsh_back_along, linalg.values_along,
    linalg.vectors_along, linalg.svdvals_back, linalg.svdvals_back_along,
    linalg.svdvals_back_part, linalg.svdvals_back_turn, linalg.singular_along,
    linalg.from_triangle, linalg.to_triangle,
)  # fmt: skip

FORMS: Mapping[Any, Form] = {
    **SHAPES,
    **dict.fromkeys((operator.matmul, np.matmul), _matmul),
    **dict.fromkeys(_MATRICES, _matrices),
    **dict.fromkeys((float, complex, np.float64, np.complex128), _as_number),
    **dict.fromkeys((np.copy, np.zeros_like, np.ones_like, np.empty_like, np.conj), same),
    **dict.fromkeys((ir.Method("copy"), ir.Method("astype"), ir.Method("conj")), same),
    **dict.fromkeys((ir.Attr("real"), ir.Attr("imag")), same),
    **dict.fromkeys((trees.zero_tree, trees.copy_tree, trees.zeros_like), _same_container),
    **dict.fromkeys((ir.make_list, ir.make_dict), _same_container),
    operator.getitem: getitem,
    **dict.fromkeys((np.array, np.asarray, np.ascontiguousarray), _array),
    np.dot: _dot,
    np.outer: _outer,
    np.einsum: _einsum,
    np.linalg.solve: _solve,
    arrays.unbroadcast: _helper(batched.unbroadcast_each),
    arrays.spread: _helper(batched.spread_each),
    arrays.keep_axes: _helper(batched.keep_axes_each),
    arrays.scatter: _helper(batched.scatter_each),
    arrays.real_like: same,
    arrays.uncut: same,
    trees.add_tree: _add_tree,
    trees.like_tree: _with_size(batched.like_each),
    trees.cotangent: _with_size(batched.cotangents),
}
