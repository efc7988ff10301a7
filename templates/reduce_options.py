"""`where`, `initial` and `dtype` of reductions, and of `reduce` of ufuncs.

A function here writes the definitions that several reductions share but for the names.
"""

import operator

import numpy as np

from srcdiff.rules import *

MASK = "np.array([True, False, True])"


def start_of(initial, z):
    """The number `initial` in the type of what is reduced; a number in the source adapts itself."""
    return initial if known(initial) else np.asarray(initial, np.result_type(z))


def sums(of, *others, start, fill, joined, more=()):
    """The options of a sum or a product, which of nothing is `start`."""

    @composed(of, *others, given="dtype")
    @samples("A(3), dtype=np.float64", "A(2, 3), 0, float")
    def sum_dtype(a, axis=None, dtype=None, out=None, keepdims=False, initial=start, where=True):
        return of(np.asarray(a, dtype), axis, keepdims=keepdims, initial=initial, where=where)

    @composed(of, *others, given="where")
    @samples("A(2, 3), where=" + MASK, "A(2, 3), 1, where=" + MASK + ", initial=A()")
    def sum_where(a, axis=None, dtype=None, out=None, keepdims=False, initial=start, where=True):
        return of(np.where(where, a, fill), axis, keepdims=keepdims, initial=initial)

    @composed(of, *others, given="initial")
    @samples("A(2, 3), 0, initial=2.0", "A(3), initial=A()", "A(3), initial=np.float64(1.5)", *more)
    def sum_initial(a, axis=None, dtype=None, out=None, keepdims=False, initial=start, where=True):
        z = of(a, axis=axis, keepdims=keepdims)
        return joined(start_of(initial, z), z)


NAN = "V([[1.0, np.nan], [0.3, 2.0]]), 0, initial=2.0"
sums(np.sum, np.ndarray.sum, start=0, fill=0.0, joined=operator.add)
sums(np.nansum, start=0, fill=0.0, joined=operator.add, more=(NAN,))
sums(np.prod, np.ndarray.prod, start=1, fill=1.0, joined=operator.mul)
sums(np.nanprod, start=1, fill=1.0, joined=operator.mul)


def extremes(of, *others, joined, far):
    """The options of a maximum or a minimum; `far` is what the other numbers win against."""

    @composed(of, *others, given="where")
    @samples(
        f"A(2, 3), where={MASK}, initial={far}", "A(2, 3), 0, where=True, initial=0.1",
        f"A(3), where={MASK}, initial=np.float64(0.1)",
    )  # fmt: skip
    def extreme_where(a, axis=None, out=None, keepdims=False, initial=None, where=True):
        start = start_of(initial, a)
        return of(np.where(where, a, start), axis, keepdims=keepdims, initial=start)

    @composed(of, *others, given="initial")
    @samples("A(2, 3), 0, initial=0.1", "A(3), initial=A()", "A(3), initial=np.float64(0.1)")
    def extreme_initial(a, axis=None, out=None, keepdims=False, initial=None, where=True):
        if np.size(a) == 0:
            return start_of(initial, a) + np.sum(a, axis=axis, keepdims=keepdims)
        return joined(start_of(initial, a), of(a, axis=axis, keepdims=keepdims))


extremes(np.max, np.amax, np.ndarray.max, joined=np.maximum, far=-9.0)
extremes(np.min, np.amin, np.ndarray.min, joined=np.minimum, far=9.0)
extremes(np.nanmax, joined=np.fmax, far=-9.0)
extremes(np.nanmin, joined=np.fmin, far=9.0)


def nan_spreads(of):
    """The options of `np.nanvar` or `np.nanstd`."""

    @composed(of, given="dtype")
    @samples("A(3), dtype=np.float64", "A(2, 3), 0, float, ddof=1")
    def spread_dtype(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True):
        if iscomplex(a):
            refuse("of complex numbers: convert them before, `np.asarray(a, dtype)`")
        return of(_converted(a, dtype), axis, ddof=ddof, keepdims=keepdims, where=where)

    @composed(of, given="where")
    @samples("A(2, 3), where=" + MASK, "A(2, 3), 1, ddof=1, where=" + MASK)
    def spread_where(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True):
        return of(np.where(where, a, np.nan), axis, ddof=ddof, keepdims=keepdims)


