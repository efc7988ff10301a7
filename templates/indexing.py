"""Rules of reading and writing parts of arrays."""

import operator

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import along, last_writes, positions, scatter, unbroadcast
from srcdiff.runtime.linalg import diagonal_places


@linear(operator.getitem, view="x")
@samples(
    "A(4), 1", "A(4), slice(1, 3)", "A(3, 4), (slice(None), 1)", "A(3), (None, ...)",
    "A(4), np.array([0, 2, 2])", "A(3, 4), (np.array([0, 0]), slice(1, None))",
    "A(4), np.array([True, False, True, True])", "A(4), [1, 1]", "A(3, 4), (0, -1)",
    "C(4), 1",
)  # fmt: skip
def getitem(x, i):
    if reshapes(i):
        d[x] += np.reshape(d[z], np.shape(x))
    elif distinct(i):
        d[x][i] += d[z]
    else:
        np.add.at(d[x], i, d[z])


@linear(operator.setitem, Store(None), mutates="x")
@samples(
    "A(4), 1, A()", "A(4), slice(1, 3), A(2)", "A(3, 4), (slice(None), 1), A()",
    "A(3, 4), 1, A(4)", "A(4), np.array([0, 2, 2]), A(3)", "A(4), np.array([0, 2, 2]), A()",
    "A(4), np.array([True, False, True, True]), A(3)", "A(3, 4), ..., A(4)",
)  # fmt: skip
def setitem(x, i, v):
    if picks_one(x, i):
        d[v] += d[x][i]
    elif distinct(i):
        d[v] += unbroadcast(np.copy(d[x][i]), v)
    else:
        d[v] += unbroadcast(d[x][i] * last_writes(x, i), v)
    d[x][i] = 0.0


@linear(Store("+"), mutates="x")
@samples(
    "A(4), 1, A()", "A(4), slice(1, 3), A(2)", "A(3, 4), 1, A()", "A(4), np.array([0, 2, 2]), A(3)"
)
def add_item(x, i, v):
    if picks_one(x, i):
        d[v] += d[x][i]
    elif distinct(i):
        d[v] += unbroadcast(np.copy(d[x][i]), v)
    else:
        d[v] += unbroadcast(d[x][i] * last_writes(x, i), v)


@linear(Store("-"), mutates="x")
@samples(
    "A(4), 1, A()", "A(4), slice(1, 3), A(2)", "A(3, 4), 1, A()", "A(4), np.array([0, 2, 2]), A(3)"
)
def subtract_item(x, i, v):
    if distinct(i):
        d[v] += unbroadcast(-d[x][i], v)
    else:
        d[v] += unbroadcast(-d[x][i] * last_writes(x, i), v)


@linear(Store("+", whole=True), mutates="x")
@samples("A(4), A(4)", "A(3, 4), A(4)", "A(3), A()")
def add_whole(x, v):
    d[v] += unbroadcast(np.copy(d[x]), v)


@linear(Store("-", whole=True), mutates="x")
@samples("A(4), A(4)", "A(3, 4), A(4)", "A(3), A()")
def subtract_whole(x, v):
    d[v] += unbroadcast(-d[x], v)


@rule(Store("*"), mutates="x")
@samples("A(4), 1, A()", "A(4), slice(1, 3), A(2)", "A(3, 4), 1, A()", "C(4), slice(1, 3), C(2)")
def multiply_item(x, i, v):
    d[v] += unbroadcast(d[x][i] * conj(x[i]), v)
    d[x][i] *= conj(v)


@rule(Store("/"), mutates="x")
@samples("A(4), 1, P()", "A(4), slice(1, 3), P(2)", "A(3, 4), 1, P()", "C(4), slice(1, 3), C(2)")
def divide_item(x, i, v):
    # v first: an adjoint of real items drops the imaginary part of what is stored into it
    d[v] += unbroadcast(-d[x][i] * conj(x[i] / v / v), v)
    d[x][i] /= conj(v)


