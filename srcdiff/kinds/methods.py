"""The kinds of attributes, of methods, and of functions whose arguments say the result's shape.

Random numbers are among the latter: functions of `np.random`, and methods of its generators.
"""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.kinds import (
    BIG,
    UNKNOWN,
    Array,
    Callable,
    Dict,
    Dim,
    Kind,
    List,
    NoneKind,
    Object,
    Range,
    Scalar,
    Sym,
    Text,
    Tuple,
    broadcast_dims,
    dims_of,
    dtype_of,
    is_numeric,
    rank_of,
)
from srcdiff.kinds.elementwise import elementwise_kind
from srcdiff.kinds.indexing import item_kind, product, shape_dims, size_dim, size_scalar
from srcdiff.kinds.lattice import Args, Keywords, Kwargs, Rule, argument, binary, join_all, like
from srcdiff.kinds.probing import probe
from srcdiff.primitives.operation import PURE_METHODS

_PARAMETERS: dict[str, int] = {
    **dict.fromkeys(
        ("random", "random_sample", "ranf", "sample", "standard_cauchy", "standard_exponential",
         "standard_normal"),
        0,
    ),
    **dict.fromkeys(
        ("chisquare", "exponential", "geometric", "logseries", "pareto", "poisson", "power",
         "rayleigh", "standard_gamma", "standard_t", "weibull", "zipf"),
        1,
    ),
    **dict.fromkeys(
        ("beta", "binomial", "f", "gamma", "gumbel", "integers", "laplace", "logistic", "lognormal",
         "negative_binomial", "noncentral_chisquare", "normal", "randint", "uniform", "vonmises",
         "wald"),
        2,
    ),
    **dict.fromkeys(("hypergeometric", "noncentral_f", "triangular"), 3),
}  # fmt: skip
"""How many parameters stand before `size`, by name."""

_WHOLE = frozenset((
    "binomial", "geometric", "hypergeometric", "integers", "logseries", "negative_binomial",
    "poisson", "randint", "zipf",
))  # fmt: skip


def drawn_kind(name: str, args: Args, kwargs: Keywords) -> Kind:
    """The kind of what is drawn from the distribution `name` with some parameters."""
    if name in ("rand", "randn"):  # the arguments are the lengths
        return Array("float64", tuple(map(size_dim, args))) if args else Scalar("float64")
    count = _PARAMETERS.get(name)
    if count is None or kwargs.keys() & {"out", "dtype"} or len(args) > count + 1:
        return UNKNOWN
    named = tuple(v for k, v in kwargs.items() if k not in ("size", "method", "endpoint"))
    size = argument(args, count, kwargs, "size", NoneKind())
    return _sized(size, (*args[:count], *named), "int64" if name in _WHOLE else "float64")


def _sized(size: Kind, parameters: Args, dtype: str) -> Kind:
    """The kind of an array of this size, or of one number for all the parameters together."""
    if isinstance(size, (Scalar, Tuple)):
        return Array(dtype, shape_dims(size))
    given = tuple(p for p in parameters if not isinstance(p, NoneKind))
    if not isinstance(size, NoneKind) or not all(map(is_numeric, given)):
        return UNKNOWN
    whole: Kind = Scalar("float64")
    for parameter in given:
        whole = elementwise_kind(np.add, (whole, parameter), ())
    if isinstance(whole, Array):
        return Array(dtype, whole.dims, whole.maybe_scalar)
    return Scalar(dtype, True if dtype == "float64" else None) if whole != UNKNOWN else UNKNOWN


_UNKNOWN_SHAPE = Tuple(None, Scalar("int64"))

# --- attributes --------------------------------------------------------------------------------


def attribute_kind(base: Kind, name: str) -> Kind:
    """The kind of `base.name`."""
    if isinstance(base, Dict) and base.cls is not None:
        known: dict[Any, Kind] = dict(base.items)
        return known.get(name, UNKNOWN) if base.item is None else UNKNOWN
    if isinstance(base, Range) and name in ("start", "stop", "step"):
        return Scalar("int64")
    if not is_numeric(base):
        return UNKNOWN
    dims = dims_of(base)
    if name == "shape":
        return _UNKNOWN_SHAPE if dims is None else Tuple(tuple(map(size_scalar, dims)))
    if name == "ndim":
        return Scalar("int64", True, None if dims is None else len(dims))
    if name == "size":
        return size_scalar(None if dims is None else product(dims))
    if name == "dtype":
        dtype = dtype_of(base)
        return Object("dtype", None if dtype is None else np.dtype(dtype))
    if name == "T" and isinstance(base, Array):
        return Array(base.dtype, None if dims is None else dims[::-1], base.maybe_scalar)
    if name in ("flat", "base", "data", "flags", "ctypes"):
        return UNKNOWN
    return probe(ir.Attr(name), (base,)) or UNKNOWN


