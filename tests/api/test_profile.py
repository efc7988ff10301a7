"""`profile`: times and bytes by the lines of the primal."""

import numpy as np
import pytest

import srcdiff
from tests.support.differences import close


def loop(x):
    h = x * 1.0
    for _ in range(5):
        h = np.tanh(h) * np.exp(-h)
    return np.sum(h * h)


def test_times_and_bytes_by_line():
    x = np.linspace(0.0, 1.0, 50_000)
    g = srcdiff.grad(loop)
    found = srcdiff.profile(g)(x)
    close(found.value, g(x))
    by_text = {line.text: line for line in found.lines}
    body = by_text["h = np.tanh(h) * np.exp(-h)"]
    assert body.saved >= 5 * x.nbytes
    assert body.forward > 0.0 and body.backward > 0.0
    assert body.forward + body.backward > by_text["return np.sum(h * h)"].forward
    assert "saved bytes" in str(found) and "test_profile.py:13: h = np.tanh" in str(found)


def test_a_cotangent_and_an_error_restore_the_trace():
    g = srcdiff.profile(srcdiff.grad(np.square))
    close(g(np.ones(2), grad_outputs=np.ones(2)).value, [2.0, 2.0])
    with pytest.raises(srcdiff.errors.CotangentError):
        g(np.ones(2))


WEIGHTS = np.array([0.5, 2.0])


def weighted(x):
    return np.sum(WEIGHTS * np.exp(x))


def test_variables_outside_are_shown_and_measured():
    x = np.array([0.1, 0.2])
    shown = srcdiff.aot.stages(weighted, ("x", "global:WEIGHTS"), example=(x,))
    assert "d_WEIGHTS" in shown["emit"]
    assert shown.keys() == srcdiff.aot.stages(weighted).keys()
    close(srcdiff.profile(srcdiff.grad(weighted, "global:WEIGHTS"))(x).value, np.exp(x))
