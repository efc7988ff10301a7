"""Copies of several arrays that share memory as these do."""

import numpy as np
import pytest

from srcdiff.runtime.copies import kept_together

A = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a,
        lambda a: a[1:],
        lambda a: a[::-1, ::2],
        lambda a: a.T[1],
        lambda a: a.ravel()[3:],
        lambda a: a.view(complex),
    ],
)
def test_parts_of_one_array(view):
    a = A.copy()
    whole, (part,) = kept_together((a, [view(a)]))
    np.testing.assert_array_equal(part, view(a))
    assert part.strides == view(a).strides and not np.shares_memory(whole, a)
    part[...] = -1.0
    view(a)[...] = -1.0
    np.testing.assert_array_equal(whole, a)


def test_parts_that_overlap_without_the_whole():
    a = A.ravel().copy()
    kept = kept_together({"end": a[4:], "start": a[7::-1], "other": A, "count": 3})
    kept["end"][0] = 50.0
    assert kept["start"][3] == 50.0 and a[4] == 4.0 and kept["count"] == 3
    assert not np.shares_memory(kept["other"], A)


def test_what_shares_nothing():
    wide = np.broadcast_to(np.float64(2.0), (3,))
    names = np.array(["a", None], object)
    a, b, c, d = kept_together([np.ones(2), np.zeros((0, 3)), wide, names])
    assert a.base is None and b.shape == (0, 3) and list(d) == ["a", None]
    c[0] = 1.0
    assert list(c) == [1.0, 2.0, 2.0]