# --- methods -----------------------------------------------------------------------------------


def method_kind(args: Args, name: str, kwargs: Kwargs) -> Kind:
    """The kind of `args[0].name(*args[1:])`."""
    base, rest = args[0], args[1:]
    if is_numeric(base):
        return _array_method(base, rest, name, kwargs)
    if isinstance(base, (List, Tuple)):
        return _list_method(base, rest, name)
    if isinstance(base, Dict) and base.cls is None:
        return _dict_method(base, rest, name)
    if isinstance(base, Text):
        asks = name.startswith(("is", "starts", "ends"))
        gives = name in ("format", "upper", "lower", "strip", "join", "replace")
        return Scalar("bool") if asks else Text() if gives else UNKNOWN
    if isinstance(base, Object) and base.type.startswith("numpy.random."):
        return drawn_kind(name, rest, dict(kwargs))
    return UNKNOWN


def _array_method(base: Kind, rest: Args, name: str, kwargs: Kwargs) -> Kind:
    if name == "reshape":
        return _reshape((base, rest[0] if len(rest) == 1 else Tuple(rest)), {}) or UNKNOWN
    if name in ("flatten", "ravel"):
        return _ravel((base,), {}) or UNKNOWN
    if name in ("fill", "sort", "partition", "put", "itemset", "resize", "setflags"):
        return NoneKind()
    if name in ("compress", "view") or name not in PURE_METHODS:
        return UNKNOWN
    return probe(ir.Method(name), (base, *rest), kwargs) or UNKNOWN


def _list_method(base: List | Tuple, rest: Args, name: str) -> Kind:
    if name == "pop":
        return item_kind(base, rest[0] if rest else Scalar("int64", True, -1))
    if name == "copy" and isinstance(base, List):
        return List(base.item, base.items)
    if name.startswith("__") and name not in ("__setitem__", "__delitem__"):
        return UNKNOWN
    return Scalar("int64") if name in ("index", "count") else NoneKind()


def _dict_method(base: Dict, rest: Args, name: str) -> Kind:
    if name in ("get", "pop", "setdefault") and rest:
        found = item_kind(base, rest[0])
        if name == "pop" and len(rest) == 1:
            return found  # or there is a KeyError
        return join_all((found, rest[1] if len(rest) > 1 else NoneKind())) or UNKNOWN
    if name == "copy":
        return Dict(base.items, base.item)
    return NoneKind() if name in ("update", "clear") else UNKNOWN


# --- shapes ------------------------------------------------------------------------------------


def _shape(kind: Kind) -> Kind:
    return attribute_kind(kind, "shape") if is_numeric(kind) else _UNKNOWN_SHAPE


def _size(args: Args, kwargs: Keywords) -> Kind | None:
    if len(args) == 1 and not kwargs and is_numeric(args[0]):
        return attribute_kind(args[0], "size")
    return Scalar("int64")


def _ravel(args: Args, kwargs: Keywords) -> Kind | None:
    dims = dims_of(args[0])
    if not is_numeric(args[0]):
        return None
    return Array(dtype_of(args[0]), (None if dims is None else product(dims),))


def _reshape(args: Args, kwargs: Keywords) -> Kind | None:
    """`np.reshape`: one length may be -1, which is then all that the others leave."""
    if len(args) < 2 or not is_numeric(args[0]):
        return UNKNOWN
    shape = args[1]
    items = shape.items if isinstance(shape, (Tuple, List)) else (shape,)
    if items is None or not all(isinstance(i, Scalar) for i in items):
        return Array(dtype_of(args[0]))
    dims = dims_of(args[0])
    new = [_reshaped_dim(k, items, dims) for k in range(len(items))]
    return Array(dtype_of(args[0]), tuple(new))


