"""Questions whether a module has an attribute: answered where the function is read."""

import types

import numpy as np
import pytest

import srcdiff
from srcdiff import UnsupportedError

from .check import check_gradient

X = np.array([0.7, 1.3, 0.4, 2.1])


def test_the_branch_that_names_what_is_there_is_differentiated():
    def area(y):
        if hasattr(np, "no_such_name"):
            return np.no_such_name(y)
        elif not hasattr(np, "tanh"):
            y = np.nothing_like_that(y)
        else:
            y = np.tanh(y)
        return np.sum(y) * y[0]

    check_gradient(area, (X,))
    assert "hasattr" not in srcdiff.source(area, example=(X,))


def test_an_expression_and_a_part_of_a_condition():
    def f(y):
        g = np.no_such_name if hasattr(np, "no_such_name") else np.sin
        if hasattr(np.linalg, "norm") and y[0] > 0.0:
            y = y * 2.0
        return np.sum(g(y))

    check_gradient(f, (X,))


def test_statements_that_stay_are_those_that_are_done():
    def f(y):
        if not hasattr(np, "sin"):
            y = y * 3.0
        if hasattr(np, "cos"):
            if hasattr(np, "no_such_name"):
                return y[1]
            y = y * y[0]
        return np.sum(y * y)

    check_gradient(f, (X,))


def test_a_name_of_the_function_is_no_module():
    def f(y, np):
        return y[0] * 2.0 if hasattr(np, "sin") else y[1] * 3.0

    class Empty:
        pass

    made = Empty()
    assert srcdiff.grad(f)(X, made).tolist() == [0.0, 3.0, 0.0, 0.0]


def test_an_object_is_asked_when_the_program_runs():
    holder = types.SimpleNamespace(rate=2.0)

    def f(y):
        return y[0] * holder.rate if hasattr(holder, "rate") else y[0]

    assert srcdiff.grad(f)(X)[0] == 2.0
    del holder.rate
    assert srcdiff.grad(f)(X)[0] == 1.0


def test_what_is_not_there_is_refused_without_a_question():
    def f(y):
        if y[0] > 0.0:
            return np.no_such_name(y)
        return y[0]

    with pytest.raises(UnsupportedError, match="`np` has no attribute `no_such_name`"):
        srcdiff.grad(f)(X)
