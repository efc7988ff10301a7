"""Rules of linear systems, inverses and determinants of `scipy.linalg`."""

import numpy as np
from scipy import linalg

from srcdiff.rules import *
from srcdiff.runtime import linalg as factors
from srcdiff.runtime.arrays import cofactor


@rule(linalg.inv)
@samples("A(3, 3) + 3 * np.eye(3)", "C(3, 3)")
def inv(a):
    d[a] += -conj(z.mT) @ d[z] @ conj(z.mT)


@forward(linalg.inv)
def inv_tangent(a):
    d[z] += -(z @ d[a] @ z)


@rule(linalg.det)
@samples("A(3, 3)", "A(2, 2)", "C(3, 3)")
def det(a):
    d[a] += np.expand_dims(d[z], (-2, -1)) * conj(cofactor(a))


@rule(linalg.solve)
@samples(
    "A(3, 3) + 3 * np.eye(3), A(3)", "A(3, 3) + 3 * np.eye(3), A(3, 2)", "C(3, 3), C(3)",
    "S(3), A(3), assume_a='pos'", "S(3), A(3, 2), lower=True, assume_a='sym'",
    "A(3, 3) + 3 * np.eye(3), A(3), assume_a='gen'", "H(3), C(3), assume_a='her'",
    "H(3), C(3, 2), lower=True, assume_a='pos'",
)  # fmt: skip
def solve(a, b, lower=False, *, assume_a=None, transposed=False):
    if transposed:
        refuse("`transposed=True`: use the transpose of `a`")
    g = linalg.solve(conj(a.mT), d[z], not lower, assume_a=assume_a)
    d[b] += g
    g_a = -np.outer(g, conj(z)) if np.ndim(b) == 1 else -g @ conj(z.mT)
    if assume_a is None or assume_a == "gen" or assume_a == "general":
        d[a] += g_a
    elif assume_a in ("pos", "her", "positive definite", "hermitian"):
        d[a] += factors.to_triangle(g_a, not lower)
    elif assume_a == "sym" or assume_a == "symmetric":
        both = factors.half_diagonal(g_a + g_a.mT)
        d[a] += np.tril(both) if lower else np.triu(both)
    else:
        refuse("this structure of the matrix: use `solve_triangular` or `solve_banded`")


@rule(linalg.solve_triangular)
@samples(
    "S(3), A(3)", "S(3), A(3, 2)", "S(3), A(3), lower=True", "S(3), A(3, 2), lower=True",
    "A(3, 3), A(3), unit_diagonal=True", "C(3, 3) + 3 * np.eye(3), C(3), 0, True",
)  # fmt: skip
def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False):
    if trans != 0:
        refuse("this value of `trans`: use the transpose of the matrix")
    g = linalg.solve_triangular(
        conj(a.mT), d[z], lower=not lower, unit_diagonal=unit_diagonal
    )
    d[b] += g
    g_a = np.outer(g, conj(z)) if np.ndim(b) == 1 else g @ conj(z.mT)
    if lower:
        d[a] += -np.tril(g_a, -1 if unit_diagonal else 0)
    else:
        d[a] += -np.triu(g_a, 1 if unit_diagonal else 0)


@composed(linalg.solve_triangular, given="trans")
@samples("S(3), A(3), 1", "S(3), A(3, 2), 'T', True", "C(3, 3) + 3 * np.eye(3), C(3), trans='C'")
def solve_transposed(a, b, trans=0, lower=False, unit_diagonal=False):
    if trans == 1 or trans == "T":
        return linalg.solve_triangular(a.mT, b, lower=not lower, unit_diagonal=unit_diagonal)
    if trans == 2 or trans == "C":
        return linalg.solve_triangular(conj(a.mT), b, lower=not lower, unit_diagonal=unit_diagonal)
    if trans != 0 and trans != "N":
        refuse("`trans` must be known")
    return linalg.solve_triangular(a, b, lower=lower, unit_diagonal=unit_diagonal)


@composed(linalg.cho_solve)
@samples("(S(3), True), A(3)", "(S(3), False), A(3, 2)", "(H(3), True), C(3)")
def cho_solve(c_and_lower, b):
    c, lower = c_and_lower
    if lower:
        y = linalg.solve_triangular(c, b, lower=True)
        z = linalg.solve_triangular(conj(c.mT), y)
    else:
        y = linalg.solve_triangular(conj(c.mT), b, lower=True)
        z = linalg.solve_triangular(c, y)
    return z


@composed(linalg.lu_solve)
@samples(
    "(S(3), np.array([1, 2, 2])), A(3)", "(S(3), np.array([1, 2, 2])), A(3, 2), 1",
    "(S(3), np.array([0, 2, 2])), A(3), trans=2",
    "(C(3, 3) + 3 * np.eye(3), np.array([1, 2, 2])), C(3)",
    "(C(3, 3) + 3 * np.eye(3), np.array([1, 2, 2])), C(3, 2), trans=2",
)  # fmt: skip
def lu_solve(lu_and_piv, b, trans=0):
    lu, piv = lu_and_piv
    if not known(trans):
        refuse("`trans` must be known")
    if trans == 0:
        ordered = b[np.argsort(factors.pivot_order(piv))]
        y = linalg.solve_triangular(lu, ordered, lower=True, unit_diagonal=True)
        z = linalg.solve_triangular(lu, y)
    else:
        y = linalg.solve_triangular(lu, b, trans)
        z = linalg.solve_triangular(lu, y, trans, True, True)[factors.pivot_order(piv)]
    return z


