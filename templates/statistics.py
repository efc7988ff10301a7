"""Rules of order statistics, of statistics that leave out nan, and of moments."""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import keep_axes, rows, scatter, unrows
from srcdiff.runtime.linalg import last_axes, unique_places


@rule(np.median)
@samples("A(5)", "A(4)", "A(3, 5)", "A(3, 4), 1", "A(2, 3, 4), (0, 2)", "A(3, 5), 0, keepdims=True")
def median(a, axis=None, *, keepdims=False):
    ranks = np.argsort(np.argsort(rows(a, axis), kind="stable"))
    n = ranks.shape[-1]
    middle = ((n - 1) // 2 <= ranks) & (ranks <= n // 2)
    d[a] += keep_axes(d[z] / (2 - n % 2), axis, keepdims) * unrows(middle, a, axis)


def _ordered(a, axis):
    ordered = np.sort(rows(a, axis), axis=-1)
    return np.where(np.isnan(ordered[..., -1:]), np.nan, ordered)


def _finished(z, a, q, axis, keepdims):
    """`z` with the axes of `q` first, and with those that were reduced."""
    if keepdims:
        if axis is None:
            z = np.reshape(z, (1,) * np.ndim(a) + np.shape(z))
        elif isscalar(axis):
            z = np.expand_dims(z, axis % np.ndim(a))
        else:
            z = np.expand_dims(z, tuple([k % np.ndim(a) for k in axis]))
    return np.moveaxis(z, -1, 0) if np.ndim(q) == 1 else z


def _all_of(z, q):
    """Quantiles `z` by a flat `q` in the shape of `q`."""
    return np.reshape(z, np.shape(q) + np.shape(z)[1:])


@composed(np.quantile)
@samples(
    "A(5), 0.3", "A(3, 4), 0.6, 1", "A(3, 5), [0.2, 0.7], 0", "A(5), np.array([0.1, 0.9])",
    "A(2, 3, 4), 0.4, (0, 2)", "A(5), U() * 0.4 + 0.5", "A(5), 0.3, method='lower'",
    "A(5), 0.3, method='higher'", "A(5), 0.3, method='midpoint'", "A(5), 0.3, method='nearest'",
    "A(3, 4), 0.6, 1, keepdims=True", "A(3, 4), [0.2, 0.6], keepdims=True",
    "A(3, 2, 4), [0.2, 0.6, 0.3], (0, -1), keepdims=True",
    "A(3, 4), np.array([[0.2, 0.6], [0.3, 0.9]]), 0", "A(3, 4), [[0.2], [0.6]], -1, keepdims=True",
)  # fmt: skip
def quantile(a, q, axis=None, *, method="linear", keepdims=False):
    if np.ndim(q) > 1:
        return _all_of(np.quantile(a, np.ravel(q), axis, method=method, keepdims=keepdims), q)
    ordered = _ordered(a, axis)
    # A number is as precise as the data, an array as precise as it says.
    at = (q if rank(q) == 0 else np.asarray(q)) * (ordered.shape[-1] - 1)
    low, high = np.floor(at).astype(int), np.ceil(at).astype(int)
    if method == "linear":
        z = ordered[..., low] + at % 1.0 * (ordered[..., high] - ordered[..., low])
    elif method == "midpoint":
        z = 0.5 * (ordered[..., low] + ordered[..., high])
    elif method == "lower":
        z = np.take(ordered, low, -1)
    elif method == "higher":
        z = np.take(ordered, high, -1)
    elif method == "nearest":
        z = np.take(ordered, np.rint(at).astype(int), -1)
    else:
        refuse("the method must be 'linear', 'lower', 'higher', 'midpoint' or 'nearest'")
    return _finished(z, a, q, axis, keepdims)


def by_hundred(of, plain, *calls):
    """The definition of percentiles by quantiles."""

    @composed(of)
    @samples(*calls)
    def percentile(a, q, axis=None, *, method="linear", keepdims=False):
        part = (q if rank(q) == 0 else np.asarray(q)) / 100.0
        return plain(a, part, axis, method=method, keepdims=keepdims)


by_hundred(np.percentile, np.quantile, "A(5), 30", "A(3, 4), 60.0, 1", "A(5), [10, 50, 90]")
by_hundred(
    np.nanpercentile, np.nanquantile, "V([1.0, np.nan, 2.0, 4.0]), 40",
    "V([1.0, np.nan, 2.0, 4.0]), [40, 60]",
)  # fmt: skip


@composed(np.nanquantile)
@samples(
    "V([1.0, np.nan, 2.0, 4.0]), 0.4", "V([[1.0, np.nan, 2.0], [3.0, 2.0, 5.0]]), 0.3, 1",
    "V([[1.0, np.nan, 2.0], [3.0, 2.0, 5.0]]), [0.3, 0.6], 0, keepdims=True",
    "V([[1.0, np.nan, 2.0], [3.0, 2.0, 5.0]]), [[0.3, 0.6]], 1", "A(3), np.float64(0.3)",
)  # fmt: skip
def nanquantile(a, q, axis=None, *, method="linear", keepdims=False):
    if method != "linear":
        refuse("only the method 'linear' has a rule")
    if np.size(a) == 0:  # of which NumPy takes the mean
        return np.nan + np.sum(a, axis=axis, keepdims=keepdims)
    if np.ndim(q) > 1:
        if not (axis is None or isscalar(axis)):  # of which NumPy exchanges the axes
            refuse("`q` must have one axis where `axis` has several: write `np.ravel(q)`")
        return _all_of(np.nanquantile(a, np.ravel(q), axis, keepdims=keepdims), q)
    ordered = np.sort(rows(a, axis), axis=-1)
    most = np.sum(~np.isnan(ordered), axis=-1, keepdims=True) - 1
    share = float(q) if weak_in_quantiles(q) else q if rank(q) == 0 else np.asarray(q)
    at = share * most
    low, high = np.floor(at).astype(int), np.ceil(at).astype(int)
    left = np.take_along_axis(ordered, low, axis=-1)
    right = np.take_along_axis(ordered, high, axis=-1)
    part = (at - np.floor(at)).astype(np.result_type(left, share))
    z = left + part * (right - left)
    return _finished(np.take(z, 0, -1) if np.ndim(q) == 0 else z, a, q, axis, keepdims)


@composed(np.nanmedian)
@samples("V([1.0, np.nan, 2.0, 4.0])", "V([[1.0, np.nan, 2.0], [3.0, 2.0, 5.0]]), 1", "A(3, 4)")
def nanmedian(a, axis=None, *, keepdims=False):
    return np.nanquantile(a, 0.5, axis, keepdims=keepdims)


@composed(np.nanprod)
@samples("V([1.0, np.nan, 2.0])", "A(3, 4), 0", "A(3, 4), 1, keepdims=True")
def nanprod(a, axis=None, *, keepdims=False):
    return np.prod(np.where(np.isnan(a), 1.0, a), axis, keepdims=keepdims)


def running_without_nan(of, plain, fill):
    """The definition of a running sum or product that leaves out nan."""
    made_of(
        of, value=lambda a, axis=None: plain(np.where(np.isnan(a), fill, a), axis),
        samples=("V([1.0, np.nan, 2.0])", "A(3, 4), 0"),
    )


running_without_nan(np.nancumsum, np.cumsum, 0.0)
running_without_nan(np.nancumprod, np.cumprod, 1.0)


def without_nan(of, plain):
    """The definition of a spread that leaves out nan."""

    @composed(of)
    @samples("V([1.0, np.nan, 2.0, 3.0])", "A(3, 4), 0, ddof=1", "A(3, 4), 1, keepdims=True")
    def spread(a, axis=None, *, ddof=0, keepdims=False):
        return plain(a, axis, ddof=ddof, keepdims=keepdims, where=~np.isnan(a))


without_nan(np.nanvar, np.var)
without_nan(np.nanstd, np.std)


@composed(np.cov)
@samples(
    "A(3, 5)", "A(5)", "A(5), A(5)", "A(5, 3), rowvar=False", "A(3, 5), bias=True",
    "A(3, 5), ddof=0",
)  # fmt: skip
def cov(m, y=None, rowvar=True, bias=False, ddof=None):
    x = np.atleast_2d(m)
    if not rowvar and np.ndim(m) == 2:
        x = x.T
    if y is not None:
        other = np.atleast_2d(y)
        if not rowvar and np.ndim(y) == 2:
            other = other.T
        x = np.concatenate((x, other))
    if ddof is None:
        ddof = 0 if bias else 1
    x = np.asarray(x, np.result_type(x, np.float64))
    centered = x - np.mean(x, axis=1, keepdims=True)
    count = x.shape[1] if ddof == 0 else max(x.shape[1] - ddof, 0)
    return np.squeeze(centered @ conj(centered.T) / count)


@composed(np.corrcoef)
@samples("A(3, 5)", "A(5), A(5)", "A(5, 3), rowvar=False", "A(4)")
def corrcoef(x, y=None, rowvar=True):
    c = np.cov(x, y, rowvar)
    if y is None and rank(x) != 2 and (rank(x) == 1 or np.ndim(c) == 0):
        return c / c
    s = np.sqrt(np.real(np.diagonal(c)))
    return c / s[:, None] / s


@composed(np.average, given="weights")
@samples(
    "A(4), None, P(4)", "A(3, 4), 1, P(3, 4)", "A(3, 4), None, P(3, 4)", "A(3, 4), 0, P(3)",
    "A(3, 4), 1, P(4), keepdims=True", "A(2, 3, 4), (0, 2), P(2, 4)", "A(2, 3), (1, 0), P(3, 2)",
    "A(2, 3, 4), (-1, 0), P(4, 2), keepdims=True", "A(2, 3), (0, 1), P(2, 3)",
)  # fmt: skip
def average_weights(a, axis=None, weights=None, returned=False, *, keepdims=False):
    if returned:
        refuse("`returned=True`: compute the sum of the weights")
    w = weights
    if isinstance(axis, tuple):
        if np.shape(a) != np.shape(weights):
            w = _along_axes(weights, np.ndim(a), axis)
    elif np.ndim(a) != np.ndim(weights):
        w = np.moveaxis(np.reshape(weights, (1,) * (np.ndim(a) - 1) + (-1,)), -1, axis)
    return np.sum(a * w, axis, keepdims=keepdims) / np.sum(w, axis, keepdims=keepdims)


def _along_axes(weights, ndim, axes):
    w = np.reshape(weights, (1,) * (ndim - len(axes)) + np.shape(weights))
    return np.moveaxis(w, last_axes(len(axes)), axes)


@rule(np.unique)
@samples("A(4)", "A(2, 3)")
def unique(ar):
    _, place = np.unique(ar, return_index=True)
    d[ar] += scatter(d[z], place, ar)


# Without an order that NumPy promises.
@rule(getattr(np, "unique_values", None))
@samples("A(4)")
def unique_values(x):
    _, place = np.unique(x, return_index=True, equal_nan=False)
    d[x] += scatter(d[z], place[np.argsort(np.argsort(z))], x)


def with_places(argument, *calls):
    """The definition of `np.unique` where it is asked for places too."""

    @composed(np.unique, given=argument)
    @samples(*calls)
    def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None):
        if axis is not None:
            refuse("`axis`: take what `np.unique` finds with `return_index=True` of a constant")
        index, inverse, counts = unique_places(ar)
        values = np.ravel(ar)[index]
        if return_index and return_inverse:
            return (values, index, inverse, counts) if return_counts else (values, index, inverse)
        if return_index:
            return (values, index, counts) if return_counts else (values, index)
        if return_inverse:
            return (values, inverse, counts) if return_counts else (values, inverse)
        return (values, counts) if return_counts else values


