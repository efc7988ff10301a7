"""Shorter forms of helpers: they do what the helpers do, for what files call them with."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import srcdiff
from srcdiff.runtime import short, trees

A = np.arange(6.0).reshape(2, 3)
TREES = [
    A, A.astype(np.float32), A.T, np.array(2.0), 1.5, np.float32(0.5), 3, None, "text",
    {"w": A, "b": [1.0, (A[0], 2)], "name": "n"}, [np.zeros((0, 2)), ()],
]  # fmt: skip
GIVEN = [None, 2.0, 1, np.float32(3.0), A, A + 1j, A[:1], np.array(2.0), "3", [1.0], 1j, [A, 2.0]]


def same(found, expected):
    """Whether two trees are equal in values, types, dtypes and layout."""
    assert type(found) is type(expected)
    if isinstance(found, dict):
        assert found.keys() == expected.keys()
        return all(same(found[k], expected[k]) for k in found)
    if isinstance(found, (list, tuple)):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(found, np.ndarray):
        assert (found.dtype, found.strides) == (expected.dtype, expected.strides)
    return np.array_equal(found, expected) and np.shape(found) == np.shape(expected)


@pytest.mark.parametrize("x", TREES, ids=repr)
def test_trees(x):
    zeros = short.tree_of_zeros(x)
    assert same(zeros, trees.zero_tree(x))
    for d in (zeros, trees.copy_tree(x)):
        assert same(short.tree_like(d, x), trees.like_tree(d, x))


@pytest.mark.parametrize("d", [A, A + 2j, A.astype(np.float32), 1.0], ids=repr)
def test_arrays(d):
    for x in (A, A.T.copy().T, A.astype(np.float32)):
        found = short.array_like(d, x)
        assert same(found, trees.like_tree(d, x)) and not np.shares_memory(found, d)


def outcome(function, given, output):
    try:
        return True, function(given, output)
    except (TypeError, ValueError) as error:
        assert str(error).startswith(("grad_outputs", "grad can be"))
        return False, None


@pytest.mark.parametrize("given", GIVEN, ids=repr)
def test_cotangents(given):
    """They take no more than the helper does, and give the same."""
    pairs = [(short.array_cotangent, A), (short.array_cotangent, np.ones((1, 1)))]
    pairs += [(short.leaf_cotangent, x) for x in (A, 1.0, np.float32(1.0), np.array(1.0))]
    pairs += [(short.leaves_cotangent, x) for x in ((A, 1.0), (1.0,), (A,))]
    for function, output in pairs:
        (taken, found), (right, expected) = (
            outcome(f, given, output) for f in (function, trees.cotangent)
        )
        assert taken == right
        assert not taken or same(found, expected)


@dataclass(frozen=True)
class Weights:
    w: Any = field(default_factory=lambda: A.copy())
    scale: float = 2.0
    layers: Any = field(default_factory=lambda: [(A[0].copy(), 1.0)])
    name: str = "n"
    count: int = 3


@pytest.mark.parametrize("found", [{}, {"w": A + 1.0}, {"w": A + 1.0, "scale": 3.0}], ids=str)
def test_objects(found):
    x = Weights()
    made, expected = short.object_like(x, **found), trees.like_object(x, **found)
    assert type(made) is Weights and list(vars(made)) == list(vars(expected))
    assert same(vars(made), vars(expected))
    assert same(vars(short.object_of(x, **vars(made))), vars(made))


def weighted(p, x):
    return p.scale * np.sum(np.tanh(p.w * x)) + np.sum(p.layers[0][0])


class Slots:
    __slots__ = ("w",)

    def __init__(self, w):
        self.w = w


def of_slots(p):
    return np.sum(p.w * p.w)


def test_objects_in_files():
    """What the checks of a file know of an object is enough for a short form."""
    text = srcdiff.aot.generate(weighted, inputs="p", example=(Weights(), A))
    assert "_HEAP_TYPE" not in text and text.count("\n") < 140
    space = {}
    exec(text, space)
    found, expected = space["weighted_grad"](Weights(), A), srcdiff.grad(weighted)(Weights(), A)
    assert type(found) is Weights and same(vars(found), vars(expected))
    text = srcdiff.aot.generate(of_slots, example=(Slots(A),))
    exec(text, space)
    assert "lru_cache" in text and np.array_equal(space["of_slots_grad"](Slots(A)).w, 2.0 * A)
