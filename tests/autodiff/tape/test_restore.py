"""What is saved of items that are overwritten: a copy only where something writes into them."""

import numpy as np
import pytest

import srcdiff
from tests.support.differences import check_gradient

X = np.linspace(0.5, 1.5, 4)


def state(x, k):
    s = {"u": x * 1.0, "v": np.zeros_like(x)}
    for _ in range(4):
        s["v"] += k * np.sin(s["u"])
        s["u"] = s["u"] * s["v"] + 0.1
    return np.sum(s["u"])


def exchanged(x, k):
    s = {"a": x * 1.0, "b": np.cos(x)}
    for _ in range(4):
        s["a"], s["b"] = s["b"], k * np.sin(s["a"]) * s["b"]
    return np.sum(s["a"] * s["b"])


def by_index(x, k):
    s = [x * 1.0, np.cos(x)]
    for i in range(4):
        s[i % 2] = s[(i + 1) % 2] * s[i % 2] * k
    return np.sum(s[0] * s[1])


def none_at_first(x, k):
    levels = [None, None]
    total = 0.0
    for i in range(4):
        if levels[i % 2] is None:
            levels[i % 2] = np.zeros(x.shape)
        levels[i % 2] = levels[i % 2] * levels[i % 2] + np.sin(x) * k
        total += np.sum(levels[i % 2])
    return total


@pytest.mark.parametrize("function", [state, exchanged, by_index, none_at_first])
def test_items_that_nothing_writes_into_are_saved_as_they_are(function):
    text = srcdiff.source(function, example=(X, 0.8))
    assert "_saved.append(" in text
    assert "kept(" not in text
    assert "np.copy(" not in text.partition("# backward")[0]
    check_gradient(function, (X, 0.8), ("x", "k"))


def written_into(x, k):
    s = {"u": x * 1.0}
    for _ in range(4):
        s["u"][0] = s["u"][1] * k + s["u"][0] ** 2
        s["u"] = np.sin(s["u"])
    return np.sum(s["u"])


def written_into_by_another_name(x, k):
    rows = [x * 1.0, x * 2.0]
    for _ in range(4):
        row = rows[0]
        row[1] = row[0] * k
        rows[0] = rows[1] * row
        rows[1] = np.cos(row)
    return np.sum(rows[0]) * np.sum(rows[1])


def a_dict_in_a_dict(x, k):
    s = {"a": {"u": x * 1.0}}
    for _ in range(3):
        t = s["a"]
        t["u"] = np.sin(t["u"]) * k
        t["u"][0] = t["u"][1] ** 2
        s["a"] = {"u": s["a"]["u"] * t["u"]}
    return np.sum(s["a"]["u"])


@pytest.mark.parametrize(
    "function", [written_into, written_into_by_another_name, a_dict_in_a_dict]
)
def test_items_that_something_writes_into_are_put_back_as_they_were(function):
    check_gradient(function, (X, 0.8), ("x", "k"))
