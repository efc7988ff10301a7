"""One list for what is saved together, where each value stays the one that was saved."""

import numpy as np
import pytest

import srcdiff
from srcdiff import ir
from srcdiff.codegen.tapes import joined
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.ir.interpreter import run
from tests.support.differences import check_gradient


def lists(function):
    """How many lists a function makes."""
    made = (s.rhs for s in ir.assignments(function))
    return sum(rhs == ir.Call(ir.make_list) for rhs in made)


def at_the_end(x, n):
    a_saved = []
    b_saved = []
    for k in range(n):
        a = x + k
        a_saved.append(a)
        b = a * a
        b_saved.append(b)
    total = 0.0
    for _ in range(n):
        b = b_saved.pop()
        total = total - b
        a = a_saved.pop()
        total = total * a
    return total


def before_it_is_bound_again(x, n):
    a_saved = []
    b_saved = []
    a = x
    b = x * x
    for _ in range(n):
        a_saved.append(a)
        a = a + b
        b_saved.append(b)
        b = b * a
    for _ in range(n):
        b = b_saved.pop()
        a = a_saved.pop() + b
    return a * b


def never_both(x, n):
    a_saved = []
    b_saved = []
    a = x
    for _ in range(n):
        a_saved.append(a)
        a = a + x
        b = a * x
        a *= 2.0
        b_saved.append(b)
    for _ in range(n):
        b = b_saved.pop()
        a = a_saved.pop() + b
    return a * b


def number_that_is_added_to(x, n):
    a_saved = []
    b_saved = []
    a = x
    for _ in range(n):
        b = a * x
        a_saved.append(a)
        a += b
        b = a * b
        b_saved.append(b)
    for _ in range(n):
        b = b_saved.pop()
        a = a_saved.pop() + b
    return a * b


def read_before_it_is_taken_back(x, n):
    a_saved = []
    b_saved = []
    for k in range(n):
        a = x + k
        b = a * x
        a_saved.append(a)
        b_saved.append(b)
    total = a
    for _ in range(n):
        b = b_saved.pop()
        total = total + a * b
        a = a_saved.pop()
    return total


def in_two_places(x, n):
    a_saved = []
    b_saved = []
    for k in range(n):
        a_saved.append(x + k)
        if k % 2 == 0:
            b_saved.append(x * k)
    total = 0.0
    for k in range(n):
        if k % 2 == 1:
            b = b_saved.pop()
            total = total + b
        a = a_saved.pop()
        total = total * a
    return total


def emptied_between(x, n):
    a_saved = []
    b_saved = []
    for k in range(n):
        a_saved.append(k)
        if k > 0:
            a = a_saved.pop()
            b = b_saved.pop()
            x = x * a + b
        c = k * 3
        b_saved.append(c)
    return x


def one_after_the_other(x, n):
    a_saved = []
    b_saved = []
    a_saved.append(n)
    x = x * n
    a = a_saved.pop()
    c = a * 2
    b_saved.append(c)
    x = x * c
    b = b_saved.pop()
    return x + a * b


def saved_where_it_is_taken_back(x, n):
    a_saved = []
    c_saved = []
    b_saved = []
    d_saved = []
    for k in range(n):
        a_saved.append(k)
        c_saved.append(k + 3)
    a = 1
    c = 2
    for _ in range(n):
        b_saved.append(a)
        d = c_saved.pop()
        d_saved.append(c)
        a = a_saved.pop()
        c = d + a
    for _ in range(n):
        b = b_saved.pop()
        d = d_saved.pop()
        x = x * b + d
    return x


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (at_the_end, 1),
        (before_it_is_bound_again, 1),
        (never_both, 2),
        (number_that_is_added_to, 2),
        (read_before_it_is_taken_back, 2),
        (in_two_places, 2),
        (emptied_between, 2),
        (one_after_the_other, 2),
        (saved_where_it_is_taken_back, 2),
    ],
)
def test_values_stay_what_they_were(function, count):
    new = joined(lower(parse(function)))
    assert lists(new) == count
    assert run(new, 0.7, 4) == function(0.7, 4)


def recurrence(x, w, n):
    for k in range(n):
        a = np.sin(x * w)
        b = np.exp(-a) + k
        x = a * b
    return np.sum(x)


def test_a_derivative_of_a_derivative_has_one_list_for_each_loop():
    def slope(x, w, n):
        return np.sum(srcdiff.grad(recurrence, "w")(x, w, n) ** 2)

    arguments = np.array([0.3, 0.8]), np.array([0.5, 1.1]), 3
    check_gradient(recurrence, arguments, "w")
    check_gradient(slope, arguments, ("x", "w"))
    assert srcdiff.source(recurrence, inputs="w", example=arguments).count(" = []") == 1


@pytest.mark.parametrize("function", [at_the_end, before_it_is_bound_again, never_both])
def test_what_is_one_list_stays_one(function):
    once = joined(lower(parse(function)))
    assert joined(once) is once


# --- pairs: the forward part makes the lists, the backward part empties them ----------------------


def steps(u, c, n):
    for _ in range(n):
        v = u + c * np.sin(u)
        u = v * np.exp(-v)
    return u


U = np.array([0.1, 0.4, 0.7])


def test_both_parts_of_a_pair_have_one_list_for_what_is_saved_together():
    value, pullback = srcdiff.vjp(steps, U, 0.3, 4, inputs=("u", "c"))
    forward, _, backward = pullback.source.partition("def steps_grad_backward")
    assert forward.count(".append((") == 1
    assert backward.count("saved.pop()") == 1
    whole = srcdiff.grad(steps, ("u", "c"))(U, 0.3, 4, grad_outputs=np.ones(3))
    for one, two in zip(pullback(np.ones(3), retain_graph=True), whole, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-14)
    check_gradient(steps, (U, 0.3, 4), ("u", "c"))


def test_the_backward_part_for_a_batch_takes_the_lists_apart():
    columns = [srcdiff.grad(steps)(U, 0.3, 4, grad_outputs=row) for row in np.eye(3)]
    jacobian = srcdiff.jacobian(steps)(U, 0.3, 4)
    np.testing.assert_allclose(jacobian, np.stack(columns), rtol=1e-13)
