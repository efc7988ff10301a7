"""What is spread out or summed where its kinds say how: before and after."""

import numpy as np
import pytest

import srcdiff
from tests.support.differences import check_gradient

RNG = np.random.default_rng(5)
P, Q, W = RNG.normal(size=(5, 4)), RNG.normal(size=(3, 4)), RNG.normal(size=(4, 3))


def products_by_broadcasting(x, w):
    return np.sum(np.tanh(np.sum(x[:, :, None] * w[None, :, :], axis=1)))


def scores_by_broadcasting(x, w):
    return np.sum(np.tanh((x[:, None, :] * w).sum(-1)))


def kernel_of_distances(x, y):
    return np.sum(np.exp(-np.sum((x[:, None] - y[None]) ** 2, axis=-1)))


def windows(x, w):
    total = 0.0
    for i in range(len(x) - 1):
        total = total + np.sum(x[i : i + 2, 1:3] * w[:2, :2]) ** 2
    return total


def parts_of_any_length(x, y):
    n = int(x[0, 0] > 9.0)
    return np.sum(x[n:] * y[n:])


CASES = [
    (products_by_broadcasting, (P, W)), (scores_by_broadcasting, (P, Q)),
    (kernel_of_distances, (P, Q)), (windows, (P, W)), (parts_of_any_length, (P, 2.0 * P)),
]  # fmt: skip


def text(f, args):
    return srcdiff.source(f, inputs=(0, 1), example=args)


@pytest.mark.parametrize(("f", "args"), CASES)
def test_the_gradients_are_right(f, args):
    check_gradient(f, args, (0, 1))


def test_what_broadcasts_to_the_shape_of_a_product_is_not_spread_out():
    found = text(products_by_broadcasting, (P, W))
    assert "d_w = np.sum(t_3 * t, axis=0)\n    d_x = np.sum(t_3 * t_1, axis=2)" in found
    found = text(scores_by_broadcasting, (P, Q))
    assert "d_w = np.sum(t_2 * t, axis=0)\n    d_x = np.sum(t_2 * w, axis=1)" in found


def test_the_sign_of_what_has_been_summed_is_turned():
    assert "d_y = -np.sum(d_t_2, axis=0)\n" in text(kernel_of_distances, (P, Q))


def test_a_factor_is_spread_out_by_what_it_is_added_to():
    assert "d_w[:2, :2] += d_t_1 * x[i : i + 2, 1:3]\n" in text(windows, (P, W))


def test_nothing_is_computed_for_its_shape():
    found = text(parts_of_any_length, (P, 2.0 * P))
    assert "np.broadcast_to(grad_outputs, np.broadcast_shapes(t.shape, t_1.shape))\n" in found
