"""Rules of linear algebra: factorisations of real and complex matrices, triangles, equal values.

The vectors of complex matrices have phases that a meaningful function does not depend on: sums that
are the same for every phase, in both modes and at order two.
"""

import numpy as np
import pytest

import srcdiff
from tests.support.differences import check_gradient, define


def hermitian(z):
    return z @ np.conj(z.T) + np.diag([1.0, 4.0, 9.0])


def eigh_projections(z, w):
    values, v = np.linalg.eigh(hermitian(z))
    return np.real(np.sum(w * ((v * np.exp(-0.1 * values)) @ np.conj(v.T))))


def eigh_sizes(z, w):
    _, v = np.linalg.eigh(hermitian(z), "U")
    return np.sum(np.real(w) * np.abs(v) ** 2)


def eig_projections(z, w):
    values, v = np.linalg.eig(z)
    return np.imag(np.sum(w * ((v * np.sin(values)) @ np.linalg.inv(v))))


def eig_sizes(z, w):
    values, v = np.linalg.eig(z)
    return np.sum(np.real(w) * np.abs(v) ** 2) + np.abs(values[0])


def svd_products(z, w):
    u, s, vh = np.linalg.svd(z[:, :2], full_matrices=False)
    return np.real(np.sum(w[:, :2] * ((u * s**3) @ vh)))


def svd_projections(z, w):
    u, s, vh = np.linalg.svd(z)
    both = (u / s) @ np.conj(u.T) + np.conj(vh.T) @ (s[:, None] ** 2 * vh)
    return np.imag(np.sum(w * both))


def svd_wide(z, w):
    u, _, vh = np.linalg.svd(z[:2], False)
    return np.real(np.sum(w[:2] * (u @ vh))) + np.sum(np.abs(vh) ** 4)


def qr_of_both(z, w):
    q, r = np.linalg.qr(z)
    return np.real(np.sum(w * q)) + np.imag(np.sum(w * r))


def stacked(z, w):
    values, v = np.linalg.eigh(np.stack([hermitian(z), hermitian(w)]))
    return np.sum(np.abs(v) ** 2 * values[:, None, :] ** 2)


FUNCTIONS = (
    eigh_projections, eigh_sizes, eig_projections, eig_sizes, svd_products, svd_projections,
    svd_wide, qr_of_both, stacked,
)  # fmt: skip


def matrices():
    rng = np.random.default_rng(4)
    z, w = rng.standard_normal((2, 3, 3)) + 1j * rng.standard_normal((2, 3, 3))
    return z, w


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_does_not_depend_on_phases(f):
    args = matrices()
    check_gradient(f, args, (0, 1))
    found, way = srcdiff.grad(f, (0, 1))(*args), args[::-1]
    _, tangent = srcdiff.jvp(f, args, way)
    parts = [np.sum(np.real(np.conj(g) * v)) for g, v in zip(found, way, strict=True)]
    assert abs(tangent - sum(parts)) <= 1e-12 * max(1.0, *map(np.linalg.norm, found))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_twice(f):
    assert srcdiff.testing.gradgradcheck(f, matrices())




def test_complex_symmetric_matrices_are_not_hermitian():
    linalg = pytest.importorskip("scipy.linalg", reason="SciPy is an extra")

    def solved(z, w):
        return np.real(np.sum(linalg.solve(z + z.T, w, assume_a="sym") ** 2))

    check_gradient(solved, matrices(), (0, 1))
    assert srcdiff.testing.gradcheck(solved, matrices(), check_forward_ad=True)
    assert srcdiff.testing.gradgradcheck(solved, matrices())


