"""The helpers of matrix factorisations: each is what its source says."""


import numpy as np

from srcdiff.rules import (
    composed,
    conj,
    d,
    elementwise,
    forward,
    linear,
    nondifferentiable,
    rule,
    samples,
    scalar_rule,
)
from srcdiff.runtime import linalg
from srcdiff.runtime.linalg import (
    alike,
    all_axes,
    along_axis,
    as_full,
    back_type,
    band_transposed,
    between,
    cofactor_slope,
    crossing,
    cut,
    determined,
    diagonal_places,
    eigvalsh_back,
    eigvalsh_back_along,
    eigvalsh_back_turn,
    extremes,
    fitted,
    from_triangle,
    i0_slope,
    kron_shapes,
    last_axes,
    latest,
    leading_zeros,
    mirrored,
    off_the_cut,
    pad_mode,
    pad_widths,
    pivot_order,
    polygamma,
    put_places,
    regular,
    scaled_ends,
    sparse_adjoint,
    svdvals_back,
    svdvals_back_along,
    svdvals_back_part,
    svdvals_back_turn,
    swapped_norm,
    to_triangle,
    turned,
    unique_places,
    unlike,
    unreduced,
    whole,
)

composed(linalg.diagonal)(samples("A(3)", "A(2, 3)")(linalg.diagonal))
composed(linalg.half_diagonal)(samples("A(3, 3)", "C(3, 3)")(linalg.half_diagonal))
composed(linalg.gaps)(samples("A(3)", "C(2, 3)")(linalg.gaps))
composed(linalg.eigh_back)(
    samples("A(3), A(3, 3), A(3), A(3, 3)", "A(2, 3), A(2, 3, 3), A(2, 3), A(2, 3, 3)")(
        linalg.eigh_back
    )
)
composed(linalg.eig_back)(
    samples("C(3), C(3, 3), C(3), C(3, 3)", "A(3), A(3, 3), A(3), A(3, 3)")(linalg.eig_back)
)
composed(linalg._leading)(samples("A(4, 4), A(4, 4), 2")(linalg._leading))
composed(linalg.svd_back)(
    samples("A(4, 2), P(2) + np.arange(2.0), A(2, 3), A(4, 2), A(2), A(2, 3)")(linalg.svd_back)
)
composed(linalg.qr_back)(
    samples("A(4, 3), S(3), A(4, 3), A(3, 3)", "A(3, 3), A(3, 5), A(3, 3), A(3, 5)")(
        linalg.qr_back
    )
)
composed(linalg.qr_along)(
    samples("A(4, 3), S(3), A(4, 3)", "A(3, 3), A(3, 5), A(3, 5)", "C(3, 3), C(3, 4), C(3, 4)")(
        linalg.qr_along
    )
)
composed(linalg.cholesky_back)(samples("S(3), A(3, 3)")(linalg.cholesky_back))
composed(linalg.lu_back)(
    samples(
        "S(3), S(3), A(3, 3), A(3, 3)", "S(4)[:, :2], S(2), A(4, 2), A(2, 2)",
        "S(2), S(4)[:2], A(2, 2), A(2, 4)",
    )(linalg.lu_back)
)  # fmt: skip
composed(linalg.block_triangular)(samples("A(2, 2), A(2, 2)")(linalg.block_triangular))
composed(linalg.band_product)(
    samples("A(4, 5), A(5), 1, 2", "A(3, 4), A(4, 2), 2, 0")(linalg.band_product)
)
composed(linalg.band_products)(
    samples("A(4), A(4), 1, 2", "A(4, 2), A(4, 2), 2, 0")(linalg.band_products)
)
composed(linalg.pinv_back)(samples("A(4, 3), A(3, 4), A(3, 4)")(linalg.pinv_back))
composed(linalg.lstsq_right)(
    samples(
        "A(4, 2), A(4), A(2), A(2, 4), A(2), A(1)",
        "A(2, 4), A(2, 3), A(4, 3), A(4, 2), A(4, 3), A(0)",
    )(linalg.lstsq_right)
)
composed(linalg.lstsq_left)(
    samples(
        "A(4, 2), A(4), A(2), A(2, 4), A(2), A(4)",
        "A(2, 4), A(2, 3), A(4, 3), A(4, 2), A(4, 3), A(2, 3)",
    )(linalg.lstsq_left)
)


