"""Functions that are made of others: differences, choices, products, windows, sequences."""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.linalg import all_axes, i0_slope


@composed(np.ediff1d)
@samples("A(4)", "A(2, 3)", "A(4), A(), A(2)")
def ediff1d(ary, to_end=None, to_begin=None):
    z = np.diff(np.ravel(ary))
    if to_begin is not None:
        z = np.append(np.asarray(to_begin, np.result_type(ary)), z)
    if to_end is not None:
        z = np.append(z, np.asarray(to_end, np.result_type(ary)))
    return z


def crossed(argument, *calls):
    """The definition of `np.cross` where one of three arguments says the place of an axis."""

    @composed(np.cross, given=argument)
    @samples(*calls)
    def cross(a, b, axisa=-1, axisb=-1, axisc=-1):
        rows = np.cross(np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1))
        return np.moveaxis(rows, -1, axisc)


crossed(
    "axisa", "A(3, 4), A(4, 3), axisa=0", "A(3, 4), A(2, 3, 4), 0, 1, 1", "A(3, 3), A(3), axisa=0"
)
crossed("axisb", "A(4, 3), A(3, 4), axisb=0", "A(3, 3), A(3, 2, 3), axisb=0, axisc=1")
crossed("axisc", "A(4, 3), A(4, 3), axisc=0", "A(3), A(4, 3), axisc=0")


@composed(np.diff, given="prepend")
@samples("A(4), prepend=0.0", "A(3, 4), 1, 1, prepend=A(3, 1)", "A(4), prepend=A(2), append=A()")
def diff_prepend(a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue):
    joined = np.concatenate((_column(prepend, a, axis), a), axis) if n else a
    return np.diff(joined, n, axis, append=append)


@composed(np.diff, given="append")
@samples("A(4), append=A()", "A(3, 4), 2, 0, append=A(1, 4)", "A(4), 0, append=A()")
def diff_append(a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue):
    return np.diff(np.concatenate((a, _column(append, a, axis)), axis) if n else a, n, axis)


def _column(value, a, axis):
    if np.ndim(value) == 0:
        return np.broadcast_to(value, np.shape(np.sum(a, axis, keepdims=True)))
    return value


@composed(np.gradient)
@samples(
    "A(5)", "A(5), 0.5", "A(5), A()", "A(5), A(5)", "A(4, 5), axis=1", "A(4, 5), 0.5, axis=0",
    "A(4, 5)", "A(4, 5), 0.5, 2.0", "A(4, 5), A(4), A(5)", "A(5), 0.5, edge_order=2",
    "A(5), A(5), edge_order=2", "A(4, 5), 0.5, axis=(1,)", "A(4), np.float64(0.3)",
    "A(4), np.array([0.0, 0.1, 0.4, 0.9])",
)  # fmt: skip
def gradient(f, *varargs, axis=None, edge_order=1):
    if isinstance(axis, tuple):
        axes = axis
    elif axis is None:
        axes = all_axes(np.ndim(f))
    else:
        axes = (axis,)
    steps = varargs if len(varargs) > 1 else (varargs or (1.0,)) * len(axes)
    if len(axes) == 1:
        return _slopes_along(f, steps[0], axes[0], edge_order)
    return tuple([_slopes_along(f, steps[k], axes[k], edge_order) for k in range(len(axes))])


def _slopes_along(f, step, axis, order):
    if axis == 0:
        return _slopes(f, step, order)
    return np.moveaxis(_slopes(np.moveaxis(f, axis, 0), step, order), 0, axis)


