"""What `outputs` selects of what a function returned, and its tangent."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

import numpy as np

from srcdiff import records
from srcdiff.device import is_any_array
from srcdiff.request import Member, Nested
from srcdiff.trees import like_sequence

Path = tuple[Any, ...]


def selected(value: Any, outputs: Any, values: Mapping[str, Any]) -> Any:
    """The selected outputs of what a function returned, or left in its arguments."""
    if outputs is None:
        return value
    if isinstance(outputs, Nested):
        return at(value, outputs)
    if isinstance(outputs, (tuple, list)):
        return tuple(selected(value, one, values) for one in outputs)
    if isinstance(outputs, str) and outputs in values:
        return values[outputs]
    single = not isinstance(value, (tuple, list, dict))
    return value if single and outputs in (0, -1) else value[outputs]


def tangent_of(tangent: Any, value: Any, outputs: Any, params: Container[str]) -> Any:
    """The tangent of the outputs, None where they are no floating point numbers."""
    if names_parameter(outputs, params):
        return tangent
    return differentiable_part(tangent, selected(value, outputs, {}))


def names_parameter(outputs: Any, params: Container[str]) -> bool:
    """Whether one of the outputs is a parameter that is written into."""
    if isinstance(outputs, (tuple, list)) and not isinstance(outputs, Nested):
        return any(names_parameter(o, params) for o in outputs)
    return isinstance(outputs, str) and outputs in params


def differentiable_part(tangent: Any, value: Any) -> Any:
    """A tangent in the types of the value, None where it is no real or complex number or array."""
    if isinstance(value, dict):
        return {k: differentiable_part(tangent[k], v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return like_sequence(value, [differentiable_part(t, v) for t, v in zip(tangent, value)])
    real = is_any_array(value) or isinstance(value, (float, complex, np.inexact))
    return _in_type_of(value, tangent) if real and np.result_type(value).kind in "fc" else None


def _in_type_of(value: Any, tangent: Any) -> Any:
    """A tangent as precise as its value, and complex where the value is: rules look at one term."""
    dtype, own = getattr(value, "dtype", None), getattr(tangent, "dtype", None)
    if isinstance(value, np.generic) and isinstance(tangent, float):
        return type(value)(tangent)
    fits = dtype is None or own is None or dtype == own or not np.can_cast(own, dtype, "same_kind")
    return tangent if fits else tangent.astype(dtype)


def at(tree: Any, path: Path) -> Any:
    """The part of a structure at the end of some keys, None below a None."""
    for key in path:
        tree = None if tree is None else opened(tree)[key]
    return tree


def is_object(tree: Any) -> bool:
    """Whether a value is an object that is no sequence."""
    return records.is_record(type(tree)) and not isinstance(tree, tuple)


def opened(tree: Any) -> Any:
    """An object as a dict of its attributes; anything else as it is."""
    if not is_object(tree):
        return tree
    return {Member(name): value for name, value in records.attributes(tree).items()}