with_places(
    "return_counts", "A(4), return_counts=True", "A(2, 3), return_counts=False",
    "A(4), True, True, True",
)  # fmt: skip
with_places("return_inverse", "A(4), return_inverse=True", "A(4), True, True")
with_places("return_index", "A(4), return_index=True", "A(4), return_index=False")
made_of(
    np.union1d, value=lambda ar1, ar2: np.unique(np.concatenate((np.ravel(ar1), np.ravel(ar2)))),
    samples=("A(3), A(2)",),
)


@composed(np.intersect1d)
@samples("A(3), A(3)", "A(3), A(2), True")
def intersect1d(ar1, ar2, assume_unique=False):
    if not assume_unique:
        z = np.unique(ar1)
        return z[np.isin(z, ar2)]
    z = np.sort(np.concatenate((np.ravel(ar1), np.ravel(ar2))))
    return z[:-1][z[1:] == z[:-1]]


@composed(np.setdiff1d)
@samples("A(3), A(2)", "A(4), A(1), True", "A(2, 2), A(2), assume_unique=True")
def setdiff1d(ar1, ar2, assume_unique=False):
    z = np.ravel(ar1) if assume_unique else np.unique(ar1)
    return z[~np.isin(z, ar2)]


@composed(np.setxor1d)
@samples("A(3), A(3)", "A(3), A(2), True")
def setxor1d(ar1, ar2, assume_unique=False):
    if not assume_unique:
        return np.union1d(np.setdiff1d(ar1, ar2), np.setdiff1d(ar2, ar1))
    z = np.sort(np.concatenate((np.ravel(ar1), np.ravel(ar2))))
    changes = z[1:] != z[:-1]
    alone = np.append(changes, True) & np.append(True, changes)
    return z[alone[: len(z)]]