def _slopes(f, step, order):
    if np.ndim(step) == 0:
        inner = (f[2:] - f[:-2]) / (2.0 * step)
        first, last = (f[1:2] - f[:1]) / step, (f[-1:] - f[-2:-1]) / step
        if order == 2:
            first = (2.0 * f[1:2] - 1.5 * f[:1] - 0.5 * f[2:3]) / step
            last = (1.5 * f[-1:] - 2.0 * f[-2:-1] + 0.5 * f[-3:-2]) / step
        return _in_type(np.concatenate((first, inner, last)), f, step)
    h = np.reshape(np.diff(step), (-1,) + (1,) * (np.ndim(f) - 1))
    slope = np.diff(f, axis=0) / h
    inner = (h[1:] * slope[:-1] + h[:-1] * slope[1:]) / (h[1:] + h[:-1])
    first, last = slope[:1], slope[-1:]
    if order == 2:
        first = first + h[:1] / (h[:1] + h[1:2]) * (first - slope[1:2])
        last = last + h[-1:] / (h[-1:] + h[-2:-1]) * (last - slope[-2:-1])
    return _in_type(np.concatenate((first, inner, last)), f, step)


def _in_type(z, f, step):
    return z if known(step) else z.astype(np.result_type(f, 1.0), copy=False)


@composed(np.select)
@samples(
    "[np.array([True, False]), np.array([True, True])], [A(2), A(2)]",
    "[np.array([True, False]), np.array([False, False])], [A(2), 1.0], A()",
)  # fmt: skip
def select(condlist, choicelist, default=0):
    z = default
    for k in range(len(condlist) - 1, -1, -1):
        z = np.where(condlist[k], choicelist[k], z)
    return z


made_of(
    getattr(np, "vecdot", None), np.linalg.vecdot,
    value=lambda x1, x2, *, axis=-1: np.sum(conj(x1) * x2, axis=axis),
    samples=("A(3), A(3)", "A(2, 3), A(3)", "C(2, 3), C(2, 3)", "A(3, 2), A(3, 2), axis=0"),
)
made_of(
    getattr(np, "matvec", None), value=lambda x1, x2: (x1 @ x2[..., None])[..., 0],
    samples=("A(2, 3), A(3)", "A(2, 3, 4), A(2, 4)"),
)
made_of(
    getattr(np, "vecmat", None), value=lambda x1, x2: (conj(x1)[..., None, :] @ x2)[..., 0, :],
    samples=("A(3), A(3, 2)", "A(2, 3), A(2, 3, 4)", "C(3), C(3, 2)"),
)
made_of(np.diagflat, value=lambda v, k=0: np.diag(np.ravel(v), k), samples=("A(3)", "A(2, 2), 1"))


@composed(np.block)
@samples(
    "[A(2), A(3)]", "[[A(2, 2), A(2, 1)], [A(1, 2), A(1, 1)]]", "[[A(2), A()]]", "A(2)",
    "[A(2, 2, 2), A(2, 2, 1)]", "[[A(2, 1, 2)], [A(2, 2, 2)]]", "[[A(2), A()], [A(1, 1, 3)]]",
    "[A(2, 3), A(2, 1), A(2, 2)]", "[A(1, 3), A(2)]", "[A(2)]", "[[A(2)]]",
)  # fmt: skip
def block(arrays):
    if not isinstance(arrays, (tuple, list)):
        return np.copy(arrays)
    if not isinstance(arrays[0], (tuple, list)):
        return _row(arrays, _most_axes(arrays, 1))
    if isinstance(arrays[0][0], (tuple, list)):
        refuse("blocks nested more than twice")
    n = 2
    for k in range(len(arrays)):
        n = _most_axes(arrays[k], n)
    z = _row(arrays[0], n)
    for k in range(1, len(arrays)):
        z = np.concatenate((z, _row(arrays[k], n)), axis=-2)
    return z


def _most_axes(arrays, n):
    for k in range(len(arrays)):
        n = max(n, np.ndim(arrays[k]))
    return n


def _row(arrays, n):
    z = _with_axes(np.copy(arrays[0]) if len(arrays) == 1 else arrays[0], n)
    for k in range(1, len(arrays)):
        z = np.concatenate((z, _with_axes(arrays[k], n)), axis=-1)
    return z


def _with_axes(a, n):
    if n == 1:
        return np.atleast_1d(a)
    if n == 2:
        return np.atleast_2d(a)
    return np.reshape(a, (1,) * (n - np.ndim(a)) + np.shape(a))