@pytest.mark.parametrize("a", [np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 2.0]), np.zeros((3, 3))])
@pytest.mark.parametrize("turn", [1.0, 1.0 + 0.5j])
def test_the_second_derivatives_of_a_determinant_at_singular_matrices(a, turn):
    """Along two directions they are what a third one would give, that is the matrix itself."""
    u, v = np.random.default_rng(0).standard_normal((2, 3, 3)) * turn
    det, a = np.linalg.det, a * turn
    parts = -det(u + v) - det(u + a) - det(v + a) + det(u) + det(v) + det(a)
    expected = det(u + v + a) + parts

    def once(a):
        return srcdiff.jvp(det, (a,), (u,))[1]

    np.testing.assert_allclose(srcdiff.jvp(once, (a,), (v,))[1], expected, rtol=1e-12, atol=1e-12)
    found = srcdiff.grad(lambda a: np.real(once(a)))(a)
    slope = np.sum(np.conj(found) * v).real
    np.testing.assert_allclose(slope, expected.real, rtol=1e-12, atol=1e-12)
    if turn == 1.0:
        found = srcdiff.grad(lambda a: np.sum(srcdiff.grad(det)(a) * u))(a)
        np.testing.assert_allclose(np.sum(found * v), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("small", [0.0, 1e-5])
def test_the_third_derivatives_of_a_determinant_close_to_singular_matrices_are_refused(small):
    def along(f):
        return lambda a: srcdiff.jvp(f, (a,), (np.eye(3),))[1]

    second = along(along(np.linalg.det))
    np.testing.assert_allclose(second(np.diag([1.0, 2.0, 0.1])), 6.2, rtol=1e-12)
    np.testing.assert_allclose(second(np.diag([1.0, 2.0, small])), 6.0 + 2 * small, rtol=1e-12)
    np.testing.assert_allclose(along(second)(np.diag([1.0, 2.0, 0.1])), 6.0, rtol=1e-12)
    for f in (srcdiff.grad(second), along(second)):
        with pytest.raises(ValueError, match="need a regular matrix"):
            f(np.diag([1.0, 2.0, small]))


# --- real matrices: triangles, equal eigenvalues, equal singular values --------------------------

RNG = np.random.default_rng(3)
V = RNG.normal(size=3)


def _crossed(a, b):
    return np.cross(a, b, axis=None)


def _crossed_columns(a, b):
    return np.cross(a, b, axis=0)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.parametrize(
    "f, left, right",
    [
        (_crossed, (2,), (2,)),
        (_crossed, (2, 2), (2, 2)),
        (_crossed, (2,), (3,)),
        (_crossed, (4, 2), (3,)),
        (_crossed_columns, (2, 4), (2, 4)),
        (_crossed_columns, (3,), (2, 4)),
    ],
)
def test_cross_products_of_two_components(f, left, right):
    a, b = RNG.normal(size=left), RNG.normal(size=right)
    try:
        f(a, b)
    except ValueError:
        pytest.skip("of three components alone in this version of NumPy")
    assert srcdiff.testing.gradcheck(f, (a, b)) and srcdiff.testing.gradgradcheck(f, (a, b))
    columns = srcdiff.jacobian(f, (0, 1), mode="forward")(a, b)
    rows = srcdiff.jacobian(f, (0, 1), mode="reverse")(a, b)
    for k in range(2):
        np.testing.assert_allclose(columns[k], rows[k], atol=1e-14)


TRIANGLES = {
    "cholesky": lambda a: np.linalg.cholesky(a),
    "eigvalsh": lambda a: np.linalg.eigvalsh(a),
    "vectors": lambda a: np.abs(np.linalg.eigh(a)[1]) ** 2,
    "upper vectors": lambda a: np.abs(np.linalg.eigh(a, UPLO="U")[1]) ** 2,
    "upper values": lambda a: np.linalg.eigvalsh(a, "U"),
}
SCIPY_TRIANGLES = {
    "cholesky": lambda la, a: la.cholesky(a, lower=True),
    "upper cholesky": lambda la, a: la.cholesky(a),
    "upper cho_solve": lambda la, a: la.cho_solve(la.cho_factor(a), V),
    "cho_solve": lambda la, a: la.cho_solve(la.cho_factor(a, lower=True), V),
    "eigh": lambda la, a: np.abs(la.eigh(a)[1]) ** 2,
    "upper eigvalsh": lambda la, a: la.eigvalsh(a, lower=False),
    "two eigvalsh": lambda la, a: la.eigvalsh(a, a + 9.0 * np.eye(3)),
    "upper two eigvalsh": lambda la, a: la.eigvalsh(a, a + 9.0 * np.eye(3), lower=False),
    "upper pos": lambda la, a: la.solve(a, V, assume_a="pos"),
    "pos": lambda la, a: la.solve(a, V, lower=True, assume_a="pos"),
    "upper her": lambda la, a: la.solve(a, V, assume_a="her"),
    "upper sym": lambda la, a: la.solve(a, V, assume_a="sym"),
    "sym": lambda la, a: la.solve(a, V, lower=True, assume_a="sym"),
}


def one_triangle(f, upper, turn):
    """All of the gradient lies in the triangle that is read, whatever the other holds."""
    rng = np.random.default_rng(6)
    z, way = rng.normal(size=(2, 3, 3)) + turn * rng.normal(size=(2, 3, 3))
    whole = z @ np.conj(z.T) + np.diag([3.0, 6.0, 9.0])
    keep, drop = (np.triu, np.tril) if upper else (np.tril, np.triu)
    a = keep(whole) + drop(z, -1 if upper else 1)
    weights = rng.normal(size=(3, 3))

    def total(a):
        return np.sum(weights * np.abs(f(a)) ** 2)

    gradient = srcdiff.grad(total)
    check_gradient(total, (a,), (0,))
    assert not np.any(drop(gradient(a), -1 if upper else 1))
    assert not np.any(drop(srcdiff.hvp(total, (a,), way), -1 if upper else 1))
    unread = drop(way, -1 if upper else 1)
    assert srcdiff.jvp(total, (a,), (unread,))[1] == 0.0
    assert srcdiff.testing.gradcheck(total, (a,), check_forward_ad=True)
    assert srcdiff.testing.gradgradcheck(total, (a,))


@pytest.mark.parametrize("turn", [0.0, 1j])
@pytest.mark.parametrize("name", TRIANGLES)
def test_what_reads_one_triangle_has_its_gradient_there(name, turn):
    one_triangle(TRIANGLES[name], "upper" in name, turn)


@pytest.mark.parametrize("turn", [0.0, 1j])
def test_the_upper_factor_is_that_of_the_upper_triangle(turn):
    one_triangle(lambda a: np.linalg.cholesky(a, upper=True), True, turn)


@pytest.mark.parametrize("turn", [0.0, 1j])
@pytest.mark.parametrize("name", SCIPY_TRIANGLES)
def test_what_reads_one_triangle_in_scipy_has_its_gradient_there(name, turn):
    linalg = pytest.importorskip("scipy.linalg", reason="SciPy is an extra")
    f = SCIPY_TRIANGLES[name]
    one_triangle(lambda a: f(linalg, a), "upper" in name, turn)


def test_a_triangle_that_is_filled_has_all_of_the_gradient():
    def filled(t):
        a = np.zeros((3, 3))
        for i in range(3):
            a[i, i] = 4.0 + t[i]
            for j in range(i):
                a[i, j] = np.exp(-((t[i] - t[j]) ** 2))
        return np.sum(np.log(np.diag(np.linalg.cholesky(a)))) + np.linalg.eigvalsh(a)[-1]

    check_gradient(filled, (np.array([0.1, 0.7, 1.9]),), (0,))


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3)])
def test_a_full_q_that_nobody_uses_has_no_say(shape):
    linalg = pytest.importorskip("scipy.linalg", reason="SciPy is an extra")

    def of_factors(a):
        q, r = linalg.qr(a)
        return np.sum(r[: min(shape)] ** 3) + np.sum(q[:, : min(shape)] ** 3)

    def of_r(a):
        _, r = linalg.qr(a)
        return np.sum(r[: min(shape)] ** 3)

    a, way = np.random.default_rng(5).normal(size=(2, *shape))
    for f in (of_factors, of_r):
        check_gradient(f, (a,), (0,))
        gradient = srcdiff.grad(f)(a)
        along = srcdiff.jvp(f, (a,), (way,))[1]
        np.testing.assert_allclose(along, np.sum(gradient * way), rtol=1e-11)
        backwards = srcdiff.vhp(f, (a,), way)
        np.testing.assert_allclose(srcdiff.hvp(f, (a,), way), backwards, rtol=1e-11, atol=1e-12)


