"""What parameters declare, and the signatures of derivatives."""

from __future__ import annotations

import inspect
from typing import Any

from srcdiff.ir.kinds import NUMERIC, UNKNOWN, Array, Dict, Kind, Scalar, Tuple, is_float
from srcdiff.kinds.of_values import kind_of


def gradient_kind(kind: Kind | None, path: tuple[Any, ...]) -> Kind:
    """The kind of the gradient of an input of a kind, where that is simple."""
    if path or not isinstance(kind, (Scalar, Array)) or not is_float(kind):
        return UNKNOWN
    return Scalar(kind.dtype, kind.python) if isinstance(kind, Scalar) else kind


def with_keywords(signature: inspect.Signature, **extra: Any) -> inspect.Signature:
    """A signature with more keywords, by their defaults (`...` for none)."""
    params = list(signature.parameters.values())
    last = params.pop() if params and params[-1].kind is inspect.Parameter.VAR_KEYWORD else None
    for name, default in extra.items():
        value = inspect.Parameter.empty if default is ... else default
        params.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value))
    everything = [*params, *([last] if last is not None else [])]
    return signature.replace(parameters=everything, return_annotation=inspect.Signature.empty)


def declared_kind(param: inspect.Parameter) -> Kind:
    """The kind that a parameter's default or annotation declares."""
    if param.kind is param.VAR_POSITIONAL:
        return Tuple(None, NUMERIC)
    if param.kind is param.VAR_KEYWORD:
        return Dict((), NUMERIC)
    declared = {
        float: Scalar("float64"),
        "float": Scalar("float64"),
        int: Scalar("int64"),
        "int": Scalar("int64"),
        bool: Scalar("bool"),
        "bool": Scalar("bool"),
    }
    try:
        if param.annotation in declared:
            return declared[param.annotation]
    except TypeError:  # an unhashable annotation declares nothing
        pass
    default = param.default
    if (
        default is inspect.Parameter.empty
        or isinstance(default, (int, float))
        and not isinstance(default, bool)
    ):
        return NUMERIC
    return kind_of(default, param.name)