@rule(linalg.solve_sylvester)
@samples("S(3), S(2), A(3, 2)", "C(3, 3) + 4 * np.eye(3), C(2, 2) + 4 * np.eye(2), C(3, 2)")
def solve_sylvester(a, b, q):
    g = linalg.solve_sylvester(conj(a.mT), conj(b.mT), d[z])
    d[q] += g
    d[a] += -g @ conj(z.mT)
    d[b] += -conj(z.mT) @ g


made_of(
    linalg.solve_continuous_lyapunov, linalg.solve_lyapunov,
    value=lambda a, q: linalg.solve_sylvester(a, conj(a.mT), q),
    samples=("S(3), A(3, 3)",),
)


@composed(linalg.solve_discrete_lyapunov)
@samples("0.1 * S(3), A(3, 3)")
def solve_discrete_lyapunov(a, q):
    n = np.shape(a)[0]
    kron = np.reshape(a[:, None, :, None] * conj(a)[:, None, :], (n * n, n * n))
    return np.reshape(np.linalg.solve(np.eye(n * n) - kron, np.ravel(q)), (n, n))


@rule(linalg.solve_banded)
@samples(
    "(1, 1), P(3, 4) + 3.0 * np.eye(3, 4, 1), A(4)", "(2, 0), P(3, 4) + 1.0, A(4, 2)",
    "(1, 1), C(3, 4) + 3.0 * np.eye(3, 4, 1), C(4)",
)  # fmt: skip
def solve_banded(l_and_u, ab, b):
    lower, upper = l_and_u[0], l_and_u[1]
    flipped = factors.band_transposed(conj(ab), lower, upper)
    g = linalg.solve_banded((upper, lower), flipped, d[z])
    d[b] += g
    d[ab] += -factors.band_products(g, conj(z), lower, upper)


@forward(linalg.solve_banded)
def solve_banded_tangent(l_and_u, ab, b):
    moved = factors.band_product(d[ab], z, l_and_u[0], l_and_u[1])
    d[z] += linalg.solve_banded(l_and_u, ab, d[b] - moved)


def _toeplitz(c_or_cr):
    if isinstance(c_or_cr, tuple):
        return linalg.toeplitz(c_or_cr[0], c_or_cr[1])
    return linalg.toeplitz(c_or_cr)


made_of(
    linalg.solve_toeplitz, value=lambda c_or_cr, b: np.linalg.solve(_toeplitz(c_or_cr), b),
    samples=(
        "P(3) + 6.0 * np.eye(3)[0], A(3)", "(P(3) + 6.0 * np.eye(3)[0], A(3)), A(3, 2)",
    ),
)
made_of(
    linalg.matmul_toeplitz, value=lambda c_or_cr, x: _toeplitz(c_or_cr) @ x,
    samples=("A(3), A(3)", "(A(3), A(2)), A(2, 4)"),
)
made_of(
    linalg.solve_circulant, value=lambda c, b: np.linalg.solve(linalg.circulant(c), b),
    samples=("P(3) + 6.0 * np.eye(3)[0], A(3)",),
)


@rule(linalg.pinv)
@samples("A(4, 3)", "A(3, 4)", "C(3, 2)")
def pinv(a, *, atol=None, rtol=None, return_rank=False):
    if return_rank:
        refuse("`return_rank=True`")
    for cutoff, most in ((atol, 0.0), (rtol, 1e-6)):
        if not (cutoff is None or known(cutoff) and cutoff <= most):
            refuse("a cutoff that may drop what is not zero: write it with `np.linalg.svd`")
    d[a] += factors.pinv_back(a, z, d[z])


@rule(linalg.lstsq)
@samples("A(4, 2), A(4)", "A(4, 2), A(4, 3)", "A(2, 4), A(2)", "C(4, 2), C(4)")
def lstsq(a, b, cond=None):
    x, residuals, count, s = linalg.lstsq(a, b, cond)
    yield x, residuals, count, s
    if not (cond is None or known(cond) and cond <= 1e-6):
        refuse("a cutoff that may drop what is not zero: write it with `np.linalg.svd`")
    inverse = linalg.pinv(a)
    weights = np.atleast_1d(d[residuals])
    if iscomplex(x):
        weights = np.real(weights)
    g = factors.lstsq_right(a, b, x, inverse, d[x], weights)
    d[b] += g
    d[a] += factors.lstsq_left(a, b, x, inverse, d[x], g)
    if not ignored(s):
        u, _, vh = np.linalg.svd(a, False)
        d[a] += (u * d[s]) @ vh
