"""Nested lists, tuples, dicts and objects of numbers, seen as vectors of real numbers."""

from __future__ import annotations

import copy
import enum
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from srcdiff.runtime import records


def is_number(value: Any) -> bool:
    """Whether a leaf is real or complex floating point: what has a derivative."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.issubdtype(value.dtype, np.inexact)
    return isinstance(value, (float, complex)) and not isinstance(value, bool)


def is_numeric(value: Any) -> bool:
    """Whether a leaf holds numbers of any kind, which an array may hold too."""
    return isinstance(value, (np.ndarray, np.generic, int, float, complex))


def children(value: Any) -> list[tuple[Any, Any]] | None:
    """Keys and items of a container, None for a leaf."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (list, tuple)):
        return list(enumerate(value))
    if is_record(value):
        return list(records.attributes(value).items())
    return None


_NO_RECORDS = (
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc,
    np.random.Generator, np.dtype, enum.Enum,
)  # fmt: skip


def is_record(value: Any) -> bool:
    """Whether a value is an object of a user's class that may hold arrays."""
    if isinstance(value, (type, tuple, list, dict, np.ndarray, np.generic, *_NO_RECORDS)):
        return False
    if type(value).__module__ == "cupy":
        return False
    return hasattr(value, "__dict__") or hasattr(value, "__slots__")


def rebuilt(value: Any, items: list[Any]) -> Any:
    """A container like `value` with other items."""
    if isinstance(value, dict):
        return dict(zip(value, items, strict=True))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*items)
    if isinstance(value, (list, tuple)):
        return type(value)(items)
    new = copy.copy(value)
    for key, item in zip(records.attributes(value), items, strict=True):
        object.__setattr__(new, key, item)
    return new


def mapped(fn: Callable[..., Any], value: Any, *others: Any) -> Any:
    """`value` with `fn(leaf, *other leaves)` at every leaf."""
    inner = children(value)
    if inner is None:
        return fn(value, *others)
    items = [mapped(fn, item, *(child(o, key) for o in others)) for key, item in inner]
    return rebuilt(value, items)


def child(value: Any, key: Any) -> Any:
    """The item `key` of a container; None where a structure ends in None."""
    if value is None:
        return None
    return getattr(value, key) if is_record(value) else value[key]


def leaves(value: Any) -> Iterator[Any]:
    """The leaves of a structure, in order."""
    inner = children(value)
    if inner is None:
        yield value
    else:
        for _, item in inner:
            yield from leaves(item)


def arrays(value: Any) -> list[np.ndarray]:
    """The arrays of a structure."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, np.ndarray)]


def random_like(rng: np.random.Generator, value: Any) -> Any:
    """Random numbers at the numeric leaves of a structure, None at the others."""

    def one(leaf: Any) -> Any:
        if not is_number(leaf):
            return None
        out = rng.standard_normal(np.shape(leaf))
        if np.iscomplexobj(leaf):
            out = out + 1j * rng.standard_normal(np.shape(leaf))
        if isinstance(leaf, (float, complex)) and not isinstance(leaf, np.generic):
            return type(leaf)(out)
        return np.asarray(out).astype(leaf.dtype)[()]

    return mapped(one, value)


def plus(value: Any, step: float, direction: Any) -> Any:
    """`value + step * direction`, leaf by leaf, arrays in the layout that they have."""

    def one(leaf: Any, d: Any) -> Any:
        if d is None:
            return copy.deepcopy(leaf)
        moved = leaf + step * d
        if isinstance(leaf, np.ndarray):
            out = np.empty_like(leaf)
            out[...] = moved
            return out
        return type(leaf)(moved) if isinstance(leaf, (float, complex)) else moved

    return mapped(one, value, direction)


def inner(a: Any, b: Any) -> float:
    """The real inner product of two structures; leaves that are None count as zero."""
    total = 0.0
    for x, y in zip(leaves_as(b, a), leaves(b), strict=True):
        if x is not None and y is not None and is_numeric(x) and is_numeric(y):
            total += float(np.real(np.vdot(np.asarray(x), np.asarray(y))))
    return total


def leaves_as(shape: Any, value: Any) -> Iterator[Any]:
    """The leaves of `value`, one for each leaf of `shape`, None below a None."""
    inside = children(shape)
    if inside is None:
        yield value
        return
    for key, item in inside:
        yield from leaves_as(item, child(value, key))


# --- what of the arguments is an input ----------------------------------------------------------


def bound_arguments(function: Callable[..., Any], args: tuple[Any, ...]) -> dict[str, Any]:
    """The arguments by name, defaults included."""
    bound = inspect.signature(function).bind(*args)
    bound.apply_defaults()
    return dict(bound.arguments)


def paths(function: Callable[..., Any], inputs: Any) -> list[str]:
    """The paths (`w`, `params['w']`) that an `inputs` names, in order."""
    if isinstance(inputs, dict):
        return [p for v in inputs.values() for p in paths(function, v)]
    if isinstance(inputs, (tuple, list)):
        return [p for v in inputs for p in paths(function, v)]
    if isinstance(inputs, int):
        return [list(inspect.signature(function).parameters)[inputs]]
    return [inputs]


def selected(function: Callable[..., Any], inputs: Any, names: dict[str, Any]) -> Any:
    """The values of the inputs, in the structure of the gradient (a tuple for a list)."""
    if isinstance(inputs, dict):
        return {k: selected(function, v, names) for k, v in inputs.items()}
    if isinstance(inputs, (tuple, list)):
        return tuple(selected(function, v, names) for v in inputs)
    return eval(paths(function, inputs)[0], {}, names)


def replaced(
    function: Callable[..., Any], inputs: Any, names: dict[str, Any], values: Any
) -> dict[str, Any]:
    """The arguments with other values for the inputs; everything else is copied."""
    new = copy.deepcopy(names)
    _store(function, inputs, new, values)
    return new


def _store(function: Callable[..., Any], inputs: Any, names: dict[str, Any], values: Any) -> None:
    if isinstance(inputs, dict):
        for key, one in inputs.items():
            _store(function, one, names, values[key])
    elif isinstance(inputs, (tuple, list)):
        for one, value in zip(inputs, values, strict=True):
            _store(function, one, names, value)
    else:
        path = paths(function, inputs)[0]
        base, _, name = path.rpartition(".")
        if name.isidentifier() and base:  # an attribute, of a frozen object too
            object.__setattr__(eval(base, {}, names), name, copy.deepcopy(values))
        else:
            exec(f"{path} = _value", {"_value": copy.deepcopy(values)}, names)


def call(function: Callable[..., Any], names: dict[str, Any]) -> Any:
    """Call a function with its arguments by name."""
    signature = inspect.signature(function)
    bound = inspect.BoundArguments(signature, {})  # type: ignore[arg-type]
    bound.arguments.update({k: names[k] for k in signature.parameters if k in names})
    return function(*bound.args, **bound.kwargs)
