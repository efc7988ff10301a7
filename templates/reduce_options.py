"""`where`, `initial` and `dtype` of reductions that pass nan over, and of `reduce` of ufuncs."""

import numpy as np

from srcdiff.rules import composed, discrete, iscomplex, refuse, samples

from ._starts import start_of

MASK = "np.array([True, False, True])"


@composed(np.nansum, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float")
def nansum_dtype(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    return np.nansum(np.asarray(a, dtype), axis, keepdims=keepdims, initial=initial, where=where)


@composed(np.nansum, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, where=" + MASK + ", initial=A()")
def nansum_where(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    return np.nansum(np.where(where, a, 0.0), axis, keepdims=keepdims, initial=initial)


@composed(np.nansum, given="initial")
@samples(
    "V([[1.0, np.nan], [0.3, 2.0]]), 0, initial=2.0", "A(3), initial=A()",
    "A(3), initial=np.float64(1.5)",
)  # fmt: skip
def nansum_initial(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    z = np.nansum(a, axis=axis, keepdims=keepdims)
    return start_of(initial, z) + z


@composed(np.nanprod, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float")
def nanprod_dtype(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    return np.nanprod(np.asarray(a, dtype), axis, keepdims=keepdims, initial=initial, where=where)


@composed(np.nanprod, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, where=" + MASK + ", initial=A()")
def nanprod_where(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    return np.nanprod(np.where(where, a, 1.0), axis, keepdims=keepdims, initial=initial)


@composed(np.nanprod, given="initial")
@samples("A(2, 3), 0, initial=2.0", "A(3), initial=A()", "A(3), initial=np.float64(1.5)")
def nanprod_initial(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    z = np.nanprod(a, axis=axis, keepdims=keepdims)
    return start_of(initial, z) * z


@composed(np.nanmax, given="where")
@samples("A(2, 3), where=" + MASK + ", initial=-9.0", "A(2, 3), 0, where=True, initial=0.1")
def nanmax_where(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    start = start_of(initial, a)
    return np.nanmax(np.where(where, a, start), axis, keepdims=keepdims, initial=start)


@composed(np.nanmax, given="initial")
@samples("A(2, 3), 0, initial=0.1", "A(3), initial=A()", "A(3), initial=np.float64(0.1)")
def nanmax_initial(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    if np.size(a) == 0:
        return start_of(initial, a) + np.sum(a, axis=axis, keepdims=keepdims)
    return np.fmax(start_of(initial, a), np.nanmax(a, axis=axis, keepdims=keepdims))


@composed(np.nanmin, given="where")
@samples("A(2, 3), where=" + MASK + ", initial=9.0", "A(2, 3), 0, where=True, initial=0.1")
def nanmin_where(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    start = start_of(initial, a)
    return np.nanmin(np.where(where, a, start), axis, keepdims=keepdims, initial=start)


@composed(np.nanmin, given="initial")
@samples("A(2, 3), 0, initial=0.1", "A(3), initial=A()", "A(3), initial=np.float64(0.1)")
def nanmin_initial(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    if np.size(a) == 0:
        return start_of(initial, a) + np.sum(a, axis=axis, keepdims=keepdims)
    return np.fmin(start_of(initial, a), np.nanmin(a, axis=axis, keepdims=keepdims))


@composed(np.nanmean, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float", "C(3), dtype=complex")
def nanmean_dtype(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    return np.nanmean(_converted(a, dtype), axis, keepdims=keepdims, where=where)


@composed(np.nanvar, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float, ddof=1")
def nanvar_dtype(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True):
    if iscomplex(a):
        refuse("of complex numbers: convert them before, `np.asarray(a, dtype)`")
    return np.nanvar(_converted(a, dtype), axis, ddof=ddof, keepdims=keepdims, where=where)


@composed(np.nanstd, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float, ddof=1")
def nanstd_dtype(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True):
    if iscomplex(a):
        refuse("of complex numbers: convert them before, `np.asarray(a, dtype)`")
    return np.nanstd(_converted(a, dtype), axis, ddof=ddof, keepdims=keepdims, where=where)


def _converted(a, dtype):
    if discrete(dtype):
        refuse("`dtype` must be of floating point or complex")
    return np.asarray(a, dtype)


@composed(np.nanmean, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, keepdims=True, where=" + MASK)
def nanmean_where(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    return np.nanmean(np.where(where, a, np.nan), axis, keepdims=keepdims)


@composed(np.nanvar, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, ddof=1, where=" + MASK)
def nanvar_where(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True):
    return np.nanvar(np.where(where, a, np.nan), axis, ddof=ddof, keepdims=keepdims)


@composed(np.nanstd, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, ddof=1, where=" + MASK)
def nanstd_where(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True):
    return np.nanstd(np.where(where, a, np.nan), axis, ddof=ddof, keepdims=keepdims)


@composed(np.add.reduce, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 1, float")
def add_reduce_dtype(array, axis=0, dtype=None, out=None, keepdims=False, initial=0, where=True):
    x = np.asarray(array, dtype)
    return np.add.reduce(x, axis, keepdims=keepdims, initial=initial, where=where)


@composed(np.add.reduce, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, where=" + MASK + ", initial=A()")
def add_reduce_where(array, axis=0, dtype=None, out=None, keepdims=False, initial=0, where=True):
    return np.sum(array, axis, keepdims=keepdims, initial=initial, where=where)


@composed(np.add.reduce, given="initial")
@samples("A(2, 3), initial=2.0", "A(3), initial=A()")
def add_reduce_initial(array, axis=0, dtype=None, out=None, keepdims=False, initial=0):
    return np.sum(array, axis, keepdims=keepdims, initial=initial)


@composed(np.multiply.reduce, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 1, float")
def multiply_reduce_dtype(
    array, axis=0, dtype=None, out=None, keepdims=False, initial=1, where=True
):
    x = np.asarray(array, dtype)
    return np.multiply.reduce(x, axis, keepdims=keepdims, initial=initial, where=where)


@composed(np.multiply.reduce, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, where=" + MASK + ", initial=A()")
def multiply_reduce_where(
    array, axis=0, dtype=None, out=None, keepdims=False, initial=1, where=True
):
    return np.prod(array, axis, keepdims=keepdims, initial=initial, where=where)


@composed(np.multiply.reduce, given="initial")
@samples("A(2, 3), initial=2.0", "A(3), initial=A()")
def multiply_reduce_initial(array, axis=0, dtype=None, out=None, keepdims=False, initial=1):
    return np.prod(array, axis, keepdims=keepdims, initial=initial)


@composed(np.maximum.reduce, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 1, float")
def maximum_reduce_dtype(
    array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True
):
    x = np.asarray(array, dtype)
    return np.maximum.reduce(x, axis, keepdims=keepdims, initial=initial, where=where)


@composed(np.maximum.reduce, given="where")
@samples("A(2, 3), where=" + MASK + ", initial=-9.0", "A(2, 3), 1, where=True, initial=0.1")
def maximum_reduce_where(
    array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True
):
    return np.max(array, axis, keepdims=keepdims, initial=initial, where=where)


@composed(np.maximum.reduce, given="initial")
@samples("A(2, 3), initial=0.1", "A(3), initial=A()")
def maximum_reduce_initial(array, axis=0, dtype=None, out=None, keepdims=False, initial=None):
    return np.max(array, axis, keepdims=keepdims, initial=initial)


@composed(np.minimum.reduce, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 1, float")
def minimum_reduce_dtype(
    array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True
):
    x = np.asarray(array, dtype)
    return np.minimum.reduce(x, axis, keepdims=keepdims, initial=initial, where=where)


@composed(np.minimum.reduce, given="where")
@samples("A(2, 3), where=" + MASK + ", initial=9.0", "A(2, 3), 1, where=True, initial=0.1")
def minimum_reduce_where(
    array, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=True
):
    return np.min(array, axis, keepdims=keepdims, initial=initial, where=where)


@composed(np.minimum.reduce, given="initial")
@samples("A(2, 3), initial=0.1", "A(3), initial=A()")
def minimum_reduce_initial(array, axis=0, dtype=None, out=None, keepdims=False, initial=None):
    return np.min(array, axis, keepdims=keepdims, initial=initial)


@composed(np.logaddexp.reduce, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 1, float")
def logaddexp_reduce_dtype(
    array, axis=0, dtype=None, out=None, keepdims=False, initial=-np.inf, where=True
):
    x = np.asarray(array, dtype)
    return np.logaddexp.reduce(x, axis, keepdims=keepdims, initial=initial, where=where)


@composed(np.logaddexp.reduce, given="where")
@samples("A(3), where=" + MASK, "A(2, 3), 1, keepdims=True, initial=A(), where=" + MASK)
def logaddexp_reduce_where(
    array, axis=0, dtype=None, out=None, keepdims=False, initial=-np.inf, where=True
):
    x = np.where(where, array, -np.inf)
    return np.logaddexp.reduce(x, axis, keepdims=keepdims, initial=initial)


@composed(np.logaddexp.reduce, given="initial")
@samples("A(2, 3), 0, initial=2.0", "A(3), initial=A()", "A(3), initial=np.float64(1.5)")
def logaddexp_reduce_initial(
    array, axis=0, dtype=None, out=None, keepdims=False, initial=-np.inf, where=True
):
    z = np.logaddexp.reduce(array, axis, keepdims=keepdims)
    return np.logaddexp(start_of(initial, z), z)


@composed(np.subtract.reduce, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 1, float")
def subtract_reduce_dtype(array, axis=0, dtype=None, out=None, keepdims=False):
    return np.subtract.reduce(np.asarray(array, dtype), axis, keepdims=keepdims)


@composed(np.divide.reduce, given="dtype")
@samples("P(3), dtype=np.float64", "P(2, 3), 1, float")
def divide_reduce_dtype(array, axis=0, dtype=None, out=None, keepdims=False):
    return np.divide.reduce(np.asarray(array, dtype), axis, keepdims=keepdims)


@composed(np.add.accumulate, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 1, float")
def add_accumulate_dtype(array, axis=0, dtype=None, out=None):
    return np.cumsum(np.asarray(array, dtype), axis)


@composed(np.multiply.accumulate, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 1, float")
def multiply_accumulate_dtype(array, axis=0, dtype=None, out=None):
    return np.cumprod(np.asarray(array, dtype), axis)
