"""Functions that are kept as values: what is called is what was put there."""

import numpy as np
import pytest

from tests.support.differences import check_gradient


def made_or_known(x, n):
    functions = []
    for k in range(2):
        s = k + x[0]
        functions.append((lambda v, s=s: v * s) if n > k else np.sin)
    return sum(np.sum(f(x)) for f in functions)


def known_or_made(x, n):
    functions = []
    for k in range(2):
        s = k + x[0]
        functions.append(np.sin if n > k else (lambda v, s=s: v * s))
    return sum(np.sum(f(x)) for f in functions)


@pytest.mark.parametrize("function", [made_or_known, known_or_made])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_a_function_of_numpy_beside_one_that_captures(function, n):
    check_gradient(function, (np.array([0.3, 0.7]), n), "x")