@composed(np.logspace)
@samples(
    "A(), A(), 4", "A(), 2.0, 3, False", "A(), A(), 4, base=P() + 1.0", "A(3), A(), 2",
    "A(), A(), 4, base=P(3)", "A(2, 1), A(), 3, base=P(3)",
)  # fmt: skip
def logspace(start, stop, num=50, endpoint=True, base=10.0):
    if np.ndim(base) > 0:  # stretched with the others, before the axis of the steps is added
        shape = np.broadcast_shapes(np.shape(start), np.shape(stop), np.shape(base))
        start, stop = np.broadcast_to(start, shape), np.broadcast_to(stop, shape)
    return base ** np.linspace(start, stop, num, endpoint)


@composed(np.geomspace)
@samples("P(), P(), 4", "P(), 2.0, 3, False", "P(3), P(3), 3", "P(3), 2.0, 4", "P(), P(2, 2), 3")
def geomspace(start, stop, num=50, endpoint=True):
    ratio = stop / np.asarray(start, np.result_type(start, stop, np.float64))
    part = np.linspace(0.0, 1.0, num, endpoint)
    if np.ndim(ratio) > 0:
        part = np.reshape(part, (-1,) + (1,) * np.ndim(ratio))
    return start * ratio**part


scalar_rule(np.i0, slope=lambda x, z: i0_slope(x), samples=("A(3)", "A()", "V([0.0, 3.0])"))


@composed(np.kaiser)
@samples("5, P()", "4, P()")
def kaiser(M, beta):
    t = 2.0 * np.arange(M) / (M - 1) - 1.0
    return np.i0(beta * np.sqrt(1.0 - t * t)) / np.i0(beta)


@rule(np.unwrap)
@samples("np.cumsum(A(6))", "A(2, 5) * 5.0, axis=1")
def unwrap(p, discont=None, axis=-1, *, period=6.283185307179586):
    d[p] += d[z]


def cumulative(of, plain, start):
    """The definition of running sums or products, which may begin with that of nothing."""

    @composed(of)
    @samples(
        "A(4)", "A(2, 3), axis=1", "A(4), include_initial=True",
        "C(2, 3), axis=-1, include_initial=True",
    )  # fmt: skip
    def running(x, *, axis=None, include_initial=False):
        z = plain(x, axis)
        return np.insert(z, 0, start, -1 if axis is None else axis) if include_initial else z


cumulative(getattr(np, "cumulative_sum", None), np.cumsum, 0.0)
cumulative(getattr(np, "cumulative_prod", None), np.cumprod, 1.0)


@linear(getattr(np, "unstack", None), view="x")
@samples("A(3)", "A(2, 3), axis=1")
def unstack(x, *, axis=0):
    d[x] += np.stack(d[z], axis)


made_of(
    np.asarray_chkfinite, np.require, value=lambda a, dtype=None: np.asarray(a, dtype),
    samples=("A(3)", "A(2, 3), float"),
)
made_of(
    np.linalg.trace, value=lambda x, *, offset=0: np.trace(x, offset, -2, -1),
    samples=("A(3, 3)", "A(2, 3, 4), offset=1"),
)
made_of(
    np.linalg.diagonal, value=lambda x, *, offset=0: np.diagonal(x, offset, -2, -1),
    samples=("A(3, 3)", "A(2, 3, 4), offset=1"),
)
made_of(np.linalg.outer, value=lambda x1, x2: np.outer(x1, x2), samples=("A(3), A(4)",))
made_of(
    np.linalg.cross, value=lambda x1, x2, *, axis=-1: np.cross(x1, x2, axis=axis),
    samples=("A(3), A(3)", "A(4, 3), A(4, 3)"),
)
made_of(np.linalg.matmul, value=lambda x1, x2: x1 @ x2, samples=("A(2, 3), A(3, 4)",))
made_of(
    np.linalg.tensordot, value=lambda x1, x2, *, axes=2: np.tensordot(x1, x2, axes),
    samples=("A(2, 3, 4), A(3, 4, 5)", "A(3, 4), A(4, 2), axes=1"),
)
