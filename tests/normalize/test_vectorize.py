"""Which loops become statements of whole arrays, and what these compute."""

import math

import numpy as np
import pytest

import srcdiff
from tests.corpus.native import interpreted
from tests.support.differences import check_gradient


def matrix(rows, columns, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, columns))


def compiled(f, args, mode="loops", **options):
    """The text for a compiler, the value and the gradient by it, and those by NumPy."""
    inputs = tuple(k for k, a in enumerate(args) if type(a) is np.ndarray and a.dtype.kind in "fc")
    plain = srcdiff.value_and_grad(f, inputs, unused="zeros", strict=True)(*args)
    with interpreted():
        g = srcdiff.value_and_grad(f, inputs, unused="zeros", compile=mode, **options)
        return g(*args), plain, g.source


def check(f, args, mode="loops", **options):
    """Whether the loop over `q` is gone; what is computed is what NumPy computes."""
    (value, gradients), (expected, slopes), source = compiled(f, args, mode, **options)
    single = any(getattr(a, "dtype", None) == np.float32 for a in args)
    for found, known in zip((value, *gradients), (expected, *slopes), strict=True):
        largest = max(1.0, np.max(np.abs(known), initial=0.0))  # of what single precision adds up
        near = {"rtol": 1e-5, "atol": 1e-6 * largest} if single else {"rtol": 1e-11, "atol": 1e-12}
        assert np.shape(found) == np.shape(known) and np.result_type(found) == np.result_type(known)
        np.testing.assert_allclose(found, known, **near)
    return "for q in" not in source


# --- what becomes statements ---------------------------------------------------------------------


def triangular(A, B):
    B = B.copy()
    for i in range(B.shape[0]):
        for q in range(B.shape[1]):
            B[i, q] += np.dot(A[i + 1 :, i], B[i + 1 :, q])
    return np.sum(B)


def orthogonal(A):
    A = A.copy()
    R = np.zeros((A.shape[1], A.shape[1]))
    for k in range(A.shape[1]):
        R[k, k] = np.sqrt(np.dot(A[:, k], A[:, k]))
        A[:, k] /= R[k, k]
        for q in range(k + 1, A.shape[1]):
            R[k, q] = np.dot(A[:, k], A[:, q])
            A[:, q] -= A[:, k] * R[k, q]
    return np.sum(A * A[0]) + np.sum(R)


def eliminated(A):
    A = A.copy()
    for k in range(A.shape[0]):
        for q in range(k + 1, A.shape[0]):
            A[q, k] /= A[k, k]
            A[q, k + 1 :] -= A[q, k] * A[k, k + 1 :]
    return np.sum(np.cos(A))


def eliminated_by_columns(A):
    A = A.copy()
    for k in range(A.shape[0]):
        for q in range(k, A.shape[0]):
            A[k, q] -= A[k, :k] @ A[:k, q]
    return np.sum(np.cos(A))


def product(A, B):
    C = np.empty((A.shape[0], B.shape[1]))
    for q in range(A.shape[0]):
        C[q, :] = A[q, :] @ B
    return np.sum(C**2)


def rows(A, x):
    s = 0.0
    for q in range(A.shape[0]):
        t = A[q] - x
        s += np.sum(t * t) * x[0]
    return s


def taken_away(A, w):
    s = 1.0
    for q in range(len(A)):
        s = s - np.dot(A[q], w) ** 2
    return s


def softmax(A):
    B = A.copy()
    for q in range(A.shape[0]):
        e = np.exp(B[q] - 0.5)
        B[q] = e / np.sum(e)
    return np.sum(B**2)


def added_up(A, w):
    a, b = np.zeros(5), w
    for q in range(A.shape[0]):
        a += A[q] * np.sin(A[q, 0])
        b = b - A[q] * w
    return np.sum(a * b)


def shifted(A, w):
    B = np.zeros_like(A)
    for q in range(1, A.shape[1] - 1):
        B[:, q - 1] = (A[:, q + 1] - A[:, q - 1]) * w
    return np.sum(B**2)


def read_before_written(A, x):
    A, x = A.copy(), x.copy()
    for q in range(A.shape[1]):
        t = x[q]
        x[q] = np.sum(A[:, q])
        A[:, q] *= t
    return np.sum(A * x)


def of_a_view(A, w):
    A = A.copy()
    for q in range(A.shape[1]):
        v = A[:, q]
        v *= w
        A[1:, q] += v[0] * v[:-1]
    return np.sum(np.sin(A))


