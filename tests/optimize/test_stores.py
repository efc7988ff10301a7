"""Stores into one place, one after the other, are one; those that are not stay as they are."""

import numpy as np
import pytest

import srcdiff
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.kinds.interpreter import infer
from srcdiff.kinds.lattice import kind_of
from srcdiff.normalize.live_ranges import webs
from srcdiff.optimize.stores import with_first_stores
from srcdiff.runtime.trees import zero_tree
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


# --- items of lists and dicts ---------------------------------------------------------------------


def test_what_is_taken_from_an_item_that_becomes_zero_and_put_back_stays_there():
    def numbers(d_s, d_x):
        d_t = d_s["u"]
        d_s["u"] = zero_tree(d_t)
        d_s["v"] += 0.1 * d_t
        d_s["u"] += d_t
        d_x[0] += d_s["u"]
        return d_s, d_x

    text = simplified(numbers, d_s={"u": 1.0, "v": 2.0}, d_x=X)
    kept = ['d_t = d_s["u"]', 'd_s["v"] += 0.1 * d_t', 'd_x[0] += d_s["u"]', "return d_s, d_x"]
    assert text == kept

    def arrays(d_s):
        d_t = d_s["u"]
        d_s["u"] = zero_tree(d_t)
        d_s["v"] += 0.1 * d_t
        d_s["u"] += d_t
        return d_s

    text = simplified(arrays, d_s={"u": X, "v": X + 1.0})
    assert text == ['d_t = d_s["u"]', 'd_s["v"] += 0.1 * d_t', "return d_s"]


def test_an_item_that_is_an_array_has_memory_of_its_own_while_somebody_reads_the_old_one():
    def before(d_s, v):
        d_t = d_s["u"]
        d_s["u"] = zero_tree(d_t)
        d_s["u"] += d_t
        d_s["u"] += v
        return d_s, 2.0 * d_t

    text = simplified(before, d_s={"u": X}, v=X)
    assert 'd_s["u"] = np.zeros_like(d_t)' in text


def test_a_list_that_is_seen_between_has_the_zero():
    def before(d_xs, other, v):
        d_xs[0] = 0.0
        other.append(sum(d_xs))
        d_xs[0] += v
        return d_xs, other

    assert "d_xs[0] = 0.0" in simplified(before, d_xs=[1.0, 2.0], other=[], v=2.0)


def of_a_state(x, k):
    s = {"u": x, "v": np.zeros_like(x)}
    for _ in range(5):
        s["v"] = s["v"] - k * np.sin(s["u"])
        s["u"] = s["u"] + 0.1 * s["v"]
    return np.sum(s["u"] * s["v"])


def of_numbers(x, k):
    tank = {"level": x[0] * 1.0, "flow": 0.0}
    out = 0.0
    for i in range(len(x)):
        tank["flow"] = k * np.sqrt(tank["level"])
        tank["level"] = tank["level"] + x[i] - tank["flow"]
        out += tank["flow"] * tank["level"]
    return out


def test_the_adjoint_of_a_dict_keeps_what_its_items_go_on_with():
    for function in (of_a_state, of_numbers):
        check_gradient(function, (X + np.arange(4.0), 0.3), ("x", "k"))
        text = srcdiff.source(function, example=(X, 0.3))
        assert text.count("zero_tree(") == 1
        assert "np.zeros_like(d_" not in text


def test_what_is_added_first_to_an_item_is_stored():
    def result(x):
        s = {"mean": np.mean(x), "spread": np.std(x)}
        return s["mean"] * s["spread"]

    text = srcdiff.source(result, example=(X + np.arange(4.0),))
    assert 'd_s["spread"] = ' in text
    assert "add_tree" not in text
    check_gradient(result, (X + np.arange(4.0),), ("x",))


# --- stores that a later one writes over ----------------------------------------------------------


def test_what_is_stored_over_before_anybody_reads_is_not_stored():
    def before(d_x, u, v):
        d_x[::2] = u
        d_x[1] += v
        d_x[...] = v
        return d_x

    assert simplified(before, d_x=X, u=X[::2], v=2.0) == ["d_x[...] = v", "return d_x"]


def test_what_is_read_before_it_is_stored_over_is_stored():
    def before(d_x, u, v):
        d_x[::2] = u
        t = np.sum(d_x)
        d_x[...] = v
        return d_x, t

    assert simplified(before, d_x=X, u=X[::2], v=2.0)[0] == "d_x[::2] = u"

    def itself(d_x, u):
        d_x[::2] = u
        d_x[...] = d_x[::-1]
        return d_x

    assert simplified(itself, d_x=X, u=X[::2])[0] == "d_x[::2] = u"

    def elsewhere(d_x, i, u):
        d_x[i] = u
        i = i + 1
        d_x[i] = 2.0 * u
        return d_x

    assert len(simplified(elsewhere, d_x=X, i=1, u=2.0)) == 4


def written_twice(x, k):
    t = x * 1.0
    inner = t[1:-1]
    total = 0.0
    for _ in range(3):
        inner[...] = np.sin(inner) * k
        inner[::2] += k * x[1:-1:2]
        total += np.sum(t)
    return total


def test_a_view_that_is_written_into_twice_is_restored_once():
    text = srcdiff.source(written_twice, example=(np.linspace(0.5, 1.5, 9), 0.8))
    assert "inner[...] = inner_saved.pop()" in text
    assert "inner[::2] = " not in text
    check_gradient(written_twice, (np.linspace(0.5, 1.5, 9), 0.8), ("x", "k"))


