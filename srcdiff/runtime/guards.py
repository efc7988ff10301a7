"""What the checks at the top of a generated function call, where plain lines do not do.

These functions are copied into files, as far as they are needed, so this module imports NumPy
alone.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

ARRAYS = (np.ndarray, np.memmap)
"""The classes of arrays, without those that give operators another meaning."""


def type_error(name: str, x: Any, expected: str) -> TypeError:
    """The error for an argument that the function was not generated for."""
    what = f" of {x.dtype}, {x.shape}" if isinstance(x, np.ndarray) else ""
    return TypeError(f"{name}: expected {expected}, given {type(x).__name__}{what}")


def is_plain(x: Any) -> bool:
    """Whether a value is an array, of no class that gives operators another meaning."""
    return type(x) is np.ndarray or type(x).__name__ == "memmap"


def is_numeric(x: Any, kinds: str) -> bool:
    """Whether a value is a number or an array, of a dtype of some kinds."""
    number = isinstance(x, (bool, int, float, complex, np.number, np.bool_)) or is_plain(x)
    return number and np.result_type(x).kind in kinds


def is_held(x: Any, *names: str) -> bool:
    """Whether a module has a function under one of some names."""
    places = [name.rpartition(".") for name in names]
    return callable(x) and any(x is getattr(sys.modules.get(m), n, None) for m, _, n in places)


def is_tangent(t: Any, x: Any) -> bool:
    """Whether a tangent has the structure, the shapes and the dtypes of an argument."""
    if isinstance(x, dict):
        return isinstance(t, dict) and set(t) == set(x) and all(is_tangent(t[k], x[k]) for k in x)
    if isinstance(x, (list, tuple)):
        same = isinstance(t, (list, tuple)) and len(t) == len(x)
        return same and all(map(is_tangent, t, x))
    if isinstance(x, np.ndarray):
        return is_plain(t) and t.shape == x.shape and t.dtype == x.dtype
    if isinstance(x, (complex, np.complexfloating)):
        return isinstance(t, (float, complex, np.inexact))
    return isinstance(t, (float, np.floating)) or not isinstance(x, (float, np.floating))


def check_class(name: str, x: Any, cls: str) -> None:
    """Raise unless an object is of a class."""
    found = f"{type(x).__module__}.{type(x).__qualname__}"
    if found != cls:
        raise TypeError(f"{name}: expected an object of {cls}, given one of {found}")


def check_object(name: str, x: Any, cls: str, *attributes: str) -> None:
    """Raise unless an object is of a class, and has these attributes itself and no others.

    The function reads from the class what an object does not have itself.
    """
    check_class(name, x, cls)
    own = attributes_of(x)
    for key in sorted({*own} ^ {*attributes}):
        where = "the class alone" if key in own else "the object itself"
        raise TypeError(f"{name}.{key}: expected an attribute of {where}")


def attributes_of(x: Any) -> dict[str, Any]:
    """What an object itself holds: in slots, in a dict, or as a named tuple."""
    held = [n for c in type(x).__mro__ for n, v in vars(c).items() if inspect.ismemberdescriptor(v)]
    fields = x._fields if issubclass(type(x), tuple) else ()
    found = {n: getattr(x, n) for n in (*fields, *held) if hasattr(x, n)}
    return {**found, **getattr(x, "__dict__", {})}


def check_apart(given: dict[str, Any], *written: str) -> None:
    """Raise a ValueError where what is written into is passed twice."""
    found = [part for name, value in given.items() for part in parts(name, value)]
    for k, (path, x) in enumerate(found):
        for other, y in found[:k]:
            either = is_in(path, written) or is_in(other, written)
            arrays = isinstance(x, np.ndarray) and isinstance(y, np.ndarray)
            if either and (x is y or arrays and np.shares_memory(x, y)):
                raise ValueError(f"{other} and {path} share memory: pass a copy")


def is_in(path: str, written: tuple[str, ...]) -> bool:
    """Whether a path leads to an argument that is written into, or to a part of it."""
    return any(path == name or path.startswith((f"{name}.", f"{name}[")) for name in written)


def parts(path: str, x: Any) -> Iterator[tuple[str, Any]]:
    """What a value holds that can be written into, and where."""
    if isinstance(x, (np.ndarray, list, dict)):
        yield path, x
    if isinstance(x, (dict, list, tuple)):
        for key, value in x.items() if isinstance(x, dict) else enumerate(x):
            yield from parts(f"{path}[{key!r}]", value)
    elif hasattr(x, "__dict__") and not callable(x):
        for key, value in vars(x).items():
            yield from parts(f"{path}.{key}", value)


def cotangent_parts(given: Any, cls: Any, keys: Any, path: str) -> Any:
    """The cotangents of what an output holds under some keys, Nones where it is left out.

    Raises:
        TypeError: it is no container like the output.
        ValueError: it has other items.
    """
    if given is None:
        return [None] * len(keys)
    if not isinstance(given, dict if cls is dict else (list, tuple)):
        raise TypeError(
            f"{path}: expected a {cls.__name__} of {len(keys)} items like the output, "
            f"given {type(given).__name__}"
        )
    known = set(given) <= set(keys) if isinstance(given, dict) else len(given) == len(keys)
    if not known:
        raise ValueError(f"{path}: expected {len(keys)} items, given {len(given)}")
    return [given.get(key) for key in keys] if isinstance(given, dict) else given


def cotangent_number(given: Any, path: str) -> float:
    """The cotangent of a real number, one where it is left out.

    Raises:
        TypeError: it is no number.
        ValueError: it is complex, or an array of several numbers.
    """
    if given is None:
        return 1.0
    if isinstance(given, bool) or not isinstance(given, (int, float, complex, np.generic)):
        if not isinstance(given, np.ndarray):
            raise TypeError(f"{path}: expected a number, given {type(given).__name__}")
    if np.shape(given) or np.iscomplexobj(given):
        raise ValueError(f"{path}: expected one real number like the output")
    return float(given)
