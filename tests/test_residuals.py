"""Copies of residuals keep what shares memory sharing it."""

import numpy as np
import pytest

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
