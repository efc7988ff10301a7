"""Sparse matrices of `scipy.sparse`: they are constants, and may be multiplied and solved with.

Products (`A @ x`, `A.dot(x)`) have the rules of dense ones.
"""

from scipy import sparse
from scipy.sparse import linalg

from srcdiff.factors import sparse_adjoint
from srcdiff.rules import d, linear, samples, unsupported


@linear(linalg.spsolve)
@samples("sparse.csc_array(np.array([[2.0, 1.0], [0.5, 3.0]])), A(2)")
def spsolve(A, b):
    z = linalg.spsolve(A, b)
    yield z
    d[b] += linalg.spsolve(sparse_adjoint(A), d[z])


unsupported(
    "Multiply by its entries: `np.bincount(rows, data * x[columns], n)` is `A @ x`.",
    sparse.coo_matrix, sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array, sparse.csr_array,
    sparse.csc_array, sparse.diags, sparse.dia_matrix, sparse.bsr_matrix, sparse.lil_matrix,
)  # fmt: skip
unsupported(
    "Solve with `scipy.sparse.linalg.spsolve`, or give the solver and the equation that it solves "
    "to `srcdiff.implicit`.",
    linalg.splu, linalg.spilu, linalg.factorized, linalg.cg, linalg.gmres, linalg.bicgstab,
    linalg.minres, linalg.lsqr, linalg.lsmr, linalg.eigs, linalg.eigsh, linalg.svds,
)  # fmt: skip
