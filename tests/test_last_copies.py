"""A copy at the end goes where nobody else has the array, and it is no part of a larger one."""

import numpy as np
import pytest

from srcdiff import ir
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.kinds.interpreter import infer
from srcdiff.kinds.lattice import kind_of
from srcdiff.optimize.copies import returned_at_once

X = np.ones(3)


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
