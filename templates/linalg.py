"""Rules of products of matrices and of linear algebra, and of `np.einsum`."""

import operator

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime import arrays
from srcdiff.runtime.indexing import cross_back
from srcdiff.runtime.linalg import kron_shapes


def product(*functions, left, right, calls):
    """The rule of a product, of which `left` and `right` are the adjoints for any ranks."""

    @rule(*functions)
    @samples(
        "A(3, 4), A(4, 2)", "A(3, 4), A(4)", "A(4), A(4, 2)", "A(4), A(4)",
        "A(2, 3, 4), A(2, 4, 5)", "A(2, 3, 4), A(4)", "A(4), A(2, 4, 3)", *calls
    )  # fmt: skip
    def of_matrices(a, b):
        if rank(a) == 2 and rank(b) == 2:
            d[a] += d[z] @ conj(b.T)
            d[b] += conj(a.T) @ d[z]
        elif rank(a) == 2 and rank(b) == 1:
            d[a] += np.outer(d[z], conj(b))
            d[b] += conj(a.T) @ d[z]
        elif rank(a) == 1 and rank(b) == 2:
            d[a] += conj(b) @ d[z]
            d[b] += np.outer(conj(a), d[z])
        elif rank(a) == 1 and rank(b) == 1:
            d[a] += d[z] * conj(b)
            d[b] += d[z] * conj(a)
        else:
            d[a] += left(d[z], a, conj(b))
            d[b] += right(d[z], conj(a), b)


product(
    operator.matmul, np.matmul, left=arrays.matmul_left, right=arrays.matmul_right,
    calls=("A(2, 3, 4), A(4, 5)", "A(3, 4), A(2, 4, 5)", "A(1, 3, 4), A(2, 4, 5)",
           "C(3, 4), C(4, 2)", "A(3, 4), C(4)", "C(4), C(4)", "C(2, 3, 4), C(4, 5)"),
)  # fmt: skip
product(
    np.dot, np.ndarray.dot, left=arrays.dot_left, right=arrays.dot_right,
    calls=("A(), A(3)", "A(2, 3), A()", "A(), A()", "C(3, 4), C(4)", "C(4), A(4)"),
)  # fmt: skip


# The method is that of sparse matrices too.
@forward(np.ndarray.dot)
def dot_method_tangent(a, b):
    d[z] += d[a].dot(b)
    d[z] += a.dot(d[b])


@rule(np.vdot)
@samples("A(4), A(4)", "A(2, 3), A(2, 3)", "A(), A()", "C(4), C(4)", "A(4), C(4)")
def vdot(a, b):
    d[a] += conj(d[z]) * b
    d[b] += d[z] * a


@rule(np.inner)
@samples("A(4), A(4)", "A(2, 4), A(3, 4)", "A(2, 4), A(4)", "A(4), A(2, 4)", "A(2, 3, 4), A(5, 4)")
def inner(a, b):
    if isscalar(a) or isscalar(b) or (rank(a) == 1 and rank(b) == 1):
        d[a] += arrays.unbroadcast(d[z] * conj(b), a)
        d[b] += arrays.unbroadcast(d[z] * conj(a), b)
    else:
        d[a] += np.tensordot(d[z], conj(b), np.ndim(b) - 1)
        d[b] += arrays.tensordot_right(d[z], conj(a), b, (-1, -1))


@rule(np.outer)
@samples("A(3), A(4)", "A(2, 3), A(2)", "A(), A(3)", "C(3), C(4)")
def outer(a, b):
    if rank(a) == 1 and rank(b) == 1:
        d[a] += d[z] @ conj(b)
        d[b] += conj(a) @ d[z]
    else:
        d[a] += np.reshape(d[z] @ np.ravel(conj(b)), np.shape(a))
        d[b] += np.reshape(np.ravel(conj(a)) @ d[z], np.shape(b))


@rule(np.multiply.outer)
@samples("A(3), A(4)", "A(2, 3), A(2)", "A(), A(3)")
def multiply_outer(a, b):
    d[a] += np.tensordot(d[z], conj(b), np.ndim(b))
    d[b] += np.tensordot(conj(a), d[z], np.ndim(a))


