"""Functions whose derivative is zero, or whose result is no real number, on purpose."""

import bisect
import builtins
import logging
import math
import operator

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.contexts import succeeds
from srcdiff.runtime.sequences import repeats


def of(module, *names):
    """The functions of these names that this version of a module has."""
    return [getattr(module, name) for name in names if hasattr(module, name)]


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
    math.isnan, math.isinf, math.isfinite, math.isclose, succeeds,
    repeats,
)  # fmt: skip

# Positions.
nondifferentiable(
    np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argsort, np.argwhere, np.nonzero,
    np.flatnonzero, np.searchsorted, np.digitize, np.lexsort, np.argpartition,
    np.ndarray.argmax, np.ndarray.argmin, np.ndarray.argsort, np.ndarray.nonzero,
    np.ndarray.searchsorted, np.ndarray.argpartition, np.unravel_index, np.ravel_multi_index,
    np.triu_indices, np.tril_indices, np.diag_indices, np.indices,
    bisect.bisect, bisect.bisect_left, bisect.bisect_right,
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
    logging.debug, logging.info, logging.warning, logging.error, logging.critical, logging.log,
    int, bool, len, str, repr, print, isinstance, issubclass, type, id, hash, callable, hasattr,
    range, format, builtins.slice,
)  # fmt: skip

# Integers, bits, names of dtypes, and settings.
nondifferentiable(
    *of(np, "array_equiv", "bitwise_count", "bitwise_left_shift", "bitwise_right_shift",
        "left_shift", "right_shift", "gcd", "lcm", "packbits", "unpackbits", "base_repr",
        "binary_repr", "can_cast", "common_type", "isdtype", "isfortran", "isnat", "issubdtype",
        "iterable", "min_scalar_type", "mintypecode", "promote_types", "typename", "finfo", "iinfo",
        "info", "dtype", "errstate", "printoptions", "get_include", "get_printoptions",
        "getbufsize", "geterr", "geterrcall", "set_printoptions", "setbufsize", "seterr",
        "seterrcall", "show_config", "show_runtime", "busday_count", "busday_offset", "is_busday",
        "busdaycalendar", "datetime_as_string", "datetime_data", "datetime64", "timedelta64",
        "int8", "int16", "uint8", "uint16", "uint32", "uint64", "longlong", "ulonglong", "intc",
        "uintc", "uintp", "short", "ushort", "byte", "ubyte", "long", "ulong", "uint",
        "spacing", "einsum_path", "ndindex", "broadcast"),
)  # fmt: skip

# Texts and files.
nondifferentiable(
    *of(np, "array2string", "array_repr", "array_str", "format_float_positional",
        "format_float_scientific", "save", "savez", "savez_compressed", "savetxt", "load",
        "loadtxt", "genfromtxt", "fromfile", "fromregex", "fromstring", "memmap", "str_",
        "bytes_"),
    *of(np.ndarray, "tobytes", "tofile", "dump", "dumps", "device"),
)  # fmt: skip

# Windows and indices: of whole numbers.
nondifferentiable(
    *of(np, "bartlett", "blackman", "hamming", "hanning", "mask_indices", "diag_indices_from",
        "tril_indices_from", "triu_indices_from"),
    np.ndarray.setflags,
)  # fmt: skip

# What has a derivative that is not given, and what to write instead.
unsupported(
    "Use arrays of two axes (`np.array`) with `@`, and `np.block`.",
    *of(np, "asmatrix", "matrix", "bmat"),
)
unsupported(
    "Loop over `np.ndenumerate(x)`, or over indices with `range` and `np.ndindex`.",
    *of(np, "nditer", "nested_iters", "flatiter"),
)
unsupported("Use it in a `for`.", *of(np, "ndenumerate"))
unsupported(
    "Call the function in a loop (`np.array([f(v) for v in x])`), or write it for arrays.",
    *of(np, "frompyfunc", "vectorize"),
)
unsupported(
    "Its `weights` have a derivative; edges that follow the data do not, and counts have none: "
    "give it `srcdiff.stop_gradient(sample)`, or use `np.bincount` or `np.histogram`.",
    *of(np, "histogramdd"),
)
unsupported(
    "Use the array itself.",
    *of(np.ndarray, "base", "ctypes", "data"), *of(np, "from_dlpack", "frombuffer", "ix_"),
)  # fmt: skip
unsupported("Use `np.ravel(x)`, and `x[i, j] = y` to write.", np.ndarray.flat)
unsupported(
    "Write `np.polyval(c, x)` for `np.poly1d(c)(x)`, and use `np.polyder`, `np.polyint`, "
    "`np.polymul` and the functions beside them on coefficients.",
    *of(np, "poly1d"),
)
unsupported(
    "Use `np.unique` without options, and `np.searchsorted` for places.",
    *of(np, "unique_all", "unique_counts", "unique_inverse"),
)
unsupported("Use single precision, `np.float32`.", np.float16)
unsupported("Use a dict or separate arrays.", *of(np, "recarray", "record", "void", "object_"))
unsupported(
    "Make a new array: `np.resize`, `x.astype`, `x[...] = y`.",
    *of(np.ndarray, "resize", "byteswap", "getfield", "setfield", "to_device"), np.ndarray,
)  # fmt: skip
unsupported(
    "Use `np.lib.stride_tricks.sliding_window_view`, or an array of indices.",
    np.lib.stride_tricks.as_strided,
)
unsupported(
    "Convert to complex numbers, `np.sqrt(x + 0j)`.",
    *of(np.emath, "sqrt", "log", "log2", "logn", "log10", "power", "arccos", "arcsin", "arctanh"),
)
