"""Rules of functions that change the shape of an array."""

import numpy as np

from srcdiff.rules import d, linear, refuse, samples
from srcdiff.runtime.arrays import inverse_axes, positions, scatter, unbroadcast


@linear(np.reshape, np.ndarray.reshape, view="a", gather="shape")
@samples("A(3, 4), (2, 6)", "A(3, 4), -1", "A(3, 4), (4, 3), 'F'")
def reshape(a, shape, order="C"):
    z = np.reshape(a, shape, order)
    yield z
    if order == "C":
        d[a] += np.reshape(d[z], np.shape(a))
    elif order == "F":
        d[a] += np.reshape(d[z], np.shape(a), order)
    else:
        refuse("the order of the elements must be 'C' or 'F'")


@linear(np.ravel, np.ndarray.ravel, view="a")
@samples("A(3, 4)", "A(3, 4), 'F'", "A()")
def ravel(a, order="C"):
    z = np.ravel(a, order)
    yield z
    if order == "C":
        d[a] += np.reshape(d[z], np.shape(a))
    elif order == "F":
        d[a] += np.reshape(d[z], np.shape(a), order)
    else:
        refuse("the order of the elements must be 'C' or 'F'")


@linear(np.ndarray.flatten)
@samples("A(3, 4)", "A(3, 4), 'F'")
def flatten(a, order="C"):
    z = np.ravel(a, order).copy()
    yield z
    if order == "C":
        d[a] += np.reshape(d[z], np.shape(a))
    elif order == "F":
        d[a] += np.reshape(d[z], np.shape(a), order)
    else:
        refuse("the order of the elements must be 'C' or 'F'")


@linear(np.ndarray.T, view="a")
@samples("A(3, 4)", "A(2, 3, 4)", "A(3)")
def t(a):
    z = a.T
    yield z
    d[a] += d[z].T


@linear(np.transpose, np.ndarray.transpose, np.permute_dims, view="a", gather="axes")
@samples("A(3, 4)", "A(2, 3, 4), (1, 2, 0)", "A(2, 3, 4), (-1, 0, 1)")
def transpose(a, axes=None):
    z = np.transpose(a, axes)
    yield z
    if axes is None:
        d[a] += np.transpose(d[z])
    else:
        d[a] += np.transpose(d[z], inverse_axes(axes))


@linear(np.matrix_transpose, np.ndarray.mT, np.linalg.matrix_transpose, view="x")
@samples("A(3, 4)", "A(2, 3, 4)")
def matrix_transpose(x):
    z = np.swapaxes(x, -1, -2)
    yield z
    d[x] += np.swapaxes(d[z], -1, -2)


@linear(np.swapaxes, np.ndarray.swapaxes, view="a")
@samples("A(3, 4), 0, 1", "A(2, 3, 4), -1, 0")
def swapaxes(a, axis1, axis2):
    z = np.swapaxes(a, axis1, axis2)
    yield z
    d[a] += np.swapaxes(d[z], axis1, axis2)


@linear(np.moveaxis, view="a")
@samples("A(2, 3, 4), 0, -1", "A(2, 3, 4), (0, 1), (2, 0)")
def moveaxis(a, source, destination):
    z = np.moveaxis(a, source, destination)
    yield z
    d[a] += np.moveaxis(d[z], destination, source)


@linear(np.rollaxis, view="a")
@samples("A(2, 3, 4), 2", "A(2, 3, 4), 0, 3", "A(2, 3, 4), -1, 1", "A(2, 3, 4), 1, -1")
def rollaxis(a, axis, start=0):
    z = np.rollaxis(a, axis, start)
    yield z
    source = axis % np.ndim(a)
    target = start if start >= 0 else start + np.ndim(a)
    d[a] += np.moveaxis(d[z], target - (source < target), source)


@linear(np.broadcast_to, view="array")
@samples("A(3), (2, 3)", "A(2, 1), (2, 3)", "A(), (2, 3)")
def broadcast_to(array, shape):
    z = np.broadcast_to(array, shape)
    yield z
    d[array] += unbroadcast(d[z], array)


@linear(np.broadcast_arrays, view="args")
@samples("A(3), A(2, 1)")
def broadcast_arrays(*args):
    z = np.broadcast_arrays(*args)
    yield z
    for k in range(len(args)):
        d[args][k] += unbroadcast(d[z][k], args[k])


@linear(np.expand_dims, view="a")
@samples("A(3), 0", "A(3, 4), (0, 2)", "A(3, 4), -1")
def expand_dims(a, axis):
    z = np.expand_dims(a, axis)
    yield z
    d[a] += np.reshape(d[z], np.shape(a))


@linear(np.squeeze, np.ndarray.squeeze, view="a")
@samples("A(3, 1)", "A(1, 3, 1), 0", "A(1, 3, 1), axis=(0, 2)")
def squeeze(a, axis=None):
    z = np.squeeze(a, axis)
    yield z
    d[a] += np.reshape(d[z], np.shape(a))


@linear(np.atleast_1d, view="x")
@samples("A()", "A(3)")
def atleast_1d(x):
    z = np.atleast_1d(x)
    yield z
    d[x] += np.reshape(d[z], np.shape(x))


@linear(np.atleast_2d, view="x")
@samples("A()", "A(3)")
def atleast_2d(x):
    z = np.atleast_2d(x)
    yield z
    d[x] += np.reshape(d[z], np.shape(x))


@linear(np.atleast_3d, view="x")
@samples("A()", "A(3)", "A(3, 4)")
def atleast_3d(x):
    z = np.atleast_3d(x)
    yield z
    d[x] += np.reshape(d[z], np.shape(x))


@linear(np.lib.stride_tricks.sliding_window_view, view="x")
@samples("A(5), 3", "A(3, 4), (2, 2)", "A(3, 4), 2, 1", "A(3, 4), axis=0, window_shape=2")
def sliding_window_view(x, window_shape, axis=None):
    z = np.lib.stride_tricks.sliding_window_view(x, window_shape, axis)
    yield z
    places = np.lib.stride_tricks.sliding_window_view(positions(x), window_shape, axis)
    d[x] += scatter(d[z], places, x)
