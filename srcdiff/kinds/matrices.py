"""The kinds of sparse matrices of SciPy, of what is made of them, and of solutions.

For those of `scipy.linalg` a probe would not tell, or take long.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.kinds import (
    UNKNOWN,
    Array,
    Kind,
    Object,
    Scalar,
    Sparse,
    Tuple,
    inside,
    is_inexact_dtype,
    rank_of,
)
from srcdiff.primitives.effects import module_of
from srcdiff.primitives.operation import Meaning, op_of
from srcdiff.runtime.scipy import sparse

Args = tuple[Kind, ...]
Kwargs = tuple[tuple[str, Kind], ...]

FORMATS = ("csr", "csc", "coo")
"""Those whose entries are known one by one."""
_TRANSPOSED = {"csr": "csc", "csc": "csr"}
_SAME = frozenset({"copy", "conj", "conjugate"})
_SUMS: tuple[Any, ...] = (operator.add, operator.sub, np.add, np.subtract)
_SCALED: tuple[Any, ...] = (operator.mul, np.multiply, operator.truediv, np.divide)


def is_matrix(kind: Kind) -> bool:
    """Whether a value is a sparse matrix for which `*` is the matrix product."""
    return isinstance(kind, Sparse) and kind.type.endswith("_matrix")


def holds_sparse(kind: Kind) -> bool:
    """Whether a value is a sparse matrix, or holds one."""
    return isinstance(kind, Sparse) or any(map(holds_sparse, inside(kind)))


def format_of(kind: Kind) -> str:
    """The format of a sparse matrix: `csr`, or `any` where it is not known."""
    return kind.type.partition("_")[0] if isinstance(kind, Sparse) else "any"


def transposed(kind: Sparse) -> Sparse:
    """The kind of the transpose of a sparse matrix."""
    return converted(kind, _TRANSPOSED.get(format_of(kind), format_of(kind)))


def converted(kind: Sparse, to: str) -> Sparse:
    """The kind of a sparse matrix in another format."""
    return Sparse(f"{to}_{kind.type.rpartition('_')[2]}", kind.dtype)


def sparse_kind(fn: ir.Callee, args: Args, kwargs: Kwargs) -> Kind:
    """The kind of a call of which an argument is a sparse matrix."""
    if isinstance(fn, (ir.Name, ir.Derived)):
        return UNKNOWN
    if getattr(fn, "__module__", "") == "srcdiff.runtime.scipy.sparse" and fn in FUNCTIONS:
        return FUNCTIONS[fn](args, dict(kwargs)) or UNKNOWN
    if isinstance(fn, ir.Attr):
        return _attribute(args[0], fn.name)
    if op_of(fn).means(Meaning.PRODUCT) and len(args) == 2:
        return _product(*args)
    if isinstance(fn, ir.Method):
        return _method(args, fn.name, kwargs)
    if fn in _SUMS and len(args) == 2:
        return _sum(*args)
    if fn in _SCALED and len(args) == 2:
        return _scaled(fn, *args)
    if fn in (operator.neg, operator.pos):
        return args[0]
    return made_kind(fn, args, kwargs)


def _attribute(base: Kind, name: str) -> Kind:
    if not isinstance(base, Sparse):
        return UNKNOWN
    if name in ("T", "H"):
        return transposed(base)
    if name == "data" and format_of(base) in FORMATS:
        return Array(base.dtype, (None,))
    if name == "dtype":
        return Object("dtype", None if base.dtype is None else np.dtype(base.dtype))
    if name == "shape":
        return Tuple((Scalar("int64"), Scalar("int64")))
    return Scalar("int64") if name in ("nnz", "ndim", "size") else UNKNOWN


def _method(args: Args, name: str, kwargs: Kwargs) -> Kind:
    base = args[0]
    if not isinstance(base, Sparse):
        return UNKNOWN
    if name == "transpose" and len(args) == 1:
        return transposed(base)
    if name in _SAME:
        return base
    if name.startswith("to") and name[2:] in (*FORMATS, "bsr", "dia", "lil", "dok"):
        return converted(base, name[2:])
    if name == "toarray" or (name == "todense" and not is_matrix(base)):
        return Array(base.dtype, (None, None))
    if name == "sum" and not is_matrix(base):
        whole = len(args) == 1 and not kwargs
        return Scalar(base.dtype, False) if whole else Array(base.dtype, (None,))
    return UNKNOWN


def _wider(a: Kind, b: Kind) -> str | None:
    """The dtype of a product or sum."""
    one, two = getattr(a, "dtype", None), getattr(b, "dtype", None)
    if one is None or two is None:
        return None
    if isinstance(b, Scalar) and b.python and is_inexact_dtype(one) and two != "complex128":
        return str(one)
    return str(np.result_type(one, two).name)


def _product(a: Kind, b: Kind) -> Kind:
    dtype = _wider(a, b)
    if isinstance(a, Sparse) and isinstance(b, Sparse):
        return Sparse(f"any_{a.type.rpartition('_')[2]}", dtype)
    rows, columns = rank_of(a), rank_of(b)
    if not rows or not columns:
        return UNKNOWN
    left = (None,) if rows == 2 else ()
    right = b.dims[1:] if isinstance(b, Array) and b.dims else (None,)
    return Array(dtype, (*left, *right))


def _sum(a: Kind, b: Kind) -> Kind:
    """A sum; with a dense array it is dense, but `np.matrix` where the other is a matrix."""
    if isinstance(a, Sparse) and isinstance(b, Sparse):
        return Sparse(f"any_{a.type.rpartition('_')[2]}", _wider(a, b))
    return UNKNOWN if is_matrix(a) or is_matrix(b) else Array(_wider(a, b), (None, None))


def _scaled(fn: Any, a: Kind, b: Kind) -> Kind:
    """A product with a number, or what `*` means for the class."""
    divides = fn in (operator.truediv, np.divide)
    if isinstance(a, Sparse) and isinstance(b, Scalar):
        return Sparse(a.type, _wider(a, b))
    if isinstance(b, Sparse) and isinstance(a, Scalar) and not divides:
        return Sparse(b.type, _wider(b, a))
    plain = not divides and fn is operator.mul and (is_matrix(a) or is_matrix(b))
    return _product(a, b) if plain else UNKNOWN


# --- what makes a sparse matrix ------------------------------------------------------------------


def class_made(fn: Any) -> str:
    """The name of the class of sparse matrices that a callee is; "" of any other."""
    ours = isinstance(fn, type) and fn.__module__.startswith("scipy.sparse.")
    return fn.__name__ if ours and fn.__name__.endswith(("_array", "_matrix")) else ""


def made_kind(fn: Any, args: Args, kwargs: Kwargs) -> Kind:
    """The kind of what a function of `scipy.sparse` makes."""
    name = class_made(fn)
    if name:
        return Sparse(name, _dtype_asked(dict(kwargs)) or _dtype_held(args[0])) if args else UNKNOWN
    if fn is sparse.with_entries:
        return args[0]
    return _solution(args) if getattr(fn, "__name__", "") == "spsolve" else UNKNOWN


def _dtype_asked(kwargs: dict[str, Kind]) -> str | None:
    value = getattr(kwargs.get("dtype"), "value", None)
    try:
        return None if value is None else str(np.dtype(value).name)
    except TypeError:
        return None


def _dtype_held(given: Kind) -> str | None:
    """The dtype of what a sparse matrix is made of."""
    if isinstance(given, Tuple) and given.items:
        given = given.items[0]
    known = isinstance(given, (Array, Sparse)) and given.dtype is not None
    return given.dtype if known and is_inexact_dtype(given.dtype) else None  # type: ignore[union-attr]


def _solution(args: Args) -> Kind:
    b = args[1] if len(args) > 1 else UNKNOWN
    return Array(_wider(*args[:2]), (None,)) if rank_of(b) == 1 else UNKNOWN


# --- what the rules are written with -------------------------------------------------------------


def _product_of_entries(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    x = args[2]
    dtype = _wider(args[1], x)
    return Array(dtype, (None, *x.dims[1:])) if isinstance(x, Array) and x.dims else None


def _outer(args: Args, kwargs: dict[str, Kind]) -> Kind | None:
    return Array(_wider(args[1], args[2]), (None,))


FUNCTIONS: dict[Any, Any] = {
    sparse.matrix_product: _product_of_entries,
    sparse.axis_sums: lambda args, kwargs: Array(getattr(args[1], "dtype", None), (None,)),
    sparse.axis_entries: lambda args, kwargs: Array(getattr(args[1], "dtype", None), (None,)),
    sparse.matrix_solution: _product_of_entries,
    sparse.outer_entries: _outer,
    sparse.full_matrix: lambda args, kwargs: Array(getattr(args[1], "dtype", None), (None, None)),
    sparse.entries_at: lambda args, kwargs: Array(getattr(args[1], "dtype", None), (None,)),
    sparse.summed_entries: lambda args, kwargs: Array(getattr(args[0], "dtype", None), (None,)),
    sparse.places: lambda args, kwargs: Array("int64", (None,)),
    sparse.order_of: lambda args, kwargs: Array("int64", (None,)),
}


# --- the kinds of what `scipy.linalg` returns, where a probe would not tell or take long ---------


SOLVERS = frozenset({"solve", "solve_triangular"})
OPEN_DTYPE = frozenset(
    {"sqrtm", "logm", "fractional_matrix_power", "funm", "eig", "eigvals", "schur"}
)


def is_solver(fn: Any) -> bool:
    """Whether a function solves for a vector or matrix like its second argument."""
    return module_of(fn).startswith("scipy.linalg") and fn.__name__ in SOLVERS


def solution(a: Kind, b: Kind) -> Kind:
    """The kind of what solves a linear system."""
    dtypes = [k.dtype for k in (a, b) if isinstance(k, Array) and k.dtype is not None]
    dtype = np.result_type(*dtypes, np.float32).name if len(dtypes) == 2 else None
    one = isinstance(a, Array) and a.dims is not None and len(a.dims) == 2
    return Array(dtype, b.dims if one and isinstance(b, Array) else None)


def has_open_dtype(fn: Any) -> bool:
    """Whether a result is real or complex as the elements of a matrix have it."""
    return module_of(fn).startswith("scipy.linalg") and fn.__name__ in OPEN_DTYPE


def without_dtype(kind: Kind) -> Kind:
    """A kind with its dtype forgotten, unless it is complex in any case."""
    if isinstance(kind, Array) and kind.dtype is not None and not kind.dtype.startswith("complex"):
        return Array(None, kind.dims, kind.maybe_scalar)
    if isinstance(kind, Tuple) and kind.items is not None:
        return Tuple(tuple(map(without_dtype, kind.items)))
    return kind
