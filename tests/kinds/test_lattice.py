"""The kinds of arguments, keys that tell them apart, and what describes two values."""

import math

import numpy as np
import pytest

from srcdiff.ir.kinds import (
    BIG,
    UNKNOWN,
    Array,
    Dict,
    Maybe,
    NoneKind,
    Scalar,
    Sym,
    Text,
    Tuple,
)
from srcdiff.kinds.lattice import join, key_of, kind_of


def test_kind_of_an_argument():
    x = Sym("x.0", 0, True, 2)
    assert kind_of(np.zeros((3, 1)), "x") == Array("float64", (x, 1))
    assert kind_of(np.zeros(0), "x") == Array("float64", (Sym("x.0", 0, True),))
    assert kind_of(np.zeros((), np.float32), "x") == Array("float32", ())
    assert kind_of(1.5, "x") == Scalar("float64")
    assert kind_of(3, "n") == Scalar("int64", size_of=Sym("n"))
    assert kind_of(np.float32(1), "x") == Scalar("float32", False)
    assert kind_of(True, "x") == Scalar("bool")
    assert kind_of("relu", "x") == Text()
    assert kind_of(None, "x") == NoneKind()
    assert kind_of((1.0, None), "x") == Tuple((Scalar("float64"), NoneKind()))
    assert kind_of({"w": 1.0}, "p") == Dict((("w", Scalar("float64")),), None, "p")
    assert kind_of(np.array([None]), "x").type == "numpy.ndarray"


@pytest.mark.parametrize(
    "a, b, same",
    [
        (np.zeros((3, 1)), np.zeros((2, 1)), True),
        (np.zeros((5, 1)), np.zeros((4, 1)), True),
        (np.zeros((3, 1)), np.zeros((4, 1)), False),
        (np.zeros((2, 0)), np.zeros((3, 0)), True),
        (np.zeros((0, 2)), np.zeros((3, 2)), False),
        (np.zeros((3, 1)), np.zeros((3, 2)), False),
        (np.zeros(3), np.zeros(3, np.float32), False),
        (np.zeros(3), np.zeros((3, 3)), False),
        (1.0, 2.0, True),
        (1.0, 1, False),
        (1.0, True, False),
        (1.0, np.float64(1), False),
        ([1.0, 2.0], [1.0, 3.0], True),
        ([1.0, 2.0], [1.0], False),
        ({"a": 1.0}, {"a": 2.0}, True),
        ({"a": 1.0}, {"b": 1.0}, False),
        (np.sin, np.cos, False),
        (np, math, False),
        (np.linalg, np.fft, False),
        (None, None, True),
    ],
)
def test_key_tells_kinds_apart(a, b, same):
    assert (key_of(a) == key_of(b)) is same
    hash(key_of(a))
    if same:
        assert kind_of(a, "x") == kind_of(b, "x")


N, M = Sym("n", 0, True), Sym("m", 0, True)


def test_join_forgets_what_differs():
    assert join(Array("float64", (N,)), Array("float64", (M,))) == Array("float64", (BIG,))
    assert join(Array("float64", (N,)), Array("float32", (1,))) == Array(None, (None,))
    assert join(Scalar("float64"), Scalar("float64", False)) == Scalar("float64", None)
    assert join(Scalar("float64"), Array("float64", (N,))) == Array("float64", None, True)
    assert join(Tuple((NoneKind(),)), Tuple((Text(),))) == Tuple((Maybe(Text()),))
    assert join(Maybe(Scalar("float64")), Scalar("int64")) == Maybe(Scalar(None))
    assert join(Maybe(Text()), Scalar("int64")) == UNKNOWN
