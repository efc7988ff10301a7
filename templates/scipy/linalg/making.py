"""Rules of special matrices and norms of `scipy.linalg`, and what it has without a derivative."""

import numpy as np
from scipy import linalg

from srcdiff.rules import *


@linear(linalg.block_diag)
@samples("A(2, 3), A(2, 2)", "A(2), A(), A(3, 1)", "A(2, 2)", "C(2, 2), C(1, 3)")
def block_diag(*arrs):
    row = column = 0
    for k in range(len(arrs)):
        n, m = np.shape(np.atleast_2d(arrs[k]))
        part = d[z][row : row + n, column : column + m]
        d[arrs][k] += np.reshape(part, np.shape(arrs[k]))
        row, column = row + n, column + m


def _is_line(x):
    return rank(x) is None or rank(x) == 1


@composed(linalg.toeplitz)
@samples("A(3)", "A(3), A(4)", "C(3)")
def toeplitz(c, r=None):
    if not _is_line(c) or not (r is None or _is_line(r)):
        refuse("`c` and `r` must have one axis each")
    row = conj(c) if r is None else r
    values = np.concatenate((np.flip(c), row[1:]))
    return values[len(c) - 1 + np.arange(len(row)) - np.arange(len(c))[:, None]]


@composed(linalg.hankel)
@samples("A(3)", "A(3), A(4)")
def hankel(c, r=None):
    if not _is_line(c) or not (r is None or _is_line(r)):
        refuse("`c` and `r` must have one axis each")
    row = np.zeros_like(c) if r is None else r
    values = np.concatenate((c, row[1:]))
    return values[np.arange(len(c))[:, None] + np.arange(len(row))]


@composed(linalg.circulant)
@samples("A(4)")
def circulant(c):
    if not _is_line(c):
        refuse("`c` must have one axis")
    return c[(np.arange(len(c))[:, None] - np.arange(len(c))) % len(c)]


made_of(
    linalg.khatri_rao,
    value=lambda a, b: np.reshape(a[:, None, :] * b[None, :, :], (len(a) * len(b), np.shape(a)[1])),
    samples=("A(2, 3), A(4, 3)",),
)


@composed(linalg.norm)
@samples("A(4)", "A(3, 4)", "A(3, 4), 1, 0", "A(3, 4), 'nuc'", "A(4), ord=3, keepdims=True", "C(3)")
def norm(a, ord=None, axis=None, keepdims=False):
    return np.linalg.norm(a, ord, axis, keepdims)


@composed(linalg.diagsvd)
@samples("A(3), 4, 3")
def diagsvd(s, M, N):
    dtype = np.result_type(s)
    return np.eye(M, N, dtype=dtype)[:, : len(s)] @ np.diag(s) @ np.eye(len(s), N, dtype=dtype)


nondifferentiable(
    *members(linalg, "bandwidth issymmetric ishermitian dft hadamard helmert hilbert invhilbert "
                     "pascal invpascal find_best_blas_type get_blas_funcs get_lapack_funcs"),
)  # fmt: skip

unsupported(
    "Use `linalg.eigh`, `np.linalg.eig` or `linalg.svd`.",
    *members(linalg, "schur hessenberg qz ordqz rsf2csf cdf2rdf ldl rq cossin null_space orth "
                     "subspace_angles matrix_balance eig_banded eigvals_banded eigh_tridiagonal "
                     "eigvalsh_tridiagonal pinvh"),
)  # fmt: skip
unsupported(
    "Factorise the matrix anew with `linalg.qr`.",
    linalg.qr_delete, linalg.qr_insert, linalg.qr_multiply, linalg.qr_update,
)
unsupported(
    "Use `linalg.solve_banded` with the whole band.",
    linalg.solveh_banded, linalg.cho_solve_banded, linalg.cholesky_banded,
)
unsupported("Use `np.linalg.eig` and a function of the eigenvalues.", linalg.funm, linalg.signm)
unsupported("Use `np.kron`.", getattr(linalg, "kron", None))  # of earlier versions of SciPy
unsupported("Use `np.linalg.cond(linalg.expm(a))`.", linalg.expm_cond)
unsupported(
    "Fill an array by indices.",
    *members(linalg, "companion convolution_matrix fiedler fiedler_companion leslie"),
)
unsupported("Use `np.linalg.eig` or `np.linalg.eigvals`.", linalg.eig, linalg.eigvals)
unsupported("Use `linalg.expm(t * linalg.logm(a))`.", linalg.fractional_matrix_power)
unsupported("Iterate to the solution.", linalg.solve_continuous_are, linalg.solve_discrete_are)
unsupported("It draws random numbers.", linalg.clarkson_woodruff_transform)
