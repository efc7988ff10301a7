"""`implicit` and `fixed_point`: derivatives at the solution, against unrolled iterations."""

import numpy as np
import pytest

import srcdiff
from srcdiff.runtime.implicit import gmres
from tests.support.differences import close

W = np.array([[0.2, -0.1], [0.3, 0.15]])
X = np.array([0.5, -1.0])


def newton(a, b):
    x = 1.0
    for _ in range(50):
        x = x - (x**3 + b * x - a) / (3.0 * x**2 + b)
    return x


def cubic(x, a, b):
    return x**3 + b * x - a


root = srcdiff.implicit(newton, cubic)


def with_root(a, b):
    return np.sin(root(a * b, b)) * a


def layer(z, w, x):
    return np.tanh(w @ z + x)


def equilibrium(w, x):
    z = srcdiff.fixed_point(layer, np.zeros(2), w, x)
    return np.sum(z**2)


def unrolled(w, x):
    z = np.zeros(2)
    for _ in range(80):
        z = layer(z, w, x)
    return np.sum(z**2)


def test_a_solver_of_numbers():
    x = root(8.0, 1.5)
    close(srcdiff.grad(root, (0, 1))(8.0, 1.5), (1 / (3 * x**2 + 1.5), -x / (3 * x**2 + 1.5)))
    assert srcdiff.testing.gradcheck(with_root, (8.0, 1.5), check_forward_ad=True)
    slope = 3.0 * x**2 + 1.5
    close(srcdiff.grad(srcdiff.grad(root))(8.0, 1.5), -6.0 * x / slope**3)


def test_the_text_says_what_is_solved():
    text = srcdiff.source(equilibrium, ("w", "x"), example=(W, X))
    assert "adjoint = fixed_adjoint(layer, z, d_z, w, x)" in text
    assert "d_w = pulled(layer, 1, adjoint, z, w, x)" in text


def test_a_fixed_point_of_arrays():
    for name in ("w", "x"):
        close(srcdiff.grad(equilibrium, name)(W, X), srcdiff.grad(unrolled, name)(W, X))
    close(srcdiff.jvp(equilibrium, (W, X), (W, X))[1], srcdiff.jvp(unrolled, (W, X), (W, X))[1])


def test_second_derivatives_of_a_fixed_point():
    close(srcdiff.hessian(equilibrium, "x")(W, X), srcdiff.hessian(unrolled, "x")(W, X))
    twice = [srcdiff.grad(srcdiff.grad(f, "w"), "x") for f in (equilibrium, unrolled)]
    close(*(g(W, X, grad_outputs=W) for g in twice))


def test_many_unknowns_need_no_matrix(monkeypatch):
    n = 120
    rng = np.random.default_rng(0)
    w, x = rng.normal(size=(n, n)) * 0.4 / np.sqrt(n), rng.normal(size=n)

    def f(w, x):
        return np.sum(srcdiff.fixed_point(layer, np.zeros(n), w, x) ** 2)

    z = srcdiff.fixed_point(layer, np.zeros(n), w, x)
    slope = 1.0 - z * z
    adjoint = np.linalg.solve(np.eye(n) - (slope[:, None] * w).T, 2.0 * z)
    monkeypatch.setattr(np.linalg, "solve", None)
    close(srcdiff.grad(f, "x")(w, x), slope * adjoint)


def test_gmres():
    rng = np.random.default_rng(1)
    a, b = np.eye(60) + 0.05 * rng.normal(size=(60, 60)), rng.normal(size=60)
    close(gmres(lambda v: a @ v, b), np.linalg.solve(a, b))
    assert gmres(lambda v: a @ v, b, most=2) is None
    close(gmres(lambda v: a @ v, 0.0 * b), 0.0 * b)


def test_complex_numbers():
    square_root = srcdiff.implicit(np.sqrt, lambda x, a: x * x - a)
    for z in (3.0 + 4.0j, np.array([1.0 + 2.0j, -0.5 + 1.0j])):
        close(
            srcdiff.grad(lambda a: np.sum(np.abs(square_root(a))))(z),
            srcdiff.grad(lambda a: np.sum(np.abs(np.sqrt(a))))(z),
        )


def slope_of(root):
    def f(a):
        g = srcdiff.grad(lambda z: np.sum(np.abs(root(z)) ** 2))(a)
        return np.sum(np.real(g) * np.imag(g))

    return f


def test_second_derivatives_by_complex_numbers():
    def heron(a):
        return srcdiff.fixed_point(lambda z, a: 0.5 * (z + a / z), a, a)

    square_root = srcdiff.implicit(np.sqrt, lambda x, a: x * x - a)
    for z in (3.0 + 4.0j, np.array([1.0 + 2.0j, -0.5 + 1.0j])):
        expected = srcdiff.grad(slope_of(np.sqrt))(z)
        close(srcdiff.grad(slope_of(square_root))(z), expected)
        close(srcdiff.grad(slope_of(heron))(z), expected)
        (by_sqrt, along), (solved, same) = (
            srcdiff.jvp(srcdiff.grad(lambda a, f=f: np.sum(np.abs(f(a)))), (z,), (1j * z,))
            for f in (np.sqrt, square_root)
        )
        close(solved, by_sqrt)
        close(same, along)


def test_single_precision_stays():
    for name, a in (("w", W), ("x", X)):
        g = srcdiff.grad(equilibrium, name)(W.astype(np.float32), X.astype(np.float32))
        assert g.dtype == np.float32 and g.shape == a.shape


def test_a_solver_gets_copies():
    def solver(a):
        a *= 2.0
        return a

    solve = srcdiff.implicit(solver, lambda x, a: x - 2.0 * a)
    a = np.ones(2)
    close(solve(a), [2.0, 2.0])
    close(srcdiff.grad(solve)(a, grad_outputs=np.ones(2)), [2.0, 2.0])
    close(a, np.ones(2))


def test_no_fixed_point():
    with pytest.raises(ArithmeticError, match="no fixed point"):
        srcdiff.fixed_point(lambda z, x: 2.0 * z + x, 1.0, 1.0)


def test_a_residual_of_another_shape():
    solve = srcdiff.implicit(np.sqrt, lambda x, a: np.sum(x * x - a))
    with pytest.raises(ValueError, match=r"has shape \(\), expected that of the solution, \(2,\)"):
        srcdiff.grad(lambda a: np.sum(solve(a)))(np.ones(2))


def test_a_singular_equation():
    solve = srcdiff.implicit(np.sqrt, lambda x, a: x * x - a)
    with pytest.raises(np.linalg.LinAlgError):
        srcdiff.grad(lambda a: 2.0 * solve(a))(0.0)


def along(f):
    def slope(x):
        return srcdiff.jvp(f, (W, x), (None, X))[1]

    return slope


def size_along(f):
    def size(a):
        return np.sum(np.abs(srcdiff.jvp(f, (a,), (1j * a,))[1]))

    return size


def test_tangents_are_differentiated():
    for transform in (srcdiff.grad, srcdiff.hessian):
        found, expected = (transform(along(f))(X) for f in (equilibrium, unrolled))
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    square_root = srcdiff.implicit(lambda a: np.sqrt(a), lambda x, a: x * x - a)
    z = np.array([1.0 + 2.0j, -0.5 + 1.0j])
    close(*(srcdiff.grad(size_along(f))(z) for f in (square_root, np.sqrt)))
