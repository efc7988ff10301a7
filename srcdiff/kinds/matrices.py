"""The kinds of sparse matrices of SciPy, and of what is made of them."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.frozen import replace
from srcdiff.kinds.lattice import Args, Keywords, Kwargs, Rule, always, like
from srcdiff.primitives.operation import Meaning, op_of
from srcdiff.primitives.ops import Op, op_named
from srcdiff.runtime.scipy import sparse

FORMATS = ("csr", "csc", "coo")
"""Those whose entries are known one by one."""
_TRANSPOSED = {"csr": "csc", "csc": "csr"}
_SAME = frozenset({"copy", "conj", "conjugate"})
_SUMS = (Op.ADD, Op.SUB, Op.NP_ADD, Op.SUBTRACT)
_QUOTIENTS = (Op.DIV, Op.DIVIDE)
_SCALED = (Op.MUL, Op.MULTIPLY, *_QUOTIENTS)


def is_matrix(kind: ir.Kind) -> bool:
    """Whether a value is a sparse matrix for which `*` is the matrix product."""
    return isinstance(kind, ir.Sparse) and kind.type.endswith("_matrix")


def holds_sparse(kind: ir.Kind) -> bool:
    """Whether a value is a sparse matrix, or holds one."""
    return isinstance(kind, ir.Sparse) or any(map(holds_sparse, ir.inside(kind)))


def format_of(kind: ir.Kind) -> str:
    """The format of a sparse matrix: `csr`, or `any` where it is not known."""
    return kind.type.partition("_")[0] if isinstance(kind, ir.Sparse) else "any"


def transposed(kind: ir.Sparse) -> ir.Sparse:
    """The kind of the transpose of a sparse matrix."""
    return converted(kind, _TRANSPOSED.get(format_of(kind), format_of(kind)))


def converted(kind: ir.Sparse, to: str) -> ir.Sparse:
    """The kind of a sparse matrix in another format."""
    return ir.Sparse(f"{to}_{kind.type.rpartition('_')[2]}", kind.dtype)


def sparse_kind(fn: ir.Callee, args: Args, kwargs: Kwargs) -> ir.Kind:
    """The kind of a call of which an argument is a sparse matrix."""
    op, rule = op_named(fn), FUNCTIONS.get(fn) if isinstance(fn, FunctionType) else None
    if rule is not None:
        return rule(args, dict(kwargs)) or ir.UNKNOWN
    if isinstance(fn, ir.Attr):
        return _attribute(args[0], fn.name)
    if op_of(fn).means(Meaning.PRODUCT) and len(args) == 2:
        return _product(*args)
    if isinstance(fn, ir.Method):
        return _method(args, fn.name, kwargs)
    if op in _SUMS and len(args) == 2:
        return _sum(*args)
    if op in _SCALED and len(args) == 2:
        return _scaled(op, *args)
    if op in (Op.NEG, Op.POS):
        return args[0]
    return made_kind(fn, args, kwargs)


def _attribute(base: ir.Kind, name: str) -> ir.Kind:
    if not isinstance(base, ir.Sparse):
        return ir.UNKNOWN
    if name in ("T", "H"):
        return transposed(base)
    if name == "data" and format_of(base) in FORMATS:
        return ir.Array(base.dtype, (None,))
    if name == "dtype":
        return ir.Object("dtype", None if base.dtype is None else np.dtype(base.dtype))
    if name == "shape":
        return ir.Tuple((ir.Scalar("int64"), ir.Scalar("int64")))
    return ir.Scalar("int64") if name in ("nnz", "ndim", "size") else ir.UNKNOWN


def _method(args: Args, name: str, kwargs: Kwargs) -> ir.Kind:
    base = args[0]
    if not isinstance(base, ir.Sparse):
        return ir.UNKNOWN
    if name == "transpose" and len(args) == 1:
        return transposed(base)
    if name in _SAME:
        return base
    if name.startswith("to") and name[2:] in (*FORMATS, "bsr", "dia", "lil", "dok"):
        return converted(base, name[2:])
    if name == "toarray" or (name == "todense" and not is_matrix(base)):
        return ir.Array(base.dtype, (None, None))
    if name == "sum" and not is_matrix(base):
        whole = len(args) == 1 and not kwargs
        return ir.Scalar(base.dtype, False) if whole else ir.Array(base.dtype, (None,))
    return ir.UNKNOWN


def _wider(a: ir.Kind, b: ir.Kind) -> str | None:
    """The dtype of a product or sum."""
    one, two = ir.dtype_of(a), ir.dtype_of(b)
    if one is None or two is None:
        return None
    if isinstance(b, ir.Scalar) and b.python and ir.is_inexact_dtype(one) and two != "complex128":
        return one
    return str(np.result_type(one, two).name)


def _product(a: ir.Kind, b: ir.Kind) -> ir.Kind:
    dtype = _wider(a, b)
    if isinstance(a, ir.Sparse) and isinstance(b, ir.Sparse):
        return converted(replace(a, dtype=dtype), "any")
    rows, columns = ir.rank_of(a), ir.rank_of(b)
    if not rows or not columns:
        return ir.UNKNOWN
    left = (None,) if rows == 2 else ()
    right = b.dims[1:] if isinstance(b, ir.Array) and b.dims else (None,)
    return ir.Array(dtype, (*left, *right))


def _sum(a: ir.Kind, b: ir.Kind) -> ir.Kind:
    """A sum; with a dense array it is dense, but `np.matrix` where the other is a matrix."""
    if isinstance(a, ir.Sparse) and isinstance(b, ir.Sparse):
        return converted(replace(a, dtype=_wider(a, b)), "any")
    return ir.UNKNOWN if is_matrix(a) or is_matrix(b) else ir.Array(_wider(a, b), (None, None))


def _scaled(op: Op | None, a: ir.Kind, b: ir.Kind) -> ir.Kind:
    """A product with a number, or what `*` means for the class."""
    divides = op in _QUOTIENTS
    if isinstance(a, ir.Sparse) and isinstance(b, ir.Scalar):
        return ir.Sparse(a.type, _wider(a, b))
    if isinstance(b, ir.Sparse) and isinstance(a, ir.Scalar) and not divides:
        return ir.Sparse(b.type, _wider(b, a))
    plain = op is Op.MUL and (is_matrix(a) or is_matrix(b))
    return _product(a, b) if plain else ir.UNKNOWN


# --- what makes a sparse matrix ------------------------------------------------------------------


def class_made(fn: Any) -> str:
    """The name of the class of sparse matrices that a callee is; "" of any other."""
    ours = isinstance(fn, type) and fn.__module__.startswith("scipy.sparse.")
    return fn.__name__ if ours and fn.__name__.endswith(("_array", "_matrix")) else ""


def made_kind(fn: Any, args: Args, kwargs: Kwargs) -> ir.Kind:
    """The kind of what a function of `scipy.sparse` makes."""
    if (name := class_made(fn)) and args:
        return ir.Sparse(name, _dtype_asked(dict(kwargs)) or _dtype_held(args[0]))
    solves = op_of(fn).name == "scipy.sparse.linalg.spsolve" and len(args) > 1
    vector = solves and ir.rank_of(args[1]) == 1
    return ir.Array(_wider(*args[:2]), (None,)) if vector else ir.UNKNOWN


def _dtype_asked(kwargs: dict[str, ir.Kind]) -> str | None:
    value = getattr(kwargs.get("dtype"), "value", None)
    try:
        return None if value is None else str(np.dtype(value).name)
    except TypeError:
        return None


def _dtype_held(given: ir.Kind) -> str | None:
    """The dtype of what a sparse matrix is made of."""
    if isinstance(given, ir.Tuple) and given.items:
        given = given.items[0]
    known = isinstance(given, (ir.Array, ir.Sparse)) and given.dtype is not None
    return given.dtype if known and ir.is_inexact_dtype(given.dtype) else None  # type: ignore[union-attr]


# --- what the rules are written with -------------------------------------------------------------


def _product_of_entries(args: Args, kwargs: Keywords) -> ir.Kind | None:
    x = args[2]
    dtype = _wider(args[1], x)
    return ir.Array(dtype, (None, *x.dims[1:])) if isinstance(x, ir.Array) and x.dims else None


def _entries(kind: ir.Kind) -> ir.Kind:
    """A number for every entry of a matrix, or for every row."""
    return ir.Array(ir.dtype_of(kind), (None,))


FUNCTIONS: dict[Any, Rule] = {
    **dict.fromkeys((sparse.matrix_product, sparse.matrix_solution), _product_of_entries),
    **dict.fromkeys((sparse.axis_sums, sparse.axis_entries, sparse.entries_at), like(1, _entries)),
    **dict.fromkeys((sparse.places, sparse.order_of), always(ir.Array("int64", (None,)))),
    sparse.outer_entries: lambda args, kwargs: ir.Array(_wider(args[1], args[2]), (None,)),
    sparse.full_matrix: like(1, lambda kind: ir.Array(ir.dtype_of(kind), (None, None))),
    sparse.summed_entries: like(0, _entries),
    sparse.with_entries: like(0),
}
