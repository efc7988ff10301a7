"""Rules of the helpers that generated code calls, so that it can be differentiated again."""

import numpy as np

from srcdiff.rules import (
    conj,
    d,
    elementwise,
    forward,
    iscomplex,
    linear,
    nondifferentiable,
    rule,
    samples,
)
from srcdiff.runtime.arrays import (
    after,
    along,
    axis_size,
    before,
    cofactor,
    divide_or_zero,
    dot_left,
    dot_right,
    einsum_back,
    einsum_plain,
    einsum_subscripts,
    inside,
    inverse_axes,
    is_discrete,
    keep_axes,
    last_writes,
    log_or_zero,
    matmul_left,
    matmul_right,
    negated,
    other_axes,
    others,
    positions,
    power_slope,
    recur,
    recur_back,
    rows,
    scatter,
    shift,
    sinc_slope,
    spread,
    squared_modulus,
    stop_gradient,
    tensordot_left,
    tensordot_right,
    unbroadcast,
    undiff,
    unrows,
    winners,
    with_slope,
)
from srcdiff.runtime.linalg import cofactor_slope


@linear(unbroadcast, view="g")
@samples("A(2, 3), A(3)", "A(2, 3), A(2, 1)", "A(2, 3), A()", "A(3), A(3)")
def unbroadcast_(g, x):
    z = unbroadcast(g, x)
    yield z
    d[g] += np.broadcast_to(d[z], np.shape(g))
    d[x] += 0.0


@linear(spread, view="g")
@samples("A(), A(3)", "A(3), A(2, 3), 0", "A(2, 1), A(2, 3), 1, True", "A(2), A(4, 2, 3), (0, 2)")
def spread_(g, x, axis=None, keepdims=False):
    z = spread(g, x, axis, keepdims)
    yield z
    if axis is None:
        d[g] += np.reshape(np.sum(d[z]), np.shape(g))
    else:
        d[g] += np.sum(d[z], axis=axis, keepdims=keepdims)
    d[x] += 0.0


@linear(keep_axes, view="g")
@samples("A()", "A(3), 0", "A(2, 1), 1, True", "A(3), (0, 2)")
def keep_axes_(g, axis=None, keepdims=False):
    z = keep_axes(g, axis, keepdims)
    yield z
    d[g] += np.reshape(d[z], np.shape(g))


@linear(scatter)
@samples("A(3), np.array([0, 2, 2]), A(4)", "A(2, 1), np.array([[0, 1], [3, 3]]), A(2, 3)")
def scatter_(g, index, x):
    z = scatter(g, index, x)
    yield z
    d[g] += unbroadcast(np.take(d[z], index), g)
    d[x] += 0.0


@linear(shift)
@samples("A(4), 1, 0", "A(3, 4), -1, 1")
def shift_(x, k, axis):
    z = shift(x, k, axis)
    yield z
    d[x] += shift(d[z], -k, axis)


@linear(undiff)
@samples("A(4), A(5), 1, -1", "A(3, 4), A(5, 4), 2, 0")
def undiff_(g, x, n, axis):
    z = undiff(g, x, n, axis)
    yield z
    d[g] += np.diff(d[z], n, axis)
    d[x] += 0.0


@elementwise(power_slope)
@samples(
    "P(3), A(3)", "A(3), 2", "A(3), np.array([0, 1, 3])", "P(2, 3), A(3)", "P(), A()",
    "V([0.0, 1.0]), 2", "V([0.0, 1.0]), np.array([[0], [1], [2]])", "P(3), A(3), 2",
    "P(3), A(3), 2, 1",
)  # fmt: skip
def power_slope_(x, y, n=1, m=0):
    z = power_slope(x, y, n, m)
    yield z
    if m == 0:
        d[x] += d[z] * conj(power_slope(x, y, n + 1))
    else:
        d[x] += d[z] * conj((y - n) * z / x)
    slope = x ** (y - 1) if n == 1 and m == 0 else power_slope(x, y, n, m + 1)
    base = x + 0j if iscomplex(y) and not iscomplex(x) else x
    d[y] += d[z] * conj(slope + z * log_or_zero(base))


