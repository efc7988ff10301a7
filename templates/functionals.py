"""Functions of NumPy that call functions: they are written out before anything else."""

import math

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.indexing import axes_from, conditions
from srcdiff.runtime.linalg import last_axes
from srcdiff.runtime.vectorize import each, each_of_four, each_of_one, each_of_three, each_of_two


@composed(np.piecewise, early=True)
@samples(
    "A(3), [np.array([True, False, True]), np.array([False, True, False])], [np.sin, 1.0]",
    "A(3), [np.array([True, False, False])], [np.exp, lambda t: t * t]",
    "A(2), np.array([True, False]), [np.exp, lambda t: t * t]", "A(), [True], [np.exp, np.sin]",
    "A(3), [np.array([True, False, False])], [np.exp, lambda t: t - t.mean()]",
    "V([-1.0, 2.0]), [[True, False]], [np.exp, np.sqrt]",
    "V([-1.0, 2.0]), [[True, True]], [lambda t, k: k * t, lambda t, k: t.max()], 2.0",
)  # fmt: skip
def piecewise(x, condlist, funclist, *args):
    x = np.asarray(x)
    masks = conditions(x, condlist, len(funclist))
    z = np.zeros_like(x)
    for k in range(len(funclist)):
        mask = np.asarray(masks[k], bool)
        if not callable(funclist[k]):
            z[mask] = funclist[k]
        else:
            part = x[mask]
            if np.size(part) > 0:
                z[mask] = funclist[k](part, *args)
    return z


@composed(np.apply_along_axis, early=True)
@samples(
    "np.sum, 1, A(3, 4)", "np.cumsum, 0, A(3, 4)", "lambda r: np.outer(r, r), 0, A(3, 4)",
    "np.diag, 1, A(2, 3, 2)", "np.diag, -2, A(2, 3, 2)", "lambda r: r[0] * r[1], 0, A(3)",
    "lambda r: 2 if r[0] < 0.0 else 1.5 * r[1], 1, V([[1.0, 5.0], [-1.0, 2.0]])",
    "lambda r: np.argmax(r), 1, A(3, 2)",
)  # fmt: skip
def apply_along_axis(func1d, axis, arr, *args):
    moved = np.moveaxis(arr, axis, -1)
    flat = np.reshape(moved, (math.prod(np.shape(moved)[:-1]), np.shape(moved)[-1]))
    found = [np.asarray(func1d(flat[k], *args)) for k in range(len(flat))]
    out = np.stack(found).astype(found[0].dtype)  # what comes later is cut off to the first
    z = np.reshape(out, np.shape(moved)[:-1] + np.shape(out)[1:])
    if np.ndim(out) == 1:
        return z
    if np.ndim(out) == 2:
        return np.moveaxis(z, -1, axis)
    n = np.ndim(out) - 1
    return np.moveaxis(z, last_axes(n), axes_from(axis, np.ndim(arr), n))


@composed(np.apply_over_axes, early=True)
@samples("np.sum, A(2, 3, 4), (0, 2)", "np.sum, A(2, 3, 4), 1", "np.max, A(2, 3), [-1]")
def apply_over_axes(func, a, axes):
    if not isinstance(axes, (tuple, list)) and np.ndim(axes) == 0:
        return _over_axis(func, a, axes)
    z = a
    for k in range(len(axes)):
        z = _over_axis(func, z, axes[k])
    return z


def _over_axis(func, a, axis):
    part = func(a, axis)
    return part if np.ndim(part) == np.ndim(a) else np.expand_dims(part, axis)


@composed(np.fromfunction, early=True)
@samples("lambda i, j: np.sin(i * A() + j), (2, 3)", "lambda i: i * A(), (3,)")
def fromfunction(function, shape):
    i = 1.0 * np.indices(shape)
    if len(shape) == 1:
        return function(i[0])
    if len(shape) == 2:
        return function(i[0], i[1])
    if len(shape) > 3:
        refuse("more than three axes")
    return function(i[0], i[1], i[2])


unsupported(
    "Give it up to four arguments by position: what others are set to, a `lambda` can say.", each
)


@composed(each_of_one, early=True)
@samples("lambda v: v * v if v > 0.5 else np.sin(v), None, A(2, 3)")
def vectorized_one(pyfunc, dtype, x):
    return _shaped([pyfunc(a) for a in np.ravel(x).tolist()], dtype, np.shape(x))


@composed(each_of_two, early=True)
@samples("lambda v, w: v * w if v > w else np.sin(w), float, A(2, 3), A(3)")
def vectorized_two(pyfunc, dtype, x, y):
    shape = np.broadcast_shapes(np.shape(x), np.shape(y))
    v, w = _listed(x, shape), _listed(y, shape)
    return _shaped([pyfunc(v[i], w[i]) for i in range(len(v))], dtype, shape)


@composed(each_of_three, early=True)
@samples("lambda v, w, k: v * w**k, np.float64, A(3), A(2, 1), 3")
def vectorized_three(pyfunc, dtype, x, y, z):
    shape = np.broadcast_shapes(np.shape(x), np.shape(y), np.shape(z))
    v, w, k = _listed(x, shape), _listed(y, shape), _listed(z, shape)
    return _shaped([pyfunc(v[i], w[i], k[i]) for i in range(len(v))], dtype, shape)


@composed(each_of_four, early=True)
@samples("lambda v, w, k, m: v * w**k + m, None, A(3), A(2, 1), 3.0, A(3)")
def vectorized_four(pyfunc, dtype, x, y, z, u):
    shape = np.broadcast_shapes(np.shape(x), np.shape(y), np.shape(z), np.shape(u))
    v, w, k, m = _listed(x, shape), _listed(y, shape), _listed(z, shape), _listed(u, shape)
    return _shaped([pyfunc(v[i], w[i], k[i], m[i]) for i in range(len(v))], dtype, shape)


def _listed(x, shape):
    return np.ravel(np.broadcast_to(x, shape)).tolist()


def _shaped(values, dtype, shape):
    made = np.asarray(values[0]).dtype if dtype is None else dtype
    return np.reshape(np.array(values).astype(made), shape)