@rule(np.tensordot)
@samples(
    "A(2, 3, 4), A(3, 4, 5)", "A(3, 4), A(4, 2), 1", "A(3), A(2), 0",
    "A(2, 3, 4), A(4, 5, 3), ((1, 2), (2, 0))", "A(2, 3), A(2, 4), (0, 0)",
    "A(2, 3, 4), A(3, 2), axes=([0, 1], [1, 0])", "C(3, 4), C(4, 2), 1",
)  # fmt: skip
def tensordot(a, b, axes=2):
    d[a] += arrays.tensordot_left(d[z], a, conj(b), axes)
    d[b] += arrays.tensordot_right(d[z], conj(a), b, axes)


@rule(np.kron)
@samples(
    "A(2, 3), A(3, 2)", "A(3), A(2)", "A(3), A(2, 2)", "A(2, 3), A(2)", "A(2, 1, 3), A(2, 2)",
    "A(3), A()", "C(2), C(2, 2)",
)  # fmt: skip
def kron(a, b):
    if rank(a) == 2 and rank(b) == 2:
        n, m = np.shape(a)
        k, j = np.shape(b)
        blocks = np.reshape(d[z], (n, k, m, j))
        d[a] += np.einsum("ikjl,kl->ij", blocks, conj(b))
        d[b] += np.einsum("ikjl,ij->kl", blocks, conj(a))
    elif rank(a) == 1 and rank(b) == 1:
        d[a] += np.reshape(d[z], (len(a), len(b))) @ conj(b)
        d[b] += conj(a) @ np.reshape(d[z], (len(a), len(b)))
    else:
        left, right = kron_shapes(a, b)
        blocks = np.reshape(d[z], np.broadcast_shapes(left, right))
        axes = tuple(range(0, np.ndim(blocks), 2))
        others = tuple(range(1, np.ndim(blocks), 2))
        d[a] += np.reshape(np.sum(blocks * conj(np.reshape(b, right)), others), np.shape(a))
        d[b] += np.reshape(np.sum(blocks * conj(np.reshape(a, left)), axes), np.shape(b))


@rule(np.cross)
@samples(
    "A(3), A(3)", "A(4, 3), A(3)", "A(4, 3), A(4, 3)", "A(3, 4), A(3, 4), axis=0",
    "A(3), A(3, 3), axis=0", "A(3, 3, 4), A(3, 3), axis=0", "A(3), A(4, 3), axis=-1",
    "A(4, 3), A(3), axis=None",
)  # fmt: skip
def cross(a, b, *, axis=-1):
    d[a] += cross_back(d[z], a, conj(b), axis)
    d[b] += cross_back(-d[z], b, conj(a), axis)


@forward(np.cross)
def cross_tangent(a, b, axis):
    d[z] += np.cross(d[a], b, axis=axis)
    d[z] += np.cross(a, d[b], axis=axis)


@linear(np.trace, np.ndarray.trace)
@samples("A(3, 3)", "A(3, 4), 1", "A(2, 3, 3), 0, 1, 2")
def trace(a, offset=0, axis1=0, axis2=1):
    places = np.diagonal(arrays.positions(a), offset, axis1, axis2)
    d[a] += arrays.scatter(np.expand_dims(d[z], -1), places, a)


@linear(np.diagonal, np.ndarray.diagonal, view="a")
@samples("A(3, 3)", "A(3, 4), 1", "A(2, 3, 3), 0, 1, 2", "A(3, 3), -1")
def diagonal(a, offset=0, axis1=0, axis2=1):
    d[a] += arrays.scatter(d[z], np.diagonal(arrays.positions(a), offset, axis1, axis2), a)


@linear(np.diag, view="v")
@samples("A(3)", "A(3), 1", "A(3, 3)", "A(3, 4), -1")
def diag(v, k=0):
    if np.ndim(v) == 1:
        d[v] += np.diagonal(d[z], k)
    else:
        d[v] += arrays.scatter(d[z], np.diagonal(arrays.positions(v), k), v)


def triangle(of, *calls):
    """The rule of a function that keeps a triangle; a vector is every row of a matrix."""

    @linear(of)
    @samples("A(3, 3)", "A(2, 3, 3)", "A(3)", *calls)
    def kept(m, k=0):
        d[m] += arrays.unbroadcast(of(d[z], k), m)


triangle(np.triu, "A(3, 4), 1", "A(3), 1")
triangle(np.tril, "A(3, 4), -1", "A(3), -1")