def third_axis(A, w):
    T = np.ones((A.shape[0], A.shape[1], 3)) * w[0]
    for q in range(A.shape[1]):
        T[:, q] += A[:, q, None] * 2.0
        T[..., q, 1] *= A[:, q]
    return np.sum(T**2)


def transformed(A, M):
    B = np.empty_like(A)
    for q in range(A.shape[1]):
        B[:, q] = M @ A[:, q] + A[:, q] @ M
    return np.sum(B**3)


def column_sums(T, w):
    s = np.zeros(T.shape[1])
    for q in range(T.shape[1]):
        s[q] = np.sum(np.sum(T[:, q, :], axis=-1) * w)
    return np.sum(s**2)


W = np.array([0.4, -0.7, 1.1, 0.9, 0.2])
SQUARE = matrix(5, 5) + 4.0 * np.eye(5)
TAKEN = [
    (triangular, (SQUARE, matrix(5, 6))), (orthogonal, (matrix(7, 5),)), (eliminated, (SQUARE,)),
    (eliminated_by_columns, (SQUARE,)), (product, (matrix(4, 5), matrix(5, 6))),
    (rows, (matrix(6, 5), W)), (taken_away, (matrix(6, 5), W)), (softmax, (matrix(4, 6),)),
    (added_up, (matrix(6, 5), W)),
    (shifted, (matrix(5, 6), W)), (read_before_written, (SQUARE, W)),
    (of_a_view, (matrix(5, 6), W)), (third_axis, (matrix(5, 4), W)),
    (transformed, (matrix(5, 6), SQUARE)),
    (column_sums, (np.ones((5, 4, 3)) * W[:, None, None], W)),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["loops", "numba"])
@pytest.mark.parametrize(("f", "args"), TAKEN, ids=lambda x: getattr(x, "__name__", ""))
def test_a_loop_becomes_statements_of_whole_arrays(f, args, mode):
    assert check(f, args, mode)


@pytest.mark.parametrize(("f", "args"), TAKEN, ids=lambda x: getattr(x, "__name__", ""))
def test_they_are_right_for_all_lengths_orders_and_dtypes(f, args):
    laid = [np.asfortranarray(a) for a in args]
    apart = [np.repeat(a, 2, axis=-1)[..., ::2] for a in args]
    single = [a.astype(np.float32) for a in args]
    assert check(f, laid) and check(f, apart)
    check(f, single)


MADE_OF_REAL_NUMBERS = (orthogonal, product, column_sums, shifted, added_up)


def real_part(f):
    def loss(*args):
        return np.real(f(*args))

    return loss


@pytest.mark.parametrize(("f", "args"), TAKEN, ids=lambda x: getattr(x, "__name__", ""))
def test_they_are_right_for_complex_numbers(f, args):
    if f not in MADE_OF_REAL_NUMBERS:
        check(real_part(f), [a + 0.3j * a[::-1] for a in args])


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_few_or_no_iterations(n):
    check(triangular, (matrix(n, n), matrix(n, 5)))
    check(triangular, (SQUARE, matrix(5, n)))
    check(orthogonal, (matrix(4, n),))
    check(eliminated, (SQUARE[:n, :n],))
    check(rows, (matrix(n, 5), W))
    check(shifted, (matrix(5, n), W))
    check(read_before_written, (matrix(3, n), W[:n]))


def test_the_text_is_what_a_person_would_write():
    source = compiled(triangular, (SQUARE, matrix(5, 6)))[2]
    assert "A[t_1:, i] @ B[t_1:]" in source
    source = compiled(orthogonal, (matrix(7, 5),))[2]
    assert "R[k, t_2:] = t_1 @ t_3" in source and "< A.shape[1]" not in source


def test_inner_loops_first():
    def f(A, B):
        C = np.zeros((A.shape[0], B.shape[1]))
        for p in range(A.shape[0]):
            for q in range(B.shape[1]):
                C[p, q] = np.dot(A[p, :], B[:, q])
        return np.sum(C**2)

    args = matrix(4, 5), matrix(5, 6)
    assert check(f, args) and " = A @ B" in compiled(f, args)[2]


def test_what_does_not_run_need_not_be_there():
    def f(A, w):
        A = A.copy()
        for q in range(1, A.shape[1]):
            A[:, q] *= w[3] * A[:, 0]
        return np.sum(A**2)

    check(f, (matrix(3, 1), W[:2]))
    assert check(f, (matrix(3, 4), W))


