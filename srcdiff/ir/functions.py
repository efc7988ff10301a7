"""Functions as data: what stands for a function that the program makes and keeps.

These callees live only until the pipeline knows which functions may meet, and prints them as
strings and tuples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(eq=False)
class Site:
    """A place where the program makes a function; `closure` says which.

    `values` are the variables whose values it captures; None where it stays a function.
    """

    name: str
    closure: Any
    values: tuple[Any, ...] | None = None


def make_function(site: Site, *values: Any) -> tuple[Any, ...]:
    """The function of a site, with the values that it captures where it is made."""
    return (site, *values)


def is_function(value: Any, other: Any) -> bool:
    """Whether a value is a known function, or one that a site has made."""
    return value is other or (isinstance(value, tuple) and value[0] is other)


def captured(value: Any, site: Site, k: int) -> Any:
    """What a function that a site has made captures as the k-th."""
    return value[k + 1]