def test_the_further_columns_of_a_full_q_have_no_tangent():
    linalg = pytest.importorskip("scipy.linalg", reason="SciPy is an extra")
    a = np.random.default_rng(5).normal(size=(4, 2))
    _, tangent = srcdiff.jvp(lambda a: linalg.qr(a)[0], (a,), (np.ones_like(a),))
    assert np.isfinite(tangent[:, :2]).all() and np.isnan(tangent[:, 2:]).all()


def _second(f, a, way):
    """The second derivative along a direction, in three ways."""
    yield np.sum(way * srcdiff.hvp(f, (a,), way))
    yield np.sum(way * srcdiff.vhp(f, (a,), way))
    yield np.einsum("ij,ijkl,kl", way, srcdiff.hessian(f)(a), way)


SWAP = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize("rounding", [0.0, 2e-16])
@pytest.mark.parametrize(
    "values", [np.linalg.eigvalsh, np.linalg.svdvals, lambda a: np.linalg.eig(a)[0].real]
)
def test_second_derivatives_of_equal_values_are_not_finite_and_wrong(values, rounding):
    a = np.diag([1.0, 1.0 + rounding, 1.0])
    for found in _second(lambda a: np.sum(values(a) ** 3), a, SWAP):
        assert np.isnan(found) or abs(found - 12.0) < 1e-12


