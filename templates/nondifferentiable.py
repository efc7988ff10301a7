"""Functions whose derivative is zero, or whose result is no real number, on purpose."""

import builtins
import math
import operator

import numpy as np

from srcdiff.rules import nondifferentiable

# Steps: their derivative is zero wherever it exists, and zero where it does not.
nondifferentiable(
    np.floor, np.ceil, np.trunc, np.rint, np.round, np.around, np.fix, np.signbit,
    math.floor, math.ceil, math.trunc, round, np.ndarray.round,
)  # fmt: skip

# Comparisons and logic.
nondifferentiable(
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.is_,
    operator.is_not, operator.not_, operator.truth, operator.contains, operator.and_, operator.or_,
    operator.xor, operator.invert, operator.lshift, operator.rshift, operator.index,
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
    np.logical_and, np.logical_or, np.logical_not, np.logical_xor, np.bitwise_and, np.bitwise_or,
    np.bitwise_xor, np.invert, np.isnan, np.isinf, np.isfinite, np.isneginf, np.isposinf,
    np.isclose, np.allclose, np.array_equal, np.isreal, np.iscomplex, np.iscomplexobj,
    np.isrealobj, np.isscalar, np.isin, np.shares_memory, np.may_share_memory,
    math.isnan, math.isinf, math.isfinite, math.isclose,
)  # fmt: skip

# Positions.
nondifferentiable(
    np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argsort, np.argwhere, np.nonzero,
    np.flatnonzero, np.searchsorted, np.digitize, np.lexsort, np.argpartition,
    np.ndarray.argmax, np.ndarray.argmin, np.ndarray.argsort, np.ndarray.nonzero,
    np.ndarray.searchsorted, np.ndarray.argpartition, np.unravel_index, np.ravel_multi_index,
    np.triu_indices, np.tril_indices, np.diag_indices, np.indices, np.ix_,
)  # fmt: skip

# Shapes and types.
nondifferentiable(
    np.shape, np.ndim, np.size, np.result_type, np.broadcast_shapes, np.ndarray.shape,
    np.ndarray.ndim, np.ndarray.size, np.ndarray.dtype, np.ndarray.nbytes, np.ndarray.itemsize,
    np.ndarray.strides, np.ndarray.flags,
)  # fmt: skip

# New arrays that take only their shape and type from an argument.
nondifferentiable(
    np.zeros_like, np.ones_like, np.empty_like, np.zeros, np.ones, np.empty, np.eye, np.identity,
    np.tri, np.bool_, np.int64, np.int32, np.intp,
)  # fmt: skip

# Builtins that do not pass on a number.
nondifferentiable(
    int, bool, len, str, repr, print, isinstance, issubclass, type, id, hash, callable, hasattr,
    range, format, builtins.slice,
)  # fmt: skip
