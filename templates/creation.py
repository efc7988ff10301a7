"""Rules of functions that make arrays, convert them (to lists as well), or copy them."""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.arrays import other_axes, scatter, unbroadcast, uncut


@linear(np.array, np.asarray, np.asanyarray, view="object")
@samples(
    "A(3)", "A()", "[A(), A()]", "[A(3), A(3)]", "(A(), (A()))", "A(3), float",
    "A(3), copy=False", "A(2, 3), float, copy=None", "A(3), copy=True",
)  # fmt: skip
def array(object, dtype=None, *, copy=None):
    if dtype is None:
        d[object] += d[z]
    elif not discrete(dtype):
        d[object] += uncut(d[z], z)


@composed(np.fromiter)
@samples("[A(), A()], float", "A(3), np.float64", "(A(), 2.0), float, count=2")
def fromiter(iter, dtype, count=-1):
    items = list(iter)
    if count < 0:
        return np.array(items, dtype)
    return np.reshape(np.array(items[:count], dtype), (count,))


@linear(np.copy, np.ndarray.copy)
@samples("A(3)", "A(2, 3)")
def copy(a):
    d[a] += d[z]


@linear(np.astype, np.ndarray.astype, view="x")
@samples("A(3), np.float64", "A(3), float")
def astype(x, dtype, *, copy=True):
    if not discrete(dtype):
        d[x] += uncut(d[z], z)


@linear(np.ndarray.item)
@samples(
    "A(1)", "A(1, 1)", "A(3), 1", "A(2, 3), -1", "A(2, 3), 1, 2", "A(2, 3), (1, 2)", "A(3), (-1,)",
)  # fmt: skip
def item(a, *index):
    if len(index) == 0:
        d[a] += np.reshape(d[z], np.shape(a))
    elif len(index) > 1:
        d[a][index] += d[z]
    elif isinstance(index[0], tuple):
        d[a][index[0]] += d[z]
    else:
        d[a] += scatter(d[z], index[0], a)


@linear(float, np.float64, np.float32, np.longdouble)
@samples("A()")
def number(x):
    if isscalar(x):
        d[x] += d[z]
    else:
        d[x] += np.reshape(d[z], np.shape(x))


@linear(np.full)
@samples("(2, 3), A()", "(2, 3), A(3)", "4, A()")
def full(shape, fill_value, dtype=None):
    if dtype is None:
        d[fill_value] += unbroadcast(d[z], fill_value)
    elif not discrete(dtype):
        d[fill_value] += unbroadcast(uncut(d[z], z), fill_value)


@linear(np.full_like, constant="a")
@samples("A(2, 3), A()", "A(2, 3), A(3)")
def full_like(a, fill_value, dtype=None):
    if not discrete(dtype):
        d[fill_value] += unbroadcast(uncut(d[z], z), fill_value)


@linear(np.linspace)
@samples(
    "A(), A(), 5", "A(), 2.0", "0.0, A(), 4, endpoint=False", "A(3), A(3), 4", "A(), A(3), 4",
    "A(3), A(2, 3), 4", "A(2, 1), A(3), 4",
)  # fmt: skip
def linspace(start, stop, num=50, endpoint=True):
    step = np.linspace(0.0, 1.0, num, endpoint)
    d[start] += unbroadcast(np.tensordot(1.0 - step, d[z], 1), start)
    d[stop] += unbroadcast(np.tensordot(step, d[z], 1), stop)


@composed(np.linspace, given="retstep")
@samples("A(), A(), 5, retstep=True", "A(), A(), 5, False, retstep=True")
def linspace_step(start, stop, num=50, endpoint=True, retstep=False):
    z = np.linspace(start, stop, num, endpoint)
    if not retstep:
        return z
    return z, (stop - start) / (num - 1 if endpoint else num)


@linear(np.arange, constant="stop")
@samples("A(), 3.0", "A(), 4.0, 0.3")
def arange(start, stop=None, step=1):
    if stop is None:
        d[start] += 0.0
    else:
        d[start] += np.sum(d[z])
    d[step] += np.sum(d[z] * np.arange(len(z)))


@forward(np.arange)
def arange_tangent(start, stop, step):
    if stop is not None:
        d[z] += d[start] + np.zeros(len(z))
    d[z] += d[step] * np.arange(len(z))


@linear(np.meshgrid)
@samples("A(3), A(2)", "A(3), A(2), indexing='ij'", "A(3), A(2), A(4)")
def meshgrid(*xi, indexing="xy"):
    for k in range(len(xi)):
        axis = 1 - k if indexing == "xy" and k < 2 and len(xi) > 1 else k
        total = np.sum(d[z][k], axis=other_axes(len(xi), axis))
        d[xi][k] += np.reshape(total, np.shape(xi[k]))


made_of(np.complex64, value=lambda x: np.asarray(x, np.complex64)[()], samples=("C(1)[0]", "A()"))


@linear(np.complex128, complex)
@samples("C(1)[0]", "A()")
def complex_number(real):
    d[real] += d[z] if iscomplex(real) else np.real(d[z])


@linear(np.ndarray.view, view="a")
@samples("A(3)", "A(2, 3)")
def view(a):
    d[a] += d[z]


@linear(np.ndarray.tolist)
@samples("A(3)")
def tolist(x):
    if rank(x) != 1:
        refuse("`tolist` of an array of several axes gives lists of lists; loop over its rows")
    for k in range(len(x)):
        d[x][k] += d[z][k]


@linear(list, tuple)
@samples("A(3)", "A(3, 2)")
def listed(iterable):
    for k in range(len(iterable)):
        d[iterable][k] += d[z][k]
