"""A part of what has too many cases for every run of the suite.

`SRCDIFF_TESTS=all make test` runs them all, in about four times the time.  Which cases are in the
part follows from their names alone: it is the same in every run, and others do not move it.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")
_WANTED = os.environ.get("SRCDIFF_TESTS", "part")
if _WANTED not in ("part", "all"):
    raise ValueError(f"SRCDIFF_TESTS is {_WANTED!r}; it is 'part' or 'all'")

ALL = _WANTED == "all"
LOT = 40


def part(cases: Sequence[T], name: Callable[[T], str], of: int, which: int = 0) -> list[T]:
    """One of `of` parts of some cases, the one with the number `which`."""
    if ALL:
        return list(cases)
    return [case for case in cases if zlib.crc32(name(case).encode()) % of == which]


def lots(argument: str, cases: Sequence[T], name: Callable[[T], str]) -> pytest.MarkDecorator:
    """Cases in lots, each of which is one test: to report a test takes longer than some cases do.

    What a test calls with each case of its lot takes it as an argument, so a failure shows which.
    """
    found = [list(cases[k : k + LOT]) for k in range(0, len(cases), LOT)]
    ids = [f"{name(lot[0])}..{name(lot[-1])}" for lot in found]
    return pytest.mark.parametrize(argument, found, ids=ids)
