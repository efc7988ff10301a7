"""Curves through points, by `scipy.interpolate`: made and evaluated at once.

The rules in `templates/scipy/interpolate/` are written with them.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def interpolant(k: Any, x: Any, y: Any, t: Any, nu: int = 0, *, inside: bool = False) -> Any:
    """The values at `t` of the `nu`-th derivative of `make_interp_spline(x, y, k)`.

    Where `k` is a text, that of `CubicSpline(x, y, bc_type=k)`.

    Raises:
        ValueError: `inside`, and some of `t` are not between the points.
    """
    from scipy.interpolate import CubicSpline, make_interp_spline

    if isinstance(k, str):
        return CubicSpline(x, y, bc_type=k)(t, nu)
    if inside and (np.min(t, initial=x[0]) < np.min(x) or np.max(t, initial=x[0]) > np.max(x)):
        raise ValueError("a value is outside of the points that are interpolated")
    if nu > k:  # of which SciPy 1.15 writes into memory that is not its own
        return np.zeros((*np.shape(t), *np.shape(y)[1:]), np.result_type(y, 1.0))
    order = np.argsort(x) if inside else slice(None)
    return make_interp_spline(np.asarray(x)[order], np.asarray(y)[order], k)(t, nu)
