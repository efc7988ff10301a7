"""Shapes of kinds: which are equal, and what broadcasting makes of them."""

import pytest

from srcdiff.ir.kinds import (
    BIG,
    UNKNOWN,
    Array,
    Scalar,
    Sym,
    broadcast_dims,
    broadcasts_to_itself,
    same_shape,
)

N, M = Sym("n", 0, True), Sym("m", 0, True)
CUT = Sym("n", -1)


@pytest.mark.parametrize(
    "x, z, itself",
    [
        ((N,), (M,), True),  # not 1, so it is the length of the result
        ((1,), (1,), True),
        ((1,), (N,), False),
        ((CUT,), (M,), False),  # may be 1
        ((CUT,), (CUT,), True),
        ((N,), (M, N), False),
        ((None,), (N,), False),
        ((BIG,), (BIG,), True),
        ((), (), True),
    ],
)
def test_broadcasts_to_itself(x, z, itself):
    assert broadcasts_to_itself(Array("float64", x), Array("float64", z)) is itself


def test_an_operation_with_numbers_keeps_any_shape():
    x = Array(None, None, maybe_scalar=True)
    assert not broadcasts_to_itself(x, x)
    assert broadcasts_to_itself(x, x, [Scalar("float64")])
    assert broadcasts_to_itself(x, x, [])
    assert not broadcasts_to_itself(UNKNOWN, UNKNOWN, [])


def test_same_shape_needs_the_same_symbols():
    assert same_shape(Array("float64", (N, 1)), Array("float32", (N, 1)))
    assert not same_shape(Array("float64", (N,)), Array("float64", (M,)))
    assert not same_shape(Array("float64", (BIG,)), Array("float64", (BIG,)))
    assert same_shape(Scalar("float64"), Array("float64", ()))
    assert not same_shape(Array("float64"), Array("float64"))


@pytest.mark.parametrize(
    "shapes, result",
    [
        ([(N,), (M,)], (N,)),
        ([(CUT,), (M,)], (M,)),
        ([(1,), (CUT,)], (CUT,)),
        ([(CUT,), (Sym("m", -1),)], (None,)),
        ([(N, 1), (M,)], (N, M)),
        ([(None,), (M,)], (M,)),
        ([(), (N,)], (N,)),
    ],
)
def test_broadcast_dims(shapes, result):
    assert broadcast_dims(shapes) == result
