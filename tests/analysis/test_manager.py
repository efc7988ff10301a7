"""What is found once for a version of a function, and once in a compilation."""

from __future__ import annotations

from collections import Counter

import numpy as np

import srcdiff
from srcdiff.analysis.manager import once, remembering
from srcdiff.analysis.points_to import PointsTo
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.normalize.summaries import induction


def test_once_in_a_compilation():
    count = iter(range(9))
    assert [once("a", lambda: next(count)) for _ in range(2)] == [0, 1]
    for expected in (2, 3):
        with remembering():
            assert once("a", lambda: next(count)) == expected
            with remembering():
                assert once("a", lambda: next(count)) == expected


def product(x, n):
    if n == 0:
        return 1.0
    return x[n - 1] * rest(x, n - 1)


def rest(x, n):
    y = x * 1.0
    return np.sin(product(y, n))


def test_summaries_are_found_once(monkeypatch):
    """A gradient and its forward and backward parts ask for them; each is found for its kinds."""
    found = Counter()
    settled = induction._Induction.settled

    def counted(self, fn, kinds):
        found[fn, tuple(kinds.items())] += 1
        return settled(self, fn, kinds)

    monkeypatch.setattr(induction._Induction, "settled", counted)
    x = np.array([0.3, 0.7, 1.1])
    gradient = srcdiff.grad(lambda x: product(x, 3))(x)
    step = 1e-200j
    expected = [np.imag(product(x + step * e, 3)) / 1e-200 for e in np.eye(3)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-14)
    assert found and set(found.values()) == {1}


def test_an_analysis_is_made_once_for_the_kinds_of_a_function():
    function, kinds = lower(parse(product)), {}
    first = PointsTo.of(function, kinds)
    assert PointsTo.of(function, kinds) is first
    assert PointsTo.of(function, {}) is not first