@elementwise(log_or_zero)
@samples("P(3)", "P()")
def log_or_zero_(x):
    z = log_or_zero(x)
    yield z
    d[x] += divide_or_zero(d[z], conj(x))


@elementwise(divide_or_zero)
@samples("A(3), P(3)", "A(2, 3), P(3)", "A(), P()")
def divide_or_zero_(x, y):
    z = divide_or_zero(x, y)
    yield z
    d[x] += divide_or_zero(d[z], conj(y))
    d[y] += -divide_or_zero(d[z] * conj(z), conj(y))


@elementwise(sinc_slope)
@samples("A(3)", "V([0.0, 1e-4, 0.5])", "A()", "A(3), 2", "C(3)")
def sinc_slope_(x, n=1):
    z = sinc_slope(x, n)
    yield z
    d[x] += d[z] * conj(sinc_slope(x, n + 1))


@rule(before)
@samples("A(4), 0", "A(3, 4), 1", "V([2.0, 0.0, 3.0, 0.0]), 0", "C(4), 0")
def before_(x, axis):
    z = before(x, axis)
    yield z
    d[x] += conj(z) * recur_back(shift(d[z], -1, axis), conj(x), axis)


@rule(after)
@samples("A(4), 0", "A(3, 4), 1", "V([2.0, 0.0, 3.0, 0.0]), 0", "C(4), 0")
def after_(x, axis):
    z = after(x, axis)
    yield z
    d[x] += conj(z) * recur(shift(d[z], 1, axis), shift(conj(x), 1, axis), axis)


@rule(others)
@samples("A(4)", "A(3, 4), 1", "A(2, 3, 4), (0, 2)", "V([2.0, 0.0, 3.0, 1.0])", "C(4)")
def others_(x, axis=None):
    z = others(x, axis)
    yield z
    r, g = rows(conj(x), axis), rows(d[z], axis)
    left, right = before(r, -1), after(r, -1)
    down = left * recur_back(shift(g * right, -1, -1), r, -1)
    up = right * recur(shift(g * left, 1, -1), shift(r, 1, -1), -1)
    d[x] += unrows(down + up, x, axis)


@linear(rows, view="x")
@samples("A(3, 4)", "A(3, 4), 0", "A(2, 3, 4), (0, 2)")
def rows_(x, axis=None):
    z = rows(x, axis)
    yield z
    d[x] += unrows(d[z], x, axis)


@linear(unrows, view="r")
@samples("A(12), A(3, 4)", "A(4, 3), A(3, 4), 0", "A(3, 8), A(2, 3, 4), (0, 2)")
def unrows_(r, x, axis=None):
    z = unrows(r, x, axis)
    yield z
    d[r] += rows(d[z], axis)
    d[x] += 0.0


@rule(recur)
@samples("A(4), A(4), 0", "A(3, 4), A(3, 4), 1", "C(4), C(4), 0")
def recur_(b, a, axis):
    z = recur(b, a, axis)
    yield z
    g = recur_back(d[z], conj(a), axis)
    d[b] += g
    d[a] += g * shift(conj(z), 1, axis)


@rule(recur_back)
@samples("A(4), A(4), 0", "A(3, 4), A(3, 4), 1", "C(4), C(4), 0")
def recur_back_(b, a, axis):
    z = recur_back(b, a, axis)
    yield z
    g = recur(d[z], conj(a), axis)
    d[b] += g
    d[a] += shift(g, 1, axis) * conj(z)


@rule(matmul_left)
@samples("A(3, 2), A(3, 4), A(4, 2)", "A(3), A(3, 4), A(4)", "A(2, 3, 5), A(3, 4), A(2, 4, 5)")
def matmul_left_(g, x, y):
    z = matmul_left(g, x, y)
    yield z
    d[g] += d[z] @ conj(y)
    d[x] += 0.0
    d[y] += matmul_right(conj(g), d[z], y)


