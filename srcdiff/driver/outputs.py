"""What `outputs` selects of what a function returned, and its tangent."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from srcdiff.frontend.request import Member, Nested
from srcdiff.runtime import records
from srcdiff.runtime.trees import differentiable_part

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
