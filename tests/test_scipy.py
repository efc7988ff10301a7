"""SciPy where its objects and solvers meet functions: sparse matrices, and what is declined."""

import numpy as np
import pytest

import srcdiff

from .check import close

sparse = pytest.importorskip("scipy.sparse", reason="SciPy is an extra")
from scipy import integrate, interpolate, optimize, signal  # noqa: E402
from scipy.sparse.linalg import spsolve  # noqa: E402

DENSE = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0], [0.5, 0.0, 4.0]])
SPARSE = sparse.csr_array(DENSE)
X = np.array([1.0, -2.0, 0.5])


def product(a, x):
    return a @ x


def method(a, x):
    return a.dot(x)


def with_matrix(a, x):
    return a @ np.outer(x, x)


def from_the_left(a, x):
    return x @ a


def transposed(a, x):
    return a.T @ x


@pytest.mark.parametrize("f", [product, method, with_matrix, from_the_left, transposed])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_products_with_a_sparse_matrix(f, make):
    w = np.cos(np.arange(float(f(DENSE, X).size))).reshape(f(DENSE, X).shape)
    g = srcdiff.grad(f, "x")
    close(g(make(DENSE), X, grad_outputs=w), g(DENSE, X, grad_outputs=w))
    tangent = srcdiff.jvp(lambda x: f(DENSE, x), (X,), (X * X,))[1]
    a = make(DENSE)
    close(srcdiff.jvp(lambda x: f(a, x), (X,), (X * X,))[1], tangent)


def test_a_global_sparse_matrix_and_a_solution():
    def solved(b):
        return np.sum(spsolve(SPARSE, b) ** 2) + np.sum(SPARSE @ b)

    def dense(b):
        return np.sum(np.linalg.solve(DENSE, b) ** 2) + np.sum(DENSE @ b)

    close(srcdiff.grad(solved)(X), srcdiff.grad(dense)(X))
    close(srcdiff.grad(srcdiff.grad(lambda b: spsolve(SPARSE, b)[0] ** 2))(X, grad_outputs=X),
          srcdiff.grad(srcdiff.grad(lambda b: np.linalg.solve(DENSE, b)[0] ** 2))(
              X, grad_outputs=X))  # fmt: skip


def test_the_remedy_for_solvers_works():
    root = srcdiff.implicit(
        lambda a: optimize.brentq(lambda t: t**3 - a, 0.0, 10.0), lambda x, a: x**3 - a
    )
    assert srcdiff.grad(lambda a: root(a) * 2.0)(8.0) == pytest.approx(2.0 / 12.0)


DECLINED = {
    "anderson": (lambda d: optimize.anderson(lambda t: t - d, X), "srcdiff.implicit"),
    "minimize": (lambda d: optimize.minimize(lambda t: t @ d, X).x, "srcdiff.implicit"),
    "dblquad": (lambda d: integrate.dblquad(lambda s, t: d[0], 0.0, 1.0, 0.0, 1.0)[0], "roots_l"),
    "bvp": (lambda d: integrate.solve_bvp(lambda x, y: y, lambda a, b: a, d, X).y, "a loop"),
    "krogh": (lambda d: interpolate.KroghInterpolator([0.0, 1.0, 2.0], d)(0.5), "np.eye"),
    "akima": (lambda d: interpolate.Akima1DInterpolator([0.0, 1.0, 2.0], d)(0.5), "PchipInterp"),
}


@pytest.mark.parametrize("name", DECLINED)
def test_what_takes_functions_or_makes_objects_says_what_to_write(name):
    f, remedy = DECLINED[name]
    with pytest.raises(srcdiff.MissingRuleError, match="is not differentiated") as info:
        srcdiff.grad(f)(X)
    assert remedy in info.value.remedy


@pytest.mark.parametrize("states", [False, True])
def test_tangents_of_a_filter_stay_in_single_precision(states):
    def f(b, a, x, zi):
        return signal.lfilter(b, a, x, zi=zi)[0] if states else signal.lfilter(b, a, x)

    args = [np.array(v, np.float32) for v in ([0.5, 0.3], [2.0, 0.4], [1.0, 0.2, -0.3], [0.1])]
    for k in range(4 if states else 3):
        way = [a if i == k else None for i, a in enumerate(args)]
        value, tangent = srcdiff.jvp(f, tuple(args), tuple(way))
        assert value.dtype == tangent.dtype == np.float32


def test_states_of_another_shape_are_an_error():
    f = srcdiff.grad(lambda x, zi: np.sum(signal.lfilter([0.5, 0.2], [1.0, -0.4], x, zi=zi)[0]))
    for shape in ((2,), (0,), (1, 1)):
        with pytest.raises(ValueError):
            f(np.ones(4), np.ones(shape))