def _hermitian(a):
    """The matrix whose lower triangle is read, made of operations on its elements."""
    return np.tril(a) + np.conj(np.tril(a, -1).T)


def _of_values(a):
    w = np.linalg.eigvalsh(a)
    return np.sum(w**3) + 0.1 * np.sum(w**2) ** 2 + np.sum(w) * np.sum(w**3)


def _of_traces(a):
    a = _hermitian(a)
    one, two, three = (np.real(np.trace(np.linalg.matrix_power(a, k))) for k in (1, 2, 3))
    return three + 0.1 * two**2 + one * three


@pytest.mark.parametrize("turn", [0.0, 1j])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("values", [[1, 1, 1], [1, 1, 2, 2, 2, 5], [0, 0, 0, 3], [-1, -1, 2], [4]])
def test_second_derivatives_of_what_is_symmetric_in_equal_eigenvalues(values, turned, turn):
    rng = np.random.default_rng(8)
    z, way = rng.normal(size=(2, len(values), len(values)))
    z, way = z + turn * z[::-1], _hermitian(way + turn * np.tril(way.T, -1))
    q = np.linalg.qr(z)[0] if turned else np.eye(len(values)) * (1.0 + turn - turn)
    a = (q * np.array(values, float)) @ np.conj(q.T)
    expected = srcdiff.hvp(_of_traces, (a,), way)
    np.testing.assert_allclose(srcdiff.hvp(_of_values, (a,), way), expected, atol=1e-11)
    if not turn:
        expected = srcdiff.hessian(_of_traces)(a)
        np.testing.assert_allclose(srcdiff.hessian(_of_values)(a), expected, atol=1e-11)


