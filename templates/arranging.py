"""Rules of functions that join, split, repeat and reorder arrays."""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime import indexing
from srcdiff.runtime.arrays import along, inside, negated, positions, scatter, uncut
from srcdiff.runtime.indexing import axes_from, conditions, nonzero_ends, paired, unsplit


@linear(np.concatenate, np.concat)
@samples("(A(2), A(3))", "(A(2, 3), A(2, 1)), 1", "[A(2, 3), A(1, 3)]", "(A(2, 3), A(2, 1)), -1")
def concatenate(arrays, axis=0):
    stop = 0
    for k in range(len(arrays)):
        start = stop
        if axis is None:
            stop = start + np.size(arrays[k])
            d[arrays][k] += np.reshape(d[z][start:stop], np.shape(arrays[k]))
        else:
            stop = start + np.shape(arrays[k])[axis]
            d[arrays][k] += d[z][along(axis, start, stop)]


@linear(np.stack)
@samples("(A(3), A(3))", "(A(2, 3), A(2, 3)), 1", "[A(), A()]", "(A(2, 3), A(2, 3)), axis=-1")
def stack(arrays, axis=0):
    for k in range(len(arrays)):
        d[arrays][k] += d[z][along(axis, k)]


def stacked(of, at_least, axis, *calls):
    """The rule of what joins arrays of at least so many axes along one of these."""

    @linear(of)
    @samples("(A(3), A(3))", *calls)
    def stack(tup):
        stop = 0
        for k in range(len(tup)):
            start = stop
            stop = start + np.shape(at_least(tup[k]))[axis]
            d[tup][k] += np.reshape(d[z][along(axis, start, stop)], np.shape(tup[k]))


stacked(np.vstack, np.atleast_2d, 0, "(A(2, 3), A(3))", "[A(), A()]", "(A(2, 3), A(1, 3))")
stacked(np.dstack, np.atleast_3d, 2, "(A(2, 3), A(2, 3))", "(A(2, 3, 1), A(2, 3, 2))")


@linear(np.hstack)
@samples("(A(3), A(2))", "(A(2, 3), A(2, 1))", "[A(), A()]", "A(3)", "A(2, 3)", "A(2, 3, 2)")
def hstack(tup):
    stop = 0
    for k in range(len(tup)):
        start = stop
        if np.ndim(tup[k]) < 2:
            stop = start + np.size(tup[k])
            d[tup][k] += np.reshape(d[z][start:stop], np.shape(tup[k]))
        else:
            stop = start + np.shape(tup[k])[1]
            d[tup][k] += d[z][:, start:stop]


@linear(np.column_stack)
@samples("(A(3), A(3))", "(A(3, 2), A(3))", "A(2, 3)", "A(2, 3, 2)", "[A(), A(1)]")
def column_stack(tup):
    stop = 0
    for k in range(len(tup)):
        start = stop
        if np.ndim(tup[k]) < 2:
            stop = start + 1
            d[tup][k] += d[z][0, start] if np.ndim(tup[k]) == 0 else d[z][:, start]
        else:
            stop = start + np.shape(tup[k])[1]
            d[tup][k] += d[z][:, start:stop]


def joined_by_index(of, columns, *calls):
    """The rule of what joins items along the first axis, or as columns along the last one."""

    @linear(of)
    @samples(*calls)
    def join(key, how=None):
        if how is not None:
            refuse("a text that says how to join: use `np.concatenate` or `np.stack`")
        if isinstance(key[0], tuple):
            refuse("a tuple in a variable: use `np.concatenate` or `np.column_stack`")
        stop = 0
        for k in range(len(key)):
            start = stop
            if isinstance(key[k], slice):
                refuse("a slice that is computed: use `np.arange` or `np.linspace`")
            if columns and np.ndim(key[k]) < 2:
                stop = start + 1
                d[key][k] += np.reshape(d[z][:, start], np.shape(key[k]))
            elif columns:
                stop = start + np.shape(key[k])[-1]
                d[key][k] += d[z][..., start:stop]
            elif np.ndim(key[k]) == 0:
                stop = start + 1
                d[key][k] += d[z][start]
            else:
                stop = start + len(key[k])
                d[key][k] += d[z][start:stop]


