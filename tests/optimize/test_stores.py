"""Stores into one place, one after the other, are one; those that are not stay as they are."""

import numpy as np

import srcdiff
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.kinds.interpreter import infer
from srcdiff.kinds.lattice import kind_of
from srcdiff.normalize.live_ranges import webs
from srcdiff.optimize.stores import with_first_stores
from tests.optimize.test_simplify import simplified, text_of
from tests.support.differences import check_gradient

X = np.ones(4)


def test_what_is_added_to_a_cleared_place_is_stored():
    def before(d_x, v, i):
        t = d_x[i]
        d_x[i] = 0.0
        d_x[i] += t * v
        d_x[i] -= v
        return d_x

    text = simplified(before, d_x=X, v=2.0, i=1)
    assert text == ["d_x[i] *= v", "d_x[i] -= v", "return d_x"]


def test_two_terms_are_one_line_and_three_are_not():
    def before(d_x, u, v):
        d_x[1:] += 2.0 * u
        d_x[1:] += v
        d_x[1:] += 3.0 * v
        return d_x

    text = simplified(before, d_x=X, u=X[1:], v=X[1:])
    assert text == ["d_x[1:] += 2.0 * u + v", "d_x[1:] += 3.0 * v", "return d_x"]


def test_the_same_term_twice_is_twice_the_term():
    def before(d_x, u, v):
        d_x[1:] += u * v
        d_x[1:] += u * v
        return d_x

    assert simplified(before, d_x=X, u=2.0, v=X[1:]) == ["d_x[1:] += 2.0 * (u * v)", "return d_x"]


def test_what_is_stored_back_is_not_stored():
    def before(d_x, v, s):
        t = np.copy(d_x[1:])
        s[0] = v
        d_x[1:] = 0.0
        d_x[1:] += t
        return t, d_x, s

    text = simplified(before, d_x=X.copy(), v=2.0, s=[1.0])
    assert text == ["t = np.copy(d_x[1:])", "s[0] = v", "return t, d_x, s"]


def test_a_read_in_between_keeps_stores_apart():
    def before(d_x, v):
        d_x[1:] += v
        s = np.sum(d_x)
        d_x[1:] += v
        return d_x, s

    assert len(simplified(before, d_x=X, v=2.0)) == 4


def test_another_name_of_the_memory_keeps_stores_apart():
    def before(d_x, v):
        w = d_x[2:]
        d_x[1] = 0.0
        w[0] = d_x[1] + v
        d_x[1] += v
        return d_x, w

    assert "d_x[1] += v" in simplified(before, d_x=X, v=2.0)


def test_a_value_in_the_memory_itself_is_read_before_it_is_cleared():
    def before(d_x):
        w = d_x[2:]
        d_x[2:] = 0.0
        d_x[2:] += w
        return d_x

    assert "d_x[2:] = 0.0" in simplified(before, d_x=X)


def test_an_index_that_is_bound_anew_is_another_place():
    def before(d_x, v, i):
        d_x[i] += v
        i = i + 1
        d_x[i] += v
        return d_x

    assert len(simplified(before, d_x=X, v=2.0, i=1)) == 4


def test_single_precision_adds_step_by_step():
    def before(d_x, u, v):
        d_x[1] += u
        d_x[1] += v
        return d_x

    single = X.astype(np.float32)
    assert len(simplified(before, d_x=single, u=np.float32(1.0), v=np.float64(1e-9))) == 3


def test_an_array_of_positions_may_name_one_twice():
    def before(d_x, v, i):
        d_x[i] = 0.0
        d_x[i] += v
        return d_x

    assert len(simplified(before, d_x=X, v=2.0, i=np.array([0, 0]))) == 3


# --- what is added first to a part of an array of zeros -----------------------------------------


def stored(function, **arguments):
    """The text of a function after the pass, all of it taken as generated."""
    lowered = webs(lower(parse(function)))
    kinds = infer(lowered, {n: kind_of(v, n) for n, v in arguments.items()})
    return text_of(with_first_stores(lowered, {**kinds}))


def test_what_is_added_first_is_stored():
    def before(x, u, v):
        d_x = np.zeros_like(x)
        d_x[1] += u
        d_x[0] -= u
        d_x[1:] += v
        return d_x

    text = stored(before, x=X, u=2.0, v=X[1:])
    first = ["d_x = np.zeros_like(x)", "d_x[1] = u", "d_x[0] = -u"]
    assert text == [*first, "d_x[1:] += v", "return d_x"]


def test_what_is_not_certainly_the_first_is_added():
    def seen(x, v):
        d_x = np.zeros_like(x)
        part = d_x[1:]
        d_x[1:] += v
        return d_x, part

    def from_the_end(x, u):
        d_x = np.zeros_like(x)
        d_x[-1] += u
        d_x[0] += u
        return d_x

    def in_a_loop(x, u, n):
        d_x = np.zeros_like(x)
        for i in range(n):
            d_x[i] += u
        return d_x

    def of_itself(x):
        d_x = np.zeros_like(x)
        d_x[1:] += d_x[:-1]
        return d_x

    def of_ones(x, u):
        d_x = np.ones_like(x)
        d_x[1] += u
        return d_x

    def any_element(x, u, i):
        d_x = np.zeros_like(x)
        d_x[i] += u
        d_x[1] += u
        return d_x

    assert "d_x[1:] += v" in stored(seen, x=X, v=X[1:])
    assert stored(from_the_end, x=X, u=2.0)[1:3] == ["d_x[-1] = u", "d_x[0] += u"]
    assert "d_x[i] += u" in stored(in_a_loop, x=X, u=2.0, n=2)
    assert "+=" in " ".join(stored(of_itself, x=X))
    assert "d_x[1] += u" in stored(of_ones, x=X, u=2.0)
    assert stored(any_element, x=X, u=2.0, i=1)[1:3] == ["d_x[i] = u", "d_x[1] += u"]


def test_numbers_of_another_dtype_are_added():
    def before(x, u):
        d_x = np.zeros_like(x)
        d_x[1:] += u
        return d_x

    assert stored(before, x=X, u=1j * X[1:])[1] == "d_x[1:] += u"  # an error, as NumPy says
    assert stored(before, x=X.astype("f4"), u=X[1:])[1] == "d_x[1:] += u"


def test_places_from_both_ends_are_one_element():
    def f(x):
        return x[-2] * x[0] + np.sum(x[1:] ** 2)

    for n in (2, 3, 5):
        check_gradient(f, (np.linspace(0.3, 1.0, n),))
    assert "d_x[0] = " not in srcdiff.source(f, example=(X,))
