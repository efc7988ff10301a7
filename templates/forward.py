"""Tangents that are plainer than what follows from the backward lines, or that do not follow."""

import math

import numpy as np

from srcdiff.rules import conj, d, forward, iscomplex, isscalar, known, rank
from srcdiff.runtime.arrays import (
    axis_size,
    before,
    cofactor,
    divide_or_zero,
    keep_axes,
    others,
    recur,
    winners,
)

# --- reductions --------------------------------------------------------------------------------


@forward(np.max, np.amax, np.nanmax, np.ndarray.max)
def max_tangent(a, axis=None, keepdims=False):
    z = np.max(a, axis=axis, keepdims=keepdims)
    yield z
    hit = winners(a, keep_axes(z, axis, keepdims), axis)
    d[z] += np.sum(d[a] * hit, axis=axis, keepdims=keepdims)


@forward(np.min, np.amin, np.nanmin, np.ndarray.min)
def min_tangent(a, axis=None, keepdims=False):
    z = np.min(a, axis=axis, keepdims=keepdims)
    yield z
    hit = winners(a, keep_axes(z, axis, keepdims), axis)
    d[z] += np.sum(d[a] * hit, axis=axis, keepdims=keepdims)


@forward(np.prod, np.ndarray.prod)
def prod_tangent(a, axis=None, keepdims=False):
    z = np.prod(a, axis=axis, keepdims=keepdims)
    yield z
    d[z] += np.sum(d[a] * others(a, axis), axis=axis, keepdims=keepdims)


@forward(np.var, np.ndarray.var)
def var_tangent(a, axis=None, ddof=0, keepdims=False):
    z = np.var(a, axis=axis, ddof=ddof, keepdims=keepdims)
    yield z
    center = np.mean(a) if axis is None else np.mean(a, axis=axis, keepdims=True)
    part = d[a] * conj(a - center)
    if iscomplex(a):
        part = np.real(part)
    total = np.sum(part, axis=axis, keepdims=keepdims)
    n = axis_size(a, axis) - ddof
    if not known(ddof) or ddof > 1:
        n = max(n, 0)
    d[z] += 2.0 * total / n


@forward(np.std, np.ndarray.std)
def std_tangent(a, axis=None, ddof=0, keepdims=False):
    z = np.std(a, axis=axis, ddof=ddof, keepdims=keepdims)
    yield z
    center = np.mean(a) if axis is None else np.mean(a, axis=axis, keepdims=True)
    part = d[a] * conj(a - center)
    if iscomplex(a):
        part = np.real(part)
    total = np.sum(part, axis=axis, keepdims=keepdims)
    n = axis_size(a, axis) - ddof
    if not known(ddof) or ddof > 1:
        n = max(n, 0)
    d[z] += divide_or_zero(total, z * n)


@forward(np.cumprod, np.ndarray.cumprod)
def cumprod_tangent(a, axis=None):
    z = np.cumprod(a, axis=axis)
    yield z
    if axis is None:
        flat = np.ravel(a)
        d[z] += recur(np.ravel(d[a]) * before(flat, 0), flat, 0)
    else:
        d[z] += recur(d[a] * before(a, axis), a, axis)


@forward(max)
def builtin_max_tangent(first, *more):
    z = max(first, *more)
    yield z
    if len(more) == 0:
        hit = np.asarray(first) == z
        d[z] += np.sum(np.asarray(d[first]) * hit) / int(np.sum(hit))
    elif len(more) == 1:
        d[z] += d[first] * (first > more[0]) + 0.5 * d[first] * (first == more[0])
        d[z] += d[more][0] * (more[0] > first) + 0.5 * d[more][0] * (first == more[0])
    else:
        count = 1.0 * (first == z)
        for k in range(len(more)):
            count = count + 1.0 * (more[k] == z)
        d[z] += d[first] * (first == z) / count
        for k in range(len(more)):
            d[z] += d[more][k] * (more[k] == z) / count


@forward(min)
def builtin_min_tangent(first, *more):
    z = min(first, *more)
    yield z
    if len(more) == 0:
        hit = np.asarray(first) == z
        d[z] += np.sum(np.asarray(d[first]) * hit) / int(np.sum(hit))
    elif len(more) == 1:
        d[z] += d[first] * (first < more[0]) + 0.5 * d[first] * (first == more[0])
        d[z] += d[more][0] * (more[0] < first) + 0.5 * d[more][0] * (first == more[0])
    else:
        count = 1.0 * (first == z)
        for k in range(len(more)):
            count = count + 1.0 * (more[k] == z)
        d[z] += d[first] * (first == z) / count
        for k in range(len(more)):
            d[z] += d[more][k] * (more[k] == z) / count


# --- arrays ------------------------------------------------------------------------------------


