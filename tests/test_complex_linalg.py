"""Factorisations of complex matrices, whose vectors have phases that a meaningful function does not
depend on: sums that are the same for every phase, in both modes and at order two.
"""

import numpy as np
import pytest

import srcdiff

from .check import check_gradient


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
    assert srcdiff.gradgradcheck(f, matrices())




def test_complex_symmetric_matrices_are_not_hermitian():
    linalg = pytest.importorskip("scipy.linalg", reason="SciPy is an extra")

    def solved(z, w):
        return np.real(np.sum(linalg.solve(z + z.T, w, assume_a="sym") ** 2))

    check_gradient(solved, matrices(), (0, 1))
    assert srcdiff.gradcheck(solved, matrices(), check_forward_ad=True)
    assert srcdiff.gradgradcheck(solved, matrices())


@pytest.mark.parametrize("a", [np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 2.0]), np.zeros((3, 3))])
@pytest.mark.parametrize("turn", [1.0, 1.0 + 0.5j])
def test_the_third_derivatives_of_a_determinant_at_singular_matrices(a, turn):
    """A determinant of order three is a form of three directions, the same for every matrix."""
    u, v, w = np.random.default_rng(0).standard_normal((3, 3, 3)) * turn
    det, a = np.linalg.det, a * turn
    parts = -det(u + v) - det(u + w) - det(v + w) + det(u) + det(v) + det(w)
    expected = det(u + v + w) + parts

    def once(a):
        return srcdiff.jvp(det, (a,), (u,))[1]

    def twice(a):
        return srcdiff.jvp(once, (a,), (v,))[1]

    np.testing.assert_allclose(srcdiff.jvp(twice, (a,), (w,))[1], expected, rtol=1e-12)
    found = srcdiff.grad(lambda a: np.real(twice(a)))(a)
    np.testing.assert_allclose(np.sum(np.conj(found) * w).real, expected.real, rtol=1e-12)


@pytest.mark.parametrize("small", [0.0, 1e-5])
def test_the_fourth_derivatives_of_a_determinant_close_to_singular_matrices_are_refused(small):
    def along(f):
        return lambda a: srcdiff.jvp(f, (a,), (np.eye(3),))[1]

    third = along(along(along(np.linalg.det)))
    np.testing.assert_allclose(third(np.diag([1.0, 2.0, small])), 6.0, rtol=1e-12)
    with pytest.raises(ValueError, match="need a regular matrix"):
        srcdiff.grad(third)(np.diag([1.0, 2.0, small]))
