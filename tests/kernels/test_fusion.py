"""Which array statements become one loop nest, and that the loops compute what NumPy does."""

import contextlib
import importlib
import re
import sys

import numpy as np
import pytest

import srcdiff
from tests.corpus.native import assert_same_bits, interpreted

X = np.linspace(0.1, 1.3, 7)
Z = X - 1j * np.cos(3.0 * X)
A = np.linspace(-1.0, 1.0, 20).reshape(4, 5)
A3 = np.linspace(-1.0, 1.0, 60).reshape(3, 4, 5)


def text_and_gap(f, *args, compile="numba", **options):
    """The module for Numba, and how far its results, computed by Python, are from NumPy's."""
    expected = srcdiff.value_and_grad(f, **options)(*[a.copy() for a in args])
    with interpreted():
        g = srcdiff.value_and_grad(f, compile=compile, **options)
        found = g(*[a.copy() for a in args])
    gap = max(
        np.max(np.abs(np.asarray(x) - np.asarray(y)), initial=0.0)
        for x, y in zip(_leaves(found), _leaves(expected), strict=True)
    )
    return g.source, gap


def _leaves(value):
    return [leaf for part in value for leaf in _leaves(part)] if type(value) is tuple else [value]


def loops(text):
    """How many loop functions a module has."""
    return text.count('@numba.njit(error_model="numpy"')


def chain(x, y):
    t = np.sin(x) * y
    return np.sum(np.sqrt(1.0 + t * t))


def softmax(a):
    e = np.exp(a - np.max(a, axis=-1, keepdims=True))
    return np.sum((e / np.sum(e, axis=-1, keepdims=True)) ** 2)


def normalised(x):
    return np.sum(np.tanh(x / np.sum(x)) ** 2)


def biased(a, b):
    return np.sum(np.tanh(a + b))


def centred(a):
    return np.sum((a - np.mean(a)) ** 3)


def flux(u):
    r = u[1:] - u[:-1]
    return np.sum(np.where(r > 0.2, 0.0, r) ** 2)


def inner(u):
    lap = u[1:-1, 2:] + u[1:-1, :-2] - 2.0 * u[1:-1, 1:-1]
    return np.sum(lap * lap)


def by_rows_without_their_axis(a):
    m = a - a.mean(axis=1)[:, None]
    return np.sum(np.tanh(m / np.sqrt((m * m).sum(axis=1))[:, None]))


def deviations(a):
    return np.mean(np.std(a, axis=1, ddof=1) ** 2) + np.sum(np.clip(a, -0.5, 0.3))


def pairs(x):
    d = x[:, None] - x[None, :]
    return np.sum(np.exp(-(d**2)))


def of_vectors(x, y):
    return np.sum(np.cos(np.outer(x, y)))


def lengths(a):
    return np.sum(np.linalg.norm(a, axis=1))


