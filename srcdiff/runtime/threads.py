"""Loops whose rows are computed by several threads.

Takes a loop function that lets go of the interpreter, and how its rows are shared out; gives a
function of the same arguments.  The invariant: each row is computed once; sums are those of the
sums of the parts, in the order of the parts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from srcdiff.ir import Rows

__all__ = ["Shared"]

SMALLEST = 1 << 16
"""The number of elements of a part for which it pays to start a thread (tens of microseconds)."""


class Shared:
    """A loop function shared by some threads, where its arrays are large.

    It is called with arrays of any shape and dtype that the loop takes, and gives what that gives;
    what a thread raises is raised.
    """

    def __init__(self, loop: Callable[..., Any], rows: Rows, threads: int) -> None:
        self.loop, self.rows, self.threads = loop, rows, threads

    def __call__(self, *args: Any) -> Any:
        """What the loop gives."""
        length = self._length(args)
        count = min(self.threads, max(map(np.size, args)) // SMALLEST, length)
        if count < 2:
            return self.loop(*args)
        ends = [length * k // count for k in range(count + 1)]
        parts = [self._part(args, *part) for part in zip(ends, ends[1:])]
        results = _run([partial(self.loop, *part) for part in parts])
        for k, way in enumerate(self.rows.given):
            if way == "totals":
                for part in parts[1:]:
                    args[k][...] += part[k]
        return self._together(results)

    def _length(self, args: Sequence[Any]) -> int:
        """The number of rows."""
        given = self.rows.given
        if "length" in given:
            return int(args[given.index("length")])
        return len(args[given.index("rows")])

    def _part(self, args: Sequence[Any], first: int, last: int) -> list[Any]:
        """The arguments for some rows."""
        found = []
        for way, value in zip(self.rows.given, args):
            if way == "rows":
                value = value[first:last]
            elif way == "from":
                value = value[first:]
            elif way == "length":
                value = last - first
            elif way == "totals" and first > 0:
                value = np.zeros_like(value)
            found.append(value)
        return found

    def _together(self, results: Sequence[Any]) -> Any:
        """The result of all rows."""
        if not self.rows.totals:
            return None
        columns = zip(*results) if self.rows.several else [results]
        totals = []
        for join, (total, *others) in zip(self.rows.totals, columns):
            for other in others:
                total = join(total, other)
            totals.append(total)
        return tuple(totals) if self.rows.several else totals[0]


def _run(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What some calls give, each made in a thread of its own, the first in this one."""
    found: list[Any] = [None] * len(calls)
    errors: list[BaseException] = []

    def run(k: int) -> None:
        try:
            found[k] = calls[k]()
        except BaseException as error:  # is raised in the thread that waits
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(1, len(calls))]
    for thread in threads:
        thread.start()
    run(0)
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return found