# --- what stays a loop ---------------------------------------------------------------------------


def recurrence(A, w):
    A = A.copy()
    for q in range(A.shape[1] - 1):
        A[:, q + 1] += A[:, q] * w
    return np.sum(A)


def reads_what_is_written(A, w):
    A = A.copy()
    for q in range(A.shape[1]):
        A[:, q] += A[:, 1] * w
    return np.sum(A)


def reads_a_part_that_is_written(A, w):
    A = A.copy()
    for q in range(1, A.shape[1]):
        A[:, q] += A[:, :2] @ w[:2]
    return np.sum(A)


def reads_the_last_column(A, w):
    A = A.copy()
    for i in range(A.shape[1]):
        for q in range(i, A.shape[1]):
            A[:, q] += A[:, i - 1] * w
    return np.sum(A)


def reads_another_name(A, w):
    A = A.copy()
    B = A[:, ::-1]
    for q in range(A.shape[1]):
        A[:, q] += B[:, q] * w
    return np.sum(A)


def reads_a_view_from_before(A, w):
    A = A.copy()
    v = A[:, 2]
    for q in range(A.shape[1]):
        A[:, q] += v * w
    return np.sum(A)


def wraps_around(A, w):
    B = np.zeros_like(A)
    for q in range(A.shape[1]):
        B[:, q] = A[:, q - 1] * w
    return np.sum(B * A)


def bound_by_a_number(A, p):
    B = np.zeros_like(A)
    for q in range(p):
        B[:, q] = A[:, q] * 2.0
    return np.sum(B**2)


def used_behind(A, w):
    for q in range(A.shape[1]):
        t = A[:, q] * w
    return np.sum(t)


def carried(A, w):
    t = w
    s = 0.0
    for q in range(A.shape[1]):
        s += np.sum(A[:, q] * t)
        t = A[:, q]
    return s


def diagonal(A, w):
    A = A.copy()
    for q in range(A.shape[0]):
        A[q, q] = np.sum(A[q, q] * w)
    return np.sum(A)


def every_second(A, w):
    A = A.copy()
    for q in range(0, A.shape[1], 2):
        A[:, q] *= w
    return np.sum(A)


def of_python(A, w):
    A = A.copy()
    for q in range(A.shape[1]):
        A[:, q] *= math.sin(w[q])
    return np.sum(A)


def larger_than_the_arrays(A, w):
    s = 0.0
    for q in range(A.shape[0]):
        s += np.sum(np.sin(A[q][:, None] * w))
    return s


def left(A, w):
    A = A.copy()
    for q in range(A.shape[1]):
        A[:, q] *= w
        if A[0, q] > 0.5:
            break
    return np.sum(A)


def stored_into_integers(A, w):
    k = np.arange(A.shape[1])
    for q in range(A.shape[1]):
        k[q] += np.sum(A[:, q]) * 3.0
    return np.sum(A) * np.sum(k)


def of_truths(A, w):
    B = np.zeros_like(A)
    for q in range(A.shape[1]):
        B[:, q] = A[:, q] * np.dot(A[:, q] > 0.0, A[:, q] > 0.1)
    return np.sum(B)


def part_of_a_number(A, w):
    A, x = A.copy(), w.copy()
    for q in range(A.shape[1]):
        t = np.real(x[q])
        x[q] = np.sum(A[:, q])
        A[:, q] *= t
    return np.sum(A * x)


def draws(A, w):
    A = A.copy()
    np.random.seed(0)
    for q in range(A.shape[1]):
        A[:, q] *= np.random.uniform(0.5, 1.0)
    return np.sum(A * w)


def adds_to_what_it_reads(A, w):
    w = w.copy()
    v = w[::-1]
    for q in range(A.shape[1]):
        w += A[:, q] * v
    return np.sum(w)


def triangle(A, w):
    s = 0.0
    for q in range(A.shape[1]):
        s += np.sum(A[q, :q]) * w[0]
    return s


def running_sum(A, w):
    B, s = np.zeros_like(A), 0.0
    for q in range(A.shape[1]):
        s += np.sum(A[:, q] * w)
        B[:, q] = A[:, q] * s
    return np.sum(B)


def adds_to_a_row_that_it_reads(A, w):
    A = A.copy()
    v = A[0]
    for q in range(A.shape[0]):
        v += A[q] * w
    return np.sum(A)


def single_into_double(A, w):
    B, s = A.astype(np.float32), w[0]
    for q in range(A.shape[0]):
        s += np.sum(B[q])
    return s


