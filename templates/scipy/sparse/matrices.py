"""Sparse matrices of `scipy.sparse` as constants, that may be multiplied and solved with.

Products (`A @ x`, `A.dot(x)`) have the rules of dense ones.  Where a matrix is made of what carries
a derivative, its entries stand beside it in an array: the rules for that are in `entries.py`.
"""

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from srcdiff.rules import *
from srcdiff.runtime.linalg import sparse_adjoint


@linear(linalg.spsolve)
@samples("sparse.csc_array(np.array([[2.0, 1.0], [0.5, 3.0]])), A(2)")
def spsolve(A, b):
    d[b] += np.reshape(linalg.spsolve(sparse_adjoint(A), d[z]), np.shape(b))


unsupported(
    "It is differentiated by its entries: make it as `sparse.csr_array((data, indices, indptr), "
    "shape=shape)` or `sparse.coo_array((data, (i, j)), shape=shape)`, in a variable that holds "
    "nothing else.",
    *members(sparse, "coo_matrix csr_matrix csc_matrix coo_array csr_array csc_array"),
)
unsupported(
    "Make a matrix of its entries, `sparse.csr_array((data, indices, indptr), shape=shape)` or "
    "`sparse.coo_array((data, (i, j)), shape=shape)`.",
    sparse.diags, sparse.dia_matrix, sparse.bsr_matrix, sparse.lil_matrix,
)  # fmt: skip
unsupported(
    "Solve with `scipy.sparse.linalg.spsolve`, or give the solver and the equation that it solves "
    "to `srcdiff.implicit`.",
    *members(linalg, "splu spilu factorized cg gmres bicgstab minres lsqr lsmr eigs eigsh svds"),
)
