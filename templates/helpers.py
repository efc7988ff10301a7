"""Rules of the helpers that generated code calls, so that it can be differentiated again."""

import operator

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime import arrays
from srcdiff.runtime.linalg import cofactor_slope


@linear(arrays.unbroadcast, view="g", constant="x")
@samples("A(2, 3), A(3)", "A(2, 3), A(2, 1)", "A(2, 3), A()", "A(3), A(3)")
def unbroadcast_(g, x):
    d[g] += np.broadcast_to(d[z], np.shape(g))


@linear(arrays.spread, view="g", constant="x")
@samples("A(), A(3)", "A(3), A(2, 3), 0", "A(2, 1), A(2, 3), 1, True", "A(2), A(4, 2, 3), (0, 2)")
def spread_(g, x, axis=None, keepdims=False):
    if axis is None:
        d[g] += np.reshape(np.sum(d[z]), np.shape(g))
    else:
        d[g] += np.sum(d[z], axis=axis, keepdims=keepdims)


@linear(arrays.keep_axes, view="g")
@samples("A()", "A(3), 0", "A(2, 1), 1, True", "A(3), (0, 2)")
def keep_axes_(g, axis=None, keepdims=False):
    d[g] += np.reshape(d[z], np.shape(g))


@linear(arrays.scatter, constant="x")
@samples("A(3), np.array([0, 2, 2]), A(4)", "A(2, 1), np.array([[0, 1], [3, 3]]), A(2, 3)")
def scatter_(g, index, x):
    d[g] += arrays.unbroadcast(np.take(d[z], index), g)


@linear(arrays.shift)
@samples("A(4), 1, 0", "A(3, 4), -1, 1")
def shift_(x, k, axis):
    d[x] += arrays.shift(d[z], -k, axis)


@linear(arrays.undiff, constant="x")
@samples("A(4), A(5), 1, -1", "A(3, 4), A(5, 4), 2, 0")
def undiff_(g, x, n, axis):
    d[g] += np.diff(d[z], n, axis)


@elementwise(arrays.power_slope)
@samples(
    "P(3), A(3)", "A(3), 2", "A(3), np.array([0, 1, 3])", "P(2, 3), A(3)", "P(), A()",
    "V([0.0, 1.0]), 2", "V([0.0, 1.0]), np.array([[0], [1], [2]])", "P(3), A(3), 2",
    "P(3), A(3), 2, 1",
)  # fmt: skip
def power_slope_(x, y, n=1, m=0):
    if m == 0:
        d[x] += d[z] * conj(arrays.power_slope(x, y, n + 1))
    else:
        d[x] += d[z] * conj((y - n) * z / x)
    slope = x ** (y - 1) if n == 1 and m == 0 else arrays.power_slope(x, y, n, m + 1)
    base = x + 0j if iscomplex(y) and not iscomplex(x) else x
    d[y] += d[z] * conj(slope + z * arrays.log_or_zero(base))


@elementwise(arrays.log_or_zero)
@samples("P(3)", "P()")
def log_or_zero_(x):
    d[x] += arrays.divide_or_zero(d[z], conj(x))


@elementwise(arrays.divide_or_zero)
@samples("A(3), P(3)", "A(2, 3), P(3)", "A(), P()")
def divide_or_zero_(x, y):
    d[x] += arrays.divide_or_zero(d[z], conj(y))
    d[y] += -arrays.divide_or_zero(d[z] * conj(z), conj(y))


@elementwise(arrays.sinc_slope)
@samples("A(3)", "V([0.0, 1e-4, 0.5])", "A()", "A(3), 2", "C(3)")
def sinc_slope_(x, n=1):
    d[x] += d[z] * conj(arrays.sinc_slope(x, n + 1))


@rule(arrays.before)
@samples("A(4), 0", "A(3, 4), 1", "V([2.0, 0.0, 3.0, 0.0]), 0", "C(4), 0")
def before_(x, axis):
    d[x] += conj(z) * arrays.recur_back(arrays.shift(d[z], -1, axis), conj(x), axis)


@rule(arrays.after)
@samples("A(4), 0", "A(3, 4), 1", "V([2.0, 0.0, 3.0, 0.0]), 0", "C(4), 0")
def after_(x, axis):
    g = arrays.recur(arrays.shift(d[z], 1, axis), arrays.shift(conj(x), 1, axis), axis)
    d[x] += conj(z) * g


