"""Elements that arrays of integers choose: read in loops, and added to by loops."""

import numpy as np
import pytest

import srcdiff
from srcdiff.runtime.loops import check_indices
from tests.kernels.test_fusion import loops, text_and_gap
from tests.support.differences import check_gradient

RNG = np.random.default_rng(5)
N, M = 7, 30
X = RNG.normal(size=(N, 3))
I = RNG.integers(-N, N, M)  # noqa: E741
J = np.where(RNG.random(M) < 0.4, I, RNG.integers(0, N, M))  # some are both ends
W = RNG.random(M) + 0.5


def springs(x, i, j, k):
    d = x[i] - x[j]
    r = np.sqrt(np.sum(d * d, axis=1) + 0.01)
    return np.sum(k * (r - 1.0) ** 2)


def chosen(x, i):
    return np.sum(np.sin(x[i]) * x[i])


def of_a_grid(x, i):
    return np.sum(np.exp(x[i.reshape(6, 5)]) * 0.1)


def by_two(a, i, j, w):
    return np.sum(np.exp(-a[i, j % 3]) * w)


def rows_spread(x, i, w):
    return np.sum((x[i] - w) ** 2 * w)


def counted(x, j):
    h = np.zeros(N)
    np.add.at(h, j, x * x)
    return np.sum(np.log(h + 1.0))


def stepped(x, i, j):
    v = np.zeros_like(x)
    for _ in range(3):
        f = np.zeros_like(x)
        d = x[i] - x[j]
        np.subtract.at(f, i, d)
        np.add.at(f, j, d)
        v = v + 0.1 * f
        x = x + 0.1 * v
    return np.sum(x**2)


def places_that_change(x, i):
    at = i.copy()
    total = 0.0
    for k in range(4):
        total = total + np.sum(np.tanh(x[at]) * x[at])
        at[k] = 2
    return total


def array_that_changes(x, i):
    x = x.copy()
    for _ in range(3):
        g = x[i] * 0.5
        x[:3] += g[:3] ** 2
    return np.sum(x**3)


def copy_that_changes(x, i):
    y = x[i] * 3.0
    y[0] = 2.0
    return np.sum(y * x[i])


PROGRAMS = [
    (springs, X, I, J, W),
    (chosen, X, I),
    (chosen, X[:, 0].copy(), I),
    (chosen, np.asfortranarray(X), I),
    (of_a_grid, X, I),
    (by_two, X, I, J, W),
    (rows_spread, X, I, RNG.random(3)),
    (rows_spread, X, I, RNG.random((M, 1))),
    (counted, W, J),
    (stepped, X, I, J),
    (places_that_change, X[:, 1].copy(), I),
    (array_that_changes, X[:, 0].copy(), I),
    (copy_that_changes, X, I),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p[0].__name__)
def test_loops_choose_the_elements(program):
    f, *args = program
    inputs = tuple(k for k, a in enumerate(args) if a.dtype == float)
    check_gradient(f, tuple(args), inputs)
    text, gap = text_and_gap(f, *args, compile="loops", inputs=inputs)
    assert gap <= 1e-12
    assert ".at(" not in text and "check_indices" in text


def test_what_adds_up_in_two_places_is_one_loop():
    text, _ = text_and_gap(springs, X, I, J, W, compile="loops")
    assert loops(text) == 2  # what is computed beside it would be computed element by element


@pytest.mark.parametrize("f", [springs, by_two, counted])
def test_numba_compiles_them(f):
    pytest.importorskip("numba", reason="Numba compiles them")
    args = {springs: (X, I, J, W), by_two: (X, I, J, W), counted: (W, J)}[f]
    expected = srcdiff.value_and_grad(f)(*args)
    for found in (srcdiff.value_and_grad(f, compile=c)(*args) for c in ("numba", "loops")):
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_add_to_copies(threads):
    pytest.importorskip("numba", reason="Numba compiles them")
    rng = np.random.default_rng(6)
    many = 66_000 * threads  # of fewer each a thread does not take a part
    i, j = rng.integers(-N, N, many), rng.integers(0, N, many)
    args = X, i, j, rng.random(many) + 0.5
    expected = srcdiff.grad(springs)(*args)
    found = srcdiff.grad(springs, compile="loops", threads=threads)(*args)
    np.testing.assert_allclose(found, expected, rtol=1e-11)


@pytest.mark.parametrize("wrong", [N, -N - 1])
@pytest.mark.parametrize("compile", ["numba", "loops"])
def test_a_place_that_is_not_there_is_an_error(wrong, compile):
    pytest.importorskip("numba", reason="Numba compiles them")

    def f(x, at):
        return np.sum(np.sin(x[at]) * x[at])

    g = srcdiff.grad(f, compile=compile)
    g(X, np.array([0, N - 1, -N]))
    with pytest.raises(IndexError, match="out of bounds"):
        g(X, np.array([0, wrong]))


def test_strict_sums_keep_their_order():
    text = srcdiff.source(springs, example=(X, I, J, W), compile="loops", strict=True)
    assert "np.add.at" in text


def test_places_are_checked_as_numpy_does():
    check_indices((3, 2), np.array([0, -3]), np.array([[1, -2]]))
    check_indices((0,), np.array([], int))
    for shape, places in (((3,), np.array([0, 3])), ((3,), np.array([-4, 2]))):
        with pytest.raises(IndexError) as numpy:
            np.zeros(shape)[places]
        with pytest.raises(IndexError, match=str(numpy.value)):
            check_indices(shape, places)
