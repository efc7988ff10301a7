"""Sparse matrices made of what carries a derivative: by their entries, in both modes, twice."""

import numpy as np
import pytest

import srcdiff
from srcdiff.errors import DtypeError
from tests.rules.samples import slope
from tests.support.differences import close

sparse = pytest.importorskip("scipy.sparse", reason="SciPy is an extra")
from scipy.sparse import linalg  # noqa: E402

X = np.array([1.0, -2.0, 0.5, 1.5, 0.7])
W = np.array([0.3, 0.4, -1.0])
V = np.array([0.3, 0.4, -1.0, 2.0, 0.1])
INDICES, INDPTR = np.array([0, 2, 1, 0, 2]), np.array([0, 2, 3, 5])
ROWS = np.array([0, 0, 1, 2, 0])  # with INDICES, the place (0, 2) occurs twice
SHAPE = (3, 3)


def rows_first(x):
    a = sparse.csr_matrix((x, INDICES, INDPTR), shape=SHAPE)
    return np.sum((a @ x[:3]) ** 2)


def twice_and_transposed(x):
    a = sparse.csr_array((x * x, INDICES, INDPTR))
    return np.sum((a.T @ (a @ W)) ** 2)


def from_both_sides(x):
    a = sparse.csc_matrix((x, INDICES, INDPTR), shape=SHAPE)
    return np.sum((x[:3] @ a) * (W @ a.transpose()))


def matrices(x):
    a = sparse.csr_array((x, INDICES, INDPTR), shape=SHAPE)
    wide = np.outer(x, x)
    return np.sum((a @ wide[:3, :2]) ** 2) + np.sum((wide[:2, :3] @ a) ** 2)


def repeated_places(x):
    a = sparse.coo_matrix((x, (ROWS, INDICES)), shape=SHAPE)
    return np.sum(a.dot(x[:3]) ** 2)


def summed_places(x):
    a = sparse.csr_matrix((x, (ROWS, INDICES)), shape=SHAPE)
    return np.sum(a.dot(x[:3]) ** 2) + a.sum()


def formats(x):
    a = sparse.coo_array((x, (ROWS, INDICES)), shape=SHAPE).tocsr()
    b = sparse.csr_array((x, INDICES, INDPTR), shape=SHAPE).tocsc().tocoo()
    return np.sum((a @ W) ** 3) + np.sum((b @ x[:3]) ** 2)


def star(x):
    a = sparse.csr_matrix((x, INDICES, INDPTR), shape=SHAPE)
    return np.sum((a * x[:3]) ** 2) + np.sum((x[1:4] * a) ** 3)


def scaled(x):
    a = sparse.csr_matrix((x, INDICES, INDPTR), shape=SHAPE)
    b = -(x[0] * a) / 2.0
    c = sparse.csr_array(np.eye(3)) * x[1]
    return np.sum((b @ x[:3]) ** 2) + np.sum((c @ W) ** 2)


def scaled_in_place(x):
    d = x * 1.0
    a = sparse.csr_array((d, INDICES, INDPTR), shape=SHAPE)
    a *= x[0]
    return np.sum((a @ W) ** 2) + np.sum(d**3)


def dense_parts(x):
    a = sparse.csr_array((x, INDICES, INDPTR), shape=SHAPE, dtype=float)
    sums = np.sum(a.sum(axis=0) ** 2 * W) + np.sum(a.sum(axis=1) ** 3)
    return np.sum((a.toarray() * np.outer(W, W)) ** 2) + np.sum(a.data**3) + sums


def solutions(x):
    a = sparse.csc_matrix((x, INDICES, INDPTR), shape=SHAPE)
    y = linalg.spsolve(a, x[:3] * W)
    columns = linalg.spsolve(a, np.outer(W, x))
    return np.sum(y**2) + np.sum(columns**2) + np.sum(linalg.spsolve(a, W[:, None] * x[0]) ** 2)


def in_a_loop(x):
    a = sparse.csr_array((x, INDICES, INDPTR), shape=SHAPE)
    h = W
    for _ in range(4):
        h = np.tanh(a @ h)
        a = 0.5 * a
    return h @ h


def assembled(x):
    u = x[:3] * 1.0
    for _ in range(3):
        data = np.zeros(5)
        for k in range(5):
            data[k] = x[k] + u[k % 3] ** 2
        a = sparse.csc_matrix((data, INDICES, INDPTR), shape=SHAPE)
        u = u - 0.1 * linalg.spsolve(a, u * W)
    return u @ u


