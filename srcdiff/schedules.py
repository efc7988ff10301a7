"""Loops of which some states are kept and the others computed again: `checkpointed`.

`lower.steps` makes a function of the body of such a loop; here is what runs it, forwards and
backwards, by the binomial schedule of Griewank and Walther (revolve).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from srcdiff.recompute import Before, absent, checksum
from srcdiff.trees import add_tree, zeros_like


def checkpointed(steps: Iterable[Any], slots: int = 10) -> Iterable[Any]:
    """The steps of a loop of which few states are kept for the backward part.

    When the function is differentiated, `for i in checkpointed(range(n), k)` keeps at most `k`
    states of its variables at a time, and the one that it is at; the others are computed again
    from them, as few times as is possible.  Otherwise it is just `range(n)`.

    Args:
        steps: a `range`.
        slots: how many states are kept; with 10 of them, each of 10,000 steps is computed again
            seven times or fewer.

    The variables that the body changes have values before the loop; `break`, `continue` and
    `return` in the body are refused, and so are second derivatives.

    >>> import numpy as np
    >>> import srcdiff
    >>> def f(x):
    ...     for i in srcdiff.checkpointed(range(100), slots=3):
    ...         x = np.sin(x) + 0.01 * i * x
    ...     return x
    >>> def plain(x):
    ...     for i in range(100):
    ...         x = np.sin(x) + 0.01 * i * x
    ...     return x
    >>> srcdiff.grad(f)(0.5) == srcdiff.grad(plain)(0.5)
    True
    """
    return steps


# --- the schedule --------------------------------------------------------------------------------


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


# --- running -------------------------------------------------------------------------------------

State = tuple[tuple[Any, ...], Before]


class Slots:
    """The states that a loop keeps; `again` counts the steps that were computed again."""

    def __init__(self, steps: range, slots: int = 10) -> None:
        if not isinstance(steps, range):
            raise TypeError(f"checkpointed: expected a range, given {type(steps).__name__}")
        if slots < 1:
            raise ValueError(f"checkpointed: expected at least one slot, given {slots}")
        self.steps, self.slots = steps, slots
        self.states: dict[int, State] = {}
        self.last: tuple[int, State] | None = None
        self.start: Before | None = None
        self.result = 0
        self.again = self.most = 0

    def keep(self, at: int, state: State) -> None:
        """Keep a state."""
        self.states[at] = state
        self.most = max(self.most, len(self.states))


def run_steps(step: Any, held: Slots, count: int, *values: Any) -> tuple[Any, ...]:
    """The states after a loop; `values` are those before, `count` of them, and what is constant."""
    from srcdiff.api.callback import check_step

    check_step(step, count, held.steps, values)
    state, rest = _copied(values[:count]), values[count:]
    places = frozenset(first_states(len(held.steps), held.slots))
    held.states.clear()
    held.start = Before(True, *rest)
    for at, i in enumerate(held.steps):
        if at in places:
            held.keep(at, (_copied(state), Before(True, *rest)))
        if at == len(held.steps) - 1:
            held.last = at, (_copied(state), Before(True, *rest))
        state = step(i, *state, *rest)
    held.result = checksum(state)
    return tuple(_copied(state))


def reversed_steps(step: Any, held: Slots, count: int, d: Any, *values: Any) -> tuple[Any, ...]:
    """The gradients of `run_steps` by its values, from the adjoint of its result."""
    if 0 not in held.states and len(held.steps):  # a second time: as it was before
        with Before(True, *values[count:]).restored(values[count:]):
            run_steps(step, held, count, *values)
    work = _Reversal(step, held, values[count:], list(d))
    with Before(True, *values[count:]).restored(values[count:]):
        if len(held.steps):
            work.reverse(0, len(held.steps), held.slots)
    held.states.clear()
    found = (*work.adjoint, *work.rest_adjoint)
    return tuple(zeros_like(v) if d is None else d for v, d in zip(values, found))


def pushed_steps(
    step: Any, held: Slots, count: int, t: tuple[Any, ...], *values: Any
) -> tuple[Any, ...]:
    """The tangent of `run_steps` along tangents of its values."""
    from srcdiff.api.forward import jvp

    state, rest = _copied(values[:count]), values[count:]
    tangents = absent(t)
    moved, fixed = tangents[:count], tangents[count:]
    assert held.start is not None, "the loop has run"
    with held.start.restored(rest):
        for i in held.steps:
            state, moved = jvp(step, (i, *state, *rest), (None, *moved, *fixed))
    return tuple(zeros_like(v) if d is None else d for v, d in zip(state, moved))


def _copied(values: Any) -> Any:
    from srcdiff.api.residuals import copied

    return copied(tuple(values))


class _Reversal:
    """One run of a loop backwards."""

    def __init__(self, step: Any, held: Slots, rest: tuple[Any, ...], adjoint: list[Any]) -> None:
        self.step, self.held, self.rest = step, held, rest
        self.adjoint: list[Any] = adjoint
        self.rest_adjoint: list[Any] = [None] * len(rest)

    def reverse(self, start: int, n: int, slots: int) -> None:
        """Go back over `n` steps, the state before the first of which is kept."""
        while n > 1 and slots > 1:
            m = split(n, slots)
            if start + m not in self.held.states:
                self.held.keep(start + m, self.advanced(start, m))
            self.reverse(start + m, n - m, slots - 1)
            del self.held.states[start + m]
            n = m
        for k in range(n - 1, -1, -1):
            self.back(start + k, self.advanced(start, k))

    def advanced(self, start: int, m: int) -> State:
        """The state `m` steps after one that is kept."""
        if self.held.last is not None and self.held.last[0] == start + m:
            state, self.held.last = self.held.last[1], None
            return state
        values, before = self.held.states[start]
        values = _copied(values)
        before.put_back(self.rest)
        for at in range(start, start + m):
            values = self.step(self.held.steps[at], *values, *self.rest)
            self.held.again += 1
        return values, Before(True, *self.rest)

    def back(self, at: int, state: State) -> None:
        """Go back over one step."""
        from srcdiff.api.callback import step_back

        values, before = state
        before.put_back(self.rest)
        args = (self.held.steps[at], *_copied(values), *self.rest)
        value, pull = step_back(self.step, args)
        if at == len(self.held.steps) - 1 and checksum(value) != self.held.result:
            raise RuntimeError("a step of a checkpointed loop gives something else when run again")
        found = pull([zeros_like(v) if d is None else d for v, d in zip(value, self.adjoint)])
        mine = found[1 : 1 + len(values)]
        self.adjoint = list(mine)
        self.rest_adjoint = list(map(add_tree, self.rest_adjoint, found[1 + len(values) :]))
