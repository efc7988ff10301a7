"""Rules of functions that change the shape of an array."""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import inverse_axes, positions, scatter, unbroadcast


@linear(np.reshape, np.ndarray.reshape, view="a", gather="shape")
@samples("A(3, 4), (2, 6)", "A(3, 4), -1", "A(3, 4), (4, 3), 'F'")
def reshape(a, shape, order="C"):
    if order == "C":
        d[a] += np.reshape(d[z], np.shape(a))
    elif order == "F":
        d[a] += np.reshape(d[z], np.shape(a), order)
    else:
        refuse("the order of the elements must be 'C' or 'F'")


def in_a_row(*functions, view):
    """The rule of what puts the elements of an array in a row."""

    @linear(*functions, view=view)
    @samples("A(3, 4)", "A(3, 4), 'F'", "A()")
    def row(a, order="C"):
        if order == "C":
            d[a] += np.reshape(d[z], np.shape(a))
        elif order == "F":
            d[a] += np.reshape(d[z], np.shape(a), order)
        else:
            refuse("the order of the elements must be 'C' or 'F'")


in_a_row(np.ravel, np.ndarray.ravel, view="a")
in_a_row(np.ndarray.flatten, view=None)


@linear(np.ndarray.T, view="a")
@samples("A(3, 4)", "A(2, 3, 4)", "A(3)")
def t(a):
    d[a] += d[z].T


@linear(np.transpose, np.ndarray.transpose, np.permute_dims, view="a", gather="axes")
@samples("A(3, 4)", "A(2, 3, 4), (1, 2, 0)", "A(2, 3, 4), (-1, 0, 1)")
def transpose(a, axes=None):
    if axes is None:
        d[a] += np.transpose(d[z])
    else:
        d[a] += np.transpose(d[z], inverse_axes(axes))


@linear(np.matrix_transpose, np.ndarray.mT, np.linalg.matrix_transpose, view="x")
@samples("A(3, 4)", "A(2, 3, 4)")
def matrix_transpose(x):
    d[x] += np.swapaxes(d[z], -1, -2)


@linear(np.swapaxes, np.ndarray.swapaxes, view="a")
@samples("A(3, 4), 0, 1", "A(2, 3, 4), -1, 0")
def swapaxes(a, axis1, axis2):
    d[a] += np.swapaxes(d[z], axis1, axis2)


@linear(np.moveaxis, view="a")
@samples("A(2, 3, 4), 0, -1", "A(2, 3, 4), (0, 1), (2, 0)")
def moveaxis(a, source, destination):
    d[a] += np.moveaxis(d[z], destination, source)


@linear(np.rollaxis, view="a")
@samples("A(2, 3, 4), 2", "A(2, 3, 4), 0, 3", "A(2, 3, 4), -1, 1", "A(2, 3, 4), 1, -1")
def rollaxis(a, axis, start=0):
    source = axis % np.ndim(a)
    target = start if start >= 0 else start + np.ndim(a)
    d[a] += np.moveaxis(d[z], target - (source < target), source)


@linear(np.broadcast_to, view="array")
@samples("A(3), (2, 3)", "A(2, 1), (2, 3)", "A(), (2, 3)")
def broadcast_to(array, shape):
    d[array] += unbroadcast(d[z], array)


@linear(np.broadcast_arrays, view="args")
@samples("A(3), A(2, 1)")
def broadcast_arrays(*args):
    for k in range(len(args)):
        d[args][k] += unbroadcast(d[z][k], args[k])


@linear(np.expand_dims, np.squeeze, np.ndarray.squeeze, view="a")
@samples(
    "A(3), 0", "A(3, 4), (0, 2)", "A(3, 4), -1", "A(3, 1)", "A(1, 3, 1), 0",
    "A(1, 3, 1), axis=(0, 2)",
)  # fmt: skip
def expand_dims(a, axis=None):
    d[a] += np.reshape(d[z], np.shape(a))


@linear(
    np.atleast_1d, np.atleast_2d, np.atleast_3d, np.ascontiguousarray, np.asfortranarray, view="a"
)
@samples("A()", "A(3)", "A(3, 4)")
def atleast_nd(a):
    d[a] += np.reshape(d[z], np.shape(a))


@linear(np.lib.stride_tricks.sliding_window_view, view="x")
@samples("A(5), 3", "A(3, 4), (2, 2)", "A(3, 4), 2, 1", "A(3, 4), axis=0, window_shape=2")
def sliding_window_view(x, window_shape, axis=None):
    places = np.lib.stride_tricks.sliding_window_view(positions(x), window_shape, axis)
    d[x] += scatter(d[z], places, x)
