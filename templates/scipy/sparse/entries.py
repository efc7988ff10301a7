"""Rules of sparse matrices by the array of their entries: the matrix says where these stand."""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.scipy import sparse

CSR = "sparse.csr_array(np.array([[2.0, 0.0, 1.0], [0.5, 3.0, 0.0]]))"
COO = "sparse.coo_array((np.ones(4), ([0, 1, 1, 0], [2, 0, 0, 1])), shape=(2, 3))"
SQUARE = "sparse.csc_array(np.array([[2.0, 0.0, 1.0], [0.5, 3.0, 0.0], [0.0, 1.0, 4.0]]))"


@rule(sparse.matrix_product)
@samples(
    f"{CSR}, A(4), A(3)", f"{CSR}.tocsc(), A(4), A(3, 2)", f"{COO}, A(4), A(3)",
    f"{CSR}, C(4), C(3)", f"{CSR}, A(4), C(3, 2)",
)  # fmt: skip
def matrix_product_(a, data, x):
    d[data] += sparse.outer_entries(a, d[z], conj(x))
    d[x] += sparse.matrix_product(a.T, conj(data), d[z])


@rule(sparse.outer_entries)
@samples(
    f"{CSR}, A(2), A(3)", f"{CSR}.tocsc(), A(2, 4), A(3, 4)", f"{COO}, A(2), A(3)",
    f"{CSR}, C(2), C(3)",
)  # fmt: skip
def outer_entries_(a, u, v):
    d[u] += sparse.matrix_product(a, d[z], conj(v))
    d[v] += sparse.matrix_product(a.T, d[z], conj(u))


@rule(sparse.matrix_solution)
@samples(f"{SQUARE}, P(6) + 1.0, A(3)", f"{SQUARE}, P(6) + 1.0, A(3, 2)", f"{SQUARE}, C(6), C(3)")
def matrix_solution_(a, data, b):
    w = np.reshape(sparse.matrix_solution(a.T, conj(data), d[z]), np.shape(b))
    d[b] += w
    d[data] += -sparse.outer_entries(a, w, np.reshape(conj(z), np.shape(b)))


def transposes(of, back, *calls):
    """The rule of a linear function of entries or values, of which `back` makes the others."""

    @linear(of)
    @samples(*calls)
    def transpose(a, values, *axis):
        d[values] += back(a, d[z], *axis)


transposes(sparse.full_matrix, sparse.entries_at, f"{CSR}, A(4)", f"{COO}, A(4)", f"{CSR}, C(4)")
transposes(sparse.entries_at, sparse.full_matrix, f"{CSR}, A(2, 3)", f"{COO}, A(2, 3)")
transposes(
    sparse.axis_sums, sparse.axis_entries, f"{CSR}, A(4), 0", f"{CSR}, A(4), 1", f"{COO}, C(4), -1",
)
transposes(sparse.axis_entries, sparse.axis_sums, f"{CSR}, A(3), 0", f"{CSR}, A(2), 1")


@linear(sparse.summed_entries)
@samples(f"A(5), np.array([0, 1, 1, 3, 2]), {CSR}", f"C(4), np.array([0, 1, 1, 3]), {CSR}")
def summed_entries_(data, at, a):
    d[data] += d[z][at]


nondifferentiable(sparse.order_of, sparse.places, sparse.with_entries)
