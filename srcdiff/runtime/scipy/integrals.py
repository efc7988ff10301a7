"""Integrals of functions that srcdiff differentiates, by `scipy.integrate`.

The rules in `templates/scipy/integrate/` are written with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from srcdiff.runtime.checkpoint.recompute import absent
from srcdiff.runtime.implicit import jvp_by

ACCURACY = 1.49e-8
"""The tolerances of `scipy.integrate.quad`."""


def integral(
    f: Any,
    a: float,
    b: float,
    args: tuple[Any, ...] = (),
    epsabs: float = ACCURACY,
    epsrel: float = ACCURACY,
    limit: int = 50,
    points: Sequence[float] | None = None,
) -> Any:
    """The integral of `f(t, *args)`, a number or an array, over `t` from `a` to `b`.

    Raises:
        ArithmeticError: it is not found with these tolerances.
        TypeError: the function returns something else.
    """
    from scipy.integrate import quad, quad_vec

    with np.errstate(all="ignore"):
        like = f(_between(a, b), *args)
    if not isinstance(like, (np.ndarray, np.number, int, float, complex)):
        raise TypeError(
            f"an integral is of numbers or arrays, not of {type(like).__name__}: let the function "
            "read numbers and arrays in local variables (`k = self.k`) in place of objects"
        )
    if not isinstance(like, np.ndarray) and not np.iscomplexobj(like):
        return quad(f, a, b, args, 0, epsabs, epsrel, limit, points)[0]
    if np.size(like) == 0 or a == b:
        return 0.0 * like
    epsrel = max(epsrel, 64.0 * float(np.finfo(np.result_type(like)).eps))
    found, _, info = quad_vec(
        lambda t: f(t, *args), a, b, epsabs, epsrel, limit=10 * limit, points=points,
        full_output=True,
    )  # fmt: skip
    if not info.success:
        raise ArithmeticError(f"an integral is not found: {info.message}")
    return np.asarray(found, np.result_type(like))[()]


def integral_along(
    f: Any, a: float, b: float, args: tuple[Any, ...], moved: tuple[Any, ...], **options: Any
) -> Any:
    """The tangent of `integral` along tangents of the limits and of the arguments."""
    t_a, t_b, *rest = absent(moved)
    total: Any = 0.0
    for k, t in enumerate(rest):
        if t is not None:
            total = total + integral(jvp_by(f, k + 1), a, b, (*args, t), **options)
    if t_a is not None:
        total = total - t_a * f(a, *args)
    return total if t_b is None else total + t_b * f(b, *args)


def _between(a: float, b: float) -> float:
    """A number between two that may be infinite."""
    if np.isfinite(a) and np.isfinite(b):
        return float(a + 0.43 * (b - a))
    if np.isfinite(a):
        return float(a + np.copysign(0.43, b))
    return float(b - np.copysign(0.43, a)) if np.isfinite(b) else 0.43
