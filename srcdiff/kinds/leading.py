"""The first argument of a call that is given by its name, in its place: `np.ravel(a=x)`."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

from srcdiff.ir.kinds import Kind

Args = tuple[Kind, ...]
Keywords = dict[str, Kind]


def in_place(fn: Any, args: Args, kwargs: Keywords) -> tuple[Args, Keywords]:
    """Arguments as a rule for kinds looks at them: the first one by its position."""
    name = _first(fn) if kwargs and not args else None
    if name not in kwargs:
        return args, kwargs
    rest = dict(kwargs)
    return (rest.pop(name),), rest


@lru_cache(maxsize=256)
def _first(fn: Any) -> str:
    """The name of the first parameter of a function; none for what does not tell."""
    try:
        return next(iter(inspect.signature(fn).parameters), "")
    except (TypeError, ValueError):
        return ""
