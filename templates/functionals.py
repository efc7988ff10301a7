"""Functions of NumPy that call functions: they are written out before anything else."""

import math

import numpy as np

from srcdiff.rules import composed, refuse, samples


@composed(np.piecewise, early=True)
@samples(
    "A(3), [np.array([True, False, True]), np.array([False, True, False])], [np.sin, 1.0]",
    "A(3), [np.array([True, False, False])], [np.exp, lambda t: t * t]",
)
def piecewise(x, condlist, funclist, *args):
    x = np.asarray(x)
    z = np.zeros_like(x)
    if len(funclist) > len(condlist):
        z[...] = _applied(funclist[-1], x, args)
    for k in range(len(condlist)):
        mask = np.asarray(condlist[k])
        z[mask] = _applied(funclist[k], x[mask], args)
    return z


def _applied(f, x, args):
    return f(x, *args) if callable(f) else f


@composed(np.apply_along_axis, early=True)
@samples("np.sum, 1, A(3, 4)", "np.cumsum, 0, A(3, 4)")
def apply_along_axis(func1d, axis, arr, *args):
    moved = np.moveaxis(arr, axis, -1)
    flat = np.reshape(moved, (math.prod(np.shape(moved)[:-1]), np.shape(moved)[-1]))
    out = np.stack([func1d(flat[k], *args) for k in range(len(flat))])
    z = np.reshape(out, np.shape(moved)[:-1] + np.shape(out)[1:])
    return np.moveaxis(z, -1, axis) if np.ndim(out) > 1 else z


@composed(np.apply_over_axes, early=True)
@samples("np.sum, A(2, 3, 4), (0, 2)")
def apply_over_axes(func, a, axes):
    z = a
    for k in range(len(axes)):
        part = func(z, axes[k])
        z = part if np.ndim(part) == np.ndim(z) else np.expand_dims(part, axes[k])
    return z


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