@rule(Store("*", whole=True), mutates="x")
@samples("A(4), A(4)", "A(3, 4), A(4)", "A(3), A()", "C(3), C(3)")
def multiply_whole(x, v):
    d[v] += unbroadcast(d[x] * conj(x), v)
    d[x] *= conj(v)


@rule(Store("/", whole=True), mutates="x")
@samples("A(4), P(4)", "A(3, 4), P(4)", "A(3), P()", "C(3), C(3)")
def divide_whole(x, v):
    d[x] /= conj(v)
    d[v] += unbroadcast(-d[x] * conj(x / v), v)


@linear(np.ndarray.fill, mutates="x")
@samples("A(4), A()")
def fill(x, value):
    d[value] += np.sum(d[x])
    d[x][...] = 0.0


@linear(np.copyto, mutates="dst")
@samples("A(4), A(4)", "A(3, 4), A(4)", "A(4), A()")
def copyto(dst, src):
    part = np.copy(d[dst])  # src may share memory with dst
    d[dst][...] = 0.0
    d[src] += unbroadcast(part, src)


@linear(np.add.at, mutates="a")
@samples("A(4), np.array([0, 2, 2]), A(3)", "A(4), np.array([0, 2, 2]), A()", "A(4), 1, A()")
def add_at(a, indices, b):
    if basic(indices):
        d[b] += unbroadcast(np.copy(d[a][indices]), b)
    else:
        d[b] += unbroadcast(d[a][indices], b)


@linear(np.subtract.at, mutates="a")
@samples("A(4), np.array([0, 2, 2]), A(3)", "A(4), np.array([0, 2, 2]), A()")
def subtract_at(a, indices, b):
    d[b] += unbroadcast(-d[a][indices], b)


@rule(np.ndarray.sort, mutates="a")
@samples("A(5)", "A(3, 4)", "A(3, 4), 0")
def sort_method(a, axis=-1):
    order = np.argsort(a, axis, kind="stable")
    d[a][...] = np.take_along_axis(d[a], np.argsort(order, axis), axis)


@forward(np.ndarray.sort)
def sort_in_place_tangent(a, axis):
    order = np.argsort(a, axis, kind="stable")
    d[a][...] = np.take_along_axis(d[a], order, axis)


@linear(np.fill_diagonal, mutates="a")
@samples(
    "A(3, 3), A()", "A(3, 3), A(3)", "A(5, 3), A(3)", "A(3, 3, 3), A()", "A(3, 3, 3), A(3)",
    "A(3, 3), A(2)", "A(3, 3), A(2, 2)",
)  # fmt: skip
def fill_diagonal(a, val):
    if isscalar(val) and rank(a) == 2:
        d[val] += np.sum(np.diagonal(d[a]))
    else:
        places = diagonal_places(a)
        d[val] += scatter(np.take(d[a], places), np.resize(positions(val), len(places)), val)
    np.fill_diagonal(d[a], 0.0)


@linear(np.take, np.ndarray.take)
@samples("A(4), [0, 2, 2]", "A(3, 4), [1, 1], 0", "A(3, 4), [1, 1], 1", "A(3, 4), 2, -1")
def take(a, indices, axis=None):
    # A list is one index, a tuple would be several.
    at = indices if isscalar(indices) or isarray(indices) else np.asarray(indices)
    if axis is None:
        d[a] += scatter(d[z], at, a)
    else:
        np.add.at(d[a], along(axis, at), d[z])


@linear(np.take_along_axis)
@samples("A(3, 4), np.array([[0, 0], [1, 2], [3, 3]]), 1", "A(4), np.array([1, 1]), 0")
def take_along_axis(arr, indices, axis=-1):
    d[arr] += scatter(d[z], np.take_along_axis(positions(arr), indices, axis), arr)


@linear(np.extract)
@samples("np.array([True, False, True]), A(3)")
def extract(condition, arr):
    d[arr] += scatter(d[z], np.extract(condition, positions(arr)), arr)


@linear(np.compress)
@samples("[True, False, True], A(3)", "[True, False, True], A(3, 2), 0")
def compress(condition, a, axis=None):
    d[a] += scatter(d[z], np.compress(condition, positions(a), axis), a)
