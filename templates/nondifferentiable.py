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

# Steps: their derivative is zero wherever it exists, and zero where it does not.
nondifferentiable(
    *members(np, "floor ceil trunc rint round around fix signbit"),
    *members(math, "floor ceil trunc"), round, np.ndarray.round,
)  # fmt: skip

# Comparisons and logic.
nondifferentiable(
    *members(operator, "lt le gt ge eq ne is_ is_not not_ truth contains and_ or_ xor invert "
                       "lshift rshift index"),
    *members(np, "less less_equal greater greater_equal equal not_equal logical_and logical_or "
                 "logical_not logical_xor bitwise_and bitwise_or bitwise_xor invert isnan isinf "
                 "isfinite isneginf isposinf isclose allclose array_equal isreal iscomplex "
                 "iscomplexobj isrealobj isscalar isin shares_memory may_share_memory"),
    *members(math, "isnan isinf isfinite isclose"), succeeds, repeats,
)  # fmt: skip

# Positions.
nondifferentiable(
    *members(np, "argmax argmin nanargmax nanargmin argsort argwhere nonzero flatnonzero "
                 "searchsorted digitize lexsort argpartition unravel_index ravel_multi_index "
                 "triu_indices tril_indices diag_indices indices"),
    *members(np.ndarray, "argmax argmin argsort nonzero searchsorted argpartition"),
    *members(bisect, "bisect bisect_left bisect_right"),
)  # fmt: skip

# Shapes and types, and new arrays that take only these from an argument.
nondifferentiable(
    *members(np, "shape ndim size result_type broadcast_shapes zeros_like ones_like empty_like "
                 "zeros ones empty eye identity tri bool_ int64 int32 intp"),
    *members(np.ndarray, "shape ndim size dtype nbytes itemsize strides flags"),
)  # fmt: skip

# Builtins that do not pass on a number.
nondifferentiable(
    *members(logging, "debug info warning error critical log"),
    *members(builtins, "int bool len str repr print isinstance issubclass type id hash callable "
                       "hasattr range format slice"),
)  # fmt: skip

# Integers, bits, names of dtypes, and settings.
nondifferentiable(
    *members(np, "array_equiv bitwise_count bitwise_left_shift bitwise_right_shift left_shift "
                 "right_shift gcd lcm packbits unpackbits base_repr binary_repr can_cast "
                 "common_type isdtype isfortran isnat issubdtype iterable min_scalar_type "
                 "mintypecode promote_types typename finfo iinfo info dtype errstate printoptions "
                 "get_include get_printoptions getbufsize geterr geterrcall set_printoptions "
                 "setbufsize seterr seterrcall show_config show_runtime busday_count "
                 "busday_offset is_busday busdaycalendar datetime_as_string datetime_data "
                 "datetime64 timedelta64 int8 int16 uint8 uint16 uint32 uint64 longlong ulonglong "
                 "intc uintc uintp short ushort byte ubyte long ulong uint spacing einsum_path "
                 "ndindex broadcast"),
)  # fmt: skip

# Texts and files; windows and indices of whole numbers.
nondifferentiable(
    *members(np, "array2string array_repr array_str format_float_positional "
                 "format_float_scientific save savez savez_compressed savetxt load loadtxt "
                 "genfromtxt fromfile fromregex fromstring memmap str_ bytes_ bartlett blackman "
                 "hamming hanning mask_indices diag_indices_from tril_indices_from "
                 "triu_indices_from"),
    *members(np.ndarray, "tobytes tofile dump dumps device setflags"),
)  # fmt: skip

# What has a derivative that is not given, and what to write instead.
unsupported(
    "Use arrays of two axes (`np.array`) with `@`, and `np.block`.",
    *members(np, "asmatrix matrix bmat"),
)
unsupported(
    "Loop over `np.ndenumerate(x)`, or over indices with `range` and `np.ndindex`.",
    *members(np, "nditer nested_iters flatiter"),
)
unsupported("Use it in a `for`.", np.ndenumerate)
unsupported(
    "Take items by their positions, `xs[0]` and `xs[1:]`; the first that fits is "
    "`next(x for x in xs if ...)`.",
    next,
)
unsupported(
    "Call the function in a loop (`np.array([f(v) for v in x])`), or write it for arrays.",
    np.frompyfunc, np.vectorize,
)
unsupported(
    "Its `weights` have a derivative; edges that follow the data do not, and counts have none: "
    "give it `srcdiff.stop_gradient(sample)`, or use `np.bincount` or `np.histogram`.",
    np.histogramdd,
)
unsupported(
    "Use the array itself.",
    *members(np.ndarray, "base ctypes data"), *members(np, "from_dlpack frombuffer ix_"),
)  # fmt: skip
unsupported("Use `np.ravel(x)`, and `x[i, j] = y` to write.", np.ndarray.flat)
unsupported(
    "Write the function for the class: `polyval(x, c)` for `Polynomial(c)(x)`, `chebval(x, c)` for "
    "`Chebyshev(c)(x)`, and so on, of `np.polynomial.polynomial` and the modules beside it.",
    np.polynomial.Polynomial, np.polynomial.Chebyshev, np.polynomial.Legendre,
    np.polynomial.Hermite, np.polynomial.HermiteE, np.polynomial.Laguerre,
)  # fmt: skip
unsupported(
    "Write `np.polyval(c, x)` for `np.poly1d(c)(x)`, and use `np.polyder`, `np.polyint`, "
    "`np.polymul` and the functions beside them on coefficients.",
    np.poly1d,
)
unsupported(
    "Use `np.unique` without options, and `np.searchsorted` for places.",
    *members(np, "unique_all unique_counts unique_inverse"),
)
unsupported("Use single precision, `np.float32`.", np.float16)
unsupported("Use a dict or separate arrays.", *members(np, "recarray record void object_"))
unsupported(
    "Make a new array: `np.resize`, `x.astype`, `x[...] = y`.",
    *members(np.ndarray, "resize byteswap getfield setfield to_device"), np.ndarray,
)  # fmt: skip
unsupported(
    "Use `np.lib.stride_tricks.sliding_window_view`, or an array of indices.",
    np.lib.stride_tricks.as_strided,
)
unsupported(
    "Convert to complex numbers, `np.sqrt(x + 0j)`.",
    *members(np.emath, "sqrt log log2 logn log10 power arccos arcsin arctanh"),
)
