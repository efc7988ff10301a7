"""The kinds of random numbers: functions of `np.random`, and methods of its generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcdiff.ir.kinds import UNKNOWN, Array, Kind, NoneKind, Scalar, Tuple, is_numeric
from srcdiff.kinds.elementwise import elementwise_kind
from srcdiff.kinds.indexing import shape_dims, size_dim

Args = tuple[Kind, ...]
Keywords = dict[str, Kind]

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
    size = args[count] if len(args) > count else kwargs.get("size", NoneKind())
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


def _function(name: str) -> Any:
    return lambda args, kwargs: drawn_kind(name, args, kwargs)


FUNCTIONS = {
    getattr(np.random, name): _function(name)
    for name in (*_PARAMETERS, "rand", "randn")
    if hasattr(np.random, name)
}