@pytest.mark.parametrize(
    "f, args, count",
    [
        (chain, (X, X + 1.0), 1), (softmax, (A,), 1), (normalised, (X,), 1),
        (biased, (A, X[:5]), 1), (centred, (A,), 1), (flux, (X,), 1), (inner, (A,), 1),
        (by_rows_without_their_axis, (A,), 1), (deviations, (A,), 2), (pairs, (X,), 2),
        (of_vectors, (X, X + 1.0), 1), (lengths, (A,), 1),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)  # fmt: skip
def test_how_many_nests_there_are(f, args, count):
    text, gap = text_and_gap(f, *args, inputs=tuple(range(len(args))))
    assert gap < 1e-13
    assert loops(text) == count


def wave(z, k):
    w = np.exp(1j * k * z) * z.conj() + 2.0 * z
    return np.sum(np.abs(w * w / (1.5 + z)) ** 2)


def field(a, b):
    c = a * np.conj(b) - 0.5j * a
    c[1:] += a[:-1] * 2.0
    return np.sum((c * np.conj(c)).real)


def phase(x):
    z = np.exp(1j * x)
    return np.sum(np.real(np.where(x > 0.5, z * z, 0.5) / z))


def total(z):
    return np.abs(np.sum(z * z))


@pytest.mark.parametrize(
    "f, args", [(wave, (Z, 0.5)), (field, (Z, Z[::-1] + 0.3)), (phase, (X,)), (total, (Z,))],
    ids=lambda v: getattr(v, "__name__", ""),
)  # fmt: skip
def test_complex_numbers(f, args):
    text, gap = text_and_gap(f, *map(np.asarray, args))
    assert gap < 1e-13
    assert loops(text) and " exp" not in text.split("\n\n")[0]


def test_a_chain_makes_no_array_but_the_gradients():
    text, _ = text_and_gap(chain, X, X + 1.0, inputs=(0, 1))
    assert text.count(" empty(") == 2
    assert "# backward" in text.split("def chain_value_and_grad(")[0]


def test_what_costs_little_is_computed_again():
    text, _ = text_and_gap(softmax, A)
    assert "np.bool_" not in text, "the comparison with the maximum is kept"


# --- what may not be one nest ---------------------------------------------------------------------


def shifted(u):
    u[1:] += u[:-1]
    u[:-1] *= u[1:]
    return np.sum(u**2)


def stepped(u):
    for _ in range(3):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - u[:-2])
    return np.sum(u * u)


def read_before_and_behind(u):
    first = u * 2.0
    u[2:] = first[:-2]
    return np.sum(u * first)


def through_two_names(u):
    v = u[::2]
    v *= 3.0
    return np.sum(u * u) + np.sum(v)


def bound_again(u):
    y = u
    for k in range(3):
        y = np.where(y > 0.5, y * 0.7, y + 0.1 * k)
        y[k] = y[k] ** 2
    return np.sum(y)


def summed_first(u):
    total = np.sum(u)
    u *= total
    return np.sum(u) * total


def turned(a):
    y = np.sin(a.T * 1.5)
    z = y.ravel()
    z *= 2.0
    return np.sum(y * y)


def chosen_by_a_number(a):
    s = 0.0
    for k in range(3):
        v = a[k, 1:, 2:]
        s = s + np.sum(np.sin(v) * v)
    return s


def axes_inserted(a):
    a[None, 1:, 2:] *= 2.0
    a[1:, None, 2:] += 0.5
    return np.sum(np.sin(a))


def of_the_shape_before(x):
    total = 0.0
    for _ in range(2):
        shape = x.shape
        x = x[1:] * 2.0
        z = np.full(shape, 3.0)
        total = total + np.sum(z * z) + np.sum(x)
    return total


def by_a_slice_object(a):
    rows = slice(1, 3)
    a[rows, 2:] *= 2.0
    a[1:, rows] += 0.5
    return np.sum(np.sin(a))


def a_vector_along_two_axes(a):
    x = a[0] + 2.0
    z = np.sum(a, axis=1) * x
    e = np.exp(a - np.sum(a, axis=1, keepdims=True)) * x
    return np.sum(e) + np.sum(z)


