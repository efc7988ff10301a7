"""Rules of matrix factorisations of `scipy.linalg`.

What reads one triangle of a matrix has its gradient there: beside the diagonal, that of both
elements of the Hermitian matrix that it stands for.
"""

import numpy as np
from scipy import linalg

from srcdiff.rules import *
from srcdiff.runtime import linalg as factors


@rule(linalg.cholesky)
@samples("S(3)", "S(3), True", "S(3), lower=False", "H(3)", "H(3), True")
def cholesky(a, lower=False):
    if lower:
        d[a] += factors.cholesky_back(z, d[z])
    else:
        d[a] += conj(factors.cholesky_back(conj(z.mT), conj(d[z].mT)).mT)


# What SciPy leaves undefined in the other triangle is zero here.
made_of(
    linalg.cho_factor, value=lambda a, lower=False: (linalg.cholesky(a, lower), lower),
    samples=("np.diag(P(3))", "np.diag(P(3)), True"),
)


@rule(linalg.lu)
@samples("A(3, 3)", "S(3)", "C(3, 3)", "A(4, 3)", "A(2, 4)", "C(3, 2)", "C(2, 3)")
def lu(a, permute_l=False):
    p, l, u = linalg.lu(a)
    yield p, l, u
    if np.size(a) > 0:  # of nothing SciPy's `p` has another shape
        d[a] += p @ factors.lu_back(l, u, d[l], d[u])


@forward(linalg.lu)
def lu_tangent(a):
    p, l, u = z
    k = min(np.shape(a)[-2:])
    rows = p.mT @ d[a] if np.size(a) > 0 else d[a]
    left = np.linalg.solve(u[..., :k].mT, rows[..., :k].mT).mT
    inner = np.linalg.solve(l[..., :k, :], left[..., :k, :])
    right = np.linalg.solve(l[..., :k, :], rows[..., :k, :])
    d[z] += np.zeros_like(p), left - l @ np.triu(inner), right - np.tril(inner, -1) @ u


@composed(linalg.lu, given="permute_l")
@samples("A(3, 3), True", "A(3, 3), permute_l=True")
def lu_permuted(a, permute_l=False):
    if not known(permute_l):
        refuse("`permute_l` must be known")
    p, l, u = linalg.lu(a)
    return p @ l if np.size(a) > 0 else l, u


@rule(linalg.lu_factor)
@samples("A(3, 3)", "S(4)", "C(3, 3)", "A(4, 3)", "A(2, 4)", "C(3, 2)", "C(2, 3)")
def lu_factor(a):
    lu, piv = linalg.lu_factor(a)
    yield lu, piv
    if np.size(a) > 0:
        k = len(piv)
        l = np.tril(lu[:, :k], -1) + np.eye(len(lu), k, dtype=lu.dtype)
        back = factors.lu_back(l, np.triu(lu[:k]), d[lu][:, :k], d[lu][:k])
        d[a] += back[factors.pivot_order(piv, len(lu))]


@forward(linalg.lu_factor)
def lu_factor_tangent(a):
    lu, piv = z
    k = min(np.shape(a))
    l, u = np.tril(lu[:, :k], -1) + np.eye(len(lu), k, dtype=lu.dtype), np.triu(lu[:k])
    rows = d[a][np.argsort(factors.pivot_order(piv, len(lu)))]
    left = np.linalg.solve(u[:, :k].T, rows[:, :k].T).T
    inner = np.linalg.solve(l[:k], left[:k])
    right = np.linalg.solve(l[:k], rows[:k]) - np.tril(inner, -1) @ u
    lower = np.tril(factors.fitted(left - l @ np.triu(inner), lu), -1)
    d[z] += lower + np.triu(factors.fitted(right, lu)), np.zeros_like(piv)


# The further columns of a full `q` only span what the first leave.
@rule(linalg.qr)
@samples("A(3, 3)", "A(3, 5)", "C(3, 3)")
def qr(a):
    q, r = linalg.qr(a)
    yield q, r
    d[a] += factors.qr_back(q, r, d[q], d[r])


@forward(linalg.qr)
def qr_tangent(a):
    d[z] += factors.qr_along(z[0], z[1], d[a])


@composed(linalg.qr, given="mode")
@samples("A(4, 3), mode='economic'", "A(3, 5), mode='economic'")
def qr_economic(a, *, mode="full"):
    if mode != "economic":
        refuse("the mode must be 'full' or 'economic'")
    return np.linalg.qr(a)


