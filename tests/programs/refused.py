"""Programs that are not accepted yet: ordinary ones, each refused with its place and the reason.

One that becomes right moves to the corpus of its topic.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np


@dataclass(frozen=True)
class Refused:
    """A function with sample arguments, and the error that a derivative of it raises."""

    function: Callable[..., Any]
    args: Callable[[np.random.Generator], tuple[Any, ...]]
    inputs: Any
    line: str
    """The source line that the error shows; "" where no line is at fault."""
    reason: str


REFUSED: list[Refused] = []


def refused(
    function: Callable[..., Any],
    args: Callable[[np.random.Generator], tuple[Any, ...]],
    inputs: Any = 0,
    *,
    line: str,
    reason: str,
) -> None:
    """Register a program; called below each function."""
    REFUSED.append(Refused(function, args, inputs, line, reason))


def _scaled_by_another(a, b, n):
    if n <= 0:
        return np.sum(b * b)
    a *= b
    return _scaled_by_another(a, b, n - 1) + np.sum(a)


def recursion_is_given_one_array_twice(x):
    y = x
    y += 1.0
    return _scaled_by_another(y, x, 2)


refused(
    recursion_is_given_one_array_twice,
    lambda r: (r.standard_normal(3),),
    line="return _scaled_by_another(y, x, 2)",
    reason="writes into its argument `a`, which may share memory with `b`",
)


def _halved_in_place(a, b, n):
    if n <= 0:
        return b * 1.0
    a *= 0.5
    return _halved_in_place(a, b, n - 1)


def one_array_by_two_names_after_an_operator(x, y):
    out = x
    out += y
    return _halved_in_place(out, x, 2)


refused(
    one_array_by_two_names_after_an_operator,
    lambda r: (r.standard_normal(3), r.standard_normal(3)),
    ("x", "y"),
    line="return _halved_in_place(out, x, 2)",
    reason="writes into its argument `a`, which may share memory with `b`",
)


def list_or_array_in_place(x, s):
    y = x * 2.0
    z = [s, s, s] if s > 2.0 else y
    z -= x
    return np.sum(y * z)


refused(
    list_or_array_in_place,
    lambda r: (r.standard_normal(3), 0.5),
    line="z -= x",
    reason="`-=` writes into `z` if it is an array, which another name shares",
)


def _whole_and_part(x, n):
    if n <= 0:
        y = x * 2.0
        return y, y[1:]
    return _whole_and_part(x * 1.5, n - 1)


def part_of_a_result_written(x):
    a, b = _whole_and_part(x, 2)
    b *= x[0]
    return np.sum(a * x)


def _twice_in_a_list(x, n):
    if n <= 0:
        y = x * 2.0
        return [y, y]
    return _twice_in_a_list(x * 1.5, n - 1)


def item_of_a_result_written(x):
    t = _twice_in_a_list(x, 2)
    t[0] += x
    return np.sum(t[1] * x)


def _three_and_again(x, n):
    if n <= 0:
        y = x * 2.0
        return y, (x * 3.0, y)
    return _three_and_again(x * 1.5, n - 1)


def nested_item_of_a_result_written(x):
    a, z = _three_and_again(x, 2)
    a *= x[0]
    return np.sum(z[1] * x)


def _itself(xs, n):
    return xs if n == 0 else _itself(xs, n - 1)


def _in_a_list(xs, n):
    return [xs] if n == 0 else _in_a_list(xs, n - 1)


def returned_list_appended_to(x):
    xs = [x]
    ys = _itself(xs, 2)
    ys.append(x * x)
    return sum(xs)


def returned_list_in_a_list_appended_to(x):
    xs = [x]
    rows = _in_a_list(xs, 2)
    rows[0].append(x * x)
    return sum(xs) * len(xs)


def list_in_a_returned_tuple_appended_to(x):
    pair = (x, [x * x])
    other = _itself(pair, 1)
    other[1].append(x)
    return sum(pair[1])


def list_given_in_a_loop_appended_to(x):
    xs = []
    for k in range(3):
        ys = _itself(xs, k)
        xs.append(x * k)
    return sum(ys)


for _function, _line in (
    (returned_list_appended_to, "ys = _itself(xs, 2)"),
    (returned_list_in_a_list_appended_to, "rows = _in_a_list(xs, 2)"),
    (list_in_a_returned_tuple_appended_to, "other = _itself(pair, 1)"),
    (list_given_in_a_loop_appended_to, "ys = _itself(xs, k)"),
):
    refused(
        _function,
        lambda r: (r.uniform(0.3, 0.9, 3),),
        line=_line,
        reason="or something that holds it, and the container is changed afterwards",
    )


for _function, _line in (
    (part_of_a_result_written, "a, b = _whole_and_part(x, 2)"),
    (item_of_a_result_written, "t = _twice_in_a_list(x, 2)"),
    (nested_item_of_a_result_written, "a, z = _three_and_again(x, 2)"),
):
    refused(
        _function,
        lambda r: (r.standard_normal(3),),
        line=_line,
        reason="returns arrays that may share memory, and one of them is written into here",
    )


# --- objects made in the function that are compared as they are ---------------------------------


class Node:
    def __init__(self, value):
        self.value = value

    def pull(self, other):
        if self is other:
            return 2.0 * self.value
        return self.value * other.value


def pulled_by_itself_or_another(x):
    one, two = Node(x), Node(x * x)
    three = one
    return one.pull(two) + one.pull(three)


def equal_objects_made_here(x):
    one, two = Node(x), Node(x * x)
    return x if one == two else x * one.value


for _function, _line in (
    (pulled_by_itself_or_another, "if self is other:"),
    (equal_objects_made_here, "return x if one == two else x * one.value"),
):
    refused(
        _function,
        lambda r: (r.uniform(0.5, 1.5),),
        line=_line,
        reason="whether two objects are the same one is known only when the program runs",
    )


# --- properties that keep their values -----------------------------------------------------------


class Measured:
    def __init__(self, w):
        self.w = w

    @cached_property
    def square(self):
        return self.w**2


class Holder:
    def __init__(self, held):
        self.held = held

    @cached_property
    def fourth(self):
        return self.held.w**4

    def changed(self, x):
        y = self.held.square
        self.held.w = x
        return y * self.held.square


def object_that_another_one_holds(x):
    return Holder(Measured(x)).changed(x * x)


def attribute_by_its_name(x):
    m = Measured(x)
    y = m.square
    setattr(m, "w", x * x)  # noqa: B010
    return y * m.square


def object_that_it_is_computed_of(x):
    m = Measured(x)
    h = Holder(m)
    y = h.fourth
    m.w = 3.0 * x
    return y * h.fourth


def object_in_a_list(x):
    ms = [Measured(x)]
    y = ms[0].square
    ms[0].w = x * x
    return y * ms[0].square


for _function, _line in (
    (object_that_another_one_holds, "self.held.w = x"),
    (attribute_by_its_name, 'setattr(m, "w", x * x)  # noqa: B010'),
    (object_that_it_is_computed_of, "m.w = 3.0 * x"),
    (object_in_a_list, "ms[0].w = x * x"),
):
    refused(
        _function,
        lambda r: (r.uniform(0.3, 0.9),),
        line=_line,
        reason="is read before its object, or one that it holds, may change",
    )


# --- recursive functions that change lists -------------------------------------------------------


def _drained(xs, y):
    if len(xs) == 0:
        return 0.0
    x = xs.pop()
    return x * y + _drained(xs, y)


def list_drained(x):
    return _drained([x, x * x], x)


def _scaled(xs, y, n):
    if n >= 0:
        xs[n] = xs[n] * y
        _scaled(xs, y, n - 1)


def items_of_a_list_stored(x):
    for k in range(2):
        xs = [x, x * k]
        _scaled(xs, x, 1)
    return xs[0] + xs[1]


def _grown(x, out, n):
    if n > 0:
        out.append(np.sin(x))
        _doubled(x, out, n - 1)


def _doubled(x, out, n):
    if n > 0:
        out[-1] = out[-1] * 2.0
        _grown(x * 0.9, out, n - 1)


def list_grown_by_two_functions(x):
    out = [x]
    if x > 0.0:
        _grown(x, out, 5)
    return sum(out)


def list_grown_by_a_nested_function(x):
    xs = [x]

    def powers(n):
        if n > 0:
            xs.append(xs[-1] * x)
            powers(n - 1)

    powers(3)
    return sum(xs)


for _function, _line in (
    (list_drained, "return _drained([x, x * x], x)"),
    (items_of_a_list_stored, "_scaled(xs, x, 1)"),
    (list_grown_by_two_functions, "_doubled(x, out, n - 1)"),
    (list_grown_by_a_nested_function, "powers(3)"),
):
    refused(
        _function,
        lambda r: (r.uniform(0.3, 0.9),),
        line=_line,
        reason="which is not surely an array",
    )


# --- `out` that may be read when a part of it is written -----------------------------------------


def rotated_into_itself(x):
    y = x * 1.0
    np.concatenate((y[1:], y[:1]), out=y)
    return np.sum(y * x)


def pieces_in_a_list_joined_into_their_array(x):
    y = x * 1.0
    pieces = [y[k : k + 1] for k in range(3)]
    np.concatenate(pieces[::-1], out=y)
    return np.sum(y * x)


def transposed_into_itself_by_stack(x):
    y = np.outer(x, x**2)
    np.stack(y, axis=1, out=y)
    return np.sum(y[0] * x)


def ranges_into_the_first_row(x):
    y = np.outer(x, x**2)
    np.ptp(y, axis=0, out=y[0])
    return np.sum(y * x)


for _function, _line, _reason in (
    (rotated_into_itself, "np.concatenate((y[1:], y[:1]), out=y)", "order of reading and writing"),
    (
        pieces_in_a_list_joined_into_their_array, "np.concatenate(pieces[::-1], out=y)",
        "order of reading and writing",
    ),
    (transposed_into_itself_by_stack, "np.stack(y, axis=1, out=y)", "`y` may share memory"),
    (ranges_into_the_first_row, "np.ptp(y, axis=0, out=y[0])", "`np.ptp` writes into"),
):  # fmt: skip
    refused(_function, lambda r: (r.uniform(0.3, 0.9, 3),), line=_line, reason=_reason)


def list_that_an_array_stands_beside(x):
    y = [x[0], x[1] * 2]
    z = y
    if x[2] > 5:
        z = np.sin(x[:2])
    y[0] = x[2]
    return z[0] * z[1] * y[0]


def list_that_grows_beside_an_array(x):
    y = [x[0], x[1] * 2]
    z = np.sin(x[:2]) if x[2] > 5 else y
    y.append(x[2])
    return z[0] * z[1] * y[2]


def list_in_a_list_or_array(x):
    rows = [[x[0], x[1] * 2], [x[2], x[0]]]
    r = rows[0]
    if x[2] > 5:
        r = np.sin(x[:2])
    rows[0][0] = x[2]
    return r[0] * r[1]


def dict_or_array(x):
    d = {"a": x[0], 0: x[1]}
    z = d
    if x[2] > 5:
        z = np.sin(x)
    d[0] = x[2] * x[0]
    return z[0] * d["a"]


def list_that_changes_in_a_loop(x):
    y = [x[0], x[1] * 2]
    z = y
    for _ in range(2):
        y[0] = x[2] * y[0]
        z = np.sin(z)
    return z[0] * y[0]


def list_or_array_of_a_helper(x):
    y = [x[0], x[1] * 2]

    def chosen(v):
        if v[2] > 5:
            return np.sin(v[:2])
        return y

    z = chosen(x)
    y[0] = x[2]
    return z[0] * y[0]


for _function, _line, _reason in (
    (list_that_an_array_stands_beside, "z = y", "`z` may be `y` or an array"),
    (
        list_that_grows_beside_an_array, "z = np.sin(x[:2]) if x[2] > 5 else y",
        "what is named here may be `y` or an array",
    ),
    (list_in_a_list_or_array, "r = rows[0]", "`r` may be a list in `rows` or an array"),
    (dict_or_array, "z = d", "`z` may be `d` or an array"),
    (list_that_changes_in_a_loop, "z = y", "the list changes while both are used"),
    (list_or_array_of_a_helper, "return y", "what is named here may be `y` or an array"),
):  # fmt: skip
    refused(_function, lambda r: (r.uniform(0.3, 0.9, 3),), line=_line, reason=_reason)


def pairs_taken_twice(x):
    _pairs = zip(x, x)
    total = sum(a * b for a, b in _pairs)
    for a, b in _pairs:
        total += a * b
    return total


def pairs_that_an_assertion_takes(x):
    pairs = zip(x, x)
    assert list(pairs)
    total = 0.0 * x[0]
    for a, b in pairs:
        total += a * b
    return total


def pairs_of_what_is_written_before(x):
    y = x.copy()
    pairs = zip(y, x)
    y[0] = 2.0
    return sum(a * b for a, b in pairs)


def chain_taken_in_every_step(x):
    _numbers = itertools.chain(x, x)
    total = 0.0
    for _ in range(2):
        for v in _numbers:
            total += v * v
    return total


def values_before_one_is_stored(x):
    d = {"a": x[0] * 2, "b": x[1] * 3}
    _values = d.values()
    d["a"] = x[2] * x[2]
    return sum(_values)


def flat_taken_twice(x):
    _numbers = x.flat
    total = sum(_numbers)
    for v in _numbers:
        total += v * v
    return total


for _function, _line, _reason in (
    (pairs_taken_twice, "total = sum(a * b for a, b in _pairs)", "what is iterated here"),
    (pairs_that_an_assertion_takes, "for a, b in pairs:", "what is iterated here"),
    (
        pairs_of_what_is_written_before, "return sum(a * b for a, b in pairs)",
        "what is iterated here",
    ),
    (chain_taken_in_every_step, "_numbers = itertools.chain(x, x)", "`chain` makes an object"),
    (values_before_one_is_stored, "_values = d.values()", "the method `values` has no rule"),
    (flat_taken_twice, "_numbers = x.flat", "the attribute `flat` is not differentiated"),
):  # fmt: skip
    refused(_function, lambda r: (r.uniform(0.3, 0.9, 3),), line=_line, reason=_reason)


class Vector(NamedTuple):
    a: float
    b: float

    def __mul__(self, k):
        return Vector(self.a * k, self.b * k)


class Doubling(dict):
    def __setitem__(self, key, value):
        dict.__setitem__(self, key, 2.0 * value)


class Tripling(dict):
    def __getitem__(self, key):
        return 3.0 * dict.__getitem__(self, key)


class Defaults(dict):
    def __missing__(self, key):
        return 2.0


def named_tuple_with_a_product(x):
    return (Vector(x[0], x[1]) * 2)[0] * x[1]


def dict_that_stores_otherwise(x):
    d = Doubling()
    d["a"] = x[0]
    return d["a"] ** 2


def dict_that_reads_otherwise(x):
    d = Tripling()
    d["a"] = x[0]
    return d["a"] ** 2


def dict_with_defaults(x):
    d = Defaults()
    d["a"] = x[0]
    return d["a"] * d["b"]


for _function, _line, _reason in (
    (
        named_tuple_with_a_product, "return (Vector(x[0], x[1]) * 2)[0] * x[1]",
        "`Vector` makes an object",
    ),
    (dict_that_stores_otherwise, "d = Doubling()", "`Doubling` makes an object"),
    (dict_that_reads_otherwise, "d = Tripling()", "`Tripling` makes an object"),
    (dict_with_defaults, "d = Defaults()", "`Defaults` makes an object"),
):  # fmt: skip
    refused(_function, lambda r: (r.uniform(0.3, 0.9, 3),), line=_line, reason=_reason)


class Ordered:
    def __init__(self, value):
        self.value = value

    def __gt__(self, other):
        return self.value > other.value


def objects_that_are_compared(x):
    return max(Ordered(x[0]), Ordered(x[1])).value


def list_of_objects_that_are_compared(x):
    return max([Ordered(v) for v in x]).value * x[0]


def keywords_that_are_made(x):
    times = lambda b=1.0: x[0] * b
    made = {}
    for key in ("b",):
        made[key] = 2.0
    return times(**made) + x[0]


for _function, _line, _reason in (
    (
        objects_that_are_compared, "return max(Ordered(x[0]), Ordered(x[1])).value",
        "`max` gets objects",
    ),
    (
        list_of_objects_that_are_compared, "return max([Ordered(v) for v in x]).value * x[0]",
        "`max` gets objects",
    ),
    (
        keywords_that_are_made, "return times(**made) + x[0]",
        "the keys of the dict are not known here",
    ),
):  # fmt: skip
    refused(_function, lambda r: (r.uniform(0.3, 0.9, 3),), line=_line, reason=_reason)


def keywords_that_another_function_adds(x, settings):
    def adds(inner, more):
        inner["more"] = more

    def product(t, **factors):
        for name in factors:
            t = t * factors[name]
        return t

    adds(**settings)
    return product(x, **settings["inner"])


refused(
    keywords_that_another_function_adds,
    lambda r: (r.uniform(0.3, 0.9, 3), {"inner": {"scale": 2.0}, "more": 3.0}),
    line='return product(x, **settings["inner"])',
    reason="the keys of the dict are not known here",
)


def selection_of_what_is_turned(x):
    y = np.select([x.T > 0.5], [x.T])
    z = y.ravel()
    z[1] = 7.0
    return np.sum(y)


def function_of_numbers_of_what_is_turned(x):
    y = np.vectorize(lambda v: v * 2.0)(x.T)
    z = y.ravel()
    z[1] = 7.0
    return np.sum(y)


def quantiles_of_what_is_turned(x):
    y = np.quantile(np.stack([x, x * 2.0]).T, 0.3, axis=2)
    z = y.ravel()
    z *= 7.0
    return np.sum(y)


def reshaped_in_the_order_of_the_memory(x):
    return np.sum(np.reshape(x.T, -1, order="A") * x[0, 0])


for _function, _line, _reason in (
    (
        selection_of_what_is_turned, "y = np.select([x.T > 0.5], [x.T])",
        "may then lie in memory in another order",
    ),
    (
        function_of_numbers_of_what_is_turned, "y = np.vectorize(lambda v: v * 2.0)(x.T)",
        "may then lie in memory in another order",
    ),
    (
        quantiles_of_what_is_turned, "y = np.quantile(np.stack([x, x * 2.0]).T, 0.3, axis=2)",
        "may then lie in memory in another order",
    ),
    (
        reshaped_in_the_order_of_the_memory,
        'return np.sum(np.reshape(x.T, -1, order="A") * x[0, 0])',
        "the order of the elements must be 'C' or 'F'",
    ),
):  # fmt: skip
    refused(_function, lambda r: (r.uniform(0.3, 0.9, (2, 2)),), line=_line, reason=_reason)
