"""Which loops threads may share, and that what they compute together is what one computes."""

import operator

import numpy as np
import pytest

import srcdiff
from srcdiff.errors import UnsupportedError
from srcdiff.ir import Rows
from srcdiff.runtime import threads
from tests.corpus.native import interpreted
from tests.kernels import test_fusion as fusion
from tests.support import structures as st

X = np.linspace(0.1, 1.3, 11)
A = np.linspace(-1.0, 1.0, 35).reshape(7, 5)


@pytest.fixture
def parts(monkeypatch):
    """How the rows of loops were shared out, in loops that are worth it however small."""
    monkeypatch.setattr(threads, "SMALLEST", 1)
    found = []
    part = threads.Shared._part
    monkeypatch.setattr(
        threads.Shared, "_part", lambda self, *a: found.append(self.rows) or part(self, *a)
    )
    return found


def column_means(a, b):
    z = np.tanh(a - b)
    return np.sum(np.sum(z, axis=0) ** 2)


@pytest.mark.parametrize("count", [2, 3, 20])
@pytest.mark.parametrize(
    "f, args",
    [
        (fusion.chain, (X, X + 1.0)), (fusion.softmax, (A,)), (fusion.biased, (A, A[0])),
        (fusion.flux, (X,)), (fusion.inner, (A,)), (fusion.stepped, (X,)), (fusion.pairs, (X,)),
        (fusion.by_rows_without_their_axis, (A,)), (column_means, (A, A[1])),
        (fusion.bound_again, (X,)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)  # fmt: skip
def test_parts_together_are_the_whole(f, args, count, parts):
    inputs = tuple(range(len(args)))
    expected = srcdiff.value_and_grad(f, inputs)(*[a.copy() for a in args])
    with interpreted():
        found = srcdiff.value_and_grad(f, inputs, compile="loops", threads=count)(
            *[a.copy() for a in args]
        )
    assert parts, "no loop is shared"
    for one, two in zip(st.leaves(found), st.leaves(expected), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-13, atol=1e-15)


def test_what_a_thread_is_given(parts):
    with interpreted():
        srcdiff.grad(fusion.biased, (0, 1), compile="loops", threads=2)(A, A[0])
    assert Rows(("rows", "whole", "rows", "totals", "whole"), (), False) in parts


def test_a_number_of_all_rows_is_computed_by_one(parts):
    with interpreted():
        srcdiff.grad(fusion.normalised, compile="loops", threads=2)(X)
    assert not parts


def steps_down(a):
    return np.sum(np.sin(a[1:] - a[:-1]))


def steps_across(a):
    return np.sum(np.sin(a[:, 1:] - a[:, :-1]))


def written_by(call):
    """The addresses of the elements that a call changes."""
    arrays = [a for a in call.args if np.ndim(a)]
    before = [a.copy() for a in arrays]
    call()
    places = ((a, np.argwhere(a != b)) for a, b in zip(arrays, before))
    return {a.ctypes.data + int(np.dot(at, a.strides)) for a, found in places for at in found}


@pytest.mark.parametrize("f", [steps_down, steps_across])
def test_no_two_threads_add_to_one_row(f, parts, monkeypatch):
    met = []

    def run(calls):
        one, two = map(written_by, calls)
        met.append(one & two)
        return [None, None]

    monkeypatch.setattr(threads, "_run", run)
    with interpreted():
        srcdiff.grad(f, compile="loops", threads=2)(A)
    assert met and not any(met)


def test_small_arrays_are_not_shared(monkeypatch):
    monkeypatch.setattr(threads.Shared, "_part", None)
    with interpreted():
        srcdiff.grad(fusion.chain, compile="loops", threads=2)(X, X + 1.0)


def test_results_are_put_together_in_order(parts):
    rows = Rows(("rows", "length"), (np.maximum, operator.add), True)
    shared = threads.Shared(lambda x, n: (x.max(), [n, *x]), rows, 3)
    assert shared(X, len(X)) == (X[-1], [3, *X[:3], 4, *X[3:7], 4, *X[7:]])
    one = Rows(("rows",), (np.maximum,), False)
    assert np.isnan(threads.Shared(lambda x: x[0] - x[0], one, 2)(X * np.nan))


def test_errors_of_threads_are_raised():
    def loop(x):
        if x[0] > 0:
            raise FloatingPointError(x[0])

    shared = threads.Shared(loop, Rows(("rows",), (), False), 2)
    x = np.zeros(3 * threads.SMALLEST)
    shared(x)
    x[-1] = x[len(x) // 2] = 1.0
    with pytest.raises(FloatingPointError):
        shared(x)


def test_threads_share_loops_alone():
    with pytest.raises(UnsupportedError, match="threads share the loops") as error:
        srcdiff.grad(fusion.chain, threads=2)
    assert "compile='loops'" in error.value.remedy
    with pytest.raises(ValueError, match="threads: expected a number from 1 on, given 0"):
        srcdiff.grad(fusion.chain, compile="loops", threads=0)
