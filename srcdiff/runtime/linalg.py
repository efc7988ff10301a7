"""Adjoints of matrix factorisations and of transforms, and indices, which generated code calls.

They take stacks of matrices, real or complex.  Each is plain NumPy, so that it is its own
definition where generated code is differentiated again (see `templates/factors.py`).

The second and third derivatives of determinants, exact where a matrix is singular.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcdiff.runtime.arrays import divide_or_zero


def from_triangle(x: Any, upper: bool = False) -> Any:
    """The Hermitian matrix that a function sees which reads one triangle of `x`."""
    half = half_diagonal(np.triu(x) if upper else np.tril(x))
    return half + np.conj(half.mT)


def to_triangle(g: Any, upper: bool = False) -> Any:
    """The adjoint of the triangle of `x` that is read, given that of the whole matrix."""
    both = half_diagonal(g + np.conj(g.mT))
    return np.triu(both) if upper else np.tril(both)


def diagonal(x: Any) -> Any:
    """Diagonal matrices with the rows of `x` as their diagonals."""
    return np.eye(x.shape[-1], dtype=x.dtype) * x[..., None, :]


def half_diagonal(x: Any) -> Any:
    """Square matrices with their diagonals halved."""
    return x - 0.5 * np.eye(x.shape[-1], dtype=x.dtype) * x


def gaps(w: Any) -> Any:
    """What each value is greater than each other one: zero where they are alike."""
    gap = w[..., None, :] - w[..., :, None]
    return np.where(alike(w), np.zeros_like(gap), gap)


def alike(w: Any) -> Any:
    """Which of `n` values differ by rounding alone: by `4 n` units in the place of the largest.

    Equal values of a small matrix may come out more than `2 n` of them apart.
    """
    least = 4.0 * w.shape[-1] * np.finfo(w.dtype).eps * _largest(w)
    return np.abs(w[..., None, :] - w[..., :, None]) <= least[..., None, None]


def unlike(w: Any, g: Any, size: Any) -> Any:
    """Nan between values that are alike, where numbers of this size for each are not."""
    apart = np.abs(g[..., None, :] - g[..., :, None])
    least = np.sqrt(np.finfo(w.dtype).eps) * size[..., None, None]
    return np.where(alike(w) & (apart > least), np.nan, np.zeros_like(apart))


def crossing(w: Any, x: Any) -> Any:
    """Nan beside the diagonal of `x` where values are alike and it is not zero."""
    beside = alike(w) & (x != 0.0) & ~np.eye(x.shape[-1], dtype=bool)
    return np.where(beside, np.nan, np.zeros_like(w)[..., None])


def whole(w: Any) -> Any:
    """A matrix of one number for each set of values: one where they are distinct, else nan."""
    repeated = np.any(np.tril(alike(w), -1), axis=(-2, -1), keepdims=True)
    return np.where(repeated, np.nan, np.ones_like(w[..., None, :1]))


def between(x: Any, gap: Any) -> Any:
    """`x / gap` beside the diagonals of matrices; nan where a gap alone is zero."""
    unlike = 1.0 - np.eye(x.shape[-1], dtype=gap.dtype)
    unknown = (gap == 0.0) & (x != 0.0) & (unlike != 0.0)
    return divide_or_zero(x * unlike, gap) + np.where(unknown, np.nan, np.zeros_like(gap))


def eigh_back(w: Any, v: Any, d_w: Any, d_v: Any) -> Any:
    """The adjoint of the whole Hermitian `a` in `w, v = np.linalg.eigh(a)`.

    Vectors of equal eigenvalues have none: it is nan where something depends on them.
    """
    turn = between(np.conj(v.mT) @ d_v, gaps(w))
    return (v * d_w[..., None, :] + v @ turn) @ np.conj(v.mT)


def eigvalsh_back(a: Any, w: Any, v: Any, d_w: Any, upper: bool = False) -> Any:
    """The adjoint of the triangle of `a` that is read in `w = np.linalg.eigvalsh(a)`.

    `v` are its vectors: any serve where eigenvalues are equal and what they do is, else it is nan.
    """
    return to_triangle((v * symmetric(w, d_w)[..., None, :]) @ np.conj(v.mT), upper)


def symmetric(w: Any, d_w: Any) -> Any:
    """The adjoints of sorted values, nan if they differ where values are equal to the last bit."""
    least = np.sqrt(np.finfo(w.dtype).eps) * _largest(d_w)[..., None]
    apart = (np.diff(w) == 0.0) & (np.abs(np.diff(d_w)) > least)
    return np.where(np.any(apart, -1, keepdims=True), np.nan, d_w).astype(w.dtype)


def eigvalsh_back_along(w: Any, v: Any, d_w: Any, t_a: Any, t_d_w: Any) -> Any:
    """The tangent of the whole `eigvalsh_back` along those of a Hermitian `a` and of `d_w`.

    Where eigenvalues are equal and their adjoints differ it is nan.
    """
    v, t_d_w = turned(w, v, t_a), t_d_w + np.zeros_like(d_w)  # a number where it is zero
    inner = np.conj(v.mT) @ t_a @ v
    slope = _largest(np.diagonal(inner, 0, -2, -1))
    size = divide_or_zero(_largest(t_d_w) * _largest(w), slope) + _largest(d_w)
    inner = divided(w, d_w) * inner + unlike(w, d_w, size) + diagonal(t_d_w)
    return v @ inner @ np.conj(v.mT)


def eigvalsh_back_turn(w: Any, d_w: Any, inner: Any) -> Any:
    """What the adjoint `inner` of `eigvalsh_back` between vectors is for that of the matrix."""
    return divided(w, d_w) * inner + unlike(w, d_w, _largest(d_w)) + crossing(w, inner)


def _largest(x: Any) -> Any:
    """The largest absolute value along the last axis, zero of none."""
    sizes = np.abs(x)
    none = np.zeros_like(np.sum(sizes, -1, keepdims=True))
    return np.max(np.concatenate((sizes, none), -1), -1)


def divided(w: Any, g: Any) -> Any:
    """How much `g` changes from each value to each other one: zero where they are alike."""
    return divide_or_zero(g[..., None, :] - g[..., :, None], gaps(w))


def turned(w: Any, v: Any, e: Any) -> Any:
    """Vectors of a Hermitian matrix that are those of `e` too where eigenvalues `w` are equal.

    They are the ones at which the vectors of a matrix arrive that comes along `e`.
    """
    near = np.diagonal(alike(w), 1, -2, -1)
    if not np.any(near):
        return np.array(v)
    inner = np.conj(v.mT) @ e @ v
    block = np.cumsum(~near, axis=-1)
    block = np.concatenate((np.zeros_like(block[..., :1]), block), axis=-1)
    inner = np.where(block[..., None, :] == block[..., :, None], inner, np.zeros_like(inner))
    apart = 2.0 * w.shape[-1] * np.max(np.abs(inner), (-2, -1))
    return v @ np.linalg.eigh(inner + diagonal(block * apart[..., None]))[1]


def values_along(w: Any, v: Any, e: Any) -> Any:
    """The tangent of the eigenvalues `w` of a Hermitian matrix along `e`, in memory of its own."""
    v = turned(w, v, e)
    return np.copy(np.real(np.diagonal(np.conj(v.mT) @ e @ v, 0, -2, -1)))


def vectors_along(w: Any, v: Any, e: Any) -> Any:
    """The tangent of the vectors `v` of a Hermitian matrix along `e`; nan for equal values."""
    return v @ between(np.conj(v.mT) @ e @ v, gaps(w))


def eig_back(w: Any, v: Any, d_w: Any, d_v: Any) -> Any:
    """The adjoint of `a` in `w, v = np.linalg.eig(a)`, whose vectors have length one."""
    vh = np.conj(v.mT)
    gap = np.conj(gaps(w))
    inner = vh @ d_v
    length = np.real(np.diagonal(inner, 0, -2, -1))
    turn = between(inner - (vh @ v) * length[..., None, :], gap)
    return np.linalg.solve(vh, (turn + diagonal(d_w)) @ vh)


def svd_back(u: Any, s: Any, vh: Any, d_u: Any, d_s: Any, d_vh: Any) -> Any:
    """The adjoint of `a` in `u, s, vh = np.linalg.svd(a)`, of full or reduced matrices.

    Vectors of equal singular values have none: it is nan where something depends on them.
    """
    u, d_u = _leading(u, d_u, s.shape[-1])
    v, d_v = _leading(np.conj(vh.mT), np.conj(d_vh.mT), s.shape[-1])
    row, column = s[..., None, :], s[..., :, None]
    gap = gaps(s) * (row + column)
    left, right = np.conj(u.mT) @ d_u, np.conj(v.mT) @ d_v
    turn_u, turn_v = between(left, gap), between(right, gap)
    middle = (turn_u + np.conj(turn_u.mT)) * row
    middle = middle + (turn_v + np.conj(turn_v.mT)) * column + diagonal(d_s)
    if np.iscomplexobj(left):
        middle = middle + 1j * diagonal(divide_or_zero(np.imag(np.diagonal(left, 0, -2, -1)), s))
    outer_u = divide_or_zero(d_u - u @ left, row)
    outer_v = divide_or_zero(d_v - v @ right, row)
    return (u @ middle + outer_u) @ np.conj(v.mT) + u @ np.conj(outer_v.mT)


def svdvals_back(a: Any, u: Any, s: Any, vh: Any, d_s: Any) -> Any:
    """The adjoint of `a` in `s = np.linalg.svdvals(a)`, of full or reduced `u` and `vh`."""
    k = s.shape[-1]
    return (u[..., :k] * symmetric(s, d_s)[..., None, :]) @ vh[..., :k, :]


def svdvals_back_along(u: Any, s: Any, vh: Any, d_s: Any, t_a: Any, t_d_s: Any) -> Any:
    """The tangent of `svdvals_back` along those of `a` and of `d_s`.

    Where singular values are equal and their adjoints differ it is nan.
    """
    u, v, inner = _turned_pair(u, s, vh, t_a)
    t_d_s = t_d_s + np.zeros_like(d_s)  # a number where it is zero
    slope = _largest(np.real(np.diagonal(inner, 0, -2, -1)))
    size = divide_or_zero(_largest(t_d_s) * _largest(s), slope) + _largest(d_s)
    known = unlike(s, d_s, size) + diagonal(t_d_s)
    return _svdvals_back_curve(u, s, v, d_s, t_a, inner, known)


def svdvals_back_part(u: Any, s: Any, vh: Any, d_z: Any) -> Any:
    """The adjoint of `d_s` in `z = svdvals_back(a, u, s, vh, d_s)`."""
    k = s.shape[-1]
    inner = np.conj(u[..., :k].mT) @ d_z @ np.conj(vh[..., :k, :].mT)
    return np.copy(np.real(np.diagonal(inner, 0, -2, -1)))


def svdvals_back_turn(u: Any, s: Any, vh: Any, d_s: Any, d_z: Any) -> Any:
    """The adjoint of `a` in `z = svdvals_back(a, u, s, vh, d_s)`."""
    k = s.shape[-1]
    u, v = u[..., :k], np.conj(vh[..., :k, :].mT)
    inner = np.conj(u.mT) @ d_z @ v
    known = unlike(s, d_s, _largest(d_s)) + crossing(s, inner + np.conj(inner.mT))
    return _svdvals_back_curve(u, s, v, d_s, d_z, inner, known)


def _svdvals_back_curve(u: Any, s: Any, v: Any, d_s: Any, e: Any, inner: Any, known: Any) -> Any:
    """What the vectors of `svdvals_back` make of `e`, which is `inner` between them, and `known`.

    It is nan between singular values that are zero.
    """
    adjoint, uh, vh = np.conj(inner.mT), np.conj(u.mT), np.conj(v.mT)
    skew = _scaled(inner - adjoint, _sums(d_s), _sums(s))
    middle = 0.5 * (divided(s, d_s) * (inner + adjoint) + skew) + known
    if e.shape[-2] == e.shape[-1]:
        return u @ middle @ vh
    left = _scaled(e @ v - u @ inner, d_s[..., None, :], s[..., None, :])
    right = _scaled(uh @ e - inner @ vh, d_s[..., :, None], s[..., :, None])
    return (u @ middle + left) @ vh + u @ right


def _sums(s: Any) -> Any:
    """The sum of each two values."""
    return s[..., None, :] + s[..., :, None]


def _scaled(e: Any, x: Any, y: Any) -> Any:
    """`e * x / y`; nan where `y` is zero and `e` is not."""
    return divide_or_zero(e * x, y) + np.where((y == 0.0) & (e != 0.0), np.nan, np.zeros_like(y))


def _turned_pair(u: Any, s: Any, vh: Any, e: Any) -> Any:
    """Singular vectors at which those of a matrix arrive that comes along `e`, and it between."""
    k = s.shape[-1]
    u, v = u[..., :k], np.conj(vh[..., :k, :].mT)
    inner = np.conj(u.mT) @ e @ v
    q = turned(s, np.eye(k, dtype=inner.dtype), -(inner + np.conj(inner.mT)))
    return u @ q, v @ q, np.conj(q.mT) @ inner @ q


def singular_along(u: Any, s: Any, vh: Any, e: Any) -> Any:
    """The tangent of the singular values `s` of a matrix along `e`."""
    return np.copy(np.real(np.diagonal(_turned_pair(u, s, vh, e)[2], 0, -2, -1)))


def left_along(u: Any, s: Any, vh: Any, e: Any) -> Any:
    """The tangent of the left singular vectors `u` along `e`; nan for equal singular values.

    Further columns of a full `u` stay orthogonal.
    """
    k = s.shape[-1]
    first, rest, v = u[..., :k], u[..., k:], np.conj(vh[..., :k, :].mT)
    inner = np.conj(first.mT) @ e @ v
    both, apart = inner + np.conj(inner.mT), inner - np.conj(inner.mT)
    turn = 0.5 * (between(both, gaps(s)) + _scaled(apart, 1.0, _sums(s)))
    d_first = first @ turn + divide_or_zero(e @ v - first @ inner, s[..., None, :])
    return np.concatenate((d_first, -first @ (np.conj(d_first.mT) @ rest)), axis=-1)


def right_along(u: Any, s: Any, vh: Any, e: Any) -> Any:
    """The tangent of the right singular vectors `vh` along `e`; nan for equal singular values."""
    return np.conj(left_along(np.conj(vh.mT), s, np.conj(u.mT), np.conj(e.mT)).mT)


def _leading(u: Any, d_u: Any, k: int) -> Any:
    """The first `k` of orthonormal columns; the others only span what the first leave."""
    first, rest = u[..., :k], u[..., k:]
    moved = rest @ (np.conj(d_u[..., k:].mT) @ first)
    return first, d_u[..., :k] - moved


def polar_slope(a: Any, u: Any, e: Any) -> Any:
    """The derivative of the unitary factor `u` of `a` along `e`, which is its own adjoint."""
    from scipy.linalg import solve_sylvester

    wide = a.shape[0] < a.shape[1]
    if wide:
        a, u, e = np.conj(a.mT), np.conj(u.mT), np.conj(e.mT)
    uh = np.conj(u.mT)
    p, inner = uh @ a, uh @ e
    turn = solve_sylvester(p, p, inner - np.conj(inner.mT))
    slope = u @ turn + np.linalg.solve(p.mT, (e - u @ inner).mT).mT
    return np.conj(slope.mT) if wide else slope


def qr_back(q: Any, r: Any, d_q: Any, d_r: Any) -> Any:
    """The adjoint of `a` in `q, r = np.linalg.qr(a)`, or of full matrices."""
    k = min(q.shape[-1], r.shape[-1])
    q, r, d_q, d_r = q[..., :k], r[..., :k, :], determined(d_q, k), d_r[..., :k, :]
    square, wide = d_r[..., :k], d_r[..., k:]
    d_q = d_q + q @ (r[..., k:] @ np.conj(wide.mT))
    inner = np.triu(square @ np.conj(r[..., :k].mT) - np.conj(q.mT) @ d_q)
    g = d_q + q @ half_diagonal(inner + np.conj(inner.mT))
    front = np.conj(np.linalg.solve(r[..., :k], np.conj(g.mT)).mT)
    return np.concatenate((front, q @ wide), axis=-1)


def qr_along(q: Any, r: Any, e: Any) -> tuple[Any, Any]:
    """The tangents of `q, r = np.linalg.qr(a)` along `e`, or of full matrices.

    Further columns of a full `q` only span what the first leave: theirs are nan.
    """
    k = min(q.shape[-1], r.shape[-1])
    first, top = q[..., :k], r[..., :k, :]
    moved = np.linalg.solve(top[..., :k].mT, e[..., :k].mT).mT
    inner = np.conj(first.mT) @ moved
    low = np.tril(inner, -1) + 0.5 * diagonal(np.diagonal(inner, 0, -2, -1))
    turn = low - np.conj(low.mT)
    d_first = first @ (turn - inner) + moved
    d_top = np.triu(np.conj(first.mT) @ (e - d_first @ top))
    d_q = np.concatenate((d_first, np.full_like(q[..., k:], np.nan)), axis=-1)
    return d_q, np.concatenate((d_top, np.zeros_like(r[..., k:, :])), axis=-2)


def determined(g: Any, k: int) -> Any:
    """The first `k` columns of the adjoint of a full `q`.

    Raises:
        ValueError: there are others, which only span what the first leave, and are not zero.
    """
    if g.shape[-1] > k and np.any(g[..., k:]):
        raise ValueError("further columns of a full `q` have no derivative: use mode='economic'")
    return g[..., :k]


def cholesky_back(z: Any, d_z: Any) -> Any:
    """The adjoint of the lower triangle of `a` in `z = np.linalg.cholesky(a)`."""
    zh = np.conj(z.mT)
    left = np.linalg.solve(zh, half_diagonal(np.tril(zh @ d_z)))
    return to_triangle(np.conj(np.linalg.solve(zh, np.conj(left.mT)).mT))


def lu_back(low: Any, u: Any, d_low: Any, d_u: Any) -> Any:
    """The adjoint of `a` in `p, l, u = scipy.linalg.lu(a)`, with its rows as in `l`."""
    k = u.shape[-2]
    lh, corner = np.conj(low[..., :k, :].mT), u[..., :k]
    right = np.linalg.solve(lh, d_u[..., k:])
    below = np.conj(np.linalg.solve(corner, np.conj(d_low[..., k:, :].mT)).mT)
    d_l = d_low[..., :k, :] - right @ np.conj(u[..., k:].mT)
    d_r = d_u[..., :k] - np.conj(low[..., k:, :].mT) @ below
    inner = np.tril(lh @ np.tril(d_l, -1), -1) + np.triu(np.triu(d_r) @ np.conj(corner.mT))
    top = np.conj(np.linalg.solve(corner, np.conj(np.linalg.solve(lh, inner).mT)).mT)
    rest = np.zeros_like(low[..., k:, :] @ u[..., k:])
    upper = np.concatenate((top, right), axis=-1)
    return np.concatenate((upper, np.concatenate((below, rest), axis=-1)), axis=-2)


def diagonal_places(a: Any) -> Any:
    """The flat positions of what `np.fill_diagonal` writes into `a`."""
    hit = np.zeros(np.shape(a), bool)
    np.fill_diagonal(hit, True)
    return np.flatnonzero(hit)


def pivot_order(piv: Any, rows: int | None = None) -> Any:
    """Where each of `rows` goes, which LAPACK has exchanged with those in `piv` one by one."""
    order = list(range(len(piv) if rows is None else rows))
    for k, other in enumerate(piv.tolist()):
        order[k], order[other] = order[other], order[k]
    return np.argsort(np.array(order))


def block_triangular(a: Any, e: Any) -> Any:
    """The matrix of blocks `[[a, e], [0, a]]`."""
    top, bottom = np.concatenate((a, e), axis=-1), np.concatenate((np.zeros_like(e), a), axis=-1)
    return np.concatenate((top, bottom), axis=-2)


def off_the_cut(a: Any, image: Any) -> Any:
    """A copy of `a`, whose logarithm is `image`.

    Raises:
        ValueError: a real matrix has negative eigenvalues, where its logarithm has a jump.
    """
    if np.iscomplexobj(image) and not np.iscomplexobj(a):
        raise ValueError(
            "the logarithm of a real matrix with negative eigenvalues has no derivative: pass a "
            "complex matrix, away from the negative real axis"
        )
    return np.array(a)


def band_transposed(ab: Any, lower: int, upper: int) -> Any:
    """The diagonals of a transposed banded matrix, as `scipy.linalg.solve_banded` has them."""
    n = ab.shape[1]
    out = np.zeros_like(ab)
    for k in range(-lower, upper + 1):
        out[lower + k, max(0, -k) : n - max(0, k)] = ab[upper - k, max(0, k) : n - max(0, -k)]
    return out


def band_product(ab: Any, x: Any, lower: int, upper: int) -> Any:
    """The product of a banded matrix with a vector or matrix."""
    n = len(x)
    rows = ab.reshape(ab.shape + (1,) * (x.ndim - 1))
    out = np.zeros_like(x, dtype=np.result_type(ab, x))
    for k in range(-lower, upper + 1):
        inside = slice(max(0, k), n - max(0, -k))
        out[max(0, -k) : n - max(0, k)] += rows[upper - k, inside] * x[inside]
    return out


def band_products(x: Any, y: Any, lower: int, upper: int) -> Any:
    """The diagonals of `x @ y.T`, as `scipy.linalg.solve_banded` has them."""
    x, y, n = x.reshape(len(x), x[:1].size), y.reshape(len(y), y[:1].size), len(x)
    out = np.zeros((lower + upper + 1, n), np.result_type(x, y))
    for k in range(-lower, upper + 1):
        inside = slice(max(0, k), n - max(0, -k))
        out[upper - k, inside] = np.sum(x[max(0, -k) : n - max(0, k)] * y[inside], axis=1)
    return out


def sparse_adjoint(a: Any) -> Any:
    """The conjugate transpose of a sparse matrix of SciPy, ready to be solved with."""
    return a.conj().T.tocsc()


def pinv_back(a: Any, z: Any, d_z: Any) -> Any:
    """The adjoint of `a`, whose rank is constant, in `z = np.linalg.pinv(a)`."""
    zh, gh = np.conj(z.mT), np.conj(d_z.mT)
    right = zh @ (z @ gh)
    left = (gh @ z) @ zh
    return left - a @ (z @ left) + right - (right @ z) @ a - zh @ d_z @ zh


def lstsq_right(a: Any, b: Any, x: Any, inverse: Any, d_x: Any, d_residuals: Any) -> Any:
    """The adjoint of `b` in `x, residuals, _, _ = np.linalg.lstsq(a, b)`; `inverse`: of `a`."""
    weights = fitted(d_residuals, np.atleast_1d(np.zeros(b.shape[1:])))
    weights = weights[0] if b.ndim == 1 else weights
    return np.conj(inverse.mT) @ d_x + 2.0 * (b - a @ x) * weights


def lstsq_left(a: Any, b: Any, x: Any, inverse: Any, d_x: Any, d_b: Any) -> Any:
    """The adjoint of `a` in `x, _, _, _ = np.linalg.lstsq(a, b)`, given that of `b`."""
    if x.ndim == 1:
        b, x, d_x, d_b = b[:, None], x[:, None], d_x[:, None], d_b[:, None]
    rest = b - a @ x
    back = np.conj(inverse.mT)
    d_a = rest @ np.conj((inverse @ (back @ d_x)).mT) - d_b @ np.conj(x.mT)
    return d_a + (back @ x) @ np.conj((d_x - inverse @ (a @ d_x)).mT)


# --- Fourier transforms ------------------------------------------------------------------------


def swapped_norm(norm: str | None) -> str:
    """The normalisation of the transform that is the adjoint of one."""
    return {"ortho": "ortho", "forward": "backward"}.get(norm or "backward", "forward")


def back_type(kind: int) -> int:
    """The type of the transform of cosines or sines that goes back from one."""
    return {2: 3, 3: 2}.get(kind, kind)


def scaled_ends(g: Any, axis: int, first: float, last: float) -> Any:
    """A copy of `g` with the first and the last entries along an axis multiplied."""
    out = np.moveaxis(np.array(g), axis, -1)
    out[..., 0] *= first
    out[..., -1] *= last
    return np.moveaxis(out, -1, axis)


def last_axes(n: int) -> tuple[int, ...]:
    """The last `n` axes."""
    return tuple(range(-n, 0))


def all_axes(n: int) -> tuple[int, ...]:
    """All of `n` axes."""
    return tuple(range(n))


def fitted(g: Any, x: Any) -> Any:
    """`g` cut off, or filled up with zeros, at the end of each axis to the shape of `x`."""
    shape = np.shape(x)
    g = g[tuple(slice(n) for n in shape)]
    return np.pad(g, [(0, n - m) for n, m in zip(shape, g.shape)])


def mirrored(n: int, m: int, dtype: Any) -> Any:
    """How often each of `m` frequencies occurs in a real signal of length `n`."""
    k = np.arange(m)
    return (2 - (k == 0) - (2 * k == n)).astype(dtype)


def as_full(g: Any, x: Any, y: Any, mode: str) -> Any:
    """A convolution of `x` and `y` in a mode of `scipy.signal`, with zeros where a full one is."""
    out = np.zeros([n + m - 1 for n, m in zip(np.shape(x), np.shape(y))], np.result_type(g))
    out[_central(np.shape(x), np.shape(y), mode)] = g
    return out


def cut(g: Any, x: Any, y: Any, mode: str) -> Any:
    """The part of the full convolution of `x` and `y` that another mode of `scipy.signal` gives."""
    return g[_central(np.shape(x), np.shape(y), mode)]


def _central(shape: Any, other: Any, mode: str) -> tuple[slice, ...]:
    """The place of a convolution of two shapes in the full one."""
    if mode == "same":
        return tuple(slice((m - 1) // 2, (m - 1) // 2 + n) for n, m in zip(shape, other))
    if mode == "valid":
        return tuple(slice(min(n, m) - 1, max(n, m)) for n, m in zip(shape, other))
    return (slice(None),) * len(shape)


def pad_widths(shape: Any, late: bool) -> list[tuple[int, int]]:
    """How far a filter of this shape of `scipy.ndimage` looks over the ends of each axis."""
    widths = [((n - 1) // 2, n // 2) for n in shape]
    return widths if late else [(after, before) for before, after in widths]


def pad_mode(mode: str) -> str:
    """What NumPy calls a boundary of `scipy.ndimage`."""
    known = {"reflect": "symmetric", "nearest": "edge", "mirror": "reflect"}
    known |= {"grid-mirror": "symmetric", "grid-wrap": "wrap", "grid-constant": "constant"}
    return known.get(mode, mode)


def kron_shapes(a: Any, b: Any) -> tuple[Any, Any]:
    """Shapes of both operands of `np.kron` by which they broadcast to its blocks."""
    n = max(np.ndim(a), np.ndim(b))
    left, right = ((1,) * (n - np.ndim(x)) + np.shape(x) for x in (a, b))
    return tuple(k for m in left for k in (m, 1)), tuple(k for m in right for k in (1, m))


# --- indices -----------------------------------------------------------------------------------


def latest(hit: Any, axis: int) -> Any:
    """The position of the last true element up to each one along `axis`."""
    count = np.moveaxis(hit, axis, -1) * np.arange(hit.shape[axis])
    return np.maximum.accumulate(np.moveaxis(count, -1, axis), axis)


def unique_places(x: Any) -> tuple[Any, Any, Any]:
    """Where the distinct values of `x` are found, where they go, and how often each occurs."""
    _, index, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )
    return index, inverse, counts


def leading_zeros(p: Any, most: float = 0.0) -> int:
    """How many numbers of size `most` or less stand before all others, or before the last one."""
    rest = np.flatnonzero(~(np.abs(p) <= most))
    return int(rest[0]) if len(rest) else len(p) - 1


def put_places(a: Any, indices: Any, v: Any) -> tuple[Any, ...]:
    """The index of what `np.put` writes: nothing if there are no values."""
    places = np.arange(np.size(a))[np.atleast_1d(np.asarray(indices))].ravel()
    return np.unravel_index(places[: math.prod(np.shape(v)) * len(places)], np.shape(a))


def extremes(a: Any) -> tuple[Any, Any]:
    """One at the first least and at the first greatest element of `a`, zero elsewhere."""
    low, high = np.zeros_like(a), np.zeros_like(a)
    if np.size(a):
        low[np.unravel_index(np.argmin(a), np.shape(a))] = 1.0
        high[np.unravel_index(np.argmax(a), np.shape(a))] = 1.0
    return low, high


def unreduced(g: Any, indices: Any, x: Any, axis: int) -> Any:
    """The adjoint of `x` in `np.add.reduceat(x, indices, axis)`."""
    out = np.zeros(np.shape(x), np.result_type(g))
    to, g, n = np.moveaxis(out, axis, -1), np.moveaxis(g, axis, -1), np.shape(x)[axis]
    for k, (start, stop) in enumerate(zip(indices, [*indices[1:], n])):
        to[..., start : max(start + 1, stop)] += g[..., k : k + 1]
    return out


def along_axis(shape: Any, indices: Any, axis: int) -> tuple[Any, ...]:
    """The index of what `np.put_along_axis` writes into an array of this shape."""
    places = [np.arange(n).reshape(-1, *[1] * (len(shape) - k - 1)) for k, n in enumerate(shape)]
    places[axis] = indices
    return tuple(places)


# --- special functions -------------------------------------------------------------------------


def i0_slope(x: Any, n: int = 1) -> Any:
    """The `n`-th derivative of `np.i0`, by its integral over a period."""
    points = 48 + 2 * int(np.max(np.abs(x)) if np.size(x) else 0)
    c = np.cos(np.arange(points) * (2.0 * np.pi / points))
    c = c.astype(np.result_type(np.asarray(x), np.float32))
    return np.mean(c**n * np.exp(np.multiply.outer(x, c)), axis=-1)


def polygamma(n: int, x: float) -> float:
    """The `n`-th derivative of the digamma function of a real number."""
    total, x = 0.0, float(x)
    sign = (-1.0) ** (n + 1) * math.factorial(n)
    while x < 20.0:
        if x <= 0.0 and x == math.floor(x):
            return math.nan
        total += sign / x ** (n + 1)
        x += 1.0
    return total + _asymptotic(n, x)


def _asymptotic(n: int, x: float) -> float:
    """The `n`-th derivative of the digamma function of a large number."""
    if n == 0:
        series = math.log(x) - 0.5 / x
    else:
        series = math.factorial(n - 1) / x**n + 0.5 * math.factorial(n) / x ** (n + 1)
        series *= (-1.0) ** (n + 1)
    for k, b in enumerate(_BERNOULLI, 1):
        term = b * math.factorial(2 * k + n - 1) / math.factorial(2 * k) / x ** (2 * k + n)
        series -= (-1.0) ** n * term
    return series


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


# --- the second derivatives of determinants, exact where a matrix is singular --------------------


def cofactor_slope(a: Any, e: Any) -> Any:
    """The derivative of `cofactor` at `a` in the direction `e`, exact where `a` is singular."""
    u, s, vt = np.linalg.svd(a)
    n = s.shape[-1]
    one = np.eye(n, dtype=s.dtype)
    left_out = (one[:, None] + one) > 0  # of the product of the others, for every pair
    pairs = np.prod(np.where(left_out, 1.0, s[..., None, None, :]), axis=-1) * (1.0 - one)
    inner = np.conj(np.swapaxes(u, -1, -2)) @ e @ np.conj(np.swapaxes(vt, -1, -2))
    diagonal = pairs @ np.diagonal(inner, 0, -2, -1)[..., None]
    turned = one * diagonal - pairs * np.swapaxes(inner, -1, -2)
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return np.expand_dims(sign, (-2, -1)) * (np.conj(u) @ turned @ np.conj(vt))


def regular(a: Any) -> Any:
    """A copy of `a`, whose determinant has derivatives of the third order here.

    Raises:
        ValueError: it is singular, or so near to it that its inverse says nothing of them.
    """
    s = np.linalg.svd(a, compute_uv=False)
    if s.size and np.any(s[..., -1] <= np.finfo(s.dtype).eps ** 0.2 * s[..., 0]):
        raise ValueError(
            "derivatives of the third order of a determinant need a regular matrix, and this one "
            "is singular or close to it: write the determinant as a sum of products"
        )
    return np.array(a)