def elements(x):
    rows, columns, values = [], [], []
    for e in range(3):
        for i in range(2):
            for j in range(2):
                rows.append((e + i) % 3)
                columns.append((e + j) % 3)
                values.append(x[e] * (1.0 if i == j else -0.5) + x[4])
    a = sparse.coo_matrix((values, (rows, columns)), shape=SHAPE).tocsr()
    return np.sum(linalg.spsolve(a, W) ** 2)


def written_afterwards(x):
    data = x * x
    a = sparse.csr_array((data, INDICES, INDPTR), shape=SHAPE)
    y = np.sum((a @ W) ** 2)
    data *= 2.0
    a.data[0] = x[1]
    return y + np.sum((a @ W) ** 3)


def chosen(x):
    a = sparse.csr_array((x, INDICES, INDPTR), shape=SHAPE)
    if x[0] > 2.0:
        return a.sum()
    b = a if x[1] > 0.0 else a.T
    return np.sum((b @ W) ** 2) / a.shape[0] / a.nnz


class Operator:
    def __init__(self, matrix):
        self.matrix = matrix

    def __call__(self, x):
        return self.matrix @ x


def of_an_object(x):
    apply = Operator(sparse.csr_array((x, INDICES, INDPTR), shape=SHAPE))
    return np.sum(apply(apply(x[:3])) ** 2)


FUNCTIONS = [
    rows_first, twice_and_transposed, from_both_sides, matrices, repeated_places, summed_places,
    formats, star, scaled, scaled_in_place, dense_parts, solutions, in_a_loop, assembled, elements,
    written_afterwards, chosen, of_an_object,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:spsolve")
@pytest.mark.parametrize("f", FUNCTIONS)
def test_entries_with_a_derivative(f):
    g = srcdiff.grad(f)(X.copy())
    assert g @ V == pytest.approx(slope(lambda h: f(X + h * V)), rel=1e-7)
    close(srcdiff.jvp(f, (X.copy(),), (V,))[1], g @ V)
    close(srcdiff.linearize(f, X.copy())[1](V), g @ V)


@pytest.mark.filterwarnings("ignore:spsolve")
@pytest.mark.parametrize("f", FUNCTIONS)
def test_entries_twice(f):
    g = srcdiff.grad(f)
    second = srcdiff.jvp(g, (X.copy(),), (V,))[1]
    assert second @ V == pytest.approx(slope(lambda h: g(X + h * V) @ V), rel=1e-6)
    close(srcdiff.grad(lambda x: g(x) @ V)(X.copy()), second)


def test_complex_entries():
    z = X + 1j * X[::-1]

    def product(x):
        a = sparse.csr_array((x, INDICES, INDPTR), shape=SHAPE)
        return np.sum(np.abs(a.conj().T @ (a @ x[:3])) ** 2)

    def dense(x):
        a = np.zeros(SHAPE, complex)
        a[[0, 0, 1, 2, 2], INDICES] = x
        return np.sum(np.abs(np.conj(a).T @ (a @ x[:3])) ** 2)

    close(srcdiff.grad(product)(z), srcdiff.grad(dense)(z))


def test_single_precision_is_kept():
    x = X.astype(np.float32)
    w = W.astype(np.float32)
    g = srcdiff.grad(lambda x: np.sum((sparse.csr_array((x, INDICES, INDPTR)) @ w) ** 2))(x)
    assert g.dtype == np.float32


# --- matrices that are constants ------------------------------------------------------------------

CONSTANT = sparse.csr_matrix(np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0], [0.5, 0.0, 4.0]]))


def old_product(x):
    return np.sum((CONSTANT * x[:3]) ** 3) + np.sum((x[:3] * CONSTANT) ** 2)


def laplacian(x):
    n = 3
    lap = sparse.diags([np.ones(n - 1), -2.0 * np.ones(n), np.ones(n - 1)], [-1, 0, 1]).tocsr()
    return np.sum((lap @ x[:3]) ** 2) + np.sum((lap * x[:3]) ** 3) + np.sum(sparse.eye(3) * x[:3])


def filled(x):
    data = np.zeros(5)
    for k in range(5):
        data[k] = k + 1.0
    a = sparse.csr_matrix((data, INDICES, INDPTR), shape=SHAPE)
    many = [a + sparse.eye(3) for _ in range(2)]
    return np.sum(linalg.spsolve(a, x[:3]) ** 2) + np.sum((many[0] @ x[:3]) ** 2)