composed(linalg._largest)(samples("A(3)", "A(2, 3)")(linalg._largest))
composed(linalg.divided)(samples("A(3), A(3)", "A(2, 3), A(2, 3)")(linalg.divided))
composed(eigvalsh_back_turn)(samples("A(3), A(3), A(3, 3)")(eigvalsh_back_turn))
composed(eigvalsh_back_along)(
    samples("A(3), A(3, 3), A(3), S(3), A(3)", "A(3), C(3, 3), A(3), H(3), A(3)")(
        eigvalsh_back_along
    )
)
composed(linalg.values_along)(samples("A(3), A(3, 3), S(3)")(linalg.values_along))
composed(linalg.vectors_along)(samples("A(3), A(3, 3), S(3)")(linalg.vectors_along))


composed(linalg._sums)(samples("A(3)", "A(2, 3)")(linalg._sums))
composed(linalg._scaled)(
    samples("A(3), A(3), P(3)", "C(3, 3), P(3, 3), P(3, 3)")(linalg._scaled)
)
composed(svdvals_back_along)(
    samples("A(4, 2), P(2) + np.arange(2.0), A(2, 3), A(2), A(4, 3), A(2)")(svdvals_back_along)
)
composed(svdvals_back_part)(
    samples("A(4, 2), P(2), A(2, 3), A(4, 3)", "C(3, 3), P(3), C(3, 3), C(3, 3)")(
        svdvals_back_part
    )
)
composed(svdvals_back_turn)(
    samples("A(4, 2), P(2) + np.arange(2.0), A(2, 3), A(2), A(4, 3)")(svdvals_back_turn)
)
composed(linalg._svdvals_back_curve)(
    samples(
        "A(4, 2), P(2) + np.arange(2.0), A(3, 2), A(2), A(4, 3), A(2, 2), A(2, 2)",
        "A(3, 3), P(3) + np.arange(3.0), A(3, 3), A(3), A(3, 3), A(3, 3), A(3, 3)",
    )(linalg._svdvals_back_curve)
)
composed(linalg._turned_pair)(
    samples("A(4, 2), P(2) + np.arange(2.0), A(2, 3), A(4, 3)")(linalg._turned_pair)
)
composed(linalg.singular_along)(
    samples("A(4, 2), P(2) + np.arange(2.0), A(2, 3), A(4, 3)")(linalg.singular_along)
)
composed(linalg.left_along)(
    samples("A(4, 4), P(2) + np.arange(2.0), A(2, 2), A(4, 2)")(linalg.left_along)
)
composed(linalg.right_along)(
    samples("A(2, 2), P(2) + np.arange(2.0), A(4, 4), A(2, 4)")(linalg.right_along)
)


@rule(turned)
@samples("A(3), A(3, 3), S(3)", "A(2, 3), A(2, 3, 3), A(2, 3, 3)")
def turned_(w, v, e):
    z = turned(w, v, e)
    yield z
    d[v] += d[z] * whole(w)
    d[e] += d[z] * (whole(w) - 1.0)
    d[w] += 0.0


@linear(fitted)
@samples("A(4), A(3)", "A(2, 3), A(3, 2)")
def fitted_(g, x):
    z = fitted(g, x)
    yield z
    d[g] += fitted(d[z], g)
    d[x] += 0.0


@linear(band_transposed)
@samples("A(4, 5), 1, 2", "A(3, 4), 2, 0")
def band_transposed_(ab, lower, upper):
    z = band_transposed(ab, lower, upper)
    yield z
    d[ab] += band_transposed(d[z], upper, lower)


@rule(between)
@samples("A(3, 3), P(3, 3)", "C(2, 3, 3), P(2, 3, 3)", "C(3, 3), C(3, 3)")
def between_(x, gap):
    z = between(x, gap)
    yield z
    d[x] += between(d[z], conj(gap))
    d[gap] += -between(d[z] * conj(z), conj(gap))


# Of the vectors `v` and values `w` of `a`: they follow it, and have no say of their own.
@rule(eigvalsh_back)
def eigvalsh_back_(a, w, v, d_w, upper=False):
    z = eigvalsh_back(a, w, v, d_w, upper)
    yield z
    vh = conj(v.mT)
    inner = vh @ from_triangle(d[z], upper) @ v
    d[d_w] += np.real(np.diagonal(inner, 0, -2, -1))
    d[a] += to_triangle(v @ eigvalsh_back_turn(w, d_w, inner) @ vh, upper)
    d[w] += 0.0
    d[v] += 0.0


@forward(eigvalsh_back)
def eigvalsh_back_tangent(a, w, v, d_w, upper=False):
    z = eigvalsh_back(a, w, v, d_w, upper)
    yield z
    along = eigvalsh_back_along(w, v, d_w, from_triangle(d[a], upper), d[d_w])
    d[z] += to_triangle(along, upper)