def pops(A, w):
    A, numbers = A.copy(), [1.0, 2.0, 3.0, 4.0, 5.0]
    for q in range(A.shape[1]):
        t = numbers.pop()
        A[:, q] *= t
    return np.sum(A * w)


def by_a_slice(A, w):
    B, part = np.zeros_like(A), slice(1, 4)
    for k in range(2):
        for q in range(A.shape[1]):
            B[part, q] += A[part, q] * w[part]
        part = slice(k, k + 3)
    return np.sum(B * A)


def transposed(A, w):
    B = np.zeros_like(A)
    for q in range(A.shape[1]):
        B[q, :] = A[:, q] * w
    return np.sum(B * A)


def window(A, w):
    s = 0.0
    for q in range(1, A.shape[1]):
        s += np.sum(A[:, q - 1 : q + 1] ** 2)
    return s


STAYS = [
    recurrence, reads_what_is_written, reads_a_part_that_is_written, reads_another_name,
    reads_a_view_from_before, used_behind, carried, diagonal,
    every_second, of_python, larger_than_the_arrays, left,
    stored_into_integers, window, triangle, of_truths, part_of_a_number, draws,
    adds_to_what_it_reads, reads_the_last_column, running_sum, adds_to_a_row_that_it_reads,
    single_into_double, pops, transposed, by_a_slice,
]  # fmt: skip


@pytest.mark.parametrize("f", STAYS, ids=lambda f: f.__name__)
def test_a_loop_stays(f):
    assert not check(f, (matrix(5, 5), W))


def test_a_loop_stays_where_it_may_go_too_far():
    """A slice would be cut off where an index fails."""
    assert not check(bound_by_a_number, (matrix(4, 5), 5))
    with interpreted(), pytest.raises(IndexError):
        srcdiff.grad(bound_by_a_number, compile="loops")(matrix(4, 5), 6)


def test_vectors_of_other_lengths_are_not_spread():
    def f(A, B):
        s = 0.0
        for q in range(A.shape[1]):
            s += np.dot(A[:, q], B[:, q])
        return s

    assert check(f, (matrix(4, 5), matrix(4, 5, 1))) is check(f, (matrix(4, 5), matrix(4, 6, 1)))
    with interpreted(), pytest.raises(ValueError):
        srcdiff.grad(f, (0, 1), compile="loops")(matrix(1, 5), matrix(4, 5))


@pytest.mark.parametrize("mode", ["loops", "numba"])
def test_loops_over_numbers_are_compiled_as_they_are(mode):
    def f(x):
        y = x.copy()
        for q in range(len(x)):
            y[q] = np.sin(y[q]) * 2.0
        return np.sum(y)

    assert check(f, (W,), mode) == (mode == "loops")


def test_strict_texts_keep_loops():
    args = SQUARE, matrix(5, 6)
    assert not check(triangular, args, strict=True)
    assert "for q in" not in srcdiff.source(triangular, example=args)
    g = srcdiff.value_and_grad(triangular, strict=True)
    assert g(*args)[0] == triangular(*args) and "for q in" in g.source


# --- texts for NumPy -----------------------------------------------------------------------------


V = W[:4]


def kernel_matrix(x, scale):
    n = len(x)
    K = np.zeros((n, n))
    for p in range(n):
        for q in range(n):
            K[p, q] = np.exp(-0.5 * ((x[p] - x[q]) / scale) ** 2)
    return np.sum(np.sin(K))


def quadrature(a, b):
    h, s = (b - a) / 50, 0.0
    for q in range(50):
        s += np.exp(-((a + (q + 0.5) * h) ** 2))
    return s * h


def series(x, c):
    s = 0.0
    for q in range(len(c)):
        s += c[q] * np.sin((q + 1) * x)
    return s


def places(x, k):
    s = 0.0
    for q in range(len(k)):
        s += x[k[q]] ** 2
    return s


def trace(A):
    s = 0.0
    for q in range(A.shape[0]):
        s += np.tanh(A[q, q])
    return s * np.sum(A)


def in_step(x, y):
    s = 0.0
    for a, b in zip(x, y):
        s += (a - b) ** 2 * a
    return s


def into_an_element(A, B):
    C = np.zeros((A.shape[0], B.shape[0]))
    for p in range(A.shape[0]):
        for q in range(B.shape[0]):
            for k in range(A.shape[1]):
                C[p, q] += A[p, k] * A[q, k] * B[q, 0]
    return np.sum(C**2)


