"""Rules of matrix factorisations and of what is made from them, for stacks of matrices.

What reads one triangle of a matrix has its gradient there: beside the diagonal, that of both
elements of the Hermitian matrix that it stands for.
"""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime import linalg


@rule(np.linalg.cholesky)
@samples("S(3)", "np.stack([S(3), S(3)])", "H(3)")
def cholesky(a):
    d[a] += linalg.cholesky_back(z, d[z])


@rule(np.linalg.eigh)
@samples("S(3)", "S(3), 'U'", "np.stack([S(3), S(3)])")
def eigh(a, UPLO="L"):
    w, v = np.linalg.eigh(a, UPLO)
    yield w, v
    if ignored(v):
        d[a] += linalg.eigvalsh_back(a, w, v, d[w], UPLO in ("U", "u"))
    else:
        d[a] += linalg.to_triangle(linalg.eigh_back(w, v, d[w], d[v]), UPLO in ("U", "u"))


@forward(np.linalg.eigh)
def eigh_tangent(a, UPLO):
    e = linalg.from_triangle(d[a], UPLO in ("U", "u"))
    d[z] += linalg.values_along(z[0], z[1], e), linalg.vectors_along(z[0], z[1], e)


made_of(
    np.linalg.eigvalsh, value=lambda a, UPLO="L": np.linalg.eigh(a, UPLO)[0],
    samples=("S(3)", "np.stack([S(3), S(3)])", "H(3)"),
)


@rule(np.linalg.eig)
@samples("S(3)", "V([[1.0, 2.0, 0.5], [0.3, 3.0, 1.0], [0.1, 0.2, 7.0]])")
def eig(a):
    w, v = np.linalg.eig(a)
    yield w, v
    if iscomplex(a):
        d[a] += linalg.eig_back(w, v, d[w], d[v])
    else:
        d[a] += np.real(linalg.eig_back(w, v, d[w], d[v]))


made_of(
    np.linalg.eigvals, value=lambda a: np.linalg.eig(a)[0],
    samples=("S(3)", "V([[1.0, -2.0, 0.5], [2.0, 1.0, 1.0], [0.1, 0.2, 7.0]])", "C(3, 3)"),
)


@rule(np.linalg.svd)
@samples(
    "A(4, 3), False", "A(3, 4), full_matrices=False", "U(3, 3) + np.diag([1.0, 3.0, 6.0])",
    "A(2, 4, 3), False",
)  # fmt: skip
def svd(a, full_matrices=True, *, hermitian=False):
    u, s, vh = np.linalg.svd(a, full_matrices)
    yield u, s, vh
    if hermitian:
        refuse("`hermitian=True`: use `np.linalg.eigh`")
    if ignored(u) and ignored(vh):
        d[a] += linalg.svdvals_back(a, u, s, vh, d[s])
    else:
        d[a] += linalg.svd_back(u, s, vh, d[u], d[s], d[vh])


@forward(np.linalg.svd)
def svd_tangent(a, hermitian):
    if hermitian:
        refuse("`hermitian=True`: use `np.linalg.eigh`")
    u, s, vh = z[0], z[1], z[2]
    left, right = linalg.left_along(u, s, vh, d[a]), linalg.right_along(u, s, vh, d[a])
    d[z] += left, linalg.singular_along(u, s, vh, d[a]), right


@composed(np.linalg.svd, given="compute_uv")
@samples("A(4, 3), compute_uv=False", "A(4, 3), False, False")
def svd_values(a, full_matrices=True, compute_uv=True, hermitian=False):
    if not known(compute_uv):
        refuse("`compute_uv` must be known")
    return np.linalg.svd(a, False, hermitian=hermitian)[1]


made_of(
    np.linalg.svdvals, value=lambda x: np.linalg.svd(x, False)[1],
    samples=("A(4, 3)", "A(2, 3, 4)", "C(3, 2)"),
)


@rule(np.linalg.qr)
@samples("A(4, 3)", "A(3, 3)", "A(3, 5)", "A(2, 4, 3)", "C(4, 3)", "A(4, 3), 'reduced'")
def qr(a, mode="reduced"):
    q, r = np.linalg.qr(a, mode)
    yield q, r
    d[a] += linalg.qr_back(q, r, d[q], d[r])


@forward(np.linalg.qr)
def qr_tangent(a):
    d[z] += linalg.qr_along(z[0], z[1], d[a])


@composed(np.linalg.qr, given="mode")
@samples("A(4, 3), 'r'", "A(4, 3), mode='r'")
def qr_mode(a, mode="reduced"):
    if mode == "r":
        return np.linalg.qr(a)[1]
    elif mode == "reduced":
        return np.linalg.qr(a)
    refuse("the mode must be 'reduced' or 'r'")


