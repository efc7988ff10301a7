"""Where parts of arrays stand, and where they go: what rules of NumPy ask of values as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcdiff.runtime.arrays import unbroadcast


def conditions(x: Any, condlist: Any, n: int) -> Any:
    """The masks of `n` functions of `np.piecewise`, the last of what no condition selects.

    Raises:
        ValueError: there are neither as many conditions nor one fewer.
    """
    masks = np.asarray([condlist] if _is_one(condlist, np.ndim(x)) else condlist, bool)
    if len(masks) == n - 1:
        return np.concatenate((masks, ~np.any(masks, axis=0, keepdims=True)))
    if len(masks) != n:
        raise ValueError(f"with {len(masks)} condition(s), np.piecewise takes as many functions")
    return masks


def _is_one(condlist: Any, rank: int) -> bool:
    """Whether what should be a list of conditions is one for an array of this rank."""
    if isinstance(condlist, (list, tuple)):
        return bool(rank > 0 and np.ndim(condlist[0]) == 0)
    return bool(np.ndim(condlist) <= (rank > 0))


def axes_from(axis: int, rank: int, n: int) -> tuple[int, ...]:
    """So many axes from one of an array of this rank."""
    return tuple(range(axis % rank, axis % rank + n))


def nonzero_ends(x: Any, trim: str, axis: Any) -> list[tuple[int | None, int | None]]:
    """The first and the last place, along each axis, of what `np.trim_zeros` keeps of `x`.

    Raises:
        ValueError: `trim` says something else than the front and the back.
    """
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    places, rank = np.nonzero(x), np.ndim(x)
    if axis is None:
        axes = [*range(rank)]
    else:
        axes = [k % rank for k in (axis if isinstance(axis, tuple) else (axis,))]
    return [_ends(places[k], trim) if k in axes else (None, None) for k in range(rank)]


def _ends(places: Any, trim: str) -> tuple[int | None, int | None]:
    if not len(places):
        return 0, 0
    first = int(np.min(places)) if "f" in trim else None
    return first, int(np.max(places)) + 1 if "b" in trim else None


def unsplit(parts: Any, places: Any, x: Any, axis: int) -> Any:
    """The adjoint of `x` in `np.split(x, places, axis)`, whose parts may overlap."""
    if sum(p.shape[axis] for p in parts) == np.shape(x)[axis]:
        return np.concatenate(parts, axis)
    out = np.zeros(np.shape(x), np.result_type(*parts))
    to, stops = np.moveaxis(out, axis, 0), [*places, None]
    for part, start, stop in zip(parts, [0, *stops], stops):
        to[start:stop] += np.moveaxis(part, axis, 0)
    return out


def paired(z: Any, roots: Any) -> Any:
    """The real part of `z`, coefficients of a polynomial, where its roots are so in pairs."""
    if not np.iscomplexobj(roots):
        return z
    roots = np.asarray(roots)
    same = np.array_equal(np.sort(roots), np.sort(np.conj(roots)))
    return np.real(z).copy() if same else z


def cross_back(d: Any, a: Any, b: Any, axis: int | None = -1) -> Any:
    """The adjoint of `a` in `np.cross(a, b, axis=axis)`, of vectors of two or three components."""
    axis = -1 if axis is None else axis
    x, y = np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1)
    if x.shape[-1] + y.shape[-1] == 4:  # of two components: the result is a number
        g = np.expand_dims(d, -1) * np.stack((y[..., 1], -y[..., 0]), -1)
    else:
        y = y if y.shape[-1] == 3 else np.concatenate((y, np.zeros_like(y[..., :1])), -1)
        g = np.cross(y, np.moveaxis(d, axis, -1))[..., : x.shape[-1]]
    return np.moveaxis(unbroadcast(g, x), -1, axis)
