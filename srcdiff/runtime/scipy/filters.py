"""Parts of filters of `scipy.signal` and `scipy.ndimage`, which generated code calls.

Kernels are computed from numbers, by SciPy, wherever the arrays are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def lagged(g: Any, v: Any, like: Any, axis: int) -> Any:
    """The sums of `g[t] * v[t - k]` over `t` along `axis`, and over all other axes.

    There is one for each `k` from 0 to the size of `like`, and the result has its shape.
    """
    g, v = np.moveaxis(g, axis, -1), np.moveaxis(v, axis, -1)
    n = g.shape[-1]
    out = np.zeros(math.prod(np.shape(like)), np.result_type(g, v))
    for k in range(min(out.size, n)):
        out[k] = np.sum(g[..., k:] * v[..., : n - k])
    return np.reshape(out, np.shape(like))[()]


def analytic(n: int, dtype: Any) -> Any:
    """What frequencies of a signal of length `n` are multiplied with in its analytic signal."""
    k = np.arange(n)
    return np.where(k == 0, 1, 1 + np.sign(n - 2 * k)).astype(dtype)


def gaussian_weights(sigma: Any, order: int, truncate: float) -> Any:
    """The kernel by which `scipy.ndimage.gaussian_filter1d` convolves."""
    from scipy import ndimage

    sigma = float(sigma)  # perhaps a number of a device
    reach = int(truncate * sigma + 0.5)
    zeros = [0.0] * reach
    kernel = ndimage.gaussian_filter1d(
        [*zeros, 1.0, *zeros], sigma, order=order, mode="constant", truncate=truncate
    )
    return np.array(kernel.tolist())


def edge_weights(window: int, degree: int, deriv: int, delta: float, last: bool) -> Any:
    """What gives the first (or the last) half of a window in `scipy.signal.savgol_filter`."""
    from scipy.signal import savgol_coeffs

    half = window // 2
    places = range(window - half, window) if last else range(half)
    rows = [savgol_coeffs(window, degree, deriv, delta, k, use="dot").tolist() for k in places]
    return np.reshape(np.array(rows), (half, window))
