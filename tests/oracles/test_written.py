"""Filters and curves of SciPy against torch, in which they are written out here."""

import numpy as np
import pytest

import srcdiff
from tests.oracles.test_oracles import compare, ours, torch_gradients
from tests.support.differences import define, with_cotangent

pytestmark = pytest.mark.oracles
ndimage = pytest.importorskip("scipy.ndimage", reason="SciPy is an extra")
interpolate = pytest.importorskip("scipy.interpolate", reason="SciPy is an extra")
signal = pytest.importorskip("scipy.signal", reason="SciPy is an extra")

# What torch calls the boundaries; it has no name for "reflect", which repeats the last element.
PADDINGS = {"nearest": "replicate", "mirror": "reflect", "wrap": "circular", "constant": "constant"}
MODES = (*PADDINGS, "reflect")


def torch_correlate(x, w, mode, before):
    """A matrix of torch correlated with another one, of which `before` entries lie before zero."""
    import torch

    (rows, columns), (n, m), (up, left) = x.shape, w.shape, before
    if mode == "reflect":
        x = torch.cat((x[:up].flip(0), x, x[rows - (n - 1 - up) :].flip(0)), 0)
        x = torch.cat((x[:, :left].flip(1), x, x[:, columns - (m - 1 - left) :].flip(1)), 1)
        return torch.nn.functional.conv2d(x[None, None], w[None, None])[0, 0]
    ends = (left, m - 1 - left, up, n - 1 - up)
    x = torch.nn.functional.pad(x[None, None], ends, PADDINGS[mode])
    return torch.nn.functional.conv2d(x, w[None, None])[0, 0]


def torch_convolve(x, w, mode):
    """The same with the kernel turned around."""
    return torch_correlate(x, w.flip((0, 1)), mode, [(n - 1) // 2 for n in w.shape])


def torch_kernel(values):
    """Values as a kernel along both axes."""
    import torch

    k = torch.tensor(values, dtype=torch.float64)
    return k[:, None] * k


def torch_uniform(x, n, mode, origin=0):
    return torch_correlate(x, torch_kernel([1.0 / n] * n), mode, (n // 2 + origin,) * 2)


def torch_gaussian(x, sigma, mode):
    reach = int(4.0 * sigma + 0.5)
    k = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    return torch_correlate(x, torch_kernel(k / k.sum()), mode, (reach, reach))


THEIRS = {"convolve": torch_convolve, "uniform": torch_uniform, "gaussian": torch_gaussian,
          "correlate": lambda x, w, mode: torch_correlate(x, w, mode, [n // 2 for n in w.shape])}
OURS = {"convolve": ndimage.convolve, "uniform": ndimage.uniform_filter,
        "gaussian": ndimage.gaussian_filter, "correlate": ndimage.correlate}  # fmt: skip
ROWS = {
    "convolve": "convolve(x, w, mode={m})",
    "convolve_even": "convolve(x, w[:2, 1:], mode={m}) * x",
    "correlate": "correlate(x, w, mode={m})",
    "correlate_even": "correlate(x, w[:, :2], mode={m}) * x",
    "uniform": "uniform(x, 3, mode={m}) * x",
    "uniform_even": "uniform(x, 4, mode={m}) * x",
    "uniform_origin": "uniform(x, 2, mode={m}, origin=-1) ** 2",
    "gaussian": "gaussian(x, 0.6, mode={m}) ** 2",
}


def both_orders(f, theirs, args, inputs):
    """First and second derivatives of a function against those of torch."""
    pytest.importorskip("torch", reason="torch is not installed: extra oracles")
    rng = np.random.default_rng(5)
    cotangent = rng.standard_normal(np.shape(f(*args)))
    found = ours(f, args, inputs, cotangent)
    compare(found, torch_gradients(theirs, args, inputs, cotangent))
    w = [rng.standard_normal(np.shape(g)) for g in found]
    twice = srcdiff.grad(with_cotangent(srcdiff.grad(f, inputs), f), inputs, materialize_grads=True)
    result = twice(*args, ct_=cotangent, grad_outputs=tuple(w))
    compare(result, torch_gradients(theirs, args, inputs, cotangent, w), 1e-8)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("row", ROWS)
def test_filter(row, mode):
    rng = np.random.default_rng(4)
    inputs = ("x", "w") if "w" in ROWS[row] else ("x",)
    text = f"def f({', '.join(inputs)}):\n    return {ROWS[row].format(m=repr(mode))}\n"
    f, theirs = define(text, "f", OURS), define(text, "f", THEIRS)
    args = rng.standard_normal((5, 6)), rng.standard_normal((3, 3))
    both_orders(f, theirs, args[: len(inputs)], inputs)


def ours_from_states(b, a, x, zi):
    y, zf = signal.lfilter(b, a, x, zi=zi)
    return np.concatenate((y, zf)) ** 2


def theirs_from_states(b, a, x, zi):
    """The filter step by step, with the states of its transposed direct form."""
    import torch

    b, a, states, found = b / a[0], a / a[0], zi, []
    for value in x:
        found.append(b[0] * value + states[0])
        later = torch.cat((states[1:], torch.zeros(1, dtype=x.dtype)))
        states = later + b[1:] * value - a[1:] * found[-1]
    return torch.cat((torch.stack(found), states)) ** 2


@pytest.mark.parametrize("n", [1, 2, 6])
def test_filter_from_states(n):
    rng = np.random.default_rng(6)
    args = [rng.standard_normal(k) for k in (4, 4, n, 3)]
    args[1][0] = 2.5
    both_orders(ours_from_states, theirs_from_states, args, ("b", "a", "x", "zi"))


def ours_monotone(x, y, t):
    return interpolate.PchipInterpolator(x, y)(t) ** 2


def theirs_monotone(x, y, t):
    """The curve point by point, by Hermite's polynomials."""
    import torch

    h, m = torch.diff(x), torch.diff(y) / torch.diff(x)
    slopes = [end_slope(h[0], h[1], m[0], m[1])]
    for k in range(1, len(x) - 1):
        w, v = 2.0 * h[k] + h[k - 1], h[k] + 2.0 * h[k - 1]
        same = m[k - 1] * m[k] > 0.0
        slopes.append((w + v) / (w / m[k - 1] + v / m[k]) if same else 0.0 * m[k])
    slopes.append(end_slope(h[-1], h[-2], m[-1], m[-2]))
    found = []
    for place in t:
        k = max(j for j in range(len(h)) if j == 0 or x[j] <= place)
        s = (place - x[k]) / h[k]
        values = (1.0 + 2.0 * s) * (1.0 - s) ** 2 * y[k] + s**2 * (3.0 - 2.0 * s) * y[k + 1]
        bends = s * (1.0 - s) ** 2 * slopes[k] + s**2 * (s - 1.0) * slopes[k + 1]
        found.append(values + h[k] * bends)
    return torch.stack(found) ** 2


def end_slope(h, further, m, other):
    slope = ((2.0 * h + further) * m - h * other) / (h + further)
    if slope * m <= 0.0:
        return 0.0 * m
    return 3.0 * m if m * other < 0.0 and abs(slope) > 3.0 * abs(m) else slope


@pytest.mark.parametrize("seed", range(6))
def test_monotone_curve(seed):
    rng = np.random.default_rng(seed)
    args = np.cumsum(rng.uniform(0.3, 1.0, 6)), rng.standard_normal(6), rng.uniform(-0.5, 5.0, 7)
    both_orders(ours_monotone, theirs_monotone, args, ("x", "y", "t"))