@rule(arrays.others)
@samples("A(4)", "A(3, 4), 1", "A(2, 3, 4), (0, 2)", "V([2.0, 0.0, 3.0, 1.0])", "C(4)")
def others_(x, axis=None):
    r, g = arrays.rows(conj(x), axis), arrays.rows(d[z], axis)
    left, right = arrays.before(r, -1), arrays.after(r, -1)
    down = left * arrays.recur_back(arrays.shift(g * right, -1, -1), r, -1)
    up = right * arrays.recur(arrays.shift(g * left, 1, -1), arrays.shift(r, 1, -1), -1)
    d[x] += arrays.unrows(down + up, x, axis)


@linear(arrays.rows, view="x")
@samples("A(3, 4)", "A(3, 4), 0", "A(2, 3, 4), (0, 2)")
def rows_(x, axis=None):
    d[x] += arrays.unrows(d[z], x, axis)


@linear(arrays.unrows, view="r", constant="x")
@samples("A(12), A(3, 4)", "A(4, 3), A(3, 4), 0", "A(3, 8), A(2, 3, 4), (0, 2)")
def unrows_(r, x, axis=None):
    d[r] += arrays.rows(d[z], axis)


@rule(arrays.recur)
@samples("A(4), A(4), 0", "A(3, 4), A(3, 4), 1", "C(4), C(4), 0")
def recur_(b, a, axis):
    g = arrays.recur_back(d[z], conj(a), axis)
    d[b] += g
    d[a] += g * arrays.shift(conj(z), 1, axis)


@rule(arrays.recur_back)
@samples("A(4), A(4), 0", "A(3, 4), A(3, 4), 1", "C(4), C(4), 0")
def recur_back_(b, a, axis):
    g = arrays.recur(d[z], conj(a), axis)
    d[b] += g
    d[a] += arrays.shift(g, 1, axis) * conj(z)


def product_parts(of, left, right, *calls):
    """The rules of the adjoints of the operands of a product: each is made of it and the other."""

    @rule(left, constant="x")
    @samples(*calls)
    def left_(g, x, y, *axes):
        d[g] += of(d[z], conj(y), *axes)
        d[y] += right(conj(g), d[z], y, *axes)

    @rule(right, constant="y")
    @samples(*calls)
    def right_(g, x, y, *axes):
        d[g] += of(conj(x), d[z], *axes)
        d[x] += left(conj(g), x, d[z], *axes)


product_parts(
    operator.matmul, arrays.matmul_left, arrays.matmul_right, "A(3, 2), A(3, 4), A(4, 2)",
    "A(3), A(3, 4), A(4)", "A(2, 3, 5), A(3, 4), A(2, 4, 5)",
)
product_parts(
    np.dot, arrays.dot_left, arrays.dot_right, "A(3, 2), A(3, 4), A(4, 2)", "A(3), A(), A(3)",
    "A(2, 3, 2, 5), A(2, 3, 4), A(2, 4, 5)",
)
product_parts(
    np.tensordot, arrays.tensordot_left, arrays.tensordot_right,
    "A(2, 5), A(2, 3, 4), A(3, 4, 5), 2", "A(2, 5), A(2, 3, 4), A(4, 5, 3), ((1, 2), (2, 0))",
)


@rule(arrays.einsum_back)
@samples(
    "A(2, 4), 0, 'ij,jk->ik', A(2, 3), A(3, 4)", "A(), 0, 'ij,jk->', A(2, 3), A(3, 4)",
    "C(2, 4), 0, 'ij,jk->ik', C(2, 3), C(3, 4)",
)  # fmt: skip
def einsum_back_(g, k, subscripts, *operands):
    swapped = (*operands[:k], conj(d[z]), *operands[k + 1 :])
    d[g] += conj(np.einsum(subscripts, *swapped))
    for j in range(len(operands)):
        if j == k:
            d[operands][j] += 0.0
        else:
            d[operands][j] += conj(arrays.einsum_back(g, j, subscripts, *swapped))


@rule(arrays.cofactor)
@samples("A(3, 3)", "A(2, 2)", "C(3, 3)", "V([[1.0]])")
def cofactor_(a):
    d[a] += conj(cofactor_slope(a, conj(d[z])))


@forward(arrays.cofactor)
def cofactor_tangent(a):
    d[z] += cofactor_slope(a, d[a])


@elementwise(arrays.squared_modulus)
@samples("A(3)", "A()", "C(3)")
def squared_modulus_(x):
    d[x] += 2.0 * x * d[z]


@rule(arrays.with_slope, constant="x")
@samples("np.ones(3), A(3)")
def with_slope_(x, y):
    d[y] += d[z]


nondifferentiable(
    arrays.along, arrays.axis_size, arrays.einsum_plain, arrays.einsum_subscripts, arrays.inside,
    arrays.inverse_axes, arrays.is_discrete, arrays.last_writes, arrays.negated, arrays.other_axes,
    arrays.positions, arrays.stop_gradient, arrays.winners,
)  # fmt: skip