# --- adjoints that begin with two terms -----------------------------------------------------------


def test_two_terms_that_begin_an_adjoint_are_one_sum():
    def before(u, v, w):
        d_x = u * v
        d_y = np.sin(v)
        d_x += v * w
        return d_x, d_y

    text = simplified(before, u=2.0, v=X, w=X)
    assert text == ["d_y = np.sin(v)", "d_x = u * v + v * w", "return d_x, d_y"]

    def three(u, v, w):
        d_x = u * v
        d_x += v * w
        d_x += np.cos(w)
        return d_x

    assert simplified(three, u=2.0, v=X, w=X) == [
        "d_x = u * v + v * w", "d_x += np.cos(w)", "return d_x"
    ]  # fmt: skip


def test_an_adjoint_that_is_seen_or_changes_by_itself_begins_with_one_term():
    def seen(u, v):
        d_x = u * v
        d_y = 2.0 * d_x
        d_x += v
        return d_x, d_y

    assert "d_x += v" in simplified(seen, u=2.0, v=X)

    def by_itself(v):
        d_x = np.copy(v)
        d_x -= d_x
        return d_x

    assert "d_x -= d_x" in simplified(by_itself, v=X)

    def view(v, u):
        d_x = v[1:]
        d_x += u
        return v

    assert simplified(view, v=X, u=X[1:])[-2:] == ["d_x += u", "return v"]

    def written(u, v):
        d_x = u[0] * v
        u[0] = 3.0
        d_x += u[0]
        return d_x, u

    assert simplified(written, u=X, v=2.0)[0] == "d_x = u[0] * v"


def test_terms_that_need_a_line_each_have_one():
    def before(x, u, v):
        d_x = np.sum(np.exp2(u - v), axis=0) * np.sum(np.exp2(v - u), axis=0) * x
        d_x += np.sum(np.exp2(u + v), axis=0) * np.sum(np.exp2(v - u), axis=0)
        return d_x

    assert len(simplified(before, x=X, u=np.ones((3, 4)), v=X)) >= 3


def test_an_array_of_one_precision_takes_the_sum_of_another():
    def before(u, v):
        d_x = 2.0 * u
        d_x += v
        return d_x

    single = X.astype(np.float32)
    assert "d_x += v" in simplified(before, u=single, v=X)


# --- the whole before its parts ------------------------------------------------------------------


def test_what_is_added_to_the_whole_comes_before_its_parts():
    def before(x, v, i):
        d_x = np.zeros_like(x)
        d_x[i] += v
        d_x += 2.0 * x
        d_x += 3.0 * v
        return d_x

    text = simplified(before, x=X, v=X, i=slice(0, 4))
    assert text == ["d_x = 2.0 * x + 3.0 * v", "d_x[i] += v", "return d_x"]


def test_parts_stay_before_the_whole_where_they_are_read_or_replaced():
    def reads(x, v):
        d_x = np.zeros_like(x)
        d_x[1] += v[0]
        v = d_x[1] * v
        d_x += 2.0 * x
        return d_x, v

    def replaces(x, v):
        d_x = np.zeros_like(x)
        d_x[1] = v[0]
        d_x += 2.0 * x
        return d_x

    def changes(x, v):
        d_x = np.zeros_like(x)
        d_x[1:] += v[1:]
        v[2] = 5.0
        d_x += 2.0 * x
        return d_x

    def is_another_ones(x, v):
        d_x = np.zeros_like(x)
        d_x[1] += v[0]
        d_x += x
        return d_x

    for before in (reads, changes, is_another_ones):
        text = simplified(before, x=X, v=X + 0.5)
        at = [k for k, line in enumerate(text) if line.startswith("d_x")]
        assert text[at[0]] == "d_x = np.zeros_like(x)" and text[at[1]].startswith("d_x[1"), before
    assert "d_x[1] = v[0]" in simplified(replaces, x=X, v=X)


def test_what_is_spread_for_a_sum_is_spread_by_it():
    def f(A, x):
        return np.sum((A @ x) @ A)

    A = np.arange(12.0).reshape(3, 4) / 7
    text = srcdiff.source(f, (0, 1), example=(A, A[0]))
    assert "d_A = np.expand_dims(grad_outputs * (A @ x), 1) + np.outer(" in text
    check_gradient(f, (A, A[0]), (0, 1))


# --- subscripts are compared axis by axis --------------------------------------------------------


def row_with_a_new_axis(x):
    return x[0, 1] ** 2 + np.sum(x[None, 0] ** 3)


def chosen_in_two_axes(x):
    m = np.array([[True, True, False, False], [False, True, False, True], [False] * 4])
    y = np.stack([x, 2.0 * x, x**2], axis=-1)
    return np.sum(y[m, 0] ** 2) + np.sum(y[np.arange(2), 1] ** 3)


def stored_where_chosen(x):
    m = np.array([[True, False], [False, True]])
    y = np.ones((2, 2, 4)) * x[0]
    y[m, 0] = x[1, :2] ** 2
    y[0, 1] = x[2] * 2.0
    y[m, 1] += x[0, 1:3]
    return np.sum(y**3)


@pytest.mark.parametrize("f", [row_with_a_new_axis, chosen_in_two_axes, stored_where_chosen])
def test_subscripts_are_compared_axis_by_axis(f):
    check_gradient(f, (np.linspace(0.2, 1.7, 12).reshape(3, 4),))