@pytest.mark.filterwarnings("ignore:spsolve")
@pytest.mark.parametrize("f", [old_product, laplacian, filled])
def test_constant_matrices(f):
    g = srcdiff.grad(f)(X)
    assert g @ V == pytest.approx(slope(lambda h: f(X + h * V)), rel=1e-7)
    close(srcdiff.jvp(f, (X,), (V,))[1], g @ V)


def test_a_matrix_in_a_container_is_a_constant():
    found = srcdiff.grad(lambda p: np.sum((p["a"] @ p["w"]) ** 2))({"a": CONSTANT, "w": W})
    assert found["a"] is None
    close(found["w"], 2.0 * CONSTANT.T @ (CONSTANT @ W))


def test_a_column_of_unknowns():
    g = srcdiff.grad(lambda b: np.sum(linalg.spsolve(CONSTANT.tocsc(), b) ** 2))(W[:, None])
    assert g.shape == (3, 1)


# --- what is refused ------------------------------------------------------------------------------


def made(x):
    return sparse.csr_array((x, INDICES, INDPTR), shape=SHAPE)


def in_a_list(x):
    many = []
    for k in range(3):
        many.append(k * made(x))
    return np.sum(many[1] @ W)


def by_setting(x):
    a = sparse.lil_array((3, 3))
    a[0, 1] = x[0]
    return np.sum((a @ x[:3]) ** 2)


def on_the_diagonal(x):
    a = CONSTANT.copy()
    a.setdiag(x[:3])
    return np.sum((a @ W) ** 2)


def into_the_entries(x):
    a = CONSTANT.copy()
    a.data[:] = x
    return np.sum((a @ W) ** 2)


def one_of_two(x):
    a = made(x)
    if x[0] > 0:
        a = np.outer(x[:3], x[:3])
    return np.sum((a @ W) ** 2)


def kept_and_written(x):
    data = X * 2.0
    a = sparse.csr_array((data, INDICES, INDPTR), shape=SHAPE)
    y = a @ x[:3]
    data *= 2.0
    return np.sum(y**3) + np.sum((a @ x[1:4]) ** 3)


REFUSED = {
    "sum": lambda x: np.sum((made(x) + made(x)) @ W),
    "multiply": lambda x: np.sum(made(x).multiply(made(x)) @ W),
    "product": lambda x: np.sum((made(x) @ made(x)) @ W),
    "power": lambda x: np.sum((made(x) ** 2) @ W),
    "returned": made,
    "item": lambda x: made(x)[0, 0],
    "dense": lambda x: np.sum(sparse.csr_array(np.outer(x, x)) @ x),
    "diagonals": lambda x: np.sum(sparse.diags([x[:2], x[:3], x[2:4]], [-1, 0, 1]) @ x[:3]),
    "kron": lambda x: np.sum(sparse.kron(made(x), np.eye(2)) @ np.ones(6)),
    "solver": lambda x: np.sum(linalg.splu(made(x).tocsc()).solve(W)),
    "norm": lambda x: linalg.norm(made(x)),
    "numpy": lambda x: np.sum(np.dot(CONSTANT, x[:3])),
    "list": in_a_list,
    "set": by_setting,
    "setdiag": on_the_diagonal,
    "data": into_the_entries,
    "join": one_of_two,
    "kept": kept_and_written,
}


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_refused(name, mode):
    f = REFUSED[name]
    with pytest.raises(srcdiff.UnsupportedError) as info:
        if mode == "reverse":
            srcdiff.grad(f)(X, grad_outputs=1.0)
        else:
            srcdiff.jvp(f, (X,), (V,))
    assert info.value.loc.line > 0
    assert info.value.remedy


def test_a_sparse_input_is_refused():
    with pytest.raises(DtypeError, match="a sparse matrix, which has no derivative of its"):
        srcdiff.grad(lambda a, x: np.sum((a @ x) ** 2), "a")(CONSTANT, W)


def test_entries_that_the_solver_would_reorder_are_an_error():
    """`spsolve` sorts its matrix in place, and the arrays that it is made of with it."""
    backwards = np.array([2, 0, 1, 2, 0])  # the columns of the first and last row are not sorted

    def solved(x):
        a = sparse.csc_matrix((x, backwards, INDPTR), shape=SHAPE)
        return np.sum(linalg.spsolve(a, W) ** 2)

    for call in (lambda: srcdiff.grad(solved)(X), lambda: srcdiff.jvp(solved, (X,), (V,))):
        with pytest.raises(ValueError, match="into order in place"):
            call()
