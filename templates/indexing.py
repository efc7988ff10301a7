"""Rules of reading and writing parts of arrays, and functions that are made of these."""

import operator

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import along, last_writes, positions, scatter, unbroadcast
from srcdiff.runtime.indexing import nonzero_ends
from srcdiff.runtime.linalg import along_axis, diagonal_places, put_places


@linear(operator.getitem, view="x")
@samples(
    "A(4), 1", "A(4), slice(1, 3)", "A(3, 4), (slice(None), 1)", "A(3), (None, ...)",
    "A(4), np.array([0, 2, 2])", "A(3, 4), (np.array([0, 0]), slice(1, None))",
    "A(4), np.array([True, False, True, True])", "A(4), [1, 1]", "A(3, 4), (0, -1)", "C(4), 1",
)  # fmt: skip
def getitem(x, i):
    if isscalar(x):
        d[x] += np.sum(d[z])
    elif reshapes(i):
        d[x] += np.reshape(d[z], np.shape(x))
    elif distinct(i):
        d[x][i] += d[z]
    else:
        np.add.at(d[x], i, d[z])


def stored(*stores, replaces):
    """The rule of stores that add to what stood there, or replace it, which has no say then."""

    @linear(*stores, mutates="x")
    @samples(
        "A(4), 1, A()", "A(4), slice(1, 3), A(2)", "A(3, 4), (slice(None), 1), A()",
        "A(3, 4), 1, A(4)", "A(3, 4), 1, A()", "A(4), np.array([0, 2, 2]), A(3)",
        "A(4), np.array([0, 2, 2]), A()", "A(4), np.array([True, False, True, True]), A(3)",
        "A(3, 4), ..., A(4)",
    )  # fmt: skip
    def store(x, i, v):
        if picks_one(x, i):
            d[v] += d[x][i]
        elif distinct(i):
            d[v] += unbroadcast(np.copy(d[x][i]), v)
        else:
            d[v] += unbroadcast(d[x][i] * last_writes(x, i), v)
        if replaces:
            d[x][i] = 0.0


stored(operator.setitem, Store(None), replaces=True)
stored(Store("+"), replaces=False)


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
    x[i] /= v
    yield
    if apart(x, v) and not iscomplex(v):  # an adjoint of real items would drop imaginary parts
        d[x][i] /= v
        d[v] += unbroadcast(-d[x][i] * conj(x[i]), v)
    else:
        x[i] = x[i] * v
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
    x /= v
    yield
    if apart(x, v):
        d[x] /= conj(v)
        d[v] += unbroadcast(-d[x] * conj(x), v)
    else:
        x[...] = x * v
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


# --- made of indices and stores ----------------------------------------------------------------


@composed(np.partition)
@samples("A(5), 2", "A(3, 4), 1, 0", "A(2, 3), 2, None")
def partition(a, kth, axis=-1):
    if axis is None:
        flat = np.ravel(a)
        return flat[np.argpartition(flat, kth)]
    return np.take_along_axis(a, np.argpartition(a, kth, axis), axis)


@composed(np.ndarray.partition, mutates="a")
@samples("A(5), 2", "A(3, 4), 1, 0")
def partition_method(a, kth, axis=-1):
    a[...] = np.partition(a, kth, axis)


made_of(
    np.sort_complex, value=lambda a: np.sort(a if iscomplex(a) else np.asarray(a, complex)),
    samples=("C(4)", "C(4).astype(np.complex64)"),
)


@composed(np.trim_zeros)
@samples(
    "np.append(0.0, A(3))", "A(3)", "np.append([0.0, 0.0], A(3)), 'f'", "np.append(A(3), 0.0), 'B'",
    "np.zeros((3, 1)) + np.pad(A(2), 1)", "np.pad(A(2, 2), 1), axis=1", "0.0 * A(2, 2)",
    "np.pad(A(2, 2), 1), 'f', (-1, 0)",
)  # fmt: skip
def trim_zeros(filt, trim="fb", axis=None):
    ends = nonzero_ends(filt, trim, axis)
    z = filt[ends[0][0] : ends[0][1]]
    for k in range(1, np.ndim(filt)):
        z = np.moveaxis(np.moveaxis(z, k, 0)[ends[k][0] : ends[k][1]], 0, k)
    return z


@composed(np.put_along_axis, mutates="arr")
@samples("A(3, 4), np.array([[0], [2], [3]]), A(3, 1), 1", "A(4), np.array([1, 3]), A(), 0")
def put_along_axis(arr, indices, values, axis):
    arr[along_axis(np.shape(arr), indices, axis)] = values


@composed(np.put, mutates="a")
@samples(
    "A(4), [0, 2], A(2)", "A(2, 3), np.array([1, 5]), A()", "A(4), 1, A()", "A(4), [0, -1], A(3)",
    "A(2, 2), [[0], [-1], [2]], A(2)",
)  # fmt: skip
def put(a, ind, v):
    places = put_places(a, ind, v)
    a[places] = np.resize(v, len(places[0]))


@composed(np.ndarray.put, mutates="a")
@samples("A(4), [0, 2], A(2)", "A(4), [0, -1], A(1)")
def put_method(a, indices, values):
    np.put(a, indices, values)


@composed(np.putmask, mutates="a")
@samples(
    "A(3), np.array([True, False, True]), A(3)", "A(3), np.array([True, False, True]), A()",
    "A(2, 2), np.array([[1, 0], [1, 1]]), A(3)",
)  # fmt: skip
def putmask(a, mask, values):
    if np.ndim(values) == 0:
        a[np.asarray(mask, bool)] = values
    else:
        chosen = np.asarray(mask, bool) & (np.size(values) > 0)
        a[chosen] = np.resize(values, np.shape(a))[chosen]


@composed(np.place, mutates="arr")
@samples(
    "A(3), np.array([True, False, True]), A(2)", "A(4), np.array([1, 0, 1, 1]), A(2)",
    "A(4), np.array([True, False, True, False]), A(3)",
)  # fmt: skip
def place(arr, mask, vals):
    chosen = np.asarray(mask, bool)
    arr[chosen] = np.resize(vals, int(np.count_nonzero(chosen)))


made_of(
    np.ndarray.choose, value=lambda a, choices: np.choose(a, choices),
    samples=("np.array([0, 1, 0]), (A(3), A(3))",),
)
made_of(
    np.ndarray.compress, value=lambda a, condition, axis=None: np.compress(condition, a, axis),
    samples=("A(3), [True, False, True]", "A(3, 2), [True, False, True], 0"),
)
