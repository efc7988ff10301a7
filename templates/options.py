"""Reductions with the arguments `dtype`, `where` and `initial`, and the methods of ufuncs."""

import numpy as np

from srcdiff.factors import latest
from srcdiff.rules import composed, d, rule, samples
from srcdiff.runtime import keep_axes

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
@samples("A(2, 3), 0, initial=2.0", "A(3), initial=A()")
def sum_initial(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    return initial + np.sum(a, axis=axis, keepdims=keepdims)


@composed(np.prod, np.ndarray.prod, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float")
def prod_dtype(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    return np.prod(np.asarray(a, dtype), axis, keepdims=keepdims, initial=initial, where=where)


@composed(np.prod, np.ndarray.prod, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, where=" + MASK)
def prod_where(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    return np.prod(np.where(where, a, 1.0), axis, keepdims=keepdims, initial=initial)


@composed(np.prod, np.ndarray.prod, given="initial")
@samples("A(2, 3), 0, initial=2.0", "A(3), initial=A()")
def prod_initial(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    return initial * np.prod(a, axis=axis, keepdims=keepdims)


@composed(np.mean, np.ndarray.mean, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float")
def mean_dtype(a, axis=None, dtype=None, out=None, keepdims=False, where=True):
    return np.mean(np.asarray(a, dtype), axis, keepdims=keepdims, where=where)


@composed(np.mean, np.ndarray.mean, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, keepdims=True, where=" + MASK)
def mean_where(a, axis=None, dtype=None, out=None, keepdims=False, where=True):
    total = np.sum(np.where(where, a, 0.0), axis, keepdims=keepdims)
    return total / np.sum(np.broadcast_to(where, np.shape(a)), axis, keepdims=keepdims)


@composed(np.var, np.ndarray.var, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float")
def var_dtype(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True):
    return np.var(np.asarray(a, dtype), axis, ddof=ddof, keepdims=keepdims, where=where)


@composed(np.var, np.ndarray.var, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, ddof=1, where=" + MASK)
def var_where(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True):
    n = np.sum(np.broadcast_to(where, np.shape(a)), axis, keepdims=True)
    mean = np.sum(np.where(where, a, 0.0), axis, keepdims=True) / n
    away = np.where(where, a - mean, 0.0)
    z = np.sum(np.abs(away) ** 2, axis, keepdims=True) / (n - ddof)
    return z if keepdims else np.squeeze(z, axis)


@composed(np.var, given="correction")
@samples("A(4), correction=1")
def var_correction(a, axis=None, *, ddof=0, keepdims=False, correction=None):
    return np.var(a, axis, ddof=correction, keepdims=keepdims)


@composed(np.std, np.ndarray.std, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float")
def std_dtype(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, where=True):
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
@samples("A(2, 3), where=" + MASK + ", initial=-9.0")
def max_where(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    return np.max(np.where(where, a, initial), axis, keepdims=keepdims)


@composed(np.max, np.amax, np.ndarray.max, given="initial")
@samples("A(2, 3), 0, initial=0.1", "A(3), initial=A()")
def max_initial(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    return np.maximum(initial, np.max(a, axis=axis, keepdims=keepdims))


@composed(np.min, np.amin, np.ndarray.min, given="where")
@samples("A(2, 3), where=" + MASK + ", initial=9.0")
def min_where(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    return np.min(np.where(where, a, initial), axis, keepdims=keepdims)


@composed(np.min, np.amin, np.ndarray.min, given="initial")
@samples("A(2, 3), 0, initial=0.1", "A(3), initial=A()")
def min_initial(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    return np.minimum(initial, np.min(a, axis=axis, keepdims=keepdims))


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


@composed(np.copyto, given="where", mutates="dst")
@samples("A(3), A(3), where=" + MASK, "A(2, 3), A(), where=" + MASK)
def copyto_where(dst, src, casting="same_kind", where=True):
    mask = np.broadcast_to(where, np.shape(dst))
    dst[mask] = np.broadcast_to(src, np.shape(dst))[mask]


# --- methods of ufuncs -------------------------------------------------------------------------


@composed(np.multiply.reduce)
@samples("A(3)", "A(2, 3), 1", "A(2, 3), None, keepdims=True")
def multiply_reduce(array, axis=0, *, keepdims=False):
    return np.prod(array, axis, keepdims=keepdims)


@composed(np.maximum.reduce, np.fmax.reduce)
@samples("A(3)", "A(2, 3), 1", "A(2, 3), None, keepdims=True")
def maximum_reduce(array, axis=0, *, keepdims=False):
    return np.max(array, axis, keepdims=keepdims)


@composed(np.minimum.reduce, np.fmin.reduce)
@samples("A(3)", "A(2, 3), 1", "A(2, 3), None, keepdims=True")
def minimum_reduce(array, axis=0, *, keepdims=False):
    return np.min(array, axis, keepdims=keepdims)


@composed(np.hypot.reduce)
@samples("A(3)", "A(2, 3), 1")
def hypot_reduce(array, axis=0, *, keepdims=False):
    return np.linalg.vector_norm(array, axis=axis, keepdims=keepdims)


@rule(np.logaddexp.reduce)
@samples("A(3)", "A(2, 3), 1", "A(2, 3), 0, keepdims=True")
def logaddexp_reduce(array, axis=0, *, keepdims=False):
    z = np.logaddexp.reduce(array, axis, keepdims=keepdims)
    yield z
    d[array] += keep_axes(d[z], axis, keepdims) * np.exp(array - keep_axes(z, axis, keepdims))


@composed(np.subtract.reduce)
@samples("A(3)", "A(2, 3), 1")
def subtract_reduce(array, axis=0):
    return 2.0 * np.take(array, 0, axis) - np.sum(array, axis)


@composed(np.add.accumulate)
@samples("A(3)", "A(2, 3), 1")
def add_accumulate(array, axis=0):
    return np.cumsum(array, axis)


@composed(np.multiply.accumulate)
@samples("A(3)", "A(2, 3), 1")
def multiply_accumulate(array, axis=0):
    return np.cumprod(array, axis)


@composed(np.maximum.accumulate)
@samples("A(5)", "A(2, 5), 1")
def maximum_accumulate(array, axis=0):
    hit = array == np.maximum.accumulate(array, axis)
    return np.take_along_axis(array, latest(hit, axis), axis)


@composed(np.minimum.accumulate)
@samples("A(5)", "A(2, 5), 1")
def minimum_accumulate(array, axis=0):
    hit = array == np.minimum.accumulate(array, axis)
    return np.take_along_axis(array, latest(hit, axis), axis)
