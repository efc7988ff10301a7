"""The helpers of matrix factorisations: each is what its source says."""


import numpy as np

from srcdiff.rules import *
from srcdiff.runtime import linalg

inlined(linalg.diagonal, "A(3)", "A(2, 3)")
inlined(linalg.half_diagonal, "A(3, 3)", "C(3, 3)")
inlined(linalg.gaps, "A(3)", "C(2, 3)")
inlined(
    linalg.eigh_back, "A(3), A(3, 3), A(3), A(3, 3)", "A(2, 3), A(2, 3, 3), A(2, 3), A(2, 3, 3)",
)  # fmt: skip
inlined(linalg.eig_back, "C(3), C(3, 3), C(3), C(3, 3)", "A(3), A(3, 3), A(3), A(3, 3)")
inlined(linalg._leading, "A(4, 4), A(4, 4), 2")
inlined(linalg.svd_back, "A(4, 2), P(2) + np.arange(2.0), A(2, 3), A(4, 2), A(2), A(2, 3)")
inlined(linalg.qr_back, "A(4, 3), S(3), A(4, 3), A(3, 3)", "A(3, 3), A(3, 5), A(3, 3), A(3, 5)")
inlined(
    linalg.qr_along, "A(4, 3), S(3), A(4, 3)", "A(3, 3), A(3, 5), A(3, 5)",
    "C(3, 3), C(3, 4), C(3, 4)",
)  # fmt: skip
inlined(linalg.cholesky_back, "S(3), A(3, 3)")
inlined(
    linalg.lu_back, "S(3), S(3), A(3, 3), A(3, 3)", "S(4)[:, :2], S(2), A(4, 2), A(2, 2)",
    "S(2), S(4)[:2], A(2, 2), A(2, 4)",
)  # fmt: skip
inlined(linalg.block_triangular, "A(2, 2), A(2, 2)")
inlined(linalg.band_product, "A(4, 5), A(5), 1, 2", "A(3, 4), A(4, 2), 2, 0")
inlined(linalg.band_products, "A(4), A(4), 1, 2", "A(4, 2), A(4, 2), 2, 0")
inlined(linalg.pinv_back, "A(4, 3), A(3, 4), A(3, 4)")
inlined(
    linalg.lstsq_right, "A(4, 2), A(4), A(2), A(2, 4), A(2), A(1)",
    "A(2, 4), A(2, 3), A(4, 3), A(4, 2), A(4, 3), A(0)",
)  # fmt: skip
inlined(
    linalg.lstsq_left, "A(4, 2), A(4), A(2), A(2, 4), A(2), A(4)",
    "A(2, 4), A(2, 3), A(4, 3), A(4, 2), A(4, 3), A(2, 3)",
)  # fmt: skip
inlined(linalg._largest, "A(3)", "A(2, 3)")
inlined(linalg.divided, "A(3), A(3)", "A(2, 3), A(2, 3)")
inlined(linalg.eigvalsh_back_turn, "A(3), A(3), A(3, 3)")
inlined(
    linalg.eigvalsh_back_along, "A(3), A(3, 3), A(3), S(3), A(3)",
    "A(3), C(3, 3), A(3), H(3), A(3)",
)  # fmt: skip
inlined(linalg.values_along, "A(3), A(3, 3), S(3)")
inlined(linalg.vectors_along, "A(3), A(3, 3), S(3)")
inlined(linalg._sums, "A(3)", "A(2, 3)")
inlined(linalg._scaled, "A(3), A(3), P(3)", "C(3, 3), P(3, 3), P(3, 3)")
inlined(linalg.svdvals_back_along, "A(4, 2), P(2) + np.arange(2.0), A(2, 3), A(2), A(4, 3), A(2)")
inlined(
    linalg.svdvals_back_part, "A(4, 2), P(2), A(2, 3), A(4, 3)", "C(3, 3), P(3), C(3, 3), C(3, 3)",
)  # fmt: skip
inlined(linalg.svdvals_back_turn, "A(4, 2), P(2) + np.arange(2.0), A(2, 3), A(2), A(4, 3)")
inlined(
    linalg._svdvals_back_curve,
    "A(4, 2), P(2) + np.arange(2.0), A(3, 2), A(2), A(4, 3), A(2, 2), A(2, 2)",
    "A(3, 3), P(3) + np.arange(3.0), A(3, 3), A(3), A(3, 3), A(3, 3), A(3, 3)",
)  # fmt: skip
inlined(linalg._turned_pair, "A(4, 2), P(2) + np.arange(2.0), A(2, 3), A(4, 3)")
inlined(linalg.singular_along, "A(4, 2), P(2) + np.arange(2.0), A(2, 3), A(4, 3)")
inlined(linalg.left_along, "A(4, 4), P(2) + np.arange(2.0), A(2, 2), A(4, 2)")
inlined(linalg.right_along, "A(2, 2), P(2) + np.arange(2.0), A(4, 4), A(2, 4)")


@rule(linalg.turned, constant="w")
@samples("A(3), A(3, 3), S(3)", "A(2, 3), A(2, 3, 3), A(2, 3, 3)")
def turned_(w, v, e):
    d[v] += d[z] * linalg.whole(w)
    d[e] += d[z] * (linalg.whole(w) - 1.0)