def _reshaped_dim(place: int, items: Args, dims: tuple[Dim, ...] | None) -> Dim:
    """One length of a new shape."""
    item = items[place]
    assert isinstance(item, Scalar)
    if item.value != -1:
        size = size_dim(item)
        return None if isinstance(size, Sym) and _maybe_negative(size) else size
    others = [size_dim(k) for i, k in enumerate(items) if i != place]
    if dims is None:
        return None
    rest = list(dims)
    for other in others:
        if other in rest and other is not None and other != BIG:
            rest.remove(other)
        elif other != 1:
            return None
    return product(rest) if len(rest) <= 1 or len(others) == 0 else None


def _maybe_negative(size: Sym) -> bool:
    """Whether an integer might be -1, which is no length: all but plain lengths of arguments."""
    return "." not in size.name or any(c in size.name for c in "-(")


def _broadcast_to(args: Args, kwargs: Keywords) -> Kind | None:
    return Array(dtype_of(args[0]), shape_dims(argument(args, 1, kwargs, "shape")))


# --- creation ----------------------------------------------------------------------------------


def _dtype_argument(args: Args, place: int, kwargs: Keywords, default: str | None) -> str | None:
    """The dtype that a call asks for, `default` if it does not say."""
    kind = argument(args, place, kwargs, "dtype", NoneKind())
    if isinstance(kind, NoneKind):
        return default
    value = kind.value if isinstance(kind, (Callable, Object, Text)) else None
    try:
        return None if value is None else np.dtype(value).name  # type: ignore[arg-type]
    except TypeError:
        return None


def _filled(args: Args, kwargs: Keywords) -> Kind | None:
    """`np.zeros`, `np.ones`, `np.empty`."""
    if _is_of_records(argument(args, 1, kwargs, "dtype", NoneKind())):
        return Array()  # whose elements are views: as if there were more axes
    shape = argument(args, 0, kwargs, "shape")
    return Array(_dtype_argument(args, 1, kwargs, "float64"), shape_dims(shape))


def _is_of_records(dtype: Kind) -> bool:
    """Whether a dtype has fields, as far as is seen."""
    if isinstance(dtype, Object) and isinstance(dtype.value, np.dtype):
        return dtype.value.names is not None
    return isinstance(dtype, (List, Dict, Tuple))


def _full(args: Args, kwargs: Keywords) -> Kind | None:
    """`np.full`: the dtype is that of the value, as an array."""
    shape, fill = argument(args, 0, kwargs, "shape"), argument(args, 1, kwargs, "fill_value")
    return Array(_dtype_argument(args, 2, kwargs, dtype_of(fill)), shape_dims(shape))


def _like(args: Args, kwargs: Keywords) -> Kind | None:
    """`np.zeros_like` and so on: analytic where a shape is given, or for containers unknown."""
    kind = args[0]
    if not is_numeric(kind):
        return Array(_dtype_argument(args, 1, kwargs, None))
    dtype = _dtype_argument(args, 1, kwargs, dtype_of(kind))
    shape = argument(args, 4, kwargs, "shape", NoneKind())
    return Array(dtype, dims_of(kind) if isinstance(shape, NoneKind) else shape_dims(shape))


def _arange(args: Args, kwargs: Keywords) -> Kind | None:
    """`np.arange(n)`, or an unknown length."""
    kinds = [a for a in args if isinstance(a, Scalar)]
    if len(kinds) != len(args) or not args or not set(kwargs) <= {"dtype"}:
        return Array(None, (None,))
    integers = all(k.dtype is not None and "int" in k.dtype for k in kinds)
    known = [k.dtype for k in kinds]
    default = "int64" if integers else "float64" if "float64" in known else None
    dim = size_dim(kinds[0]) if len(args) == 1 and integers else None
    return Array(_dtype_argument(args, 3, kwargs, default), (dim,))


def _linspace(args: Args, kwargs: Keywords) -> Kind | None:
    num = argument(args, 2, kwargs, "num", Scalar("int64", True, 50))
    if len(args) < 2 or "retstep" in kwargs or len(args) > 3:
        return UNKNOWN
    if not all(isinstance(a, Scalar) for a in args[:2]):
        return Array(None)
    real = all(isinstance(a, Scalar) and a.dtype in ("float64", "int64") for a in args[:2])
    dtype = _dtype_argument(args, 9, kwargs, "float64" if real else None)
    return Array(dtype, (size_dim(num),))


def _eye(args: Args, kwargs: Keywords) -> Kind | None:
    n = size_dim(args[0]) if args else None
    given = argument(args, 1, kwargs, "M", NoneKind())
    m = n if isinstance(given, NoneKind) else size_dim(given)
    return Array(_dtype_argument(args, 3, kwargs, "float64"), (n, m))