@rule(svdvals_back)
def svdvals_back_(a, u, s, vh, d_s):
    z = svdvals_back(a, u, s, vh, d_s)
    yield z
    d[d_s] += svdvals_back_part(u, s, vh, d[z])
    d[a] += svdvals_back_turn(u, s, vh, d_s, d[z])
    d[u] += 0.0
    d[s] += 0.0
    d[vh] += 0.0


@forward(svdvals_back)
def svdvals_back_tangent(a, u, s, vh, d_s):
    z = svdvals_back(a, u, s, vh, d_s)
    yield z
    d[z] += svdvals_back_along(u, s, vh, d_s, d[a], d[d_s])


@linear(from_triangle)
@samples("A(3, 3)", "A(2, 3, 3), True", "C(3, 3)")
def from_triangle_(x, upper=False):
    z = from_triangle(x, upper)
    yield z
    d[x] += to_triangle(d[z], upper)


@linear(to_triangle)
@samples("A(3, 3)", "A(2, 3, 3), True", "C(3, 3)")
def to_triangle_(g, upper=False):
    z = to_triangle(g, upper)
    yield z
    d[g] += from_triangle(d[z], upper)


@linear(determined)
@samples("A(3, 2), 2")
def determined_(g, k):
    z = determined(g, k)
    yield z
    d[g][..., :k] += d[z]


@linear(off_the_cut)
@samples("S(3), A(3, 3)")
def off_the_cut_(a, z):
    same = off_the_cut(a, z)
    yield same
    d[a] += d[same]
    d[z] += 0.0


@linear(as_full)
@samples("A(3), A(3), A(2), 'same'", "A(2, 3), A(3, 4), A(2, 2), 'valid'")
def as_full_(g, x, y, mode):
    z = as_full(g, x, y, mode)
    yield z
    d[g] += cut(d[z], x, y, mode)
    d[x] += 0.0
    d[y] += 0.0


@linear(cut)
@samples("A(4), A(3), A(2), 'same'", "A(4, 5), A(3, 4), A(2, 2), 'valid'")
def cut_(z, x, y, mode):
    part = cut(z, x, y, mode)
    yield part
    d[z] += as_full(d[part], x, y, mode)
    d[x] += 0.0
    d[y] += 0.0


@linear(scaled_ends)
@samples("A(4), 0, 2.0, 0.5", "A(3, 4), 0, 1.0, 2.0")
def scaled_ends_(g, axis, first, last):
    z = scaled_ends(g, axis, first, last)
    yield z
    d[g] += scaled_ends(d[z], axis, first, last)


@linear(unreduced)
@samples("A(3), [0, 2, 3], A(5), 0", "A(2, 2), [3, 1], A(2, 5), 1")
def unreduced_(g, indices, x, axis):
    z = unreduced(g, indices, x, axis)
    yield z
    d[g] += np.add.reduceat(d[z], indices, axis)
    d[x] += 0.0


@linear(regular)
@samples("S(3)")
def regular_(a):
    z = regular(a)
    yield z
    d[a] += d[z]


# Where it is differentiated again, of regular matrices alone.
@composed(cofactor_slope)
@samples("S(3), A(3, 3)", "S(2), A(2, 2)", "C(3, 3), C(3, 3)")
def cofactor_slope_(a, e):
    t = np.swapaxes(np.linalg.inv(regular(a)), -1, -2)
    s = np.sum(t * e, axis=(-2, -1), keepdims=True)
    turned = s * t - t @ np.swapaxes(e, -1, -2) @ t
    return np.expand_dims(np.linalg.det(a), (-2, -1)) * turned


@elementwise(i0_slope)
@samples("A(3)", "A()", "A(3), 2")
def i0_slope_(x, n=1):
    z = i0_slope(x, n)
    yield z
    d[x] += d[z] * i0_slope(x, n + 1)


scalar_rule(
    polygamma, slope=lambda n, x, z: (None, polygamma(n + 1, x)),
    samples=("0, P()", "1, P()", "0, -0.3 * P()"),
)


nondifferentiable(
    alike, all_axes, along_axis, back_type, crossing, diagonal_places, extremes, kron_shapes,
    last_axes, latest, leading_zeros, mirrored, pad_mode, pad_widths, pivot_order, put_places,
    sparse_adjoint, swapped_norm, unique_places, unlike, whole,
)  # fmt: skip