@linear(linalg.fitted, constant="x")
@samples("A(4), A(3)", "A(2, 3), A(3, 2)")
def fitted_(g, x):
    d[g] += linalg.fitted(d[z], g)


@linear(linalg.band_transposed)
@samples("A(4, 5), 1, 2", "A(3, 4), 2, 0")
def band_transposed_(ab, lower, upper):
    d[ab] += linalg.band_transposed(d[z], upper, lower)


@rule(linalg.between)
@samples("A(3, 3), P(3, 3)", "C(2, 3, 3), P(2, 3, 3)", "C(3, 3), C(3, 3)")
def between_(x, gap):
    d[x] += linalg.between(d[z], conj(gap))
    d[gap] += -linalg.between(d[z] * conj(z), conj(gap))


# Of the vectors `v` and values `w` of `a`: they follow it, and have no say of their own.
@rule(linalg.eigvalsh_back, constant="w v")
def eigvalsh_back_(a, w, v, d_w, upper=False):
    vh = conj(v.mT)
    inner = vh @ linalg.from_triangle(d[z], upper) @ v
    d[d_w] += np.real(np.diagonal(inner, 0, -2, -1))
    d[a] += linalg.to_triangle(v @ linalg.eigvalsh_back_turn(w, d_w, inner) @ vh, upper)


@forward(linalg.eigvalsh_back)
def eigvalsh_back_tangent(a, w, v, d_w, upper):
    along = linalg.eigvalsh_back_along(w, v, d_w, linalg.from_triangle(d[a], upper), d[d_w])
    d[z] += linalg.to_triangle(along, upper)


@rule(linalg.svdvals_back, constant="u s vh")
def svdvals_back_(a, u, s, vh, d_s):
    d[d_s] += linalg.svdvals_back_part(u, s, vh, d[z])
    d[a] += linalg.svdvals_back_turn(u, s, vh, d_s, d[z])


@forward(linalg.svdvals_back)
def svdvals_back_tangent(a, u, s, vh, d_s):
    d[z] += linalg.svdvals_back_along(u, s, vh, d_s, d[a], d[d_s])


def transposes(of, back, *calls):
    """The rule of a linear function, whose adjoint has the same arguments behind the first."""

    @linear(of, constant="rest")
    @samples(*calls)
    def transpose(x, *rest):
        d[x] += back(d[z], *rest)


TRIANGLES = ("A(3, 3)", "A(2, 3, 3), True", "C(3, 3)")
transposes(linalg.from_triangle, linalg.to_triangle, *TRIANGLES)
transposes(linalg.to_triangle, linalg.from_triangle, *TRIANGLES)
transposes(
    linalg.as_full, linalg.cut, "A(3), A(3), A(2), 'same'", "A(2, 3), A(3, 4), A(2, 2), 'valid'",
)
transposes(
    linalg.cut, linalg.as_full, "A(4), A(3), A(2), 'same'", "A(4, 5), A(3, 4), A(2, 2), 'valid'",
)
transposes(linalg.scaled_ends, linalg.scaled_ends, "A(4), 0, 2.0, 0.5", "A(3, 4), 0, 1.0, 2.0")


@linear(linalg.determined)
@samples("A(3, 2), 2")
def determined_(g, k):
    d[g][..., :k] += d[z]


@linear(linalg.regular)
@samples("S(3)")
def regular_(a):
    d[a] += d[z]


@linear(linalg.off_the_cut, constant="image")
@samples("S(3), A(3, 3)")
def off_the_cut_(a, image):
    d[a] += d[z]


@linear(linalg.unreduced, constant="x")
@samples("A(3), [0, 2, 3], A(5), 0", "A(2, 2), [3, 1], A(2, 5), 1")
def unreduced_(g, indices, x, axis):
    d[g] += np.add.reduceat(d[z], indices, axis)


# Where it is differentiated again, of regular matrices alone.
@composed(linalg.cofactor_slope)
@samples("S(3), A(3, 3)", "S(2), A(2, 2)", "C(3, 3), C(3, 3)")
def cofactor_slope_(a, e):
    t = np.swapaxes(np.linalg.inv(linalg.regular(a)), -1, -2)
    s = np.sum(t * e, axis=(-2, -1), keepdims=True)
    turned = s * t - t @ np.swapaxes(e, -1, -2) @ t
    return np.expand_dims(np.linalg.det(a), (-2, -1)) * turned


@elementwise(linalg.i0_slope)
@samples("A(3)", "A()", "A(3), 2")
def i0_slope_(x, n=1):
    d[x] += d[z] * linalg.i0_slope(x, n + 1)


scalar_rule(
    linalg.polygamma, slope=lambda n, x, z: (None, linalg.polygamma(n + 1, x)),
    samples=("0, P()", "1, P()", "0, -0.3 * P()"),
)


nondifferentiable(
    linalg.alike, linalg.all_axes, linalg.along_axis, linalg.back_type, linalg.crossing,
    linalg.diagonal_places, linalg.extremes, linalg.kron_shapes, linalg.last_axes, linalg.latest,
    linalg.leading_zeros, linalg.mirrored, linalg.pad_mode, linalg.pad_widths, linalg.pivot_order,
    linalg.put_places, linalg.sparse_adjoint, linalg.swapped_norm, linalg.unique_places,
    linalg.unlike, linalg.whole,
)  # fmt: skip