@rule(matmul_right)
@samples("A(3, 2), A(3, 4), A(4, 2)", "A(3), A(3, 4), A(4)", "A(2, 3, 5), A(3, 4), A(2, 4, 5)")
def matmul_right_(g, x, y):
    z = matmul_right(g, x, y)
    yield z
    d[g] += conj(x) @ d[z]
    d[x] += matmul_left(conj(g), x, d[z])
    d[y] += 0.0


@rule(dot_left)
@samples("A(3, 2), A(3, 4), A(4, 2)", "A(3), A(), A(3)", "A(2, 3, 2, 5), A(2, 3, 4), A(2, 4, 5)")
def dot_left_(g, x, y):
    z = dot_left(g, x, y)
    yield z
    d[g] += np.dot(d[z], conj(y))
    d[x] += 0.0
    d[y] += dot_right(conj(g), d[z], y)


@rule(dot_right)
@samples("A(3, 2), A(3, 4), A(4, 2)", "A(3), A(), A(3)", "A(2, 3, 2, 5), A(2, 3, 4), A(2, 4, 5)")
def dot_right_(g, x, y):
    z = dot_right(g, x, y)
    yield z
    d[g] += np.dot(conj(x), d[z])
    d[x] += dot_left(conj(g), x, d[z])
    d[y] += 0.0


@rule(tensordot_left)
@samples("A(2, 5), A(2, 3, 4), A(3, 4, 5), 2", "A(2, 5), A(2, 3, 4), A(4, 5, 3), ((1, 2), (2, 0))")
def tensordot_left_(g, a, b, axes=2):
    z = tensordot_left(g, a, b, axes)
    yield z
    d[g] += np.tensordot(d[z], conj(b), axes)
    d[a] += 0.0
    d[b] += tensordot_right(conj(g), d[z], b, axes)


@rule(tensordot_right)
@samples("A(2, 5), A(2, 3, 4), A(3, 4, 5), 2", "A(2, 5), A(2, 3, 4), A(4, 5, 3), ((1, 2), (2, 0))")
def tensordot_right_(g, a, b, axes=2):
    z = tensordot_right(g, a, b, axes)
    yield z
    d[g] += np.tensordot(conj(a), d[z], axes)
    d[a] += tensordot_left(conj(g), a, d[z], axes)
    d[b] += 0.0


@rule(einsum_back)
@samples(
    "A(2, 4), 0, 'ij,jk->ik', A(2, 3), A(3, 4)", "A(), 0, 'ij,jk->', A(2, 3), A(3, 4)",
    "C(2, 4), 0, 'ij,jk->ik', C(2, 3), C(3, 4)",
)  # fmt: skip
def einsum_back_(g, k, subscripts, *operands):
    z = einsum_back(g, k, subscripts, *operands)
    yield z
    swapped = (*operands[:k], conj(d[z]), *operands[k + 1 :])
    d[g] += conj(np.einsum(subscripts, *swapped))
    for j in range(len(operands)):
        if j == k:
            d[operands][j] += 0.0
        else:
            d[operands][j] += conj(einsum_back(g, j, subscripts, *swapped))


@rule(cofactor)
@samples("A(3, 3)", "A(2, 2)", "C(3, 3)", "V([[1.0]])")
def cofactor_(a):
    z = cofactor(a)
    yield z
    d[a] += conj(cofactor_slope(a, conj(d[z])))


@forward(cofactor)
def cofactor_tangent(a):
    z = cofactor(a)
    yield z
    d[z] += cofactor_slope(a, d[a])


@elementwise(squared_modulus)
@samples("A(3)", "A()", "C(3)")
def squared_modulus_(x):
    z = squared_modulus(x)
    yield z
    d[x] += 2.0 * x * d[z]


@rule(with_slope)
@samples("np.ones(3), A(3)")
def with_slope_(x, y):
    z = with_slope(x, y)
    yield z
    d[x] += 0.0
    d[y] += d[z]


nondifferentiable(
    along, axis_size, einsum_plain, einsum_subscripts, inside, inverse_axes, is_discrete,
    last_writes, negated, other_axes, positions, stop_gradient, winners,
)  # fmt: skip
