"""All that generated code may call besides NumPy: few, small, plain functions on arrays.

Every function here has a rule in `templates/helpers.py`, so that generated code can be
differentiated again.  This file imports NumPy alone and is copied into ahead-of-time modules.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from srcdiff.runtime.trees import add_at, copy_tree

# --- shapes ------------------------------------------------------------------------------------


def unbroadcast(d: Any, x: Any) -> Any:
    """`d` summed over the axes along which `x` was broadcast, so that it has the shape of `x`.

    Of no axes it is a number, which is not shared.
    """
    shape = np.shape(x)
    if np.shape(d) == shape:
        return d[()] if not shape and isinstance(d, np.ndarray) else d
    extra = np.ndim(d) - len(shape)
    if extra < 0:
        return np.broadcast_to(d, shape)
    axes = (*range(extra), *(extra + k for k, n in enumerate(shape) if n == 1))
    return np.reshape(np.sum(d, axis=axes), shape)[()]


def of_item(d: Any, x: Any) -> Any:
    """The adjoint of `x`, in new memory, from that of the place where it was stored."""
    inner = d is None or isinstance(d, (list, tuple, dict))
    return copy_tree(d) if inner else unbroadcast(np.copy(d), x)


def real_like(d: Any, x: Any) -> Any:
    """`d`, without its imaginary part where `x` is real."""
    same = d is None or isinstance(d, (list, dict)) or np.iscomplexobj(x)
    return d if same else np.real(d)


def is_discrete(x: Any) -> bool:
    """Whether an array holds whole numbers: what is stored into it is cut off."""
    return getattr(x, "dtype", np.dtype(float)).kind in "biu"


def uncut(d: Any, x: Any) -> Any:
    """`d`, zero where `x` was cut off to whole numbers."""
    return np.zeros_like(d) if is_discrete(x) else d


def keep_axes(d: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`d`, the result of a reduction over `axis`, with the axes that were reduced put back."""
    return d if axis is None or keepdims else np.expand_dims(d, axis)


