"""The binomial schedule of Griewank and Walther: which states of a loop to keep, and for how long.

It is a matter of numbers alone: `n` steps are reversed with a given number of slots, each of which
holds the state before a step; to come to another one, steps are computed again.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

Kept = tuple[int, tuple[int, ...]]  # how many steps run, and the places


def split(n: int, slots: int) -> int:
    """How far the next state to keep is from the first of `n` steps, with that one in a slot."""
    r = 0
    while math.comb(slots + r, slots) < n:
        r += 1
    # The bounds of Griewank and Walther: every place between them is optimal.
    low = max(math.comb(slots + r - 2, slots) if r > 1 else 0, n - math.comb(slots - 1 + r, r))
    return max(1, low)


def fewest_steps(n: int, slots: int) -> int:
    """The fewest steps that reverse `n` steps, but for those that are differentiated: Griewank."""
    r = 0
    while math.comb(slots + r, slots) < n:
        r += 1
    return r * n - math.comb(slots + r, r - 1) if r else 0


def first_states(n: int, slots: int) -> Iterator[int]:
    """The steps before which a state is kept in the forward part."""
    at = 0
    while n > 0:
        yield at
        if n == 1 or slots == 1:
            return
        m = split(n, slots)
        at, n, slots = at + m, n - m, slots - 1


class Places:
    """Where states are kept on the way forwards, one place after the other.

    The states of the schedule for `n` steps are kept for good.  If the run may stop anywhere, other
    slots are not left empty until they are needed: they hold states of levels, as in the dynamic
    checkpointing of Wang, Moin and Iaccarino.  A state makes room if a later one has a higher
    level; if there is none, the last one does, and what comes in its place has a level more.
    """

    def __init__(self, n: int, slots: int, may_stop: bool) -> None:
        self.fixed = frozenset(first_states(n, slots))
        self.slots = slots
        self.may_stop = may_stop
        self.levels: dict[int, float] = {}

    def leaving(self, at: int) -> int | None:
        """The place whose state makes room for that of the next; that itself if it is not kept."""
        if at not in self.fixed and not self.may_stop:
            return at
        level = math.inf if at in self.fixed else 0
        out = None
        if len(self.levels) == self.slots:
            last = next(reversed(self.levels))
            out = self.below_a_later_one(level)
            if out is None:
                out, level = last, self.levels[last] + 1
            if self.levels[out] == math.inf:
                return at
            del self.levels[out]
        self.levels[at] = level
        return out

    def below_a_later_one(self, level: float) -> int | None:
        """The last place of a level below that of a later one, `level` the last of all."""
        for at in reversed(self.levels):
            if self.levels[at] < level:
                return at
            level = max(level, self.levels[at])
        return None


def worth_keeping(places: tuple[int, ...], end: int, slots: int) -> tuple[int, ...]:
    """The places of those states with which the steps up to an end are reversed in the fewest.

    Args:
        places: where states are held, in order; the first is where the steps begin.
        end: where the steps end.
        slots: how many states can be held from the first place on.
    """

    @functools.cache
    def best(k: int, slots: int) -> Kept:
        start = places[k]
        found: list[Kept] = [(fewest_steps(end - start, slots), (start,))]
        for j in range(k + 1, len(places) if slots > 1 else 0):
            steps, kept = best(j, slots - 1)
            found.append((steps + fewest_steps(places[j] - start, slots), (start, *kept)))
        return min(found)

    return best(0, slots)[1]
