"""Sparse Jacobians: colours, compression, patterns given and detected, and what is refused."""

import pickle

import numpy as np
import pytest

import srcdiff
from srcdiff.api import matrices
from srcdiff.api.matrices import colours

sparse = pytest.importorskip("scipy.sparse", reason="SciPy is an extra")

N = 30
X = np.random.default_rng(0).standard_normal(N)
BAND = np.abs(np.subtract.outer(np.arange(N), np.arange(N))) <= 1


def stencil(x):
    y = np.zeros_like(x)
    y[1:-1] = x[2:] * x[:-2] - np.sin(x[1:-1])
    y[0] = x[0] * x[1]
    y[-1] = x[-1] ** 2
    return y


def arrow(x):
    return np.concatenate((np.array([np.sum(x**2)]), x[1:] * x[:-1]))


def sided(x, k):
    return np.where(x > k, x * x, 0.0)


def plane(u):
    out = u * u
    out[1:] += u[:-1]
    return out


@pytest.mark.parametrize("mode", ["reverse", "forward", None])
@pytest.mark.parametrize("pattern", [BAND, sparse.csr_matrix(BAND), "detect"])
def test_a_stencil(mode, pattern):
    J = srcdiff.jacobian(stencil, mode=mode, sparsity=pattern)
    for x in (X, X + 1.0):
        found = J(x)
        assert isinstance(found, sparse.csr_matrix) and found.shape == (N, N)
        np.testing.assert_allclose(found.toarray(), srcdiff.jacobian(stencil)(x), rtol=1e-14)


def test_three_products_for_a_tridiagonal_matrix(monkeypatch):
    sizes = []
    pushed = matrices.pushed
    monkeypatch.setattr(
        "srcdiff.api.matrices.pushed",
        lambda point, given, inputs, size: sizes.append(size) or pushed(point, given, inputs, size),
    )
    srcdiff.jacobian(stencil, mode="forward", sparsity=BAND)(X)
    assert sizes == [3 + 1]  # and one that checks


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_products_in_parts(mode, monkeypatch):
    monkeypatch.setattr(matrices, "_MOST", 1)
    found = srcdiff.jacobian(stencil, mode=mode, sparsity="detect")(X)
    np.testing.assert_allclose(found.toarray(), srcdiff.jacobian(stencil)(X), rtol=1e-14)


def test_a_full_row_takes_reverse_mode():
    pattern = np.zeros((N, N), bool)
    pattern[0] = True
    pattern[np.arange(1, N), np.arange(N - 1)] = pattern[np.arange(1, N), np.arange(1, N)] = True
    found = srcdiff.jacobian(arrow, sparsity=pattern)(X)
    np.testing.assert_allclose(found.toarray(), srcdiff.jacobian(arrow)(X), rtol=1e-14)


def test_several_axes():
    u = X.reshape(5, 6)
    dense = srcdiff.jacobian(plane)(u)
    for pattern in (dense != 0.0, (dense != 0.0).reshape(N, N), "detect"):
        found = srcdiff.jacobian(plane, sparsity=pattern)(u)
        np.testing.assert_allclose(found.toarray(), dense.reshape(N, N), rtol=1e-14)


def test_a_sparse_hessian():
    def energy(x):
        return np.sum((x[1:] - x[:-1] ** 2) ** 2)

    found = srcdiff.jacobian(srcdiff.grad(energy), sparsity=BAND)(X)
    np.testing.assert_allclose(found.toarray(), srcdiff.hessian(energy)(X), rtol=1e-12, atol=1e-12)


def test_single_precision():
    x = X.astype(np.float32)
    found = srcdiff.jacobian(stencil, sparsity=BAND)(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.toarray(), srcdiff.jacobian(stencil)(x), rtol=1e-5)


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_pattern_that_leaves_something_out_is_noticed(mode):
    pattern = BAND.copy()
    pattern[4, 5] = False
    with pytest.raises(ValueError, match="leaves out"):
        srcdiff.jacobian(stencil, mode=mode, sparsity=pattern)(X)


def test_what_was_detected_grows_where_it_has_to():
    J = srcdiff.jacobian(sided, sparsity="detect")
    assert J(X, 1.0).nnz < J(X, -1.0).nnz
    np.testing.assert_allclose(J(X, -9.0).toarray(), np.diag(2.0 * X), rtol=1e-14)


def test_no_entries_at_all():
    found = srcdiff.jacobian(sided, sparsity="detect")(X, 99.0)
    assert found.nnz == 0 and found.shape == (N, N)


@pytest.mark.parametrize("given", [BAND[:3], np.ones(N, bool), sparse.csr_matrix((2, 2))])
def test_a_pattern_of_another_shape(given):
    with pytest.raises(ValueError, match=r"expected a pattern of shape \(30, 30\)"):
        srcdiff.jacobian(stencil, sparsity=given)(X)


def test_what_is_no_pattern():
    with pytest.raises(ValueError, match="detect"):
        srcdiff.jacobian(stencil, sparsity="guess")
    with pytest.raises(ValueError, match="one array as input"):
        srcdiff.jacobian(lambda x, y: x * y, (0, 1), sparsity="detect")(X, X)
    with pytest.raises(ValueError, match="one array as output"):
        srcdiff.jacobian(lambda x: (x, x), sparsity="detect")(X)


def test_it_is_pickled_with_its_pattern():
    again = pickle.loads(pickle.dumps(srcdiff.jacobian(stencil, sparsity=BAND)))
    assert again(X).nnz == BAND.sum()


def test_colours_of_lines_that_cross():
    rng = np.random.default_rng(1)
    for _ in range(20):
        full = rng.random((12, 9)) < 0.2
        rows, columns = np.nonzero(full)
        found = colours(columns, rows, 9, 12)
        for row in full:
            assert len(set(found[row])) == row.sum()
        assert found.max() < 9
