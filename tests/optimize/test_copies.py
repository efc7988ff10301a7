"""Copies that nobody needs are not made: not by stores, and not at the end."""

import numpy as np
import pytest

from srcdiff import ir
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.kinds.interpreter import infer
from srcdiff.kinds.lattice import kind_of
from srcdiff.normalize.live_ranges import webs
from srcdiff.optimize.copies import read_at_once, returned_at_once
from tests.optimize.test_simplify import simplified

X = np.ones(3)


def test_a_store_spreads_what_it_stores():
    def before(x, g):
        d = np.broadcast_to(g, x[1:].shape)
        x[1:] += d
        x[:2] = d
        return x

    assert simplified(before, x=X, g=2.0) == ["x[1:] += g", "x[:2] = g", "return x"]


def test_so_does_an_addition_at_integers():
    def before(x, i, g):
        np.add.at(x, i, np.broadcast_to(g, i.shape))
        return x

    text = simplified(before, x=X, i=np.array([0, 0]), g=2.0)
    assert text == ["np.add.at(x, i, g)", "return x"]


def test_an_item_of_a_list_is_what_is_stored():
    def before(g):
        xs = [None]
        xs[0] = np.broadcast_to(g, (3,))
        return xs

    assert "xs[0] = np.broadcast_to(g, (3,))" in simplified(before, g=2.0)


def test_numbers_that_would_be_wider_are_spread_first():
    def before(x, g):
        x[1:] += np.broadcast_to(g, x[1:].shape)
        return x

    text = simplified(before, x=X.astype(np.float32), g=np.ones(1))
    assert text == ["x[1:] += np.broadcast_to(g, x[1:].shape)", "return x"]


def test_a_copy_of_a_number_spread_out_is_an_array_full_of_it():
    def before(x, g):
        return np.copy(np.broadcast_to(g, x.shape))

    assert simplified(before, x=X, g=2.0) == ["return np.full(x.shape, g)"]
    assert simplified(before, x=X, g=X) == ["return np.copy(np.broadcast_to(g, x.shape))"]


def between(x, y):
    a = np.copy(x)
    b = np.sin(y)
    return a * b


def stored_between(x, y):
    a = np.copy(x)
    x[0] = 2.0
    return a * y


def bound_between(x, y):
    for _ in range(2):
        a = np.copy(x)
        x = y * 2.0
        y = a * x
    return x + y


def looped_between(x, y):
    a = np.copy(x)
    for k in range(2):
        x[k] = 2.0
    return a * y


def kept(x, y):
    a = np.copy(x)
    return a


def read_twice(x, y):
    a = np.copy(x)
    x[0] = np.sum(a * y)
    return a


def added(x, y):
    a = np.copy(x)
    y += a
    return y


def added_to_itself(x, y):
    z = x[1:]
    a = np.copy(x[:2])
    z += a
    return x


@pytest.mark.parametrize(
    ("before", "copied"),
    [(between, False), (stored_between, True), (bound_between, True), (looped_between, True),
     (kept, True), (read_twice, True), (added, False), (added_to_itself, True)],
    ids=lambda v: getattr(v, "__name__", ""),
)  # fmt: skip
def test_a_copy_stays_where_its_source_changes_before_it_is_read(before, copied):
    function = webs(lower(parse(before)))
    kinds = infer(function, {n: kind_of(X, n) for n in "xy"})
    calls = map(ir.call_of, ir.walk(read_at_once(function, kinds).body))
    assert any(c is not None and c.fn is np.copy for c in calls) is copied


# --- copies at the end ---------------------------------------------------------------------------


def summed(x):
    d = np.zeros_like(x)
    for _ in range(2):
        d = d + x
    r = np.copy(d)
    return r


def with_views(x):
    d = np.zeros_like(x)
    part = d.reshape(3, 1)
    part[0] = 2.0
    r = np.copy(d)
    return r


def held_by_a_list_that_ends(x):
    d = np.zeros_like(x)
    held = [d]
    held[0][1] = 2.0
    r = np.copy(d)
    return r


def returned_twice(x):
    d = np.zeros_like(x)
    r = np.copy(d)
    return r, d


def in_a_list_that_is_returned(x):
    d = np.zeros_like(x)
    held = [d]
    r = np.copy(d)
    return r, held


def in_a_view_that_is_returned(x):
    d = np.zeros_like(x)
    part = d[1:]
    r = np.copy(d)
    return r, part


def of_the_caller(x):
    d = x
    r = np.copy(d)
    return r


def part_of_the_callers(x):
    d = x[1:]
    r = np.copy(d)
    return r


def part_of_more(x):
    whole = np.zeros((9, 3))
    d = whole[0]
    r = np.copy(d)
    return r


def part_by_another_name(x):
    whole = np.zeros((9, 3))
    row = whole[0]
    d = row
    r = np.copy(d)
    return r


def stretched(x):
    d = np.broadcast_to(2.0, (3,))
    r = np.copy(d)
    return r


def stretched_in_one_branch(x):
    d = np.zeros_like(x)
    if x[0] > 0.0:
        d = np.broadcast_to(2.0, (3,))
    r = np.copy(d)
    return r


def stretched_before_they_were_swapped(x):
    d, other = np.zeros_like(x), np.broadcast_to(2.0, (3,))
    d, other = other, d
    r = np.copy(d)
    return r


def kept_by_a_function(x, keep):
    d = np.zeros_like(x)
    keep(d)
    r = np.copy(d)
    return r


@pytest.mark.parametrize("before", [summed, with_views, held_by_a_list_that_ends])
def test_copies_that_go(before):
    assert not copies(before)


@pytest.mark.parametrize(
    "before",
    [returned_twice, in_a_list_that_is_returned, in_a_view_that_is_returned, of_the_caller,
     part_of_the_callers, part_of_more, part_by_another_name, stretched, stretched_in_one_branch,
     stretched_before_they_were_swapped, kept_by_a_function],
)  # fmt: skip
def test_copies_that_stay(before):
    assert copies(before)


def copies(before):
    """The calls of `np.copy` that are left."""
    function = lower(parse(before))
    kinds = infer(function, {p.name: kind_of(X, p.name) for p in function.params[:1]})
    calls = map(ir.call_of, ir.walk(returned_at_once(function, kinds).body))
    return [c for c in calls if c is not None and c.fn is np.copy]
