"""Where parts of arrays stand, and where they go: what rules of NumPy ask of values as they are.

The methods of ufuncs are among them: `at`, whose index may select a place many times, and others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcdiff.runtime.arrays import positions, unbroadcast


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


# --- the methods of ufuncs -----------------------------------------------------------------------


def rest_at(a: Any, indices: Any, b: Any) -> Any:
    """What each item of `b` is multiplied with in `np.multiply.at(a, indices, b)`.

    Nothing is divided: it is exact where some of the items are zero.
    """
    order, back, left, right = runs(a, indices)
    x = np.ravel(np.broadcast_to(b, np.shape(a[indices])))[order]
    rest = products(x, left) * products(x, right)
    return a[indices] * np.reshape(rest[back], np.shape(a[indices]))


def products(x: Any, steps: Any) -> Any:
    """The products of the items on one side of each, by the steps that `runs` gives for it."""
    out = np.where(steps[0] < 0, 1.0, x[steps[0]])
    for k in range(1, len(steps)):
        out = out * np.where(steps[k] < 0, 1.0, out[steps[k]])
    return out


def runs(a: Any, indices: Any) -> tuple[Any, Any, Any, Any]:
    """The items of `a[indices]` ordered by their places: the order, what undoes it, and steps.

    The steps lead to the left, then to the right: each row has the items that are one, then again
    one, two, four, ... places beside every item in that order, -1 where that is another place.
    """
    places = np.ravel(positions(a)[indices])
    order = np.argsort(places, kind="stable")
    back = np.argsort(order, kind="stable")
    n = np.arange(len(places))
    first = np.searchsorted(places[order], places[order])
    last = np.searchsorted(places[order], places[order], "right") - 1
    most = int(np.max(last - first)) if len(n) else 0
    widths = [1, *(1 << k for k in range(most.bit_length()))]
    left = np.stack([np.where(n - w < first, -1, n - w) for w in widths])
    right = np.stack([np.where(n + w > last, -1, n + w) for w in widths])
    return order, back, left, right


def log_sum_at(a: Any, indices: Any, b: Any) -> Any:
    """What `np.logaddexp.at(a, indices, b)` makes of `a`."""
    out = np.array(a)
    np.logaddexp.at(out, indices, b)
    return out


def met_at(a: Any, indices: Any) -> Any:
    """Where `indices` lead to in `a`."""
    out = np.zeros(np.shape(a), bool)
    out[indices] = True
    return out


def extreme_at(extreme: Any, a: Any, indices: Any, b: Any) -> None:
    """`extreme.at(a, indices, b)`, exactly: CuPy's own rounds float64 to float32."""
    places = np.ravel(positions(a)[indices])
    x = np.ravel(np.broadcast_to(np.asarray(b, a.dtype), np.shape(a[indices])))
    order = np.argsort(x if extreme is np.maximum else -x)
    order = order[np.argsort(places[order], kind="stable")]
    there = places[order]
    is_last = np.append(there[1:] != there[:-1], np.ones(min(1, len(there)), bool))
    flat, best = np.ravel(np.array(a)), order[is_last]
    flat[places[best]] = extreme(flat[places[best]], x[best])
    a[...] = np.reshape(flat, np.shape(a))


def shares_at(extreme: Any, a: Any, indices: Any, b: Any) -> tuple[Any, Any]:
    """The shares of `a` and of every item of `b` in what `extreme.at(a, indices, b)` leaves."""
    z = np.array(a)
    extreme_at(extreme, z, indices, b)
    own, hit = np.equal(a, z), np.equal(b, z[indices]).astype(z.dtype)
    count = np.array(own, z.dtype)
    np.add.at(count, indices, hit)
    return np.where(met_at(a, indices), own / count, 1.0), hit / count[indices]


def segments(indices: Any, n: int) -> tuple[Any, Any]:
    """The items behind the first one of each segment of `reduceat`, and which segment it is."""
    starts = np.asarray(indices)
    count = np.maximum(np.append(starts[1:], n) - starts - 1, 0)
    segment = np.repeat(np.arange(len(starts)), count)
    skipped = starts + 1 - (np.cumsum(count) - count)
    return np.arange(len(segment)) + skipped[segment], segment


def leads(x: Any, axis: int) -> Any:
    """Where the first items along `axis` are, in a shape that broadcasts to that of `x`."""
    hit = np.arange(np.shape(x)[axis]) == 0
    return np.moveaxis(hit.reshape(-1, *[1] * (np.ndim(x) - 1)), 0, axis)
