"""The method `at` of ufuncs, but for `add` and `subtract`, which are beside the stores."""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime import indexing
from srcdiff.runtime.arrays import unbroadcast
from srcdiff.runtime.indexing import log_sum_at, met_at, rest_at, runs, shares_at


@rule(np.multiply.at, mutates="a")
@samples(
    "A(4), np.array([0, 2, 2]), A(3)", "A(4), np.array([0, 2, 2]), A()", "A(4), 1, A()",
    "V([1.0, 0.0, 3.0]), [0, 1, 0, 0, 1], V([2.0, 5.0, 0.0, 3.0, 0.0])", "C(3), [1, 1, 1], C(3)",
    "A(2, 3), (np.array([0, 1, 1]), np.array([2, 0, 0])), A(3)", "A(4, 2), [0, 0, 3], A(2)",
    "A(2, 4), (slice(None), [1, 1, 3, 1]), A(2, 4)", "A(3), slice(1, None), A(2)",
)  # fmt: skip
def multiply_at(a, indices, b):
    part = d[a][indices] * conj(rest_at(a, indices, b))  # b may share memory with a
    np.multiply.at(d[a], indices, conj(b))
    d[b] += unbroadcast(part, b)


@forward(np.multiply.at)
def multiply_at_tangent(a, indices, b):
    if known(d[b]):
        np.multiply.at(d[a], indices, b)
    else:
        part = d[b] * rest_at(a, indices, b)
        np.multiply.at(d[a], indices, b)
        np.add.at(d[a], indices, part)


@rule(np.divide.at, mutates="a")
@samples(
    "A(4), np.array([0, 2, 2]), P(3)", "A(4), np.array([0, 2, 2]), P()", "A(4), 1, P()",
    "V([1.0, 0.0, 3.0]), [0, 1, 0, 0, 1], P(5)", "C(3), [1, 1, 1], C(3)",
    "A(4, 2), [0, 0, 3], P(2)",
)  # fmt: skip
def divide_at(a, indices, b):
    part = d[a][indices] * conj(rest_at(a, indices, 1.0 / b) / (b * b))
    np.divide.at(d[a], indices, conj(b))
    d[b] += unbroadcast(-part, b)


@forward(np.divide.at)
def divide_at_tangent(a, indices, b):
    if known(d[b]):
        np.divide.at(d[a], indices, b)
    else:
        part = d[b] * (rest_at(a, indices, 1.0 / b) / (b * b))
        np.divide.at(d[a], indices, b)
        np.subtract.at(d[a], indices, part)


@composed(np.negative.at, mutates="a")
@samples("A(4), [0, 2, 2, 3]", "C(3), np.array([1, 1, 1])", "A(2, 3), (slice(None), [0, 1])")
def negative_at(a, indices):
    np.multiply.at(a, indices, -1)


def extremes_at(ufunc):
    """The rule and the tangent of `np.maximum.at` or `np.minimum.at`."""

    @rule(ufunc.at, mutates="a")
    @samples(
        "A(4), np.array([0, 2, 2]), A(3)", "A(4), np.array([0, 2, 2]), A()", "A(4), 1, A()",
        "A(2, 3), (np.array([0, 1, 1]), np.array([2, 0, 0])), A(3)", "A(4, 2), [0, 0, 3], A(2)",
    )  # fmt: skip
    def extreme_at(a, indices, b):
        own, shares = shares_at(ufunc, a, indices, b)
        part = d[a][indices] * shares
        d[a] *= own
        d[b] += unbroadcast(part, b)

    @forward(ufunc.at)
    def extreme_at_tangent(a, indices, b):
        own, shares = shares_at(ufunc, a, indices, b)
        if known(d[b]):
            d[a][...] = d[a] * own
        else:
            part = d[b] * shares
            d[a][...] = d[a] * own
            np.add.at(d[a], indices, part)


extremes_at(np.maximum)
extremes_at(np.minimum)


@composed(np.logaddexp.at, mutates="a")
@samples("A(4), np.array([0, 2, 2]), A(3)", "A(4, 2), [0, 0, 3], A(2)", "A(4), 1, A()")
def logaddexp_at(a, indices, b):
    a[...] = log_sum_at(a, indices, b)


@rule(log_sum_at)
@samples("A(4), np.array([0, 2, 2]), A(3)", "A(4), np.array([0, 2, 2]), A()")
def log_sum_at_(a, indices, b):
    met = met_at(a, indices)  # elsewhere `a` may be -inf
    d[a] += d[z] * np.exp(np.where(met, a, 0.0) - np.where(met, z, 0.0))
    d[b] += unbroadcast(d[z][indices] * np.exp(b - z[indices]), b)


inlined(
    indexing.rest_at, "A(4), np.array([0, 2, 2]), A(3)", "C(3), np.array([1, 1, 1]), C(3)",
    "A(2, 3), ([0, 0, 1], [1, 1, 2]), A()",
    "V([1.0, 0.0, 3.0]), [0, 1, 0, 0, 1], V([2.0, 5.0, 0.0, 3.0, 0.0])",
)  # fmt: skip
inlined(
    indexing.products, "A(3), np.array([[-1, 0, 1]])",
    "A(4), np.array([[-1, 0, 1, -1], [-1, -1, 0, -1]])",
)  # fmt: skip
nondifferentiable(met_at, runs, shares_at)
unsupported(
    "Write the steps in a loop, or without repeated indices: `x[i] = np.exp(x[i])`.",
    *(ufunc.at for ufunc in members(
        np, "power fmax fmin hypot arctan2 float_power fmod remainder exp log sqrt square abs "
            "reciprocal sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh "
            "exp2 expm1 log2 log10 log1p logaddexp2 cbrt fabs copysign degrees radians deg2rad "
            "rad2deg sign floor ceil trunc rint floor_divide positive conjugate heaviside"
    )),
)  # fmt: skip