@rule(linalg.svd)
@samples("A(4, 3), False", "A(3, 4), full_matrices=False", "U(3, 3) + np.diag([1.0, 3.0, 6.0])")
def svd(a, full_matrices=True):
    u, s, vh = linalg.svd(a, full_matrices)
    yield u, s, vh
    if ignored(u) and ignored(vh):
        d[a] += factors.svdvals_back(a, u, s, vh, d[s])
    else:
        d[a] += factors.svd_back(u, s, vh, d[u], d[s], d[vh])


@forward(linalg.svd)
def svd_tangent(a):
    u, s, vh = z[0], z[1], z[2]
    left, right = factors.left_along(u, s, vh, d[a]), factors.right_along(u, s, vh, d[a])
    d[z] += left, factors.singular_along(u, s, vh, d[a]), right


@composed(linalg.svd, given="compute_uv")
@samples("A(4, 3), compute_uv=False", "A(4, 3), False, False")
def svd_values(a, full_matrices=True, compute_uv=True):
    if not known(compute_uv):
        refuse("`compute_uv` must be known")
    return linalg.svd(a, False)[1]


made_of(linalg.svdvals, value=lambda a: linalg.svd(a, False)[1], samples=("A(4, 3)", "C(3, 2)"))


@rule(linalg.eigh)
@samples("S(3), driver='evd'", "S(3), lower=False, driver='evd'")
def eigh(a, b=None, *, lower=True, eigvals_only=False, driver=None):
    w, v = linalg.eigh(a, lower=lower, driver=driver)
    yield w, v
    if b is not None:
        refuse("the generalised problem: use `linalg.eigvalsh`, or `linalg.cholesky` of `b`")
    if ignored(v):
        d[a] += factors.eigvalsh_back(a, w, v, d[w], not lower)
    else:
        d[a] += factors.to_triangle(factors.eigh_back(w, v, d[w], d[v]), not lower)


@forward(linalg.eigh)
def eigh_tangent(a, b, lower):
    if b is not None:
        refuse("the generalised problem: use `linalg.eigvalsh`, or `linalg.cholesky` of `b`")
    e = factors.from_triangle(d[a], not lower)
    d[z] += factors.values_along(z[0], z[1], e), factors.vectors_along(z[0], z[1], e)


@composed(linalg.eigh, given="eigvals_only")
@samples("S(3), eigvals_only=True", "S(3), S(3), eigvals_only=True")
def eigh_values(a, b=None, *, lower=True, eigvals_only=False):
    if not known(eigvals_only):
        refuse("`eigvals_only` must be known")
    return linalg.eigvalsh(a, b, lower=lower)


@composed(linalg.eigvalsh)
@samples("S(3)", "S(3), S(3)", "S(3), lower=False", "H(3)", "H(3), H(3)")
def eigvalsh(a, b=None, *, lower=True):
    if b is None:
        return linalg.eigh(a, lower=lower)[0]
    root = linalg.cholesky(b, lower=True) if lower else conj(linalg.cholesky(b).mT)
    left = linalg.solve_triangular(root, factors.from_triangle(a, not lower), lower=True)
    return linalg.eigh(linalg.solve_triangular(root, conj(left.mT), lower=True))[0]


# The unitary factor is smooth where singular values are equal: sums of them divide, not gaps.
@rule(linalg.polar)
@samples("S(3)", "A(4, 3)", "A(3, 4)", "U(3, 3) + np.diag([1.0, 3.0, 6.0]), 'left'", "C(4, 3)")
def polar(a, side="right"):
    u, p = linalg.polar(a, side)
    yield u, p
    g = d[u]
    if not ignored(p) and side == "right":
        d[a] += u @ d[p]
        g = g + a @ conj(d[p].mT)
    elif not ignored(p):
        d[a] += d[p] @ u
        g = g + conj(d[p].mT) @ a
    d[a] += factors.polar_slope(a, u, g)


@forward(linalg.polar)
def polar_tangent(a, side):
    u = z[0]
    d_u = factors.polar_slope(a, u, d[a])
    if side == "right":
        d[z] += d_u, conj(d_u.mT) @ a + conj(u.mT) @ d[a]
    else:
        d[z] += d_u, d[a] @ conj(u.mT) + a @ conj(d_u.mT)


inlined(
    factors.polar_slope, "A(3, 3) + 3.0 * np.eye(3), A(3, 3), A(3, 3)", "A(4, 3), A(4, 3), A(4, 3)"
)  # fmt: skip


@composed(linalg.orthogonal_procrustes)
@samples("A(4, 3), A(4, 3)")
def orthogonal_procrustes(A, B):
    u, p = linalg.polar(conj(A.mT) @ B)
    return u, np.sum(np.real(np.diagonal(p)))
