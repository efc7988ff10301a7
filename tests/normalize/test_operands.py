"""Lists and tuples of numbers that functions of SciPy take as arrays."""

import numpy as np
import pytest

import srcdiff
from srcdiff.primitives.registry import elementwise
from tests.support.differences import define

pytest.importorskip("scipy", reason="SciPy is an extra")
from scipy import fft, integrate, linalg, ndimage, signal, special, stats  # noqa: E402, F401

TEXTS = """
np.linalg.matrix_power([[p, 0.1], [0.1, 2.0]], 3).sum()
np.corrcoef([p, 1.0, 2.0], [1.0, p * p, 3.0])[0, 1]
special.gammaln([p, 2 * p]).sum()
special.erf((p, 2 * p)).sum()
special.logsumexp([p, 2 * p])
special.xlogy([p, 2 * p], [1.0, p]).sum()
linalg.solve([[p, 1.0], [0.0, 2.0]], [1.0, p]).sum()
linalg.expm([[p, 1.0], [0.0, 2.0]]).sum()
signal.lfilter([p, 1.0], [1.0, 0.5], [p, 2.0, 3.0]).sum()
ndimage.convolve1d([p, 1.0, 2.0], [p, 2.0, 3.0]).sum()
integrate.simpson([p, p**2, 1.0], x=[0.0, 1.0, 2.0])
fft.fft([p * p, 1.0]).real.sum()
stats.norm.logpdf([p, 2 * p], 0.0, 1.0).sum()
stats.norm.logpdf([p, 2 * p], loc=[1, 2], scale=(3, 4)).sum()
stats.norm.ppf([p, p / 2]).sum()
stats.norm.cdf((p, 2 * p)).sum()
stats.norm([1, 2], p).logpdf([p, p]).sum()
stats.gamma.logpdf([p, 2 * p], [2, 3]).sum()
stats.expon.logpdf([p, 2 * p]).sum() * p
stats.lognorm.pdf([p, 2 * p], [p, 1.0]).sum()
stats.t.logpdf([p, 2 * p], [3, p]).sum()
stats.uniform.logpdf([p, p], 0, [2, p + 1]).sum()
stats.poisson.logpmf((1, 2), p).sum()
stats.binom.logpmf([1, 2], [3, 4], p).sum()
stats.dirichlet.logpdf([p, 1 - p], [2.0, p])
stats.multivariate_normal.logpdf([p, 1.0], [0.0, p], [[1.0, 0.0], [0.0, p]])
stats.zscore([p, 1.0, 2.0])[0]
""".strip().splitlines()
AT, H = 0.4, 1e-6


@pytest.mark.parametrize("text", TEXTS)
def test_a_list_is_an_array(text):
    f = define(f"def f(p):\n    return {text}\n", "f", dict(globals()))
    slope = (f(AT + H) - f(AT - H)) / (2 * H)
    g = srcdiff.grad(f)
    assert g(AT) == pytest.approx(slope, rel=1e-7, abs=1e-8)
    assert srcdiff.jvp(f, (AT,), (1.0,))[1] == pytest.approx(g(AT), rel=1e-12, abs=1e-12)
    again = (g(AT + H) - g(AT - H)) / (2 * H)
    assert srcdiff.grad(g)(AT) == pytest.approx(again, rel=1e-6, abs=1e-8)


def halved(x):
    return np.asarray(x) / 2


@elementwise(halved)
def halved_rule(x):
    z = halved(x)
    yield z
    d[x] += d[z] / 2  # noqa: F821


def test_a_display_is_refused_where_a_tangent_is_known_of_arrays_alone():
    def f(x):
        return np.sum(halved([x, 2 * x]) ** 2)

    with pytest.raises(srcdiff.UnsupportedError, match=r"an operand of `halved`") as caught:
        srcdiff.jvp(f, (AT,), (1.0,))
    assert caught.value.line.strip() == "return np.sum(halved([x, 2 * x]) ** 2)"


def controlled(k):
    before, v = None, 0.0
    for _ in range(4):
        error = k - v
        change = 0.0 if before is None else error - before
        before = error
        v += k * change + 0.3 * error
    return v


def test_what_is_none_at_first_is_no_list():
    value, slope = srcdiff.jvp(controlled, (AT,), (1.0,))
    assert type(value) is type(slope) is float
    assert slope == pytest.approx(srcdiff.grad(controlled)(AT), rel=1e-12)
