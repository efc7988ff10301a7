"""Containers of which known items are read are taken apart: their gradients are displays."""

import numpy as np
import pytest

import srcdiff
from tests.support.differences import check_gradient

X = np.array([0.3, -0.2, 0.5])


def layers(p, x):
    return np.sum(np.tanh(x * p["w"] + p["b"]) ** 2)


def nested(p, x):
    inner = p["in"]
    return np.sum(np.tanh(x * inner["w"]) * inner["b"] * p["out"][0])


def pair(p, x):
    w, b = p
    return np.sum(np.tanh(w * x) * b)


def written(p, x):
    w = p["w"]
    w[0] = x[1] * w[2]
    return np.sum(w * x * p["b"])


def given(p, x):
    if p["kind"] == "tanh":
        x = np.tanh(x)
    return np.sum(x * p["w"])


def by_a_variable(p, x):
    total = 0.0
    for name in p:
        total += np.sum(p[name] * x)
    return total


def handed_out(p, x):
    return {"loss": np.sum(p["w"] * x), "all": p}


def source(f, p):
    g = srcdiff.grad(f)
    g(p, X)
    return g.source.replace(" ", "")


FLAT = {"w": X + 1.0, "b": X - 1.0}


@pytest.mark.parametrize(
    ("f", "p"),
    [
        (layers, FLAT), (nested, {"in": FLAT, "out": [X, 2.0], "n": 3}), (pair, (X, X + 1.0)),
        (written, FLAT), (by_a_variable, FLAT), (layers, {**FLAT, "unread": X}),
    ],
)  # fmt: skip
def test_gradients(f, p):
    check_gradient(f, (p, X), inputs=0)


def test_a_dict_gets_a_dict():
    text = source(layers, FLAT)
    assert 'return{"w":d_p_w,"b":d_p_b}' in text and "_tree" not in text


def test_what_is_not_read_is_zero_or_none():
    p = {**FLAT, "unread": X, "n": 3, "s": 2.0, "kind": "sine", "none": None}
    found = srcdiff.grad(layers)(p, X)
    assert list(found) == list(p) and (found["unread"] == 0.0).all()
    assert (found["n"], found["s"], found["kind"], found["none"]) == (None, 0.0, None, None)
    text = source(layers, p)
    assert 'np.zeros_like(p["unread"])' in text and "_tree" not in text


def test_a_container_in_a_container():
    text = source(nested, {"in": FLAT, "out": [X, 2.0], "n": 3})
    assert "_tree" not in text and '"n":None' in text


def test_a_tuple_is_unpacked_as_it_was():
    text = source(pair, (X, X + 1.0))
    assert "w,b=p" in text and "zero_tree" not in text


def test_texts_decide_as_they_are_given():
    g = srcdiff.grad(given)
    for kind, slope in (("tanh", np.tanh(X)), ("none", X)):
        np.testing.assert_allclose(g({"w": X, "kind": kind}, X)["w"], slope)


def test_what_is_written_into_is_copied():
    p = {"w": X.copy(), "b": X.copy()}
    srcdiff.grad(written)(p, X)
    np.testing.assert_array_equal(p["w"], X)


@pytest.mark.parametrize("f", [by_a_variable, handed_out])
def test_others_stay_whole(f):
    g = srcdiff.grad(f, outputs="loss" if f is handed_out else None)
    g(FLAT, X)
    assert "zero_tree(p)" in g.source


def test_two_items_that_are_one_array():
    """They may be, as long as nothing is written into."""
    found = srcdiff.grad(layers)({"w": X, "b": X}, X)
    assert not np.shares_memory(found["w"], found["b"])
    with pytest.raises(srcdiff.UnsupportedError, match="share memory"):
        srcdiff.grad(written)({"w": X, "b": X}, X)


def test_forward_mode_takes_the_whole():
    tangent = srcdiff.jvp(layers, (FLAT, X), (FLAT, np.zeros(3)))[1]
    slopes = srcdiff.grad(layers)(FLAT, X)
    np.testing.assert_allclose(tangent, sum(np.sum(FLAT[k] * slopes[k]) for k in FLAT))
