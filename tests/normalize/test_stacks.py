"""Lists of tuples that are only filled and emptied, as one list for each of the items."""

import numpy as np
import pytest

from srcdiff import ir
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.ir.interpreter import run
from srcdiff.normalize.stacks import unzipped
from tests.support.differences import check_gradient


def filled_and_emptied(x, n):
    saved = []
    for k in range(n):
        saved.append((x, k))
        x = np.sin(x) + k
    total = 0.0
    while len(saved) > 0:
        y, k = saved.pop()
        total = total * y + k
    return total


def read_in_the_next_turn(x, n):
    saved = []
    for k in range(n):
        saved.append((x * k, np.sin(x)))
    total = 0.0
    for k in range(n):
        if k > 0:
            total = total * last[0] + last[1]  # noqa: F821
        last = saved.pop()
    return total - last[0]


def read_in_the_next_step(x, n):
    saved = []
    last = (0.0, 1.0)
    for k in range(n):
        saved.append((x * k, x + k))
    total = 0.0
    for _ in range(n):
        last = saved.pop()
        total = total * last[0] + last[1]
    return total


def returned(x, n):
    saved = []
    for k in range(n):
        saved.append((x, k))
    return saved


def whole_tuple(x, n):
    saved = []
    for k in range(n):
        saved.append((x * k, k))
    last = saved.pop()
    return last


def counted_tuple(x, n):
    saved = []
    for k in range(n):
        saved.append((x, k))
    last = saved.pop()
    return len(last) * last[0]


def two_lengths(x, n):
    saved = []
    for k in range(n):
        saved.append((x, k))
        saved.append((k, x, k))
    y, k, z = saved.pop()
    return y + x * k + z


def by_index(x, n):
    saved = []
    for k in range(n):
        saved.append((x * k, k))
    first = saved[0]
    y, k = saved.pop()
    return first[0] + y * k


def of_another_list(x, n):
    saved = [(x, 1.0)]
    for k in range(n):
        saved.append((x * k, k))
    y, k = saved.pop()
    return y * k


@pytest.mark.parametrize("function", [filled_and_emptied, read_in_the_next_turn])
def test_each_item_has_a_list(function):
    new = unzipped(lower(parse(function)))
    assert not any(isinstance(a, ir.Tup) for call in ir.calls(new) for a in call.args)
    assert run(new, 0.7, 4) == function(0.7, 4)
    check_gradient(function, (0.7, 4))


@pytest.mark.parametrize(
    "function",
    [
        read_in_the_next_step, returned, whole_tuple, counted_tuple, two_lengths, by_index,
        of_another_list,
    ],
)  # fmt: skip
def test_what_is_seen_as_a_whole_stays(function):
    old = lower(parse(function))
    assert unzipped(old) is old
    assert run(old, 0.7, 4) == function(0.7, 4)


def test_a_list_of_the_user_stays_as_it_is_written():
    def f(x, n):
        todo = []
        for k in range(n):
            todo.append((x, k))
        y, k = todo.pop()
        return y * k

    old = lower(parse(f))
    assert unzipped(old) is old
