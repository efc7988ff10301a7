"""What is computed right before its use: before and after, and what may not be moved."""

import numpy as np
import pytest

import srcdiff
from tests.support.differences import check_gradient

X = np.array([0.3, -0.2, 0.7, 0.4])
W = np.array([1.1, 0.6, -0.5, 0.9])


def dot_loop(x, w):
    s = 0.0
    for i in range(len(x)):
        s = s + w[i] * x[i]
    return s


def recurrent(x, w):
    h = np.zeros(len(x) + 1)
    for t in range(len(x)):
        h[t + 1] = np.tanh(w[t] * h[t]) + x[t]
    return h[-1]


def product(x, w):
    y = 1.0
    for i in range(len(x)):
        y = y * (x[i] + w[i])
    return y


def layers(x, w):
    params = [[w * 2.0, x * 3.0], [w, x]]
    h = x
    for k in range(2):
        h = params[k][0] * h + params[k][1]
    return np.sum(h * h)


def backward(f, *args, **options):
    """The lines of the backward part of a gradient."""
    text = srcdiff.source(f, inputs=("x", "w"), example=args or (X, W), **options)
    lines = text[text.index("# backward") :].splitlines()[1:]
    return [line.strip() for line in lines]


def test_over_stores_into_other_memory():
    lines = backward(dot_loop, strict=True)
    assert "d_x[i] += grad_outputs * w[i]" in lines
    assert "d_w[i] += grad_outputs * x[i]" in lines


def test_positions_of_loops_are_written_out():
    text = srcdiff.source(recurrent, inputs=("x", "w"), example=(X, W))
    assert "d_h[t + 1]" in text
    assert "= t + 1" not in text


def test_an_update_waits_for_who_needs_the_old_value():
    lines = backward(product)
    at = [k for k, line in enumerate(lines) if line.startswith("d_y *= ")]
    assert len(at) == 1
    assert not any("d_y" in line for line in lines[at[0] + 1 :])


def same_object(x, w):
    """The second argument is written into, and may be the first one."""
    a = x * w
    w[1:] = a[1:] * x[:-1]
    return np.sum(w * x)


def shifted(x, w):
    u = x * w
    v = u[1:]
    u[:-1] += v * w[0]
    u[0] *= x[1] * u[2]
    return np.sum(u * v[0])


def swapped(x, w):
    u, v = x * 1.0, w * 1.0
    for k in range(3):
        u[k] = u[k] * v[k + 1] + v[k] * x[k]
        u, v = v, u
    return np.sum(u * v) + u[0]


def kept_and_written(x, w):
    rows = [x * 1.0, w * 1.0]
    for k in range(2):
        rows[k][0] = rows[1 - k][1] * rows[k][0] * rows[k][2]
        rows[1 - k][k] *= rows[k][0]
    return np.sum(rows[0] * rows[1])


PROGRAMS = (dot_loop, recurrent, product, layers, same_object, shifted, swapped, kept_and_written)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_are_right(f):
    check_gradient(f, (X, W), (0, 1), None)


def first_of_popped(x, w):
    todo = [(x[0] * w[0], 1), (x[1] * w[1], 2)]
    total = 0.0
    while todo:
        value, _ = todo.pop()
        total += value * value
    return total


def read_twice(x, w):
    return np.sum(x * np.sin(w) * x) + np.sum(w * x)


def test_arguments_that_are_one_object():
    g = srcdiff.grad(read_twice, ("x", "w"))
    apart, one = g(X.copy(), X.copy()), X.copy()
    for a, b in zip(apart, g(one, one), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_cotangent_of_several_outputs_is_unpacked():
    def both(x, w):
        return np.sin(x), x * w

    assert backward(both)[0] == "d_t, d_t_1 = cotangent(grad_outputs, (x, x))"
    check_gradient(both, (X, W), inputs=("x", "w"))


def test_a_cotangent_of_which_an_item_is_not_needed_is_indexed():
    def one(x, w):
        return np.sin(x) * w, len(w)

    assert backward(one)[0] == "d_t_1 = cotangent(grad_outputs, (t * w, len(w)))[0]"
    check_gradient(one, (X, W), inputs=("x", "w"), outputs=0)


def test_zeros_come_in_the_order_of_the_parameters():
    def f(w, x):
        total = scale = 0.0
        for i in range(len(x)):
            total = total + x[i] * w[i] * scale
            scale = scale + x[i] ** 2
        return total * scale

    args = W, X
    zeros = [s for s in backward(f, *args) if s.startswith("d_") and "zeros_like" in s]
    assert zeros == ["d_w = np.zeros_like(w)", "d_x = np.zeros_like(x)"]
    check_gradient(f, args, inputs=("x", "w"))


def test_zeros_of_zeros_stay_behind_them():
    def f(x, w):
        first = np.zeros_like(w)
        second = np.zeros_like(first)
        for i in range(len(x)):
            second[i] = x[i] * w[i]
            first[i] = second[i] * w[i]
        return np.sum(first * second)

    check_gradient(f, (X, W), inputs=("x", "w"))
