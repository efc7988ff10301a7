"""A part of what has too many cases for every run of the suite.

`SRCDIFF_TESTS=all make test` runs them all, in about four times the time.  Which cases are in the
part follows from their names alone: it is the same in every run, and others do not move it.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
_WANTED = os.environ.get("SRCDIFF_TESTS", "part")
if _WANTED not in ("part", "all"):
    raise ValueError(f"SRCDIFF_TESTS is {_WANTED!r}; it is 'part' or 'all'")

ALL = _WANTED == "all"


def part(cases: Sequence[T], name: Callable[[T], str], of: int, which: int = 0) -> list[T]:
    """One of `of` parts of some cases, the one with the number `which`."""
    if ALL:
        return list(cases)
    return [case for case in cases if zlib.crc32(name(case).encode()) % of == which]
