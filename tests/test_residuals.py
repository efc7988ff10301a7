"""Copies of residuals keep what shares memory sharing it."""

import numpy as np
import pytest

import srcdiff
from srcdiff.api.residuals import copied


@pytest.mark.parametrize("order", ["C", "F", "permuted"])
def test_views_stay_views(order):
    base = np.arange(24.0).reshape(2, 3, 4)
    owner = np.array(base, order="F") if order == "F" else base.copy()
    if order == "permuted":
        owner = np.add(np.transpose(base, (1, 0, 2)), 0.0)
    views = (owner, owner[::-1, 1:], owner.T[1], owner[1, 1, 2:3])
    again = copied(views)
    for old, new in zip(views, again, strict=True):
        np.testing.assert_array_equal(old, new)
        assert not np.shares_memory(old, new)
    again[0][...] *= 2.0
    for old, new in zip(views, again, strict=True):
        np.testing.assert_array_equal(2.0 * old, new)


def test_lists_keep_their_identity():
    array = np.ones(3)
    saved = [array, array[1:]]
    one, two, table = copied((saved, saved, {"a": array}))
    assert one is two and one[0] is table["a"]
    one[0][1] = 7.0
    assert one[1][0] == 7.0 and array[1] == 1.0


OUTSIDE = np.array([1.0, 2.0])
TABLE = {"w": np.array([1.0, 2.0]), "names": ["a"]}


def of_an_array_outside(x):
    return np.sum(np.sin(OUTSIDE * x))


def of_a_dict_outside(x):
    return np.sum(np.sin(TABLE["w"] * x))


def power_outside(x, n):
    return OUTSIDE * x if n == 0 else np.sin(OUTSIDE * power_outside(x, n - 1))


def of_a_recursive_function(x):
    return np.sum(power_outside(x, 2))


@pytest.mark.parametrize(
    "f", [of_an_array_outside, of_a_dict_outside, of_a_recursive_function], ids=lambda f: f.__name__
)
def test_what_is_written_outside_after_the_run(f):
    x = np.array([0.3, 0.4])
    expected = srcdiff.grad(f)(x)
    _, pull = srcdiff.vjp(f, x)
    run = srcdiff.run(f, x)
    held = OUTSIDE.copy(), TABLE["w"].copy()
    try:
        OUTSIDE[:] = 7.0
        TABLE["w"][:] = 7.0
        np.testing.assert_array_equal(pull(), expected)
        np.testing.assert_array_equal(run.grad(retain_graph=True), expected)
        batch = run.grad(grad_outputs=np.array([1.0, 2.0]), is_grads_batched=True)
        np.testing.assert_allclose(batch, [expected, 2.0 * expected], rtol=1e-14)
    finally:
        OUTSIDE[:], TABLE["w"][:] = held
    np.testing.assert_array_equal(pull(2.0), 2.0 * expected)
