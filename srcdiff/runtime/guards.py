"""What a generated file checks of its arguments: that they are what it was generated for.

These functions are copied into files, as far as they are needed, so this module imports NumPy
alone.  A test takes a value and all arguments by name, and returns what was expected where the
value is something else.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np


def checked(function: Any, /, **tests: Any) -> Any:
    """`function`, with a TypeError for arguments that it was not generated for."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        for name, value in given.items():
            found = fault(tests[name], name, value, given) if name in tests else None
            if found:
                path, expected, what = found
                raise TypeError(
                    f"{path}: `{function.__name__}` was generated for {expected}, given {what}"
                )
        return function(*args, **kwargs)

    return call


def fault(test: Any, path: str, x: Any, given: Any) -> Any:
    """Where a value is not what a test expects, what that is and what is given; None if it is."""
    wrong = test(x, given)
    if not isinstance(wrong, str):  # of a part
        return (path + wrong[0], *wrong[1:])
    shape = f" of {x.dtype}, {x.shape}" if isinstance(x, np.ndarray) else ""
    return (path, wrong, type(x).__name__ + shape) if wrong else None


def typed(*types: Any) -> Any:
    """A test for values of some types, not of those that derive from them."""
    names = " or ".join(t.__name__ for t in types)
    return lambda x, given: "" if type(x) in types else names


def array(dtype: str, *axes: str) -> Any:
    """A test for arrays of some axes: of length "1", "~1" (not 1), "4:" (or more), ":" (any)."""

    def fits(axis: str, n: int) -> bool:
        return {":": True, "1": n == 1, "~1": n != 1, "2:": n >= 2, "4:": n >= 4}[axis]

    def test(x: Any, given: Any) -> str:
        good = is_plain(x) and x.dtype.name == dtype and x.ndim == len(axes)
        good = good and all(map(fits, axes, x.shape))
        return "" if good else f"an array of {dtype}, ({', '.join(axes)})"

    return test


def is_plain(x: Any) -> bool:
    """Whether a value is an array, of no class that gives operators another meaning."""
    return type(x) is np.ndarray or type(x).__name__ == "memmap"


def numeric(kinds: str) -> Any:
    """A test for numbers and arrays, of dtypes of some kinds ("f" is real, "c" complex)."""

    def test(x: Any, given: Any) -> str:
        number = isinstance(x, (bool, int, float, complex, np.number, np.bool_)) or is_plain(x)
        kind = np.result_type(x).kind if number else ""
        what = f"{'floating point ' * ('i' not in kinds)}numbers or arrays"
        if kind == "c" and "c" not in kinds:
            return f"real {what} (generate it with an `example` of complex ones)"
        return "" if number and kind in kinds else what

    return test


def each(test: Any) -> Any:
    """A test for any number of arguments, by a test of every one."""

    def tests(x: Any, given: Any) -> Any:
        items = x.items() if isinstance(x, dict) else enumerate(x)
        return first(fault(test, f"[{k!r}]", v, given) for k, v in items)

    return tests


def first(faults: Any) -> Any:
    """The first fault of some parts; nothing if there is none."""
    return next(filter(None, faults), "")


def scalar(x: Any, given: Any) -> str:
    """A test for one real number."""
    return "" if isinstance(x, (float, np.floating)) else "a float"


def like(name: str, part: Any = None) -> Any:
    """A test for tangents of an argument, or of a part of it, which a function takes out."""

    def test(t: Any, given: Any) -> str:
        good = is_tangent(t, given[name] if part is None else part(given[name]))
        return "" if good else f"a direction of the structure, the shapes and the dtypes of {name}"

    return test


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


def sequence(kind: Any, *tests: Any) -> Any:
    """A test for tuples or lists with some items."""

    def test(x: Any, given: Any) -> Any:
        if type(x) is not kind or len(x) != len(tests):
            return f"a {kind.__name__} of {len(tests)} items"
        return first(fault(tests[k], f"[{k}]", x[k], given) for k in range(len(tests)))

    return test


def mapping(tests: Any) -> Any:
    """A test for dicts with some keys."""

    def test(x: Any, given: Any) -> Any:
        if type(x) is not dict or list(x) != list(tests):
            return f"a dict with the keys {', '.join(map(repr, tests))}"
        return first(fault(tests[k], f"[{k!r}]", x[k], given) for k in tests)

    return test


def record(cls: str, **tests: Any) -> Any:
    """A test for objects of a class that have some attributes of their own, and no others.

    The function reads from the class what an object does not have itself.
    """

    def test(x: Any, given: Any) -> Any:
        if f"{type(x).__module__}.{type(x).__qualname__}" != cls:
            return f"an object of class {cls}"
        own = attributes_of(x)
        for k in tests:
            if k not in own:
                return f".{k}", f"an object of class {cls} that has it itself", "none"
        return first(fault(tests.get(k, none), f".{k}", own[k], given) for k in own)

    def none(x: Any, given: Any) -> str:
        return f"an object of class {cls} that does not have it itself"

    return test


def attributes_of(x: Any) -> dict[str, Any]:
    """What an object itself holds: in slots, in a dict, or as a named tuple."""
    held = [n for c in type(x).__mro__ for n, v in vars(c).items() if inspect.ismemberdescriptor(v)]
    fields = x._fields if issubclass(type(x), tuple) else ()
    found = {n: getattr(x, n) for n in (*fields, *held) if hasattr(x, n)}
    return {**found, **getattr(x, "__dict__", {})}


def exactly(value: Any) -> Any:
    """A test for one value."""
    return lambda x, given: "" if x is value or x == value else repr(value)


def called(*names: str) -> Any:
    """A test for what some modules hold under some names."""

    def held(name: str) -> Any:
        module, _, attr = name.rpartition(".")
        return getattr(sys.modules.get(module), attr, None)

    return lambda x, given: "" if any(x is held(n) for n in names) else " or ".join(names)


def apart(function: Any, /, *written: str) -> Any:
    """`function`, with a ValueError where what its primal writes into is passed twice."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        found = [part for name, value in given.items() for part in parts(name, value)]
        for k, (path, x) in enumerate(found):
            for other, y in found[:k]:
                either = is_in(path, written) or is_in(other, written)
                arrays = isinstance(x, np.ndarray) and isinstance(y, np.ndarray)
                if either and (x is y or arrays and np.shares_memory(x, y)):
                    raise ValueError(f"{path} and {other} share memory: pass a copy")
        return function(*args, **kwargs)

    return call


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
