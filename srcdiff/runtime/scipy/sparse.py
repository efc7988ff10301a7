"""Sparse matrices of SciPy by the array of their entries, which generated code calls.

The matrix says where the entries stand, and their values come beside it: they carry the
derivative (see `entrywise`, and the rules in `templates/scipy/sparse/`).
"""

from __future__ import annotations

from typing import Any

import numpy as np


def is_sparse(value: Any) -> bool:
    """Whether a value is a sparse matrix of SciPy, with two axes."""
    ours = str(type(value).__module__).startswith("scipy.sparse.")
    return ours and getattr(value, "ndim", 0) == 2 and hasattr(value, "tocsr")


def with_entries(a: Any, data: Any) -> Any:
    """The sparse matrix (csr, csc or coo) with the places of `a` and other entries."""
    if a.data is data:
        return a
    if a.format == "coo":
        return type(a)((data, (a.row, a.col)), shape=a.shape)
    return type(a)((data, a.indices, a.indptr), shape=a.shape)


def _rows_and_columns(a: Any) -> tuple[Any, Any]:
    """Where each entry of a sparse matrix stands."""
    if a.format == "coo":
        return a.row, a.col
    first = np.repeat(np.arange(len(a.indptr) - 1), np.diff(a.indptr))
    return (first, a.indices) if a.format == "csr" else (a.indices, first)


def matrix_product(a: Any, data: Any, x: Any) -> Any:
    """The product of the matrix with entries `data` at the places of `a` and `x`."""
    return with_entries(a, data) @ x


def outer_entries(a: Any, u: Any, v: Any) -> Any:
    """The entries of `u @ v.T` (of vectors, of their outer product) at the places of `a`."""
    rows, columns = _rows_and_columns(a)
    found = u[rows] * v[columns]
    return found if found.ndim == 1 else np.sum(found, axis=1)


def full_matrix(a: Any, data: Any) -> Any:
    """The dense matrix with entries `data` at the places of `a`."""
    return with_entries(a, data).toarray()


def entries_at(a: Any, m: Any) -> Any:
    """The entries of a dense matrix at the places of `a`."""
    return m[_rows_and_columns(a)]


def axis_sums(a: Any, data: Any, axis: int) -> Any:
    """The sums of the columns (`axis=0`) or rows of the sparse array of these entries."""
    return with_entries(a, data).sum(axis=axis)


def axis_entries(a: Any, g: Any, axis: int) -> Any:
    """For each entry of a sparse array the value that belongs to its column (`axis=0`) or row."""
    return g[_rows_and_columns(a)[1 - axis % 2]]


def matrix_solution(a: Any, data: Any, b: Any) -> Any:
    """`scipy.sparse.linalg.spsolve` for the matrix with entries `data` at the places of `a`.

    Raises:
        ValueError: the entries are not in order, in which `spsolve` would put them in place.
    """
    from scipy.sparse.linalg import spsolve

    if a.format != "coo" and not a.has_canonical_format:
        raise ValueError(
            "scipy.sparse.linalg.spsolve puts the entries of this matrix into order in place; make "
            "it of sorted indices without repetitions, or of `(data, (i, j))`"
        )
    return spsolve(with_entries(a, np.ascontiguousarray(data)), b)


def places(a: Any, rows: Any, columns: Any) -> Any:
    """Which of the entries of `a` stand in these rows and columns."""
    found = with_entries(a, np.arange(a.nnz))[rows, columns]
    return np.ravel(np.asarray(found))


def summed_entries(data: Any, at: Any, a: Any) -> Any:
    """Entries added up: those of `a`, from the values `data` that go to the entries `at`."""
    out = np.zeros(a.nnz, np.result_type(data))
    np.add.at(out, at, data)
    return out


def order_of(a: Any, to: str) -> Any:
    """Where the entries of `a` (csr or csc) come from that it has in another format."""
    return with_entries(a, np.arange(a.nnz)).asformat(to).data
