"""The kinds of attributes, of methods, and of functions whose arguments say the result's shape.

Random numbers are among the latter: functions of `np.random`, and methods of its generators.
"""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.frozen import replace
from srcdiff.kinds.elementwise import elementwise_kind
from srcdiff.kinds.indexing import added, item_kind, product, shape_dims, size_dim, size_scalar
from srcdiff.kinds.lattice import (
    Args,
    Keywords,
    Kwargs,
    Rule,
    argument,
    binary,
    join_all,
    kind_of,
    like,
)
from srcdiff.kinds.probing import probe
from srcdiff.primitives.operation import PURE_METHODS

_BY_PARAMETERS = (
    "random random_sample ranf sample standard_cauchy standard_exponential standard_normal",
    """chisquare exponential geometric logseries pareto poisson power rayleigh standard_gamma
    standard_t weibull zipf""",
    """beta binomial f gamma gumbel integers laplace logistic lognormal negative_binomial
    noncentral_chisquare normal randint uniform vonmises wald""",
    "hypergeometric noncentral_f triangular",
)
_PARAMETERS = {name: count for count, some in enumerate(_BY_PARAMETERS) for name in some.split()}
"""How many parameters stand before `size`, by name."""

_WHOLE = (
    "binomial", "geometric", "hypergeometric", "integers", "logseries", "negative_binomial",
    "poisson", "randint", "zipf",
)  # fmt: skip


def drawn_kind(name: str, args: Args, kwargs: Keywords) -> ir.Kind:
    """The kind of what is drawn from the distribution `name` with some parameters."""
    if name in ("rand", "randn"):  # the arguments are the lengths
        return ir.Array("float64", tuple(map(size_dim, args))) if args else ir.Scalar("float64")
    count = _PARAMETERS.get(name)
    if count is None or kwargs.keys() & {"out", "dtype"} or len(args) > count + 1:
        return ir.UNKNOWN
    named = tuple(v for k, v in kwargs.items() if k not in ("size", "method", "endpoint"))
    size = argument(args, count, kwargs, "size", ir.NoneKind())
    return _sized(size, (*args[:count], *named), "int64" if name in _WHOLE else "float64")


def _sized(size: ir.Kind, parameters: Args, dtype: str) -> ir.Kind:
    """The kind of an array of this size, or of one number for all the parameters together."""
    if isinstance(size, (ir.Scalar, ir.Tuple)):
        return ir.Array(dtype, shape_dims(size))
    given = tuple(p for p in parameters if not isinstance(p, ir.NoneKind))
    if not isinstance(size, ir.NoneKind) or not all(map(ir.is_numeric, given)):
        return ir.UNKNOWN
    whole: ir.Kind = ir.Scalar("float64")
    for parameter in given:
        whole = elementwise_kind(np.add, (whole, parameter), ())
    if isinstance(whole, ir.Array):
        return replace(whole, dtype=dtype)
    number = ir.Scalar(dtype, True if dtype == "float64" else None)
    return ir.UNKNOWN if whole == ir.UNKNOWN else number


_UNKNOWN_SHAPE = ir.Tuple(None, ir.Scalar("int64"))

# --- attributes --------------------------------------------------------------------------------


def attribute_kind(base: ir.Kind, name: str) -> ir.Kind:
    """The kind of `base.name`."""
    if isinstance(base, ir.Dict) and base.cls is not None:
        known: dict[Any, ir.Kind] = dict(base.items)
        return known.get(name, ir.UNKNOWN) if base.item is None else ir.UNKNOWN
    if isinstance(base, ir.Range) and name in ("start", "stop", "step"):
        return ir.Scalar("int64")
    if isinstance(base, ir.Object) and isinstance(base.value, np.finfo):
        return kind_of(getattr(base.value, name, None), name)
    if not ir.is_numeric(base):
        return ir.UNKNOWN
    dims = ir.dims_of(base)
    if name == "shape":
        return _UNKNOWN_SHAPE if dims is None else ir.Tuple(tuple(map(size_scalar, dims)))
    if name == "ndim":
        return ir.Scalar("int64", True, None if dims is None else len(dims))
    if name == "size":
        return size_scalar(None if dims is None else product(dims))
    if name == "dtype":
        dtype = ir.dtype_of(base)
        return ir.Object("dtype", None if dtype is None else np.dtype(dtype))
    if name == "T" and isinstance(base, ir.Array):
        return ir.Array(base.dtype, None if dims is None else dims[::-1], base.maybe_scalar)
    if name in ("flat", "base", "data", "flags", "ctypes"):
        return ir.UNKNOWN
    return probe(ir.Attr(name), (base,)) or ir.UNKNOWN


# --- methods -----------------------------------------------------------------------------------


