"""`+` and `*` of a list and what is not known to be a list or an array: asked when it runs."""

import numpy as np
import pytest

import srcdiff
from srcdiff import UnsupportedError

X = np.array([0.3, 0.5, 0.7])
P = np.array([0.5, 0.2, 0.9])


class Maker:
    def __init__(self, makes_arrays):
        self.makes_arrays = makes_arrays

    def pair(self, x):
        return np.array([x[0], x[1] ** 2]) if self.makes_arrays else [x[0], x[1] ** 2]


def of_a_maker(maker, x):
    y = maker.pair(x)
    y = y + [1.0, 2.0]
    return y[0] * x[0]


def test_what_is_a_list_is_joined():
    assert srcdiff.grad(of_a_maker, "x")(Maker(False), X).tolist() == [0.6, 0.0, 0.0]


def test_what_is_an_array_is_no_list():
    with pytest.raises(UnsupportedError) as caught:
        srcdiff.grad(of_a_maker, "x")(Maker(True), X)
    text = str(caught.value)
    assert text.startswith("test_sequences.py:23:") and "adds a list or tuple to an array" in text
    assert text.endswith("Add an array: `x + np.array([...])`.")


def test_a_list_is_multiplied_by_what_is_not_known_to_be_an_array():
    def f(x, p):
        x = list(x)
        if p[0] > 0:
            x = [1.0, 0.5, 0.2] * np.asarray(x)
        x = (x + (p[0],))[:3]
        x = tuple(x)
        return x[0] * x[1] + x[2]

    with pytest.raises(UnsupportedError, match="multiplies a list or tuple with an array"):
        srcdiff.grad(f, (0, 1))(X, P)


@pytest.mark.parametrize("others", [(2,), (4,), (3, 2)])
def test_strict_zip_fails_as_the_function_does(others):
    def two(x, y):
        return sum(a * b for a, b in zip(x, y, strict=True))

    def three(x, y, z):
        total = 0.0
        for a, b, c in zip(x, y, z, strict=True):
            total += a * b * c
        return total

    f = two if len(others) == 1 else three
    args = (np.ones(3), *map(np.ones, others))
    with pytest.raises(ValueError, match="zip") as expected:
        f(*args)
    with pytest.raises(ValueError) as found:
        srcdiff.grad(f)(*args)
    assert str(expected.value) in str(found.value)
