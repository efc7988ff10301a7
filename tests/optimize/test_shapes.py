"""What is spread out or summed where its kinds say how: before and after."""

import numpy as np
import pytest

import srcdiff
from tests.optimize.test_algebra import text
from tests.support.differences import check_gradient

RNG = np.random.default_rng(5)
P, Q, W = RNG.normal(size=(5, 4)), RNG.normal(size=(3, 4)), RNG.normal(size=(4, 3))


def products_by_broadcasting(x, w):
    return np.sum(np.tanh(np.sum(x[:, :, None] * w[None, :, :], axis=1)))


def scores_by_broadcasting(x, w):
    return np.sum(np.tanh((x[:, None, :] * w).sum(-1)))


def mixed(r, x):
    return np.sum(np.tanh(np.sum(r[:, :, None] * x[:, None, :], axis=0)))


def over_leading_axes(x, w):
    return np.sum(np.tanh(np.sum(np.expand_dims(x, 0) * np.expand_dims(w, 1), axis=2)))


def one_row_for_all(x, w):
    return np.sum(np.tanh(np.sum(x[:, :, None] * w[None, :, :], axis=1)))


def kernel_of_distances(x, y):
    return np.sum(np.exp(-np.sum((x[:, None] - y[None]) ** 2, axis=-1)))


def gaussian_kernel(x, y):
    return np.sum(np.log1p(np.exp(-0.5 * np.sum((x[:, None] - y) ** 2, axis=-1))))


def clipped(x, y):
    return np.mean(np.where(np.abs(x) < 0.5, x**2, np.abs(x) - 0.25)) + np.sum(y)


def area(x, y):
    return np.trapezoid(x[0] ** 2, y[0]) + np.trapezoid(x[1])


def windows(x, w):
    total = 0.0
    for i in range(len(x) - 1):
        total = total + np.sum(x[i : i + 2, 1:3] * w[:2, :2]) ** 2
    return total


def parts_of_any_length(x, y):
    n = int(x[0, 0] > 9.0)
    return np.sum(x[n:] * y[n:])


CASES = [
    (products_by_broadcasting, (P, W)), (scores_by_broadcasting, (P, Q)), (mixed, (P, P[:, :2])),
    (over_leading_axes, (P, Q)), (one_row_for_all, (P, W[:1])), (one_row_for_all, (P[:, :1], W)),
    (kernel_of_distances, (P, Q)), (gaussian_kernel, (P, Q)), (clipped, (P, Q)), (area, (P, Q)),
    (windows, (P, W)), (parts_of_any_length, (P, 2.0 * P)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args"), CASES)
def test_the_gradients_are_right(f, args):
    check_gradient(f, args, (0, 1))


def test_a_sum_of_products_of_two_matrices_is_their_product():
    found = text(products_by_broadcasting, (P, W))
    assert "    d_w = x.T @ d_t_1\n    d_x = d_t_1 @ w.T\n" in found
    found = text(scores_by_broadcasting, (P, Q))
    assert "    d_w = d_t_1.T @ x\n    d_x = d_t_1 @ w\n" in found
    found = text(over_leading_axes, (P, Q))
    assert "    d_w = d_t_1 @ x\n    d_x = d_t_1.T @ w\n" in found


def test_a_row_that_is_spread_out_is_no_factor_of_a_product_of_matrices():
    assert "@" not in text(one_row_for_all, (P, W[:1]))
    assert "@" not in text(one_row_for_all, (P[:, :1], W))


def test_what_broadcasts_to_the_shape_of_a_product_is_not_spread_out():
    assert "np.broadcast_to" not in text(mixed, (P, P[:, :2]))
    assert "np.where(t, t_1, 0.0)" in text(clipped, (P, Q))


def test_the_sign_of_what_has_been_summed_is_turned():
    assert "d_y = -np.sum(d_t_2, axis=0)\n" in text(kernel_of_distances, (P, Q))


def test_numbers_meet_around_a_new_axis():
    found = text(gaussian_kernel, (P, Q))
    assert "d_t_2 = t * np.expand_dims(-grad_outputs / (1.0 + t_1) * t_1, -1)\n" in found


def test_a_factor_of_ones_goes():
    assert text(area, (P, Q)).count("np.ones_like") == 1


def test_a_factor_is_spread_out_by_what_it_is_added_to():
    assert "d_w[:2, :2] += d_t_1 * x[i : i + 2, 1:3]\n" in text(windows, (P, W))


def test_nothing_is_computed_for_its_shape():
    found = text(parts_of_any_length, (P, 2.0 * P))
    assert "np.broadcast_to(grad_outputs, np.broadcast_shapes(t.shape, t_1.shape))\n" in found


# --- lengths that are equal where they meet -------------------------------------------------------


def triangle_of_two(L, b):
    s = 0.0
    for i in range(len(b)):
        s += np.sum((L[i, :i] - b[:i]) ** 2 * b[i])
    return s


def steps_of_two(x, y):
    return np.sum((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2)


def cut_by_a_parameter(x, y, n):
    return np.sum(x[:n] * np.sin(y[:n]))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_two_parts_that_one_number_cuts_off_have_one_length(n):
    L, b = np.linspace(0.1, 1.7, n * (n + 1)).reshape(n, n + 1), np.linspace(0.9, 0.3, n)
    check_gradient(triangle_of_two, (L, b), (0, 1))
    check_gradient(steps_of_two, (b, L[:, 0]), (0, 1))
    assert n < 4 or "unbroadcast" not in srcdiff.source(triangle_of_two, (0, 1), example=(L, b))
    assert n < 4 or "broadcast" not in srcdiff.source(steps_of_two, (0, 1), example=(b, b))


def test_a_part_of_length_one_is_spread_where_it_may_be():
    x, y = np.linspace(0.2, 1.1, 5), np.linspace(0.3, 0.8, 2)
    g = srcdiff.grad(cut_by_a_parameter, (0, 1))
    for n in (2, 1, -1, -3):  # `y[:-1]` has one element
        inputs = (x[:2], y, n) if n == -3 else (x, y, n)
        check_gradient(cut_by_a_parameter, inputs, (0, 1), g=g)
    check_gradient(steps_of_two, (x, y), (0, 1))
    check_gradient(triangle_of_two, (x[:1, None] * y, y[:1]), (0, 1))
