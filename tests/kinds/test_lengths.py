"""Lengths of joins, repeats and slices, as kinds know them, against those that NumPy gives."""

from __future__ import annotations

import re

import numpy as np
import pytest

from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.ir.kinds import Array, Sym
from srcdiff.kinds.interpreter import infer
from srcdiff.kinds.lattice import kind_of
from srcdiff.normalize.in_place import prepare
from tests.support.differences import define

# Of `a` (m, n) and `b` (m, p), and of `v` (n,), each with axes of 4 and more.
KNOWN = (
    "np.concatenate((a, b), axis=1)",
    "np.concatenate((a, b), -1)",
    "np.concatenate([a[:1], a[2:], a[-1:]])",
    "np.concatenate((a[1:2] - a[:1], (a[2:] - a[:-2]) / 2.0, a[-1:] - a[-2:-1]))",
    "np.concatenate((v, v[1:], np.zeros(3)))",
    "np.hstack((a, np.ones((a.shape[0], 1))))",
    "np.hstack((v[:2], v))",
    "np.vstack((v, a, v[::-1]))",
    "np.vstack((v, v * 2.0))",
    "np.stack([v, v * 2.0, v], axis=-1)",
    "np.stack((a, a), 1)",
    "np.repeat(a, 3, axis=1)",
    "np.diff(v)",
    "np.diff(a, axis=0)",
    "np.diff(b, 2)",
    "np.diff(v[1:], n=1)",
    "np.repeat(v, v.shape[0])",
    "np.repeat(a[:1], b.shape[1], axis=0)",
    "np.outer(v, v).ravel()[1:]",
    "a[1:3]",
    "a[-3:, 2:4]",
    "b[-2:-1, :3]",
    "v[3:2]",
    "v[2:][:1]",
    "np.concatenate((v, v))[:7]",
    "np.hstack((v, v[:2]))[1 : v.size + 1]",
    "np.hstack((v, v[:2]))[: v.size - 4]",
    "np.hstack((v, v[:2]))[3 : v.size + 5]",
    "np.hstack((v, v[:3]))[2 : v.size + 3][1 : v.size - 3]",
    "np.mgrid[0 : v.size, 0:3]",
    "np.mgrid[: v.size]",
    "np.mgrid[2:9:3, -1:1]",
    "np.ogrid[0:4, : v.size][1]",
    "np.arange(2, v.size)",
    "np.arange(-1, v.size)",
    "np.arange(3, 7)",
    "np.arange(7, 3)",
)
UNKNOWN = (
    "np.concatenate((a, b[:5]), axis=None)",
    "v[:9]",
    "v[-9:]",
    "v[2:][:4]",
    "np.repeat(v, np.arange(v.size))",
    "np.hstack((v, v[:2]))[: v.size - 5]",
)


def dims(text, **arrays):
    """The lengths that kinds know of the value of an expression."""
    f = define(f"def f({', '.join(arrays)}):\n    y = {text}\n    return y\n", "f", {"np": np})
    params = {n: kind_of(x, n) for n, x in arrays.items()}
    kind = infer(prepare(lower(parse(f))), params)["y"]
    assert isinstance(kind, Array) and kind.dims is not None
    return kind.dims


def value(dim, arrays):
    """What a length is for some arrays."""
    if isinstance(dim, int):
        return dim
    name = re.sub(r"(\w+)\.(\d+)", lambda m: str(arrays[m[1]].shape[int(m[2])]), dim.name)
    number = eval(name)  # noqa: S307
    assert number >= dim.least
    return max(0, number + dim.offset)


def sample(rng):
    m, n, p = rng.integers(4, 9, 3)
    return {"a": rng.random((m, n)), "b": rng.random((m, p)), "v": rng.random(n)}


@pytest.mark.parametrize("text", KNOWN)
def test_known_lengths_are_those_of_the_value(text):
    rng = np.random.default_rng(1)
    for _ in range(6):
        arrays = sample(rng)
        found = dims(text, **arrays)
        shape = eval(text, {"np": np}, arrays).shape  # noqa: S307
        assert tuple(value(d, arrays) for d in found) == shape


@pytest.mark.parametrize("text", UNKNOWN)
def test_lengths_that_depend_on_more_have_names_of_their_own(text):
    rng = np.random.default_rng(2)
    for _ in range(6):
        arrays = sample(rng)
        (dim,) = dims(text, **arrays)
        assert isinstance(dim, Sym) and (dim.name == "y.0" or "[" in dim.name)
        assert dim.big == (dim.least > 1)
        assert len(eval(text, {"np": np}, arrays)) >= dim.least  # noqa: S307


def test_a_slice_of_a_product_is_no_product_with_a_slice():
    arrays = {"a": np.ones((4, 5)), "v": np.ones(5)}
    whole = dims("np.outer(v, v).ravel()[::2]", **arrays)
    part = dims("np.outer(v, v[::2]).ravel()", **arrays)
    assert whole != part


def length_in_loop(items, part):
    """The length of a part of `v`, which has at least 4 items, in a loop that counts with `i`."""
    text = f"def f(v, n):\n    for i in {items}:\n        y = {part}\n    return y\n"
    function = prepare(lower(parse(define(text, "f", {"np": np}))))
    kinds = infer(function, {"v": kind_of(np.ones(6), "v"), "n": kind_of(6, "n")})
    return kinds["y"].dims[0]


@pytest.mark.parametrize(
    ("items", "part", "length"),
    [
        ("range(len(v) - 2)", "v[i:i + 3]", 3),
        ("range(1, v.shape[0] - 1)", "v[i - 1:i + 2]", 3),
        ("range(2, len(v))", "v[i - 2:i + 1]", 3),
        ("range(len(v))", "v[2:][i:i + 1]", None),
        ("range(len(v) - 2)", "v[2:][i:i + 1]", 1),
        ("range(3)", "np.ones(5)[i:i + 3]", 3),
        ("range(3)", "np.ones(5)[i:i + 4]", None),
        ("range(len(v) - 1)", "v[i:i + 3]", None),
        ("range(v.shape[0] - 1)", "v[i - 1:i + 1]", None),
        ("range(-1, len(v) - 1)", "v[i:i + 1]", None),
        ("range(0, len(v), 2)", "v[i:i + 1]", None),
        ("range(n)", "v[i:i + 1]", None),
        ("range(n)", "np.ones(n)[i:i + 1]", 1),
    ],
)
def test_a_window_at_a_counter_has_a_length_where_it_stays_inside(items, part, length):
    found = length_in_loop(items, part)
    assert found == length if length is not None else not isinstance(found, int)


def test_a_counter_that_has_been_changed_keeps_no_window_inside():
    text = """
def f(v):
    for i in range(len(v) - 1):
        i = i + 1
        y = v[i:i + 1]
        i = i + 1
        z = v[i:i + 1]
    return y, z
"""
    function = prepare(lower(parse(define(text, "f", {"np": np}))))
    kinds = infer(function, {"v": kind_of(np.ones(6), "v")})
    assert kinds["y"].dims == (1,) and kinds["z"].dims != (1,)


def test_a_number_that_may_be_negative_is_no_length():
    f = define("def f(n):\n    y = np.zeros(n + 8)[0 : n + 1]\n    return y\n", "f", {"np": np})
    kind = infer(prepare(lower(parse(f))), {"n": kind_of(5, "n")})["y"]
    assert isinstance(kind, Array)
    assert kind.dims != (Sym("n", 1),)
    assert len(f(-3)) == 3