@forward(np.sort)
def sort_tangent(a, axis=-1):
    z = np.sort(a, axis)
    yield z
    if axis is None:
        d[z] += np.ravel(d[a])[np.argsort(np.ravel(a), kind="stable")]
    elif rank(a) == 1:
        d[z] += d[a][np.argsort(a, kind="stable")]
    else:
        d[z] += np.take_along_axis(d[a], np.argsort(a, axis, kind="stable"), axis)


@forward(np.ndarray.sort)
def sort_in_place_tangent(a, axis=-1):
    order = np.argsort(a, axis, kind="stable")
    yield
    d[a][...] = np.take_along_axis(d[a], order, axis)


@forward(np.pad)
def pad_tangent(array, pad_width, mode="constant", constant_values=0):
    z = np.pad(array, pad_width, mode)
    yield z
    d[z] += np.pad(d[array], pad_width, mode)
    if mode == "constant" and isscalar(constant_values):
        d[z] += d[constant_values] * (1.0 - np.pad(np.ones_like(array), pad_width))


@forward(np.arange)
def arange_tangent(start, stop=None, step=1):
    z = np.arange(start) if stop is None else np.arange(start, stop, step)
    yield z
    if stop is not None:
        d[z] += d[start] + np.zeros(len(z))
    d[z] += d[step] * np.arange(len(z))


@forward(np.nansum)
def nansum_tangent(a, axis=None, *, keepdims=False):
    z = np.nansum(a, axis=axis, keepdims=keepdims)
    yield z
    d[z] += np.sum(np.where(np.isnan(a), 0.0, d[a]), axis=axis, keepdims=keepdims)


# --- products and linear algebra ---------------------------------------------------------------


@forward(np.cross)
def cross_tangent(a, b, *, axis=-1):
    z = np.cross(a, b, axis=axis)
    yield z
    d[z] += np.cross(d[a], b, axis=axis)
    d[z] += np.cross(a, d[b], axis=axis)


@forward(np.linalg.norm)
def norm_tangent(x, ord=None, axis=None, keepdims=False):
    z = np.linalg.norm(x, ord, axis, keepdims)
    yield z
    total = np.sum(np.real(conj(x) * d[x]), axis=axis, keepdims=keepdims)
    d[z] += divide_or_zero(total, z)


@forward(np.linalg.vector_norm)
def vector_norm_tangent(x, *, axis=None, keepdims=False, ord=2):
    z = np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    yield z
    along = np.real(conj(np.sign(x)) * d[x])
    if ord == np.inf or ord == -np.inf:
        hit = winners(np.abs(x), keep_axes(z, axis, keepdims), axis)
        d[z] += np.sum(along * hit, axis=axis, keepdims=keepdims)
    elif ord == 1:
        d[z] += np.sum(along, axis=axis, keepdims=keepdims)
    elif ord == 2:
        total = np.sum(along * np.abs(x), axis=axis, keepdims=keepdims)
        d[z] += divide_or_zero(total, z)
    elif ord != 0:
        total = np.sum(along * np.abs(x) ** (ord - 1), axis=axis, keepdims=keepdims)
        d[z] += divide_or_zero(total, z ** (ord - 1))


@forward(np.linalg.inv)
def inv_tangent(a):
    z = np.linalg.inv(a)
    yield z
    d[z] += -(z @ d[a] @ z)


@forward(np.linalg.solve)
def solve_tangent(a, b):
    z = np.linalg.solve(a, b)
    yield z
    d[z] += np.linalg.solve(a, d[b])
    if rank(a) == 2 or np.ndim(b) > 1:
        d[z] += -np.linalg.solve(a, d[a] @ z)
    else:
        d[z] += -np.linalg.solve(a, d[a] @ z[..., None])[..., 0]


@forward(np.linalg.det)
def det_tangent(a):
    z = np.linalg.det(a)
    yield z
    d[z] += np.sum(d[a] * cofactor(a), axis=(-2, -1))


# --- numbers -----------------------------------------------------------------------------------


@forward(math.modf)
def modf_tangent(x):
    z = math.modf(x)
    yield z
    d[z] += (d[x], 0.0)


@forward(math.dist)
def dist_tangent(p, q):
    z = math.dist(p, q)
    yield z
    d[z] += np.sum((np.asarray(p) - np.asarray(q)) * np.asarray(d[p])) / z
    d[z] += np.sum((np.asarray(q) - np.asarray(p)) * np.asarray(d[q])) / z


@forward(math.prod)
def math_prod_tangent(iterable, start=1):
    z = math.prod(iterable, start=start)
    yield z
    rest = others(np.asarray(iterable))
    d[z] += start * np.sum(np.asarray(d[iterable]) * rest)
    d[z] += d[start] * math.prod(iterable)


# The method is that of sparse matrices too.
@forward(np.ndarray.dot)
def dot_method_tangent(a, b):
    z = a.dot(b)
    yield z
    d[z] += d[a].dot(b)
    d[z] += a.dot(d[b])