joined_by_index(
    np.r_.__getitem__, False, "(A(3), A(), A(2))", "(1.0, A(2))", "(A(2, 3), A(1, 3))", "(A(3),)",
    "([1.0, 2.0], A(2))",
)
joined_by_index(
    np.c_.__getitem__, True, "(A(3), A(3, 2))", "(A(), A())", "(A(2, 3), A(2))", "(A(3),)",
    "(A(2, 3, 1), A(2, 3, 2))",
)


@linear(np.roll)
@samples("A(5), 2", "A(3, 4), -1, 1", "A(3, 4), (1, 2), (0, 1)", "A(3, 4), 3")
def roll(a, shift, axis=None):
    if isscalar(shift):
        d[a] += np.roll(d[z], -shift, axis)
    else:
        d[a] += np.roll(d[z], negated(shift), axis)


@linear(np.flip, view="m")
@samples("A(3, 4)", "A(3, 4), 1", "A(3, 4), (0, 1)")
def flip(m, axis=None):
    d[m] += np.flip(d[z], axis)


@linear(np.fliplr, view="m")
@samples("A(3, 4)")
def fliplr(m):
    d[m] += np.fliplr(d[z])


@linear(np.flipud, view="m")
@samples("A(3, 4)", "A(3)")
def flipud(m):
    d[m] += np.flipud(d[z])


@linear(np.rot90, view="m")
@samples("A(3, 4)", "A(3, 4), 2", "A(2, 3, 4), -1, (1, 2)")
def rot90(m, k=1, axes=(0, 1)):
    d[m] += np.rot90(d[z], -k, axes)


@linear(np.pad)
@samples(
    "A(3), 1", "A(3, 4), ((1, 0), (2, 3))", "A(3, 4), (1, 2)", "A(3), 2, 'edge'",
    "A(3, 4), 2, mode='reflect'", "A(3), 2, 'symmetric'", "A(3), (1, 2), 'wrap'",
    "A(3), {0: (1, 0)}", "A(2, 3), {-1: (1, 2)}", "A(2, 3), {0: 2}, 'edge'",
    "A(3), 2, constant_values=5.0", "A(3, 2), 1, constant_values=A()",
)  # fmt: skip
def pad(array, pad_width, mode="constant", *, constant_values=0):
    if mode == "constant":
        inner = d[z][inside(pad_width, np.ndim(array))]
        d[array] += inner
        if isscalar(constant_values):
            d[constant_values] += np.sum(d[z]) - np.sum(inner)
        elif not known(constant_values):
            refuse("give one number as `constant_values`")
    elif mode in ("edge", "reflect", "symmetric", "wrap"):
        d[array] += scatter(d[z], np.pad(positions(array), pad_width, mode), array)
    else:
        refuse("the mode must be 'constant', 'edge', 'reflect', 'symmetric' or 'wrap'")


@linear(np.repeat, np.ndarray.repeat)
@samples("A(3), 2", "A(3, 2), 2, 0", "A(3), np.array([1, 0, 2])", "A()  , 3")
def repeat(a, repeats, axis=None):
    d[a] += scatter(d[z], np.repeat(positions(a), repeats, axis), a)


@linear(np.tile)
@samples("A(3), 2", "A(2, 3), (2, 2)", "A(3), (2, 1)")
def tile(A, reps):
    d[A] += scatter(d[z], np.tile(positions(A), reps), A)


@linear(np.resize)
@samples("A(3), 7", "A(2, 3), (2, 2)")
def resize(a, new_shape):
    d[a] += scatter(d[z], np.resize(positions(a), new_shape), a)


@linear(np.append)
@samples("A(3), A(2)", "A(3), A()", "A(2, 3), A(2, 3)", "A(2, 3), A(1, 3), 0")
def append(arr, values, axis=None):
    if axis is None:
        d[arr] += np.reshape(d[z][: np.size(arr)], np.shape(arr))
        d[values] += np.reshape(d[z][np.size(arr) :], np.shape(values))
    else:
        d[arr] += d[z][along(axis, None, np.shape(arr)[axis])]
        d[values] += d[z][along(axis, np.shape(arr)[axis], None)]


@linear(np.delete)
@samples("A(4), 1", "A(3, 4), [0, 2], 1", "A(3, 4), 1")
def delete(arr, obj, axis=None):
    d[arr] += scatter(d[z], np.delete(positions(arr), obj, axis), arr)