def method_kind(args: Args, name: str, kwargs: Kwargs) -> ir.Kind:
    """The kind of `args[0].name(*args[1:])`."""
    base, rest = args[0], args[1:]
    if ir.is_numeric(base):
        return _array_method(base, rest, name, kwargs)
    if isinstance(base, (ir.List, ir.Tuple)):
        return _list_method(base, rest, name)
    if isinstance(base, ir.Dict) and base.cls is None:
        return _dict_method(base, rest, name)
    if isinstance(base, ir.Text):
        asks = name.startswith(("is", "starts", "ends"))
        gives = name in ("format", "upper", "lower", "strip", "join", "replace")
        return ir.Scalar("bool") if asks else ir.Text() if gives else ir.UNKNOWN
    if isinstance(base, ir.Object) and base.type.startswith("numpy.random."):
        return drawn_kind(name, rest, dict(kwargs))
    return ir.UNKNOWN


def _array_method(base: ir.Kind, rest: Args, name: str, kwargs: Kwargs) -> ir.Kind:
    if name == "reshape":
        return _reshape((base, rest[0] if len(rest) == 1 else ir.Tuple(rest)), {}) or ir.UNKNOWN
    if name in ("fill", "sort", "partition", "put", "itemset", "resize", "setflags"):
        return ir.NoneKind()
    if name == "view" and not rest and not kwargs:
        return base
    if name in ("compress", "view") or name not in PURE_METHODS:
        return ir.UNKNOWN
    return probe(ir.Method(name), (base, *rest), kwargs) or ir.UNKNOWN


def _list_method(base: ir.List | ir.Tuple, rest: Args, name: str) -> ir.Kind:
    if name == "pop":
        return item_kind(base, rest[0] if rest else ir.Scalar("int64", True, -1))
    if name == "copy" and isinstance(base, ir.List):
        return ir.List(base.item, base.items)
    if name.startswith("__") and name not in ("__setitem__", "__delitem__"):
        return ir.UNKNOWN
    return ir.Scalar("int64") if name in ("index", "count") else ir.NoneKind()


def _dict_method(base: ir.Dict, rest: Args, name: str) -> ir.Kind:
    if name in ("get", "pop", "setdefault") and rest:
        found = item_kind(base, rest[0])
        if name == "pop" and len(rest) == 1:
            return found  # or there is a KeyError
        return join_all((found, rest[1] if len(rest) > 1 else ir.NoneKind())) or ir.UNKNOWN
    if name == "copy":
        return ir.Dict(base.items, base.item)
    return ir.NoneKind() if name in ("update", "clear") else ir.UNKNOWN


# --- shapes ------------------------------------------------------------------------------------


def _as_attribute(name: str, other: ir.Kind) -> Rule:
    """The rule for a function that gives an attribute of an array; `other` of anything else."""

    def rule(args: Args, kwargs: Keywords) -> ir.Kind | None:
        plain = len(args) == 1 and not kwargs and ir.is_numeric(args[0])
        return attribute_kind(args[0], name) if plain else other

    return rule


def _ravel(args: Args, kwargs: Keywords) -> ir.Kind | None:
    dims = ir.dims_of(args[0])
    if not ir.is_numeric(args[0]):
        return None
    return ir.Array(ir.dtype_of(args[0]), (None if dims is None else product(dims),))