@rule(np.linalg.pinv)
@samples("A(4, 3)", "A(3, 4)", "A(3, 3) + 2.0 * np.eye(3)", "A(2, 4, 3)", "C(3, 2)")
def pinv(a, rcond=None, hermitian=False, *, rtol=None):
    for cutoff in (rcond, rtol):
        if not (cutoff is None or known(cutoff) and cutoff <= 1e-6):
            refuse("a cutoff that may drop what is not zero: write it with `np.linalg.svd`")
    d[a] += linalg.pinv_back(a, z, d[z])


@rule(np.linalg.lstsq)
@samples("A(4, 2), A(4)", "A(4, 2), A(4, 3), None", "A(2, 4), A(2), rcond=None", "C(4, 2), C(4)")
def lstsq(a, b, rcond=None):
    x, residuals, count, s = np.linalg.lstsq(a, b, rcond)
    yield x, residuals, count, s
    if not (rcond is None or known(rcond) and rcond <= 1e-6):
        refuse("a cutoff that may drop what is not zero: write it with `np.linalg.svd`")
    inverse = np.linalg.pinv(a)
    g = linalg.lstsq_right(a, b, x, inverse, d[x], d[residuals])
    d[b] += g
    d[a] += linalg.lstsq_left(a, b, x, inverse, d[x], g)
    if not ignored(s):
        u, _, vh = np.linalg.svd(a, False)
        d[a] += (u * d[s]) @ vh


@composed(np.linalg.matrix_power)
@samples(
    "A(3, 3), 2", "A(2, 3, 3), 3", "A(3, 3) + 3.0 * np.eye(3), -2", "A(3, 3), 1", "A(3, 3), 0",
    "C(3, 3), -2",
)  # fmt: skip
def matrix_power(a, n):
    base = np.linalg.inv(a) if n < 0 else a
    if n == 0:
        z = np.linalg.matrix_power(np.zeros_like(a), 0)
    else:
        z = base
    for _ in range(abs(n) - 1):
        z = z @ base
    return z


@composed(np.linalg.multi_dot)
@samples("[A(2, 3), A(3, 4), A(4, 2)]", "(A(3), A(3, 4), A(4))", "[C(2, 3), A(3, 4), C(4, 2)]")
def multi_dot(arrays):
    z = arrays[0]
    for k in range(1, len(arrays)):
        z = np.dot(z, arrays[k])
    return z


@composed(np.linalg.tensorinv)
@samples(
    "A(4, 2, 2) + 2.0 * np.eye(4).reshape(4, 2, 2), 1",
    "A(2, 3, 2, 3) + 3.0 * np.eye(6).reshape(2, 3, 2, 3)", "C(4, 2, 2), 1",
)  # fmt: skip
def tensorinv(a, ind=2):
    shape = np.shape(a)
    inverse = np.linalg.inv(np.reshape(a, (np.prod(shape[:ind]), -1)))
    return np.reshape(inverse, (*shape[ind:], *shape[:ind]))


@composed(np.linalg.tensorsolve)
@samples(
    "A(2, 3, 2, 3) + 3.0 * np.eye(6).reshape(2, 3, 2, 3), A(2, 3)",
    "A(6, 2, 3) + 3.0 * np.eye(6).reshape(6, 2, 3), A(6)", "C(6, 2, 3), C(6)",
)  # fmt: skip
def tensorsolve(a, b, axes=None):
    if axes is not None:
        refuse("`axes` must be None")
    shape = np.shape(a)[np.ndim(b) :]
    return np.reshape(np.linalg.solve(np.reshape(a, (np.size(b), -1)), np.ravel(b)), shape)


@composed(np.linalg.cond)
@samples(
    "U(3, 3) + np.diag([1.0, 3.0, 6.0])", "A(4, 3)", "U(3, 3) + 2.0 * np.eye(3), 1",
    "U(3, 3) + 2.0 * np.eye(3), 'fro'", "U(3, 3) + np.diag([1.0, 3.0, 6.0]), -2",
    "U(2, 3, 3) + 2.0 * np.eye(3), np.inf", "C(3, 3)",
)  # fmt: skip
def cond(x, p=None):
    if p is None or p == 2 or p == -2:
        s = np.linalg.svd(x, False)[1]
        largest, least = np.max(s, axis=-1), np.min(s, axis=-1)  # equal ones share alike
        z = least / largest if p == -2 else largest / least
    else:
        z = np.linalg.matrix_norm(x, ord=p) * np.linalg.matrix_norm(np.linalg.inv(x), ord=p)
    return z