@linear(np.insert)
@samples(
    "A(4), 1, A()", "A(3, 4), 1, A(4), 0", "A(4), [0, 2], A(2)", "A(4), -1, A(2)",
    "A(4), [1, 1], A()", "A(4), [1, 3], [A(), 2.0]", "A(3, 4), 1, A(2, 4), 0",
    "A(3, 4), [1], A(3, 1), 1",
)  # fmt: skip
def insert(arr, obj, values, axis=None):
    old = np.insert(positions(arr), obj, np.full(np.shape(values), -1), axis)
    new = np.insert(np.full(np.shape(arr), -1), obj, positions(values), axis)
    d[arr] += scatter(d[z][old >= 0], old[old >= 0], arr)
    d[values] += scatter(uncut(d[z], z)[new >= 0], new[new >= 0], values)


@rule(np.sort)
@samples("A(5)", "A(3, 4)", "A(3, 4), 0", "A(3, 4), None")
def sort(a, axis=-1):
    order = np.argsort(a, axis, kind="stable")
    if axis is None:
        d[a] += scatter(d[z], order, a)
    else:
        d[a] += np.take_along_axis(d[z], np.argsort(order, axis), axis)


@forward(np.sort)
def sort_tangent(a, axis):
    if axis is None:
        d[z] += np.ravel(d[a])[np.argsort(np.ravel(a), kind="stable")]
    elif rank(a) == 1:
        d[z] += d[a][np.argsort(a, kind="stable")]
    else:
        d[z] += np.take_along_axis(d[a], np.argsort(a, axis, kind="stable"), axis)


# --- splitting, and helpers that say where parts of arrays stand --------------------------------


@linear(np.split, np.array_split, view="ary")
@samples("A(4), 2", "A(5), [2, 3]", "A(2, 6), 3, axis=1", "A(4), [3, 1]", "A(2, 4), (3, -9), 1")
def split(ary, indices_or_sections, axis=0):
    if isscalar(indices_or_sections):
        d[ary] += np.concatenate(d[z], axis)
    else:
        d[ary] += unsplit(d[z], indices_or_sections, ary, axis)


@linear(np.hsplit, view="ary")
@samples("A(4), 2", "A(2, 6), 3", "A(2, 4), [3, 1]", "A(4), [3, 1]")
def hsplit(ary, indices_or_sections):
    if isscalar(indices_or_sections):
        d[ary] += np.hstack(d[z])
    else:
        d[ary] += unsplit(d[z], indices_or_sections, ary, min(np.ndim(ary) - 1, 1))


@linear(np.vsplit, view="ary")
@samples("A(4, 2), 2", "A(5, 2), [2, 3]", "A(4, 2), [3, 1]")
def vsplit(ary, indices_or_sections):
    if isscalar(indices_or_sections):
        d[ary] += np.concatenate(d[z])
    else:
        d[ary] += unsplit(d[z], indices_or_sections, ary, 0)


@linear(np.dsplit, view="ary")
@samples("A(2, 3, 4), 2", "A(2, 3, 4), [3, 1]")
def dsplit(ary, indices_or_sections):
    if isscalar(indices_or_sections):
        d[ary] += np.concatenate(d[z], 2)
    else:
        d[ary] += unsplit(d[z], indices_or_sections, ary, 2)


inlined(
    indexing.cross_back, "A(3), A(3), A(3)", "A(4, 3), A(3), A(4, 3)", "A(3, 4), A(3, 4), A(3), 0",
    "A(), A(2), A(2)", "A(3), A(2), A(3)",
)  # fmt: skip


@linear(unsplit, constant="x")
@samples(
    "[A(3), A(0), A(3)], [3, 1], A(4), 0", "[A(2, 1), A(2, 1)], 2, A(2, 2), 1",
    "[A(2, 1), A(2, 2)], [1], A(2, 3), 1",
)  # fmt: skip
def unsplit_(parts, places, x, axis):
    d[parts] += np.split(d[z], places, axis)


@linear(paired, constant="roots")
@samples("C(3), np.array([1j, -1j])", "C(3), np.array([1j, 1.0])", "A(3), np.array([2.0, 1.0])")
def paired_(c, roots):
    if iscomplex(c):
        d[c] += d[z] + np.zeros_like(c)
    else:
        d[c] += d[z]


nondifferentiable(axes_from, conditions, nonzero_ends)