def _reshape(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`np.reshape`: one length may be -1, which is then all that the others leave."""
    if len(args) < 2 or not ir.is_numeric(args[0]):
        return ir.UNKNOWN
    shape = args[1]
    items = shape.items if isinstance(shape, (ir.Tuple, ir.List)) else (shape,)
    if items is None or not all(isinstance(i, ir.Scalar) for i in items):
        return ir.Array(ir.dtype_of(args[0]))
    dims = ir.dims_of(args[0])
    new = [_reshaped_dim(k, items, dims) for k in range(len(items))]
    return ir.Array(ir.dtype_of(args[0]), tuple(new))


def _reshaped_dim(place: int, items: Args, dims: tuple[ir.Dim, ...] | None) -> ir.Dim:
    """One length of a new shape."""
    item = items[place]
    assert isinstance(item, ir.Scalar)
    if item.value != -1:
        size = size_dim(item)
        return None if isinstance(size, ir.Sym) and _maybe_negative(size) else size
    others = [size_dim(k) for i, k in enumerate(items) if i != place]
    if dims is None:
        return None
    rest = list(dims)
    for other in others:
        if other in rest and other is not None and other != ir.BIG:
            rest.remove(other)
        elif other != 1:
            return None
    return product(rest) if len(rest) <= 1 or len(others) == 0 else None


def _maybe_negative(size: ir.Sym) -> bool:
    """Whether an integer might be -1, which is no length: all but plain lengths of arguments."""
    return "." not in size.name or any(c in size.name for c in "-(")


def _broadcast_to(args: Args, kwargs: Keywords) -> ir.Kind | None:
    return ir.Array(ir.dtype_of(args[0]), shape_dims(argument(args, 1, kwargs, "shape")))


def _broadcast_shapes(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`np.broadcast_shapes(*shapes)`."""
    shapes = [shape_dims(a) for a in args]
    known = [s for s in shapes if s is not None]
    if len(known) < len(shapes):
        return None
    return ir.Tuple(tuple(map(size_scalar, ir.broadcast_dims(known))))


# --- creation ----------------------------------------------------------------------------------


def _dtype_argument(args: Args, place: int, kwargs: Keywords, default: str | None) -> str | None:
    """The dtype that a call asks for, `default` if it does not say."""
    kind = argument(args, place, kwargs, "dtype", ir.NoneKind())
    if isinstance(kind, ir.NoneKind):
        return default
    value = kind.value if isinstance(kind, (ir.Callable, ir.Object, ir.Text)) else None
    try:
        return None if value is None else np.dtype(value).name  # type: ignore[arg-type]
    except TypeError:
        return None


def _filled(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`np.zeros`, `np.ones`, `np.empty`."""
    if _is_of_records(argument(args, 1, kwargs, "dtype", ir.NoneKind())):
        return ir.Array()  # whose elements are views: as if there were more axes
    shape = argument(args, 0, kwargs, "shape")
    return ir.Array(_dtype_argument(args, 1, kwargs, "float64"), shape_dims(shape))


def _is_of_records(dtype: ir.Kind) -> bool:
    """Whether a dtype has fields, as far as is seen."""
    if isinstance(dtype, ir.Object) and isinstance(dtype.value, np.dtype):
        return dtype.value.names is not None
    return isinstance(dtype, (ir.List, ir.Dict, ir.Tuple))


def _full(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`np.full`: the dtype is that of the value, as an array."""
    shape, fill = argument(args, 0, kwargs, "shape"), argument(args, 1, kwargs, "fill_value")
    return ir.Array(_dtype_argument(args, 2, kwargs, ir.dtype_of(fill)), shape_dims(shape))


def _like(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`np.zeros_like` and so on: analytic where a shape is given, or for containers unknown."""
    kind = args[0]
    if not ir.is_numeric(kind):
        return ir.Array(_dtype_argument(args, 1, kwargs, None))
    dtype = _dtype_argument(args, 1, kwargs, ir.dtype_of(kind))
    shape = argument(args, 4, kwargs, "shape", ir.NoneKind())
    same = isinstance(shape, ir.NoneKind)
    return ir.Array(dtype, ir.dims_of(kind) if same else shape_dims(shape))


def _arange(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`np.arange(n)` and `np.arange(1, n)`, or an unknown length."""
    kinds = [a for a in args if isinstance(a, ir.Scalar)]
    if len(kinds) != len(args) or not args or not set(kwargs) <= {"dtype"}:
        return ir.Array(None, (None,))
    integers = all(k.dtype is not None and "int" in k.dtype for k in kinds)
    known = [k.dtype for k in kinds]
    default = "int64" if integers else "float64" if "float64" in known else None
    dim = _count(*kinds) if integers and len(args) < 3 else None
    return ir.Array(_dtype_argument(args, 3, kwargs, default), (dim,))


def _count(first: ir.Scalar, stop: ir.Scalar | None = None) -> ir.Dim:
    """How many integers there are from one to another, or from 0 on."""
    if stop is None:
        return size_dim(first)
    if first.value is not None is not stop.value:
        return max(0, stop.value - first.value)
    return added(stop, first, -1)


def _linspace(args: Args, kwargs: Keywords) -> ir.Kind | None:
    num = argument(args, 2, kwargs, "num", ir.Scalar("int64", True, 50))
    if len(args) < 2 or "retstep" in kwargs or len(args) > 3:
        return ir.UNKNOWN
    if not all(isinstance(a, ir.Scalar) for a in args[:2]):
        return ir.Array(None)
    real = all(isinstance(a, ir.Scalar) and a.dtype in ("float64", "int64") for a in args[:2])
    dtype = _dtype_argument(args, 9, kwargs, "float64" if real else None)
    return ir.Array(dtype, (size_dim(num),))


def _eye(args: Args, kwargs: Keywords) -> ir.Kind | None:
    n = size_dim(args[0]) if args else None
    given = argument(args, 1, kwargs, "M", ir.NoneKind())
    m = n if isinstance(given, ir.NoneKind) else size_dim(given)
    return ir.Array(_dtype_argument(args, 3, kwargs, "float64"), (n, m))


_SQUARE = (ir.NoneKind(), ir.NoneKind())
"""The options of `np.eye` that `np.identity` has not."""


def _matmul(a: ir.Kind, b: ir.Kind) -> ir.Kind | None:
    """Products of vectors and matrices; None for others, which are probed."""
    if not ir.is_numeric(a) or not ir.is_numeric(b):
        return None
    small = tuple(ir.Array(ir.dtype_of(k), (1, 1)) for k in (a, b))
    dtype = None if any(k.dtype is None for k in small) else ir.dtype_of(probe(np.matmul, small))
    x, y = ir.dims_of(a), ir.dims_of(b)
    if x is None or y is None:  # a number only if both may be vectors
        return ir.Array(dtype, None, maybe_scalar=all(ir.rank_of(k) in (None, 1) for k in (a, b)))
    if not 1 <= len(x) <= 2 or not 1 <= len(y) <= 2:
        return None
    dims = (*x[:-1], *y[1:])
    return ir.Array(dtype, dims) if dims else ir.Scalar(dtype, False)


def _cross(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`np.cross` along the last axis: of vectors of two components, going out of use, a number."""
    axis = kwargs.get("axis", ir.NoneKind())
    shapes = [s for s in map(ir.dims_of, args) if s]
    if len(args) != 2 or len(shapes) != 2 or kwargs.keys() - {"axis"}:
        return None
    if not isinstance(axis, ir.NoneKind) and getattr(axis, "value", None) != -1:
        return None
    dtype = ir.dtype_of(elementwise_kind(np.multiply, args, ()))
    lengths, dims = [s[-1] for s in shapes], ir.broadcast_dims([s[:-1] for s in shapes])
    if 3 in lengths:
        return ir.Array(dtype, (*dims, 3))
    if lengths == [2, 2]:
        return ir.Array(dtype, dims) if dims else ir.Scalar(dtype, False)
    return ir.Array(dtype, None if dims else (3,), True)


def _eig(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """Eigenvalues are real or complex as they come: the kind says that they may be complex."""
    values = _eigvals(args, kwargs)
    return ir.Tuple((values, _complex(args[0]))) if isinstance(args[0], ir.Array) else None


def _eigvals(args: Args, kwargs: Keywords) -> ir.Kind:
    dims = ir.dims_of(args[0])
    return _complex(ir.Array(ir.dtype_of(args[0]), None if dims is None else dims[:-1]))


def _complex(kind: ir.Kind) -> ir.Kind:
    """The same shape with the complex dtype of the same precision."""
    if isinstance(kind, ir.Array) and kind.dtype is not None:
        return replace(kind, dtype=np.result_type(kind.dtype, np.complex64).name)
    return kind


def _unravelled(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`np.unravel_index(places, shape)`: an index for each axis."""
    shape = args[1] if len(args) > 1 else None
    if not isinstance(shape, ir.Tuple) or shape.items is None or not ir.is_numeric(args[0]):
        return None
    number = ir.Scalar("int64", False)
    one = ir.Array("int64", args[0].dims) if isinstance(args[0], ir.Array) else number
    return ir.Tuple((one,) * len(shape.items))


FUNCTIONS: dict[Any, Rule] = {
    np.unravel_index: _unravelled,
    np.shape: _as_attribute("shape", _UNKNOWN_SHAPE),
    np.ndim: _as_attribute("ndim", ir.Scalar("int64")),
    np.size: _as_attribute("size", ir.Scalar("int64")),
    np.ravel: _ravel,
    np.reshape: _reshape,
    np.broadcast_to: _broadcast_to,
    np.broadcast_shapes: _broadcast_shapes,
    **dict.fromkeys((np.zeros, np.ones, np.empty), _filled),
    np.full: _full,
    **dict.fromkeys((np.zeros_like, np.ones_like, np.empty_like), _like),
    np.full_like: lambda args, kwargs: _like((args[0], *args[2:]), kwargs),
    np.arange: _arange,
    np.linspace: _linspace,
    np.eye: _eye,
    np.identity: lambda args, kwargs: _eye((*args[:1], *_SQUARE, *args[1:]), kwargs),
    **dict.fromkeys((operator.matmul, np.matmul, np.dot), binary(_matmul)),
    np.cross: _cross,
    np.linalg.eig: _eig,
    np.linalg.eigvals: _eigvals,
    np.roots: like(0, lambda kind: _complex(ir.Array(ir.dtype_of(kind), (None,)))),
    **{
        getattr(np.random, name): partial(drawn_kind, name)
        for name in (*_PARAMETERS, "rand", "randn")
        if hasattr(np.random, name)
    },
}
