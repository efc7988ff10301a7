"""Noticing that a global or closure value that a derivative was generated from has changed."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

from srcdiff.inline import is_user_function

Read = Callable[[], Any]


def watched(f: Any) -> tuple[tuple[Read, Any], ...]:
    """(how to read it, value now) for everything outside the function that it depends on."""
    return tuple(_walk(_function(f), set()))


def _function(f: Any) -> Any:
    """The Python function behind a callable, if there is one."""
    while hasattr(f, "__wrapped__") or isinstance(f, functools.partial):
        f = f.func if isinstance(f, functools.partial) else f.__wrapped__
    return getattr(f, "__func__", f)


def _walk(f: Any, seen: set[int]) -> Iterator[tuple[Read, Any]]:
    """The watched values of a function and of the functions that it calls."""
    if not isinstance(f, types.FunctionType) or id(f) in seen:
        return
    seen.add(id(f))
    yield (lambda: f.__code__), f.__code__
    for cell in f.__closure__ or ():
        yield from _watch(_cell_reader(cell), seen)
    for name in f.__code__.co_names:
        if name in f.__globals__:
            yield from _watch(_global_reader(f.__globals__, name), seen)


def _cell_reader(cell: Any) -> Read:
    def read() -> Any:
        try:
            return cell.cell_contents
        except ValueError:
            return None

    return read


def _global_reader(table: dict[str, Any], name: str) -> Read:
    return lambda: table.get(name)


def _watch(read: Read, seen: set[int]) -> Iterator[tuple[Read, Any]]:
    """One outside value; modules do not change."""
    value = read()
    if isinstance(value, types.ModuleType):
        return
    yield read, value
    if is_user_function(value):
        yield from _walk(_function(value), seen)
    if isinstance(value, (dict, list, tuple)) and id(value) not in seen:
        seen.add(id(value))
        yield from _watch_items(value, seen)


def _watch_items(table: Any, seen: set[int]) -> Iterator[tuple[Read, Any]]:
    """The functions in a table: a call of one of them is generated for that function."""
    keys = table if isinstance(table, dict) else range(len(table))
    for key in list(keys):
        if callable(table[key]) or isinstance(table[key], (dict, list, tuple)):
            yield from _watch(_item_reader(table, key), seen)


def _item_reader(table: Any, key: Any) -> Read:
    def read() -> Any:
        try:
            return table[key]
        except (KeyError, IndexError):
            return None

    return read


def unchanged(values: tuple[tuple[Read, Any], ...]) -> bool:
    """Whether every watched value is still the same object."""
    return all(read() is value for read, value in values)
