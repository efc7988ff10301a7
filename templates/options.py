"""Functions with optional arguments: `dtype`, `where`, `initial`, `mode` and others."""

import numpy as np

from srcdiff.rules import composed, conj, iscomplex, known, refuse, samples
from srcdiff.runtime.arrays import axis_size

from ._starts import start_of

MASK = "np.array([True, False, True])"


@composed(np.sum, np.ndarray.sum, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float")
def sum_dtype(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    return np.sum(np.asarray(a, dtype), axis, keepdims=keepdims, initial=initial, where=where)


@composed(np.sum, np.ndarray.sum, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, where=" + MASK)
def sum_where(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    return np.sum(np.where(where, a, 0.0), axis, keepdims=keepdims, initial=initial)


@composed(np.sum, np.ndarray.sum, given="initial")
@samples("A(2, 3), 0, initial=2.0", "A(3), initial=A()", "A(3), initial=np.float64(1.5)")
def sum_initial(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    z = np.sum(a, axis=axis, keepdims=keepdims)
    return start_of(initial, z) + z


@composed(np.prod, np.ndarray.prod, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float")
def prod_dtype(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    return np.prod(np.asarray(a, dtype), axis, keepdims=keepdims, initial=initial, where=where)


@composed(np.prod, np.ndarray.prod, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, where=" + MASK)
def prod_where(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    return np.prod(np.where(where, a, 1.0), axis, keepdims=keepdims, initial=initial)


@composed(np.prod, np.ndarray.prod, given="initial")
@samples("A(2, 3), 0, initial=2.0", "A(3), initial=A()", "A(3), initial=np.float64(1.5)")
def prod_initial(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    z = np.prod(a, axis=axis, keepdims=keepdims)
    return start_of(initial, z) * z


@composed(np.mean, np.ndarray.mean, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float")
def mean_dtype(a, axis=None, dtype=None, out=None, keepdims=False, where=True):
    return np.mean(np.asarray(a, dtype), axis, keepdims=keepdims, where=where)


@composed(np.mean, np.ndarray.mean, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, keepdims=True, where=" + MASK)
def mean_where(a, axis=None, dtype=None, out=None, keepdims=False, where=True):
    total = np.sum(np.where(where, a, 0.0), axis, keepdims=keepdims)
    return total / _count(where, a, axis, keepdims)


def _count(where, a, axis, keepdims):
    """How many elements a mask selects, in the type of these elements."""
    mask = np.broadcast_to(where, np.shape(a))
    return np.sum(mask, axis, keepdims=keepdims, dtype=np.result_type(np.real(a)))


@composed(np.var, np.ndarray.var, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float")
def var_dtype(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True):
    if iscomplex(a):
        refuse("of complex numbers: convert them before, `np.asarray(a, dtype)`")
    return np.var(np.asarray(a, dtype), axis, ddof=ddof, keepdims=keepdims, where=where)


@composed(np.var, np.ndarray.var, given="where")
@samples(
    "A(2, 3), where=" + MASK, "A(2, 3), 1, ddof=1, where=" + MASK, "C(3), where=" + MASK,
    "V([1.0, 5.0, 2.0, 3.0]), where=np.array([True, False, True, True])",
)  # fmt: skip
def var_where(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True):
    n = _count(where, a, axis, True)
    mean = np.sum(np.where(where, a, 0.0), axis, keepdims=True) / n
    away = np.where(where, a - mean, 0.0)
    count = n if ddof == 0 else np.maximum(n - ddof, 0.0)
    z = np.sum(np.real(away * conj(away)), axis, keepdims=True) / count
    return z if keepdims else np.squeeze(z, axis)[()]


@composed(np.var, given="correction")
@samples("A(4), correction=1")
def var_correction(a, axis=None, *, ddof=0, keepdims=False, correction=None):
    return np.var(a, axis, ddof=correction, keepdims=keepdims)


@composed(np.var, given="mean")
@samples(
    "A(4), mean=A()", "A(2, 3), 1, ddof=1, mean=A(2, 1)", "C(3), mean=C(1)",
    "V([1.0, 2.0]), mean=V([2.0])",
)  # fmt: skip
def var_mean(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, mean=None):
    n, away = axis_size(a, axis), a - mean
    square = np.real(away * conj(away))  # not of `abs`, whose slope at 0 is 0
    if known(ddof) and ddof == 0:
        return np.sum(square, axis, keepdims=keepdims) / n
    part = float(np.divide(1.0, max(n - ddof, 0)))  # inf, where numbers of Python raise
    return np.sum(square, axis, keepdims=keepdims) * part


@composed(np.std, given="mean")
@samples("A(4), mean=A()", "A(2, 3), 1, ddof=1, mean=A(2, 1)")
def std_mean(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, mean=None):
    return np.sqrt(np.var(a, axis, ddof=ddof, keepdims=keepdims, mean=mean))


@composed(np.std, np.ndarray.std, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float")
def std_dtype(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True):
    if iscomplex(a):
        refuse("of complex numbers: convert them before, `np.asarray(a, dtype)`")
    return np.std(np.asarray(a, dtype), axis, ddof=ddof, keepdims=keepdims, where=where)


@composed(np.std, np.ndarray.std, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, ddof=1, where=" + MASK)
def std_where(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True):
    return np.sqrt(np.var(a, axis, ddof=ddof, keepdims=keepdims, where=where))


@composed(np.std, given="correction")
@samples("A(4), correction=1")
def std_correction(a, axis=None, *, ddof=0, keepdims=False, correction=None):
    return np.std(a, axis, ddof=correction, keepdims=keepdims)


@composed(np.max, np.amax, np.ndarray.max, given="where")
@samples(
    "A(2, 3), where=" + MASK + ", initial=-9.0", "A(2, 3), 0, where=True, initial=0.1",
    "A(3), where=" + MASK + ", initial=np.float64(0.1)",
)  # fmt: skip
def max_where(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    start = start_of(initial, a)
    return np.max(np.where(where, a, start), axis, keepdims=keepdims, initial=start)


@composed(np.max, np.amax, np.ndarray.max, given="initial")
@samples("A(2, 3), 0, initial=0.1", "A(3), initial=A()", "A(3), initial=np.float64(0.1)")
def max_initial(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    if np.size(a) == 0:
        return start_of(initial, a) + np.sum(a, axis=axis, keepdims=keepdims)
    return np.maximum(start_of(initial, a), np.max(a, axis=axis, keepdims=keepdims))


@composed(np.min, np.amin, np.ndarray.min, given="where")
@samples(
    "A(2, 3), where=" + MASK + ", initial=9.0", "A(2, 3), 0, where=True, initial=0.1",
    "A(3), where=" + MASK + ", initial=np.float64(0.1)",
)  # fmt: skip
def min_where(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    start = start_of(initial, a)
    return np.min(np.where(where, a, start), axis, keepdims=keepdims, initial=start)


@composed(np.min, np.amin, np.ndarray.min, given="initial")
@samples("A(2, 3), 0, initial=0.1", "A(3), initial=A()", "A(3), initial=np.float64(0.1)")
def min_initial(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    if np.size(a) == 0:
        return start_of(initial, a) + np.sum(a, axis=axis, keepdims=keepdims)
    return np.minimum(start_of(initial, a), np.min(a, axis=axis, keepdims=keepdims))


@composed(np.cumsum, np.ndarray.cumsum, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float")
def cumsum_dtype(a, axis=None, dtype=None, out=None):
    return np.cumsum(np.asarray(a, dtype), axis)


@composed(np.cumprod, np.ndarray.cumprod, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float")
def cumprod_dtype(a, axis=None, dtype=None, out=None):
    return np.cumprod(np.asarray(a, dtype), axis)


@composed(np.trace, np.ndarray.trace, given="dtype")
@samples("A(3, 3), dtype=np.float64")
def trace_dtype(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return np.trace(np.asarray(a, dtype), offset, axis1, axis2)


@composed(np.concatenate, np.concat, given="dtype")
@samples("(A(2), A(3)), dtype=np.float64", "(A(2, 3), A(2, 1)), 1, dtype=float")
def concatenate_dtype(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    return np.asarray(np.concatenate(arrays, axis), dtype)


@composed(np.stack, given="dtype")
@samples("(A(3), A(3)), 1, dtype=float")
def stack_dtype(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    return np.asarray(np.stack(arrays, axis), dtype)


@composed(np.vstack, given="dtype")
@samples("(A(3), A(3)), dtype=float")
def vstack_dtype(tup, *, dtype=None, casting="same_kind"):
    return np.asarray(np.vstack(tup), dtype)


@composed(np.hstack, given="dtype")
@samples("(A(3), A(3)), dtype=float")
def hstack_dtype(tup, *, dtype=None, casting="same_kind"):
    return np.asarray(np.hstack(tup), dtype)


@composed(np.take, np.ndarray.take, given="mode")
@samples("A(4), [0, 5, -6], mode='wrap'", "A(3, 4), [0, 5, -1], 1, mode='clip'")
def take_mode(a, indices, axis=None, out=None, mode="raise"):
    n = np.size(a) if axis is None else np.shape(a)[axis]
    return np.take(a, _within(indices, n, mode), axis)


@composed(np.choose, given="mode")
@samples("[0, 3, -1], [A(3), A(3)], mode='wrap'", "[0, 3, -1], [A(3), A(3)], mode='clip'")
def choose_mode(a, choices, out=None, mode="raise"):
    return np.choose(_within(a, len(choices), mode), choices)


def _within(indices, n, mode):
    if mode == "wrap":
        return np.asarray(indices) % n
    if mode != "clip":
        refuse("the mode must be 'raise', 'wrap' or 'clip'")
    return np.clip(indices, 0, n - 1)


@composed(np.angle, given="deg")
@samples("C(3), True", "C(3), deg=False")
def angle_degrees(z, deg=False):
    return np.rad2deg(np.angle(z)) if deg else np.angle(z)


@composed(np.linalg.cholesky, given="upper")
@samples("S(3), upper=True", "S(3), upper=False")
def cholesky_upper(a, *, upper=False):
    return conj(np.linalg.cholesky(conj(a.mT)).mT) if upper else np.linalg.cholesky(a)


@composed(np.copyto, given="where", mutates="dst")
@samples("A(3), A(3), where=" + MASK, "A(2, 3), A(), where=" + MASK)
def copyto_where(dst, src, casting="same_kind", where=True):
    mask = np.broadcast_to(where, np.shape(dst))
    dst[mask] = np.broadcast_to(src, np.shape(dst))[mask]
