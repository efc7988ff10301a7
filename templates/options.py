"""Functions with optional arguments: `dtype`, `where`, `initial`, `mode` and others."""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import axis_size

MASK = "np.array([True, False, True])"


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


def spreads(of, *others):
    """The options of `np.var` or `np.std` that both handle alike."""

    @composed(of, *others, given="dtype")
    @samples("A(3), dtype=np.float64", "A(2, 3), 0, float")
    def spread_dtype(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True):
        if iscomplex(a):
            refuse("of complex numbers: convert them before, `np.asarray(a, dtype)`")
        return of(np.asarray(a, dtype), axis, ddof=ddof, keepdims=keepdims, where=where)

    @composed(of, given="correction")
    @samples("A(4), correction=1")
    def spread_correction(a, axis=None, *, ddof=0, keepdims=False, correction=None):
        return of(a, axis, ddof=correction, keepdims=keepdims)


spreads(np.var, np.ndarray.var)
spreads(np.std, np.ndarray.std)


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


@composed(np.std, np.ndarray.std, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, ddof=1, where=" + MASK)
def std_where(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True):
    return np.sqrt(np.var(a, axis, ddof=ddof, keepdims=keepdims, where=where))


@composed(np.trace, np.ndarray.trace, given="dtype")
@samples("A(3, 3), dtype=np.float64")
def trace_dtype(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return np.trace(np.asarray(a, dtype), offset, axis1, axis2)


def joined(of, *others):
    """`dtype` of what joins arrays along an axis."""

    @composed(of, *others, given="dtype")
    @samples("(A(3), A(3)), dtype=np.float64", "(A(2, 3), A(2, 3)), 1, dtype=float")
    def joined_dtype(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
        return np.asarray(of(arrays, axis), dtype)


joined(np.concatenate, np.concat)
joined(np.stack)


def stacked(of):
    """`dtype` of what stacks arrays."""
    made_of(
        of, given="dtype",
        value=lambda tup, *, dtype=None, casting="same_kind": np.asarray(of(tup), dtype),
        samples=("(A(3), A(3)), dtype=float",),
    )


stacked(np.vstack)
stacked(np.hstack)


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


made_of(
    np.angle, given="deg",
    value=lambda z, deg=False: np.rad2deg(np.angle(z)) if deg else np.angle(z),
    samples=("C(3), True", "C(3), deg=False"),
)


@composed(np.linalg.cholesky, given="upper")
@samples("S(3), upper=True", "S(3), upper=False")
def cholesky_upper(a, *, upper=False):
    return conj(np.linalg.cholesky(conj(a.mT)).mT) if upper else np.linalg.cholesky(a)


@composed(np.copyto, given="where", mutates="dst")
@samples("A(3), A(3), where=" + MASK, "A(2, 3), A(), where=" + MASK)
def copyto_where(dst, src, casting="same_kind", where=True):
    mask = np.broadcast_to(where, np.shape(dst))
    dst[mask] = np.broadcast_to(src, np.shape(dst))[mask]