@rule(np.linalg.solve)
@samples(
    "A(3, 3) + 3 * np.eye(3), A(3)", "A(3, 3) + 3 * np.eye(3), A(3, 2)", "C(3, 3), C(3)",
    "A(2, 3, 3) + 3 * np.eye(3), A(2, 3, 2)", "A(2, 3, 3) + 3 * np.eye(3), A(3, 2)",
    "A(3, 3) + 3 * np.eye(3), A(2, 3, 2)",
)  # fmt: skip
def solve(a, b):
    if rank(a) == 2:
        g = np.linalg.solve(conj(a.T), d[z])
    else:
        g = np.linalg.solve(conj(np.swapaxes(a, -1, -2)), d[z])
    d[b] += arrays.unbroadcast(g, b)
    if np.ndim(b) == 1:
        d[a] += arrays.unbroadcast(-g[..., :, None] * conj(z)[..., None, :], a)
    else:
        d[a] += arrays.unbroadcast(-g @ conj(np.swapaxes(z, -1, -2)), a)


@forward(np.linalg.solve)
def solve_tangent(a, b):
    d[z] += np.linalg.solve(a, d[b])
    if rank(a) == 2 or np.ndim(b) > 1:
        d[z] += -np.linalg.solve(a, d[a] @ z)
    else:
        d[z] += -np.linalg.solve(a, d[a] @ z[..., None])[..., 0]


@rule(np.linalg.inv)
@samples("A(3, 3) + 3 * np.eye(3)", "A(2, 3, 3) + 3 * np.eye(3)", "C(3, 3)")
def inv(a):
    if rank(a) == 2:
        d[a] += -conj(z.T) @ d[z] @ conj(z.T)
    else:
        zh = conj(np.swapaxes(z, -1, -2))
        d[a] += -zh @ d[z] @ zh


@forward(np.linalg.inv)
def inv_tangent(a):
    d[z] += -(z @ d[a] @ z)


@rule(np.linalg.det)
@samples(
    "A(3, 3)", "A(2, 3, 3) + 2.0 * np.eye(3)", "A(2, 2)", "C(3, 3)",
    "V([[1.0, 2.0], [2.0, 4.0]])", "V(np.arange(9.0).reshape(3, 3))",
)  # fmt: skip
def det(a):
    g = d[z] if rank(a) == 2 else np.expand_dims(d[z], (-2, -1))
    d[a] += g * conj(arrays.cofactor(a))


@forward(np.linalg.det)
def det_tangent(a):
    d[z] += np.sum(d[a] * arrays.cofactor(a), axis=(-2, -1))


@rule(np.linalg.slogdet)
@samples("A(3, 3) + 3 * np.eye(3)", "A(2, 3, 3) + 3 * np.eye(3)", "C(3, 3)")
def slogdet(a):
    sign, log = np.linalg.slogdet(a)
    yield sign, log
    inverse = np.linalg.inv(a)
    slope = d[log]
    if iscomplex(a):
        slope = d[log] - 1j * np.imag(conj(d[sign]) * sign)
    if rank(a) != 2:
        slope = np.expand_dims(slope, (-2, -1))
    d[a] += slope * conj(inverse.mT)


@rule(np.einsum)
@samples(
    "'ij,jk->ik', A(2, 3), A(3, 4)", "'ij,jk', A(2, 3), A(3, 4)", "'ii', A(3, 3)",
    "'ii->i', A(3, 3)", "'ij->', A(2, 3)", "'...j,j->...', A(2, 3, 4), A(4)",
    "'i,j,ij->', A(2), A(3), A(2, 3)", "'ij,ij->ij', A(1, 3), A(2, 3)", "'ij->ji', A(2, 3)",
    "'bij,bjk->bik', A(2, 3, 4), A(2, 4, 5)", "'i,i', A(3), A(3)", "'ij,k->k', A(2, 3), A(4)",
    "'ij,jk->ik', C(2, 3), C(3, 4)", "'ij,jk->k', C(2, 3), A(3, 4)", "'ii', C(3, 3)",
    "'i,ij->', A(1), C(2, 3)",
)  # fmt: skip
def einsum(subscripts, *operands):
    if isarray(subscripts):
        refuse("lists of axes: write the subscripts as text, 'ij,jk->ik'")
    for k in range(len(operands)):
        if not known(subscripts) or not arrays.einsum_plain(subscripts, k):
            d[operands][k] += conj(arrays.einsum_back(conj(d[z]), k, subscripts, *operands))
        else:
            others = (*operands[:k], *operands[k + 1 :])
            g = conj(np.einsum(arrays.einsum_subscripts(subscripts, k), conj(d[z]), *others))
            d[operands][k] += arrays.unbroadcast(g, operands[k]) if stretchable(operands[k]) else g


nondifferentiable(np.linalg.matrix_rank)
