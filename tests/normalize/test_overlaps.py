"""Stores whose index may lie in what they write into: copied, or refused where NumPy is too old."""

import re
import types

import numpy as np
import pytest

import srcdiff
from srcdiff.normalize import overlaps
from tests.fuzz.judge import judge
from tests.programs.found import AT_ITSELF, active_set
from tests.support.differences import define

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


# --- lines of one array ------------------------------------------------------------------------


def stored(line):
    """A function that stores a line of a matrix `A`, or of a vector `y`, into another one."""
    lines = ("A = np.outer(x, x)", "y, i = x * 2.0, 1", line, "return A * np.sum(y * x)")
    return define("def f(x):\n    " + "\n    ".join(lines), "f", {"np": np})


ALIKE = (
    "A[:, 0] = A[:, 1]", "A[0] = A[1, ::-1]", "A[::-1][0] = A[1]",
    "y[1:] = y[:-1]", "y[:] = y[::-1]", "y[::2] = y[1::2]", "v = y\n    y[...] = v[::-1]",
    "A[..., 0] = A[:, 1]", "A[:2, :2] = A[1:3, 1:3].T",
    "A[:, 0] = A[1].copy()", "A[:, 0] = A[1] * 1.0", "A[:, 0] += A[1]", "A[:, 0] = y",
    "A[:, 0] = A[0]", "A[:, i] = A[i]", "A[i:, i] = A[i, i:]",
    "A[i + 1:, i] = A[i, i + 1:]", "for k in range(3):\n        A[k + 1:, k] = A[k, k + 1:]",
)  # fmt: skip
OTHERWISE = (
    "A[:, 0] = A[1]", "A[1] = A.T[0]", "v = A[0, 1:]\n    A[1:, 1] = v", "y[:4:2] = y[1:3]",
    "v = y[1:3]\n    for k in range(2):\n        y[:4:2] = v", "A[0] = A.reshape(-1)[::5]",
    "A[:, 2] = A[0] if x[0] > 9.0 else A[2]", "A[i + 1:, i] = A[i + 1, 1:]",
    "np.copyto(A[:, 2], A[0])", "np.copyto(src=A[0], dst=A[:, 2])",
    "v = [A[:, 2], A[0]]\n    v[0][...] = v[1]",
    "for v in A:\n        A[:, 3] = v", "v = [A[0]]\n    A[:, 2] = v.pop()",
    "A[0] = A.T[:, 1]", "A[0, :, None][:, 0] = A[1]", "np.copyto(A[0], np.flip(A[1]))",
)  # fmt: skip


@pytest.mark.parametrize("line", ALIKE)
def test_lines_whose_items_lie_alike_are_stored(line):
    assert judge(stored(line), (np.array([0.7, 1.3, 2.1, 0.4]),)).reason == ""


@pytest.mark.parametrize("line", OTHERWISE)
def test_other_lines_of_the_same_array_are_refused(line):
    """NumPy stores item by item, and may read what it has just written."""
    with pytest.raises(srcdiff.UnsupportedError, match="may read there what it has just written"):
        srcdiff.source(stored(line), example=(np.array([0.7, 1.3, 2.1, 0.4]),))


def test_numpy_reads_what_it_has_just_written():
    """This is why: if it fails, NumPy copies what overlaps, and nothing need be refused."""
    A = np.arange(12.0).reshape(3, 4)
    before = A[1, 3]
    A[:, 3] = A[1, 1:]
    assert A[2, 3] != before
