"""Stores whose index may lie in what they write into: copied, or refused where NumPy is too old."""

import re
import types

import numpy as np
import pytest

import srcdiff
from srcdiff.normalize import overlaps
from tests.programs.found import AT_ITSELF, active_set

X = np.array([0.7, 1.3, 2.1])


def unknown(f):
    """The same function, of which nothing has been generated yet."""
    return types.FunctionType(f.__code__, f.__globals__, f.__name__)


@pytest.mark.parametrize("f", AT_ITSELF, ids=lambda f: f.__name__)
def test_before_numpy_2_3_an_index_in_its_own_store_is_refused(f, monkeypatch):
    monkeypatch.setattr(overlaps, "INDEX_IS_READ_LATE", True)
    with pytest.raises(srcdiff.UnsupportedError) as e:
        srcdiff.source(unknown(f), example=(X,))
    assert re.search(r"found\.py:\d+:\d+: `i` may be written into while it is read", str(e.value))
    assert "    i[" in str(e.value) and "Copy the index" in str(e.value)


def test_a_mask_in_its_own_store_is_not(monkeypatch):
    monkeypatch.setattr(overlaps, "INDEX_IS_READ_LATE", True)
    assert "np.copy" in srcdiff.source(unknown(active_set), example=(X,))


def copied(x):
    y, i = x.copy(), np.array([1, 2, 0])
    i[i.copy()] += 1
    i %= 3
    y[i] = y[i] * x
    return np.sum(y**2)


def test_what_the_message_says_helps(monkeypatch):
    monkeypatch.setattr(overlaps, "INDEX_IS_READ_LATE", True)
    assert srcdiff.testing.gradcheck(copied, (X,))