def test_second_derivatives_along_one_direction_in_equal_eigenvalues():
    def cubes(a):
        return np.sum(np.linalg.eigvalsh(a) ** 3)

    def distance(a):
        return np.sum((np.linalg.eigvalsh(a) - 1.0) ** 2)

    stack = np.stack([np.eye(3), 2.0 * np.eye(3), np.diag([1.0, 2.0, 2.0])])
    found = srcdiff.hvp(cubes, (stack,), np.stack([SWAP] * 3))
    np.testing.assert_allclose(np.sum(found * SWAP, axis=(1, 2)), [12.0, 24.0, 18.0], rtol=1e-14)
    a = np.diag([1.0, 1.0 + 2.3e-16, 1.0 - 1.2e-16])
    np.testing.assert_allclose(srcdiff.hvp(distance, (a,), SWAP)[1], [4.0, 0.0, 0.0], atol=1e-13)
    assert abs(srcdiff.grad(distance)(a)).max() < 1e-15


def test_what_is_not_symmetric_in_equal_eigenvalues_is_nan():
    def largest(a):
        return np.linalg.eigvalsh(a)[-1]

    def weighted(a):
        return np.sum(np.linalg.eigvalsh(a) ** 3 * np.array([1.0, 2.0, 3.0]))

    for f in (largest, weighted):
        assert np.isnan(srcdiff.grad(f)(np.eye(3))).any()
        assert np.isnan(srcdiff.hvp(f, (np.eye(3),), SWAP)).any()
    expected = np.diag([0.0, 0.0, 1.0])
    np.testing.assert_array_equal(srcdiff.grad(largest)(np.diag([1.0, 1.0, 2.0])), expected)
    # To one side there is a slope: what the eigenvalues move by, in order.
    assert srcdiff.jvp(largest, (np.eye(3),), (SWAP,))[1] == pytest.approx(1.0, rel=1e-15)


def _of_singular_values(a):
    s = np.linalg.svd(a, compute_uv=False)
    return np.sum(s**4) + 0.1 * np.sum(s**2) ** 2


def _of_products(a):
    b = np.conj(a.T) @ a
    return np.real(np.trace(b @ b)) + 0.1 * np.real(np.trace(b)) ** 2


@pytest.mark.parametrize("turn", [0.0, 1j])
@pytest.mark.parametrize("shape", [(4, 4), (5, 4), (4, 5)])
def test_second_derivatives_of_what_is_symmetric_in_equal_singular_values(shape, turn):
    rng = np.random.default_rng(9)
    m, n = shape
    way = rng.normal(size=shape) + turn * rng.normal(size=shape)
    left, right = rng.normal(size=(m, m)) * (1.0 + turn), rng.normal(size=(n, n)) + 0.5 * turn
    left, right = np.linalg.qr(left)[0], np.linalg.qr(right)[0]
    for u, v in ((left, right), (np.eye(m), np.eye(n))):
        a = (u[:, :4] * np.array([2.0, 2.0, 1.0, 1.0])) @ v[:4]
        a = a + turn * np.zeros(shape)
        found = srcdiff.hvp(_of_singular_values, (a,), way)
        np.testing.assert_allclose(found, srcdiff.hvp(_of_products, (a,), way), atol=1e-11)
        if not turn:
            expected = srcdiff.hessian(_of_products)(a)
            found = srcdiff.hessian(_of_singular_values)(a)
            np.testing.assert_allclose(found, expected, atol=1e-11)


def test_functions_of_singular_values_that_are_equal():
    def nuclear(a):
        return np.linalg.norm(a, "nuc")

    eye, way = np.eye(3), np.arange(9.0).reshape(3, 3) ** 2
    np.testing.assert_allclose(srcdiff.hvp(nuclear, (eye,), way), (way - way.T) / 2.0, atol=1e-13)
    np.testing.assert_array_equal(srcdiff.grad(np.linalg.cond)(eye), np.zeros((3, 3)))
    assert np.isnan(srcdiff.grad(lambda a: np.linalg.svd(a)[1][0])(eye)).all()
    assert np.isfinite(srcdiff.grad(lambda a: np.sum(np.linalg.svd(a)[1]))(eye)).all()
    for a in (np.diag([1.0, 0.0, 0.0]), np.diag([1.0, 2.0, 0.0])[:, [0, 2]]):
        found = srcdiff.hvp(lambda a: np.sum(np.linalg.svdvals(a) ** 2), (a,), way[:, : a.shape[1]])
        assert np.isnan(found).any()