nan_spreads(np.nanvar)
nan_spreads(np.nanstd)


@composed(np.nanmean, given="dtype")
@samples("A(3), dtype=np.float64", "A(2, 3), 0, float", "C(3), dtype=complex")
def nanmean_dtype(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    return np.nanmean(_converted(a, dtype), axis, keepdims=keepdims, where=where)


def _converted(a, dtype):
    if discrete(dtype):
        refuse("`dtype` must be of floating point or complex")
    return np.asarray(a, dtype)


@composed(np.nanmean, given="where")
@samples("A(2, 3), where=" + MASK, "A(2, 3), 1, keepdims=True, where=" + MASK)
def nanmean_where(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    return np.nanmean(np.where(where, a, np.nan), axis, keepdims=keepdims)


def converted_reduce(of, start):
    """`dtype` of the `reduce` of a ufunc."""

    @composed(of, given="dtype")
    @samples("A(3), dtype=np.float64", "A(2, 3), 1, float")
    def reduce_dtype(
        array, axis=0, dtype=None, out=None, keepdims=False, initial=start, where=True
    ):
        x = np.asarray(array, dtype)
        return of(x, axis, keepdims=keepdims, initial=initial, where=where)


def reduced(of, plain, start, far=None):
    """`reduce` of a ufunc and its options, which `plain` does too; those of some need a start."""
    masked = f"A(2, 3), where={MASK}"
    made_of(
        of, samples=("A(3)", "A(2, 3), 1", "A(2, 3), None, keepdims=True"),
        value=lambda array, axis=0, *, keepdims=False: plain(array, axis, keepdims=keepdims),
    )
    converted_reduce(of, start)

    @composed(of, given="where")
    @samples(
        masked if far is None else f"{masked}, initial={far}", f"{masked}, initial=A()",
        "A(2, 3), 1, where=True, initial=0.1",
    )  # fmt: skip
    def reduce_where(
        array, axis=0, dtype=None, out=None, keepdims=False, initial=start, where=True
    ):
        return plain(array, axis, keepdims=keepdims, initial=initial, where=where)

    @composed(of, given="initial")
    @samples("A(2, 3), initial=0.1", "A(3), initial=A()")
    def reduce_initial(array, axis=0, dtype=None, out=None, keepdims=False, initial=start):
        return plain(array, axis, keepdims=keepdims, initial=initial)


reduced(np.add.reduce, np.sum, start=0)
reduced(np.multiply.reduce, np.prod, start=1)
reduced(np.maximum.reduce, np.max, start=None, far=-9.0)
reduced(np.minimum.reduce, np.min, start=None, far=9.0)


def converted(of):
    """`dtype` of the `reduce` of a ufunc that has no start."""

    @composed(of, given="dtype")
    @samples("P(3), dtype=np.float64", "P(2, 3), 1, float")
    def reduce_dtype(array, axis=0, dtype=None, out=None, keepdims=False):
        return of(np.asarray(array, dtype), axis, keepdims=keepdims)


converted(np.subtract.reduce)
converted(np.divide.reduce)


def running(of, method):
    """`dtype` of running sums or products."""
    made_of(
        of, method, given="dtype",
        value=lambda a, axis=None, dtype=None, out=None: of(np.asarray(a, dtype), axis),
        samples=("A(3), dtype=np.float64", "A(2, 3), 0, float"),
    )


running(np.cumsum, np.ndarray.cumsum)
running(np.cumprod, np.ndarray.cumprod)


def accumulated(of, plain):
    """The `accumulate` of a ufunc and its `dtype`, which `plain` does too."""
    made_of(of, value=lambda array, axis=0: plain(array, axis), samples=("A(3)", "A(2, 3), 1"))
    made_of(
        of, given="dtype",
        value=lambda array, axis=0, dtype=None, out=None: plain(np.asarray(array, dtype), axis),
        samples=("A(3), dtype=np.float64", "A(2, 3), 1, float"),
    )


accumulated(np.add.accumulate, np.cumsum)
accumulated(np.multiply.accumulate, np.cumprod)


converted_reduce(np.logaddexp.reduce, -np.inf)


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
