"""Calls of NumPy that no rule covers, each refused with its place and the reason."""

import numpy as np

from .refused import refused


def _four(r):
    return (r.uniform(0.3, 0.9, 4),)


def numbers_in_steps_that_are_computed(x):
    return np.sum(np.r_[x[0] : 3.0 : x[1]])


refused(
    numbers_in_steps_that_are_computed,
    _four,
    line="return np.sum(np.r_[x[0] : 3.0 : x[1]])",
    reason="a slice that is computed",
)


def text_on_how_to_join(x):
    return np.r_["0,2", x, x] * 2.0


refused(
    text_on_how_to_join,
    _four,
    line='return np.r_["0,2", x, x] * 2.0',
    reason="a text that says how to join",
)


def first_of_two_results_by_position(x):
    y = x * 1.0
    quotient, rest = np.divmod(x, 0.7, y)
    return quotient + rest


refused(
    first_of_two_results_by_position,
    _four,
    line="quotient, rest = np.divmod(x, 0.7, y)",
    reason="does not cover `out` of this form",
)


def vectorized_with_a_keyword(x):
    return np.vectorize(lambda t, k=2.0: t * k)(x, k=3.0)


refused(
    vectorized_with_a_keyword,
    _four,
    line="return np.vectorize(lambda t, k=2.0: t * k)(x, k=3.0)",
    reason="`np.vectorize` is not differentiated",
)


def bytes_as_of_another_type(x):
    return x.view(complex).real


refused(
    bytes_as_of_another_type,
    _four,
    line="return x.view(complex).real",
    reason="does not cover positional arguments",
)


def element_of_records_is_written_into(x):
    y = np.zeros(2, dtype=[("a", float), ("b", float)])
    y["b"] = x[2:]
    y[1]["b"] *= x[0]
    return y["b"]


refused(
    element_of_records_is_written_into,
    _four,
    line='y[1]["b"] *= x[0]',
    reason="may be a view of `y`",
)