@pytest.mark.parametrize("rounding", [0.0, 2e-16])
def test_the_vectors_of_equal_values_have_nan_in_both_modes(rounding):
    a = np.diag([1.0, 1.0 + rounding, 1.0])

    def exponential(a):
        w, v = np.linalg.eigh(a)
        return np.sum((v * np.exp(w)) @ v.T * SWAP)

    def rotation(a):
        u, _, vh = np.linalg.svd(a)
        return np.sum((u @ vh) * np.arange(9.0).reshape(3, 3) ** 2)

    def projector(a):
        _, v = np.linalg.eig(a)
        return np.real(v)[0, 0]

    way = SWAP + np.diag([1.0, 2.0], 1)
    def logarithm(a):
        w, v = np.linalg.eigh(a)
        return ((v * np.log(w)) @ v.T)[0, 1]

    for f in (exponential, rotation, projector, logarithm):
        assert np.isnan(srcdiff.jvp(f, (a,), (way,))[1])
    for f in (exponential, rotation):
        assert np.isnan(srcdiff.grad(f)(a)).any()


def test_values_that_are_close_and_not_equal_are_two():
    a = np.diag([1.0, 1.0 + 1e-6, 3.0])

    def cubes(a):
        return np.sum(np.linalg.eigvalsh(a) ** 3)

    for found in _second(cubes, a, SWAP):
        np.testing.assert_allclose(found, 12.0, rtol=1e-5)


@pytest.mark.parametrize("side", ["right", "left"])
def test_the_polar_factors_of_a_rotation_are_smooth(side):
    linalg = pytest.importorskip("scipy.linalg", reason="SciPy is an extra")
    rotation = np.array([[0.8, -0.6], [0.6, 0.8]])
    way, weights = np.array([[0.3, 1.0], [-0.4, 0.2]]), np.array([[1.0, 2.0], [3.0, 5.0]])

    def factors(a):
        u, p = linalg.polar(a, side)
        return np.sum(u * weights) + np.sum(p**2 * weights)

    check_gradient(factors, (rotation,), (0,))
    assert srcdiff.testing.gradcheck(factors, (rotation,), check_forward_ad=True)
    assert srcdiff.testing.gradgradcheck(factors, (rotation,))
    found = list(_second(factors, rotation, way))
    np.testing.assert_allclose(found, found[0], rtol=1e-13)
    slope = srcdiff.jvp(lambda a: np.sum(linalg.polar(a, side)[0] * weights), (rotation,), (way,))
    np.testing.assert_allclose(slope[1], 1.988, rtol=1e-13)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("shape", [(4, 3), (3, 4)])
def test_either_polar_factor_of_a_rectangle_alone(shape, place):
    linalg = pytest.importorskip("scipy.linalg", reason="SciPy is an extra")
    a = np.random.default_rng(3).standard_normal(shape)

    def factor(a):
        return np.sum(np.sin(linalg.polar(a)[place]))

    check_gradient(factor, (a,), (0,))
    assert srcdiff.testing.gradgradcheck(factor, (a,))


def test_texts_call_functions_of_scipy_as_the_program_does():
    special = pytest.importorskip("scipy.special", reason="SciPy is an extra")
    text = "def second(x):\n    return special.spherical_jn(2, x)\n"
    second = define(text, "second", {"special": special})
    text = srcdiff.source(second, example=(np.ones(3),))
    assert " special.spherical_jn(3, x)" in text and "scipy.special.s" not in text
    assert "+cotangent" not in text


def test_sums_of_equal_eigenvalues_of_any_matrix_have_gradients():
    def squares(a):
        return np.sum(np.linalg.eigvals(a).real ** 2)

    np.testing.assert_array_equal(srcdiff.grad(squares)(np.eye(3)), 2.0 * np.eye(3))
