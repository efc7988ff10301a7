"""Products of matrices and vectors in their plain form: before and after."""

import numpy as np
import pytest

import srcdiff
from tests.support.differences import check_gradient

RNG = np.random.default_rng(3)
A, B, C = RNG.normal(size=(4, 3)), RNG.normal(size=(5, 3)), RNG.normal(size=(3, 3)) + 4 * np.eye(3)
V = RNG.normal(size=3)


def scores(a, b):
    return np.sum(np.tanh(a @ b.T))


def normal_equations(a, b):
    return np.sum(np.linalg.solve(a.T @ a, b.T @ b) ** 2)


def solved(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2)


def solved_transposed(a, b):
    return np.sum(np.linalg.solve(a.T, b) ** 2)


def stacks(a, b):
    return np.sum(np.tanh(a @ b.mT))


def vector_and_matrix(a, b):
    return np.sum(np.tanh(a.T @ b) ** 2)


CASES = [
    (scores, (A, B)), (normal_equations, (A, B)), (solved, (C, V)), (solved, (C, A.T)),
    (solved_transposed, (C, V)), (stacks, (np.stack([A, A + 1]), np.stack([B, B]))),
    (vector_and_matrix, (C, V)),
]  # fmt: skip


def text(f, args):
    return srcdiff.source(f, inputs=(0, 1), example=args)


@pytest.mark.parametrize(("f", "args"), CASES)
def test_the_gradients_are_right(f, args):
    check_gradient(f, args, (0, 1))


def test_the_transpose_of_a_product_is_the_product_of_transposes():
    assert "d_b = d_t_1.T @ a" in text(scores, (A, B))


def test_an_outer_product_has_its_name():
    assert "-np.outer(d_b, " in text(solved, (C, V))
    assert "None" not in text(solved, (C, V))


def test_an_outer_product_is_not_transposed():
    assert "np.outer(" in text(solved_transposed, (C, V))
    assert ").T" not in text(solved_transposed, (C, V))


@pytest.mark.parametrize(("f", "args"), CASES[:2])
def test_gradients_lie_in_memory_as_their_arrays(f, args):
    assert all(g.flags.c_contiguous for g in srcdiff.grad(f, inputs=(0, 1))(*args))


def reshaped_sum_along(x, axis):
    total = np.sum(x * x, axis=axis, keepdims=True)
    return np.sum(np.reshape(total, np.shape(x[0])) * x[0])


def test_a_sum_along_an_axis_that_is_a_variable():
    slopes = srcdiff.grad(reshaped_sum_along)
    check_gradient(lambda x: np.sum(slopes(x, 0) ** 2), (A,))


# --- sums of products, and products with what is one number everywhere --------------------------


def scaled_vector(s, x):
    return np.sum(np.sin(s * x))


def summed_product(a, x):
    return np.sum((a @ x) * 2.0)


def summed_twice(a, x):
    return np.sum((a @ x) @ a)


def multiple_of_a_view(x, y):
    y = y * 1.0
    y[...] = -x
    return 3.0 * np.sum(y)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (scaled_vector, (2.0, V)), (summed_product, (A, V)), (summed_twice, (A, V)),
        (multiple_of_a_view, (V, V)),
    ],
)  # fmt: skip
def test_gradients_of_sums(f, args):
    check_gradient(f, args, inputs=(0, 1) if f is not multiple_of_a_view else 0)


def test_a_sum_of_products_is_a_product():
    lines = text(scaled_vector, (2.0, V))
    assert " @ x" in lines and "np.sum(d" not in lines


def test_a_sum_of_products_of_matrices_stays():
    lines = text(lambda s, x: np.sum(np.sin(s * x)), (2.0, A))
    assert "np.sum(d" in lines


def test_a_product_with_one_number_everywhere_is_a_sum():
    assert "grad_outputs * np.sum(a, axis=1)" in text(summed_twice, (A, V))


def test_a_gradient_that_is_one_number_can_be_written_into():
    for gradient in srcdiff.grad(lambda x, y: np.sum(3.0 * x - y), (0, 1))(V, V):
        gradient += 1.0


def subtracted_at(x, i, j):
    return np.sum((x[i] - x[j]) ** 3)


def test_what_is_subtracted_at_places():
    i, j = np.array([0, 1, 1]), np.array([2, 2, 0])
    text = srcdiff.source(subtracted_at, "x", example=(V, i, j))
    assert "np.subtract.at(d_x, j, d_t" in text and ", -d_t" not in text
    check_gradient(subtracted_at, (V, i, j), "x")


# --- products with matrices that repeat a row, a column or a number -------------------------------


def mean_of_rows(x, w, v):
    return np.mean(x @ w, axis=0) @ v


def mean_of_columns(x, w, u):
    return u @ np.sum(x @ w, axis=1)


def total_of_products(x, w, c):
    return np.sum(2.0 * x @ w @ c)


def total_of_a_transpose(x, w):
    return np.sum((x.T @ w.T).T @ x.T)


def total_of_an_outer_product(x, v):
    return np.sum(np.outer(np.tanh(v), v @ x))


X, W = RNG.normal(size=(5, 4)), RNG.normal(size=(4, 3))
LINES = [
    (mean_of_rows, (X, W, V)), (mean_of_columns, (X, W, RNG.normal(size=5))),
    (total_of_products, (X, W, RNG.normal(size=(3, 2)))),
    (total_of_a_transpose, (X, RNG.normal(size=(3, 5)))),
    (total_of_an_outer_product, (RNG.normal(size=(3, 2)), V)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args"), LINES)
def test_gradients_of_products_with_what_repeats(f, args):
    check_gradient(f, args, tuple(range(len(args))))
    slopes = srcdiff.grad(f, tuple(range(len(args))))
    for g in slopes(*args):
        g += 1.0  # memory of its own


def test_a_product_with_what_repeats_is_an_outer_product_or_one_line():
    lines = text(mean_of_rows, (X, W, V))
    assert "d_w = np.outer(np.sum(x, axis=0), t)" in lines
    assert "d_x = np.copy(np.broadcast_to(t @ w.T, x.shape))" in lines
    lines = text(mean_of_columns, (X, W, X[:, 0]))
    assert "d_x = np.outer(d_t, np.sum(w, axis=1))" in lines
    backward = text(total_of_products, (X, W, W[:3, :2])).split("# backward")[1]
    assert backward.count("@") == 1  # of a row and a matrix


@pytest.mark.parametrize("shapes", [((5, 4), (1, 3)), ((5, 1), (4, 3)), ((5, 4), (3, 3))])
def test_products_that_do_not_fit_have_no_gradient(shapes):
    x, w = (np.ones(s) for s in shapes)
    with pytest.raises(ValueError):
        srcdiff.grad(mean_of_rows, (0, 1))(x, w, V)
    with pytest.raises(ValueError):
        srcdiff.grad(total_of_products, (0, 1, 2))(x, w, np.ones((3, 2)))


@pytest.mark.parametrize("compiled", ["auto", "loops"])
@pytest.mark.parametrize(("f", "args"), LINES)
def test_compiled_products_with_what_repeats(f, args, compiled):
    inputs = tuple(range(len(args)))
    plain, fast = srcdiff.grad(f, inputs)(*args), srcdiff.grad(f, inputs, compile=compiled)(*args)
    for a, b in zip(plain, fast, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-13, atol=1e-14)