@pytest.mark.parametrize(
    "f, x",
    [
        (shifted, X), (stepped, X), (read_before_and_behind, X), (through_two_names, X),
        (bound_again, X), (summed_first, X), (turned, A), (chosen_by_a_number, A3),
        (axes_inserted, A), (by_a_slice_object, A), (of_the_shape_before, X),
        (a_vector_along_two_axes, A3[0, :, 1:]),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)  # fmt: skip
def test_what_is_read_is_what_was_there(f, x):
    _, gap = text_and_gap(f, x)
    assert gap < 1e-13


def test_an_overlapping_store_is_no_loop():
    text, _ = text_and_gap(shifted, X)
    assert "u[1:] += np.copy(u[:-1])" in text


def bound_behind_its_reader(a):
    r, total = np.sum(a, axis=1, keepdims=True), 0.0
    for _ in range(3):
        s = np.sum(a * r, axis=1, keepdims=True)
        d = a * s * r
        r = s * 0.1
        total = total + np.sum(d * r)
    return total


def computed_of_what_is_bound_again(a):
    y, total = a * 1.0, 0.0
    for _ in range(3):
        c = y * 2.0
        s = np.sum(c)
        y = np.sin(y)
        total = total + np.sum(y * s * c)
    return total


@pytest.mark.parametrize("f", [bound_behind_its_reader, computed_of_what_is_bound_again])
def test_what_is_read_before_its_name_is_bound_again(f):
    expected = srcdiff.jvp(f, (A + 0.3,), (A,))
    with interpreted():
        found = srcdiff.jvp(f, (A + 0.3,), (A,), compile="numba")
    np.testing.assert_allclose(found, expected, rtol=1e-12)


# --- compiled -------------------------------------------------------------------------------------

needs_numba = pytest.mark.skipif(
    importlib.util.find_spec("numba") is None, reason="needs Numba, which is an extra"
)


@needs_numba
def test_other_lengths_are_refused_as_numpy_does():
    g = srcdiff.grad(chain, (0, 1), compile="numba")
    g(X, X)
    with pytest.raises(ValueError, match="broadcast") as caught:
        g(X, X[:6])
    if sys.version_info >= (3, 11):
        assert any("test_fusion.py:" in note for note in caught.value.__notes__)
    with pytest.raises(ValueError, match="broadcast"):
        g(X[:6], X)


@needs_numba
def test_a_vector_along_two_axes_has_both_lengths():
    def both(a, x):
        return np.sum(np.sum(a * a, axis=1) * x) + np.sum(a * x)

    g = srcdiff.grad(both, (0, 1), compile="numba")
    g(A[:, 1:], A[:, 0])
    with pytest.raises(ValueError, match="broadcast"):
        g(A, A[:, 0])
    with pytest.raises(ValueError, match="broadcast"):
        g(A, A[0])


@needs_numba
def test_what_only_gives_a_shape_has_to_have_it():
    def of_ones(a, x):
        return np.sum(np.ones_like(np.maximum(a, x)) * a)

    g = srcdiff.grad(of_ones, 0, compile="numba")
    g(A, A[0])
    with pytest.raises(ValueError, match="broadcast"):
        g(A, A[0, 1:])


WEIGHTS = np.array([0.3, -0.6, 0.9])


def test_an_array_outside_gives_a_shape():
    def weighted(x):
        return np.sum(x * (WEIGHTS * np.ones(WEIGHTS.shape)))

    with interpreted():
        found = srcdiff.grad(weighted, compile="numba")(np.ones(3))
    np.testing.assert_array_equal(found, WEIGHTS)


@needs_numba
def test_integers_out_of_range_are_refused_as_numpy_does():
    def one_element(a, b, k):
        return np.sum(np.sin(a[k, 0:1, 2:3] * b))

    g, plain = (srcdiff.grad(one_element, 1, compile=c) for c in ("numba", None))
    for k in (2, -1):
        np.testing.assert_allclose(g(A3, A, k), plain(A3, A, k), rtol=1e-12)
    for k in (3, -4):
        with pytest.raises(IndexError, match="out of bounds"):
            g(A3, A, k)


@needs_numba
def test_sums_of_loops_are_numbers():
    def with_a_number(x, z):
        s = np.sum(x) * z
        y = x * s
        y += z
        return np.sum(y) + s

    g, plain = (srcdiff.grad(with_a_number, (0, 1), compile=c) for c in ("numba", None))
    for one, other in zip(g(X, 2.0), plain(X, 2.0), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@needs_numba
def test_means_of_parts_that_may_be_empty():
    def tail(x):
        return np.mean(x[2:]) * np.mean(x, axis=0)

    with np.errstate(invalid="ignore"):
        for x in (X, X[:3], X[:2]):
            found = srcdiff.value_and_grad(tail, compile="numba")(x)
            with pytest.warns(RuntimeWarning) if len(x) == 2 else contextlib.nullcontext():
                expected = srcdiff.value_and_grad(tail)(x)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12)


@needs_numba
def test_numbers_are_divided_as_numpy_does():
    def quotient(x, y):
        return np.sum(x / y)

    with np.errstate(divide="ignore"):
        (d,) = srcdiff.grad(quotient, (0,), compile="numba")(X, np.zeros(7))
    assert np.all(np.isposinf(d))


@needs_numba
def test_zero_is_raised_to_negative_integers_as_numpy_does():
    def powers(x, k, y):
        return np.sum(y * (x**-1 + x**-3 + x**k))

    x = np.array([0.0, -0.0, 2.0, -3.0, np.inf, np.nan])
    g, plain = (srcdiff.grad(powers, (2,), compile=c) for c in ("numba", None))
    with np.errstate(divide="ignore", invalid="ignore"):
        for k in (-2, -1, 0, 3, np.arange(-3, 3)):
            for one, other in zip(g(x, k, x), plain(x, k, x), strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-13)


@needs_numba
@pytest.mark.parametrize("x", [[np.nan, 1.0, 2.0, 0.5], [np.inf, 1.0, -np.inf, 0.0]])
def test_special_values(x):
    def extreme(x):
        return np.max(np.exp(x))

    x = np.array(x)
    with np.errstate(all="ignore"):
        expected = srcdiff.value_and_grad(extreme)(x)
        found = srcdiff.value_and_grad(extreme, compile="numba")(x)
    for one, other in zip(_leaves(found), _leaves(expected), strict=True):
        np.testing.assert_array_equal(one, other)


@needs_numba
def test_arrays_in_any_order():
    g, plain = srcdiff.grad(softmax, compile="numba"), srcdiff.grad(softmax)
    for a in (A, np.asfortranarray(A), A[::-1], A[:, ::2], A.T):
        np.testing.assert_allclose(g(a), plain(a), rtol=1e-12, atol=1e-15)


# --- loops that are the same ----------------------------------------------------------------------


def spread(a):
    b = np.zeros_like(a)
    b[1:, 1:] += a[:-1, 1:]
    b[:-1, 1:] += a[1:, 1:]
    b[1:, :-1] += a[1:, 1:]
    return np.sum(b * b)


def slopes(a):
    p = a[:, 1:] - a[:, :-1]
    sums = np.cumsum(p, axis=0)
    q = sums[:, 2:] - sums[:, 1:-1]
    return np.sum(np.cumsum(q, axis=0) ** 2)


def test_loops_that_differ_in_names_and_starts_are_one_function():
    text, gap = text_and_gap(slopes, A3)
    assert gap < 1e-13
    called = text.split("def slopes_value_and_grad(")[1].count("slopes_value_and_grad_loop")
    assert loops(text) < called
    assert ", start" in text


def test_parts_of_one_array_are_added_to_row_by_row():
    text, gap = text_and_gap(spread, A)
    assert gap < 1e-13
    assert text.count("for i in") == loops(text) == 3
    assert max(part.count("for j in") for part in text.split("\n\n\n")) == 3


def read_before(a, b):
    d = np.sin(a)
    t = d[:-1] * 2.0
    d[:-1] += b
    d[1:] += 3.0 * b
    return np.sum(t * t) + np.sum(d * d)


def read_between(a, b):
    d = np.sin(a)
    d[:-1] += b
    t = d[:-1] * 2.0
    d[1:] += 3.0 * b
    return np.sum(t * t) + np.sum(d * d)


@pytest.mark.parametrize("f", [read_before, read_between])
def test_parts_that_are_read_are_read_before_others_are_added_to(f):
    _, gap = text_and_gap(f, A, A[1:] + 0.5, inputs=(0, 1))
    assert gap < 1e-13


def test_parts_of_the_iteration_before_are_others():
    def steps(a):
        d = np.sin(a)
        t = np.zeros_like(a[0])
        for j in range(3):
            if j > 0:
                t = t + 2.0 * before  # noqa: F821 (bound by the iteration before)
                d[j] *= 2.0
            before = d[j]  # noqa: F841
        return np.sum(t * t) + np.sum(d * d)

    _, gap = text_and_gap(steps, A)
    assert gap < 1e-13


def by_the_first_row(a):
    return np.sum(np.tanh(a * a[:1]))


def by_the_first_column(a):
    b = np.sin(a)
    return np.sum(np.tanh(b * b[:, :1] * b[:1]))


@pytest.mark.parametrize("f, x", [(by_the_first_row, A), (by_the_first_column, A),
                                  (by_the_first_row, A3), (by_the_first_column, A3)])  # fmt: skip
def test_lines_of_a_part_are_not_those_of_its_array(f, x):
    _, gap = text_and_gap(f, x)
    assert gap < 1e-13


def test_elements_that_are_arrays_without_axes_are_written_into():
    def first(x):
        d = np.zeros(())
        d[...] += np.sum(x)
        e = x * 1.0
        one = e[0, ...]
        one[...] = x[1] * d
        return np.sum(e * e)

    for compiled in ("loops", "numba"):
        _, gap = text_and_gap(first, X, compile=compiled)
        assert gap < 1e-13


def test_loops_that_compute_something_else_are_not_shared():
    def both(x, y):
        p = np.exp(x)
        q = np.exp(y)
        u = np.zeros(9)
        u[:7] += p
        u[2:] -= q
        return np.sum(u * u)

    _, gap = text_and_gap(both, X, X + 0.5, inputs=(0, 1))
    assert gap < 1e-13


# --- reductions that keep their axes, and means along the first one -------------------------------


def softmax_of_a_vector(x):
    e = np.exp(x - np.max(x, keepdims=True))
    return np.sum((e / np.sum(e, axis=0, keepdims=True)) ** 2)


def centred_columns(a):
    c = a - np.mean(a, axis=0)
    return np.sum(c * c * c)


@pytest.mark.parametrize("f, x", [(softmax_of_a_vector, X), (centred_columns, A)])
def test_reductions_that_numba_does_not_have(f, x):
    _, gap = text_and_gap(f, x)
    assert gap < 1e-13


@needs_numba
@pytest.mark.parametrize("f, x", [(softmax_of_a_vector, X), (centred_columns, A)])
def test_reductions_that_numba_does_not_have_compile(f, x):
    found = srcdiff.value_and_grad(f, compile="numba")(x)
    for one, other in zip(_leaves(found), _leaves(srcdiff.value_and_grad(f)(x)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


# --- derivatives of derivatives -------------------------------------------------------------------


def settled(x):
    y = x * 1.0
    inner = y[1:-1]
    for k in range(3):
        inner *= 1.0 - 0.1 * k
        inner += np.exp(-y[2:]) * (1.0 - inner)
    return np.sum(y * y) + np.mean(y * y)


def test_the_mean_of_what_a_loop_makes_is_in_the_loop():
    text, gap = text_and_gap(settled, X)
    assert gap < 1e-13
    assert ".size" in text and "x.size" in text


@needs_numba
def test_products_with_hessians():
    found = srcdiff.hvp(settled, (X,), X, compile="numba")
    np.testing.assert_allclose(found, srcdiff.hvp(settled, (X,), X), rtol=1e-12)


@needs_numba
def test_what_numba_does_not_take_in_a_derivative_of_a_derivative_has_your_line():
    def by_einsum(x):
        return np.einsum("i,i,i->", x, x, x)

    with pytest.raises(srcdiff.SrcdiffError, match=r"test_fusion\.py:\d+"):
        srcdiff.hvp(by_einsum, (X,), X, compile="numba")


# --- products of vectors --------------------------------------------------------------------------


def triangular(a, b):
    b = b.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    return np.sum(b * b)


def there_and_back(a, x):
    return np.sum((a @ x) @ a)


def test_products_of_vectors_are_loops():
    """In the backward loop each part of an adjoint is added to in the loop that makes the term."""
    rng = np.random.default_rng(2)
    args = rng.standard_normal((4, 4)), rng.standard_normal((4, 3))
    text, gap = text_and_gap(triangular, *args, inputs=(0, 1))
    assert "np.dot" not in text and gap <= 1e-13
    assert "d_b[i + 1 :, j] +=" not in text


def test_a_product_is_in_the_loop_of_its_gradient():
    def f(x, y):
        return np.dot(x, y)

    text, gap = text_and_gap(f, X, X, compile="loops")
    assert loops(text) == 1 and "np.dot" not in text and gap <= 1e-15


class Settings:
    scale = 2.0


@pytest.mark.parametrize("compiled", ["loops", "numba"])
def test_constants_of_classes_have_names_of_their_own(compiled):
    """Numba reads no attributes of classes."""
    text, gap = text_and_gap(lambda x: np.sum(np.sin(x)) * Settings.scale, X, compile=compiled)
    assert "Settings_scale" in text and "Settings." not in text and gap < 1e-14


def test_products_with_one_matrix_go_over_it_once():
    """That of rows, that of columns and the outer products; what is one number is read as that."""
    text, gap = text_and_gap(there_and_back, A, X[:5], inputs=(0, 1), compile="loops")
    assert text.count("A_row = A[i]") + text.count("a_row = a[i]") == 1 and gap <= 1e-14
    assert "broadcast_to" not in text


def test_lengths_of_products_are_checked():
    def f(a, x, n):
        total = 0.0
        for k in range(n):
            total += np.dot(a[k:, k], x[k:]) * 2.0
        return total

    with interpreted(), pytest.raises(ValueError):
        srcdiff.grad(f, inputs=(0, 1), compile="numba")(A, X, 2)


def test_a_row_of_one_is_spread_over_a_part():
    """Only adjoints are known to have the shape of the part that they are added to."""

    def f(a, b):
        d_a = a * 2.0
        for k in range(2):
            d_a[k:] += b[1:] * 3.0
        return np.sum(d_a * d_a)

    for compile in ("numba", "loops"):
        _, gap = text_and_gap(f, X[:3], X[1:3], inputs=(0, 1), compile=compile)
        assert gap <= 1e-14


# --- strict: every bit of NumPy's ----------------------------------------------------------------


def polynomial(a, b):
    c = a * b - 2.0 * a
    return np.sum(c**2 / (1.0 + b * b) + np.sqrt(np.abs(c)))


def through_exp(a, b):
    c = np.exp(a * b + a) * a - b
    return np.mean(c * c, axis=0) @ np.sum(c - a, axis=0)


def stencil(a, b):
    w = 0.25 * (a[1:, 1:] + a[:-1, 1:] + a[1:, :-1] + a[:-1, :-1]) * b[1:, 1:]
    return np.sum(np.where(w > 0.1, w, w * w))


def outer_sums(a, b):
    d = a[:, :1] * b[:1] - b / (a + 3.0)
    return np.sum(d * d * a)


LAYOUTS = (
    np.ascontiguousarray, np.asfortranarray, lambda a: a[::-1], lambda a: a[:, ::-1],
    lambda a: np.repeat(a, 2, axis=1)[:, ::2], lambda a: a * np.where(a > 1.0, np.nan, -0.0),
)  # fmt: skip


@pytest.mark.parametrize("f", [polynomial, through_exp, stencil, outer_sums])
def test_strict_loops_give_every_bit(f):
    """Of arrays long enough for sums in blocks, in any order in memory."""
    pytest.importorskip("numba")
    drawn = np.random.default_rng(0).normal(size=(2, 40, 53))
    plain = srcdiff.value_and_grad(f, (0, 1))
    strict = srcdiff.value_and_grad(f, (0, 1), compile="loops", strict=True)
    with np.errstate(all="ignore"):
        for one in LAYOUTS:
            for other in LAYOUTS[:2]:
                args = one(drawn[0]), other(drawn[1])
                assert_same_bits(strict(*args), plain(*args))
    assert "_loop(" in strict.source and "add(" not in strict.source.replace("_add(", "")


def test_what_is_not_rounded_once_is_no_strict_loop():
    for f, args in ((softmax, (A,)), (by_rows_without_their_axis, (A,)), (wave, (Z, X))):
        with interpreted():
            g = srcdiff.value_and_grad(f, compile="loops", strict=True)
            g(*args)
        loop = g.source.partition(f"\ndef {f.__name__}_")[0] if "_loop(" in g.source else ""
        assert not any(word in loop for word in ("exp(", "tanh(", "maximum(", " += ", "1j"))


def test_parts_of_one_array_are_added_to_in_their_order():
    def f(x):
        y = np.zeros(len(x) + 2)
        y[:-2] += x * 3.0
        y[1:-1] += x / 3.0
        y[2:] += x * x
        return y / 7.0

    x = np.random.default_rng(1).normal(size=1000)
    pytest.importorskip("numba")
    for transform in (srcdiff.vjp, lambda f, x, **how: srcdiff.jvp(f, (x,), (x,), **how)):
        found = transform(f, x, compile="loops", strict=True)
        expected = transform(f, x)
        assert_same_bits(found[0], expected[0])
        more = [v[1](x[:1] * np.ones(1002)) if callable(v[1]) else v[1] for v in (found, expected)]
        assert_same_bits(*more)


def paths(s, v, z, w, k, xi):
    """The loops of a simulation of many paths at once: numbers are added to in each iteration."""
    for t in range(z.shape[0]):
        root = np.sqrt(np.maximum(v, 0.0) + 0.01)
        s = s + root * (0.3 * z[t] + 0.7 * w[t])
        v = v + k * (0.04 - v) + xi * root * z[t]
    return np.sum(np.exp(s) * v)


def test_iterations_are_one_loop_each_way():
    rng = np.random.default_rng(4)
    s, v, z, w = rng.random(9), rng.random(9), rng.random((5, 9)), rng.random((5, 9))

    def f(k, xi, s, v, z, w):
        return paths(s, v, z, w, k, xi)

    expected = srcdiff.value_and_grad(f, (0, 1, 2, 3))(0.5, 0.2, s, v, z, w)
    with interpreted():
        g = srcdiff.value_and_grad(f, (0, 1, 2, 3), compile="loops")
        found = g(0.5, 0.2, s, v, z, w)
    for one, two in zip(_leaves(found), _leaves(expected), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-13)
    run = g.source.rpartition("\ndef ")[2]
    for loop in re.findall(r"\n    for .*:\n((?:        .*\n)+)", run):
        assert len(re.findall(r"_loop(?:_\d+)?\(", loop)) == 1, loop


def product(x, y):
    t = x * 2.0
    u = np.tanh(y)
    return np.sum(t * u)


def test_what_lengths_have_in_common_is_relied_on_while_it_holds():
    """Lengths that are equal by chance may differ in the next call, and one of them may be 1."""
    one, two = np.linspace(0.1, 0.9, 6), np.linspace(0.2, 1.4, 7)

    def f(x, y, a):
        return product(x, y) + np.sum(np.sin(a) * 3.0) * np.sum(x)

    plain = srcdiff.value_and_grad(f, (0, 1, 2))
    with interpreted():
        g = srcdiff.value_and_grad(f, (0, 1, 2), compile="loops")
        for x, y, a in ((one, one, one), (one, one, two), (two, two, one), (one, one[:1], two)):
            for _ in range(3):  # the third call goes through guards alone
                found, expected = g(x, y, a), plain(x, y, a)
                for left, right in zip(_leaves(found), _leaves(expected), strict=True):
                    np.testing.assert_allclose(left, right, rtol=1e-14)
        for _ in range(3):
            with pytest.raises(ValueError, match="broadcast"):
                g(one, two, one)
        for a in (one, two):  # by keyword, in another order
            found, expected = g(a=a, y=one, x=one), plain(a=a, y=one, x=one)
            for left, right in zip(_leaves(found), _leaves(expected), strict=True):
                np.testing.assert_allclose(left, right, rtol=1e-14)


def test_lengths_are_related_in_a_few_ways_only():
    def f(x, y, z):
        return np.sum(np.sin(x)) * np.sum(np.cos(y)) * np.sum(np.tanh(z))

    plain, x = srcdiff.grad(f, (0, 1, 2)), np.linspace(0.1, 0.7, 5)
    with interpreted():
        g = srcdiff.grad(f, (0, 1, 2), compile="loops")
        for n in range(5, 10):
            for m in range(5, 10):
                args = x, np.linspace(0.2, 0.4, n), np.linspace(0.3, 0.5, m)
                for one, two in zip(g(*args), plain(*args), strict=True):
                    np.testing.assert_allclose(one, two, rtol=1e-14)
    assert 1 < len(g._cache) <= 5


def windows(a, w):
    out = np.empty((a.shape[0], w.shape[1]))
    for i in range(a.shape[0]):
        out[i] = np.sum(a[i : i + w.shape[0], np.newaxis] * w, axis=0)
    return np.sum(np.tanh(out))


def test_windows_of_which_the_last_is_cut_and_spread():
    """Nobody knows how long a window is; that it has an axis of length 1 is known."""
    text, gap = text_and_gap(windows, X, A3[0, :2], inputs=(0, 1))
    assert gap < 1e-14
    assert loops(text) == 6  # no product of which the shape alone is asked
    sums = [t for t in text.split("\ndef ") if "t[i, 0] = " in t]
    assert len(sums) == 1  # nor one that is summed over the axis by itself


def settled_rows(x, w):
    for _ in range(3):
        y = x[:, None] * w - np.mean(x)
        x = np.sum(np.tanh(y) * y, axis=1)
    return np.sum(x)


@pytest.mark.parametrize("compiled", ["numba", "loops"])
def test_what_a_backward_part_takes_from_lists_is_known(compiled):
    with interpreted():
        _, pull = srcdiff.vjp(settled_rows, inputs=(0, 1), compile=compiled)(X, A[0])
        found = pull()
    for one, other in zip(found, srcdiff.grad(settled_rows, (0, 1))(X, A[0])):
        np.testing.assert_allclose(one, other, rtol=1e-13)
    backward = pull.source[pull.source.rindex("def settled_rows_grad_backward(") :]
    turn = backward.partition("    for ")[2].partition("return")[0]
    assert turn.count("_loop") == 3
    assert "np.tanh" not in turn and "broadcast" not in turn and " @ " not in turn


def of_all(a, x):
    return (a @ x)[0]


def of_a_part(a, x):
    return (a[:, 1:] @ x)[0] + (x @ a.T[1:])[1]


def test_products_of_parts_of_matrices_are_loops():
    """A whole matrix lies as the routine wants it; a part would be copied for it."""
    text, gap = text_and_gap(of_all, A, X[:5], inputs=(0, 1))
    assert " @ " in text and gap < 1e-12
    text, gap = text_and_gap(of_a_part, A, X[:4], inputs=(0, 1))
    assert " @ " not in text and gap < 1e-12
