"""What functions of CuPy refuse that those of NumPy and SciPy take, by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Check = Callable[..., str]
"""Says why CuPy refuses the operands, as CuPy does; "" where it does not."""


def _polyval(p: Any, *rest: Any) -> str:
    return "p must be 1d array" if p.ndim > 1 else ""


def _solve(a: Any, b: Any) -> str:
    same = b.ndim == 1 or a.shape[:-1] == b.shape[:-1]
    return "" if same else "a must have (..., M, M) shape and b must have (..., M, K)"


def _expm(a: Any) -> str:
    return "" if a.ndim == 2 else "Input must be 1- or 2-d."


def _lfilter(b: Any, a: Any, *rest: Any, **options: Any) -> str:
    return "too many indices for array" if 0 in (np.ndim(a), np.ndim(b)) else ""


def _pad(array: Any, pad_width: Any, *rest: Any, **options: Any) -> str:
    return "`pad_width` must be of integral type." if isinstance(pad_width, dict) else ""


def _tensordot(a: Any, b: Any, axes: Any = 2) -> str:
    free = axes in (0, ((), ()))
    return "" if free or (a.ndim and b.ndim) else "An input is zero-dim while axes has dimensions"


def _column_stack(arrays: Any) -> str:
    low = any(not 1 <= a.ndim <= 2 for a in arrays)
    return "Only 1 or 2 dimensional arrays can be column stacked" if low else ""


def _histogramdd(sample: Any, bins: Any = 10, *rest: Any, **options: Any) -> str:
    if rest[1:]:
        return "`weights` and `density` stand in another order than in NumPy"
    count = len(sample) if isinstance(sample, (list, tuple)) else (*sample.shape, 1)[1]
    if isinstance(sample, (list, tuple)) and not all(hasattr(x, "get") for x in sample):
        return "expected cupy.ndarray"
    if not isinstance(bins, (list, tuple)):
        return ""
    if len(bins) != count:
        return "The dimension of bins must be equal to the dimension of the sample x."
    listed = any(isinstance(b, (list, tuple)) for b in bins)
    return "array-like bins not supported" if listed else ""


def _histogram2d(x: Any, y: Any, bins: Any = 10, *rest: Any, **options: Any) -> str:
    return _histogramdd([x, y], bins, *rest) if np.ndim(bins) == 0 or len(bins) < 3 else ""


def _filtered(*args: Any, mode: Any = "reflect", **options: Any) -> str:
    return "boundary mode not supported (actual: grid-constant)" if mode == "grid-constant" else ""


CHECKS: Mapping[str, Check] = {
    "polyval": _polyval,
    "solve": _solve,
    "expm": _expm,
    "lfilter": _lfilter,
    "pad": _pad,
    "tensordot": _tensordot,
    "column_stack": _column_stack,
    "histogramdd": _histogramdd,
    "histogram2d": _histogram2d,
}
NDIMAGE: Check = _filtered

REAL = frozenset(("erf", "erfc", "erfcx", "exp1", "expi", "ndtr", "log_ndtr"))
"""Functions of `cupyx.scipy.special` without a kernel for complex numbers."""


def refuse(module: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise what CuPy raises for operands that only NumPy takes.

    Raises:
        ValueError: with CuPy's words.
    """
    check = NDIMAGE if module.endswith("ndimage") else CHECKS.get(name)
    reason = "" if check is None else check(*args, **kwargs)
    if reason:
        raise ValueError(reason)
