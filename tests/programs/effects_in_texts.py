"""Calls with effects where only their text matters: f-strings, `assert`, sets, `getattr`."""

import numpy as np

from .registry import sample


def _bump(v):
    v[0] = v[1] * 5
    return 1


class Counter:
    def __init__(self, w):
        self.w = w

    def step(self):
        self.w = self.w * 2
        return self.w


def a_method_in_an_f_string(x):
    y = x * 1.0
    text = f"{y.fill(2.0)} of {len(y)}"
    return np.sum(y * x) * len(text)


def a_helper_in_an_f_string(x):
    y = x * 1.0
    text = f"{_bump(y):>{len(y)}}"
    return np.sum(y * x) * len(text)


def a_method_that_an_assertion_calls(x):
    y = x * 1.0
    assert y.sort() is None
    return np.sum(y * np.arange(3.0))


def a_helper_that_an_assertion_calls(x):
    y = x * 1.0
    assert _bump(y), f"{y}"
    return np.sum(y * x)


def a_list_that_an_assertion_changes(x):
    items = [x]
    assert items.append(x * 2) is None
    return np.sum(items[-1] * x)


def a_helper_in_a_set(x):
    y = x * 1.0
    found = {_bump(y), 2}
    return np.sum(y * x) * len(found)


def an_item_taken_out_for_a_text(x):
    items = [x, x * 2]
    text = f"{items.pop().shape}"
    return np.sum(items[-1] * x) * len(text)


def a_step_in_a_text(x):
    c = Counter(x)
    text = f"{c.step().shape}"
    assert c.step() is not None
    return np.sum(c.w * x) * len(text)


def a_result_in_a_text(x):
    y = x * 1.0
    text = f"{np.add(y, x, out=y).shape}"
    return np.sum(y * x) * len(text)


def a_method_by_its_name(x):
    y = x * 1.0
    getattr(y, "fill")(2.0)  # noqa: B009
    return np.sum(y * x)


def a_nested_function_in_a_text(x):
    def shifted(v):
        return v + 1.0

    text = f"{shifted(x).shape}"
    return np.sum(shifted(x) ** 2) * len(text)


for _function in (
    a_method_in_an_f_string,
    a_helper_in_an_f_string,
    a_method_that_an_assertion_calls,
    a_helper_that_an_assertion_calls,
    a_list_that_an_assertion_changes,
    a_helper_in_a_set,
    an_item_taken_out_for_a_text,
    a_step_in_a_text,
    a_result_in_a_text,
    a_method_by_its_name,
    a_nested_function_in_a_text,
):
    sample(_function, lambda r: (r.uniform(0.3, 1.2, 3),))