def _identity(args: Args, kwargs: Keywords) -> Kind | None:
    n = size_dim(args[0]) if args else None
    return Array(_dtype_argument(args, 1, kwargs, "float64"), (n, n))


def _matmul(a: Kind, b: Kind) -> Kind | None:
    """Products of vectors and matrices; None for others, which are probed."""
    if not is_numeric(a) or not is_numeric(b):
        return None
    small = tuple(Array(dtype_of(k), (1, 1)) for k in (a, b))
    dtype = None if any(k.dtype is None for k in small) else dtype_of(probe(np.matmul, small))
    x, y = dims_of(a), dims_of(b)
    if x is None or y is None:  # a number only if both may be vectors
        return Array(dtype, None, maybe_scalar=all(rank_of(k) in (None, 1) for k in (a, b)))
    if not 1 <= len(x) <= 2 or not 1 <= len(y) <= 2:
        return None
    dims = (*x[:-1], *y[1:])
    return Array(dtype, dims) if dims else Scalar(dtype, False)


def _cross(args: Args, kwargs: Keywords) -> Kind | None:
    """`np.cross` along the last axis: of vectors of two components, going out of use, a number."""
    axis = kwargs.get("axis", NoneKind())
    shapes = [s for s in map(dims_of, args) if s]
    if len(args) != 2 or len(shapes) != 2 or kwargs.keys() - {"axis"}:
        return None
    if not isinstance(axis, NoneKind) and getattr(axis, "value", None) != -1:
        return None
    dtype = dtype_of(elementwise_kind(np.multiply, args, ()))
    lengths, dims = [s[-1] for s in shapes], broadcast_dims([s[:-1] for s in shapes])
    if 3 in lengths:
        return Array(dtype, (*dims, 3))
    if lengths == [2, 2]:
        return Array(dtype, dims) if dims else Scalar(dtype, False)
    return Array(dtype, None if dims else (3,), True)


def _eig(args: Args, kwargs: Keywords) -> Kind | None:
    """Eigenvalues are real or complex as they come: the kind says that they may be complex."""
    values = _eigvals(args, kwargs)
    return Tuple((values, _complex(args[0]))) if isinstance(args[0], Array) else None


def _eigvals(args: Args, kwargs: Keywords) -> Kind:
    dims = dims_of(args[0])
    return _complex(Array(dtype_of(args[0]), None if dims is None else dims[:-1]))


def _roots(args: Args, kwargs: Keywords) -> Kind | None:
    return _complex(Array(dtype_of(args[0]), (None,)))


def _complex(kind: Kind) -> Kind:
    """The same shape with the complex dtype of the same precision."""
    if isinstance(kind, Array) and kind.dtype is not None:
        return Array(np.result_type(kind.dtype, np.complex64).name, kind.dims, kind.maybe_scalar)
    return kind


def _unravelled(args: Args, kwargs: Keywords) -> Kind | None:
    """`np.unravel_index(places, shape)`: an index for each axis."""
    shape = args[1] if len(args) > 1 else None
    if not isinstance(shape, Tuple) or shape.items is None or not is_numeric(args[0]):
        return None
    place = args[0]
    one = Array("int64", place.dims) if isinstance(place, Array) else Scalar("int64", False)
    return Tuple((one,) * len(shape.items))


FUNCTIONS: dict[Any, Rule] = {
    np.unravel_index: _unravelled,
    np.shape: like(0, _shape),
    np.ndim: like(0, lambda kind: Scalar("int64", True, rank_of(kind))),
    np.size: _size,
    np.ravel: _ravel,
    np.reshape: _reshape,
    np.broadcast_to: _broadcast_to,
    **dict.fromkeys((np.zeros, np.ones, np.empty), _filled),
    np.full: _full,
    **dict.fromkeys((np.zeros_like, np.ones_like, np.empty_like), _like),
    np.full_like: lambda args, kwargs: _like((args[0], *args[2:]), kwargs),
    np.arange: _arange,
    np.linspace: _linspace,
    np.eye: _eye,
    np.identity: _identity,
    **dict.fromkeys((operator.matmul, np.matmul, np.dot), binary(_matmul)),
    np.cross: _cross,
    np.linalg.eig: _eig,
    np.linalg.eigvals: _eigvals,
    np.roots: _roots,
    **{
        getattr(np.random, name): partial(drawn_kind, name)
        for name in (*_PARAMETERS, "rand", "randn")
        if hasattr(np.random, name)
    },
}