def factor(A):
    L = np.zeros_like(A)
    for j in range(len(A)):
        L[j, j] = np.sqrt(A[j, j] - np.sum(L[j, :j] ** 2))
        for q in range(j + 1, len(A)):
            L[q, j] = (A[q, j] - np.sum(L[q, :j] * L[j, :j])) / L[j, j]
    return np.sum(np.sin(L))


TEXTS = [
    (kernel_matrix, (V, 0.7), "x[:, None] - x"), (quadrature, (0.1, 1.2), "np.arange(50)"),
    (series, (0.3, V), "np.arange(1, len(c) + 1)"),
    (places, (V, np.array([3, 0, 3, 1])), "x[k]"), (trace, (matrix(4, 4),), "A[t, t]"),
    (in_step, (V, V[:3]), "x[:n]"), (in_step, (V, np.append(V, 2.0)), "x[:n]"),
    (factor, (SQUARE @ SQUARE.T + 5 * np.eye(len(SQUARE)),), "A[j + 1 :, j]"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args", "part"), TEXTS)
def test_texts_have_whole_arrays(f, args, part):
    inputs = [k for k, a in enumerate(args) if np.result_type(a).kind == "f"]
    g = srcdiff.grad(f, tuple(inputs))
    check_gradient(f, args, tuple(inputs))
    strict = srcdiff.grad(f, tuple(inputs), strict=True)
    for one, two in zip(g(*args), strict(*args), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-13)
    loops = g.source.count("    for "), strict.source.count("    for ")
    assert part in g.source and loops[0] < loops[1]


def test_sums_into_an_element_are_products():
    A, B = matrix(4, 3), matrix(4, 2)
    check_gradient(into_an_element, (A, B), (0, 1))


def test_what_is_there_needs_no_test():
    assert "if" not in srcdiff.source(factor, example=TEXTS[-1][1]).split('"""')[2]


def test_places_outside_of_an_array_fail():
    g = srcdiff.grad(places)
    g(V, np.array([0, 1]))
    with pytest.raises(IndexError):
        g(V, np.array([0, len(V)]))


def test_numbers_of_python_that_fail_do_so():
    def f(x, c):
        s = 0.0
        for q in range(10):
            s += c / (q * x - x)
        return s

    assert "for q in" in srcdiff.source(f, example=(0.5, 2.0))
    with pytest.raises(ZeroDivisionError):
        srcdiff.grad(f)(0.5, 2.0)


def test_a_few_numbers_are_taken_one_by_one():
    def f(x):
        s = 0.0
        for q in range(3):
            s += x[q] ** 3
        return s

    assert "for q in" in srcdiff.source(f, example=(V,))


# --- lengths of which nobody knows that they are the same ones ------------------------------------


def weighted(x, w):
    s = 0.0
    for q in range(len(x)):
        s += w[q] * np.sin(x[q])
    return s


def misfit(x, w):
    r = np.zeros(len(x))
    for q in range(len(x)):
        r[q] = w[q] - 2.0 * x[q]
    return np.sum(r**2)


def trapezoids(x, w):
    s = 0.0
    for q in range(1, len(x)):
        s += (x[q] - x[q - 1]) * (w[q] + w[q - 1]) / 2
    return s


def only_of_the_other(x, w):
    s = 0.0
    for q in range(len(x)):
        s += w[q] ** 3
    return s * x[0]


def spread_over_columns(x, w):
    M = np.ones((len(x), 3))
    for q in range(len(x)):
        M[q, :] *= w[q]
    return np.sum(M**2) * x[1]


OTHERS = [
    (weighted, "w[:n] * "), (misfit, "w[:n] - "), (trapezoids, "w[1:n] + w[:t"),
    (only_of_the_other, "np.arange(len(x))"), (spread_over_columns, "w[:n"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "part"), OTHERS)
@pytest.mark.parametrize("more", [0, 3])
def test_what_meets_the_length_of_the_range_is_a_part(f, part, more):
    for n in (2, 3, 6):
        args = np.linspace(0.3, 1.1, n), np.linspace(1.2, 0.4, n + more)
        check_gradient(f, args, (0, 1), unused="zeros")
        strict = srcdiff.grad(f, (0, 1), unused="zeros", strict=True)(*args)
        g = srcdiff.grad(f, (0, 1), unused="zeros")
        for one, two in zip(g(*args), strict, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-13, atol=1e-15)
    assert part in g.source


@pytest.mark.parametrize("f", [f for f, _ in OTHERS])
@pytest.mark.parametrize(("n", "less"), [(2, 1), (3, 2), (5, 4), (6, 1)])
def test_what_is_too_short_fails(f, n, less):
    args = np.linspace(0.3, 1.1, n), np.linspace(1.2, 0.4, n - less)
    with pytest.raises(IndexError):
        f(*args)
    with pytest.raises((IndexError, ValueError)):
        srcdiff.value_and_grad(f, (0, 1), unused="zeros")(*args)


def lagged(x, w):
    s = 0.0
    for q in range(-2, len(w)):
        s += x[q] * w[q - 1]
    return s


def next_ones(x, w):
    s, n = 0, len(x)
    for q in range(n):
        s += x[q] * w[(q + 1) % n, 0] + w[(q + 1) // 2, 1]
    return s


def binned(x, k):
    h = np.zeros(4)
    for q in range(len(x)):
        h[k[q]] += x[q] ** 2
        h[k[q] - 1] -= x[q]
    return np.sum(h**3)


def binned_rows(T, k):
    h = np.ones((4, 3))
    for q in range(len(k)):
        h[k[q]] -= T[q] * T[k[q]]
    return np.sum(h**3)


def two_sums(x, w):
    s = 0.0
    for q in range(len(x)):
        s += x[q] * w[q]
    for q in range(len(x)):
        s -= x[q] ** 2
    return s


PLACES = [
    (wraps_around, (SQUARE, W)), (lagged, (V, V[:3])), (next_ones, (V, matrix(4, 2))),
    (binned_rows, (matrix(4, 3), np.array([1, 3, 1, 0]))), (two_sums, (V, V)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args"), PLACES)
def test_what_is_chosen_by_integers_is_taken_at_an_array_of_them(f, args):
    assert check(f, args)
    inputs = [k for k, a in enumerate(args) if a.dtype.kind == "f"]
    check_gradient(f, args, tuple(inputs))
    assert "for q" not in srcdiff.source(f, example=args)


WEIGHTS = np.array([1.1, 3.0, 2.0])


def of_an_array_outside(x, w):
    s = 0.0
    for q in range(len(x)):
        s += x[q] * WEIGHTS[q]
    for v in WEIGHTS:
        s += v * w[0]
    return s


def test_an_array_outside_is_taken_at_places():
    check_gradient(of_an_array_outside, (V[:3], W), (0, 1))
    with pytest.raises((IndexError, ValueError)):
        srcdiff.value_and_grad(of_an_array_outside)(V, W)


def test_two_sums_into_parts_of_one_array_stay_in_their_order():
    args = V, np.array([3, 0, 3, 1])
    assert not check(binned, args)
    check_gradient(binned, args)


def parts_of_other_lengths(A, w, n):
    s = A[0, 0]
    for q in range(1, n):
        s += np.sum(A[q, :2] * w[:n])
    return s


def rows_of_another_length(A, w, n):
    h = np.zeros((6, 4))
    for q in range(n):
        h[q] += A[q]
    return np.sum(h**2)


def rows_that_fit_no_vector(A, w, n):
    s = A[0, 0]
    for q in range(n):
        s += A[q] @ w
    return s


@pytest.mark.parametrize(
    "f", [parts_of_other_lengths, rows_of_another_length, rows_that_fit_no_vector]
)
def test_what_fits_nothing_fails_in_an_iteration_alone(f):
    g, A = srcdiff.value_and_grad(f, unused="zeros"), matrix(4, 3)
    assert g(A, V, 0)[0] == f(A, V, 0)
    for h in (f, g):
        with pytest.raises(ValueError):
            h(A, V, 4)


def added_at_counters(x, w, n):
    h = x.copy()
    for q in range(n):
        h[q + 1] -= w[q % 2]
    return np.sum(h**2)


def counters_added(x, w, n):
    h = x.copy()
    for q in range(n):
        h[q - 1] += q
    return np.sum(h * w)


@pytest.mark.parametrize("f", [added_at_counters, counters_added])
def test_counters_are_numbers_where_something_is_added(f):
    g = srcdiff.value_and_grad(f, (0, 1))
    for n in (0, 1, 3):
        np.testing.assert_allclose(g(V, V, n)[0], f(V, V, n), rtol=1e-14)
        check_gradient(f, (V, V, n))
    assert "for q" not in g.source
    for h in (f, g):
        with pytest.raises(IndexError):
            h(V, V, 9)


def test_places_in_a_loop_that_is_in_another_one_stay():
    def f(x, k):
        s = np.zeros(len(x) - len(k) + 1)
        for i in range(len(s)):
            for q in range(len(k)):
                s[i] += x[i + q] * k[q]
        return np.sum(s**2)

    assert not check(f, (V, V[:2]))


def test_sums_of_products_of_matrices_are_one_product():
    def f(A, B):
        n, m = A.shape
        C = np.zeros((n, B.shape[1]))
        for i in range(n):
            for j in range(B.shape[1]):
                for q in range(m):
                    C[i, j] += A[i, q] * B[q, j]
        return np.sum(C * C)

    args = matrix(5, 4), matrix(4, 6)
    assert check(f, args) and "C += A @ t" in srcdiff.source(f, example=args)
    with pytest.raises(ValueError):
        srcdiff.grad(f)(matrix(5, 6), matrix(5, 6))


# --- lists ---------------------------------------------------------------------------------------


def rows_times_weights(X, w):
    out = []
    for row in X:
        out.append(np.tanh(row * w))
    return np.mean(np.array(out) ** 2)


def rows_written_behind(X, w):
    out = []
    for row in X:
        out.append(row)
    y = np.asarray(out)
    y[0] = w
    return np.sum(y**2) + np.sum(X)


def sum_of_rows(X, w):
    return sum([np.sin(row) * w for row in X]) @ w


def products_in_step(x, y):
    return np.array([a * b for a, b in zip(x, y)]) @ np.array([a + b for a, b in zip(x, y)])


def squares(X):
    return np.array([np.dot(row, row) for row in X]).max()


def a_list_still(x):
    out = [np.sin(v) for v in x]
    return out[0] + sum(out)


def begun_before(x):
    out = []
    out.append(x[0])
    for v in x:
        out.append(v * v)
    return np.sum(np.array(out))


def filtered(x):
    return sum([v * v for v in x if v > 0.0])


def filled_twice(x):
    out = []
    for v in x:
        out.append(v)
    for v in x:
        out.append(v * v)
    return np.array(out) @ np.array(out)


def of_rows_that_may_be_none(X, n):
    out = []
    for k in range(n):
        out.append(X[k] * 2.0)
    return np.sum(np.array(out))


def array_of_another_dtype(x):
    y = np.array([v * v for v in x], dtype=np.float32)
    return np.sum(y.astype(np.float64)) + y.itemsize


LISTS = [
    (rows_times_weights, (matrix(4, 3), W[:3]), True), (sum_of_rows, (matrix(4, 3), W[:3]), True),
    (rows_written_behind, (matrix(4, 3), W[:3]), True), (products_in_step, (W, W[1:]), True),
    (squares, (matrix(4, 3),), True), (a_list_still, (W,), False), (begun_before, (W,), False),
    (filtered, (W,), False), (filled_twice, (W,), False),
    (of_rows_that_may_be_none, (matrix(4, 3), 0), False),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args", "gone"), LISTS, ids=lambda v: getattr(v, "__name__", None))
def test_lists_that_are_arrays(f, args, gone):
    inputs = tuple(k for k, a in enumerate(args) if type(a) is np.ndarray)
    g = srcdiff.value_and_grad(f, inputs, unused="zeros")
    strict = srcdiff.value_and_grad(f, inputs, unused="zeros", strict=True)
    (value, slopes), (expected, others) = g(*args), strict(*args)
    np.testing.assert_allclose(value, f(*args), rtol=1e-14)
    assert value == pytest.approx(expected, rel=1e-14) and (".append(" in g.source) != gone
    for one, two in zip(slopes, others, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-13)
    check_gradient(f, args, inputs)


def test_an_array_of_a_list_has_the_dtype_that_is_asked_for():
    x = np.array([0.1, 0.2, 0.3])
    g = srcdiff.value_and_grad(array_of_another_dtype)
    value, slope = g(x)
    assert value == array_of_another_dtype(x) and "dtype=np.float32" in g.source
    np.testing.assert_allclose(slope, 2.0 * x, rtol=1e-7)


# --- what is written into, or has several names ---------------------------------------------------


def product_of_what_is_written_later(w):
    s, x = 0.0, np.ones_like(w) * 2.0
    for q in range(len(w)):
        t = x[q] * w[q]
        x[q] = 0.0
        s += t
    return s + np.sum(x)


def products_with_rows_written_later(w):
    s, Z, v = 0.0, np.ones((len(w), 4)), np.ones(4)
    for q in range(len(w)):
        Z[q] = w[q]
        t = Z[q] * v
        Z[q] = 0.0
        s += np.sum(t)
    return s


def stored_twice(w):
    x, y = np.zeros(len(w)), np.zeros(len(w))
    for q in range(len(w)):
        t = w[q] * 2.0
        x[q] = t
        y[q] = t
    return np.sum(x * w) + np.sum(y)


def written_behind_its_store(X):
    Y, s = np.zeros_like(X), 0.0
    for q in range(len(X)):
        t = X[q] * 2.0
        Y[q] = t
        t[0] = 1.0
        s += np.sum(t * X[q])
    return np.sum(Y**2) + s


def written_behind_its_store_by_a_view(X):
    Y, s = np.zeros_like(X), 0.0
    for q in range(len(X)):
        t = X[q] * 2.0
        u = t[1:]
        Y[q] = t
        u *= 3.0
        s += np.sum(t * X[q])
    return np.sum(Y**2) + s


def in_two_lists(w):
    one, two = [], []
    for v in w:
        t = v * 2.0
        one.append(t)
        two.append(t)
    a, b = np.array(one), np.array(two)
    a *= 3.0
    return np.sum(a**2) + np.sum(b**3)


def in_a_list_and_an_array(w):
    out, y = [], np.zeros_like(w)
    for q in range(len(w)):
        t = w[q] * 2.0
        y[q] = t
        out.append(t)
    y *= 3.0
    return np.sum(np.array(out) ** 2) + np.sum(y**3)


def numbers_of_what_is_written_behind(w):
    w, out = w.copy(), []
    for v in w:
        out.append(v)
    w[:] = 1.0
    return np.sum(np.array(out) ** 2) + np.sum(w)


def numbers_of_what_is_written_there(w):
    w, out = w.copy(), []
    for q in range(len(w)):
        out.append(w[q])
        w[q] = 2.0
    return np.sum(np.array(out) ** 2) + np.sum(w)


def begun_with_a_number(w):
    out = [3.0]
    for v in w:
        out.append(v * 2.0)
    return np.sum(np.array(out) ** 2)


def an_array_of_it_each_time(w):
    s, out = 0.0, []
    for v in w:
        out.append(v * 2.0)
    for _ in range(3):
        a = np.asarray(out)
        a[0] += 2.0
        s += np.sum(a**2)
    return s


def read_before_its_array_is_made(w):
    s = 0.0
    for k in range(3):
        out = []
        for v in w:
            out.append(v * (k + 1))
        if k > 0:
            s += np.sum(a * w)  # noqa: F821
        a = np.array(out)
    return s + np.sum(a)


def asked_for_its_length(w):
    out = []
    for v in w:
        out.append(v * len(out))
    return np.sum(np.array(out) ** 2)


def stored_counters(w):
    y, z = np.zeros(len(w)), w.copy()
    for q in range(len(w)):
        y[q] = q
        z[q] *= q + 1
    return np.sum(y * w) + np.sum(z**2)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (product_of_what_is_written_later, W), (products_with_rows_written_later, W),
        (stored_twice, W), (written_behind_its_store, matrix(4, 3)),
        (written_behind_its_store_by_a_view, matrix(4, 3)), (in_two_lists, W),
        (in_a_list_and_an_array, W), (numbers_of_what_is_written_behind, W),
        (numbers_of_what_is_written_there, W), (begun_with_a_number, W),
        (an_array_of_it_each_time, W), (read_before_its_array_is_made, W), (stored_counters, W),
        (asked_for_its_length, W),
    ],
)  # fmt: skip
def test_memory_that_is_written_has_one_name(f, x):
    value, _ = srcdiff.value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-14)
    check_gradient(f, (x,))


@pytest.mark.parametrize("begun", [np.ones(1), np.ones((3, 1)), 1.0])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_a_sum_of_no_rows_is_what_it_was(begun, n):
    def f(X):
        s = begun
        for row in X:
            s = s + row
        return np.sum(s)

    X = matrix(n, 4)
    value, slope = srcdiff.value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-14)
    np.testing.assert_array_equal(slope, np.full((n, 4), np.size(begun)))


def test_short_integers_add_up_as_the_list_does():
    def f(x, k):
        out = []
        for v in k:
            out.append(v)
        return np.sum(x) * sum(out)

    k = np.array([200, 100, 3], np.uint8)
    with np.errstate(over="ignore"):
        assert srcdiff.value_and_grad(f)(W, k)[0] == f(W, k)
