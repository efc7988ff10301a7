"""The kinds of what `scipy.linalg` returns, where a probe would not tell or take long."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcdiff.ir.kinds import Array, Kind, Tuple
from srcdiff.primitives.effects import module_of

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
