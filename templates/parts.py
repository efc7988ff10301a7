"""Functions that choose, place and reorder parts of arrays, made of indices and stores."""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.indexing import nonzero_ends
from srcdiff.runtime.linalg import along_axis, put_places


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
