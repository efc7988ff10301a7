"""What Numba compiles for whole arrays computes the same as NumPy, or raises the same errors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

numba = pytest.importorskip("numba", reason="it is for Numba")

import srcdiff.backends.numba.array_math as am  # noqa: E402  (needs Numba)
from srcdiff.runtime import arrays, loops  # noqa: E402

compiled = numba.njit


@compiled
def checked(x, y):
    am.check_shapes(x.shape, y.shape, (x.shape[0], 3))
    return True


@compiled
def spread(x, shape):
    return am.broadcast_to(x, shape)


@compiled
def together(x, y):
    return am.broadcast_shapes(x.shape, y.shape)


@compiled
def summed(d, x):
    return am.unbroadcast(d, x)


@compiled
def made(x):
    return am.empty(x.shape, np.bool_), am.zeros((x.shape[0], 1)), am.zeros_like(x)


@compiled
def part(x, start, stop, place):
    return am.part_shape(x.shape, (start, stop), place, None, (None, -1))


def test_shapes_are_compared():
    x = np.ones((2, 3))
    assert checked(x, x)
    for other in (np.ones((3, 3)), np.ones((2, 3, 1)), np.ones((2, 1))):
        with pytest.raises(ValueError, match="broadcast"):
            checked(x, other)


def test_arrays_are_spread_without_a_copy():
    x = np.arange(3.0)[:, None]
    found = spread(x, (2, 3, 4))
    np.testing.assert_array_equal(found, np.broadcast_to(x, (2, 3, 4)))
    assert np.shares_memory(found, x)
    assert spread(np.ones((1, 0)), (2, 5, 0)).shape == (2, 5, 0)
    with pytest.raises(ValueError, match="broadcast"):
        spread(x, (2, 4, 4))


def test_shapes_are_put_together():
    assert together(np.ones((2, 1, 3)), np.ones((4, 1))) == (2, 4, 3)
    assert together(np.ones((1, 0)), np.ones((5, 1))) == (5, 0)


SHAPES = [
    ((2, 3), (2, 3)), ((2, 3), (1, 3)), ((2, 3), (3,)), ((2, 3), (2, 1)), ((4, 2, 3), (1, 1)),
    ((0, 3), (1, 3)), ((0, 3), (0, 3)),
]  # fmt: skip


@pytest.mark.parametrize("of, to", SHAPES, ids=str)
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", (np.float64, np.float32, np.complex128))
def test_sums_over_what_was_spread(of, to, order, dtype):
    d = np.arange(np.prod(of), dtype=dtype).reshape(of, order=order)
    x = np.ones(to)
    found, expected = summed(d, x), arrays.unbroadcast(d, x)
    np.testing.assert_allclose(found, expected)
    assert found.dtype == expected.dtype and found.shape == to
    assert np.shares_memory(found, d) == (of == to and d.size > 0)


def test_what_does_not_fit_is_not_summed():
    with pytest.raises(ValueError, match="broadcast"):
        summed(np.ones((2, 3)), np.ones((2, 4)))


def test_new_arrays():
    x = np.asfortranarray(np.ones((2, 3)))
    flags, column, zeros = made(x)
    assert flags.dtype == bool and flags.shape == (2, 3)
    assert column.shape == (2, 1) and not column.any()
    assert zeros.flags.f_contiguous and not zeros.any()


def test_shapes_of_parts():
    x = np.ones((4, 3, 5, 2))
    for start, stop in itertools.product(range(-6, 7), repeat=2):
        expected = x[start:stop, -3, :, :-1].shape
        assert part(x, start, stop, -3) == expected
        assert loops.part_shape(x.shape, (start, stop), -3, None, (None, -1)) == expected
    for place in (-4, 3):
        with pytest.raises(IndexError):
            part(x, 0, 1, place)
        with pytest.raises(IndexError):
            loops.part_shape(x.shape, (0, 1), place)