def spread(d: Any, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """`d`, the result of a reduction of `x` over `axis`, repeated to the shape of `x`."""
    return np.broadcast_to(np.asarray(keep_axes(d, axis, keepdims)), np.shape(x))


def axis_size(x: Any, axis: Any = None) -> float:
    """The number of elements of `x` along `axis` (an int, a tuple, None: all), nan if it is 0."""
    shape = np.shape(x)
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return float(math.prod(shape[k] for k in axes)) or math.nan


def inverse_axes(axes: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The permutation of axes that undoes a transposition by `axes`."""
    if axes is None:
        return None
    order = [k % len(axes) for k in axes]
    return tuple(order.index(k) for k in range(len(axes)))


def other_axes(n: int, axis: int) -> tuple[int, ...]:
    """All of `n` axes but one."""
    return tuple(k for k in range(n) if k != axis)


def negated(shifts: Any) -> tuple[int, ...]:
    """The opposite shifts."""
    return tuple(-k for k in shifts)


def along(axis: int, *part: Any) -> tuple[Any, ...]:
    """The index that selects `part` (an index, or the ends of a slice) along one axis."""
    item = part[0] if len(part) == 1 else slice(*part)
    if axis >= 0:
        return (slice(None),) * axis + (item,)
    return (..., item) + (slice(None),) * (-1 - axis)


def inside(pad_width: Any, ndim: int) -> tuple[slice, ...]:
    """The index of the original array inside one that was padded."""
    pairs = [_ends(width) for width in _widths(pad_width, ndim)]
    return tuple(slice(before, -after or None) for before, after in pairs)


def _widths(pad_width: Any, ndim: int) -> list[Any]:
    """What `np.pad` adds along every axis; of numbers of the host alone, wherever the array is."""
    if isinstance(pad_width, dict):  # by axis, counted from the front or from behind
        widths = {k % ndim: width for k, width in pad_width.items()}
        return [widths.get(k, 0) for k in range(ndim)]
    rows = pad_width.tolist() if hasattr(pad_width, "tolist") else pad_width
    if isinstance(rows, (list, tuple)) and any(hasattr(row, "__len__") for row in rows):
        return [*rows] * (ndim if len(rows) == 1 else 1)
    return [rows] * ndim


def _ends(width: Any) -> tuple[int, int]:
    """The width before and that after an axis."""
    first, *rest = width if hasattr(width, "__len__") and np.ndim(width) else (width,)
    return (int(first), int(rest[0])) if rest else (int(first), int(first))


# --- moving elements ---------------------------------------------------------------------------


def positions(x: Any) -> Any:
    """The flat position of every element of `x`, in the shape of `x`."""
    return np.arange(math.prod(np.shape(x))).reshape(np.shape(x))


def scatter(d: Any, index: Any, x: Any) -> Any:
    """Zeros of the shape of `x` with `d` added at the flat positions `index`, repeats adding up."""
    out = np.zeros(math.prod(np.shape(x)), np.result_type(d))
    if out.size:  # np.resize makes zeros of nothing
        add_at(out, index, d)
    return np.reshape(out, np.shape(x))


def shift(x: Any, k: int, axis: int) -> Any:
    """`x` moved by `k` places along `axis`, with zeros where nothing moved in."""
    out = np.zeros_like(x)
    source, target = np.moveaxis(x, axis, 0), np.moveaxis(out, axis, 0)
    if k > 0:
        target[k:] = source[:-k]
    else:
        target[:k] = source[-k:]
    return out


def undiff(d: Any, x: Any, n: int, axis: int) -> Any:
    """The adjoint of `x` in `np.diff(x, n, axis)`."""
    axis = axis if axis < 0 else axis - np.ndim(d)  # in a batch `x` may be without its axis
    d = np.moveaxis(d, axis, 0)
    zero = np.zeros_like(d, shape=(1, *d.shape[1:]))
    for _ in range(n):
        d = np.concatenate((zero, d)) - np.concatenate((d, zero))
    return np.moveaxis(d[: np.shape(x)[axis]], 0, axis)


# --- functions with a value of their own at a singular point ------------------------------------


def power_slope(x: Any, y: Any, n: int = 1, m: int = 0) -> Any:
    """`f * x ** (y - n)`, f the `m`-th derivative of `y * (y - 1) * ...` by y; zero where f is."""
    f = [1, *(0 for _ in range(m))]
    for k in range(n):
        f = [a * (y - k) + j * b for j, (a, b) in enumerate(zip(f, [0, *f]))]
    return f[m] * x ** ((y - n) * (f[m] != 0))


def log_or_zero(x: Any) -> Any:
    """`log(x)`, and zero where `x` is zero."""
    return np.log(x + (x == 0))


def divide_or_zero(x: Any, y: Any) -> Any:
    """`x / y`, and zero where `y` is zero."""
    return x / (y + (y == 0)) * (y != 0)


def sinc_slope(x: Any, n: int = 1) -> Any:
    """The `n`-th derivative of `np.sinc`."""
    y = np.pi * x
    near = np.abs(y) < n + 1
    far = y + near * (n + 2 - y)
    slope = np.sin(far) / far
    for k in range(1, n + 1):
        slope = (np.sin(far + 0.5 * k * np.pi) - k * slope) / far
    return np.pi**n * (slope * ~near + _sinc_series(y * near, n) * near)


def _sinc_series(y: Any, n: int) -> Any:
    """The `n`-th derivative of `sin(y) / y` by its Taylor series."""
    total = y * 0.0
    for k in range((n + 1) // 2, n // 2 + 16):
        factor = (-1) ** k / ((2 * k + 1) * math.factorial(2 * k - n))
        total = total + factor * y ** (2 * k - n)
    return total


def winners(x: Any, z: Any, axis: Any = None) -> Any:
    """The share of every element of `x` in the extreme values `z` along `axis`, kept as axes."""
    hit = np.equal(x, z)
    return hit / np.sum(hit, axis=axis, keepdims=True, dtype=np.result_type(z))


# --- products ----------------------------------------------------------------------------------


def before(x: Any, axis: int) -> Any:
    """The product of all elements before each one along `axis`."""
    out = np.ones_like(x)
    source, target = np.moveaxis(x, axis, 0), np.moveaxis(out, axis, 0)
    np.cumprod(source[:-1], axis=0, out=target[1:])
    return out


def after(x: Any, axis: int) -> Any:
    """The product of all elements after each one along `axis`."""
    return np.flip(before(np.flip(x, axis), axis), axis)


def rows(x: Any, axis: Any = None) -> Any:
    """`x` with the axes in `axis` (None: all) as one axis, the last."""
    if isinstance(axis, int):
        return np.moveaxis(x, axis, -1)
    if axis is None:
        return np.ravel(x)
    moved = np.moveaxis(x, axis, range(-len(axis), 0))
    kept = moved.shape[: -len(axis)]
    return np.reshape(moved, (*kept, math.prod(moved.shape[len(kept) :])))


def unrows(r: Any, x: Any, axis: Any = None) -> Any:
    """The inverse of `rows`, to the shape of `x`."""
    if isinstance(axis, int):
        return np.moveaxis(r, -1, axis)
    if axis is None:
        return np.reshape(r, np.shape(x))
    last = range(-len(axis), 0)
    return np.moveaxis(np.reshape(r, np.moveaxis(x, axis, last).shape), last, axis)


def others(x: Any, axis: Any = None) -> Any:
    """The product of all other elements along `axis`, exact where some are zero."""
    r = rows(x, axis)
    return unrows(before(r, -1) * after(r, -1), x, axis)


def recur(b: Any, a: Any, axis: int) -> Any:
    """The linear recurrence `y[i] = b[i] + a[i] * y[i - 1]` along `axis`."""
    out = np.array(b)
    y, factor = np.moveaxis(out, axis, 0), np.moveaxis(a, axis, 0)
    for i in range(1, len(y)):
        y[i] += factor[i] * y[i - 1]
    return out


def recur_back(b: Any, a: Any, axis: int) -> Any:
    """The linear recurrence `y[i] = b[i] + a[i + 1] * y[i + 1]` along `axis`."""
    out = np.array(b)
    y, factor = np.moveaxis(out, axis, 0), np.moveaxis(a, axis, 0)
    for i in range(len(y) - 2, -1, -1):
        y[i] += factor[i + 1] * y[i + 1]
    return out


def matmul_left(d: Any, x: Any, y: Any) -> Any:
    """The adjoint of `x` in `x @ y`, for operands of any rank."""
    if np.ndim(y) == 1:
        return unbroadcast(d * y if np.ndim(x) == 1 else d[..., None] * y, x)
    if np.ndim(x) == 1:
        return unbroadcast((y @ d[..., None])[..., 0], x)
    return unbroadcast(d @ np.swapaxes(y, -1, -2), x)


def matmul_right(d: Any, x: Any, y: Any) -> Any:
    """The adjoint of `y` in `x @ y`, for operands of any rank."""
    if np.ndim(x) == 1:
        return unbroadcast(d * x if np.ndim(y) == 1 else x[:, None] * d[..., None, :], y)
    if np.ndim(y) == 1:
        return unbroadcast((_turned(x) @ d[..., None])[..., 0], y)
    return unbroadcast(_turned(x) @ d, y)


def _turned(x: Any) -> Any:
    """Matrices with their last two axes exchanged; one may be a sparse matrix of SciPy."""
    return x.T if getattr(x, "ndim", 0) == 2 else np.swapaxes(x, -1, -2)


def dot_left(d: Any, x: Any, y: Any) -> Any:
    """The adjoint of `x` in `np.dot(x, y)`, for operands of any rank."""
    if np.ndim(x) == 0 or np.ndim(y) == 0:
        return unbroadcast(d * y, x)
    if np.ndim(y) == 1:
        return np.multiply.outer(d, y)
    y = np.moveaxis(y, -2, -1)
    return np.tensordot(d, y, np.ndim(y) - 1)


def dot_right(d: Any, x: Any, y: Any) -> Any:
    """The adjoint of `y` in `np.dot(x, y)`, for operands of any rank."""
    if np.ndim(x) == 0 or np.ndim(y) == 0:
        return unbroadcast(d * x, y)
    if np.ndim(x) == 2 and np.ndim(y) < 3:
        return matmul_right(d, x, y)
    axes = range(np.ndim(x) - 1)
    out = np.tensordot(x, d, (tuple(axes), tuple(axes)))
    return out if np.ndim(y) == 1 else np.moveaxis(out, 0, -2)


def tensordot_left(d: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """The adjoint of `a` in `np.tensordot(a, b, axes)`."""
    left, right = _contracted(np.ndim(a), np.ndim(b), axes)
    free = [k for k in range(np.ndim(b)) if k not in right]
    out = np.tensordot(d, b, (tuple(range(np.ndim(d) - len(free), np.ndim(d))), tuple(free)))
    order = [k for k in range(np.ndim(a)) if k not in left]
    order += [left[right.index(k)] for k in sorted(right)]
    return np.transpose(out, [order.index(k) for k in range(np.ndim(a))])


def tensordot_right(d: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """The adjoint of `b` in `np.tensordot(a, b, axes)`."""
    left, right = _contracted(np.ndim(a), np.ndim(b), axes)
    free = [k for k in range(np.ndim(a)) if k not in left]
    out = np.tensordot(a, d, (tuple(free), tuple(range(len(free)))))
    order = [right[left.index(k)] for k in sorted(left)]
    order += [k for k in range(np.ndim(b)) if k not in right]
    return np.transpose(out, [order.index(k) for k in range(np.ndim(b))])


def _contracted(n: int, m: int, axes: Any) -> tuple[list[int], list[int]]:
    """The axes that `np.tensordot` sums over, of operands of rank `n` and `m`."""
    if isinstance(axes, int):
        return [*range(n - axes, n)], [*range(axes)]
    left, right = (list(side) if hasattr(side, "__len__") else [side] for side in axes)
    return [k % n for k in left], [k % m for k in right]


def cofactor(a: Any) -> Any:
    """The matrix of cofactors, exact where `a` is singular."""
    u, s, vt = np.linalg.svd(a)
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return np.expand_dims(sign, (-2, -1)) * np.conj((u * others(s, -1)[..., None, :]) @ vt)


# --- einsum ------------------------------------------------------------------------------------


def _subscripts(subscripts: str) -> tuple[list[str], str]:
    """The subscripts of every operand and of the result, which is made where it is left out."""
    ins, arrow, out = subscripts.replace(" ", "").partition("->")
    letters = ins.replace(",", "").replace("...", "")
    if not arrow:
        out = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
        out = "..." + out if "..." in ins else out
    return ins.split(","), out


def einsum_plain(subscripts: str, k: int) -> bool:
    """Is the adjoint of operand `k` of an einsum itself an einsum?"""
    ins, out = _subscripts(subscripts)
    elsewhere = out + "".join(ins[:k] + ins[k + 1 :])
    mine = ins[k]
    return "." not in subscripts and len(set(mine)) == len(mine) and set(mine) <= set(elsewhere)


def einsum_subscripts(subscripts: str, k: int) -> str:
    """The subscripts of the adjoint of operand `k`, of the cotangent and the other operands."""
    ins, out = _subscripts(subscripts)
    return ",".join([out, *ins[:k], *ins[k + 1 :]]) + "->" + ins[k]


def einsum_back(d: Any, k: int, subscripts: str, *operands: Any) -> Any:
    """The adjoint of operand `k` of an einsum, for any subscripts."""
    ins, out = _without_ellipsis(*_subscripts(subscripts), [np.ndim(x) for x in operands])
    mine, x = ins[k], operands[k]
    pairs = [*zip(ins, operands, strict=True)]
    rest = pairs[:k] + pairs[k + 1 :]
    letters = "".join(dict.fromkeys(mine))
    kept = "".join(c for c in letters if c in out or any(c in sub for sub, _ in rest))
    signature = ",".join([out, *(sub for sub, _ in rest)]) + "->" + kept
    g = np.einsum(signature, d, *(operand for _, operand in rest))
    given, summed = dict(zip(mine, np.shape(x))), dict(zip(kept, np.shape(g)))
    g = np.reshape(g, [summed.get(c, 1) for c in letters])
    # An axis of length 1 is stretched.
    g = np.broadcast_to(g, [n if (n := given[c]) != 1 else summed.get(c, 1) for c in letters])
    if len(letters) == len(mine):
        return unbroadcast(g, x)
    full = np.zeros(np.shape(x), np.result_type(g))
    np.einsum(f"{mine}->{letters}", full)[...] = g  # the diagonal is a view
    return full


def _without_ellipsis(ins: list[str], out: str, ranks: list[int]) -> tuple[list[str], str]:
    """Subscripts in which every `...` is written as letters that do not occur."""
    used = set("".join(ins) + out)
    free = "".join(chr(c) for c in (*range(65, 91), *range(97, 123)) if chr(c) not in used)
    counts = [n - len(sub) + 3 if "." in sub else 0 for sub, n in zip(ins, ranks, strict=True)]
    most = free[: max(counts)]
    dots = [most[len(most) - n :] for n in counts]
    full = [sub.replace("...", part) for sub, part in zip(ins, dots, strict=True)]
    return full, out.replace("...", most)


def last_writes(x: Any, i: Any) -> Any:
    """Which elements of `x[i] = v` are not overwritten by a later one: of a dict, its one item."""
    place = positions(x[i])
    owner: Any = {} if isinstance(x, dict) else np.empty(np.shape(x), place.dtype)
    owner[i] = place
    return owner[i] == place


# --- markers -----------------------------------------------------------------------------------


def squared_modulus(x: Any) -> Any:
    """`abs(x) ** 2`, which is smooth at zero."""
    return (x * x.conjugate()).real


def with_slope(x: Any, y: Any) -> Any:
    """`y`, which texts compute as `x`: the two are equal up to rounding."""
    return y


def stop_gradient(x: Any) -> Any:
    """`x` itself, as a constant: no derivative flows through it.

    >>> import srcdiff
    >>> def f(x):
    ...     return x * srcdiff.stop_gradient(x)
    >>> f(3.0), srcdiff.grad(f)(3.0)
    (9.0, 3.0)
    """
    return x
